// warpaint/colour.cuh: colours from numbers, and mixing them as eyes do.
//
//     float3 c = warpaint::viridis(x);                        // also inferno and turbo; x from 0 to 1
//     float3 h = warpaint::hsv(hue, 0.8f, 1.0f);              // hue in turns: 0 red, 1/3 green, 2/3 blue
//     float3 m = warpaint::mix_oklab(a, b, t);                // linear light, no grey in between
//     uchar4 p = warpaint::pack(warpaint::to_srgb(light));    // linear light to a pixel; to_gamma2 is cheaper
//
// Colour maps, hsv and what `[view]` takes are sRGB, from 0 to 1; light adds up linearly.
#pragma once

#include <warpaint/vector.cuh>

namespace warpaint {

// Linear light from an sRGB component, and back (IEC 61966-2-1).
__host__ __device__ inline float to_linear(float c)
{
    return c <= 0.04045f ? c * (1.0f / 12.92f) : powf((c + 0.055f) * (1.0f / 1.055f), 2.4f);
}
__host__ __device__ inline float to_srgb(float c)
{
    return c <= 0.0031308f ? 12.92f * c : 1.055f * powf(c, 1.0f / 2.4f) - 0.055f;
}
__host__ __device__ inline float3 to_linear(float3 c)
{
    return make_float3(to_linear(c.x), to_linear(c.y), to_linear(c.z));
}
__host__ __device__ inline float3 to_srgb(float3 c) { return make_float3(to_srgb(c.x), to_srgb(c.y), to_srgb(c.z)); }

// Linear light, cut to 0 to 1, by gamma 2, its square root: nearly sRGB, for a few instructions instead of a power.
__host__ __device__ inline float to_gamma2(float c)
{
    const float light = clamp(c, 1e-9f, 1.0f);
    return light * rsqrtf(light);
}
__host__ __device__ inline float3 to_gamma2(float3 c)
{
    return make_float3(to_gamma2(c.x), to_gamma2(c.y), to_gamma2(c.z));
}

// A colour from hue (in turns, of any size), saturation and value: Smith, "Color gamut transform pairs", SIGGRAPH 1978.
__host__ __device__ inline float3 hsv(float hue, float saturation, float value)
{
    float3 c;
    const float sixth = 6.0f * (hue - floorf(hue));
    c.x = clamp(fabsf(sixth - 3.0f) - 1.0f, 0.0f, 1.0f);
    c.y = clamp(2.0f - fabsf(sixth - 2.0f), 0.0f, 1.0f);
    c.z = clamp(2.0f - fabsf(sixth - 4.0f), 0.0f, 1.0f);
    return mix(make_float3(1.0f, 1.0f, 1.0f), c, saturation) * value;
}

// Hue, saturation and value of a colour.
__host__ __device__ inline float3 to_hsv(float3 c)
{
    const float value = fmaxf(c.x, fmaxf(c.y, c.z)), chroma = value - fminf(c.x, fminf(c.y, c.z));
    float sixth = 0.0f;
    if (chroma > 0.0f) {
        if (value == c.x) sixth = (c.y - c.z) / chroma;
        else if (value == c.y) sixth = 2.0f + (c.z - c.x) / chroma;
        else sixth = 4.0f + (c.x - c.y) / chroma;
    }
    const float hue = sixth * (1.0f / 6.0f);
    return make_float3(hue - floorf(hue), value > 0.0f ? chroma / value : 0.0f, value);
}

// Linear light as lightness, green to red, blue to yellow, in steps that look alike: Ottosson, "A perceptual color
// space for image processing", 2020.
__host__ __device__ inline float3 to_oklab(float3 c)
{
    const float l = cbrtf(0.4122214708f * c.x + 0.5363325363f * c.y + 0.0514459929f * c.z);
    const float m = cbrtf(0.2119034982f * c.x + 0.6806995451f * c.y + 0.1073969566f * c.z);
    const float s = cbrtf(0.0883024619f * c.x + 0.2817188376f * c.y + 0.6299787005f * c.z);
    return make_float3(0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s,
                       1.9779984951f * l - 2.4285922050f * m + 0.4505937099f * s,
                       0.0259040371f * l + 0.7827717662f * m - 0.8086757660f * s);
}

// Linear light from Oklab; components may lie outside of 0 to 1.
__host__ __device__ inline float3 from_oklab(float3 c)
{
    float l = c.x + 0.3963377774f * c.y + 0.2158037573f * c.z;
    float m = c.x - 0.1055613458f * c.y - 0.0638541728f * c.z;
    float s = c.x - 0.0894841775f * c.y - 1.2914855480f * c.z;
    l *= l * l, m *= m * m, s *= s * s;
    return make_float3(4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s,
                       -1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s,
                       -0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s);
}

// From linear light a (t = 0) to b (t = 1), by way of what looks half way.
__host__ __device__ inline float3 mix_oklab(float3 a, float3 b, float t)
{
    return from_oklab(mix(to_oklab(a), to_oklab(b), t));
}

// A pixel of a colour from 0 to 1 and its opacity.
__host__ __device__ inline uchar4 pack(float3 c, float alpha = 1.0f)
{
    const float3 p = 255.0f * make_float3(clamp(c.x, 0.0f, 1.0f), clamp(c.y, 0.0f, 1.0f), clamp(c.z, 0.0f, 1.0f));
    return make_uchar4(p.x + 0.5f, p.y + 0.5f, p.z + 0.5f, 255.0f * clamp(alpha, 0.0f, 1.0f) + 0.5f);
}

// A polynomial of degree 6 in each component, within 0 to 1: colour maps are closest fits to what `[view]` has.
__host__ __device__ inline float3 polynomial(const float3 (&c)[7], float x)
{
    float3 sum = c[6];
    for (int power = 5; power >= 0; --power) sum = sum * x + c[power];
    return make_float3(clamp(sum.x, 0.0f, 1.0f), clamp(sum.y, 0.0f, 1.0f), clamp(sum.z, 0.0f, 1.0f));
}

// The colour map of that name: dark violet, green, yellow.
__host__ __device__ inline float3 viridis(float x)
{
    const float3 c[] = {make_float3(0.27677f, 0.00625f, 0.33804f),
                        make_float3(-0.19281f, 1.40610f, 0.97096f),
                        make_float3(2.85942f, -0.04254f, 4.91358f),
                        make_float3(-16.59563f, -4.28018f, -39.66067f),
                        make_float3(26.68684f, 10.77963f, 95.77715f),
                        make_float3(-11.52446f, -10.38797f, -100.13636f),
                        make_float3(-0.52806f, 3.42228f, 37.93580f)};
    return polynomial(c, clamp(x, 0.0f, 1.0f));
}

// The colour map of that name: black, purple, orange, pale yellow.
__host__ __device__ inline float3 inferno(float x)
{
    const float3 c[] = {make_float3(0.00573f, 0.00436f, -0.01232f),
                        make_float3(-0.20145f, 0.73480f, 3.63288f),
                        make_float3(14.77813f, -6.85903f, -13.90128f),
                        make_float3(-54.15125f, 31.61499f, 41.79934f),
                        make_float3(99.82187f, -62.45272f, -85.21719f),
                        make_float3(-90.61312f, 59.25469f, 81.08899f),
                        make_float3(31.34257f, -21.30680f, -26.71927f)};
    return polynomial(c, clamp(x, 0.0f, 1.0f));
}

// The colour map of that name: a rainbow.
__host__ __device__ inline float3 turbo(float x)
{
    const float3 c[] = {make_float3(0.13049f, 0.06114f, 0.18880f),
                        make_float3(5.40574f, 3.65900f, 9.36102f),
                        make_float3(-49.83958f, -9.95494f, -26.70709f),
                        make_float3(154.25783f, 44.08082f, -31.19356f),
                        make_float3(-183.04785f, -102.37587f, 185.50989f),
                        make_float3(77.96539f, 94.41654f, -221.91995f),
                        make_float3(-4.33582f, -29.86157f, 84.81524f)};
    return polynomial(c, clamp(x, 0.0f, 1.0f));
}

}  // namespace warpaint
