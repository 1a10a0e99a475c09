//! The programs of `examples/` run to their end; they check their results themselves.

#![allow(clippy::print_stdout, reason = "examples show what they compute")]

/// Each example is a module of this binary, so that running it needs no further one.
macro_rules! examples {
    ($($name:ident = $path:literal;)*) => {$(
        #[path = $path]
        mod $name;

        #[test]
        fn $name() {
            $name::main().unwrap();
        }
    )*};
}

examples! {
    elementwise = "../../examples/elementwise.rs";
    errors = "../../examples/errors.rs";
    gpuarray = "../../examples/gpuarray.rs";
    matrix_multiply = "../../examples/matrix_multiply.rs";
    random_pi = "../../examples/random_pi.rs";
    rotate_image = "../../examples/rotate_image.rs";
    standalone = "../../examples/standalone/src/main.rs";
    vector_add = "../../examples/vector_add.rs";
}

#[cfg(feature = "gl")]
#[path = "../../examples/gl_interop.rs"]
mod gl_interop;

#[cfg(feature = "gl")]
#[test]
fn gl_interop() {
    // Only where there is OpenGL at all.
    if crate::gl::context().is_some() {
        gl_interop::main().unwrap();
    }
}
