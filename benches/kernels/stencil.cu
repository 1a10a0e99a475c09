// Seven points of a cube, each thread a column along z.
extern "C" __global__ void stencil(float *next, const float *now, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
    int plane = side * side, i = y * side + x + plane;
    float below = now[i - plane], here = now[i];
    for (int z = 1; z < side - 1; z++, i += plane) {
        float above = now[i + plane];
        next[i] = 0.4f * here + 0.1f * (below + above + now[i - 1] + now[i + 1] + now[i - side] + now[i + side]);
        below = here;
        here = above;
    }
}
