// A stable radix sort with digits of 8 bits, after Adinets & Merrill, "Onesweep: A faster least significant digit radix
// sort for GPUs" (2022): one pass over the keys counts all digits; then one pass a digit, in which a tile's places are
// known as soon as those of the tiles before it are (decoupled look-back).
namespace warpaint {

constexpr unsigned DIGITS = 256;

// Counts the digits of `n` keys, the lowest first. `counts` are zero before.
template <int BLOCK, class Key, class Index, class Load>
__device__ void count_digits(unsigned long long *counts, Index n, unsigned long long flip, Load load)
{
    constexpr unsigned COUNTS = sizeof(Key) * DIGITS;
    __shared__ unsigned found[COUNTS];
    for (unsigned at = threadIdx.x; at < COUNTS; at += BLOCK) found[at] = 0;
    __syncthreads();
    const Index threads = (Index)gridDim.x * BLOCK;
    for (Index i = (Index)blockIdx.x * BLOCK + threadIdx.x; i < n; i += threads) {
        const unsigned long long bits = ordered(load(i)) ^ flip;
#pragma unroll
        for (unsigned place = 0; place < sizeof(Key); ++place)
            atomicAdd(found + place * DIGITS + (bits >> 8 * place & DIGITS - 1), 1u);
    }
    __syncthreads();
    for (unsigned at = threadIdx.x; at < COUNTS; at += BLOCK)
        if (found[at] > 0) atomicAdd(counts + at, (unsigned long long)found[at]);
}

// Turns the counts of a place, one warp each, into the places where the digits begin.
inline __device__ void begin_digits(unsigned long long *counts)
{
    constexpr unsigned EACH = DIGITS / LANES;
    unsigned long long *const own = counts + blockIdx.x * DIGITS + threadIdx.x * EACH, count[EACH], total = 0;
    for (unsigned k = 0; k < EACH; ++k) total += count[k] = own[k];
    unsigned long long before = total;
    for (unsigned distance = 1; distance < LANES; distance *= 2) {
        const unsigned long long below = from_below(before, distance);
        if (threadIdx.x >= distance) before += below;
    }
    before -= total;
    for (unsigned k = 0; k < EACH; ++k) {
        own[k] = before;
        before += count[k];
    }
}

// The lanes that have this digit, too.
inline __device__ unsigned same_digit(unsigned digit)
{
    unsigned same = ALL_LANES;
#pragma unroll
    for (unsigned bit = 0; bit < 8; ++bit) {
        const bool set = digit >> bit & 1;
        const unsigned lanes = __ballot_sync(ALL_LANES, set);
        same &= set ? lanes : ~lanes;
    }
    return same;
}

// What tiles tell each other of a digit: how many of its keys they have, or how many there are up to their end.
template <class Index> struct Tally {
    static constexpr unsigned SHIFT = 8 * sizeof(Index) - 2;
    static constexpr Index OWN = (Index)1 << SHIFT, WITH_PRIOR = (Index)2 << SHIFT, COUNT = OWN - 1;

    // The keys of this digit before `tile` (which is not the first), by looking back at some tiles at a time.
    __device__ static Index before(const volatile Index *tallies, unsigned tile, unsigned digit)
    {
        constexpr unsigned AHEAD = 4;
        Index sum = 0;
        for (;;) {
            Index found[AHEAD];
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k) {
                const unsigned earlier = tile > k ? tile - 1 - k : 0;
                found[k] = tallies[(unsigned long long)earlier * DIGITS + digit];
            }
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k) {
                if (found[k] <= COUNT) break;
                sum += found[k] & COUNT;
                --tile;
                if (found[k] >= WITH_PRIOR) return sum;
            }
        }
    }
};

// The values of a sort of keys alone.
struct Nothing {};
template <class T> constexpr bool IS_SOMETHING = true;
template <> constexpr bool IS_SOMETHING<Nothing> = false;

// Sorts by one digit. A warp ranks neighbouring keys together; with `SERIAL`, for a processor whose threads take turns,
// each thread ranks its own. The rest is the same: `ROWS` owners of consecutive keys have a row of counts each.
template <bool SERIAL, int BLOCK, int ITEMS, class Key, class Value, class Index, class LoadKey, class LoadValue>
__device__ void sort_digit(unsigned long long *memory, const unsigned long long *begins, Index n, unsigned shift,
                           unsigned long long flip, LoadKey load_key, LoadValue load_value, Key *keys, Value *values)
{
    constexpr unsigned ROWS = SERIAL ? BLOCK : BLOCK / LANES, EACH = DIGITS / BLOCK, TILE = BLOCK * ITEMS;
    // What is unrolled for registers' sake has none on a processor whose threads take turns, and would take long to
    // compile there.
    constexpr int UNROLL = SERIAL ? 1 : ITEMS, UNROLL_DIGITS = SERIAL ? 1 : EACH, WARPS = BLOCK / LANES;
    constexpr unsigned BYTES = sizeof(Value) > sizeof(Key) ? sizeof(Value) : sizeof(Key);
    __shared__ alignas(16) unsigned char bytes[TILE * BYTES];
    __shared__ unsigned short counts[ROWS][DIGITS], starts[DIGITS];
    __shared__ unsigned totals[BLOCK + LANES], taken;
    __shared__ Index to[DIGITS];
    const unsigned thread = threadIdx.x, lane = thread % LANES, row = SERIAL ? thread : thread / LANES;
    volatile Index *const tallies = (volatile Index *)(memory + 1);
    if (thread == 0) taken = atomicAdd((unsigned *)memory, 1);
    for (unsigned at = thread; at < ROWS * DIGITS; at += BLOCK) counts[at / DIGITS][at % DIGITS] = 0;
    __syncthreads();
    const unsigned tile = taken;
    const Index start = (Index)tile * TILE;
    const unsigned valid = n - start < TILE ? n - start : TILE;
    const auto place = [&](int k) { return SERIAL ? thread * ITEMS + k : row * LANES * ITEMS + k * LANES + lane; };
    // What is behind the end has the last digit and comes last among that.
    const auto digit_of = [&](const Key &key, unsigned at) {
        const unsigned long long bits = ordered(key) ^ flip;
        return at < valid ? (unsigned)(bits >> shift) & DIGITS - 1 : DIGITS - 1;
    };

    Key key[ITEMS];
    unsigned rank[ITEMS];
#pragma unroll UNROLL
    for (int k = 0; k < ITEMS; ++k) key[k] = load_key(start + (place(k) < valid ? place(k) : valid - 1));
#pragma unroll UNROLL
    for (int k = 0; k < ITEMS; ++k) {
        const unsigned digit = digit_of(key[k], place(k));
        if constexpr (SERIAL) {
            rank[k] = counts[row][digit]++;
        } else {
            const unsigned same = same_digit(digit), below = __popc(same & (1u << lane) - 1);
            rank[k] = counts[row][digit] + below;
            __syncwarp();
            if (below == 0) counts[row][digit] += __popc(same);
            __syncwarp();
        }
    }
    __syncthreads();

    // Each thread has some digits: what the rows before have of them, how many there are, and where they begin.
    unsigned count[EACH], all = 0;
    Index before[EACH];
#pragma unroll UNROLL_DIGITS
    for (unsigned j = 0; j < EACH; ++j) {
        const unsigned digit = thread * EACH + j;
        unsigned sum = 0;
#pragma unroll
        for (unsigned r = 0; r < ROWS; ++r) {
            const unsigned own = counts[r][digit];
            counts[r][digit] = sum;
            sum += own;
        }
        all += count[j] = sum;
        before[j] = tile == 0 ? (Index)begins[digit] : 0;
        const Index tally = tile == 0 ? Tally<Index>::WITH_PRIOR | before[j] + sum : Tally<Index>::OWN | sum;
        tallies[(unsigned long long)tile * DIGITS + digit] = tally;
    }
    totals[padded<WARPS>(thread)] = all;
    __syncthreads();
    if (thread < LANES) scan_totals<WARPS>(totals, [](unsigned a, unsigned b) { return a + b; });
    __syncthreads();
    unsigned first = thread > 0 ? totals[padded<WARPS>(thread - 1)] : 0;
#pragma unroll UNROLL_DIGITS
    for (unsigned j = 0; j < EACH; ++j) {
        starts[thread * EACH + j] = first;
        first += count[j];
    }
    __syncthreads();

    // Into the tile's order, in shared memory: so neighbouring threads write to neighbouring places.
#pragma unroll UNROLL
    for (int k = 0; k < ITEMS; ++k) {
        const unsigned digit = digit_of(key[k], place(k));
        rank[k] += starts[digit] + counts[row][digit];
        ((Key *)bytes)[rank[k]] = key[k];
    }
#pragma unroll UNROLL_DIGITS
    for (unsigned j = 0; j < EACH; ++j) {
        const unsigned digit = thread * EACH + j;
        if (tile > 0) {
            before[j] = Tally<Index>::before(tallies, tile, digit);
            const Index tally = Tally<Index>::WITH_PRIOR | before[j] + count[j];
            tallies[(unsigned long long)tile * DIGITS + digit] = tally;
        }
        to[digit] = before[j] - starts[digit];
    }
    __syncthreads();
    Index target[ITEMS];
#pragma unroll UNROLL
    for (int k = 0; k < ITEMS; ++k) {
        const unsigned at = k * BLOCK + thread;
        const Key own = ((Key *)bytes)[at];
        target[k] = to[digit_of(own, at)] + at;
        if (at < valid) keys[target[k]] = own;
    }
    if constexpr (IS_SOMETHING<Value>) {
        __syncthreads();
#pragma unroll UNROLL
        for (int k = 0; k < ITEMS; ++k)
            ((Value *)bytes)[rank[k]] = load_value(start + (place(k) < valid ? place(k) : valid - 1));
        __syncthreads();
#pragma unroll UNROLL
        for (int k = 0; k < ITEMS; ++k) {
            const unsigned at = k * BLOCK + thread;
            if (at < valid) values[target[k]] = ((Value *)bytes)[at];
        }
    }
}

}  // namespace warpaint
