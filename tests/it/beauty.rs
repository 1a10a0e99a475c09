use warpaint::{draw::{self, *}, gl::Buffer};
#[test]
#[ignore]
fn beauty() {
    let context = crate::gl::context().unwrap();
    let gl = context.gl();
    let var = |n: &str, d: &str| std::env::var(n).unwrap_or(d.into());
    let bytes = std::fs::read(var("CLOUD", "/tmp/beauty/filaments.bin")).unwrap();
    let total = bytes.len() / 32;
    let count = var("COUNT", "100000000").parse::<usize>().unwrap().min(total);
    let position = Buffer::with_data(gl, &bytes[..total * 16]).unwrap();
    let color = Buffer::with_data(gl, &bytes[total * 16..]).unwrap();
    let size: Vec<u32> = var("SIZE", "1280x720").split('x').map(|n| n.parse().unwrap()).collect();
    let mut view = View::new(gl, [size[0], size[1]]).unwrap();
    let mut camera = Camera::default();
    camera.zoom(var("ZOOM", "1").parse().unwrap());
    let mut cloud = Cloud::new(&position, count);
    cloud.color = Some(Values { buffer: &color, components: 4 });
    cloud.range = [0.0, var("MAX", "1.6").parse().unwrap()];
    cloud.size_px = var("PX", "2").parse().unwrap();
    cloud.colormap = Colormap::parse(&var("MAP", "inferno")).unwrap();
    if var("OPAQUE", "") != "" { cloud.blend = draw::Blend::Opaque; }
    let mut frame = Frame::new(&camera, Content::Points(cloud));
    frame.exposure = var("EXPOSURE", "1").parse().unwrap();
    view.draw(&frame).unwrap();
    let t = std::time::Instant::now();
    view.draw(&frame).unwrap();
    let pixels = view.picture().read_rgba8().unwrap();
    println!("{:?}", t.elapsed());
    image::save_buffer(var("OUT", "/tmp/beauty/out.png"), &pixels, size[0], size[1], image::ColorType::Rgba8).unwrap();
}
