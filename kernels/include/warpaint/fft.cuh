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
// A thread has eight elements of its line in registers, which go through shared memory between Stockham's passes of
// radix 8, the last of 2, 4 or 8; these sort as they go: Govindaraju, Lloyd, Dotsenko, Smith, Manferdelli, "High
// performance discrete Fourier transforms on graphics processors", SC 2008.
#pragma once

namespace warpaint {

// Elements of a line that a thread has, and threads for a line.
__host__ __device__ constexpr int fft_each(int n) { return n < 8 ? n : 8; }
__host__ __device__ constexpr int fft_threads(int n) { return n / fft_each(n); }

// The frequency, in turns a line, of element k of a transform: those of the upper half are negative (numpy's fftfreq).
__host__ __device__ constexpr int fft_frequency(int k, int n) { return k < n / 2 ? k : k - n; }

// Where element i of a line lies, and elements of shared memory that a line takes: there is a gap after each 16, and
// one after a line, so that strides that are powers of two do not meet in one bank.
__host__ __device__ constexpr int fft_place(int i) { return i + i / 16; }
__host__ __device__ constexpr int fft_line(int n) { return n + n / 16 + 4; }

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

// A number turned by 0 to 3 eighths of a circle: clockwise, the other way round for the inverse.
template <bool inverse> __device__ inline float2 fft_turned(float2 a, int eighths)
{
    constexpr float half_root = 0.707106781f, sign = inverse ? -1.0f : 1.0f;
    if (eighths & 1) a = make_float2((a.x + sign * a.y) * half_root, (a.y - sign * a.x) * half_root);
    if (eighths & 2) a = make_float2(sign * a.y, -sign * a.x);
    return a;
}

__device__ inline void fft_swap(float2 &a, float2 &b)
{
    const float2 was = a;
    a = b;
    b = was;
}

// The transform of the R = 2, 4 or 8 numbers x[0], x[gap], x[2 gap] ..., in place.
template <int R, int gap, bool inverse> __device__ inline void fft_small(float2 *x)
{
#pragma unroll
    for (int half = R / 2; half > 0; half /= 2) {
#pragma unroll
        for (int i = 0; i < R / 2; ++i) {
            const int first = i / half * 2 * half + i % half;
            float2 &far = x[(first + half) * gap];
            butterfly(x[first * gap], far);
            far = fft_turned<inverse>(far, i % half * 4 / half);
        }
    }
    if constexpr (R > 2) fft_swap(x[gap], x[R / 2 * gap]);
    if constexpr (R == 8) fft_swap(x[3 * gap], x[6 * gap]);
}

// Transforms the pieces that R times as large ones are made of: a thread's elements are threads apart, as everywhere.
template <int N, int R, int done, bool inverse, int M>
__device__ inline void fft_pass(float2 (&x)[M][fft_each(N)], int t)
{
    constexpr int gap = fft_each(N) / R;
#pragma unroll
    for (int b = 0; b < gap; ++b) {
        float2 turn[R];
        if constexpr (done > 1) {
            const int k = (t + b * fft_threads(N)) & (done - 1);
            sincospif((inverse ? 2.0f : -2.0f) / (done * R) * k, &turn[1].y, &turn[1].x);
#pragma unroll
            for (int r = 2; r < R; ++r) turn[r] = complex_product(turn[r / 2], turn[r - r / 2]);
        }
#pragma unroll
        for (int m = 0; m < M; ++m) {
#pragma unroll
            for (int r = 1; done > 1 && r < R; ++r) x[m][b + r * gap] = complex_product(x[m][b + r * gap], turn[r]);
            fft_small<R, gap, inverse>(x[m] + b);
        }
    }
}

// All passes from the one on whose pieces of `done` elements are transformed.
template <int N, bool inverse, int done, int M>
__device__ inline void fft_passes(float2 (&x)[M][fft_each(N)], float2 *line, int t)
{
    constexpr int threads = fft_threads(N), each = fft_each(N), left = N / done, R = left < 8 ? left : 8;
    fft_pass<N, R, done, inverse>(x, t);
    if constexpr (R < left) {
#pragma unroll
        for (int e = 0; e < each; ++e) {
            const int j = t + e % (each / R) * threads, k = j & (done - 1);
            const int place = fft_place((j - k) * R + k + e / (each / R) * done);
#pragma unroll
            for (int m = 0; m < M; ++m) line[m * fft_line(N) + place] = x[m][e];
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < each; ++e) {
#pragma unroll
            for (int m = 0; m < M; ++m) x[m][e] = line[m * fft_line(N) + fft_place(t + e * threads)];
        }
        __syncthreads();
        fft_passes<N, inverse, done * R>(x, line, t);
    }
}

// Transforms M lines that fft_threads(N) threads, with t from 0, have in registers: x[m][e] is element t + e *
// fft_threads(N) of line m, before and after. `line` is shared memory for them, of M * fft_line(N) elements, which
// nobody may still read. For all threads of the block together, each with its own lines or as its t says.
template <int N, bool inverse, int M> __device__ inline void fft(float2 (&x)[M][fft_each(N)], float2 *line, int t)
{
    static_assert(N >= 2 && N <= 4096 && (N & (N - 1)) == 0, "a power of two from 2 to 4096");
    fft_passes<N, inverse, 1>(x, line, t);
    if constexpr (inverse) {
#pragma unroll
        for (int e = 0; e < M * fft_each(N); ++e) {
            float2 &value = x[e / fft_each(N)][e % fft_each(N)];
            value = make_float2(value.x * (1.0f / N), value.y * (1.0f / N));
        }
    }
}

// The same of a line in shared memory, in place: element i is at line[fft_place(i)]. What was written there before must
// be followed by __syncthreads().
template <int N, bool inverse> __device__ inline void fft(float2 *line, int t)
{
    float2 x[1][fft_each(N)];
#pragma unroll
    for (int e = 0; e < fft_each(N); ++e) x[0][e] = line[fft_place(t + e * fft_threads(N))];
    __syncthreads();
    fft<N, inverse>(x, line, t);
#pragma unroll
    for (int e = 0; e < fft_each(N); ++e) line[fft_place(t + e * fft_threads(N))] = x[0][e];
    __syncthreads();
}

// Transforms `count` lines of `data` in place, LINES of them by this block, which has LINES * fft_threads(N) threads in
// x: element i of line l is data[i * step + l * next]. `shared` has LINES * fft_line(N) elements.
template <int N, int LINES, bool inverse>
__device__ inline void fft_lines(float2 *shared, float2 *data, long long step, long long next, int count)
{
    constexpr int threads = fft_threads(N);
    const bool along = step < next;  // neighbouring threads have neighbours in `data`
    const int t = along ? threadIdx.x % threads : threadIdx.x / LINES;
    const int l = along ? threadIdx.x / threads : threadIdx.x % LINES, line = blockIdx.x * LINES + l;
    float2 x[1][fft_each(N)], *const first = data + t * step + line * next;
#pragma unroll
    for (int e = 0; e < fft_each(N); ++e) x[0][e] = line < count ? first[e * threads * step] : make_float2(0.0f, 0.0f);
    fft<N, inverse>(x, shared + l * fft_line(N), t);
    if (line >= count) return;
#pragma unroll
    for (int e = 0; e < fft_each(N); ++e) first[e * threads * step] = x[0][e];
}

}  // namespace warpaint
