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
    position[threadIdx.x].x += speed;
}
