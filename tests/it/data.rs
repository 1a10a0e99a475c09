//! What resources and variables hold at the start: values of the manifest, arrays and pictures of files.

mod arrays;
#[cfg(feature = "cli")]
mod command_line;
mod each;
mod edits;
#[cfg(feature = "cli")]
mod fields;
mod pictures;
#[cfg(feature = "cli")]
mod structures;
mod values;
mod variables;

use std::{
    fs,
    path::{Path, PathBuf},
};

use bytemuck::Pod;
use tempfile::TempDir;
use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    interop::Interop,
    session::{Options, Session},
};

use crate::support::devices;

/// A folder for a scene and its files.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A session with this text as the scene of the folder.
    fn session(&self, device: &Device, source: &str) -> Session {
        let path = Some(self.path("scene.cu"));
        let options = Options { path, ..Options::new("scene.cu", source) };
        let (interop, compiler) = (Interop::none(device), Compiler::new(Cache::user()));
        Session::open(options, device.clone(), compiler, interop, || {}).unwrap()
    }

    /// A session that has begun: its resources are as they are at the start.
    fn begun(&self, device: &Device, source: &str) -> Session {
        let mut session = self.session(device, source);
        let runs = session.wait_for_program().unwrap();
        assert!(runs, "{:#?}", session.snapshot().compile.diagnostics);
        session.run_steps(0, |_| {}).unwrap();
        assert!(session.fault().is_none(), "{:?}", session.fault());
        session
    }

    /// What is wrong with a scene, a line each.
    fn told(&self, source: &str) -> Vec<String> {
        let mut session = self.session(&Device::cpu().unwrap(), source);
        assert!(!session.wait_for_program().unwrap(), "{source}");
        let remarks = session.snapshot().compile.diagnostics;
        let all = remarks.iter().map(ToString::to_string);
        all.filter(|remark| remark.contains(": error: ")).collect()
    }
}

/// A scene of this manifest and these kernels.
fn scene(manifest: &str, kernels: &str) -> String {
    format!("/*---\n{manifest}\n---*/\n{kernels}")
}

/// A resource's elements.
fn read<T: Pod>(session: &mut Session, name: &str) -> Vec<T> {
    bytemuck::pod_collect_to_vec(&session.read(name).unwrap())
}

/// A `.npy` file of numbers.
fn npy(descriptor: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_of(&format!("'{descriptor}'"), fortran, shape, data)
}

/// A `.npy` file, whose descriptor stands as Python writes it.
fn npy_of(descriptor: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header =
        format!("{{'descr': {descriptor}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::write(path, content).unwrap();
}

/// Runs a test on each device that there is.
fn on_each_device(test: impl Fn(&Device)) {
    devices().iter().for_each(test);
}
