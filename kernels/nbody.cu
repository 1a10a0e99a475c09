/*---
title   = "Galaxies"
summary = "Two galaxies of stars and dark matter fall past each other and merge: every body pulls at every other one"

[constant]
n      = 65536             # bodies
bodies = 8                 # that a thread works on at a time
lanes  = 32                # threads of a block side by side over the bodies, in whole warps ...
slices = 8                 # ... and so many times over the others that pull
tile   = "lanes * slices"  # others in shared memory at a time, and threads in a block

[constant.cpu]
n      = 6144
bodies = 1
lanes  = 256
slices = 1

[buffer.position]          # x, y, z, and the mass
type  = "float4"
count = "n"

[buffer.color]             # of light: stars, and a faint red of what else weighs
type  = "float4"
count = "n"

[array.velocity]           # x, y, z
type  = "float4"
count = "n"

[array.acceleration]       # x, y, z
type  = "float4"
count = "n"

[array.conserved]          # each body's share of the momentum (x, y, z) and of the energy, every 16th step
type  = "float4"
count = "n"

[array.spin]               # and of the angular momentum
type  = "float4"
count = "n"

[param.dt]
label = "time step"
value = 0.005
min   = 0.0005
max   = 0.02
log   = true

[param.softening]
value = 0.03
min   = 0.005
max   = 0.2
log   = true

[param.pericentre]         # from here on: on reset
label = "closest approach"
value = 0.5
min   = 0.05
max   = 2.0

[param.tilt]
value = 35.0
min   = 0.0
max   = 180.0
unit  = "deg"

[[pass]]
kernel = "scatter"
on     = "reset"
over   = "n"

[[pass]]
kernel = "kick<false>"
on     = "reset"
grid   = "(n + lanes * bodies - 1) / (lanes * bodies)"
block  = "tile"

[[pass]]
kernel = "drift"
over   = "n"

[[pass]]
kernel = "kick<true>"
grid   = "(n + lanes * bodies - 1) / (lanes * bodies)"
block  = "tile"
flops  = "20 * n * n"      # as the CUDA sample counts a pair

[[pass]]
kernel = "measure"
grid   = "(n + lanes * bodies - 1) / (lanes * bodies)"
block  = "tile"

[view]
kind     = "points"
position = "position"
color    = "color"
color_by = "rgba"
size     = 1.8

[view.camera]
distance = 6.5
pitch    = 35.0

[[stat]]
name   = "energy"
of     = "conserved"
map    = "x.w"
reduce = "sum"

[[stat]]
name   = "momentum"
of     = "conserved"
map    = "x.x"
reduce = "sum"

[[stat]]
name   = "angular momentum"
of     = "spin"
map    = "x.z"
reduce = "sum"

[[check]]
stat = "position.nan"
max  = 0

[[check]]                  # bound: it takes energy to pull the bodies apart
stat = "energy"
max  = -0.3

[[check]]                  # and that stays what it is
stat  = "energy"
drift = 2e-3

[[check]]                  # of bodies that weigh 2 and move at about 1
stat      = "momentum"
equals    = 0
tolerance = 1e-4

[[check]]
stat  = "angular momentum"
drift = 1e-3
---*/

// Each body feels all others: Nyland, Harris, Prins, "Fast N-body simulation with CUDA", GPU Gems 3, chapter 31 (2007).
// As there, a block brings bodies into shared memory tile by tile. Beyond it, a thread works on several bodies of its
// own, so that one load of another one serves all of them, and a block's threads divide each tile into slices, so that
// the GPU is full of threads although each has several bodies. Thirteen instructions are left for two bodies.
//
// Steps are leapfrog's, kick-drift-kick: symplectic and time-reversible, so that the energy's error does not grow
// (Springel, "The cosmological simulation code GADGET-2", MNRAS 364, 2005, section 4.1). Gravity's constant is 1, the
// potential of a mass is Plummer's, -m / sqrt(r^2 + softening^2).
//
// The galaxies are of Toomre and Toomre's kind ("Galactic bridges and tails", ApJ 178, 1972): on a parabola around each
// other, one disc turning along with it, the other one tilted.
#include <warpaint/random.cuh>
#include <warpaint/vector.cuh>

using namespace warpaint;

// 1 / sqrt(x), one instruction: what `rsqrtf` does for subnormal numbers besides, the softening makes needless.
__device__ float inverse_root(float x)
{
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}

// What a body at a feels from one at b: adds to the acceleration (x, y, z) and to the potential (w).
__device__ void pull(float4 &field, float4 a, float4 b, float softening2)
{
    float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
    float inverse = inverse_root(fmaf(x, x, fmaf(y, y, fmaf(z, z, softening2))));
    float potential = b.w * inverse, strength = potential * (inverse * inverse);
    field.x = fmaf(x, strength, field.x);
    field.y = fmaf(y, strength, field.y);
    field.z = fmaf(z, strength, field.z);
    field.w -= potential;
}

// The body of a block that a thread ends up with, of those that the block works on.
__device__ int own_body() { return blockIdx.x * (lanes * bodies) + threadIdx.x; }

// The field of all bodies at this thread's `own_body()`, if threadIdx.x is below lanes * bodies. What the caller does
// not use of it is not computed. For all threads of the block together.
__device__ float4 field_of_all(const float4 *__restrict__ position, float softening)
{
    __shared__ float4 shared[slices * lanes * bodies > tile ? slices * lanes * bodies : tile];
    const float4 nothing = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const int lane = threadIdx.x % lanes, slice = threadIdx.x / lanes, first = own_body() - threadIdx.x + lane;
    float4 own[bodies], field[bodies];
    for (int k = 0; k < bodies; ++k) {
        own[k] = position[min(first + k * lanes, n - 1)];
        field[k] = nothing;
    }
    // A tile is on its way from memory while the one before is worked on.
    float4 next = threadIdx.x < n ? position[threadIdx.x] : nothing;
    for (int start = 0; start < n; start += tile) {
        __syncthreads();
        shared[threadIdx.x] = next;
        __syncthreads();
        const int fetched = start + tile + (int)threadIdx.x;
        next = fetched < n ? position[fetched] : nothing;
        // The same address for a whole warp: a broadcast.
        const float4 *others = shared + slice * lanes;
#pragma unroll 8
        for (int j = 0; j < lanes; ++j) {
            const float4 other = others[j];
#pragma unroll
            for (int k = 0; k < bodies; ++k) pull(field[k], own[k], other, softening * softening);
        }
    }
    // The slices' shares are brought together, by a thread for each body.
    if constexpr (slices == 1 && bodies == 1) return field[0];
    __syncthreads();
    for (int k = 0; k < bodies; ++k) shared[(slice * bodies + k) * lanes + lane] = field[k];
    __syncthreads();
    float4 sum = nothing;
    if (threadIdx.x < lanes * bodies) {
        for (int s = 0; s < slices; ++s) sum += shared[s * lanes * bodies + threadIdx.x];
    }
    return sum;
}

// The first kick, and the drift.
__global__ void drift(float4 *__restrict__ position, float4 *__restrict__ velocity,
                      const float4 *__restrict__ acceleration, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = position[i];
    float3 v = xyz(velocity[i]) + xyz(acceleration[i]) * (0.5f * dt);
    velocity[i] = xyzw(v, 0.0f);
    position[i] = xyzw(xyz(p) + v * dt, p.w);
}

// The field at the new places, and by it the second kick, where there is a step to end.
template <bool ends_a_step>
__global__ void __launch_bounds__(tile)
    kick(const float4 *__restrict__ position, float4 *__restrict__ velocity, float4 *__restrict__ acceleration,
         float dt, float softening)
{
    static_assert(lanes * bodies <= tile, "a thread writes at most one body");
    float4 field = field_of_all(position, softening);
    int i = own_body();
    if (threadIdx.x >= lanes * bodies || i >= n) return;
    acceleration[i] = xyzw(xyz(field), 0.0f);
    if (ends_a_step) velocity[i] = xyzw(xyz(velocity[i]) + xyz(field) * (0.5f * dt), 0.0f);
}

// What must stay the same, body by body.
__global__ void __launch_bounds__(tile)
    measure(const float4 *__restrict__ position, const float4 *__restrict__ velocity, float4 *__restrict__ conserved,
            float4 *__restrict__ spin, float softening, int step)
{
    if (step % 16) return;
    float4 field = field_of_all(position, softening);
    int i = own_body();
    if (threadIdx.x >= lanes * bodies || i >= n) return;
    float4 p = position[i];
    float3 v = xyz(velocity[i]);
    // Not its own potential at itself, and half of each pair's.
    float potential = field.w + p.w * inverse_root(softening * softening);
    conserved[i] = xyzw(v * p.w, 0.5f * p.w * (dot(v, v) + potential));
    spin[i] = xyzw(cross(xyz(p), v) * p.w, 0.0f);
}

// A galaxy of mass 1: a quarter of it is a disc of stars, thinning out exponentially, the rest a sphere of Plummer's.
const float DISC = 0.25f, DISC_LENGTH = 0.22f, DISC_HEIGHT = 0.012f, SPHERE = 0.75f, SPHERE_RADIUS = 0.35f;

// The mass of both that lies within a radius.
__device__ float mass_within(float r)
{
    float u = r / DISC_LENGTH, s = r * rsqrtf(r * r + SPHERE_RADIUS * SPHERE_RADIUS);
    return DISC * (1.0f - (1.0f + u) * expf(-u)) + SPHERE * s * s * s;
}

// A star that circles with the others, and a little for itself.
__device__ void star(Random &random, float3 &p, float3 &v)
{
    float r;
    do {
        // The sum of two exponentially distributed numbers has the density r exp(-r) of an exponential disc.
        r = -DISC_LENGTH * logf((1.0f - random.uniform()) * (1.0f - random.uniform()));
    } while (r > 5.0f * DISC_LENGTH);
    float s, c, u = random.uniform(-0.999f, 0.999f);
    sincospif(2.0f * random.uniform(), &s, &c);
    float around = sqrtf(mass_within(r) / r), apart = 0.08f * around;
    p = make_float3(r * c, r * s, DISC_HEIGHT * atanhf(u));
    v = make_float3(-s, c, 0.0f) * around;
    v += make_float3(random.normal(), random.normal(), 0.3f * random.normal()) * apart;
}

// A body of Plummer's sphere: Aarseth, Henon, Wielen, "A comparison of numerical methods for the study of star cluster
// dynamics", A&A 37 (1974), faster by what the disc adds to the mass.
__device__ void dark(Random &random, float3 &p, float3 &v)
{
    float share = random.uniform(0.001f, 0.97f);
    float r = SPHERE_RADIUS * rsqrtf(powf(share, -2.0f / 3.0f) - 1.0f);
    float q, height;
    do {
        q = random.uniform();
        height = 0.1f * random.uniform();
    } while (height > q * q * powf(1.0f - q * q, 3.5f));
    float escape = sqrtf(2.0f * SPHERE * rsqrtf(r * r + SPHERE_RADIUS * SPHERE_RADIUS));
    float within = SPHERE * share;
    p = random.on_sphere() * r;
    v = random.on_sphere() * (q * escape * sqrtf(mass_within(r) / within));
}

__device__ float3 turned(float3 a, float angle)
{
    float s, c;
    sincosf(angle, &s, &c);
    return make_float3(c * a.x + s * a.z, a.y, c * a.z - s * a.x);
}

// On reset: two galaxies on their parabola, 2.6 apart. Bodies come in pairs on opposite sides of their galaxy's centre,
// so that it neither moves nor pulls at itself. Half of them are stars.
__global__ void scatter(float4 *__restrict__ position, float4 *__restrict__ color, float4 *__restrict__ velocity,
                        float pericentre, float tilt, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int pair = i / 2, galaxy = pair % 2;
    const bool shines = pair / 2 % 2;
    const float side = i % 2 ? -1.0f : 1.0f;
    Random random(seed, pair);
    float3 p, v;
    if (shines) star(random, p, v);
    else dark(random, p, v);
    const float angle = galaxy ? tilt * 0.01745329252f : -0.25f;
    p = turned(p * side, angle), v = turned(v * side, angle);

    // The parabola of two masses of 1, by d, the tangent of half the true anomaly: Barker's.
    const float distance = fmaxf(2.6f, pericentre), d = -sqrtf(distance / pericentre - 1.0f);
    float3 apart = make_float3(pericentre * (1.0f - d * d), 2.0f * pericentre * d, 0.0f);
    float3 closing = make_float3(-d, 1.0f, 0.0f) * (2.0f / ((1.0f + d * d) * sqrtf(pericentre)));
    const float half = galaxy ? 0.5f : -0.5f;
    p += apart * half, v += closing * half;

    position[i] = xyzw(p, (shines ? DISC : SPHERE) * 4.0f / n);
    velocity[i] = xyzw(v, 0.0f);
    // Stars of all ages: the old ones in the middle are yellow and red in both.
    const float out = length(p - apart * half) / (3.0f * DISC_LENGTH);
    const float age = clamp(1.2f - out + 0.3f * random.normal(), 0.0f, 1.0f);
    const float3 young = galaxy ? make_float3(0.30f, 0.55f, 1.0f) : make_float3(0.85f, 0.35f, 0.75f);
    const float3 old = make_float3(1.0f, 0.72f, 0.36f);
    color[i] = shines ? xyzw(mix(young, old, age), 1.0f) : make_float4(0.5f, 0.12f, 0.3f, 0.12f);
}
