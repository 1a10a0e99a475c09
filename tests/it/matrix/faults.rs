//! What is wrong is told with line and thread, by both engines.

use warpaint::device::{
    Arguments, Device, Error, Fault, FaultKind, LaunchConfig, cpu::LaunchOptions,
};

use crate::support::launch_with;

/// The fault of a block of so many threads whose kernel has one pointer, to `bytes` bytes.
fn faults(body: &str, threads: u32, bytes: usize) -> Vec<Fault> {
    let text = format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\n\
         .shared .align 16 .b8 tile[1024];\nld.param.u64 %rd0, [p];\nmov.u32 %r0, %tid.x;\n\
         .loc 1 7 1\n{body}\nret;\n}}\n.file 1 \"k.cu\"\n"
    );
    let mut found = Vec::new();
    for options in [LaunchOptions::default(), LaunchOptions::interpreted()] {
        let device = Device::cpu().unwrap();
        let module = device.load(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let (function, stream) = (module.function("k").unwrap(), device.stream().unwrap());
        let memory = device.alloc(bytes).unwrap();
        let mut arguments = Arguments::new();
        arguments.push(&memory.address());
        let config = LaunchConfig::new(1, threads);
        launch_with(&stream, &function, &config, &arguments, &options).unwrap();
        match stream.synchronize() {
            Err(Error::Fault(fault)) => found.push(*fault),
            other => panic!("{other:?} where a fault was due"),
        }
    }
    found
}

/// That both engines tell of it in the same words.
fn expect(body: &str, threads: u32, bytes: usize, kind: &FaultKind, thread: u32) {
    for fault in faults(body, threads, bytes) {
        assert_eq!(&fault.kind, kind, "{fault}");
        assert_eq!(fault.thread.x, thread, "{fault}");
        let place = fault.location.clone().unwrap();
        assert_eq!((place.file.as_str(), place.line), ("k.cu", 7), "{fault}");
    }
}

const LOAD: &str = "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 \
                    {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd0], ";
const STORE: &str = "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd0], \
                     {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, ";

#[test]
fn a_matrix_that_is_larger_than_its_memory_is_a_fault() {
    // Its last row begins at byte 15 * 64 and ends with the buffer, or does not.
    for (instruction, kind) in [(LOAD, FaultKind::InvalidRead), (STORE, FaultKind::InvalidWrite)] {
        let body = format!("{instruction}16;");
        // Row 15 is row 7 of the lower block, which threads 28 to 31 hold.
        expect(&body, 32, 1024 - 4, &kind, 30);
        expect(&body, 32, 1024 - 64, &kind, 28);
        let faults = faults(&format!("{instruction}4096;"), 32, 1024);
        assert!(faults.iter().all(|fault| fault.kind == kind && fault.access.is_some()));
    }
}

#[test]
fn lines_that_are_not_aligned_are_a_fault() {
    for instruction in [LOAD, STORE] {
        let body = format!("{instruction}18;");
        expect(&body, 32, 2048, &FaultKind::Misaligned, 4);
    }
    let body = "shl.b32 %r1, %r0, 4;\nmov.u32 %r2, tile;\nadd.u32 %r1, %r1, %r2;\n\
                setp.eq.u32 %p0, %r0, 5;\n@%p0 add.u32 %r1, %r1, 8;\n";
    let load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r1];";
    expect(&format!("{body}{load}"), 32, 16, &FaultKind::Misaligned, 5);
    let store = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r3};";
    expect(&format!("{body}{store}"), 32, 16, &FaultKind::Misaligned, 5);
}

#[test]
fn a_row_outside_shared_memory_is_a_fault() {
    let body = "shl.b32 %r1, %r0, 4;\nmov.u32 %r2, tile;\nadd.u32 %r1, %r1, %r2;\n\
                setp.eq.u32 %p0, %r0, 3;\n@%p0 add.u32 %r1, %r1, 1024;\n";
    let load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r1];";
    expect(&format!("{body}{load}"), 32, 16, &FaultKind::InvalidRead, 3);
    let store = "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%r3, %r4};";
    expect(&format!("{body}{store}"), 32, 16, &FaultKind::InvalidWrite, 3);
    // Whose address is not asked for, gives any.
    let body = body.replace("%r0, 3", "%r0, 9");
    let device = Device::cpu().unwrap();
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n.reg .b32 %r<8>;\n\
         .reg .pred %p<2>;\n.shared .align 16 .b8 tile[1024];\nmov.u32 %r0, %tid.x;\n{body}{load}\nret;\n}}\n"
    );
    let function = device.load(&text).unwrap().function("k").unwrap();
    for options in [LaunchOptions::default(), LaunchOptions::interpreted()] {
        let stream = device.stream().unwrap();
        let config = LaunchConfig::new(1, 32);
        launch_with(&stream, &function, &config, &Arguments::new(), &options).unwrap();
        stream.synchronize().unwrap();
    }
}

#[test]
fn threads_that_are_missing_are_a_fault() {
    let mma =
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};";
    // No thread of the upper half was ever there.
    expect(mma, 16, 16, &FaultKind::Divergence, 0);
    // It has ended.
    expect(
        &format!("setp.lt.u32 %p0, %r0, 16;\n@%p0 exit;\n{mma}"),
        32,
        16,
        &FaultKind::Divergence,
        16,
    );
    // It goes another way, and waits for the others there.
    let apart = format!(
        "setp.lt.u32 %p0, %r0, 16;\n@%p0 bra APART;\n{mma}\nbra END;\nAPART:\nbar.sync 0;\nEND:"
    );
    expect(&apart, 32, 16, &FaultKind::Divergence, 16);
    // It waits at another instruction, although that is the same operation.
    let halves =
        format!("setp.lt.u32 %p0, %r0, 16;\n@%p0 bra APART;\n{mma}\nbra END;\nAPART:\n{mma}\nEND:");
    expect(&halves, 32, 16, &FaultKind::Divergence, 0);
}
