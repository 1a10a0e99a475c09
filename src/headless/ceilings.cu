// What a device can do at most: kernels that do one thing only.

extern "C" __global__ void copy(const float4 *from, float4 *to, unsigned long long pieces)
{
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pieces) to[i] = from[i];
}

constexpr int CHAINS = 8, ROUNDS = 1024;

// Chains that do not wait for one another, enough to hide how long an operation takes.
extern "C" __global__ void multiply_add(float *out, float factor, float summand)
{
    float chain[CHAINS];
    for (int k = 0; k < CHAINS; ++k) chain[k] = threadIdx.x + k;
    for (int round = 0; round < ROUNDS; ++round)
#pragma unroll
        for (int k = 0; k < CHAINS; ++k) chain[k] = fmaf(chain[k], factor, summand);
    float sum = 0.0f;
    for (int k = 0; k < CHAINS; ++k) sum += chain[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
