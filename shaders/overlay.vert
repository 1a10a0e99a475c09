#version 330 core
// Flat triangles, in points from the picture's upper left corner.

layout(location = 0) in vec2 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 color;

// Of the picture, in points.
uniform vec2 size;

out vec2 place;
out vec4 tint;

void main() {
    place = uv;
    tint = color;
    gl_Position = vec4(position / size * vec2(2.0, -2.0) + vec2(-1.0, 1.0), 0.0, 1.0);
}
