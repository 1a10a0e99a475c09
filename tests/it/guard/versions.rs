//! What versions of kernels do without beside the checks of single accesses.

use warpaint::{
    device::{Arguments, Device, GuardOptions, GuardedModule, LaunchConfig, Memory, Versions},
    ptx::pass::Action,
};

use super::{
    bench::{Bench, Stop},
    proofs::{HEAD, kernel},
};

/// The version that is launched of a kernel whose pointers `x` and `m` point to so many words.
fn version(body: &str, n: u32, [x, m]: [u64; 2]) -> (Option<usize>, Vec<usize>) {
    let text = format!("{HEAD}{}", kernel("k", body));
    let (printed, host) = GuardedModule::of(&text, &GuardOptions::default()).unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&4096_u64).push(&n).push(&(1_u64 << 30));
    let find = |pointer| match pointer {
        4096 => Some((pointer, 4 * x)),
        0x4000_0000 => Some((pointer, 4 * m)),
        _ => None,
    };
    let kernel = host.kernel("k").unwrap();
    let version = host.version(kernel, &LaunchConfig::new(4, 32), arguments.bytes(), find);
    let functions = printed.split(".entry ").skip(1);
    (version, functions.map(|text| text.matches("ld.volatile.global.u32").count()).collect())
}

/// A loop that does not go round often in a launch does not look at the flag in it.
#[test]
fn loops_that_are_short_in_a_launch_look_at_no_flag() {
    let one = "mov.u32 %r1, 0; L: add.s32 %r1, %r1, 1; st.global.u32 [%x], %r1;
        setp.lt.s32 %p1, %r1, %n; @%p1 bra L;";
    let words = [8, 8];
    // Two looks each: at the flag, and at the wish.
    assert_eq!(version(one, 100, words), (Some(0), vec![2, 0, 2]));
    assert_eq!(version(one, 16_000, words).0, Some(0));
    assert_eq!(version(one, 17_000, words).0, Some(1));
    // Within one another.
    let two = "mov.u32 %r2, 0; M: mov.u32 %r1, 0; L: add.s32 %r1, %r1, 1; st.global.u32 [%x], %r1;
        setp.lt.s32 %p1, %r1, %n; @%p1 bra L;
        add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %n; @%p2 bra M;";
    assert_eq!(version(two, 100, words), (Some(0), vec![4, 0, 4]));
    assert_eq!(version(two, 200, words).0, Some(1));
    // The end is loaded.
    let loaded = one.replace("mov.u32 %r1, 0;", "ld.global.u32 %r3, [%x]; mov.u32 %r1, 0;");
    assert_eq!(version(&loaded.replace("%n", "%r3"), 1, words), (Some(0), vec![2, 2]));
}

/// A module that is to load quickly has one version of each kernel, which has all checks and every look.
#[test]
fn a_module_may_have_the_versions_with_all_checks_alone() {
    let body = "mov.u32 %r1, 0; L: add.s32 %r1, %r1, 1; st.global.u32 [%x], %r1;
        setp.lt.s32 %p1, %r1, %n; @%p1 bra L;";
    let text = format!("{HEAD}{}", kernel("k", body));
    let of = |versions| {
        let options = GuardOptions { versions, ..GuardOptions::default() };
        let (printed, host) = GuardedModule::of(&text, &options).unwrap();
        let kernels = printed.matches(".entry ").count();
        let kernel = host.kernel("k").unwrap();
        (kernels, kernel.proved.len(), kernel.counts.checked, kernel.words.clone())
    };
    let (proved, whole) = (of(Versions::Proved), of(Versions::Whole));
    assert_eq!((proved.0, proved.1, whole.0, whole.1), (3, 2, 1, 0));
    assert_eq!((whole.2, &whole.3), (proved.2, &proved.3), "it is checked as the others are");
}

/// Elements of two buffers at one index that was loaded.
const BOTH: &str = "ld.param.u64 %rd5, [m]; cvta.to.global.u64 %rd6, %rd5;
    ld.global.u32 %r1, [%x];
    mul.wide.s32 %rd7, %r1, 4; add.s64 %rd8, %x, %rd7; add.s64 %rd9, %rd6, %rd7;
    .loc 1 7 1
    ld.global.u32 %r2, [%rd8];
    setp.eq.s32 %p1, %i, 99; @%p1 bra DONE;
    .loc 1 8 1
    st.global.u32 [%rd9], 5;";

#[test]
fn one_index_is_compared_once_where_the_other_buffer_is_as_long() {
    assert_eq!(version(BOTH, 0, [8, 8]).0, Some(0));
    assert_eq!(version(BOTH, 0, [8, 9]).0, Some(0));
    assert_ne!(version(BOTH, 0, [8, 7]).0, Some(0), "the other one is shorter");
    // Another value in the same register.
    let other = BOTH.replace(
        "add.s64 %rd9, %rd6, %rd7;",
        "ld.global.u32 %r1, [%x+4]; mul.wide.s32 %rd7, %r1, 4;
        add.s64 %rd9, %rd6, %rd7;",
    );
    let apart =
        GuardedModule::of(&format!("{HEAD}{}", kernel("k", &other)), &GuardOptions::default())
            .unwrap()
            .1;
    let together =
        GuardedModule::of(&format!("{HEAD}{}", kernel("k", BOTH)), &GuardOptions::default())
            .unwrap()
            .1;
    let launches = [apart, together].map(|host| host.kernel("k").unwrap().counts.launches);
    assert_eq!(launches, [1, 2], "the loads of the index, and one comparison");
}

/// What is left out with the first access is not told of.
#[test]
fn what_is_wrong_at_one_index_is_told_of_once() {
    let device = Device::cpu().unwrap();
    let file = ".file 1 \"bad.cu\"\n";
    let bench = Bench::new(&device, &format!("{HEAD}{file}{}", kernel("k", BOTH)));
    let memories = [0, 1].map(|_| device.alloc(32).unwrap());
    let known: Vec<&Memory> = memories.iter().collect();
    for (index, told) in [(3_u32, None), (8, Some(7)), (1 << 30, Some(7)), (u32::MAX, Some(7))] {
        let words: Vec<u8> = [index; 8].into_iter().flat_map(u32::to_ne_bytes).collect();
        memories.iter().for_each(|memory| {
            bench.stream.upload(memory.slice(..).unwrap(), &words).unwrap();
        });
        let mut arguments = Arguments::new();
        arguments.push(&memories[0].address()).push(&0_u32).push(&memories[1].address());
        bench.prepare(&known, Stop::Never);
        bench.launch("k", &LaunchConfig::new(1, 4), &arguments, &known).unwrap();
        assert!(bench.proved.take() > 0, "a version with fewer checks was launched");
        let found = bench.told(&known);
        let line = found.as_ref().and_then(|found| found.fault.location.as_ref()).map(|at| at.line);
        assert_eq!(line, told);
        assert!(found.is_none_or(|found| found.accesses()[0].action == Action::Read));
        let read = bench.stream.download(memories[1].slice(..).unwrap()).unwrap().wait().unwrap();
        let expected = if told.is_none() { 5 } else { index };
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&read)[3], expected);
    }
}
