//! Views of running scenes: what of the manifest reaches the picture and the legend.

use warpaint::{
    device::Device,
    draw::{Colormap, View},
    session::Session,
};

use super::{FIRST, open_with_gl};

/// A texture whose value is `x + 10 * y + 100 * z` over its width: with `%` in place of size, view and place.
fn scene(size: &str, view: &str) -> String {
    let store = match size.matches(',').count() {
        1 => "surf2Dwrite(value, t, 4 * x, y)",
        _ => "surf3Dwrite(value, t, 4 * x, y, z)",
    };
    format!(
        "/*---\n[texture.t]\nformat = \"r32f\"\nsize = {size}\n[[pass]]\nkernel = \"fill\"\nover = \"t\"\n\
         [view]\n{view}\ntexture = \"t\"\n---*/\n\
         __global__ void fill(cudaSurfaceObject_t t, int t_width, int t_height, float2 mouse) {{\n\
         int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n\
         int z = blockIdx.z * blockDim.z + threadIdx.z;\n\
         if (x >= t_width || y >= t_height || z >= 8) return;\n\
         float value = (x + 10.0f * y + 100.0f * z) / t_width;\n\
         {store};\n}}\n"
    )
}

/// A session that has made a step and measured it, and its picture's pixels, as often as there is OpenGL.
fn drawn(size: &str, view: &str) -> Option<(Session, Vec<u8>)> {
    let (context, mut session) = open_with_gl(&Device::cpu().unwrap(), "t.cu", &scene(size, view))?;
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    let mut of = View::new(context.gl(), [64, 64]).unwrap();
    let camera = session.start_camera(FIRST, 1.0);
    let pixels = of.draw(&session.frame(FIRST, &camera)).unwrap().read_rgba8().unwrap();
    Some((session, pixels))
}

#[test]
fn every_view_of_a_texture_is_drawn_and_explained() {
    for (size, view, range) in [
        ("[8, 8]", "kind = \"image\"\nunit = \"m\"", [0.0, 77.0 / 8.0]),
        ("[8, 8]", "kind = \"surface\"\nheight = 0.05\nunit = \"m\"", [0.0, 77.0 / 8.0]),
        ("[8, 8, 8]", "kind = \"volume\"\nunit = \"m\"\nrange = [-1.0, 3.0]", [-1.0, 3.0]),
    ] {
        let Some((session, pixels)) = drawn(size, view) else { return };
        let state = session.snapshot().views.remove(0);
        assert!(view.contains(&format!("\"{}\"", state.kind)), "{state:?}");
        assert_eq!(state.is_flat(), session.image(FIRST).is_some());
        assert!(state.takes_mouse);
        let legend = state.legend.unwrap();
        assert_eq!((legend.title.as_str(), legend.unit.as_str()), ("t", "m"));
        assert_eq!((legend.range, legend.colormap), (range, Colormap::Inferno));
        let bright = pixels.chunks(4).filter(|pixel| pixel[0] > 100).count();
        assert!(bright > 200, "{view}: {bright} pixels are bright");
    }
}

#[test]
fn an_image_has_the_colours_of_the_datas_range() {
    let Some((_, pixels)) = drawn("[8, 8]", "kind = \"image\"\ncolormap = \"viridis\"") else {
        return;
    };
    let at = |x: usize, y: usize| &pixels[(y * 64 + x) * 4..][..3];
    // The lower left texel is the least, the upper right one the greatest.
    for (x, y, scalar) in [(0, 63, 0.0), (63, 0, 1.0), (63, 63, 7.0 / 77.0)] {
        let expected = Colormap::Viridis.srgb8(scalar);
        let off = at(x, y).iter().zip(expected).map(|(a, b)| a.abs_diff(b)).max();
        // The map's texture has 256 colours.
        assert!(off <= Some(2), "{x} {y}: {:?}, expected {expected:?}", at(x, y));
    }
}

/// The picture, a step and a measurement later, of a scene whose `what`, an array of `W * H` elements or a texture, the
/// statements of `store` fill: at `x`, `y` and the index `i`.
fn grid(what: &str, store: &str, view: &str) -> Option<(Session, Vec<u8>)> {
    let source = grid_source(what, store, view);
    let (context, mut session) = open_with_gl(&Device::cpu().unwrap(), "g.cu", &source)?;
    session.run_steps(1, |_| {}).unwrap();
    session.measure().unwrap();
    let mut of = View::new(context.gl(), [64, 32]).unwrap();
    let camera = session.start_camera(FIRST, 2.0);
    let pixels = of.draw(&session.frame(FIRST, &camera)).unwrap().read_rgba8().unwrap();
    Some((session, pixels))
}

#[test]
fn elements_are_drawn_as_texels_with_the_same_values_are() {
    let texture = |format: &str, store: &str, view: &str| {
        let what = format!("[texture.t]\nformat = \"{format}\"\nsize = [\"W\", \"H\"]");
        grid(&what, &format!("cudaSurfaceObject_t t: {store}"), &format!("{view}\ntexture = \"t\""))
    };
    let array = |kind: &str, of: &str, store: &str, view: &str| {
        // One element more than there are texels, and more in a row of nothing.
        let what = format!("[{kind}.t]\ntype = \"{of}\"\ncount = \"W * H + 1\"");
        let view = format!("{view}\ntexture = \"t\"\nsize = [\"W\", \"2 * H / 2\"]");
        grid(&what, &format!("{of} *t: {store}"), &view)
    };
    let (image, surface) = ("kind = \"image\"", "kind = \"surface\"\nheight = 0.02");
    for view in [image, surface, "kind = \"image\"\nfilter = \"linear\"\nrange = [3, 20]"] {
        let store = "surf2Dwrite(value, t, 4 * x, y);";
        let Some((_, expected)) = texture("r32f", store, view) else { return };
        for (kind, of) in
            [("array", "float"), ("buffer", "half"), ("array", "int"), ("array", "unsigned")]
        {
            let (session, found) = array(kind, of, "t[i] = value;", view).unwrap();
            let off = found.iter().zip(&expected).map(|(a, b)| a.abs_diff(*b)).max();
            // Integers come as parts of the greatest one, rounded; an H200 filters halves as halves, and a surface's
            // light depends on the difference of neighbours (3 there).
            let most = match of {
                "float" => 0,
                "half" if view == surface => 4,
                _ => 1,
            };
            assert!(off <= Some(most), "{view} {of}: {off:?}");
            let texel = session.texel(FIRST, [5, 3]).unwrap();
            assert_eq!(texel, view.contains("image").then(|| vec![35.0]), "{view} {of}");
        }
    }
    for (of, format, lanes, make) in [
        ("float2", "rg32f", 8, "make_float2(x / 8.0f, y / 4.0f)"),
        ("float4", "rgba32f", 16, "make_float4(x / 8.0f, y / 4.0f, 0.2f, 0.5f + y / 8.0f)"),
        ("uchar4", "rgba8", 4, "make_uchar4(30 * x, 60 * y, 9, 255)"),
    ] {
        let store = format!("surf2Dwrite({make}, t, {lanes} * x, y);");
        let (_, expected) = texture(format, &store, image).unwrap();
        let (_, found) = array("array", of, &format!("t[i] = {make};"), image).unwrap();
        assert_eq!(found, expected, "{of}");
    }
}

#[test]
fn three_components_are_a_colour_and_the_texel_has_them() {
    let what = "[array.t]\ntype = \"uchar3\"\ncount = \"W * H\"";
    let view = "kind = \"image\"\ntexture = \"t\"\nsize = [\"W\", \"H\"]";
    let store = "uchar3 *t: t[i] = make_uchar3(x == 7 ? 255 : 10, 10 * y, 200);";
    let Some((session, pixels)) = grid(what, store, view) else { return };
    let at = |x: usize, y: usize| &pixels[(y * 64 + x) * 4..][..3];
    assert_eq!((at(0, 31), at(63, 0)), (&[10, 0, 200][..], &[255, 30, 200][..]));
    assert_eq!(session.texel(FIRST, [7, 2]).unwrap(), Some(vec![255.0, 20.0, 200.0]));
    assert!(session.snapshot().views[0].legend.is_none());
}

#[test]
fn elements_are_seen_after_an_edit_and_a_grid_that_opengl_cannot_have_is_told() {
    let what = "[array.t]\ntype = \"float\"\ncount = \"W * H + 65536\"";
    let view = "kind = \"image\"\ntexture = \"t\"\nrange = [0, 40]\nsize = ";
    let source =
        |size: &str| grid_source(what, "float *t: t[i] = value;", &format!("{view}{size}"));
    let device = Device::cpu().unwrap();
    let opened = open_with_gl(&device, "g.cu", &source("[\"W\", \"H\"]"));
    let Some((context, mut session)) = opened else { return };
    session.run_steps(1, |_| {}).unwrap();
    let picture = |session: &Session| {
        let mut of = View::new(context.gl(), [64, 32]).unwrap();
        let camera = session.start_camera(FIRST, 2.0);
        of.draw(&session.frame(FIRST, &camera)).unwrap().read_rgba8().unwrap()
    };
    let before = picture(&session);
    // Rows of half the length, seen before another step is made.
    session.set_source(source("[\"W / 2\", \"2 * H\"]"));
    assert!(session.wait_for_program().unwrap());
    let after = picture(&session);
    assert_ne!(after, before);
    assert_eq!(session.texel(FIRST, [1, 7]).unwrap(), Some(vec![35.0]));
    session.set_source(source("[65536, 1]"));
    assert!(!session.wait_for_program().unwrap());
    let told = session.snapshot().compile.diagnostics;
    assert!(told[0].text.contains("picture of the view `view` is too large"), "{told:?}");
    assert_eq!(picture(&session), after, "the old program runs on");
}

/// The scene of [`grid`].
fn grid_source(what: &str, store: &str, view: &str) -> String {
    let (parameter, statement) = store.split_once(": ").unwrap();
    format!(
        "/*---\n[constant]\nW = 8\nH = 4\n{what}\n[[pass]]\nkernel = \"fill\"\nover = \"W * H\"\n\
         [view]\n{view}\n---*/\n#include <cuda_fp16.h>\n__global__ void fill({parameter}) {{\n\
         int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % W, y = i / W;\n\
         if (i >= W * H) return;\nfloat value = x + 10.0f * y;\n{statement}\n}}\n"
    )
}
