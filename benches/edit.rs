//! From an edit of the particles scene to the first picture that shows it: compiled anew (never from the cache),
//! loaded or translated, stepped, drawn.
//!
//! `cargo bench --bench edit`; runs on the CPU device, and on an NVIDIA GPU where there is one.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::time::{Duration, Instant, SystemTime};

use warpaint::{
    compile::{Cache, Compiler},
    device::{Choice, Device},
    draw, gl,
    interop::Interop,
    scene::{Scene, ViewId},
    session::{Options, Session},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The size of the studio's view at its first layout.
const SIZE_PX: [u32; 2] = [670, 592];

fn main() -> Result<()> {
    let edits = if std::env::args().any(|argument| argument == "--bench") { 15 } else { 1 };
    println!(
        "from edit to picture, {}x{} pixels, {edits} edits; milliseconds",
        SIZE_PX[0], SIZE_PX[1]
    );
    println!("{:<52} {:>7} {:>7} {:>7} {:>9}", "device", "least", "median", "most", "compiler");
    for choice in [Choice::Cpu, Choice::Cuda(0)] {
        match Device::open(choice) {
            Ok(device) => measure(&device, edits)?,
            Err(error) => println!("skipped: {error}"),
        }
    }
    Ok(())
}

fn measure(device: &Device, edits: usize) -> Result<()> {
    let source = Scene::built_in("particles").ok_or("there is no scene `particles`")?;
    let cuda_ordinal = device.as_nvidia().map(warpaint::device::nvidia::Device::ordinal);
    let context = gl::CurrentContext::headless(gl::Headless { cuda_ordinal })?;
    let mut view = draw::View::new(context.gl(), SIZE_PX)?;
    let options = Options {
        statistics_every: Some(Duration::from_millis(100)),
        ..Options::new("particles.cu", source)
    };
    let interop = Interop::new(context.gl(), device);
    // A cache in memory alone, and every text is new: each edit is compiled.
    let compiler = Compiler::new(Cache::memory());
    let mut session = Session::open(options, device.clone(), compiler, interop, || {})?;
    session.wait_for_program()?;
    show(&mut session, &mut view, &context)?;

    let mut totals = Vec::new();
    let mut compilations = Vec::new();
    for edit in 0..edits as u32 {
        let start = Instant::now();
        session.set_source(edited(source, edit)?);
        show(&mut session, &mut view, &context)?;
        totals.push(start.elapsed());
        compilations.push(session.snapshot().compile.elapsed);
        // Nobody types without a pause; meanwhile the draft is replaced by the optimised kernel.
        let pause = Instant::now();
        while pause.elapsed() < Duration::from_millis(700) {
            session.update()?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    totals.sort();
    compilations.sort();
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    let name: String = device.info().to_string().chars().take(50).collect();
    println!(
        "{name:<52} {:>7.1} {:>7.1} {:>7.1} {:>9.1}",
        ms(totals[0]),
        ms(totals[edits / 2]),
        ms(totals[edits - 1]),
        ms(compilations[edits / 2])
    );
    Ok(())
}

/// The source with another number in the kernel's own code, which no run before had: what the compiler leaves out, as an
/// unused function, would be the same PTX, and the driver's cache would answer for its JIT compiler.
fn edited(source: &str, edit: u32) -> Result<String> {
    let number = "* 0.55f;";
    if !source.contains(number) {
        return Err(format!("`particles` has no `{number}` any more").into());
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.subsec_micros();
    Ok(source.replacen(number, &format!("* 0.5{:05}f;", (now + edit) % 100_000), 1))
}

/// Goes on as the studio does until the latest source has made a step, and draws it to the end.
fn show(session: &mut Session, view: &mut draw::View, context: &gl::CurrentContext) -> Result<()> {
    let latest = session.snapshot().compile.generation;
    let mut seen = None;
    loop {
        session.update()?;
        let running = session.snapshot().compile.running == latest;
        let step = session.snapshot().clock.step;
        if running && *seen.get_or_insert(step) < step {
            break;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    let [width, height] = view.size().map(|side| side as f32);
    let camera = session.start_camera(ViewId::default(), width / height);
    view.draw(&session.frame(ViewId::default(), &camera))?;
    context.gl().finish();
    Ok(())
}
