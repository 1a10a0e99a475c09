//! What follows the scene from frame to frame: the way round, fonts, screen readers.

use std::time::Instant;

use egui_winit::accesskit_winit;

use super::{Studio, opening};
use crate::diagnostic::Severity;

impl Studio {
    /// Leads the scene on where it is to go.
    pub(super) fn follow_course(&mut self) {
        if self.course.ends().is_none() {
            return;
        }
        let Some(session) = &mut self.session else { return };
        for command in self.course.next(&session.snapshot()) {
            session.apply(&command);
            self.redraws.want(Instant::now());
        }
    }

    /// Looks for fonts that have the letters of what is shown.
    pub(super) fn follow_fonts(&mut self) {
        let context = &self.egui.egui_ctx;
        if let Some(told) = self.fonts.take(context) {
            self.workspace.tell(Severity::Note, told);
        }
        let (document, snapshot) = (&self.workspace.document, &self.snapshot);
        let other = self.locals.editor.other_text();
        let text = || {
            let labels = snapshot.parameters.iter().map(|of| of.label.as_str());
            let titles = [snapshot.title.as_str(), &snapshot.summary, document.file_name()];
            let told: Vec<&str> = titles.into_iter().chain(labels).collect();
            let other = other.map(|other| other.rope().to_string()).unwrap_or_default();
            format!("{}{other}{}", document.text.rope(), told.join("\n"))
        };
        let number = document.text.revision() ^ (snapshot.compile.running << 48);
        let number = number ^ other.map_or(0, |other| other.revision().rotate_left(24));
        self.fonts.observe(context, number, text, &opening::wake(&self.proxy));
    }

    /// A screen reader comes, goes, or wants something done.
    pub(super) fn help(&mut self, event: &accesskit_winit::Event) {
        use accesskit_winit::WindowEvent;
        let context = &self.egui.egui_ctx;
        match &event.window_event {
            WindowEvent::InitialTreeRequested => context.enable_accesskit(),
            WindowEvent::AccessibilityDeactivated => context.disable_accesskit(),
            WindowEvent::ActionRequested(request) => {
                self.egui.egui_winit.on_accesskit_action_request(request.clone());
            }
        }
    }
}
