//! What goes wrong in loops of passes, and what they cost.

use std::time::Instant;

use super::*;
use crate::skip::{Need, skip};

/// A counter of launches, with more lines for its pass.
fn counting(pass: &str) -> String {
    format!(
        "/*---\n[constant]\nn = 4\n[param.wanted]\nvalue = 3\nmin = -5\nmax = 5000000\n\
         [array.count]\ntype = \"int\"\ncount = 1\n\
         [[pass]]\nkernel = \"tick\"\n{pass}\n---*/\n\
         __global__ void tick(int *count) {{ if (threadIdx.x + blockIdx.x == 0) ++*count; }}\n"
    )
}

fn count(session: &mut Session) -> i32 {
    bytemuck::pod_collect_to_vec(&session.read("count").unwrap())[0]
}

#[test]
fn loops_follow_parameters_and_conditions() {
    let cases = [
        ("over = 1\nrepeat = \"wanted\"", 3),
        ("over = 1\nrepeat = \"wanted - 7\"", 0),
        ("over = \"wanted - 3\"", 0),
        ("grid = \"wanted\"\nblock = \"2 * wanted\"", 1),
        ("over = 1\nonly_if = \"wanted > 3\"", 0),
        ("over = 1\nonly_if = \"step == 0 && wanted == n - 1\"\nrepeat = 2", 2),
        ("over = 1\nrepeat = 100\nuntil = \"count[0] >= 7\"", 7),
        ("over = 1\nrepeat = 100\nuntil = \"count[0] >= 7\"\nevery = 5", 10),
        ("over = 1\nrepeat = 100\nuntil = \"count.sum >= 8 || round == 5\"", 6),
        ("over = 1\nrepeat = 3\nuntil = false", 3),
        ("over = 1\nrepeat = 100\nuntil = '`twice as many` / 2 > 5 && `q[0].max` > 0'", 6),
    ];
    let stats = "[[stat]]\nname = 'twice as many'\nof = 'count'\nmap = '2 * x'\nreduce = 'sum'\n\
                 [[stat]]\nname = 'q[0].max'\nof = 'count'\nreduce = 'max'\n[[pass]]";
    for (pass, expected) in cases {
        let mut session = open(&counting(pass).replacen("[[pass]]", stats, 1));
        session.run_steps(1, |_| {}).unwrap();
        assert!(session.snapshot().fault.is_none(), "{pass}: {:?}", session.snapshot().fault);
        assert_eq!(count(&mut session), expected, "{pass}");
    }
}

#[test]
fn expressions_without_a_value_stop_the_scene_on_their_line() {
    let cases = [
        ("over = \"n / (wanted - 3)\"", 12, "kernel `tick`: `over`: division by zero"),
        ("over = \"wanted - 4\"", 12, "`over` is -1 in x, but must lie between 0 and"),
        ("grid = 1\nblock = \"500 * wanted\"", 12, "`block` is 1500 in x"),
        ("grid = 1\nblock = [\"100 * wanted\", 10]", 12, "3000 threads"),
        ("over = 1\nshared = \"-wanted\"", 12, "`shared` is -3"),
        ("over = 1\nshared = \"100000 * wanted\"", 12, "300000"),
        ("over = 1\nrepeat = \"1 / (wanted - 3)\"", 12, "`repeat`: division by zero"),
        ("over = 1\nonly_if = \"1 % (wanted - 3)\"", 12, "`only_if`: division by zero"),
        (
            "over = 1\nrepeat = 5\nuntil = \"1 / count[0] < 1 / (count[0] - 2)\"",
            15,
            "`until`: division",
        ),
        ("over = \"count[0] - 1\"", 12, "`over` is -1 in x"),
        ("over = 1\nrepeat = \"1 / count[0]\"", 12, "`repeat`: division by zero"),
        ("over = 1\nonly_if = \"1 % count[0]\"", 12, "`only_if`: division by zero"),
    ];
    for (pass, line, part) in cases {
        let mut session = open(&counting(pass));
        session.run_steps(1, |_| {}).unwrap();
        let fault = session.snapshot().fault.expect(pass);
        assert!(fault.text.contains(part), "{pass}: {fault}");
        assert_eq!(fault.line, Some(line), "{pass}: {fault}");
    }
}

/// A fault of a kernel is one where a condition waits for it, too.
#[test]
fn a_fault_behind_a_condition_is_told_as_any() {
    for device in crate::support::devices() {
        if device.info().kind != warpaint::device::DeviceKind::Cpu {
            skip(Need::Machine, "a fault would end CUDA for the whole process");
            continue;
        }
        let text = counting("over = 1\nrepeat = 5\nuntil = \"count[0] > 3\"")
            .replace("++*count", "++count[4 * *count]");
        let mut session = open_on(&device, &text);
        session.run_steps(1, |_| {}).unwrap();
        let fault = session.snapshot().fault.expect("it reads beyond its array");
        assert!(fault.text.contains("kernel `tick`") && fault.line == Some(17), "{fault}");
        // The scene goes on with a text that is right.
        session.set_source(counting("over = 1\nrepeat = 5\nuntil = \"count[0] > 3\""));
        assert!(session.wait_for_program().unwrap());
        session.reset();
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(count(&mut session), 4);
    }
}

/// The limit of a step holds for loops that wait for their condition, and for such as launch nothing.
#[test]
fn a_loop_without_end_is_stopped() {
    let waiting = counting("over = 1\nrepeat = 1000000\nuntil = \"count[0] < 0\"");
    let idle = counting("grid = \"step\"\nblock = 32\nrepeat = 1000000").replace(
        "[[pass]]",
        "[[pass]]\nname = \"g\"\nrepeat = 1000000\n[[pass.pass]]\nname = \"h\"\nrepeat = 1000000\n[[pass.pass.pass]]",
    );
    let endless = counting("over = 1\nrepeat = 9\nuntil = \"endless > 0\"").replace(
        "[[pass]]",
        "[[stat]]\nname = \"endless\"\nof = \"count\"\nreduce = \"sum\"\n\
         map = \"[&]{ volatile int z = 0; while (z == 0) {} return x; }()\"\n[[pass]]",
    );
    let read = endless.replace("repeat = 9\nuntil", "only_if");
    for text in [waiting, idle, endless, read] {
        stops_in_time(&text);
    }
}

fn stops_in_time(text: &str) {
    let mut options = options("scene.cu", text);
    options.step_timeout = Duration::from_millis(300);
    let device = Device::cpu().unwrap();
    let interop = Interop::none(&device);
    let compiler = Compiler::new(Cache::user());
    let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap());
    let start = Instant::now();
    session.run_steps(1, |_| {}).unwrap();
    let fault = session.snapshot().fault.expect("it takes too long");
    assert!(fault.text.contains("stopped after 0.3 s"), "{fault}");
    // Ten times the limit: another one would be the twenty seconds of a test.
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

/// What a group is called, how long it takes, and what its launches move.
#[test]
fn a_group_has_a_time_of_its_own() {
    let text = counting("over = 1\nrepeat = 2").replace(
        "[[pass]]",
        "[[pass]]\nname = \"ticks\"\nrepeat = \"wanted\"\n[[pass.pass]]\nbytes = 8",
    );
    let mut session = open(&text);
    session.run_steps(2, |_| {}).unwrap();
    let snapshot = session.snapshot();
    let [pass] = snapshot.passes.as_slice() else { panic!("{:?}", snapshot.passes) };
    assert_eq!((pass.name.as_str(), pass.bytes, pass.flops), ("ticks", Some(48.0), None));
    assert_eq!(pass.history_ms.len(), 2);
    assert_eq!(count(&mut session), 12);
}
