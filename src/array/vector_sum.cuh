#ifndef WARPAINT_VECTOR_SUM
#define WARPAINT_VECTOR_SUM
namespace warpaint {

// A sum of vectors V, of which each component is collected in an A.
template <class V, class A> struct VectorSum {
    static constexpr int lanes = VectorTraits<V>::lanes;
    A at[lanes];

    VectorSum() = default;
    __device__ explicit VectorSum(int value)
    {
        for (int k = 0; k < lanes; ++k) at[k] = A(value);
    }
    __device__ explicit VectorSum(const V &v)
    {
        at[0] = A(v.x), at[1] = A(v.y);
        if constexpr (lanes > 2) at[2] = A(v.z);
        if constexpr (lanes > 3) at[3] = A(v.w);
    }
    __device__ explicit operator V() const
    {
        using T = ComponentOf<V>;
        V v;
        v.x = static_cast<T>(at[0]), v.y = static_cast<T>(at[1]);
        if constexpr (lanes > 2) v.z = static_cast<T>(at[2]);
        if constexpr (lanes > 3) v.w = static_cast<T>(at[3]);
        return v;
    }
    __device__ VectorSum operator+(const VectorSum &other) const
    {
        VectorSum sum;
        for (int k = 0; k < lanes; ++k) sum.at[k] = at[k] + other.at[k];
        return sum;
    }
};

}  // namespace warpaint
#endif
