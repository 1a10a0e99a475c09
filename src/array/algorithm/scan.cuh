// A scan in one pass over memory, with any associative `combine`, which need not have a neutral element.
//
// After Merrill & Garland, "Single-pass parallel prefix scan with decoupled look-back" (2016): a block takes the next
// tile, scans it, publishes its total, and looks back at what was published of the tiles before. Theirs adds up totals
// from wherever it finds a complete prefix, so that the rounding of floating-point sums depends on timing. Here the
// order is fixed: the total of 32 tiles is published by the last of them, 32 such totals become one step of a chain of
// prefixes, and a tile's prefix is that of the chain, then the groups behind it, then the tiles behind those. All three
// levels are looked at side by side. A tile waits for earlier ones only, and these have been begun: tiles are taken
// from a counter.
namespace warpaint {

template <class T> struct LookBack {
    unsigned long long *counter;
    volatile Mailbox<T> *tiles, *groups, *prefixes;

    // `memory` is zero, and has room for the counter and three levels.
    __device__ LookBack(unsigned long long *memory, unsigned long long tile_count)
        : counter(memory), tiles((volatile Mailbox<T> *)(memory + 1)), groups(tiles + tile_count),
          prefixes(groups + (tile_count + LANES - 1) / LANES)
    {
    }

    // A warp's look at level 0, 1 or 2: what lies there before `tile`, to `part` where there is anything. `total` is
    // the tile's, and used at level 0.
    template <class Combine>
    __device__ void look(unsigned level, unsigned tile, const T &total, T *part, Combine combine) const
    {
        const unsigned lane = threadIdx.x % LANES;
        if (level == 2) {
            const unsigned step = tile / (LANES * LANES);
            if (step > 0 && lane == 0) *part = prefixes[step - 1].wait();
            return;
        }
        const unsigned at = level == 0 ? tile : tile / LANES, count = at % LANES;
        const volatile Mailbox<T> *const before = (level == 0 ? tiles : groups) + (at - count);
        T value = total;
        if (lane < count) value = before[lane].wait();
        value = fold_lanes(value, count, combine);
        if (lane != 0) return;
        if (count > 0) *part = value;
        if (level == 0 && count == LANES - 1) groups[tile / LANES].put(combine(value, total));
    }

    // What comes before `tile`, which is not the first, of the parts that its warps found.
    template <class Combine> __device__ static T prefix(unsigned tile, const T *parts, Combine combine)
    {
        const bool has_tiles = tile % LANES > 0, has_groups = tile / LANES % LANES > 0;
        if (tile < LANES * LANES) {
            if (!has_groups) return parts[0];
            return has_tiles ? combine(parts[1], parts[0]) : parts[1];
        }
        T prefix = parts[2];
        if (has_groups) prefix = combine(prefix, parts[1]);
        if (has_tiles) prefix = combine(prefix, parts[0]);
        return prefix;
    }
};

// The place of a thread's total, such that lanes which each read as many as there are warps use different banks.
template <int WARPS> __device__ unsigned padded(unsigned thread) { return thread + thread / WARPS; }

// Scans the totals of all threads, by one warp: what the others would do meanwhile is to wait. Gives each lane the
// total up to its last thread.
template <int WARPS, class T, class Combine> __device__ T scan_totals(T *totals, Combine combine)
{
    const unsigned lane = threadIdx.x, first = lane * WARPS;
    T sum[WARPS];
#pragma unroll
    for (int k = 0; k < WARPS; ++k) {
        const T &own = totals[padded<WARPS>(first + k)];
        sum[k] = k == 0 ? own : combine(sum[k - 1], own);
    }
    T total = sum[WARPS - 1];
#pragma unroll
    for (unsigned distance = 1; distance < LANES; distance *= 2) {
        const T below = from_below(total, distance);
        if (lane >= distance) total = combine(below, total);
    }
    const T before = from_below(total, 1);
#pragma unroll
    for (int k = 0; k < WARPS; ++k) totals[padded<WARPS>(first + k)] = lane > 0 ? combine(before, sum[k]) : sum[k];
    return total;
}

// Scans `n > 0` elements: `load(i)` gives one, in any order and maybe twice; `store(i, before, after)` gets what comes
// before it (which means nothing where `i` is 0) and the same with it, once all elements of its tile have been loaded.
// A thread's items are taken `UNROLL` at a time: all, to have them in registers.
template <int BLOCK, int ITEMS, int UNROLL, class T, class Index, class Combine, class Load, class Store>
__device__ void scan(unsigned long long *memory, Index n, Combine combine, Load load, Store store)
{
    constexpr unsigned TILE = BLOCK * ITEMS, WARPS = BLOCK / LANES;
    __shared__ alignas(T) unsigned char item_bytes[sizeof(T) * (TILE + 1)];
    __shared__ alignas(T) unsigned char total_bytes[sizeof(T) * (BLOCK + LANES)];
    __shared__ alignas(T) unsigned char part_bytes[sizeof(T) * 3];
    __shared__ unsigned taken;
    T *const items = (T *)item_bytes, *const totals = (T *)total_bytes, *const parts = (T *)part_bytes;
    const unsigned thread = threadIdx.x, warp = thread / LANES;
    const LookBack<T> look_back(memory, gridDim.x);
    if (thread == 0) taken = atomicAdd((unsigned *)look_back.counter, 1);
    __syncthreads();
    const unsigned tile = taken;
    const Index start = (Index)tile * TILE;

    // Neighbours are loaded by neighbouring threads, and scanned by the same. Behind the end the last one is repeated.
    T item[ITEMS];
#pragma unroll UNROLL
    for (int k = 0; k < ITEMS; ++k) {
        const Index i = start + k * BLOCK + thread;
        item[k] = load(i < n ? i : n - 1);
    }
#pragma unroll UNROLL
    for (int k = 0; k < ITEMS; ++k) items[k * BLOCK + thread] = item[k];
    __syncthreads();
#pragma unroll UNROLL
    for (int k = 0; k < ITEMS; ++k) {
        const T &own = items[thread * ITEMS + k];
        item[k] = k == 0 ? own : combine(item[k - 1], own);
    }
    totals[padded<WARPS>(thread)] = item[ITEMS - 1];
    __syncthreads();

    T total = item[ITEMS - 1];
    if (warp == 0) {
        total = scan_totals<WARPS>(totals, combine);
        if (thread == LANES - 1) look_back.tiles[tile].put(total);
        total = from_last(total);
    }
    for (unsigned level = warp; level < 3; level += WARPS)
        look_back.look(level, tile, total, parts + level, combine);
    __syncthreads();
    T before = totals[padded<WARPS>(thread > 0 ? thread - 1 : 0)];
    if (tile > 0) {
        const T prefix = LookBack<T>::prefix(tile, parts, combine);
        if (thread == 0 && tile % (LANES * LANES) == LANES * LANES - 1)
            look_back.prefixes[tile / (LANES * LANES)].put(combine(prefix, total));
        before = thread > 0 ? combine(prefix, before) : prefix;
    }
    const bool first = tile == 0 && thread == 0;
    if (thread == 0) items[0] = first ? item[0] : before;
#pragma unroll UNROLL
    for (int k = 0; k < ITEMS; ++k) items[thread * ITEMS + k + 1] = first ? item[k] : combine(before, item[k]);
    __syncthreads();
#pragma unroll UNROLL
    for (int k = 0; k < ITEMS; ++k) {
        const unsigned place = k * BLOCK + thread;
        if (start + place < n) store(start + place, items[place], items[place + 1]);
    }
}

// An element of a scan that begins anew at heads. (A `bool` would leave bytes without meaning, which are moved one by
// one.)
template <class T> struct Segmented {
    T value;
    unsigned head;
};

template <class T, class Combine> struct ByHeads {
    __device__ Segmented<T> operator()(const Segmented<T> &a, const Segmented<T> &b) const
    {
        return b.head ? b : Segmented<T>{Combine()(a.value, b.value), a.head};
    }
};

}  // namespace warpaint
