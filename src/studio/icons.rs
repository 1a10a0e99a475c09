//! Small pictures painted as shapes: crisp at every scale, and the same on every system.

use egui::{Color32, Painter, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, Vec2, pos2, vec2};

use super::theme;
use crate::diagnostic::Severity;

/// A picture on a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// A triangle.
    Play,
    /// Two bars.
    Pause,
    /// A triangle and a bar.
    Step,
    /// A circle's arc with an arrow.
    Reset,
    /// An arrow's tip, upwards.
    Up,
    /// The same downwards.
    Down,
    /// Two lines across each other.
    Close,
    /// A box with a line down its middle.
    Split,
    /// The corners of a box.
    Whole,
    /// Three dots.
    More,
}

/// A square button with `icon`; `tip` says what it does and which key does the same.
pub fn button(ui: &mut Ui, icon: Icon, size: f32, tip: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(size), Sense::click());
    let visuals = *ui.style().interact(&response);
    ui.painter().rect(
        rect,
        visuals.corner_radius,
        visuals.weak_bg_fill,
        visuals.bg_stroke,
        egui::StrokeKind::Inside,
    );
    paint(ui.painter(), icon, rect.shrink(size * 0.28), visuals.fg_stroke.color);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, tip));
    response.on_hover_text(tip)
}

/// A borderless small icon button.
pub fn small_button(ui: &mut Ui, icon: Icon, tip: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::click());
    let color = if response.hovered() { theme::accent() } else { theme::weak() };
    paint(ui.painter(), icon, rect.shrink(3.0), color);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, tip));
    response.on_hover_text(tip)
}

fn paint(painter: &Painter, icon: Icon, rect: Rect, color: Color32) {
    let triangle = |left: f32, right: f32| {
        let points =
            vec![pos2(left, rect.top()), pos2(right, rect.center().y), pos2(left, rect.bottom())];
        Shape::convex_polygon(points, color, Stroke::NONE)
    };
    let bar = |left: f32, width: f32| {
        let rect = Rect::from_min_size(pos2(left, rect.top()), vec2(width, rect.height()));
        Shape::rect_filled(rect, 1.0, color)
    };
    let width = rect.width();
    match icon {
        Icon::Play => {
            painter.add(triangle(rect.left() + 0.1 * width, rect.right() + 0.05 * width));
        }
        Icon::Pause => {
            painter.add(bar(rect.left() + 0.08 * width, 0.3 * width));
            painter.add(bar(rect.left() + 0.62 * width, 0.3 * width));
        }
        Icon::Step => {
            painter.add(triangle(rect.left(), rect.left() + 0.75 * width));
            painter.add(bar(rect.right() - 0.2 * width, 0.2 * width));
        }
        Icon::Reset => reset(painter, rect, color),
        Icon::Up => tip(painter, rect, color, -1.0),
        Icon::Down => tip(painter, rect, color, 1.0),
        Icon::Split => {
            let stroke = Stroke::new(1.3, color);
            painter.rect_stroke(rect, 1.5, stroke, egui::StrokeKind::Middle);
            painter.vline(rect.center().x, rect.y_range(), stroke);
        }
        Icon::Whole => {
            let (stroke, side) = (Stroke::new(1.3, color), rect.width() * 0.32);
            let (center, half) = (rect.center(), rect.width() / 2.0);
            for [x, y] in [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]] {
                let corner = center + vec2(x * half, y * half);
                painter.line_segment([corner, corner - vec2(x * side, 0.0)], stroke);
                painter.line_segment([corner, corner - vec2(0.0, y * side)], stroke);
            }
        }
        Icon::More => {
            for x in [-1.0, 0.0, 1.0] {
                let at = rect.center() + vec2(x * 0.42 * width, 0.0);
                painter.circle_filled(at, 0.12 * width, color);
            }
        }
        Icon::Close => cross(painter, rect.shrink(0.5), color),
    }
}

/// Two lines across each other.
pub fn cross(painter: &Painter, rect: Rect, color: Color32) {
    let stroke = Stroke::new(1.5, color);
    painter.line_segment([rect.left_top(), rect.right_bottom()], stroke);
    painter.line_segment([rect.left_bottom(), rect.right_top()], stroke);
}

fn tip(painter: &Painter, rect: Rect, color: Color32, down: f32) {
    let (center, side) = (rect.center(), rect.width() * 0.42);
    let points =
        [-1.0, 0.0, 1.0].map(|x: f32| center + vec2(x * side, down * side * (0.5 - x.abs())));
    painter.add(Shape::line(points.to_vec(), Stroke::new(1.5, color)));
}

fn reset(painter: &Painter, rect: Rect, color: Color32) {
    let radius = rect.width() * 0.45;
    let on_circle = |turn: f32| rect.center() + radius * Vec2::angled(turn);
    let points: Vec<Pos2> = (0..=24).map(|i| on_circle(-0.6 + i as f32 * 5.0 / 24.0)).collect();
    let stroke = Stroke::new((rect.width() * 0.14).max(1.2), color);
    painter.add(Shape::line(points, stroke));
    let tip = on_circle(-0.6);
    let side = rect.width() * 0.34;
    let arrow = vec![
        tip + vec2(side * 0.5, -side),
        tip + vec2(side * 0.4, side * 0.45),
        tip - vec2(side, 0.1 * side),
    ];
    painter.add(Shape::convex_polygon(arrow, color, Stroke::NONE));
}

/// A small triangle that says: a list opens here.
pub fn triangle_down(painter: &Painter, center: Pos2, color: Color32) {
    let points = [(-4.0, -2.0), (4.0, -2.0), (0.0, 3.0)];
    let points = points.iter().map(|(x, y)| center + vec2(*x, *y)).collect();
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}

/// A small triangle that says: sorted, the least first or, `down`, the greatest.
pub fn direction(painter: &Painter, center: Pos2, color: Color32, down: bool) {
    let turn = if down { 1.0 } else { -1.0 };
    let points = [(-3.5, -2.0), (3.5, -2.0), (0.0, 3.0)];
    let points = points.iter().map(|(x, y)| center + vec2(*x, turn * y)).collect();
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}

/// The colour of a severity.
pub fn severity_color(severity: Severity) -> Color32 {
    match severity {
        Severity::Note => theme::note(),
        Severity::Warning => theme::warning(),
        Severity::Error | Severity::Fault => theme::error(),
    }
}

/// The mark of a severity, about as high as a line of text.
pub fn severity(painter: &Painter, center: Pos2, severity: Severity) {
    let color = severity_color(severity);
    let stroke = Stroke::new(1.5, theme::ground());
    match severity {
        Severity::Error => {
            painter.circle_filled(center, 5.5, color);
            for side in [-1.0, 1.0] {
                painter.line_segment(
                    [center - vec2(2.0 * side, 2.0), center + vec2(2.0 * side, 2.0)],
                    stroke,
                );
            }
        }
        Severity::Warning => {
            let points =
                vec![center + vec2(0.0, -6.0), center + vec2(6.0, 5.0), center + vec2(-6.0, 5.0)];
            painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
            painter.line_segment([center + vec2(0.0, -2.5), center + vec2(0.0, 1.2)], stroke);
            painter.circle_filled(center + vec2(0.0, 3.2), 0.9, theme::ground());
        }
        Severity::Fault => {
            let bolt =
                [(1.5, -6.5), (-4.0, 1.0), (-0.5, 1.0), (-1.5, 6.5), (4.0, -1.5), (0.5, -1.5)];
            let upper = [bolt[0], bolt[1], bolt[2], bolt[5]];
            let lower = [bolt[2], bolt[3], bolt[4], bolt[5]];
            for half in [upper, lower] {
                let points = half.iter().map(|(x, y)| center + vec2(*x, *y)).collect();
                painter.add(Shape::convex_polygon(points, color, Stroke::new(0.5, color)));
            }
        }
        Severity::Note => {
            painter.circle_stroke(center, 5.0, Stroke::new(1.3, color));
            painter.circle_filled(center + vec2(0.0, -2.2), 0.9, color);
            painter.line_segment(
                [center + vec2(0.0, 0.0), center + vec2(0.0, 2.8)],
                Stroke::new(1.3, color),
            );
        }
    }
}

/// The studio's mark: three strokes of paint.
pub fn mark(ui: &mut Ui, height: f32) {
    let (rect, _) = ui.allocate_exact_size(vec2(height * 1.15, height), Sense::hover());
    for (n, color) in theme::mark().into_iter().enumerate() {
        let x = rect.left() + height * (0.02 + 0.36 * n as f32);
        let drop = height * 0.08 * n as f32;
        let slant = height * 0.22;
        let width = height * 0.22;
        let points = vec![
            pos2(x + slant, rect.top() + drop),
            pos2(x + slant + width, rect.top() + drop),
            pos2(x + width, rect.bottom() - height * 0.16 + drop),
            pos2(x, rect.bottom() - height * 0.16 + drop),
        ];
        ui.painter().add(Shape::convex_polygon(points, color, Stroke::NONE));
    }
}
