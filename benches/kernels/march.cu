#include "march.h"

extern "C" __global__ void march(float *picture, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < width) picture[y * width + x] = shade(x, y, width);
}
