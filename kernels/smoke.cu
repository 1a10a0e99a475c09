/*---
title   = "Smoke"
summary = "Hot smoke rises from a hearth, rolls up and spreads under the lid of a box"

[constant]
n = 256                    # cells along each edge; a multiple of 32, at most 256

[constant.cpu]
n = 64

[array.flow]               # velocity through a cell's lower faces, in edges a second; and smoke, which is as warm
type   = "float4"
count  = "n * n * n"
double = true

[array.pressure]           # of all levels, one behind the other: n, n / 2, ... n / 16 cells along an edge
type  = "float"
count = "n * n * n / 7 * 8 + 4096"

[array.source]             # what the pressure's differences add up to
type  = "float"
count = "n * n * n / 7 * 8 + 4096"

[texture.smoke]
format = "r32f"
size   = ["n", "n", "n"]

[param.buoyancy]
value = 3.0
min   = 0.0
max   = 10.0
unit  = "1/s²"

[param.fade]
label = "smoke fades"
value = 0.15
min   = 0.0
max   = 2.0
unit  = "1/s"

[param.radius]
label = "hearth's radius"
value = 0.13
min   = 0.02
max   = 0.3

[[pass]]
kernel = "clear"
on     = "reset"
over   = "smoke"

[[pass]]
kernel = "move"
over   = "smoke"
block  = [32, 4, 2]
bytes  = "32 * n * n * n"  # each number that it needs is read or written once; so below

[[pass]]
kernel = "diverge"
over   = "smoke"
block  = [32, 4, 2]
bytes  = "20 * n * n * n"

[[pass]]                   # a V-cycle: down to cells 16 times as long, where the pressure is solved for, and up
name    = "down"
repeat  = 4
counter = "level"

[[pass.pass]]
kernel = "smooth"
over   = ["n >> (level + 1)", "n >> level", "n >> level"]
block  = [16, 4, 4]
repeat = 2
args   = { color = "round" }

[[pass.pass]]
kernel = "restrict"
over   = ["n >> (level + 1)", "n >> (level + 1)", "n >> (level + 1)"]
block  = [16, 4, 4]

[[pass]]
kernel = "solve"
grid   = 1
block  = 512

[[pass]]
name    = "up"
repeat  = 4
counter = "up"

[[pass.pass]]
kernel = "refine"
over   = ["n >> (3 - up)", "n >> (3 - up)", "n >> (3 - up)"]
block  = [16, 4, 4]
args   = { level = "3 - up" }

[[pass.pass]]
kernel = "smooth"
over   = ["n >> (4 - up)", "n >> (3 - up)", "n >> (3 - up)"]
block  = [16, 4, 4]
repeat = 2
args   = { level = "3 - up", color = "1 - round" }

[[pass]]
kernel = "project"
over   = "smoke"
block  = [32, 4, 2]
bytes  = "40 * n * n * n"

[view]
kind     = "volume"
texture  = "smoke"
density  = 30.0
colormap = "inferno"
range    = [-0.15, 1.1]

[view.camera]
yaw   = 30.0
pitch = 10.0

[[stat]]                   # what flows out of a cell and not in, in edges a second; so the check is right for any n
name   = "divergence"
of     = "flow"
map    = "fabsf(divergence(flow, i) / n)"
reduce = "mean"

[[stat]]
name   = "divergence before the projection"
of     = "flow"
map    = "fabsf(source[i])"
reduce = "mean"

[[check]]
stat   = "flow.nan"
after  = 60
equals = 0

[[check]]                  # of 0.004 to 0.005 before the projection; means over the box
stat  = "divergence"
after = 60
max   = 0.001

[[check]]                  # it rises
stat  = "flow.y.max"
after = 60
min   = 0.3
max   = 3.0
---*/
#include <warpaint/vector.cuh>

// R. Fedkiw, J. Stam, H. W. Jensen, "Visual simulation of smoke", SIGGRAPH 2001: semi-Lagrangian steps and
// buoyancy, on Harlow and Welch's staggered grid (Physics of Fluids 8, 1965) in a closed box. The pressure
// comes from one V-cycle of multigrid a step, which begins with the pressure of the step before: a red-black sweep of
// Gauss and Seidel on the way down and one on the way up (Briggs, Henson, McCormick, "A multigrid tutorial", 2000).

using namespace warpaint;

static_assert(n % 32 == 0 && n <= 256, "n must be a multiple of 32, at most 256");

// Cells along an edge of a level, and where the level starts.
__device__ constexpr int edge(int level) { return n >> level; }
__device__ constexpr int start(int level)
{
    // Each level has an eighth of the cells of the one before.
    return (n * n * n - edge(level) * edge(level) * edge(level)) / 7 * 8;
}

__device__ int cell(int x, int y, int z) { return (z * n + y) * n + x; }
__device__ int at(int level, int x, int y, int z)
{
    const int m = edge(level);
    return start(level) + (z * m + y) * m + x;
}

__device__ int3 mine()
{
    return make_int3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                     blockIdx.z * blockDim.z + threadIdx.z);
}

__device__ int inside(int x) { return min(max(x, 0), n - 1); }
__device__ float4 held(const float4 *flow, int x, int y, int z) { return flow[cell(inside(x), inside(y), inside(z))]; }

// What flows out of a cell; nothing flows through the box's faces.
__device__ float outflow(const float4 *flow, int x, int y, int z)
{
    const float4 here = flow[cell(x, y, z)];
    const float right = x + 1 < n ? flow[cell(x + 1, y, z)].x : 0.0f;
    const float above = y + 1 < n ? flow[cell(x, y + 1, z)].y : 0.0f;
    const float front = z + 1 < n ? flow[cell(x, y, z + 1)].z : 0.0f;
    return right - here.x + above - here.y + front - here.z;
}

// The same in 1/s.
__device__ float divergence(const float4 *flow, long long i)
{
    return n * outflow(flow, i % n, i / n % n, i / n / n);
}

// The component that lies on the lower faces across an axis (0 to 2), or the smoke in the middle (3), of a cell that
// may lie outside: the box's own faces let nothing through, and beyond them it is as it is before them.
template <int axis> __device__ float component(const float4 *flow, int x, int y, int z)
{
    if ((axis == 0 && x >= n) || (axis == 1 && y >= n) || (axis == 2 && z >= n)) return 0.0f;
    return ((const float *)&flow[cell(inside(x), inside(y), inside(z))])[axis];
}

// The same at any place, in cells from the box's lower corner: between the eight nearest ones.
template <int axis> __device__ float sample(const float4 *flow, float3 p)
{
    const float limit = n;
    p.x = clamp(p.x, 0.0f, limit) - (axis == 0 ? 0.0f : 0.5f);
    p.y = clamp(p.y, 0.0f, limit) - (axis == 1 ? 0.0f : 0.5f);
    p.z = clamp(p.z, 0.0f, limit) - (axis == 2 ? 0.0f : 0.5f);
    const int x = (int)floorf(p.x), y = (int)floorf(p.y), z = (int)floorf(p.z);
    const float tx = p.x - x, ty = p.y - y, tz = p.z - z;
    const auto row = [&](int y, int z) {
        return mix(component<axis>(flow, x, y, z), component<axis>(flow, x + 1, y, z), tx);
    };
    const float back = mix(row(y, z), row(y + 1, z), ty), front = mix(row(y, z + 1), row(y + 1, z + 1), ty);
    return mix(back, front, tz);
}

// Smoke to start with: puffs that lie on a screw above the hearth, the higher the wider and thinner.
__device__ float puffs(float3 p)
{
    float sum = 0.0f;
    for (int i = 0; i < 20; ++i) {
        const float up = i / 19.0f, wide = 0.10f + 0.09f * up;
        const float far = 0.06f + 0.12f * up;
        float s, c;
        sincospif(0.76f * i, &s, &c);
        const float3 apart = p - make_float3(0.5f + far * c, 0.10f + 0.60f * up, 0.5f + far * s);
        sum += (1.0f - 0.35f * up) * smoothstep(1.0f, 0.55f, length(apart) / wide);
    }
    return fminf(sum, 1.0f);
}

__global__ void clear(float4 *flow, float *pressure)
{
    const int3 c = mine();
    if (c.x >= n || c.y >= n || c.z >= n) return;
    const float smoke = puffs(make_float3(c.x + 0.5f, c.y + 0.5f, c.z + 0.5f) * (1.0f / n));
    flow[cell(c.x, c.y, c.z)] = make_float4(0.0f, 0.0f, 0.0f, smoke);
    pressure[cell(c.x, c.y, c.z)] = 0.0f;
}

// Fetches velocities and smoke from where they come from; warm smoke is lifted, and the hearth makes new.
__global__ void move(const float4 *__restrict__ flow, float4 *__restrict__ flow_next, float buoyancy, float fade,
                     float radius, float time, float dt)
{
    const int3 c = mine();
    if (c.x >= n || c.y >= n || c.z >= n) return;
    const auto near = [&](int x, int y, int z) { return held(flow, c.x + x, c.y + y, c.z + z); };
    const float4 here = near(0, 0, 0), left = near(-1, 0, 0), below = near(0, -1, 0), behind = near(0, 0, -1);
    const float4 right = near(1, 0, 0), above = near(0, 1, 0), front = near(0, 0, 1);
    const float4 left_above = near(-1, 1, 0), left_front = near(-1, 0, 1), right_below = near(1, -1, 0);
    const float4 below_front = near(0, -1, 1), right_behind = near(1, 0, -1), above_behind = near(0, 1, -1);

    // The velocity in the middles of the three lower faces, and in the cell's.
    const float3 on_x = make_float3(here.x, 0.25f * (here.y + left.y + above.y + left_above.y),
                                    0.25f * (here.z + left.z + front.z + left_front.z));
    const float3 on_y = make_float3(0.25f * (here.x + below.x + right.x + right_below.x), here.y,
                                    0.25f * (here.z + below.z + front.z + below_front.z));
    const float3 on_z = make_float3(0.25f * (here.x + behind.x + right.x + right_behind.x),
                                    0.25f * (here.y + behind.y + above.y + above_behind.y), here.z);
    const float3 middle = make_float3(0.5f * (here.x + right.x), 0.5f * (here.y + above.y), 0.5f * (here.z + front.z));
    const float3 corner = make_float3(c.x, c.y, c.z);
    const float step = n * dt;
    float4 next;
    next.x = sample<0>(flow, corner + make_float3(0.0f, 0.5f, 0.5f) - on_x * step);
    next.y = sample<1>(flow, corner + make_float3(0.5f, 0.0f, 0.5f) - on_y * step);
    next.z = sample<2>(flow, corner + make_float3(0.5f, 0.5f, 0.0f) - on_z * step);
    next.w = sample<3>(flow, corner + 0.5f - middle * step) * expf(-fade * dt);

    next.y += 0.5f * (here.w + below.w) * buoyancy * dt;
    const float3 p = (corner + 0.5f) * (1.0f / n);
    const float from_x = p.x - 0.5f - 0.03f * sinf(1.9f * time), from_z = p.z - 0.5f - 0.03f * cosf(2.3f * time);
    const float across = sqrtf(from_x * from_x + from_z * from_z) / radius;
    const float hearth = smoothstep(1.0f, 0.8f, across) * smoothstep(0.10f, 0.06f, p.y);
    next.w += (1.0f - next.w) * hearth * (1.0f - expf(-12.0f * dt));

    if (c.x == 0) next.x = 0.0f;
    if (c.y == 0) next.y = 0.0f;
    if (c.z == 0) next.z = 0.0f;
    flow_next[cell(c.x, c.y, c.z)] = next;
}

__global__ void diverge(const float4 *flow, float *source)
{
    const int3 c = mine();
    if (c.x < n && c.y < n && c.z < n) source[cell(c.x, c.y, c.z)] = outflow(flow, c.x, c.y, c.z);
}

// The sum of a cell's neighbours' pressures, and how many it has.
__device__ float2 around(const float *pressure, int level, int x, int y, int z)
{
    const int m = edge(level), i = at(level, x, y, z);
    float2 sum = make_float2(0.0f, 0.0f);
    if (x > 0) sum += make_float2(pressure[i - 1], 1.0f);
    if (x + 1 < m) sum += make_float2(pressure[i + 1], 1.0f);
    if (y > 0) sum += make_float2(pressure[i - m], 1.0f);
    if (y + 1 < m) sum += make_float2(pressure[i + m], 1.0f);
    if (z > 0) sum += make_float2(pressure[i - m * m], 1.0f);
    if (z + 1 < m) sum += make_float2(pressure[i + m * m], 1.0f);
    return sum;
}

// Half a sweep: the cells of one colour, whose neighbours all have the other one.
__global__ void smooth(float *pressure, const float *source, int level, int color)
{
    const int m = edge(level);
    const int3 c = mine();
    const int x = 2 * c.x + (c.y + c.z + color) % 2, i = at(level, x, c.y, c.z);
    if (x >= m || c.y >= m || c.z >= m) return;
    const float2 sum = around(pressure, level, x, c.y, c.z);
    pressure[i] = (sum.x - source[i]) / sum.y;
}

// What is still missing, as the source of a correction on the next level: cells twice as long make it 4 times as
// large, and the mean of eight is an eighth of their sum.
__global__ void restrict(float *pressure, float *source, int level)
{
    const int m = edge(level + 1);
    const int3 c = mine();
    if (c.x >= m || c.y >= m || c.z >= m) return;
    float missing = 0.0f;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const int x = 2 * c.x + k % 2, y = 2 * c.y + k / 2 % 2, z = 2 * c.z + k / 4, i = at(level, x, y, z);
        const float2 sum = around(pressure, level, x, y, z);
        missing += source[i] - (sum.x - sum.y * pressure[i]);
    }
    source[at(level + 1, c.x, c.y, c.z)] = 0.5f * missing;
    pressure[at(level + 1, c.x, c.y, c.z)] = 0.0f;
}

// The last level, by one block: sweeps with overrelaxation, enough for 16 cells along an edge.
__global__ void solve(float *pressure, const float *source)
{
    constexpr int m = edge(4), sweeps = 24;
    const float pull = 2.0f / (1.0f + sinpif(1.0f / m));
    for (int half = 0; half < 2 * sweeps; ++half) {
        for (int k = threadIdx.x; k < m * m * m; k += blockDim.x) {
            const int x = k % m, y = k / m % m, z = k / m / m, i = at(4, x, y, z);
            if ((x + y + z + half) % 2) continue;
            const float2 sum = around(pressure, 4, x, y, z);
            pressure[i] += pull * ((sum.x - source[i]) / sum.y - pressure[i]);
        }
        __syncthreads();
    }
}

// Adds the next level's correction, interpolated: of the two nearest cells along each axis the nearer counts 3/4.
__global__ void refine(float *pressure, int level)
{
    const int m = edge(level), half = edge(level + 1);
    const int3 c = mine();
    if (c.x >= m || c.y >= m || c.z >= m) return;
    float correction = 0.0f;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const auto place = [&](int fine, int far) {
            return far ? min(max(fine / 2 + (fine % 2 ? 1 : -1), 0), half - 1) : fine / 2;
        };
        const float weight = (k % 2 ? 0.25f : 0.75f) * (k / 2 % 2 ? 0.25f : 0.75f) * (k / 4 ? 0.25f : 0.75f);
        correction += weight * pressure[at(level + 1, place(c.x, k % 2), place(c.y, k / 2 % 2), place(c.z, k / 4))];
    }
    pressure[at(level, c.x, c.y, c.z)] += correction;
}

// Takes the pressure's differences away, and shows the smoke.
__global__ void project(float4 *flow, const float *pressure, cudaSurfaceObject_t smoke)
{
    const int3 c = mine();
    if (c.x >= n || c.y >= n || c.z >= n) return;
    const int i = cell(c.x, c.y, c.z);
    float4 v = flow[i];
    if (c.x > 0) v.x -= pressure[i] - pressure[cell(c.x - 1, c.y, c.z)];
    if (c.y > 0) v.y -= pressure[i] - pressure[cell(c.x, c.y - 1, c.z)];
    if (c.z > 0) v.z -= pressure[i] - pressure[cell(c.x, c.y, c.z - 1)];
    flow[i] = v;
    surf3Dwrite(v.w, smoke, c.x * 4, c.y, c.z);
}
