// Each block of 256 makes one row of 1024 numbers sum to 1: the largest and the sum by shuffles within warps, then by
// the first warp.
__device__ float largest(float v)
{
    for (int offset = 16; offset > 0; offset /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, offset));
    return v;
}

__device__ float total(float v)
{
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
    return v;
}

extern "C" __global__ void softmax(float *out, const float *in)
{
    const int width = 1024;
    __shared__ float parts[8];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const float *x = in + blockIdx.x * width;
    float *y = out + blockIdx.x * width;
    float most = -INFINITY;
    for (int i = t; i < width; i += 256) most = fmaxf(most, x[i]);
    most = largest(most);
    if (lane == 0) parts[warp] = most;
    __syncthreads();
    most = largest(parts[lane % 8]);
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < width; i += 256) {
        float e = expf(x[i] - most);
        y[i] = e;
        sum += e;
    }
    sum = total(sum);
    if (lane == 0) parts[warp] = sum;
    __syncthreads();
    sum = total(lane < 8 ? parts[lane] : 0.0f);
    for (int i = t; i < width; i += 256) y[i] /= sum;
}
