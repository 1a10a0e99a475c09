/*---
title   = "Gaussian random field"
summary = "A random field whose power falls with the wave number as k^-n, by Fourier transforms; its waves turn"

[constant]
n     = 1024               # cells along x and y, a power of two
lines = 4                  # of a transform, in a block

[constant.cpu]
n = 256

[array.waves]              # white noise, transformed: two random fields, one real, one imaginary
type  = "float2"
count = "n * n"

[array.field]              # what is seen is its real part
type  = "float2"
count = "n * n"

[array.row]                # sums over the rows of tables: of k^-n, and of the field's power
type  = "float2"
count = "n"

[array.ring]               # of wave numbers about k: waves, their power, and what it would be on average
type  = "float4"
count = "n / 2"

[array.measured]           # the slope of the spectrum that is expected, that is found, the power, and the sum of k^-n
type  = "float4"
count = 1

[texture.picture]
format = "r32f"
size   = ["n", "n"]

[param.steepness]
label = "power falls as k^-n; n"
value = 2.8
min   = 0.0
max   = 6.0

[param.turn]
label = "phases turn, at k = 1"
value = 0.05
min   = 0.0
max   = 1.0
unit  = "turns/s"

[param.spread]
label = "and at k: k^s times as fast; s"
value = 0.5
min   = 0.0
max   = 2.0

[[pass]]
kernel = "scatter"
on     = "reset"
over   = "waves"

[[pass]]
kernel = "rows<false>"
on     = "reset"
grid   = "n / lines"
block  = "n / 8 * lines"

[[pass]]
kernel = "columns<false>"
on     = "reset"
grid   = "n / lines"
block  = "n / 8 * lines"

[[pass]]
kernel = "add_rows"
grid   = "n"
block  = 128

[[pass]]
kernel = "add_all"
grid   = 1
block  = 128

[[pass]]
kernel = "colour_noise"
over   = "picture"

[[pass]]
kernel = "add_rings"
grid   = "n / 2"
block  = 128

[[pass]]
kernel = "fit"
grid   = 1
block  = 128

[[pass]]
kernel = "rows<true>"
grid   = "n / lines"
block  = "n / 8 * lines"

[[pass]]
kernel = "columns<true>"
grid   = "n / lines"
block  = "n / 8 * lines"

[[pass]]
kernel = "show"
over   = "picture"

[view]
kind     = "image"
texture  = "picture"
filter   = "linear"
colormap = "magma"
range    = [-3.0, 3.0]
unit     = "sigma"

[[stat]]
name   = "slope of the spectrum"
of     = "measured"
map    = "x.y"
reduce = "mean"

[[stat]]
name   = "slope, off by"
of     = "measured"
map    = "x.y + steepness"
reduce = "mean"

[[stat]]
name   = "variance"
of     = "field"
map    = "x.x * x.x"
reduce = "mean"

[[stat]]
name   = "variance / power"
of     = "field"
map    = "x.x * x.x / measured[0].z"
reduce = "mean"

[[stat]]
name   = "imaginary part"
of     = "field"
map    = "fabsf(x.y)"
reduce = "max"

[[check]]                  # some standard errors, as estimated, of the 256^2 on a CPU
stat      = "slope, off by"
after     = 20
equals    = 0.0
tolerance = 0.05

[[check]]                  # Parseval
stat      = "variance / power"
after     = 20
equals    = 1.0
tolerance = 1e-4

[[check]]                  # F(-k) is the conjugate of F(k), and the field is real
stat  = "imaginary part"
after = 20
max   = 1e-4

[[check]]                  # 1 on average; most of it lies in the few longest waves
stat  = "variance"
after = 20
min   = 0.3
max   = 3.0

[[check]]
stat   = "field.nan"
after  = 20
equals = 0
---*/
#include <warpaint/fft.cuh>
#include <warpaint/random.cuh>
#include <warpaint/reduce.cuh>

// White noise has the same power in all waves; multiplied by sqrt(P(k)) it has the spectrum P (Peacock, "Cosmological
// physics", 1999, section 16.4; Pen, "Generating cosmological Gaussian random fields", ApJ 490, 1997). The real and the
// imaginary part of the noise, A + iB, are transformed together and are told apart by their symmetry:
// A(k) = (C(k) + C*(-k)) / 2, B(k) = (C(k) - C*(-k)) / 2i. Then F = sqrt(P) (A cos(wt) + B sin(wt)) is Gaussian with
// the same spectrum at all times, and Hermitian, so that its transform is real.

using namespace warpaint;

// P(k), up to a factor. The mean is no wave.
__device__ float power_law(int x, int y, float steepness)
{
    const int kx = fft_frequency(x, n), ky = fft_frequency(y, n);
    const float k2 = (float)(kx * kx + ky * ky);
    return k2 > 0.0f ? powf(k2, -0.5f * steepness) : 0.0f;
}

__global__ void scatter(float2 *waves, unsigned seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    Random random(seed, i);
    const float a = random.normal();
    waves[i] = make_float2(a, random.normal());
}

template <bool inverse> __global__ void rows(float2 *waves, float2 *field)
{
    __shared__ float2 shared[lines * fft_line(n)];
    fft_lines<n, lines, inverse>(shared, inverse ? field : waves, 1, n, n);
}

template <bool inverse> __global__ void columns(float2 *waves, float2 *field)
{
    __shared__ float2 shared[lines * fft_line(n)];
    fft_lines<n, lines, inverse>(shared, inverse ? field : waves, n, 1, n);
}

__global__ void add_rows(float2 *row, float steepness)
{
    float sum = 0.0f;
    for (int x = threadIdx.x; x < n; x += blockDim.x) sum += power_law(x, blockIdx.x, steepness);
    sum = block_sum<128>(sum);
    if (threadIdx.x == 0) row[blockIdx.x].x = sum;
}

__global__ void add_all(const float2 *row, float4 *measured)
{
    float sum = 0.0f;
    for (int y = threadIdx.x; y < n; y += blockDim.x) sum += row[y].x;
    sum = block_sum<128>(sum);
    if (threadIdx.x == 0) measured[0].w = sum;
}

// F at this time, such that the field's variance is 1 on average. A and B of a wave have a mean square of n^2.
__global__ void colour_noise(const float2 *waves, float2 *field, const float4 *measured, float steepness, float turn,
                             float spread, float time)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const float2 c = waves[y * n + x], d = waves[(n - y) % n * n + (n - x) % n];
    const float2 a = make_float2(0.5f * (c.x + d.x), 0.5f * (c.y - d.y));
    const float2 b = make_float2(0.5f * (c.y + d.y), 0.5f * (d.x - c.x));
    const float k = hypotf((float)fft_frequency(x, n), (float)fft_frequency(y, n));
    const float strength = n * sqrtf(power_law(x, y, steepness) / measured[0].w);
    float sine, cosine;
    sincospif(2.0f * turn * time * powf(k, spread), &sine, &cosine);
    field[y * n + x] = make_float2(strength * (cosine * a.x + sine * b.x), strength * (cosine * a.y + sine * b.y));
}

// |F|^2 / n^4, a wave's share of the variance: of all waves of a row, and of a ring k - 1/2 <= |k| < k + 1/2, of which
// each column has two pieces.
__global__ void add_rings(const float2 *field, float2 *row, float4 *ring, float steepness)
{
    constexpr float scale = 1.0f / ((float)n * n) / ((float)n * n);
    const int k = blockIdx.x;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = threadIdx.x; i < 2 * n; i += blockDim.x) {
        const float2 f = field[2 * k * n + i];
        sum.w += (f.x * f.x + f.y * f.y) * scale;
    }
    for (int x = -k + (int)threadIdx.x; x <= k; x += blockDim.x) {
        const float inner = fmaxf((k - 0.5f) * (k - 0.5f) - x * x, 0.0f), outer = (k + 0.5f) * (k + 0.5f) - x * x;
        for (int y = (int)ceilf(sqrtf(inner)); y * y < outer && y < n / 2; ++y) {
            for (int side = y > 0 ? -1 : 1; side <= 1; side += 2) {
                const int column = (x + n) % n, line = (side * y + n) % n;
                const float2 f = field[line * n + column];
                sum.x += 1.0f;
                sum.y += (f.x * f.x + f.y * f.y) * scale;
                sum.z += logf((float)(x * x + y * y));
            }
        }
    }
    sum = block_sum<128>(sum);
    if (threadIdx.x > 0) return;
    ring[k] = sum;
    row[k].y = sum.w;
}

// The line log(power) = intercept + slope log(k) by least squares, each ring with the weight of its waves: a mean of m
// of them is uncertain by 1 / sqrt(m). The first rings are too wide for their wave numbers.
__global__ void fit(const float2 *row, const float4 *ring, float4 *measured, float steepness)
{
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float total = 0.0f, weights = 0.0f;
    for (int k = threadIdx.x; k < n / 2; k += blockDim.x) {
        total += row[k].y;
        if (k < 4 || k == n / 2 - 1) continue;
        const float4 r = ring[k];
        const float x = 0.5f * r.z / r.x, y = logf(r.y / r.x);
        weights += r.x;
        sum = make_float4(sum.x + r.x * x, sum.y + r.x * y, sum.z + r.x * x * x, sum.w + r.x * x * y);
    }
    sum = block_sum<128>(sum);
    const float2 others = block_sum<128>(make_float2(total, weights));
    if (threadIdx.x > 0) return;
    const float m = others.y, mean_x = sum.x / m, mean_y = sum.y / m;
    measured[0].x = -steepness;
    measured[0].y = (sum.w / m - mean_x * mean_y) / (sum.z / m - mean_x * mean_x);
    measured[0].z = others.x;
}

__global__ void show(const float2 *field, cudaSurfaceObject_t picture)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) surf2Dwrite(field[y * n + x].x, picture, x * 4, y);
}
