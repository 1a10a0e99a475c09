//! What stands over the pictures of A and B: their names, the line between them, and how they are shown.

use egui::{
    Align2, Area, CursorIcon, FontId, Frame, Id, Margin, Order, Painter, Pos2, Rangef, Rect, Sense,
    Stroke, Ui, pos2, vec2,
};

use super::tab;
use crate::{
    session::{Comparison, ComparisonPhase, Engine, Variant, VariantText},
    studio::{
        sides::{Arrangement, Sides},
        theme,
    },
};

/// Distance from the view's edges, in points.
const MARGIN: f32 = 12.0;
/// Where the line between A and B begins, from the view's upper edge.
const BELOW_CHOOSER: f32 = MARGIN + 33.0;
/// How far from the line it is grabbed.
const GRAB: f32 = 7.0;

/// The part of the view that is the picture in which `place` is: where two stand side by side, one of them.
pub fn picture_at(rect: Rect, sides: Option<&Sides>, place: Pos2) -> Rect {
    match sides.map(|sides| sides.arrangement) {
        Some(Arrangement::Beside) => {
            let (left, right) = rect.split_left_right_at_fraction(0.5);
            if place.x < rect.center().x { left } else { right }
        }
        Some(Arrangement::Split | Arrangement::Difference) | None => rect,
    }
}

/// Shows all of it within `rect`, below `top` points that are taken.
pub fn show(ui: &Ui, rect: Rect, top: f32, comparison: &Comparison, sides: &mut Sides) {
    let painter = ui.painter_at(rect);
    let under = rect.with_min_y(rect.top() + top);
    let middle = match sides.arrangement {
        Arrangement::Split => {
            drag(ui, rect, sides);
            Some(rect.left() + sides.split * rect.width())
        }
        Arrangement::Beside => Some(rect.center().x),
        Arrangement::Difference => None,
    };
    if let Some(x) = middle {
        // The chooser stands above its end.
        let below = Rangef::new(under.top() + BELOW_CHOOSER, rect.bottom());
        painter.vline(x, below, Stroke::new(1.5, theme::faded(theme::strong(), 0.75)));
        let y = rect.center().y;
        if sides.arrangement == Arrangement::Split {
            handle(&painter, pos2(x, y));
        }
        names(&painter, under, x, comparison);
    }
    chooser(ui, under, sides, comparison);
}

fn drag(ui: &Ui, rect: Rect, sides: &mut Sides) {
    let x = rect.left() + sides.split * rect.width();
    let line = Rect::from_x_y_ranges(Rangef::new(x - GRAB, x + GRAB), rect.y_range());
    let response = ui.interact(line, Id::unique("line between A and B"), Sense::drag());
    if response.hovered() || response.dragged() {
        ui.set_cursor_icon(CursorIcon::ResizeHorizontal);
    }
    if let Some(place) = response.interact_pointer_pos().filter(|_| response.dragged()) {
        sides.split = ((place.x - rect.left()) / rect.width().max(1.0)).clamp(0.02, 0.98);
    }
}

fn handle(painter: &Painter, at: Pos2) {
    let grip = Rect::from_center_size(at, vec2(11.0, 34.0));
    painter.rect(
        grip,
        5.5,
        theme::raised(),
        Stroke::new(1.0, theme::faded(theme::strong(), 0.75)),
        egui::StrokeKind::Inside,
    );
    for dx in [-1.5, 1.5] {
        let y = Rangef::new(at.y - 7.0, at.y + 7.0);
        painter.vline(at.x + dx, y, Stroke::new(1.0, theme::weak()));
    }
}

/// The names of both, on either side of the line between them.
fn names(painter: &Painter, rect: Rect, x: f32, comparison: &Comparison) {
    let y = rect.top() + BELOW_CHOOSER + 16.0;
    let b = name(comparison);
    for (align, dx, letter, text, color) in [
        (Align2::RIGHT_CENTER, -14.0, "A", "what runs".to_owned(), theme::a()),
        (Align2::LEFT_CENTER, 14.0, "B", b, theme::b()),
    ] {
        let font = FontId::proportional(12.0);
        let galley = painter.layout_no_wrap(format!("{letter}   {text}"), font, color);
        let place = align.anchor_size(pos2(x + dx, y), galley.size());
        painter.rect_filled(
            place.expand2(vec2(8.0, 4.0)),
            6.0,
            theme::faded(theme::bar(), theme::VEIL),
        );
        painter.galley(place.min, galley, color);
    }
}

/// What B is.
pub fn name(comparison: &Comparison) -> String {
    let Comparison { variant, has_same_text, .. } = comparison;
    if variant.follows_text() {
        return way(variant);
    }
    match (&variant.text, has_same_text) {
        (VariantText::Running, true) if variant.guarded == Some(false) => {
            "the same text without the guard".to_owned()
        }
        (VariantText::Running, true) => "what runs, held".to_owned(),
        (VariantText::Running, false) => "what ran before your edits".to_owned(),
        (VariantText::Before, _) => "what ran before the edit".to_owned(),
        (VariantText::Version(version), _) => format!("version {version} of the text"),
        (VariantText::Given(_), _) => "the text as it was saved".to_owned(),
    }
}

/// How B runs A's text.
fn way(variant: &Variant) -> String {
    match (&variant.device, variant.engine, variant.fast_math) {
        (Some(device), Some(Engine::Interpreter), _) => format!("by the interpreter, {device}"),
        (Some(device), _, _) => format!("the same text on {device}"),
        (None, Some(Engine::Interpreter), _) => "the same text by the interpreter".to_owned(),
        (None, Some(Engine::Checker), _) => "by the interpreter that checks".to_owned(),
        (None, Some(Engine::Device), _) => "the same text, translated".to_owned(),
        (None, None, Some(true)) => "the same text with fast mathematics".to_owned(),
        (None, None, Some(false)) => "the same text with exact mathematics".to_owned(),
        (None, None, None) => "the same text with other constants".to_owned(),
    }
}

fn chooser(ui: &Ui, rect: Rect, sides: &mut Sides, comparison: &Comparison) {
    let area = Area::new(Id::unique("sides"))
        .order(Order::Middle)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(rect.center_top() + vec2(0.0, MARGIN))
        .constrain_to(rect);
    area.show(ui.ctx(), |ui| {
        let frame = Frame::new()
            .fill(theme::faded(theme::bar(), theme::VEIL))
            .corner_radius(6)
            .inner_margin(Margin { left: 12, right: 12, top: 5, bottom: 7 });
        frame.show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 14.0;
                for (arrangement, name, tip) in [
                    (
                        Arrangement::Split,
                        "Split",
                        "A left of the line, B right of it; drag the line",
                    ),
                    (Arrangement::Beside, "Side by side", "All of A, and all of B"),
                    (Arrangement::Difference, "Difference", difference_tip()),
                ] {
                    let is_chosen = sides.arrangement == arrangement;
                    if tab(ui, name, is_chosen).on_hover_text(tip).clicked() {
                        sides.arrangement = arrangement;
                    }
                }
                key(ui, comparison);
            });
        });
    });
}

fn difference_tip() -> &'static str {
    "Of images |A \u{2212} B|, with its scale in the legend.\n\
     Of all else both pictures in one: what is in A alone is ochre, in B alone blue, in both gray."
}

/// The colours of both, and whether they are in step.
fn key(ui: &mut Ui, comparison: &Comparison) {
    ui.spacing_mut().item_spacing.x = 5.0;
    for (letter, color) in [("A", theme::a()), ("B", theme::b())] {
        let (dot, _) = ui.allocate_exact_size(vec2(9.0, 9.0), Sense::hover());
        ui.painter().circle_filled(dot.center(), 4.0, color);
        ui.label(egui::RichText::new(letter).size(12.0).color(theme::text()));
    }
    if comparison.phase != ComparisonPhase::Running {
        ui.label(egui::RichText::new("not in step").size(12.0).color(theme::warning()));
    }
}
