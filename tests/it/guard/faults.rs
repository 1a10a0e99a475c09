//! Kernels that do wrong.

use warpaint::{
    device::{
        Arguments, Device, FaultKind, GuardOptions, GuardedModule, LaunchConfig, Memory, Telling,
    },
    ptx::pass::{Action, guard::CheckKind},
};

use super::bench::{Bench, Stop, Told};

const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.file 1 \"bad.cu\"\n";

/// A kernel `bad(.param .u64 x)` in which `%rd1` is `x`, `%r1` the thread's index in the grid and `%rd3` that of its
/// word in `x`.
pub fn kernel(body: &str) -> String {
    format!(
        "{HEAD}
.visible .entry bad(.param .u64 x, .param .u64 y)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<12>;
    .loc 1 3 1
    ld.param.u64 %rd8, [x];
    cvta.to.global.u64 %rd1, %rd8;
    ld.param.u64 %rd4, [y];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r1, %r2, %r3, %r4;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
{body}
    ret;
}}
"
    )
}

pub struct Run {
    pub bench: Bench,
    pub x: Vec<u32>,
    y: Vec<u32>,
    pub told: Option<Told>,
    all: Vec<Told>,
}

/// Runs the kernel on two buffers of 32 words, which hold 1000, 1001, … and 2000, 2001, …
pub fn run(body: &str, blocks: u32, threads: u32) -> Run {
    run_text(&kernel(body), blocks, threads, Stop::Never)
}

/// The same, where kernels tell of all that they do wrong.
pub fn run_telling_all(body: &str, threads: u32) -> (Vec<u32>, Vec<Told>) {
    let device = Device::cpu().unwrap();
    let bench = Bench::telling(&device, &kernel(body), Telling::All);
    let run = run_bench(&device, bench, 1, threads, Stop::Never);
    (run.x, run.all)
}

pub fn run_text(text: &str, blocks: u32, threads: u32, stop: Stop) -> Run {
    let device = Device::cpu().unwrap();
    let bench = Bench::new(&device, text);
    run_bench(&device, bench, blocks, threads, stop)
}

pub fn run_bench(device: &Device, bench: Bench, blocks: u32, threads: u32, stop: Stop) -> Run {
    let memories = [0, 1].map(|_| device.alloc(128).unwrap());
    for (memory, first) in memories.iter().zip([1000u32, 2000]) {
        let words: Vec<u8> = (first..first + 32).flat_map(u32::to_ne_bytes).collect();
        bench.stream.upload(memory.slice(..).unwrap(), &words).unwrap();
    }
    let mut arguments = Arguments::new();
    memories.iter().for_each(|memory| _ = arguments.push(&memory.address()));
    let known: Vec<&Memory> = memories.iter().collect();
    bench.prepare(&known, stop);
    let config = LaunchConfig { shared_bytes: 64, ..LaunchConfig::new(blocks, threads) };
    bench.launch("bad", &config, &arguments, &known).unwrap();
    let read = |memory: &Memory| -> Vec<u32> {
        let bytes = bench.stream.download(memory.slice(..).unwrap()).unwrap().wait().unwrap();
        bytemuck::pod_collect_to_vec(&bytes)
    };
    let [x, y] = [read(&memories[0]), read(&memories[1])];
    let all = bench.all_told(&known);
    let is_first = bench.guarded.module.variable("__warpaint_guard_seen").is_none();
    let told = if is_first { bench.told(&known) } else { None };
    Run { bench, x, y, told, all }
}

/// The source line of the first access of a record, what it does, and its thread.
pub fn told(run: &Run) -> (u32, Action, u32) {
    let told = run.told.as_ref().expect("there is a record");
    let access = told.accesses()[0];
    (run.bench.line(access.location).unwrap(), access.action, told.record.thread.x)
}

#[test]
fn what_is_right_stays_as_it_is() {
    let run =
        run("ld.global.u32 %r5, [%rd3]; add.u32 %r5, %r5, 1; st.global.u32 [%rd3], %r5;", 1, 32);
    assert!(run.told.is_none(), "{:?}", run.told);
    assert_eq!(run.x, (1001..1033).collect::<Vec<_>>());
}

#[test]
fn a_store_outside_is_left_out_and_told() {
    let run = run(".loc 1 7 2\nst.global.u32 [%rd3+4], %r1;", 1, 32);
    assert_eq!(told(&run), (7, Action::Write, 31));
    assert_eq!(run.x[1..], (0..31).collect::<Vec<_>>());
    assert_eq!(run.y, (2000..2032).collect::<Vec<_>>());
    let Told { record, fault, .. } = run.told.unwrap();
    assert_eq!((record.address - record.start, record.limit), (128, 125));
    let text = fault.to_string();
    let expected = "bad.cu:7:2: fault: kernel `bad`: write outside every allocation (4 bytes at global address ";
    assert!(text.starts_with(expected), "{text}");
    let expected = ", byte 128 of an allocation of 128 bytes), block (0, 0, 0), thread (31, 0, 0)";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn a_load_outside_gives_zero() {
    let body = ".loc 1 7 2
        ld.global.u32 %r5, [%rd3+64];
        .loc 1 8 2
        cvta.to.global.u64 %rd5, %rd4;
        add.s64 %rd5, %rd5, %rd2;
        st.global.u32 [%rd5], %r5;";
    let run = run(body, 1, 32);
    assert_eq!(told(&run), (7, Action::Read, 16));
    let expected: Vec<u32> = (1016..1032).chain([0; 16]).collect();
    assert_eq!(run.y, expected);
}

/// The check of three loads at once says which of them it was.
#[test]
fn accesses_that_are_checked_together_are_told_apart() {
    let body = "mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0;
        .loc 1 11 1
        ld.global.u32 %r5, [%rd3];
        .loc 1 12 1
        ld.global.u32 %r6, [%rd3+4];
        .loc 1 13 1
        ld.global.u32 %r7, [%rd3+-4];";
    let run = run(body, 1, 1);
    let told = run.told.as_ref().unwrap();
    let places: Vec<_> = told
        .accesses()
        .iter()
        .map(|access| (access.offset, run.bench.line(access.location).unwrap()))
        .collect();
    assert_eq!(places, [(4, 11), (8, 12), (0, 13)]);
    assert_eq!(told.fault.location.as_ref().map(|place| place.line), Some(13));
    assert!(told.fault.to_string().contains(", 4 bytes before an allocation of 128 bytes)"));
    assert_eq!(run.bench.guarded.kernels[0].counts.checked, 1);
}

#[test]
fn only_what_runs_is_wrong() {
    let body = "setp.lt.u32 %p1, %r1, 32;
        @%p1 st.global.u32 [%rd3], 5;
        @!%p1 st.global.u32 [%rd3+-128], 6;";
    let run = run(body, 2, 32);
    assert!(run.told.is_none(), "{:?}", run.told);
    assert_eq!(run.x, [6; 32].map(|x| x).to_vec());
}

#[test]
fn one_of_two_buffers_is_followed() {
    let body = "and.b32 %r5, %r1, 1;
        setp.eq.u32 %p1, %r5, 0;
        cvta.to.global.u64 %rd5, %rd4;
        selp.b64 %rd6, %rd1, %rd5, %p1;
        add.s64 %rd7, %rd6, %rd2;
        .loc 1 9 1
        st.global.u32 [%rd7], 7;";
    let run = run(body, 1, 34);
    assert_eq!(told(&run), (9, Action::Write, 32));
    assert_eq!(run.x.iter().filter(|x| **x == 7).count(), 16);
    assert_eq!(run.y.iter().filter(|y| **y == 7).count(), 16);
}

/// Where different ways meet, and one of them leaves null.
#[test]
fn a_pointer_that_may_be_null_is_followed() {
    let body = "setp.lt.u32 %p1, %r1, 8;
        mov.b64 %rd5, 0;
        @%p1 bra A;
        bra B;
        A: mov.b64 %rd5, %rd3;
        B: setp.eq.u32 %p2, %r1, 9;
        or.pred %p3, %p1, %p2;
        .loc 1 9 1
        @%p3 st.global.u32 [%rd5], 7;";
    let run = run(body, 1, 32);
    assert_eq!(told(&run), (9, Action::Write, 9));
    assert_eq!(run.x.iter().filter(|x| **x == 7).count(), 8);
    let fault = run.told.unwrap().fault;
    assert!(fault.to_string().contains("global address 0x0, through a null pointer)"), "{fault}");
}

/// Pointers that lie in memory.
#[test]
fn unknown_addresses_are_searched() {
    let body = "st.global.u64 [%rd1], %rd4;
        ld.global.u64 %rd5, [%rd1];
        add.s64 %rd6, %rd5, %rd2;
        .loc 1 9 1
        st.u32 [%rd6], %r1;
        .loc 1 10 1
        st.global.u32 [%rd6+128], %r1;";
    let run = run(body, 1, 32);
    assert_eq!(told(&run), (10, Action::Write, 0));
    assert_eq!(run.y, (0..32).collect::<Vec<_>>());
}

#[test]
fn a_misaligned_address_is_wrong() {
    let body = "add.s64 %rd5, %rd1, %rd2; shr.u64 %rd6, %rd2, 1; add.s64 %rd5, %rd1, %rd6;
        .loc 1 9 1
        st.global.u32 [%rd5], 7;";
    let run = run(body, 1, 4);
    let (line, _, thread) = told(&run);
    assert_eq!((line, thread), (9, 1));
    assert_eq!(run.told.as_ref().unwrap().fault.kind, FaultKind::Misaligned);
    assert_eq!(run.x[..4], [7, 7, 1002, 1003]);
}

#[test]
fn shared_memory_has_bounds() {
    let text = kernel(
        ".shared .align 4 .b8 fixed[128];
        mov.u32 %r5, fixed;
        shl.b32 %r6, %r1, 2;
        add.s32 %r7, %r5, %r6;
        .loc 1 9 1
        st.shared.u32 [%r7], %r1;
        mov.u32 %r5, open;
        add.s32 %r7, %r5, %r6;
        .loc 1 10 1
        st.shared.u32 [%r7], %r1;
        bar.sync 0;
        .loc 1 11 1
        st.shared.u32 [fixed+124], 1;",
    );
    let text = text.replace("\n.visible", "\n.extern .shared .align 4 .b8 open[];\n.visible");
    let right = run_text(&text, 1, 16, Stop::Never);
    assert!(right.told.is_none(), "{:?}", right.told);
    assert_eq!(told(&run_text(&text, 1, 17, Stop::Never)), (10, Action::Write, 16));
    assert_eq!(
        told(&run_text(&text.replace("128]", "60]").replace("+124", ""), 1, 16, Stop::Never)).0,
        9
    );
    // One that is a constant is known to be right, and one that is wrong is told all the same.
    assert_eq!(right.bench.guarded.kernels[0].counts.proved, 1);
    assert_eq!(
        told(&run_text(&text.replace("+124", "+128"), 1, 16, Stop::Never)),
        (11, Action::Write, 0)
    );
}

#[test]
fn local_memory_and_constants_have_bounds() {
    let body = ".local .align 8 .b8 frame[32];
        mov.u64 %rd5, frame;
        cvta.local.u64 %rd6, %rd5;
        add.s64 %rd7, %rd6, %rd2;
        .loc 1 9 1
        st.u32 [%rd7], %r1;
        st.u32 [%rd6+28], %r1;
        mov.u64 %rd0, table;
        add.s64 %rd9, %rd0, %rd2;
        .loc 1 10 1
        ld.const.u32 %r5, [%rd9];
        st.global.u32 [%rd3], %r5;";
    let text = kernel(body)
        .replace("\n.visible", "\n.const .align 4 .u32 table[8] = {1,2,3,4,5,6,7,8};\n.visible");
    let right = run_text(&text, 1, 8, Stop::Never);
    assert!(right.told.is_none(), "{:?}", right.told);
    assert_eq!(right.x[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(told(&run_text(&text, 1, 9, Stop::Never)), (9, Action::Write, 8));
    let text = text.replace("frame[32]", "frame[64]");
    assert_eq!(told(&run_text(&text, 1, 9, Stop::Never)), (10, Action::Read, 8));
}

/// The same where a register is used for one thing after the other, and nothing can be said of its addresses.
#[test]
fn addresses_of_each_space_are_found() {
    let body = ".local .align 8 .b8 frame[32];
        .shared .align 4 .b8 fixed[128];
        mov.u64 %rd5, frame;
        cvta.local.u64 %rd6, %rd5;
        add.s64 %rd7, %rd6, %rd2;
        st.u32 [%rd7], 3;
        mov.u64 %rd5, fixed;
        cvta.shared.u64 %rd6, %rd5;
        add.s64 %rd7, %rd6, %rd2;
        st.u32 [%rd7], 4;
        mov.u64 %rd5, table;
        cvta.const.u64 %rd6, %rd5;
        add.s64 %rd7, %rd6, %rd2;
        ld.u32 %r5, [%rd7];
        mov.u64 %rd7, %rd4;
        st.u32 [%rd7+124], %r5;
        .loc 1 10 1
        st.u32 [%rd7+128], %r5;";
    let text = kernel(body)
        .replace("\n.visible", "\n.const .align 4 .u32 table[8] = {1,2,3,4,5,6,7,8};\n.visible");
    let run = run_text(&text, 1, 1, Stop::Never);
    assert_eq!(told(&run), (10, Action::Write, 0));
    assert_eq!(run.y[31], 1);
}

#[test]
fn atomics_and_vectors_are_checked() {
    let run = run(".loc 1 9 1\natom.global.add.u32 %r5, [%rd3], 1;", 1, 33);
    assert_eq!(told(&run), (9, Action::Write, 32));
    assert_eq!(run.x, (1001..1033).collect::<Vec<_>>());
    let body = "shl.b64 %rd5, %rd2, 2; add.s64 %rd6, %rd1, %rd5;
        .loc 1 9 1
        ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd6];
        .loc 1 10 1
        st.global.v2.u32 [%rd6], {%r7, %r8};";
    let run = self::run(body, 1, 9);
    assert_eq!(told(&run), (9, Action::Read, 8));
    assert_eq!(run.x[28..], [1030, 1031, 1030, 1031]);
}

#[test]
fn a_loop_ends_when_the_flag_is_up() {
    let text = kernel(".loc 1 8 1\nL: add.u32 %r5, %r5, 1;\n.loc 1 9 1\nbra L;");
    for stop in [Stop::Flag, Stop::Wish] {
        let run = run_text(&text, 4, 64, stop);
        let fault = run.told.unwrap().fault;
        assert_eq!((fault.kind, fault.location.unwrap().line), (FaultKind::Cancelled, 9));
    }
    // In a function, too.
    let function = ".func go(.param .b64 n) { .reg .b32 %v;
        .loc 1 20 1
        L: add.u32 %v, %v, 1; bra L; }\n.visible";
    let text = kernel(".param .b64 to; st.param.b64 [to], %rd3; call.uni go, (to);");
    let run = run_text(&text.replace("\n.visible", &format!("\n{function}")), 1, 7, Stop::Flag);
    let fault = run.told.unwrap().fault;
    assert_eq!((fault.kind, fault.location.unwrap().line), (FaultKind::Cancelled, 20));
    // One that stores goes on until its address is wrong, and then ends.
    let body = ".loc 1 9 1\nL: st.global.u32 [%rd3], 9; add.s64 %rd3, %rd3, 4; bra L;";
    let run = self::run(body, 1, 1);
    assert_eq!(told(&run), (9, Action::Write, 0));
    assert_eq!(run.x, vec![9; 32]);
    let record = run.told.unwrap().record;
    assert_eq!((record.address - record.start, record.kernel), (128, 0));
}

#[test]
fn a_loop_with_a_small_count_looks_at_no_flag() {
    let text =
        kernel("mov.u32 %r5, 0; L: add.s32 %r5, %r5, 1; setp.ne.s32 %p1, %r5, 100; @%p1 bra L;");
    let polls = |text: &str| {
        let guarded = super::bench::guarded(text);
        warpaint::ptx::print(&guarded.module).matches("ld.volatile").count()
    };
    assert_eq!(polls(&text), 0);
    // The flag, and the wish.
    assert_eq!(polls(&text.replace("100", "1000000")), 2);
    // It is never 100.
    assert_eq!(polls(&text.replace("%r5, 1;", "%r5, 7;")), 2);
    // It is set back in the loop.
    assert_eq!(polls(&text.replace("L: ", "L: mov.u32 %r5, 7; ")), 2);
    // It begins with the upper half of the number, and the loop goes on where both are equal.
    assert_eq!(polls(&text.replace("mov.u32 %r5, 0", "mov.b64 {%r6, %r5}, 1")), 2);
    assert_eq!(polls(&text.replace("%p1, %r5", "%p2|%p1, %r5")), 2);
}

/// `n >= 0` always holds of an unsigned number, and `n <= 2147483647` of a signed one: such loops never end.
#[test]
fn a_loop_that_comes_round_at_the_end_of_its_type_looks_at_the_flag() {
    let looks = |start: i64, step: i64, condition: &str, end: i64| {
        let body = format!(
            "mov.u32 %r5, {start}; AGAIN: add.s32 %r5, %r5, {step}; \
             setp.{condition} %p1, %r5, {end}; @%p1 bra AGAIN;"
        );
        let checks = super::bench::guarded(&kernel(&body)).checks;
        checks.iter().any(|check| matches!(check.kind, CheckKind::Stop { .. }))
    };
    assert!(looks(10, -1, "ge.u32", 0));
    assert!(looks(10, -1, "hs.u32", 0));
    assert!(
        !looks(10, -1, "ge.u32", 1) && !looks(10, -1, "ge.s32", 0) && !looks(0, 1, "le.s32", 9)
    );
    assert!(looks(2_147_483_000, 1, "le.s32", 2_147_483_647));
    assert!(
        !looks(10, -1, "gt.u32", 0) && !looks(0, 1, "lt.s32", 100) && !looks(0, 1, "ne.s32", 100)
    );
}

#[test]
fn traps_are_told_and_the_device_goes_on() {
    let body = "setp.eq.u32 %p1, %r1, 5;
        .loc 1 9 1
        @%p1 trap;
        st.global.u32 [%rd3], 1;";
    let run = run(body, 1, 32);
    let Told { record, check, fault } = run.told.unwrap();
    let CheckKind::Trap { location, .. } = check else { panic!("{check:?}") };
    assert_eq!((run.bench.line(location), record.thread.x), (Some(9), 5));
    assert_eq!(fault.kind, FaultKind::Trap);
    assert_eq!(run.x.iter().filter(|x| **x == 1).count(), 31);
}

#[test]
fn functions_are_guarded_too() {
    let text = kernel(
        ".param .b64 to;
        st.param.b64 [to], %rd3;
        call.uni store, (to);",
    );
    let function = ".func store(.param .b64 to) { .reg .b64 %a; .reg .b32 %v; ld.param.b64 %a, [to]; mov.u32 %v, 3;
        .loc 1 20 1
        st.u32 [%a], %v; ret; }\n.visible";
    let run = run_text(&text.replace("\n.visible", &format!("\n{function}")), 1, 33, Stop::Never);
    assert_eq!(told(&run), (20, Action::Write, 32));
    assert_eq!(run.x, vec![3; 32]);
    assert_eq!(run.told.unwrap().record.kernel, u32::MAX);
}

/// Pointers to variables that lie in another one: no host knows where they are.
#[test]
fn variables_of_the_module_are_found() {
    let body = "mov.u64 %rd5, list;
        add.s64 %rd6, %rd5, %rd2;
        add.s64 %rd6, %rd6, %rd2;
        ld.global.u64 %rd7, [%rd6];
        ld.u32 %r5, [%rd7];
        .loc 1 9 1
        ld.u32 %r6, [%rd7+4];
        st.global.u32 [%rd3], %r5;";
    let variables = "
        .global .align 4 .u32 one[2] = {11, 12};
        .global .align 4 .u32 two[1] = {21};
        .global .align 8 .u64 list[2] = {generic(one), generic(two)};
        .visible";
    let run = run_text(&kernel(body).replace("\n.visible", variables), 1, 2, Stop::Never);
    assert_eq!(told(&run), (9, Action::Read, 1));
    assert_eq!(run.x[..2], [11, 21]);
}

/// What `assert` becomes, as NVRTC writes it.
#[test]
fn a_failed_assertion_is_told_with_its_words() {
    let texts = "
        .extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
        .global .align 1 .b8 condition[6] = {105, 32, 60, 32, 110, 0};
        .global .align 1 .b8 function[5] = {107, 40, 105, 41, 0};
        .global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
        .visible";
    let body = "
        .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
        setp.ne.u32 %p1, %r1, 3;
        @%p1 bra FINE;
        mov.u64 %rd5, condition; cvta.global.u64 %rd6, %rd5; st.param.b64 [a+0], %rd6;
        mov.u64 %rd7, file; cvta.global.u64 %rd9, %rd7; st.param.b64 [b+0], %rd9;
        st.param.b32 [c+0], 77;
        mov.u64 %rd10, function; cvta.global.u64 %rd11, %rd10; st.param.b64 [d+0], %rd11;
        st.param.b64 [e+0], 1;
        .loc 1 9 1
        call.uni __assertfail, (a, b, c, d, e);
        FINE: st.global.u32 [%rd3], 1;";
    let run = run_text(&kernel(body).replace("\n.visible", texts), 1, 8, Stop::Never);
    let fault = run.told.unwrap().fault;
    assert_eq!(fault.kind, FaultKind::Assert("`i < n` in k(i) (a.cu:77)".to_owned()));
    assert_eq!((fault.thread.x, fault.location.unwrap().line), (3, 9));
    assert_eq!(run.x[..8], [1, 1, 1, 1003, 1, 1, 1, 1]);
}

/// What is not known is handed on untouched, and said.
#[test]
fn what_is_not_known_is_not_guarded() {
    let refused =
        |text: &str| GuardedModule::of(text, &GuardOptions::default()).unwrap_err().to_string();
    let text = kernel("ld.global.u32 %r5, [%rd3];");
    assert_eq!(
        refused(&text.replace("size 64", "size 32")),
        "not guarded: its addresses have 32 bits"
    );
    let old = refused(&text.replace("sm_80", "sm_60"));
    assert_eq!(old, "not guarded: it is for GPUs older than Volta");
    let (again, _) = GuardedModule::of(&text, &GuardOptions::default()).unwrap();
    assert_eq!(refused(&again), "not guarded: it is guarded already");
    let launches = text.replace(
        "\n.visible",
        "\n.extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 n, .param .b64 s);\n.visible",
    );
    assert_eq!(refused(&launches), "not guarded: it may call `cudaLaunchDeviceV2`");
    let bulk = kernel("cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r5], 16;");
    assert!(
        refused(&bulk).starts_with("not guarded: `bad` has cp.async.bulk"),
        "{}",
        refused(&bulk)
    );
    assert!(refused("no PTX").starts_with("not guarded: <ptx>"), "{}", refused("no PTX"));
}

/// What is not known in one function stays as it is there, and the others are guarded.
#[test]
fn a_function_that_is_not_known_leaves_the_others_guarded() {
    let other = "
        .visible .entry other() { .reg .b64 %a; .reg .b32 %s; cp.async.bulk.global.shared::cta.bulk_group [%a], [%s], 16; ret; }
        .visible .entry bad";
    let text = kernel("st.global.u32 [%rd3], 1;").replace(".visible .entry bad", other);
    let (printed, guarded) = GuardedModule::of(&text, &GuardOptions::default()).unwrap();
    let why = guarded.not_guarded().unwrap().to_string();
    assert!(why.starts_with("not guarded: `other` has cp.async.bulk"), "{why}");
    let other = printed.split(".entry other()").nth(1).unwrap().split('}').next().unwrap();
    assert!(other.contains("cp.async.bulk") && !other.contains("__warpaint"), "{printed}");
    assert!(guarded.kernel("other").is_none());
    assert_eq!(guarded.kernel("bad").unwrap().counts.checked, 1);
    let run = run_text(&kernel("st.global.u32 [%rd3], 1;"), 1, 33, Stop::Never);
    assert_eq!(told(&run), (3, Action::Write, 32));
}

/// A matrix is loaded by all threads of a warp or by none, and what a thread alone has wrong is told of that thread.
#[test]
fn a_matrix_is_accessed_by_all_threads_or_by_none() {
    let row = |wrong: u32| {
        format!(
            ".shared .align 16 .b8 tile[128];
            mov.u32 %r6, tile; shl.b32 %r5, %r4, 2; add.u32 %r5, %r5, %r6;
            mov.u32 %r7, 7; st.shared.u32 [%r5], %r7; bar.warp.sync -1;
            shl.b32 %r5, %r4, 4; add.u32 %r5, %r5, %r6;
            setp.eq.u32 %p1, %r4, {wrong}; @%p1 add.u32 %r5, %r5, 4096;
            mov.u32 %r7, 9;
            .loc 1 8 1
            ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r7}}, [%r5];
            st.global.u32 [%rd3], %r7;"
        )
    };
    let first = run(&row(5), 1, 32);
    assert_eq!(told(&first), (8, Action::Read, 5));
    assert_eq!(first.x, [0; 32], "nobody loaded");
    // Nobody reads at the address of a thread that gives no row.
    let second = run(&row(9), 1, 32);
    assert!(second.told.is_none());
    assert_eq!(second.x, [7; 32]);
}

/// All of it has to be there, from the first line to the last.
#[test]
fn a_matrix_lies_in_its_memory_as_a_whole() {
    let registers = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
    let head = ".reg .f32 %f<8>;\nmov.f32 %f0, 0f3F800000;\n.loc 1 8 1\n";
    let shape = "sync.aligned.row.m16n16k16.global.f32";
    // 15 lines of 16 bytes, and 64 more, are more than 128.
    let store = run(&format!("{head}wmma.store.d.{shape} [%rd1], {registers}, 4;"), 1, 32);
    assert_eq!(told(&store), (8, Action::Write, 0));
    assert_eq!(store.x, (1000..1032).collect::<Vec<u32>>());
    let load =
        format!("{head}wmma.load.c.{shape} {registers}, [%rd1], 4;\nst.global.f32 [%rd3], %f0;");
    let load = run(&load, 1, 32);
    assert_eq!(told(&load), (8, Action::Read, 0));
    assert_eq!(load.x, [0; 32]);
    // 16 lines in one place are not.
    let same =
        format!("{head}wmma.load.c.{shape} {registers}, [%rd1], 0;\nst.global.f32 [%rd3], %f0;");
    let same = run(&same, 1, 32);
    assert!(same.told.is_none());
    // Thread 4g + t has columns 2t, and 2t + 1, of row g.
    let due: Vec<u32> = (0..32).map(|lane| 1000 + lane % 4 * 2).collect();
    assert_eq!(same.x, due);
}
