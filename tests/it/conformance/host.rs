//! Host memory: page-locked, registered, mapped, managed, and pools of it.

use std::{sync::mpsc, time::Duration};

use warpaint::device::{
    ArrayDescriptor, ArrayShape, Attachment, Device, Error, Fill, Format, HostFlags, HostPool,
    LaunchConfig, Pitch, PoolStatistics,
};

use super::{Clause, KERNELS, bytes, floats, launch};

pub const CLAUSES: &[Clause] = &[
    ("host memory is copied both ways", host_memory_is_copied_both_ways),
    ("transfers wait in the stream, not on the host", transfers_wait_in_the_stream),
    ("copies keep to the stream's order", copies_keep_to_the_streams_order),
    ("registered memory comes back", registered_memory_comes_back),
    ("host memory has rows", host_memory_has_rows),
    ("wrong transfers are errors", wrong_transfers_are_errors),
    ("transfers may be dropped", transfers_may_be_dropped),
    ("host pools keep what is dropped", host_pools_keep_what_is_dropped),
    ("kernels see mapped memory", kernels_see_mapped_memory),
    ("managed memory is attached", managed_memory_is_attached),
];

fn host_memory_is_copied_both_ways(device: &Device) {
    let stream = device.stream().unwrap();
    let flags = [
        HostFlags::default(),
        HostFlags { portable: true, write_combined: false },
        HostFlags { portable: true, write_combined: true },
    ];
    for flags in flags {
        let memory = device.alloc(100_000).unwrap();
        let mut host = device.alloc_host(100_000, flags).unwrap();
        assert_eq!((host.len(), host.as_ptr().addr() % 256), (100_000, 0));
        for (index, byte) in host.iter_mut().enumerate() {
            *byte = (index % 251) as u8;
        }
        let expected = host.to_vec();
        let upload = stream.upload_from(memory.slice(..).unwrap(), host).unwrap();
        let mut host = upload.wait().unwrap();
        assert!(*host == expected, "what was uploaded stays");
        host.fill(0);
        let part = memory.slice(10..90_010).unwrap();
        let host = stream.download_to(host.at(10_000), part).unwrap().wait().unwrap();
        assert!(host[..10_000].iter().all(|byte| *byte == 0));
        assert!(host[10_000..] == expected[10..90_010]);
    }
    let nothing = device.alloc_host(0, HostFlags::default()).unwrap();
    let memory = device.alloc(0).unwrap();
    let nothing = stream.upload_from(memory.slice(..).unwrap(), nothing).unwrap().wait().unwrap();
    assert!(nothing.is_empty());
}

/// Behind work that ends only once both transfers are under way. Other tests free memory meanwhile, for which the
/// driver may hold up this thread until the device is idle, but hardly ten times one after another.
fn transfers_wait_in_the_stream(device: &Device) {
    let (stream, bytes) = (device.stream().unwrap(), 1 << 20);
    let memory = device.alloc(bytes).unwrap();
    let fresh = || device.alloc_host(bytes, HostFlags::default()).unwrap();
    let mut at_once = (0..10).map(|round| {
        let (mut from, to) = (fresh(), fresh());
        from.fill(round);
        let (go, wait) = mpsc::channel();
        // Not for ever, so that a transfer for which the host waits fails and does not hang.
        let patience = Duration::from_secs(2);
        stream.host_function(move || wait.recv_timeout(patience).unwrap_or(())).unwrap();
        let up = stream.upload_from(memory.slice(..).unwrap(), from).unwrap();
        let down = stream.download_to(to, memory.slice(..).unwrap()).unwrap();
        let under_way = !up.is_ready().unwrap() && !down.is_ready().unwrap();
        drop(go);
        assert!(down.wait().unwrap().iter().all(|byte| *byte == round));
        assert!(up.is_ready().unwrap(), "it was before the download");
        under_way
    });
    assert!(at_once.any(|under_way| under_way), "the host waited for the stream, ten times");
}

fn copies_keep_to_the_streams_order(device: &Device) {
    let stream = device.stream().unwrap();
    let scale = device.load(KERNELS).unwrap().function("scale").unwrap();
    let n = 1_u32 << 14;
    let memory = device.alloc(4 * n as usize).unwrap();
    let mut host = device.alloc_host(memory.bytes(), HostFlags::default()).unwrap();
    host.copy_from_slice(&bytes(&vec![1.5; n as usize]));
    for round in 0..5 {
        let upload = stream.upload_from(memory.slice(..).unwrap(), host).unwrap();
        let config = LaunchConfig::over(n as usize, 128);
        launch(&stream, &scale, config, &super::scale_arguments(&memory, n, 2.0)).unwrap();
        let other = device.alloc_host(memory.bytes(), HostFlags::default()).unwrap();
        let download = stream.download_to(other, memory.slice(..).unwrap()).unwrap();
        stream.fill(memory.slice(..).unwrap(), Fill::U8(0xff)).unwrap();
        let result = download.wait().unwrap();
        assert!(floats(&result).iter().all(|value| *value == 3.0), "round {round}");
        assert!(upload.is_ready().unwrap(), "it was before the download");
        host = upload.wait().unwrap();
    }
}

fn registered_memory_comes_back(device: &Device) {
    let stream = device.stream().unwrap();
    let vector: Vec<u8> = (0..5000).map(|index| (index % 256) as u8).collect();
    let (address, expected) = (vector.as_ptr(), vector.clone());
    let memory = device.alloc(5000).unwrap();
    let host = device.register_host(vector).unwrap();
    let host = stream.upload_from(memory.slice(..).unwrap(), host).unwrap().wait().unwrap();
    let vector = host.into_vec();
    assert_eq!((vector.as_ptr(), &vector), (address, &expected), "the same vector");
    let found = stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    assert_eq!(found, expected);
    // Dropped, it is freed; what was allocated can be a vector, too, and nothing at all can be registered.
    drop(device.register_host(vector).unwrap());
    let mut host = device.alloc_host(3, HostFlags::default()).unwrap();
    host.copy_from_slice(&[1, 2, 3]);
    assert_eq!(host.into_vec(), [1, 2, 3]);
    assert_eq!(device.register_host(Vec::new()).unwrap().into_vec(), [0_u8; 0]);
}

fn host_memory_has_rows(device: &Device) {
    let stream = device.stream().unwrap();
    let shape = ArrayShape::D2 { width: 4, height: 3 };
    let array = device.array(&ArrayDescriptor::new(shape, Format::RGBA8)).unwrap();
    let mut host = device.alloc_host(100, HostFlags::default()).unwrap();
    for (index, byte) in host.iter_mut().enumerate() {
        *byte = index as u8;
    }
    // Rows of 16 bytes, 30 bytes apart, from byte 5 on.
    let pitch = Pitch { row_bytes: 30, rows: 3 };
    let part = host.at(5).pitched(pitch);
    let host = stream.upload_from(array.region(), part).unwrap().wait().unwrap();
    let found = stream.download(array.region()).unwrap().wait().unwrap();
    let expected: Vec<u8> = [5, 35, 65].into_iter().flat_map(|start| start..start + 16).collect();
    assert_eq!(found, expected);
    // And back, one byte later: what lies between the rows stays.
    let part = host.at(6).pitched(pitch);
    let host = stream.download_to(part, array.region()).unwrap().wait().unwrap();
    for (index, byte) in (0..).zip(host.iter()) {
        let in_row = index >= 6 && (index - 6) % 30 < 16 && (index - 6) / 30 < 3;
        assert_eq!(*byte, if in_row { index - 1 } else { index }, "byte {index}");
    }
}

fn wrong_transfers_are_errors(device: &Device) {
    let (stream, memory) = (device.stream().unwrap(), device.alloc(16).unwrap());
    let (all, flags) = (memory.slice(..).unwrap(), HostFlags::default());
    let host = |device: &Device| device.alloc_host(16, flags).unwrap();
    for offset in [1, 16, 17, usize::MAX] {
        let transfer = stream.upload_from(all, host(device).at(offset));
        assert!(matches!(transfer, Err(Error::OutOfRange { .. })), "{transfer:?}");
    }
    let rows = all.rows(Pitch { row_bytes: 8, rows: 2 }, [4, 2, 1]).unwrap();
    let pitched = host(device).at(0).pitched(Pitch { row_bytes: 13, rows: 2 });
    assert!(matches!(stream.download_to(pitched, rows), Err(Error::OutOfRange { .. })));
    let elsewhere = Device::cpu().unwrap();
    let transfer = stream.download_to(host(&elsewhere), all);
    assert!(matches!(transfer, Err(Error::WrongDevice { .. })), "{transfer:?}");
    let transfer = elsewhere.stream().unwrap().download_to(host(&elsewhere), all);
    assert!(matches!(transfer, Err(Error::WrongDevice { .. })), "{transfer:?}");
}

fn transfers_may_be_dropped(device: &Device) {
    let stream = device.stream().unwrap();
    let memory = device.alloc(32 << 20).unwrap();
    let pool = HostPool::new(device, HostFlags::default());
    let mut host = pool.alloc(memory.bytes()).unwrap();
    host.fill(7);
    drop(stream.upload_from(memory.slice(..).unwrap(), host).unwrap());
    assert_eq!(pool.statistics().held_blocks, 1, "the memory is back once the copy has ended");
    let found = stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    assert!(found.iter().all(|byte| *byte == 7));
    let transfer = stream.download_to(pool.alloc(100).unwrap(), memory.slice(..100).unwrap());
    drop((stream, memory));
    std::thread::spawn(move || transfer.unwrap().wait().unwrap()).join().unwrap();
}

fn host_pools_keep_what_is_dropped(device: &Device) {
    let stream = device.stream().unwrap();
    let memory = device.alloc(1000).unwrap();
    let pool = HostPool::new(device, HostFlags { portable: true, write_combined: false });
    let first = pool.alloc(1000).unwrap();
    let (address, second) = (first.as_ptr(), pool.alloc(1000).unwrap());
    assert_eq!(first.len(), 1000);
    assert_ne!(second.as_ptr(), address);
    let first = stream.upload_from(memory.slice(..).unwrap(), first).unwrap().wait().unwrap();
    drop(first);
    let expected =
        PoolStatistics { active_blocks: 1, active_bytes: 1024, held_blocks: 1, held_bytes: 1024 };
    assert_eq!(pool.statistics(), expected);
    assert_eq!(pool.alloc(900).unwrap().as_ptr(), address);
    pool.trim();
    assert_eq!(pool.statistics().held_blocks, 0);
    pool.stop_holding();
    drop(second);
    assert_eq!(pool.statistics(), PoolStatistics::default());
    // A vector of what belongs to the pool is a copy.
    assert_eq!(pool.alloc(10).unwrap().into_vec().len(), 10);
    assert_eq!(pool.statistics(), PoolStatistics::default());
}

fn kernels_see_mapped_memory(device: &Device) {
    let stream = device.stream().unwrap();
    let scale = device.load(KERNELS).unwrap().function("scale").unwrap();
    let mapped = device.alloc_mapped(4000, HostFlags::default()).unwrap();
    let managed = match device.alloc_managed(4000) {
        Err(Error::Unsupported { .. }) => None,
        managed => Some(managed.unwrap()),
    };
    for mut memory in [Some(mapped), managed].into_iter().flatten() {
        memory.write(0, &bytes(&[2.0; 1000])).unwrap();
        memory.write(4, &bytes(&[5.0])).unwrap();
        let mut arguments = warpaint::device::Arguments::new();
        arguments.push(&memory.address()).push(&1000_u32).push(&3.0_f32);
        launch(&stream, &scale, LaunchConfig::over(1000, 64), &arguments).unwrap();
        stream.synchronize().unwrap();
        let found = floats(&memory.to_vec());
        assert_eq!(found[..3], [6.0, 15.0, 6.0]);
        assert!(found[2..].iter().all(|value| *value == 6.0));
        // To streams it is device memory.
        stream.fill(memory.slice(8..12).unwrap(), Fill::U32(0)).unwrap();
        let copied = stream.download(memory.slice(4..16).unwrap()).unwrap().wait().unwrap();
        assert_eq!(floats(&copied), [15.0, 0.0, 6.0]);
        let mut four = [0; 4];
        memory.read(3996, &mut four).unwrap();
        assert_eq!(four, 6.0_f32.to_le_bytes());
        let outside = memory.read(3997, &mut four);
        assert!(matches!(outside, Err(Error::OutOfRange { start: 3997, end: 4001, bytes: 4000 })));
        assert!(memory.write(usize::MAX, &[0; 2]).is_err());
    }
    let empty = device.alloc_mapped(0, HostFlags::default()).unwrap();
    assert_eq!(empty.to_vec(), [0_u8; 0]);
}

fn managed_memory_is_attached(device: &Device) {
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let scale = device.load(KERNELS).unwrap().function("scale").unwrap();
    let mapped = device.alloc_mapped(16, HostFlags::default()).unwrap();
    let refused = stream.attach(&mapped, Attachment::Global);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    let mut memory = match device.alloc_managed(4000) {
        Err(Error::Unsupported { .. }) => return,
        memory => memory.unwrap(),
    };
    memory.write(0, &bytes(&[1.0; 1000])).unwrap();
    let attachments = [Attachment::Stream, Attachment::Host, Attachment::Global];
    for (round, to) in (1..).zip(attachments) {
        stream.attach(&memory, to).unwrap();
        stream.synchronize().unwrap();
        let at = if to == Attachment::Global { &other } else { &stream };
        let mut arguments = warpaint::device::Arguments::new();
        arguments.push(&memory.address()).push(&1000_u32).push(&2.0_f32);
        launch(at, &scale, LaunchConfig::over(1000, 64), &arguments).unwrap();
        at.synchronize().unwrap();
        let expected = 2.0_f32.powi(round);
        assert!(floats(&memory.to_vec()).iter().all(|value| *value == expected), "{to:?}");
    }
    stream.attach(&device.alloc_managed(0).unwrap(), Attachment::Stream).unwrap();
    let elsewhere = Device::cpu().unwrap().stream().unwrap().attach(&memory, Attachment::Host);
    assert!(matches!(elsewhere, Err(Error::WrongDevice { .. })), "{elsewhere:?}");
}
