// A sprite for each point.
#line 3

layout(location = 0) in float x;
layout(location = 1) in float y;
layout(location = 2) in float z;
layout(location = 3) in vec4 value;

uniform float smallest;

// Linear colour and weight.
flat out vec4 tint;

void main() {
    Point it = point(vec3(x, y, z), value);
    // Too small for the pixels' grid: larger and fainter instead.
    gl_PointSize = max(it.pixels, smallest);
    float shrunk = it.pixels / gl_PointSize;
    tint = vec4(it.tint.rgb, it.tint.a * shrunk * shrunk);
    gl_Position = it.place;
}
