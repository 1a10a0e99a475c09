//! What threads note when they do wrong, and when it is written down; indices in place of addresses.

use warpaint::ptx::pass::Action;

use super::faults::{run, run_telling_all, told};

#[test]
fn the_first_fault_of_a_thread_is_told() {
    let body = ".loc 1 7 2
        st.global.u32 [%rd3+4096], %r1;
        setp.eq.u32 %p1, %r1, 99;
        @%p1 bra SKIP;
        .loc 1 8 2
        ld.global.u32 %r5, [%rd3+8192];
        SKIP:";
    assert_eq!(told(&run(body, 1, 1)), (7, Action::Write, 0));
}

/// The thread that goes wrong before the barrier ends behind the one that goes wrong after it.
#[test]
fn what_is_wrong_before_a_barrier_is_told_before_what_is_wrong_after_it() {
    let body = "setp.eq.u32 %p1, %r4, 1; setp.eq.u32 %p2, %r4, 0;
        .loc 1 7 2
        @%p1 st.global.u32 [%rd3+4096], %r1;
        bar.sync 0;
        .loc 1 9 2
        @%p2 st.global.u32 [%rd3+8192], %r1;";
    assert_eq!(told(&run(body, 1, 2)), (7, Action::Write, 1));
}

/// Nobody stops it.
#[test]
fn a_thread_that_has_done_wrong_leaves_its_loop() {
    let body = ".loc 1 7 2
        L: st.global.u32 [%rd3+4096], %r1;
        bra L;";
    assert_eq!(told(&run(body, 1, 1)), (7, Action::Write, 0));
}

#[test]
fn a_thread_that_ends_where_a_predicate_holds_tells_before() {
    for end in ["ret", "exit"] {
        let body = format!(
            "setp.lt.u32 %p1, %r1, 2; setp.eq.u32 %p2, %r1, 1;
            .loc 1 7 2
            @%p2 st.global.u32 [%rd3+4096], %r1;
            @%p1 {end};
            st.global.u32 [%rd3], 5;"
        );
        let run = run(&body, 1, 4);
        assert_eq!(told(&run), (7, Action::Write, 1));
        assert_eq!(run.x[..5], [1000, 1001, 5, 5, 1004]);
    }
}

/// The address that is told is that of the access, wherever the pointer and the index lie.
#[test]
fn indices_may_be_negative_and_large() {
    let access = |base: i64, plus: i64, wide: &str, offset: i64| {
        format!(
            "add.s64 %rd5, %rd1, {base};
            add.s32 %r5, %r1, {plus};
            mul.wide.{wide} %rd6, %r5, 4;
            add.s64 %rd7, %rd5, %rd6;
            .loc 1 7 2
            st.global.u32 [%rd7+{offset}], %r1;"
        )
    };
    // All 32 words.
    for (base, plus, offset) in [(0, 0, 0), (64, -16, 0), (-40, 10, 0), (64, -17, 4), (-4, 2, -4)] {
        let run = run(&access(base, plus, "s32", offset), 1, 32);
        assert!(run.told.is_none(), "{:?}", run.told);
        assert_eq!(run.x, (0..32).collect::<Vec<_>>());
    }
    // The thread with the first wrong one, and its distance from the beginning.
    for (base, plus, wide, offset, thread, distance) in [
        (0, -1, "s32", 0, 0, -4),
        (64, -16, "s32", 4, 31, 128),
        (64, -18, "s32", 0, 0, -8),
        (0, -1, "u32", 0, 0, 4 * 0xffff_ffff),
        (0, 1_000_000, "s32", 0, 0, 4_000_000),
        (0, i64::from(i32::MIN), "s32", 0, 0, 4 * i64::from(i32::MIN)),
    ] {
        let run = run(&access(base, plus, wide, offset), 1, 32);
        assert_eq!(told(&run), (7, Action::Write, thread));
        let found = run.told.unwrap();
        let (address, bytes) = found.fault.access.unwrap();
        let start = found.fault.nearest.unwrap().address;
        assert_eq!((address.wrapping_sub(start).cast_signed(), bytes), (distance, 4));
    }
}

/// The check that covers another one's access stands behind it in the text.
#[test]
fn what_runs_first_need_not_stand_first() {
    let body = "bra FIRST;
        SECOND: st.global.u32 [%rd3], 6; bra LAST;
        FIRST:
        .loc 1 7 2
        st.global.u32 [%rd3], 5; bra SECOND;
        LAST:";
    let run = run(body, 1, 33);
    assert_eq!(told(&run), (7, Action::Write, 32));
    assert_eq!(run.x, [6; 32].to_vec());
}

/// The index is another one when the access is made.
#[test]
fn an_index_that_was_changed_is_not_compared() {
    let body = "mov.u32 %r5, %r1;
        mul.wide.u32 %rd6, %r5, 4;
        add.s64 %rd7, %rd1, %rd6;
        add.s32 %r5, %r5, 1000000;
        st.global.u32 [%rd7], %r5;";
    let run = run(body, 1, 32);
    assert!(run.told.is_none(), "{:?}", run.told);
    assert_eq!(run.x, (1_000_000..1_000_032).collect::<Vec<_>>());
}

/// Each place is told of once, and what runs goes on.
#[test]
fn all_places_are_told_of_where_kernels_go_on() {
    let body = ".loc 1 7 2
        st.global.u32 [%rd3+4096], %r1;
        setp.eq.u32 %p1, %r1, 99;
        @%p1 bra SKIP;
        .loc 1 8 2
        ld.global.u32 %r5, [%rd3+-8192];
        SKIP:
        st.global.u32 [%rd3], 5;";
    let (x, all) = run_telling_all(body, 16);
    let told: Vec<_> = all
        .iter()
        .map(|told| (told.fault.location.as_ref().unwrap().line, told.fault.thread.x))
        .collect();
    assert_eq!(told, [(7, 0), (8, 0)]);
    assert_eq!(x[..17], [[5; 16].as_slice(), &[1016]].concat());
}

/// A loop that counts down without an end, though it is left where it counts to eight.
#[test]
fn a_loop_that_counts_the_wrong_way_is_told() {
    let body = "mov.u32 %r5, 0;
        L: shl.b32 %r6, %r5, 2; add.s32 %r6, %r6, %r1; min.s32 %r6, %r6, 31;
        mul.wide.s32 %rd6, %r6, 4; add.s64 %rd7, %rd1, %rd6;
        .loc 1 7 2
        ld.global.u32 %r7, [%rd7];
        add.s32 %r5, %r5, -1; setp.lt.s32 %p1, %r5, 8; @%p1 bra L;
        st.global.u32 [%rd3], %r7;";
    assert_eq!(told(&run(body, 1, 1)), (7, Action::Read, 0));
}
