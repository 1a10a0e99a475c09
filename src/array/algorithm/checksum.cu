// A number that tells memory with other bits apart, whatever is in it: the sum of a hash of each eight bytes and their
// place. It does not depend on the order in which they are added. The hash is the last step of MurmurHash3 (Appleby,
// 2011).
namespace warpaint::checksum {

__device__ inline unsigned long long mixed(unsigned long long x)
{
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

// Places are apart by an odd number with bits everywhere: 2 to the 64 over the golden ratio.
__device__ inline unsigned long long placed(unsigned long long word, unsigned long long place)
{
    return mixed(word + (place + 1) * 0x9e3779b97f4a7c15ULL);
}

// Adds the checksum of `bytes` bytes, the first of which is at `first` of all that have one sum.
extern "C" __global__ void add_checksum(const unsigned char *data, unsigned long long bytes, unsigned long long first,
                                        unsigned long long *sum)
{
    const unsigned long long *words = (const unsigned long long *)data;
    const unsigned long long count = bytes / 8, stride = (unsigned long long)gridDim.x * blockDim.x;
    const unsigned long long thread = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long own = 0;
    for (unsigned long long i = thread; i < count; i += stride) own += placed(words[i], first / 8 + i);
    if (thread == 0 && bytes % 8 != 0) {
        unsigned long long rest = 0;
        for (unsigned long long i = 8 * count; i < bytes; ++i) rest = rest << 8 | data[i];
        own += placed(rest, first / 8 + count);
    }
    for (int distance = 16; distance > 0; distance /= 2) own += __shfl_down_sync(0xffffffff, own, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

}
