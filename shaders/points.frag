#version 330 core
// A round sprite: soft light that adds up, or a lit ball that hides what is behind.

flat in vec4 tint;

uniform bool opaque;

out vec4 light;

void main() {
    vec2 at = gl_PointCoord * 2.0 - 1.0;
    float r2 = dot(at, at);
    if (opaque) {
        if (r2 > 1.0) discard;
        vec3 normal = vec3(at.x, -at.y, sqrt(1.0 - r2));
        float lambert = max(dot(normal, normalize(vec3(-0.4, 0.6, 0.7))), 0.0);
        float shine = pow(lambert, 40.0) * 0.25;
        light = vec4(tint.rgb * (0.4 + 0.9 * lambert) + shine * (0.1 + tint.rgb), 1.0);
        return;
    }
    // (1 - r^2)^2: soft, zero with its slope at the rim, integral pi / 3.
    float soft = max(1.0 - r2, 0.0);
    float weight = tint.a * soft * soft;
    light = vec4(tint.rgb * weight, weight);
}
