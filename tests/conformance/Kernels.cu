//===- Kernels.cu - kernels that every device runs ------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Compiled by NVRTC, and as C++ for the devices that run host code (see
// HostKernels.cpp): nothing here waits for another thread.
//
//===----------------------------------------------------------------------===//

#ifndef RT_DYNAMIC_SHARED
#define RT_DYNAMIC_SHARED(name) extern __shared__ unsigned char name[]
#endif

struct Pair {
  int first;
  double second;
};

/// As large and as aligned as a tensor map.
struct alignas(64) Opaque {
  unsigned char bytes[128];
};

/// x[i] += 1.
extern "C" __global__ void addOne(int *x, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] += 1;
}

/// y[i] = a x[i] + y[i].
extern "C" __global__ void axpy(float a, const float *x, float *y,
                                long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

/// Every size of argument, in an order that needs padding.
extern "C" __global__ void mixed(signed char a, long long b, short c, double d,
                                 float e, Pair f, double *out) {
  out[0] = a;
  out[1] = (double)b;
  out[2] = c;
  out[3] = d;
  out[4] = e;
  out[5] = f.first;
  out[6] = f.second;
}

/// The bytes of b, then a.
extern "C" __global__ void opaque(signed char a, const Opaque b,
                                  unsigned char *out) {
  for (int i = 0; i < 128; ++i)
    out[i] = b.bytes[i];
  out[128] = (unsigned char)a;
}

/// out[l] = l for the linear number l of each block of a grid (X, Y, ...).
extern "C" __global__ void number(int *out, int X, int Y) {
  int l = (blockIdx.z * Y + blockIdx.y) * X + blockIdx.x;
  out[l] = l;
}

/// The sum of a block's own bytes after it wrote them: a block has one thread.
extern "C" __global__ void useShared(int bytes, int *sums) {
  RT_DYNAMIC_SHARED(scratch);
  for (int i = 0; i < bytes; ++i)
    scratch[i] = (unsigned char)(i + blockIdx.x);
  int sum = 0;
  for (int i = 0; i < bytes; ++i)
    sum += scratch[i];
  sums[blockIdx.x] = sum;
}
