/*---
title   = "Stable fluids"
summary = "An incompressible fluid that jets stir and dye: drag the mouse through it"

[constant]
w       = 2048             # cells along x and y: powers of two, periodic
h       = 1024
rows    = 1                # that a block transforms side by side
columns = 2                # ... of pairs of numbers
tile_w  = 32               # cells of a block that moves
tile_h  = 8

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
value = 0.1
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
block  = ["tile_w", "tile_h"]
bytes  = "36 * w * h"

[[pass]]
kernel = "transform_rows"
grid   = "h / rows"
block  = "rows * w / 8"
shared = "rows * (w + w / 16 + 4) * 8"
bytes  = "16 * w * h"

[[pass]]
kernel = "project_columns"
grid   = "w / 2 / columns"
block  = "columns * h / 8"
shared = "columns * 2 * (h + h / 16 + 4) * 8"
bytes  = "16 * w * h"

[[pass]]
kernel = "restore_rows"
grid   = "h / rows"
block  = "rows * w / 8"
shared = "rows * (w + w / 16 + 4) * 8"
bytes  = "16 * w * h"

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
#include <warpaint/colour.cuh>
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

static_assert(w >= 64 && (w & (w - 1)) == 0, "w must be a power of two, at least 64");
static_assert(h >= 64 && (h & (h - 1)) == 0, "h must be a power of two, at least 64");

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

// The vorticity of a block's cells and of those around them, for `confined`.
struct Whirls {
    float of[tile_h + 2][tile_w + 2];

    __device__ void measure(const float2 *velocity, int rank)
    {
        constexpr int across = tile_w + 2, all = across * (tile_h + 2);
        for (int i = rank; i < all; i += tile_w * tile_h) {
            const int x = blockIdx.x * tile_w + i % across - 1, y = blockIdx.y * tile_h + i / across - 1;
            of[i / across][i % across] = derivatives(velocity, x, y).y;
        }
    }

    // What pulls a whirl together: towards where vorticity is greater, turned by a quarter.
    __device__ float2 confined(float confinement) const
    {
        constexpr int across = tile_w + 2;
        const float *here = &of[threadIdx.y + 1][threadIdx.x + 1], *above = here + across, *below = here - across;
        const float2 towards = make_float2(fabsf(here[1]) - fabsf(here[-1]), fabsf(*above) - fabsf(*below));
        const float strength = *here * confinement / h * rsqrtf(dot(towards, towards) + 1e-6f);
        return make_float2(towards.y, -towards.x) * strength;
    }
};

// From deep blue by way of cream to amber, and back: `turn` goes round from 0 to 1.
__device__ float3 colored(float turn)
{
    const float warm = 0.5f - 0.5f * cospif(2.0f * turn), pale = warm * (1.0f - warm);
    const float3 cold = make_float3(0.02f, 0.13f, 0.55f), hot = make_float3(0.95f, 0.26f, 0.03f);
    return mix(cold, hot, warm) + make_float3(1.1f, 1.1f, 0.9f) * pale;
}

// The stream function to start with: whirls of several sizes.
__device__ float stream(float x, float y)
{
    const float along = tau / aspect * x, up = tau * y;
    return 0.055f * sinf(2.0f * along) * sinf(up) + 0.030f * cosf(3.0f * along + 1.0f) * sinf(2.0f * up + 0.5f)
           + 0.012f * sinf(5.0f * along + 2.0f) * cosf(4.0f * up);
}

// The velocity of that, free of divergence.
__device__ float2 stirred(float x, float y)
{
    constexpr float near = 1.0f / h;
    const float right = stream(x, y + near) - stream(x, y - near), up = stream(x - near, y) - stream(x + near, y);
    return make_float2(right, up) * (0.5f * h);
}

// Dye to start with: bands that lie athwart the whirls.
__device__ float3 bands(float x, float y)
{
    const float phase = 2.0f * x / aspect + y + 3.0f * stream(x + 0.3f, y + 0.2f);
    return colored(phase) * (0.54f + 0.46f * cospif(6.0f * phase));
}

struct Source {
    float2 place, velocity;
    float3 color;
};

// A jet goes round the middle, blows forwards and sways; angles are in half turns.
__device__ Source jet(int index, float speed, float time)
{
    const float turn = 2.0f * index / jet_count, angle = turn + 0.04f * time;
    const float sway = angle + 0.6f + 0.3f * sinpif(0.25f * time + 0.64f * index);
    const float2 place = make_float2((0.5f + 0.33f * cospif(angle)) * aspect, 0.5f + 0.33f * sinpif(angle));
    return {place, make_float2(cospif(sway), sinpif(sway)) * speed, colored(0.5f * turn + 0.05f * time)};
}

// How much of a source there is at a distance from it, of 1.
__device__ float near(float2 from_source, float sharpness)
{
    const float distance = dot(from_source, from_source) * sharpness;
    return distance < 16.0f ? __expf(-distance) : 0.0f;
}

__device__ unsigned short to_half(float x)
{
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

__global__ void clear(float2 *velocity, cudaSurfaceObject_t dye, float4 *pointer)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float2 p = make_float2((x + 0.5f) / h, (y + 0.5f) / h);
    velocity[y * w + x] = stirred(p.x, p.y);
    const float3 color = bands(p.x, p.y);
    surf2Dwrite(make_ushort4(to_half(color.x), to_half(color.y), to_half(color.z), 0), dye, x * 8, y);
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
    __shared__ Whirls whirls;
    if (rank < jet_count) sources[rank] = jet(rank, jets, time);
    whirls.measure(velocity, rank);
    __syncthreads();
    const float2 here = velocity[y * w + x];
    const float from_x = x - here.x * (h * dt), from_y = y - here.y * (h * dt);
    float2 v = sample(velocity, from_x, from_y) + whirls.confined(confinement) * dt;
    const float4 carried = tex2D<float4>(dye, (from_x + 0.5f) / w, (from_y + 0.5f) / h);
    float3 color = xyz(carried) * __expf(-fade * dt);

    const float2 place = make_float2((x + 0.5f) / h, (y + 0.5f) / h);
    const float haste = 1.0f - __expf(-20.0f * dt);  // how far a step goes towards what a source wants
    for (int i = 0; i < jet_count; ++i) {
        const float amount = near(place - sources[i].place, 1.0f / (0.03f * 0.03f)) * haste;
        if (amount > 0.0f) {
            v += (sources[i].velocity - v) * amount;
            color += (sources[i].color * 1.5f - color) * amount;
        }
    }
    if ((int)mouse.z & 1 && (int)pointer->z & 1) {
        const float2 now = make_float2(mouse.x * aspect, mouse.y);
        const float2 before = make_float2(pointer->x * aspect, pointer->y);
        const float amount = near(place - now, 1.0f / (brush * brush));
        v += ((now - before) / dt - v) * amount;
        color += (colored(0.3f * time) * 2.0f - color) * (amount * haste);
    }
    velocity_next[y * w + x] = v;
    surf2Dwrite(make_ushort4(to_half(color.x), to_half(color.y), to_half(color.z), 0), dye_next, x * 8, y);

    const float3 light = color * (-1.5f * exposure);
    const float3 seen = make_float3(1.0f - __expf(light.x), 1.0f - __expf(light.y), 1.0f - __expf(light.z));
    const float3 dark = make_float3(0.004f, 0.006f, 0.014f);
    surf2Dwrite(pack(to_gamma2(seen + dark)), picture, x * 4, y);
}

// Two real signals u and v are transformed as one, z = u + iv; `mirrored` is z at the opposite frequency.
struct Pair {
    float2 u, v;

    __device__ static Pair of(float2 z, float2 mirrored)
    {
        const float2 u = make_float2(z.x + mirrored.x, z.y - mirrored.y);
        const float2 v = make_float2(z.y + mirrored.y, mirrored.x - z.x);
        return {u * 0.5f, v * 0.5f};
    }
    __device__ float2 z() const { return make_float2(u.x - v.y, u.y + v.x); }
    __device__ float2 mirrored() const { return make_float2(u.x + v.y, v.x - u.y); }
};

// What goes between the threads of a line, each of which has eight of its elements.
extern __shared__ float2 scratch[];
constexpr int row_threads = fft_threads(w), column_threads = fft_threads(h);

// Where the partner of frequency k < w / 2 of a row lies. Frequencies 0 and w / 2, which mirror themselves, are so.
__device__ int partner(int k) { return fft_place(k > 0 ? w - k : w / 2); }

// Rows to frequencies along x, of each component for itself: a row becomes w / 2 pairs. Only frequencies 0 and w / 2
// stay joined, as if they were the two components of the first pair.
__global__ void transform_rows(float2 *velocity)
{
    const int t = threadIdx.x % row_threads, l = threadIdx.x / row_threads;
    float2 z[1][8], *line = scratch + l * fft_line(w), *row = velocity + (blockIdx.x * rows + l) * (long long)w;
#pragma unroll
    for (int e = 0; e < 8; ++e) z[0][e] = row[t + e * row_threads];
    fft<w, false>(z, line, t);
#pragma unroll
    for (int e = 4; e < 8; ++e) line[fft_place(t + e * row_threads)] = z[0][e];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const int k = t + e * row_threads;
        const float2 other = line[partner(k)];
        const Pair pair = k > 0 ? Pair::of(z[0][e], other) : Pair{z[0][e], other};
        reinterpret_cast<float4 *>(row)[k] = make_float4(pair.u.x, pair.u.y, pair.v.x, pair.v.y);
    }
}

// And back. The last kernel of a step: it also keeps where the mouse is.
__global__ void restore_rows(float2 *velocity, float4 *pointer, float4 mouse)
{
    const int t = threadIdx.x % row_threads, l = threadIdx.x / row_threads;
    float2 z[1][8], *line = scratch + l * fft_line(w), *row = velocity + (blockIdx.x * rows + l) * (long long)w;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const int k = t + e * row_threads;
        const float4 p = reinterpret_cast<const float4 *>(row)[k];
        const Pair pair = {make_float2(p.x, p.y), make_float2(p.z, p.w)};
        z[0][e] = k > 0 ? pair.z() : pair.u;
        line[partner(k)] = k > 0 ? pair.mirrored() : pair.v;
    }
    __syncthreads();
#pragma unroll
    for (int e = 4; e < 8; ++e) z[0][e] = line[fft_place(t + e * row_threads)];
    __syncthreads();
    fft<w, true>(z, line, t);
#pragma unroll
    for (int e = 0; e < 8; ++e) row[t + e * row_threads] = z[0][e];
    if (blockIdx.x == 0 && threadIdx.x == 0) *pointer = mouse;
}

// How much of frequency x, y viscosity leaves in a step.
__device__ float worn(int x, int y, float viscosity, float dt)
{
    const float along_x = tau * x / aspect, along_y = tau * min(y, h - y);
    return __expf(-viscosity * dt * (along_x * along_x + along_y * along_y));
}

// Columns to frequencies along y, the projection, and back. In frequencies a central difference is a product with
// i sin(k), so that exactly what `derivatives` sees of divergence goes.
//
// The first column has frequencies 0 and w / 2, where differences along x see nothing: of u all is free of divergence,
// of v nothing but its mean. Both are joined there, as real and imaginary part, and part again on the way back. What
// changes its sign from cell to cell, and no difference sees, goes too.
__global__ void __launch_bounds__(columns * column_threads) project_columns(float2 *velocity, float viscosity, float dt)
{
    __shared__ float mean_v;
    const int t = threadIdx.x / columns, l = threadIdx.x % columns, x = blockIdx.x * columns + l;
    float2 uv[2][8], (&u)[8] = uv[0], (&v)[8] = uv[1], *lines = scratch + l * 2 * fft_line(h);
    float4 *first = reinterpret_cast<float4 *>(velocity) + t * (w / 2) + x;
    constexpr int step = column_threads * (w / 2);
#pragma unroll
    for (int e = 0; e < 8; ++e) {
        const float4 p = first[e * step];
        u[e] = make_float2(p.x, p.y);
        v[e] = make_float2(p.z, p.w);
    }
    fft<h, false>(uv, lines, t);
    if (threadIdx.x == 0) mean_v = u[0].y / h;  // it is used where x is 0
    const float sine_x = sinpif(2.0f / w * x);
    float2 root;
    sincospif(2.0f / h * t, &root.y, &root.x);
#pragma unroll
    for (int e = 0; e < 8; ++e) {
        const int y = t + e * column_threads;
        if (x > 0) {
            const float sine_y = fft_turned<true>(root, e % 4).y * (e < 4 ? 1.0f : -1.0f);
            const float left = worn(x, y, viscosity, dt), squares = sine_x * sine_x + sine_y * sine_y;
            const float2 divergence = (u[e] * sine_x + v[e] * sine_y) * __fdividef(1.0f, squares);
            u[e] = (u[e] - divergence * sine_x) * left;
            v[e] = (v[e] - divergence * sine_y) * left;
        } else {
            u[e] = u[e] * (y == h / 2 ? 0.0f : worn(0, y, viscosity, dt));
            v[e] = v[e] * (y == h / 2 || y == 0 ? 0.0f : worn(w / 2, y, viscosity, dt));
        }
    }
    fft<h, true>(uv, lines, t);
#pragma unroll
    for (int e = 0; e < 8; ++e) {
        first[e * step] = x > 0 ? make_float4(u[e].x, u[e].y, v[e].x, v[e].y)
                                : make_float4(u[e].x, mean_v, v[e].x, 0.0f);
    }
}
