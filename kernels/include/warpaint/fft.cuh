// warpaint/fft.cuh: fast Fourier transforms of complex numbers (float2: real, imaginary), of N = 2 to 4096 elements, a
// power of two, in shared memory. As numpy's: forward with exp(-2 pi i j k / N), the inverse divided by N.
//
//     // A block of 4 * fft_threads(512) threads does four rows of a picture of 512 x 512; 128 blocks do all.
//     __global__ void rows(float2 *data)
//     {
//         __shared__ float2 shared[4 * fft_line(512)];
//         warpaint::fft_lines<512, 4, false>(shared, data, 1, 512, 512);       // to the next element, line; lines
//     }
//     // The same of columns, and both are the transform in two dimensions.
//     warpaint::fft_lines<512, 4, false>(shared, data, 512, 1, 512);
//
// Neighbouring threads read neighbouring numbers in both cases; of columns, four or more in a block fill the pieces in
// which memory is read. `fft` is the transform alone, for kernels that compute what they transform.
//
// Stockham's passes of radix 4, and one of radix 2 where needed, which sort as they go: Govindaraju, Lloyd, Dotsenko,
// Smith, Manferdelli, "High performance discrete Fourier transforms on graphics processors", SC 2008.
#pragma once

namespace warpaint {

// Threads for a line: each has eight elements.
__host__ __device__ constexpr int fft_threads(int n) { return n < 8 ? 1 : n / 8; }

// Where element i of a line lies, and elements of shared memory that a line takes: there is a gap after each 16, so that
// strides that are powers of two do not meet in one bank.
__host__ __device__ constexpr int fft_place(int i) { return i + i / 16; }
__host__ __device__ constexpr int fft_line(int n) { return n + n / 16; }

__device__ inline float2 complex_product(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// The transform of two numbers, in place.
__device__ inline void butterfly(float2 &a, float2 &b)
{
    const float2 sum = make_float2(a.x + b.x, a.y + b.y);
    b = make_float2(a.x - b.x, a.y - b.y);
    a = sum;
}

// One pass of R = 2 or 4 over lines of which pieces of `done` elements are transformed already; then R times as large.
template <int N, int R, bool inverse> __device__ inline void fft_pass(float2 *line, int t, int done, float scale)
{
    constexpr int threads = fft_threads(N), each = N / R / threads;
    float2 x[each][R];
    for (int b = 0; b < each; ++b) {
        for (int r = 0; r < R; ++r) x[b][r] = line[fft_place(t + b * threads + r * (N / R))];
    }
    __syncthreads();
    for (int b = 0; b < each; ++b) {
        const int j = t + b * threads, k = j & (done - 1);
        float2 w, turn = make_float2(scale, 0.0f);
        sincospif((inverse ? 2.0f : -2.0f) * (float)k / (float)(done * R), &w.y, &w.x);
        for (int r = 0; r < R; ++r) {
            x[b][r] = complex_product(x[b][r], turn);
            turn = complex_product(turn, w);
        }
        int order[R];
        for (int r = 0; r < R; ++r) order[r] = r;
        if constexpr (R == 2) {
            butterfly(x[b][0], x[b][1]);
        } else {
            butterfly(x[b][0], x[b][2]);
            butterfly(x[b][1], x[b][3]);
            const float2 d = x[b][3];
            x[b][3] = inverse ? make_float2(-d.y, d.x) : make_float2(d.y, -d.x);
            butterfly(x[b][0], x[b][1]);
            butterfly(x[b][2], x[b][3]);
            order[1] = 2, order[2] = 1;
        }
        const int first = (j - k) * R + k;
        for (int r = 0; r < R; ++r) line[fft_place(first + r * done)] = x[b][order[r]];
    }
    __syncthreads();
}

// Transforms a line in shared memory, in place, by fft_threads(N) threads with t from 0: element i is at
// line[fft_place(i)]. For all threads of the block together, each with its own line or as its t says; what was written to
// the line before must be followed by __syncthreads().
template <int N, bool inverse> __device__ inline void fft(float2 *line, int t)
{
    static_assert(N >= 2 && N <= 4096 && (N & (N - 1)) == 0, "a power of two from 2 to 4096");
    int done = 1;
    if constexpr (N > 4) {
        for (; done * 4 < N; done *= 4) fft_pass<N, 4, inverse>(line, t, done, 1.0f);
    }
    const float scale = inverse ? 1.0f / N : 1.0f;
    constexpr bool odd = (N & 0xAAAAAAAA) != 0;
    if constexpr (odd) fft_pass<N, 2, inverse>(line, t, done, scale);
    else fft_pass<N, 4, inverse>(line, t, done, scale);
}

// Copies this block's lines to shared memory or back: neighbours in `data` by neighbouring threads.
template <int N, int LINES, bool back>
__device__ inline void fft_copy(float2 *shared, float2 *data, long long step, long long next, int count)
{
    const int first = blockIdx.x * LINES;
    const bool along = step < next;
    for (int e = threadIdx.x; e < N * LINES; e += LINES * fft_threads(N)) {
        const int i = along ? e % N : e / LINES, l = along ? e / N : e % LINES;
        if (first + l >= count) continue;
        float2 &here = shared[l * fft_line(N) + fft_place(i)], &there = data[i * step + (first + l) * next];
        if (back) there = here;
        else here = there;
    }
}

// Transforms `count` lines of `data` in place, LINES of them by this block, which has LINES * fft_threads(N) threads in
// x: element i of line l is data[i * step + l * next]. `shared` has LINES * fft_line(N) elements.
template <int N, int LINES, bool inverse>
__device__ inline void fft_lines(float2 *shared, float2 *data, long long step, long long next, int count)
{
    fft_copy<N, LINES, false>(shared, data, step, next, count);
    __syncthreads();
    fft<N, inverse>(shared + threadIdx.x / fft_threads(N) * fft_line(N), threadIdx.x % fft_threads(N));
    fft_copy<N, LINES, true>(shared, data, step, next, count);
}

}  // namespace warpaint
