// Helpers of kernels in tests: barriers in shared memory and bulk copies.
typedef unsigned int u32;
typedef unsigned long long u64;
struct alignas(64) Map {
  char bytes[128];
};
__device__ __forceinline__ u32 addressOf(const void *p) {
  return (u32)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void init(u64 *bar, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(addressOf(bar)),
               "r"(count)
               : "memory");
}
__device__ __forceinline__ void fenceInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void fenceProxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void arrive(u64 *bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(addressOf(bar))
               : "memory");
}
__device__ __forceinline__ void arriveExpect(u64 *bar, u32 bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
          addressOf(bar)),
      "r"(bytes)
      : "memory");
}
__device__ __forceinline__ bool tryWait(u64 *bar, u32 parity) {
  u32 ended;
  asm volatile("{\n .reg .pred p;\n"
               " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
               " selp.u32 %0, 1, 0, p;\n}"
               : "=r"(ended)
               : "r"(addressOf(bar)), "r"(parity)
               : "memory");
  return ended;
}
__device__ __forceinline__ void wait(u64 *bar, u32 parity) {
  while (!tryWait(bar, parity))
    ;
}
__device__ __forceinline__ void load(void *to, const void *from, u32 bytes,
                                     u64 *bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1], %2, [%3];" ::"r"(addressOf(to)),
               "l"(from), "r"(bytes), "r"(addressOf(bar))
               : "memory");
}
__device__ __forceinline__ void store(void *to, const void *from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], "
               "%2;" ::"l"(to),
               "r"(addressOf(from)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void loadBox(void *to, const Map *map, int x, int y,
                                        u64 *bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(addressOf(to)),
      "l"(map), "r"(x), "r"(y), "r"(addressOf(bar))
      : "memory");
}
__device__ __forceinline__ void storeBox(const Map *map, int x, int y,
                                         const void *from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, "
               "{%1, %2}], [%3];" ::"l"(map),
               "r"(x), "r"(y), "r"(addressOf(from))
               : "memory");
}
__device__ __forceinline__ void commitStores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ __forceinline__ void waitRead() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ __forceinline__ void waitStores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
