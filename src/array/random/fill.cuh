// What fills an array with random numbers.
//
// A generator (engine) makes blocks of 16 bytes: four words of 32 bits, or two of 64. The words of a block go to
// neighbouring elements, so that a thread writes a whole block at once. Which words an element gets follows from its
// index alone, not from the threads, which stride over the blocks in lanes.
#include <warpaint/random.cuh>

namespace warpaint {

using Word32 = unsigned;
using Word64 = unsigned long long;

template <int BYTES> struct WordOf { using Type = Word32; };
template <> struct WordOf<8> { using Type = Word64; };

__device__ inline void split(uint4 block, Word32 (&words)[4])
{
    words[0] = block.x, words[1] = block.y, words[2] = block.z, words[3] = block.w;
}

__device__ inline void split(uint4 block, Word64 (&words)[2])
{
    words[0] = (Word64)block.y << 32 | block.x, words[1] = (Word64)block.w << 32 | block.z;
}

__device__ inline uint2 halves(Word64 word) { return make_uint2((Word32)word, (Word32)(word >> 32)); }

// How many bits of a word a number in [0, 1) takes: as many as it has digits, so that all are exact and none is 1.
template <class T> constexpr int DIGITS = 0;
template <> constexpr int DIGITS<float> = 24;
template <> constexpr int DIGITS<double> = 53;
#ifdef __CUDA_FP16_TYPES_EXIST__
template <> constexpr int DIGITS<__half> = 11;
#endif
#ifdef __CUDA_BF16_TYPES_EXIST__
template <> constexpr int DIGITS<__nv_bfloat16> = 8;
#endif

// A distribution turns the words of a block into values. The first of them is `element` in the generator's sequence,
// and `i` of `n` in the array; those outside are not used.

template <class T, int N, class Value> __device__ void each(T (&values)[N], const Value &value)
{
#pragma unroll
    for (int at = 0; at < N; ++at) values[at] = value(at);
}

template <class T> struct Uniform {
    using Word = typename WordOf<sizeof(T)>::Type;
    using Value = T;

    template <int N>
    __device__ void values(const Word (&words)[N], Word64 element, long long i, long long n, T (&values)[N]) const
    {
        each(values, [&](int at) {
            const Word bits = words[at] >> (8 * sizeof(Word) - DIGITS<T>);
            return T(Wide<T>(bits) * (Wide<T>(1) / Wide<T>(1ull << DIGITS<T>)));
        });
    }
};

struct BoxMuller {
    template <class Word> static __device__ auto pair(Word a, Word b) { return to_normal(a, b); }
};

struct Inversion {
    static __device__ float2 pair(Word32 a, Word32 b) { return make_float2(normal_quantile(a), normal_quantile(b)); }
    static __device__ double2 pair(Word64 a, Word64 b) { return make_double2(normal_quantile(a), normal_quantile(b)); }
    static __device__ double poisson(Word64 word, Word64, double mean) { return poisson_of(to_unit(word), mean); }
};

template <class T, class Method, bool LOGARITHMIC> struct Normal {
    using Word = typename WordOf<sizeof(T)>::Type;
    using Value = T;
    Wide<T> mean, deviation;

    template <int N>
    __device__ void values(const Word (&words)[N], Word64 element, long long i, long long n, T (&values)[N]) const
    {
#pragma unroll
        for (int at = 0; at < N; at += 2) {
            const auto pair = Method::pair(words[at], words[at + 1]);
            values[at] = value(pair.x);
            values[at + 1] = value(pair.y);
        }
    }

    __device__ T value(Wide<T> standard) const
    {
        const Wide<T> value = mean + deviation * standard;
        if constexpr (LOGARITHMIC) return T(::exp(value));
        return T(value);
    }
};

// A sequence that an element of 32 or 64 bits has to itself where it needs more than its word, which comes first.
__device__ inline Random own_sequence(Word32 word, Word64 element)
{
    const uint2 place = halves(element);
    return Random(make_uint2(word, 0x77617270u), make_uint4(0u, 1u, place.x, place.y), make_uint4(word, 0u, 0u, 0u), 1);
}

__device__ inline Random own_sequence(Word64 word, Word64 element)
{
    const uint2 key = halves(word), place = halves(element);
    return Random(key, make_uint4(0u, 2u, place.x, place.y), make_uint4(key.x, key.y, 0u, 0u), 2);
}

struct Rejection {
    static __device__ double poisson(Word64 word, Word64 element, double mean)
    {
        return own_sequence(word, element).poisson(mean);
    }
};

// `low` and what follows, `count` integers; 0 stands for all that the word has.
template <class T> struct Integers {
    using Word = typename WordOf<sizeof(T)>::Type;
    using Value = T;
    Word low, count;

    template <int N>
    __device__ void values(const Word (&words)[N], Word64 element, long long i, long long n, T (&values)[N]) const
    {
        each(values, [&](int at) {
            return T(low + (count == 0 ? words[at] : own_sequence(words[at], element + at).below(count)));
        });
    }
};

struct Constant {
    double value;
    __device__ double operator[](long long) const { return value; }
};

// A count as a value of type T: where that has no room for it, its greatest.
template <class T> __device__ T counted(double count)
{
    if constexpr (!Traits<T>::integer) return T(count);
    constexpr unsigned BITS = 8 * sizeof(T) - (T(-1) < T(0));
    constexpr unsigned long long GREATEST = ~0ull >> (64 - BITS);
    if (is_nan(count)) return T(0);
    return count < double(GREATEST) ? T(count) : T(GREATEST);
}

// Counts of what happens `mean[i]` times on average.
template <class T, class Method, class Mean> struct Poisson {
    using Word = Word64;
    using Value = T;
    Mean mean;

    template <int N>
    __device__ void values(const Word (&words)[N], Word64 element, long long i, long long n, T (&values)[N]) const
    {
        each(values, [&](int at) {
            const double of = double(mean[max(0ll, min(i + at, n - 1))]);
            return counted<T>(Method::poisson(words[at], element + at, of));
        });
    }
};

template <class T, int N> struct alignas(sizeof(T) * N) Piece { T at[N]; };

// Where the values of blocks go that begin `skipped` elements before `out`: each in one piece, if they `are_aligned`.
template <class T, int N> struct Pieces {
    Piece<T, N> *at;
    bool are_aligned;

    __device__ Pieces(T *out, unsigned skipped) : at(reinterpret_cast<Piece<T, N> *>(out - skipped))
    {
        are_aligned = reinterpret_cast<Word64>(at) % sizeof(*at) == 0;
    }
    template <int RANK> __device__ Pieces(const Strided<T, RANK> &, unsigned) : at(nullptr), are_aligned(false) {}

    __device__ void write(Word64 block, const T (&values)[N]) const
    {
        Piece<T, N> piece;
        each(piece.at, [&](int k) { return values[k]; });
        at[block] = piece;
    }
};

// Gives `out` the elements of the generator's sequence from `first` on.
template <class Engine, class Distribution, class Out>
__device__ void fill(const Engine &engine, const Distribution &distribution, const Out &out, Word64 first, long long n)
{
    using Word = typename Distribution::Word;
    using Value = typename Distribution::Value;
    constexpr int N = 16 / sizeof(Word);
    const unsigned skipped = first % N;
    const Word64 begin = first / N, blocks = (skipped + n - 1) / N + 1;
    const Word64 threads = (Word64)gridDim.x * blockDim.x, thread = (Word64)blockIdx.x * blockDim.x + threadIdx.x;
    const Word64 lanes = engine.lanes(threads);
    // The blocks of which all elements are wanted, one after the other.
    const Pieces<Value, N> pieces(out, skipped);
    const Word64 first_whole = skipped > 0, whole = pieces.are_aligned ? (skipped + n) / N - first_whole : 0;
    for (Word64 lane = thread; lane < lanes && lane < blocks; lane += threads) {
        auto sequence = engine.template from<N>(begin + lane, lanes);
        for (Word64 block = lane; block < blocks; block += lanes) {
            Word words[N];
            sequence.next(words);
            const long long i = (long long)(block * N) - skipped;
            Value values[N];
            distribution.values(words, first + i, i, n, values);
            if (block - first_whole < whole) {
                pieces.write(block, values);
                continue;
            }
#pragma unroll
            for (int at = 0; at < N; ++at) {
                if (i + at >= 0 && i + at < n) out[i + at] = values[at];
            }
        }
    }
}

}  // namespace warpaint
