// The order of keys of any type.
namespace warpaint {

template <int BYTES> struct BitsOf;
template <> struct BitsOf<1> { using Type = unsigned char; };
template <> struct BitsOf<2> { using Type = unsigned short; };
template <> struct BitsOf<4> { using Type = unsigned; };
template <> struct BitsOf<8> { using Type = unsigned long long; };

// Bits that compare as the keys do. 0.0 and -0.0 are equal, and so are all NaN, which come last.
template <class Key> __device__ typename BitsOf<sizeof(Key)>::Type ordered(const Key &key)
{
    using Bits = typename BitsOf<sizeof(Key)>::Type;
    constexpr Bits SIGN = (Bits)(Bits(1) << (8 * sizeof(Key) - 1));
    Bits bits;
    memcpy(&bits, &key, sizeof(Key));
    if constexpr (Traits<Key>::integer) {
        return Key(-1) < Key(0) ? bits ^ SIGN : bits;
    } else {
        if (is_nan(key)) return (Bits)~Bits(0);
        if (key == Key(0.0f)) return SIGN;
        return bits & SIGN ? ~bits : bits | SIGN;
    }
}

}  // namespace warpaint
