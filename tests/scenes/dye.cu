/*---
title   = "Dye"
summary = "Dye that spreads over a torus: a texture of two halves, several times a step"

[constant]
w = 48
h = 32

[texture.dye]
format = "r32f"
size   = ["w", "h"]
double = true

[array.shown]              # the dye after the last step, read by a pass that does not write it
type  = "float"
count = "w * h"

[param.rounds]
value = 3
min   = 0
max   = 8

[param.dimmed]
value = false

[[pass]]
kernel = "pour"
on     = "reset"
over   = "dye"

[[pass]]
kernel = "spread"
over   = "dye"
repeat = "rounds"

[[pass]]
kernel  = "dim"
over    = "dye"
only_if = "dimmed"

[[pass]]
kernel = "look"
grid   = [3, 4]
block  = [16, 8]
---*/

__global__ void pour(cudaSurfaceObject_t dye, int dye_width, int dye_height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < dye_width && y < dye_height) surf2Dwrite(float((7 * x + 3 * y) % 16), dye, x * 4, y);
}

__global__ void spread(cudaTextureObject_t dye, cudaSurfaceObject_t dye_next, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float left  = tex2D<float>(dye, (x + w - 1) % w + 0.5f, y + 0.5f);
    float right = tex2D<float>(dye, (x + 1) % w + 0.5f, y + 0.5f);
    float below = tex2D<float>(dye, x + 0.5f, (y + h - 1) % h + 0.5f);
    float above = tex2D<float>(dye, x + 0.5f, (y + 1) % h + 0.5f);
    float here  = tex2D<float>(dye, x + 0.5f, y + 0.5f);
    surf2Dwrite((left + right + below + above + 4.0f * here) / 8.0f, dye_next, x * 4, y);
}

// In place: of a texture of two halves this is the last one.
__global__ void dim(cudaSurfaceObject_t dye, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) surf2Dwrite(0.5f * surf2Dread<float>(dye, x * 4, y), dye, x * 4, y);
}

__global__ void look(cudaSurfaceObject_t dye, float *shown, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    shown[y * w + x] = surf2Dread<float>(dye, x * 4, y);
}
