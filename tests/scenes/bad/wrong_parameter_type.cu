/*---
[buffer.position]
type  = "float4"
count = 16

[param.drag]
value = 0.5

[[pass]]
kernel = "advance"
over   = "position"
---*/
__global__ void advance(float3 *position, int drag)
{
    position[threadIdx.x].x += (float)drag;
}
