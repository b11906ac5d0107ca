// C = A B^T with A [256, 256] and B [256, 256] in bf16, C in f32: blocks of
// 64 x 64, four warps of 32 x 32, two stages of 32 columns. Rows of a stage are
// padded to 80 bytes, so that ldmatrix finds its eight rows in all banks.
typedef unsigned int u32;
typedef unsigned short u16;
static const int N = 256, BM = 64, BK = 32, STRIDE = 40;

__device__ u32 addressOf(const void *p) {
  return (u32)__cvta_generic_to_shared(p);
}
__device__ void copy16(u32 to, const u16 *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)
               : "memory");
}
__device__ void load4(u32 *r, u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}
__device__ void multiply(float *c, const u32 *a, u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ void stage(u16 *to, const u16 *from, int row0, int k0) {
  for (int i = 0; i < 2; ++i) {
    int piece = threadIdx.x + 128 * i, row = piece / 4, part = piece % 4;
    copy16(addressOf(to + row * STRIDE + part * 8),
           from + (row0 + row) * N + k0 + part * 8);
  }
}

extern "C" __global__ void __launch_bounds__(128)
    matmul(float *C, const u16 *A, const u16 *B) {
  __shared__ __align__(16) u16 sa[2][BM * STRIDE], sb[2][BM * STRIDE];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row0 = blockIdx.y * BM, column0 = blockIdx.x * BM;
  int m0 = warp / 2 * 32, n0 = warp % 2 * 32;
  float c[2][4][4] = {};
  stage(sa[0], A, row0, 0);
  stage(sb[0], B, column0, 0);
  asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll 1
  for (int k = 0; k < N / BK; ++k) {
    if (k + 1 < N / BK) {
      stage(sa[(k + 1) % 2], A, row0, (k + 1) * BK);
      stage(sb[(k + 1) % 2], B, column0, (k + 1) * BK);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    for (int kk = 0; kk < BK; kk += 16) {
      u32 a[2][4], b[2][4];
      for (int m = 0; m < 2; ++m)
        load4(a[m], addressOf(&sa[k % 2][(m0 + 16 * m + lane % 16) * STRIDE +
                                         kk + lane / 16 * 8]));
      for (int n = 0; n < 2; ++n)
        load4(b[n], addressOf(&sb[k % 2][(n0 + 16 * n + lane % 16) * STRIDE +
                                         kk + lane / 16 * 8]));
      for (int m = 0; m < 2; ++m)
        for (int n = 0; n < 4; ++n)
          multiply(c[m][n], a[m], b[n / 2][n % 2], b[n / 2][n % 2 + 2]);
    }
    __syncthreads();
  }
  for (int m = 0; m < 2; ++m)
    for (int n = 0; n < 4; ++n)
      for (int h = 0; h < 2; ++h) {
        int row = row0 + m0 + 16 * m + 8 * h + lane / 4;
        int column = column0 + n0 + 8 * n + lane % 4 * 2;
        *(float2 *)(C + row * N + column) =
            make_float2(c[m][n][2 * h], c[m][n][2 * h + 1]);
      }
}
