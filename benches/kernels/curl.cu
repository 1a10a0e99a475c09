#include "curl.h"

extern "C" __global__ void curl(float4 *position, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) position[i] = carried(position[i], dt);
}
