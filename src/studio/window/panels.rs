//! A frame of the panels, and what it shows.

use super::Studio;
use crate::{
    draw,
    scene::built_ins,
    studio::{action::Action, layout, panes::Slot, runners::Runner, seen::Seen, typing::Typing},
};

impl Studio {
    /// Shows them; gives what the user wants, and where views are to be drawn.
    pub(super) fn panels(&mut self) -> (Vec<Action>, layout::Places) {
        let names: Vec<&str> = built_ins().iter().map(|scene| scene.name).collect();
        let sights = self.state.panes.slots().map(|slot| (slot, self.seen(slot))).collect();
        let runner = Runner::of(self.device.info(), self.engine);
        let shown = layout::Shown {
            runners: &self.runners,
            runner: &runner,
            snapshot: &self.snapshot,
            frames: &self.redraws.times,
            trace: &self.trace,
            course: &self.course,
            sights,
            built_ins: &names,
            gallery: &self.gallery,
            console: &self.console,
            tables: &self.tables,
            trends: &self.trends,
        };
        let (workspace, state, locals) = (&mut self.workspace, &mut self.state, &mut self.locals);
        let mut shown_at = (Vec::new(), layout::Places::new());
        self.egui.run(&self.window, |ui| {
            let (actions, views) = layout::show(ui, &shown, workspace, state, locals);
            // egui may run a frame twice; an action of the first run is no less meant.
            shown_at.0.extend(actions);
            shown_at.1 = views;
        });
        shown_at
    }

    /// What a pane shows of a view.
    fn seen(&self, slot: Slot) -> Seen {
        let (view, session, camera) =
            (self.shown(slot), self.session.as_ref(), draw::Camera::default());
        Seen {
            view,
            probe: self.sights.get(&slot).and_then(|sight| sight.probe.clone()),
            has_other: session.is_some_and(|session| session.other_frame(view, &camera).is_some()),
            difference: session.and_then(|session| session.difference_legend(view)),
            recording: self.recording(slot),
            marked: self.followed(slot),
            legend: self.legend(slot),
            spread: self.spread(slot),
            measured: self.measured(slot),
            viewpoint: self.viewpoint(slot),
        }
    }

    /// Takes in the last keys that were typed, which no frame has seen yet.
    pub(super) fn take_in(&mut self) {
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

    /// Before another text takes its place, the open one gets the keys that were meant for it.
    pub(super) fn take_in_waiting(&mut self) {
        if Typing::waiting(&self.egui.egui_ctx) > 0 {
            self.take_in();
        }
    }
}
