/*---
title   = "Ising"
summary = "Magnets on a square lattice, each of which likes to point as its neighbours do, at a temperature"

[constant]
w     = 2048               # spins along x, periodic; a multiple of 8
h     = 2048               # spins along y, periodic; even
speed = 8                  # `updates` to start with

[constant.cpu]
w     = 512
h     = 384
speed = 4

[array.spins]              # 1 or -1: first those where x + y is even, row by row, then the others
type  = "char"
count = "w * h"

[array.clock]              # half sweeps since the reset
type   = "unsigned int"
count  = 1
double = true

[array.average]            # of each spin over the last while, for the picture
type  = "float"
count = "w * h"

[texture.picture]
format = "rgba8"
size   = ["w", "h"]

[param.temperature]
label = "temperature (critical: 2.269)"
value = 2.2
min   = 1.0
max   = 4.0
unit  = "J/k"

[param.field]
label = "magnetic field"
value = 0.0
min   = -0.5
max   = 0.5
unit  = "J"

[param.updates]
label = "half sweeps a picture"
value = "speed"
min   = 1
max   = 64
log   = true

[param.start]              # on reset
value   = 0
choices = ["aligned", "random"]

[param.memory]
label = "afterglow"
value = 0.85
min   = 0.0
max   = 0.98

[[pass]]
kernel = "align"
on     = "reset"
over   = "spins"

[[pass]]
kernel = "update"
over   = "w * h / 8"
repeat = "updates"

[[pass]]
kernel = "paint"
over   = "picture"

[view]
kind    = "image"
texture = "picture"

[[stat]]
name   = "magnetisation"
of     = "spins"
reduce = "mean"

[[stat]]                   # in units of J; half of each bond belongs to each of its ends
name   = "energy per site"
of     = "spins"
map    = "-0.5f * x * around(spins, i)"
reduce = "mean"

[[stat]]
name   = "squared spin"
of     = "spins"
map    = "x * x"
reduce = "mean"

[[plot]]
name  = "order"
title = "Order and energy per site"
kind  = "time"
of    = ["magnetisation", "energy per site"]

# At T = 2.2 after 800 half sweeps. Both fluctuate: by 0.008 and 0.007 (standard deviations, from the susceptibility and
# the specific heat) on the smaller lattice.

[[check]]                  # (1 - sinh(2 / T)^-4)^(1/8)
stat      = "magnetisation"
after     = "800 / speed"
equals    = 0.7849
tolerance = 0.04

[[check]]                  # -coth(2 / T) (1 + 2 / pi (2 tanh(2 / T)^2 - 1) K), K the complete elliptic integral
stat      = "energy per site"
after     = "800 / speed"
equals    = -1.5465
tolerance = 0.03

[[check]]
stat   = "squared spin"
equals = 1
---*/
#include <warpaint/colour.cuh>
#include <warpaint/random.cuh>

// The model of W. Lenz and E. Ising (Zeitschrift fur Physik 31, 1925): energy -J for each two neighbours that agree, J
// for each that do not. Steps are those of Metropolis and others (Journal of Chemical Physics 21, 1953) on a
// checkerboard: the spins of one colour have no neighbours among themselves, so that all of them may change at once.
// What to expect: L. Onsager, "Crystal statistics I", Physical Review 65, 1944 (the energy); C. N. Yang, "The
// spontaneous magnetization of a two-dimensional Ising model", Physical Review 85, 1952.
//
// The colours lie apart in memory, so that a warp loads and stores whole lines: M. Romero and others, "High performance
// implementations of the 2D Ising model on GPUs", Computer Physics Communications 256, 2020.

using namespace warpaint;

static_assert(w % 8 == 0 && h % 2 == 0, "w must be a multiple of 8, h even");

constexpr int row = w / 2, colour_size = row * h;

// The sum of the four neighbours of the spin at `i`.
__device__ int around(const char *spins, int i)
{
    const int colour = i / colour_size, place = i % colour_size, y = place / row, x = place % row;
    const char *other = spins + (1 - colour) * colour_size, *line = other + y * row;
    // Of the two beside it, one has the same place in its row as the spin itself.
    const int beside = (y + colour) % 2 ? (x + 1 < row ? x + 1 : 0) : (x > 0 ? x - 1 : row - 1);
    return line[x] + line[beside] + other[(y + 1 < h ? y + 1 : 0) * row + x] + other[(y > 0 ? y - 1 : h - 1) * row + x];
}

__global__ void align(char *spins, float *average, unsigned *clock, int start, unsigned seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) clock[0] = 0;
    if (i >= w * h) return;
    spins[i] = start == 0 || hash(hash(seed) + i) & 0x10000u ? 1 : -1;
    average[i] = spins[i];
}

// Whether a spin turns over: if that costs energy, with the probability that Boltzmann gives it.
__device__ char turned(char spin, int neighbours, float temperature, float field, float chance)
{
    const float cost = 2.0f * spin * (neighbours + field);
    return chance < expf(-cost / temperature) ? -spin : spin;
}

// Half a sweep: four spins of one colour that lie side by side, as one call of `philox` has four random numbers.
__global__ void update(char4 *spins, const unsigned *clock, unsigned *clock_next, float temperature, float field,
                       unsigned seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) clock_next[0] = clock[0] + 1;
    if (i >= colour_size / 4) return;
    const int four = i + clock[0] % 2 * (colour_size / 4);
    const char *all = (const char *)spins;
    const uint4 bits = philox(make_uint4(i, clock[0], 0, 0), make_uint2(seed, 0x6973696eu));
    char4 s = spins[four];
    s.x = turned(s.x, around(all, 4 * four), temperature, field, to_unit(bits.x));
    s.y = turned(s.y, around(all, 4 * four + 1), temperature, field, to_unit(bits.y));
    s.z = turned(s.z, around(all, 4 * four + 2), temperature, field, to_unit(bits.z));
    s.w = turned(s.w, around(all, 4 * four + 3), temperature, field, to_unit(bits.w));
    spins[four] = s;
}

// Up is warm, down is cold, what flickers is dark.
__device__ float3 palette(float m)
{
    const float3 middle = make_float3(0.004f, 0.003f, 0.010f);
    const float3 up = mix(make_float3(0.75f, 0.10f, 0.02f), make_float3(1.0f, 0.62f, 0.20f), m * m);
    const float3 down = mix(make_float3(0.01f, 0.12f, 0.45f), make_float3(0.15f, 0.65f, 0.85f), m * m);
    return mix(middle, m > 0.0f ? up : down, fabsf(m));
}

__global__ void paint(const char *spins, float *average, cudaSurfaceObject_t picture, float memory)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int i = (x + y) % 2 * colour_size + y * row + x / 2;
    const float m = mix((float)spins[i], average[i], memory);
    average[i] = m;
    surf2Dwrite(pack(to_srgb(palette(m))), picture, x * 4, y);
}
