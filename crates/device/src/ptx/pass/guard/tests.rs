use super::{GuardOptions, Word, guard};
use crate::ptx::{inst::Op, parse, print};

/// A word of what the launch gives is what the comparison needs: the first address less the lowest offset, and how many
/// addresses there are from there on.
#[test]
fn words_say_where_an_access_may_begin() {
    let start = |low| Word::Start { argument: 0, low };
    assert_eq!(start(0).value(1000, 900, 200), 900);
    assert_eq!(start(16).value(1000, 900, 200), 884);
    assert_eq!(start(-4).value(1000, 900, 200), 904);
    let limit = |span, align| Word::Limit { argument: 0, span, align };
    let limits = [(4, 4), (200, 1), (201, 1), (4, 16), (1, 1)];
    let values = limits.map(|(span, align)| limit(span, align).value(1000, 900, 200));
    assert_eq!(values, [197, 1, 0, 0, 200]);
    assert_eq!(limit(1, 1).value(1000, 0, 0), 0, "nothing is known of the pointer");
}

/// Half of the word is the first index that is right, half their count.
#[test]
fn words_say_which_indices_are_right() {
    let word = |low, stride, span, align, signed| Word::Indices {
        argument: 0,
        low,
        stride,
        span,
        align,
        signed,
    };
    let indices = |word: Word, pointer: u64| {
        let value = word.value(pointer, 1024, 160);
        ((value as u32).cast_signed(), value >> 32)
    };
    // Ten elements of 16 bytes.
    assert_eq!(indices(word(0, 16, 16, 16, true), 1024), (0, 10));
    assert_eq!(indices(word(0, 16, 16, 16, true), 1024 + 64), (-4, 10));
    assert_eq!(indices(word(16, 16, 16, 16, true), 1024), (-1, 10));
    assert_eq!(indices(word(0, 16, 4, 4, true), 1024 + 4), (0, 10));
    assert_eq!(indices(word(12, 16, 8, 4, true), 1024), (0, 9));
    assert_eq!(indices(word(0, 16, 16, 16, false), 1024 + 64), (0, 6));
    assert_eq!(indices(word(0, 16, 16, 16, true), 1024 + 8).1, 0, "it is misaligned");
    assert_eq!(indices(word(0, 16, 161, 1, true), 1024).1, 0, "it is too long");
    assert_eq!(
        word(0, 4, 4, 4, true).value(1024, 0, 0) >> 32,
        0,
        "nothing is known of the pointer"
    );
    let within = |inner, outer| {
        let mut find = |_| (1024, 1024, 160);
        Word::is_within(inner, outer, &mut find)
    };
    assert!(within(word(0, 16, 16, 4, true), word(0, 16, 12, 4, true)));
    assert!(!within(word(0, 16, 16, 4, true), word(16, 16, 16, 4, true)));
    assert!(!within(word(0, 16, 12, 4, true), word(4, 16, 16, 4, true)));
}

/// What is put in is made of operations that the table has.
#[test]
fn nothing_is_put_in_that_is_not_known() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64
        .extern .shared .align 16 .b8 open[];
        .global .align 4 .u32 one[2];
        .visible .entry k(.param .u64 p, .param .u64 q)
        {
        .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<9>;
        ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
        cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
        mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
        selp.b64 %rd5, %rd3, %rd4, %p1;
        @%p1 ld.global.u64 %rd6, [%rd5+8];
        L: ld.u32 %r2, [%rd6]; mov.u32 %r3, open; add.s32 %r3, %r3, %r1; st.shared.u32 [%r3], %r2;
        setp.ne.u32 %p2, %r2, 7; @%p2 bra L; brkpt; @%p1 trap; ret;
        }";
    let module = parse(text).unwrap();
    let guarded = guard(&module, &GuardOptions::default()).unwrap();
    let bodies = guarded.module.functions.iter().filter_map(|function| function.body.as_ref());
    for i in bodies.flat_map(|body| body.instructions()) {
        assert!(!matches!(i.op, Op::Unsupported { .. }), "{i:?}");
        assert!(!matches!(i.op, Op::Brkpt), "it ends CUDA where no debugger is");
    }
    assert!(guarded.searches);
    let counts = guarded.kernels[0].counts;
    assert_eq!((counts.accesses, counts.checked, counts.unchecked), (3, 3, 0));
    // The access through `%rd5` may be proved at a launch.
    let versions = guarded.kernels[0].proved.len();
    let functions = parse(&print(&guarded.module)).unwrap().functions.len();
    assert_eq!((versions, functions), (1, 2), "the kernel, and its version");
}

/// A wild address may lie in a window that nothing of the module leads to: there it is wrong, too.
#[test]
fn only_windows_that_the_module_makes_addresses_of_are_searched() {
    let searched = |make: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64
            .visible .entry k(.param .u64 p)
            {{
            .reg .b32 %r<4>; .reg .b64 %rd<9>;
            .local .align 8 .b8 frame[8];
            .shared .align 8 .b8 block[8];
            ld.param.u64 %rd1, [p]; ld.global.u64 %rd2, [%rd1]; {make}
            ld.u32 %r2, [%rd2]; st.global.u32 [%rd1], %r2; ret;
            }}"
        );
        let guarded = guard(&parse(&text).unwrap(), &GuardOptions::default()).unwrap();
        assert!(guarded.searches);
        let printed = print(&guarded.module);
        ["shared", "local"].map(|space| printed.contains(&format!("isspacep.{space}")))
    };
    assert_eq!(searched(""), [false, false]);
    assert_eq!(searched("mov.u64 %rd3, block; cvta.shared.u64 %rd4, %rd3;"), [true, false]);
    assert_eq!(searched("mov.u64 %rd3, frame; cvta.local.u64 %rd4, %rd3;"), [false, true]);
    assert_eq!(searched("cvta.to.local.u64 %rd4, %rd2;"), [false, false]);
}

/// Where a matrix ends is known of a constant stride alone.
#[test]
fn matrices_of_unknown_strides_are_not_guarded() {
    let guarded = |stride: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64
            .visible .entry k(.param .u64 p, .param .u32 n)
            {{
            .reg .b32 %r<9>; .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [p]; ld.param.u32 %r8, [n];
            wmma.load.a.sync.aligned.row.m16n16k16.bf16 {{%r1, %r2, %r3, %r4}}, [%rd1]{stride};
            ret;
            }}"
        );
        guard(&parse(&text).unwrap(), &GuardOptions::default())
            .map(|guarded| guarded.kernels[0].counts.accesses)
    };
    assert_eq!(guarded(""), Ok(1));
    assert_eq!(guarded(", 24"), Ok(1));
    let why = guarded(", %r8").unwrap_err().to_string();
    assert!(why.contains("wmma.load") && why.contains("stride"), "{why}");
}

/// A register that nothing writes holds a number, and so does what is computed of it.
#[test]
fn an_index_that_nothing_writes_is_compared() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64
        .visible .entry k(.param .u64 p) {
            .reg .b32 %r<5>; .reg .b64 %d<5>;
            .local .align 4 .b8 own[16];
            popc.b32 %r2, %r1;
            xor.b32 %r2, %r2, -2;
            add.s32 %r3, %r3, %r2;
            mov.u64 %d1, own;
            mad.wide.u32 %d2, %r3, 4, %d1;
            ld.local.u32 %r4, [%d2];
            ld.param.u64 %d3, [p];
            cvta.to.global.u64 %d4, %d3;
            st.global.u32 [%d4], %r4;
            ret;
        }";
    let guarded = guard(&parse(text).unwrap(), &GuardOptions::default()).unwrap();
    let counts = guarded.kernels[0].counts;
    assert_eq!((counts.checked, counts.unchecked), (2, 0), "{counts:?}");
}

/// A counter that saturates, or adds a carry, may never come to its end.
#[test]
fn only_loops_that_surely_end_soon_look_at_no_flag() {
    let instructions_with = |add: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{ \
             .reg .pred %p<2>; .reg .b32 %r<3>; mov.u32 %r1, 0; L: {add} %r1, %r1, 1; \
             setp.ne.s32 %p1, %r1, 8; @%p1 bra L; ret; }}"
        );
        let guarded = guard(&parse(&text).unwrap(), &GuardOptions::default()).unwrap();
        guarded.module.functions[0].body.as_ref().unwrap().instructions().count()
    };
    let plain = instructions_with("add.s32");
    assert_eq!(plain, 5, "it stays as it is");
    assert!(instructions_with("add.sat.s32") > plain);
    assert!(instructions_with("addc.s32") > plain);
}

/// Where memory of the heap lies is searched for, at each access.
#[test]
fn what_malloc_gives_is_searched_for() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64
        .extern .func (.param .b64 r) malloc(.param .b64 n);
        .extern .func free(.param .b64 p);
        .visible .entry k()
        {
        .reg .b64 %rd<3>;
        { .param .b64 n; .param .b64 r; st.param.b64 [n], 16; call (r), malloc, (n); ld.param.b64 %rd1, [r]; }
        st.global.u32 [%rd1+4], 1;
        { .param .b64 p; st.param.b64 [p], %rd1; call free, (p); }
        ret;
        }";
    let guarded = guard(&parse(text).unwrap(), &GuardOptions::default()).unwrap();
    assert!(guarded.searches && guarded.allocates);
    let counts = guarded.kernels[0].counts;
    assert_eq!((counts.accesses, counts.checked, counts.unchecked), (1, 1, 0));
}
