// A grid-stride loop, then shuffles within warps, then one atomic addition a block.
extern "C" __global__ void sum(const float *values, float *total, int n)
{
    float s = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += values[i];
    for (int offset = 16; offset > 0; offset >>= 1) s += __shfl_down_sync(0xffffffff, s, offset);
    __shared__ float parts[32];
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f;
        for (int offset = 16; offset > 0; offset >>= 1) s += __shfl_down_sync(0xffffffff, s, offset);
        if (threadIdx.x == 0) atomicAdd(total, s);
    }
}
