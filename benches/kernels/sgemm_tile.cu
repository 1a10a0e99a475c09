// C = A B in tiles of 64 by 64, of which each of 64 threads computes 8 by 8 in registers.
extern "C" __global__ void sgemm_tile(const float *a, const float *b, float *c, int n)
{
    const int tile = 64, deep = 8, own = 8;
    __shared__ float as[deep][tile], bs[deep][tile];
    int t = threadIdx.x, tx = t % 8, ty = t / 8;
    a += blockIdx.y * tile * n;
    b += blockIdx.x * tile;
    c += blockIdx.y * tile * n + blockIdx.x * tile;
    float sums[own][own] = {}, left[own], above[own];
    for (int k = 0; k < n; k += deep) {
        for (int i = 0; i < tile; i += 8) as[tx][ty + i] = a[(ty + i) * n + k + tx];
        for (int i = 0; i < deep; i++) bs[i][t] = b[(k + i) * n + t];
        __syncthreads();
        for (int i = 0; i < deep; i++) {
            for (int j = 0; j < own; j++) left[j] = as[i][ty * own + j];
            for (int j = 0; j < own; j++) above[j] = bs[i][tx * own + j];
            for (int y = 0; y < own; y++)
                for (int x = 0; x < own; x++) sums[y][x] += left[y] * above[x];
        }
        __syncthreads();
    }
    for (int y = 0; y < own; y++)
        for (int x = 0; x < own; x++) c[(ty * own + y) * n + tx * own + x] = sums[y][x];
}
