//! The legend: what the view's colours stand for.

use egui::{Painter, Pos2, Rect};

use crate::session::Legend;

/// Puts it into the corner whose lower right end is at `corner`; gives the room that it takes.
pub fn show(painter: &Painter, corner: Pos2, legend: &Legend) -> Rect {
    let room = Legend::room(corner);
    painter.extend(painter.fonts_mut(|fonts| legend.shapes(room, fonts)));
    room
}
