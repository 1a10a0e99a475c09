// What a point is: where it is, how large, its colour and how much light it gives.
#line 3

uniform mat4 view_projection;
// The diameter in pixels at the distance `reference`.
uniform float diameter;
uniform float largest;
// Where points have their diameter; 0: everywhere.
uniform float reference;
// Distances (as clip w) between which points fade a little, for depth.
uniform vec2 depth_range;
// What the colour is made from: 0 to 3 a component, 4 the length of xyz, 5 rgba itself, 6 nothing.
uniform int paint;
// Smallest value and 1 / (largest - smallest).
uniform vec2 range;
// Linear colours.
uniform sampler2D colormap;

struct Point {
    // In clip space; outside of it if there is nothing to draw.
    vec4 place;
    float pixels;
    // Linear colour and weight.
    vec4 tint;
};

vec3 linear(vec3 srgb) {
    return mix(srgb / 12.92, pow((srgb + 0.055) / 1.055, vec3(2.4)), step(0.04045, srgb));
}

vec4 mapped(float scalar) {
    // What is not a number has a colour that no map has.
    if (isnan(scalar)) return vec4(1.0, 0.0, 1.0, 1.0);
    float place = clamp((scalar - range.x) * range.y, 0.0, 1.0);
    return textureLod(colormap, vec2((place * 255.0 + 0.5) / 256.0, 0.5), 0.0);
}

vec4 painted(vec4 value) {
    if (paint == 5) return vec4(linear(clamp(value.rgb, 0.0, 1.0)), clamp(value.a, 0.0, 1.0));
    if (paint == 4) return mapped(length(value.xyz));
    if (paint < 4) return mapped(value[paint]);
    return mapped(range.x + 0.72 / range.y);
}

Point point(vec3 position, vec4 value) {
    vec4 place = view_projection * vec4(position, 1.0);
    vec4 tint = painted(value);
    float pixels = diameter * (reference > 0.0 ? reference / max(place.w, 1.0e-6) : 1.0);
    tint.a *= mix(1.25, 0.7, smoothstep(depth_range.x, depth_range.y, place.w));
    if (any(isnan(place)) || any(isinf(place)) || isnan(tint.a)) place = vec4(2.0, 2.0, 2.0, 1.0);
    return Point(place, min(pixels, largest), tint);
}
