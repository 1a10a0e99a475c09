//! Scratch memory, which is a block's while it runs: its shared memory, the local memory of its threads, its
//! parameters. Generic addresses reach a thread's own, global accesses none of it, and what is anybody else's is a
//! fault.

use warpaint::device::{
    Arguments, Device, Error, Fault, FaultKind, Fill, LaunchConfig, Memory, Stream,
    cpu::{Lanes, LaunchOptions},
};

use super::support;

/// What makes threads run one after the other, meet at the block's barrier, or wait in their warp.
const SCHEDULES: [&str; 3] = ["", "bar.sync 0;", "shfl.sync.idx.b32 %r7, %r1, 0, 31, -1;"];

fn engines() -> Vec<(&'static str, LaunchOptions)> {
    let compiled = |lanes| LaunchOptions { lanes, ..LaunchOptions::default() };
    vec![
        ("compiled", compiled(Lanes::Never)),
        ("groups", compiled(Lanes::Always)),
        ("interpreted", LaunchOptions::interpreted()),
    ]
}

/// A kernel `k(cell)`: `%rd1` is `cell`, `%rd2` the word there, `%r1` the thread's index and `%rd3` four times that.
/// Its last line of source is 20, where `access` stands; what is before it is line 10.
fn module(outside: &str, inside: &str, schedule: &str, access: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"k.cu\"\n{outside}\n\
         .visible .entry k(.param .u64 p)\n{{\n.reg .b32 %r<12>;\n.reg .b64 %rd<12>;\n.reg .pred %p<4>;\n\
         .local .align 16 .b8 l[64];\n.loc 1 10 1\nld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\n\
         mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nst.local.u32 [l], %r1;\n{inside}\n{schedule}\n\
         .loc 1 20 1\n{access}\nret;\n}}\n"
    )
}

struct Bench {
    device: Device,
    stream: Stream,
    cell: Memory,
}

impl Bench {
    fn new() -> Self {
        let device = Device::cpu().unwrap();
        let (stream, cell) = (device.stream().unwrap(), device.alloc(1024).unwrap());
        Self { device, stream, cell }
    }

    /// Runs a kernel with this word in the cell.
    fn run(
        &self,
        text: &str,
        word: u64,
        config: &LaunchConfig,
        options: &LaunchOptions,
    ) -> Result<Vec<u32>, Error> {
        self.stream.fill(self.cell.slice(..).unwrap(), Fill::U8(0)).unwrap();
        self.stream.upload(self.cell.slice(0..8).unwrap(), &word.to_le_bytes()).unwrap();
        let function = self
            .device
            .load(text)
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
            .function("k")?;
        let mut arguments = Arguments::new();
        arguments.push(&self.cell.address());
        support::launch_with(&self.stream, &function, config, &arguments, options)?;
        self.stream.synchronize()?;
        let bytes = self.stream.download(self.cell.slice(..).unwrap())?.wait()?;
        Ok(bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
    }

    #[track_caller]
    fn fault(
        &self,
        text: &str,
        word: u64,
        config: &LaunchConfig,
        options: &LaunchOptions,
        of: &str,
    ) -> Fault {
        match self.run(text, word, config, options) {
            Err(Error::Fault(fault)) => {
                assert_eq!(fault.location.as_ref().map(|at| at.line), Some(20), "{of}\n{text}");
                *fault
            }
            other => panic!("{of}: {other:?}\n{text}"),
        }
    }
}

/// Each engine with each schedule: all accesses work where the word is `good`, and are faults where it is `bad`.
#[track_caller]
fn ends(outside: &str, inside: &str, accesses: &[&str], good: &[i64], bad: &[i64]) {
    let bench = Bench::new();
    let config = LaunchConfig::new(1, 64);
    for (engine, options) in engines() {
        for schedule in SCHEDULES {
            for access in accesses {
                let text = module(outside, inside, schedule, access);
                for word in good {
                    let ran = bench.run(&text, *word as u64, &config, &options);
                    assert!(ran.is_ok(), "{engine}, {word}: {ran:?}\n{text}");
                }
                for word in bad {
                    let of = format!("{engine}, {word}");
                    let fault = bench.fault(&text, *word as u64, &config, &options, &of);
                    let writes = !access.starts_with("ld");
                    let kind =
                        if writes { FaultKind::InvalidWrite } else { FaultKind::InvalidRead };
                    assert_eq!(fault.kind, kind, "{of}: {fault}\n{text}");
                }
            }
        }
    }
}

const GENERIC: [&str; 5] = [
    "ld.u32 %r5, [%rd5];",
    "ld.volatile.u32 %r5, [%rd5];",
    "st.u32 [%rd5], 7;",
    "atom.add.u32 %r5, [%rd5], 1;",
    "red.or.b32 [%rd5], 1;",
];
const GLOBAL: [&str; 4] = [
    "ld.global.u32 %r5, [%rd5];",
    "st.global.u32 [%rd5], 7;",
    "atom.global.add.u32 %r5, [%rd5], 1;",
    "red.global.or.b32 [%rd5], 1;",
];

/// Frames begin at multiples of 16 bytes or more; what is free between them belongs to nobody.
#[test]
fn a_frame_of_local_memory_ends_with_its_last_variable() {
    let accesses = ["ld.local.u32 %r5, [%rd5];", "st.local.u32 [%rd5], 7;"];
    for (bytes, alignment) in [(4, 4), (12, 4), (20, 4), (36, 128)] {
        let declared = format!(".local .align {alignment} .b8 t[{bytes}];\nmov.u64 %rd4, t;");
        let (good, bad) = ([0, bytes - 4], [bytes, bytes + 4, bytes + 8]);
        ends("", &format!("{declared}\nadd.u64 %rd5, %rd4, %rd2;"), &accesses, &good, &bad);
        let generic = "cvta.local.u64 %rd4, %rd4;\nadd.u64 %rd5, %rd4, %rd2;";
        ends("", &format!("{declared}\n{generic}"), &GENERIC, &good, &bad);
    }
    for access in accesses {
        let body = format!(
            ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.local .align 4 .b8 t[12];\nld.param.u64 %rd2, [by];\n\
             mov.u64 %rd4, t;\nadd.u64 %rd5, %rd4, %rd2;\n.loc 1 20 1\n{access}\nret;"
        );
        let called = format!(".func f(.param .u64 by)\n{{\n{body}\n}}");
        let call = "{\n.param .b64 a;\nst.param.b64 [a], %rd2;\ncall.uni f, (a);\n}";
        // What calls it has a frame with more variables, which a pointer may be to.
        let bench = Bench::new();
        for (engine, options) in engines() {
            let text = module(&called, "", "", call);
            let config = LaunchConfig::new(1, 64);
            assert!(bench.run(&text, 8, &config, &options).is_ok(), "{engine}\n{text}");
            bench.fault(&text, 12, &config, &options, engine);
        }
    }
}

/// The threads' frames of local memory lie next to each other.
#[test]
fn a_generic_pointer_leaves_local_memory_for_no_other_threads() {
    let inside = "mov.b64 %rd4, l;\ncvta.local.u64 %rd4, %rd4;\nadd.u64 %rd5, %rd4, %rd2;";
    ends("", inside, &GENERIC, &[0, 60], &[64, 128, -4, -64, 640]);
    let vectors = ["ld.v4.u32 {%r5, %r6, %r7, %r8}, [%rd5];", "st.v2.u64 [%rd5], {%rd1, %rd1};"];
    ends("", inside, &vectors, &[0, 48], &[64, -16]);
    ends("", inside, &GLOBAL, &[], &[0, 60, 64]);
    ends("", inside, &["ld.local.u32 %r5, [%rd5];"], &[0, 60], &[64, -4]);
}

/// A kernel with calls has more local memory than its frame.
#[test]
fn a_generic_pointer_reaches_no_frames_that_are_none() {
    let outside = ".func (.param .b64 r) f (.param .b64 x)\n{\n.reg .b64 %v<4>;\n.local .align 16 .b8 own[32];\n\
                   ld.param.b64 %v1, [x];\nst.local.u64 [own], %v1;\nmov.b64 %v2, own;\ncvta.local.u64 %v2, %v2;\n\
                   st.param.b64 [r], %v2;\nret;\n}";
    // What is left of the callee's frame.
    let inside = ".param .b64 prm;\n.param .b64 ret;\nst.param.b64 [prm], %rd2;\ncall.uni (ret), f, (prm);\n\
                  ld.param.b64 %rd4, [ret];\nadd.u64 %rd5, %rd4, %rd2;";
    ends(outside, inside, &GENERIC, &[], &[0, 16, 4096]);
    let local = "mov.b64 %rd4, l;\ncvta.local.u64 %rd4, %rd4;\nadd.u64 %rd5, %rd4, %rd2;";
    let inside = format!("{inside}\n{local}");
    ends(outside, &inside, &GENERIC, &[0, 60], &[4096, -4]);
    ends(outside, &inside, &["ld.local.u32 %r5, [%rd5];"], &[0, 60], &[4096, -4]);
}

/// Addresses that differ from thread to thread by as much as what they access, and such that do not.
#[test]
fn a_generic_pointer_leaves_shared_memory_at_its_end() {
    let outside = ".shared .align 16 .b8 s[260];";
    let base = "mov.b64 %rd4, s;\ncvta.shared.u64 %rd4, %rd4;\nadd.u64 %rd5, %rd4, %rd2;";
    ends(outside, base, &GENERIC, &[0, 256], &[260, -4]);
    ends(outside, base, &GLOBAL, &[], &[0, 256, 260]);
    let row = format!("{base}\nadd.u64 %rd5, %rd5, %rd3;");
    ends(outside, &row, &GENERIC, &[0, 4], &[8, 260, -4]);
    ends(outside, &row, &GLOBAL, &[], &[0, 4, 8]);
}

#[test]
fn parameters_are_only_read() {
    let inside = "mov.b64 %rd4, p;\ncvta.param.u64 %rd4, %rd4;\nadd.u64 %rd5, %rd4, %rd2;";
    ends("", inside, &GENERIC[..2], &[0, 4], &[8, -4]);
    ends("", inside, &GENERIC[2..], &[], &[0, 4, 8]);
    ends("", inside, &GLOBAL, &[], &[0, 4, 8]);
}

/// The address is known when compiling.
#[test]
fn known_addresses_are_reached_in_their_own_space() {
    let local = "mov.b64 %rd5, l;";
    ends("", local, &GENERIC, &[0], &[]);
    ends("", local, &GLOBAL, &[], &[0]);
    let outside = ".shared .align 16 .b8 s[64];";
    let shared = "mov.b64 %rd5, s;\ncvta.shared.u64 %rd5, %rd5;";
    ends(outside, shared, &GENERIC, &[0], &[]);
    ends(outside, shared, &GLOBAL, &[], &[0]);
    // An offset in shared memory is no generic address.
    ends(outside, "mov.b64 %rd5, s;", &GENERIC, &[], &[0]);
}

/// One block says where its memory lies, and waits until the other one has tried it.
#[test]
fn no_block_reaches_what_is_another_ones() {
    let bench = Bench::new();
    let config = LaunchConfig::new(2, 32);
    let outside = ".shared .align 16 .b8 s[64];";
    for place in
        ["mov.b64 %rd4, s;\ncvta.shared.u64 %rd4, %rd4;", "mov.b64 %rd4, l;", "mov.b64 %rd4, p;"]
    {
        let inside = format!(
            "mov.u32 %r2, %ctaid.x;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra OTHER;\n{place}\n\
             st.volatile.global.u64 [%rd1], %rd4;\n\
             WAIT:\nld.volatile.global.u32 %r3, [%rd1+8];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra WAIT;\nret;\n\
             OTHER:\nld.volatile.global.u64 %rd5, [%rd1];\nsetp.eq.u64 %p2, %rd5, 0;\n@%p2 bra OTHER;"
        );
        for (engine, options) in engines() {
            for access in GENERIC.iter().chain(&GLOBAL) {
                let text = module(
                    outside,
                    &inside,
                    "",
                    &format!("{access}\nst.volatile.global.u32 [%rd1+8], 1;"),
                );
                // Parameters are the launch's: on the interpreter all blocks read the same.
                let params =
                    place.ends_with("p;") && access.starts_with("ld") && !access.contains("global");
                if params && engine == "interpreted" {
                    continue;
                }
                let fault = bench.fault(&text, 0, &config, &options, engine);
                assert_eq!(fault.block.x, 1, "{engine}: {fault}\n{text}");
            }
        }
    }
}

/// What a caller has in its frame is its callee's to use, however deep, and each thread's own.
#[test]
fn pointers_to_callers_locals_work() {
    let outside = ".func down (.param .b64 to, .param .b32 depth)\n{\n.reg .b64 %v<4>;\n.reg .b32 %w<6>;\n.reg .pred %q;\n\
                   .local .align 16 .b8 own[16];\n.param .b64 a;\n.param .b32 b;\nld.param.b64 %v1, [to];\n\
                   ld.param.b32 %w1, [depth];\nld.u32 %w2, [%v1];\nadd.u32 %w2, %w2, %w1;\nst.u32 [%v1], %w2;\n\
                   setp.eq.u32 %q, %w1, 0;\n@%q ret;\nst.local.u32 [own], 5;\nmov.b64 %v2, own;\ncvta.local.u64 %v2, %v2;\n\
                   sub.u32 %w1, %w1, 1;\nst.param.b64 [a], %v2;\nst.param.b32 [b], %w1;\ncall.uni down, (a, b);\n\
                   st.param.b64 [a], %v1;\nst.param.b32 [b], %w1;\ncall.uni down, (a, b);\n\
                   ld.local.u32 %w3, [own];\nld.u32 %w4, [%v1];\nadd.u32 %w4, %w4, %w3;\nst.u32 [%v1], %w4;\nret;\n}";
    let inside = ".param .b64 a;\n.param .b32 b;\nmov.b64 %rd4, l;\ncvta.local.u64 %rd4, %rd4;\nst.param.b64 [a], %rd4;\n\
                  st.param.b32 [b], 4;\ncall.uni down, (a, b);";
    let store = "ld.local.u32 %r5, [l];\nadd.u64 %rd5, %rd1, %rd3;\nst.global.u32 [%rd5], %r5;";
    let down = |start: u32| {
        fn down(cell: &mut u32, depth: u32) {
            *cell += depth;
            if depth > 0 {
                let mut own = 5;
                down(&mut own, depth - 1);
                down(cell, depth - 1);
                *cell += own;
            }
        }
        let mut cell = start;
        down(&mut cell, 4);
        cell
    };
    let expected: Vec<u32> = (0..64).map(down).collect();
    let bench = Bench::new();
    for (engine, options) in engines() {
        for schedule in SCHEDULES {
            let text = module(outside, inside, schedule, store);
            let found = bench.run(&text, 0, &LaunchConfig::new(1, 64), &options).unwrap();
            assert_eq!(found[..64], expected, "{engine}\n{text}");
        }
    }
}

/// All threads get the address that the first one has of its own: to the others it is somebody else's. Where threads
/// take turns in one frame it is theirs, too, and they find what they wrote, as on a GPU. What is free behind the frame
/// is nobody's: there the first one is at fault.
#[test]
fn one_address_is_no_local_of_all_threads() {
    let bench = Bench::new();
    let config = LaunchConfig::new(1, 64);
    let inside = ".local .align 4 .b8 t[4];\nmov.b64 %rd4, t;\ncvta.local.u64 %rd4, %rd4;\nsetp.eq.u32 %p1, %r1, 0;\n\
                  add.u64 %rd4, %rd4, %rd2;\n@%p1 st.global.u64 [%rd1+8], %rd4;";
    for (engine, options) in engines() {
        for schedule in SCHEDULES {
            for access in GENERIC.into_iter().chain(["ld.local.u32 %r5, [%rd5];"]) {
                // A kernel that needs the result of an atomic operation is not made for groups.
                let by_threads =
                    engine == "compiled" || engine == "groups" && access.contains("atom");
                let text = |further: &str| {
                    let access =
                        format!("ld.global.u64 %rd5, [%rd1+8];{further}\n.loc 1 20 1\n{access}");
                    module("", inside, schedule, &access)
                };
                let fault_at = |text: &str, word, thread| {
                    let fault = bench.fault(text, word, &config, &options, engine);
                    assert_eq!(fault.thread.x, thread, "{engine}: {fault}\n{text}");
                };
                fault_at(&text(""), 4, 0);
                let side_by_side = text("add.u64 %rd5, %rd5, %rd3;");
                fault_at(&side_by_side, 4, 0);
                fault_at(&side_by_side, 0, 1);
                match by_threads && schedule.is_empty() {
                    true => drop(bench.run(&text(""), 0, &config, &options).unwrap()),
                    false => fault_at(&text(""), 0, 1),
                }
            }
        }
    }
}

/// The address of the first thread's local memory is handed to the next launch, where it is the same: a pointer among
/// the parameters, from which the threads of a group go on side by side.
#[test]
fn side_by_side_each_thread_reaches_its_own_frame_alone() {
    let bench = Bench::new();
    let text = |access: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"k.cu\"\n\
             .visible .entry k(.param .u64 p, .param .u64 at)\n{{\n.reg .b32 %r<12>;\n.reg .b64 %rd<12>;\n\
             .reg .pred %p<4>;\n.local .align 4 .b8 t[4];\n.loc 1 10 1\nld.param.u64 %rd1, [p];\n\
             ld.param.u64 %rd2, [at];\nmov.u32 %r1, %tid.x;\nst.local.u32 [t], %r1;\nmov.b64 %rd4, t;\n\
             cvta.local.u64 %rd4, %rd4;\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd5, %rd2, %rd3;\n\
             setp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u64 [%rd1], %rd4;\nsetp.eq.u64 %p2, %rd2, 0;\n\
             @%p2 bra END;\n.loc 1 20 1\n{access}\nEND:\nret;\n}}\n"
        )
    };
    let run = |text: &str, at: u64, options: &LaunchOptions| {
        let function = bench.device.load(text).unwrap().function("k").unwrap();
        let mut arguments = Arguments::new();
        arguments.push(&bench.cell.address()).push(&at);
        let config = LaunchConfig::new(1, 64);
        support::launch_with(&bench.stream, &function, &config, &arguments, options)?;
        bench.stream.synchronize()?;
        let found = bench.stream.download(bench.cell.slice(0..8).unwrap())?.wait()?;
        Ok(u64::from_le_bytes(found.try_into().unwrap()))
    };
    for (engine, options) in engines() {
        for access in ["ld.u32 %r5, [%rd5];", "st.u32 [%rd5], 7;"] {
            let text = text(access);
            let first = run(&text, 0, &options).unwrap();
            // The first thread's own, then what is free behind it: the second and the first thread are at fault.
            for (by, thread) in [(0, 1), (4, 0)] {
                match run(&text, first + by, &options) {
                    Err(Error::Fault(fault)) => {
                        assert_eq!(fault.thread.x, thread, "{engine}, {by}: {fault}\n{text}");
                    }
                    other => panic!("{engine}, {by}: {other:?}\n{text}"),
                }
                assert_eq!(run(&text, 0, &options).unwrap(), first, "{engine}: it lies elsewhere");
            }
        }
    }
}

/// A number that is the handle of a function whose address nobody takes leads to none: what memory it needs is counted
/// for those alone that call it by its name.
#[test]
fn a_forged_handle_reaches_no_function_whose_address_is_not_taken() {
    let bench = Bench::new();
    let config = LaunchConfig::new(1, 64);
    let outside = ".func f ()\n{\n.shared .align 4 .b8 large[32768];\n.reg .b32 %w;\nmov.u32 %w, 7;\n\
                   st.shared.u32 [large+32764], %w;\nret;\n}\n.visible .entry other ()\n{\ncall f, ();\nret;\n}\n\
                   .func g ()\n{\nret;\n}\n.global .u64 kept = g;";
    let access = "q: .callprototype _ ();\ncall %rd2, (), q;";
    for (engine, options) in engines() {
        // Functions lie 16 bytes apart; what is between them is none.
        for offset in (0..6).map(|index| 16 * index).chain([1, 2, 8, 31, 33, 40]) {
            let text = module(outside, "", "", access);
            let handle = 0xF000_0000_0000_0000 | offset;
            match bench.run(&text, handle, &config, &options) {
                // The one whose address is taken.
                Ok(_) => assert_eq!(offset, 32, "{engine}"),
                Err(Error::Fault(fault)) => {
                    assert_ne!(offset, 32, "{engine}");
                    assert_eq!(fault.space, Some("code"), "{engine}: {fault}");
                }
                Err(other) => panic!("{engine}, {offset}: {other:?}"),
            }
        }
    }
}

/// What is called through a pointer is one of five thousand, at each of two hundred calls over which four thousand
/// registers live: the code is no larger for it.
#[test]
fn many_functions_behind_a_pointer_are_no_burden() {
    use std::fmt::Write as _;
    let functions: String = (0..5000).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, ".func z{i} ()\n{{\nret;\n}}");
        text
    });
    let names: Vec<String> = (0..5000).map(|i| format!("z{i}")).collect();
    let table = format!(".global .u64 table[5000] = {{{}}};", names.join(","));
    let loads: String = (0..4000).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "ld.global.u32 %a{i}, [%rd1+{}];", i % 8 * 4);
        text
    });
    let sums: String = (0..4000).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "add.u32 %r5, %r5, %a{i};");
        text
    });
    let inside = format!(
        ".reg .b32 %a<4000>;\nld.global.u64 %rd4, [table+800];\nmov.u32 %r5, 0;\n{loads}\
         q: .callprototype _ ();\n{}{sums}",
        "call %rd4, (), q;\n".repeat(200)
    );
    let text = module(&format!("{functions}{table}"), &inside, "", "st.global.u32 [%rd1+32], %r5;");
    let bench = Bench::new();
    let config = LaunchConfig::new(1, 1);
    for (_, options) in engines() {
        let found = bench.run(&text, 3, &config, &options).unwrap();
        assert_eq!(found[8], 3 * 500, "the first of eight words is 3");
    }
}

/// Functions that call each other, and one of them a third with a large frame, have room for all of them, in whichever
/// order they are declared and whichever is called first.
#[test]
fn functions_that_call_each_other_have_room() {
    let big = ".func big ()\n{\n.local .align 4 .b8 room[102400];\n.reg .b32 %w;\nmov.u32 %w, 1;\n\
               st.local.u32 [room+102396], %w;\nret;\n}\n";
    let round = |name: &str, other: &str, then: &str| {
        format!(
            ".func {name} (.param .b32 x)\n{{\n.reg .b32 %w;\n.reg .pred %q;\n.param .b32 a;\nld.param.b32 %w, [x];\n\
             setp.eq.u32 %q, %w, 0;\n@%q bra END;\nsub.u32 %w, %w, 1;\nst.param.b32 [a], %w;\ncall {other}, (a);\nret;\n\
             END:\n{then}ret;\n}}\n"
        )
    };
    let (b, c) = (round("b", "c", "call big, ();\n"), round("c", "b", ""));
    let bench = Bench::new();
    for (first, outside) in [
        ("b", format!("{big}.func c (.param .b32 x);\n{b}{c}")),
        ("c", format!("{big}.func b (.param .b32 x);\n{c}{b}")),
    ] {
        for (called, depth) in [("b", 2), ("c", 1), ("c", 3)] {
            let inside = format!(
                ".param .b32 a;\nmov.u32 %r5, {depth};\nst.param.b32 [a], %r5;\ncall.uni {called}, (a);"
            );
            let text = module(&outside, &inside, "", "st.global.u32 [%rd1+8], %r5;");
            for (engine, options) in engines() {
                let found = bench.run(&text, 0, &LaunchConfig::new(1, 8), &options);
                let found = found.map(|words| words[2]);
                assert!(
                    matches!(found, Ok(n) if n == depth),
                    "{engine}, {first}: {found:?}\n{text}"
                );
            }
        }
    }
}
