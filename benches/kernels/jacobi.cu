// One sweep of Jacobi's method for Poisson's equation; the border keeps its values.
extern "C" __global__ void jacobi(float *next, const float *now, const float *right, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    int i = y * width + x;
    next[i] = 0.25f * (now[i - 1] + now[i + 1] + now[i - width] + now[i + width] - right[i]);
}
