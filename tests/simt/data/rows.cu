// Sums of 1024 floats per block, with shuffles; and softmax of rows of 128
// floats, one warp to a row.
__device__ float sumOfWarp(float v) {
  for (int step = 16; step; step /= 2)
    v += __shfl_xor_sync(0xFFFFFFFF, v, step);
  return v;
}
__device__ float maxOfWarp(float v) {
  for (int step = 16; step; step /= 2)
    v = fmaxf(v, __shfl_xor_sync(0xFFFFFFFF, v, step));
  return v;
}

extern "C" __global__ void __launch_bounds__(256)
    reduce(float *out, const float *in) {
  __shared__ float partial[8];
  int i = threadIdx.x;
  float4 v = ((const float4 *)in)[blockIdx.x * 256 + i];
  float sum = sumOfWarp(v.x + v.y + v.z + v.w);
  if (i % 32 == 0)
    partial[i / 32] = sum;
  __syncthreads();
  if (i < 32) {
    sum = sumOfWarp(i < 8 ? partial[i] : 0.0f);
    if (i == 0)
      out[blockIdx.x] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(128)
    softmax(float *out, const float *in) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float4 v = ((const float4 *)in)[row * 32 + lane];
  float most = maxOfWarp(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  v.x = __expf(v.x - most);
  v.y = __expf(v.y - most);
  v.z = __expf(v.z - most);
  v.w = __expf(v.w - most);
  float scale = 1.0f / sumOfWarp(v.x + v.y + v.z + v.w);
  ((float4 *)out)[row * 32 + lane] =
      make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}
