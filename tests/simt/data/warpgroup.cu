// A product from shared memory whose result is rounded and becomes A of
// another, with one group in flight.
#include "wgmma.h"
DEVICE void scores(float (&d)[2][4], u64 a, u64 b, int scale) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0;\n}\n"
               : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]),
                 "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]), "+f"(d[1][3])
               : "l"(a), "l"(b), "r"(scale));
}
DEVICE void values(float (&d)[1][4], const u32 (&a)[4], u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 1;\n"
               : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
extern "C" __global__ void __launch_bounds__(128)
    warpgroup(float *c, const u16 *a, const u16 *b) {
  __shared__ __align__(1024) char s[8192 + 2048];
  char *tileB = s + 8192;
  load(s, a, 64, 64);
  load(tileB, b, 16, 64);
  proxyFence();
  __syncthreads();
  float p[2][4], d[1][4] = {};
#pragma unroll 1
  for (int k = 0; k < 4; ++k) {
    fence();
    scores(p, describe(s + 32 * k), describe(tileB + 32 * k), k != 0);
    commit();
    wait<1>();
  }
  wait<0>();
  u32 fragment[4];
  for (int i = 0; i < 4; ++i)
    fragment[i] = pack(p[i / 2][i % 2 * 2], p[i / 2][i % 2 * 2 + 1]);
  fence();
  values(d, fragment, describe(tileB, 128, 1024));
  commit();
  wait<0>();
  store(c, 8, d);
}
