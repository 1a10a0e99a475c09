// Develops light into a picture: background, content, glow, highlights, sRGB, dither. With SOFT, light is the mean of
// 4 taps; with GUIDED something stands between the background and the content.
#line 4

in vec2 uv;

uniform sampler2D light;
uniform sampler2D glow;
uniform float glow_strength;
// How far the taps are from the pixel's middle, in pixels.
uniform float softness;
// Density of one unit of weight; 0: the weight is coverage.
uniform float exposure;
uniform float heat;
uniform vec3 middle;
uniform vec3 rim;
uniform vec2 size;
#ifdef GUIDED
// sRGB, times alpha.
uniform sampler2D behind;
#endif

out vec4 color;

vec3 background() {
    vec2 from = (uv - vec2(0.5, 0.52)) * vec2(max(size.x / size.y, 1.0), max(size.y / size.x, 1.0));
    vec3 ground = mix(middle, rim, smoothstep(0.0, 0.95, length(from)));
#ifdef GUIDED
    vec4 over = texelFetch(behind, ivec2(gl_FragCoord.xy), 0);
    vec3 tint = over.rgb / max(over.a, 1.0e-3);
    // sRGB's curve, nearly.
    ground = mix(ground, tint * tint * (0.7 * tint + 0.3), over.a);
#endif
    return ground;
}

// Keeps the hue: all channels are scaled alike, and only what is far too bright pales.
vec3 compressed(vec3 c) {
    float peak = max(c.r, max(c.g, c.b));
    const float knee = 0.65;
    if (peak <= knee) return c;
    float over = peak - knee;
    float target = knee + (1.0 - knee) * (over / (over + (1.0 - knee)));
    vec3 scaled = c * (target / peak);
    float pale = 1.0 - 1.0 / (0.18 * over + 1.0);
    return mix(scaled, vec3(target), pale * 0.45);
}

// The sRGB curve from square roots, which are cheaper than powers: within 0.3 steps of 8 bits
// ("sRGB Approximations for HLSL", I. Taylor, 2012).
vec3 srgb(vec3 c) {
    vec3 s1 = sqrt(max(c, 0.0)), s2 = sqrt(s1), s3 = sqrt(s2);
    vec3 curve = 0.662002687 * s1 + 0.684122060 * s2 - 0.323583601 * s3 - 0.0225411470 * c;
    return mix(c * 12.92, curve, step(0.0031308, c));
}

// Interleaved gradient noise (J. Jimenez, 2014): breaks the bands of dark gradients.
float noise(vec2 at) {
    return fract(52.9829189 * fract(dot(at, vec2(0.06711056, 0.00583715))));
}

vec4 gathered() {
#ifdef SOFT
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 4; ++i) {
        vec2 corner = vec2(i & 1, i >> 1) * 2.0 - 1.0;
        sum += texture(light, (gl_FragCoord.xy + corner * softness) / size);
    }
    return sum / 4.0;
#else
    return texelFetch(light, ivec2(gl_FragCoord.xy), 0);
#endif
}

void main() {
    vec4 sum = gathered();
    vec3 scene;
    if (exposure > 0.0) {
        float density = min(sum.a, 6.0e4) * exposure;
        vec3 mean = sum.rgb / max(sum.a, 1.0e-6);
        float lit = 1.0 - exp(-density);
        scene = background() * (1.0 - 0.5 * lit) + mean * (lit + heat * log2(1.0 + density));
    } else {
        scene = background() * (1.0 - sum.a) + sum.rgb;
    }
    scene += texture(glow, uv).rgb * glow_strength;
    color = vec4(srgb(compressed(scene)) + (noise(gl_FragCoord.xy) - 0.5) / 255.0, 1.0);
}
