// Light that a cloud in a box sends to the eye, gathered along each pixel's ray from the front to the back.
#line 3

in vec2 uv;

uniform sampler3D volume;
uniform vec3 eye;
// A ray's direction is `forward` in the picture's middle, `right` and `up` lead from there to its edges.
uniform vec3 forward;
uniform vec3 right;
uniform vec3 up;
// 1: all rays go forward, each from a place of its own, and what is behind the eye is seen, too.
uniform float parallel;
// Half of the box.
uniform vec3 extent;
// Optical depth of the value 1 along a length of 1.
uniform float density;
// The longest step.
uniform float stride;
// A pixel's width at a distance of 1.
uniform float pixel;

out vec4 light;

const int MOST_STEPS = 1024;
// What is behind so much is not seen.
const float OPAQUE = 0.996;
// So little opacity of a step is not seen, nor that of all steps.
const float CLEAR = 1.0e-6;
const vec4 EDGE = vec4(0.10, 0.11, 0.13, 1.0);

// Interleaved gradient noise (J. Jimenez, 2014): steps that begin at different places leave no bands.
float noise(vec2 at) {
    return fract(52.9829189 * fract(dot(at, vec2(0.06711056, 0.00583715))));
}

// Where the ray enters and leaves the box.
vec2 through_box(vec3 from, vec3 ray) {
    vec3 a = (-extent - from) / ray, b = (extent - from) / ray;
    vec3 near = min(a, b), far = max(a, b);
    return vec2(max(max(near.x, near.y), near.z), min(min(far.x, far.y), far.z));
}

// The box's edges, a pixel wide: where the second nearest of the faces is near.
vec4 edge(vec3 at, float from) {
    vec3 q = extent - abs(at);
    float second = max(min(q.x, q.y), min(max(q.x, q.y), q.z));
    return EDGE * 0.7 * (1.0 - smoothstep(0.4, 1.4, second / (pixel * from)));
}

// Where the light comes from, and how far towards it a place is compared with.
const vec3 TO_SUN = vec3(-0.41, 0.76, 0.50);
const float REACH = 0.12;

// How dense it is; what is not a number can be seen.
float thickness(vec4 value) {
    float counts = counted(value);
    return isnan(counts) ? 1.0 : max(counts, 0.0);
}

// Brighter where it thins out towards the light, darker where it thickens; as it is where all around is alike.
float shade(float here, vec3 at) {
    float there = thickness(texture(volume, at + TO_SUN / extent * (0.5 * REACH)));
    return 1.0 + 0.75 * (here - there) / max(here + there, 1.0e-9);
}

// Linear colour, times opacity, and opacity of a step.
vec4 emitted(vec3 at, vec4 value, float length) {
    float here = thickness(value);
    float opacity = 1.0 - exp(-here * density * length);
    return vec4(linear(painted(value).rgb) * shade(here, at), 1.0) * opacity;
}

void main() {
    vec3 aside = right * (uv.x * 2.0 - 1.0) + up * (uv.y * 2.0 - 1.0);
    vec3 ray = normalize(forward + aside * (1.0 - parallel)), from = eye + aside * parallel;
    vec2 span = through_box(from, ray);
    float begin = parallel > 0.0 ? span.x : max(span.x, 0.0), path = span.y - begin;
    if (path <= 0.0) {
        light = vec4(0.0);
        return;
    }
    // Where pixels are as wide everywhere, they are so as at the target.
    vec2 seen_from = parallel > 0.0 ? vec2(length(forward)) : span;
    vec4 sum = span.x >= begin ? edge(from + ray * span.x, seen_from.x) : vec4(0.0);
    int steps = clamp(int(ceil(path / stride)), 1, MOST_STEPS);
    float stretch = path / float(steps);
    vec3 step_by = ray * stretch / extent * 0.5;
    vec3 at = (from + ray * begin) / extent * 0.5 + 0.5 + step_by * noise(gl_FragCoord.xy);
    float nothing = CLEAR / max(density * stretch, 1.0e-9);
    for (int i = 1; i <= steps && sum.a < OPAQUE; ++i) {
        vec4 value = texture(volume, at);
        // Where all is clear the rest need not be known. In a loop, because software renderers go both ways of a
        // branch.
        for (; i < steps && thickness(value) < nothing; ++i) {
            at += step_by;
            value = texture(volume, at);
        }
        sum += emitted(at, value, stretch) * (1.0 - sum.a);
        at += step_by;
    }
    light = sum + edge(from + ray * span.y, seen_from.y) * (1.0 - sum.a);
}
