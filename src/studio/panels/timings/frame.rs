//! One frame in all its parts.

use egui::{Align2, Color32, FontId, Pos2, Rect, RichText, Sense, Stroke, Ui, pos2, vec2};

use super::{Local, label};
use crate::studio::{
    number, theme,
    trace::{Span, Trace, TracedFrame, Track},
};

pub(super) const PART: f32 = 19.0;

/// The height of the bars among which a frame is chosen.
const CHOOSER: f32 = 34.0;

/// One frame in all its parts, below the bars of all, among which it is chosen.
pub(super) fn frame(ui: &mut Ui, trace: &Trace, local: &mut Local) {
    choose_frame(ui, trace, local);
    let Some(frame) = trace.frame(local.frame) else { return };
    ui.horizontal(|ui| {
        let text = format!("frame {}: {}", frame.number, number::milliseconds(frame.ms as f32));
        ui.label(RichText::new(text).small().color(theme::text()));
        if local.frame.is_some() && ui.small_button("The last one").clicked() {
            local.frame = None;
        }
    });
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
    ui.painter().rect_filled(rect, 3.0, theme::ground());
    flame(ui, rect, frame, response.hover_pos());
}

/// A bar for each frame, as high as it took long; a click chooses one.
fn choose_frame(ui: &mut Ui, trace: &Trace, local: &mut Local) {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), CHOOSER), Sense::click_and_drag());
    response.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::Slider, true, "The frame that is shown")
    });
    ui.painter().rect_filled(rect, 3.0, theme::ground());
    let most = (rect.width() / 3.0) as usize;
    let shown: Vec<&TracedFrame> = trace.frames().rev().take(most).collect();
    let longest = shown.iter().map(|frame| frame.ms).fold(1e-3, f64::max);
    let place = |back: usize| {
        let right = rect.right() - back as f32 * 3.0;
        let part = (shown[back].ms / longest) as f32;
        let top = rect.bottom() - part * (rect.height() - 3.0);
        Rect::from_min_max(pos2(right - 2.0, top), pos2(right, rect.bottom()))
    };
    let chosen = trace.frame(local.frame).map(|frame| frame.number);
    for (back, frame) in shown.iter().enumerate() {
        let color = if Some(frame.number) == chosen { theme::accent() } else { theme::faint() };
        ui.painter().rect_filled(place(back), 0.0, color);
    }
    if let Some(at) = response.interact_pointer_pos().filter(|at| rect.contains(*at)) {
        let back = ((rect.right() - at.x) / 3.0) as usize;
        local.frame = shown.get(back).map(|frame| frame.number).or(local.frame);
    }
    response.on_hover_text("Each bar is a frame, the last one at the right: click on one");
}

/// The parts of a frame: a row for each track, on a scale of time that has all of them.
fn flame(ui: &Ui, rect: Rect, frame: &TracedFrame, hovered: Option<Pos2>) {
    let whole =
        Span { track: Track::Window, name: "frame".into(), start_ms: frame.start_ms, ms: frame.ms };
    let all = || [&whole].into_iter().chain(&frame.spans);
    let first = all().map(|span| span.start_ms).fold(f64::INFINITY, f64::min);
    let last = all().map(|span| span.start_ms + span.ms).fold(f64::NEG_INFINITY, f64::max);
    let area = rect.shrink(6.0).with_min_x(rect.left() + 70.0);
    let x = |ms: f64| area.left() + ((ms - first) / (last - first).max(1e-6)) as f32 * area.width();
    let mut y = area.top();
    let mut told = None;
    for track in Track::ALL {
        let spans: Vec<&Span> = frame.spans.iter().filter(|span| span.track == track).collect();
        if spans.is_empty() && track != Track::Window {
            continue;
        }
        label(ui, pos2(rect.left() + 6.0, y + 3.0), track.name());
        let rows = match track {
            Track::Window => vec![vec![&whole], spans],
            Track::Device | Track::OpenGl | Track::Compiler => vec![spans],
        };
        for spans in rows {
            for (at, span) in spans.into_iter().enumerate() {
                let left = x(span.start_ms);
                let right = x(span.start_ms + span.ms).max(left + 1.0);
                let place = Rect::from_x_y_ranges(left..=right, y..=y + PART - 2.0);
                bar(ui, place, span, color_of(track, at));
                if hovered.is_some_and(|at| place.contains(at)) {
                    told = Some((place, span));
                }
            }
            y += PART;
        }
        y += 4.0;
    }
    if let Some((place, span)) = told {
        ui.painter().rect_stroke(
            place,
            2.0,
            Stroke::new(1.0, theme::strong()),
            egui::StrokeKind::Inside,
        );
        let text = format!("{}  {}", span.name, number::milliseconds(span.ms as f32));
        label(ui, pos2(area.left(), (y + 2.0).min(rect.bottom() - 16.0)), &text);
    }
}

fn color_of(track: Track, at: usize) -> Color32 {
    let series = theme::series();
    match track {
        Track::Window => theme::raised(),
        Track::Device => theme::faded(series[at % series.len()], 0.8),
        Track::OpenGl => theme::faint(),
        Track::Compiler => theme::faded(theme::note(), 0.7),
    }
}

/// A part of a frame, with its name where there is room for it.
pub(super) fn bar(ui: &Ui, place: Rect, span: &Span, color: Color32) {
    let painter = ui.painter_at(place.intersect(ui.clip_rect()));
    painter.rect_filled(place.shrink2(vec2(0.5, 0.0)), 2.0, color);
    if place.width() > 26.0 {
        let font = FontId::proportional(11.0);
        painter.text(
            place.left_center() + vec2(5.0, 0.0),
            Align2::LEFT_CENTER,
            &span.name,
            font,
            theme::strong(),
        );
    }
}
