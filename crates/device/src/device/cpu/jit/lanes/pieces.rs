//! Accesses that are checked before a piece of code: with groups and without, the same bits, the same faults.

use super::{
    Lanes, hoist,
    tests::{module_text, run, widths},
};
use crate::{
    device::{LaunchConfig, cpu::jit::sync},
    ptx::{
        cfg::{Cfg, Liveness},
        pass::uniform::{Neighbours, Shapes},
    },
};

/// Words of a buffer.
const WORDS: i64 = 1 << 14;
/// Threads of a launch.
const THREADS: i64 = 288;

/// The pieces of a body: whether it is a loop, how many checks it has, and of how many accesses.
fn pieces(body: &str) -> Vec<(bool, usize, usize)> {
    let module = crate::ptx::parse(&module_text(body)).unwrap();
    let function = &module.functions[0];
    let body = function.body.as_ref().unwrap();
    let cfg = Cfg::new(body);
    let liveness = Liveness::new(body, &cfg, &[]);
    let shapes = Shapes::new(body, Neighbours::aligned(4), liveness.at_entry());
    let sync = sync::WaitPlan::new(function, body, &cfg, &liveness);
    let run = vec![true; cfg.blocks.len()];
    let place = hoist::Place { body, cfg: &cfg, shapes: &shapes, run: &run, sync: &sync, width: 4 };
    let pieces = place.pieces(&[]).into_iter();
    pieces.map(|piece| (piece.rounds.is_some(), piece.checks.len(), piece.accesses.len())).collect()
}

/// The same in groups of each width and without, in a block of so many threads; the thread at fault.
fn fault_of(body: &str, threads: i64) -> Option<String> {
    let config = LaunchConfig::new(1, threads as u32);
    // Addresses far away are others in each run.
    let run = |body: &str, lanes| {
        let (bytes, fault) = run(body, &config, 7, lanes);
        (bytes, fault.map(|fault| fault.split(" Some((").next().unwrap_or_default().to_owned()))
    };
    let single = run(body, Lanes::Never);
    for body in widths(body) {
        let group = run(&body, Lanes::Always);
        assert_eq!(single.1, group.1, "{body}");
        assert!(single.1.is_some() || single.0 == group.0, "{body}");
    }
    single.1
}

fn fault(body: &str) -> Option<String> {
    fault_of(body, THREADS)
}

fn is_at(fault: Option<&String>, thread: i64) -> bool {
    fault.is_some_and(|fault| fault.contains(&format!("{{ x: {thread},")))
}

/// A loop from `from` on by `step` while `condition` holds; `%r6` counts its rounds by `further`.
fn looped(
    before: &str,
    inside: &str,
    (from, step, condition): (i64, i64, &str),
    further: i64,
) -> String {
    format!(
        "{before} mov.u32 %r6, 0; mov.u32 %r8, {from}; mov.u32 %r20, {further};
        LOOP: {inside} add.s32 %r6, %r6, %r20; add.s32 %r8, %r8, {step}; setp.{condition}; @%p1 bra LOOP;
        st.global.u32 [%rd5+32768], %r8;"
    )
}

/// Loops of three rounds.
const THREE: [(i64, i64, &str); 11] = [
    (0, 1, "lt.s32 %p1, %r8, 3"),
    (0, 1, "le.s32 %p1, %r8, 2"),
    (-7, 2, "lt.s32 %p1, %r8, -2"),
    (9, -3, "gt.s32 %p1, %r8, 0"),
    (4, -2, "ge.s32 %p1, %r8, 0"),
    (0, 4, "ne.s32 %p1, %r8, 12"),
    (12, -4, "ne.s32 %p1, %r8, 0"),
    (0, 5, "lo.u32 %p1, %r8, 11"),
    (0, 5, "ls.u32 %p1, %r8, 10"),
    (9, -3, "hi.u32 %p1, %r8, 2"),
    (-3, 1, "ne.s32 %p1, 0, %r8"),
];

/// Each thread's word in each round, which is its own.
const STORE: &str = "add.s32 %r7, %r5, %r6; mul.wide.s32 %rd6, %r7, 4; add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r7;";

/// As `inside`, in three rounds, with the buffer's words from `first` on.
fn from_word(first: i64, inside: &str, rounds: (i64, i64, &str), further: i64) -> String {
    let offset = 4 * first;
    let before = format!("add.s64 %rd2, %rd2, {offset}; add.s64 %rd5, %rd5, -32768;");
    looped(&before, inside, rounds, further)
}

#[test]
fn rounds_are_counted() {
    for rounds in THREE {
        let body = looped("", STORE, rounds, THREADS);
        assert_eq!(pieces(&body), [(true, 1, 1)], "{body}");
        assert_eq!(fault(&body), None);
        // The last round's word of the last thread is the last one, or behind it.
        assert_eq!(fault(&from_word(WORDS - 3 * THREADS, STORE, rounds, THREADS)), None);
        let found = fault(&from_word(WORDS - 3 * THREADS + 1, STORE, rounds, THREADS));
        assert!(is_at(found.as_ref(), 287), "{rounds:?}: {found:?}");
        // The last round's word of the first thread is the first one, or before it.
        assert_eq!(fault(&from_word(2 * THREADS, STORE, rounds, -THREADS)), None);
        let found = fault(&from_word(2 * THREADS - 1, STORE, rounds, -THREADS));
        assert!(is_at(found.as_ref(), 0), "{rounds:?}: {found:?}");
    }
}

#[test]
fn a_counter_that_misses_its_bound_goes_on() {
    let missing = [
        (0, 4, "ne.s32 %p1, %r8, 10"),
        (0, -4, "ne.s32 %p1, %r8, -6"),
        (2147483644, 2, "lt.s32 %p1, %r8, 2147483647"),
        (-2147483645, -2, "gt.s32 %p1, %r8, -2147483648"),
        (-5, 3, "lo.u32 %p1, %r8, -1"),
        (4, -3, "ge.u32 %p1, %r8, 0"),
    ];
    for rounds in missing {
        let found = fault(&looped("", STORE, rounds, THREADS));
        assert!(is_at(found.as_ref(), 0), "{rounds:?}: {found:?}");
    }
}

#[test]
fn indices_wrap_from_round_to_round_and_from_thread_to_thread() {
    let near = |half: &str, further: i64, most: i64| {
        let inside = format!(
            "add.s32 %r7, %r5, %r6; add.s32 %r7, %r7, {most}; mul.wide.{half} %rd6, %r7, 4; add.s64 %rd7, %rd2, %rd6;
            st.global.u32 [%rd7], %r7;"
        );
        let before = format!("sub.s64 %rd2, %rd2, {}; add.s64 %rd2, %rd2, 4096;", 4 * most);
        let body = looped(&before, &inside, THREE[0], further);
        assert_eq!(pieces(&body), [(true, 1, 1)], "{body}");
        fault(&body)
    };
    let signed = near("s32", THREADS, 2147483392);
    assert!(is_at(signed.as_ref(), 0), "{signed:?}");
    assert_eq!(near("u32", THREADS, 2147483392), None);
    // All rounds of the first thread are good, the last round of the last one is not.
    let last = near("s32", 1, 2147483648 - THREADS - 1);
    assert!(is_at(last.as_ref(), 287), "{last:?}");
    assert_eq!(near("s32", 1, 2147483648 - THREADS - 2), None);
    let unsigned = near("u32", -1, 1);
    assert!(is_at(unsigned.as_ref(), 0), "{unsigned:?}");
    assert_eq!(near("u32", -1, 2), None);
}

#[test]
fn steps_are_aligned() {
    for (step, is_fine) in [(1152, true), (1154, false), (1153, false)] {
        let inside = format!("st.global.u32 [%rd9], %r5; add.s64 %rd9, %rd9, {step};");
        for rounds in THREE {
            let body = looped("mov.u64 %rd9, %rd5;", &inside, rounds, 0);
            assert_eq!(pieces(&body), [(true, 1, 1)], "{body}");
            let found = fault(&body);
            assert_eq!(found.is_none(), is_fine, "{body}: {found:?}");
            assert!(is_fine || is_at(found.as_ref(), 0), "{body}: {found:?}");
        }
    }
}

/// Each thread's word of shared memory, from this byte on.
fn shared(from: i64) -> String {
    format!(
        "shl.b32 %r13, %r4, 2; mov.u32 %r14, sh; add.u32 %r13, %r13, %r14; add.u32 %r13, %r13, {from}; mov.u32 %r9, 0;"
    )
}

#[test]
fn shared_memory_is_checked_before_loops() {
    let inside = "add.u32 %r15, %r13, %r6; st.shared.u32 [%r15], %r5; ld.shared.u32 %r16, [%r15]; add.u32 %r9, %r9, %r16;
        st.global.u32 [%rd5], %r9;";
    let row = 4 * THREADS;
    for rounds in THREE {
        let run = |from: i64, further: i64| fault(&looped(&shared(from), inside, rounds, further));
        let body = looped(&shared(0), inside, rounds, row);
        assert_eq!(pieces(&body), [(true, 3, 3)], "{body}");
        assert_eq!(run(4096 - 3 * row, row), None);
        let found = run(4096 - 3 * row + 4, row);
        assert!(is_at(found.as_ref(), 287), "{found:?}");
        assert_eq!(run(2 * row, -row), None);
        let found = run(2 * row - 4, -row);
        assert!(is_at(found.as_ref(), 0), "{found:?}");
    }
}

#[test]
fn accesses_from_one_address_share_a_check() {
    let words = [3, 0, 7, 5, 1, 6, 2, 4];
    let stores = words.map(|at| format!("st.global.u32 [%rd7+{}], %r5;", 4 * at)).concat();
    let body = |first: i64| {
        let offset = 4 * first;
        format!(
            "mul.wide.s32 %rd6, %r5, 32; add.s64 %rd7, %rd2, %rd6; add.s64 %rd7, %rd7, {offset}; HERE: {stores}"
        )
    };
    assert_eq!(pieces(&body(0)), [(false, 1, 8)]);
    let last = WORDS - 8 * THREADS;
    for (first, place) in [(0, None), (last, None), (last + 1, Some(287)), (-1, Some(0))] {
        let found = fault(&body(first));
        let due = place.is_none_or(|thread| is_at(found.as_ref(), thread));
        assert!(due && place.is_some() == found.is_some(), "{first}: {found:?}");
    }
    let in_shared = |from: i64| {
        let stores = words.map(|at| format!("st.shared.u32 [%r13+{}], %r5;", 384 * at)).concat();
        format!(
            "{} HERE: {stores} ld.shared.u32 %r16, [%r13+384]; st.global.u32 [%rd5], %r16;",
            shared(from)
        )
    };
    assert_eq!(pieces(&in_shared(0)), [(false, 3, 10)]);
    assert_eq!(fault_of(&in_shared(4096 - 8 * 384), 96), None);
    let found = fault_of(&in_shared(4096 - 8 * 384 + 4), 96);
    assert!(is_at(found.as_ref(), 95), "{found:?}");
    let found = fault_of(&in_shared(-4), 96);
    assert!(is_at(found.as_ref(), 0), "{found:?}");
}

/// What is not a number and a step, or no loop that ends by itself, keeps its checks.
#[test]
fn other_loops_keep_their_checks() {
    let squares = "mul.lo.s32 %r7, %r6, %r6; mul.wide.s32 %rd6, %r7, 4; add.s64 %rd7, %rd4, %rd6; ld.global.u32 %r9, [%rd7];";
    let loaded = "ld.global.u32 %r7, [%rd4]; and.b32 %r7, %r7, 7; mul.wide.u32 %rd6, %r7, 4; add.s64 %rd7, %rd1, %rd6; ld.global.u32 %r9, [%rd7];";
    assert_eq!(pieces(&looped("", squares, THREE[0], 1)), []);
    assert_eq!(pieces(&looped("", loaded, THREE[0], 1)), [(true, 1, 1)]);
    let strong = "ld.volatile.global.u32 %r9, [%rd4];";
    assert_eq!(pieces(&looped("", strong, THREE[0], 1)), []);
    let by_data = "ld.global.u32 %r9, [%rd4]; and.b32 %r8, %r9, 3;";
    assert_eq!(pieces(&looped("", by_data, THREE[0], 1)), []);
    let waits = "bar.sync 0; ld.global.u32 %r9, [%rd4];";
    assert_eq!(pieces(&looped("", waits, THREE[0], 1)), []);
    for inside in [squares, loaded, waits] {
        assert_eq!(fault(&looped("", inside, THREE[0], 1)), None);
    }
}

/// The loop is come to again and again, each time with another beginning, and the last time with one too far.
#[test]
fn a_loop_within_a_loop_is_checked_each_time() {
    for (times, is_fine) in [(18, true), (19, false)] {
        let inner = looped("", STORE, THREE[0], THREADS);
        let inner = inner.replace("mov.u32 %r6, 0;", "");
        let body = format!(
            "mov.u32 %r6, 0; mov.u32 %r11, 0; OUTER: {inner} add.u32 %r11, %r11, 1; setp.lt.u32 %p2, %r11, {times}; @%p2 bra OUTER;"
        );
        let body = body.replace("[%rd5+32768]", "[%rd5]");
        assert_eq!(pieces(&body), [(true, 1, 1)], "{body}");
        assert_eq!(fault(&body).is_none(), is_fine, "{body}");
    }
}
