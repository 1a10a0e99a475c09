// A digest a thread.
#include "md5.h"

extern "C" __global__ void md5(unsigned *digests, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) digests[i] = folded_md5(i, 0x61626364u);
}
