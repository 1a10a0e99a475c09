// What a shuffle, a __syncwarp() and a __syncthreads() cost, in loops that do next to nothing else.
extern "C" __global__ void shuffles(float *values, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = values[i];
    for (int round = 0; round < rounds; round++) v += __shfl_xor_sync(0xffffffff, v, 1);
    values[i] = v;
}

extern "C" __global__ void syncwarps(float *values, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = values[i];
    for (int round = 0; round < rounds; round++) {
        v += 1.0f;
        __syncwarp();
    }
    values[i] = v;
}

extern "C" __global__ void barriers(float *values, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = values[i];
    for (int round = 0; round < rounds; round++) {
        v += 1.0f;
        __syncthreads();
    }
    values[i] = v;
}
