/*---
[buffer.position]
type  = "float4"
count = 16

[[pass]]
kernel = "advance"
over   = "position"
---*/
__global__ void advance(float4 *position)
{
    volatile float *x = &position[threadIdx.x].x;
    while (*x >= 0.0f) {
        *x = 1.0f;
    }
}
