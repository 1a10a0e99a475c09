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
__global__ void advance(float4 *position, int position_count,
                        float darg)
{
    position[threadIdx.x].x += darg;
}
