//! Shared memory: device to OpenGL, on each path that the machine has.

use warpaint::{
    device::{Device, Error as DeviceError, Fill, Stream},
    gl::{Buffer, Context, Headless},
    interop::{Access, Error, Interop, Path, SharedBuffer, cuda_devices_of, map_all},
};

use crate::{gl::context, nvidia};

/// A GPU and a context on it, or `None`, said aloud.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn registered() -> Option<(Device, Context, Interop)> {
    let device = nvidia::device()?;
    let context = Context::headless(Headless { cuda_ordinal: Some(0) }).ok()?;
    let interop = Interop::new(context.gl(), &device);
    if *interop.path() != Path::Registered {
        eprintln!("SKIPPED: {}", interop.path());
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

#[test]
fn a_registered_buffer_shows_what_the_device_wrote() {
    let Some((_, context, interop)) = registered() else { return };
    assert!(cuda_devices_of(context.gl()).unwrap().contains(&0));
    check(&interop);
    check_several(&interop);
}

#[test]
fn a_gpu_whose_buffers_are_not_registered_copies() {
    let (Some(device), Some(context)) = (nvidia::device(), context()) else { return };
    let interop = Interop::copying(context.gl(), &device, "to see that it works");
    assert_eq!(interop.path().to_string(), "copied through the host: to see that it works");
    check(&interop);
    check_several(&interop);
}

#[test]
fn a_buffer_of_the_cpu_device_is_copied() {
    let Some(context) = context() else { return };
    let device = Device::cpu().unwrap();
    let interop = Interop::new(context.gl(), &device);
    assert_eq!(*interop.path(), Path::Copied("kernels run on the CPU device".to_owned()));
    check(&interop);
    check_several(&interop);
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
