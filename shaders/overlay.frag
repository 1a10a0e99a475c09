#version 330 core
// Colours in sRGB, multiplied with their alpha. What is no glyph has the texture's white corner.

in vec2 place;
in vec4 tint;

uniform sampler2D glyphs;

out vec4 color;

void main() {
    color = tint * texture(glyphs, place);
}
