// What two pictures, or two images, differ in.
#line 3

uniform sampler2D a;
uniform sampler2D b;

out vec4 color;

#ifdef IMAGES
// What is the same on both sides is no difference, also where it is infinite or no number.
float apart(float one, float other) {
    bool same = one == other || (isnan(one) && isnan(other));
    return same ? 0.0 : abs(one - other);
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 one = texelFetch(a, at, 0), other = texelFetch(b, at, 0);
    color = vec4(apart(one.r, other.r), apart(one.g, other.g), apart(one.b, other.b), apart(one.a, other.a));
}
#else
// The colours of what is brighter on either side; both together are gray.
uniform vec3 tint_a;
uniform vec3 tint_b;

float brightness(vec3 c) {
    return max(c.r, max(c.g, c.b));
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    float one = brightness(texelFetch(a, at, 0).rgb), other = brightness(texelFetch(b, at, 0).rgb);
    color = vec4(one * tint_a + other * tint_b, 1.0);
}
#endif
