// Philox 4x32-10 as an engine of fill.cuh.
namespace warpaint {

// Philox 4x32-10: block `b` of a stream is the function of the counter (b, stream) under the seed as key.
struct Philox {
    Word64 seed, stream;

    struct Blocks {
        uint2 key, stream;
        Word64 block, step;

        template <class Word, int N> __device__ void next(Word (&words)[N])
        {
            const uint2 place = halves(block);
            split(philox(make_uint4(place.x, place.y, stream.x, stream.y), key), words);
            block += step;
        }
    };

    // Any block costs the same: there are as many lanes as threads.
    __device__ Word64 lanes(Word64 threads) const { return threads; }
    // The blocks from `block` on, every `step`th.
    template <int N> __device__ Blocks from(Word64 block, Word64 step) const
    {
        return {halves(seed), halves(stream), block, step};
    }
};

}  // namespace warpaint
