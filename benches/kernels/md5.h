// MD5 of a message of eight bytes.
#pragma once
#include "body.h"

#define F(x, y, z) (((x) & (y)) | (~(x) & (z)))
#define G(x, y, z) (((x) & (z)) | ((y) & ~(z)))
#define H(x, y, z) ((x) ^ (y) ^ (z))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))
#define STEP(f, a, b, c, d, word, constant, by)                         \
    a += f(b, c, d) + (word) + constant;                                \
    a = ((a << by) | (a >> (32 - by))) + b;
#define FOUR(f, w0, w1, w2, w3, k0, k1, k2, k3, s0, s1, s2, s3)         \
    STEP(f, a, b, c, d, w0, k0, s0)                                     \
    STEP(f, d, a, b, c, w1, k1, s1)                                     \
    STEP(f, c, d, a, b, w2, k2, s2)                                     \
    STEP(f, b, c, d, a, w3, k3, s3)

// Its words, folded into one.
BODY unsigned folded_md5(unsigned low, unsigned high)
{
    const unsigned end = 0x80u, bits = 64u;
    unsigned a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
    FOUR(F, low, high, end, 0, 0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu, 7, 12, 17, 22)
    FOUR(F, 0, 0, 0, 0, 0xf57c0fafu, 0x4787c62au, 0xa8304613u, 0xfd469501u, 7, 12, 17, 22)
    FOUR(F, 0, 0, 0, 0, 0x698098d8u, 0x8b44f7afu, 0xffff5bb1u, 0x895cd7beu, 7, 12, 17, 22)
    FOUR(F, 0, 0, bits, 0, 0x6b901122u, 0xfd987193u, 0xa679438eu, 0x49b40821u, 7, 12, 17, 22)
    FOUR(G, high, 0, 0, low, 0xf61e2562u, 0xc040b340u, 0x265e5a51u, 0xe9b6c7aau, 5, 9, 14, 20)
    FOUR(G, 0, 0, 0, 0, 0xd62f105du, 0x02441453u, 0xd8a1e681u, 0xe7d3fbc8u, 5, 9, 14, 20)
    FOUR(G, 0, bits, 0, 0, 0x21e1cde6u, 0xc33707d6u, 0xf4d50d87u, 0x455a14edu, 5, 9, 14, 20)
    FOUR(G, 0, end, 0, 0, 0xa9e3e905u, 0xfcefa3f8u, 0x676f02d9u, 0x8d2a4c8au, 5, 9, 14, 20)
    FOUR(H, 0, 0, 0, bits, 0xfffa3942u, 0x8771f681u, 0x6d9d6122u, 0xfde5380cu, 4, 11, 16, 23)
    FOUR(H, high, 0, 0, 0, 0xa4beea44u, 0x4bdecfa9u, 0xf6bb4b60u, 0xbebfbc70u, 4, 11, 16, 23)
    FOUR(H, 0, low, 0, 0, 0x289b7ec6u, 0xeaa127fau, 0xd4ef3085u, 0x04881d05u, 4, 11, 16, 23)
    FOUR(H, 0, 0, 0, end, 0xd9d4d039u, 0xe6db99e5u, 0x1fa27cf8u, 0xc4ac5665u, 4, 11, 16, 23)
    FOUR(I, low, 0, bits, 0, 0xf4292244u, 0x432aff97u, 0xab9423a7u, 0xfc93a039u, 6, 10, 15, 21)
    FOUR(I, 0, 0, 0, high, 0x655b59c3u, 0x8f0ccc92u, 0xffeff47du, 0x85845dd1u, 6, 10, 15, 21)
    FOUR(I, 0, 0, 0, 0, 0x6fa87e4fu, 0xfe2ce6e0u, 0xa3014314u, 0x4e0811a1u, 6, 10, 15, 21)
    FOUR(I, 0, 0, end, 0, 0xf7537e82u, 0xbd3af235u, 0x2ad7d2bbu, 0xeb86d391u, 6, 10, 15, 21)
    return (a + 0x67452301u) ^ (b + 0xefcdab89u) ^ (c + 0x98badcfeu) ^ (d + 0x10325476u);
}

#undef F
#undef G
#undef H
#undef I
