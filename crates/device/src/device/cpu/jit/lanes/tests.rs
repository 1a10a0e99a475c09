//! The same kernels with and without groups: the same bits, the same faults.

use super::Lanes;
use crate::device::{
    Arguments, Error, Fill, LaunchConfig,
    cpu::{Device, LaunchOptions, Module},
};

/// Words that kernels read and write.
const WORDS: usize = 1 << 14;

pub(super) fn module_text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n\
         {{\n.reg .pred %p<20>;\n.reg .b16 %h<9>;\n.reg .f32 %f<30>;\n.reg .b32 %r<40>;\n.reg .f64 %d<20>;\n\
         .reg .b64 %rd<30>;\n.local .align 16 .b8 own[32];\n.shared .align 16 .b8 sh[4096];\n\
         ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u32 %r1, [n];\n\
         mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.s32 %r5, %r2, %r3, %r4;\n\
         mul.wide.s32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n{body}\nret;\n}}\n"
    )
}

/// What the second buffer holds afterwards, or the fault.
pub(super) fn run(
    body: &str,
    config: &LaunchConfig,
    n: u32,
    lanes: Lanes,
) -> (Vec<u8>, Option<String>) {
    let device = Device::new().unwrap();
    let module = Module::link(device.shared.clone(), &[("", &module_text(body))], lanes).unwrap();
    let function = module.function("k").unwrap();
    assert_eq!(function.kernel().width > 1, lanes == Lanes::Always, "{body}");
    let stream = device.stream(crate::device::StreamOptions::default()).unwrap();
    let mut state = 7u32;
    let mut input = Vec::new();
    for _ in 0..WORDS {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        input.extend((state >> 3).to_le_bytes());
    }
    let [a, b] = [(); 2].map(|()| device.alloc(WORDS * 4).unwrap());
    // Behind the buffers lies nothing: a scratch of the device's own would take the first bytes beyond.
    device.shared.arena.alloc(1, crate::device::cpu::memory::Permission::ReadOnly).unwrap();
    stream.upload(&slice(&a).into(), &input).unwrap();
    stream.fill(&slice(&b).into(), Fill::U32(0)).unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&a.address()).push(&b.address()).push(&n);
    let options = LaunchOptions { lanes, ..LaunchOptions::default() };
    stream.launch_with(&function, config, &arguments, &options).unwrap();
    let fault = match stream.synchronize() {
        Ok(()) => None,
        Err(Error::Fault(fault)) => {
            // The buffers lie elsewhere in each run, the addresses of other state spaces do not.
            let at = fault.access.map(|(address, bytes)| {
                let from_buffer = address.wrapping_sub(b.address()).cast_signed();
                (
                    if from_buffer.unsigned_abs() < 1 << 30 {
                        from_buffer
                    } else {
                        address.cast_signed()
                    },
                    bytes,
                )
            });
            Some(format!("{:?} {:?} {:?} {at:?}", fault.kind, fault.block, fault.thread))
        }
        Err(error) => panic!("{error}"),
    };
    let bytes = stream.download(&slice(&b).into()).unwrap().wait_with(<[u8]>::to_vec).unwrap();
    (bytes, fault)
}

fn slice(memory: &crate::device::cpu::Memory) -> crate::device::Slice<'_> {
    crate::device::Slice::new(memory.device_id(), memory.address(), memory.bytes())
}

/// How many threads of the module's kernel `k` run side by side, wherever that is possible.
pub(super) fn width(text: &str) -> usize {
    let device = Device::new().unwrap();
    let module = Module::link(device.shared.clone(), &[("", text)], Lanes::Always);
    let module = module.unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.function("k").unwrap().kernel().width
}

pub(super) fn check(body: &str, config: &LaunchConfig, n: u32) {
    let [single, group] = [Lanes::Never, Lanes::Always].map(|lanes| run(body, config, n, lanes));
    assert_eq!(single.1, group.1, "{body}");
    if single.1.is_none() {
        assert!(single.0.iter().any(|byte| *byte != 0), "nothing was written: {body}");
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect()
        };
        let (single, group) = (words(&single.0), words(&group.0));
        let differ = (0..WORDS).find(|at| single[*at] != group[*at]);
        let values = differ.map(|at| (at, single[at], group[at]));
        assert_eq!(values, None, "word, one thread at a time, groups: {config:?}: {body}");
    }
}

const SHAPES: [(u32, u32); 4] = [(8, 64), (5, 96), (3, 36), (7, 33)];

fn check_all(body: &str, n: u32) {
    for (grid, block) in SHAPES {
        check(body, &LaunchConfig::new(grid, block), n);
    }
}

#[test]
fn threads_diverge_and_reconverge() {
    // A loop as long as the thread's value says, with a branch within; then a barrier, and a neighbour's result.
    let body = "ld.global.u32 %r6, [%rd4]; and.b32 %r7, %r6, 15; mov.u32 %r8, 0; mov.u32 %r9, 1;
        LOOP: setp.ge.u32 %p1, %r8, %r7; @%p1 bra DONE; and.b32 %r10, %r6, 1; setp.eq.s32 %p2, %r10, 0;
        @%p2 bra EVEN; mad.lo.s32 %r9, %r9, 3, %r8; bra NEXT; EVEN: shr.u32 %r9, %r9, 1; add.s32 %r9, %r9, %r6;
        NEXT: shr.u32 %r6, %r6, 1; add.s32 %r8, %r8, 1; bra LOOP;
        DONE: shl.b32 %r11, %r4, 2; mov.u32 %r12, sh; add.s32 %r13, %r12, %r11; st.shared.u32 [%r13], %r9;
        bar.sync 0; xor.b32 %r14, %r11, 4; setp.ge.u32 %p3, %r4, 32; selp.b32 %r14, %r11, %r14, %p3;
        add.s32 %r15, %r12, %r14; ld.shared.u32 %r16, [%r15]; sub.s32 %r17, %r16, %r8; st.global.u32 [%rd5], %r17;";
    check_widths(body, 0);
}

/// A body three times, for groups of each width: the number of statements decides which.
pub(super) fn widths(body: &str) -> [String; 3] {
    [0, 1, 2].map(|more| format!("{}{body}", "mov.u32 %r39, 0;".repeat(more)))
}

fn check_widths(body: &str, n: u32) {
    widths(body).iter().for_each(|body| check_all(body, n));
}

#[test]
fn indices_decide_how_often_threads_go_round() {
    // A counter, a flag, and a pointer live behind the loop. With `n` of 64 all of a group go round equally often, with
    // less some of a group more often than others.
    let body = "div.u32 %r6, %r4, %r1; and.b32 %r6, %r6, 3; mov.u32 %r8, 0; mov.u64 %rd6, %rd4; setp.eq.u32 %p2, %r1, 0; mov.u32 %r9, 1;
        LOOP: ld.global.u32 %r10, [%rd6]; xor.b32 %r9, %r9, %r10; add.s32 %r8, %r8, 1; add.s64 %rd6, %rd6, 128; not.pred %p2, %p2;
        setp.le.u32 %p1, %r8, %r6; @%p1 bra LOOP;
        ld.global.u32 %r11, [%rd6]; add.s32 %r9, %r9, %r11; mad.lo.s32 %r9, %r8, 1000, %r9; selp.b32 %r12, 7, 9, %p2;
        add.s32 %r9, %r9, %r12; shl.b32 %r13, %r4, 2; mov.u32 %r14, sh; add.s32 %r13, %r13, %r14; st.shared.u32 [%r13], %r9;
        bar.sync 0; ld.shared.u32 %r15, [sh+8]; add.s32 %r9, %r9, %r15; mad.lo.s32 %r9, %r8, 31, %r9; st.global.u32 [%rd5], %r9;";
    for n in [1, 6, 16, 64] {
        check_widths(body, n);
    }
}

#[test]
fn shuffles_and_votes_have_the_same_results_in_groups_of_each_width() {
    let body = "ld.global.u32 %r6, [%rd4]; mov.u32 %r7, -1;
        shfl.sync.bfly.b32 %r8|%p1, %r6, 5, 31, %r7; shfl.sync.up.b32 %r9|%p2, %r8, 3, 0, %r7; shfl.sync.down.b32 %r10|%p3, %r9, 9, 31, %r7;
        shfl.sync.idx.b32 %r11|%p4, %r10, 13, 31, %r7; shfl.sync.bfly.b32 %r12|%p5, %r11, 16, 31, %r7; shfl.sync.down.b32 %r16|%p6, %r10, 2, 0x1807, %r7;
        setp.gt.u32 %p7, %r16, %r6; vote.sync.ballot.b32 %r13, %p7, %r7; selp.b32 %r14, 3, 5, %p2; selp.b32 %r15, 7, 11, %p3;
        add.s32 %r12, %r12, %r13; xor.b32 %r12, %r12, %r14; xor.b32 %r12, %r12, %r15; xor.b32 %r12, %r12, %r10; st.global.u32 [%rd5], %r12;";
    check_widths(body, 0);
}

#[test]
fn threads_leave_a_loop_at_different_turns_and_go_on_together() {
    // The counter and a pointer are the same for all within the loop, not behind it; there the threads diverge again,
    // some by way of an array of their own.
    let body = "ld.global.u32 %r6, [%rd4]; and.b32 %r7, %r6, 31; mov.u32 %r8, 0; mov.f32 %f1, 0f3F800000; mov.u64 %rd6, %rd1;
        LOOP: ld.global.u32 %r9, [%rd6]; and.b32 %r9, %r9, 255; cvt.rn.f32.u32 %f2, %r9; fma.rn.f32 %f1, %f1, 0f3F000000, %f2;
        add.s32 %r8, %r8, 1; add.s64 %rd6, %rd6, 4; setp.gt.u32 %p1, %r8, %r7; @%p1 bra OUT; setp.lt.u32 %p2, %r8, 24; @%p2 bra LOOP;
        OUT: ld.global.u32 %r10, [%rd6]; cvt.rn.f32.u32 %f3, %r8; add.f32 %f1, %f1, %f3; and.b32 %r11, %r6, 64; setp.eq.u32 %p3, %r11, 0;
        mov.u64 %rd7, own; @%p3 bra FAR; st.local.u32 [own+4], %r10; and.b32 %r12, %r10, 1; mul.wide.u32 %rd8, %r12, 4; add.s64 %rd9, %rd7, %rd8;
        st.local.u32 [%rd9], %r8; ld.local.u32 %r13, [own+4]; add.s32 %r10, %r10, %r13; bra BACK; FAR: mul.f32 %f1, %f1, %f1;
        BACK: mov.b32 %r14, %f1; xor.b32 %r14, %r14, %r10; add.s32 %r14, %r14, %r8; st.global.u32 [%rd5], %r14;";
    check_widths(body, 0);
    // The same, and again, in a loop that all leave together.
    let inner = "mov.u32 %r6, 0; mov.u32 %r7, 0; L: add.s32 %r9, %r5, %r6; and.b32 %r9, %r9, 7; mov.u32 %r8, 0;
        M: setp.ge.u32 %p1, %r8, %r9; @%p1 bra N; add.s32 %r7, %r7, %r8; mad.lo.s32 %r7, %r7, 5, %r6; add.s32 %r8, %r8, 1; bra M;
        N: add.s32 %r7, %r7, %r8; xor.b32 %r10, %r7, %r5; and.b32 %r10, %r10, 3; setp.ne.u32 %p2, %r10, 1; @%p2 add.s32 %r7, %r7, 1;
        add.s32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 100; @%p3 bra L; st.global.u32 [%rd5], %r7;";
    check_all(inner, 0);
}

#[test]
fn some_return_and_the_others_meet_at_barriers_and_shuffles() {
    let body = "setp.ge.u32 %p1, %r5, %r1; @%p1 bra END; ld.global.f32 %f1, [%rd4]; mov.b32 %r6, %f1; and.b32 %r6, %r6, 1023;
        cvt.rn.f32.u32 %f2, %r6; mov.u32 %r7, 0; L: mov.b32 %r8, %f2; activemask.b32 %r10; shfl.sync.bfly.b32 %r9|%p2, %r8, 1, 31, %r10;
        mov.b32 %f3, %r9; @%p2 add.f32 %f2, %f2, %f3; add.s32 %r7, %r7, 1; setp.lt.s32 %p3, %r7, 3; bar.sync 0; @%p3 bra L;
        st.global.f32 [%rd5], %f2; END:";
    for n in [10_000, 63, 30, 2, 1] {
        check_all(body, n);
    }
}

#[test]
fn arithmetic_has_the_same_bits() {
    let body = "ld.global.u32 %r6, [%rd4]; ld.global.f32 %f1, [%rd4]; ld.global.u32 %r7, [%rd4+4]; mov.b32 %f2, %r7;
        cvt.rn.f32.s32 %f3, %r6; cvt.rn.f32.u32 %f4, %r7; cvt.rn.f64.s32 %d1, %r6; cvt.rn.f64.u32 %d2, %r7;
        fma.rn.f32 %f5, %f3, %f4, %f1; div.rn.f32 %f6, %f5, %f4; sqrt.rn.f32 %f7, %f4; min.f32 %f8, %f6, %f7; max.f32 %f8, %f8, %f2;
        rsqrt.approx.f32 %f9, %f4; neg.f32 %f9, %f9; copysign.f32 %f10, %f9, %f6; abs.f32 %f11, %f10; cvt.rni.s32.f32 %r8, %f6;
        cvt.rzi.u32.f32 %r9, %f7; cvt.rmi.f32.f32 %f12, %f6; fma.rn.f64 %d3, %d1, %d2, %d1; div.rn.f64 %d4, %d3, %d2;
        cvt.rn.f32.f64 %f13, %d4; cvt.f64.f32 %d5, %f12; setp.gt.f64 %p1, %d4, %d5; selp.f64 %d6, %d4, %d5, %p1;
        setp.ltu.f32 %p2, %f6, %f8; setp.lt.and.s32 %p3|%p4, %r6, %r7, %p2; selp.b32 %r10, %r6, %r7, %p3; selp.b32 %r11, %r8, %r9, %p4;
        mul.hi.u32 %r12, %r6, %r7; mul.hi.s32 %r13, %r6, %r7; mul.wide.u32 %rd6, %r6, %r7; mul.wide.s32 %rd7, %r8, %r9;
        add.s64 %rd8, %rd6, %rd7; shr.u64 %rd9, %rd8, 17; xor.b64 %rd10, %rd8, %rd9; mov.b64 {%r14, %r15}, %rd10; mov.b64 %rd11, {%r15, %r12};
        cvt.u32.u64 %r16, %rd11; shl.b32 %r17, %r6, 7; shr.s32 %r18, %r13, 3; mov.b32 %r19, %f13; mov.b64 {%r20, %r21}, %d6;
        rem.s32 %r22, %r6, 77; popc.b32 %r23, %r7; clz.b32 %r24, %r6; brev.b32 %r25, %r6; cvt.u16.u32 %h1, %r7; mul.lo.s16 %h2, %h1, %h1;
        cvt.u32.u16 %r26, %h2; mul.lo.s64 %rd12, %rd10, %rd11; cvt.u32.u64 %r27, %rd12; not.pred %p5, %p2; xor.pred %p6, %p5, %p1;
        selp.b32 %r28, 5, %r6, %p6; max.s32 %r29, %r6, %r13; min.u32 %r30, %r7, %r12; mov.b32 %r31, %f12; mov.b32 %r32, %f8; mov.b32 %r33, %f11;
        add.s32 %r34, %r8, %r9; xor.b32 %r34, %r34, %r10; add.s32 %r34, %r34, %r11; xor.b32 %r34, %r34, %r14; add.s32 %r34, %r34, %r16;
        xor.b32 %r34, %r34, %r17; add.s32 %r34, %r34, %r18; xor.b32 %r34, %r34, %r19; add.s32 %r34, %r34, %r20; xor.b32 %r34, %r34, %r21;
        add.s32 %r34, %r34, %r22; xor.b32 %r34, %r34, %r23; add.s32 %r34, %r34, %r24; xor.b32 %r34, %r34, %r25; add.s32 %r34, %r34, %r26;
        xor.b32 %r34, %r34, %r27; add.s32 %r34, %r34, %r28; xor.b32 %r34, %r34, %r29; add.s32 %r34, %r34, %r30; xor.b32 %r34, %r34, %r31;
        add.s32 %r34, %r34, %r32; xor.b32 %r34, %r34, %r33; st.global.u32 [%rd5], %r34;";
    check_all(body, 0);
}

#[test]
fn roots_of_numbers_that_are_flushed() {
    // Subnormal and just normal ones, among operations that do not flush.
    let body = "ld.global.u32 %r6, [%rd4]; and.b32 %r6, %r6, 0x80ffffff; mov.b32 %f1, %r6; rsqrt.approx.ftz.f32 %f2, %f1;
        sqrt.rn.ftz.f32 %f3, %f1; sqrt.rn.f32 %f4, %f1; mov.b32 %r7, %f2; mov.b32 %r8, %f3; mov.b32 %r9, %f4; xor.b32 %r7, %r7, %r8;
        add.s32 %r7, %r7, %r9; st.global.u32 [%rd5], %r7;";
    check_all(body, 0);
}

#[test]
fn rows_of_vectors_gathers_and_local_arrays() {
    let body = "mul.wide.s32 %rd6, %r5, 16; add.s64 %rd7, %rd1, %rd6; add.s64 %rd8, %rd2, %rd6; ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd7];
        ld.global.v2.f32 {%f5,%f6}, [%rd7+8]; ld.global.v2.f64 {%d1,%d2}, [%rd7]; ld.global.f32 %f7, [%rd7+4]; ld.global.u8 %r6, [%rd7+3];
        mov.b64 %rd9, %d2; cvt.u32.u64 %r7, %rd9; and.b32 %r8, %r7, 1023; mul.wide.u32 %rd10, %r8, 4; add.s64 %rd11, %rd1, %rd10;
        ld.global.u32 %r9, [%rd11]; mov.u64 %rd12, own; and.b32 %r10, %r9, 7; mul.wide.u32 %rd13, %r10, 4; add.s64 %rd14, %rd12, %rd13;
        st.local.v4.u32 [own], {%r6,%r7,%r8,%r9}; st.local.v4.u32 [own+16], {%r9,%r8,%r7,%r6}; st.local.u32 [%rd14], %r5;
        setp.lt.u32 %p1, %r10, 4; @%p1 bra S; add.s32 %r9, %r9, 1; S: ld.local.u32 %r11, [own+12]; ld.local.u32 %r12, [own+16]; add.s32 %r11, %r11, %r12;
        add.s32 %r11, %r11, %r9; mov.b32 %f8, %r11; st.global.v4.f32 [%rd8], {%f4,%f8,%f7,%f5};";
    for (grid, block) in SHAPES {
        check(body, &LaunchConfig::new(grid, block), 0);
    }
}

#[test]
fn indices_that_wrap_between_neighbours() {
    // i + 0x7fffffff - 2 wraps in every group; only those that do not are used.
    let body = "add.s32 %r6, %r5, 0x7ffffffd; cvt.s64.s32 %rd6, %r6; shr.s64 %rd7, %rd6, 3; cvt.u32.u64 %r7, %rd7; xor.b32 %r7, %r7, %r5;
        st.global.u32 [%rd5], %r7;";
    check_all(body, 0);
}

#[test]
fn the_thread_at_fault_is_named() {
    let check = |body: &str, config: &LaunchConfig, n: u32| {
        widths(body).iter().for_each(|body| check(body, config, n));
    };
    // The last threads are beyond the end, in the middle of a group; misaligned ones; one far off.
    let beyond = "add.s64 %rd6, %rd5, 65000; st.global.u32 [%rd6], %r5;";
    check(beyond, &LaunchConfig::new(3, 64), 0);
    check(
        "add.s64 %rd6, %rd5, 2; ld.global.u32 %r6, [%rd6]; st.global.u32 [%rd5], %r6;",
        &LaunchConfig::new(1, 64),
        0,
    );
    let one = "setp.eq.u32 %p1, %r5, 22; @%p1 mov.u64 %rd5, 64; ld.global.u32 %r6, [%rd5]; st.global.u32 [%rd5], %r5;";
    check(one, &LaunchConfig::new(1, 64), 0);
    let shared = "mul.lo.s32 %r6, %r5, 64; mov.u32 %r7, sh; add.s32 %r8, %r7, %r6; st.shared.u32 [%r8+8], %r5;";
    check(shared, &LaunchConfig::new(1, 128), 0);
    let before = "mul.wide.u32 %rd6, %r5, 4; add.s64 %rd7, %rd6, -4; st.shared.u32 [%rd7], %r5;";
    check(before, &LaunchConfig::new(1, 64), 0);
    let trap = "setp.eq.u32 %p1, %r5, 13; @%p1 trap; st.global.u32 [%rd5], %r5;";
    check(trap, &LaunchConfig::new(1, 64), 0);
}

#[test]
fn rows_are_prechecked() {
    // A stencil: the first and the last thread return; a fault only where the guard is wrong.
    let stencil = "add.s32 %r6, %r1, -1; setp.lt.s32 %p1, %r5, 1; setp.ge.s32 %p2, %r5, %r6; or.pred %p3, %p1, %p2; @%p3 bra END;
        ld.global.u32 %r7, [%rd4+-4]; ld.global.u32 %r8, [%rd4+4]; sub.s32 %r9, %r7, %r8; st.global.u32 [%rd5], %r9; END:";
    let turned = "setp.gt.s32 %p1, %r5, 0; setp.lt.s32 %p2, %r5, %r1; and.pred %p3, %p1, %p2; not.pred %p4, %p3; xor.pred %p5, %p4, %p4;
        setp.ge.or.u32 %p6|%p7, %r5, 400, %p4; @!%p6 bra IN; @%p5 exit; bra.uni END; IN: ld.global.u32 %r7, [%rd4]; selp.b32 %r7, %r7, 9, %p1;
        add.s32 %r7, %r7, 1; st.global.u32 [%rd5], %r7; END:";
    // Bounds by one comparison that wraps; an index that runs backwards; one thread, and all but one.
    let wraps = "add.s32 %r6, %r5, -70; setp.gt.u32 %p1, %r6, 100; @%p1 exit; mul.wide.u32 %rd6, %r6, 4; add.s64 %rd7, %rd1, %rd6;
        ld.global.u32 %r7, [%rd7]; st.global.u32 [%rd5], %r7;";
    let back = "sub.s32 %r6, %r1, %r5; setp.lt.s32 %p1, %r6, 0; @%p1 exit; add.s32 %r7, %r6, 1; st.global.u32 [%rd5], %r7;";
    let one = "setp.eq.s32 %p1, %r5, %r1; @%p1 bra ONE; st.global.u32 [%rd5], 5; bra.uni END; ONE: st.global.u32 [%rd5+65536], 6; END:";
    let but_one = "setp.ne.s32 %p1, %r5, 1000; @!%p1 exit; st.global.u32 [%rd5], 5;";
    // A few instructions that some threads go round, and what they write.
    let round = "mov.u32 %r6, 3; setp.lt.s32 %p1, %r5, %r1; @%p1 bra ON; mov.u32 %r6, 4; add.s32 %r6, %r6, %r5; ON: ld.global.u32 %r7, [%rd4];
        mul.wide.u32 %rd6, %r6, 4; add.s64 %rd7, %rd1, %rd6; ld.global.u32 %r8, [%rd7]; add.s32 %r7, %r7, %r8; st.global.u32 [%rd5], %r7;";
    // Each with the least `n` with which it writes something.
    let kernels =
        [(stencil, 3), (turned, 2), (wraps, 0), (back, 0), (one, 0), (but_one, 0), (round, 0)];
    for (body, least) in kernels {
        for n in [0, 3, 32, 33, 100] {
            if n >= least {
                check_all(body, n);
            }
        }
    }
}

#[test]
fn the_thread_of_a_row_that_is_at_fault_is_named() {
    let (store, load) =
        ("st.global.u32 [%rd6], %r5;", "ld.global.u32 %r7, [%rd6]; st.global.u32 [%rd5], %r7;");
    // In the last row's first thread, its last, in between; behind a fault nothing is written by later threads.
    for first_bad in [64, 95, 70, 66] {
        let beyond = format!("add.s64 %rd6, %rd5, {};", WORDS * 4 - first_bad * 4);
        for access in [store, load] {
            check(&format!("{beyond} {access}"), &LaunchConfig::new(1, 128), 0);
        }
    }
    let misaligned = "add.s64 %rd6, %rd5, 1; ld.global.u32 %r7, [%rd6]; st.global.u32 [%rd5], %r7;";
    check(misaligned, &LaunchConfig::new(1, 64), 0);
    let before = format!("add.s64 %rd6, %rd5, -128; {store}");
    check(&before, &LaunchConfig::new(1, 64), 0);
    let trap = "setp.gt.s32 %p1, %r5, 40; @%p1 trap; st.global.u32 [%rd5], %r5;";
    check(trap, &LaunchConfig::new(1, 64), 0);
}

#[test]
fn sums_rounded_down_have_the_same_bits() {
    // Any bits; zeros of both signs; what cancels, exactly or nearly; what is subnormal, or too large.
    let any = "ld.global.u32 %r6, [%rd4]; ld.global.u32 %r7, [%rd4+4]; ld.global.u32 %r8, [%rd4+8]; shl.b32 %r6, %r6, 3; shl.b32 %r7, %r7, 3;
        mov.b32 %f1, %r6; mov.b32 %f2, %r7; mov.b32 %f3, %r8; fma.rm.f32 %f4, %f1, %f2, %f3; st.global.f32 [%rd5], %f4;";
    let zeros = "and.b32 %r6, %r5, 1; shl.b32 %r6, %r6, 31; and.b32 %r7, %r5, 2; shl.b32 %r7, %r7, 30; mov.b32 %f1, %r6; mov.b32 %f2, %r7;
        fma.rm.f32 %f3, %f1, 0f3F800000, %f2; mov.b32 %r8, %f3; add.u32 %r8, %r8, 1; st.global.u32 [%rd5], %r8;";
    let cancels = "ld.global.u32 %r6, [%rd4]; and.b32 %r6, %r6, 0x807fffff; or.b32 %r6, %r6, 0x3f800000; mov.b32 %f1, %r6; and.b32 %r7, %r5, 3;
        cvt.rn.f32.u32 %f2, %r7; neg.f32 %f3, %f1; mul.rn.f32 %f4, %f3, %f1; fma.rn.f32 %f4, %f2, 0f33800000, %f4;
        fma.rm.f32 %f5, %f1, %f1, %f4; mov.b32 %r8, %f5; add.u32 %r8, %r8, 1; st.global.u32 [%rd5], %r8;";
    let tiny = "ld.global.u32 %r6, [%rd4]; and.b32 %r6, %r6, 0x80ffffff; mov.b32 %f1, %r6; fma.rm.f32 %f2, %f1, 0f3E99999A, 0f80000000;
        fma.rm.f32 %f3, %f1, 0f7F7FFFFF, %f1; fma.rm.sat.f32 %f4, %f1, %f1, 0f3F7FFFFF; mov.b32 %r7, %f2; mov.b32 %r8, %f3; mov.b32 %r9, %f4;
        xor.b32 %r7, %r7, %r8; add.u32 %r7, %r7, %r9; st.global.u32 [%rd5], %r7;";
    let huge = "ld.global.u32 %r6, [%rd4]; or.b32 %r6, %r6, 0x7e000000; and.b32 %r7, %r5, 1; shl.b32 %r7, %r7, 31; xor.b32 %r6, %r6, %r7;
        mov.b32 %f1, %r6; fma.rm.f32 %f2, %f1, 0f41200000, %f1; st.global.f32 [%rd5], %f2;";
    // The sum needs more than 53 bits: what is lost decides.
    let lost = "ld.global.u32 %r6, [%rd4]; and.b32 %r6, %r6, 0x807fffff; or.b32 %r6, %r6, 0x3f800000; mov.b32 %f1, %r6; and.b32 %r7, %r5, 1;
        shl.b32 %r7, %r7, 31; or.b32 %r7, %r7, 0x0d800000; mov.b32 %f2, %r7; fma.rm.f32 %f3, %f1, 0f3F800000, %f2; st.global.f32 [%rd5], %f3;";
    for body in [any, zeros, cancels, tiny, huge, lost] {
        check_all(body, 0);
    }
}

#[test]
fn a_few_instructions_round_which_some_go() {
    // An access, an atomic operation, what is written there and read behind it; all of a group, none, or some.
    let body = "ld.global.u32 %r6, [%rd4]; and.b32 %r7, %r6, 7; mov.u32 %r8, 5; setp.gt.u32 %p1, %r7, 2; @%p1 bra A; ld.global.u32 %r8, [%rd4+4];
        add.u32 %r8, %r8, %r7; A: setp.eq.u32 %p2, %r4, 32; @!%p2 bra B; atom.global.add.u32 %r9, [%rd2+60000], 7; add.u32 %r8, %r8, %r4;
        B: mov.u32 %r11, sh; mad.lo.u32 %r12, %r4, 4, %r11; st.shared.u32 [%r12], %r8; bar.sync 0; setp.lt.u32 %p3, %r4, 3; mov.u32 %r13, 0;
        @%p3 bra C; ld.shared.u32 %r13, [%r12+-12]; C: add.u32 %r8, %r8, %r13; st.global.u32 [%rd5], %r8;";
    check_all(body, 0);
    // The thread at fault, and that no later one did anything.
    for bad in [21, 22, 24] {
        let stray = format!(
            "setp.ne.u32 %p1, %r5, {bad}; mov.u64 %rd6, %rd5; @%p1 bra A; add.s64 %rd6, %rd5, 70000; st.global.u32 [%rd6], %r5;
             A: st.global.u32 [%rd5], 9;"
        );
        check(&stray, &LaunchConfig::new(1, 64), 0);
        let few = format!(
            "and.b32 %r6, %r5, 1; setp.eq.u32 %p1, %r6, 0; mad.lo.u32 %r7, %r5, 4096, 0; mul.wide.u32 %rd6, %r7, 1; add.s64 %rd7, %rd2, %rd6;
             @%p1 bra A; st.global.u32 [%rd7+{bad}0000], %r5; A: st.global.u32 [%rd5], 9;"
        );
        check(&few, &LaunchConfig::new(1, 64), 0);
    }
}

#[test]
fn what_lives_across_a_meeting_is_each_threads_own_where_ways_part() {
    // Addresses, counters and constants live across shuffles of a whole warp, of parts, and barriers; some have ended.
    let body = "mov.u32 %r20, 77; mov.u32 %r21, -1; setp.ge.u32 %p1, %r4, %r1; @%p1 exit; ld.global.u32 %r6, [%rd4]; mov.u32 %r7, 0;
        L: shfl.sync.down.b32 %r8|%p2, %r6, 3, 31, %r21; add.u32 %r6, %r6, %r8; @%p2 add.u32 %r6, %r6, %r20; add.u32 %r7, %r7, 1;
        shfl.sync.up.b32 %r9, %r6, %r7, 0, %r21; xor.b32 %r6, %r6, %r9; setp.lt.u32 %p3, %r7, 4; @%p3 bra L; bar.sync 0;
        and.b32 %r10, %r4, 31; setp.lt.u32 %p4, %r10, 6; @!%p4 bra M; shfl.sync.idx.b32 %r11, %r6, 2, 31, 0x3f; add.u32 %r6, %r6, %r11;
        M: bar.warp.sync %r21; shfl.sync.bfly.b32 %r12, %r6, 6, 0x101f, %r21; add.u32 %r6, %r6, %r12; shfl.sync.idx.b32 %r13, %r6, 9, 0x181f, %r21;
        add.u32 %r6, %r6, %r13; add.u32 %r6, %r6, %r20; add.u32 %r6, %r6, %r5; st.global.u32 [%rd5], %r6;";
    for n in [1000, 50, 32, 7] {
        check_all(body, n);
    }
}

#[test]
fn an_index_that_wraps_between_the_groups_of_a_row_is_no_sign_of_its_threads() {
    // Below 0 is beyond any limit in 64 bits; no group of so many threads wraps, but a row of them does.
    for below in [4, 8, 16, 48, 64] {
        let body = format!(
            "sub.s32 %r6, %r4, {below}; cvt.u64.u32 %rd6, %r6; setp.ge.u64 %p1, %rd6, 4096; @%p1 bra A;
             ld.global.u32 %r7, [%rd4]; st.global.u32 [%rd5], %r7; A: st.global.u32 [%rd5+32768], 9;"
        );
        check_all(&body, 0);
    }
}

/// Blocks of several short rows in x, some of several in y.
fn wide_blocks() -> [LaunchConfig; 4] {
    [
        LaunchConfig::new(3, 256),
        LaunchConfig::new(2, [64, 3]),
        LaunchConfig::new(2, [96, 2]),
        LaunchConfig::new(1, 1024),
    ]
}

#[test]
fn all_threads_in_x_are_a_row() {
    let copy = "setp.ge.s32 %p1, %r5, %r1; @%p1 bra END; ld.global.u32 %r6, [%rd4]; st.global.u32 [%rd5], %r6; END:";
    // Lanes and warps differ within the row; an index wraps in the middle of the block, but in no short row.
    let lanes = "mov.u32 %r6, %laneid; shr.u32 %r7, %r4, 5; mad.lo.u32 %r8, %r7, 64, %r6; mul.wide.u32 %rd6, %r8, 4;
        add.s64 %rd7, %rd1, %rd6; ld.global.u32 %r9, [%rd7]; setp.lt.u32 %p1, %r7, 1; selp.b32 %r9, %r9, %r8, %p1; st.global.u32 [%rd5], %r9;";
    let wraps = "add.u32 %r6, %r4, 0xffffffc0; cvt.u64.u32 %rd6, %r6; setp.lt.u64 %p1, %rd6, 4096; @!%p1 bra END;
        mul.wide.u32 %rd7, %r6, 4; add.s64 %rd8, %rd1, %rd7; ld.global.u32 %r7, [%rd8]; st.global.u32 [%rd5], %r7;
        END: st.global.u32 [%rd5+32768], 9;";
    for config in wide_blocks() {
        for n in [1, 32, 40, 64, 255, 256, 300, 4096] {
            check(copy, &config, n);
        }
        check(lanes, &config, 0);
        check(wraps, &config, 0);
    }
}

#[test]
fn the_thread_of_a_whole_row_that_is_at_fault_is_named() {
    let accesses =
        ["st.global.u32 [%rd6], %r5;", "ld.global.u32 %r7, [%rd6]; st.global.u32 [%rd5], %r7;"];
    // Of the last block the first thread, its last, and in between; one past the end of what is allocated and before
    // its begin.
    for config in wide_blocks() {
        let threads = config.grid.count() as i64 * i64::from(config.block.x);
        for bad in [1, 2, 31, 32, 33, 63, 64] {
            let ends = (WORDS as i64 - threads + bad) * 4;
            for (offset, access) in accesses.iter().flat_map(|a| [(ends, a), (-4 * bad, a)]) {
                check(&format!("add.s64 %rd6, %rd5, {offset}; {access}"), &config, 0);
            }
        }
        let last = format!("add.s64 %rd6, %rd5, {}; {}", (WORDS as i64 - threads) * 4, accesses[0]);
        check(&last, &config, 0);
    }
    let misaligned = "add.s64 %rd6, %rd5, 1; ld.global.u32 %r7, [%rd6]; st.global.u32 [%rd5], %r7;";
    check(misaligned, &LaunchConfig::new(1, 256), 0);
}

#[test]
fn a_predicate_that_some_threads_go_round_is_not_the_rows() {
    let body = "ld.global.u32 %r6, [%rd4]; and.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 1; setp.lt.u32 %p2, %r5, 10000;
        @%p1 bra S; add.u32 %r7, %r7, 5; setp.ge.u32 %p2, %r5, 10000; S: @%p2 bra L; add.u32 %r7, %r7, 100;
        st.global.u32 [%rd5+32768], %r7; L: st.global.u32 [%rd5], %r7;";
    check_all(body, 0);
}

#[test]
fn an_index_that_some_threads_go_round_is_not_the_rows() {
    // Only for a row are the low bits of so many threads of a block known to be 0.
    let body = "ld.global.u32 %r6, [%rd4]; and.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 0; mov.u32 %r8, %r4;
        mul.lo.u32 %r9, %r3, 3; and.b32 %r10, %r4, 31; @%p1 bra S; or.b32 %r8, %r9, %r10; add.u32 %r7, %r7, 5;
        S: setp.ge.u32 %p2, %r8, 50; add.u32 %r7, %r7, 7; @%p2 bra E; st.global.u32 [%rd5], %r7; E: st.global.u32 [%rd5+32768], %r7;";
    for block in [32, 64, 96] {
        check(body, &LaunchConfig::new(3, block), 0);
    }
}

#[test]
fn differences_larger_than_any_memory() {
    let start = "cvt.u64.u32 %rd6, %r4; shl.b64 %rd7, %rd6, 31; shl.b64 %rd8, %rd7,";
    for shift in [20, 28, 29, 31] {
        let body = format!(
            "{start} {shift}; setp.ge.u64 %p1, %rd8, 1000; @%p1 bra L; st.global.u32 [%rd5], 5; L: st.global.u32 [%rd5+32768], 9;"
        );
        check_all(&body, 0);
        let far = format!(
            "{start} {shift}; add.s64 %rd9, %rd8, %rd4; ld.global.u32 %r6, [%rd9]; st.global.u32 [%rd5], %r6;"
        );
        let (_, fault) = run(&far, &LaunchConfig::new(1, 64), 0, Lanes::Always);
        let of_second = fault.as_ref().is_some_and(|fault| fault.contains("x: 1,"));
        assert!(of_second, "the first thread's address is good: {fault:?}");
    }
    // Two steps of a generator of random numbers (glibc's).
    let body = "mad.lo.u32 %r6, %r5, 1103515245, %r1; mad.lo.u32 %r6, %r6, 1103515245, 12345; setp.ge.u32 %p1, %r6, 99999999;
        @%p1 bra L; st.global.u32 [%rd5], 5; L: st.global.u32 [%rd5+32768], 9;";
    check_all(body, 7);
}

#[test]
fn what_a_second_predicate_needs_is_computed() {
    let body = "setp.lt.u32 %p3, %r5, 1000; setp.lt.and.u32 %p1|%p2, %r5, 32, %p3; mov.u32 %r6, 5; @%p1 bra L;
        mov.u32 %r6, 9; st.global.u32 [%rd5], %r6; L: selp.b32 %r7, 1, 2, %p2; add.u32 %r7, %r7, %r5; st.global.u32 [%rd5], %r7;";
    check_all(body, 0);
}

#[test]
fn what_was_the_same_for_all_is_so_for_each_thread_of_a_block() {
    let body = "mov.u32 %r6, 3; setp.lt.u32 %p1, %r4, 5; @%p1 bra E; st.global.u32 [%rd5], %r6; add.u32 %r6, %r6, 1; E:";
    check_all(body, 0);
}

#[test]
fn funnel_shifts_have_the_same_bits() {
    let load = "ld.global.u32 %r6, [%rd4]; ld.global.u32 %r7, [%rd4+4]; mov.u32 %r8, 1;";
    for amount in [0, 1, 7, 31, 32, 40, -1] {
        let shifts = ["l.wrap", "l.clamp", "r.wrap", "r.clamp"].map(|how| {
            format!("shf.{how}.b32 %r9, %r6, %r7, {amount}; mad.lo.u32 %r8, %r8, 31, %r9;")
        });
        check_all(&format!("{load} {} st.global.u32 [%rd5], %r8;", shifts.concat()), 0);
    }
}
