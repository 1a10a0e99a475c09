// All-pairs gravity in shared-memory tiles, after Nyland, Harris and Prins, "Fast N-Body Simulation with CUDA",
// GPU Gems 3, chapter 31.
extern "C" __global__ void nbody(const float4 *bodies, float4 *accelerations, int n)
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
