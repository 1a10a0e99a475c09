// Adds the light of small points to the pixels under them, in whole numbers: these do not depend on the order.
#line 3

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Xs { float xs[]; };
layout(std430, binding = 1) readonly buffer Ys { float ys[]; };
layout(std430, binding = 2) readonly buffer Zs { float zs[]; };
layout(std430, binding = 3) readonly buffer Values { float values[]; };
layout(std430, binding = 4) buffer Sums { uint sums[]; };

// Of x, y and z the place of the first in its buffer, and how far it is from one to the next; 0: it is 0 everywhere.
uniform ivec3 position_offsets;
uniform ivec3 position_strides;
// The same of the values, and how many components they have; 0: points have none.
uniform ivec3 value_layout;
// Points of this run, and those of the runs before it.
uniform int count;
uniform int before;
uniform ivec2 size;
// A unit of weight in whole numbers.
uniform float unit;
// Diameter up to which four pixels share a point's light, and the light over the diameter's square.
uniform float fine;
uniform float light;


void add(ivec2 at, vec4 light) {
    if (any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, size))) return;
    int sum = (at.y * size.x + at.x) * 4;
    uvec4 whole = uvec4(light);
    atomicAdd(sums[sum], whole.r);
    atomicAdd(sums[sum + 1], whole.g);
    atomicAdd(sums[sum + 2], whole.b);
    atomicAdd(sums[sum + 3], whole.a);
}

vec3 position_of(int i) {
    ivec3 step = position_strides, at = position_offsets + i * step;
    return vec3(step.x > 0 ? xs[at.x] : 0.0, step.y > 0 ? ys[at.y] : 0.0, step.z > 0 ? zs[at.z] : 0.0);
}

vec4 value_of(int i) {
    int n = value_layout.z, at = value_layout.x + i * value_layout.y;
    return vec4(
        n > 0 ? values[at] : 0.0,
        n > 1 ? values[at + 1] : 0.0,
        n > 2 ? values[at + 2] : 0.0,
        n > 3 ? values[at + 3] : 1.0
    );
}

void splat(int i) {
    Point it = point(position_of(i), value_of(i));
    if (any(greaterThan(abs(it.place.xyz), it.place.www))) return;
    vec2 at = (it.place.xy / it.place.w * 0.5 + 0.5) * vec2(size) - 0.5;
    vec4 whole = vec4(it.tint.rgb, 1.0) * it.tint.a * unit;
    // Rounds up or down by chance, so that faint light is not lost.
    float chance = float((uint(before + i) * 2654435769u) >> 8) / 16777216.0;
    if (it.pixels <= fine) {
        vec2 corner = floor(at), part = at - corner;
        ivec2 pixel = ivec2(corner);
        whole *= it.pixels * it.pixels * light;
        vec4 w = vec4(1.0 - part.x, part.x, 1.0 - part.x, part.x) * vec4(vec2(1.0 - part.y), part.yy);
        add(pixel, whole * w.x + chance);
        add(pixel + ivec2(1, 0), whole * w.y + chance);
        add(pixel + ivec2(0, 1), whole * w.z + chance);
        add(pixel + ivec2(1, 1), whole * w.w + chance);
        return;
    }
    float radius = it.pixels * 0.5;
    ivec2 low = ivec2(ceil(at - radius)), high = ivec2(floor(at + radius));
    for (int y = low.y; y <= high.y; ++y) {
        for (int x = low.x; x <= high.x; ++x) {
            vec2 from = (vec2(x, y) - at) / radius;
            float soft = max(1.0 - dot(from, from), 0.0);
            add(ivec2(x, y), whole * (soft * soft) + chance);
        }
    }
}

void main() {
    int stride = int(gl_NumWorkGroups.x * gl_WorkGroupSize.x);
    for (int i = int(gl_GlobalInvocationID.x); i < count; i += stride) splat(i);
}
