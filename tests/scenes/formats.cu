/*---
title   = "Formats"
summary = "Texels of every format, written through surfaces and read through texture objects"

[texture.bytes]
format = "rgba8"
size   = [6, 4]

[texture.halves]
format = "rgba16f"
size   = [6, 4]

[texture.quads]
format = "rgba32f"
size   = [6, 4]

[texture.pairs]
format = "rg32f"
size   = [6, 4]

[texture.singles]
format = "r32f"
size   = [6, 4]

[array.seen]               # what texture objects read of each
type  = "float4"
count = "5 * 6 * 4"

[[pass]]
kernel = "store"
on     = "reset"
over   = "bytes"

[[pass]]
kernel = "look"
over   = "bytes"
---*/

__global__ void store(cudaSurfaceObject_t bytes, cudaSurfaceObject_t halves, cudaSurfaceObject_t quads,
                      cudaSurfaceObject_t pairs, cudaSurfaceObject_t singles, int bytes_width, int bytes_height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= bytes_width || y >= bytes_height) return;
    int i = 4 * (y * bytes_width + x);
    surf2Dwrite(make_uchar4(i, i + 1, i + 2, i + 3), bytes, x * 4, y);
    // 0x3c00 is 1 in half precision; a number added to it counts in steps of 1/1024.
    surf2Dwrite(make_ushort4(0x3c00 + i, 0x3c01 + i, 0x3c02 + i, 0x3c03 + i), halves, x * 8, y);
    surf2Dwrite(make_float4(i, i + 1, i + 2, i + 3), quads, x * 16, y);
    surf2Dwrite(make_float2(i, i + 1), pairs, x * 8, y);
    surf2Dwrite(float(i), singles, x * 4, y);
}

__global__ void look(cudaTextureObject_t bytes, cudaTextureObject_t halves, cudaTextureObject_t quads,
                     cudaTextureObject_t pairs, cudaTextureObject_t singles, float4 *seen, int bytes_width,
                     int bytes_height, int bytes_count)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= bytes_width || y >= bytes_height) return;
    float u = x + 0.5f, v = y + 0.5f;
    float4 *here = seen + y * bytes_width + x;
    float2 pair = tex2D<float2>(pairs, u, v);
    here[0 * bytes_count] = tex2D<float4>(bytes, u, v);
    here[1 * bytes_count] = tex2D<float4>(halves, u, v);
    here[2 * bytes_count] = tex2D<float4>(quads, u, v);
    here[3 * bytes_count] = make_float4(pair.x, pair.y, 0.0f, 0.0f);
    here[4 * bytes_count] = make_float4(tex2D<float>(singles, u, v), 0.0f, 0.0f, 0.0f);
}
