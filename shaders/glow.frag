#version 330 core
// Glow around bright places: shrinks the picture again and again, then doubles it again, each time blurred.

in vec2 uv;

uniform sampler2D source;
// One texel of the source, in texture coordinates.
uniform vec2 texel;
// 0: light to a quarter; 1: halves; 2: doubles.
uniform int stage;
uniform float exposure;

out vec4 color;

vec3 emitted(vec2 at) {
    vec4 sum = texture(source, at);
    if (stage > 0) return sum.rgb;
    if (exposure <= 0.0) return max(sum.rgb - 0.8, 0.0);
    float density = min(sum.a, 6.0e4) * exposure;
    return sum.rgb / max(sum.a, 1.0e-6) * log2(1.0 + density);
}

void main() {
    vec3 sum = vec3(0.0);
    if (stage < 2) {
        for (int i = 0; i < 4; ++i) sum += emitted(uv + texel * (vec2(i & 1, i >> 1) * 2.0 - 1.0));
        color = vec4(sum / 4.0, 1.0);
        return;
    }
    for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
            sum += texture(source, uv + texel * vec2(x, y)).rgb * float((2 - abs(x)) * (2 - abs(y)));
    color = vec4(sum / 16.0, 1.0);
}
