/*---
title   = "Image"
summary = "A picture that each pixel computes for itself, from its place and the time"

[constant]
w = 512
h = 384

[texture.image]
format = "rgba8"
size   = ["w", "h"]

[param.scale]
value = 6.0
min   = 1.0
max   = 30.0

[param.color]
value = [0.95, 0.65, 0.25]
kind  = "color"

[[pass]]
kernel = "paint"
over   = "image"

[view]
kind    = "image"
texture = "image"
---*/

__global__ void paint(cudaSurfaceObject_t image, int w, int h, float scale, float3 color, float time, float4 mouse)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float u = (x + 0.5f - 0.5f * w) / h, v = (y + 0.5f) / h - 0.5f;
    // Rings around the pointer, and rings around the middle.
    float mx = (mouse.x - 0.5f) * w / h, my = mouse.y - 0.5f;
    float a = sinf(scale * 6.28f * hypotf(u, v) - 3.0f * time);
    float b = sinf(scale * 6.28f * hypotf(u - mx, v - my) - 2.0f * time);
    float light = 0.5f + 0.25f * (a + b);
    uchar4 pixel = make_uchar4(255 * light * color.x, 255 * light * color.y, 255 * light * color.z, 255);
    surf2Dwrite(pixel, image, x * (int)sizeof(uchar4), y);
}
