//! Shader programs.

use std::{cell::RefCell, collections::HashMap};

use super::{Error, Gl, Result};

/// Linked shaders, a vertex and a fragment shader or a compute shader; uniforms are set by name.
#[derive(Debug)]
pub struct Program {
    gl: Gl,
    name: glow::NativeProgram,
    label: &'static str,
    locations: RefCell<HashMap<&'static str, Option<glow::NativeUniformLocation>>>,
}

/// A shader's text and the file that it is from.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its file name, for messages, such as `shaders/points.vert`.
    pub name: &'static str,
    /// GLSL.
    pub text: &'static str,
}

/// A value of a uniform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Uniform {
    /// `float`
    F32(f32),
    /// `int`, or a sampler's texture unit
    I32(i32),
    /// `ivec2`
    Ivec2([i32; 2]),
    /// `ivec3`
    Ivec3([i32; 3]),
    /// `vec2`
    Vec2([f32; 2]),
    /// `vec3`
    Vec3([f32; 3]),
    /// `vec4`
    Vec4([f32; 4]),
    /// `mat4`, column after column
    Mat4([f32; 16]),
}

impl Program {
    /// Compiles and links two shaders.
    ///
    /// # Errors
    /// [`Error::Shader`] with the driver's log, in which each line that names a line of the shader begins
    /// with `file:line:`.
    pub fn new(gl: &Gl, vertex: Source, fragment: Source) -> Result<Self> {
        let shaders = [
            Shader::new(gl, glow::VERTEX_SHADER, vertex)?,
            Shader::new(gl, glow::FRAGMENT_SHADER, fragment)?,
        ];
        Self::link(gl, &shaders, fragment.name)
    }

    /// Compiles and links a compute shader ([`Gl::computes`] says whether the context has any).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn compute(gl: &Gl, source: Source) -> Result<Self> {
        Self::link(gl, &[Shader::new(gl, glow::COMPUTE_SHADER, source)?], source.name)
    }

    fn link(gl: &Gl, shaders: &[Shader], label: &'static str) -> Result<Self> {
        let (gl, locations) = (gl.clone(), RefCell::default());
        let program = Self { name: gl.create_program()?, gl, label, locations };
        let (gl, name) = (&program.gl, program.name);
        shaders.iter().for_each(|shader| gl.attach_shader(name, shader.name));
        gl.link_program(name);
        shaders.iter().for_each(|shader| gl.detach_shader(name, shader.name));
        if gl.get_program_link_status(name) {
            return Ok(program);
        }
        let log = gl.get_program_info_log(name).trim_end().to_owned();
        let names: Vec<_> = shaders.iter().map(|shader| shader.source).collect();
        Err(Error::Shader { name: names.join(" with "), stage: "link", log })
    }

    /// Sets a uniform for the draws that follow. A name that the shaders do not use is ignored (compilers
    /// remove unused uniforms), and logged once.
    pub fn set(&self, name: &'static str, value: Uniform) {
        let location = self.location(name);
        let (gl, at) = (&self.gl, location.as_ref());
        self.bind();
        match value {
            Uniform::F32(x) => gl.uniform_1_f32(at, x),
            Uniform::I32(x) => gl.uniform_1_i32(at, x),
            Uniform::Ivec2([x, y]) => gl.uniform_2_i32(at, x, y),
            Uniform::Ivec3([x, y, z]) => gl.uniform_3_i32(at, x, y, z),
            Uniform::Vec2([x, y]) => gl.uniform_2_f32(at, x, y),
            Uniform::Vec3([x, y, z]) => gl.uniform_3_f32(at, x, y, z),
            Uniform::Vec4([x, y, z, w]) => gl.uniform_4_f32(at, x, y, z, w),
            Uniform::Mat4(m) => gl.uniform_matrix_4_f32_slice(at, false, &m),
        }
    }

    /// The context that it belongs to.
    pub fn gl(&self) -> &Gl {
        &self.gl
    }

    pub(super) fn bind(&self) {
        self.gl.use_program(Some(self.name));
    }

    fn location(&self, name: &'static str) -> Option<glow::NativeUniformLocation> {
        *self.locations.borrow_mut().entry(name).or_insert_with(|| {
            let location = self.gl.get_uniform_location(self.name, name);
            if location.is_none() {
                tracing::debug!(target: "warpaint::gl", "{} does not use uniform {name}", self.label);
            }
            location
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.gl.delete_program(self.name);
    }
}

/// A compiled shader, needed only until the program is linked.
struct Shader {
    gl: Gl,
    name: glow::NativeShader,
    source: &'static str,
}

impl Shader {
    fn new(gl: &Gl, kind: u32, source: Source) -> Result<Self> {
        let name = gl.create_shader(kind)?;
        let shader = Self { gl: gl.clone(), name, source: source.name };
        gl.shader_source(shader.name, source.text);
        gl.compile_shader(shader.name);
        if gl.get_shader_compile_status(shader.name) {
            return Ok(shader);
        }
        let log = gl.get_shader_info_log(shader.name);
        let log = log.trim_end().lines().map(|line| located(source.name, line)).collect::<Vec<_>>();
        Err(Error::Shader { name: source.name.into(), stage: "compile", log: log.join("\n") })
    }
}

impl Drop for Shader {
    fn drop(&mut self) {
        self.gl.delete_shader(self.name);
    }
}

/// Turns the ways in which drivers name a line into `file:line: text`: Mesa `0:12(3): error`, NVIDIA
/// `0(12) : error`, Intel and AMD `ERROR: 0:12: text`.
fn located(file: &str, line: &str) -> String {
    let parsed = || {
        let rest = line.strip_prefix("ERROR: ").unwrap_or(line).strip_prefix('0')?;
        let rest = rest.strip_prefix([':', '('])?;
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, rest) = rest.split_at(digits);
        let rest = rest.trim_start_matches(')').trim_start();
        // Mesa's column is a character count within the preprocessed line.
        let rest = match (rest.strip_prefix('('), rest.find(')')) {
            (Some(_), Some(end)) => &rest[end + 1..],
            _ => rest,
        };
        (!number.is_empty())
            .then(|| format!("{file}:{number}: {}", rest.trim_start_matches([':', ' '])))
    };
    parsed().unwrap_or_else(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::located;

    #[test]
    fn drivers_lines_become_file_and_line() {
        for (line, expected) in [
            ("0:12(3): error: `x' undeclared", "a.frag:12: error: `x' undeclared"),
            (
                "0(7) : error C1503: undefined variable \"x\"",
                "a.frag:7: error C1503: undefined variable \"x\"",
            ),
            ("ERROR: 0:4: 'x' : undeclared identifier", "a.frag:4: 'x' : undeclared identifier"),
            ("2 compilation errors.", "2 compilation errors."),
        ] {
            assert_eq!(located("a.frag", line), expected);
        }
    }
}
