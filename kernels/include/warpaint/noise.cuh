// warpaint/noise.cuh: smooth random fields in space.
//
//     float  h = warpaint::noise(p, seed);                        // a scalar field, about -1 to 1
//     float4 g = warpaint::noise_gradient(p, seed);               // its gradient (x, y, z) and value (w)
//     float3 v = warpaint::curl_noise(p, seed);                   // a divergence-free field, RMS length 1
//     float3 w = warpaint::curl_noise(p, seed, phase, octaves);   // finer and finer, changing with phase
//     float  c = warpaint::perlin_noise(p);                       // the classic on a cubic lattice
//     float2 f = warpaint::worley_noise(p, seed);                 // how far the nearest and the second point are
//
// Features are about 1 across: multiply p by a frequency. The first four are on the simplex lattice (Perlin,
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
    const unsigned x = cell.x, y = cell.y, z = cell.z;
    return hash(x * 0x8DA6B343u ^ y * 0xD8163841u ^ z * 0xCB1AB31Fu ^ seed);
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

// Perlin's own order of the numbers from 0 to 255, from his reference implementation.
__device__ const unsigned char PERLIN_ORDER[256] = {
    151, 160, 137, 91, 90, 15, 131, 13, 201, 95, 96, 53, 194, 233, 7, 225, 140, 36, 103, 30, 69, 142,
    8, 99, 37, 240, 21, 10, 23, 190, 6, 148, 247, 120, 234, 75, 0, 26, 197, 62, 94, 252, 219, 203,
    117, 35, 11, 32, 57, 177, 33, 88, 237, 149, 56, 87, 174, 20, 125, 136, 171, 168, 68, 175, 74, 165,
    71, 134, 139, 48, 27, 166, 77, 146, 158, 231, 83, 111, 229, 122, 60, 211, 133, 230, 220, 105, 92, 41,
    55, 46, 245, 40, 244, 102, 143, 54, 65, 25, 63, 161, 1, 216, 80, 73, 209, 76, 132, 187, 208, 89,
    18, 169, 200, 196, 135, 130, 116, 188, 159, 86, 164, 100, 109, 198, 173, 186, 3, 64, 52, 217, 226, 250,
    124, 123, 5, 202, 38, 147, 118, 126, 255, 82, 85, 212, 207, 206, 59, 227, 47, 16, 58, 17, 182, 189,
    28, 42, 223, 183, 170, 213, 119, 248, 152, 2, 44, 154, 163, 70, 221, 153, 101, 155, 167, 43, 172, 9,
    129, 22, 39, 253, 19, 98, 108, 110, 79, 113, 224, 232, 178, 185, 112, 104, 218, 246, 97, 228, 251, 34,
    242, 193, 238, 210, 144, 12, 191, 179, 162, 241, 81, 51, 145, 235, 249, 14, 239, 107, 49, 192, 214, 31,
    181, 199, 106, 157, 184, 84, 204, 176, 115, 121, 50, 45, 127, 4, 150, 254, 138, 236, 205, 93, 222, 114,
    67, 29, 24, 72, 243, 141, 128, 195, 78, 66, 215, 61, 156, 180};

__device__ inline int perlin_order(int i) { return PERLIN_ORDER[i & 255]; }

// What a corner of the lattice adds: one of twelve gradients, along the way from it.
__device__ inline float perlin_corner(int bits, float3 way)
{
    bits &= 15;
    const float u = bits < 8 ? way.x : way.y, v = bits < 4 ? way.y : bits == 12 || bits == 14 ? way.x : way.z;
    return (bits & 1 ? -u : u) + (bits & 2 ? -v : v);
}

// Perlin, "Improving noise", SIGGRAPH 2002: about -1 to 1, 0 at whole numbers, the same again after 256 in each
// direction. Seed 0 is the field that was published.
__device__ inline float perlin_noise(float3 p, unsigned seed = 0)
{
    const float3 floor = make_float3(floorf(p.x), floorf(p.y), floorf(p.z)), x = p - floor;
    // A quintic from 0 to 1 that is level at both ends, twice.
    const float3 s = x * x * x * (x * (x * 6.0f - make_float3(15.0f, 15.0f, 15.0f)) + make_float3(10.0f, 10.0f, 10.0f));
    const int i = (int)floor.x + (int)(seed & 255u), j = (int)floor.y, k = (int)floor.z;
    float layers[2];
    for (int layer = 0; layer < 2; ++layer) {
        float rows[2];
        for (int row = 0; row < 2; ++row) {
            float corners[2];
            for (int corner = 0; corner < 2; ++corner) {
                const int bits = perlin_order(perlin_order(perlin_order(i + corner) + j + row) + k + layer);
                corners[corner] = perlin_corner(bits, x - make_float3((float)corner, (float)row, (float)layer));
            }
            rows[row] = mix(corners[0], corners[1], s.x);
        }
        layers[layer] = mix(rows[0], rows[1], s.y);
    }
    return mix(layers[0], layers[1], s.z);
}

// The point of a cell of the cubic lattice, one in each.
__host__ __device__ inline float3 worley_point(int3 cell, unsigned seed)
{
    const float3 in = to_vector(hash(cell, seed)) * 0.5f + make_float3(0.5f, 0.5f, 0.5f);
    return make_float3((float)cell.x, (float)cell.y, (float)cell.z) + in;
}

// The distances to the nearest (x) and to the second nearest (y) of points that lie about, one in each cell of size 1:
// Worley, "A cellular texture basis function", SIGGRAPH 1996. Both are exact.
__host__ __device__ inline float2 worley_noise(float3 p, unsigned seed)
{
    const int3 home = make_int3((int)floorf(p.x), (int)floorf(p.y), (int)floorf(p.z));
    float nearest = 1e30f, second = 1e30f;
    // Beyond the 27 cells around, points are at least 1 away, and beyond the 125 at least 2. The second ring is needed
    // for few points.
    for (int ring = 1; ring <= 2 && second > 1.0f; ++ring) {
        for (int z = -ring; z <= ring; ++z) {
            for (int y = -ring; y <= ring; ++y) {
                for (int x = -ring; x <= ring; ++x) {
                    const bool inner = ring == 2 && x * x <= 1 && y * y <= 1 && z * z <= 1;
                    if (inner) continue;
                    const float3 way = worley_point(make_int3(home.x + x, home.y + y, home.z + z), seed) - p;
                    const float distance2 = dot(way, way);
                    second = fminf(second, fmaxf(nearest, distance2));
                    nearest = fminf(nearest, distance2);
                }
            }
        }
    }
    return make_float2(sqrtf(nearest), sqrtf(second));
}

}  // namespace warpaint
