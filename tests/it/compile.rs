//! The compiler with the real NVRTC.

mod foreign;
mod limits;
mod nvcc;
#[cfg(target_os = "linux")]
mod process;
#[cfg(feature = "cli")]
mod trust;

use crate::skip::{Need, skip};
use std::fs;
use std::path::Path;

use warpaint::compile::{Cache, Compiled, Compiler, Error, Header, Outcome, Request, Target};
use warpaint::diagnostic::Severity;

/// A compiler that keeps nothing, or `None`, said aloud, where there is no NVRTC.
fn compiler() -> Option<Compiler> {
    compiler_with(Cache::disabled())
}

fn compiler_with(cache: Cache) -> Option<Compiler> {
    let compiler = Compiler::new(cache);
    match compiler.nvrtc() {
        Ok(_) => Some(compiler),
        Err(Error::NvrtcNotFound { .. }) => {
            skip(Need::Nvrtc, "no NVRTC");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn request(source: &str) -> Request {
    Request::new("kernels/test.cu", source, Target::CPU)
}

fn compiled(compiler: &Compiler, request: &Request) -> Compiled {
    match compiler.compile(request).unwrap() {
        Outcome::Compiled(compiled) => compiled,
        Outcome::Rejected { log, .. } => panic!("rejected:\n{log}"),
    }
}

/// The diagnostics of a request that must not compile, as they are shown.
fn rejected(compiler: &Compiler, request: &Request) -> Vec<String> {
    match compiler.compile(request).unwrap() {
        Outcome::Rejected { diagnostics, .. } => {
            diagnostics.iter().map(ToString::to_string).collect()
        }
        Outcome::Compiled(_) => panic!("compiled"),
    }
}

#[test]
fn a_kernel_becomes_ptx_with_lines() {
    let Some(compiler) = compiler() else { return };
    let mut request = request("__global__ void k(float *p) {\n    p[threadIdx.x] = 1.0f;\n}\n");
    request.name_expressions = vec!["k".into()];
    let result = compiled(&compiler, &request);
    assert_eq!(result.names["k"], "_Z1kPf");
    for part in
        [".visible .entry _Z1kPf", ".target sm_80", ".loc\t1 2 ", ".file\t1 \"kernels/test.cu\""]
    {
        assert!(result.ptx.contains(part), "no {part} in\n{}", result.ptx);
    }
    assert_eq!(result.nvrtc, compiler.nvrtc().unwrap().version);
    assert!(result.nvrtc.0 >= 12 && !result.cached && result.diagnostics.is_empty());
}

#[test]
fn a_target_above_the_newest_counts_as_that() {
    let Some(compiler) = compiler() else { return };
    let mut request = request("__global__ void k() {}");
    request.target = Target(12, 0);
    assert!(compiled(&compiler, &request).ptx.contains(".target sm_90"));
    request.target = Target(2, 0);
    let error = compiler.compile(&request).unwrap_err().to_string();
    assert!(error.contains("not for compute_20"), "{error}");
}

#[test]
fn errors_have_file_line_and_column() {
    let Some(compiler) = compiler() else { return };
    let wrong = request("__global__ void k(float *p) {\n    p[0] = /* ü */ nothing;\n}\n");
    let expected = ["kernels/test.cu:2:20: error: identifier \"nothing\" is undefined"];
    assert_eq!(rejected(&compiler, &wrong), expected);
    let wrong = request("#include \"nowhere.h\"\n");
    let found = rejected(&compiler, &wrong);
    assert!(
        found[0].starts_with("kernels/test.cu:1:") && found[0].contains("nowhere.h"),
        "{found:?}"
    );
    let wrong = request("__global__ void k() {\n");
    assert_eq!(rejected(&compiler, &wrong)[0], "kernels/test.cu:1: error: expected a \"}\"");
}

#[test]
fn warnings_are_kept_on_success() {
    let Some(compiler) = compiler() else { return };
    let result = compiled(&compiler, &request("__global__ void k() {\n    int unused;\n}\n"));
    let [warning] = &result.diagnostics[..] else { panic!("{:?}", result.diagnostics) };
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!((warning.line, warning.column), (Some(2), Some(9)));
    assert!(warning.text.contains("never referenced") && result.log.contains("#177-D"));
}

#[test]
fn name_expressions_lower_templates_and_namespaces() {
    let Some(compiler) = compiler() else { return };
    let mut request = request(
        "template <int N> __global__ void k(int *p) { *p = N; }\n\
         namespace a { __global__ void z() {} }\n",
    );
    request.name_expressions = ["k<4>", "k<2 + 3>", "a::z"].map(String::from).into();
    let result = compiled(&compiler, &request);
    assert_eq!(result.names["k<4>"], "_Z1kILi4EEvPi");
    assert_eq!(result.names["k<2 + 3>"], "_Z1kILi5EEvPi");
    assert_eq!(result.names["a::z"], "_ZN1a1zEv");
    request.name_expressions = vec!["missing".into()];
    let expected =
        "kernels/test.cu: error: kernel name `missing`: identifier \"missing\" is undefined";
    assert_eq!(rejected(&compiler, &request), [expected]);
}

#[test]
fn the_prelude_shifts_no_lines() {
    let Some(compiler) = compiler() else { return };
    let mut request = request("__global__ void k(int *p) { p[0] = n; }\n");
    request.prelude = "constexpr int n = 5;\n\n\n".into();
    assert!(compiled(&compiler, &request).ptx.contains(".loc\t1 1 "));
    request.source = "__global__ void k(int *p) { p[0] = m; }\n".into();
    assert_eq!(
        rejected(&compiler, &request),
        ["kernels/test.cu:1:36: error: identifier \"m\" is undefined"]
    );
    request.prelude = "\nconstexpr int m = ;\n".into();
    assert!(rejected(&compiler, &request)[0].starts_with("<prelude>:2:19: error:"));
}

#[test]
fn headers_in_memory_are_included_and_blamed() {
    let Some(compiler) = compiler() else { return };
    let mut request = request(
        "#include <warpaint/twice.cuh>\n__global__ void k(int *p) { p[0] = twice(p[1]); }\n",
    );
    let header = |text: &str| Header { name: "warpaint/twice.cuh".into(), text: text.into() };
    request.headers = vec![header("__device__ __noinline__ int twice(int x) { return 2 * x; }\n")];
    assert!(compiled(&compiler, &request).ptx.contains("\"warpaint/twice.cuh\""));
    request.headers = vec![header("__device__ int twice(int x) {\n  return y;\n}\n")];
    let expected = "warpaint/twice.cuh:2:10: error: identifier \"y\" is undefined";
    assert_eq!(rejected(&compiler, &request), [expected]);
}

#[test]
fn cudas_own_headers_are_found() {
    let Some(compiler) = compiler() else { return };
    let mut request = request(
        "#include <cuda_fp16.h>\n__global__ void k(__half *p) { p[0] = __hadd(p[1], p[2]); }\n",
    );
    assert!(compiled(&compiler, &request).ptx.contains("add.f16"));
    request.source = "#include <cuda/std/array>\n\
                      __global__ void k(int *p) { cuda::std::array<int, 2> a{1, 2}; p[0] = a[p[1]]; }\n"
        .into();
    compiled(&compiler, &request);
}

/// With the constants and types that NVRTC lacks, beside CUDA's headers that have some of them too.
#[test]
fn headers_of_c_are_there_unless_the_request_has_its_own() {
    let Some(compiler) = compiler() else { return };
    let names =
        ["assert", "float", "limits", "math", "stddef", "stdint", "stdio", "stdlib", "string"];
    let of_c = names.map(|name| format!("#include <{name}.h>\n#include <c{name}>\n")).concat();
    let kernel = "
        static_assert(sizeof(int8_t) == 1 && sizeof(uint16_t) == 2 && sizeof(int32_t) == 4, \"\");
        static_assert(sizeof(uint64_t) == 8 && sizeof(uintptr_t) == sizeof(void *), \"\");
        static_assert(INT_MAX == INT32_MAX && INT_MIN == INT32_MIN && UINT_MAX == UINT32_MAX, \"\");
        static_assert(LONG_MAX == INT64_MAX && LLONG_MIN == INT64_MIN && CHAR_BIT == 8, \"\");
        static_assert(FLT_MAX < DBL_MAX && FLT_MIN > 0 && 1.0f + FLT_EPSILON > 1.0f, \"\");
        __global__ void k(float *p, size_t n) {
            assert(n > 0);
            printf(\"%d\\n\", (int)n);
            memcpy(p, p + 4, 8);
            p[0] = NAN;
            p[1] = INFINITY + sinf(M_PI) + abs(-3) + HUGE_VALF;
            static_assert(sizeof(std::sqrt(p[2])) == 4 && sizeof(std::sqrt(1.0)) == 8, \"overloaded\");
            p[2] = std::pow(std::fabs(p[2]), 1.5f) + std::abs(p[3]) + std::abs(-3) + std::isnan(p[4]);
            std::memcpy(p + 4, p, sizeof(std::uint16_t) + sizeof(std::size_t));
            std::printf(\"%d\\n\", (int)std::abs(-3));
        }";
    for cuda in ["", "#include <cuda/std/cstdint>\n#include <cuda/std/cfloat>\n"] {
        for text in [format!("{cuda}{of_c}{kernel}"), format!("{of_c}{cuda}{kernel}")] {
            let result = compiled(&compiler, &request(&text));
            assert_eq!(result.log, "", "{cuda}");
        }
    }

    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("math.h"), "#define OWN 1\n").unwrap();
    let mut own = request("#include <math.h>\nstatic_assert(OWN == 1, \"\");\n");
    own.include_dirs = vec![folder.path().into()];
    compiled(&compiler, &own);
    own.include_dirs.clear();
    own.options = vec![format!("-I{}", folder.path().display())];
    compiled(&compiler, &own);
    own.options.clear();
    own.headers = vec![Header { name: "math.h".into(), text: "#define OWN 1\n".into() }];
    compiled(&compiler, &own);
    own.headers.clear();
    assert_eq!(rejected(&compiler, &own).len(), 1, "that of C");
    own.source = own.source.replace("<math.h>", "\"math.h\"");
    own.name = folder.path().join("k.cu").to_string_lossy().into();
    compiled(&compiler, &own);
}

#[test]
fn unicode_names_and_texts_pass_through() {
    let Some(compiler) = compiler() else { return };
    let mut request = request("\u{feff}// ünïcödé\n__global__ void k() { int ü = foo; }\n");
    request.name = "kérnels/日本 (1).cu".into();
    let found = rejected(&compiler, &request);
    assert!(found.iter().all(|text| text.starts_with("kérnels/日本 (1).cu:2:")), "{found:?}");
}

#[test]
fn wrong_options_and_nul_bytes_are_diagnostics() {
    let Some(compiler) = compiler() else { return };
    let mut request = request("__global__ void k() {}");
    request.options = vec!["--bogus".into()];
    let found = rejected(&compiler, &request);
    assert!(found[0].contains("unrecognized option --bogus"), "{found:?}");
    request.options = vec!["--std=c++20".into()];
    assert_eq!(compiled(&compiler, &request).log.trim(), "");
    request.source.push('\0');
    assert_eq!(rejected(&compiler, &request).len(), 1);
}

#[test]
fn a_changed_header_file_is_compiled_again() {
    let temp = tempfile::tempdir().unwrap();
    let Some(compiler) = compiler_with(Cache::open(temp.path().join("cache"))) else { return };
    let dir = temp.path().join("include");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("a.cuh"), "#include \"b.cuh\"\n").unwrap();
    fs::write(dir.join("b.cuh"), "constexpr int value = 41;\n").unwrap();
    let mut request = request("#include <a.cuh>\n__global__ void k(int *p) { p[0] = value; }\n");
    request.include_dirs = vec![dir.clone()];
    let first = compiled(&compiler, &request);
    let again = compiled(&compiler, &request);
    assert!(!first.cached && again.cached && again.ptx == first.ptx);
    assert_eq!((&again.names, &again.log, again.nvrtc), (&first.names, &first.log, first.nvrtc));
    fs::write(dir.join("b.cuh"), "constexpr int value = 42;\n").unwrap();
    let changed = compiled(&compiler, &request);
    assert!(!changed.cached && changed.ptx.contains("42"));
    fs::write(dir.join("b.cuh"), "constexpr int value = 41;\n").unwrap();
    assert!(compiled(&compiler, &request).cached);
    // A file that comes to stand before the one included so far.
    let first_dir = temp.path().join("first");
    fs::create_dir(&first_dir).unwrap();
    request.include_dirs.insert(0, first_dir.clone());
    assert!(!compiled(&compiler, &request).cached);
    fs::write(first_dir.join("a.cuh"), "constexpr int value = 43;\n").unwrap();
    let shadowed = compiled(&compiler, &request);
    assert!(!shadowed.cached && shadowed.ptx.contains("43"));
}

#[test]
fn a_damaged_cache_is_repaired() {
    let temp = tempfile::tempdir().unwrap();
    let Some(compiler) = compiler_with(Cache::open(temp.path())) else { return };
    let request = request("__global__ void k() {}\n");
    compiled(&compiler, &request);
    let file = only_file(temp.path());
    fs::write(&file, &fs::read(&file).unwrap()[..100]).unwrap();
    let other_process = Compiler::new(Cache::open(temp.path()));
    assert!(!compiled(&other_process, &request).cached);
    assert!(compiled(&Compiler::new(Cache::open(temp.path())), &request).cached);
}

fn only_file(dir: &Path) -> std::path::PathBuf {
    let mut files = fs::read_dir(dir).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    file
}

/// A macro of the slow header of a test expands to nothing so many times over, as a power of two.
const DOUBLINGS: u32 = 18;

/// A header that takes long is precompiled, and what it says is never a stale one's.
#[test]
fn a_slow_header_is_precompiled_and_never_stale() {
    let temp = tempfile::tempdir().unwrap();
    let cache = temp.path().join("cache");
    let Some(compiler) = compiler_with(Cache::open(&cache)) else { return };
    if compiler.nvrtc().unwrap().version < (12, 8) {
        skip(Need::Nvrtc, "this one does not precompile headers");
        return;
    }
    // Its expansion takes well above what counts as slow (0.4 s), which NVIDIA's header does not on a quick machine.
    let doubled = |i: u32| format!("#define D{}(x) D{i}(x) D{i}(x)\n", i + 1);
    let slow = format!(
        "#define D0(x)\n{}D{DOUBLINGS}(0)\n",
        (0..DOUBLINGS).map(doubled).collect::<String>()
    );
    let of = |number: u32, header: u32| {
        let mut request = request(&format!(
            "#include <cooperative_groups.h>\n#include <slow.cuh>\n#include <h.cuh>\n__global__ void k(int *p) {{\n    \
             p[cooperative_groups::this_thread_block().size()] = {number} + h();\n}}\n"
        ));
        let text = format!("__device__ inline int h() {{ return {header}; }}");
        let named = |name: &str, text: String| Header { name: name.into(), text };
        request.headers = vec![named("h.cuh", text), named("slow.cuh", slow.clone())];
        request
    };
    let folders = || {
        let entries = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    if !matches!(compiler.compile(&of(1000, 0)).unwrap(), Outcome::Compiled(_)) {
        skip(Need::Nvrtc, "no cooperative_groups.h");
        return;
    }
    for number in 1001..1003 {
        let result = compiled(&compiler, &of(number, 0));
        assert!(result.ptx.contains(&number.to_string()));
        assert_eq!((result.log.as_str(), result.diagnostics.len()), ("", 0));
        assert!(result.ptx.contains("kernels/test.cu"));
    }
    let [folder] = &folders()[..] else { panic!("{:?}", folders()) };
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "a precompiled header");

    // A header in memory that changes, which NVRTC itself does not notice.
    assert!(compiled(&compiler, &of(1000, 70_000)).ptx.contains("71000"));
    // Mistakes are where they were.
    let mut wrong = of(1005, 0);
    wrong.source = wrong.source.replace("h()", "nothing");
    let found = rejected(&compiler, &wrong);
    assert!(found[0].starts_with("kernels/test.cu:5:"), "{found:?}");
    for file in fs::read_dir(folder).unwrap() {
        let file = fs::OpenOptions::new().write(true).open(file.unwrap().path()).unwrap();
        file.set_len(99).unwrap();
    }
    compiled(&compiler, &of(1006, 0));
    drop(compiler);
    assert!(folders().is_empty(), "{:?}", folders());
}

#[test]
fn several_threads_compile_at_once() {
    let Some(compiler) = compiler() else { return };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let compiler = compiler.clone();
            scope.spawn(move || {
                let source = format!("__global__ void k(int *p) {{ p[0] = {}; }}\n", 1000 + thread);
                let result = compiled(&compiler, &request(&source));
                assert!(result.ptx.contains(&(1000 + thread).to_string()));
            });
        }
    });
}
