// A stable sort of short rows: a key's place is the number of keys before it, found by a look at all of its row.
namespace warpaint {

// The place of the key `i` in its row, which has `length` keys from `first`. All ones as `flip` turn the order round.
template <class Key, class Index>
__device__ Index rank(const Key *keys, Index first, Index length, Index i, unsigned long long flip)
{
    using Bits = typename BitsOf<sizeof(Key)>::Type;
    const Bits own = ordered(keys[i]) ^ (Bits)flip;
    Index rank = 0;
    for (Index j = first; j < first + length; ++j) {
        const Bits other = ordered(keys[j]) ^ (Bits)flip;
        rank += other < own || (other == own && j < i);
    }
    return rank;
}

}  // namespace warpaint
