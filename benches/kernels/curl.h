// Curl noise: a velocity without divergence, the curl of three noise potentials (Bridson, Hourihan, Nordenstam:
// "Curl-Noise for Procedural Fluid Flow", 2007).
#pragma once
#include "body.h"

// A number in [-1, 1) at a lattice point.
BODY float lattice(int x, int y, int z, unsigned seed)
{
    unsigned h = (unsigned)x * 0x8da6b343u ^ (unsigned)y * 0xd8163841u ^ (unsigned)z * 0xcb1ab31fu ^ seed;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return (float)(int)(h >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

// The gradient of value noise, trilinear in quintic weights.
BODY float3 gradient(float3 p, unsigned seed)
{
    float fx = floorf(p.x), fy = floorf(p.y), fz = floorf(p.z);
    int ix = (int)fx, iy = (int)fy, iz = (int)fz;
    float x = p.x - fx, y = p.y - fy, z = p.z - fz;
    float u = x * x * x * (x * (x * 6.0f - 15.0f) + 10.0f), du = 30.0f * x * x * (x * (x - 2.0f) + 1.0f);
    float v = y * y * y * (y * (y * 6.0f - 15.0f) + 10.0f), dv = 30.0f * y * y * (y * (y - 2.0f) + 1.0f);
    float w = z * z * z * (z * (z * 6.0f - 15.0f) + 10.0f), dw = 30.0f * z * z * (z * (z - 2.0f) + 1.0f);
    float a = lattice(ix, iy, iz, seed), b = lattice(ix + 1, iy, iz, seed);
    float c = lattice(ix, iy + 1, iz, seed), d = lattice(ix + 1, iy + 1, iz, seed);
    float e = lattice(ix, iy, iz + 1, seed), f = lattice(ix + 1, iy, iz + 1, seed);
    float g = lattice(ix, iy + 1, iz + 1, seed), h = lattice(ix + 1, iy + 1, iz + 1, seed);
    float kx = b - a, ky = c - a, kz = e - a;
    float kxy = a - b - c + d, kyz = a - c - e + g, kzx = a - b - e + f, kxyz = -a + b + c - d + e - f - g + h;
    return make_float3(du * (kx + kxy * v + kzx * w + kxyz * v * w), dv * (ky + kxy * u + kyz * w + kxyz * u * w),
                       dw * (kz + kzx * u + kyz * v + kxyz * u * v));
}

BODY float4 carried(float4 at, float dt)
{
    float3 p = make_float3(at.x, at.y, at.z);
    float3 a = gradient(p, 1u), b = gradient(p, 2u), c = gradient(p, 3u);
    return make_float4(at.x + dt * (c.y - b.z), at.y + dt * (a.z - c.x), at.z + dt * (b.x - a.y), at.w);
}
