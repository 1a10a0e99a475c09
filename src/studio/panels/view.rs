//! The view: the scene's picture, which the window draws, and what the pointer does over it.
//!
//! Enters: a snapshot, what is known of the picture, the pointer. Leaves: what is to be looked at, and how; the place
//! that the picture has. Must not know: `draw`, `gl`, `studio::window`.

mod chooser;
mod colors;
mod followed;
mod measure;
mod menu;

use std::time::Duration;

use egui::{Align2, FontId, Id, PointerButton, Pos2, Rect, Response, Sense, Ui, vec2};

use super::{axes, legend, recording, sides};
use crate::{
    session::{Legend, Phase, Snapshot, ViewState},
    studio::{
        action::Action,
        icons,
        look::{Look, Pointer},
        number,
        panes::Slot,
        seen::{Probe, Seen},
        sides::{Arrangement, Sides},
        theme,
        viewpoints::Switch,
    },
};

/// From the legend's lower right end to the picture's.
const FROM_CORNER: egui::Vec2 = vec2(14.0, 38.0);

/// What the view remembers from frame to frame.
#[derive(Debug, Default)]
pub struct Local {
    pointer: Pointer,
    /// Whether keys are meant for it: somebody has walked here with Tab.
    pub focused: bool,
    /// Whether the pointer was pressed on it.
    pub pressed: bool,
    /// How much of its upper edge is taken.
    pub top: f32,
    /// Where the card of the element is that is followed.
    card: Option<Rect>,
}

/// What a pane shows.
pub struct Shown<'a> {
    /// The session.
    pub snapshot: &'a Snapshot,
    /// The view, and what is known of its picture.
    pub seen: &'a Seen,
    /// The pane.
    pub slot: Slot,
    /// Whether it has the whole window.
    pub is_full: bool,
    /// Whether keys are for it.
    pub is_active: bool,
    /// Whether it is not the only one.
    pub may_close: bool,
}

/// Takes all the space there is, for one of the views and what an image has under the pointer; gives its place in
/// points.
pub fn show(
    ui: &mut Ui,
    shown: &Shown<'_>,
    sides: &mut Sides,
    local: &mut Local,
) -> (Rect, Vec<Action>) {
    let Shown { snapshot, seen, slot, .. } = *shown;
    let probe = seen.probe.as_ref();
    let rect = ui.available_rect_before_wrap();
    let response = ui.allocate_rect(rect, Sense::click_and_drag());
    let about = seen_as(snapshot, seen);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &about));
    local.focused = response.has_focus();
    local.pressed = response.is_pointer_button_down_on();
    let view = snapshot.views.get(seen.view.0);
    let measures = seen.measured.is_some();
    let hand = Hand::of(view, measures);
    let both = snapshot.comparison.as_ref().filter(|_| seen.has_other);
    let arranged = both.map(|_| *sides);
    let place = |place| within(sides::picture_at(rect, arranged.as_ref(), place), place);
    let mut looks = camera(ui, &response, hand, place);
    // Two clicks are two ends, however soon the second one comes.
    looks.retain(|look| !measures || *look != Look::Reset);
    looks.extend(pick(ui, &response, (hand, measures), place));
    let gone = Pointer { inside: false, wheel: 0.0, ..local.pointer };
    let mut pointer = pointer(ui, &response, place).unwrap_or(gone);
    if measures {
        pointer.buttons = 0;
    }
    if pointer != local.pointer || pointer.wheel != 0.0 {
        local.pointer = pointer;
        looks.push(Look::Pointer(pointer));
    }
    let look = |look| Action::Look(Some(slot), look);
    let mut actions: Vec<Action> = looks.into_iter().map(look).collect();
    let top = chooser::show(ui, rect, shown, response.hovered(), &mut actions);
    local.top = top;
    if let Some(comparison) = both {
        sides::show(ui, rect, top, comparison, sides);
    }
    let hint = if measures { MEASURES } else { hand.hint() };
    let hint = response.hovered().then_some(hint);
    overlay(ui, rect.with_min_y(rect.top() + top), snapshot, hint);
    let is_difference = arranged.is_some_and(|it| it.arrangement == Arrangement::Difference);
    // The colours of two pictures in one stand for A and B.
    let legend = match is_difference {
        true => seen.difference.as_ref(),
        false => seen.legend.as_ref(),
    };
    if !view.is_some_and(ViewState::is_flat) && view.is_some() && seen.viewpoint.shows.axes {
        actions.extend(axes::show(ui, rect, slot, &seen.viewpoint));
    }
    if let Some(progress) = seen.recording {
        actions.extend(recording::show(ui, rect, slot, progress));
    }
    let mut taken = None;
    if let Some(legend) = legend.filter(|_| !is_difference) {
        taken = choose_colors(ui, rect, shown, legend, &mut actions);
    }
    match &seen.marked {
        Some(marked) => {
            let picture = sides::picture_at(rect, arranged.as_ref(), rect.left_center());
            let under = rect.with_min_y(rect.top() + top);
            let places = followed::Places { rect: under, picture, taken };
            actions.extend(followed::show(ui, places, slot, marked, &mut local.card));
        }
        None => local.card = None,
    }
    if let Some(measured) = &seen.measured {
        let picture = sides::picture_at(rect, arranged.as_ref(), rect.left_center());
        measure::show(ui, picture, measured, response.hover_pos());
    }
    corners(ui, rect, legend, probe.filter(|_| response.hovered()));
    (rect, actions)
}

/// What those are told who do not see it.
fn seen_as(snapshot: &Snapshot, seen: &Seen) -> String {
    match snapshot.views.get(seen.view.0) {
        Some(view) => format!("Picture of the view {}", view.name),
        None => "No picture".to_owned(),
    }
}

/// The hint while distances are measured.
const MEASURES: &str = "click: an end of the distance    drag, wheel: as ever    Escape: no more";

/// The legend opens what the colours are chosen with, above it; where that is, if it is open.
fn choose_colors(
    ui: &Ui,
    rect: Rect,
    shown: &Shown<'_>,
    legend: &Legend,
    actions: &mut Vec<Action>,
) -> Option<Rect> {
    let (slot, viewpoint) = (shown.slot, &shown.seen.viewpoint);
    let room = Legend::room(rect.right_bottom() - FROM_CORNER);
    let response = ui.interact(room, Id::unique(("legend", slot)), Sense::click());
    let tip = "Choose the colours (Alt+L)";
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, tip));
    if response.clicked() {
        actions.push(Action::Look(Some(slot), Look::Switch(Switch::Colors)));
    }
    response.on_hover_text(tip);
    if !viewpoint.has(Switch::Colors) {
        return None;
    }
    let (chosen, spread) = (&viewpoint.coloring, shown.seen.spread.as_ref());
    let card = colors::Shown { slot, legend, chosen, spread };
    let corner = room.right_top() - vec2(0.0, 6.0);
    let (changes, card) = colors::show(ui, (rect, corner), &card);
    actions.extend(changes);
    Some(card)
}

/// What a drag with the first button does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hand {
    /// It turns the camera.
    Turns,
    /// It moves the image.
    Moves,
    /// It is for the kernels, which take `mouse`; other drags move the image.
    Touches,
}

impl Hand {
    fn of(view: Option<&ViewState>, measures: bool) -> Self {
        match view {
            Some(view) if view.is_flat() && view.takes_mouse && !measures => Self::Touches,
            Some(view) if view.is_flat() => Self::Moves,
            _ => Self::Turns,
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Turns => {
                "drag: turn    right drag: move    wheel: zoom    click: follow    double click: reset"
            }
            Self::Moves => "drag: move    wheel: zoom    click: follow    double click: all of it",
            Self::Touches => {
                "drag: the kernels' mouse    right drag: move    wheel: zoom    Shift+click: follow"
            }
        }
    }
}

fn camera(
    ui: &Ui,
    response: &Response,
    hand: Hand,
    within: impl Fn(Pos2) -> [f32; 2],
) -> Vec<Look> {
    let mut actions = Vec::new();
    let height = response.rect.height().max(1.0);
    let moved = response.drag_delta() / height;
    let shift = ui.input(|input| input.modifiers.shift);
    if moved != egui::Vec2::ZERO {
        let first = response.dragged_by(PointerButton::Primary) && !shift;
        let by = [moved.x, moved.y];
        match hand {
            Hand::Turns if first => actions.push(Look::Orbit(by)),
            Hand::Touches if first => {}
            Hand::Turns | Hand::Moves | Hand::Touches => actions.push(Look::Pan(by)),
        }
    }
    if let Some(place) = response.hover_pos() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = (scroll / 240.0).exp() * pinch;
        if (factor - 1.0).abs() > 1e-4 {
            let at = within(place).map(|part| part * 2.0 - 1.0);
            actions.push(Look::Zoom { factor, at });
        }
    }
    if response.double_clicked() && hand != Hand::Touches {
        actions.push(Look::Reset);
    }
    actions
}

/// A click on an element: one that moves the pointer turns or moves what is seen instead. A double click, which shows
/// all, takes back what its first one picked.
fn pick(
    ui: &Ui,
    response: &Response,
    (hand, measures): (Hand, bool),
    within: impl Fn(Pos2) -> [f32; 2],
) -> Option<Look> {
    // Without Shift a click is the kernels' there.
    let is_meant = hand != Hand::Touches || ui.input(|input| input.modifiers.shift);
    let at = response.interact_pointer_pos().filter(|_| response.clicked() && is_meant)?;
    match response.double_clicked() && !measures {
        true => Some(Look::Unfollow),
        false => Some(Look::Pick(within(at))),
    }
}

/// A place as parts of a rectangle, from its lower left corner.
fn within(rect: Rect, place: Pos2) -> [f32; 2] {
    [
        (place.x - rect.left()) / rect.width().max(1.0),
        (rect.bottom() - place.y) / rect.height().max(1.0),
    ]
}

fn pointer(ui: &Ui, response: &Response, within: impl Fn(Pos2) -> [f32; 2]) -> Option<Pointer> {
    let place = response.hover_pos().or_else(|| response.interact_pointer_pos())?;
    let buttons = [PointerButton::Primary, PointerButton::Secondary, PointerButton::Middle];
    let held = response.is_pointer_button_down_on();
    let pressed = ui.input(|input| {
        let down = |(bit, button): (usize, &PointerButton)| {
            u32::from(held && input.pointer.button_down(*button)) << bit
        };
        buttons.iter().enumerate().map(down).sum()
    });
    Some(Pointer {
        position: within(place),
        buttons: pressed,
        wheel: if response.hovered() {
            ui.input(|i| i.smooth_scroll_delta().y) / 50.0
        } else {
            0.0
        },
        inside: response.hovered(),
    })
}

/// What stands in the picture's corners: that an older version is shown, and how to move.
fn overlay(ui: &Ui, rect: Rect, snapshot: &Snapshot, hint: Option<&str>) {
    let painter = ui.painter_at(rect);
    let compile = &snapshot.compile;
    if compile.phase == Phase::Rejected {
        let text = if compile.running == 0 {
            "Nothing runs yet: the source has errors".to_owned()
        } else {
            format!("The new source has errors; version {} keeps running", compile.running)
        };
        let width = (rect.width() - 2.0 * 14.0 - 40.0).max(1.0);
        let galley = painter.layout(text, FontId::proportional(13.0), theme::strong(), width);
        let place = rect.left_top() + vec2(14.0, 14.0);
        let frame = Rect::from_min_size(place, galley.size() + vec2(40.0, 14.0));
        painter.rect(
            frame,
            6.0,
            theme::faded(theme::bar(), 0.92),
            egui::Stroke::new(1.0, theme::faded(theme::error(), 0.7)),
            egui::StrokeKind::Inside,
        );
        icons::severity(
            &painter,
            frame.left_center() + vec2(17.0, 0.0),
            crate::diagnostic::Severity::Error,
        );
        painter.galley(place + vec2(30.0, 7.0), galley, theme::strong());
    }
    if compile.phase == Phase::Compiling && compile.running == 0 {
        let font = FontId::proportional(15.0);
        let text = compiling(ui, compile.generation);
        painter.text(rect.center(), Align2::CENTER_CENTER, text, font, theme::on_picture());
    }
    if let Some(hint) = hint {
        let color = theme::weak();
        let width = (rect.width() - 2.0 * 14.0).max(1.0);
        let galley = painter.layout(hint.to_owned(), FontId::proportional(12.0), color, width);
        let place = rect.left_bottom() + vec2(14.0, -12.0 - galley.size().y);
        let behind = Rect::from_min_size(place, galley.size()).expand2(vec2(7.0, 4.0));
        painter.rect_filled(behind, 6.0, theme::faded(theme::bar(), theme::VEIL));
        painter.galley(place, galley, color);
    }
}

/// That a text is compiled, and for how long where that is a while.
fn compiling(ui: &Ui, generation: u64) -> String {
    let now = ui.input(|input| input.time);
    let compilation = ui.data_mut(|data| {
        let id = Id::unique("compilation");
        let compilation = Compilation::seen(data.get_temp(id), generation, now);
        data.insert_temp(id, compilation);
        compilation
    });
    ui.ctx().request_repaint_after(Compilation::LOOK_EVERY);
    match (now - compilation.since).floor() {
        seconds if seconds >= 1.0 => format!("compiling\u{2026} {seconds:.0} s"),
        _ => "compiling\u{2026}".to_owned(),
    }
}

/// What is compiled, as it was seen last. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Compilation {
    generation: u64,
    since: f64,
    seen: f64,
}

impl Compilation {
    const LOOK_EVERY: Duration = Duration::from_millis(250);
    /// After this time unseen it is another one: a new session's generations begin anew.
    const LONGEST_UNSEEN: f64 = 1.0;

    /// The text of `generation` is compiled `now`.
    fn seen(before: Option<Self>, generation: u64, now: f64) -> Self {
        let is_same = |before: &Self| {
            before.generation == generation && now - before.seen <= Self::LONGEST_UNSEEN
        };
        let since = before.filter(is_same).map_or(now, |before| before.since);
        Self { generation, since, seen: now }
    }
}

/// The legend, and above it what is under the pointer.
fn corners(ui: &Ui, rect: Rect, legend: Option<&Legend>, probe: Option<&Probe>) {
    let painter = ui.painter_at(rect);
    let mut corner = rect.right_bottom() - FROM_CORNER;
    if let Some(legend) = legend {
        corner.y = legend::show(&painter, corner, legend).top() - 6.0;
    }
    if let Some(Probe { texel: [x, y], values, other }) = probe {
        let told = |values: &[f64]| {
            let values: Vec<_> = values.iter().map(|v| number::value(*v)).collect();
            values.join("  ")
        };
        let text = match other {
            Some(other) => format!("[{x}, {y}]  A {}   B {}", told(values), told(other)),
            None => format!("[{x}, {y}]  {}", told(values)),
        };
        let galley = painter.layout_no_wrap(text, FontId::monospace(12.0), theme::strong());
        let frame = Rect::from_min_max(corner - galley.size() - vec2(20.0, 10.0), corner);
        painter.rect_filled(frame, 6.0, theme::faded(theme::bar(), theme::VEIL));
        painter.galley(frame.min + vec2(10.0, 5.0), galley, theme::strong());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_compilation_has_a_time_of_its_own() {
        let first = Compilation::seen(None, 1, 10.0);
        let later = (0..20).fold(first, |before, frame| {
            Compilation::seen(Some(before), 1, 10.0 + 0.25 * f64::from(frame))
        });
        assert_eq!((later.since, later.seen), (10.0, 14.75));
        // The next text, and the first one of another session.
        assert_eq!(Compilation::seen(Some(later), 2, 15.0).since, 15.0);
        assert_eq!(Compilation::seen(Some(later), 1, 40.0).since, 40.0);
    }
}
