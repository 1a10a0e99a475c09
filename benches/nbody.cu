// All-pairs gravity in shared-memory tiles, after Nyland, Harris and Prins, "Fast N-Body Simulation with CUDA",
// GPU Gems 3, chapter 31.
__global__ void nbody(const float4 *bodies, float4 *accelerations, int n)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int start = 0; start < n; start += 256) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 256; j++) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
            float weight = other.w * inverse * inverse * inverse;
            x += dx * weight;
            y += dy * weight;
            z += dz * weight;
        }
        __syncthreads();
    }
    accelerations[i] = make_float4(x, y, z, 0.0f);
}

__global__ void empty() {}

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

// The area of the Mandelbrot set, in double precision.
__global__ void mandelbrot(int *steps, int width, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
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

__global__ void sum(const float *values, float *total, int n)
{
    float s = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += values[i];
    for (int offset = 16; offset > 0; offset >>= 1) s += __shfl_down_sync(0xffffffff, s, offset);
    __shared__ float parts[32];
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f;
        for (int offset = 16; offset > 0; offset >>= 1) s += __shfl_down_sync(0xffffffff, s, offset);
        if (threadIdx.x == 0) atomicAdd(total, s);
    }
}
