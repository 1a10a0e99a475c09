//! `file` of textures: pictures, and arrays of texels.

use std::path::Path;

use half::f16;
use image::{DynamicImage, GrayImage, ImageBuffer, ImageFormat, Luma, LumaA, Rgb, Rgba, RgbaImage};
use ndarray::{Array2, Array3, Array4};
use ndarray_npy::write_npy;

use super::{Folder, on_each_device, read, scene, write};

/// A texture of 3 x 2 texels with a file.
fn texture(name: &str, format: &str, file: &str) -> String {
    format!("[texture.{name}]\nformat = \"{format}\"\nsize = [3, 2]\nfile = \"{file}\"\n")
}

/// A picture whose pixels are numbered from the lower left corner on.
fn numbered() -> RgbaImage {
    ImageBuffer::from_fn(3, 2, |x, y| {
        let i = (3 * (1 - y) + x) as u8;
        Rgba([i, 10 * i, 40 * i, 255 - i])
    })
}

fn save(picture: impl Into<DynamicImage>, path: &Path, format: ImageFormat) {
    picture.into().save_with_format(path, format).unwrap();
}

/// What is there in each of six texels.
fn texels<T>(texel: impl Fn(u8) -> Vec<T>) -> Vec<T> {
    (0..6).flat_map(texel).collect()
}

#[test]
fn a_picture_stands_upright_in_every_format() {
    on_each_device(|device| {
        let folder = Folder::new();
        save(numbered(), &folder.path("a.png"), ImageFormat::Png);
        let manifest = [
            texture("bytes", "rgba8", "a.png"),
            texture("halves", "rgba16f", "a.png"),
            texture("floats", "rgba32f", "a.png"),
            texture("two", "rg32f", "a.png"),
            texture("one", "r32f", "a.png") + "double = true\n",
        ];
        let mut session = folder.begun(device, &scene(&manifest.concat(), ""));
        let share = |n: u8| f32::from(n) / 255.0;
        assert_eq!(read::<u8>(&mut session, "bytes"), texels(|i| vec![i, 10 * i, 40 * i, 255 - i]));
        let all = texels(|i| [i, 10 * i, 40 * i, 255 - i].map(share).to_vec());
        assert_eq!(read::<f32>(&mut session, "floats"), all);
        let halves: Vec<f16> = all.iter().map(|n| f16::from_f32(*n)).collect();
        assert_eq!(read::<f16>(&mut session, "halves"), halves);
        assert_eq!(read::<f32>(&mut session, "two"), texels(|i| vec![share(i), share(10 * i)]));
        assert_eq!(read::<f32>(&mut session, "one"), texels(|i| vec![share(i)]));
    });
}

#[test]
fn gray_is_every_colour_and_what_has_no_alpha_is_opaque() {
    let folder = Folder::new();
    let at = |x: u32, y: u32| (3 * (1 - y) + x) as u8;
    let gray: GrayImage = ImageBuffer::from_fn(3, 2, |x, y| Luma([50 * at(x, y)]));
    let with_alpha = ImageBuffer::from_fn(3, 2, |x, y| LumaA([50 * at(x, y), at(x, y)]));
    let colour = ImageBuffer::from_fn(3, 2, |x, y| Rgb([at(x, y), 2, 3]));
    let wide = ImageBuffer::from_fn(3, 2, |x, y| Luma([u16::from(at(x, y)) * 257]));
    save(gray, &folder.path("gray.png"), ImageFormat::Png);
    save(DynamicImage::ImageLumaA8(with_alpha), &folder.path("alpha.png"), ImageFormat::Png);
    save(DynamicImage::ImageRgb8(colour), &folder.path("colour.png"), ImageFormat::Png);
    save(DynamicImage::ImageLuma16(wide), &folder.path("wide.png"), ImageFormat::Png);
    let manifest = [
        texture("gray", "rgba8", "gray.png"),
        texture("alpha", "rgba8", "alpha.png"),
        texture("colour", "rgba8", "colour.png"),
        texture("wide", "r32f", "wide.png"),
    ];
    let mut session =
        folder.begun(&warpaint::Device::cpu().unwrap(), &scene(&manifest.concat(), ""));
    assert_eq!(read::<u8>(&mut session, "gray"), texels(|i| vec![50 * i, 50 * i, 50 * i, 255]));
    assert_eq!(read::<u8>(&mut session, "alpha"), texels(|i| vec![50 * i, 50 * i, 50 * i, i]));
    assert_eq!(read::<u8>(&mut session, "colour"), texels(|i| vec![i, 2, 3, 255]));
    let wide = texels(|i| vec![f32::from(i) / 255.0]);
    for (found, expected) in read::<f32>(&mut session, "wide").into_iter().zip(wide) {
        assert!((found - expected).abs() <= f32::EPSILON * expected, "{found} {expected}");
    }
}

#[test]
fn jpeg_openexr_and_radiance_are_read() {
    let folder = Folder::new();
    // Powers of two, which each format has exactly.
    let bright: ImageBuffer<Rgb<f32>, _> = ImageBuffer::from_fn(3, 2, |x, y| {
        let i = 3 * (1 - y) + x;
        Rgb([2.0_f32.powi(i as i32), 1.0, 0.5])
    });
    save(DynamicImage::ImageRgb32F(bright.clone()), &folder.path("a.exr"), ImageFormat::OpenExr);
    save(DynamicImage::ImageRgb32F(bright), &folder.path("a.hdr"), ImageFormat::Hdr);
    let flat: ImageBuffer<Rgb<u8>, _> = ImageBuffer::from_pixel(3, 2, Rgb([128, 128, 128]));
    save(DynamicImage::ImageRgb8(flat), &folder.path("a.jpeg"), ImageFormat::Jpeg);
    // The content tells what a file is, not its name.
    std::fs::rename(folder.path("a.jpeg"), folder.path("a.picture")).unwrap();
    let manifest = [
        texture("exr", "rgba32f", "a.exr"),
        texture("hdr", "rgba32f", "a.hdr"),
        texture("jpeg", "rgba8", "a.picture"),
    ];
    let mut session =
        folder.begun(&warpaint::Device::cpu().unwrap(), &scene(&manifest.concat(), ""));
    let expected = texels(|i| vec![2.0_f32.powi(i.into()), 1.0, 0.5, 1.0]);
    assert_eq!(read::<f32>(&mut session, "exr"), expected);
    for (found, expected) in read::<f32>(&mut session, "hdr").iter().zip(&expected) {
        // It has eight bits for each colour, of the brightest one's range.
        assert!((found - expected).abs() <= 32.0 / 256.0, "{found} {expected}");
    }
    for (index, found) in read::<u8>(&mut session, "jpeg").into_iter().enumerate() {
        let expected: u8 = if index % 4 == 3 { 255 } else { 128 };
        assert!(found.abs_diff(expected) <= 2, "{index}: {found}");
    }
}

/// Of 4 x 3 pixels, which are numbered from 0 in quarters, the right three columns of the lower two rows are seen. Each
/// channel has a hundred more than the one before.
fn write_exr(path: &Path, channels: &[&str], halves: bool) {
    use exr::prelude::*;
    let list = channels.iter().enumerate().map(|(number, name)| {
        let values = (0..12).map(|i| 100.0 * number as f32 + i as f32 / 4.0);
        let samples = match halves {
            true => FlatSamples::F16(values.map(f16::from_f32).collect()),
            false => FlatSamples::F32(values.collect()),
        };
        AnyChannel::new(*name, samples)
    });
    let channels = AnyChannels::sort(list.collect());
    let attributes = LayerAttributes::named("depth");
    let mut layer = Layer::new((4, 3), attributes, Encoding::FAST_LOSSLESS, channels);
    layer.attributes.layer_position = Vec2(-1, -1);
    let window = IntegerBounds::from_dimensions((3, 2));
    Image::new(ImageAttributes::new(window), layer).write().to_file(path).unwrap();
}

/// A depth, a mask, a luminance, a flow. `None` has no channel, and 1 in alpha.
#[test]
fn openexr_without_all_colours_is_read_by_its_channels() {
    let folder = Folder::new();
    for (channels, halves, expected) in [
        (&["Y"][..], false, [Some(0), Some(0), Some(0), None]),
        (&["Z"], true, [Some(0), Some(0), Some(0), None]),
        (&["R", "G"], false, [Some(0), Some(1), None, None]),
        (&["A", "Y"], true, [Some(1), Some(1), Some(1), Some(0)]),
        (&["Z", "R"], false, [Some(1), None, None, None]),
        (&["r", "g", "b"], false, [Some(0), Some(1), Some(2), None]),
    ] {
        write_exr(&folder.path("a.exr"), channels, halves);
        let manifest =
            [texture("one", "r32f", "a.exr"), texture("four", "rgba32f", "a.exr")].concat();
        let mut session = folder.begun(&warpaint::Device::cpu().unwrap(), &scene(&manifest, ""));
        let seen = [9.0, 10.0, 11.0, 5.0, 6.0, 7.0].map(|i: f32| i / 4.0);
        let four = seen.map(|value| {
            let lane = |lane: usize| match expected[lane] {
                Some(number) => 100.0 * number as f32 + value,
                None => f32::from(u8::from(lane == 3)),
            };
            [0, 1, 2, 3].map(lane)
        });
        // Halves have no quarters of what is above 100.
        let as_written = |value: f32| if halves { f16::from_f32(value).to_f32() } else { value };
        let four = four.map(|lanes| lanes.map(as_written));
        assert_eq!(read::<f32>(&mut session, "four"), four.as_flattened(), "{channels:?}");
        assert_eq!(read::<f32>(&mut session, "one"), four.map(|lanes| lanes[0]), "{channels:?}");
    }
    write_exr(&folder.path("a.exr"), &["BY", "RY", "Y"], false);
    let told = folder.told(&scene(&texture("a", "rgba32f", "a.exr"), ""));
    let expected = "it has the channels BY, RY, Y: R, G and B are read, Y";
    assert!(told.iter().any(|told| told.contains(expected)), "{told:?}");
}

/// Every value of a byte and of sixteen bits is the share of 1 that is nearest, gray as in colour.
#[test]
fn gray_and_colours_have_the_same_shares() {
    let folder = Folder::new();
    let deep = |x: u32, y: u32| (256 * y + x) as u16;
    let gray = ImageBuffer::from_fn(256, 1, |x, _| Luma([x as u8]));
    let gray_deep = ImageBuffer::from_fn(256, 256, |x, y| Luma([deep(x, 255 - y)]));
    let alpha = ImageBuffer::from_fn(256, 1, |x, _| LumaA([x as u8, 255]));
    let colour = ImageBuffer::from_fn(256, 1, |x, _| Rgb([x as u8; 3]));
    save(DynamicImage::ImageLuma8(gray), &folder.path("gray.png"), ImageFormat::Png);
    save(DynamicImage::ImageLuma16(gray_deep), &folder.path("deep.png"), ImageFormat::Png);
    save(DynamicImage::ImageLumaA8(alpha), &folder.path("alpha.png"), ImageFormat::Png);
    save(DynamicImage::ImageRgb8(colour), &folder.path("colour.png"), ImageFormat::Png);
    let sized = |name: &str, size: &str| {
        texture(name, "r32f", &format!("{name}.png")).replace("[3, 2]", size)
    };
    let manifest = [
        sized("gray", "[256, 1]"),
        sized("alpha", "[256, 1]"),
        sized("colour", "[256, 1]"),
        sized("deep", "[256, 256]"),
    ];
    let device = warpaint::Device::cpu().unwrap();
    let mut session = folder.begun(&device, &scene(&manifest.concat(), ""));
    let shares = |most: u16| (0..=most).map(|v| f32::from(v) / f32::from(most)).collect::<Vec<_>>();
    for name in ["gray", "alpha", "colour"] {
        assert_eq!(read::<f32>(&mut session, name), shares(255), "{name}");
    }
    assert_eq!(read::<f32>(&mut session, "deep"), shares(65535));
}

#[test]
fn arrays_of_texels_are_those_that_npy_writes() {
    on_each_device(|device| {
        let folder = Folder::new();
        let path = |name: &str| folder.path(&format!("{name}.npy"));
        let flat = Array3::from_shape_fn((2, 3, 4), |(y, x, c)| (12 * y + 4 * x + c) as f32);
        let single = Array2::from_shape_fn((2, 3), |(y, x)| (3 * y + x) as f32);
        let solid =
            Array4::from_shape_fn((2, 3, 4, 2), |(z, y, x, c)| (24 * z + 8 * y + 2 * x + c) as f32);
        write_npy(path("flat"), &flat).unwrap();
        write_npy(path("single"), &single).unwrap();
        write_npy(path("solid"), &solid).unwrap();
        let manifest = [
            texture("flat", "rgba32f", "flat.npy"),
            texture("single", "r32f", "single.npy"),
            texture("solid", "rg32f", "solid.npy").replace("[3, 2]", "[4, 3, 2]"),
        ];
        let mut session = folder.begun(device, &scene(&manifest.concat(), ""));
        for (name, count) in [("flat", 24), ("single", 6), ("solid", 48)] {
            let counted: Vec<f32> = (0..count).map(|i| i as f32).collect();
            assert_eq!(read::<f32>(&mut session, name), counted, "{name}");
        }
    });
}

#[test]
fn what_does_not_fit_a_texture_is_told_on_its_line_all_at_once() {
    let folder = Folder::new();
    save(RgbaImage::new(4, 2), &folder.path("large.png"), ImageFormat::Png);
    let wide: ImageBuffer<Luma<u16>, _> = ImageBuffer::new(3, 2);
    save(DynamicImage::ImageLuma16(wide), &folder.path("wide.png"), ImageFormat::Png);
    let bright: ImageBuffer<Rgb<f32>, _> = ImageBuffer::new(3, 2);
    save(DynamicImage::ImageRgb32F(bright), &folder.path("bright.exr"), ImageFormat::OpenExr);
    save(numbered(), &folder.path("a.png"), ImageFormat::Png);
    let whole = std::fs::read(folder.path("a.png")).unwrap();
    write(&folder.path("cut.png"), &whole[..whole.len() - 20]);
    write(&folder.path("none.png"), "no picture");
    write_npy(folder.path("turned.npy"), &Array3::<f32>::zeros((3, 2, 4))).unwrap();
    let manifest = [
        texture("a", "rgba8", "large.png"),
        texture("b", "rgba8", "wide.png"),
        texture("c", "rgba8", "bright.exr"),
        texture("d", "rgba8", "cut.png"),
        texture("e", "rgba8", "none.png"),
        texture("f", "rgba32f", "turned.npy"),
        texture("g", "rgba8", "a.png").replace("[3, 2]", "[3, 2, 1]"),
    ];
    let told = folder.told(&scene(&manifest.concat(), ""));
    let rgba8 = "and uchar4 has 8: take a texture of `rgba16f` or `rgba32f`";
    let expected = [
        "large.png does not fit the texture a (3x2 rgba8): it has 4 x 2 pixels, not 3 x 2".to_owned(),
        format!("wide.png does not fit the texture b (3x2 rgba8): it has 16 bits for each channel, {rgba8}"),
        format!("bright.exr does not fit the texture c (3x2 rgba8): it has 32 bits for each channel, {rgba8}"),
        "cut.png does not fit the texture d (3x2 rgba8): it cannot be read: ".to_owned(),
        "none.png does not fit the texture e (3x2 rgba8): it is neither a PNG, JPEG, OpenEXR or Radiance HDR picture \
         nor a `.npy` file"
            .to_owned(),
        "turned.npy does not fit the texture f (3x2 rgba32f): it has the shape (3, 2, 4), not (2, 3, 4)".to_owned(),
        "a.png does not fit the texture g (3x2x1 rgba8): it is no `.npy` file: a picture has no depth".to_owned(),
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (index, (told, expected)) in told.iter().zip(expected).enumerate() {
        let expected = format!("scene.cu:{}:8: error: {expected}", 4 * index + 5);
        assert!(told.starts_with(&expected), "{told}\n{expected}");
    }
}

/// All of an OpenEXR file's pixels are unpacked, also those that lie outside what is seen of it.
#[test]
fn a_picture_of_which_little_is_seen_is_not_unpacked() {
    let folder = Folder::new();
    let large: ImageBuffer<Rgb<f32>, _> = ImageBuffer::new(1100, 1000);
    save(DynamicImage::ImageRgb32F(large), &folder.path("a.exr"), ImageFormat::OpenExr);
    let mut content = std::fs::read(folder.path("a.exr")).unwrap();
    let window = b"displayWindow\0box2i\0";
    let at = content.windows(window.len()).position(|bytes| bytes == window).unwrap();
    // Behind the length of four bytes lie the corners of the box: to (2, 1).
    let corner = at + window.len() + 4 + 8;
    content[corner..corner + 8].copy_from_slice(&[2, 0, 0, 0, 1, 0, 0, 0]);
    write(&folder.path("a.exr"), content);
    let told = folder.told(&scene(&texture("a", "rgba32f", "a.exr"), ""));
    let expected = "its layers have 1100000 pixels, of which 3 x 2 are seen";
    assert!(told.len() == 1 && told[0].contains(expected), "{told:#?}");
}
