// warpaint/noise.cuh: smooth random fields in space.
//
//     float  h = warpaint::noise(p, seed);                        // a scalar field, about -1 to 1
//     float4 g = warpaint::noise_gradient(p, seed);               // its gradient (x, y, z) and value (w)
//     float3 v = warpaint::curl_noise(p, seed);                   // a divergence-free field, RMS length 1
//     float3 w = warpaint::curl_noise(p, seed, phase, octaves);   // finer and finer, changing with phase
//
// Features are about 1 across: multiply p by a frequency. All fields are on the simplex lattice (Perlin,
// "Noise hardware", 2001; Gustavson, "Simplex noise demystified", 2005), four corners a point in 3-D.
#pragma once

#include <warpaint/random.cuh>
#include <warpaint/vector.cuh>

namespace warpaint {

// The four corners of the simplex around a point: lattice coordinates, and the way from each to the point.
struct Simplex {
    int3 cell[4];
    float3 offset[4];

    __host__ __device__ explicit Simplex(float3 p)
    {
        float skew = (p.x + p.y + p.z) * (1.0f / 3.0f);
        float fi = floorf(p.x + skew), fj = floorf(p.y + skew), fk = floorf(p.z + skew);
        float back = (fi + fj + fk) * (1.0f / 6.0f);
        float3 x = make_float3(p.x - (fi - back), p.y - (fj - back), p.z - (fk - back));
        // Which of the six tetrahedra of the cell: ranks of the components, larger ones first.
        int xy = x.x >= x.y, yz = x.y >= x.z, xz = x.x >= x.z;
        int3 first = make_int3(xy & xz, (1 - xy) & yz, (1 - xz) & (1 - yz));
        int3 second = make_int3(xy | xz, (1 - xy) | yz, (1 - xz) | (1 - yz));
        int i = (int)fi, j = (int)fj, k = (int)fk;
        cell[0] = make_int3(i, j, k);
        cell[1] = make_int3(i + first.x, j + first.y, k + first.z);
        cell[2] = make_int3(i + second.x, j + second.y, k + second.z);
        cell[3] = make_int3(i + 1, j + 1, k + 1);
        offset[0] = x;
        offset[1] = shifted(x, first, 1.0f / 6.0f);
        offset[2] = shifted(x, second, 2.0f / 6.0f);
        offset[3] = make_float3(x.x - 0.5f, x.y - 0.5f, x.z - 0.5f);
    }

    __host__ __device__ static float3 shifted(float3 x, int3 by, float back)
    {
        return make_float3(x.x - (float)by.x + back, x.y - (float)by.y + back, x.z - (float)by.z + back);
    }
};

// 32 random bits that belong to a corner of the lattice.
__host__ __device__ inline unsigned hash(int3 cell, unsigned seed)
{
    return hash((unsigned)cell.x * 0x8DA6B343u ^ (unsigned)cell.y * 0xD8163841u ^ (unsigned)cell.z * 0xCB1AB31Fu ^ seed);
}

// Ten bits for each component, from -1 to 1.
__host__ __device__ inline float3 to_vector(unsigned bits)
{
    const float scale = 2.0f / 1023.0f;
    return make_float3((float)(bits & 1023u) * scale - 1.0f, (float)((bits >> 10) & 1023u) * scale - 1.0f,
                       (float)((bits >> 20) & 1023u) * scale - 1.0f);
}

// Simplex noise: the gradient in x, y, z and the value, about -1 to 1, in w.
__host__ __device__ inline float4 noise_gradient(float3 p, unsigned seed)
{
    const float scale = 65.0f;
    Simplex simplex(p);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int corner = 0; corner < 4; ++corner) {
        float3 x = simplex.offset[corner];
        float3 g = to_vector(hash(simplex.cell[corner], seed));
        float t = fmaxf(0.5f - dot(x, x), 0.0f);
        float t3 = t * t * t, t4 = t3 * t, along = dot(g, x);
        sum += xyzw(g * t4 - x * (8.0f * t3 * along), t4 * along);
    }
    return sum * scale;
}

// Simplex noise, about -1 to 1.
__host__ __device__ inline float noise(float3 p, unsigned seed) { return noise_gradient(p, seed).w; }

// Simplex noise of several octaves, each half as large and half as strong.
__host__ __device__ inline float fractal_noise(float3 p, unsigned seed, int octaves)
{
    float sum = 0.0f, strength = 0.5f;
    for (int octave = 0; octave < octaves; ++octave, strength *= 0.5f) {
        sum += strength * noise(p, seed + (unsigned)octave);
        p *= 2.0f;
    }
    return sum;
}

// One octave of divergence-free noise: the curl of a vector potential made of noise, after Bridson, Hourihan
// and Nordenstam, "Curl-noise for procedural fluid flow", SIGGRAPH 2007.
//
// There the potential's three components are noises of their own, and the curl takes six of them by finite
// differences. Here a corner of the lattice adds t^4 (a x r) to the potential, with t = 1/2 - |r|^2 and a random
// axis a: one vector instead of three gradients, and the curl, 2 t^4 a - 8 t^3 (a |r|^2 - r (a.r)), is exact.
// (c, s), of length 1, turns every axis in a plane of its own: the field changes and keeps its strength.
__host__ __device__ inline float3 curl_octave(float3 p, unsigned seed, float c, float s)
{
    const float scale = 25.3f;
    Simplex simplex(p);
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int corner = 0; corner < 4; ++corner) {
        float3 r = simplex.offset[corner];
        float r2 = dot(r, r);
        float t = fmaxf(0.5f - r2, 0.0f);
        unsigned bits = hash(simplex.cell[corner], seed);
        float3 a = to_vector(bits) * c + to_vector(bits * 0x9E3779B1u >> 2) * s;
        float t3 = t * t * t;
        sum += a * (2.0f * t3 * t - 8.0f * t3 * r2) + r * (8.0f * t3 * dot(a, r));
    }
    return sum * scale;
}

// Divergence-free noise with features of size 1, RMS length 1.
__host__ __device__ inline float3 curl_noise(float3 p, unsigned seed) { return curl_octave(p, seed, 1.0f, 0.0f); }

// Divergence-free noise of several octaves, each half as large, `gain` times as fast, and changing twice as
// quickly; as `phase` goes from 0 to 2 the field goes through a cycle.
__host__ __device__ inline float3 curl_noise(float3 p, unsigned seed, float phase, int octaves, float gain = 0.5f)
{
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    float strength = 1.0f, c, s;
    sincospif(phase, &s, &c);
    for (int octave = 0; octave < octaves; ++octave) {
        sum += curl_octave(p, seed + (unsigned)octave * 0x632BE5ABu, c, s) * strength;
        strength *= gain;
        // Twice as fine, and moved so that the octaves' lattices do not lie on one another.
        p = p * 2.0f + make_float3(17.3f, 41.7f, 5.9f);
        float turned = c * c - s * s;
        s = 2.0f * c * s;
        c = turned;
    }
    return sum;
}

}  // namespace warpaint
