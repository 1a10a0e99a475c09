#version 330 core
// Glow around bright places: shrinks the picture again and again, then doubles it again, each time blurred.

in vec2 uv;

uniform sampler2D source;
// How far the taps are from the middle, in texture coordinates.
uniform vec2 reach;
// Whether the source is light.
uniform bool emitted;
uniform float exposure;

out vec4 color;

vec3 glowing(vec2 at) {
    vec4 sum = texture(source, at);
    if (!emitted) return sum.rgb;
    if (exposure <= 0.0) return max(sum.rgb - 0.8, 0.0);
    float density = min(sum.a, 6.0e4) * exposure;
    return sum.rgb / max(sum.a, 1.0e-6) * log2(1.0 + density);
}

void main() {
    vec3 sum = vec3(0.0);
    for (int i = 0; i < 4; ++i) sum += glowing(uv + reach * (vec2(i & 1, i >> 1) * 2.0 - 1.0));
    color = vec4(sum / 4.0, 1.0);
}
