//! The legend over a picture: its bar's colours, its words, and that it grows with the picture.

use warpaint::draw::{Camera, Colormap, Content, Frame, Legend, View};

use super::{BLACK, Pixels};
use crate::gl::context;

fn legend(unit: &str) -> Legend {
    let (title, range) = ("speed".to_owned(), [-2.0, 2.0]);
    Legend {
        title,
        unit: unit.to_owned(),
        range,
        colormap: Colormap::Viridis,
        reversed: false,
        logarithmic: false,
    }
}

fn drawn(view: &mut View, legend: Option<&Legend>, name: &str) -> Pixels {
    let camera = Camera::default();
    let frame = Frame { background: BLACK, ..Frame::new(&camera, Content::Nothing) };
    let plain = Pixels::draw(view, &frame, "legend-none");
    let Some(legend) = legend else { return plain };
    let rgba = view.draw_legend(legend).unwrap().read_rgba8().unwrap();
    Pixels { rgba, ..plain }.kept(&format!("legend-{name}"))
}

/// Pixels of a rectangle [left, top, right, bottom] that are as bright as text.
fn bright(pixels: &Pixels, [left, top, right, bottom]: [u32; 4]) -> Vec<(u32, u32)> {
    let all = (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y)));
    all.filter(|&(x, y)| pixels.at(x, y).into_iter().all(|channel| channel > 100)).collect()
}

#[test]
fn the_bar_has_the_maps_colours_and_the_words_are_there() {
    let Some(context) = context() else { return };
    for (size, scale) in [([400, 200], 1), ([2560, 1440], 2)] {
        let mut view = View::new(context.gl(), size).unwrap();
        let plain = drawn(&mut view, None, "none");
        let pixels = drawn(&mut view, Some(&legend("m/s")), &format!("{scale}"));
        // 14 points from the corner; 210 x 51 of them large; the bar 10 from its left, 24 from its top, 190 x 9 large.
        let [left, top] = [size[0] - scale * (14 + 210), size[1] - scale * (14 + 51)];
        let bar = [left + scale * 10, top + scale * 24];
        for part in [0.05, 0.25, 0.5, 0.75, 0.95_f32] {
            let x = bar[0] + (part * (190 * scale) as f32) as u32;
            let (found, expected) =
                (pixels.at(x, bar[1] + 4 * scale), Colormap::Viridis.srgb8(part));
            // Half a pixel of the bar is 0.3 % of the map, whose steepest channel changes by 3 of 255 for that.
            let off = found.iter().zip(expected).map(|(a, b)| a.abs_diff(b)).max();
            assert!(off <= Some(4), "{part} of the bar is {found:?}, not {expected:?}");
        }
        let words = [left + scale * 10, top + scale * 4, left + scale * 200, top + scale * 22];
        let title = bright(&pixels, words).len();
        assert!(title > 40, "{title} pixels of a title");
        for (x, y) in [(left - 2, top + 10), (left + 20, top - 2), (3, 3)] {
            assert_eq!(pixels.at(x, y), plain.at(x, y), "outside at {x}, {y}");
        }
        let without = drawn(&mut view, Some(&legend("")), &format!("{scale}-no-unit"));
        assert!(bright(&without, words).len() < title, "the unit is written, too");
        assert!(drawn(&mut view, None, "none").rgba == plain.rgba, "the next picture is without");
    }
}

#[test]
fn a_picture_smaller_than_the_legend_has_a_part_of_it() {
    let Some(context) = context() else { return };
    let mut view = View::new(context.gl(), [40, 30]).unwrap();
    let pixels = drawn(&mut view, Some(&legend("m/s")), "small");
    assert!(pixels.rgba.chunks(4).any(|pixel| pixel[..3] != pixels.rgba[..3]));
}
