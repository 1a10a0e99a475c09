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
