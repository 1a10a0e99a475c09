//! Images: every pixel of small textures, compared with what the texels say.

use glam::Vec2;
use warpaint::{
    draw::{Camera, Coloring, Colormap, Content, Frame, Image, Paint, PanZoom, View},
    gl::{CurrentContext, Filter, Format, Size, Texture},
};

use super::{BLACK, Pixels};
use crate::gl::context;

fn texture(context: &CurrentContext, format: Format, size: [u32; 2], bytes: &[u8]) -> Texture {
    let texture = Texture::new(context.gl(), format, Size::Flat(size)).unwrap();
    texture.write(bytes).unwrap();
    texture
}

fn scalars(context: &CurrentContext, size: [u32; 2], values: &[f32]) -> Texture {
    texture(context, Format::R32f, size, bytemuck::cast_slice(values))
}

fn coloring(paint: Paint, colormap: Colormap) -> Coloring {
    Coloring { paint, colormap, range: [0.0, 1.0], ..Coloring::default() }
}

fn show(
    context: &CurrentContext,
    size: [u32; 2],
    part: PanZoom,
    image: Image<'_>,
    name: &str,
) -> Pixels {
    let camera = Camera::default();
    let mut view = View::new(context.gl(), size).unwrap();
    let content = Content::Image(image);
    let frame = Frame { part, background: BLACK, ..Frame::new(&camera, content) };
    Pixels::draw(&mut view, &frame, &format!("image-{name}"))
}

/// Numbers in [0, 1) that are the same everywhere (Weyl's sequence).
fn numbers(count: usize) -> Vec<f32> {
    (1..=count).map(|i| (i as f64 * 0.618_033_988_749_895).fract() as f32).collect()
}

#[test]
fn texels_have_the_published_colours() {
    let Some(context) = context() else { return };
    // Entries of matplotlib's viridis, of 256.
    let published = [(0.0, 0x44_0154), (37.0, 0x46_337f), (127.0, 0x21_908d), (190.0, 0x5a_c864)];
    let values: Vec<f32> = (0..16).map(|i| published[i % 4].0 / 255.0).collect();
    let texture = scalars(&context, [4, 4], &values);
    let image = Image {
        coloring: coloring(Paint::Component(0), Colormap::Viridis),
        ..Image::new(&texture)
    };
    let pixels = show(&context, [4, 4], PanZoom::default(), image, "viridis");
    for (i, (_, color)) in (0..16_u32).zip(published.iter().cycle()) {
        let [_, expected @ ..] = u32::to_be_bytes(*color);
        let found = pixels.at(i % 4, i / 4);
        // The table has 33 of the 256 points; between them lines, within 3 of 255.
        let off = found.iter().zip(expected).map(|(a, b)| a.abs_diff(b)).max();
        assert!(off <= Some(3), "texel {i}: {found:?}, published {expected:?}");
    }
}

#[test]
fn colours_go_backwards_and_by_logarithms() {
    let Some(context) = context() else { return };
    let values = [0.01, 0.1, 1.0, 10.0, 100.0, 0.0, -5.0, f32::NAN];
    let texture = scalars(&context, [8, 1], &values);
    let of = coloring(Paint::Component(0), Colormap::Viridis);
    for reversed in [false, true] {
        let coloring = Coloring { range: [0.01, 100.0], logarithmic: true, reversed, ..of };
        let name = format!("logarithmic-{reversed}");
        let image = Image { coloring, ..Image::new(&texture) };
        let pixels = show(&context, [8, 1], PanZoom::default(), image, &name);
        // What is not above 0 is as the lowest value; NaN has its own colour.
        let parts = [0.0, 0.25, 0.5, 0.75, 1.0, 0.0, 0.0, f32::NAN];
        for (x, part) in (0..8).zip(parts) {
            let expected = Colormap::Viridis.srgb8(if reversed { 1.0 - part } else { part });
            let found = pixels.at(x, 0);
            let off = found.iter().zip(expected).map(|(a, b)| a.abs_diff(b)).max();
            // The texture has 256 colours, of which neighbours are at most 3 of 255 apart.
            assert!(off <= Some(3), "{} at {x}: {found:?}, not {expected:?}", values[x as usize]);
        }
    }
}

#[test]
fn bytes_of_rgba_are_not_changed_and_the_first_row_is_the_lowest() {
    let Some(context) = context() else { return };
    let bytes: Vec<u8> = (0..5 * 3).flat_map(|i: u8| [i * 17, 255 - i, i * 3, 255]).collect();
    let texture = texture(&context, Format::Rgba8, [5, 3], &bytes);
    let image =
        Image { coloring: coloring(Paint::Rgba, Colormap::Inferno), ..Image::new(&texture) };
    let pixels = show(&context, [5, 3], PanZoom::default(), image, "rgba");
    for (x, y) in (0..3).flat_map(|y| (0..5).map(move |x| (x, y))) {
        let start = ((2 - y) * 5 + x) as usize * 4;
        assert_eq!(pixels.at(x, y), bytes[start..start + 3], "{x} {y}");
    }
}

#[test]
fn what_counts_of_a_texel_is_chosen() {
    let Some(context) = context() else { return };
    let texel = [0.6_f32, 0.0, 0.8, 0.25];
    let texture = texture(&context, Format::Rgba32f, [1, 1], bytemuck::cast_slice(&texel));
    for (paint, value) in [
        (Paint::Component(0), 0.6),
        (Paint::Component(2), 0.8),
        (Paint::Component(3), 0.25),
        (Paint::Magnitude, 1.0),
    ] {
        let image = Image { coloring: coloring(paint, Colormap::Plasma), ..Image::new(&texture) };
        let found = show(&context, [3, 3], PanZoom::default(), image, "paint").at(1, 1);
        let expected = Colormap::Plasma.srgb8(value);
        let off = found.iter().zip(expected).map(|(a, b)| a.abs_diff(b)).max();
        // The map's texture has 256 colours.
        assert!(off <= Some(2), "{paint:?}: {found:?}, expected {expected:?}");
    }
}

#[test]
fn enlarging_is_nearest_or_linear() {
    let Some(context) = context() else { return };
    let texture = scalars(&context, [2, 1], &[0.2, 0.8]);
    for filter in [Filter::Nearest, Filter::Linear] {
        let coloring = coloring(Paint::Component(0), Colormap::Gray);
        let image = Image { coloring, filter, ..Image::new(&texture) };
        let pixels = show(&context, [16, 8], PanZoom::default(), image, "enlarged");
        for x in 0..16 {
            let place = ((x as f32 + 0.5) / 8.0 - 0.5).clamp(0.0, 1.0);
            let nearest = if x < 8 { 0.2 } else { 0.8 };
            let linear = 0.2 + 0.6 * place;
            let value = if filter == Filter::Nearest { nearest } else { linear };
            let found = pixels.at(x, 3)[0];
            assert!((f32::from(found) - value * 255.0).abs() <= 1.0, "{filter:?} {x}: {found}");
        }
    }
}

#[test]
fn a_pixel_has_the_mean_of_its_texels() {
    let Some(context) = context() else { return };
    let values = numbers(64 * 64);
    let texture = scalars(&context, [64, 64], &values);
    let image =
        Image { coloring: coloring(Paint::Component(0), Colormap::Gray), ..Image::new(&texture) };
    let pixels = show(&context, [8, 8], PanZoom::default(), image, "mean");
    for (x, y) in (0..8).flat_map(|y| (0..8).map(move |x| (x, y))) {
        let block = (0..8).flat_map(|j| (0..8).map(move |i| ((7 - y) * 8 + j) * 64 + x * 8 + i));
        let mean = block.map(|at| values[at as usize]).sum::<f32>() / 64.0;
        let found = f32::from(pixels.at(x, y)[0]);
        assert!((found - mean * 255.0).abs() <= 1.0, "{x} {y}: {found}, expected {}", mean * 255.0);
    }
}

#[test]
fn the_texel_under_the_pointer_is_the_one_that_is_seen() {
    let Some(context) = context() else { return };
    let (size, picture) = ([24, 15], [50_u32, 70]);
    let values = numbers(24 * 15);
    let texture = scalars(&context, size, &values);
    let mut part = PanZoom::default();
    let mut seen = 0;
    for (index, factor) in [1.0, 1.7, 3.0, 0.4].into_iter().enumerate() {
        part.zoom_at(factor, Vec2::new(0.3, -0.2), size, picture);
        part.pan(Vec2::new(0.02, 0.01) * index as f32, size, picture);
        let coloring = coloring(Paint::Component(0), Colormap::Gray);
        let image = Image { coloring, ..Image::new(&texture) };
        let pixels = show(&context, picture, part, image, &format!("part-{index}"));
        for (x, y) in (0..70).flat_map(|y| (0..50).map(move |x| (x, y))) {
            let [w, h] = picture.map(|n| n as f32);
            let pointer =
                Vec2::new((x as f32 + 0.5) / w, 1.0 - (y as f32 + 0.5) / h) * 2.0 - Vec2::ONE;
            // Where two texels meet within a hair, either may be seen.
            let around = [-0.01, 0.0, 0.01]
                .map(|d| part.texel(pointer + Vec2::splat(d / 35.0), size, picture));
            let Some([i, j]) = around[1].filter(|_| around.iter().all(|t| *t == around[1])) else {
                continue;
            };
            let expected = values[(j * size[0] + i) as usize] * 255.0;
            let found = f32::from(pixels.at(x, y)[0]);
            assert!((found - expected).abs() <= 1.0, "{x} {y}: {found}, texel {expected}");
            seen += 1;
        }
        if index == 0 {
            assert_eq!(pixels.at(0, 0), [0; 3], "beside the image is the background");
        }
    }
    assert!(seen > 5000, "{seen}");
}

#[test]
fn no_numbers_are_magenta_and_transparent_texels_show_a_checkerboard() {
    let Some(context) = context() else { return };
    let texels = [[f32::NAN, 0.0, 0.0, 1.0], [9.0, -1.0, 0.4, 1.0], [1.0, 1.0, 1.0, 0.0]];
    let texture = texture(&context, Format::Rgba32f, [3, 1], bytemuck::cast_slice(&texels));
    let of = |paint, x| {
        let image = Image { coloring: coloring(paint, Colormap::Gray), ..Image::new(&texture) };
        show(&context, [48, 16], PanZoom::default(), image, "alpha").at(x, 4)
    };
    for paint in [Paint::Rgba, Paint::Component(0), Paint::Magnitude] {
        assert_eq!(of(paint, 8), [255, 0, 255], "{paint:?}");
    }
    assert_eq!(of(Paint::Rgba, 24), [255, 0, 102]);
    let (one, other) = (of(Paint::Rgba, 36), of(Paint::Rgba, 44));
    assert!(one != other && one[0].max(other[0]) < 80, "{one:?} {other:?}");
}
