//! What the CPU device promises beyond the common contract: a kernel that does wrong is stopped with its place,
//! the wrong access does not happen, and the device goes on working.

use std::{
    thread,
    time::{Duration, Instant},
};

use warpaint::device::{
    Arguments, Device, Dim3, Error, Fault, FaultKind, Function, LaunchConfig, Memory, Stream,
    cpu::LaunchOptions,
};

use super::support::launch_with;

const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.file 1 \"bad.cu\"\n";

/// A kernel `bad(.param .u64 x)` in which `%rd1` is `x` and `%r1` the thread's index in the grid.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}
.visible .entry bad(.param .u64 x)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .loc 1 3 1
    ld.param.u64 %rd1, [x];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r1, %r2, %r3, %r4;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
{body}
    ret;
}}
"
    )
}

struct Bench {
    device: Device,
    stream: Stream,
    memory: Memory,
}

impl Bench {
    fn new(bytes: usize) -> Self {
        let device = Device::cpu().unwrap();
        let stream = device.stream().unwrap();
        let memory = device.alloc(bytes).unwrap();
        stream.fill(memory.slice(..).unwrap(), warpaint::device::Fill::U8(0)).unwrap();
        Self { device, stream, memory }
    }

    fn function(&self, ptx: &str) -> Function {
        self.device.load(ptx).unwrap_or_else(|e| panic!("{e}")).function("bad").unwrap()
    }

    fn launch(&self, function: &Function, config: LaunchConfig, address: u64) {
        let mut arguments = Arguments::new();
        arguments.push(&address);
        super::support::launch(&self.stream, function, &config, &arguments).unwrap();
    }

    fn fault(&self, body: &str, config: LaunchConfig) -> Fault {
        let function = self.function(&kernel(body));
        self.launch(&function, config, self.memory.address());
        let fault = fault(self.stream.synchronize());
        self.stream.synchronize().expect("a fault is reported once");
        self.still_works();
        fault
    }

    /// A good kernel runs after a bad one.
    fn still_works(&self) {
        let function = self.function(&kernel("st.global.u32 [%rd1], 77;"));
        self.launch(&function, LaunchConfig::new(1, 1), self.memory.address());
        let found = self.stream.download(self.memory.slice(0..4).unwrap()).unwrap().wait().unwrap();
        assert_eq!(found, 77u32.to_le_bytes());
    }
}

fn fault(result: Result<(), Error>) -> Fault {
    match result {
        Err(Error::Fault(fault)) => *fault,
        other => panic!("{other:?} where a fault was due"),
    }
}

fn line(fault: &Fault) -> (String, u32) {
    let place = fault.location.clone().unwrap();
    (place.file, place.line)
}

fn at(x: u32) -> Dim3 {
    Dim3 { x, y: 1, z: 1 }
}

fn index(x: u32) -> Dim3 {
    Dim3 { x, y: 0, z: 0 }
}

#[test]
fn a_store_past_the_exact_end_does_not_happen() {
    // 101 words: the 102nd thread, thread 37 of block 1, stores past the end, in the same page and chunk.
    let bench = Bench::new(404);
    let body = ".loc 1 9 5\n st.global.u32 [%rd3], 5;";
    let found = bench.fault(body, LaunchConfig::new(at(2), at(64)));
    assert_eq!(found.kind, FaultKind::InvalidWrite);
    assert_eq!(line(&found), ("bad.cu".into(), 9));
    assert_eq!((found.block, found.thread), (index(1), index(37)));
    assert_eq!(found.access, Some((bench.memory.address() + 404, 4)));
    assert_eq!(found.space, Some("global"));
    let nearest = found.nearest.unwrap();
    assert_eq!((nearest.address, nearest.bytes), (bench.memory.address(), 404));
    assert!(found.to_string().starts_with("bad.cu:9:5: fault: kernel `bad`: write outside"));
}

/// Allocations of whole chunks do not touch each other, either.
#[test]
fn a_store_just_past_the_end_is_not_one_to_the_next_allocation() {
    let bench = Bench::new(1 << 16);
    let next = bench.device.alloc(1 << 16).unwrap();
    for offset in [0, 32_000] {
        let body = format!("st.global.u32 [%rd1+{}], 5;", (1 << 16) + offset);
        let found = bench.fault(&body, LaunchConfig::new(1, 1));
        assert_eq!(found.kind, FaultKind::InvalidWrite);
        assert_eq!(found.nearest.unwrap().address, bench.memory.address(), "{next:?}");
    }
}

#[test]
fn an_access_that_only_begins_inside_faults() {
    let bench = Bench::new(12);
    let found = bench.fault("ld.global.u64 %rd4, [%rd1+8];", LaunchConfig::new(1, 1));
    assert_eq!(found.kind, FaultKind::InvalidRead);
    let found =
        bench.fault("ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1];", LaunchConfig::new(1, 1));
    assert_eq!(found.access, Some((bench.memory.address(), 16)));
}

#[test]
fn null_and_wild_pointers_fault() {
    let bench = Bench::new(64);
    for address in ["0", "8", "-8", "0x7fffffffffff0000", "0x4141414141414140"] {
        let body = format!(
            "mov.u64 %rd4, {address};\n ld.global.u64 %rd5, [%rd4];\n st.global.u64 [%rd1], %rd5;"
        );
        let found = bench.fault(&body, LaunchConfig::new(1, 1));
        assert_eq!(found.kind, FaultKind::InvalidRead, "{address}");
        let body = format!("mov.u64 %rd4, {address};\n st.u32 [%rd4], 1;");
        assert_eq!(bench.fault(&body, LaunchConfig::new(1, 1)).kind, FaultKind::InvalidWrite);
    }
}

#[test]
fn a_misaligned_access_faults() {
    let bench = Bench::new(64);
    let found =
        bench.fault("add.s64 %rd4, %rd1, 2;\n st.global.u32 [%rd4], 1;", LaunchConfig::new(1, 1));
    assert_eq!(found.kind, FaultKind::Misaligned);
    let found = bench.fault("ld.global.v2.u32 {%r5, %r6}, [%rd1+4];", LaunchConfig::new(1, 1));
    assert_eq!(found.kind, FaultKind::Misaligned);
}

#[test]
fn freed_memory_faults() {
    let bench = Bench::new(64);
    let freed = bench.device.alloc(4096).unwrap();
    let address = freed.address();
    drop(freed);
    let function =
        bench.function(&kernel("ld.global.u32 %r5, [%rd1];\n st.global.u32 [%rd1], %r5;"));
    bench.launch(&function, LaunchConfig::new(1, 1), address);
    assert_eq!(fault(bench.stream.synchronize()).kind, FaultKind::InvalidRead);
    bench.still_works();
}

#[test]
fn shared_memory_ends_where_the_launch_says() {
    let bench = Bench::new(64);
    let body = ".shared .align 4 .b8 s[64];\n mov.u32 %r5, s;\n mul.lo.s32 %r6, %r1, 4;\n
        add.s32 %r5, %r5, %r6;\n .loc 1 12 1\n st.shared.u32 [%r5], 1;";
    let found = bench.fault(body, LaunchConfig::new(1, 32));
    assert_eq!((found.kind.clone(), found.space), (FaultKind::InvalidWrite, Some("shared")));
    assert_eq!((found.thread, found.access), (index(16), Some((64, 4))));
    let more = LaunchConfig { shared_bytes: 64, ..LaunchConfig::new(1, 32) };
    let function = bench.function(&kernel(body));
    bench.launch(&function, more, bench.memory.address());
    bench.stream.synchronize().unwrap();
}

#[test]
fn local_arrays_end() {
    let bench = Bench::new(64);
    let body = ".local .align 8 .b8 depot[32];\n mov.u64 %rd4, depot;\n add.s64 %rd5, %rd4, %rd2;\n
        st.local.u32 [%rd5], 1;";
    let found = bench.fault(body, LaunchConfig::new(1, 32));
    assert_eq!((found.kind.clone(), found.space), (FaultKind::InvalidWrite, Some("local")));
    assert_eq!(found.thread, index(8));
}

#[test]
fn constants_are_read_only() {
    let bench = Bench::new(64);
    let ptx = kernel("mov.u64 %rd4, table;\n st.global.u32 [%rd4], 1;").replace(
        ".visible .entry",
        ".const .align 4 .b8 table[4] = {1, 2, 3, 4};\n.visible .entry",
    );
    let function = bench.function(&ptx);
    bench.launch(&function, LaunchConfig::new(1, 1), 0);
    assert_eq!(fault(bench.stream.synchronize()).kind, FaultKind::InvalidWrite);
}

#[test]
fn trap_says_where() {
    let bench = Bench::new(64);
    let body = "setp.ne.u32 %p1, %r1, 70;\n @%p1 ret;\n .loc 1 20 7\n trap;";
    let found = bench.fault(body, LaunchConfig::new(2, 64));
    assert_eq!((found.kind.clone(), line(&found).1), (FaultKind::Trap, 20));
    assert_eq!((found.block, found.thread), (index(1), index(6)));
}

#[test]
fn an_endless_loop_is_cancelled() {
    let bench = Bench::new(64);
    let body = "AGAIN:\n .loc 1 11 3\n ld.global.u32 %r5, [%rd1];\n setp.eq.u32 %p1, %r5, 0;\n @%p1 bra AGAIN;";
    let function = bench.function(&kernel(body));
    for config in [LaunchConfig::new(1, 1), LaunchConfig::new(64, 128)] {
        // The best of some, since the host has other work, too, which is done before that of device threads.
        let in_time = (0..30).any(|_| {
            bench.launch(&function, config, bench.memory.address());
            let stream = bench.stream.clone();
            let canceller = thread::spawn(move || {
                thread::sleep(Duration::from_millis(60));
                stream.cancel().unwrap();
                Instant::now()
            });
            let found = fault(bench.stream.synchronize());
            let late = canceller.join().unwrap().elapsed();
            assert_eq!(found.kind, FaultKind::Cancelled);
            assert!(found.block.x < config.grid.x && found.thread.x < config.block.x);
            // Before it has begun it is stopped at its first line.
            late < Duration::from_millis(50) && line(&found) == ("bad.cu".into(), 11)
        });
        assert!(in_time, "{config}");
    }
    bench.still_works();
}

#[test]
fn a_loop_without_memory_is_cancelled() {
    let bench = Bench::new(64);
    let function =
        bench.function(&kernel("AGAIN:\n .loc 1 8 3\n add.s32 %r1, %r1, 1;\n bra AGAIN;"));
    bench.launch(&function, LaunchConfig::new(3, 32), 0);
    thread::sleep(Duration::from_millis(20));
    bench.stream.cancel().unwrap();
    assert_eq!(fault(bench.stream.synchronize()).kind, FaultKind::Cancelled);
}

#[test]
fn a_loop_of_barriers_is_cancelled() {
    let bench = Bench::new(64);
    let function = bench.function(&kernel("AGAIN:\n .loc 1 8 3\n bar.sync 0;\n bra AGAIN;"));
    let in_the_loop = (0..30).any(|_| {
        bench.launch(&function, LaunchConfig::new(3, 32), 0);
        thread::sleep(Duration::from_millis(20));
        bench.stream.cancel().unwrap();
        let found = fault(bench.stream.synchronize());
        assert_eq!(found.kind, FaultKind::Cancelled);
        line(&found).1 == 8
    });
    assert!(in_the_loop);
}

#[test]
fn launches_behind_a_cancelled_one_are_cancelled_too_but_not_later_ones() {
    let bench = Bench::new(64);
    let endless = bench.function(&kernel("AGAIN:\n bra AGAIN;"));
    let good = bench.function(&kernel("st.global.u32 [%rd1], 1;"));
    bench.launch(&endless, LaunchConfig::new(1, 1), 0);
    bench.launch(&good, LaunchConfig::new(1, 1), bench.memory.address());
    thread::sleep(Duration::from_millis(20));
    bench.stream.cancel().unwrap();
    assert_eq!(fault(bench.stream.synchronize()).kind, FaultKind::Cancelled);
    let found = bench.stream.download(bench.memory.slice(0..4).unwrap()).unwrap().wait().unwrap();
    assert_eq!(found, [0; 4]);
    bench.still_works();
}

#[test]
fn barriers_that_never_complete_are_a_deadlock() {
    let bench = Bench::new(64);
    let body = "setp.lt.u32 %p1, %r1, 16;\n @%p1 bra LOW;\n .loc 1 30 1\n bar.sync 1;\n bra OUT;\n
        LOW:\n .loc 1 32 1\n bar.sync 2;\n OUT:";
    let found = bench.fault(body, LaunchConfig::new(1, 32));
    assert_eq!(found.kind, FaultKind::Deadlock);
    assert!([30, 32].contains(&line(&found).1));
}

#[test]
fn a_warp_operation_that_lanes_never_reach_is_a_fault() {
    let bench = Bench::new(64);
    let body = "setp.lt.u32 %p1, %r1, 16;\n @%p1 bra LOW;\n .loc 1 30 1\n
        shfl.sync.down.b32 %r5, %r1, 1, 31, -1;\n bra OUT;\n LOW:\n .loc 1 32 1\n bar.sync 0;\n OUT:";
    let found = bench.fault(body, LaunchConfig::new(1, 32));
    assert_eq!((found.kind.clone(), line(&found).1), (FaultKind::Divergence, 30));
}

/// What a lane gets that its own mask leaves out is undefined: the checker's engine is as strict as the compiled code.
#[test]
fn a_lane_that_its_own_mask_leaves_out_is_a_fault() {
    for operation in [
        "shfl.sync.idx.b32 %r5, %r1, 0, 31, 1;",
        "vote.sync.ballot.b32 %r5, %p0, 0xaaaaaaaa;",
        "redux.sync.add.u32 %r5, %r1, 1;",
        "bar.warp.sync 1;",
    ] {
        let bench = Bench::new(64);
        let ptx = kernel(&format!(".loc 1 30 1\n {operation}"));
        for options in [LaunchOptions::default(), LaunchOptions::interpreted()] {
            let (function, mut arguments) = (bench.function(&ptx), Arguments::new());
            arguments.push(&bench.memory.address());
            let config = LaunchConfig::new(1, 32);
            launch_with(&bench.stream, &function, &config, &arguments, &options).unwrap();
            let found = fault(bench.stream.synchronize());
            let place = (found.kind.clone(), line(&found).1);
            assert_eq!(place, (FaultKind::Divergence, 30), "{operation}");
        }
        bench.still_works();
    }
}

#[test]
fn endless_recursion_is_a_stack_overflow() {
    let bench = Bench::new(64);
    let function = ".visible .func (.param .b32 out) down(.param .b32 n)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [n];
    add.s32 %r1, %r1, 1;
    { .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 r0;
    .loc 1 40 2
    call.uni (r0), down, (p0); ld.param.b32 %r2, [r0]; }
    add.s32 %r2, %r2, 1;
    st.param.b32 [out], %r2;
    ret;
}
.visible .entry";
    let body = "{ .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 r0;\n
        call.uni (r0), down, (p0); ld.param.b32 %r5, [r0]; }\n st.global.u32 [%rd1], %r5;";
    let ptx = kernel(body).replace(".visible .entry", function);
    let function = bench.function(&ptx);
    for config in [LaunchConfig::new(1, 1), LaunchConfig::new(8, 8)] {
        bench.launch(&function, config, bench.memory.address());
        assert_eq!(fault(bench.stream.synchronize()).kind, FaultKind::StackOverflow);
    }
    bench.still_works();
}

#[test]
fn other_streams_go_on() {
    let bench = Bench::new(64);
    let other = bench.device.stream().unwrap();
    let memory = bench.device.alloc(64).unwrap();
    let bad = bench.function(&kernel("st.global.u32 [%rd3+60], 1;"));
    bench.launch(&bad, LaunchConfig::new(1, 32), bench.memory.address());
    other.upload(memory.slice(..).unwrap(), &[5; 64]).unwrap();
    assert_eq!(other.download(memory.slice(..).unwrap()).unwrap().wait().unwrap(), [5; 64]);
    other.synchronize().unwrap();
    fault(bench.stream.synchronize());
}

#[test]
fn a_readback_reports_the_fault_before_it() {
    let bench = Bench::new(64);
    let bad = bench.function(&kernel("trap;"));
    bench.launch(&bad, LaunchConfig::new(1, 1), 0);
    let readback = bench.stream.download(bench.memory.slice(..).unwrap()).unwrap();
    assert!(matches!(readback.wait(), Err(Error::Fault(_))));
    assert_eq!(
        bench.stream.download(bench.memory.slice(..).unwrap()).unwrap().wait().unwrap(),
        [0; 64]
    );
}

#[test]
fn unsupported_instructions_are_named_with_their_line() {
    let device = Device::cpu().unwrap();
    let ptx = kernel(".loc 1 55 9\n mapa.shared::cluster.u32 %r1, %r1, 0;");
    match device.load(&ptx) {
        Err(Error::UnsupportedPtx { instruction, location: Some(location) }) => {
            assert!(instruction.contains("mapa"), "{instruction}");
            assert_eq!(location.to_string(), "bad.cu:55:9");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_interpreter_stops_the_same_kernels() {
    super::support::on_the_interpreter(&[
        ("a store past the exact end does not happen", a_store_past_the_exact_end_does_not_happen),
        ("an access that only begins inside faults", an_access_that_only_begins_inside_faults),
        ("null and wild pointers fault", null_and_wild_pointers_fault),
        ("a misaligned access faults", a_misaligned_access_faults),
        ("freed memory faults", freed_memory_faults),
        ("shared memory ends where the launch says", shared_memory_ends_where_the_launch_says),
        ("local arrays end", local_arrays_end),
        ("constants are read only", constants_are_read_only),
        ("trap says where", trap_says_where),
        (
            "barriers that never complete are a deadlock",
            barriers_that_never_complete_are_a_deadlock,
        ),
        (
            "a warp operation that lanes never reach is a fault",
            a_warp_operation_that_lanes_never_reach_is_a_fault,
        ),
        ("endless recursion is a stack overflow", endless_recursion_is_a_stack_overflow),
        ("other streams go on", other_streams_go_on),
        ("a readback reports the fault before it", a_readback_reports_the_fault_before_it),
    ]);
}

#[test]
fn the_interpreter_can_be_cancelled() {
    super::support::on_the_interpreter(&[
        ("an endless loop is cancelled", an_endless_loop_is_cancelled),
        ("a loop without memory is cancelled", a_loop_without_memory_is_cancelled),
        ("a loop of barriers is cancelled", a_loop_of_barriers_is_cancelled),
        (
            "launches behind a cancelled one are cancelled too but not later ones",
            launches_behind_a_cancelled_one_are_cancelled_too_but_not_later_ones,
        ),
    ]);
}
