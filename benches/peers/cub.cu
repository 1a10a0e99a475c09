// The same algorithms with CUB: `cub ELEMENTS` prints a name and milliseconds a line, the best of several rounds of ten
// calls one behind the other.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>

static void check(cudaError_t status)
{
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(status));
    exit(1);
}

template <class Work> static void show(const char *name, Work work)
{
    double best = 1e300;
    work();
    check(cudaDeviceSynchronize());
    for (int round = 0; round < 6; round++) {
        auto start = std::chrono::steady_clock::now();
        for (int call = 0; call < 10; call++) work();
        check(cudaDeviceSynchronize());
        std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
        if (taken.count() / 10 < best) best = taken.count() / 10;
    }
    printf("%s %.6f\n", name, best);
}

// CUB asks for the size of its memory first.
template <class Call> static void cub_call(const char *name, Call call)
{
    size_t bytes = 0;
    check(call(nullptr, bytes));
    void *memory;
    check(cudaMalloc(&memory, bytes));
    show(name, [&] { check(call(memory, bytes)); });
    check(cudaFree(memory));
}

struct Product {
    const float *x, *y;
    __device__ float operator()(int64_t i) const { return x[i] * y[i]; }
};

__global__ void fill(float *x, uint32_t *keys, int64_t n)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        keys[i] = (uint32_t)i * 2654435761u ^ 0x5bd1e995u;
        x[i] = keys[i] * 2.3283064e-10f;
    }
}

int main(int count, char **arguments)
{
    int64_t n = count > 1 ? atoll(arguments[1]) : 1 << 28;
    float *x, *y;
    uint32_t *keys, *sorted;
    check(cudaMalloc(&x, n * 4));
    check(cudaMalloc(&y, n * 4));
    check(cudaMalloc(&keys, n * 4));
    check(cudaMalloc(&sorted, n * 4));
    fill<<<1024, 256>>>(x, keys, n);
    fill<<<1024, 256>>>(y, keys, n);
    check(cudaDeviceSynchronize());
    show("copy", [&] { check(cudaMemcpyAsync(y, x, n * 4, cudaMemcpyDeviceToDevice)); });
    show("memset", [&] { check(cudaMemsetAsync(y, 0, n * 4)); });
    cub_call("sum", [&](void *m, size_t &b) { return cub::DeviceReduce::Sum(m, b, x, sorted, n); });
    cub_call("min", [&](void *m, size_t &b) { return cub::DeviceReduce::Min(m, b, x, y, n); });
    cub_call("max", [&](void *m, size_t &b) { return cub::DeviceReduce::Max(m, b, x, y, n); });
    cub_call("dot", [&](void *m, size_t &b) {
        return cub::DeviceReduce::TransformReduce(m, b, thrust::counting_iterator<int64_t>(0), (float *)sorted, n,
                                                  cuda::std::plus<>{}, Product{x, y}, 0.0f);
    });
    cub_call("scan", [&](void *m, size_t &b) { return cub::DeviceScan::InclusiveSum(m, b, x, y, n); });
    cub_call("sort", [&](void *m, size_t &b) { return cub::DeviceRadixSort::SortKeys(m, b, keys, sorted, n); });
}
