// From values to colours, in sRGB and with alpha; `linear` makes light of them.
#line 3

// What the colour is made from: 0 to 3 a component, 4 the length of xyz, 5 rgba itself, 6 nothing.
uniform int paint;
// Smallest value and 1 / (largest - smallest), of their logarithms where it is 1; from the largest on where they are
// reversed.
uniform vec2 range;
uniform int logarithmic;
// Values are multiplied by it first.
uniform float value_scale;
// 256 colours.
uniform sampler2D colormap;

// What is not a number has a colour that no map has.
const vec4 NO_NUMBER = vec4(1.0, 0.0, 1.0, 1.0);

vec4 mapped(float scalar) {
    bool number = !isnan(scalar);
    // What is not above 0 has the colour of the smallest value.
    float along = logarithmic == 1 ? log(max(scalar, 1.0e-37)) : scalar;
    float place = number ? clamp((along - range.x) * range.y, 0.0, 1.0) : 0.0;
    return !number ? NO_NUMBER : texelFetch(colormap, ivec2(place * 255.0 + 0.5, 0), 0);
}

// What counts of a value; of a colour its alpha. All ways are gone at once here, without branches: software renderers
// go them anyway.
float counted(vec4 value) {
    float scalar = value_scale * (paint < 4 ? value[paint & 3] : length(value.xyz));
    return paint == 5 ? value_scale * value.a : paint == 6 ? range.x + 0.72 / range.y : scalar;
}

vec4 painted(vec4 value) {
    vec4 itself = any(isnan(value)) ? NO_NUMBER : clamp(value_scale * value, 0.0, 1.0);
    return paint == 5 ? itself : mapped(counted(value));
}

// A close fit of the sRGB curve ("sRGB Approximations for HLSL", I. Taylor, 2012).
vec3 linear(vec3 c) {
    return c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878);
}
