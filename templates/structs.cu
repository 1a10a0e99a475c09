/*---
title   = "Structures"
summary = "Balls that fall and bounce: an array of a structure of your own, whose fields are drawn and measured"

[constant]
n = 2048

[array.ball]
type  = "Ball"
count = "n"

[param.gravity]
value = 2.0
min   = 0.0
max   = 8.0

[param.bounce]
value = 0.85
min   = 0.0
max   = 1.0

[[pass]]
kernel = "begin"
on     = "reset"
over   = "ball"

[[pass]]
kernel = "fall"
over   = "ball"

[[stat]]
name   = "energy"
of     = "ball"
map    = "0.5f * dot(x.velocity, x.velocity) + gravity * x.position.y"
reduce = "mean"

[view]
kind     = "points"
position = "ball.position"
color    = "ball.heat"
colormap = "plasma"
range    = [0.0, 1.0]
size     = 6.0
blend    = "opaque"

[view.camera]
fit = [-1.0, 0.0, -1.0, 1.0, 1.5, 1.0]
---*/

struct Ball {
    float3 position, velocity;
    float heat;
};

__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__global__ void begin(Ball *ball, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float angle = 2.3999632f * i, radius = sqrtf((i + 0.5f) / n);
    float3 place = make_float3(radius * cosf(angle), 0.2f + 0.9f * radius, radius * sinf(angle));
    ball[i] = {place, make_float3(0.0f, 0.0f, 0.0f), 0.3f};
}

__global__ void fall(Ball *ball, int n, float gravity, float bounce, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Ball b = ball[i];
    b.velocity.y -= gravity * dt;
    b.position.y += b.velocity.y * dt;
    b.heat *= 0.98f;
    if (b.position.y < 0.0f) {
        b.position.y = -b.position.y;
        b.velocity.y *= -bounce;
        b.heat = 1.0f;
    }
    ball[i] = b;
}
