/*---
[buffer.position]
type  = "float4"
count = 16

[param.drag]
value = 0.5
max   = true

[[pass]]
kernel = "advance"
over   = true
---*/
__global__ void advance(float4 *position, float drag) { position[threadIdx.x].x += drag; }
