//! What is drawn of A, of B, and of their difference.

use std::{collections::BTreeMap, time::Duration};

use super::{start, steps};
use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    draw::{Camera, Content, Frame, View},
    interop::Interop,
    scene::ViewId,
    session::{Options, Session, Value, Variant},
};

/// A texture whose texels are `gain`, and one that has colours.
const TEXELS: &str = r#"/*---
[texture.field]
format = "r32f"
size = [4, 2]
[texture.paint]
format = "rgba8"
size = [4, 2]
[param.gain]
value = 2.0
min = 0.0
max = 10.0
[[pass]]
kernel = "fill"
over = "field"
[[view]]
name = "field"
kind = "image"
texture = "field"
[[view]]
name = "paint"
kind = "image"
texture = "paint"
color_by = "rgba"
---*/
__global__ void fill(cudaSurfaceObject_t field, cudaSurfaceObject_t paint, float gain)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 4 || y >= 2) return;
    surf2Dwrite(gain + x, field, x * 4, y);
    unsigned char red = (unsigned char)(gain * 20.0f);
    surf2Dwrite(make_uchar4(red, 0, 0, 255), paint, x * 4, y);
}
"#;

#[test]
fn b_is_seen_as_a_is() {
    for device in [None, Some("cpu".to_owned())] {
        seen_with(device);
    }
}

/// B on A's device, or on this one: another CPU device than A's, which does not know A's memory.
fn seen_with(elsewhere: Option<String>) {
    let Some(context) = crate::gl::context() else { return };
    let device = Device::cpu().unwrap();
    let options =
        Options { statistics_every: Some(Duration::ZERO), ..Options::new("scene.cu", TEXELS) };
    let interop = Interop::new(context.gl(), &device);
    let compiler = Compiler::new(Cache::user());
    let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
    steps(&mut session, 1);
    let (camera, [field, paint]) = (Camera::default(), [ViewId(0), ViewId(1)]);
    assert!(session.other_frame(field, &camera).is_none());
    let parameters = BTreeMap::from([("gain".to_owned(), Value::Float(5.5))]);
    start(&mut session, Variant { parameters, device: elsewhere, ..Variant::default() });
    assert_eq!(session.difference_legend(field).unwrap().range, [0.0, 1.0], "nothing differs");
    steps(&mut session, 1);
    session.measure().unwrap();

    assert_eq!(session.texel(field, [3, 1]).unwrap(), Some(vec![5.0]));
    assert_eq!(session.other_texel(field, [3, 1]).unwrap(), Some(vec![8.5]));
    let ranges = [Some(session.frame(field, &camera)), session.other_frame(field, &camera)];
    let ranges = ranges.map(|frame| match frame.unwrap().content {
        Content::Image(image) => image.coloring.range,
        other => panic!("{other:?}"),
    });
    assert_eq!(ranges, [[2.0, 5.0]; 2], "B has A's colours");
    // 3.5 is apart, and 70 of 255.
    let legend = session.difference_legend(field).unwrap();
    assert_eq!((legend.range, &*legend.title), ([0.0, 5.0], "|A \u{2212} B| of field"));
    let [low, high] = session.difference_legend(paint).unwrap().range;
    assert!(low == 0.0 && (high - 100.0 / 255.0).abs() < 1e-6, "{high}");
    let frames = [session.frame(field, &camera), session.other_frame(field, &camera).unwrap()];
    let picture = |frame: &Frame<'_>| {
        let mut view = View::new(context.gl(), [40, 20]).unwrap();
        view.draw(frame).unwrap().read_rgba8().unwrap()
    };
    let [a, b] = frames.each_ref().map(picture);
    assert_ne!(a, b);
}
