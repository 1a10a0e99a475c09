//! Loops round which the threads at the border of an array go: with groups and without, the same bits, the same faults.

use super::{
    Lanes,
    tests::{check, run},
};
use crate::device::LaunchConfig;

/// From and to which thread in x of a block the loop is run.
const BORDERS: [(u32, u32); 9] =
    [(1, 95), (0, 95), (3, 96), (17, 18), (15, 16), (1, 17), (31, 61), (4, 12), (40, 40)];

/// `before`, and a loop of three rounds with `inside`, run by the threads within a border; all end behind it.
fn bordered(before: &str, inside: &str, (from, to): (u32, u32)) -> String {
    format!(
        "{before} mov.u32 %r30, 0; setp.lt.u32 %p10, %r4, {from}; setp.ge.u32 %p11, %r4, {to}; or.pred %p10, %p10, %p11;
        @%p10 bra END; LOOP: {inside} add.u32 %r30, %r30, 1; setp.lt.u32 %p12, %r30, 3; @%p12 bra LOOP;
        END: st.global.u32 [%rd5+49152], %r5;"
    )
}

fn check_inside(before: &str, inside: &str) {
    for border in BORDERS {
        let body = bordered(before, inside, border);
        for block in [96, 36] {
            check(&body, &LaunchConfig::new(3, block), 5);
        }
    }
}

/// Each thread's place in shared memory.
const SHARED: &str = "shl.b32 %r31, %r4, 2; mov.u32 %r32, sh; add.u32 %r31, %r31, %r32;";

#[test]
fn those_within_a_border_go_on_together() {
    let computes = "ld.global.u32 %r6, [%rd4]; add.u32 %r6, %r6, %r30; st.global.u32 [%rd5], %r6;";
    check_inside("", computes);
    // Elements of two words and of 64 bits, such that lie apart, narrow ones, and those of shared memory.
    let pairs =
        "add.s64 %rd7, %rd4, %rd3; ld.global.v2.f32 {%f1, %f2}, [%rd7]; add.f32 %f1, %f1, %f2;
        st.global.v2.f32 [%rd8], {%f1, %f2};";
    check_inside("add.s64 %rd8, %rd5, %rd3;", pairs);
    let long = "add.s64 %rd7, %rd4, %rd3; ld.global.u64 %rd9, [%rd7]; add.s64 %rd9, %rd9, 77; st.global.u64 [%rd8], %rd9;";
    check_inside("add.s64 %rd8, %rd5, %rd3;", long);
    let apart =
        "ld.global.u32 %r6, [%rd8+4]; mad.lo.u32 %r6, %r6, 3, %r30; st.global.u32 [%rd9+8], %r6;";
    check_inside(
        "mul.wide.u32 %rd8, %r5, 12; add.s64 %rd9, %rd2, %rd8; add.s64 %rd8, %rd1, %rd8;",
        apart,
    );
    check_inside(
        "",
        "ld.global.u8 %r6, [%rd4+1]; add.u32 %r6, %r6, %r30; st.global.u8 [%rd5+2], %r6;",
    );
    let shared = "ld.shared.u32 %r6, [%r31+4]; add.u32 %r6, %r6, %r5; st.shared.u32 [%r31+4], %r6; st.global.u32 [%rd5], %r6;";
    check_inside(&format!("{SHARED} st.shared.u32 [%r31+4], %r4;"), shared);
    check_inside("", "ld.u32 %r6, [%rd4]; add.u32 %r6, %r6, %r30; st.u32 [%rd5], %r6;");
}

#[test]
fn what_is_done_one_after_the_other_is_done_by_those_within_a_border() {
    // One place for all, divisions, and blocks that some of them go round.
    check_inside(
        "",
        "ld.global.u32 %r6, [%rd1+64]; add.u32 %r6, %r6, %r4; st.global.u32 [%rd5], %r6;",
    );
    check_inside("", "st.global.u32 [%rd2+16384], %r4;");
    check_inside(
        "",
        "add.u32 %r6, %r5, 1; div.u32 %r7, 1000, %r6; rem.u32 %r8, 77, %r6; add.u32 %r7, %r7, %r8; st.global.u32 [%rd5], %r7;",
    );
    let rounds = "ld.global.u32 %r6, [%rd4]; and.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 1; mov.u32 %r8, 5; @%p1 bra S;
        add.u32 %r8, %r8, %r30; S: @%p1 bra T; ld.global.u32 %r9, [%rd4+64]; add.u32 %r9, %r9, %r8; st.global.u32 [%rd5+32768], %r9; T: st.global.u32 [%rd5], %r8;";
    check_inside("", rounds);
    // They diverge, in the code and where an index wraps, and do not go round as often as each other.
    let parts = "ld.global.u32 %r6, [%rd4]; and.b32 %r6, %r6, 7; AGAIN: add.u32 %r7, %r6, %r30; st.global.u32 [%rd5], %r7;
        sub.s32 %r6, %r6, 1; setp.ge.s32 %p1, %r6, 0; @%p1 bra AGAIN;";
    check_inside("", parts);
    let by_index =
        "and.b32 %r6, %r4, 7; AGAIN: add.u32 %r7, %r6, %r30; ld.global.u32 %r8, [%rd5]; add.u32 %r8, %r8, %r7; st.global.u32 [%rd5], %r8;
        sub.s32 %r6, %r6, 1; setp.ge.s32 %p1, %r6, 0; @%p1 bra AGAIN;";
    check_inside("", by_index);
    let wraps = "sub.u32 %r6, %r4, 5; mul.wide.u32 %rd7, %r6, 4; cvt.u32.u64 %r7, %rd7; add.u32 %r7, %r7, %r30; st.global.u32 [%rd5], %r7;";
    check_inside("", wraps);
    check_inside("", "setp.ge.u32 %p1, %r4, 0; @!%p1 trap; st.global.u32 [%rd5], %r4;");
}

/// The fault of a loop within the border, of groups and of single threads.
fn fault(before: &str, inside: &str, border: (u32, u32)) -> Option<String> {
    let (body, config) = (bordered(before, inside, border), LaunchConfig::new(1, 96));
    check(&body, &config, 5);
    run(&body, &config, 5, Lanes::Always).1
}

#[test]
fn those_beyond_a_border_are_never_at_fault() {
    let accesses =
        ["ld.global.u32 %r6, [%rd8];", "st.global.u32 [%rd8], %r5;", "ld.u32 %r6, [%rd8];"];
    for border @ (from, to) in BORDERS.into_iter().filter(|(from, to)| from < to) {
        for access in accesses {
            // The first one within the border has the buffer's first word, or the last its last one.
            let first = format!("sub.s64 %rd8, %rd5, {};", 4 * from);
            let last = format!("add.s64 %rd8, %rd5, {};", 4 * (16384 - to));
            assert_eq!(fault(&first, access, border), None, "{border:?}");
            assert_eq!(fault(&last, access, border), None, "{border:?}");
            // One word further.
            let first = format!("sub.s64 %rd8, %rd5, {};", 4 * (from + 1));
            let last = format!("add.s64 %rd8, %rd5, {};", 4 * (16385 - to));
            for (before, thread) in [(first, from), (last, to - 1)] {
                let found = fault(&before, access, border);
                let is_due = found.as_ref().is_some_and(|f| f.contains(&format!("x: {thread},")));
                assert!(is_due, "thread {thread} of {border:?}: {found:?}");
            }
        }
        // One place for all is not the first thread's to miss.
        let found = fault("mov.b64 %rd8, 8;", accesses[0], border);
        let is_due = found.as_ref().is_some_and(|f| f.contains(&format!("x: {from},")));
        assert!(is_due, "thread {from} of {border:?}: {found:?}");
        // Offsets in shared memory have 32 bits: that of a thread beyond the border wraps.
        let shared = format!("{SHARED} sub.u32 %r31, %r31, {};", 4 * from);
        assert_eq!(fault(&shared, "st.shared.u32 [%r31], %r4;", border), None, "{border:?}");
        let end = format!("{SHARED} add.u32 %r31, %r31, {};", 4 * (1025 - to));
        let found = fault(&end, "st.shared.u32 [%r31], %r4;", border);
        let is_due = found.as_ref().is_some_and(|f| f.contains(&format!("x: {},", to - 1)));
        assert!(is_due, "thread {} of {border:?}: {found:?}", to - 1);
    }
}
