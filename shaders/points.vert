#version 330 core
// One sprite a point: where it is, how large, its colour and how much light it gives.

layout(location = 0) in vec4 position;
layout(location = 1) in vec4 value;

uniform mat4 view_projection;
// The sprite's diameter in pixels at the distance `reference`, and the smallest that is drawn.
uniform float diameter;
uniform float smallest;
uniform float largest;
// Where sprites have their diameter; 0: everywhere.
uniform float reference;
// Distances (as clip w) between which points fade a little, for depth.
uniform vec2 depth_range;
// What the colour is made from: 0 to 3 a component, 4 the length of xyz, 5 rgba itself, 6 nothing.
uniform int paint;
// Smallest value and 1 / (largest - smallest).
uniform vec2 range;
// Linear colours.
uniform sampler2D colormap;

// Linear colour and weight.
flat out vec4 tint;

vec3 linear(vec3 srgb) {
    return mix(srgb / 12.92, pow((srgb + 0.055) / 1.055, vec3(2.4)), step(0.04045, srgb));
}

vec4 mapped(float scalar) {
    // What is not a number has a colour that no map has.
    if (isnan(scalar)) return vec4(1.0, 0.0, 1.0, 1.0);
    float place = clamp((scalar - range.x) * range.y, 0.0, 1.0);
    return texture(colormap, vec2((place * 255.0 + 0.5) / 256.0, 0.5));
}

vec4 painted() {
    if (paint == 5) return vec4(linear(clamp(value.rgb, 0.0, 1.0)), clamp(value.a, 0.0, 1.0));
    if (paint == 4) return mapped(length(value.xyz));
    if (paint < 4) return mapped(value[paint]);
    return mapped(range.x + 0.72 / range.y);
}

void main() {
    gl_Position = view_projection * vec4(position.xyz, 1.0);
    tint = painted();
    float depth = gl_Position.w;
    float pixels = diameter * (reference > 0.0 ? reference / max(depth, 1.0e-6) : 1.0);
    pixels = min(pixels, largest);
    // Too small for the pixels' grid: larger and fainter instead.
    float drawn = max(pixels, smallest);
    tint.a *= (pixels / drawn) * (pixels / drawn);
    tint.a *= mix(1.25, 0.7, smoothstep(depth_range.x, depth_range.y, depth));
    gl_PointSize = drawn;
    if (any(isnan(gl_Position)) || any(isinf(gl_Position)) || isnan(tint.a)) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    }
}
