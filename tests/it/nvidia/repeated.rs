//! Kernels that are launched again and again, which are graphs to the driver.

use std::ptr;

use cudarc::driver::sys;
use warpaint::device::{Arguments, Device, Function, LaunchConfig, Limit, Stream, StreamOptions};

use super::{calls, device, function};
use crate::support::{LIMITS, alone, expect_pass};

/// Writes `value` to `to`.
const PUT: &str = "
.version 7.0
.target sm_75
.address_size 64

.visible .entry put(.param .u64 to, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

/// Enough launches in a row that there is a graph.
const OFTEN: u32 = 20;

fn put(device: &Device) -> Function {
    device.load(PUT).unwrap().function("put").unwrap()
}

/// Lets `kernel` write `value` to an address, in a grid of `blocks`.
fn launch(stream: &Stream, kernel: &Function, address: u64, value: u32, blocks: u32) {
    let mut arguments = Arguments::new();
    arguments.push(&address).push(&value);
    // SAFETY: the tests give addresses of memory that lives until they have waited.
    unsafe { stream.launch(kernel, &LaunchConfig::new(blocks, 32), &arguments) }.unwrap();
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytemuck::pod_collect_to_vec(bytes)
}

#[test]
fn each_of_many_launches_has_its_own_arguments_and_shape() {
    let Some(device) = device() else { return };
    let (kernel, count) = (put(&device), 20_000);
    let streams = [(); 2].map(|()| device.stream().unwrap());
    let memory = device.alloc(4 * count as usize).unwrap();
    // First on one stream, then on the other, then in turn.
    let stream = |i| match i {
        0..5_000 => &streams[0],
        5_000..10_000 => &streams[1],
        _ => &streams[i as usize % 2],
    };
    let mut made = calls(|| {
        for i in 0..count {
            launch(stream(i), &kernel, memory.address() + 4 * u64::from(i), i * 7 + 1, i % 3 + 1);
        }
    });
    streams.iter().for_each(|stream| stream.synchronize().unwrap());
    let read = streams[0].download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    assert!(numbers(&read).into_iter().eq((0..count).map(|i| i * 7 + 1)));
    made.retain(|call| call.contains("Launch"));
    let graphs = made.iter().filter(|call| *call == "cuGraphLaunch").count();
    assert_eq!(made.len(), count as usize);
    // Nearly all of those that follow each other on one stream.
    assert!(graphs > 9_900, "{graphs} of the driver's launches are graphs'");
}

#[test]
fn what_does_not_change_is_launched_as_it_is() {
    let Some(device) = device() else { return };
    let _stay = LIMITS.read();
    let (stream, kernel) = (device.stream().unwrap(), put(&device));
    let memory = device.alloc(4).unwrap();
    let again =
        |value| (0..OFTEN).for_each(|_| launch(&stream, &kernel, memory.address(), value, 1));
    again(1);
    let same = calls(|| again(1));
    assert_eq!(same.iter().filter(|call| *call == "cuGraphLaunch").count(), OFTEN as usize);
    assert!(same.iter().all(|call| !call.contains("SetParams")), "{same:?}");
    let other = calls(|| again(2));
    let count = |name: &str| other.iter().filter(|call| *call == name).count();
    let (set, made) =
        (count("cuGraphExecKernelNodeSetParams"), count("cuGraphInstantiateWithFlags"));
    assert_eq!((set, made), (1, 0), "{other:?}");
    let read = stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    assert_eq!(numbers(&read), [2]);
}

#[test]
fn shared_memory_limits_and_preferences_may_change_later() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let (shared, kernel) = (function(&device, "last_shared"), put(&device));
    let out = device.alloc(4).unwrap();
    let read = || numbers(&stream.download(out.slice(..).unwrap()).unwrap().wait().unwrap());
    for bytes in [1024, 48 << 10, device.info().max_shared_bytes, 1024] {
        for _ in 0..OFTEN {
            let config = LaunchConfig { shared_bytes: bytes, ..LaunchConfig::new(1, 1) };
            let mut arguments = Arguments::new();
            arguments.push(&out.address()).push(&bytes);
            // SAFETY: the kernel writes four bytes of `out`.
            unsafe { stream.launch(&shared, &config, &arguments) }.unwrap();
        }
        assert_eq!(read(), [bytes]);
    }
    let put = |value| (0..OFTEN).for_each(|_| launch(&stream, &kernel, out.address(), value, 1));
    put(1);
    let _changed = LIMITS.write();
    let stack = device.limit(Limit::StackBytes).unwrap().unwrap();
    device.set_limit(Limit::StackBytes, stack + 4096).unwrap();
    let remade = calls(|| put(2));
    device.set_limit(Limit::StackBytes, stack).unwrap();
    assert!(remade.iter().any(|call| call == "cuGraphInstantiateWithFlags"), "{remade:?}");
    assert_eq!(read(), [2]);
    kernel.prefer_shared_memory(Some(100)).unwrap();
    put(3);
    assert_eq!(read(), [3]);
}

#[test]
fn kernels_end_while_their_graphs_run() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let out = device.alloc(4 * 30).unwrap();
    for round in 0..30 {
        let (spin, kernel) = (function(&device, "spin"), put(&device));
        let mut cycles = Arguments::new();
        cycles.push(&200_000_u64);
        for _ in 0..OFTEN {
            // SAFETY: the kernel touches no memory.
            unsafe { stream.launch(&spin, &LaunchConfig::new(1, 1), &cycles) }.unwrap();
            launch(&stream, &kernel, out.address() + 4 * u64::from(round), round, 1);
        }
        std::thread::spawn(move || drop((spin, kernel))).join().unwrap();
    }
    let read = stream.download(out.slice(..).unwrap()).unwrap().wait().unwrap();
    assert!(numbers(&read).into_iter().eq(0..30));
}

#[test]
fn there_may_be_more_kernels_than_graphs() {
    let Some(device) = device() else { return };
    // The kernels of others lose theirs.
    let _alone = LIMITS.write();
    let stream = device.stream().unwrap();
    let (module, out) = (device.load(PUT).unwrap(), device.alloc(4 * 600).unwrap());
    let kernels: Vec<_> = (0..600).map(|_| module.function("put").unwrap()).collect();
    for _ in 0..OFTEN {
        for (kernel, number) in kernels.iter().zip(0..) {
            launch(&stream, kernel, out.address() + 4 * u64::from(number), number, 1);
        }
    }
    let read = stream.download(out.slice(..).unwrap()).unwrap().wait().unwrap();
    assert!(numbers(&read).into_iter().eq(0..600));
}

#[test]
fn threads_launch_one_kernel_on_streams_of_their_own() {
    let Some(device) = device() else { return };
    let (kernel, count) = (put(&device), 2_000);
    let memory = device.alloc(4 * 4 * count as usize).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (device, kernel, start) = (&device, &kernel, thread * count);
            let address = memory.address() + 4 * u64::from(start);
            scope.spawn(move || {
                let stream = device.stream_with(StreamOptions::default()).unwrap();
                for i in 0..count {
                    launch(&stream, kernel, address + 4 * u64::from(i), start + i, 1);
                }
                stream.synchronize().unwrap();
            });
        }
    });
    let stream = device.stream().unwrap();
    let read = stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
    assert!(numbers(&read).into_iter().eq(0..4 * count));
}

/// What other libraries do to a context must not break its graphs. Between their calls and ours it could break those of
/// other tests: hence processes of their own.
#[test]
fn other_libraries_use_the_context() {
    if device().is_some() {
        expect_pass(&mut alone("nvidia::repeated::what_is_recorded_are_kernels"));
        expect_pass(&mut alone("nvidia::repeated::a_stack_of_another_size"));
    }
}

/// Others may record what is put on a stream as a graph of theirs.
#[test]
#[ignore = "run by other_libraries_use_the_context, in a process of its own"]
#[expect(clippy::multiple_unsafe_ops_per_block, reason = "one driver's calls, one reason")]
fn what_is_recorded_are_kernels() {
    let Some(device) = device() else { return };
    let (stream, kernel) = (device.stream().unwrap(), put(&device));
    let out = device.alloc(4).unwrap();
    let again = || (0..OFTEN).for_each(|i| launch(&stream, &kernel, out.address(), i, 1));
    again();
    let Stream::Nvidia(ours) = &stream else { unreachable!() };
    let raw = ptr::without_provenance_mut(ours.handle() as usize);
    let (mut graph, mut nodes) = (ptr::null_mut(), 0);
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the stream is alive.
    unsafe { sys::cuStreamBeginCapture_v2(raw, mode) }.result().unwrap();
    again();
    // SAFETY: the stream is alive, and the graph is written before the calls that read it.
    let ended = unsafe {
        [
            sys::cuStreamEndCapture(raw, &raw mut graph),
            sys::cuGraphGetNodes(graph, ptr::null_mut(), &raw mut nodes),
            sys::cuGraphDestroy(graph),
        ]
    };
    ended.into_iter().for_each(|status| status.result().unwrap());
    assert_eq!(nodes, OFTEN as usize);
    again();
    let read = stream.download(out.slice(..).unwrap()).unwrap().wait().unwrap();
    assert_eq!(numbers(&read), [OFTEN - 1]);
}

/// A graph that was made for another size of the stack would make the context unusable.
#[test]
#[ignore = "run by other_libraries_use_the_context, in a process of its own"]
fn a_stack_of_another_size() {
    let Some(device) = device() else { return };
    let (stream, kernel) = (device.stream().unwrap(), put(&device));
    let out = device.alloc(4).unwrap();
    let stack = device.limit(Limit::StackBytes).unwrap().unwrap();
    for (value, more) in (0..).zip([0, 4096, 512, 100_000, 0]) {
        // SAFETY: takes numbers alone; the context is current since the calls before.
        let set = unsafe { sys::cuCtxSetLimit(sys::CUlimit::CU_LIMIT_STACK_SIZE, stack + more) };
        set.result().unwrap();
        (0..OFTEN).for_each(|_| launch(&stream, &kernel, out.address(), value, 1));
        let read = stream.download(out.slice(..).unwrap()).unwrap().wait().unwrap();
        assert_eq!(numbers(&read), [value]);
    }
}
