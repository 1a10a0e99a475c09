//! States that a signal asks for.
#![cfg(target_os = "linux")]

use super::{kills::steps_of, *};

/// Whether the process does something of its own when SIGUSR1 comes, which would end it else.
fn catches_the_signal(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << (10 - 1) != 0
}

fn send(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_signal_has_the_state_written_and_the_run_goes_on() {
    let folder = folder();
    let at = folder.path();
    let mut command = Command::new(binary());
    command.args(["render", "scene.cu", "--device", "cpu", "--steps", "1000000000"]);
    command.args(["--save", "s.npz"]).current_dir(at);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !catches_the_signal(&child) {
        thread::sleep(Duration::from_millis(5));
    }
    let mut last = 0;
    for _ in 0..3 {
        send(&child, "-USR1");
        let steps = || at.join("s.npz").exists().then(|| steps_of(&at.join("s.npz")));
        while steps().is_none_or(|steps| steps <= last) {
            assert!(child.try_wait().unwrap().is_none());
            thread::sleep(Duration::from_millis(5));
        }
        last = steps().unwrap();
    }
    send(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(steps_of(&at.join("s.npz")), last);
    render(at, &["--steps", "1", "--from", "s.npz"]);
}
