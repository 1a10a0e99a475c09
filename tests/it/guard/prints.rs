//! Guarded kernels that print.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use warpaint::{device::Device, ptx::pass::guard::record::MOST_PRINTS};

use super::{
    bench::{Bench, Stop},
    faults::{kernel, run_bench},
};

/// Each thread prints one character, as NVRTC writes it, and stores what `printf` returns to the first word.
fn printing() -> String {
    let texts = "
        .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .global .align 1 .b8 format[2] = {120, 0};
        .visible";
    let body = "
        mov.u64 %rd5, format; cvta.global.u64 %rd6, %rd5;
        {
        .param .b64 f; .param .b64 a; .param .b32 r;
        st.param.b64 [f+0], %rd6;
        st.param.b64 [a+0], 0;
        call.uni (r), vprintf, (f, a);
        ld.param.b32 %r5, [r+0];
        }
        st.global.u32 [%rd1], %r5;";
    kernel(body).replace("\n.visible", texts)
}

/// As many calls print as the driver's buffer holds; the others return what CUDA documents for no format.
#[test]
fn calls_beyond_the_buffer_print_nothing() {
    for (blocks, returned) in [(2, 0), (MOST_PRINTS / 1024 + 1, u32::MAX)] {
        let device = Device::cpu().unwrap();
        let bench = Bench::new(&device, &printing());
        let Device::Cpu(cpu) = &device else { panic!("the CPU device") };
        let printed = Arc::new(AtomicU32::new(0));
        let to = printed.clone();
        cpu.print_with(move |printed| {
            assert_eq!(printed.text, "x");
            to.fetch_add(1, Ordering::Relaxed);
        });
        let run = run_bench(&device, bench, blocks, 1024, Stop::Never);
        assert!(run.told.is_none(), "{:?}", run.told);
        assert_eq!(run.x[0], returned);
        assert_eq!(printed.load(Ordering::Relaxed), (1024 * blocks).min(MOST_PRINTS));
        assert_eq!(run.bench.printed(), (1024 * blocks, true));
    }
}

#[test]
fn who_prints_nothing_is_not_counted() {
    let device = Device::cpu().unwrap();
    let bench = Bench::new(&device, &kernel("st.global.u32 [%rd3], 1;"));
    assert_eq!(run_bench(&device, bench, 1, 32, Stop::Never).bench.printed(), (0, false));
}
