//! Charts: lines and bars over an axis, with what their numbers mean.

use std::cmp::Ordering;

use epaint::{
    Color32, FontId, Pos2, Rect, Shape, Stroke, emath::Align2, pos2, text::FontsView, vec2,
};
use serde::Serialize;

use super::ticks::{Axis, Scale};

/// Numbers over numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Chart {
    /// What it shows, and its unit.
    pub title: String,
    /// What the horizontal axis counts.
    pub x_label: String,
    /// Whether the vertical axis is logarithmic: what is not above 0 is left out.
    pub log: bool,
    /// How the numbers are drawn.
    pub marks: Marks,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// How a chart's numbers are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Marks {
    /// A line from each to the next; none through what is not finite.
    #[default]
    Line,
    /// Each reaches from its place to that of the next one, which the last one is for.
    Bars,
}

/// Numbers of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// What they are.
    pub name: String,
    /// Place and number, from left to right.
    pub points: Vec<[f64; 2]>,
}

/// The colours of a chart.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Behind all.
    pub ground: Color32,
    /// Of titles.
    pub title: Color32,
    /// Of numbers.
    pub text: Color32,
    /// Of the grid.
    pub grid: Color32,
    /// Of the series, one after the other.
    pub series: [Color32; 8],
}

impl Look {
    /// On paper.
    pub const LIGHT: Self = Self {
        ground: Color32::WHITE,
        title: Color32::from_rgb(0x16, 0x1a, 0x20),
        text: Color32::from_rgb(0x4a, 0x52, 0x5e),
        grid: Color32::from_rgb(0xe2, 0xe5, 0xea),
        series: [
            Color32::from_rgb(0xc4, 0x6a, 0x0a),
            Color32::from_rgb(0x1c, 0x7a, 0xa3),
            Color32::from_rgb(0x8a, 0x45, 0xa0),
            Color32::from_rgb(0x2f, 0x86, 0x3c),
            Color32::from_rgb(0xc0, 0x3f, 0x33),
            Color32::from_rgb(0x7d, 0x72, 0x1c),
            Color32::from_rgb(0x2e, 0x50, 0xc8),
            Color32::from_rgb(0x5a, 0x62, 0x70),
        ],
    };
}

/// Sizes in points.
const TITLE: f32 = 13.0;
const FONT: f32 = 11.0;
const PADDING: f32 = 10.0;
/// A label takes so much of each axis.
const LABEL: [f32; 2] = [90.0, 28.0];
/// How much light the bars of a series let through.
const VEIL: f32 = 0.45;

/// Puts texts into their place.
struct Writer<'a, 'f> {
    fonts: &'a mut FontsView<'f>,
    shapes: Vec<Shape>,
}

impl Writer<'_, '_> {
    fn text(&mut self, at: Pos2, align: Align2, text: &str, size: f32, color: Color32) -> Rect {
        let font = FontId::proportional(size);
        let shape = Shape::text(self.fonts, at, align, text, font, color);
        let room = shape.visual_bounding_rect();
        self.shapes.push(shape);
        room
    }

    fn width(&mut self, text: &str) -> f32 {
        let font = FontId::proportional(FONT);
        self.fonts.layout_no_wrap(text.to_owned(), font, Color32::BLACK).size().x
    }
}

impl Chart {
    /// What it looks like in this room.
    pub(crate) fn shapes(&self, room: Rect, look: &Look, fonts: &mut FontsView<'_>) -> Vec<Shape> {
        let shapes = vec![Shape::rect_filled(room, 0.0, look.ground)];
        let mut writer = Writer { fonts, shapes };
        let inner = room.shrink(PADDING);
        let top = self.head(inner, look, &mut writer);
        let [x, y] = self.axes();
        let bottom = inner.bottom() - 2.0 * FONT - 12.0;
        let ticks = y.ticks((bottom - top) / LABEL[1]);
        let labels = ticks.iter().map(|tick| writer.width(&tick.label)).fold(0.0, f32::max);
        let left = inner.left() + labels + 8.0;
        let area = Rect::from_min_max(pos2(left, top), pos2(inner.right() - 6.0, bottom));
        if area.width() < 10.0 || area.height() < 10.0 {
            return writer.shapes;
        }
        self.grid(area, [&x, &y], look, &mut writer);
        if self.series.iter().all(|series| series.points.is_empty()) {
            writer.text(area.center(), Align2::CENTER_CENTER, "no values yet", FONT, look.text);
        }
        let across = |at| Some(area.left() + x.place(at)? * area.width());
        let upward = |value| Some(area.bottom() - y.place(value)? * area.height());
        for (series, color) in self.series.iter().zip(look.series.iter().cycle()) {
            match self.marks {
                Marks::Line => {
                    let place = |[at, value]: &[f64; 2]| Some((across(*at)?, upward(*value)));
                    let places: Vec<Place> = series.points.iter().filter_map(place).collect();
                    line(&places, area, *color, &mut writer.shapes);
                }
                Marks::Bars => {
                    let place = |[at, value]: &[f64; 2]| {
                        Some(pos2(across(*at)?, upward(*value).unwrap_or(area.bottom())))
                    };
                    let places: Vec<Pos2> = series.points.iter().filter_map(place).collect();
                    bars(&places, area, *color, &mut writer.shapes);
                }
            }
        }
        writer.shapes
    }

    /// The title, and the names of the series where there are several; gives where they end.
    fn head(&self, room: Rect, look: &Look, writer: &mut Writer<'_, '_>) -> f32 {
        let title = writer.text(room.min, Align2::LEFT_TOP, &self.title, TITLE, look.title);
        let mut bottom = title.bottom();
        if self.series.len() > 1 {
            let mut at = pos2(room.left(), bottom + 4.0);
            for (series, color) in self.series.iter().zip(look.series.iter().cycle()) {
                let width = writer.width(&series.name) + 18.0;
                if at.x > room.left() && at.x + width > room.right() {
                    at = pos2(room.left(), at.y + FONT + 5.0);
                }
                let swatch = Rect::from_min_size(at + vec2(0.0, 2.0), vec2(9.0, 9.0));
                writer.shapes.push(Shape::rect_filled(swatch, 2.0, *color));
                let text = at + vec2(13.0, 0.0);
                writer.text(text, Align2::LEFT_TOP, &series.name, FONT, look.text);
                at.x += width + 8.0;
            }
            bottom = at.y + FONT + 3.0;
        }
        bottom + 8.0
    }

    /// Lines behind the numbers, and what they stand for.
    fn grid(&self, area: Rect, [x, y]: [&Axis; 2], look: &Look, writer: &mut Writer<'_, '_>) {
        let stroke = Stroke::new(1.0, look.grid);
        for tick in y.ticks(area.height() / LABEL[1]) {
            let at = area.bottom() - tick.place * area.height();
            let ends = [pos2(area.left(), at), pos2(area.right(), at)];
            writer.shapes.push(Shape::line_segment(ends, stroke));
            let place = pos2(area.left() - 6.0, at);
            writer.text(place, Align2::RIGHT_CENTER, &tick.label, FONT, look.text);
        }
        for tick in x.ticks(area.width() / LABEL[0]) {
            let at = area.left() + tick.place * area.width();
            let ends = [pos2(at, area.top()), pos2(at, area.bottom())];
            writer.shapes.push(Shape::line_segment(ends, stroke));
            let place = pos2(at, area.bottom() + 4.0);
            writer.text(place, Align2::CENTER_TOP, &tick.label, FONT, look.text);
        }
        let place = pos2(area.right(), area.bottom() + 8.0 + FONT);
        writer.text(place, Align2::RIGHT_TOP, &self.x_label, FONT, look.text);
    }

    /// The horizontal and the vertical axis.
    fn axes(&self) -> [Axis; 2] {
        let scale = if self.log { Scale::Log } else { Scale::Linear };
        let all = || self.series.iter().flat_map(|series| &series.points);
        let x = Axis::of(all().map(|point| point[0]), Scale::Linear);
        let y = all().map(|point| point[1]);
        match self.marks {
            Marks::Line => [x, Axis::of(y, scale).padded()],
            // Bars stand on the ground.
            Marks::Bars => [x, Axis::of(y, scale).grounded().padded()],
        }
    }

    /// The numbers as comma-separated values, a line each behind a head.
    pub fn to_csv(&self) -> String {
        let mut text = match self.marks {
            Marks::Line => format!("series,{},value\n", quoted(&self.x_label)),
            Marks::Bars => "series,from,to,count\n".to_owned(),
        };
        for series in &self.series {
            let name = quoted(&series.name);
            match self.marks {
                Marks::Line => {
                    for [at, value] in &series.points {
                        text.push_str(&format!("{name},{at},{value}\n"));
                    }
                }
                Marks::Bars => {
                    for pair in series.points.windows(2) {
                        let [[from, count], [to, _]] = [pair[0], pair[1]];
                        text.push_str(&format!("{name},{from},{to},{count}\n"));
                    }
                }
            }
        }
        text
    }
}

/// A field of comma-separated values (RFC 4180).
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// How far right a number stands, and how far down, where it has a place there.
type Place = (f32, Option<f32>);

/// A line through these places, from left to right; a gap where there is none, and a dot where there is but one between
/// two gaps.
fn line(places: &[Place], area: Rect, color: Color32, shapes: &mut Vec<Shape>) {
    let places = thinned(places);
    for piece in places.split(|(_, y)| y.is_none()) {
        let place = |(x, y): &Place| Some(pos2(*x, (*y)?).clamp(area.min, area.max));
        let piece: Vec<Pos2> = piece.iter().filter_map(place).collect();
        match piece.as_slice() {
            [] => {}
            [alone] => shapes.push(Shape::circle_filled(*alone, 2.5, color)),
            _ => shapes.push(Shape::line(piece, Stroke::new(1.5, color))),
        }
    }
}

/// Of the many places in a column that is half a point wide the first, the lowest, the highest and the last: to the eye
/// the same line, of a length that the picture's width bounds.
fn thinned(places: &[Place]) -> Vec<Place> {
    let column = |(x, _): &Place| (2.0 * x).floor();
    let mut kept = Vec::new();
    for group in places.chunk_by(|a, b| column(a) == column(b)) {
        if group.len() <= 4 {
            kept.extend(group);
            continue;
        }
        let there = || group.iter().filter(|(_, y)| y.is_some());
        let by_height = |a: &&Place, b: &&Place| a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal);
        let ends = [there().next(), there().min_by(by_height)];
        let others = [there().max_by(by_height), there().next_back()];
        let found = ends.into_iter().chain(others).flatten().copied();
        let before = kept.len();
        kept.extend(found);
        if kept.len() == before {
            // Nothing of all of them is there.
            kept.extend(group.first());
        }
    }
    kept
}

/// Bars from each place to the next; of those that are narrower than half a point the highest.
fn bars(places: &[Pos2], area: Rect, color: Color32, shapes: &mut Vec<Shape>) {
    let fill = color.gamma_multiply(VEIL);
    let mut bars: Vec<Rect> = Vec::new();
    for pair in places.windows(2) {
        let bar = Rect::from_min_max(pair[0], pos2(pair[1].x, area.bottom()));
        match bars.last_mut() {
            Some(last) if bar.right() - last.left() < 0.5 => *last = last.union(bar),
            _ => bars.push(bar),
        }
    }
    for bar in bars.iter().filter(|bar| bar.height() > 0.0) {
        shapes.push(Shape::rect_filled(*bar, 0.0, fill));
        let ends = [bar.left_top(), bar.right_top()];
        shapes.push(Shape::line_segment(ends, Stroke::new(1.5, color)));
    }
}
