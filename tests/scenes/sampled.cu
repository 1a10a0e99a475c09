/*---
title   = "Sampled"
summary = "Texture objects that read between and beyond texels, each in its own way"

[texture.near]
format = "r32f"
size   = [4, 4]

[texture.smooth]
format = "r32f"
size   = [4, 4]
filter = "linear"

[texture.tiled]
format = "r32f"
size   = [4, 4]
filter = "linear"
wrap   = "repeat"
normalized = true

[texture.mirrored]
format = "r32f"
size   = [4, 4]
wrap   = "mirror"
normalized = true

[texture.cube]
format = "r32f"
size   = [4, 4, 4]
filter = "linear"

[array.seen]
type  = "float"
count = 9

[[pass]]
kernel = "ramp"
on     = "reset"
over   = "cube"

[[pass]]
kernel = "look"
grid   = 1
block  = 1
---*/

__global__ void ramp(cudaSurfaceObject_t near, cudaSurfaceObject_t smooth, cudaSurfaceObject_t tiled,
                     cudaSurfaceObject_t mirrored, cudaSurfaceObject_t cube)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= 4 || y >= 4 || z >= 4) return;
    surf3Dwrite(x + 10.0f * y + 100.0f * z, cube, x * 4, y, z);
    if (z > 0) return;
    float value = x + 10.0f * y;
    surf2Dwrite(value, near, x * 4, y);
    surf2Dwrite(value, smooth, x * 4, y);
    surf2Dwrite(value, tiled, x * 4, y);
    surf2Dwrite(value, mirrored, x * 4, y);
}

__global__ void look(cudaTextureObject_t near, cudaTextureObject_t smooth, cudaTextureObject_t tiled,
                     cudaTextureObject_t mirrored, cudaTextureObject_t cube, float *seen)
{
    seen[0] = tex2D<float>(near, 2.0f, 1.0f);
    seen[1] = tex2D<float>(near, -3.0f, 9.0f);
    seen[2] = tex2D<float>(smooth, 2.0f, 1.0f);
    seen[3] = tex2D<float>(smooth, 2.5f, 9.0f);
    seen[4] = tex2D<float>(tiled, 0.0f, 0.125f);
    seen[5] = tex2D<float>(tiled, 1.625f, 0.125f);
    seen[6] = tex2D<float>(mirrored, -0.125f, 0.125f);
    seen[7] = tex2D<float>(mirrored, 1.125f, 0.125f);
    seen[8] = tex3D<float>(cube, 1.0f, 1.0f, 1.0f);
}
