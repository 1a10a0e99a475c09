//! The legend: what the view's colours stand for.

use egui::{Align2, Color32, FontId, Mesh, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, vec2};

use crate::{
    session::Legend,
    studio::{number, theme},
};

const BAR: egui::Vec2 = vec2(190.0, 9.0);

/// Puts it into the corner whose lower right end is at `corner`; gives the room that it takes.
pub fn show(painter: &Painter, corner: Pos2, legend: &Legend) -> Rect {
    let frame = Rect::from_min_max(corner - BAR - vec2(20.0, 42.0), corner);
    painter.rect_filled(frame, 6.0, theme::faded(theme::BAR, theme::VEIL));
    let bar = Rect::from_min_size(frame.min + vec2(10.0, 24.0), BAR);
    painter.add(colors(bar, &legend.colors));
    painter.rect_stroke(bar, 0.0, Stroke::new(1.0, theme::LINE), StrokeKind::Outside);
    let small = FontId::proportional(11.5);
    let text = |place, align, text: String, color| {
        painter.text(place, align, text, small.clone(), color);
    };
    let title = match legend.unit.as_str() {
        "" => legend.title.clone(),
        unit => format!("{} in {unit}", legend.title),
    };
    text(bar.left_top() - vec2(0.0, 4.0), Align2::LEFT_BOTTOM, title, theme::TEXT);
    let [low, high] = legend.range.map(|value| number::value(f64::from(value)));
    text(bar.left_bottom() + vec2(0.0, 2.0), Align2::LEFT_TOP, low, theme::WEAK);
    text(bar.right_bottom() + vec2(0.0, 2.0), Align2::RIGHT_TOP, high, theme::WEAK);
    frame
}

/// The colours from left to right, one fading into the next.
fn colors(bar: Rect, colors: &[[u8; 3]]) -> Shape {
    let mut mesh = Mesh::default();
    let last = colors.len().saturating_sub(1).max(1) as f32;
    for (at, [r, g, b]) in (0_u32..).zip(colors) {
        let (x, color) =
            (bar.left() + bar.width() * at as f32 / last, Color32::from_rgb(*r, *g, *b));
        mesh.colored_vertex(Pos2::new(x, bar.top()), color);
        mesh.colored_vertex(Pos2::new(x, bar.bottom()), color);
        if at > 0 {
            let corner = 2 * at;
            mesh.add_triangle(corner - 2, corner - 1, corner);
            mesh.add_triangle(corner - 1, corner, corner + 1);
        }
    }
    Shape::mesh(mesh)
}
