//! What objects keep, what cannot be made, and what the CPU device does with handles that are none.

use std::thread;

use warpaint::device::{
    AddressMode, Array, ArrayDescriptor, ArrayShape, Channel, Device, Error, Fault, FaultKind,
    Filter, Format, ReadMode, TextureDescriptor, TextureSource,
};

use super::bench::Bench;

const TEX_1D: &str = "tex.1d.v4.u32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%f1}];";

fn array_of(device: &Device, shape: ArrayShape, format: Format) -> Array {
    device.array(&ArrayDescriptor::new(shape, format)).unwrap()
}

pub fn impossible_descriptors_are_errors(device: &Device) {
    let d1 = ArrayShape::D1 { width: 4 };
    let plain = TextureDescriptor::default();
    let linear = TextureDescriptor { filter: Filter::Linear, ..plain };
    let fractions = TextureDescriptor { read: ReadMode::NormalizedFloat, ..plain };
    let wrap = TextureDescriptor { address: [AddressMode::Wrap; 3], ..plain };
    let mirror = TextureDescriptor { address: [AddressMode::Mirror; 3], ..plain };
    let of = |channel| Format::new(channel, 4).unwrap();
    let cases = [
        (d1, Format::R32F, wrap, "Wrap needs normalised coordinates"),
        (d1, Format::R32F, mirror, "Mirror needs normalised coordinates"),
        (d1, of(Channel::U32), linear, "cannot be filtered"),
        (d1, Format::RGBA8, linear, "cannot be filtered"),
        (d1, Format::RGBA32F, fractions, "cannot be read as normalised float"),
        (d1, of(Channel::I32), fractions, "cannot be read as normalised float"),
        (d1, Format::RGBA8, TextureDescriptor { srgb: true, ..plain }, "sRGB"),
        (d1, of(Channel::U16), TextureDescriptor { srgb: true, ..fractions }, "sRGB"),
        (d1, Format::RGBA8, TextureDescriptor { border: [1.0; 4], ..plain }, "border is zero"),
        (ArrayShape::Cube { width: 4 }, Format::R32F, plain, "cube maps have normalised"),
    ];
    for (shape, format, descriptor, sentence) in cases {
        let error = device.texture(&array_of(device, shape, format), &descriptor).unwrap_err();
        assert!(matches!(error, Error::InvalidTexture { .. }), "{error}");
        assert!(error.to_string().contains(sentence), "{sentence}: {error}");
    }
    // A mode of a side that the array does not have does no harm.
    let other = [AddressMode::Clamp, AddressMode::Wrap, AddressMode::Wrap];
    let unused = TextureDescriptor { address: other, ..plain };
    device.texture(&array_of(device, d1, Format::R32F), &unused).unwrap();

    let error = device.surface(&array_of(device, d1, Format::R32F)).unwrap_err();
    assert!(error.to_string().contains("was not made for it"), "{error}");
    let gather = device.array(&ArrayDescriptor::new(d1, Format::R32F).with_gather()).unwrap_err();
    assert!(gather.to_string().contains("2-D"), "{gather}");

    let elsewhere = Device::cpu().unwrap();
    let array = elsewhere.array(&ArrayDescriptor::new(d1, Format::R32F).with_surface()).unwrap();
    assert!(matches!(device.texture(&array, &plain), Err(Error::WrongDevice { .. })));
    assert!(matches!(device.surface(&array), Err(Error::WrongDevice { .. })));
}

pub fn impossible_sizes_are_errors(device: &Device) {
    let huge = 1 << 20;
    let cases = [
        (ArrayShape::D1 { width: 0 }, "0 texels in x"),
        (ArrayShape::D1 { width: huge }, "1048576 texels in x"),
        (ArrayShape::D2 { width: 4, height: 0 }, "0 texels in y"),
        (ArrayShape::D2 { width: 4, height: huge }, "1048576 texels in y"),
        (ArrayShape::D3 { width: 4, height: 4, depth: huge }, "1048576 slices"),
        (ArrayShape::Layered1 { width: 4, layers: 5000 }, "5000 slices, layers"),
        (ArrayShape::Layered2 { width: 4, height: 4, layers: 0 }, "0 slices, layers"),
        (ArrayShape::Cube { width: huge }, "1048576 texels in x"),
        (ArrayShape::LayeredCube { width: 4, cubes: 1000 }, "6000 slices, layers"),
    ];
    for (shape, sentence) in cases {
        let error = device.array(&ArrayDescriptor::new(shape, Format::R32F)).unwrap_err();
        assert!(matches!(error, Error::InvalidExtent { object: "array", .. }), "{error}");
        assert!(error.to_string().contains(sentence), "{sentence}: {error}");
    }
    // 64 TiB
    let shape = ArrayShape::D3 { width: 16384, height: 16384, depth: 16384 };
    let error = device.array(&ArrayDescriptor::new(shape, Format::RGBA32F)).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");

    let memory = device.alloc(4096).unwrap();
    let (all, format) = (memory.slice(..).unwrap(), Format::R32F);
    let texture = |source| device.texture(source, &TextureDescriptor::default());
    let pitched = |width, height, pitch_bytes| {
        texture(TextureSource::Pitched { memory: all, format, width, height, pitch_bytes })
    };
    assert!(pitched(16, 32, 128).is_ok());
    assert!(matches!(pitched(16, 33, 128), Err(Error::OutOfRange { bytes: 4096, .. })));
    assert!(matches!(pitched(33, 4, 128), Err(Error::OutOfRange { bytes: 128, .. })));
    assert!(matches!(pitched(16, 4, 100), Err(Error::InvalidTexture { .. })));
    assert!(matches!(pitched(0, 4, 128), Err(Error::InvalidExtent { .. })));
    let empty = TextureSource::Linear { memory: memory.slice(0..0).unwrap(), format };
    assert!(matches!(texture(empty), Err(Error::InvalidExtent { .. })));
    let odd = TextureSource::Linear { memory: memory.slice(2..).unwrap(), format };
    assert!(matches!(texture(odd), Err(Error::InvalidTexture { .. })));
}

pub fn objects_keep_their_array(device: &Device) {
    let bench = Bench::new(device);
    let format = Format::new(Channel::U32, 1).unwrap();
    let array = bench.array(
        &ArrayDescriptor::new(ArrayShape::D1 { width: 1024 }, format),
        bytemuck::cast_slice(&[0x5555_5555u32; 1024]),
    );
    let texture = bench.texture(&array, &TextureDescriptor::default());
    drop(array);
    // What would take its place if it were free.
    let _other = bench.array(
        &ArrayDescriptor::new(ArrayShape::D1 { width: 1024 }, format),
        bytemuck::cast_slice(&[0xaaaa_aaaau32; 1024]),
    );
    let at = [[700.5f32.to_bits(), 0, 0, 0]];
    assert_eq!(bench.run(TEX_1D, texture.handle(), &at)[0][0], 0x5555_5555);
}

pub fn objects_are_dropped_anywhere(device: &Device) {
    let before = device.memory_info().unwrap();
    for _ in 0..50 {
        let bench = Bench::new(device);
        let shape = ArrayShape::D2 { width: 64, height: 64 };
        let array =
            device.array(&ArrayDescriptor::new(shape, Format::RGBA8).with_surface()).unwrap();
        let texture = bench.texture(&array, &TextureDescriptor::default());
        let surface = device.surface(&array).unwrap();
        bench.stream.upload(array.region(), &vec![1; 64 * 64 * 4]).unwrap();
        let read = bench.stream.download(array.region()).unwrap();
        let threads = [
            thread::spawn(move || drop(array)),
            thread::spawn(move || drop(texture)),
            thread::spawn(move || drop(surface)),
            thread::spawn(move || drop(read.wait())),
        ];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    device.synchronize().unwrap();
    if device.as_nvidia().is_none() {
        assert_eq!(device.memory_info().unwrap().free, before.free, "all of it is free again");
    }
}

// What only the CPU device promises ----------------------------------------------------------------

fn fault(bench: &Bench, instruction: &str, handle: u64, at: [u32; 4]) -> Fault {
    let function = bench.function(instruction);
    match bench.try_run(&function, handle, &[[0; 4], at]) {
        Err(Error::Fault(fault)) => *fault,
        other => panic!("{instruction}: {other:?} where a fault was due"),
    }
}

#[test]
fn a_handle_that_is_none_ends_the_kernel() {
    let bench = Bench::new(&Device::cpu().unwrap());
    let format = Format::new(Channel::U32, 1).unwrap();
    let descriptor = ArrayDescriptor::new(ArrayShape::D1 { width: 4 }, format).with_surface();
    let array = bench.array(&descriptor, &[7; 16]);
    let texture = bench.texture(&array, &TextureDescriptor::default());
    let surface = bench.device.surface(&array).unwrap();
    let gone = bench.texture(&array, &TextureDescriptor::default());
    let destroyed = gone.handle();
    drop(gone);
    // Another object in the same place is another handle.
    let _next = bench.texture(&array, &TextureDescriptor::default());
    let load = "suld.b.1d.b32.zero {%o1}, [%handle, {%r1}];";
    let tex_2d = "tex.2d.v4.u32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%f1, %f2}];";
    let cases = [
        (TEX_1D, destroyed, "destroyed"),
        (TEX_1D, 0, "no texture object"),
        (TEX_1D, u64::MAX, "no texture object"),
        (load, 12345, "no surface object"),
        (TEX_1D, surface.handle(), "a surface object read as a texture"),
        (load, texture.handle(), "a texture object accessed as a surface"),
        (tex_2d, texture.handle(), "shape 1d read as 2d"),
        ("txq.width.b32 %o1, [%handle];", 3, "no texture object"),
        ("suq.width.b32 %o1, [%handle];", 3, "no surface object"),
    ];
    for (instruction, handle, sentence) in cases {
        let fault = fault(&bench, instruction, handle, [0; 4]);
        assert!(matches!(fault.kind, FaultKind::InvalidHandle { .. }), "{fault}");
        assert!(fault.to_string().contains(sentence), "{sentence}: {fault}");
        let location = fault.location.unwrap();
        assert_eq!((location.file.as_str(), location.line), ("texture.cu", 9));
    }
    // The device goes on.
    assert_eq!(bench.run(TEX_1D, texture.handle(), &[[0; 4]])[0][0], 0x0707_0707);
}

#[test]
fn an_access_outside_a_surface_ends_the_kernel() {
    let bench = Bench::new(&Device::cpu().unwrap());
    let shape = ArrayShape::D2 { width: 4, height: 3 };
    let descriptor = ArrayDescriptor::new(shape, Format::RGBA8).with_surface();
    let array = bench.array(&descriptor, &[7; 48]);
    let surface = bench.device.surface(&array).unwrap();
    let store = "sust.b.2d.b32.trap [%handle, {%r1, %r2}], {%r3};";
    let load = "suld.b.2d.v4.b8.trap {%h1, %h2, %h3, %h4}, [%handle, {%r1, %r2}];";
    let store_16 = "sust.b.2d.v4.b32.trap [%handle, {%r1, %r2}], {%r1, %r2, %r3, %r4};";
    for (instruction, at, write, bytes) in [
        (store, [16, 0], true, 4),
        (store, [-4, 0], true, 4),
        (store, [0, 3], true, 4),
        (load, [0, -1], false, 4),
        (load, [16, 2], false, 4),
        (store_16, [16, 2], true, 16),
    ] {
        let words = [at[0], at[1], 0, 0].map(i32::cast_unsigned);
        let fault = fault(&bench, instruction, surface.handle(), words);
        let at = [at[0], at[1], 0];
        let expected = FaultKind::OutsideSurface { write, at, bytes, extent: [16, 3, 1] };
        assert_eq!(fault.kind, expected, "{fault}");
        assert_eq!(fault.location.as_ref().map(|l| l.line), Some(9), "{fault}");
        assert_eq!((fault.thread.x, fault.block.x), (1, 0), "{fault}");
    }
    let misaligned = fault(&bench, store, surface.handle(), [2, 0, 0, 0]);
    assert_eq!(misaligned.kind, FaultKind::Misaligned);
    let rest = &bench.read(&array)[16..];
    assert!(rest.iter().all(|byte| *byte == 7), "only the first thread's store happened");
}

#[test]
fn a_texture_of_freed_memory_ends_the_kernel() {
    let bench = Bench::new(&Device::cpu().unwrap());
    let memory = bench.device.alloc(64).unwrap();
    let source = TextureSource::Linear { memory: memory.slice(..).unwrap(), format: Format::R32F };
    let texture = bench.device.texture(source, &TextureDescriptor::default()).unwrap();
    let load = "tex.1d.v4.f32.s32 {%o1, %o2, %o3, %o4}, [%handle, {%r1}];";
    bench.run(load, texture.handle(), &[[3, 0, 0, 0]]);
    drop(memory);
    let fault = fault(&bench, load, texture.handle(), [3, 0, 0, 0]);
    assert!(fault.to_string().contains("freed"), "{fault}");
}

#[test]
fn what_is_not_supported_says_so_when_loaded() {
    let device = Device::cpu().unwrap();
    for (instruction, why) in [
        ("tex.2d.v2.f16x2.f32 {%o1, %o2}, [%handle, {%f1, %f2}];", "halves"),
        ("tex.2d.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, %rd1, {%f1, %f2}];", "sampler"),
        ("tex.2dms.v4.f32.s32 {%o1, %o2, %o3, %o4}, [%handle, {%r1, %r2, %r3, %r3}];", "samples"),
        ("txq.channel_order.b32 %o1, [%handle];", "query"),
        ("sured.b.add.2d.u32.trap [%handle, {%r1, %r2}], %r3;", "sured"),
    ] {
        let error = device.load(&super::bench::kernel(instruction)).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::UnsupportedPtx { .. }), "{text}");
        assert!(text.contains(why) && text.contains("texture.cu:9"), "{text}");
    }
}
