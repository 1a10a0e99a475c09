// The kernels of nbody.cu as plain C with OpenMP; prints one line a kernel: name, best of some runs in
// milliseconds, a checksum.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { float x, y, z, w; } float4;

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

#define BEST(runs, code)                                     \
    ({                                                       \
        double best = 1e30;                                  \
        for (int run = 0; run < runs; run++) {               \
            double start = omp_get_wtime();                  \
            code;                                            \
            double ms = (omp_get_wtime() - start) * 1e3;     \
            if (ms < best) best = ms;                        \
        }                                                    \
        best;                                                \
    })

int main(void)
{
    int n = 8192, big = 1 << 22, width = 512;
    float4 *bodies = malloc(n * sizeof *bodies), *accelerations = malloc(n * sizeof *accelerations);
    unsigned state = 1;
    float *flat = (float *)bodies;
    for (int i = 0; i < 4 * n; i++) {
        state = state * 1664525u + 1013904223u;
        flat[i] = (state >> 8) / 16777216.0f;
    }
    double ms = BEST(5, nbody(bodies, accelerations, n));
    double check = 0.0;
    for (int i = 0; i < n; i++) check += accelerations[i].x;
    printf("nbody %.4f %.6f\n", ms, check);

    float *x = malloc(big * sizeof *x), *y = malloc(big * sizeof *y);
    for (int i = 0; i < big; i++) x[i] = 1.0f, y[i] = 0.5f;
    ms = BEST(9, saxpy(y, x, 1e-3f, big));
    printf("saxpy %.4f %.6f\n", ms, (double)y[0]);

    float total = 0.0f;
    ms = BEST(9, total = sum(x, big));
    printf("sum %.4f %.6f\n", ms, (double)total);

    int *steps = malloc(width * width * sizeof *steps);
    ms = BEST(5, mandelbrot(steps, width, 1000));
    long count = 0;
    for (int i = 0; i < width * width; i++) count += steps[i];
    printf("mandelbrot %.4f %ld\n", ms, count);
    return 0;
}
