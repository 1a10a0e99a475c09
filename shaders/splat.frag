#version 430 core
// Makes light from the points' sums, and leaves these at zero for the next frame.

layout(std430, binding = 0) buffer Sums { uvec4 sums[]; };

uniform ivec2 size;
uniform float unit;

out vec4 light;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int i = at.y * size.x + at.x;
    uvec4 sum = sums[i];
    sums[i] = uvec4(0u);
    vec4 whole = vec4(sum) / unit;
    // Half floats end at 65504.
    light = whole * min(1.0, 6.0e4 / max(whole.a, 1.0));
}
