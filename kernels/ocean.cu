/*---
title   = "Ocean"
summary = "A sea under a wind: every wave of its spectrum runs at its own speed, brought together by Fourier transforms"

[constant]
n     = 512                # cells along x and y, a power of two
lines = 4                  # of a transform, in a block

[constant.cpu]
n = 256

[array.noise]              # of each wave: two independent normal numbers
type  = "float2"
count = "n * n"

[array.waves]              # of the moment, then the surface: its real part, in metres
type  = "float2"
count = "n * n"

[array.shift]              # likewise: how far the water's surface is moved, x and y, as it circles, in metres
type  = "float2"
count = "n * n"

[array.sea]                # the surface, and how much water crowds at crests: 1 where they break, below 0 in troughs
type  = "float2"
count = "n * n"

[array.row]                # sums over rows of waves: the variance that is expected, and that is there
type  = "float2"
count = "n"

[array.measured]           # these for all waves, and what the spectrum's integral is
type  = "float4"
count = 1

[texture.height]           # the same where the water has been moved to
format = "rg32f"
size   = ["n", "n"]

[param.wind]
value = 14.0
min   = 3.0
max   = 30.0
unit  = "m/s"

[param.fetch]
label = "water that the wind blew over"
value = 40.0
min   = 1.0
max   = 300.0
log   = true
unit  = "km"

[param.direction]
label = "where the wind blows to"
value = 30.0
min   = -180.0
max   = 180.0
unit  = "deg"

[param.choppiness]
value = 1.0
min   = 0.0
max   = 1.5

[[pass]]
kernel = "scatter"
on     = "reset"
over   = "noise"

[[pass]]
kernel = "evolve"
over   = "height"

[[pass]]
kernel = "add_rows"
grid   = "n"
block  = 128

[[pass]]
kernel = "add_all"
grid   = 1
block  = 128

[[pass]]
kernel = "rows"
grid   = ["n / lines", 2]
block  = "n / 8 * lines"
bytes  = "2 * 16 * n * n"  # both tables are read and written

[[pass]]
kernel = "columns"
grid   = ["n / lines", 2]
block  = "n / 8 * lines"
bytes  = "2 * 16 * n * n"

[[pass]]
kernel = "crowd"
over   = "height"

[[pass]]
kernel = "show"
over   = "height"

[view]
kind     = "surface"
texture  = "height"
height   = 0.016           # where the patch, 250 m, is 2 wide: twice as steep as it is
color_by = "y"
colormap = "viridis"
range    = [-0.9, 2.0]

[view.camera]              # from above the water, which reaches beyond the picture's sides
target   = [0.0, 0.0, 0.0]
distance = 1.2
yaw      = 0.0
pitch    = 21.0
fov      = 32.0

[[stat]]
name   = "variance / power"
of     = "waves"
map    = "x.x * x.x / measured[0].y"
reduce = "mean"

[[stat]]
name   = "variance / expected"
of     = "waves"
map    = "x.x * x.x / measured[0].x"
reduce = "mean"

[[stat]]
name   = "expected / integral"
of     = "measured"
map    = "x.x / x.z"
reduce = "mean"

[[stat]]
name   = "significant height expected"
of     = "measured"
map    = "4.0f * sqrtf(x.z)"
reduce = "mean"

[[stat]]
name   = "imaginary part"
of     = "waves"
map    = "fabsf(x.y)"
reduce = "max"

[[stat]]
name   = "crowded crests"
of     = "sea"
map    = "x.x * x.y"
reduce = "mean"

[[check]]                  # Parseval
stat      = "variance / power"
after     = 60
equals    = 1.0
tolerance = 1e-4

[[check]]                  # one sea of many: some hundred waves near the peak hold most of it
stat      = "variance / expected"
after     = 60
equals    = 1.0
tolerance = 0.4

[[check]]                  # the grid has all but the shortest and the longest waves
stat = "expected / integral"
after = 60
min   = 0.85
max   = 1.05

[[check]]                  # the waves of k and -k make a real surface
stat  = "imaginary part"
after = 60
max   = 1e-4

[[check]]                  # what is drawn together here is missing there: the area of a periodic sea remains
stat      = "sea.y.mean"
after     = 60
equals    = 0.0
tolerance = 1e-5

[[check]]                  # at the crests
stat  = "crowded crests"
after = 60
min   = 0.02

[[check]]
stat  = "height.nan"
after = 60
max   = 0
---*/
#include <warpaint/fft.cuh>
#include <warpaint/random.cuh>
#include <warpaint/reduce.cuh>
#include <warpaint/vector.cuh>

// J. Tessendorf, "Simulating ocean water", SIGGRAPH course notes, 2001: a surface whose waves have random phases and
// the power of a measured spectrum. That of JONSWAP: K. Hasselmann and others, "Measurements of wind-wave growth and
// swell decay during the Joint North Sea Wave Project", Ergaenzungsheft zur Deutschen Hydrographischen Zeitschrift
// 8(12), 1973. On deep water waves of wave number k have the frequency sqrt(g k). They spread about the wind as cos^2.
// The water goes in circles, which moves it towards the crests: the waves are choppy, and break where the Jacobian of
// that displacement is small (Tessendorf's section 4.6).

using namespace warpaint;

constexpr float g = 9.81f, patch = 250.0f, dk = 6.2831853f / patch;

// JONSWAP's spectrum: variance, in square metres, for each rad/s. Fetch in km.
__device__ float jonswap(float omega, float wind, float fetch)
{
    const float far = 1000.0f * fetch, peak = 22.0f * cbrtf(g * g / (wind * far));
    const float alpha = 0.076f * powf(wind * wind / (far * g), 0.22f);
    const float off = (omega - peak) / ((omega <= peak ? 0.07f : 0.09f) * peak), r = peak / omega;
    return alpha * g * g * powf(omega, -5.0f) * expf(-1.25f * r * r * r * r) * powf(3.3f, expf(-0.5f * off * off));
}

// The variance that the waves about a wave vector have.
__device__ float variance_of(int x, int y, float wind, float fetch, float direction)
{
    const float kx = fft_frequency(x, n) * dk, ky = fft_frequency(y, n) * dk, k = sqrtf(kx * kx + ky * ky);
    float s, c;
    sincospif(direction / 180.0f, &s, &c);
    const float along = kx * c + ky * s;
    // The mean is no wave, and those of the highest wave number have no opposite ones.
    if (along <= 0.0f || x == n / 2 || y == n / 2) return 0.0f;
    const float spread = 0.63661977f * (along / k) * (along / k), slower = 0.5f * sqrtf(g / k);
    return jonswap(sqrtf(g * k), wind, fetch) * slower * spread / k * dk * dk;
}

__global__ void scatter(float2 *noise, unsigned seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    Random random(seed, i);
    const float a = random.normal();
    noise[i] = make_float2(a, random.normal());
}

// The displacement is i k / |k| h(k); its parts along x and y are real, and so the two of one complex field.
// h(k) = h0(k) exp(-i omega t) + conjugate of h0(-k), turning the other way. |h0|^2 is half the variance on average.
__global__ void evolve(const float2 *noise, float2 *waves, float2 *shift, float wind, float fetch, float direction,
                       float time)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const int opposite_x = (n - x) % n, opposite_y = (n - y) % n;
    const float here = 0.5f * sqrtf(variance_of(x, y, wind, fetch, direction));
    const float there = 0.5f * sqrtf(variance_of(opposite_x, opposite_y, wind, fetch, direction));
    const float2 a = noise[y * n + x], b = noise[opposite_y * n + opposite_x];
    const float kx = dk * fft_frequency(x, n), ky = dk * fft_frequency(y, n), k = hypotf(kx, ky);
    float s, c;
    sincosf(sqrtf(g * k) * time, &s, &c);
    const float scale = (float)n * n;
    const float2 wave = make_float2(scale * (here * (a.x * c + a.y * s) + there * (b.x * c + b.y * s)),
                                    scale * (here * (a.y * c - a.x * s) - there * (b.y * c - b.x * s)));
    waves[y * n + x] = wave;
    const float right = k > 0.0f ? kx / k : 0.0f, up = k > 0.0f ? ky / k : 0.0f;
    shift[y * n + x] = make_float2(-up * wave.x - right * wave.y, right * wave.x - up * wave.y);
}

__global__ void rows(float2 *waves, float2 *shift)
{
    __shared__ float2 shared[lines * fft_line(n)];
    fft_lines<n, lines, true>(shared, blockIdx.y == 0 ? waves : shift, 1, n, n);
}

__global__ void columns(float2 *waves, float2 *shift)
{
    __shared__ float2 shared[lines * fft_line(n)];
    fft_lines<n, lines, true>(shared, blockIdx.y == 0 ? waves : shift, n, 1, n);
}

__global__ void add_rows(const float2 *waves, float2 *row, float wind, float fetch, float direction)
{
    constexpr float scale = 1.0f / ((float)n * n) / ((float)n * n);
    float2 sum = make_float2(0.0f, 0.0f);
    for (int x = threadIdx.x; x < n; x += blockDim.x) {
        const float2 wave = waves[blockIdx.x * n + x];
        sum.x += variance_of(x, blockIdx.x, wind, fetch, direction);
        sum.y += (wave.x * wave.x + wave.y * wave.y) * scale;
    }
    sum = block_sum<128>(sum);
    if (threadIdx.x == 0) row[blockIdx.x] = sum;
}

// All rows, and the integral of the spectrum over frequencies from a quarter of the peak's to sixteen times it.
__global__ void add_all(const float2 *row, float4 *measured, float wind, float fetch)
{
    const float peak = 22.0f * cbrtf(g * g / (wind * 1000.0f * fetch)), step = peak / 256.0f;
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int y = threadIdx.x; y < n; y += blockDim.x) sum.x += row[y].x, sum.y += row[y].y;
    for (int i = 64 + threadIdx.x; i < 16 * 256; i += blockDim.x) {
        sum.z += jonswap((i + 0.5f) * step, wind, fetch) * step;
    }
    sum = block_sum<128>(sum);
    if (threadIdx.x == 0) measured[0] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}

__device__ int place(int x, int y) { return ((y + n) % n) * n + (x + n) % n; }

// The surface as it would stand, and what the displacement's Jacobian lacks to 1.
__global__ void crowd(const float2 *waves, const float2 *shift, float2 *sea, float choppiness)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const float scale = 0.5f * choppiness * n / patch;
    const float2 along = scale * (shift[place(x + 1, y)] - shift[place(x - 1, y)]);
    const float2 across = scale * (shift[place(x, y + 1)] - shift[place(x, y - 1)]);
    sea[y * n + x] = make_float2(waves[y * n + x].x, 1.0f - (1.0f + along.x) * (1.0f + across.y) + along.y * across.x);
}

// Between the four cells about a place.
__device__ float2 between(const float2 *field, float x, float y)
{
    const int left = (int)floorf(x), below = (int)floorf(y);
    const float right = x - left, up = y - below;
    return (1.0f - up) * ((1.0f - right) * field[place(left, below)] + right * field[place(left + 1, below)])
           + up * ((1.0f - right) * field[place(left, below + 1)] + right * field[place(left + 1, below + 1)]);
}

// The water that is here has come from a place that is here less its displacement.
__global__ void show(const float2 *sea, const float2 *shift, cudaSurfaceObject_t height, float choppiness)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    float2 from = make_float2(x, y);
    for (int i = 0; i < 3; ++i) from = make_float2(x, y) - choppiness * n / patch * between(shift, from.x, from.y);
    surf2Dwrite(between(sea, from.x, from.y), height, x * 8, y);
}
