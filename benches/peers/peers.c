// The kernels of ../kernels as plain C with OpenMP; prints one line a kernel: name, best of some runs in
// milliseconds, time on the processors, a checksum.
#include <math.h>
#include <string.h>

#include "../kernels/curl.h"
#include "../kernels/march.h"
#include "../kernels/philox.h"
#include "measure.h"
#include "warps.h"

static void nbody(const float4 *bodies, float4 *accelerations, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float4 me = bodies[i];
        float x = 0.0f, y = 0.0f, z = 0.0f;
        for (int j = 0; j < n; j++) {
            float4 other = bodies[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
            float weight = other.w * inverse * inverse * inverse;
            x += dx * weight;
            y += dy * weight;
            z += dz * weight;
        }
        accelerations[i] = (float4){x, y, z, 0.0f};
    }
}

static void saxpy(float *y, const float *x, float a, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

static void mandelbrot(int *steps, int width, int limit)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int py = 0; py < width; py++)
        for (int px = 0; px < width; px++) {
            double cx = -2.0 + 2.5 * px / width, cy = -1.25 + 2.5 * py / width, x = 0.0, y = 0.0;
            int step = 0;
            while (step < limit && x * x + y * y < 4.0) {
                double next = x * x - y * y + cx;
                y = 2.0 * x * y + cy;
                x = next;
                step++;
            }
            steps[py * width + px] = step;
        }
}

static float sum(const float *values, int n)
{
    float s = 0.0f;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++) s += values[i];
    return s;
}

static void jacobi(float *next, const float *now, const float *right, int width, int height)
{
#pragma omp parallel for
    for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
            int i = y * width + x;
            next[i] = 0.25f * (now[i - 1] + now[i + 1] + now[i - width] + now[i + width] - right[i]);
        }
}

static void sgemm(const float *a, const float *b, float *c, int n)
{
#pragma omp parallel for
    for (int row = 0; row < n; row++) {
        memset(c + row * n, 0, n * sizeof *c);
        for (int k = 0; k < n; k++)
            for (int column = 0; column < n; column++) c[row * n + column] += a[row * n + k] * b[k * n + column];
    }
}

static void curl(float4 *position, float dt, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) position[i] = carried(position[i], dt);
}

static void march(float *picture, int width)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int y = 0; y < width; y++)
        for (int x = 0; x < width; x++) picture[y * width + x] = shade(x, y, width);
}

static void philox(float4 *numbers, unsigned key, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) numbers[i] = normals(i, key);
}

int main(int count, char **values)
{
    argument_count = count, argument_values = values;
    int n = 8192, big = 1 << 22, particles = 1 << 18, million = 1 << 20;

    if (wanted("nbody")) {
        float4 *bodies = (float4 *)randoms(4 * n), *accelerations = malloc(n * sizeof *accelerations);
        double ms = BEST(5, nbody(bodies, accelerations, n));
        show("nbody", ms, squares((float *)accelerations, 4 * n));
    }
    if (wanted("saxpy")) {
        float *x = randoms(big), *y = randoms(big);
        double ms = BEST(40, saxpy(y, x, 1e-3f, big));
        show("saxpy", ms, squares(y, big));
    }
    if (wanted("sum")) {
        float *x = randoms(big), total = 0.0f;
        double ms = BEST(40, total = sum(x, big));
        show("sum", ms, total);
    }
    if (wanted("mandelbrot")) {
        int *steps = malloc(512 * 512 * sizeof *steps);
        double ms = BEST(5, mandelbrot(steps, 512, 1000));
        double steps_total = 0.0;
        for (int i = 0; i < 512 * 512; i++) steps_total += steps[i];
        show("mandelbrot", ms, steps_total);
    }
    if (wanted("jacobi")) {
        float *now = randoms(million), *right = randoms(million), *next = calloc(million, sizeof *next);
        double ms = BEST(60, jacobi(next, now, right, 1024, 1024));
        show("jacobi", ms, squares(next, million));
    }
    if (wanted("sgemm") || wanted("sgemm_tile")) {
        int side = 512;
        float *a = randoms(side * side), *b = randoms(side * side), *c = malloc(side * side * sizeof *c);
        double ms = BEST(15, sgemm(a, b, c, side)), check = squares(c, side * side);
        if (wanted("sgemm")) show("sgemm", ms, check);
        if (wanted("sgemm_tile")) show("sgemm_tile", ms, check);
    }
    if (wanted("curl")) {
        float4 *position = (float4 *)randoms(4 * particles);
        double ms = BEST(15, curl(position, 1e-2f, particles));
        show("curl", ms, squares((float *)position, 4 * particles));
    }
    if (wanted("march")) {
        float *picture = malloc(256 * 256 * sizeof *picture);
        double ms = BEST(10, march(picture, 256));
        show("march", ms, squares(picture, 256 * 256));
    }
    if (wanted("philox")) {
        float4 *numbers = malloc(million * sizeof *numbers);
        double ms = BEST(10, philox(numbers, 7u, million));
        show("philox", ms, squares((float *)numbers, 4 * million));
    }
    warps();
    return 0;
}
