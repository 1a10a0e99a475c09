//! What the mouse selects.

use std::ops::Range;

use egui::{Event, Modifiers, PointerButton, Pos2, Rect, Ui};

use super::rows::Rows;
use crate::studio::text::{Buffer, Selection, Selections};

/// Seconds, and points, within which two clicks are a double click.
const DOUBLE_S: f64 = 0.4;
const DOUBLE_DISTANCE: f32 = 6.0;

/// What a drag goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Character,
    Word,
    Line,
}

/// A selection that is being dragged.
#[derive(Clone, Debug)]
struct Drag {
    unit: Unit,
    /// What was under the pointer when it was pressed.
    origin: Range<usize>,
    /// The carets that stay.
    others: Option<Selections>,
    from: Pos2,
}

/// The mouse, as the editor remembers it.
#[derive(Clone, Debug, Default)]
pub struct Pointer {
    drag: Option<Drag>,
    /// When and where it was pressed last, and how often one after the other.
    last: Option<(f64, Pos2, usize)>,
}

impl Pointer {
    /// The primary button is pressed at `at`; `in_gutter` is whether that is beside the text.
    pub fn press(
        &mut self,
        at: Pos2,
        modifiers: Modifiers,
        in_gutter: bool,
        now: f64,
        rows: &Rows<'_>,
        buffer: &Buffer,
    ) -> Selections {
        let clicks = match self.last {
            Some((when, place, clicks))
                if now - when < DOUBLE_S && place.distance(at) < DOUBLE_DISTANCE =>
            {
                clicks + 1
            }
            Some(_) | None => 1,
        };
        self.last = Some((now, at, clicks));
        let unit = match (clicks - 1) % 3 {
            _ if in_gutter => Unit::Line,
            0 => Unit::Character,
            1 => Unit::Word,
            _ => Unit::Line,
        };
        let origin = unit.around(rows.place(at), buffer);
        let before = buffer.selections();
        let others = modifiers.alt.then(|| before.clone());
        let origin = if modifiers.shift && others.is_none() {
            let anchor = before.primary().anchor;
            anchor..anchor
        } else {
            origin
        };
        let drag = Drag { unit, origin, others, from: at };
        let selections = drag.selections(rows.place(at), buffer);
        self.drag = Some(drag);
        selections
    }

    /// What is selected now that the pointer has been moved, if anything else.
    pub fn drag(&mut self, ui: &Ui, rows: &Rows<'_>, buffer: &Buffer) -> Option<Selections> {
        let drag = self.drag.as_ref()?;
        let released = ui.input(|input| input.events.iter().find_map(released));
        let down = ui.input(|input| input.pointer.primary_down());
        let at = released.or_else(|| ui.input(|input| input.pointer.latest_pos()).filter(|_| down));
        let moved = at.filter(|at| at.distance(drag.from) > 2.0);
        let selections = moved.map(|at| drag.selections(rows.place(at), buffer));
        if released.is_some() || !down {
            self.drag = None;
        } else if moved.is_some() {
            // From here on every pixel counts.
            self.drag = Some(Drag { from: Pos2::new(f32::MAX, f32::MAX), ..drag.clone() });
        }
        selections.filter(|selections| selections != buffer.selections())
    }

    /// How far the text is to be scrolled in this frame because the pointer drags beyond `view`.
    pub fn pull(&self, ui: &Ui, view: Rect) -> egui::Vec2 {
        let at = ui.input(|input| input.pointer.latest_pos());
        let Some(at) = at.filter(|_| self.drag.is_some()) else { return egui::Vec2::ZERO };
        let beyond = at - view.clamp(at);
        beyond.clamp(egui::Vec2::splat(-120.0), egui::Vec2::splat(120.0)) * 0.3
    }
}

fn released(event: &Event) -> Option<Pos2> {
    match event {
        Event::PointerButton { pos, button: PointerButton::Primary, pressed: false, .. } => {
            Some(*pos)
        }
        _ => None,
    }
}

impl Unit {
    fn around(self, at: usize, buffer: &Buffer) -> Range<usize> {
        match self {
            Self::Character => at..at,
            Self::Word => buffer.word(at),
            Self::Line => {
                let line = buffer.line(buffer.place(at).0);
                line.start..(line.end + 1).min(buffer.rope().len_chars())
            }
        }
    }
}

impl Drag {
    /// From what was pressed on to what is at `at`.
    fn selections(&self, at: usize, buffer: &Buffer) -> Selections {
        let here = self.unit.around(at, buffer);
        let selection = match here.start < self.origin.start {
            true => Selection::new(self.origin.end, here.start),
            false => Selection::new(self.origin.start, here.end.max(self.origin.end)),
        };
        match &self.others {
            Some(others) => others.with(selection),
            None => Selections::one(selection),
        }
    }
}
