//! How much memory the files of a run take while they are written.
#![cfg(target_os = "linux")]

use super::*;

/// What `render` takes of memory at most, in KiB, with these arguments.
fn most_memory(at: &Path, arguments: &[&str]) -> u64 {
    let mut command = Command::new(binary());
    command.args(["render", "scene.cu", "--device", "cpu", "--steps", "1"]).args(arguments);
    let mut child = command.current_dir(at).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        most = most.max(number.unwrap_or(0));
        thread::sleep(Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success(), "{arguments:?}");
    most
}

/// On the CPU device a resource lies in the same memory as its copies, of which an output needs one.
#[test]
fn outputs_take_memory_for_one_copy() {
    const RESOURCE: u64 = 256 << 10; // KiB
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = format!(
        "/*---\n[array.a]\ntype = \"float\"\ncount = {}\n[[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n\
         __global__ void k(float *a, int a_count) {{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
         if (i < a_count) a[i] += 1.0f;\n}}\n",
        RESOURCE << 8
    );
    fs::write(at.join("scene.cu"), text).unwrap();
    let plain = most_memory(at, &[]);
    assert!(plain > RESOURCE, "{plain} KiB");
    for output in [["--npy", "a=a.npy"], ["--save", "s.npz"]] {
        let more = most_memory(at, &output) - plain;
        // What else a process takes is a few MiB; a second copy would be another 256.
        assert!(more < RESOURCE * 3 / 2, "{output:?}: {more} KiB more than the {plain} without");
    }
}
