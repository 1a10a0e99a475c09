// Inclusive prefix sums of blocks of 512 numbers: nine steps of Hillis and Steele, 19 barriers.
extern "C" __global__ void scan(float *values)
{
    __shared__ float sums[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    sums[t] = values[i];
    __syncthreads();
    for (int distance = 1; distance < 512; distance *= 2) {
        float before = t >= distance ? sums[t - distance] : 0.0f;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    values[i] = sums[t];
}
