/*---
title   = "Mandelbrot"
summary = "The Mandelbrot set in double precision, down to 10^12 times its size, each picture finer than the last"

[constant]
w       = 1536             # pixels
h       = 1152
samples = 64               # of each pixel, one a step

[constant.cpu]
w = 480
h = 360

[array.light]              # the sum of the samples' colours, and how many of them lie in the set
type  = "float4"
count = "w * h"

[array.shown]              # centre, magnification, limit and turn of the picture whose samples are summed
type  = "double"
count = 5

[array.taken]              # samples of it
type  = "int"
count = 1

[texture.picture]
format = "rgba8"
size   = ["w", "h"]

[param.centre_x]
label = "centre, real"
value = -0.65
min   = -2.5
max   = 1.5

[param.centre_y]
label = "centre, imaginary"
value = 0.0
min   = -1.5
max   = 1.5

[param.magnification]
value = 1.0
min   = 0.5
max   = 1.0e12
log   = true

[param.place]
value   = 0
choices = ["the two sliders", "seahorse valley", "elephant valley", "a spiral", "a small copy"]

[param.limit]
label = "most iterations"
value = 1000
min   = 50
max   = 20000
log   = true

[param.shift]
label = "turn of the colours"
value = 0.0
max   = 1.0

[[pass]]
kernel = "look"
grid   = 1
block  = 32

[[pass]]
kernel = "iterate"
over   = "picture"

[view]
kind    = "image"
texture = "picture"
filter  = "linear"

[[stat]]                   # of the part of the set that is shown
name   = "area"
of     = "light"
map    = "x.w / min(taken[0], samples) * pixel(magnification) * pixel(magnification)"
reduce = "sum"

# The area is 1.5065918849 +- 0.0000000028 (T. Foerstemann, "Numerical estimation of the area of the Mandelbrot set",
# 2012). Some of what has not escaped after 1000 iterations will: 0.004 more are counted.

[[check]]
stat      = "area"
after     = 16
equals    = 1.5065918849
tolerance = 0.006

[[check]]
stat   = "light.nan"
after  = 16
equals = 0
---*/
#include <warpaint/colour.cuh>

// The points c for which z = z^2 + c stays bounded, from z = 0 (B. Mandelbrot, "Fractal aspects of the iteration of
// z -> lambda z (1 - z)", Annals of the New York Academy of Sciences 357, 1980). Colours follow the number of
// iterations until z escapes, as a smooth function of c: L. Vepstas, "Renormalizing the Mandelbrot escape", 1997.

using namespace warpaint;

// The side of a pixel in the plane.
__device__ double pixel(double magnification) { return 2.8 / (h * magnification); }

// The centre of a picture.
__device__ double2 centre_of(int place, double x, double y)
{
    switch (place) {
    case 1: return make_double2(-0.743643887037151, 0.131825904205330);
    case 2: return make_double2(0.2925755, -0.0149977);
    case 3: return make_double2(-0.761574, -0.0847596);
    case 4: return make_double2(-1.768778833, -0.001738996);
    default: return make_double2(x, y);
    }
}

// Whether another picture is wanted than the one that has been begun; one thread writes.
__global__ void look(double *shown, int *taken, int place, double centre_x, double centre_y, double magnification,
                     int limit, float shift)
{
    if (threadIdx.x != 0) return;
    const double2 centre = centre_of(place, centre_x, centre_y);
    const double wanted[5] = {centre.x, centre.y, magnification, (double)limit, shift};
    bool same = true;
    for (int k = 0; k < 5; ++k) {
        same = same && shown[k] == wanted[k];
        shown[k] = wanted[k];
    }
    taken[0] = same ? min(taken[0] + 1, samples + 1) : 1;
}

// Iterations until c escapes, with a fraction; -1 if it does not.
__device__ float escape(double2 c, int limit)
{
    // The two largest parts of the set need no iterations.
    const double q = (c.x - 0.25) * (c.x - 0.25) + c.y * c.y;
    if (q * (q + (c.x - 0.25)) <= 0.25 * c.y * c.y) return -1.0f;
    if ((c.x + 1.0) * (c.x + 1.0) + c.y * c.y <= 0.0625) return -1.0f;
    double x = 0.0, y = 0.0, xx = 0.0, yy = 0.0;
    for (int i = 0; i < limit; ++i) {
        y = fma(2.0 * x, y, c.y);
        x = xx - yy + c.x;
        xx = x * x, yy = y * y;
        if (xx + yy > 65536.0) return fmaxf(i + 1 - log2f(0.5f * log2f((float)(xx + yy))) + 3.0f, 0.0f);
    }
    return -1.0f;
}

// Linear light of a number of iterations: waves of blue, white and gold, ever slower.
__device__ float3 palette(float iterations, float shift)
{
    const float turn = 6.2831853f * (0.42f * logf(1.0f + iterations) + shift);
    const float3 cosines = make_float3(cosf(turn - 0.9f), cosf(turn - 0.45f), cosf(turn));
    const float3 wave = 0.5f - 0.5f * cosines;
    return make_float3(0.004f, 0.006f, 0.02f) + wave * wave * make_float3(1.0f, 0.86f, 0.8f);
}

// One more sample of each pixel, at a place that fills it evenly: M. Roberts, "The unreasonable effectiveness of
// quasirandom sequences", 2018.
__global__ void iterate(const double *shown, const int *taken, float4 *light, cudaSurfaceObject_t picture, int limit,
                        float shift)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, count = taken[0];
    if (x >= w || y >= h || count > samples) return;
    const double in_x = count * 0.7548776662466927, in_y = count * 0.5698402909980532, side = pixel(shown[2]);
    const double2 c = make_double2(shown[0] + (x + in_x - floor(in_x) - 0.5 * w) * side,
                                   shown[1] + (y + in_y - floor(in_y) - 0.5 * h) * side);
    const float iterations = escape(c, limit);
    const bool inside = iterations < 0.0f;
    float4 sum = count == 1 ? make_float4(0.0f, 0.0f, 0.0f, 0.0f) : light[y * w + x];
    sum += xyzw(inside ? make_float3(0.0f, 0.0f, 0.0f) : palette(iterations, shift), inside ? 1.0f : 0.0f);
    light[y * w + x] = sum;
    surf2Dwrite(pack(to_srgb(xyz(sum) / (float)count)), picture, x * 4, y);
}
