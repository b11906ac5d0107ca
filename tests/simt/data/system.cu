// The last block adds up what all counted; it prints, asserts, and passes the
// barrier of its cluster.
extern "C" __global__ void last(unsigned *out, unsigned n) {
  __shared__ bool isLast;
  out[8 + blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x % warpSize;
  __threadfence();
  asm volatile("barrier.cluster.arrive.aligned;\n\t"
               "barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0)
    isLast = atomicInc(out, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!isLast)
    return;
  __threadfence();
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x)
    sum += out[8 + i];
  assert(sum < 1000 * n);
  if (threadIdx.x < 2)
    printf("%s %5u of %d: %lld %.3f %p %%\n", "thread", threadIdx.x, int(n),
           -5ll * sum, 0.5 * sum, out);
  out[2] = sum;
}
