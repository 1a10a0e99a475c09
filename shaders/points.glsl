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

// All ways are gone at once, without branches: software renderers go them anyway.
vec4 painted(vec4 value) {
    // A close fit of the sRGB curve ("sRGB Approximations for HLSL", I. Taylor, 2012).
    vec3 c = clamp(value.rgb, 0.0, 1.0);
    vec3 linear = c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878);
    float scalar = paint < 4 ? value[paint & 3] : length(value.xyz);
    if (paint == 6) scalar = range.x + 0.72 / range.y;
    bool number = !isnan(scalar);
    float place = number ? clamp((scalar - range.x) * range.y, 0.0, 1.0) : 0.0;
    vec3 mapped = texelFetch(colormap, ivec2(place * 255.0 + 0.5, 0), 0).rgb;
    // What is not a number has a colour that no map has.
    if (!number) mapped = vec3(1.0, 0.0, 1.0);
    return paint == 5 ? vec4(linear, clamp(value.a, 0.0, 1.0)) : vec4(mapped, 1.0);
}

Point point(vec3 position, vec4 value) {
    vec4 place = view_projection * vec4(position, 1.0);
    vec4 tint = painted(value);
    float pixels = diameter * (reference > 0.0 ? reference / max(place.w, 1.0e-6) : 1.0);
    tint.a *= mix(1.25, 0.7, smoothstep(depth_range.x, depth_range.y, place.w));
    if (any(isnan(place)) || any(isinf(place)) || isnan(tint.a)) place = vec4(2.0, 2.0, 2.0, 1.0);
    return Point(place, min(pixels, largest), tint);
}
