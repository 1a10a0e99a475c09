// MRG32k3a (L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators",
// Operations Research 47(1), 1999).
namespace warpaint {

struct Mrg32k3a {
    static constexpr int WORDS = 6;
    // The moduli are 2^32 less these.
    static constexpr Word32 LESS_1 = 209, LESS_2 = 22853;
    static constexpr Word64 MODULUS_1 = (1ull << 32) - LESS_1, MODULUS_2 = (1ull << 32) - LESS_2;
    // The last three values of both recurrences, the oldest first.
    Word32 words[WORDS];

    // Modulo 2^32 - LESS, of less than 2^55.
    template <Word32 LESS> static __device__ Word32 modulo(Word64 x)
    {
        // 2^32 is the same as LESS.
        x = (x >> 32) * LESS + (Word32)x;
        x = (x >> 32) * LESS + (Word32)x;
        return (Word32)(x < (1ull << 32) - LESS ? x : x + LESS);
    }

    // From 1 to MODULUS_1.
    __device__ Word32 next()
    {
        // Differences of 32 bits, so that the products are of 32 bits by 32.
        const Word32 minus_1 = (Word32)MODULUS_1 - words[0], minus_2 = (Word32)MODULUS_2 - words[3];
        const Word32 a = modulo<LESS_1>(1403580ull * words[1] + 810728ull * minus_1);
        const Word32 b = modulo<LESS_2>(527612ull * words[5] + 1370589ull * minus_2);
        words[0] = words[1], words[1] = words[2], words[2] = a;
        words[3] = words[4], words[4] = words[5], words[5] = b;
        return a > b ? a - b : a - b - LESS_1;
    }

    // `jump` is two matrices of three rows, modulo one modulus each.
    __device__ void jump(const Word32 *jump)
    {
        apply(MODULUS_1, jump, words);
        apply(MODULUS_2, jump + 9, words + 3);
    }

    static __device__ void apply(Word64 modulus, const Word32 *matrix, Word32 *x)
    {
        Word32 product[3];
#pragma unroll
        for (int row = 0; row < 3; ++row) {
            Word64 sum = 0;
#pragma unroll
            for (int k = 0; k < 3; ++k) sum = (sum + (Word64)matrix[row * 3 + k] * x[k] % modulus) % modulus;
            product[row] = (Word32)sum;
        }
#pragma unroll
        for (int row = 0; row < 3; ++row) x[row] = product[row];
    }
};

}  // namespace warpaint
