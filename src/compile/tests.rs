//! The compiler without NVRTC.

use std::path::{Path, PathBuf};

use super::*;
use crate::compile::request::Target;

fn request() -> Request {
    Request::new("a.cu", "__global__ void k() {}", Target::CPU)
}

/// A file that is found as NVRTC but cannot be loaded: the head of a library for this processor, and nothing else.
fn stub(folder: &Path) -> PathBuf {
    let library = folder.join("libnvrtc.so.13");
    let mut head = b"\x7fELF\x02\x01\x01".to_vec();
    head.resize(64, 0);
    head[18] = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
    std::fs::write(&library, head).unwrap();
    library
}

#[test]
fn no_nvrtc_is_one_clear_sentence() {
    let compiler = Compiler::with_places(Cache::disabled(), Places::default());
    let error = compiler.compile(&request()).unwrap_err().to_string();
    for part in [
        "no NVRTC library found",
        "scripts/setup",
        "pip install nvidia-cuda-nvrtc",
        "WARPAINT_NVRTC",
    ] {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
    assert!(compiler.nvrtc().is_err());
}

#[test]
fn a_library_that_does_not_load_is_named() {
    let temp = tempfile::tempdir().unwrap();
    let library = stub(temp.path());
    let folders = vec![("test", temp.path().to_owned())];
    let compiler = Compiler::with_places(Cache::disabled(), Places { variable: None, folders });
    let error = compiler.compile(&request()).unwrap_err().to_string();
    assert!(error.contains("libnvrtc.so.13: does not load"), "{error}");
    let places = Places { variable: Some(library), folders: vec![] };
    let compiler = Compiler::with_places(Cache::disabled(), places);
    let error = compiler.compile(&request()).unwrap_err().to_string();
    assert!(error.starts_with("WARPAINT_NVRTC is") && error.contains("does not load"), "{error}");
}

#[test]
fn a_hit_neither_loads_nor_runs_the_compiler() {
    let temp = tempfile::tempdir().unwrap();
    let library = stub(temp.path());
    let places = Places { variable: Some(library), folders: vec![] };
    let cache = Cache::open(temp.path().join("cache"));
    let identity = Identity::of(&request(), &places.find(&[]).unwrap()).unwrap();
    cache.insert(identity.key, entry::example("the PTX"));
    // The library is a stub that cannot be loaded, so an answer can only come from the folder.
    let compiler = Compiler::with_places(Cache::open(temp.path().join("cache")), places);
    let Outcome::Compiled(compiled) = compiler.compile(&request()).unwrap() else { panic!() };
    assert!(compiled.cached);
    assert_eq!(&*compiled.ptx, "the PTX");
}

#[test]
fn a_nul_byte_is_a_diagnostic() {
    let compiler = Compiler::with_places(Cache::disabled(), Places::default());
    let mut request = request();
    request.source = "int a;\n \0".into();
    let Outcome::Rejected { diagnostics, .. } = compiler.compile(&request).unwrap() else {
        panic!()
    };
    assert_eq!(diagnostics[0].to_string(), "a.cu:2:2: error: the file holds a NUL byte; remove it");
}
