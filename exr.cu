/*---
[texture.t]
format = "rgba32f"
size = [16, 16]
file = "e.exr"
[array.o]
type = "int"
count = 4
[[pass]]
kernel = "k"
grid = 1
block = 1
---*/
__global__ void k(int *o) { *o = 1; }
