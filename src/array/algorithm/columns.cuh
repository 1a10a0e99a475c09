// Scans of columns side by side, in one pass over memory, with any associative `combine`, which need not have a neutral
// element.
//
// A block takes tiles of a few columns: neighbouring threads have neighbouring columns, and of a tile's rows each
// thread has some that follow each other. What comes before a tile is put together in a fixed order, so that
// floating-point sums have the same bits each time: the totals of 8 tiles, of 8 such groups, and of all that is before.
// Where there are many columns, a block goes down its own; where there are few, each tile has a block of its own, and
// the totals are left for others to find (as in scan.cuh).
namespace warpaint {

constexpr unsigned FAN = 8;

// What comes before a tile of a column: before its group of groups, its group and itself. Where a part begins with the
// tile, it means nothing.
template <class T> struct Before {
    T steps, groups, tiles;

    // All of it; `tile` is not the first.
    template <class Index, class Combine> __device__ T all(Index tile, Combine combine) const
    {
        const bool has_groups = tile / FAN % FAN > 0, has_tiles = tile % FAN > 0;
        if (tile < FAN * FAN) return !has_groups ? tiles : has_tiles ? combine(groups, tiles) : groups;
        T all = steps;
        if (has_groups) all = combine(all, groups);
        if (has_tiles) all = combine(all, tiles);
        return all;
    }

    // Goes on to the next tile.
    template <class Index, class Combine> __device__ void pass(Index tile, const T &total, Combine combine)
    {
        const unsigned group = tile / FAN % FAN;
        tiles = tile % FAN > 0 ? combine(tiles, total) : total;
        if (tile % FAN < FAN - 1) return;
        groups = group > 0 ? combine(groups, tiles) : tiles;
        if (group < FAN - 1) return;
        steps = tile >= FAN * FAN ? combine(steps, groups) : groups;
    }
};

// `count > 0` values, every `WIDTH`th, put together.
template <unsigned WIDTH, class T, class Combine> __device__ T fold(const T *values, unsigned count, Combine combine)
{
    T all = values[0];
    for (unsigned q = 1; q < count; ++q) all = combine(all, values[q * WIDTH]);
    return all;
}

// Where the blocks of a column leave their totals for each other: of tiles, of groups, and of all before.
template <class T, class Index> struct Board {
    unsigned *counter;
    volatile Mailbox<T> *tiles, *groups, *steps;
    Index pitch;

    // `memory` is zero, and has room for the counter and three levels of `pitch` columns.
    __device__ Board(unsigned long long *memory, Index row_tiles, Index pitch)
        : counter((unsigned *)memory), tiles((volatile Mailbox<T> *)(memory + 1)),
          groups(tiles + (unsigned long long)row_tiles * pitch),
          steps(groups + (unsigned long long)((row_tiles + FAN - 1) / FAN) * pitch), pitch(pitch)
    {
    }

    __device__ volatile Mailbox<T> &at(volatile Mailbox<T> *level, Index number, Index column) const
    {
        return level[(unsigned long long)number * pitch + column];
    }

    // Leaves `count` totals of a level from `first` on in `found`, every `WIDTH`th, with the help of `PARTS` threads.
    template <unsigned WIDTH, unsigned PARTS>
    __device__ void gather(volatile Mailbox<T> *level, Index first, unsigned count, Index column, T *found) const
    {
        for (unsigned q = threadIdx.x / WIDTH; q < count; q += PARTS) {
            found[q * WIDTH] = at(level, first + q, column).wait();
        }
        if (PARTS > 1) __syncthreads();
    }

    // What comes before `tile`, whose total is `total`, for the last of a column's threads. A group's total is left
    // before those ahead of it are there: only what comes before a group of groups goes from one to the next.
    template <unsigned WIDTH, unsigned PARTS, class Combine>
    __device__ Before<T> look_back(Index tile, Index column, const T &total, T *found, Combine combine) const
    {
        const Index group = tile / FAN, step = group / FAN;
        const unsigned earlier = tile % FAN, earlier_groups = group % FAN;
        const bool last = threadIdx.x / WIDTH == PARTS - 1;
        T *const found_groups = found + FAN * WIDTH;
        Before<T> before;
        if (last) at(tiles, tile, column).put(total);
        gather<WIDTH, PARTS>(tiles, tile - earlier, earlier, column, found);
        if (last && earlier > 0) before.tiles = fold<WIDTH>(found, earlier, combine);
        if (last && earlier == FAN - 1) at(groups, group, column).put(combine(before.tiles, total));
        gather<WIDTH, PARTS>(groups, group - earlier_groups, earlier_groups, column, found_groups);
        if (last && earlier_groups > 0) before.groups = fold<WIDTH>(found_groups, earlier_groups, combine);
        if (last && step > 0) before.steps = at(steps, step - 1, column).wait();
        return before;
    }

    // Leaves what has ended with `tile`.
    __device__ void put(Index tile, Index column, const Before<T> &after) const
    {
        if (tile % (FAN * FAN) == FAN * FAN - 1) at(steps, tile / (FAN * FAN), column).put(after.steps);
    }
};

// In which order threads read or write a tile: each its own elements, or neighbours across columns, or along them.
enum Way { OWN, ACROSS, ALONG };

// A tile's elements in shared memory, with a row of what comes before.
template <unsigned WIDTH, unsigned ROWS, class T> struct Tile {
    // Neighbours along a column lie in different banks, too.
    static constexpr unsigned PITCH = WIDTH < LANES ? WIDTH : WIDTH + 1, COUNT = PITCH * (ROWS + 1);
    T *elements;

    __device__ T &at(unsigned row, unsigned column) const { return elements[row * PITCH + column]; }
    template <Way WAY> __device__ static unsigned row(unsigned e) { return WAY == ALONG ? e % ROWS : e / WIDTH; }
    template <Way WAY> __device__ static unsigned column(unsigned e) { return WAY == ALONG ? e / ROWS : e % WIDTH; }
};

// Scans `columns > 0` columns of `rows > 0` elements: `load(row, column)` gives one, maybe twice; `store(row, column,
// before, after)` gets what comes before it (which means nothing in the first row) and the same with it, once all
// elements of its tile have been loaded. A thread's items are taken `UNROLL` at a time.
template <int WIDTH, int PARTS, int ITEMS, int UNROLL, Way LOAD, Way STORE, bool LOOK_BACK, class T, class Index,
          class Combine, class Load, class Store>
__device__ void scan_columns(unsigned long long *memory, Index rows, Index columns, Combine combine, Load load,
                             Store store)
{
    constexpr unsigned BLOCK = WIDTH * PARTS, ROWS = PARTS * ITEMS;
    constexpr bool STAGED = LOAD != OWN || STORE != OWN;
    using Staged = Tile<WIDTH, ROWS, T>;
    __shared__ alignas(T) unsigned char staged_bytes[STAGED ? sizeof(T) * Staged::COUNT : 1];
    __shared__ alignas(T) unsigned char total_bytes[sizeof(T) * BLOCK];
    __shared__ alignas(T) unsigned char prefix_bytes[sizeof(T) * WIDTH];
    __shared__ alignas(T) unsigned char found_bytes[LOOK_BACK ? sizeof(T) * WIDTH * 2 * FAN : 1];
    __shared__ unsigned taken;
    const Staged staged{(T *)staged_bytes};
    T *const totals = (T *)total_bytes, *const prefixes = (T *)prefix_bytes;
    const unsigned thread = threadIdx.x, column = thread % WIDTH, part = thread / WIDTH;
    T *const found = (T *)found_bytes + column;
    const Index column_tiles = (columns - 1) / WIDTH + 1, row_tiles = (rows - 1) / ROWS + 1;
    const Board<T, Index> board(memory, row_tiles, column_tiles * WIDTH);

    // Tiles are taken in order, so that those before have been begun.
    if (LOOK_BACK && thread == 0) taken = atomicAdd(board.counter, 1);
    if (LOOK_BACK) __syncthreads();
    const Index ticket = LOOK_BACK ? taken : blockIdx.x, left = ticket % column_tiles * WIDTH, own = left + column;
    const Index first = ticket / column_tiles, last = LOOK_BACK ? first : row_tiles - 1;
    // Behind the ends the last ones are repeated.
    const auto load_near = [&](const Index row, const Index column) {
        return load(row < rows ? row : rows - 1, column < columns ? column : columns - 1);
    };

    Before<T> carry;
    for (Index tile = first; tile <= last; ++tile) {
        const Index top = tile * ROWS, own_top = top + part * ITEMS;
        T item[ITEMS];
        if (LOAD == OWN) {
#pragma unroll UNROLL
            for (int k = 0; k < ITEMS; ++k) item[k] = load_near(own_top + k, own);
        } else {
#pragma unroll UNROLL
            for (int k = 0; k < ITEMS; ++k) {
                const unsigned e = k * BLOCK + thread;
                const unsigned r = Staged::template row<LOAD>(e), c = Staged::template column<LOAD>(e);
                staged.at(r, c) = load_near(top + r, left + c);
            }
            __syncthreads();
#pragma unroll UNROLL
            for (int k = 0; k < ITEMS; ++k) item[k] = staged.at(part * ITEMS + k, column);
        }
#pragma unroll UNROLL
        for (int k = 1; k < ITEMS; ++k) item[k] = combine(item[k - 1], item[k]);

        T total = item[ITEMS - 1];
        if (PARTS > 1) {
            totals[thread] = total;
            __syncthreads();
#pragma unroll
            for (unsigned distance = WIDTH; distance < BLOCK; distance *= 2) {
                const T below = totals[thread >= distance ? thread - distance : thread];
                __syncthreads();
                if (thread >= distance) totals[thread] = total = combine(below, total);
                __syncthreads();
            }
        }
        // The last part has the tile's total.
        if (LOOK_BACK) carry = board.template look_back<WIDTH, PARTS>(tile, own, total, found, combine);
        T prefix = total;
        if (part == PARTS - 1) {
            if (tile > 0) prefix = carry.all(tile, combine);
            prefixes[column] = prefix;
            carry.pass(tile, total, combine);
            if (LOOK_BACK) board.put(tile, own, carry);
        }
        if (PARTS > 1 || STAGED) __syncthreads();
        if (PARTS > 1) prefix = prefixes[column];
        T before = prefix;
        if (part > 0) {
            before = totals[thread - WIDTH];
            if (tile > 0) before = combine(prefix, before);
        }
        if (tile > 0 || part > 0) {
#pragma unroll UNROLL
            for (int k = 0; k < ITEMS; ++k) item[k] = combine(before, item[k]);
        }

        if (STORE == OWN) {
#pragma unroll UNROLL
            for (int k = 0; k < ITEMS; ++k) {
                if (own_top + k < rows && own < columns) store(own_top + k, own, k > 0 ? item[k - 1] : before, item[k]);
            }
        } else {
            if (part == 0) staged.at(0, column) = prefix;
#pragma unroll UNROLL
            for (int k = 0; k < ITEMS; ++k) staged.at(part * ITEMS + k + 1, column) = item[k];
            __syncthreads();
#pragma unroll UNROLL
            for (int k = 0; k < ITEMS; ++k) {
                const unsigned e = k * BLOCK + thread;
                const unsigned r = Staged::template row<STORE>(e), c = Staged::template column<STORE>(e);
                if (top + r >= rows || left + c >= columns) continue;
                store(top + r, left + c, staged.at(r, c), staged.at(r + 1, c));
            }
        }
        if (!LOOK_BACK && (PARTS > 1 || STAGED)) __syncthreads();
    }
}

}  // namespace warpaint
