//! The window: carries events to the panels, their actions to the session, and the picture to the screen.
//!
//! Enters: events of the operating system. Leaves: pictures on the screen, commands to the session. Must not know:
//! `array`, `kernel`, `compile`.

mod actions;
mod beside;
mod binding;
mod coloring;
mod copying;
mod drafting;
mod files;
mod filming;
mod following;
mod host;
mod loading;
mod looking;
mod measuring;
mod numbers;
mod opening;
mod panels;
mod picking;
mod placing;
mod replaying;
mod resuming;
mod start;
mod switching;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, Sender},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

pub use host::{Ended, run};

use egui_glow::EguiGlow;
use winit::{dpi::PhysicalSize, event::WindowEvent, event_loop::EventLoopProxy, window::Window};

use super::{
    Options, Result,
    action::Action,
    console::Console,
    course::Course,
    dialog::Dialogs,
    export,
    fonts::Fonts,
    gallery::Gallery,
    keyboard, layout,
    origin::Origin,
    own_keys::OwnKeys,
    panes::{Pane, Slot},
    redraw::{Next, RedrawSchedule},
    runners::Runners,
    sides,
    state::{Remembered, State},
    tables::Tables,
    theme,
    trace::Trace,
    trends::Trends,
    workspace::Workspace,
};
use crate::{
    device::Device,
    diagnostic::Severity,
    draw,
    file::TemporaryFolder,
    gl,
    scene::{self, ViewId},
    session::{self, Engine, Session, Snapshot},
};
use coloring::Spreading;
use drafting::Drafting;
use filming::{Filming, Shot};
use host::Event;
use looking::Sight;
use measuring::Measuring;
use picking::Picking;
use replaying::{Opening, Replaying};
use switching::Switch;

/// While a scene plays its numbers are read so often.
const READ_AGAIN: Duration = Duration::from_millis(500);
/// So long the window waits for the end of a step that nobody wants any more.
const LONGEST_END: Duration = Duration::from_millis(200);
/// How often the time of a step that takes long is told.
const RUNNING_PAUSE: Duration = Duration::from_millis(100);

/// The open window and all that is behind it. Fields are dropped in this order: what uses OpenGL before the
/// context, the context before the window.
struct Studio {
    session: Option<Session>,
    /// Those that were left because their step cannot be stopped: to drop one waits for that step's end.
    stuck: Vec<Session>,
    sights: BTreeMap<Slot, Sight>,
    /// The view that is being recorded.
    filming: Option<Filming>,
    /// The element that is followed.
    picking: Picking,
    /// The distance that is measured.
    measuring: Option<Measuring>,
    /// How the values are spread of which the colours are chosen.
    spreads: BTreeMap<Slot, Spreading>,
    /// Views of which a picture is to be taken, and where it goes.
    asked_shots: BTreeSet<(Slot, Shot)>,
    egui: EguiGlow,
    context: gl::CurrentContext,
    window: Arc<Window>,

    device: Device,
    /// What of it runs the kernels.
    engine: Engine,
    /// What else there is.
    runners: Runners,
    /// On the way to another one.
    switch: Option<Switch>,
    options: Options,
    proxy: EventLoopProxy<Event>,
    snapshot: Snapshot,
    workspace: Workspace,
    locals: layout::Locals,
    console: Console,
    tables: Tables,
    /// When the table's content was read last.
    read_at: Instant,
    trends: Trends,
    /// What the last frames were made of.
    trace: Trace,
    /// Letters that egui's own fonts lack.
    fonts: Fonts,
    /// Where the scene is to go by itself.
    course: Course,
    gallery: Gallery,
    /// Where the gallery's pictures are kept.
    thumbnails: Option<PathBuf>,
    dialogs: Dialogs,
    /// The document for which a file was asked for last.
    asked_for: Option<Origin>,
    /// What came of files that threads write.
    written: (Sender<Outcome>, Receiver<Outcome>),
    /// Threads that write files.
    writers: Vec<JoinHandle<()>>,
    state: State,
    remembered: Option<Remembered>,
    /// What the last frame took: its step, the panels, the picture.
    frame_time: Duration,
    /// A manifest on the way into the text.
    drafting: Option<Drafting>,
    /// A run's file on the way.
    opening: Option<Opening>,
    /// A run that is repeated.
    replaying: Option<Replaying>,
    /// Keys of the user's own, where the system knows a home folder.
    own_keys: Option<OwnKeys>,
    /// The folder that is to have the state for the process that goes on in place of this one, and whether the scene
    /// played.
    parting: Option<(TemporaryFolder, bool)>,
    /// What this process leaves to the one that goes on in its place.
    anew: Option<PathBuf>,
    /// How often the GPU was reset, in this process and those before it.
    resets: u32,
    /// Whether this is that one, and nobody has let the scene do anything yet.
    is_fresh: bool,
    /// What kernels get.
    mouse: [f32; 4],
    /// The documents that may include files from anywhere.
    trusted: BTreeSet<Origin>,
    redraws: RedrawSchedule,
    title: String,
    /// In pixels, as the last event said: winit panics when asked for the size of a window that is gone.
    size: PhysicalSize<u32>,
}

/// What became of a file, as a sentence.
type Outcome = (Severity, String);

/// What makes a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Drawn {
    view: ViewId,
    camera: draw::Camera,
    part: draw::PanZoom,
    coloring: draw::Recoloring,
    guides: Option<draw::Guides>,
    /// [`Session::picture`].
    picture: u64,
    /// How B's is shown, too, and the ends of the colours of the picture of differences.
    arrangement: Option<sides::Arrangement>,
    difference: Option<[f32; 2]>,
}

impl Studio {
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
        self.leave_stuck(now);
        if self.session.as_ref().is_some_and(|session| session.running().is_some()) {
            self.redraws.want(now + RUNNING_PAUSE);
        }
        self.follow_course();
        self.follow_switch();
        if self.runners.take() {
            self.redraws.want(now);
        }
        self.tell_exported();
        self.follow_drafting();
        self.tell_loaded();
        self.follow_opening();
        if self.is_replaying() {
            self.go_on_replaying();
            self.redraws.want(now);
        }
        if self.console.take_printed() {
            self.redraws.want(now);
        }
        self.take_chosen_file();
        self.follow_numbers(now);
        self.follow_element(now);
        self.follow_measuring(now);
        self.follow_colors(now);
        let busy = self.is_replaying() || self.session.as_ref().is_some_and(Session::is_busy);
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
        if let Some(path) = &path {
            self.state.note_recent(path);
        }
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

    /// Tells what became of such files.
    fn tell_exported(&mut self) {
        while let Some(file) = self.session.as_mut().and_then(Session::take_exported) {
            if self.take_left(&file) || self.take_parting(&file) {
                continue;
            }
            let (severity, text) = export::told(&file);
            self.workspace.tell(severity, text);
            self.redraws.want(Instant::now());
        }
    }

    /// Drops the sessions whose step has come to an end after all.
    fn leave_stuck(&mut self, now: Instant) {
        if self.stuck.is_empty() {
            return;
        }
        self.redraws.want(now + RUNNING_PAUSE);
        self.stuck.retain_mut(|session| {
            session.pause();
            // What it says of its end was told when it was left.
            let _ = session.update();
            session.is_stuck()
        });
    }

    /// A session that cannot go on is gone; text and window stay, but where the device is lost: then another process
    /// goes on.
    fn end_session(&mut self, error: &dyn std::fmt::Display) {
        if self.device.is_lost()
            && self.start_anew(&format!("CUDA is lost to this process: {error}."))
        {
            return;
        }
        self.leave_session();
        self.snapshot.clock.playing = false;
        let what = if self.stuck.is_empty() { "" } else { "the studio " };
        let text = format!("{error}. Nothing runs any more; Reset starts {what}anew.");
        self.workspace.tell(Severity::Error, text);
    }

    /// Ends the session. One whose step does not end soon is left aside, so that nobody waits for it.
    fn leave_session(&mut self) {
        let Some(mut session) = self.session.take() else { return };
        if !session.end_within(LONGEST_END) {
            self.stuck.push(session);
        }
    }

    fn redraw(&mut self) -> Result<()> {
        let start = Instant::now();
        let frame = self.frame_time;
        let times = self.sights.values_mut().filter_map(|sight| sight.note_time(frame));
        let draw_time = times.reduce(|a, b| a + b);
        self.redraws.frame(start, draw_time);
        self.trace.begin(start);
        if let Some(took) = draw_time {
            self.trace.drew(took);
        }
        if let Some(session) = &self.session {
            self.snapshot = session.snapshot();
        }
        let file = &self.workspace.document.name;
        self.trends.observe(&self.snapshot);
        self.trace.observe(&self.snapshot);
        self.console.observe(&self.snapshot, file, self.workspace.notices());
        if let Some(text) = self.workspace.poll(&self.snapshot.compile.included) {
            self.compile(text);
        }
        self.follow_own_keys();
        self.place_cameras();
        if self.locals.start.page().is_some() {
            self.gallery.take_pictures(&self.egui.egui_ctx);
        }
        theme::choose(&self.egui.egui_ctx, self.state.colors, self.state.scale);
        self.context.make_current()?;
        self.follow_fonts();
        self.probe();
        self.trace.mark("look", Instant::now());
        let (actions, views) = self.panels();
        self.trace.mark("panels", Instant::now());
        for action in actions {
            self.act(action);
        }
        self.give_input();
        self.trace.mark("act", Instant::now());
        self.paint(views)?;
        self.set_title();
        let step_ms: f32 = self.snapshot.passes.iter().map(|pass| pass.last_ms).sum();
        self.trace.end(Instant::now());
        self.frame_time = start.elapsed() + Duration::from_secs_f32(step_ms.max(0.0) / 1e3);
        Ok(())
    }

    /// Draws the views' pictures, the panels over them, and shows both.
    fn paint(&mut self, views: layout::Places) -> Result<()> {
        let screen: [u32; 2] = self.size.into();
        self.egui.painter.clear(screen, theme::ground().to_normalized_gamma_f32());
        self.sights.retain(|slot, _| self.state.panes.has(Pane::View(*slot)));
        self.end_lost_recording();
        for (slot, view) in views {
            let rect = pixels(view, self.egui.egui_ctx.pixels_per_point(), screen);
            if rect[2] > 0 && rect[3] > 0 {
                self.paint_view(slot, rect)?;
                self.take_pictures(slot);
            }
        }
        self.trace.mark("views", Instant::now());
        self.egui.paint(&self.window);
        self.trace.mark("paint", Instant::now());
        self.context.swap_buffers()?;
        self.start_anew_where_reset();
        self.trace.mark("show", Instant::now());
        Ok(())
    }

    fn give_input(&mut self) {
        let keys = match self.locals.keyboard.is_the_scenes() {
            true => self.egui.egui_ctx.input(keyboard::held),
            false => scene::Keys::default(),
        };
        if self.is_replaying() {
            return; // what entered the run does
        }
        if let Some(session) = &mut self.session {
            session.set_input(self.mouse, keys);
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
        self.end_recording();
        // A file that is on its way is to be whole. A thread that has panicked has said so.
        self.writers.drain(..).for_each(|writer| _ = writer.join());
    }

    fn destroy(mut self: Box<Self>) {
        self.session = None;
        // The process's end does not wait for them.
        self.stuck.drain(..).for_each(std::mem::forget);
        if let Err(error) = self.context.make_current() {
            tracing::warn!("{error}");
        }
        self.egui.destroy();
    }
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
