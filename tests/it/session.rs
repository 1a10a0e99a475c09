//! Running scenes: hot swap, what survives an edit, and that OpenGL sees what the kernels wrote.

mod array;
mod camera;
mod faults;
mod loops;
mod picking;
mod structures;
mod texture;
mod transport;
mod trouble;
mod view;

use crate::skip::{Need, skip};
use std::time::{Duration, Instant};

use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    gl,
    interop::{Interop, Path},
    scene::{ResourceId, Scene, ViewId},
    session::{Options, Phase, Session, Value},
};

use super::support::{COUNTER, nvidia, set};

/// The view that is shown where nobody asks for another one.
const FIRST: ViewId = ViewId(0);

fn options(name: &str, source: &str) -> Options {
    Options { step_timeout: Duration::from_secs(20), ..Options::new(name, source) }
}

/// A session without OpenGL, its first program ready.
fn open_on(device: &Device, source: &str) -> Session {
    let interop = Interop::none(device);
    let compiler = Compiler::new(Cache::user());
    let options = options("scene.cu", source);
    let mut session = Session::open(options, device.clone(), compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
    session
}

fn open(source: &str) -> Session {
    open_on(&Device::cpu().unwrap(), source)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytemuck::pod_collect_to_vec(bytes)
}

/// Component y of every element of `value`.
fn second(session: &mut Session) -> Vec<f32> {
    floats(&session.read("value").unwrap()).chunks(4).map(|v| v[1]).collect()
}

/// The line of the counter scene that [`edited`] changes in these tests is 29.
fn edited(from: &str, to: &str) -> String {
    assert!(COUNTER.contains(from));
    COUNTER.replacen(from, to, 1)
}

#[test]
fn a_failed_compilation_leaves_the_old_program_running() {
    let mut session = open(COUNTER);
    session.run_steps(3, |_| {}).unwrap();
    let text = edited("value[i].y += gain", "value[i].y += gian");
    let generation = session.set_source(text);
    assert!(!session.wait_for_program().unwrap());
    let compile = session.snapshot().compile;
    assert_eq!(
        (compile.phase, compile.generation, compile.running),
        (Phase::Rejected, generation, 1)
    );
    assert!(
        compile.diagnostics.iter().any(|d| d.text.contains("gian") && d.line == Some(29)),
        "{compile:#?}"
    );
    session.run_steps(2, |_| {}).unwrap();
    assert_eq!(second(&mut session), vec![5.0; 1000]);

    session.set_source(edited("value[i].y += gain", "value[i].y += 10.0f * gain"));
    assert!(session.wait_for_program().unwrap());
    assert!(session.snapshot().compile.diagnostics.is_empty());
    session.run_steps(1, |_| {}).unwrap();
    assert_eq!(second(&mut session), vec![15.0; 1000], "the content went on");
}

#[test]
fn an_edit_of_a_size_keeps_what_both_sizes_have() {
    let with_count = |count: &str| {
        edited(
            "[param.gain]",
            &format!("[buffer.other]\ntype = \"float\"\ncount = {count}\n[param.gain]"),
        )
        .replace(
            "advance(float4 *value, int n",
            "advance(float4 *value, float *other, int other_count, int n",
        )
        .replace(
            "value[i].y += gain;",
            "value[i].y += gain; if (i < other_count) other[i] += 1.0f;",
        )
    };
    let mut session = open(&with_count("10"));
    session.run_steps(4, |_| {}).unwrap();
    assert_eq!(floats(&session.read("other").unwrap()), vec![4.0; 10]);
    session.set_source(with_count("20"));
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    let expected = [vec![5.0; 10], vec![1.0; 10]].concat();
    assert_eq!(floats(&session.read("other").unwrap()), expected, "the rest is zeroed");
    assert_eq!(second(&mut session), vec![5.0; 1000], "it was left alone");
}

#[test]
fn a_parameter_goes_by_its_name_whatever_its_place() {
    let mut session = open(COUNTER);
    assert!(!session.set_parameter("loss", Value::Float(1.0)), "there is none");
    let value = |session: &Session| session.snapshot().parameters[0].value.clone();
    assert!(!session.set_parameter("gain", Value::Int(1)), "it is a float");
    let tables = "[param.first]\nvalue = 7\n[param.gain]";
    session.set_source(COUNTER.replace("[param.gain]", tables));
    assert!(session.wait_for_program().unwrap());
    // It is the second now.
    assert!(session.set_parameter("gain", Value::Float(0.25)));
    assert_eq!(value(&session), Value::Int(7));
    assert_eq!(session.snapshot().parameters[1].value, Value::Float(0.25));
    assert!(!session.set_parameter("gain", Value::Float(1e9)), "beyond the present slider");
    session.set_source(COUNTER.replace("gain", "loss"));
    assert!(session.wait_for_program().unwrap());
    assert!(!session.set_parameter("gain", Value::Float(0.5)), "it is gone");
}

#[test]
fn a_value_that_was_set_survives_an_edit() {
    let mut session = open(COUNTER);
    set(&mut session, "gain", Value::Float(3.0));
    session.set_source(edited("value[i].y += gain", "value[i].y -= gain"));
    assert!(session.wait_for_program().unwrap());
    session.run_steps(2, |_| {}).unwrap();
    assert_eq!(second(&mut session), vec![-6.0; 1000]);
    session.reset();
    session.run_steps(1, |_| {}).unwrap();
    assert_eq!(second(&mut session), vec![-3.0; 1000], "the reset pass ran first");
}

#[test]
fn a_program_that_waits_ends_an_endless_step() {
    let mut session =
        open(&edited("value[i].y += gain;", "while (gain > 0.0f) value[i].y += 1.0f;"));
    session.play();
    let start = Instant::now();
    while session.snapshot().clock.step == 0 && start.elapsed() < Duration::from_millis(300) {
        let before = Instant::now();
        session.update().unwrap();
        // The step itself may take 20 s until it is given up.
        assert!(before.elapsed() < Duration::from_secs(10), "update waited for the kernel");
    }
    session.set_source(COUNTER.to_owned());
    while session.snapshot().clock.step < 3 {
        session.update().unwrap();
        assert!(start.elapsed() < Duration::from_secs(30), "{:#?}", session.snapshot());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(session.snapshot().fault, None);
}

#[test]
fn a_fault_stands_on_its_line_until_it_is_mended() {
    let mut session = open(&edited("if (i < n) value[i].y += gain;", "value[i + n].y += gain;"));
    session.run_steps(1, |_| {}).unwrap();
    let fault = session.snapshot().fault.expect("the write is out of bounds");
    assert_eq!((fault.file.as_str(), fault.line), ("scene.cu", Some(29)), "{fault}");
    assert_eq!(session.snapshot().clock.step, 0);
    session.set_source(COUNTER.to_owned());
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    assert_eq!(session.snapshot().fault, None);
    assert_eq!(second(&mut session), vec![1.0; 1000]);
}

#[test]
fn the_text_that_runs_and_the_last_that_worked_are_told() {
    let mut session = open(COUNTER);
    let texts = |session: &Session| {
        let compile = session.snapshot().compile;
        (compile.text.to_string(), compile.worked.map(|text| text.to_string()))
    };
    assert_eq!(texts(&session), (COUNTER.to_owned(), None), "no step was done yet");
    session.run_steps(1, |_| {}).unwrap();
    assert_eq!(texts(&session).1.as_deref(), Some(COUNTER));
    let faulty = edited("value[i].y += gain;", "value[i + n].y += gain;");
    session.set_source(faulty.clone());
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    assert_eq!(texts(&session), (faulty, Some(COUNTER.to_owned())));
}

#[test]
fn a_fault_is_the_steps_at_whatever_moment_it_comes() {
    let text = edited("value[i].y += gain;", "value[i + n].y += gain;");
    let device = Device::cpu().unwrap();
    let options = Options { statistics_every: Some(Duration::ZERO), ..options("scene.cu", &text) };
    let compiler = Compiler::new(Cache::user());
    let interop = Interop::none(&device);
    let mut session = Session::open(options, device.clone(), compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap());
    for _ in 0..10 {
        session.reset();
        session.step_once();
        while session.snapshot().fault.is_none() {
            for _ in 0..100 {
                session.update().expect("a fault is no error");
            }
        }
    }
}

#[test]
fn a_reset_that_faulted_is_made_up_for() {
    let mut session = open(&edited("if (i < n) value[i] = make", "value[i + n] = make"));
    session.run_steps(1, |_| {}).unwrap();
    let fault = session.snapshot().fault.expect("the write is out of bounds");
    assert!(fault.text.starts_with("kernel `start`: write"), "not the lowered name: {fault}");
    session.set_source(COUNTER.to_owned());
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    let first: Vec<f32> = floats(&session.read("value").unwrap()).chunks(4).map(|v| v[0]).collect();
    assert_eq!(first[..4], [0.0, 1.0, 2.0, 3.0], "only the reset pass writes these");
}

/// The counter with buffers called `names`, each filled with 7 by a reset pass of its own.
fn with_filled(names: &[&str]) -> String {
    let mut text = COUNTER.to_owned();
    for name in names {
        let declared = format!(
            "[buffer.{name}]\ntype = \"float\"\ncount = 8\n[[pass]]\nkernel = \"fill_{name}\"\n\
             on = \"reset\"\nover = \"{name}\"\n[view]"
        );
        text = text.replacen("[view]", &declared, 1);
        text += &format!(
            "__global__ void fill_{name}(float *{name}) {{ {name}[threadIdx.x % 8] = 7; }}\n"
        );
    }
    text
}

#[test]
fn new_resources_are_filled_however_many_edits_come_before_the_next_step() {
    let mut session = open(COUNTER);
    session.run_steps(1, |_| {}).unwrap();
    for names in [&["b"][..], &["a", "b"]] {
        session.set_source(with_filled(names));
        assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile);
    }
    session.run_steps(1, |_| {}).unwrap();
    for name in ["a", "b"] {
        assert_eq!(floats(&session.read(name).unwrap()), vec![7.0; 8], "{name}");
    }
    assert_eq!(second(&mut session), vec![2.0; 1000], "what was there was left alone");
}

/// What a text is told that takes the counter's place, whose program goes on.
#[track_caller]
fn told_and_still_running(session: &mut Session, text: String) -> Vec<String> {
    session.set_source(text);
    assert!(!session.wait_for_program().unwrap());
    let compile = session.snapshot().compile;
    assert_eq!((compile.phase, compile.running), (Phase::Rejected, 1));
    session.run_steps(1, |_| {}).unwrap();
    compile.diagnostics.iter().map(ToString::to_string).collect()
}

#[test]
fn a_resource_that_is_too_large_is_told_on_its_line() {
    let device = Device::cpu().unwrap();
    let Some((_context, mut session)) = open_with_gl(&device, "scene.cu", COUNTER) else { return };
    let told = told_and_still_running(&mut session, edited("n = 1000", "n = 200000000"));
    assert!(
        told.iter()
            .any(|text| text.starts_with("scene.cu:5:9: error: the buffer value (200000000")
                && text.contains("too large")),
        "{told:#?}"
    );
}

#[test]
fn what_is_odd_about_a_manifest_is_told() {
    let session = open("/*---\n[texture.t]\nformat = \"r32f\"\nsize = [8, 8, 8]\n---*/\n");
    let told: Vec<_> =
        session.snapshot().compile.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].contains("warning: the manifest has no [[pass]]"), "{told:#?}");
}

/// A session that draws without a window, or `None` said aloud where there is no OpenGL.
fn open_with_gl(
    device: &Device,
    name: &str,
    source: &str,
) -> Option<(gl::CurrentContext, Session)> {
    let cuda_ordinal = device.as_nvidia().map(|d| d.ordinal());
    let context = match gl::CurrentContext::headless(gl::Headless { cuda_ordinal }) {
        Ok(context) => context,
        Err(error) => {
            skip(Need::Gl, error);
            return None;
        }
    };
    let interop = Interop::new(context.gl(), device);
    if device.as_nvidia().is_some() {
        assert_eq!(interop.path(), &Path::Registered, "the context was chosen for this device");
    }
    let compiler = Compiler::new(Cache::user());
    let mut session =
        Session::open(options(name, source), device.clone(), compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
    Some((context, session))
}

/// What OpenGL has of a resource.
fn seen_by_gl(session: &Session, resource: usize) -> Vec<u8> {
    let (buffer, _) = session.drawn(ResourceId(resource)).unwrap();
    let mut bytes = vec![0; buffer.bytes()];
    buffer.read(0, &mut bytes).unwrap();
    bytes
}

fn opengl_sees_each_step(device: &Device) {
    let Some((_context, mut session)) = open_with_gl(device, "scene.cu", COUNTER) else { return };
    for step in 1..=5u8 {
        session.run_steps(1, |_| {}).unwrap();
        let expected: Vec<f32> =
            (0..1000).flat_map(|i| [i as f32, f32::from(step), 0.0, 1.0]).collect();
        assert_eq!(floats(&seen_by_gl(&session, 0)), expected, "step {step}");
    }
    assert_eq!(session.read("value").unwrap(), seen_by_gl(&session, 0));
}

#[test]
fn opengl_sees_each_step_of_the_cpu_device() {
    opengl_sees_each_step(&Device::cpu().unwrap());
}

#[test]
fn opengl_sees_each_step_of_an_nvidia_device() {
    if let Some(device) = nvidia() {
        opengl_sees_each_step(&device);
    }
}

/// The built-in particles on the NVIDIA device, read through OpenGL's registered buffers, against the CPU
/// device after 1, 10 and 100 steps.
///
/// Both run the same PTX, so they differ by the last bits of its approximate functions (`ex2.approx`,
/// `rsqrt.approx`, ...: at most 2^-22 relative) and by nothing else. The flow stretches such a difference by
/// about its velocity gradient (2.3 / s) times dt a step, more where particles pass close by a separatrix, and
/// the reset pass has already carried each one through up to five seconds of flow in six strides. So the bounds
/// are on quantiles: half of the particles within 1e-5 to 1e-4, 99 of 100 within 1e-3 to 1e-1, in a cloud that
/// is about 3 wide.
#[test]
fn both_devices_agree_on_the_particles() {
    let Some(nvidia) = nvidia() else { return };
    // As many on the one as on the other.
    let source = Scene::built_in("particles").unwrap().replace("1048576", "262144");
    let Some((_context, mut gpu)) = open_with_gl(&nvidia, "particles.cu", &source) else { return };
    let mut cpu = open_on(&Device::cpu().unwrap(), &source);
    let mut wrong = Vec::new();
    let mut done = 0;
    for (steps, half_bound, most_bound) in [(1, 1e-5, 1e-3), (10, 1e-5, 1e-2), (100, 1e-4, 1e-1)] {
        gpu.run_steps(steps - done, |_| {}).unwrap();
        cpu.run_steps(steps - done, |_| {}).unwrap();
        done = steps;
        let (a, b) = (floats(&seen_by_gl(&gpu, 0)), floats(&cpu.read("position").unwrap()));
        assert_eq!(a.len(), b.len());
        let difference =
            |(a, b): (&[f32], &[f32])| (0..3).map(|k| (a[k] - b[k]).abs()).fold(0.0, f32::max);
        let mut differences: Vec<f32> = a.chunks(4).zip(b.chunks(4)).map(difference).collect();
        differences.sort_by(f32::total_cmp);
        let at = |share: f64| differences[((differences.len() - 1) as f64 * share) as usize];
        eprintln!(
            "particles after {steps} steps: half within {:e}, 99 % within {:e}, 99.9 % within {:e}, all within {:e}",
            at(0.5),
            at(0.99),
            at(0.999),
            at(1.0)
        );
        if at(0.5) > half_bound || at(0.99) > most_bound {
            wrong.push(steps);
        }
    }
    assert!(wrong.is_empty(), "too far apart after {wrong:?} steps");
}

#[test]
fn a_scene_in_real_time_is_never_faster_than_its_clock() {
    let device = Device::cpu().unwrap();
    let options = Options { real_time: true, ..options("scene.cu", COUNTER) };
    let compiler = Compiler::new(Cache::user());
    let interop = Interop::none(&device);
    let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap());
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(400) {
        session.update().unwrap();
        std::thread::sleep(Duration::from_micros(100));
    }
    let clock = session.snapshot().clock;
    // Each step of the counter takes microseconds: without the clock there would be thousands.
    assert!(clock.step >= 1, "{clock:?}");
    assert!(clock.time <= start.elapsed().as_secs_f64() + 2.0 * clock.dt, "{clock:?}");
}

#[test]
fn closing_stops_an_endless_step() {
    let text = edited("value[i].y += gain;", "while (gain > 0.0f) value[i].y += 1.0f;");
    let (done, closed) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut session = open(&text);
        session.play();
        for _ in 0..50 {
            session.update().unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(session.snapshot().clock.step, 0, "the step is under way");
        drop(session);
        done.send(()).unwrap();
    });
    closed.recv_timeout(Duration::from_secs(60)).expect("the session closes");
}
