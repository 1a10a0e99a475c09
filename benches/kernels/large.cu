// About 2,000 instructions of PTX, to time their translation.
#include "curl.h"

extern "C" __global__ void large(float4 *position, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = position[i];
#pragma unroll
    for (int step = 0; step < 4; step++) p = carried(p, dt);
    position[i] = p;
}
