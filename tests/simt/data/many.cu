typedef unsigned long long u64; typedef unsigned int u32; typedef unsigned short u16; typedef long long s64;
__constant__ float ctab[4]={1,2,3,4};
__device__ int counter;
struct P { int a; float b; u64 c; short d[3]; };
__device__ __noinline__ float helper(float a, int n, P p){ float s=a; for(int i=0;i<n;i++) s=s*a+p.b; return s; }
extern __shared__ __align__(16) unsigned char dyn[];
extern "C" __global__ void __launch_bounds__(256) k1(float*o,const float* __restrict__ in,int n,P p,double*od){
  __shared__ float sm[256];
  int t=threadIdx.x, i=blockIdx.x*blockDim.x+t;
  sm[t]= i<n? in[i]:0.f;
  __syncthreads();
  for(int s=128;s>0;s>>=1){ if(t<s) sm[t]+=sm[t+s]; __syncthreads(); }
  float v=sm[t];
  for(int s=16;s;s>>=1) v+=__shfl_xor_sync(0xffffffffu,v,s);
  v=fmaxf(v,__shfl_down_sync(~0u,v,1)); v+=__shfl_up_sync(~0u,v,2,16)+__shfl_sync(~0u,v,3);
  if(__any_sync(~0u,v>3.f)) v=__expf(v)+expf(v)+logf(v)+sqrtf(v)+rsqrtf(v)+v/3.7f+sinf(v);
  if(__all_sync(~0u,v>3.f)) v+=__ballot_sync(~0u,v<0);
  v+=__popc(__activemask())+__clz(t)+__ffs(t)+__brev(t);
  v+=helper(v,n,p);
  atomicAdd(&o[0],v); int old=atomicAdd(&counter,1); o[1]=old; atomicMax((int*)&o[2],t); atomicCAS((u32*)&o[3],1u,2u); atomicExch((u64*)&o[4],5ull);
  od[i]=__dadd_rz(od[i],1.0)+sqrt(od[i])*exp(od[i])/od[i+1]; od[i]+=log(od[i]);
  int loc[8]; for(int j=0;j<8;j++) loc[j]=j*t; o[i]=loc[n&7]+ctab[n&3]+p.d[n%3];
  s64 q=(s64)n*i; od[2]=q/(n+1)+q%(n+3)+__mulhi(n,i)+__umul64hi(q,n); o[5]=__float_as_int(v)+__float2int_rn(v)+(float)(u64)q+(u32)v+(s64)v; 
  o[6]=rintf(v)+floorf(v)+ceilf(v)+truncf(v)+fabsf(v)+fminf(v,2)+copysignf(v,o[7])+roundf(v);
  float4 f=((float4*)o)[t]; f.x+=1; ((float4*)o)[t]=f; float2 g=((float2*)dyn)[t]; ((float2*)dyn)[t+1]=g; ((u16*)dyn)[3]=t; ((unsigned char*)dyn)[n]=t; ((double2*)od)[t]=make_double2(1,2);
  switch(n){case 0:o[9]=1;break;case 1:o[8]=3;break;case 2:o[7]=5;break;case 3:o[11]=n+4;break;case 4:o[2]=3;break; case 5:o[3]=n*7;break;case 6: o[12]=2;break; case 7:o[9]=n;}
  __syncwarp(); __threadfence(); __threadfence_block(); if(__syncthreads_or(t==5)) o[10]=1; if(__syncthreads_count(t==5)) o[10]=2;
  o[20]=__reduce_add_sync(~0u,t); o[21]=__match_any_sync(~0u,t); if(t==77) asm volatile("exit;");
  o[22]=__funnelshift_l(t,n,3)+__byte_perm(t,n,0x1234)+__dp4a(t,n,3)+__sad(t,n,3)+__vadd2(t,n)+__mul24(t,n)+min(t,n)+abs(n)+__usad(t,n,3)+__popcll(q)+__clzll(q);
  if(n>100) __trap(); __nanosleep(100); o[30]=clock(); o[31]=((volatile float*)o)[40]+__ldg(&in[3])+__ldcg(&in[4])+__ldcs(&in[5]); __stcs(&o[32],3.f); atomicAdd_block(&o[33],1.f); atomicAnd((u32*)&sm[3],4u); atomicInc((u32*)&sm[4],4u); atomicAdd(&od[5],2.0); atomicSub((int*)&o[50],t);
}
