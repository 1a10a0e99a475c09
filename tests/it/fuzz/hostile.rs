//! Short texts that ask for much: each is refused or done, soon, without taking the machine's memory.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use warpaint::device::{Arguments, Device, Error, FaultKind, LaunchConfig, Memory};

/// Longest that loading one may take, on a busy machine and without optimisation.
const LIMIT: Duration = Duration::from_secs(90);

fn module(outside: &str, inside: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{outside}\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n{inside}\nret;\n}}\n"
    )
}

#[expect(unsafe_code, reason = "the CPU device checks every access")]
fn run(device: &Device, text: &str, memory: &Memory) -> Result<(), Error> {
    let function = device.load(text)?.function("k")?;
    let stream = device.stream()?;
    let mut arguments = Arguments::new();
    arguments.push(&memory.address());
    // SAFETY: the CPU device checks every access.
    unsafe { stream.launch(&function, &LaunchConfig::new(1, 32), &arguments) }?;
    stream.synchronize()
}

/// Does not load.
#[track_caller]
fn refused(text: &str) {
    let started = Instant::now();
    let device = Device::cpu().unwrap();
    let memory = device.alloc(64).unwrap();
    let result = run(&device, text, &memory);
    let refused = matches!(
        result,
        Err(Error::Load { .. } | Error::OutOfMemory { .. } | Error::InvalidLaunch { .. })
    );
    assert!(refused, "{result:?}");
    assert!(started.elapsed() < LIMIT, "it took {:?}", started.elapsed());
}

/// Loads and runs.
#[track_caller]
fn runs(text: &str) {
    let started = Instant::now();
    let device = Device::cpu().unwrap();
    let memory = device.alloc(64).unwrap();
    run(&device, text, &memory).unwrap();
    assert!(started.elapsed() < LIMIT, "it took {:?}", started.elapsed());
}

/// Loads or is refused; what takes the square of the text's length takes far longer than the limit, or all memory.
#[track_caller]
fn ends(what: &str, text: &str) {
    let started = Instant::now();
    match Device::cpu().unwrap().load(text) {
        Ok(_) | Err(Error::Load { .. } | Error::UnsupportedPtx { .. }) => {}
        Err(error) => panic!("{what}: {error:?}"),
    }
    assert!(started.elapsed() < LIMIT, "{what} took {:?}", started.elapsed());
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn names_are_found_in_a_time_in_proportion_to_the_text() {
    let missing = lines(150_000, |n| format!("bra L{n}x;")).replace('\n', " ");
    ends("labels that stand nowhere", &module("", &missing));
    let singles = lines(40_000, |n| format!(".reg .b32 a{n}x7;"));
    let ranges = lines(40_000, |n| format!(".reg .b32 b{n}x<2>;"));
    ends("names and ranges", &module("", &format!("{{ {singles} }} {{ {ranges} }}")));
    let used = lines(40_000, |n| format!("mov.b32 b{}x1, 1;", 39_999 - n % 100));
    ends("ranges", &module("", &format!("{ranges}\n{used}")));
    let same = lines(40_000, |_| ".reg .b32 c<2>;".to_owned());
    refused(&module("", &format!("{same}\nmov.b32 c1, 1;")));
}

#[test]
fn control_flow_is_found_in_a_time_in_proportion_to_the_text() {
    let labels = lines(10_000, |n| format!("L{n}x: add.u32 %r1, %r1, 1;"));
    let names = lines(10_000, |n| format!("L{n}x")).replace('\n', ", ");
    let jumps = "brx.idx %r1, T;\n".repeat(2_000);
    let inside = format!("mov.u32 %r1, 0;\nT: .branchtargets {names};\n{jumps}{labels}");
    ends("tables of labels", &module("", &inside));

    // Cranelift hands every register that lives on along each edge.
    let labels = lines(1_000, |n| format!("L{n}x: add.u32 %r1, %r1, 1;"));
    let names = lines(1_000, |n| format!("L{n}x")).replace('\n', ", ");
    let jumps = "brx.idx %r1, T;\n".repeat(200);
    let begin = lines(100, |n| format!("mov.u32 a{n}, %tid.x;"));
    let end = lines(100, |n| format!("st.global.u32 [%rd1], a{n};"));
    let inside = format!(
        ".reg .b32 a<100>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, 0;\n{begin}\nT: .branchtargets {names};\n\
         {jumps}{labels}\n{end}"
    );
    let error = Device::cpu().unwrap().load(&module("", &inside)).unwrap_err().to_string();
    assert!(error.contains("live for too long"), "{error}");

    let begins = lines(20_000, |n| format!("L{n}x: add.u32 %r1, %r1, 1;"));
    let repeats = lines(20_000, |n| format!("@%p1 bra L{}x;", 19_999 - n));
    let inside = format!(
        "ld.param.u64 %rd1, [p];\n{begins}\nld.volatile.global.u32 %r2, [%rd1];\n\
         setp.eq.u32 %p1, %r2, 1000;\n{repeats}"
    );
    ends("loops in loops", &module("", &inside));

    let branches = "@%p1 bra L;\n".repeat(200_000);
    let inside = format!(".reg .b32 x<200000>;\nsetp.eq.u32 %p1, 1, 1;\n{branches}L: bar.sync 0;");
    ends("registers by blocks", &module("", &inside));

    let moves = lines(60_000, |n| format!("mov.b64 a{n}, a{};", n + 1));
    let inside = format!(
        ".reg .b64 a<60002>;\nbra S;\n{moves}\nS: ld.param.u64 a60000, [p];\nst.global.u32 [a0], 1;"
    );
    ends("a chain from its end", &module("", &inside));

    let functions = lines(20_000, |n| format!(".func f{n}x()\n{{ ret; }}"));
    let zeros = vec!["0"; 500_000].join(",");
    let outside = format!(".global .u32 big[500000] = {{{zeros}}};\n{functions}");
    ends("functions and initial values", &module(&outside, ""));
    let functions = lines(40_000, |n| format!(".func f{n}x()\n{{ .shared .b8 s; ret; }}"));
    ends("functions and shared variables", &module(&functions, ""));
}

#[test]
fn what_callees_declare_counts_where_they_become_part_of_callers() {
    let calls = "call f;\n".repeat(7_000);
    let with = |declared: &str| {
        let outside = format!(".func f()\n{{\n{declared}\nbar.sync 0;\nret;\n}}");
        module(&outside, &calls)
    };
    for declared in [".reg .b32 r<1000000>;", &lines(20_000, |n| format!(".local .b8 l{n}x[1];"))] {
        let error = Device::cpu().unwrap().load(&with(declared)).unwrap_err().to_string();
        assert!(error.contains("too large to be part of their callers"), "{error}");
    }
}

#[test]
fn the_first_hundred_faults_are_told() {
    let wrong = "mov.b64 %rd1, %r1;\n".repeat(100_000);
    let error = Device::cpu().unwrap().load(&module("", &wrong)).unwrap_err().to_string();
    assert!(error.matches("register `%r1`").count() == 100, "{error}");
}

#[test]
fn sizes_beyond_all_bounds_are_refused() {
    let write = "mov.u32 %r1, 1;\nst.shared.u32 [s+100000], %r1;";
    refused(&module(".shared .b8 s[4294967312];", write));
    refused(&module(".shared .b8 s[18446744073709551615];\n.shared .b8 t[16];", write));
    refused(&module("", ".shared .b8 s[4294967312];\nst.shared.u32 [s+100000], 1;"));
    refused(&module("", ".local .b8 l[4294967312];\nst.local.u32 [l+100000], 1;"));
    refused(&module("", ".local .align 2147483648 .b8 l[4];\nst.local.u32 [l], 1;"));
    refused(&module(".global .b8 g[1099511627776];", "st.global.u32 [g], 1;"));
    refused(&module(".global .b8 g[9223372036854775808][4];", "st.global.u32 [g], 1;"));
    refused(&module(".global .b8 g[0][9223372036854775808][4] = {1};", ""));
    refused(&module(".global .b64 g[][9223372036854775808] = {{1}, {2}};", ""));
    refused(&module(".func f(.param .b8 x[4294967312]) { st.param.u32 [x+100000], 1; ret; }", ""));
    let call = ".param .b8 x[4294967312];\nst.param.u32 [x+100000], 1;\ncall f, (x);";
    refused(&module(".func f(.param .b8 x[16]) { ret; }", call));
    refused(&module(&".func f() {\n.reg .b32 %r<1048570>;\nret;\n}\n".replace('f', "f0"), &{
        let mut text = String::new();
        for label in 0..4000 {
            let _ = writeln!(text, "L{label}: bra L{label};");
        }
        text + ".reg .b32 %x<1048000>;"
    }));
    let mut text = String::new();
    for at in 0..20 {
        let _ = writeln!(text, ".func f{at}()\n{{\n.reg .b32 %r<1048576>;\nret;\n}}");
    }
    refused(&module(&text, ""));
}

#[test]
fn nesting_has_an_end() {
    refused(&module("", &"{".repeat(100_000)));
    refused(&module("", &format!("mov.u32 %r1, {}1", "{".repeat(100_000))));
    refused(&module(&format!(".global .b8 g[] = {}", "{".repeat(100_000)), ""));
    refused(&format!(".func {}", "(".repeat(100_000)));
    let fine = format!("{}{}", "{".repeat(100), "}".repeat(100));
    runs(&module("", &fine));
}

#[test]
fn large_arrays_take_only_the_memory_that_is_used() {
    let g =
        ".global .align 4 .b8 g[1000000000] = {1, 2, 3, 4};\n.global .align 4 .b8 h[1000000000];";
    runs(&module(g, "ld.global.u32 %r1, [g];\nst.global.u32 [h+999999996], %r1;"));
    runs(&module("", ".reg .b32 %many<1000000>;\nmov.u32 %many999999, 7;"));
}

/// Places that are 3000 inlined calls deep, one for each of 3000 loads.
#[test]
fn long_chains_of_inlined_calls_are_cut() {
    let mut text = String::from(".loc 1 1 1\n");
    for line in 2..3000 {
        let before = line - 1;
        let _ = writeln!(text, ".loc 1 {line} 1, function_name f, inlined_at 1 {before} 1");
        text.push_str("ld.global.u32 %r1, [%rd1];\n");
    }
    let inside = format!("ld.param.u64 %rd1, [p];\n{text}");
    let after = ".file 1 \"a.cu\"\n.section .debug_str\n{\nf:\n.b8 102\n.b8 0\n}\n";
    runs(&(module("", &inside) + after));
}

/// Frames larger than the stack of the thread that launches.
#[test]
fn large_frames_have_a_stack_or_are_refused() {
    let many = |count: usize| {
        let mut text = String::from(".reg .b32 %x;\n");
        for at in 0..count {
            let _ = writeln!(
                text,
                ".param .align 4 .b8 x{at}[60000];\nst.param.u32 [x{at}+59996], {at};"
            );
        }
        for at in 0..count {
            let _ = writeln!(text, "ld.param.u32 %x, [x{at}+59996];");
        }
        text
    };
    runs(&module("", &many(8)));
    refused(&module("", &many(9)));
    let f = format!(".func f() {{\n{}\ncall f;\nret;\n}}", many(8));
    let device = Device::cpu().unwrap();
    let memory = device.alloc(64).unwrap();
    let result = run(&device, &module(&f, "call f;"), &memory);
    assert!(matches!(result, Err(Error::Fault(fault)) if fault.kind == FaultKind::StackOverflow));
}

/// Code for groups of threads writes all live registers to memory wherever threads may part.
#[test]
fn what_is_too_large_for_groups_runs_without_them() {
    let mut text = String::from(".reg .f32 v<250>;\nmov.u32 %r1, %tid.x;\n");
    for at in 0..250 {
        let _ = writeln!(text, "add.u32 %r1, %r1, {at};\ncvt.rn.f32.u32 v{at}, %r1;");
    }
    for branch in 0..150 {
        let step = |factor: usize| {
            let one = |n: usize| {
                let at = |k: usize| (branch * 8 + n) * k % 250;
                format!("fma.rn.f32 v{}, v{}, v{}, v{};", at(factor), at(5), at(7), at(11))
            };
            lines(8, one)
        };
        let _ = writeln!(
            text,
            "setp.lt.f32 %p1, v{}, 0f40400000;\n@%p1 bra E{branch}x;\n{}\nbra D{branch}x;\nE{branch}x:\n{}\nD{branch}x:",
            branch * 7 % 250,
            step(3),
            step(13),
        );
    }
    let sum = lines(250, |n| format!("add.rn.f32 v0, v0, v{n};"));
    runs(&module("", &format!("{text}ld.param.u64 %rd1, [p];\n{sum}\nst.global.f32 [%rd1], v0;")));
}

#[test]
fn many_live_registers_are_kept() {
    let mut text = String::from(".reg .b64 %v<2000>;\nld.param.u64 %rd1, [p];\n");
    for at in 0..2000 {
        let _ = writeln!(text, "ld.volatile.global.u64 %v{at}, [%rd1];");
    }
    for at in 0..2000 {
        let _ = writeln!(text, "add.u64 %rd2, %rd2, %v{at};");
    }
    runs(&module("", &(text + "st.global.u64 [%rd1+8], %rd2;")));
}

/// 2^40 calls without a loop.
#[test]
#[expect(unsafe_code, reason = "the CPU device checks every access")]
fn calls_upon_calls_are_cancelled() {
    let mut text = String::from(".func f0() { ret; }\n");
    for at in 1..40 {
        let before = at - 1;
        let _ = writeln!(text, ".func f{at}() {{ call f{before}; call f{before}; ret; }}");
    }
    let text = module(&text, "call f39;");
    let device = Device::cpu().unwrap();
    let function = device.load(&text).unwrap().function("k").unwrap();
    let stream = device.stream().unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&0_u64);
    // SAFETY: the CPU device checks every access.
    unsafe { stream.launch(&function, &LaunchConfig::new(1, 1), &arguments) }.unwrap();
    std::thread::sleep(Duration::from_millis(30));
    let started = Instant::now();
    stream.cancel().unwrap();
    let result = stream.synchronize();
    assert!(matches!(result, Err(Error::Fault(fault)) if fault.kind == FaultKind::Cancelled));
    assert!(started.elapsed() < Duration::from_secs(5));
}
