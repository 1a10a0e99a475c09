// warpaint/random.cuh: counter-based random numbers. Nothing is stored between steps: the same (seed, stream,
// counter) gives the same numbers on every device, in every order of execution.
//
//     warpaint::Random random(seed, i, step);      // thread i's own sequence in this step
//     float  u = random.uniform();                 // [0, 1)
//     float3 p = random.in_ball();                 // |p| < 1
#pragma once

namespace warpaint {

// Four 32-bit random words from a counter and a key: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011). Known answers are in that paper's distribution.
__host__ __device__ inline uint4 philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; ++round) {
        unsigned long long a = 0xD2511F53ull * counter.x;
        unsigned long long b = 0xCD9E8D57ull * counter.z;
        counter = make_uint4((unsigned)(b >> 32) ^ counter.y ^ key.x, (unsigned)b,
                             (unsigned)(a >> 32) ^ counter.w ^ key.y, (unsigned)a);
        key = make_uint2(key.x + 0x9E3779B9u, key.y + 0xBB67AE85u);
    }
    return counter;
}

// A quick hash of one word: PCG-RXS-M-XS (Jarzynski, Olano, "Hash functions for GPU rendering", JCGT 9(3), 2020).
__host__ __device__ inline unsigned hash(unsigned x)
{
    x = x * 747796405u + 2891336453u;
    x = ((x >> ((x >> 28) + 4u)) ^ x) * 277803737u;
    return (x >> 22) ^ x;
}

// The 24 upper bits of a word as a number in [0, 1).
__host__ __device__ inline float to_unit(unsigned word) { return (float)(word >> 8) * (1.0f / 16777216.0f); }

// A sequence of random numbers of one's own.
struct Random {
    uint4 counter;
    uint2 key;
    uint4 words;
    int left;

    // The sequence of (seed, stream, counter): stream tells threads apart, counter steps.
    __host__ __device__ Random(unsigned seed, unsigned stream, unsigned counter = 0, unsigned purpose = 0)
        : counter(make_uint4(0u, stream, counter, purpose)), key(make_uint2(seed, 0x77617270u)),
          words(make_uint4(0u, 0u, 0u, 0u)), left(0)
    {
    }

    // 32 random bits.
    __host__ __device__ unsigned bits()
    {
        if (left == 0) {
            words = philox(counter, key);
            counter.x += 1u;
            left = 4;
        }
        left -= 1;
        unsigned word = words.x;
        words = make_uint4(words.y, words.z, words.w, 0u);
        return word;
    }

    // Uniform in [0, 1).
    __host__ __device__ float uniform() { return to_unit(bits()); }

    // Uniform in [low, high).
    __host__ __device__ float uniform(float low, float high) { return low + (high - low) * uniform(); }

    // Standard normal, by Box and Muller's transform.
    __host__ __device__ float normal()
    {
        float radius = sqrtf(-2.0f * logf(1.0f - uniform()));
        return radius * cospif(2.0f * uniform());
    }

    // Uniform on the unit sphere.
    __host__ __device__ float3 on_sphere()
    {
        float z = uniform(-1.0f, 1.0f), r = sqrtf(fmaxf(0.0f, 1.0f - z * z)), s, c;
        sincospif(2.0f * uniform(), &s, &c);
        return make_float3(r * c, r * s, z);
    }

    // Uniform in the unit ball.
    __host__ __device__ float3 in_ball()
    {
        float3 p = on_sphere();
        float r = cbrtf(uniform());
        return make_float3(p.x * r, p.y * r, p.z * r);
    }
};

}  // namespace warpaint
