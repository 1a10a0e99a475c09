/*---
[buffer.position]
type  = "float4"
count = 16

[[pass]]
kernel = "advacne"
over   = "position"
---*/
__global__ void advance(float4 *position) { position[threadIdx.x].x += 1.0f; }
