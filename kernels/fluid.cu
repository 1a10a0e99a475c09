/*---
title   = "Stable fluids"
summary = "An incompressible fluid that jets stir and dye: drag the mouse through it"

[constant]
w       = 2048             # cells along x and y: powers of two, periodic
h       = 1024
lines   = 2                # rows, or pairs of columns, that a block transforms side by side

[constant.cpu]
w = 256
h = 128

[array.velocity]           # in heights of the picture a second
type   = "float2"
count  = "w * h"
double = true

[array.pointer]            # where the mouse was in the step before
type  = "float4"
count = 1

[texture.dye]
format     = "rgba16f"
size       = ["w", "h"]
double     = true
filter     = "linear"
wrap       = "repeat"
normalized = true

[texture.picture]
format = "rgba8"
size   = ["w", "h"]

[param.viscosity]
value = 0.00001
min   = 0.000001
max   = 0.01
log   = true
unit  = "1/s"

[param.confinement]
label = "vorticity confinement"
value = 2.0
min   = 0.0
max   = 20.0

[param.jets]
label = "speed of the jets"
value = 0.6
min   = 0.0
max   = 3.0
unit  = "1/s"

[param.fade]
label = "dye fades"
value = 0.25
min   = 0.0
max   = 3.0
unit  = "1/s"

[param.brush]
label = "mouse's brush"
value = 0.04
min   = 0.005
max   = 0.2
log   = true

[param.exposure]
value = 1.0
min   = 0.1
max   = 10.0
log   = true

[[pass]]
kernel = "clear"
on     = "reset"
over   = "dye"

[[pass]]
kernel = "move"
over   = "dye"
block  = [32, 8]

[[pass]]
kernel = "transform_rows<false>"
grid   = "h / lines"
block  = "lines * w / 8"
shared = "lines * (w + w / 16) * 8"

[[pass]]
kernel = "project_columns"
grid   = "w / 2 / lines"
block  = "lines * h / 8"
shared = "lines * 2 * (h + h / 16) * 8"

[[pass]]
kernel = "transform_rows<true>"
grid   = "h / lines"
block  = "lines * w / 8"
shared = "lines * (w + w / 8 + 8) * 8"

[view]
kind    = "image"
texture = "picture"
filter  = "linear"

[[stat]]
name   = "divergence"
of     = "velocity"
map    = "fabsf(derivatives(velocity, i).x)"
reduce = "max"

[[stat]]
name   = "vorticity"
of     = "velocity"
map    = "fabsf(derivatives(velocity, i).y)"
reduce = "mean"

[[check]]
stat   = "velocity.nan"
equals = 0

[[check]]                  # rounding of velocities of about 1, over a cell; without the projection it is about 10
stat = "divergence"
max  = 0.01

[[check]]                  # and yet it moves
stat = "vorticity"
min  = 0.05
---*/
#include <warpaint/fft.cuh>
#include <warpaint/vector.cuh>

// J. Stam, "Stable fluids", SIGGRAPH 1999: what the fluid carries is fetched from where it comes from, which is stable
// for every time step, and pressure takes away the divergence. On a periodic box a Fourier transform solves for the
// pressure exactly (Stam, "A simple fluid solver based on the FFT", Journal of Graphics Tools 6, 2001). Vorticity
// confinement gives small whirls back what the fetching wears away (Fedkiw, Stam, Jensen, "Visual simulation of smoke",
// SIGGRAPH 2001).
//
// Both components of the velocity are transformed as one complex number. A step is four kernels: move, rows there,
// columns there and back with the projection between, rows back. They read and write 8 bytes a cell of velocity each,
// and `move` 8 and 8 of dye and 4 of the picture: 84 bytes a cell.

using namespace warpaint;

static_assert((w & (w - 1)) == 0 && (h & (h - 1)) == 0 && w >= 64 && h >= 64, "w and h must be powers of two, at least 64");

constexpr float aspect = (float)w / h, tau = 6.28318531f;
constexpr int jet_count = 5;

__device__ int wrapped_x(int x) { return x & (w - 1); }
__device__ int wrapped_y(int y) { return y & (h - 1); }
__device__ float2 at(const float2 *velocity, int x, int y) { return velocity[wrapped_y(y) * w + wrapped_x(x)]; }

// Divergence and vorticity of a cell, in 1/s, by central differences.
__device__ float2 derivatives(const float2 *velocity, int x, int y)
{
    const float2 right = at(velocity, x + 1, y), left = at(velocity, x - 1, y);
    const float2 above = at(velocity, x, y + 1), below = at(velocity, x, y - 1);
    constexpr float scale = 0.5f * h;
    return make_float2(scale * (right.x - left.x + above.y - below.y), scale * (right.y - left.y - above.x + below.x));
}

__device__ float2 derivatives(const float2 *velocity, long long i) { return derivatives(velocity, i % w, i / w); }

// The velocity between cells; their middles have whole numbers.
__device__ float2 sample(const float2 *velocity, float x, float y)
{
    const float from_x = floorf(x), from_y = floorf(y);
    const int column = (int)from_x, row = (int)from_y;
    const float2 a = at(velocity, column, row), b = at(velocity, column + 1, row);
    const float2 c = at(velocity, column, row + 1), d = at(velocity, column + 1, row + 1);
    const float2 low = a + (b - a) * (x - from_x), high = c + (d - c) * (x - from_x);
    return low + (high - low) * (y - from_y);
}

// What pulls a whirl together: towards where vorticity is greater, turned by a quarter.
__device__ float2 confined(const float2 *velocity, int x, int y, float confinement)
{
    const float right = derivatives(velocity, x + 1, y).y, left = derivatives(velocity, x - 1, y).y;
    const float above = derivatives(velocity, x, y + 1).y, below = derivatives(velocity, x, y - 1).y;
    float2 towards = make_float2(fabsf(right) - fabsf(left), fabsf(above) - fabsf(below));
    towards = towards / (length(towards) + 1e-3f);
    const float here = 0.25f * (right + left + above + below);
    return make_float2(towards.y, -towards.x) * (here * confinement / h);
}

// A bright colour; hues go round from 0 to 1.
__device__ float3 colored(float hue)
{
    const float3 c = make_float3(cospif(2.0f * hue), cospif(2.0f * hue - 0.6667f), cospif(2.0f * hue - 1.3333f));
    return make_float3(0.5f + 0.5f * c.x, 0.32f + 0.32f * c.y, 0.55f + 0.55f * c.z);
}

struct Source {
    float2 place, velocity;
    float3 color;
};

// A jet goes round the middle, blows forwards and sways.
__device__ Source jet(int index, float speed, float time)
{
    const float angle = tau * index / jet_count + 0.12f * time, sway = angle + 1.9f + 0.9f * sinf(0.8f * time + 2.0f * index);
    const float2 place = make_float2(0.5f * aspect + 0.33f * cosf(angle) * aspect, 0.5f + 0.33f * sinf(angle));
    return {place, make_float2(cosf(sway), sinf(sway)) * speed, colored((float)index / jet_count + 0.02f * time)};
}

// How much of a source there is at a distance from it, of 1.
__device__ float near(float2 from_source, float radius)
{
    const float distance = dot(from_source, from_source) / (radius * radius);
    return distance < 16.0f ? expf(-distance) : 0.0f;
}

__device__ unsigned short to_half(float x)
{
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

__device__ unsigned char to_byte(float x) { return (unsigned char)(255.0f * sqrtf(clamp(x, 0.0f, 1.0f)) + 0.5f); }

__global__ void clear(float2 *velocity, cudaSurfaceObject_t dye, float4 *pointer)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    velocity[y * w + x] = make_float2(0.0f, 0.0f);
    surf2Dwrite(make_ushort4(0, 0, 0, 0), dye, x * 8, y);
    if (x == 0 && y == 0) *pointer = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// Fetches velocity and dye from where they come from, and adds what confinement, jets and the mouse do.
__global__ void move(const float2 *__restrict__ velocity, float2 *__restrict__ velocity_next, cudaTextureObject_t dye,
                     cudaSurfaceObject_t dye_next, cudaSurfaceObject_t picture, const float4 *pointer, float4 mouse,
                     float confinement, float jets, float fade, float brush, float exposure, float time, float dt)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int rank = threadIdx.y * blockDim.x + threadIdx.x;
    __shared__ Source sources[jet_count];
    if (rank < jet_count) sources[rank] = jet(rank, jets, time);
    __syncthreads();
    if (x >= w || y >= h) return;
    const float2 here = velocity[y * w + x];
    const float from_x = x - here.x * (h * dt), from_y = y - here.y * (h * dt);
    float2 v = sample(velocity, from_x, from_y) + confined(velocity, x, y, confinement) * dt;
    const float4 carried = tex2D<float4>(dye, (from_x + 0.5f) / w, (from_y + 0.5f) / h);
    float3 color = xyz(carried) * expf(-fade * dt);

    const float2 place = make_float2((x + 0.5f) / h, (y + 0.5f) / h);
    const float haste = 1.0f - expf(-20.0f * dt);  // how far a step goes towards what a source wants
    for (int i = 0; i < jet_count; ++i) {
        const Source source = sources[i];
        const float amount = near(place - source.place, 0.03f) * haste;
        v += (source.velocity - v) * amount;
        color += (source.color * 1.5f - color) * amount;
    }
    if ((int)mouse.z & 1 && (int)pointer->z & 1) {
        const float2 now = make_float2(mouse.x * aspect, mouse.y), before = make_float2(pointer->x * aspect, pointer->y);
        const float amount = near(place - now, brush);
        v += ((now - before) / dt - v) * amount;
        color += (colored(0.3f * time) * 2.0f - color) * (amount * haste);
    }
    velocity_next[y * w + x] = v;
    surf2Dwrite(make_ushort4(to_half(color.x), to_half(color.y), to_half(color.z), 0), dye_next, x * 8, y);

    const float3 light = color * (-1.5f * exposure);
    const float3 seen = make_float3(1.0f - expf(light.x), 1.0f - expf(light.y), 1.0f - expf(light.z));
    const float3 dark = make_float3(0.004f, 0.006f, 0.014f);
    surf2Dwrite(make_uchar4(to_byte(seen.x + dark.x), to_byte(seen.y + dark.y), to_byte(seen.z + dark.z), 255), picture, x * 4, y);
}

// Rows to frequencies along x, or back. The last kernel of a step: it also keeps where the mouse is.
template <bool back> __global__ void transform_rows(float2 *velocity, float4 *pointer, float4 mouse)
{
    extern __shared__ float2 scratch[];
    fft_lines<w, lines, back>(scratch, velocity, 1, w, h);
    if (back && blockIdx.x == 0 && threadIdx.x == 0) *pointer = mouse;
}

// The part of a frequency that is free of divergence, a little worn by viscosity. `mirrored` is the value at the
// opposite frequency: with it the transforms of both components are taken apart. In frequencies a central difference
// is a product with i sin(k), so that exactly what `derivatives` sees of divergence goes.
__device__ float2 projected(float2 value, float2 mirrored, int x, int y, float viscosity, float dt)
{
    float2 a = make_float2(value.x + mirrored.x, value.y - mirrored.y);
    float2 b = make_float2(value.y + mirrored.y, mirrored.x - value.x);
    const float sine_x = sinpif(2.0f * x / w), sine_y = sinpif(2.0f * y / h), sum = sine_x * sine_x + sine_y * sine_y;
    const float along_x = tau * min(x, w - x) / aspect, along_y = tau * min(y, h - y);
    float scale = 0.5f * expf(-viscosity * dt * (along_x * along_x + along_y * along_y));
    if (sum > 0.0f) {
        const float2 divergence = (a * sine_x + b * sine_y) / sum;
        a -= divergence * sine_x;
        b -= divergence * sine_y;
    } else if (x + y > 0) {
        scale = 0.0f;  // what changes its sign from cell to cell, and no difference sees
    }
    return make_float2(a.x - b.y, a.y + b.x) * scale;
}

// Columns to frequencies along y, the projection, and back. Columns k and w - k mirror each other and are done
// together; the first pair is of the two columns that mirror themselves.
__global__ void project_columns(float2 *velocity, float viscosity, float dt)
{
    extern __shared__ float2 scratch[];
    constexpr int threads = fft_threads(h), each = h / threads;
    const int j = threadIdx.x / lines, pair = blockIdx.x * lines + threadIdx.x % lines;
    const int columns[2] = {pair, pair > 0 ? w - pair : w / 2};
    float2 *one = scratch + threadIdx.x % lines * 2 * fft_line(h), *other = one + fft_line(h);
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int y = j + k * threads;
        one[fft_place(y)] = velocity[y * w + columns[0]];
        other[fft_place(y)] = velocity[y * w + columns[1]];
    }
    __syncthreads();
    fft<h, false>(one, j);
    fft<h, false>(other, j);
    float2 a[each], b[each];
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int y = j + k * threads, here = fft_place(y), mirrored = fft_place(wrapped_y(h - y));
        a[k] = projected(one[here], (pair > 0 ? other : one)[mirrored], columns[0], y, viscosity, dt);
        b[k] = projected(other[here], (pair > 0 ? one : other)[mirrored], columns[1], y, viscosity, dt);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < each; ++k) {
        one[fft_place(j + k * threads)] = a[k];
        other[fft_place(j + k * threads)] = b[k];
    }
    __syncthreads();
    fft<h, true>(one, j);
    fft<h, true>(other, j);
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int y = j + k * threads;
        velocity[y * w + columns[0]] = one[fft_place(y)];
        velocity[y * w + columns[1]] = other[fft_place(y)];
    }
}
