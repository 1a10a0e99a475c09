#version 330 core
// One triangle that covers the whole rectangle; no inputs.

out vec2 uv;

void main() {
    uv = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);
    gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
}
