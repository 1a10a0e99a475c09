/*---
title   = "Spheres"
summary = "Two dams of balls break: they collide, rub, slosh through the tank and come to rest"
dt      = "0.38 * radius"  # small enough for the stiffness that the weight of the balls above needs

[constant]
n      = 1048576           # balls
radius = 0.0047
wide   = 212               # cells of the grid, at least a ball's diameter large, in a tank of 2 x 1 x 1
high   = 106

[constant.cpu]
n      = 16384
radius = 0.0188
wide   = 53
high   = 26

[buffer.position]          # x, y, z, and which dam it was: below 0 the left one, the paler the higher
type  = "float4"
count = "n"

[array.velocity]           # x, y, z
type  = "float4"
count = "n"

[array.sorted_position]    # the same in the order of the grid's cells
type  = "float4"
count = "n"

[array.sorted_velocity]
type  = "float4"
count = "n"

[array.count]              # balls in each cell
type  = "int"
count = "wide * high * high"

[array.total]              # and in each chunk of 2048 cells
type  = "int"
count = "(wide * high * high + 2047) / 2048"

[array.start]              # where each cell's begin
type  = "int"
count = "wide * high * high + 1"

[array.where]              # the cell, and a place in it
type  = "int2"
count = "n"

[array.list]               # balls by cell, in any order
type  = "int"
count = "n"

[array.state]              # each ball's energy, and how deep the deepest contact is, in diameters
type  = "float2"
count = "n"

[param.gravity]
value = 1.0
min   = 0.0
max   = 3.0

[param.tilt]
label = "tilt of the tank"
value = 0.0
min   = -60.0
max   = 60.0
unit  = "deg"

[param.stiffness]          # of a contact, in masses over a step's time squared
value = 0.15
min   = 0.02
max   = 0.25

[param.damping]            # along a contact, in masses over a step's time
value = 0.04
min   = 0.0
max   = 0.08

[param.friction]           # across it
value = 0.02
min   = 0.0
max   = 0.08

[[pass]]
kernel = "scatter"
on     = "reset"
over   = "position"

[[pass]]
kernel = "clear"
over   = "count"
bytes  = "4 * wide * high * high"

[[pass]]
kernel = "find_cells"
over   = "position"
bytes  = "24 * n + 8 * wide * high * high"  # each number that it needs is read or written once; so below

[[pass]]
kernel = "totals"
grid   = "(wide * high * high + 2047) / 2048"
block  = 256
bytes  = "4 * wide * high * high"

[[pass]]
kernel = "starts"
grid   = "(wide * high * high + 2047) / 2048"
block  = 256
bytes  = "8 * wide * high * high"

[[pass]]
kernel = "enlist"
over   = "position"
bytes  = "12 * n + 4 * wide * high * high"

[[pass]]
kernel = "arrange"
over   = "position"
bytes  = "76 * n + 4 * wide * high * high"

[[pass]]
kernel = "collide"
over   = "position"
bytes  = "72 * n + 4 * wide * high * high"

[view]
kind     = "points"
position = "position"
color    = "position"
color_by = "w"
colormap = "twilight"
range    = [-0.5, 0.5]
size     = "636 * radius"  # as large as they are
blend    = "opaque"

[view.camera]
fit   = [-1.0, -0.5, -0.5, 1.0, 0.5, 0.5]    # the tank
yaw   = 22.0
pitch = 20.0

[[stat]]
name   = "energy of a ball"
of     = "state"
map    = "x.x"
reduce = "mean"

[[stat]]
name   = "deepest contact"
of     = "state"
map    = "x.y"
reduce = "max"

[[check]]
stat = "position.nan"
max  = 0

[[check]]                  # it stands 0.5 high on average, which falls to less than 0.3, and never comes back
stat = "energy of a ball"
max  = 0.55

[[check]]
stat  = "deepest contact"
after = 200
max   = 0.5

[[check]]                  # nobody leaves the tank
stat = "position.x.max"
max  = 1.0

[[check]]
stat = "position.x.min"
min  = -1.0

[[check]]
stat = "position.y.min"
min  = -0.5

[[check]]
stat = "position.z.max"
max  = 0.5

[[check]]
stat = "position.z.min"
min  = -0.5
---*/

// Green, "Particle simulation using CUDA", NVIDIA, 2010: balls that overlap push each other apart like springs, damped
// along and across the contact (the discrete element method; Cundall and Strack, "A discrete numerical model for
// granular assemblies", Geotechnique 29, 1979). Only balls of neighbouring cells can touch. There a radix sort brings
// them together, here a counting sort; and balls stay in the order of their cells, so that each step finds them nearly
// sorted. Steps are Euler's, with the new velocity.
#include <warpaint/grid.cuh>
#include <warpaint/random.cuh>
#include <warpaint/vector.cuh>

using namespace warpaint;

const int CELLS = wide * high * high;

__device__ Grid tank()
{
    return Grid(make_float3(-1.0f, -0.5f, -0.5f), make_float3(1.0f, 0.5f, 0.5f), make_int3(wide, high, high));
}

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// On reset: a block of balls at each end of the tank, a little disorderly, on the way to the other.
__global__ void scatter(float4 *__restrict__ position, float4 *__restrict__ velocity, unsigned seed)
{
    int i = thread();
    if (i >= n) return;
    const float spacing = 2.1f * radius, end = i % 2 ? 1.0f : -1.0f;
    const int side = (int)((1.0f - 0.1f * radius) / spacing), rank = i / 2;
    Random random(seed, i);
    const float3 jitter = random.in_ball() * (0.04f * radius);
    const float3 corner = make_float3(1.0f, 0.5f, 0.5f) - 1.05f * radius * make_float3(1.0f, 1.0f, 1.0f);
    const float3 from_corner = spacing * make_float3(rank / (side * side), rank / side % side, rank % side);
    const float3 p = make_float3(end * (corner.x - from_corner.x), from_corner.y - corner.y, from_corner.z - corner.z);
    position[i] = xyzw(p + jitter, end * (0.2f + 0.2f * (p.y + 0.5f)));
    // The higher the faster, so that the dams lean over.
    velocity[i] = make_float4(-0.4f * end * (p.y + 0.5f), 0.0f, 0.0f, 0.0f);
}

// Six launches sort the balls by cell: see grid.cuh.
__global__ void clear(int *__restrict__ count)
{
    if (thread() < CELLS) count[thread()] = 0;
}

__global__ void find_cells(const float4 *__restrict__ position, int *count, int2 *__restrict__ where)
{
    int i = thread();
    if (i < n) where[i] = enter(count, tank().cell(xyz(position[i])));
}

__global__ void totals(const int *__restrict__ count, int *__restrict__ total) { sum_chunk(count, CELLS, total); }

__global__ void starts(const int *__restrict__ count, const int *__restrict__ total, int *__restrict__ start)
{
    scan_chunk(count, CELLS, total, start);
}

__global__ void enlist(const int2 *__restrict__ where, const int *__restrict__ start, int *__restrict__ list)
{
    int i = thread();
    if (i < n) list[start[where[i].x] + where[i].y] = i;
}

__global__ void arrange(const float4 *__restrict__ position, const float4 *__restrict__ velocity,
                        const int2 *__restrict__ where, const int *__restrict__ start, const int *__restrict__ list,
                        float4 *__restrict__ sorted_position, float4 *__restrict__ sorted_velocity)
{
    int i = thread();
    if (i >= n) return;
    const int place = place_of(i, where[i], start, list);
    sorted_position[place] = position[i];
    sorted_velocity[place] = velocity[i];
}

// Along one axis: stays between two walls, and bounces off them with half its speed.
__device__ void bounce(float &x, float &v, float wall)
{
    const float limit = wall - radius;
    if (fabsf(x) <= limit) return;
    if (x * v > 0.0f) v *= -0.5f;
    x = copysignf(limit, x);
}

// What the neighbours do to a ball, then its step, then the walls.
__global__ void collide(const float4 *__restrict__ sorted_position, const float4 *__restrict__ sorted_velocity,
                        const int *__restrict__ start, float4 *__restrict__ position, float4 *__restrict__ velocity,
                        float2 *__restrict__ state, float dt, float gravity, float tilt, float stiffness, float damping,
                        float friction)
{
    int i = thread();
    if (i >= n) return;
    const float4 place = sorted_position[i];
    float3 p = xyz(place), v = xyz(sorted_velocity[i]), push = make_float3(0.0f, 0.0f, 0.0f);
    float deepest = 0.0f, squares = 0.0f;
    tank().near(start, p, [&](int j) {
        const float3 apart = p - xyz(sorted_position[j]);
        const float distance2 = dot(apart, apart);
        // Not itself. Two in one place do not know where to go; others will part them.
        if (distance2 >= 4.0f * radius * radius || distance2 == 0.0f) return;
        const float inverse = rsqrtf(distance2), overlap = 2.0f * radius - distance2 * inverse;
        const float3 normal = apart * inverse, slip = xyz(sorted_velocity[j]) - v;
        const float along = dot(slip, normal);
        // In lengths over a step's time, since stiffness is in masses over its square.
        push += normal * (stiffness * overlap / dt + damping * along) + (slip - normal * along) * friction;
        deepest = fmaxf(deepest, overlap);
        squares += overlap * overlap;
    });
    float s, c;
    sincospif(tilt / 180.0f, &s, &c);
    const float3 down = make_float3(s, -c, 0.0f) * gravity;
    // A contact's energy is shared by its two balls.
    const float elastic = 0.25f * stiffness * squares / (dt * dt);
    const float height = 0.5f * gravity - dot(down, p);
    state[i] = make_float2(0.5f * dot(v, v) + height + elastic, deepest / (2.0f * radius));
    v += push + down * dt;
    p += v * dt;
    bounce(p.x, v.x, 1.0f);
    bounce(p.y, v.y, 0.5f);
    bounce(p.z, v.z, 0.5f);
    position[i] = xyzw(p, place.w);
    velocity[i] = xyzw(v, 0.0f);
}
