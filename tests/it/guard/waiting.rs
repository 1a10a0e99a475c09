//! A kernel without end, while the driver keeps the thread waiting that would stop it.

use std::{
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use warpaint::{
    compile::{Cache, Compiler},
    interop::Interop,
    session::{Options, Session},
};

use crate::support::{alone, nvidia};

const ENDLESS: &str = "/*---
[array.a]
type = \"int\"
count = 64
[[pass]]
kernel = \"k\"
over = \"a\"
---*/
__global__ void k(volatile int *a)
{
    while (threadIdx.x < 64)
        a[threadIdx.x] += 1;
}
";
/// A module of which the device has no translation: none has this number.
fn module() -> String {
    let number = std::process::id();
    let text = ".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n.reg .b64 %a;\n\
                ld.param.u64 %a, [x];\ncvta.to.global.u64 %a, %a;\nst.global.u32 [%a], ";
    format!("{text}{number};\nret;\n}}\n")
}

/// CUDA loads a module when no kernel runs, and a thread that makes a stream meanwhile waits for that.
#[test]
fn the_limit_ends_a_kernel_for_which_the_driver_keeps_all_waiting() {
    if nvidia().is_none() {
        return;
    }
    let mut test = alone("guard::waiting::alone_behind_the_driver");
    let mut test = test.stdout(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    let status = loop {
        match test.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if Instant::now() >= end => break None,
            None => thread::sleep(Duration::from_millis(50)),
        }
    };
    test.kill().unwrap();
    test.wait().unwrap();
    assert!(status.is_some_and(|status| status.success()), "{status:?}");
}

#[test]
#[ignore = "is started by another test, in a process of its own"]
fn alone_behind_the_driver() {
    let device = nvidia().unwrap();
    let limit = Duration::from_secs(2);
    let options = Options { guarded: true, step_timeout: limit, ..Options::new("k.cu", ENDLESS) };
    let (compiler, interop) = (Compiler::new(Cache::user()), Interop::none(&device));
    let mut session = Session::open(options, device.clone(), compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
    session.play();
    let running = Instant::now() + Duration::from_millis(500);
    while Instant::now() < running {
        session.update().unwrap();
    }
    let of_thread = device.clone();
    let loaded = thread::spawn(move || of_thread.load(&module()).map(drop));
    thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    drop(device.stream().unwrap());
    let waited = asked.elapsed();
    loaded.join().unwrap().unwrap();
    while session.fault().is_none() {
        session.update().unwrap();
    }
    let told = session.fault().unwrap();
    assert!(told.text.contains("stopped after 2 s (the limit"), "{told}");
    eprintln!("a stream was made after {waited:?}");
}
