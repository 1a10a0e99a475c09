/*---
title   = "Solid"
summary = "A block of texels that are counted up in place"

[texture.block]
format = "rgba32f"
size   = [20, 12, 7]

[texture.slab]             # not drawn
format = "rg32f"
size   = [5, 3]

[[pass]]
kernel = "count"
over   = "block"

[[pass]]
kernel = "total"
grid   = 1
block  = 1
---*/

__global__ void count(cudaSurfaceObject_t block, int block_width, int block_height, int block_depth)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= block_width || y >= block_height || z >= block_depth) return;
    float4 v = surf3Dread<float4>(block, x * 16, y, z);
    surf3Dwrite(make_float4(v.x + x, v.y + y, v.z + z, v.w + 1.0f), block, x * 16, y, z);
}

__global__ void total(cudaSurfaceObject_t slab, int block_count)
{
    float2 last = surf2Dread<float2>(slab, 4 * 8, 2);
    surf2Dwrite(make_float2(last.x + block_count, last.y + 1.0f), slab, 4 * 8, 2);
}
