/*---
title   = "Volume"
summary = "A cloud in a box: each cell's density goes by its distance from two balls that circle each other"

[constant]
n = 64

[texture.density]
format = "r32f"
size   = ["n", "n", "n"]

[param.softness]
value = 0.25
min   = 0.05
max   = 0.6

[[pass]]
kernel = "fill"
over   = "density"

[view]
kind     = "volume"
texture  = "density"
density  = 12.0
colormap = "magma"
range    = [0.0, 1.0]
---*/

__global__ void fill(cudaSurfaceObject_t density, int n, float softness, float time)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= n || y >= n || z >= n) return;
    // From -1 to 1.
    float3 p = make_float3(2 * (x + 0.5f) / n - 1, 2 * (y + 0.5f) / n - 1, 2 * (z + 0.5f) / n - 1);
    float cx = 0.4f * cosf(time), cz = 0.4f * sinf(time);
    float a = norm3df(p.x - cx, p.y, p.z - cz), b = norm3df(p.x + cx, p.y, p.z + cz);
    float value = expf(-a * a / (softness * softness)) + expf(-b * b / (softness * softness));
    surf3Dwrite(fminf(value, 1.0f), density, x * (int)sizeof(float), y, z);
}
