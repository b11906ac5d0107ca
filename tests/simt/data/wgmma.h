// Helpers of kernels in tests: thin functions over wgmma, and tiles whose rows
// of 64 16-bit elements have the 128-byte swizzle.
#include "hopper.h"
typedef unsigned short u16;
#define DEVICE static __device__ __forceinline__
DEVICE u64 describe(const void *p, u32 leading = 16, u32 stride = 1024) {
  return (u64)(addressOf(p) >> 4 & 0x3FFF) | (u64)(leading >> 4) << 16 |
         (u64)(stride >> 4) << 32 | (u64)1 << 62;
}
DEVICE void fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
DEVICE void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> DEVICE void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// Keeps the compiler from moving what is done to registers before a fence to
// behind it.
template <int N> DEVICE void keep(float (&d)[N][4]) {
  for (int i = 0; i < 4 * N; ++i)
    asm volatile("" : "+f"(d[i / 4][i % 4])::"memory");
}
DEVICE void proxyFence() {
  asm volatile("fence.proxy.async;" ::: "memory");
}
DEVICE u16 toBf16(float value) {
  return (u16)(__float_as_uint(value) >> 16);
}
DEVICE u32 pack(float low, float high) {
  u32 both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
// Element (row, column) of a tile of 64 columns.
DEVICE u16 *elementOf(void *tile, int row, int column) {
  return (u16 *)((char *)tile + row * 128 + ((column / 8 ^ row % 8) * 16)) +
         column % 8;
}
DEVICE void load(void *tile, const u16 *from, int rows, int rowLength) {
  for (int i = threadIdx.x; i < rows * 64; i += blockDim.x)
    *elementOf(tile, i / 64, i % 64) = from[i / 64 * rowLength + i % 64];
}
// Stores the sums of a warpgroup as rows of `columns`.
template <int N>
DEVICE void store(float *c, int columns, const float (&d)[N][4]) {
  int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < 4; ++i)
      c[(16 * warp + lane / 4 + i / 2 * 8) * columns + 8 * j + lane % 4 * 2 +
        i % 2] = d[j][i];
}
