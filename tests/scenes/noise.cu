/*---
title   = "Noise"
summary = "Known answers of warpaint's headers, worked out on the device"

[constant]
n = 4096

[array.divergence]         # central differences of curl noise at random points
type  = "float"
count = "n"

[array.slope]              # of its x along x: what the divergence is small against
type  = "float"
count = "n"

[array.strength]           # the squared length of curl noise: 1 on average
type  = "float"
count = "n"

[array.gradient_error]     # analytic gradient of the scalar noise less central differences
type  = "float"
count = "n"

[array.uniform]            # mean 1/2
type  = "float"
count = "n"

[array.wrong_words]        # Philox 4x32-10 against the known answers of its authors
type  = "int"
count = 3

[[pass]]
kernel = "measure"
over   = "divergence"

[[pass]]
kernel = "known_answers"
over   = "wrong_words"

[[check]]
stat = "divergence.std"    # rounding of single precision over a distance of 0.004
max  = 0.01

[[check]]
stat = "slope.std"
min  = 1.0

[[check]]
stat      = "strength.mean"
equals    = 1.0
tolerance = 0.1

[[check]]
stat = "gradient_error.max"
max  = 0.02

[[check]]
stat      = "uniform.mean"
equals    = 0.5
tolerance = 0.02

[[check]]
stat   = "wrong_words.max"
equals = 0
---*/
#include <warpaint/noise.cuh>
#include <warpaint/random.cuh>

using namespace warpaint;

__device__ float3 field(float x, float y, float z, unsigned seed)
{
    return curl_noise(make_float3(x, y, z), seed);
}

__global__ void measure(float *divergence, float *slope, float *strength, float *gradient_error, float *uniform, int n,
                        unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Random random(seed, i);
    float x = random.uniform(-8.0f, 8.0f), y = random.uniform(-8.0f, 8.0f), z = random.uniform(-8.0f, 8.0f);
    const float h = 0.002f, d = 1.0f / (2.0f * h);
    float dx = field(x + h, y, z, seed).x - field(x - h, y, z, seed).x;
    float dy = field(x, y + h, z, seed).y - field(x, y - h, z, seed).y;
    float dz = field(x, y, z + h, seed).z - field(x, y, z - h, seed).z;
    divergence[i] = (dx + dy + dz) * d;
    slope[i] = dx * d;
    float3 v = field(x, y, z, seed);
    strength[i] = dot(v, v);
    float4 g = noise_gradient(make_float3(x, y, z), seed);
    float g_x = (noise(make_float3(x + h, y, z), seed) - noise(make_float3(x - h, y, z), seed)) * d;
    gradient_error[i] = fabsf(g.x - g_x);
    uniform[i] = random.uniform();
}

// From the `kat_vectors` of Random123: all zeros, all ones, and digits of pi.
__global__ void known_answers(int *wrong_words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 counter, right;
    uint2 key;
    if (i == 0) {
        counter = make_uint4(0u, 0u, 0u, 0u);
        key = make_uint2(0u, 0u);
        right = make_uint4(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u);
    } else if (i == 1) {
        counter = make_uint4(0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu);
        key = make_uint2(0xffffffffu, 0xffffffffu);
        right = make_uint4(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu);
    } else if (i == 2) {
        counter = make_uint4(0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u);
        key = make_uint2(0xa4093822u, 0x299f31d0u);
        right = make_uint4(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u);
    } else {
        return;
    }
    uint4 found = philox(counter, key);
    wrong_words[i] = (found.x != right.x) + (found.y != right.y) + (found.z != right.z) + (found.w != right.w);
}
