// Generators that have a state as an engine of fill.cuh: block `b` is the next four words of lane `b % COUNT`. Lanes
// are places far from each other in one sequence.
namespace warpaint {

template <class State> struct Lanes {
    static constexpr Word64 COUNT = 1 << 16;

    // Word `k` of the state in which lane `l` begins is at `[k * COUNT + l]`.
    const Word32 *states;
    // Leads a lane to where it is in block `begin`, the first that is wanted.
    const Word32 *jump;
    Word64 begin;

    struct Blocks {
        State state;

        template <class Word, int N> __device__ void next(Word (&words)[N])
        {
            const Word32 x = state.next(), y = state.next(), z = state.next(), w = state.next();
            split(make_uint4(x, y, z, w), words);
        }
    };

    __device__ Word64 lanes(Word64) const { return COUNT; }

    template <int N> __device__ Blocks from(Word64 block, Word64) const
    {
        Blocks blocks{load(states, block % COUNT)};
        blocks.state.jump(jump);
        if (block / COUNT != begin / COUNT) {
            Word32 passed[4];
            blocks.next(passed);
        }
        return blocks;
    }

    static __device__ State load(const Word32 *states, Word64 lane)
    {
        State state;
#pragma unroll
        for (int k = 0; k < State::WORDS; ++k) state.words[k] = states[k * COUNT + lane];
        return state;
    }

    // Gives as many lanes again as `have` begin: each as far behind one of those as `jump` leads.
    static __device__ void grow(Word32 *states, const Word32 *jump, Word64 have)
    {
        for (Word64 lane = blockIdx.x * blockDim.x + threadIdx.x; lane < have; lane += gridDim.x * blockDim.x) {
            State state = load(states, lane);
            state.jump(jump);
#pragma unroll
            for (int k = 0; k < State::WORDS; ++k) states[k * COUNT + lane + have] = state.words[k];
        }
    }
};

}  // namespace warpaint
