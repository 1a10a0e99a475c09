//! The same loops in C.

use std::{collections::HashMap, path::Path, process::Command};

/// What a peer took, and a checksum of what it computed.
pub(crate) struct Peer {
    pub(crate) ms: f64,
    /// As [`super::Bench::busy_ms`].
    pub(crate) busy_ms: f64,
    pub(crate) check: f64,
}

/// Builds and runs the peers by name (all where none is named); none without gcc.
pub(crate) fn run(wanted: &[String]) -> HashMap<String, Peer> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/peers.c");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("peers");
    let mut gcc = Command::new("gcc");
    gcc.args(["-O3", "-fopenmp", "-o"]).arg(&program).arg(source).arg("-lm");
    if !gcc.status().is_ok_and(|status| status.success()) {
        println!("skipped: no gcc to compare with");
        return HashMap::new();
    }
    let output =
        Command::new(program).args(wanted).env("OMP_WAIT_POLICY", "passive").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let peer = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [ms, busy_ms, check] = [1, 2, 3].map(|at| words[at].parse().unwrap());
        (words[0].to_owned(), Peer { ms, busy_ms, check })
    };
    text.lines().map(peer).collect()
}
