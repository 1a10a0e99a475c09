//! Charts as SVG: the same shapes, written down.

use std::fmt::Write as _;

use epaint::{
    Color32, Rect, Shape, TextOptions, pos2,
    text::{FontDefinitions, Fonts, ViewportKey},
    vec2,
};

use super::chart::{Chart, Look};

/// How far below its upper edge a text's baseline is, in heights of its letters.
const ASCENT: f32 = 0.93;

impl Chart {
    /// A picture of this size, in pixels at the usual scale, for paper and browsers.
    pub fn to_svg(&self, [width, height]: [u32; 2]) -> String {
        let mut fonts = Fonts::new(TextOptions::default(), FontDefinitions::default());
        fonts.begin_pass(TextOptions::default(), ViewportKey::default());
        let room = Rect::from_min_size(pos2(0.0, 0.0), vec2(width as f32, height as f32));
        let shapes = self.shapes(room, &Look::LIGHT, &mut fonts.with_pixels_per_point(1.0));
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"Ubuntu, sans-serif\">\n"
        );
        shapes.iter().for_each(|shape| element(shape, &mut text));
        text.push_str("</svg>\n");
        text
    }
}

/// One shape of those that charts consist of.
fn element(shape: &Shape, out: &mut String) {
    // Writing to a string does not fail.
    let _ = match shape {
        Shape::Rect(rect) => {
            let (at, size) = (rect.rect.min, rect.rect.size());
            writeln!(
                out,
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" {}/>",
                at.x,
                at.y,
                size.x,
                size.y,
                paint("fill", rect.fill)
            )
        }
        Shape::Circle(circle) => {
            let (at, radius) = (circle.center, circle.radius);
            let fill = paint("fill", circle.fill);
            writeln!(out, "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"{radius}\" {fill}/>", at.x, at.y)
        }
        Shape::LineSegment { points: [a, b], stroke } => {
            let paint = paint("stroke", stroke.color);
            let width = stroke.width;
            writeln!(
                out,
                "<path d=\"M{:.2} {:.2}L{:.2} {:.2}\" {paint} stroke-width=\"{width}\"/>",
                a.x, a.y, b.x, b.y
            )
        }
        Shape::Path(path) => {
            let color = match path.stroke.color {
                epaint::ColorMode::Solid(color) => color,
                epaint::ColorMode::UV(_) => Color32::BLACK,
            };
            let points = path.points.iter().map(|at| format!("{:.2},{:.2}", at.x, at.y));
            let points = points.collect::<Vec<_>>().join(" ");
            let (paint, width) = (paint("stroke", color), path.stroke.width);
            writeln!(
                out,
                "<polyline points=\"{points}\" fill=\"none\" {paint} stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"/>"
            )
        }
        Shape::Text(text) => {
            let (galley, at) = (&text.galley, text.pos);
            let section = galley.job.sections.first();
            let size = section.map_or(0.0, |section| section.format.font_id.size);
            let color = section.map_or(Color32::BLACK, |section| section.format.color);
            let (y, width) = (at.y + ASCENT * size, galley.size().x);
            // Other fonts are wider or narrower; the text is to take the room that was left for it.
            writeln!(
                out,
                "<text x=\"{:.2}\" y=\"{y:.2}\" font-size=\"{size}\" textLength=\"{width:.2}\" \
                 lengthAdjust=\"spacingAndGlyphs\" {}>{}</text>",
                at.x,
                paint("fill", color),
                escaped(galley.text())
            )
        }
        _ => Ok(()),
    };
}

/// A colour as an attribute, and its opacity as another.
fn paint(what: &str, color: Color32) -> String {
    let [r, g, b, a] = color.to_srgba_unmultiplied();
    let solid = format!("{what}=\"#{r:02x}{g:02x}{b:02x}\"");
    match a {
        255 => solid,
        _ => format!("{solid} {what}-opacity=\"{:.3}\"", f32::from(a) / 255.0),
    }
}

/// Text as XML has it, which knows no control characters at all.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
