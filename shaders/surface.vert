// A height field without a buffer: rows of cells, raised by a texture.
#line 3

uniform sampler2D field;
uniform mat4 view_projection;
uniform ivec2 cells;
// Half of the field's width and depth.
uniform vec2 extent;
// Of the value 1.
uniform float height;
// How far from a vertex the four places are whose mean it has, as a part of the field.
uniform vec2 reach;

out vec2 place;
out vec3 position;

float raised(vec2 at) {
    float sum = 0.0;
    for (int i = 0; i < 4; ++i) sum += texture(field, at + reach * (vec2(i & 1, i >> 1) * 2.0 - 1.0)).r;
    return isnan(sum) || isinf(sum) ? 0.0 : sum / 4.0 * height;
}

void main() {
    // One strip: a row's first and last vertices come twice, so that nothing is seen between two rows.
    int row_length = 2 * cells.x + 4;
    int along = clamp(gl_VertexID % row_length - 1, 0, 2 * cells.x + 1);
    vec2 corner = vec2(along >> 1, gl_VertexID / row_length + (along & 1)) / vec2(cells);
    vec2 half_texel = 0.5 / vec2(textureSize(field, 0));
    place = mix(half_texel, 1.0 - half_texel, corner);
    vec2 flat_place = (place * 2.0 - 1.0) * extent;
    position = vec3(flat_place.x, raised(place), -flat_place.y);
    gl_Position = view_projection * vec4(position, 1.0);
}
