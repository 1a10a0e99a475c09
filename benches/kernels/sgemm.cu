// C = A B in tiles of 16 by 16 in shared memory.
extern "C" __global__ void sgemm(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float s = 0.0f;
    for (int tile = 0; tile < n; tile += 16) {
        as[ty][tx] = a[row * n + tile + tx];
        bs[ty][tx] = b[(tile + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++) s += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + column] = s;
}
