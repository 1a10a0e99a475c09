/*---
[buffer.position]
type  = "float4"
cuont = 16
count = 16

[[pass]]
kernel = "advance"
over   = "position"
---*/
__global__ void advance(float4 *position) { position[threadIdx.x].x += 1.0f; }
