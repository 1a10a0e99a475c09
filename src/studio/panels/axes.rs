//! The axes of what has depth, in the view's lower left corner: how they lie now; a click on an end looks from there.

use egui::{
    Align2, Color32, FontId, Id, Painter, Pos2, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo,
    vec2,
};

use crate::studio::{
    action::Action,
    look::Look,
    panes::Slot,
    theme,
    viewpoints::{Side, Viewpoint},
};

/// How long an axis is, in points.
const LENGTH: f32 = 32.0;
/// The radius of the ends that axes point to, and of the opposite ones.
const NAMED: f32 = 8.0;
const OTHER: f32 = 5.5;
/// From the view's lower left corner to where the axes meet; the hint stands below.
const FROM_CORNER: Vec2 = vec2(58.0, -88.0);
/// A view needs so much room for them.
const LEAST: Vec2 = vec2(160.0, 180.0);

/// An end of an axis.
struct End {
    side: Side,
    name: Option<&'static str>,
    at: Pos2,
    /// How near to the eye.
    depth: f32,
    color: Color32,
}

/// Shows them within `rect`.
pub fn show(ui: &Ui, rect: Rect, slot: Slot, viewpoint: &Viewpoint) -> Option<Action> {
    if rect.width() < LEAST.x || rect.height() < LEAST.y {
        return None;
    }
    let middle = rect.left_bottom() + FROM_CORNER;
    let mut ends: Vec<End> = [false, true]
        .map(|is_other| of(viewpoint, middle, is_other))
        .into_iter()
        .flatten()
        .collect();
    ends.sort_by(|one, two| one.depth.total_cmp(&two.depth));
    let painter = ui.painter_at(rect);
    let mut chosen = None;
    for end in &ends {
        let radius = if end.name.is_some() { NAMED } else { OTHER };
        let place = Rect::from_center_size(end.at, Vec2::splat(2.0 * radius));
        let (_, title) = named(end.side);
        let id = Id::unique(("axis", slot, title));
        let response = ui.interact(place, id, Sense::click());
        let tip = format!("See it from this side: {}", title.to_lowercase());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &tip));
        if response.clicked() {
            chosen = Some(end.side);
        }
        paint(&painter, middle, end, radius, response.hovered() || response.has_focus());
        response.on_hover_text(tip);
    }
    chosen.map(|side| Action::Look(Some(slot), Look::From(side)))
}

fn named(side: Side) -> (Side, &'static str) {
    Side::ALL.into_iter().find(|(own, _)| *own == side).unwrap_or((side, ""))
}

/// The ends that the axes point to, or the opposite ones.
fn of(viewpoint: &Viewpoint, middle: Pos2, is_other: bool) -> [End; 3] {
    let axes = viewpoint.axes();
    [0, 1, 2].map(|axis| {
        let ([right, up, back], [r, g, b]) = axes[axis];
        let sign = if is_other { -1.0 } else { 1.0 };
        End {
            side: Side::of_axis(axis, is_other),
            name: (!is_other).then_some(["x", "y", "z"][axis]),
            at: middle + vec2(right, -up) * sign * LENGTH,
            depth: back * sign,
            color: Color32::from_rgb(r, g, b),
        }
    })
}

fn paint(painter: &Painter, middle: Pos2, end: &End, radius: f32, is_hovered: bool) {
    // What is farther away is fainter.
    let color = theme::faded(end.color, 0.8 + 0.2 * end.depth);
    let edge = if is_hovered { theme::strong() } else { color };
    match end.name {
        Some(name) => {
            painter.line_segment([middle, end.at], Stroke::new(2.0, color));
            painter.circle(end.at, radius, end.color, Stroke::new(1.5, edge));
            let font = FontId::proportional(11.5);
            painter.text(
                end.at,
                Align2::CENTER_CENTER,
                name,
                font,
                Color32::from_rgb(0x13, 0x15, 0x1b),
            );
        }
        None => {
            let ground = theme::faded(theme::bar(), 0.7);
            painter.circle(end.at, radius, ground, Stroke::new(1.5, edge));
        }
    }
}
