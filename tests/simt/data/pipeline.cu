#include "hopper.h"
// Doubles a matrix, box by box of 32 x 32 floats in swizzled rows: one warp
// loads into three stages, four compute, and one thread of them stores.
constexpr int kStages = 3, kBox = 32 * 32;

__device__ __forceinline__ void meetConsumers() {
  asm volatile("bar.sync 1, 128;" ::: "memory");
}

/// Float4 number j of a row, which the swizzle exchanged.
__device__ __forceinline__ float4 &piece(float *box, int row, int j) {
  return ((float4 *)box)[row * 8 + (j ^ (row & 7))];
}

__device__ void produce(const Map *in, float *stages, u64 *full, u64 *empty,
                        int boxes) {
  int stage = 0, phase = 0;
  for (int box = blockIdx.x; box < boxes; box += gridDim.x) {
    wait(empty + stage, phase ^ 1);
    arriveExpect(full + stage, kBox * 4);
    loadBox(stages + stage * kBox, in, 0, box * 32, full + stage);
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
}

__device__ void consume(const Map *out, float *stages, float *result, u64 *full,
                        u64 *empty, int boxes) {
  int stage = 0, phase = 0, i = threadIdx.x;
  for (int box = blockIdx.x; box < boxes; box += gridDim.x) {
    wait(full + stage, phase);
    float4 values[2];
    for (int k = 0; k < 2; ++k)
      values[k] = piece(stages + stage * kBox, i / 8 + 16 * k, i % 8);
    __syncwarp();
    if (i % 32 == 0)
      arrive(empty + stage);
    if (i == 0)
      waitRead();
    meetConsumers();
    for (int k = 0; k < 2; ++k) {
      float4 v = values[k];
      piece(result, i / 8 + 16 * k, i % 8) =
          make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    }
    fenceProxy();
    meetConsumers();
    if (i == 0) {
      storeBox(out, 0, box * 32, result);
      commitStores();
    }
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
  if (i == 0)
    waitStores();
}

extern "C" __global__ void pipeline(const __grid_constant__ Map in,
                                    const __grid_constant__ Map out,
                                    int boxes) {
  extern __shared__ __align__(1024) float buffers[];
  __shared__ u64 full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      init(full + i, 1);
      init(empty + i, 4);
    }
    fenceInit();
  }
  __syncthreads();
  if (threadIdx.x < 128)
    consume(&out, buffers, buffers + kStages * kBox, full, empty, boxes);
  else if (threadIdx.x == 128)
    produce(&in, buffers, full, empty, boxes);
}
