//===- TensorKernel.cu - a box of a tensor by way of its map --------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

struct alignas(64) Map {
  unsigned char bytes[128];
};

/// y = the box of 8 rows of 64 halves that starts at (column, row), with the
/// swizzle of 128 bytes undone. One warp.
extern "C" __global__ void copyBox(const __grid_constant__ Map map, int column,
                                   int row, uint4 *y) {
  __shared__ alignas(1024) uint4 box[64];
  __shared__ alignas(8) unsigned long long bar;
  unsigned to = (unsigned)__cvta_generic_to_shared(box);
  unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::
                     "r"(at)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
        "bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&map), "r"(column), "r"(row), "r"(at)
        : "memory");
  }
  __syncwarp();
  unsigned ended = 0;
  while (!ended)
    asm volatile("{\n .reg .pred p;\n"
                 " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                 " selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(ended)
                 : "r"(at)
                 : "memory");
  for (int i = threadIdx.x; i < 64; i += 32)
    y[i] = box[i / 8 * 8 + (i % 8 ^ i / 8)];
}
