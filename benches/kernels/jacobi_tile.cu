// One sweep of Jacobi's method from a tile in shared memory, and how much it changed: summed by shuffles within warps,
// then by one atomic addition a warp. Blocks are 32 by 8; width and height are multiples of that, plus the border.
extern "C" __global__ void jacobi_tile(float *next, const float *now, const float *right, float *change, int width)
{
    __shared__ float tile[10][34];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 32 + tx + 1, y = blockIdx.y * 8 + ty + 1, i = y * width + x;
    tile[ty + 1][tx + 1] = now[i];
    if (ty == 0) tile[0][tx + 1] = now[i - width];
    if (ty == 7) tile[9][tx + 1] = now[i + width];
    if (tx == 0) tile[ty + 1][0] = now[i - 1];
    if (tx == 31) tile[ty + 1][33] = now[i + 1];
    __syncthreads();
    float sum = tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] + tile[ty + 2][tx + 1];
    float value = 0.25f * (sum - right[i]);
    next[i] = value;
    float moved = fabsf(value - tile[ty + 1][tx + 1]);
    for (int offset = 16; offset > 0; offset >>= 1) moved += __shfl_down_sync(0xffffffff, moved, offset);
    if (tx == 0) atomicAdd(change, moved);
}
