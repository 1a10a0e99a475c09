// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), then Box and
// Muller's transform: four normal numbers from a counter.
#pragma once
#include "body.h"

BODY float4 normals(unsigned counter, unsigned key)
{
    unsigned x = counter, y = 0u, z = 0u, w = 0u, k0 = key, k1 = 0xdecafbadu;
    for (int round = 0; round < 10; round++) {
        unsigned long long a = 0xd2511f53ull * x, b = 0xcd9e8d57ull * z;
        x = (unsigned)(b >> 32) ^ y ^ k0, y = (unsigned)b;
        z = (unsigned)(a >> 32) ^ w ^ k1, w = (unsigned)a;
        k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
    }
    float scale = 1.0f / 16777216.0f;
    float r = sqrtf(-2.0f * logf(((x >> 8) + 1) * scale)), s = sqrtf(-2.0f * logf(((z >> 8) + 1) * scale));
    float p = 6.2831853f * ((y >> 8) * scale), q = 6.2831853f * ((w >> 8) * scale);
    return make_float4(r * cosf(p), r * sinf(p), s * cosf(q), s * sinf(q));
}
