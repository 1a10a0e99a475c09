// The peers of the kernels whose threads wait for each other or share memory, and of those that stream it.
#pragma once
#include <math.h>
#include <string.h>

#include "../kernels/md5.h"
#include "measure.h"

static float jacobi_tile(float *next, const float *now, const float *right, int width, int height)
{
    float change = 0.0f;
#pragma omp parallel for reduction(+ : change)
    for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
            int i = y * width + x;
            float value = 0.25f * (now[i - 1] + now[i + 1] + now[i - width] + now[i + width] - right[i]);
            next[i] = value;
            change += fabsf(value - now[i]);
        }
    return change;
}

static void scan(float *out, const float *in, int n)
{
#pragma omp parallel for
    for (int block = 0; block < n; block += 512) {
        float sum = 0.0f;
        for (int i = block; i < block + 512; i++) out[i] = sum += in[i];
    }
}

static void layernorm(float *out, const float *in, const float *weight, const float *bias, int rows)
{
    const int width = 768;
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        const float *x = in + row * width;
        float mean = 0.0f, variance = 0.0f;
        for (int i = 0; i < width; i++) mean += x[i];
        mean /= width;
        for (int i = 0; i < width; i++) variance += (x[i] - mean) * (x[i] - mean);
        float scale = 1.0f / sqrtf(variance / width + 1e-5f);
        for (int i = 0; i < width; i++) out[row * width + i] = (x[i] - mean) * scale * weight[i] + bias[i];
    }
}

static void softmax(float *out, const float *in, int rows)
{
    const int width = 1024;
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        const float *x = in + row * width;
        float *y = out + row * width, most = -INFINITY, sum = 0.0f;
        for (int i = 0; i < width; i++)
            if (x[i] > most) most = x[i];
        for (int i = 0; i < width; i++) {
            y[i] = expf(x[i] - most);
            sum += y[i];
        }
        for (int i = 0; i < width; i++) y[i] /= sum;
    }
}

static void md5(unsigned *digests, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) digests[i] = folded_md5(i, 0x61626364u);
}

static void histogram(const unsigned *words, unsigned *counts, int n)
{
    memset(counts, 0, 256 * sizeof *counts);
#pragma omp parallel for reduction(+ : counts[ : 256])
    for (int i = 0; i < n; i++) {
        unsigned word = words[i];
        counts[word & 255]++;
        counts[word >> 8 & 255]++;
        counts[word >> 16 & 255]++;
        counts[word >> 24]++;
    }
}

static void stencil(float *next, const float *now, int side)
{
    int plane = side * side;
#pragma omp parallel for
    for (int z = 1; z < side - 1; z++)
        for (int y = 1; y < side - 1; y++)
            for (int x = 1; x < side - 1; x++) {
                int i = z * plane + y * side + x;
                next[i] = 0.4f * now[i] + 0.1f * (now[i - plane] + now[i + plane] + now[i - 1] + now[i + 1]
                                                  + now[i - side] + now[i + side]);
            }
}

static void copy(float *to, const float *from, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) to[i] = from[i];
}

// Numbers of 32 bits, none of them like the one before.
static unsigned *words(int count)
{
    unsigned *values = malloc(count * sizeof *values), state = 1;
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = state ^ state >> 16;
    }
    return values;
}

static double weighted(const unsigned *values, int count)
{
    double total = 0.0;
    for (int i = 0; i < count; i++) total += values[i] * (double)(i % 251 + 1);
    return total;
}

static void warps(void)
{
    int million = 1 << 20, big = 1 << 22;
    if (wanted("jacobi_tile")) {
        int width = 1026, count = width * width;
        float *now = randoms(count), *right = randoms(count), *next = calloc(count, sizeof *next), change;
        double ms = BEST(60, change = jacobi_tile(next, now, right, width, width));
        show("jacobi_tile", ms, squares(next, count) + change);
    }
    if (wanted("scan")) {
        float *in = randoms(million), *out = malloc(million * sizeof *out);
        double ms = BEST(60, scan(out, in, million));
        show("scan", ms, squares(out, million));
    }
    if (wanted("layernorm")) {
        int rows = 4096, count = rows * 768;
        float *in = randoms(count), *out = malloc(count * sizeof *out), *weight = randoms(768), *bias = randoms(768);
        double ms = BEST(20, layernorm(out, in, weight, bias, rows));
        show("layernorm", ms, squares(out, count));
    }
    if (wanted("softmax") || wanted("softmax_rows")) {
        float *in = randoms(big), *out = malloc(big * sizeof *out);
        double ms = BEST(20, softmax(out, in, big / 1024));
        double check = squares(out, big);
        if (wanted("softmax")) show("softmax", ms, check);
        if (wanted("softmax_rows")) show("softmax_rows", ms, check);
    }
    if (wanted("md5")) {
        unsigned *digests = malloc(million * sizeof *digests);
        double ms = BEST(20, md5(digests, million));
        show("md5", ms, weighted(digests, million));
    }
    if (wanted("histogram")) {
        unsigned *in = words(big), counts[256];
        double ms = BEST(20, histogram(in, counts, big));
        show("histogram", ms, weighted(counts, 256));
    }
    if (wanted("stencil")) {
        int side = 192, count = side * side * side;
        float *now = randoms(count), *next = calloc(count, sizeof *next);
        double ms = BEST(20, stencil(next, now, side));
        show("stencil", ms, squares(next, count));
    }
    if (wanted("copy")) {
        float *from = randoms(big), *to = malloc(big * sizeof *to);
        double ms = BEST(40, copy(to, from, big));
        show("copy", ms, squares(to, big));
    }
}
