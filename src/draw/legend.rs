//! The legend: what a view's colours stand for.

use epaint::{
    Color32, FontId, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind, emath::Align2, text::FontsView,
    vec2,
};
use serde::Serialize;

use super::Colormap;
use crate::number;

/// What colours stand for: a bar with its title above and the values of its ends below.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Legend {
    /// What has the values, such as `dye.x` or `|velocity|`.
    pub title: String,
    /// The values' unit; may be empty.
    pub unit: String,
    /// The values at both ends.
    pub range: [f32; 2],
    /// The colour map.
    pub colormap: Colormap,
    /// Whether its last colour is that of the lowest value.
    pub reversed: bool,
    /// Whether colours follow the logarithms of the values.
    pub logarithmic: bool,
}

/// Colours of a bar, but one.
const STEPS: u8 = 64;
/// Sizes in points.
const BAR: epaint::Vec2 = vec2(190.0, 9.0);
const FONT: f32 = 11.5;
/// What is behind it hides most of the picture.
const GROUND: Color32 = Color32::from_rgb(0x13, 0x15, 0x1b);
const VEIL: f32 = 0.84;
const LINE: Color32 = Color32::from_rgb(0x2a, 0x2f, 0x3a);
const TITLE: Color32 = Color32::from_rgb(0xc9, 0xce, 0xd8);
const VALUE: Color32 = Color32::from_rgb(0x82, 0x8a, 0x9a);

impl Legend {
    /// The room that it takes, in points, when its lower right end is at `corner`.
    pub(crate) fn room(corner: Pos2) -> Rect {
        Rect::from_min_max(corner - BAR - vec2(20.0, 42.0), corner)
    }

    /// The sRGB colour at a part of the bar, from 0 at its left end to 1.
    pub fn color(&self, part: f32) -> [u8; 3] {
        self.colormap.srgb8(if self.reversed { 1.0 - part } else { part })
    }

    /// What it looks like in this room.
    pub(crate) fn shapes(&self, room: Rect, fonts: &mut FontsView<'_>) -> Vec<Shape> {
        let bar = Rect::from_min_size(room.min + vec2(10.0, 24.0), BAR);
        let mut text = |place, align, text: String, color| {
            Shape::text(fonts, place, align, text, FontId::proportional(FONT), color)
        };
        let title = match self.unit.as_str() {
            "" => self.title.clone(),
            unit => format!("{} in {unit}", self.title),
        };
        let title = if self.logarithmic { format!("{title}, logarithmic") } else { title };
        let [low, high] = self.range.map(|value| number::value(f64::from(value)));
        let (above, below) = (vec2(0.0, -4.0), vec2(0.0, 2.0));
        vec![
            Shape::rect_filled(room, 6.0, GROUND.gamma_multiply(VEIL)),
            self.colors(bar),
            Shape::rect_stroke(bar, 0.0, Stroke::new(1.0, LINE), StrokeKind::Outside),
            text(bar.left_top() + above, Align2::LEFT_BOTTOM, title, TITLE),
            text(bar.left_bottom() + below, Align2::LEFT_TOP, low, VALUE),
            text(bar.right_bottom() + below, Align2::RIGHT_TOP, high, VALUE),
        ]
    }

    /// The colours from left to right, one fading into the next.
    fn colors(&self, bar: Rect) -> Shape {
        let mut mesh = Mesh::default();
        for step in 0..=STEPS {
            let part = f32::from(step) / f32::from(STEPS);
            let [r, g, b] = self.color(part);
            let (x, color) = (bar.left() + bar.width() * part, Color32::from_rgb(r, g, b));
            mesh.colored_vertex(Pos2::new(x, bar.top()), color);
            mesh.colored_vertex(Pos2::new(x, bar.bottom()), color);
            if step > 0 {
                let corner = 2 * u32::from(step);
                mesh.add_triangle(corner - 2, corner - 1, corner);
                mesh.add_triangle(corner - 1, corner, corner + 1);
            }
        }
        Shape::mesh(mesh)
    }
}
