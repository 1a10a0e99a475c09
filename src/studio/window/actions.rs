//! What the user wants, carried out.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use super::{Shot, Studio, looking::Sight, opening, replaying::Replaying};
use crate::{
    diagnostic::Severity,
    scene::{Overrides, written::Unwritten},
    session::{Command, Exportable, Renamed, Session, Variant, VariantText},
    studio::{
        action::Action,
        declaration,
        dialog::Purpose,
        document::Document,
        export,
        panes::{Arrangement, Pane, Slot},
        plainly, theme,
        viewpoints::Viewpoints,
        workspace::Recovered,
        written,
    },
};

impl Studio {
    /// Writes a file of the state or the run while the scene goes on.
    pub(super) fn export(&mut self, what: Exportable) {
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

    /// Carries out what the user wants.
    pub(super) fn act(&mut self, action: Action) {
        self.redraws.want(Instant::now());
        match action {
            Action::Edit(text) | Action::Compile(text) => {
                self.is_fresh = false;
                self.compile(text);
            }
            Action::Save => self.save(),
            Action::SaveAs => self.choose_file(Purpose::SaveAs),
            Action::SaveTo(path) => self.save_to(path),
            Action::ShowStart => self.show_start(false),
            Action::ChooseFile => self.choose_file(Purpose::Open),
            Action::New(template) => self.begin(template),
            Action::Open(path) => self.open_file(&path),
            Action::OpenBuiltIn(name) => self.open_built_in(&name),
            Action::Reveal(line, column) => self.locals.editor.reveal(line, column),
            Action::RevealIn(name, line) => {
                let files = &self.snapshot.compile.included;
                if self.locals.editor.reveal_in(&name, line, files) {
                    self.state.panes.show(Pane::Editor);
                }
            }
            Action::ReloadFromDisk => self.workspace.reload_from_disk(),
            Action::KeepMine => self.workspace.keep_mine(),
            Action::Trust => self.trust(),
            Action::RunOn(runner) => self.run_on(runner),
            Action::Loop(ends) => self.go_round(ends),
            Action::Export(what) => self.export(what),
            Action::OpenShortcuts => self.open_shortcuts(),
            Action::CompareWithFile => self.compare_with_file(),
            Action::WriteManifest => self.write_manifest(),
            Action::WriteValues(names) => self.write_values(&names),
            Action::WriteCamera(slot) => self.write_camera(slot),
            Action::WriteColors(slot) => self.write_colors(slot),
            Action::SavePreset(name) => self.save_preset(&name),
            Action::KeepRenamed(renamed) => self.keep_renamed(&renamed),
            Action::Recover(file) => self.recover(&file),
            Action::Discard(file) => self.workspace.discard(&file),
            Action::AskLater => self.workspace.ask_later(),
            Action::ChooseColors(choice) => self.state.colors = choice,
            Action::Scale(factor) => {
                let scale = factor.map_or(1.0, |factor| self.state.scale * factor);
                self.state.scale = scale.clamp(theme::SCALES[0], theme::SCALES[1]);
            }
            Action::ShowElement(resource, element) => {
                self.locals.numbers.go_to(&resource, element);
                self.state.panes.show(Pane::Numbers);
            }
            Action::ExportNumbers(written) => self.export_numbers(written),
            Action::ExportTimings(written) => self.export_timings(written),
            Action::ShowPane(pane) => {
                self.locals.full = None;
                self.state.panes.show(pane);
            }
            Action::HidePane(pane) => self.state.panes.hide(pane),
            Action::PutAt(edge) => {
                let pane = self.locals.touched.unwrap_or(Pane::Editor);
                self.state.panes.show(pane);
                self.state.panes.put_at(pane, edge);
            }
            Action::AddView => self.add_view(),
            Action::UsualPanes => self.state.panes = Arrangement::default(),
            Action::ChooseLayout(name) => {
                self.state.panes = self.state.layouts.get(&name).unwrap_or_default();
            }
            Action::NameLayout => self.locals.naming.open(),
            Action::SaveLayout(name) => {
                let panes = self.state.panes.clone();
                if let Err(problem) = self.state.layouts.save(&name, panes) {
                    self.workspace.tell(Severity::Note, problem);
                }
            }
            Action::DeleteLayout(name) => self.state.layouts.delete(&name),
            Action::FullWindow => self.fill_window(),
            Action::Screenshot(slot) => self.screenshot(slot, Shot::File),
            Action::CopyPicture(slot) => self.screenshot(slot, Shot::Clipboard),
            Action::Record(slot, format) => self.record(slot, format),
            Action::StartAnew => self.begin_anew(),
            Action::ClearConsole => self.console.clear(),
            Action::Dismiss(number) => self.workspace.dismiss(number),
            Action::Look(slot, look) => self.look(slot, look),
            Action::Session(command) => {
                self.is_fresh = false;
                self.apply(&command);
            }
        }
    }

    fn apply(&mut self, command: &Command) {
        if !matches!(command, Command::Export(..)) {
            self.stop_replaying();
        }
        if command.jumps() {
            self.course.leave();
        }
        // What the command line asked for comes before what a state has, which another device or process goes on from.
        if let (Command::Seed(seed), Some(asked)) = (command, &mut self.options.seed) {
            *asked = *seed;
        }
        match &mut self.session {
            Some(session) => session.apply(command),
            None if *command == Command::Reset => self.reset_without_session(),
            None => {}
        }
    }

    /// Runs the scene again that has come to its end, in another process where a step is in the way in this one.
    fn reset_without_session(&mut self) {
        match self.stuck.is_empty() {
            true => self.restart(),
            false => {
                self.start_anew("A step could not be stopped.");
            }
        }
    }

    /// One more pane with a view: the next one of the scene, from where the active one is seen.
    fn add_view(&mut self) {
        let Some(slot) = self.state.panes.free_slot() else {
            return self.workspace.tell(Severity::Note, "There is no room for more views.");
        };
        let active = self.locals.active;
        let mut viewpoints = self.state.views.get(&active).cloned().unwrap_or_default();
        let next = self.shown(active).0 + 1;
        if let Some(view) = self.snapshot.views.get(next) {
            viewpoints.choose(view.name.clone());
        }
        self.state.views.insert(slot, viewpoints);
        self.state.panes.show(Pane::View(slot));
    }

    /// Gives the active view the whole window, or takes it away again.
    fn fill_window(&mut self) {
        let locals = &mut self.locals;
        locals.full = match locals.full {
            Some(_) => None,
            None => {
                self.state.panes.show(Pane::View(locals.active));
                Some(locals.active)
            }
        };
    }

    /// Sees the scene as its manifest has it, in all panes.
    pub(super) fn forget_viewpoints(&mut self) {
        self.state.views.values_mut().for_each(|of| *of = Viewpoints::default());
    }

    /// Goes round and round between two steps, or no more.
    fn go_round(&mut self, ends: Option<[u64; 2]>) {
        self.stop_replaying();
        let commands = self.course.set(ends, &self.snapshot);
        let Some(session) = &mut self.session else { return };
        commands.iter().for_each(|command| session.apply(command));
    }

    pub(super) fn compile(&mut self, text: String) {
        // What it makes the kernels and OpenGL do may be the last thing that the window does.
        self.workspace.keep();
        self.stop_replaying();
        match &mut self.session {
            Some(session) => {
                session.set_source(text);
            }
            // Nothing would run beside a step that cannot be stopped.
            None if !self.stuck.is_empty() => {}
            None => self.restart(),
        }
    }

    /// Compares what runs with the text that the scene's file has, or the built-in one's.
    fn compare_with_file(&mut self) {
        let document = &self.workspace.document;
        let saved = match &document.path {
            Some(path) => {
                Document::read(path).map_err(|error| format!("{}: {error}", path.display()))
            }
            None => Document::built_in(&document.name)
                .ok_or_else(|| format!("{} is in no file yet", document.file_name())),
        };
        match saved {
            Ok(saved) => {
                let text = VariantText::Given(saved.text.to_string());
                let variant = Variant { text, ..Variant::default() };
                self.act(Action::Session(Command::StartComparison(variant)));
            }
            Err(problem) => {
                self.workspace
                    .tell(Severity::Error, format!("There is nothing to compare with: {problem}."));
            }
        }
    }

    /// Lets the open scene include files from anywhere: one with a file for as long as the studio runs, another one
    /// while it is open.
    pub(super) fn trust(&mut self) {
        self.trusted.insert(self.workspace.document.origin().clone());
        if let Some(session) = &mut self.session {
            session.trust();
        }
        let text = self.workspace.document.submit();
        self.compile(text);
    }

    /// Says in the manifest that a resource has another name, and goes on from where it was given that.
    fn keep_renamed(&mut self, renamed: &Renamed) {
        let Renamed { from, to, line, at } = renamed;
        let document = &mut self.workspace.document;
        let place = declaration::keys_of(&document.text.to_string(), to, *line);
        let Some(place) = place else {
            let text = format!(
                "The text declares {to} no more. Where it does, it needs was = \"{from}\"."
            );
            return self.workspace.tell(Severity::Note, text);
        };
        let key = format!("was = \"{from}\"\n");
        document.text.replace(vec![(place..place, key)], f64::NEG_INFINITY);
        let text = document.submit();
        if let Some(session) =
            self.session.as_mut().filter(|session| session.clock().step != at.step)
        {
            session.apply(&Command::Seek(*at));
        }
        self.compile(text);
    }

    /// Puts values of parameters into the manifest.
    fn write_values(&mut self, names: &[String]) {
        let text = self.workspace.document.text.to_string();
        let parameters = self.snapshot.parameters.iter().filter(|of| names.contains(&of.name));
        let changes = written::values(&text, &self.overrides(), parameters);
        self.write(changes);
    }

    /// Puts the values of all parameters into the manifest as a preset.
    fn save_preset(&mut self, name: &str) {
        let text = self.workspace.document.text.to_string();
        let changes = written::preset(&text, &self.overrides(), name, &self.snapshot.parameters);
        self.write(changes);
    }

    /// Puts the camera of a view into the manifest.
    fn write_camera(&mut self, slot: Option<Slot>) {
        let slot = slot.unwrap_or(self.locals.active);
        let Some(view) = self.snapshot.views.get(self.shown(slot).0) else { return };
        let text = self.workspace.document.text.to_string();
        let camera = self.viewpoint(slot).camera;
        let changes = written::camera(&text, &self.overrides(), &view.name, &camera);
        self.write(changes);
    }

    /// What the text is read with.
    pub(super) fn overrides(&self) -> Overrides {
        self.session.as_ref().map(Session::overrides).unwrap_or_default()
    }

    /// Changes the text, or says why it is not changed.
    pub(super) fn write(&mut self, changes: Result<Vec<written::Change>, Unwritten>) {
        match changes {
            Ok(changes) => self.change_text(changes),
            Err(why) => {
                self.workspace.tell(Severity::Warning, format!("Nothing was written: {why}."));
            }
        }
    }

    /// Changes the text as one who types would, at once, and runs it.
    fn change_text(&mut self, changes: Vec<written::Change>) {
        let document = &mut self.workspace.document;
        document.text.replace(changes, f64::NEG_INFINITY);
        let text = document.submit();
        self.compile(text);
    }

    /// Opens a scene; a state of the open one is gone on from.
    pub(super) fn open_file(&mut self, path: &Path) {
        let is = |ending: &str| path.extension().is_some_and(|of| of.eq_ignore_ascii_case(ending));
        if is("npz") {
            return self.load_state(path);
        }
        if is("json") {
            return self.open_run(path);
        }
        match Document::read(path) {
            Ok(document) => self.open_document(document),
            Err(error) => {
                let why = plainly::told(&error);
                let text = format!("{} cannot be opened: {why}", path.display());
                self.workspace.tell(Severity::Error, text);
            }
        }
    }

    pub(super) fn open_built_in(&mut self, name: &str) {
        if let Some(document) = Document::built_in(name) {
            self.open_document(document);
        }
    }

    /// Opens what was recovered.
    fn recover(&mut self, file: &Path) {
        self.take_in_waiting();
        match self.workspace.recover(file) {
            Recovered::Opened => self.opened(),
            Recovered::InPlace | Recovered::Not => {}
        }
    }

    pub(super) fn open_document(&mut self, document: Document) {
        self.take_in_waiting();
        self.workspace.open(document);
        self.opened();
    }

    /// Shows the document that has come into the workspace.
    pub(super) fn opened(&mut self) {
        self.leave_run();
        self.show_document();
        self.restart();
    }

    /// Shows the document in the workspace without its session.
    pub(super) fn show_document(&mut self) {
        // What has no file is known by its name alone, which others have, too.
        self.trusted.retain(|origin| origin.path.is_some());
        self.note_scene();
        self.locals.editor.opened();
        self.forget_viewpoints();
    }

    /// Another scene is wanted than that of a run: what the run has is gone with it.
    pub(super) fn leave_run(&mut self) {
        self.opening = None;
        if let Some(replaying) = self.replaying.take() {
            replaying.discard();
        }
    }

    /// Ends the session, and forgets what is known of it.
    pub(super) fn clear_session(&mut self) {
        self.leave_session();
        self.sights.values_mut().for_each(Sight::forget);
        self.course.leave();
        self.unfollow();
        self.stop_measuring();
        self.spreads.clear();
        self.switch = None;
        self.console.begin();
        self.tables.clear();
        self.trends.clear();
        self.trace.clear();
    }

    /// A new session for the document in the workspace. The old one's memory is free before the new one's is taken.
    pub(super) fn restart(&mut self) {
        self.stop_replaying();
        self.clear_session();
        let (document, options) = (&self.workspace.document, &self.options);
        let run = self.replaying.as_ref().map(Replaying::replay);
        let trust = options.trust || self.trusted.contains(document.origin());
        let session = opening::new_session(
            (document, run),
            options,
            trust,
            &self.context,
            (&self.device, self.engine),
            &self.proxy,
        );
        match session {
            Ok(session) => self.session = Some(session),
            Err(error) => self.end_session(&error),
        }
    }
}
