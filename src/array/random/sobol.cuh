// Sobol's sequence as an engine of fill.cuh: element `e` is coordinate `e % dimensions` of point `e / dimensions`.
// Point `p` is the sum over GF(2) of the directions that the bits of p's Gray code choose (Antonov, Saleev, "An
// economic method of computing LP-tau sequences", USSR Computational Mathematics and Mathematical Physics 19(1), 1979).
namespace warpaint {

// `Bits` is the type of a coordinate.
template <class Bits> struct Sobol {
    static constexpr int BITS = 8 * sizeof(Bits);

    // Direction `k` of dimension `d` is at `[d * BITS + k]`.
    const Bits *directions;
    // What is added to each coordinate.
    const Bits *shifts;
    Word64 dimensions;

    // Each lane goes on by a power of two of points, so that the Gray code changes in two bits.
    __device__ Word64 lanes(Word64 threads) const
    {
        Word64 lanes = dimensions;
        while (2 * lanes <= threads) lanes *= 2;
        return lanes;
    }

    static __device__ int lowest_bit(Word32 bits) { return __ffs(bits) - 1; }
    static __device__ int lowest_bit(Word64 bits) { return __ffsll(bits) - 1; }

    // N coordinates; `shift` is the logarithm of the number of points that they go on by.
    template <int N> struct Blocks {
        int shift;
        // The upper bits of the point's number, those that change.
        Bits turns[N];
        const Bits *directions[N];
        // The direction of the bit of the Gray code that changes each time.
        Bits steps[N];
        Bits coordinates[N];

        template <class Word> __device__ void next(Word (&words)[N])
        {
#pragma unroll
            for (int k = 0; k < N; ++k) {
                words[k] = resized<Word>(coordinates[k]);
                turns[k] += 1;
                // Behind the last point of all there is no direction.
                const int last = min(shift + lowest_bit(turns[k]), BITS - 1);
                coordinates[k] ^= __ldg(directions[k] + last) ^ steps[k];
            }
        }
    };

    template <int N> __device__ Blocks<N> from(Word64 block, Word64 step) const
    {
        Blocks<N> blocks;
        blocks.shift = __ffsll(step * N / dimensions) - 1;
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const Word64 point = (block * N + k) / dimensions, dimension = (block * N + k) % dimensions;
            blocks.turns[k] = (Bits)(point >> blocks.shift);
            blocks.directions[k] = directions + dimension * BITS;
            blocks.steps[k] = blocks.directions[k][blocks.shift - 1];
            blocks.coordinates[k] = shifts[dimension];
            // A last block may go beyond the end, where there is no direction.
            for (Word64 gray = (Bits)(point ^ (point >> 1)); gray != 0; gray &= gray - 1) {
                blocks.coordinates[k] ^= blocks.directions[k][__ffsll(gray) - 1];
            }
        }
        return blocks;
    }

    // The upper bits.
    template <class Word> static __device__ Word resized(Bits bits)
    {
        if constexpr (sizeof(Word) < sizeof(Bits)) return (Word)(bits >> 32);
        if constexpr (sizeof(Word) > sizeof(Bits)) return (Word)bits << 32;
        return (Word)bits;
    }
};

}  // namespace warpaint
