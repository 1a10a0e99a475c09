//! The start of the studio.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::mpsc,
    time::{Duration, Instant},
};

use winit::{
    event_loop::{ActiveEventLoop, EventLoopProxy},
    window::WindowAttributes,
};

use super::{Studio, host::Event, opening, picking::Picking, placing, resuming::Left};
use crate::{
    diagnostic::Severity,
    gl,
    session::Engine,
    studio::{
        Options, Result,
        console::Console,
        course::Course,
        dialog::Dialogs,
        document::Document,
        fonts::Fonts,
        gallery::Gallery,
        layout,
        origin::Origin,
        own_keys::OwnKeys,
        recovery::Recovery,
        redraw::RedrawSchedule,
        runners::Runners,
        state::{Folders, Remembered, State},
        tables::Tables,
        trace::Trace,
        trends::Trends,
        workspace::Workspace,
    },
};

impl Studio {
    /// Opens the window, with what was there last time.
    pub(super) fn open(
        event_loop: &ActiveEventLoop,
        mut options: Options,
        proxy: EventLoopProxy<Event>,
    ) -> Result<Self> {
        let folders = Folders::user();
        let (remembered, state) = match folders.as_ref().map(|f| Remembered::load(&f.state)) {
            Some((remembered, state)) => (Some(remembered), state),
            None => (None, State::default()),
        };
        let left = options.resume.take().map(|folder| Left::take(&folder, &mut options));
        let (left, not_left) = match left {
            None => (None, None),
            Some(Ok(left)) => (Some(left), None),
            Some(Err(error)) => (None, Some(error)),
        };
        let document = match (&left, options.scene.take()) {
            (Some(left), _) => Document::of(&left.handover.document),
            (None, Some(document)) => document,
            (None, None) => opening::first_document(&state),
        };
        let [size, least] = placing::sizes(event_loop, state.window);
        let attributes = WindowAttributes::default()
            .with_title("warpaint")
            // Screen readers are to know of it before it is seen.
            .with_visible(false)
            .with_inner_size(size)
            .with_min_inner_size(least);
        let (window, context) = gl::CurrentContext::window(event_loop, &attributes)?;
        let device = opening::open_device(options.device, &context)?;
        let mut egui = opening::egui(event_loop, &window, &context, &proxy)?;
        egui.egui_winit.init_accesskit(event_loop, &window, proxy.clone());
        window.set_visible(true);
        let recovery = folders.as_ref().map(|folders| Recovery::new(&folders.recovery));
        let rate = window.current_monitor().and_then(|m| m.refresh_rate_millihertz());
        let trusted: BTreeSet<Origin> =
            left.iter().flat_map(|left| left.handover.trusted.iter().cloned()).collect();
        let engine = left.as_ref().map_or(Engine::Device, |left| left.handover.engine);
        let trust = options.trust || trusted.contains(document.origin());
        // What the command line sets is meant for the scene that it names.
        options.meant_for.get_or_insert_with(|| document.origin().clone());
        let run = left.as_ref().and_then(Left::run);
        let session = opening::new_session(
            (&document, run),
            &options,
            trust,
            &context,
            (&device, engine),
            &proxy,
        )?;
        // The session has them.
        options.parameters.clear();
        let mut redraws = RedrawSchedule::new(rate);
        redraws.want(Instant::now());
        let mut studio = Self {
            snapshot: session.snapshot(),
            session: Some(session),
            stuck: Vec::new(),
            sights: BTreeMap::new(),
            filming: None,
            picking: Picking::default(),
            measuring: None,
            spreads: BTreeMap::new(),
            asked_shots: BTreeSet::new(),
            egui,
            context,
            size: window.inner_size(),
            window,
            device,
            engine,
            runners: Runners::look(opening::wake(&proxy)),
            switch: None,
            options,
            workspace: Workspace::new(document, recovery, opening::wake(&proxy)),
            proxy,
            locals: layout::Locals::default(),
            console: Console::default(),
            tables: Tables::default(),
            read_at: Instant::now(),
            trends: Trends::default(),
            trace: Trace::default(),
            fonts: Fonts::default(),
            course: Course::default(),
            gallery: Gallery::default(),
            own_keys: folders.as_ref().map(|folders| OwnKeys::new(folders.shortcuts.clone())),
            thumbnails: folders.map(|folders| folders.thumbnails),
            dialogs: Dialogs::default(),
            asked_for: None,
            written: mpsc::channel(),
            writers: Vec::new(),
            state,
            remembered,
            frame_time: Duration::ZERO,
            drafting: None,
            opening: None,
            replaying: None,
            parting: None,
            anew: None,
            resets: 0,
            is_fresh: false,
            mouse: [0.0; 4],
            trusted,
            redraws,
            title: String::new(),
        };
        if let Err(error) = studio.console.listen(&studio.device, opening::wake(&studio.proxy)) {
            let text = format!("What kernels print is in the terminal alone: {error}.");
            studio.workspace.tell(Severity::Warning, text);
        }
        // Another scene than last time is looked at anew.
        let last = studio.state.scene.clone();
        studio.note_scene();
        if studio.state.scene != last {
            studio.forget_viewpoints();
        }
        if let Some(path) = studio.options.run.take() {
            studio.open_run(&path);
        }
        if let Some(left) = left {
            studio.resume(left);
        }
        if let Some(error) = not_left {
            let text = format!("What the studio was at before it started anew is gone: {error}.");
            studio.workspace.tell(Severity::Error, text);
        }
        Ok(studio)
    }
}
