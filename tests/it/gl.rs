//! OpenGL through EGL, without a window: contexts, objects, draws, and what happens where there is none.

use warpaint::gl::{
    Attribute, Blend, Buffer, CurrentContext, Depth, Dispatch, DrawCall, Error, Format,
    Framebuffer, Headless, Kind, Primitive, Program, Samples, Size, Source, Storage, Target,
    Texture, TimerQuery, Uniform, VertexArray,
};

use crate::{
    skip::{Need, skip},
    support::{alone, expect_pass},
};

/// A context, or `None`, said aloud, where the machine has no EGL at all.
pub fn context() -> Option<CurrentContext> {
    match CurrentContext::headless(Headless::default()) {
        Ok(context) => Some(context),
        Err(error @ Error::NoEgl { .. }) => {
            skip(Need::Gl, error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_headless_context_says_what_it_is() {
    let Some(context) = context() else { return };
    let info = context.info();
    assert_eq!(info.kind, Kind::Egl);
    assert!(!info.renderer.is_empty() && !info.vendor.is_empty());
    assert!(info.version.starts_with(['3', '4']), "{info:?}");
    let devices = warpaint::gl::egl_devices().unwrap();
    assert!(devices.iter().any(|device| device.cuda_ordinal == info.cuda_ordinal), "{devices:?}");
}

#[test]
fn an_unknown_cuda_device_still_gets_a_context() {
    if context().is_none() {
        return;
    }
    let context = CurrentContext::headless(Headless { cuda_ordinal: Some(4096) }).unwrap();
    assert_ne!(context.info().cuda_ordinal, Some(4096));
}

#[test]
fn a_buffer_returns_what_was_written() {
    let Some(context) = context() else { return };
    let buffer = Buffer::new(context.gl(), 1000).unwrap();
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    buffer.write(0, &bytes).unwrap();
    buffer.write(10, &[7; 5]).unwrap();
    let mut read = vec![0; 20];
    buffer.read(5, &mut read).unwrap();
    let expected = [5, 6, 7, 8, 9, 7, 7, 7, 7, 7, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24];
    assert_eq!(read, expected);
    assert_ne!(buffer.name(), 0);
    assert_eq!(buffer.bytes(), 1000);
}

#[test]
fn a_buffer_refuses_ranges_and_sizes_that_do_not_fit() {
    let Some(context) = context() else { return };
    let buffer = Buffer::new(context.gl(), 16).unwrap();
    for (offset, length) in [(0, 17), (16, 1), (usize::MAX, 2)] {
        let error = buffer.write(offset, &vec![0; length]).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { bytes: 16, .. }), "{error}");
    }
    buffer.write(16, &[]).unwrap();
    let error = Buffer::new(context.gl(), 1 << 40).unwrap_err();
    assert!(matches!(error, Error::Size { .. }), "{error}");
}

#[test]
fn textures_of_every_format_return_what_was_written() {
    let Some(context) = context() else { return };
    for format in [Format::Rgba8, Format::Rgba16f, Format::Rgba32f, Format::Rg32f, Format::R32f] {
        for size in [Size::Flat([5, 3]), Size::Solid([3, 2, 4])] {
            let texture = Texture::new(context.gl(), format, size).unwrap();
            // Small bytes: as halves and floats they are finite, so nothing may change them.
            let bytes: Vec<u8> =
                (0..texture.bytes()).map(|i| u8::try_from(i % 60).unwrap()).collect();
            texture.write(&bytes).unwrap();
            let mut read = vec![0; bytes.len()];
            texture.read(&mut read).unwrap();
            assert_eq!(read, bytes, "{format:?} {size:?}");
            assert!(texture.write(&bytes[1..]).is_err());
        }
    }
}

#[test]
fn a_texel_is_read_as_it_is_stored() {
    let Some(context) = context() else { return };
    let of = |format, size, bytes: &[u8], at| {
        let texture = Texture::new(context.gl(), format, size).unwrap();
        texture.write(bytes).unwrap();
        texture.read_texel(at)
    };
    let bytes: Vec<u8> = (0..24).collect();
    let flat = Size::Flat([3, 2]);
    assert_eq!(of(Format::Rgba8, flat, &bytes, [1, 1, 0]).unwrap(), [16.0, 17.0, 18.0, 19.0]);
    let floats: Vec<f32> = (0..24).map(|i| i as f32 * 1.0e9 - 7.0).collect();
    let solid = Size::Solid([3, 2, 2]);
    let texel = of(Format::Rg32f, solid, bytemuck::cast_slice(&floats), [2, 0, 1]).unwrap();
    assert_eq!(texel, floats[16..18]);
    let halves: Vec<_> = floats[..12].iter().map(|f| half::f16::from_f32(f * 1.0e-9)).collect();
    let size = Size::Flat([1, 3]);
    let texel = of(Format::Rgba16f, size, bytemuck::cast_slice(&halves), [0, 2, 0]).unwrap();
    assert_eq!(texel, [8.0, 9.0, 10.0, 11.0]);
    for at in [[3, 0, 0], [0, 2, 0], [0, 0, 1]] {
        let error = of(Format::Rgba8, flat, &bytes, at).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    }
}

#[test]
fn impossible_textures_are_errors() {
    let Some(context) = context() else { return };
    for size in [Size::Flat([0, 4]), Size::Flat([1 << 20, 4]), Size::Solid([4, 4, 1 << 20])] {
        let error = Texture::new(context.gl(), Format::Rgba8, size).unwrap_err();
        assert!(matches!(error, Error::Size { .. }), "{error}");
    }
}

#[test]
fn a_cleared_framebuffer_reads_back_its_colour() {
    let Some(context) = context() else { return };
    let framebuffer = Framebuffer::new(context.gl(), Format::Rgba8, [7, 5], true).unwrap();
    framebuffer.clear([1.0, 0.5, 0.0, 1.0]);
    let pixels = framebuffer.read_rgba8().unwrap();
    assert_eq!(pixels.len(), 7 * 5 * 4);
    assert!(
        pixels.chunks(4).all(|pixel| pixel[0] == 255 && pixel[1].abs_diff(128) <= 1),
        "{pixels:?}"
    );
    let hdr = Framebuffer::new(context.gl(), Format::Rgba16f, [4, 4], false).unwrap();
    hdr.clear([100.0, -2.0, 0.25, 1.0]);
    assert!(hdr.read_rgba32f().unwrap().iter().all(|&pixel| pixel == [100.0, -2.0, 0.25, 1.0]));
}

const VERTEX: Source = Source {
    name: "test.vert",
    text: "#version 330 core\nlayout(location = 0) in vec2 at;\nvoid main() { gl_Position = vec4(at, 0.0, 1.0); }\n",
};
const FRAGMENT: Source = Source {
    name: "test.frag",
    text: "#version 330 core\nuniform vec4 tint;\nout vec4 color;\nvoid main() { color = tint; }\n",
};

/// Draws a triangle over the upper left half of a rectangle.
fn draw_half(
    context: &CurrentContext,
    target: Target<'_>,
    rect: [u32; 4],
    blend: Blend,
    tint: [f32; 4],
) {
    let gl = context.gl();
    let corners = [[-1.0_f32, -1.0], [-1.0, 1.0], [1.0, 1.0]];
    let buffer = Buffer::with_data(gl, &corners).unwrap();
    let vertices = VertexArray::new(gl, &[Attribute::packed(0, &buffer, 2)]).unwrap();
    assert_eq!(vertices.capacity(), 3);
    let program = Program::new(gl, VERTEX, FRAGMENT).unwrap();
    program.set("tint", Uniform::Vec4(tint));
    program.set("no_such_uniform", Uniform::F32(1.0));
    let primitive = Primitive::Triangles;
    let call = DrawCall {
        target,
        rect,
        program: &program,
        vertices: &vertices,
        count: 1000,
        primitive,
        blend,
        depth: Depth::Ignore,
        textures: &[],
        storage: &[],
    };
    call.draw().unwrap();
}

#[test]
fn a_dispatch_sees_what_the_one_before_stored() {
    let Some(context) = context() else { return };
    let gl = context.gl();
    if !gl.computes() {
        return skip(Need::Machine, "its OpenGL has no compute shaders");
    }
    let source = Source {
        name: "test.comp",
        text: "#version 430 core\nlayout(local_size_x = 4) in;\nuniform ivec2 factor;\n\
            layout(std430, binding = 1) buffer Values { int values[]; };\n\
            void main() { values[gl_GlobalInvocationID.x] *= factor.x * factor.y; }\n",
    };
    let values = Buffer::with_data(gl, &(0..12).collect::<Vec<i32>>()).unwrap();
    assert!(gl.max_storage_bytes() >= values.bytes());
    let program = Program::compute(gl, source).unwrap();
    program.set("factor", Uniform::Ivec2([5, -2]));
    let dispatch = Dispatch {
        program: &program,
        groups: 2,
        storage: &[Storage::new(1, &values)],
        textures: &[],
    };
    dispatch.run().unwrap();
    dispatch.run().unwrap();
    let mut read = [0_i32; 12];
    values.read(0, bytemuck::cast_slice_mut(&mut read)).unwrap();
    assert_eq!(read, [0, 100, 200, 300, 400, 500, 600, 700, 8, 9, 10, 11]);
    let broken =
        Source { name: "broken.comp", text: "#version 430 core\nvoid main() { x = 1; }\n" };
    let error = Program::compute(gl, broken).unwrap_err().to_string();
    assert!(error.contains("broken.comp:2:"), "{error}");
}

#[test]
fn a_draw_fills_its_rectangle_and_nothing_else() {
    let Some(context) = context() else { return };
    let framebuffer = Framebuffer::new(context.gl(), Format::Rgba8, [16, 8], false).unwrap();
    framebuffer.clear([0.0, 0.0, 0.0, 1.0]);
    let target = Target::Framebuffer(&framebuffer);
    draw_half(&context, target, [8, 0, 8, 8], Blend::Replace, [1.0, 0.0, 0.0, 1.0]);
    draw_half(&context, target, [8, 0, 8, 8], Blend::Add, [0.0, 1.0, 0.0, 0.0]);
    let pixels = framebuffer.read_rgba8().unwrap();
    let red = |x: usize, y: usize| pixels[(y * 16 + x) * 4];
    let green = |x: usize, y: usize| pixels[(y * 16 + x) * 4 + 1];
    // The first row is the top: the triangle's upper left half.
    assert_eq!((red(8, 0), green(8, 0)), (255, 255));
    assert_eq!((red(15, 7), red(7, 0), red(0, 0)), (0, 0, 0));
    let lit = pixels.chunks(4).filter(|pixel| pixel[0] == 255).count();
    assert!((28..=36).contains(&lit), "{lit} of 64 pixels");
}

#[test]
fn samples_are_averaged_by_a_blit() {
    let Some(context) = context() else { return };
    let gl = context.gl();
    let many =
        Framebuffer::with_samples(gl, Format::Rgba8, [8, 8], true, Samples::Many(4)).unwrap();
    let one = Framebuffer::new(gl, Format::Rgba8, [8, 8], false).unwrap();
    many.clear([0.0, 0.0, 0.0, 1.0]);
    draw_half(&context, Target::Framebuffer(&many), [0, 0, 8, 8], Blend::Replace, [1.0; 4]);
    many.blit_to(Target::Framebuffer(&one), [0, 0, 8, 8]).unwrap();
    let pixels = one.read_rgba8().unwrap();
    assert!(pixels.chunks(4).any(|pixel| (1..255).contains(&pixel[0])), "no pixel is between");
    assert!(many.read_rgba8().is_err(), "several samples cannot be read");
    assert!(many.texture().is_none());
}

#[test]
fn a_shader_error_names_file_and_line() {
    let Some(context) = context() else { return };
    let text = "#version 330 core\nout vec4 color;\nvoid main() {\n  color = vec4(missing);\n}\n";
    let error =
        Program::new(context.gl(), VERTEX, Source { name: "broken.frag", text }).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("broken.frag:4:") && text.contains("missing"), "{text}");
}

#[test]
fn contexts_on_one_thread_do_not_mix() {
    let (Some(first), Some(second)) = (context(), context()) else { return };
    let a = Buffer::with_data(first.gl(), &[1_u32, 2]).unwrap();
    let b = Buffer::with_data(second.gl(), &[3_u32, 4]).unwrap();
    let mut read = [0_u32; 2];
    a.read(0, bytemuck::cast_slice_mut(&mut read)).unwrap();
    assert_eq!(read, [1, 2]);
    b.read(0, bytemuck::cast_slice_mut(&mut read)).unwrap();
    assert_eq!(read, [3, 4]);
    let error = VertexArray::new(first.gl(), &[Attribute::packed(0, &b, 2)]).unwrap_err();
    assert!(matches!(error, Error::WrongContext { .. }), "{error}");
}

#[test]
fn objects_outlive_the_context_value_and_drop_in_any_order() {
    let Some(first) = context() else { return };
    let buffer = Buffer::with_data(first.gl(), &[5_u32]).unwrap();
    let framebuffer = Framebuffer::new(first.gl(), Format::Rgba8, [4, 4], true).unwrap();
    let glow = first.glow();
    drop(first);
    let second = context().unwrap();
    let other = Buffer::with_data(second.gl(), &[6_u32]).unwrap();
    let mut read = [0_u32];
    buffer.read(0, bytemuck::cast_slice_mut(&mut read)).unwrap();
    assert_eq!(read, [5]);
    drop(buffer);
    drop(second);
    framebuffer.clear([0.0; 4]);
    drop(framebuffer);
    drop(other);
    drop(glow);
}

#[test]
fn many_threads_have_a_context_each() {
    if context().is_none() {
        return;
    }
    let work = |value: u32| {
        let context = context().unwrap();
        let buffer = Buffer::with_data(context.gl(), &[value]).unwrap();
        let mut read = [0_u32];
        buffer.read(0, bytemuck::cast_slice_mut(&mut read)).unwrap();
        read[0]
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|value| scope.spawn(move || work(value))).collect();
        for (value, thread) in threads.into_iter().enumerate() {
            assert_eq!(thread.join().unwrap() as usize, value);
        }
    });
}

#[test]
fn a_timer_measures_without_waiting() {
    let Some(context) = context() else { return };
    let timer = TimerQuery::new(context.gl()).unwrap();
    let framebuffer = Framebuffer::new(context.gl(), Format::Rgba8, [64, 64], false).unwrap();
    let mut measured = None;
    for _ in 0..100 {
        timer.measure(|| framebuffer.clear([0.1; 4]));
        context.gl().finish();
        measured = timer.latest().or(measured);
    }
    assert!(measured.is_some());
}

/// A test in a process of its own without a display, with these variables set.
fn without_display(test: &str, variables: &[(&str, &str)]) -> std::process::Command {
    let mut command = alone(test);
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    command.envs(variables.iter().copied());
    command
}

#[test]
fn without_an_egl_driver_there_is_one_sentence() {
    // glvnd's and Mesa's own switches: no vendor library, no driver file.
    let variables = [("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent")];
    expect_pass(&mut without_display("gl::child_without_egl", &variables));
}

#[test]
#[ignore = "run by without_an_egl_driver_there_is_one_sentence"]
fn child_without_egl() {
    let error = CurrentContext::headless(Headless::default()).unwrap_err();
    assert!(matches!(error, Error::NoEgl { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("apt install") && !text.contains('\n'), "{text}");
}

/// A display to open windows on: the one that is there, or an Xvfb of our own.
#[cfg(feature = "cli")]
struct Screen {
    display: String,
    xvfb: Option<std::process::Child>,
}

#[cfg(feature = "cli")]
impl Screen {
    fn open() -> Option<Self> {
        if let Ok(display) = std::env::var("DISPLAY") {
            return Some(Self { display, xvfb: None });
        }
        let mut command = std::process::Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
        let Ok(mut xvfb) = command.spawn() else {
            skip(Need::Window, "no DISPLAY and no Xvfb");
            return None;
        };
        let mut number = String::new();
        let output = std::io::BufReader::new(xvfb.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut { output }, &mut number).unwrap();
        Some(Self { display: format!(":{}", number.trim()), xvfb: Some(xvfb) })
    }
}

#[cfg(feature = "cli")]
impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(mut xvfb) = self.xvfb.take() {
            let _ = xvfb.kill();
            let _ = xvfb.wait();
        }
    }
}

#[cfg(feature = "cli")]
#[test]
fn a_window_has_a_context_of_the_same_type() {
    let Some(screen) = Screen::open() else { return };
    let variables = [("DISPLAY", screen.display.as_str())];
    expect_pass(&mut without_display("gl::child_with_a_window", &variables));
}

#[cfg(feature = "cli")]
#[test]
fn without_a_display_there_is_one_sentence() {
    expect_pass(&mut without_display("gl::child_without_a_display", &[]));
}

#[cfg(feature = "cli")]
fn event_loop() -> Result<winit::event_loop::EventLoop<()>, Error> {
    use winit::platform::x11::EventLoopBuilderExtX11;
    // Tests do not run on the main thread.
    Ok(winit::event_loop::EventLoop::builder().with_any_thread(true).build()?)
}

#[cfg(feature = "cli")]
#[test]
#[ignore = "run by without_a_display_there_is_one_sentence"]
fn child_without_a_display() {
    let error = event_loop().unwrap_err();
    assert!(matches!(error, Error::NoDisplay { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("DISPLAY") && !text.contains('\n'), "{text}");
}

#[cfg(feature = "cli")]
#[test]
#[ignore = "run by a_window_has_a_context_of_the_same_type"]
fn child_with_a_window() {
    use winit::{application::ApplicationHandler, event::WindowEvent, event_loop::ActiveEventLoop};

    #[derive(Default)]
    struct App {
        drawn: bool,
    }

    impl ApplicationHandler for App {
        fn resumed(&mut self, event_loop: &ActiveEventLoop) {
            let attributes = winit::window::WindowAttributes::default();
            let (window, context) = CurrentContext::window(event_loop, &attributes).unwrap();
            assert_eq!(context.info().kind, Kind::Window);
            let framebuffer =
                Framebuffer::new(context.gl(), Format::Rgba8, [64, 64], false).unwrap();
            for size in [[320, 200], [0, 0], [300, 300]] {
                context.resize(size);
                framebuffer.clear([0.2, 0.4, 0.8, 1.0]);
                framebuffer.blit_to(Target::Screen, [0, 0, 64, 64]).unwrap();
                draw_half(&context, Target::Screen, [0, 0, 64, 64], Blend::Replace, [1.0; 4]);
                context.swap_buffers().unwrap();
            }
            let headless = CurrentContext::headless(Headless::default()).unwrap();
            let other = Framebuffer::new(headless.gl(), Format::Rgba8, [4, 4], false).unwrap();
            other.clear([1.0; 4]);
            // The window may go before its context, and objects after both.
            drop(window);
            context.swap_buffers().unwrap();
            drop(context);
            framebuffer.clear([0.0; 4]);
            assert_eq!(other.read_rgba8().unwrap()[0], 255);
            self.drawn = true;
            event_loop.exit();
        }

        fn window_event(
            &mut self,
            _: &ActiveEventLoop,
            _: winit::window::WindowId,
            _: WindowEvent,
        ) {
        }
    }

    let mut app = App::default();
    event_loop().unwrap().run_app(&mut app).unwrap();
    assert!(app.drawn);
}
