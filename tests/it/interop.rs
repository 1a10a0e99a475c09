//! Shared memory: device to OpenGL, on each path that the machine has.

use std::{
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    time::Duration,
};

use warpaint::{
    device::{
        Arguments, Device, Error as DeviceError, Fill, LaunchConfig, Stream, TextureDescriptor,
    },
    gl::{Buffer, CurrentContext, Format, Headless, Size, Texture},
    interop::{
        Access, Drawing, Error, GlObject, ImageTarget, ImageUse, Interop, Path, SharedBuffer,
        cuda_devices_drawing, cuda_devices_of, map_all, map_objects, present_all,
    },
};

use crate::{
    gl::context,
    skip::{Need, skip},
    support::nvidia,
};

/// Held by those whose work on a GPU is made to wait: a call of the driver for another one might wait for that, too.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A GPU and a context on it, or `None`, said aloud.
fn registered() -> Option<(Device, CurrentContext, Interop)> {
    let device = nvidia()?;
    let context = CurrentContext::headless(Headless { cuda_ordinal: Some(0) });
    let context = context.map_err(|error| skip(Need::Gl, error)).ok()?;
    let interop = Interop::new(context.gl(), &device);
    if *interop.path() != Path::Registered {
        skip(Need::Machine, interop.path());
        return None;
    }
    Some((device, context, interop))
}

fn read(buffer: &Buffer) -> Vec<u8> {
    let mut bytes = vec![0; buffer.bytes()];
    buffer.read(0, &mut bytes).unwrap();
    bytes
}

fn fill(buffer: &mut SharedBuffer, stream: &Stream, value: u8) {
    let mapped = buffer.map(stream).unwrap();
    stream.fill(mapped.slice(), Fill::U8(value)).unwrap();
    mapped.unmap().unwrap();
}

/// What every path promises.
fn check(interop: &Interop) {
    let stream = interop.device().stream().unwrap();
    let mut buffer = interop.buffer(1000).unwrap();
    assert_eq!(buffer.bytes(), 1000);
    for value in [1, 2, 3] {
        fill(&mut buffer, &stream, value);
        stream.synchronize().unwrap();
        assert!(buffer.present().unwrap());
        assert_eq!(read(buffer.gl().unwrap()), [value; 1000]);
    }

    // What the device finds is what it left.
    let mapped = buffer.map(&stream).unwrap();
    stream.fill(mapped.slice().slice(..10).unwrap(), Fill::U8(9)).unwrap();
    let found = stream.download(mapped.slice()).unwrap().wait().unwrap();
    assert_eq!((&found[..10], &found[10..]), (&[9; 10][..], &[3; 990][..]));
    drop(mapped);
    stream.synchronize().unwrap();
    assert!(buffer.present().unwrap());
    assert_eq!(read(buffer.gl().unwrap()), found);

    // A guard that is forgotten does not keep the buffer.
    std::mem::forget(buffer.map(&stream).unwrap());
    fill(&mut buffer, &stream, 4);
    std::mem::forget(buffer.map(&stream).unwrap());
    drop(buffer);
    stream.synchronize().unwrap();
}

/// OpenGL draws one buffer while work of which nobody knows how long it takes writes the other one.
fn check_that_opengl_goes_on(interop: &Interop) {
    let stream = interop.device().stream().unwrap();
    let (mut shown, mut next) = (interop.buffer(16).unwrap(), interop.buffer(16).unwrap());
    fill(&mut shown, &stream, 1);
    stream.synchronize().unwrap();
    assert!(shown.present().unwrap());
    let mut list = [&mut next];
    let mapped = map_all(&mut list, &stream).unwrap();
    let (go, wait) = mpsc::channel::<()>();
    // Were it waited for, it would end only by itself.
    stream.host_function(move || _ = wait.recv_timeout(Duration::from_secs(20))).unwrap();
    stream.fill(mapped.slice(0).unwrap(), Fill::U8(2)).unwrap();
    mapped.leave().unwrap();
    let end = interop.device().event().unwrap();
    stream.record(&end).unwrap();
    assert_eq!(read(shown.gl().unwrap()), [1; 16]);
    assert!(!end.is_reached().unwrap(), "OpenGL has waited for the stream");
    go.send(()).unwrap();
    stream.synchronize().unwrap();
    assert!(present_all(&mut [&mut shown, &mut next]).unwrap());
    assert_eq!((read(shown.gl().unwrap()), read(next.gl().unwrap())), (vec![1; 16], vec![2; 16]));
    // What is left and never presented is mapped again.
    map_all(&mut [&mut next], &stream).unwrap().leave().unwrap();
    fill(&mut next, &stream, 3);
    stream.synchronize().unwrap();
    assert!(next.present().unwrap());
    assert_eq!(read(next.gl().unwrap()), [3; 16]);
}

fn check_several(interop: &Interop) {
    let stream = interop.device().stream().unwrap();
    let mut buffers: Vec<_> = (1..=20)
        .map(|index| interop.buffer_for(index * 16, Access::WriteDiscard).unwrap())
        .collect();
    let mut list: Vec<_> = buffers.iter_mut().collect();
    let mapped = map_all(&mut list, &stream).unwrap();
    assert_eq!(mapped.slices().len(), 20);
    assert!(mapped.slice(20).is_none());
    for (slice, value) in mapped.slices().zip(1..) {
        assert_eq!(slice.bytes(), usize::from(value) * 16);
        stream.fill(slice, Fill::U8(value)).unwrap();
    }
    mapped.unmap().unwrap();
    stream.synchronize().unwrap();
    for (buffer, value) in buffers.iter_mut().zip(1_u8..) {
        assert!(buffer.present().unwrap());
        assert!(read(buffer.gl().unwrap()).iter().all(|&byte| byte == value));
    }
}

/// `paint`: one thread a texel adds `step` to the first 32 bits of each texel of a 2-D surface, which it reads
/// through a texture of the same array where there is one.
const PAINT: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry paint(.param .u64 surface, .param .u64 texture, .param .u32 texel, .param .u32 step)
{
    .reg .b32 %r<10>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [surface];
    ld.param.u64 %rd2, [texture];
    ld.param.u32 %r1, [texel];
    ld.param.u32 %r2, [step];
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ctaid.x;
    tex.2d.v4.u32.s32 {%r5, %r6, %r7, %r8}, [%rd2, {%r3, %r4}];
    add.u32 %r5, %r5, %r2;
    mul.lo.u32 %r9, %r3, %r1;
    sust.b.2d.b32.trap [%rd1, {%r9, %r4}], {%r5};
    ret;
}";

fn texels(texture: &Texture) -> Vec<u8> {
    let mut bytes = vec![0; texture.bytes()];
    texture.read(&mut bytes).unwrap();
    bytes
}

/// What every path promises of textures.
#[expect(unsafe_code, reason = "the kernel writes texels of the texture that it is given")]
fn check_textures(interop: &Interop) {
    let stream = interop.device().stream().unwrap();
    let paint = interop.device().load(PAINT).unwrap().function("paint").unwrap();
    // Only words are the same to the texture and to the surface.
    let (format, size) = (Format::R32f, Size::Flat([20, 7]));
    let mut texture = interop.texture(format, size).unwrap();
    let start: Vec<u32> = (0..140).collect();
    let mapped = texture.map(&stream).unwrap();
    stream.upload(mapped.region(), bytemuck::cast_slice(&start)).unwrap();
    mapped.unmap().unwrap();
    for turn in 1..=3u32 {
        let mut mapped = texture.map(&stream).unwrap();
        let mut arguments = Arguments::new();
        arguments.push(&mapped.surface().unwrap());
        arguments.push(&mapped.texture(&TextureDescriptor::default()).unwrap());
        arguments.push(&4u32).push(&1000u32);
        // SAFETY: the objects live as long as the texture.
        unsafe { stream.launch(&paint, &LaunchConfig::new(7, 20), &arguments) }.unwrap();
        mapped.unmap().unwrap();
        stream.synchronize().unwrap();
        assert!(texture.present().unwrap());
        let found = bytemuck::pod_collect_to_vec::<u8, u32>(&texels(texture.gl().unwrap()));
        let expected: Vec<u32> = start.iter().map(|texel| texel + 1000 * turn).collect();
        assert_eq!(found, expected, "turn {turn}");
    }
    // A guard that is forgotten does not keep the texture.
    std::mem::forget(texture.map(&stream).unwrap());
    texture.map(&stream).unwrap().unmap_unchanged().unwrap();
    std::mem::forget(texture.map(&stream).unwrap());
    drop(texture);

    for format in [Format::Rgba8, Format::Rgba16f, Format::Rgba32f, Format::Rg32f, Format::R32f] {
        for size in [Size::Flat([5, 3]), Size::Solid([5, 3, 2])] {
            let mut texture = interop.texture_for(format, size, Access::WriteDiscard).unwrap();
            let bytes = texture.descriptor().bytes();
            // Halves and floats between 1 and 2, so that OpenGL gives them back as they are.
            let pattern: Vec<u8> =
                (0..bytes).map(|i| if i % 2 == 1 { 0x3e } else { i as u8 }).collect();
            let mapped = texture.map(&stream).unwrap();
            stream.upload(mapped.region(), &pattern).unwrap();
            let half = mapped.region().part([1, 1, 0], [2, 1, 1]).unwrap();
            assert_eq!(half.bytes(), 2 * format.texel_bytes());
            drop(mapped);
            stream.synchronize().unwrap();
            assert!(texture.present().unwrap());
            assert_eq!(texels(texture.gl().unwrap()), pattern, "{format:?} {size:?}");
        }
    }
}

#[test]
fn a_registered_texture_shows_what_the_device_wrote() {
    let _alone = alone();
    let Some((.., interop)) = registered() else { return };
    check_textures(&interop);
}

#[test]
fn a_gpu_whose_textures_are_not_registered_copies() {
    let _alone = alone();
    let (Some(device), Some(context)) = (nvidia(), context()) else { return };
    check_textures(&Interop::copying(context.gl(), &device, "to see that it works"));
}

#[test]
fn a_texture_of_the_cpu_device_is_copied() {
    let Some(context) = context() else { return };
    check_textures(&Interop::new(context.gl(), &Device::cpu().unwrap()));
}

#[test]
fn a_texture_is_not_mapped_on_another_device() {
    let (device, other) = (Device::cpu().unwrap(), Device::cpu().unwrap());
    let mut texture = Interop::none(&device).texture(Format::R32f, Size::Flat([4, 4])).unwrap();
    assert!(texture.gl().is_none() && texture.present().unwrap());
    let refused = texture.map(&other.stream().unwrap()).map(drop);
    assert!(matches!(refused, Err(Error::Device(DeviceError::WrongDevice { .. }))), "{refused:?}");
    let huge = Interop::none(&device).texture(Format::R32f, Size::Flat([1 << 20, 4]));
    assert!(matches!(huge, Err(Error::Device(DeviceError::InvalidExtent { .. }))), "{huge:?}");
}

#[test]
fn a_registered_buffer_shows_what_the_device_wrote() {
    let _alone = alone();
    let Some((_, context, interop)) = registered() else { return };
    assert!(cuda_devices_of(context.gl()).unwrap().contains(&0));
    check(&interop);
    check_several(&interop);
    check_that_opengl_goes_on(&interop);
}

#[test]
fn a_gpu_whose_buffers_are_not_registered_copies() {
    let _alone = alone();
    let (Some(device), Some(context)) = (nvidia(), context()) else { return };
    let interop = Interop::copying(context.gl(), &device, "to see that it works");
    assert_eq!(interop.path().to_string(), "copied through the host: to see that it works");
    check(&interop);
    check_several(&interop);
    check_that_opengl_goes_on(&interop);
}

#[test]
fn a_buffer_of_the_cpu_device_is_copied() {
    let Some(context) = context() else { return };
    let device = Device::cpu().unwrap();
    let interop = Interop::new(context.gl(), &device);
    assert_eq!(*interop.path(), Path::Copied("kernels run on the CPU device".to_owned()));
    check(&interop);
    check_several(&interop);
    check_that_opengl_goes_on(&interop);
}

#[test]
fn without_opengl_shared_memory_is_device_memory() {
    let device = Device::cpu().unwrap();
    let interop = Interop::none(&device);
    assert_eq!(*interop.path(), Path::None);
    let stream = device.stream().unwrap();
    let mut buffer = interop.buffer(64).unwrap();
    fill(&mut buffer, &stream, 5);
    assert!(buffer.gl().is_none() && buffer.present().unwrap());
    let mapped = buffer.map(&stream).unwrap();
    assert_eq!(stream.download(mapped.slice()).unwrap().wait().unwrap(), [5; 64]);
}

#[test]
fn a_stream_of_another_device_is_refused() {
    let (device, other) = (Device::cpu().unwrap(), Device::cpu().unwrap());
    let mut buffer = Interop::none(&device).buffer(64).unwrap();
    let refused = buffer.map(&other.stream().unwrap()).map(drop);
    assert!(matches!(refused, Err(Error::Device(DeviceError::WrongDevice { .. }))), "{refused:?}");
}

/// Objects of other libraries: whatever has a name.
#[test]
#[expect(unsafe_code, reason = "the objects outlive their registration")]
fn objects_are_registered_by_their_names() {
    let _alone = alone();
    let Some((device, context, _)) = registered() else { return };
    let (gl, stream) = (context.gl(), device.stream().unwrap());
    let buffer = Buffer::new(gl, 64).unwrap();
    let texture = Texture::new(gl, Format::Rgba8, Size::Flat([4, 2])).unwrap();
    let used = ImageUse { surface: true, gather: false, access: Access::ReadWrite };
    // SAFETY: the buffer lives until the end of the test.
    let memory = unsafe { GlObject::buffer(gl, &device, buffer.name(), Access::ReadWrite) };
    let target = ImageTarget::Texture2d;
    // SAFETY: the texture lives until the end of the test.
    let image = unsafe { GlObject::image(gl, &device, texture.name(), target, used) };
    let (mut memory, mut image) = (memory.unwrap(), image.unwrap());
    memory.set_access(Access::WriteDiscard).unwrap();
    for value in 1..4 {
        let mut objects = [&mut memory, &mut image];
        let mapped = map_objects(&mut objects, &stream).unwrap();
        stream.fill(mapped.memory(0).unwrap(), Fill::U8(value)).unwrap();
        let level = mapped.image(1, 0, 0).unwrap();
        assert_eq!(level.descriptor().shape.extent(), [4, 2, 1]);
        stream.upload(level.region(), &[value + 1; 32]).unwrap();
        assert_ne!(level.surface().unwrap().handle(), 0);
        assert_ne!(level.texture(&TextureDescriptor::default()).unwrap().handle(), 0);
        assert!(mapped.image(1, 0, 1).is_err() && mapped.image(0, 0, 0).is_err());
        assert!(mapped.memory(1).is_err() && mapped.memory(2).is_err());
        match value {
            1 => mapped.unmap().unwrap(),
            _ => drop(mapped),
        }
        stream.synchronize().unwrap();
        assert_eq!(read(&buffer), [value; 64]);
        assert_eq!(texels(&texture), [value + 1; 32]);
    }
    // SAFETY: it is refused.
    let none = unsafe { GlObject::buffer(gl, &device, u32::MAX, Access::ReadWrite) };
    assert!(matches!(none, Err(Error::Device(_))), "{none:?}");
    assert!(cuda_devices_drawing(gl, Drawing::CurrentFrame).unwrap().contains(&0));
}

#[test]
#[expect(unsafe_code, reason = "the object outlives the attempt")]
fn objects_are_not_registered_with_the_cpu_device() {
    let Some(context) = context() else { return };
    let (device, buffer) = (Device::cpu().unwrap(), Buffer::new(context.gl(), 64).unwrap());
    // SAFETY: the buffer lives.
    let refused =
        unsafe { GlObject::buffer(context.gl(), &device, buffer.name(), Access::ReadWrite) };
    let unsupported = matches!(refused, Err(Error::Device(DeviceError::Unsupported { .. })));
    assert!(unsupported, "{refused:?}");
    let nothing = map_objects(&mut [], &device.stream().unwrap()).map(drop);
    assert!(matches!(nothing, Err(Error::Device(DeviceError::WrongDevice { .. }))));
}

#[test]
fn the_devices_of_a_context_are_found_before_one_is_opened() {
    let Some(context) = context() else { return };
    // A thread of its own, so that no CUDA context is current on it.
    match (cuda_devices_of(context.gl()), context.info().cuda_ordinal) {
        (Ok(ordinals), Some(drawing)) => assert!(ordinals.contains(&drawing), "{ordinals:?}"),
        (Err(error), Some(drawing)) => panic!("cuda:{drawing} draws, but {error}"),
        (Ok(ordinals), None) => assert!(!ordinals.is_empty()),
        (Err(error), None) => assert!(!error.to_string().is_empty()),
    }
}
