// Light on a height field: a sun, the sky and its reflection, and the dusk of hollows.
#line 3

in vec2 place;
in vec3 position;

uniform sampler2D field;
uniform vec2 extent;
uniform float height;
// Where it is seen from; with w = 0 the direction.
uniform vec4 eye;

out vec4 light;

const vec3 SUN = vec3(-0.64, 0.60, -0.48);
const vec3 SUNLIGHT = vec3(1.0, 0.93, 0.82) * 1.3;
const vec3 SKY = vec3(0.24, 0.30, 0.40);
const vec3 GROUND = vec3(0.10, 0.095, 0.09);

float raised(vec2 at) {
    return texture(field, at).r * height;
}

// Differences over a texel, or over a pixel where that is larger.
vec3 normal(vec2 span) {
    float dx = raised(place + vec2(span.x, 0.0)) - raised(place - vec2(span.x, 0.0));
    float dy = raised(place + vec2(0.0, span.y)) - raised(place - vec2(0.0, span.y));
    // `place` from 0 to 1 is twice the extent; rows go away from the eye, towards -z.
    vec2 slope = vec2(dx, dy) / (4.0 * span * extent);
    return normalize(vec3(-slope.x, 1.0, slope.y));
}

// Small glints in wide ones. Powers by multiplication, which costs a software renderer less.
float shine(float facing) {
    float f4 = facing * facing * facing * facing, f12 = f4 * f4 * f4;
    float f24 = f12 * f12, f96 = f24 * f24 * f24 * f24;
    return 0.35 * f96 + 0.04 * f12;
}

void main() {
    vec2 span = max(1.0 / vec2(textureSize(field, 0)), 0.5 * fwidth(place));
    vec3 n = normal(span), to_eye = normalize(eye.xyz - position * eye.w);
    if (any(isnan(n))) n = vec3(0.0, 1.0, 0.0);
    // From below the other side is seen.
    if (dot(n, to_eye) < 0.0) n = -n;
    vec4 paint = painted(texture(field, place));
    vec3 base = linear(paint.rgb);
    float diffuse = max(dot(n, SUN), 0.0);
    vec3 ambient = mix(GROUND, SKY, n.y * 0.5 + 0.5);
    float facing = max(dot(n, normalize(SUN + to_eye)), 0.0);
    float grazing = 1.0 - max(dot(n, to_eye), 0.0), grazing2 = grazing * grazing;
    float fresnel = 0.03 + 0.7 * grazing2 * grazing2 * grazing;
    vec3 lit = base * (ambient + SUNLIGHT * diffuse);
    lit += SUNLIGHT * shine(facing) * step(0.0, dot(n, SUN));
    lit += SKY * fresnel * (0.5 + 0.5 * reflect(-to_eye, n).y);
    light = vec4(lit, 1.0);
}
