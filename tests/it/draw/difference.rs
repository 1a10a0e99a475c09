//! What two sides differ in: pixels of small pictures and textures, compared with what they should be.

use warpaint::{
    draw::Difference,
    gl::{CurrentContext, Format, Framebuffer, Size, Texture},
};

use crate::gl::context;

fn floats(context: &CurrentContext, size: [u32; 2], values: &[f32]) -> Texture {
    let texture = Texture::new(context.gl(), Format::Rg32f, Size::Flat(size)).unwrap();
    texture.write(bytemuck::cast_slice(values)).unwrap();
    texture
}

#[test]
fn images_are_subtracted_component_by_component() {
    let Some(context) = context() else { return };
    let (nan, infinite) = (f32::NAN, f32::INFINITY);
    let a = [1.0, 2.0, nan, infinite, 1e-30, -5.0, nan, 0.0];
    let b = [1.5, 2.0, nan, infinite, 0.0, 5.0, 1.0, infinite];
    let [a, b] = [&a, &b].map(|values| floats(&context, [2, 2], values));
    let mut difference = Difference::new(context.gl()).unwrap();
    let apart = difference.of_images([&a, &b]).unwrap().unwrap();
    let texel = |x, y| apart.read_texel([x, y, 0]).unwrap()[..2].to_vec();
    assert_eq!(texel(0, 0), [0.5, 0.0]);
    assert_eq!(texel(1, 0), [0.0, 0.0], "what is the same on both sides is no difference");
    assert_eq!(texel(0, 1), [1e-30, 10.0]);
    let last = texel(1, 1);
    assert!(last[0].is_nan() && last[1] == infinite, "{last:?}");
    let larger = floats(&context, [4, 2], &[0.0; 16]);
    assert!(difference.of_images([&a, &larger]).unwrap().is_none());
}

#[test]
fn pictures_are_tinted_and_gray_where_they_are_the_same() {
    let Some(context) = context() else { return };
    let picture = |size, gray: f32| {
        let picture = Framebuffer::new(context.gl(), Format::Rgba8, size, false).unwrap();
        picture.clear([gray, gray / 2.0, 0.0, 1.0]);
        picture
    };
    let [bright, half, dark] = [1.0, 0.6, 0.0].map(|gray| picture([2, 2], gray));
    let mut difference = Difference::new(context.gl()).unwrap();
    let [tint_a, tint_b] = Difference::TINTS;
    let mut expect = |sides, expected: [f32; 3]| {
        let both = difference.of_pictures(sides).unwrap().unwrap();
        let found = both.read_rgba8().unwrap();
        let near =
            |(found, expected): (&u8, f32)| (f32::from(*found) - 255.0 * expected).abs() < 1.5;
        assert!(found[..3].iter().zip(expected).all(near), "{:?} {expected:?}", &found[..3]);
    };
    expect([&bright, &dark], tint_a);
    expect([&dark, &bright], tint_b);
    expect([&half, &half], [0.6; 3]);
    expect([&half, &dark], tint_a.map(|part| part * 0.6));
    assert!(difference.of_pictures([&bright, &picture([3, 2], 0.0)]).unwrap().is_none());
}
