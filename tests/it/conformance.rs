//! The contract of the device seam, written once as functions over a [`Device`] and run on both: what holds on
//! an NVIDIA GPU holds on the CPU device. What only the CPU device promises (faults instead of a dead process)
//! stands in `faults.rs`.

mod host;
pub mod order;
mod region;

use std::thread;

use warpaint::device::{Arguments, Device, Error, Fill, Function, LaunchConfig, Memory, Stream};

use crate::support::nvidia;

/// `scale`: x[i] *= factor for i < n. `tick`: adds 1 to `counter`. `sum`: of 64 threads by a barrier.
const KERNELS: &str = r#"
.version 7.0
.target sm_80
.address_size 64

.visible .global .align 4 .u32 counter = 40;
.visible .const .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 0, 0, 0};

.visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 factor)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [factor];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f2, [%rd3];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd3], %f3;
DONE:
    ret;
}

.visible .entry tick()
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    mov.u64 %rd1, counter;
    atom.global.add.u32 %r1, [%rd1], 1;
    ret;
}

.visible .entry sum(.param .u64 x) .maxntid 64, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 all[256];
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, all;
    shl.b32 %r3, %r1, 2;
    add.s32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
    mov.u32 %r5, 32;
LOOP:
    bar.sync 0;
    setp.ge.u32 %p1, %r1, %r5;
    @%p1 bra NEXT;
    shl.b32 %r6, %r5, 2;
    add.s32 %r6, %r4, %r6;
    ld.shared.u32 %r6, [%r6];
    ld.shared.u32 %r7, [%r4];
    add.s32 %r7, %r7, %r6;
    st.shared.u32 [%r4], %r7;
NEXT:
    shr.u32 %r5, %r5, 1;
    setp.ne.u32 %p2, %r5, 0;
    @%p2 bra LOOP;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra OUT;
    ld.shared.u32 %r7, [all];
    st.global.u32 [%rd1], %r7;
OUT:
    ret;
}
"#;

fn launch(stream: &Stream, f: &Function, config: LaunchConfig, a: &Arguments) -> Result<(), Error> {
    super::support::launch(stream, f, &config, a)
}

fn scale_arguments(memory: &Memory, n: u32, factor: f32) -> Arguments {
    let mut arguments = Arguments::new();
    arguments.push(&memory.address()).push(&n).push(&factor);
    arguments
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn memory_is_copied_and_filled(device: &Device) {
    let stream = device.stream().unwrap();
    let memory = device.alloc(1000).unwrap();
    assert_eq!((memory.bytes(), memory.address() % 256), (1000, 0));
    assert_eq!(memory.device_id(), device.id());
    stream.fill(memory.slice(..).unwrap(), Fill::U8(7)).unwrap();
    stream.fill(memory.slice(4..12).unwrap(), Fill::U32(0x0403_0201)).unwrap();
    stream.fill(memory.slice(998..).unwrap(), Fill::U16(0xbbaa)).unwrap();
    let other = device.alloc(1000).unwrap();
    stream.copy(other.slice(..).unwrap(), memory.slice(..).unwrap()).unwrap();
    stream.upload(other.slice(0..3).unwrap(), &[9, 8, 7]).unwrap();
    let found = stream.download(other.slice(..).unwrap()).unwrap().wait().unwrap();
    assert_eq!(found[..14], [9, 8, 7, 7, 1, 2, 3, 4, 1, 2, 3, 4, 7, 7]);
    assert_eq!(found[996..], [7, 7, 0xaa, 0xbb]);
}

fn empty_memory_is_memory(device: &Device) {
    let memory = device.alloc(0).unwrap();
    let stream = device.stream().unwrap();
    assert_eq!(memory.bytes(), 0);
    stream.upload(memory.slice(..).unwrap(), &[]).unwrap();
    assert_eq!(stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap(), [0u8; 0]);
}

fn ranges_are_checked(device: &Device) {
    let stream = device.stream().unwrap();
    let memory = device.alloc(16).unwrap();
    assert!(matches!(memory.slice(8..17), Err(Error::OutOfRange { end: 17, bytes: 16, .. })));
    let slice = memory.slice(..).unwrap();
    assert!(matches!(stream.upload(slice, &[0; 15]), Err(Error::OutOfRange { .. })));
    let odd = memory.slice(1..5).unwrap();
    assert!(matches!(stream.fill(odd, Fill::U32(0)), Err(Error::Misaligned { width: 4, .. })));
}

fn too_much_memory_is_an_error(device: &Device) {
    let total = device.memory_info().unwrap().total;
    match device.alloc(total as usize * 4) {
        Err(Error::OutOfMemory { requested, .. }) => assert_eq!(requested, total * 4),
        other => panic!("{other:?}"),
    }
}

fn devices_do_not_mix(device: &Device) {
    let other = Device::cpu().unwrap();
    let memory = device.alloc(4).unwrap();
    let stream = other.stream().unwrap();
    let wrong = |result: Result<(), Error>| {
        assert!(matches!(result, Err(Error::WrongDevice { .. })), "{result:?}");
    };
    wrong(stream.upload(memory.slice(..).unwrap(), &[0; 4]));
    wrong(stream.record(&device.event().unwrap()));
    wrong(stream.wait(&device.event().unwrap()));
    let function = device.load(KERNELS).unwrap().function("tick").unwrap();
    wrong(launch(&stream, &function, LaunchConfig::new(1, 1), &Arguments::new()));
    let (a, b) = (device.event().unwrap(), other.event().unwrap());
    wrong(a.elapsed_ms(&b).map(drop));
}

fn a_kernel_runs(device: &Device) {
    let stream = device.stream().unwrap();
    let function = device.load(KERNELS).unwrap().function("scale").unwrap();
    let values: Vec<f32> = (0..1000u16).map(f32::from).collect();
    let memory = device.alloc(4000).unwrap();
    stream.upload(memory.slice(..).unwrap(), &bytes(&values)).unwrap();
    let arguments = scale_arguments(&memory, 999, 2.0);
    launch(&stream, &function, LaunchConfig::over(1000, 128), &arguments).unwrap();
    launch(&stream, &function, LaunchConfig::over(1000, 100), &arguments).unwrap();
    let found = floats(&stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap());
    for (i, (found, value)) in found.iter().zip(values).enumerate() {
        let factor = if i < 999 { 4.0 } else { 1.0 };
        assert_eq!(*found, value * factor, "element {i}");
    }
}

fn threads_of_a_block_work_together(device: &Device) {
    let stream = device.stream().unwrap();
    let function = device.load(KERNELS).unwrap().function("sum").unwrap();
    let info = function.info();
    assert_eq!((info.max_threads, info.shared_bytes), (64, 256));
    let memory = device.alloc(4).unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&memory.address());
    launch(&stream, &function, LaunchConfig::new(1, 64), &arguments).unwrap();
    let found = stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    assert_eq!(found, 2016u32.to_le_bytes());
}

fn shapes_are_checked(device: &Device) {
    let stream = device.stream().unwrap();
    let module = device.load(KERNELS).unwrap();
    let limits = |name: &str, config: LaunchConfig| {
        let function = module.function(name).unwrap();
        let mut arguments = Arguments::new();
        if name == "sum" {
            arguments.push(&0u64);
        }
        match launch(&stream, &function, config, &arguments) {
            Err(Error::InvalidLaunch { limit, .. }) => limit,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(limits("tick", LaunchConfig::new(1, 2048)), "threads in a block");
    assert_eq!(limits("tick", LaunchConfig::new(1, 0)), "threads in a block");
    assert_eq!(limits("tick", LaunchConfig::new(0, 1)), "blocks of the grid in x");
    assert_eq!(limits("tick", LaunchConfig::new([1, 70000], 1)), "blocks of the grid in y");
    assert_eq!(limits("tick", LaunchConfig::new(1, [1, 1, 128])), "threads of a block in z");
    assert_eq!(limits("sum", LaunchConfig::new(1, 65)), "threads in a block");
    let config = LaunchConfig { shared_bytes: 1 << 20, ..LaunchConfig::new(1, 1) };
    assert_eq!(limits("tick", config), "bytes of shared memory");
}

fn arguments_are_checked(device: &Device) {
    let stream = device.stream().unwrap();
    let function = device.load(KERNELS).unwrap().function("scale").unwrap();
    let offsets: Vec<_> = function.info().parameters.iter().map(|p| (p.offset, p.bytes)).collect();
    assert_eq!(offsets, [(0, 8), (8, 4), (12, 4)]);
    let mut short = Arguments::new();
    short.push(&0u64).push(&1u32);
    let mut wrong = Arguments::new();
    wrong.push(&0u64).push(&1u64).push(&1f32);
    for (arguments, index) in [(short, None), (wrong, Some(1))] {
        match launch(&stream, &function, LaunchConfig::new(1, 1), &arguments) {
            Err(Error::WrongArguments { expected: 3, mismatch, .. }) => {
                assert_eq!(mismatch.map(|m| m.0), index);
            }
            other => panic!("{other:?}"),
        }
    }
}

fn names_are_checked(device: &Device) {
    let module = device.load(KERNELS).unwrap();
    let missing = module.function("scales").unwrap_err();
    assert!(matches!(missing, Error::NoSuchFunction { ref name, .. } if name == "scales"));
    let missing = module.global("nothing").unwrap_err();
    assert!(matches!(missing, Error::NoSuchGlobal { .. }));
    assert!(matches!(device.load("this is no PTX"), Err(Error::Load { .. })));
}

fn variables_are_initialised_and_shared(device: &Device) {
    let stream = device.stream().unwrap();
    let module = device.load(KERNELS).unwrap();
    let counter = module.global("counter").unwrap();
    assert_eq!(counter.bytes(), 4);
    let table = module.global("table").unwrap();
    let found = stream.download(table).unwrap().wait().unwrap();
    assert_eq!(found, [1, 0, 0, 0, 2, 0, 0, 0]);
    let tick = module.function("tick").unwrap();
    for grid in [1, 500] {
        launch(&stream, &tick, LaunchConfig::new(grid, 32), &Arguments::new()).unwrap();
    }
    let found = stream.download(counter).unwrap().wait().unwrap();
    assert_eq!(u32::from_le_bytes(found.try_into().unwrap()), 40 + 32 + 500 * 32);
    stream.upload(counter, &[0; 4]).unwrap();
    let other = device.load(KERNELS).unwrap();
    let found = stream.download(other.global("counter").unwrap()).unwrap().wait().unwrap();
    assert_eq!(found, 40u32.to_le_bytes(), "modules have variables of their own");
}

fn functions_outlive_their_module(device: &Device) {
    let function = device.load(KERNELS).unwrap().function("sum").unwrap();
    let memory = device.alloc(4).unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&memory.address());
    let stream = device.stream().unwrap();
    launch(&stream, &function, LaunchConfig::new(1, 64), &arguments).unwrap();
    drop(function);
    stream.synchronize().unwrap();
}

fn streams_keep_order(device: &Device) {
    let stream = device.stream().unwrap();
    let function = device.load(KERNELS).unwrap().function("scale").unwrap();
    let memory = device.alloc(4 * 1024).unwrap();
    stream.upload(memory.slice(..).unwrap(), &bytes(&[1.0; 1024])).unwrap();
    for _ in 0..60 {
        launch(
            &stream,
            &function,
            LaunchConfig::over(1024, 64),
            &scale_arguments(&memory, 1024, 2.0),
        )
        .unwrap();
        launch(
            &stream,
            &function,
            LaunchConfig::over(1024, 256),
            &scale_arguments(&memory, 1024, 0.5),
        )
        .unwrap();
    }
    stream.fill(memory.slice(0..4).unwrap(), Fill::U32(0)).unwrap();
    let found = floats(&stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap());
    assert_eq!(found[0], 0.0);
    assert!(found[1..].iter().all(|v| *v == 1.0));
}

fn events_order_streams(device: &Device) {
    let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
    let function = device.load(KERNELS).unwrap().function("scale").unwrap();
    let n = 1u32 << 16;
    let memory = device.alloc(4 * n as usize).unwrap();
    for round in 0..10 {
        let event = device.event().unwrap();
        first.upload(memory.slice(..).unwrap(), &bytes(&vec![1.0; n as usize])).unwrap();
        let arguments = scale_arguments(&memory, n, 3.0);
        launch(&first, &function, LaunchConfig::over(n as usize, 64), &arguments).unwrap();
        first.record(&event).unwrap();
        second.wait(&event).unwrap();
        launch(&second, &function, LaunchConfig::over(n as usize, 64), &arguments).unwrap();
        let found = floats(&second.download(memory.slice(..).unwrap()).unwrap().wait().unwrap());
        assert!(found.iter().all(|v| *v == 9.0), "round {round}");
    }
}

fn events_tell_times(device: &Device) {
    let stream = device.stream().unwrap();
    let [start, end, never] = [(); 3].map(|()| device.event().unwrap());
    assert!(never.is_reached().unwrap(), "one never recorded counts as reached");
    assert!(matches!(end.elapsed_ms(&never), Err(Error::NotReached)));
    let memory = device.alloc(64 << 20).unwrap();
    stream.record(&start).unwrap();
    stream.fill(memory.slice(..).unwrap(), Fill::U8(1)).unwrap();
    stream.record(&end).unwrap();
    end.synchronize().unwrap();
    assert!(end.is_reached().unwrap());
    let ms = end.elapsed_ms(&start).unwrap();
    assert!(ms > 0.0 && ms < 10_000.0, "{ms} ms");
    assert!(stream.is_idle().unwrap() || stream.synchronize().is_ok());
}

fn handles_are_dropped_anywhere_in_any_order(device: &Device) {
    let stream = device.stream().unwrap();
    let module = device.load(KERNELS).unwrap();
    let function = module.function("scale").unwrap();
    let memory = device.alloc(4 << 16).unwrap();
    let arguments = scale_arguments(&memory, 1 << 16, 1.5);
    launch(&stream, &function, LaunchConfig::over(1 << 16, 128), &arguments).unwrap();
    let event = device.event().unwrap();
    stream.record(&event).unwrap();
    let readback = stream.download(memory.slice(0..4).unwrap()).unwrap();
    drop(module);
    let dropping = [
        thread::spawn(move || drop(memory)),
        thread::spawn(move || drop(stream)),
        thread::spawn(move || drop(function)),
        thread::spawn(move || drop(event)),
        thread::spawn(move || drop(readback.wait())),
    ];
    for thread in dropping {
        thread.join().unwrap();
    }
    device.synchronize().unwrap();
}

/// A sentence and the function that checks it.
type Clause = (&'static str, fn(&Device));

/// The contract: every function holds on every device.
const CONTRACT: &[Clause] = &[
    ("memory is copied and filled", memory_is_copied_and_filled),
    ("empty memory is memory", empty_memory_is_memory),
    ("ranges are checked", ranges_are_checked),
    ("too much memory is an error", too_much_memory_is_an_error),
    ("devices do not mix", devices_do_not_mix),
    ("a kernel runs", a_kernel_runs),
    ("threads of a block work together", threads_of_a_block_work_together),
    ("shapes are checked", shapes_are_checked),
    ("arguments are checked", arguments_are_checked),
    ("names are checked", names_are_checked),
    ("variables are initialised and shared", variables_are_initialised_and_shared),
    ("functions outlive their module", functions_outlive_their_module),
    ("streams keep order", streams_keep_order),
    ("events order streams", events_order_streams),
    ("events tell times", events_tell_times),
    ("handles are dropped anywhere", handles_are_dropped_anywhere_in_any_order),
];

fn hold(device: &Device) {
    for (name, holds) in
        [CONTRACT, host::CLAUSES, order::CLAUSES, region::CLAUSES].into_iter().flatten()
    {
        eprintln!("{}: {name}", device.info());
        holds(device);
    }
}

#[test]
fn the_cpu_device_keeps_the_contract() {
    hold(&Device::cpu().unwrap());
}

#[test]
fn nvidia_keeps_the_contract() {
    if let Some(device) = nvidia() {
        hold(&device);
    }
}

#[test]
fn devices_come_and_go() {
    for _ in 0..20 {
        let device = Device::cpu().unwrap();
        let memory = device.alloc(100).unwrap();
        let stream = device.stream().unwrap();
        drop(device);
        stream.fill(memory.slice(..).unwrap(), Fill::U8(3)).unwrap();
        drop(stream);
        drop(memory);
    }
}

#[test]
fn the_interpreter_keeps_the_contract() {
    super::support::on_the_interpreter(&[("the contract", the_cpu_device_keeps_the_contract)]);
}
