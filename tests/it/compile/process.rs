//! The compiler's processes: what becomes of them, and of the program, when one of both is ended.

use crate::skip::{Need, skip};
use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use warpaint::{
    compile::{Cache, Compiler, Limits, Outcome},
    device::Device,
    kernel::{Context, Source},
};

use super::{compiled, compiler, limits::TYPES, rejected, request};
use crate::support::{alone, expect_pass};

/// A line of `/proc/PID/stat`: state, parent and process group.
fn stat(pid: u32) -> Option<(String, u32, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses, and may hold anything.
    let mut words = text.rsplit_once(") ")?.1.split(' ');
    Some((words.next()?.to_owned(), words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The children of a process, zombies among them.
fn children(of: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| stat(*pid).is_some_and(|(_, parent, _)| parent == of)).collect()
}

fn own() -> Vec<u32> {
    children(std::process::id())
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

/// Waits until it is so; generous, for a machine that has much else to do.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The processor time that a process has had, in hundredths of a second.
fn ticks(pid: u32) -> u32 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
    rest.split(' ').nth(11).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// A child other than these that works: that has had more than a tenth of a second.
fn busy_child(but: &[u32]) -> u32 {
    let find = || own().into_iter().find(|pid| !but.contains(pid) && ticks(*pid) > 10);
    wait_until("a process works", || find().is_some());
    find().unwrap()
}

macro_rules! alone {
    ($($name:ident: $test:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                if compiler().is_some() {
                    expect_pass(&mut alone(concat!("compile::process::", stringify!($test))));
                }
            }
        )*
    };
}

// Each looks at all children of its process, so it has one of its own.
alone! {
    a_killed_compiler_is_tried_again: alone_killed,
    many_contexts_share_few_processes: alone_many,
    a_ctrl_c_in_the_terminal_does_not_reach_the_compiler: alone_group,
    a_sessions_end_and_a_newer_text_end_a_compilation: alone_session,
}

#[test]
#[ignore = "looks at all children of its process"]
fn alone_killed() {
    let compiler = compiler().unwrap();
    // One that nobody uses.
    compiler.warm();
    let [idle] = own()[..] else { panic!("{:?}", own()) };
    kill(idle);
    compiled(&compiler, &request("__global__ void k() {}"));
    assert_eq!(own().len(), 1, "the dead one was waited for");
    // One at work: once is tried again, twice is told.
    let limits = Limits { memory_bytes: 8 << 30, ..Limits::default() };
    let compiler = compiler.with_limits(limits);
    let told = thread::scope(|scope| {
        let bomb = scope.spawn(|| rejected(&compiler, &request(TYPES)));
        let first = busy_child(&[]);
        kill(first);
        kill(busy_child(&[first]));
        bomb.join().unwrap()
    });
    assert!(told[0].contains("was ended twice on this source (SIGKILL)"), "{told:?}");
    compiled(&compiler, &request("__global__ void k() {}"));
    assert_eq!(own().len(), 1);
}

#[test]
#[ignore = "looks at all children of its process"]
fn alone_many() {
    let device = Device::cpu().unwrap();
    let contexts: Vec<_> = (0..50)
        .map(|n| {
            let compiler = Compiler::new(Cache::disabled());
            let context = Context::with_compiler(device.clone(), compiler).unwrap();
            let source = format!("extern \"C\" __global__ void k(int *x) {{ *x = {n}; }}");
            context.module(&Source::new(source)).unwrap();
            context
        })
        .collect();
    assert_eq!(own().len(), 1);
    drop(contexts);
    // Several at once are several, of which two stay.
    thread::scope(|scope| {
        for n in 0..6 {
            scope.spawn(move || {
                let compiler = Compiler::new(Cache::disabled());
                let text = format!("__global__ void k(int *x) {{ *x = {n}; }}");
                assert!(compiled(&compiler, &request(&text)).ptx.contains(&format!(", {n};")));
            });
        }
    });
    assert!((1..=2).contains(&own().len()), "{:?}", own());
}

#[test]
#[ignore = "looks at all children of its process"]
fn alone_group() {
    compiler().unwrap().warm();
    let [child] = own()[..] else { panic!("{:?}", own()) };
    let (_, _, group) = stat(child).unwrap();
    assert_eq!(group, child, "a terminal's signals go to the program's group");
}

#[cfg(feature = "gl")]
#[test]
#[ignore = "looks at all children of its process"]
fn alone_session() {
    use crate::support::COUNTER;
    use warpaint::{interop::Interop, session};
    let bomb =
        COUNTER.replacen("---*/", &format!("---*/{}", TYPES.replace("void k(", "void bomb(")), 1);
    let device = Device::cpu().unwrap();
    let options = session::Options::new("scene.cu", &bomb);
    let limits = Limits { memory_bytes: 16 << 30, ..Limits::default() };
    let compiler = Compiler::new(Cache::memory()).with_limits(limits);
    let interop = Interop::none(&device);
    let mut session = session::Session::open(options, device, compiler, interop, || {}).unwrap();
    let first = busy_child(&[]);
    // Two seconds are given to the old text, then a tenth to start anew; the bomb itself takes minutes.
    let start = Instant::now();
    session.set_source(COUNTER.to_owned());
    assert!(session.wait_for_program().unwrap(), "{:?}", session.snapshot().compile.diagnostics);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(stat(first).is_none(), "it was ended, and waited for");
    let [second] = own()[..] else { panic!("{:?}", own()) };
    let before = ticks(second);
    session.set_source(bomb);
    wait_until("it works", || ticks(second) > before + 10);
    let start = Instant::now();
    drop(session);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(stat(second).is_none());
}

/// Says the numbers of its compiler processes and compiles until it is killed.
#[test]
#[ignore = "is killed by another test"]
#[expect(clippy::print_stdout, reason = "the other test reads it")]
fn alone_until_killed() {
    let limits = Limits { memory_bytes: 16 << 30, ..Limits::default() };
    let compiler = compiler().unwrap().with_limits(limits);
    thread::scope(|scope| {
        scope.spawn(|| compiler.compile(&request(TYPES)).map(drop));
        println!("\nchild {}", busy_child(&[]));
    });
}

/// A compiler that works does not outlive a program that is killed.
#[test]
fn the_compiler_ends_with_the_program() {
    if compiler().is_none() {
        return;
    }
    let mut program =
        alone("compile::process::alone_until_killed").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines().map(Result::unwrap);
    let child = lines.find_map(|line| line.strip_prefix("child ")?.parse().ok()).unwrap();
    assert!(stat(child).is_some());
    kill(program.id());
    program.wait().unwrap();
    wait_until("the compiler ends", || stat(child).is_none_or(|(state, ..)| state == "Z"));
}

/// Where no process can be started the program compiles itself.
#[test]
fn without_a_process_the_program_compiles_itself() {
    if compiler().is_none() {
        return;
    }
    let test = std::env::current_exe().unwrap();
    // Its executable is the loader, which is no compiler when it is started anew.
    let loader = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let Some(loader) = loader.iter().find(|path| fs::exists(path).unwrap()) else {
        return skip(Need::Machine, "no loader of this name");
    };
    let mut command = Command::new(loader);
    command.arg(test);
    command.args([
        "--exact",
        "compile::process::alone_without",
        "--include-ignored",
        "--nocapture",
    ]);
    expect_pass(&mut command);
}

#[test]
#[ignore = "is started by another test, in a special way"]
fn alone_without() {
    let compiler = Compiler::new(Cache::disabled());
    compiled(&compiler, &request("__global__ void k() {}"));
    assert!(own().is_empty(), "it did that itself");
    assert!(matches!(compiler.compile(&request("int x")).unwrap(), Outcome::Rejected { .. }));
}
