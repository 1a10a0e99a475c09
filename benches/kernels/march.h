// Sphere tracing of a signed distance field (Hart, 1996): a rippled ball over a plane.
#pragma once
#include "body.h"

BODY float distance_at(float x, float y, float z)
{
    float ball = sqrtf(x * x + y * y + z * z) - 1.0f + 0.05f * sinf(9.0f * x) * sinf(9.0f * y) * cosf(9.0f * z);
    float plane = y + 1.1f;
    return fminf(0.7f * ball, plane);
}

BODY float shade(int px, int py, int width)
{
    float dx = (2.0f * px - width) / width, dy = (width - 2.0f * py) / width, dz = 1.8f;
    float length = sqrtf(dx * dx + dy * dy + dz * dz);
    dx /= length, dy /= length, dz /= length;
    float t = 0.0f, x = 0.0f, y = 0.0f, z = -3.0f;
    int step = 0;
    for (; step < 96; step++) {
        float d = distance_at(x, y, z);
        if (d < 1e-3f * (1.0f + t) || t > 20.0f) break;
        t += d;
        x = t * dx, y = t * dy, z = t * dz - 3.0f;
    }
    if (t > 20.0f) return 0.0f;
    float h = 1e-3f, here = distance_at(x, y, z);
    float nx = distance_at(x + h, y, z) - here, ny = distance_at(x, y + h, z) - here, nz = distance_at(x, y, z + h) - here;
    float light = (0.5f * nx + 0.8f * ny - 0.33f * nz) / sqrtf(nx * nx + ny * ny + nz * nz + 1e-20f);
    return fmaxf(light, 0.0f) + 0.002f * step;
}
