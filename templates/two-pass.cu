/*---
title   = "Two passes"
summary = "A texture that is blurred in every step and drawn into by the mouse: kernels read u and write u_next"

[constant]
w = 256
h = 192

[texture.u]                # `u` is read and `u_next` written: they change places after each launch that takes `u_next`
format = "r32f"
size   = ["w", "h"]
double = true

[param.spread]
value = 0.24
min   = 0.0
max   = 0.25

[param.brush]
value = 8.0
min   = 1.0
max   = 40.0
unit  = "texels"

[[pass]]
kernel = "begin"
on     = "reset"
over   = "u"

[[pass]]
kernel = "blur"
over   = "u"

[[pass]]
kernel = "draw"
over   = "u"

[view]
kind     = "image"
texture  = "u"
colormap = "inferno"
range    = [0.0, 1.0]
---*/

__global__ void begin(cudaSurfaceObject_t u, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    surf2Dwrite((x / 24 + y / 24) % 2 ? 1.0f : 0.0f, u, x * (int)sizeof(float), y);
}

__device__ float at(cudaSurfaceObject_t of, int x, int y)
{
    return surf2Dread<float>(of, x * (int)sizeof(float), y, cudaBoundaryModeClamp);
}

__global__ void blur(cudaSurfaceObject_t u, cudaSurfaceObject_t u_next, int w, int h, float spread)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float here = at(u, x, y);
    float around = at(u, x - 1, y) + at(u, x + 1, y) + at(u, x, y - 1) + at(u, x, y + 1);
    surf2Dwrite(here + spread * (around - 4.0f * here), u_next, x * (int)sizeof(float), y);
}

__global__ void draw(cudaSurfaceObject_t u, int w, int h, float4 mouse, float brush)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    bool pressed = (int)mouse.z & 1;
    float away = hypotf(x - mouse.x * w, y - mouse.y * h);
    if (pressed && away < brush) surf2Dwrite(1.0f, u, x * (int)sizeof(float), y);
}
