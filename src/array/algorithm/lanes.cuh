// Values of any type between the lanes of a warp, and between blocks that run at the same time.
namespace warpaint {

constexpr unsigned LANES = 32, ALL_LANES = 0xffffffffu;

// A value as 32-bit words.
template <class T> struct Words {
    static constexpr int COUNT = (sizeof(T) + 3) / 4;
    // Of a large structure they are not in registers anyway.
    static constexpr int UNROLL = COUNT <= 16 ? COUNT : 1;
    unsigned at[COUNT];

    Words() = default;
    __device__ explicit Words(const T &value)
    {
        at[COUNT - 1] = 0;
        memcpy(at, &value, sizeof(T));
    }
    __device__ T value() const
    {
        T result;
        memcpy(&result, at, sizeof(T));
        return result;
    }
};

// The value of the lane `distance` below, or above; where there is none, the lane's own.
template <class T> __device__ T from_below(const T &value, unsigned distance)
{
    Words<T> words(value);
#pragma unroll Words<T>::UNROLL
    for (int k = 0; k < words.COUNT; ++k) words.at[k] = __shfl_up_sync(ALL_LANES, words.at[k], distance);
    return words.value();
}

template <class T> __device__ T from_above(const T &value, unsigned distance)
{
    Words<T> words(value);
#pragma unroll Words<T>::UNROLL
    for (int k = 0; k < words.COUNT; ++k) words.at[k] = __shfl_down_sync(ALL_LANES, words.at[k], distance);
    return words.value();
}

template <class T> __device__ T from_last(const T &value)
{
    Words<T> words(value);
#pragma unroll Words<T>::UNROLL
    for (int k = 0; k < words.COUNT; ++k) words.at[k] = __shfl_sync(ALL_LANES, words.at[k], LANES - 1);
    return words.value();
}

// Where one block leaves a value for others. Each 32-bit word travels with its flag in one 64-bit word, which arrives
// as a whole: so a value of any size needs no fence. Zero bytes mean that nothing is there yet.
template <class T> struct Mailbox {
    unsigned long long at[Words<T>::COUNT];

    __device__ void put(const T &value) volatile
    {
        const Words<T> words(value);
#pragma unroll Words<T>::UNROLL
        for (int k = 0; k < words.COUNT; ++k) at[k] = 1ull << 32 | words.at[k];
    }
    __device__ T wait() const volatile
    {
        Words<T> words;
        bool there;
        do {
            there = true;
#pragma unroll Words<T>::UNROLL
            for (int k = 0; k < words.COUNT; ++k) {
                const unsigned long long found = at[k];
                there &= found >> 32 != 0;
                words.at[k] = (unsigned)found;
            }
        } while (!there);
        return words.value();
    }
};

// The values of the first `count` lanes combined, in lane 0; in an order that depends on `count` alone.
template <class T, class Combine> __device__ T fold_lanes(T value, unsigned count, Combine combine)
{
    const unsigned lane = threadIdx.x % LANES;
#pragma unroll
    for (unsigned distance = 1; distance < LANES; distance *= 2) {
        const T above = from_above(value, distance);
        if (lane + distance < count) value = combine(value, above);
    }
    return value;
}

}  // namespace warpaint
