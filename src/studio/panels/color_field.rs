//! A field of all shades of a hue, and a bar of all hues, on which a colour is chosen.

use egui::{
    Color32, Mesh, Pos2, Rect, RichText, Sense, Shape, Stroke, StrokeKind, Ui, Vec2,
    ecolor::{Hsva, hsv_from_rgb, rgb_from_hsv},
    lerp, pos2, remap_clamp, vec2,
};

use super::named;
use crate::studio::theme;

/// The size of the field, and the height of the bar below it.
const FIELD: Vec2 = vec2(216.0, 150.0);
const BAR: f32 = 16.0;
/// Triangles are coloured between their corners: so many squares along each side.
const PARTS: usize = 18;

/// Both; gives whether another colour was chosen.
pub fn show(ui: &mut Ui, color: &mut Hsva) -> bool {
    let before = *color;
    ui.spacing_mut().item_spacing = vec2(8.0, 8.0);
    let (rect, response) = ui.allocate_exact_size(FIELD, Sense::click_and_drag());
    named(&response, "Shades of the colour");
    if let Some(at) = response.interact_pointer_pos() {
        color.s = remap_clamp(at.x, rect.x_range(), 0.0..=1.0);
        color.v = remap_clamp(at.y, rect.y_range(), 1.0..=0.0);
    }
    let hue = color.h;
    painted(ui, rect, [PARTS, PARTS], |x, y| Hsva::new(hue, x, 1.0 - y, 1.0));
    let place = pos2(lerp(rect.x_range(), color.s), lerp(rect.y_range(), 1.0 - color.v));
    ring(ui, place, *color);
    let (rect, response) = ui.allocate_exact_size(vec2(FIELD.x, BAR), Sense::click_and_drag());
    named(&response, "Hue of the colour");
    if let Some(at) = response.interact_pointer_pos() {
        color.h = remap_clamp(at.x, rect.x_range(), 0.0..=1.0);
    }
    painted(ui, rect, [2 * PARTS, 1], |x, _| Hsva::new(x, 1.0, 1.0, 1.0));
    let place = pos2(lerp(rect.x_range(), color.h), rect.center().y);
    ring(ui, place, Hsva::new(color.h, 1.0, 1.0, 1.0));
    ui.horizontal(|ui| {
        let (square, _) = ui.allocate_exact_size(vec2(28.0, 16.0), Sense::hover());
        ui.painter().rect_filled(square, 3.0, shown(*color));
        let [red, green, blue] = numbers(*color).map(byte);
        let text = format!("#{red:02x}{green:02x}{blue:02x}");
        ui.label(RichText::new(text).monospace().color(theme::text()));
    });
    *color != before
}

/// Red, green and blue from 0 to 1, as a manifest has them and a screen shows them.
pub fn numbers(color: Hsva) -> [f32; 3] {
    rgb_from_hsv((color.h, color.s, color.v))
}

/// The colour with these numbers.
pub fn of_numbers(numbers: [f32; 3]) -> Hsva {
    let (hue, saturation, value) = hsv_from_rgb(numbers);
    Hsva::new(hue, saturation, value, 1.0)
}

fn byte(part: f32) -> u8 {
    (part * 255.0).round() as u8
}

fn shown(color: Hsva) -> Color32 {
    let [red, green, blue] = numbers(color).map(byte);
    Color32::from_rgb(red, green, blue)
}

/// Colours of a rectangle, by the parts of its sides.
fn painted(ui: &Ui, rect: Rect, parts: [usize; 2], color: impl Fn(f32, f32) -> Hsva) {
    let mut mesh = Mesh::default();
    for row in 0..=parts[1] {
        for column in 0..=parts[0] {
            let (x, y) = (column as f32 / parts[0] as f32, row as f32 / parts[1] as f32);
            let place = pos2(lerp(rect.x_range(), x), lerp(rect.y_range(), y));
            mesh.colored_vertex(place, shown(color(x, y)));
        }
    }
    let width = parts[0] as u32 + 1;
    for row in 0..parts[1] as u32 {
        for column in 0..parts[0] as u32 {
            let corner = row * width + column;
            mesh.add_triangle(corner, corner + 1, corner + width);
            mesh.add_triangle(corner + 1, corner + width, corner + width + 1);
        }
    }
    ui.painter().add(Shape::mesh(mesh));
    let edge = Stroke::new(1.0, theme::line());
    ui.painter().rect_stroke(rect, 0.0, edge, StrokeKind::Outside);
}

/// Where the colour is.
fn ring(ui: &Ui, place: Pos2, color: Hsva) {
    ui.painter().circle(place, 6.0, shown(color), Stroke::new(2.0, Color32::WHITE));
    ui.painter().circle_stroke(place, 7.5, Stroke::new(1.0, Color32::from_black_alpha(160)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::test_screen::TestScreen;

    #[test]
    fn shades_and_hues_are_chosen_with_the_mouse() {
        let (mut screen, mut color) = (TestScreen::default(), Hsva::new(0.0, 0.5, 0.5, 1.0));
        let mut frame = |screen: &mut TestScreen| {
            let (mut origin, mut has_changed) = (Pos2::ZERO, false);
            screen.frame(|ui| {
                origin = ui.cursor().min;
                has_changed |= show(ui, &mut color);
            });
            (origin, has_changed, color)
        };
        let (origin, has_changed, _) = frame(&mut screen);
        assert!(!has_changed);
        // The right upper corner of the field: the hue itself.
        screen.drag(origin + vec2(FIELD.x - 1.0, 1.0));
        screen.release(origin + vec2(FIELD.x - 1.0, 1.0));
        let (_, has_changed, found) = frame(&mut screen);
        assert!(has_changed && found.s > 0.98 && found.v > 0.98, "{found:?}");
        assert!(screen.sees("#fd0101"), "{:?}", screen.written());
        // A third of the bar is green.
        let green = origin + vec2(FIELD.x / 3.0, FIELD.y + 8.0 + BAR / 2.0);
        screen.drag(green);
        screen.release(green);
        let (_, has_changed, found) = frame(&mut screen);
        assert!(has_changed && (found.h - 1.0 / 3.0).abs() < 0.01, "{found:?}");
    }
}
