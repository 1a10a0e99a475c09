//! The window: carries events to the panels, their actions to the session, and the picture to the screen.

use std::{
    any::Any,
    collections::BTreeSet,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use egui_glow::EguiGlow;
use winit::{
    application::ApplicationHandler,
    dpi::{LogicalSize, PhysicalSize},
    event::WindowEvent,
    event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy},
    window::{Window, WindowAttributes, WindowId},
};

use super::{
    Error, Options, Result,
    detail::Detail,
    document::Document,
    export, keyboard, layout,
    origin::Origin,
    panels::{Action, Pointer, Probe},
    recovery::Recovery,
    redraw::{Next, RedrawSchedule},
    signals::Signals,
    state::{Folders, Remembered, State},
    theme,
    typing::Typing,
    viewpoints::{Viewpoint, Viewpoints},
    workspace::{Recovered, Wake, Workspace},
};
use crate::{
    device::{Choice, Device},
    diagnostic::Severity,
    draw, gl,
    interop::{self, Interop},
    scene::{self, Overrides, ViewId, built_ins},
    session::{self, Command, Exportable, Past, Session, Snapshot},
};

/// The scene that opens where nothing else was asked for or is remembered.
const FIRST_SCENE: &str = "particles";
/// How often statistics are taken while a scene plays.
const STATISTICS_EVERY: Duration = Duration::from_millis(250);

/// How the studio ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its window was closed.
    Closed,
    /// This signal asked for it; everything is kept.
    Signal(i32),
}

/// Opens the studio and returns when its window is closed, or when SIGINT or SIGTERM asks for its end.
///
/// A second one of these signals ends the process at once, as does a little more than a second in which the first was
/// of no use: a driver or a compiler may not be interruptible. What is unsaved is on the disk before.
///
/// # Errors
/// [`Error::Gl`] without a display or OpenGL, or when another program destroys the window; the errors of the device
/// and the session at the start. What goes wrong later is shown in the window.
pub fn run(options: Options) -> Result<Ended> {
    let event_loop = EventLoop::with_user_event().build().map_err(gl::Error::from)?;
    let proxy = event_loop.create_proxy();
    let signals = {
        let proxy = proxy.clone();
        // An event loop that has ended needs no telling.
        Signals::watch(move || _ = proxy.send_event(Event::End))
    };
    let mut host = Host::NotYet(Box::new(options), proxy);
    let ran = until_window_lost(|| event_loop.run_app(&mut host));
    match (host, ran) {
        (Host::Failed(error), _) => Err(*error),
        (_, Some(Ok(()))) => Ok(signals.received().map_or(Ended::Closed, Ended::Signal)),
        (Host::Open(mut studio), None | Some(Err(_))) => {
            studio.close();
            studio.destroy();
            Err(gl::Error::WindowLost.into())
        }
        (_, Some(Err(error))) => Err(gl::Error::from(error).into()),
        (_, None) => Err(gl::Error::WindowLost.into()),
    }
}

/// Runs `body`; `None` where it asked the X server about a window that another program had destroyed, for which
/// winit panics.
fn until_window_lost<T>(body: impl FnOnce() -> T) -> Option<T> {
    fn is_of_lost_window(panic: &(dyn Any + Send)) -> bool {
        // As x11rb and Xlib tell it.
        let marks = ["error_kind: Drawable", "error_kind: Window", "BadDrawable", "BadWindow"];
        let text = panic.downcast_ref::<String>().map_or("", String::as_str);
        marks.iter().any(|mark| text.contains(mark))
    }
    let hook: Arc<dyn Fn(&panic::PanicHookInfo<'_>) + Send + Sync> = panic::take_hook().into();
    let report = hook.clone();
    panic::set_hook(Box::new(move |info| {
        if !is_of_lost_window(info.payload()) {
            report(info);
        }
    }));
    // What the panic leaves half done is the window's, which is gone.
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    panic::set_hook(Box::new(move |info| hook(info)));
    match result {
        Ok(value) => Some(value),
        Err(panic) if is_of_lost_window(&*panic) => None,
        Err(panic) => panic::resume_unwind(panic),
    }
}

/// What wakes the event loop from another thread.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// There is something to look at: a compilation has ended, a file has changed.
    Look,
    /// egui wants a frame after this long.
    Repaint(Duration),
    /// A signal asks for the end.
    End,
}

/// winit makes windows only within its event loop.
enum Host {
    NotYet(Box<Options>, EventLoopProxy<Event>),
    Open(Box<Studio>),
    Failed(Box<Error>),
    Closed,
}

impl ApplicationHandler<Event> for Host {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        *self = match std::mem::replace(self, Self::Closed) {
            Self::NotYet(options, proxy) => match Studio::open(event_loop, *options, proxy) {
                Ok(studio) => Self::Open(Box::new(studio)),
                Err(error) => {
                    event_loop.exit();
                    Self::Failed(Box::new(error))
                }
            },
            other => other,
        };
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Self::Open(studio) = self else { return };
        let result = match &event {
            WindowEvent::CloseRequested => {
                studio.take_in();
                return event_loop.exit();
            }
            WindowEvent::Destroyed => Err(gl::Error::WindowLost.into()),
            event => studio.window_event(event),
        };
        if let Err(error) = result {
            studio.close();
            event_loop.exit();
            if let Self::Open(studio) = std::mem::replace(self, Self::Failed(Box::new(error))) {
                studio.destroy();
            }
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, event: Event) {
        let delay = match event {
            Event::Look => Duration::ZERO,
            Event::Repaint(delay) => delay,
            Event::End => {
                if let Self::Open(studio) = self {
                    studio.take_in();
                }
                return event_loop.exit();
            }
        };
        let Self::Open(studio) = self else { return };
        if let Some(moment) = Instant::now().checked_add(delay) {
            studio.redraws.want(moment);
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Self::Open(studio) = self else { return };
        event_loop.set_control_flow(match studio.advance() {
            Next::Draw => {
                studio.window.request_redraw();
                ControlFlow::Wait
            }
            Next::WaitUntil(moment) => ControlFlow::WaitUntil(moment),
            Next::Wait => ControlFlow::Wait,
        });
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        if let Self::Open(studio) = self {
            studio.close();
        }
        *self = match std::mem::replace(self, Self::Closed) {
            Self::Open(studio) => {
                studio.destroy();
                Self::Closed
            }
            other => other,
        };
    }
}

/// The open window and all that is behind it. Fields are dropped in this order: what uses OpenGL before the
/// context, the context before the window.
struct Studio {
    session: Option<Session>,
    view: draw::View,
    timer: gl::TimerQuery,
    egui: EguiGlow,
    context: gl::CurrentContext,
    window: Arc<Window>,

    device: Device,
    options: Options,
    proxy: EventLoopProxy<Event>,
    snapshot: Snapshot,
    workspace: Workspace,
    locals: layout::Locals,
    state: State,
    remembered: Option<Remembered>,
    detail: Detail,
    /// What the last frame took: its step, the panels, the picture.
    frame_time: Duration,
    /// What the view was drawn from, and with how much detail.
    drawn: Option<(Drawn, f32)>,
    pointer: Pointer,
    probe: Option<Probe>,
    /// What kernels get.
    mouse: [f32; 4],
    /// The documents that may include files from anywhere.
    trusted: BTreeSet<Origin>,
    redraws: RedrawSchedule,
    title: String,
    /// In pixels, as the last event said: winit panics when asked for the size of a window that is gone.
    size: PhysicalSize<u32>,
}

/// What makes a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Drawn {
    view: ViewId,
    camera: draw::Camera,
    part: draw::PanZoom,
    /// [`Session::picture`].
    picture: u64,
}

impl Studio {
    fn open(
        event_loop: &ActiveEventLoop,
        mut options: Options,
        proxy: EventLoopProxy<Event>,
    ) -> Result<Self> {
        let folders = Folders::user();
        let (remembered, state) = match folders.as_ref().map(|f| Remembered::load(&f.state)) {
            Some((remembered, state)) => (Some(remembered), state),
            None => (None, State::default()),
        };
        let document = match options.scene.take() {
            Some(document) => document,
            None => first_document(&state),
        };
        let attributes = WindowAttributes::default()
            .with_title("warpaint")
            .with_inner_size(LogicalSize::new(state.window[0], state.window[1]))
            .with_min_inner_size(LogicalSize::new(640.0, 400.0));
        let (window, context) = gl::CurrentContext::window(event_loop, &attributes)?;
        let device = open_device(options.device, &context)?;
        let egui = egui(event_loop, &window, &context, &proxy)?;
        let view = draw::View::new(context.gl(), [1, 1])?;
        let timer = gl::TimerQuery::new(context.gl())?;
        let recovery = folders.as_ref().map(|folders| Recovery::new(&folders.recovery));
        let rate = window.current_monitor().and_then(|m| m.refresh_rate_millihertz());
        let trust = options.trust;
        let session = new_session(&document, &options, trust, &context, &device, &proxy)?;
        // What the command line sets is meant for the scene that it names.
        options.overrides = Overrides::default();
        options.parameters.clear();
        let mut redraws = RedrawSchedule::new(rate);
        redraws.want(Instant::now());
        let mut studio = Self {
            snapshot: session.snapshot(),
            session: Some(session),
            view,
            timer,
            egui,
            context,
            size: window.inner_size(),
            window,
            device,
            options,
            workspace: Workspace::new(document, recovery, wake(&proxy)),
            proxy,
            locals: layout::Locals::default(),
            state,
            remembered,
            detail: Detail::new(Instant::now()),
            frame_time: Duration::ZERO,
            drawn: None,
            pointer: Pointer::default(),
            probe: None,
            mouse: [0.0; 4],
            trusted: BTreeSet::new(),
            redraws,
            title: String::new(),
        };
        // Another scene than last time is looked at anew.
        let last = studio.state.scene.clone();
        studio.note_scene();
        if studio.state.scene != last {
            studio.state.viewpoints = Viewpoints::default();
        }
        Ok(studio)
    }

    fn window_event(&mut self, event: &WindowEvent) -> Result<()> {
        match event {
            WindowEvent::RedrawRequested => return self.redraw(),
            WindowEvent::Resized(size) => {
                self.size = *size;
                self.context.resize([size.width, size.height]);
                self.redraws.want(Instant::now());
            }
            WindowEvent::DroppedFile(path) => {
                // What was typed before is the open text's.
                self.take_in();
                self.act(Action::Open(path.clone()));
                self.redraws.want(Instant::now());
            }
            _ => {}
        }
        if self.egui.on_window_event(&self.window, event).repaint {
            self.redraws.want(Instant::now());
        }
        Ok(())
    }

    /// Lets the session go on, and says when to come back.
    fn advance(&mut self) -> Next {
        let now = Instant::now();
        if self.update_session() {
            self.redraws.want(now);
        }
        self.tell_exported();
        let busy = self.session.as_ref().is_some_and(Session::is_busy);
        let kept_next = self.keep_soon(now);
        self.redraws.next(now, busy).by(kept_next)
    }

    /// Keeps text and state soon after they have changed. Gives when to call this again.
    fn keep_soon(&mut self, now: Instant) -> Option<Instant> {
        self.note_size();
        let notices = self.workspace.notices().len();
        let text = self.workspace.keep_soon(now);
        if self.workspace.notices().len() != notices {
            self.redraws.want(now);
        }
        let keeper = &self.workspace.keeper;
        let state = self.remembered.as_mut().and_then(|r| r.keep_soon(&self.state, keeper, now));
        text.into_iter().chain(state).min()
    }

    fn note_size(&mut self) {
        let size = self.size.to_logical::<f32>(self.window.scale_factor());
        self.state.window = [size.width, size.height];
    }

    /// Notes which scene is open, for the next start.
    fn note_scene(&mut self) {
        let Origin { name, path } = self.workspace.document.origin().clone();
        self.state.scene = Some(path.map_or(name, |path| path.display().to_string()));
    }

    fn update_session(&mut self) -> bool {
        match self.session.as_mut().map(Session::update) {
            None => false,
            Some(Ok(changed)) => changed,
            Some(Err(session::Error::Compile(error))) => {
                // What runs goes on; a compiler may be there when the next text comes.
                self.workspace.tell(Severity::Error, format!("Nothing can be compiled: {error}"));
                true
            }
            Some(Err(error)) => {
                self.end_session(&error);
                true
            }
        }
    }

    /// Writes a file of the state or the run while the scene goes on.
    fn export(&mut self, what: Exportable) {
        let Some(session) = &mut self.session else { return };
        if session.is_exporting() {
            // The name of the next file depends on whether that one is there.
            self.workspace.tell(Severity::Note, "The export before is still being written.");
            return;
        }
        let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let path = export::path(&self.workspace.document, what, &folder);
        session.apply(&Command::Export(what, path));
    }

    /// Tells what became of such files.
    fn tell_exported(&mut self) {
        while let Some(file) = self.session.as_mut().and_then(Session::take_exported) {
            let (severity, text) = export::told(&file);
            self.workspace.tell(severity, text);
            self.redraws.want(Instant::now());
        }
    }

    /// A session that cannot go on is gone; text and window stay.
    fn end_session(&mut self, error: &dyn std::fmt::Display) {
        self.session = None;
        self.snapshot.clock.playing = false;
        let text = format!("{error}. Nothing runs any more; Reset starts anew.");
        self.workspace.tell(Severity::Error, text);
    }

    fn redraw(&mut self) -> Result<()> {
        let start = Instant::now();
        let draw_time = self.timer.latest();
        if let (Some(took), Some((_, detail))) = (draw_time, self.drawn) {
            self.detail.note(took, detail, self.frame_time.saturating_sub(took));
        }
        self.redraws.frame(start, draw_time);
        if let Some(session) = &self.session {
            self.snapshot = session.snapshot();
        }
        if let Some(text) = self.workspace.poll(&self.snapshot.compile.included) {
            self.compile(text);
        }
        self.place_camera();
        self.context.make_current()?;
        self.probe = self.probed();
        let (actions, view) = self.panels();
        for action in actions {
            self.act(action);
        }
        self.give_input();
        self.paint(view)?;
        self.set_title();
        let step_ms: f32 = self.snapshot.passes.iter().map(|pass| pass.last_ms).sum();
        self.frame_time = start.elapsed() + Duration::from_secs_f32(step_ms.max(0.0) / 1e3);
        Ok(())
    }

    fn panels(&mut self) -> (Vec<Action>, egui::Rect) {
        let names: Vec<&str> = built_ins().iter().map(|scene| scene.name).collect();
        let shown = layout::Shown {
            snapshot: &self.snapshot,
            frames: &self.redraws.times,
            view: self.shown(),
            probe: self.probe.as_ref(),
            built_ins: &names,
        };
        let (workspace, state, locals) = (&mut self.workspace, &mut self.state, &mut self.locals);
        let mut shown_at = (Vec::new(), egui::Rect::NOTHING);
        self.egui.run(&self.window, |ui| {
            let (actions, view) = layout::show(ui, &shown, workspace, state, locals);
            // egui may run a frame twice; an action of the first run is no less meant.
            shown_at.0.extend(actions);
            shown_at.1 = view;
        });
        shown_at
    }

    /// Takes in the last keys that were typed, which no frame has seen yet.
    fn take_in(&mut self) {
        if let Err(error) = self.context.make_current() {
            return tracing::debug!("the last keys are lost: {error}");
        }
        // Each frame takes some of the keys that wait, unless there is no editor to take them.
        let mut waiting = usize::MAX;
        while waiting > 0 {
            let (actions, _) = self.panels();
            for action in actions {
                self.act(action);
            }
            let left = Typing::waiting(&self.egui.egui_ctx);
            waiting = if left < waiting { left } else { 0 };
        }
        // What the frames have made for the next picture must not be lost; nobody sees this one.
        self.egui.paint(&self.window);
    }

    /// Draws the view's picture, the panels over it, and shows both.
    fn paint(&mut self, view: egui::Rect) -> Result<()> {
        let screen: [u32; 2] = self.size.into();
        let rect = pixels(view, self.egui.egui_ctx.pixels_per_point(), screen);
        self.egui.painter.clear(screen, theme::GROUND.to_normalized_gamma_f32());
        if rect[2] > 0 && rect[3] > 0 {
            self.draw_view([rect[2], rect[3]])?;
            self.view.picture().blit_to(gl::Target::Screen, rect)?;
        }
        self.egui.paint(&self.window);
        self.context.swap_buffers()?;
        Ok(())
    }

    /// Draws the view's picture, unless it would be the one that is there.
    fn draw_view(&mut self, size: [u32; 2]) -> Result<()> {
        // A window may be larger than any texture: then the picture is enlarged.
        let largest = self.context.gl().max_picture_side();
        let size = size.map(|side| side.min(largest));
        let picture = self.session.as_ref().map_or(0, Session::picture);
        let (view, Viewpoint { camera, part, .. }) =
            (self.shown(), self.state.viewpoints.current());
        let from = Drawn { view, camera, part, picture };
        let now = Instant::now();
        let detail = match self.drawn {
            Some((drawn, detail)) if drawn == from && self.view.size() == size => {
                match self.detail.still(now, detail) {
                    Some(finer) => finer,
                    None => return Ok(()),
                }
            }
            _ => self.detail.moving(now),
        };
        self.view.resize(size)?;
        let frame = match &self.session {
            Some(session) => session.frame(view, &camera),
            None => draw::Frame::new(&camera, draw::Content::Nothing),
        };
        let frame = draw::Frame { part, detail, ..frame };
        self.timer.measure(|| self.view.draw(&frame).map(|_| ()))?;
        self.drawn = Some((from, detail));
        if let Some(moment) = self.detail.look_again(detail) {
            self.redraws.want(moment);
        }
        Ok(())
    }

    /// The view that is shown.
    fn shown(&self) -> ViewId {
        self.session
            .as_ref()
            .map_or_else(ViewId::default, |s| self.state.viewpoints.view(s.views()))
    }

    /// The size in texels of what is shown flat.
    fn image(&self) -> Option<[u32; 2]> {
        let texture = self.session.as_ref()?.image(self.shown())?;
        let [width, height, _] = texture.size().extents();
        Some([width, height])
    }

    /// What the image has under the pointer.
    fn probed(&self) -> Option<Probe> {
        let size = self.image().filter(|_| self.pointer.inside)?;
        let at = centred(self.pointer.position).into();
        let texel @ [x, y] =
            self.state.viewpoints.current().part.texel(at, size, self.view.size())?;
        match self.session.as_ref()?.texel(self.shown(), [x, y]) {
            Ok(values) => Some(Probe { texel, values: values? }),
            Err(error) => {
                tracing::debug!("the texel under the pointer is not known: {error}");
                None
            }
        }
    }

    fn pan(&mut self, [x, y]: [f32; 2]) {
        let (aspect, picture) = (self.aspect(), self.view.size());
        let image = self.image();
        match (self.state.viewpoints.current_mut(), image) {
            (Some(viewpoint), Some(image)) => {
                viewpoint.part.pan([x / aspect, y].into(), image, picture)
            }
            (Some(viewpoint), None) => viewpoint.camera.pan([x, y].into(), aspect),
            (None, _) => {}
        }
    }

    fn zoom(&mut self, factor: f32, at: [f32; 2]) {
        let picture = self.view.size();
        let image = self.image();
        match (self.state.viewpoints.current_mut(), image) {
            (Some(viewpoint), Some(image)) => {
                viewpoint.part.zoom_at(factor, at.into(), image, picture)
            }
            (Some(viewpoint), None) => viewpoint.camera.zoom(factor),
            (None, _) => {}
        }
    }

    fn orbit(&mut self, drag: [f32; 2]) {
        if let Some(viewpoint) = self.state.viewpoints.current_mut() {
            viewpoint.camera.orbit(drag.into());
        }
    }

    /// Puts the camera of the view that is shown where the manifest starts it, when that is new.
    fn place_camera(&mut self) {
        let view = self.shown();
        let Some(session) = &self.session else { return };
        let (start, is_known) = (session.start_camera(view), session.is_start_known(view));
        self.state.viewpoints.show(session.views(), view, start, is_known);
    }

    fn give_input(&mut self) {
        let keys = match self.locals.keyboard.is_the_scenes() {
            true => self.egui.egui_ctx.input(keyboard::held),
            false => scene::Keys::default(),
        };
        if let Some(session) = &mut self.session {
            session.set_input(self.mouse, keys);
        }
    }

    /// Carries out what the user wants.
    fn act(&mut self, action: Action) {
        self.redraws.want(Instant::now());
        let opens = matches!(action, Action::Open(_) | Action::OpenBuiltIn(_) | Action::Recover(_));
        if opens && Typing::waiting(&self.egui.egui_ctx) > 0 {
            self.take_in();
        }
        match action {
            Action::Edit(text) | Action::Compile(text) => self.compile(text),
            Action::Save => {
                let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
                self.workspace.save(&folder);
                self.note_scene();
            }
            Action::Open(path) => self.open_file(&path),
            Action::OpenBuiltIn(name) => self.open_built_in(&name),
            Action::Reveal(line, column) => self.locals.editor.reveal(line, column),
            Action::ReloadFromDisk => self.workspace.reload_from_disk(),
            Action::KeepMine => self.workspace.keep_mine(),
            Action::Trust => self.trust(),
            Action::Export(what) => self.export(what),
            Action::WriteManifest => self.write_manifest(),
            Action::Recover(file) => match self.workspace.recover(&file) {
                Recovered::Opened => self.opened(),
                Recovered::InPlace | Recovered::Not => {}
            },
            Action::Discard(file) => self.workspace.discard(&file),
            Action::AskLater => self.workspace.ask_later(),
            Action::Dismiss(number) => self.workspace.dismiss(number),
            Action::Orbit(drag) => self.orbit(drag),
            Action::Pan(drag) => self.pan(drag),
            Action::Zoom { factor, at } => self.zoom(factor, at),
            Action::ResetCamera => {
                self.state.viewpoints.start_anew();
                self.place_camera();
            }
            Action::ShowView(name) => {
                self.state.viewpoints.choose(name);
                self.place_camera();
            }
            Action::Pointer(pointer) => self.point(pointer),
            Action::Session(command) => match &mut self.session {
                Some(session) => session.apply(&command),
                None if command == Command::Reset => self.restart(),
                None => {}
            },
        }
    }

    fn compile(&mut self, text: String) {
        // What it makes the kernels and OpenGL do may be the last thing that the window does.
        self.workspace.keep();
        match &mut self.session {
            Some(session) => {
                session.set_source(text);
            }
            None => self.restart(),
        }
    }

    /// Lets the open scene include files from anywhere, for as long as the studio runs.
    fn trust(&mut self) {
        self.trusted.insert(self.workspace.document.origin().clone());
        if let Some(session) = &mut self.session {
            session.trust();
        }
        let text = self.workspace.document.submit();
        self.compile(text);
    }

    /// Puts a manifest before the open text, and runs it.
    fn write_manifest(&mut self) {
        let document = &mut self.workspace.document;
        let manifest = scene::draft(document.file_name(), &document.text.to_string());
        document.text.replace(vec![(0..0, manifest)], f64::NEG_INFINITY);
        let text = document.submit();
        self.compile(text);
    }

    fn point(&mut self, pointer: Pointer) {
        let picture = self.view.size();
        // Over an image kernels get the place in the image, however it is shown.
        let [x, y] = match self.image() {
            Some(size) => self
                .state
                .viewpoints
                .current()
                .part
                .at(centred(pointer.position).into(), size, picture)
                .to_array(),
            None => pointer.position,
        };
        self.pointer = pointer;
        self.mouse = [x, y, pointer.buttons as f32, self.mouse[3] + pointer.wheel];
    }

    fn aspect(&self) -> f32 {
        let [width, height] = self.view.size();
        width as f32 / height.max(1) as f32
    }

    fn open_file(&mut self, path: &Path) {
        match Document::read(path) {
            Ok(document) => self.open_document(document),
            Err(error) => {
                let text = format!("{} cannot be opened: {error}", path.display());
                self.workspace.tell(Severity::Error, text);
            }
        }
    }

    fn open_built_in(&mut self, name: &str) {
        if let Some(document) = Document::built_in(name) {
            self.open_document(document);
        }
    }

    fn open_document(&mut self, document: Document) {
        self.workspace.open(document);
        self.opened();
    }

    /// Shows the document that has come into the workspace.
    fn opened(&mut self) {
        self.note_scene();
        self.locals.editor.opened();
        self.state.viewpoints = Viewpoints::default();
        self.restart();
    }

    /// A new session for the document in the workspace. The old one's memory is free before the new one's is taken.
    fn restart(&mut self) {
        self.session = None;
        self.drawn = None;
        let (document, options) = (&self.workspace.document, &self.options);
        let trust = options.trust || self.trusted.contains(document.origin());
        let session =
            new_session(document, options, trust, &self.context, &self.device, &self.proxy);
        match session {
            Ok(session) => self.session = Some(session),
            Err(error) => self.end_session(&error),
        }
    }

    fn set_title(&mut self) {
        let mark = if self.workspace.document.is_modified() { "\u{2022} " } else { "" };
        let title = format!("{mark}{} \u{2013} warpaint", self.workspace.document.file_name());
        if title != self.title {
            self.window.set_title(&title);
            self.title = title;
        }
    }

    /// Keeps what is to be kept, and waits for it.
    fn close(&mut self) {
        self.note_size();
        if let Some(remembered) = &mut self.remembered {
            remembered.keep(&self.state, &self.workspace.keeper);
        }
        self.workspace.close();
    }

    fn destroy(mut self: Box<Self>) {
        self.session = None;
        if let Err(error) = self.context.make_current() {
            tracing::warn!("{error}");
        }
        self.egui.destroy();
    }
}

/// A session for `document`, which compiles at once.
fn new_session(
    document: &Document,
    options: &Options,
    trust: bool,
    context: &gl::CurrentContext,
    device: &Device,
    proxy: &EventLoopProxy<Event>,
) -> Result<Session> {
    let of_session = session::Options {
        path: document.path.clone(),
        trust,
        overrides: options.overrides.clone(),
        parameters: options.parameters.clone(),
        seed: options.seed,
        step_timeout: options.step_timeout,
        real_time: true,
        statistics_every: Some(STATISTICS_EVERY),
        history: Past::Kept,
        ..session::Options::new(&document.name, document.text.to_string())
    };
    let interop = Interop::new(context.gl(), device);
    let wake = wake(proxy);
    let compiler = options.compiler.clone();
    Ok(Session::open(of_session, device.clone(), compiler, interop, move || wake())?)
}

/// Wakes the event loop from any thread; an event loop that has ended needs no waking.
fn wake(proxy: &EventLoopProxy<Event>) -> Wake {
    let proxy = Mutex::new(proxy.clone());
    Arc::new(move || {
        if let Ok(proxy) = proxy.lock() {
            let _ = proxy.send_event(Event::Look);
        }
    })
}

fn egui(
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
fn open_device(choice: Choice, context: &gl::CurrentContext) -> Result<Device> {
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
fn first_document(state: &State) -> Document {
    let last = state
        .scene
        .as_deref()
        .and_then(|name| Document::read(Path::new(name)).ok().or_else(|| Document::built_in(name)));
    last.or_else(|| Document::built_in(FIRST_SCENE))
        .unwrap_or_else(|| Document::new(FIRST_SCENE, None, ""))
}

/// A place from 0 to 1 as one from -1 to 1.
fn centred(place: [f32; 2]) -> [f32; 2] {
    place.map(|part| part * 2.0 - 1.0)
}

/// A rectangle in points, y downwards, as `[x, y, width, height]` in pixels of the screen, y upwards.
fn pixels(rect: egui::Rect, scale: f32, [width, height]: [u32; 2]) -> [u32; 4] {
    let within = |value: f32, limit: u32| ((value * scale).round().max(0.0) as u32).min(limit);
    let (left, right) = (within(rect.left(), width), within(rect.right(), width));
    let (top, bottom) = (within(rect.top(), height), within(rect.bottom(), height));
    [left, height - bottom, right.saturating_sub(left), bottom.saturating_sub(top)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_turn_upside_down_and_stay_on_the_screen() {
        let rect = egui::Rect::from_min_max(egui::pos2(10.0, 20.0), egui::pos2(110.0, 70.0));
        assert_eq!(pixels(rect, 2.0, [400, 300]), [20, 160, 200, 100]);
        assert_eq!(pixels(rect, 2.0, [100, 60]), [20, 0, 80, 20]);
        assert_eq!(pixels(egui::Rect::NOTHING, 1.0, [400, 300])[2..], [0, 0]);
    }
}
