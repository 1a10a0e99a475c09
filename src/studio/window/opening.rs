//! What the studio is opened with: the device, the first scene, a session, the panels.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use egui_glow::EguiGlow;
use winit::{
    event_loop::{ActiveEventLoop, EventLoopProxy},
    window::Window,
};

use super::host::Event;
use crate::{
    device::{Choice, Device, DeviceKind},
    gl,
    interop::{self, Interop},
    scene::Overrides,
    session::{self, Engine, Past, Replay, Session},
    studio::{
        Options, Result, document::Document, state::State, theme, typing::Typing, wake::Wake,
    },
};

/// The scene that opens where nothing else was asked for or is remembered.
const FIRST_SCENE: &str = "particles";
/// How often statistics are taken while a scene plays.
const STATISTICS_EVERY: Duration = Duration::from_millis(250);

/// A session for `document`, which compiles at once; the device runs its kernels in this way. Where the document is
/// that of a run, it has what the run has.
pub(super) fn new_session(
    (document, run): (&Document, Option<&Replay>),
    options: &Options,
    trust: bool,
    context: &gl::CurrentContext,
    (device, engine): (&Device, Engine),
    proxy: &EventLoopProxy<Event>,
) -> Result<Session> {
    let own = session::Options { engine, ..of_session(document, options, trust) };
    let of_session = match run {
        Some(run) => of_run(run, own),
        None => own,
    };
    open(of_session, options, context, device, proxy)
}

/// A session that repeats a run from the start, paused.
pub(super) fn new_replay(
    replay: &Replay,
    options: &Options,
    context: &gl::CurrentContext,
    device: &Device,
    proxy: &EventLoopProxy<Event>,
) -> Result<Session> {
    let run = replay.run();
    let text = run.texts.first().map_or("", |text| &text.text);
    let document = Document::new(&run.name, None, text);
    let engine = match run.interpreted && device.info().kind == DeviceKind::Cpu {
        true => Engine::Interpreter,
        false => Engine::Device,
    };
    let own = session::Options { engine, ..of_session(&document, options, options.trust) };
    let mut session = open(of_run(replay, own), options, context, device, proxy)?;
    session.pause();
    Ok(session)
}

/// The options of a session for the document of a run, with what the run has: its files, what its command line
/// replaced, its seed.
fn of_run(run: &Replay, own: session::Options) -> session::Options {
    session::Options {
        path: own.path.clone().or_else(|| Some(run.place())),
        overrides: run.overrides(),
        parameters: Vec::new(),
        seed: run.run().seed,
        seed_is_asked_for: true,
        ..own
    }
}

fn of_session(document: &Document, options: &Options, trust: bool) -> session::Options {
    let usual = session::Options::new(&document.name, document.text.to_string());
    session::Options {
        path: document.path.clone(),
        trust,
        overrides: match &options.meant_for {
            Some(scene) if scene == document.origin() => options.overrides.clone(),
            Some(_) | None => Overrides::default(),
        },
        parameters: options.parameters.clone(),
        seed: options.seed.unwrap_or(usual.seed),
        seed_is_asked_for: options.seed.is_some(),
        step_timeout: options.step_timeout,
        real_time: true,
        guarded: true,
        statistics_every: Some(STATISTICS_EVERY),
        history: Past::Kept,
        ..usual
    }
}

fn open(
    of_session: session::Options,
    options: &Options,
    context: &gl::CurrentContext,
    device: &Device,
    proxy: &EventLoopProxy<Event>,
) -> Result<Session> {
    let interop = Interop::new(context.gl(), device);
    let wake = wake(proxy);
    let compiler = options.compiler.clone();
    let rescue = device.info().kind == DeviceKind::Nvidia;
    let of_session = session::Options { rescue, ..of_session };
    Ok(Session::open(of_session, device.clone(), compiler, interop, move || wake())?)
}

/// Wakes the event loop from any thread; an event loop that has ended needs no waking.
pub(super) fn wake(proxy: &EventLoopProxy<Event>) -> Wake {
    let proxy = Mutex::new(proxy.clone());
    Arc::new(move || {
        if let Ok(proxy) = proxy.lock() {
            let _ = proxy.send_event(Event::Look);
        }
    })
}

pub(super) fn egui(
    event_loop: &ActiveEventLoop,
    window: &Window,
    context: &gl::CurrentContext,
    proxy: &EventLoopProxy<Event>,
) -> Result<EguiGlow> {
    let scale = window.scale_factor() as f32;
    // `EguiGlow::new` panics where its painter cannot be made, so that is tried first.
    egui_glow::Painter::new(context.glow(), "", None, true)
        .map_err(|error| gl::Error::Window { reason: format!("no panels: {error}") })?
        .destroy();
    // Without dithering: panels are of few colours, and where a CPU draws it costs a quarter of their time.
    let egui = EguiGlow::new(event_loop, context.glow(), None, Some(scale), false);
    theme::apply(&egui.egui_ctx);
    egui.egui_ctx.add_plugin(Typing::default());
    let proxy = Mutex::new(proxy.clone());
    egui.egui_ctx.set_request_repaint_callback(move |request| {
        if let Ok(proxy) = proxy.lock() {
            let _ = proxy.send_event(Event::Repaint(request.delay));
        }
    });
    Ok(egui)
}

/// The device asked for; where the choice is free, the GPU that draws the window.
pub(super) fn open_device(choice: Choice, context: &gl::CurrentContext) -> Result<Device> {
    if choice == Choice::Auto
        && let Ok(ordinals) = interop::cuda_devices_of(context.gl())
        && let Some(ordinal) = ordinals.first()
    {
        match Device::open(Choice::Cuda(*ordinal)) {
            Ok(device) => return Ok(device),
            Err(error) => tracing::warn!("cuda:{ordinal} draws, but does not compute: {error}"),
        }
    }
    Ok(Device::open(choice)?)
}

/// The scene of last time, else the first of the built-in ones.
pub(super) fn first_document(state: &State) -> Document {
    let last = state
        .scene
        .as_deref()
        .and_then(|name| Document::read(Path::new(name)).ok().or_else(|| Document::built_in(name)));
    last.or_else(|| Document::built_in(FIRST_SCENE))
        .unwrap_or_else(|| Document::new(FIRST_SCENE, None, ""))
}
