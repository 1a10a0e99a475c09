// XORWOW (Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003).
namespace warpaint {

struct Xorwow {
    static constexpr int WORDS = 6;
    // Five words of the xorshift and the counter.
    Word32 words[WORDS];

    __device__ Word32 next()
    {
        const Word32 first = words[0] ^ (words[0] >> 2), last = words[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) words[k] = words[k + 1];
        words[4] = last ^ (last << 4) ^ first ^ (first << 1);
        words[5] += 362437u;
        return words[4] + words[5];
    }

    // `jump` is a matrix over GF(2), 160 columns of five words, and what the counter gains.
    __device__ void jump(const Word32 *jump)
    {
        Word32 sum[5] = {};
#pragma unroll
        for (int word = 0; word < 5; ++word) {
            // All 160 one behind the other would take long to compile.
#pragma unroll 1
            for (int bit = 0; bit < 32; ++bit, jump += 5) {
                const Word32 chosen = 0u - (words[word] >> bit & 1u);
#pragma unroll
                for (int k = 0; k < 5; ++k) sum[k] ^= chosen & jump[k];
            }
        }
#pragma unroll
        for (int k = 0; k < 5; ++k) words[k] = sum[k];
        words[5] += *jump;
    }
};

}  // namespace warpaint
