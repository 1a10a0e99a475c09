//! Views of running scenes: what of the manifest reaches the picture and the legend.

use warpaint::{
    device::Device,
    draw::{Colormap, View},
    session::Session,
};

use super::open_with_gl;

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
    let camera = session.start_camera();
    let pixels = of.draw(&session.frame(&camera)).unwrap().read_rgba8().unwrap();
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
        let state = session.snapshot().view.unwrap();
        assert!(view.contains(&format!("\"{}\"", state.kind)), "{state:?}");
        assert_eq!(state.is_flat(), session.image().is_some());
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
