// C = A times the transpose of B, 256 x 256 x 256 in bf16, by tiles of 128 x 64
// and 64 of K: one thread loads boxes into three stages, two warpgroups
// multiply.
#include "wgmma.h"
constexpr int kSize = 256, kRows = 128, kColumns = 64, kDepth = 64, kStages = 3;
constexpr int kBytesA = kRows * kDepth * 2, kBytesB = kColumns * kDepth * 2;
constexpr int kSteps = kSize / kDepth;

DEVICE void multiply(float (&d)[8][4], u64 a, u64 b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
      "%30, %31}, %32, %33, 1, 1, 1, 0, 0;\n"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]),
        "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]), "+f"(d[1][3]),
        "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]),
        "+f"(d[4][0]), "+f"(d[4][1]), "+f"(d[4][2]), "+f"(d[4][3]),
        "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
        "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]),
        "+f"(d[7][0]), "+f"(d[7][1]), "+f"(d[7][2]), "+f"(d[7][3])
      : "l"(a), "l"(b));
}

struct Stages {
  char *a, *b;
  u64 *full, *empty;
};

DEVICE void produce(const Map *a, const Map *b, const Stages &s) {
  int stage = 0, phase = 0;
  for (int step = 0; step < kSteps; ++step) {
    wait(s.empty + stage, phase ^ 1);
    arriveExpect(s.full + stage, kBytesA + kBytesB);
    loadBox(s.a + stage * kBytesA, a, step * kDepth, blockIdx.y * kRows,
            s.full + stage);
    loadBox(s.b + stage * kBytesB, b, step * kDepth, blockIdx.x * kColumns,
            s.full + stage);
    if (++stage == kStages)
      stage = 0, phase ^= 1;
  }
}

/// The stage before is free when the products of this one are in flight.
DEVICE void consume(float *c, const Stages &s) {
  int stage = 0, phase = 0, before = 0, group = threadIdx.x / 128;
  float d[8][4] = {};
  for (int step = 0; step < kSteps; ++step) {
    wait(s.full + stage, phase);
    keep(d);
    fence();
    for (int k = 0; k < kDepth / 16; ++k)
      multiply(d, describe(s.a + stage * kBytesA + group * 8192 + k * 32),
               describe(s.b + stage * kBytesB + k * 32));
    commit();
    if (step) {
      wait<1>();
      if (threadIdx.x % 128 == 0)
        arrive(s.empty + before);
    }
    before = stage;
    if (++stage == kStages)
      stage = 0, phase ^= 1;
  }
  wait<0>();
  keep(d);
  store(c + (blockIdx.y * kRows + group * 64) * kSize + blockIdx.x * kColumns,
        kSize, d);
}

extern "C" __global__ void __launch_bounds__(288)
    hopper(const __grid_constant__ Map a, const __grid_constant__ Map b,
           float *c) {
  extern __shared__ __align__(1024) char shared[];
  __shared__ u64 full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      init(full + i, 1);
      init(empty + i, 2);
    }
    fenceInit();
  }
  __syncthreads();
  Stages stages = {shared, shared + kStages * kBytesA, full, empty};
  if (threadIdx.x < 256)
    consume(c, stages);
  else if (threadIdx.x == 256)
    produce(&a, &b, stages);
}
