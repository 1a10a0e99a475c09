/*---
[texture.dye]
format = "r32f"
size   = [16, 16]

[[pass]]
kernel = "advance"
over   = "dye"
---*/
__global__ void advance(cudaSurfaceObject_t dye)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    surf2Dwrite(1.0f, dye, x * 16, y);
}
