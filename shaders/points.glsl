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

struct Point {
    // In clip space; outside of it if there is nothing to draw.
    vec4 place;
    float pixels;
    // Linear colour and weight.
    vec4 tint;
};

Point point(vec3 position, vec4 value) {
    vec4 place = view_projection * vec4(position, 1.0);
    vec4 tint = painted(value);
    tint.rgb = linear(tint.rgb);
    float pixels = diameter * (reference > 0.0 ? reference / max(place.w, 1.0e-6) : 1.0);
    tint.a *= mix(1.25, 0.7, smoothstep(depth_range.x, depth_range.y, place.w));
    if (any(isnan(place)) || any(isinf(place)) || isnan(tint.a)) place = vec4(2.0, 2.0, 2.0, 1.0);
    return Point(place, min(pixels, largest), tint);
}
