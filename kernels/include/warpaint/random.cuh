// warpaint/random.cuh: counter-based random numbers. Nothing is stored between steps: the same (seed, stream,
// counter) gives the same numbers on every device, in every order of execution.
//
//     warpaint::Random random(seed, i, step);      // thread i's own sequence in this step
//     float  u = random.uniform();                 // [0, 1)
//     float3 p = random.in_ball();                 // |p| < 1
//     unsigned n = random.below(6u);               // 0 to 5
#pragma once

namespace warpaint {

// The upper half of a product. (In one of 64 bits the compiler loses sight of its factors having 32.)
__host__ __device__ inline unsigned upper_product(unsigned a, unsigned b)
{
#ifdef __CUDA_ARCH__
    return __umulhi(a, b);
#else
    return (unsigned)((unsigned long long)a * b >> 32);
#endif
}

// Four 32-bit random words from a counter and a key: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011). Known answers are in that paper's distribution.
__host__ __device__ inline uint4 philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; ++round) {
        const unsigned a = 0xD2511F53u, b = 0xCD9E8D57u;
        counter = make_uint4(upper_product(b, counter.z) ^ counter.y ^ key.x, b * counter.z,
                             upper_product(a, counter.x) ^ counter.w ^ key.y, a * counter.x);
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

// The 53 upper bits of 64 as a number in [0, 1).
__host__ __device__ inline double to_unit(unsigned long long word)
{
    return (double)(long long)(word >> 11) * (1.0 / 9007199254740992.0);
}

// Two independent standard normal numbers from two words: Box and Muller's transform, to 6.7 standard deviations.
__host__ __device__ inline float2 to_normal(unsigned a, unsigned b)
{
    // In (0, 1]: the middle of the 2^-32 that the word stands for.
    float radius = sqrtf(-2.0f * logf(fmaf((float)a, 1.0f / 4294967296.0f, 0.5f / 4294967296.0f))), s, c;
    sincospif((float)b * (1.0f / 2147483648.0f), &s, &c);
    return make_float2(radius * c, radius * s);
}

// As above, to 9.5 standard deviations.
__host__ __device__ inline double2 to_normal(unsigned long long a, unsigned long long b)
{
    double radius = sqrt(-2.0 * log(fma((double)a, 1.0 / 18446744073709551616.0, 0.5 / 18446744073709551616.0))), s, c;
    sincospi((double)b * (1.0 / 9223372036854775808.0), &s, &c);
    return make_double2(radius * c, radius * s);
}

// The standard normal number below which lie as many as the word says, from 0 to 2^32: in place of Box and Muller's
// where a word must not be mixed with another.
__host__ __device__ inline float normal_quantile(unsigned word)
{
    // From the nearer end, so that both tails are as fine.
    const bool upper = word >> 31;
    const float z = normcdfinvf(fmaf((float)(upper ? ~word : word), 1.0f / 4294967296.0f, 0.5f / 4294967296.0f));
    return upper ? -z : z;
}

__host__ __device__ inline double normal_quantile(unsigned long long word)
{
    const bool upper = word >> 63;
    const double unit = 1.0 / 18446744073709551616.0;
    const double z = normcdfinv(fma((double)(upper ? ~word : word), unit, 0.5 * unit));
    return upper ? -z : z;
}

// The Poisson number that belongs to a uniform one in [0, 1): how often something happens that happens `mean` times on
// average. NaN for a mean that is negative, infinite or NaN. Takes as many turns as the root of the mean.
__host__ __device__ inline double poisson_of(double uniform, double mean)
{
    if (!(mean >= 0.0 && mean <= 1.7976931348623157e308)) return nan("");
    // Counts take their shares of the unit interval in turn: small ones from 0 on, large ones from the most likely
    // one to both sides.
    const bool few = mean < 10.0;
    const double start = few ? 0.0 : floor(mean);
    const double share = exp(few ? -mean : start * log(mean) - mean - lgamma(start + 1.0));
    double above = start, share_above = share, below = start, share_below = few ? 0.0 : share, left = uniform - share;
    // At the far end what rounding leaves of the number may never be used up.
    while (left >= 0.0 && share_above + share_below > 0.0) {
        above += 1.0, share_above *= mean / above;
        left -= share_above;
        if (left < 0.0) return above;
        if (few) continue;
        share_below *= below / mean, below -= 1.0;
        left -= share_below;
        if (left < 0.0) return below;
    }
    return start;
}

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

    // A sequence of which the first words are known: `left` of `words`, and then what follows (key, counter).
    __host__ __device__ Random(uint2 key, uint4 counter, uint4 words, int left)
        : counter(counter), key(key), words(words), left(left)
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

    // 64 random bits.
    __host__ __device__ unsigned long long bits64()
    {
        unsigned low = bits(), high = bits();
        return (unsigned long long)high << 32 | low;
    }

    // Uniform in [0, 1).
    __host__ __device__ float uniform() { return to_unit(bits()); }

    // Uniform in [low, high).
    // Rounding may reach the end, which is not in the range.
    __host__ __device__ float uniform(float low, float high)
    {
        float u = low + (high - low) * uniform();
        return u < high || low >= high ? u : nextafterf(high, low);
    }

    // Uniform in [0, 1), of 53 bits.
    __host__ __device__ double uniform_double() { return to_unit(bits64()); }

    // Standard normal.
    __host__ __device__ float normal()
    {
        unsigned a = bits(), b = bits();
        return to_normal(a, b).x;
    }

    // An integer from 0 to n - 1, each as likely as the others (Lemire, "Fast random integer generation in an
    // interval", ACM TOMACS 29(1), 2019).
    __host__ __device__ unsigned below(unsigned n)
    {
        unsigned long long product = (unsigned long long)bits() * n;
        // The quotient in the second comparison is rarely needed.
        if ((unsigned)product < n) {
            while ((unsigned)product < (0u - n) % n) product = (unsigned long long)bits() * n;
        }
        return (unsigned)(product >> 32);
    }

    // As above, of 64 bits.
    __device__ unsigned long long below(unsigned long long n)
    {
        unsigned long long word = bits64();
        if (word * n < n) {
            while (word * n < (0ull - n) % n) word = bits64();
        }
        return __umul64hi(word, n);
    }

    // How often something happens that happens `mean` times on average: a Poisson number, as a double, which has
    // room for all of them. NaN for a mean that is negative, infinite or NaN.
    __host__ __device__ double poisson(double mean)
    {
        return mean >= 10.0 && mean <= 1.7976931348623157e308 ? poisson_by_rejection(mean)
                                                              : poisson_of(uniform_double(), mean);
    }

    // Transformed rejection with a squeeze: PTRS of Hormann, "The transformed rejection method for generating
    // Poisson random variables", Insurance: Mathematics and Economics 12, 1993.
    __host__ __device__ double poisson_by_rejection(double mean)
    {
        double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
        double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), squeeze = 0.9277 - 3.6224 / (b - 2.0);
        while (true) {
            double u = uniform_double() - 0.5, v = uniform_double(), distance = 0.5 - fabs(u);
            double count = floor((2.0 * a / distance + b) * u + mean + 0.43);
            if (distance >= 0.07 && v <= squeeze) return count;
            if (count < 0.0 || (distance < 0.013 && v > distance)) continue;
            double hat = v * inverse_alpha / (a / (distance * distance) + b);
            if (log(hat) <= count * log(mean) - mean - lgamma(count + 1.0)) return count;
        }
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
