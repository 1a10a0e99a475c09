// How the peers are timed, what they compute from, and how it is told.
#pragma once
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// What the last kernel took of the processors, shared out among all threads, in milliseconds a run.
static double busy;

#define BEST(runs, code)                                                             \
    ({                                                                               \
        double best = 1e30;                                                          \
        clock_t before = clock();                                                    \
        for (int run = 0; run < runs; run++) {                                       \
            double start = omp_get_wtime();                                          \
            code;                                                                    \
            double ms = (omp_get_wtime() - start) * 1e3;                             \
            if (ms < best) best = ms;                                                \
        }                                                                            \
        busy = (clock() - before) * 1e3 / CLOCKS_PER_SEC / runs / omp_get_max_threads(); \
        best;                                                                        \
    })

// Numbers in [0, 1), the same as the kernels get.
static float *randoms(int count)
{
    float *values = malloc(count * sizeof *values);
    unsigned state = 1;
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = (state >> 8) / 16777216.0f;
    }
    return values;
}

static double squares(const float *values, int count)
{
    double total = 0.0;
    for (int i = 0; i < count; i++) total += (double)values[i] * values[i];
    return total;
}

static void show(const char *name, double ms, double check)
{
    printf("%s %.4f %.4f %.17g\n", name, ms, busy, check);
}

// Whether this kernel is to run: all do unless some are named.
static int argument_count;
static char **argument_values;
static int wanted(const char *name)
{
    for (int i = 1; i < argument_count; i++)
        if (!strcmp(argument_values[i], name)) return 1;
    return argument_count <= 1;
}
