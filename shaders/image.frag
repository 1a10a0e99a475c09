// Shows a part of a texture as it is.
#line 3

uniform sampler2D image;
// In pixels.
uniform vec2 size;
// What is in the picture's middle, and how much of the image the picture spans; 0 to 1 is all of it.
uniform vec2 centre;
uniform vec2 span;
// Texels are squares.
uniform bool nearest;
// So many taps along each axis are averaged.
uniform int taps;
// The linear colour beside the image.
uniform vec3 ground;

out vec4 color;

// Linear between texels; samplers of GPUs know only 256 places between two of them.
vec4 between(vec2 place) {
    ivec2 last = textureSize(image, 0) - 1;
    vec2 at = place * vec2(last + 1) - 0.5;
    vec2 low = floor(at), part = at - low;
    ivec2 a = clamp(ivec2(low), ivec2(0), last), b = clamp(ivec2(low) + 1, ivec2(0), last);
    vec4 bottom = mix(texelFetch(image, a, 0), texelFetch(image, ivec2(b.x, a.y), 0), part.x);
    vec4 top = mix(texelFetch(image, ivec2(a.x, b.y), 0), texelFetch(image, b, 0), part.x);
    return mix(bottom, top, part.y);
}

// The mean of what the pixel covers, which is `pixel` wide and high.
vec4 mean(vec2 place, vec2 pixel) {
    vec4 sum = vec4(0.0);
    for (int y = 0; y < taps; ++y) {
        for (int x = 0; x < taps; ++x) {
            vec2 tap = (vec2(x, y) + 0.5) / float(taps) - 0.5;
            sum += texture(image, place + tap * pixel);
        }
    }
    return sum / float(taps * taps);
}

vec4 texel(vec2 place, vec2 pixel) {
    if (nearest) return texelFetch(image, ivec2(place * vec2(textureSize(image, 0))), 0);
    return taps > 1 ? mean(place, pixel) : between(place);
}

vec3 checker() {
    ivec2 square = ivec2(gl_FragCoord.xy) / 8;
    return vec3(((square.x + square.y) & 1) == 0 ? 0.16 : 0.22);
}

// The colour around the image, with a thin line at its edge.
vec3 around(float pixels_away) {
    vec3 plain = 1.055 * pow(ground, vec3(1.0 / 2.4)) - 0.055;
    return pixels_away < 1.0 ? plain + 0.12 : plain;
}

void main() {
    vec2 place = centre + (gl_FragCoord.xy / size - 0.5) * span;
    vec2 pixel = vec2(dFdx(place.x), dFdy(place.y));
    vec2 away = (abs(place - 0.5) - 0.5) / pixel;
    float outside = max(away.x, away.y);
    if (outside > 0.0) {
        color = vec4(around(outside), 1.0);
        return;
    }
    vec4 paint = painted(texel(place, pixel));
    color = vec4(mix(checker(), paint.rgb, paint.a), 1.0);
}
