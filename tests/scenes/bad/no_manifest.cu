// A kernel, and nothing that says what it needs.
__global__ void advance(float4 *position) { position[threadIdx.x].x += 1.0f; }
