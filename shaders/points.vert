// A sprite for each point.
#line 3

layout(location = 0) in vec4 position;
layout(location = 1) in vec4 value;

uniform float smallest;

// Linear colour and weight.
flat out vec4 tint;

void main() {
    Point it = point(position.xyz, value);
    // Too small for the pixels' grid: larger and fainter instead.
    gl_PointSize = max(it.pixels, smallest);
    float shrunk = it.pixels / gl_PointSize;
    tint = vec4(it.tint.rgb, it.tint.a * shrunk * shrunk);
    gl_Position = it.place;
}
