//! What streams, events and devices can be asked for: priorities, host functions, checked launches, attributes.

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use warpaint::device::{
    Arguments, ArrayDescriptor, ArrayShape, Attribute, CachePreference, Device, Error,
    EventOptions, Fill, Format, LaunchConfig, Limit, LinkCode, LinkInput, Pitch, Prepared,
    StreamOptions,
};

use super::{Clause, KERNELS, bytes, floats, launch, scale_arguments};

pub const CLAUSES: &[Clause] = &[
    ("priorities are clamped", priorities_are_clamped),
    ("host functions keep to the stream's order", host_functions_keep_to_the_streams_order),
    ("host functions must not wait", host_functions_must_not_wait),
    ("a panic is reported", a_panic_is_reported),
    ("a wait is for the record before it", a_wait_is_for_the_record_before_it),
    ("threads may record and wait at once", threads_may_record_and_wait_at_once),
    ("events may keep no time", events_may_keep_no_time),
    ("checked streams have nothing left to do", checked_streams_have_nothing_left_to_do),
    ("prepared launches are launches", prepared_launches_are_launches),
    ("prepared launches are checked once", prepared_launches_are_checked_once),
    ("functions tell what they need", functions_tell_what_they_need),
    ("code that is none is refused", code_that_is_none_is_refused),
    ("attributes agree with the description", attributes_agree_with_the_description),
    ("limits are told", limits_are_told),
];

fn priorities_are_clamped(device: &Device) {
    let (least, greatest) = device.stream_priorities().unwrap();
    assert!(greatest <= least, "smaller is greater: {least}, {greatest}");
    for (asked, given) in [(greatest, greatest), (least, least), (-1000, greatest), (1000, least)] {
        let options = StreamOptions { priority: asked, ..StreamOptions::default() };
        let stream = device.stream_with(options).unwrap();
        assert_eq!(stream.priority().unwrap(), given);
        stream.synchronize().unwrap();
    }
}

fn host_functions_keep_to_the_streams_order(device: &Device) {
    let stream = device.stream().unwrap();
    let memory = device.alloc(1 << 20).unwrap();
    let (seen, (end, ended)) = (Arc::new(Mutex::new(Vec::new())), mpsc::channel());
    for number in 0..20 {
        stream.fill(memory.slice(..).unwrap(), Fill::U8(number)).unwrap();
        let seen = seen.clone();
        stream.host_function(move || seen.lock().unwrap().push(number)).unwrap();
    }
    let event = device.event().unwrap();
    stream.host_function(move || end.send(()).unwrap()).unwrap();
    stream.record(&event).unwrap();
    event.synchronize().unwrap();
    assert!(ended.try_recv().is_ok(), "it ran before the event");
    assert_eq!(*seen.lock().unwrap(), (0..20).collect::<Vec<_>>());
}

fn host_functions_must_not_wait(device: &Device) {
    let (stream, (told, tell)) = (device.stream().unwrap(), mpsc::channel());
    let inner = (device.clone(), stream.clone());
    stream
        .host_function(move || {
            let (device, stream) = &inner;
            told.send([stream.synchronize(), device.synchronize()]).unwrap();
            // What it owns may be the last of its kind, and lives on.
            std::mem::forget(inner);
        })
        .unwrap();
    for result in tell.recv().unwrap() {
        assert!(matches!(result, Err(Error::Unsupported { .. })), "{result:?}");
    }
    stream.synchronize().unwrap();
}

fn a_panic_is_reported(device: &Device) {
    let stream = device.stream().unwrap();
    stream.host_function(|| std::panic::resume_unwind(Box::new("enough"))).unwrap();
    let panicked = stream.synchronize();
    assert!(
        matches!(&panicked, Err(Error::Panicked { message }) if message == "enough"),
        "{panicked:?}"
    );
    stream.synchronize().unwrap();
}

fn a_wait_is_for_the_record_before_it(device: &Device) {
    let [slow, idle, waiting] = [(); 3].map(|()| device.stream().unwrap());
    let ((go, wait), (tell, told)) = (mpsc::channel(), mpsc::channel());
    let event = device.event().unwrap();
    slow.host_function(move || wait.recv().unwrap_or(())).unwrap();
    slow.record(&event).unwrap();
    waiting.wait(&event).unwrap();
    waiting.host_function(move || tell.send(()).unwrap_or(())).unwrap();
    // Another record, which is reached at once, is none of the first wait's business.
    idle.record(&event).unwrap();
    event.synchronize().unwrap();
    assert!(event.is_reached().unwrap());
    let early = told.recv_timeout(Duration::from_millis(100));
    assert_eq!(early, Err(mpsc::RecvTimeoutError::Timeout));
    go.send(()).unwrap();
    waiting.synchronize().unwrap();
    assert!(told.try_recv().is_ok());
}

fn threads_may_record_and_wait_at_once(device: &Device) {
    let (stream, event) = (device.stream().unwrap(), device.event().unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| (0..2000).for_each(|_| stream.record(&event).unwrap()));
        scope.spawn(|| (0..2000).for_each(|_| stream.wait(&event).unwrap()));
    });
    // Ends, whatever came first.
    stream.synchronize().unwrap();
    assert!(event.is_reached().unwrap());
}

fn events_may_keep_no_time(device: &Device) {
    let stream = device.stream().unwrap();
    let options = EventOptions { timing: false, blocking_wait: true };
    let (untimed, timed) = (device.event_with(options).unwrap(), device.event().unwrap());
    stream.record(&untimed).unwrap();
    stream.record(&timed).unwrap();
    untimed.synchronize().unwrap();
    timed.synchronize().unwrap();
    assert!(untimed.is_reached().unwrap());
    for (end, start) in [(&untimed, &timed), (&timed, &untimed), (&untimed, &untimed)] {
        assert!(matches!(end.elapsed_ms(start), Err(Error::NoTiming)));
    }
    let other = device.stream().unwrap();
    other.wait(&untimed).unwrap();
    other.synchronize().unwrap();
}

fn checked_streams_have_nothing_left_to_do(device: &Device) {
    let options = StreamOptions { checked: true, ..StreamOptions::default() };
    let stream = device.stream_with(options).unwrap();
    assert!(stream.is_checked() && !device.stream().unwrap().is_checked());
    let tick = device.load(KERNELS).unwrap().function("tick").unwrap();
    for _ in 0..10 {
        let (shape, arguments) = (LaunchConfig::new(500, 64), Arguments::new());
        // SAFETY: the kernel counts in a variable of its module.
        #[expect(unsafe_code, reason = "a launch")]
        unsafe { stream.launch(&tick, &shape, &arguments) }.unwrap();
        assert!(stream.is_idle().unwrap());
    }
    let unchecked = device.stream().unwrap();
    launch(&unchecked, &tick, LaunchConfig::new(1, 1), &Arguments::new()).unwrap();
    unchecked.synchronize().unwrap();
}

fn prepared_launches_are_launches(device: &Device) {
    let stream = device.stream().unwrap();
    let scale = device.load(KERNELS).unwrap().function("scale").unwrap();
    let memory = device.alloc(400).unwrap();
    stream.upload(memory.slice(..).unwrap(), &bytes(&[1.0; 100])).unwrap();
    let (shape, arguments) = (LaunchConfig::over(100, 32), scale_arguments(&memory, 100, 2.0));
    let mut prepared = Prepared::new(&scale, &shape, arguments).unwrap();
    let launch = |prepared: &Prepared| {
        // SAFETY: the kernel changes as many floats as the memory has, which is kept.
        #[expect(unsafe_code, reason = "a launch")]
        unsafe { stream.launch_prepared(prepared) }.unwrap();
    };
    (0..3).for_each(|_| launch(&prepared));
    assert!(prepared.set_bytes(1, &50_u32.to_ne_bytes()));
    assert!(prepared.set_bytes(2, &0.5_f32.to_ne_bytes()));
    launch(&prepared);
    let found = floats(&stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap());
    assert!(found[..50].iter().all(|value| *value == 4.0), "{found:?}");
    assert!(found[50..].iter().all(|value| *value == 8.0), "{found:?}");
    let elsewhere = Device::cpu().unwrap().stream().unwrap();
    // SAFETY: it is refused.
    #[expect(unsafe_code, reason = "a launch")]
    let wrong = unsafe { elsewhere.launch_prepared(&prepared) };
    assert!(matches!(wrong, Err(Error::WrongDevice { .. })), "{wrong:?}");
}

fn prepared_launches_are_checked_once(device: &Device) {
    let scale = device.load(KERNELS).unwrap().function("scale").unwrap();
    let memory = device.alloc(4).unwrap();
    let shape = LaunchConfig::new(1, 1);
    let short = Prepared::new(&scale, &shape, Arguments::new());
    assert!(matches!(short, Err(Error::WrongArguments { expected: 3, found: 0, .. })), "{short:?}");
    let wide = Prepared::new(&scale, &LaunchConfig::new(1, 4096), scale_arguments(&memory, 1, 1.0));
    assert!(
        matches!(wide, Err(Error::InvalidLaunch { limit: "threads in a block", .. })),
        "{wide:?}"
    );
    let mut prepared = Prepared::new(&scale, &shape, scale_arguments(&memory, 1, 1.0)).unwrap();
    let before = prepared.arguments().clone();
    assert!(!prepared.set_bytes(1, &[0; 8]) && !prepared.set_bytes(3, &[0; 4]));
    assert_eq!(*prepared.arguments(), before, "nothing was replaced");
}

fn functions_tell_what_they_need(device: &Device) {
    let sum = device.load(KERNELS).unwrap().function("sum").unwrap();
    let blocks = sum.active_blocks(64, 0).unwrap();
    assert!((1..=32).contains(&blocks), "{blocks} blocks");
    assert_eq!(sum.info().ptx_version, Some((8, 0)));
    for percent in [Some(0), Some(100), None] {
        sum.prefer_shared_memory(percent).unwrap();
    }
    let much = sum.prefer_shared_memory(Some(101));
    assert!(matches!(much, Err(Error::InvalidExtent { requested: 101, .. })), "{much:?}");
    for preference in [CachePreference::Shared, CachePreference::None] {
        sum.set_cache_preference(preference).unwrap();
        device.set_cache_preference(preference).unwrap();
    }
}

fn code_that_is_none_is_refused(device: &Device) {
    let refused = |result: Result<_, Error>| {
        let refused = matches!(result, Err(Error::Load { .. } | Error::Unsupported { .. }));
        assert!(refused, "{result:?}");
    };
    refused(device.load_binary(b"no machine code"));
    let code = LinkCode::Cubin(b"nor this");
    refused(device.link(&[LinkInput { name: "no cubin", code }]));
    refused(device.link(&[LinkInput::ptx("no text", "\0")]));
    refused(device.link(&[]));
}

fn attributes_agree_with_the_description(device: &Device) {
    use Attribute::*;
    let info = device.info();
    let expected = [
        (WarpSize, info.warp_size),
        (MaxThreadsPerBlock, info.max_threads_per_block),
        (MaxBlockDimZ, info.max_block[2]),
        (MaxGridDimX, info.max_grid[0]),
        (MultiprocessorCount, info.multiprocessors),
        (MaxSharedMemoryPerBlockOptin, info.max_shared_bytes),
        (ComputeCapabilityMajor, info.compute_capability.0),
        (ComputeCapabilityMinor, info.compute_capability.1),
    ];
    for (attribute, value) in expected {
        let found = device.attribute(attribute).unwrap();
        assert_eq!(found, Some(value as i32), "{attribute}");
    }
    let all = device.attributes().unwrap();
    assert!(all.len() > 30 && all.is_sorted_by_key(|(attribute, _)| attribute.number()));
    assert!(all.contains(&(WarpSize, 32)));
    assert!(device.attribute(MaximumTexture2dWidth).unwrap().unwrap() >= 16384);
    assert_eq!(MaximumTexture2dWidth.to_string(), "MAXIMUM_TEXTURE2D_WIDTH");
}

fn limits_are_told(device: &Device) {
    assert!(device.limit(Limit::PrintfBytes).unwrap().unwrap() >= 1 << 20);
    let _changed = crate::support::LIMITS.write();
    match device.limit(Limit::StackBytes).unwrap() {
        Some(bytes) => {
            device.set_limit(Limit::StackBytes, bytes + 512).unwrap();
            assert!(device.limit(Limit::StackBytes).unwrap() >= Some(bytes + 512));
            device.set_limit(Limit::StackBytes, bytes).unwrap();
        }
        None => {
            let set = device.set_limit(Limit::StackBytes, 4096);
            assert!(matches!(set, Err(Error::Unsupported { .. })), "{set:?}");
        }
    }
}

/// Copies from `other` to `device` a hundred times while both change their memory.
fn peers_keep_order(device: &Device, other: &Device) {
    let (stream, peer) = (device.stream().unwrap(), other.stream().unwrap());
    let bytes = 1 << 20;
    let (to, from) = (device.alloc(bytes).unwrap(), other.alloc(bytes).unwrap());
    let (to, from) = (to.slice(..).unwrap(), from.slice(..).unwrap());
    for round in 0..100 {
        peer.fill(from, Fill::U8(round)).unwrap();
        stream.copy_from_peer(to, &peer, from).unwrap();
        peer.fill(from, Fill::U8(0xff)).unwrap();
        if round % 10 == 0 {
            let found = stream.download(to).unwrap().wait().unwrap();
            assert!(found.iter().all(|byte| *byte == round), "round {round}");
        }
    }
    let empty = (to.slice(..0).unwrap(), from.slice(..0).unwrap());
    stream.copy_from_peer(empty.0, &peer, empty.1).unwrap();
    let short = stream.copy_from_peer(to, &peer, from.slice(1..).unwrap());
    assert!(matches!(short, Err(Error::OutOfRange { .. })), "{short:?}");
    for wrong in [stream.copy_from_peer(from, &peer, from), stream.copy_from_peer(to, &peer, to)] {
        assert!(matches!(wrong, Err(Error::WrongDevice { .. })), "{wrong:?}");
    }
}

/// The memory goes while the copy is on its way.
fn peers_may_be_dropped(device: &Device, other: &Device) {
    let (stream, to) = (device.stream().unwrap(), device.alloc(32 << 20).unwrap());
    let from = other.alloc(to.bytes()).unwrap();
    let peer = other.stream().unwrap();
    peer.fill(from.slice(..).unwrap(), Fill::U8(9)).unwrap();
    stream.copy_from_peer(to.slice(..).unwrap(), &peer, from.slice(..).unwrap()).unwrap();
    drop((from, peer));
    let found = stream.download(to.slice(..).unwrap()).unwrap().wait().unwrap();
    assert!(found.iter().all(|byte| *byte == 9));
}

/// A box within rows of one pitch to one of another pitch, and to and from texels.
fn peers_copy_boxes(device: &Device, other: &Device) {
    let (stream, peer) = (device.stream().unwrap(), other.stream().unwrap());
    let (wide, narrow) = (Pitch { row_bytes: 64, rows: 6 }, Pitch { row_bytes: 48, rows: 5 });
    let source: Vec<u8> = (0..64 * 6 * 3).map(|i| (i % 251) as u8).collect();
    let (from, to) = (other.alloc(source.len()).unwrap(), device.alloc(48 * 5 * 3).unwrap());
    peer.upload(from.slice(..).unwrap(), &source).unwrap();
    stream.fill(to.slice(..).unwrap(), Fill::U8(0xff)).unwrap();
    let rows = from.slice(..).unwrap().rows(wide, [64, 6, 3]).unwrap();
    let part = rows.part([8, 1, 1], [32, 4, 2]).unwrap();
    let place = to.slice(..).unwrap().rows(narrow, [48, 5, 3]).unwrap();
    let place = place.part([4, 0, 1], [32, 4, 2]).unwrap();
    stream.copy_from_peer(place, &peer, part).unwrap();
    let found = stream.download(to.slice(..).unwrap()).unwrap().wait().unwrap();
    for (at, &byte) in found.iter().enumerate() {
        let (x, y, z) = (at % 48, at / 48 % 5, at / 240);
        let inside = (4..36).contains(&x) && y < 4 && z >= 1;
        // As `z - 1 + 1` and `y + 1` of the source.
        let expected = if inside { source[(z * 6 + y + 1) * 64 + x + 4] } else { 0xff };
        assert_eq!(byte, expected, "byte {x} of row {y} of slice {z}");
    }

    let shape = ArrayShape::D2 { width: 8, height: 8 };
    let texels = device.array(&ArrayDescriptor::new(shape, Format::R32F)).unwrap();
    let square = rows.part([0, 0, 0], [32, 6, 1]).unwrap();
    let window = texels.region().part([0, 2, 0], [8, 6, 1]).unwrap();
    stream.copy_from_peer(window, &peer, square).unwrap();
    let found = stream.download(window).unwrap().wait().unwrap();
    let expected: Vec<u8> = source.chunks(64).take(6).flat_map(|row| &row[..32]).copied().collect();
    assert_eq!(found, expected);
    let differ = stream.copy_from_peer(window, &peer, rows.part([0, 0, 0], [32, 5, 1]).unwrap());
    assert!(matches!(differ, Err(Error::RegionsDiffer { .. })), "{differ:?}");
}

pub fn peers_copy(device: &Device, other: &Device) {
    peers_copy_boxes(device, other);
    peers_keep_order(device, other);
    peers_keep_order(other, device);
    peers_may_be_dropped(device, other);
}

#[test]
fn cpu_devices_copy_from_each_other() {
    peers_copy(&Device::cpu().unwrap(), &Device::cpu().unwrap());
}

#[test]
fn a_checked_launch_returns_its_fault() {
    let device = Device::cpu().unwrap();
    let options = StreamOptions { checked: true, ..StreamOptions::default() };
    let stream = device.stream_with(options).unwrap();
    let scale = device.load(KERNELS).unwrap().function("scale").unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&16_u64).push(&1_u32).push(&1.0_f32);
    // SAFETY: the CPU device checks every access.
    #[expect(unsafe_code, reason = "a launch")]
    let launched = unsafe { stream.launch(&scale, &LaunchConfig::new(1, 1), &arguments) };
    assert!(
        matches!(&launched, Err(Error::Fault(fault)) if fault.kernel == "scale"),
        "{launched:?}"
    );
    stream.synchronize().unwrap();
}
