//! What a kernel may try in order to reach memory of the host's, or to get past its limits: each is refused, or stopped
//! with a fault, and the device goes on working.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use warpaint::device::{
    Arguments, Device, Dim3, Error, Fault, FaultKind, Fill, LaunchConfig, Memory, Pool, Stream,
};

use super::support;

/// Longest that something may take that ends by itself, on a busy machine and without optimisation.
const SOON: Duration = Duration::from_secs(20);

/// A kernel `k(out, cell)` with both addresses in `%rd1` and `%rd2`, the thread's index in `%r1`, and four times that
/// in `%rd3`.
fn module(outside: &str, inside: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{outside}\n\
         .visible .entry k(.param .u64 p, .param .u64 q)\n{{\n.reg .b32 %r<8>;\n.reg .b64 %rd<12>;\n.reg .f32 %f<8>;\n\
         .reg .f64 %d<8>;\n.reg .pred %p<4>;\nld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\n\
         mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n{inside}\nret;\n}}\n"
    )
}

struct Cage {
    device: Device,
    stream: Stream,
    out: Memory,
    cell: Memory,
}

impl Cage {
    fn new() -> Self {
        let device = Device::cpu().unwrap();
        let stream = device.stream().unwrap();
        let [out, cell] = [(); 2].map(|()| device.alloc(512).unwrap());
        let cage = Self { device, stream, out, cell };
        for memory in [&cage.out, &cage.cell] {
            cage.stream.fill(memory.slice(..).unwrap(), Fill::U8(0)).unwrap();
        }
        cage
    }

    fn run(&self, text: &str, config: &LaunchConfig) -> Result<(), Error> {
        let function = self.device.load(text)?.function("k")?;
        let mut arguments = Arguments::new();
        arguments.push(&self.out.address());
        arguments.push(&self.cell.address());
        support::launch(&self.stream, &function, config, &arguments)?;
        self.stream.synchronize()
    }

    fn words(&self, memory: &Memory) -> Vec<u32> {
        let bytes = self.stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    /// The first words of `out` after 64 threads ran.
    #[track_caller]
    fn result(&self, text: &str) -> Vec<u32> {
        self.run(text, &LaunchConfig::new(1, 64)).unwrap_or_else(|error| panic!("{error}\n{text}"));
        self.words(&self.out)
    }
}

/// It does not load, for this reason.
#[track_caller]
fn refused(outside: &str, inside: &str, reason: &str) {
    let error = Cage::new().device.load(&module(outside, inside)).unwrap_err();
    assert!(matches!(error, Error::Load { .. } | Error::UnsupportedPtx { .. }), "{error:?}");
    assert!(error.to_string().contains(reason), "{error}");
}

/// It loads, and is stopped.
#[track_caller]
fn stopped(outside: &str, inside: &str, threads: u32) -> Fault {
    let cage = Cage::new();
    match cage.run(&module(outside, inside), &LaunchConfig::new(1, threads)) {
        Err(Error::Fault(fault)) => {
            assert_eq!(cage.result(&module("", "st.global.u32 [%rd1], 7;"))[0], 7, "it goes on");
            *fault
        }
        other => panic!("{other:?}"),
    }
}

/// What is read as a parameter would be taken for constant as long as the launch runs, and an address that is made of
/// it be checked once for a row of threads.
#[test]
fn only_parameters_are_read_as_parameters() {
    let far = "mov.u64 %rd9, 0x1000000000000;";
    let moves = |load: &str, store: &str| {
        format!(
            "{load}\nadd.u64 %rd5, %rd1, %rd3;\nadd.u64 %rd5, %rd5, %rd4;\nst.global.u32 [%rd5], %r1;\n{far}\n{store}"
        )
    };
    let text = moves("ld.param.u64 %rd4, [%rd2];", "st.global.u64 [%rd2], %rd9;");
    let is_stopped = |threads| {
        let fault = stopped("", &text, threads);
        assert_eq!((fault.kind, fault.space), (FaultKind::InvalidRead, Some("param")));
    };
    for threads in [32, 64, 256] {
        is_stopped(threads);
    }
    support::interpreted(|| is_stopped(32));
    let text = moves("ld.param.u64 %rd4, [cell];", "st.global.u64 [cell], %rd9;");
    refused(".global .align 8 .b8 cell[8];", &text, "the variable lies in .global");
    let text = moves("ld.param.u64 %rd4, [%rd2];", "st.param.u64 [%rd2], %rd9;");
    refused("", &text, "a parameter can only be written by its name");
    refused("", "st.param.u64 [p], 1;", "an input parameter is only read");
    refused("", "ld.param.u64 %rd4, [64];", "a parameter has no such address");
    refused("", "alloca.u64 %rd4, 64, 16;", "alloca");
}

/// A parameter that is read at a computed address, as NVRTC does with arrays by value, is one of the kernel's.
#[test]
fn parameters_have_addresses() {
    let text = "mov.b64 %rd4, p;\nand.b64 %rd5, %rd3, 8;\nadd.u64 %rd4, %rd4, %rd5;\n\
                ld.param.u64 %rd6, [%rd4];\nsub.u64 %rd6, %rd6, %rd1;\nadd.u64 %rd7, %rd1, %rd3;\n\
                st.global.u32 [%rd7], %rd6;";
    let cage = Cage::new();
    let distance = cage.cell.address().wrapping_sub(cage.out.address()) as u32;
    let expected: Vec<u32> = (0..64).map(|t| if (4 * t) & 8 == 0 { 0 } else { distance }).collect();
    assert_eq!(cage.result(&module("", text))[..64], expected);
    let fault = stopped(
        "",
        "mov.b64 %rd4, p;\nand.b64 %rd5, %rd3, 16;\nadd.u64 %rd4, %rd4, %rd5;\nld.param.u64 %rd6, [%rd4];",
        8,
    );
    assert_eq!((fault.kind, fault.space), (FaultKind::InvalidRead, Some("param")));
}

const CALLEES: &str = ".extern .func (.param .b64 r) malloc (.param .b64 x);\n\
    .func (.param .b64 r) f (.param .b64 x)\n{\n.reg .b64 %v;\nld.param.b64 %v, [x];\nadd.u64 %v, %v, 1;\n\
    st.param.b64 [r], %v;\nret;\n}";

#[test]
fn calls_take_variables_of_parameters_alone() {
    let declared = ".shared .align 16 .b8 s[64];\n.local .align 16 .b8 l[64];\n.param .b64 ret;\n.param .b64 prm;\n\
                    .param .b32 half;\nst.param.b64 [prm], 16;\n";
    for (call, reason) in [
        ("call.uni (ret), malloc, (s);", "no `.param` variable"),
        ("call.uni (s), malloc, (prm);", "no `.param` variable"),
        ("call.uni (ret), f, (s);", "no `.param` variable"),
        ("call.uni (s), f, (prm);", "no `.param` variable"),
        ("call.uni (ret), f, (l);", "no `.param` variable"),
        ("call.uni (l), f, (prm);", "no `.param` variable"),
        ("call.uni (ret), f, (half);", "`half` has 4 bytes, but 8 are needed"),
        ("call.uni (half), malloc, (prm);", "`half` has 4 bytes, but 8 are needed"),
        ("call.uni (f), malloc, (prm);", ""),
        ("call.uni (ret), f, (g);", "a call takes `.param` variables"),
        ("call.uni (g), f, (prm);", "a call takes `.param` variables"),
    ] {
        let outside = format!("{CALLEES}\n.global .align 8 .b8 g[8];");
        refused(&outside, &format!("{declared}{call}"), reason);
    }
}

/// A module declares what CUDA provides, and may declare it otherwise than it is.
#[test]
fn what_is_provided_may_be_declared_wrongly() {
    let registers = ".reg .pred %q;\n.reg .b16 %h;\n.param .b8 one;\n.param .b64 ret;\n.param .b64 prm;\n\
                     .param .align 16 .b8 block[64];\nst.param.b64 [prm], 0;\n";
    let (mut refused, mut run) = (0, 0);
    for name in ["malloc", "free", "vprintf", "__assertfail"] {
        for (result, to) in [
            ("", ""),
            ("(.param .b8 r) ", "(one), "),
            ("(.param .b64 r) ", "(ret), "),
            ("(.param .align 16 .b8 r[64]) ", "(block), "),
            ("(.reg .pred r) ", "(%q), "),
            ("(.reg .b16 r) ", "(%h), "),
            ("(.reg .f32 r) ", "(%f1), "),
            ("(.reg .b64 r) ", "(%rd4), "),
        ] {
            for (params, passed) in [
                ("", ""),
                (".reg .pred x", "%p1"),
                (".param .b8 x", "one"),
                (".param .b64 x", "prm"),
                (".param .align 16 .b8 x[64]", "block"),
                (".param .b64 x, .param .b64 y", "prm, prm"),
                (".reg .f64 x, .reg .f32 y", "%d1, %f1"),
                (
                    ".param .b8 a, .param .b8 b, .param .b8 c, .param .b8 d, .param .b8 e",
                    "one, one, one, one, one",
                ),
                (
                    ".reg .b64 a, .reg .b64 b, .reg .b64 c, .reg .b64 d, .reg .b64 e",
                    "%rd4, %rd4, 0, 1, 2",
                ),
            ] {
                let outside = format!(".extern .func {result}{name} ({params});");
                let text =
                    module(&outside, &format!("{registers}call.uni {to}{name}, ({passed});"));
                match Cage::new().run(&text, &LaunchConfig::new(1, 40)) {
                    Ok(()) | Err(Error::Fault(_)) => run += 1,
                    Err(error) => {
                        let known =
                            matches!(error, Error::Load { .. } | Error::UnsupportedPtx { .. });
                        assert!(
                            known && !error.to_string().contains("internal"),
                            "{error:?}\n{text}"
                        );
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 0 && run > 0, "{refused} refused, {run} run");
}

/// A kernel's compiled form takes the range of threads where a device function's takes its arguments.
#[test]
fn kernels_are_not_called() {
    let other = |params: &str| {
        format!(
            ".visible .entry other({params})\n{{\n.reg .b64 %v;\n.reg .b32 %t;\nmov.u32 %t, %tid.x;\nbar.sync 0;\n\
             st.shared.u32 [0], %t;\nret;\n}}\n"
        )
    };
    let declared = ".param .b64 one;\n.param .b64 two;\n";
    for (params, call) in [
        ("", "call.uni other, ();"),
        (".param .b64 a", "call.uni other, (one);"),
        (".param .b64 a, .param .b64 b", "call.uni other, (one, two);"),
        ("", "call.uni k, (one, two);"),
    ] {
        refused(&other(params), &format!("{declared}{call}"), "a kernel is called");
    }
    let by_function = format!("{}.func f()\n{{\ncall.uni other, ();\nret;\n}}\n", other(""));
    refused(&by_function, "call.uni f, ();", "a kernel is called");
    let by_address =
        ".reg .b64 %to;\nmov.b64 %to, other;\nP: .callprototype _ ();\ncall %to, (), P;";
    let fault = stopped(&other(""), by_address, 8);
    assert_eq!(fault.kind, FaultKind::InvalidRead);
}

/// A parameter's place lies in local memory: what a kernel can find out of it says nothing of the host's memory.
#[test]
fn addresses_of_arguments_are_those_of_local_memory() {
    let text = ".param .b64 prm;\n.param .b64 ret;\nst.param.b64 [prm], 41;\ncall.uni (ret), f, (prm);\n\
                mov.b64 %rd4, ret;\nld.u64 %rd5, [%rd4];\nadd.u64 %rd7, %rd1, %rd3;\nst.global.u32 [%rd7], %rd5;";
    assert_eq!(Cage::new().result(&module(CALLEES, text))[..64], [42; 64]);
    // Nothing that was there before is read: neither of the host's, nor of another launch.
    let text = ".param .b8 prm[64];\nld.param.b64 %rd4, [prm+56];\nst.global.u64 [%rd1], %rd4;";
    let found = Cage::new().result(&module("", text));
    assert_eq!(found[..2], [0, 0]);
}

#[test]
fn variables_are_accessed_in_their_own_state_space() {
    let outside =
        ".global .align 8 .b8 g[8];\n.shared .align 8 .b8 s[8];\n.const .align 8 .b8 c[8];";
    let inside = ".local .align 8 .b8 l[8];\n";
    for (access, own) in [
        ("ld.shared.u32 %r2, [g];", "global"),
        ("ld.global.u32 %r2, [s];", "shared"),
        ("st.shared.u32 [l], %r2;", "local"),
        ("atom.shared.add.u32 %r2, [g], 1;", "global"),
        ("red.global.add.u32 [s], 1;", "shared"),
        ("ld.local.u32 %r2, [c];", "const"),
        ("st.global.u32 [c], 1;", "const"),
        ("cp.async.ca.shared.global [g], [g], 4;", "global"),
        ("cp.async.ca.shared.global [s], [s], 4;", "shared"),
        ("ld.u32 %r2, [p];", "param"),
    ] {
        refused(outside, &format!("{inside}{access}"), &format!("the variable lies in .{own}"));
    }
    refused(CALLEES, "ld.global.u32 %r2, [f];", "a function is no memory");
}

/// Each thread of a group arrives, though the address is the same for all.
#[test]
fn every_thread_arrives_at_a_barrier_in_shared_memory() {
    let text = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra MADE;\nmbarrier.init.shared.b64 [b], 100;\nMADE:\nbar.sync 0;\n\
                mbarrier.arrive.shared.b64 %rd4, [b];\nmbarrier.pending_count.b64 %r2, %rd4;\n\
                add.u64 %rd7, %rd1, %rd3;\nst.global.u32 [%rd7], %r2;";
    let mut found = Cage::new().result(&module(".shared .align 8 .b8 b[8];", text))[..64].to_vec();
    found.sort_unstable();
    // 100 are due; the last of 64 finds that 63 have come.
    assert_eq!(found, (37..=100).collect::<Vec<u32>>());
}

/// Whatever the thread before, or the one beside, left there.
#[test]
fn registers_are_zero_before_they_are_written() {
    let text = "add.u64 %rd4, %rd1, %rd3;\nadd.s32 %r3, %r2, 28;\nst.global.u32 [%rd4], %r3;\nshl.b32 %r2, %r1, 24;\n\
                add.u64 %rd5, %rd2, %rd3;\nst.global.u32 [%rd5], %r2;";
    let cage = Cage::new();
    assert_eq!(cage.result(&module("", text))[..64], [28; 64]);
    assert_eq!(cage.words(&cage.cell)[..64], (0..64).map(|t| t << 24).collect::<Vec<u32>>());
}

/// A constant further than an instruction of the machine can say.
#[test]
fn offsets_are_of_any_size() {
    let text = "sub.u64 %rd4, %rd1, 4294967296;\nadd.u64 %rd4, %rd4, %rd3;\nst.global.u32 [%rd4+4294967296], %r1;\n\
                add.u64 %rd5, %rd2, 2147483648;\nadd.u64 %rd5, %rd5, %rd3;\nst.global.u32 [%rd5-2147483648], %r1;";
    let cage = Cage::new();
    assert_eq!(cage.result(&module("", text))[..64], (0..64).collect::<Vec<u32>>());
    assert_eq!(cage.words(&cage.cell)[..64], (0..64).collect::<Vec<u32>>());
}

/// Only arithmetic that says `.ftz` flushes subnormals.
#[test]
fn atomics_keep_subnormals_in_a_kernel_that_flushes() {
    let text = "mov.f32 %f1, 0f40000000;\nmul.ftz.f32 %f1, %f1, %f1;\nst.global.f32 [%rd1], %f1;\n\
                mov.f64 %d1, 0d0000000000000003;\nred.global.add.f64 [%rd2], %d1;\n\
                atom.global.add.f64 %d2, [%rd2+8], %d1;";
    let cage = Cage::new();
    cage.run(&module("", text), &LaunchConfig::new(1, 64)).unwrap();
    assert_eq!(f32::from_bits(cage.words(&cage.out)[0]), 4.0);
    assert_eq!(
        cage.words(&cage.cell)[..4],
        [64 * 3, 0, 64 * 3, 0],
        "64 times 3 of the least doubles"
    );
}

/// The time limit of a launch is such a cancellation.
#[test]
fn grids_of_any_size_are_cancelled() {
    for grid in [[i32::MAX as u32, 65535, 65535], [i32::MAX as u32, 4, 1]] {
        let cage = Cage::new();
        let [x, y, z] = grid;
        let config = LaunchConfig::new(Dim3 { x, y, z }, 1);
        let function = cage.device.load(&module("", "st.global.u32 [%rd1], 1;")).unwrap();
        let function = function.function("k").unwrap();
        let mut arguments = Arguments::new();
        arguments.push(&cage.out.address());
        arguments.push(&cage.cell.address());
        support::launch(&cage.stream, &function, &config, &arguments).unwrap();
        thread::sleep(Duration::from_millis(200));
        let started = Instant::now();
        cage.stream.cancel().unwrap();
        let ended = cage.stream.synchronize();
        let cancelled =
            matches!(&ended, Err(Error::Fault(fault)) if fault.kind == FaultKind::Cancelled);
        assert!(cancelled, "{ended:?}");
        assert!(started.elapsed() < SOON, "it took {:?}", started.elapsed());
    }
}

#[test]
fn a_fault_ends_a_grid_of_any_size() {
    let cage = Cage::new();
    let config = LaunchConfig::new(Dim3 { x: i32::MAX as u32, y: 65535, z: 65535 }, 1);
    let started = Instant::now();
    let ended = cage.run(&module("", "mov.u64 %rd4, 0;\nst.global.u32 [%rd4], 1;"), &config);
    assert!(matches!(&ended, Err(Error::Fault(_))), "{ended:?}");
    assert!(started.elapsed() < SOON, "it took {:?}", started.elapsed());
}

/// A pool rounds sizes up; what was not asked for is no kernel's.
#[test]
fn blocks_of_a_pool_end_where_was_asked() {
    let cage = Cage::new();
    let pool = Pool::new(&cage.device);
    let load = |access: &str| {
        let text = module("", access);
        cage.device.load(&text).unwrap().function("k").unwrap()
    };
    let launch = |access: &str, address: u64| {
        let mut arguments = Arguments::new();
        arguments.push(&address);
        arguments.push(&cage.cell.address());
        let config = LaunchConfig::new(1, 1);
        support::launch(&cage.stream, &load(access), &config, &arguments).unwrap();
    };
    for bytes in [4, 12, 400, 4000, 20_000, 400_000] {
        let block = pool.alloc(&cage.stream, bytes).unwrap();
        launch(&format!("st.global.u32 [%rd1+{}], 1;", bytes - 4), block.address());
        cage.stream.synchronize().unwrap();
        launch(&format!("st.global.u32 [%rd1+{bytes}], 1;"), block.address());
        let fault = cage.stream.synchronize();
        assert!(
            matches!(&fault, Err(Error::Fault(fault)) if fault.kind == FaultKind::InvalidWrite),
            "{bytes}: {fault:?}"
        );
    }

    // Work that is yet to come on the stream has the block as it was when the work was put there.
    let (go, wait) = mpsc::channel::<()>();
    let block = pool.alloc(&cage.stream, 1000).unwrap();
    let address = block.address();
    cage.stream.host_function(move || wait.recv().unwrap_or(())).unwrap();
    launch("st.global.u32 [%rd1+996], 1;", address);
    drop(block);
    let shorter = pool.alloc(&cage.stream, 900).unwrap();
    assert_eq!(shorter.address(), address, "the same memory");
    launch("st.global.u32 [%rd1+896], 1;", address);
    go.send(()).unwrap();
    cage.stream.synchronize().unwrap();
    launch("st.global.u32 [%rd1+900], 1;", address);
    assert!(matches!(cage.stream.synchronize(), Err(Error::Fault(_))));
    drop(shorter);
    let longer = pool.alloc(&cage.stream, 1000).unwrap();
    assert_eq!(longer.address(), address);
    launch("st.global.u32 [%rd1+996], 1;", address);
    cage.stream.synchronize().unwrap();
}

/// Cranelift counts the parameters of a block in 16 bits.
#[test]
fn too_many_values_over_a_join_are_refused() {
    let joined = |count: usize| {
        let set = |with: &str| (0..count).map(|at| format!("mov.u32 %v{at}, {with};\n")).collect();
        let [before, other]: [String; 2] = ["%tid.x", "7"].map(set);
        let uses: String = (0..count).map(|at| format!("add.u32 %sum, %sum, %v{at};\n")).collect();
        format!(
            ".reg .b32 %v<{count}>; .reg .b32 %sum; .reg .pred %odd; mov.u32 %sum, 0;\n{before}\
             setp.lt.u32 %odd, %sum, 3; @%odd bra JOIN;\n{other}JOIN:\n{uses}\
             st.global.u32 [%rd1], %sum;"
        )
    };
    for count in [12_100, 65_600] {
        refused("", &joined(count), "registers of `k` live at once");
    }
    // What is read before it is written, in one block alone.
    let reads: String = (0..65_600).map(|at| format!("add.u32 %v{at}, %v{at}, 1;\n")).collect();
    let text = format!(".reg .b32 %v<65600>;\n{reads}st.global.u32 [%rd1], %v0;");
    refused("", &text, "registers of `k` live at once");
}

/// Registers that no instruction names cost nothing, however many blocks there are.
#[test]
fn registers_that_are_only_declared_are_no_matter() {
    let adds = "@%odd add.u32 %sum, %sum, 1;\n".repeat(1_000);
    let text = format!(
        ".reg .b32 %v<900000>; .reg .b32 %sum; .reg .pred %odd; mov.u32 %sum, 5;\n\
         setp.lt.u32 %odd, %sum, 6;\n{adds}st.global.u32 [%rd1], %sum;"
    );
    assert_eq!(Cage::new().result(&module("", &text))[0], 1005);
}

#[test]
fn too_many_branches_are_refused() {
    let skips =
        (0..12_000).map(|at| format!("@%odd bra L{at};\nadd.u32 %sum, %sum, {at};\nL{at}:\n"));
    let skips: String = skips.collect();
    let text = format!(
        ".reg .b32 %sum; .reg .pred %odd; mov.u32 %sum, %tid.x;\nsetp.lt.u32 %odd, %sum, 3;\n\
         {skips}st.global.u32 [%rd1], %sum;"
    );
    refused("", &text, "has too many branches");
    // Told with the place where the function begins.
    let placed = module(".file 1 \"k.cu\"\n", &format!(".loc 1 7 3\n{text}"));
    let error = Cage::new().device.load(&placed).unwrap_err();
    let Error::Load { location: Some(at), .. } = &error else { panic!("{error:?}") };
    assert_eq!((at.file.as_str(), at.line, at.column), ("k.cu", 7, 3));
}

/// Each check and each guard is a block of Cranelift's, over which values live.
#[test]
fn too_many_values_over_too_many_checks_are_refused() {
    for over in [
        "@%odd add.u32 %sum, %sum, 1;\n",
        "st.volatile.global.u32 [%rd1], %sum;\n",
        "bar.sync 0;\n",
    ] {
        let loads = (0..10_000).map(|at| format!("ld.volatile.global.u32 %v{at}, [%rd1];\n"));
        let adds = (0..10_000).map(|at| format!("add.u32 %sum, %sum, %v{at};\n"));
        let (loads, adds): (String, String) = (loads.collect(), adds.collect());
        let text = format!(
            ".reg .b32 %v<10000>; .reg .b32 %sum; .reg .pred %odd; mov.u32 %sum, %tid.x;\n\
             setp.lt.u32 %odd, %sum, 3;\n{loads}{}{adds}st.global.u32 [%rd1], %sum;",
            over.repeat(10_000)
        );
        let started = Instant::now();
        refused("", &text, "registers of `k` live for too long");
        assert!(started.elapsed() < SOON, "it took {:?}", started.elapsed());
    }
}

/// Registers that live while a thread waits are kept for each thread of a block.
#[test]
fn too_many_values_over_a_barrier_are_refused() {
    for count in [4_100, 5_000] {
        let mut text = format!(".reg .b64 %v<{count}>;\n");
        (0..count).for_each(|at| text += &format!("add.u64 %v{at}, %rd1, {at};\n"));
        text += "bar.sync 0;\n";
        (0..count).for_each(|at| text += &format!("xor.b64 %v0, %v0, %v{at};\n"));
        text += "st.global.u64 [%rd1], %v0;\n";
        let started = Instant::now();
        refused("", &text, "values while it waits for others: more than fit");
        assert!(started.elapsed() < SOON, "it took {:?}", started.elapsed());
    }
}
