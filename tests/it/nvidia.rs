//! What only an NVIDIA GPU can show; the contract that both devices share is in the conformance suite.

#![expect(unsafe_code, reason = "launches")]

use std::sync::{Arc, Mutex};

use warpaint::device::{
    Arguments, Attribute, Choice, Device, Error, Event, Fill, Function, LaunchConfig, LinkInput,
    Memory, Stream, nvidia, occupancy,
};

use crate::{
    skip::{Need, skip},
    support::{alone, expect_pass, nvidia as device},
};

mod repeated;

/// Kernels in a PTX that is newer than any driver so far, so that loading it shows that its version is lowered.
const KERNELS: &str = "
//
// .version 1.0 in a comment is none
//
.version 9.9
.target sm_75
.address_size 64

.visible .global .align 4 .u32 answer = 42;
.extern .shared .align 16 .b8 dynamic[];

.visible .entry scale(.param .u64 values, .param .u32 count, .param .f64 factor, .param .u8 last)
{
    .reg .pred %p<2>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [values];
    ld.param.u32 %r1, [count];
    ld.param.f64 %fd1, [factor];
    cvt.rn.f32.f64 %f1, %fd1;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd4], %f3;
done:
    ret;
}

.visible .entry nothing()
{
    ret;
}

.visible .entry spin(.param .u64 cycles)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [cycles];
    mov.u64 %rd2, %clock64;
again:
    mov.u64 %rd3, %clock64;
    sub.u64 %rd4, %rd3, %rd2;
    setp.lt.u64 %p1, %rd4, %rd1;
    @%p1 bra again;
    ret;
}

.visible .entry last_shared(.param .u64 out, .param .u32 bytes)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [bytes];
    mov.u32 %r2, dynamic;
    add.u32 %r3, %r2, %r1;
    st.shared.u32 [%r3+-4], %r1;
    ld.shared.u32 %r4, [%r3+-4];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r4;
    ret;
}

.visible .entry stray(.param .u64 address)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [address];
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
";

fn function(device: &Device, name: &str) -> Function {
    device.load(KERNELS).unwrap().function(name).unwrap()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytemuck::pod_collect_to_vec(bytes)
}

fn scale_arguments(memory: &Memory, count: u32, factor: f64) -> Arguments {
    let mut arguments = Arguments::new();
    arguments.push(&memory.address()).push(&count).push(&factor).push(&0_u8);
    arguments
}

#[test]
fn the_same_gpu_opens_as_the_same_device() {
    let Some(device) = device() else { return };
    let again = Device::open(Choice::Cuda(0)).unwrap();
    assert_eq!(device.id(), again.id());
    let (first, all) = (device.as_nvidia().unwrap(), nvidia::Device::all().unwrap());
    assert_eq!(first.ordinal(), 0);
    assert_ne!(first.uuid(), [0; 16]);
    assert_eq!(all[0].name, device.info().name);
    assert!(device.info().max_shared_bytes >= 48 << 10, "{:?}", device.info());
    let found = all.len() as u32;
    match Device::open(Choice::Cuda(found)) {
        Err(Error::NoDevice { ordinal, found: said }) => {
            assert_eq!((ordinal, said), (found, found))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_gpu_has_a_place_limits_and_preferences() {
    let Some(device) = device() else { return };
    let gpu = device.as_nvidia().unwrap();
    let bus_id = gpu.pci_bus_id().unwrap();
    assert_eq!(bus_id.split([':', '.']).count(), 4, "{bus_id}");
    assert_eq!(nvidia::Device::open_pci(&bus_id).unwrap().id(), gpu.id());
    assert!(nvidia::Device::open_pci("nowhere").is_err());
    assert!(nvidia::Device::open_pci("\0").is_err());
    gpu.start_profiler().unwrap();
    gpu.stop_profiler().unwrap();
    // Attributes that no driver knows are none, not errors: the newest of ours are newer than most drivers.
    assert!(device.attributes().unwrap().len() > 100);
    assert_eq!(device.attribute(Attribute::UnifiedAddressing).unwrap(), Some(1));
}

#[test]
fn the_occupancy_calculator_agrees_with_the_driver() {
    let Some(device) = device() else { return };
    let (major, minor) = device.info().compute_capability;
    let Some(multiprocessor) = occupancy::Multiprocessor::of(major, minor) else {
        skip(Need::Machine, format_args!("compute capability {major}.{minor} is not known"));
        return;
    };
    let attribute = |attribute| device.attribute(attribute).unwrap().unwrap() as u32;
    assert_eq!(multiprocessor.warps, attribute(Attribute::MaxThreadsPerMultiprocessor) / 32);
    assert_eq!(multiprocessor.blocks, attribute(Attribute::MaxBlocksPerMultiprocessor));
    assert_eq!(multiprocessor.registers, attribute(Attribute::MaxRegistersPerMultiprocessor));
    assert_eq!(multiprocessor.block_registers, attribute(Attribute::MaxRegistersPerBlock));
    let shared = attribute(Attribute::MaxSharedMemoryPerMultiprocessor);
    assert_eq!(multiprocessor.shared_bytes, shared);
    let reserved = attribute(Attribute::ReservedSharedMemoryPerBlock);
    assert_eq!(multiprocessor.reserved_shared_bytes, reserved);
    assert_eq!(multiprocessor.block_shared_bytes, device.info().max_shared_bytes);
    for name in ["scale", "nothing", "last_shared"] {
        let function = function(&device, name);
        let info = function.info();
        assert_eq!(info.binary_version, Some((major, minor)));
        assert!(info.ptx_version.is_some(), "{info:?}");
        for threads in [1, 32, 100, 256, 512, 1024] {
            for dynamic in [0, 1000, 20_000, multiprocessor.block_shared_bytes] {
                let blocks = function.active_blocks(threads, dynamic).unwrap();
                let shared = info.shared_bytes + dynamic;
                let computed = multiprocessor.occupancy(threads, info.registers, shared).unwrap();
                let case = format!("{name}: {threads} threads, {dynamic} bytes: {computed:?}");
                assert_eq!(computed.blocks, blocks, "{case}");
            }
        }
    }
}

/// Two modules, each of which needs the other's function or variable.
const CALLER: &str = "
.version 7.0
.target sm_75
.address_size 64

.extern .func (.param .b32 result) tripled (.param .b32 value);
.visible .global .align 4 .u32 offset = 5;

.visible .entry store(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    {
        .param .b32 argument;
        .param .b32 result;
        st.param.b32 [argument], %r1;
        call.uni (result), tripled, (argument);
        ld.param.b32 %r2, [result];
    }
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r2;
    ret;
}
";
const CALLED: &str = "
.version 7.0
.target sm_75
.address_size 64

.extern .global .align 4 .u32 offset;

.visible .func (.param .b32 result) tripled (.param .b32 value)
{
    .reg .b32 %r<5>;
    ld.param.b32 %r1, [value];
    mul.lo.u32 %r2, %r1, 3;
    ld.global.u32 %r3, [offset];
    add.u32 %r4, %r2, %r3;
    st.param.b32 [result], %r4;
    ret;
}
";

#[test]
fn modules_are_linked_and_machine_code_is_loaded() {
    let Some(device) = device() else { return };
    let (stream, gpu) = (device.stream().unwrap(), device.as_nvidia().unwrap());
    let inputs = [LinkInput::ptx("caller", CALLER), LinkInput::ptx("called", CALLED)];
    let code = gpu.link_code(&inputs).unwrap();
    for module in [device.link(&inputs).unwrap(), device.load_binary(&code).unwrap()] {
        let store = module.function("store").unwrap();
        let out = device.alloc(4).unwrap();
        let mut arguments = Arguments::new();
        arguments.push(&out.address()).push(&7_u32);
        // SAFETY: the kernel writes the four bytes of `out`.
        unsafe { stream.launch(&store, &LaunchConfig::new(1, 1), &arguments) }.unwrap();
        let read = stream.download(out.slice(..).unwrap()).unwrap().wait().unwrap();
        assert_eq!(read, 26_u32.to_ne_bytes());
        let offset = module.global("offset").unwrap();
        assert_eq!(stream.download(offset).unwrap().wait().unwrap(), 5_u32.to_ne_bytes());
    }
    match device.link(&inputs[..1]) {
        Err(Error::Load { log, .. }) => assert!(log.contains("tripled"), "{log}"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(device.load_binary(&code[..code.len() / 2]), Err(Error::Load { .. })));
}

#[test]
fn contexts_of_ones_own_are_devices() {
    let Some(device) = device() else { return };
    let primary = device.as_nvidia().unwrap();
    for waiting in [nvidia::Waiting::Automatic, nvidia::Waiting::Block] {
        let own = nvidia::Device::create(primary.ordinal(), waiting).unwrap();
        assert!(own.id() != primary.id() && own.uuid() == primary.uuid());
        let own = Device::Nvidia(own);
        let (memory, stream) = (own.alloc(16).unwrap(), own.stream().unwrap());
        stream.fill(memory.slice(..).unwrap(), Fill::U8(3)).unwrap();
        let elsewhere = device.stream().unwrap().fill(memory.slice(..).unwrap(), Fill::U8(4));
        assert!(matches!(elsewhere, Err(Error::WrongDevice { .. })), "{elsewhere:?}");
        // The guard changes what is current for others, not what is here.
        let guard = primary.push().unwrap();
        assert_eq!(stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap(), [3; 16]);
        drop(guard);
        super::conformance::order::peers_copy(&device, &own);
        let launched = own.load(KERNELS).unwrap().function("nothing").unwrap();
        // SAFETY: the kernel does nothing.
        unsafe { stream.launch(&launched, &LaunchConfig::new(1, 1), &Arguments::new()) }.unwrap();
        stream.synchronize().unwrap();
    }
    device.synchronize().unwrap();
}

#[test]
fn gpus_use_each_others_memory() {
    let Some(device) = device() else { return };
    let Ok(other) = Device::open(Choice::Cuda(1)) else {
        skip(Need::Machine, "there is one GPU only");
        return;
    };
    super::conformance::order::peers_copy(&device, &other);
    let (one, two) = (device.as_nvidia().unwrap(), other.as_nvidia().unwrap());
    if one.can_access_peer(two).unwrap() {
        one.enable_peer_access(two).unwrap();
        one.enable_peer_access(two).unwrap();
        super::conformance::order::peers_copy(&device, &other);
        one.disable_peer_access(two).unwrap();
        one.disable_peer_access(two).unwrap();
    }
}

#[test]
fn a_kernel_scales_what_was_uploaded() {
    let Some(device) = device() else { return };
    let (stream, scale) = (device.stream().unwrap(), function(&device, "scale"));
    let values: Vec<f32> = (0..1_000_003).map(|i| i as f32).collect();
    let memory = device.alloc(values.len() * 4).unwrap();
    stream.upload(memory.slice(..).unwrap(), bytemuck::cast_slice(&values)).unwrap();
    let config = LaunchConfig::over(values.len(), scale.suggested_block(0).unwrap());
    let arguments = scale_arguments(&memory, values.len() as u32, 0.5);
    // SAFETY: the kernel changes as many floats as the memory has.
    unsafe { stream.launch(&scale, &config, &arguments) }.unwrap();
    let read = stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    let expected: Vec<f32> = values.iter().map(|value| value * 0.5).collect();
    assert_eq!(floats(&read), expected);
}

#[test]
fn parameters_are_known_from_the_driver_as_from_the_text() {
    let Some(device) = device() else { return };
    let scale = function(&device, "scale");
    let layout: Vec<_> = scale.info().parameters.iter().map(|p| (p.offset, p.bytes)).collect();
    assert_eq!(layout, [(0, 8), (8, 4), (16, 8), (24, 1)]);
    assert!(function(&device, "nothing").info().parameters.is_empty());
    assert!(scale.info().registers > 0 && scale.info().max_threads >= 32, "{:?}", scale.info());
}

#[test]
fn an_empty_argument_list_launches() {
    let Some(device) = device() else { return };
    let (stream, nothing) = (device.stream().unwrap(), function(&device, "nothing"));
    // SAFETY: the kernel does nothing.
    unsafe { stream.launch(&nothing, &LaunchConfig::new(3, 64), &Arguments::new()) }.unwrap();
    stream.synchronize().unwrap();
    assert!(stream.is_idle().unwrap());
}

#[test]
fn dynamic_shared_memory_reaches_the_devices_limit() {
    let Some(device) = device() else { return };
    let (stream, kernel) = (device.stream().unwrap(), function(&device, "last_shared"));
    let out = device.alloc(4).unwrap();
    for bytes in [1024, 48 << 10, device.info().max_shared_bytes] {
        let config = LaunchConfig { shared_bytes: bytes, ..LaunchConfig::new(1, 1) };
        let mut arguments = Arguments::new();
        arguments.push(&out.address()).push(&bytes);
        // SAFETY: the kernel writes four bytes of `out`.
        unsafe { stream.launch(&kernel, &config, &arguments) }.unwrap();
        let read = stream.download(out.slice(..).unwrap()).unwrap().wait().unwrap();
        assert_eq!(read, bytes.to_ne_bytes());
    }
    let config = LaunchConfig {
        shared_bytes: device.info().max_shared_bytes + 1,
        ..LaunchConfig::new(1, 1)
    };
    let mut arguments = Arguments::new();
    arguments.push(&out.address()).push(&4_u32);
    // SAFETY: as above; it is refused anyway.
    let refused = unsafe { stream.launch(&kernel, &config, &arguments) };
    assert!(matches!(refused, Err(Error::InvalidLaunch { .. })), "{refused:?}");
}

/// Other tests free memory meanwhile, for which the driver may hold up this thread until the device is idle; so the
/// kernel may have ended when it is looked at, but hardly ten times one after another.
#[test]
fn events_measure_the_device() {
    let Some(device) = device() else { return };
    let (stream, spin) = (device.stream().unwrap(), function(&device, "spin"));
    let fresh = || (device.event().unwrap(), device.event().unwrap());
    let (start, end) = fresh();
    assert!(start.is_reached().unwrap(), "never recorded");
    assert!(matches!(end.elapsed_ms(&start), Err(Error::NotReached)));
    let seen_running = (0..10).any(|_| {
        let (start, end) = fresh();
        let mut arguments = Arguments::new();
        arguments.push(&500_000_000_u64);
        stream.record(&start).unwrap();
        // SAFETY: the kernel touches no memory.
        unsafe { stream.launch(&spin, &LaunchConfig::new(1, 1), &arguments) }.unwrap();
        stream.record(&end).unwrap();
        let running = !end.is_reached().unwrap() && !stream.is_idle().unwrap();
        let running = running && matches!(end.elapsed_ms(&start), Err(Error::NotReached));
        end.synchronize().unwrap();
        let elapsed_ms = end.elapsed_ms(&start).unwrap();
        assert!((50.0..5000.0).contains(&elapsed_ms), "500 million cycles took {elapsed_ms} ms");
        running
    });
    assert!(seen_running, "an event was reached before the work in front of it ended, ten times");
}

#[test]
fn a_stream_waits_for_an_event_of_another() {
    let Some(device) = device() else { return };
    let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
    let (memory, event) = (device.alloc(1 << 20).unwrap(), device.event().unwrap());
    let mut arguments = Arguments::new();
    arguments.push(&20_000_000_u64);
    // SAFETY: the kernel touches no memory.
    unsafe { first.launch(&function(&device, "spin"), &LaunchConfig::new(1, 1), &arguments) }
        .unwrap();
    first.fill(memory.slice(..).unwrap(), Fill::U16(0x0102)).unwrap();
    first.record(&event).unwrap();
    second.wait(&event).unwrap();
    let read = second.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    assert!(read.chunks(2).all(|pair| pair == [2, 1]));
}

#[test]
fn many_and_large_uploads_arrive_though_their_source_is_gone() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let memory = device.alloc(200 << 20).unwrap();
    stream.upload(memory.slice(..).unwrap(), &vec![0xAB; 200 << 20]).unwrap();
    for index in 0..1000_usize {
        let source = vec![index as u8; 64];
        stream.upload(memory.slice(index * 64..(index + 1) * 64).unwrap(), &source).unwrap();
    }
    let read = stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    for index in 0..1000 {
        assert!(read[index * 64..(index + 1) * 64].iter().all(|&byte| byte == index as u8));
    }
    assert!(read[64_000..].iter().all(|&byte| byte == 0xAB));
}

#[test]
fn handles_drop_on_other_threads_while_their_work_runs() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let values = vec![1.0_f32; 1 << 20];
    let memory = device.alloc(values.len() * 4).unwrap();
    stream.upload(memory.slice(..).unwrap(), bytemuck::cast_slice(&values)).unwrap();
    let (spin, scale) = (function(&device, "spin"), function(&device, "scale"));
    let mut arguments = Arguments::new();
    arguments.push(&20_000_000_u64);
    // SAFETY: the kernel touches no memory.
    unsafe { stream.launch(&spin, &LaunchConfig::new(1, 1), &arguments) }.unwrap();
    let arguments = scale_arguments(&memory, 1 << 20, 3.0);
    // SAFETY: the kernel changes as many floats as the memory has.
    unsafe { stream.launch(&scale, &LaunchConfig::over(1 << 20, 256), &arguments) }.unwrap();
    let readback = stream.download(memory.slice(..).unwrap()).unwrap();
    std::thread::spawn(move || drop((spin, scale, memory, stream))).join().unwrap();
    let read = std::thread::spawn(move || readback.wait()).join().unwrap().unwrap();
    assert!(floats(&read).iter().all(|&value| value == 3.0));
    device.synchronize().unwrap();
}

#[test]
fn a_global_has_its_initial_value() {
    let Some(device) = device() else { return };
    let (stream, module) = (device.stream().unwrap(), device.load(KERNELS).unwrap());
    let answer = module.global("answer").unwrap();
    assert_eq!(stream.download(answer).unwrap().wait().unwrap(), 42_u32.to_ne_bytes());
    assert!(matches!(module.global("question"), Err(Error::NoSuchGlobal { .. })));
    match module.function("missing\0") {
        Err(Error::NoSuchFunction { available, .. }) => {
            assert_eq!(available, ["scale", "nothing", "spin", "last_shared", "stray"]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn ptx_that_does_not_assemble_says_why() {
    let Some(device) = device() else { return };
    let broken = KERNELS.replace("cvt.rn.f32.f64", "no.such.instruction");
    match device.load(&broken) {
        Err(Error::Load { log, .. }) => {
            assert!(log.contains("CUDA_ERROR_INVALID_PTX") && log.contains("line"), "{log}");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(device.load("\0"), Err(Error::Load { .. })));
}

#[test]
fn too_large_an_allocation_says_what_is_free() {
    let Some(device) = device() else { return };
    match device.alloc(1 << 50) {
        Err(Error::OutOfMemory { requested, free, .. }) => {
            assert_eq!(requested, 1 << 50);
            assert!(free > 0);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(device.alloc(0).unwrap().bytes(), 0);
}

/// Only where `WARPAINT_TEST_STRAY` is set: after an illegal address on an H200 with driver 580, every OpenGL
/// context that any process opened later drew black, until the machine was started anew.
#[test]
fn a_stray_kernel_is_named() {
    if device().is_none() {
        return;
    }
    if std::env::var_os("WARPAINT_TEST_STRAY").is_none() {
        let why = "set WARPAINT_TEST_STRAY to fault on purpose; OpenGL may be unusable afterwards";
        skip(Need::Machine, why);
        return;
    }
    // CUDA is dead in a process after an illegal address, so another one has it.
    expect_pass(&mut alone("nvidia::stray_in_a_process_of_its_own"));
}

#[test]
#[ignore = "run by a_stray_kernel_is_named, in a process of its own"]
fn stray_in_a_process_of_its_own() {
    let Some(device) = device() else { return };
    let (stream, stray) = (device.stream().unwrap(), function(&device, "stray"));
    let memory = device.alloc(1024).unwrap();
    let launch = |address: u64| {
        let mut arguments = Arguments::new();
        arguments.push(&address);
        // SAFETY: none: the last address is wrong, and this process does nothing else with CUDA.
        unsafe { stream.launch(&stray, &LaunchConfig::new(1, 32), &arguments) }.unwrap();
    };
    // Often enough that the last launch is a graph's.
    (0..20).for_each(|_| launch(memory.address()));
    launch(16);
    match stream.synchronize() {
        Err(Error::Call(call)) => {
            assert_eq!(call.name, "CUDA_ERROR_ILLEGAL_ADDRESS");
            assert_eq!(call.launch, Some(("stray".to_owned(), LaunchConfig::new(1, 32))));
        }
        other => panic!("{other:?}"),
    }
    // What follows fails too, but neither panics nor aborts.
    assert!(
        device.alloc(16).is_err() && stream.upload(memory.slice(..).unwrap(), &[0; 1024]).is_err()
    );
    drop((memory, stray, stream, device));
}

/// A process of its own opens an allocation and an event of this one, and writes behind the event.
#[test]
fn another_process_uses_memory_and_events() {
    let Some(device) = device() else { return };
    let gpu = device.as_nvidia().unwrap();
    let (memory, stream) = (gpu.alloc(1 << 20).unwrap(), device.stream().unwrap());
    let shared = Memory::Nvidia(memory);
    let Memory::Nvidia(memory) = &shared else { unreachable!() };
    stream.fill(shared.slice(..).unwrap(), Fill::U8(3)).unwrap();
    let event = gpu.ipc_event().unwrap();
    let handles = match (gpu.ipc_handle(memory), event.ipc_handle()) {
        (Ok(memory), Ok(event)) => [memory, event],
        (Err(error), _) | (_, Err(error)) => {
            skip(Need::Machine, error);
            return;
        }
    };
    stream.record(&Event::Nvidia(event)).unwrap();
    let hex: String =
        handles.iter().flat_map(|handle| handle.0).map(|byte| format!("{byte:02x}")).collect();
    expect_pass(alone("nvidia::what_another_process_does").env("WARPAINT_TEST_IPC", hex));
    let found = stream.download(shared.slice(..).unwrap()).unwrap().wait().unwrap();
    assert!(found.iter().all(|&byte| byte == 4));
    // Its own memory a process cannot open.
    // SAFETY: it is refused.
    assert!(unsafe { gpu.open_ipc_memory(&handles[0], 1 << 20) }.is_err());
}

/// The other process of the test above.
#[test]
#[ignore = "run by the test above"]
fn what_another_process_does() {
    let hex = std::env::var("WARPAINT_TEST_IPC").unwrap();
    let byte = |at: usize| u8::from_str_radix(&hex[2 * at..][..2], 16).unwrap();
    let handle = |at: usize| nvidia::IpcHandle(std::array::from_fn(|i| byte(64 * at + i)));
    let device = device().unwrap();
    let gpu = device.as_nvidia().unwrap();
    // SAFETY: the first process keeps it until this one has ended.
    let memory = unsafe { gpu.open_ipc_memory(&handle(0), 1 << 20) }.unwrap();
    let (stream, event) = (device.stream().unwrap(), gpu.open_ipc_event(&handle(1)).unwrap());
    stream.wait(&Event::Nvidia(event)).unwrap();
    let found = stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    assert!(memory.bytes() == 1 << 20 && found.iter().all(|&byte| byte == 3));
    stream.fill(memory.slice(..).unwrap(), Fill::U8(4)).unwrap();
    stream.synchronize().unwrap();
}

/// Handles are for other libraries; here the stream of one device waits for the handle of another's.
#[test]
fn handles_are_for_other_libraries() {
    let Some(device) = device() else { return };
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let (Stream::Nvidia(stream), Stream::Nvidia(other)) = (&stream, &other) else { unreachable!() };
    assert!(stream.handle() != 0 && stream.handle() != other.handle());
    assert_ne!(device.as_nvidia().unwrap().handle(), 0);
    for handle in [other.handle(), 1] {
        // SAFETY: both are streams that live.
        unsafe { stream.wait_for_handle(handle) }.unwrap();
    }
    stream.synchronize().unwrap();
}

/// The driver's functions that `work` calls on this thread, each as `call="cuName" code=0` in what is traced.
fn calls(work: impl FnOnce()) -> Vec<String> {
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let lines = Lines::default();
    let to = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter("warpaint::driver=trace")
        .with_writer(move || to.clone())
        .with_ansi(false)
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        // Another thread may just have found, of its first call, that nobody traces it.
        tracing::callsite::rebuild_interest_cache();
        work();
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let name = |line: &str| {
        let (name, code) = line.split_once("call=\"")?.1.split_once('"')?;
        (code.trim() == "code=0").then(|| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

#[test]
fn calls_of_the_driver_can_be_traced() {
    let Some(device) = device() else { return };
    let calls = calls(|| drop(device.alloc(16).unwrap()));
    let place = |name| calls.iter().position(|call| call == name).unwrap();
    assert!(place("cuMemAlloc_v2") < place("cuMemFree_v2"), "{calls:?}");
}
