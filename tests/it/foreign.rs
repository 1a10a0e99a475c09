//! What kernels from elsewhere were stopped by once: each case is the shortest text that shows it, and what is to come
//! of it today. Those that run do so on each device; those whose faults would end a GPU's context, on the CPU device.

mod reproducers;
mod signatures;

use std::time::Duration;

use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    interop::Interop,
    session::{Options, Session},
};

use crate::support::{Workplace, devices};

/// A scene of an array `a` with 64 elements, and one pass of a kernel `k` of 64 threads.
fn scene(element: &str, more: &str, args: &str, code: &str) -> String {
    let (grid, block) =
        if more.contains("block =") { ("", "") } else { ("grid = 1\n", "block = 64\n") };
    format!(
        "/*---\n[array.a]\ntype = '{element}'\ncount = 64\n{more}\n[[pass]]\nkernel = 'k'\n{grid}{block}{args}\n---*/\n{code}"
    )
}

/// What is said of a scene: mistakes, or a fault of its first step; nothing where it runs.
fn told(device: &Device, source: &str) -> Vec<String> {
    let options =
        Options { step_timeout: Duration::from_secs(20), ..Options::new("foreign.cu", source) };
    let (compiler, interop) = (Compiler::new(Cache::user()), Interop::none(device));
    let mut session = Session::open(options, device.clone(), compiler, interop, || {}).unwrap();
    if session.wait_for_program().unwrap() {
        session.run_steps(1, |_| {}).unwrap();
    }
    let snapshot = session.snapshot();
    let all = snapshot.compile.diagnostics.into_iter().chain(snapshot.fault);
    all.map(|diagnostic| diagnostic.to_string()).collect()
}

/// It runs on each device, and leaves `first` in `a[0]`.
fn runs(element: &str, more: &str, args: &str, code: &str, first: &[u8]) {
    runs_of(&scene(element, more, args, code), first);
}

/// The same of a whole scene.
fn runs_of(source: &str, first: &[u8]) {
    for device in devices() {
        let options = Options::new("foreign.cu", source);
        let (compiler, interop) = (Compiler::new(Cache::user()), Interop::none(&device));
        let mut session = Session::open(options, device.clone(), compiler, interop, || {}).unwrap();
        assert!(session.wait_for_program().unwrap(), "{source}\n{:#?}", session.snapshot().compile);
        session.run_steps(1, |_| {}).unwrap();
        assert!(session.snapshot().fault.is_none(), "{source}\n{:#?}", session.snapshot().fault);
        let bytes = session.read("a").unwrap();
        assert_eq!(&bytes[..first.len()], first, "{source}");
    }
}

/// As [`runs`], with floats and nothing special in the manifest.
fn gives(code: &str, first: f32) {
    runs("float", "", "", code, &first.to_le_bytes());
}

/// On the CPU device something is told of the line with `line_of` that has all of `parts`.
fn is_told(more: &str, args: &str, code: &str, line_of: &str, parts: &[&str]) {
    let source = scene("float", more, args, code);
    let device = Device::cpu().unwrap();
    let told = told(&device, &source);
    let line = source.lines().position(|line| line.contains(line_of)).unwrap() + 1;
    let place = format!("foreign.cu:{line}:");
    let is_meant =
        |text: &String| text.starts_with(&place) && parts.iter().all(|part| text.contains(part));
    assert!(told.iter().any(is_meant), "{parts:?} on line {line}: {told:#?}");
}

#[test]
fn headers_of_the_host_and_of_cuda_are_there() {
    gives(
        "#include <cuda.h>\n#include <cuda_runtime.h>\n__global__ void k(float *a) { a[0] = 1; }",
        1.0,
    );
    gives(
        "#include <cstdio>\n__global__ void k(float *a) { a[0] = 1; }\nint main() { float *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); return 0; }",
        1.0,
    );
    gives(
        "#include <algorithm>\n#include <limits>\n__global__ void k(float *a) { a[0] = std::min(a[1] + 2, std::numeric_limits<float>::max()); }",
        2.0,
    );
    gives(
        "#include <stdint.h>\n__constant__ uint64_t t[2] = { UINT64_C(1), UINT64_C(2) };\n__global__ void k(float *a) { a[0] = t[1]; }",
        2.0,
    );
    gives(
        "#include <cub/cub.cuh>\n__global__ void k(float *a) {\n    typedef cub::BlockReduce<float, 64> R;\n    __shared__ typename R::TempStorage t;\n    float sum = R(t).Sum(a[threadIdx.x] + 1);\n    if (threadIdx.x == 0) a[0] = sum;\n}",
        64.0,
    );
    gives(
        "#include <curand_kernel.h>\n__global__ void k(float *a) {\n    curandState s;\n    curand_init(1, threadIdx.x, 0, &s);\n    float u = curand_uniform(&s);\n    a[threadIdx.x] = u > 0 && u <= 1;\n}",
        1.0,
    );
}

#[test]
fn what_nvcc_gives_without_a_header_is_there() {
    gives("__global__ void k(float *a) { uint i = threadIdx.x; ulong j = 3; a[i] = j; }", 3.0);
    gives(
        "__global__ void k(float *a) { int64_t x = 3; a[0] = x + (INFINITY > M_PI) + INT_MAX / INT_MAX; }",
        5.0,
    );
    gives(
        "struct P { P() : x{} {} float x; };\n__global__ void k(P *a) { P b = a[1]; b.x += 2; a[0] = b; }",
        2.0,
    );
    gives(
        "static const float table[4] = {4, 3, 2, 1};\n__global__ void k(float *a) { a[threadIdx.x] = table[threadIdx.x % 4]; }",
        4.0,
    );
}

#[test]
fn mathematics_of_integers_is_that_of_doubles() {
    let code = "__global__ void k(double *a, int n, float x) { a[0] = sqrt(n); a[1] = pow(2, n); a[2] = floor(n / 2);\n\
                a[3] = fmod(x, 3.0); a[4] = hypot(n, x); a[5] = std::fmax(n, 2.5); a[6] = std::sqrt(7ull); a[7] = fabs(-n); }";
    let (n, x) = (7.0_f64, f64::from(7.6_f32));
    // Each is exact, or rounded once, but for the root of a sum of squares, whose square is exact here.
    let first = [n.sqrt(), 128.0, 3.0, x % 3.0, n.hypot(1.0), 7.0, n.sqrt(), 7.0];
    let code = code.replace("hypot(n, x)", "hypot(n, 1)");
    let bytes: Vec<u8> = first.iter().flat_map(|value| value.to_le_bytes()).collect();
    runs("double", "[param.x]\nvalue = 7.6", "args = { n = 7 }", &code, &bytes);
}

#[test]
fn whole_numbers_of_128_bits_are_computed() {
    let (x, y) = (
        0x0123_4567_89ab_cdef_fedc_ba98_7654_3217_u128,
        0x0000_0000_0000_0011_2233_4455_6677_8899_u128,
    );
    let low = 77_u64;
    let signed = -(x as i128);
    let wide = [
        x.wrapping_mul(y),
        x / y,
        x % y,
        x - y,
        (signed / i128::from(low)) as u128,
        (signed % i128::from(low)) as u128,
        x >> low,
        (signed >> 3) as u128,
        x << low,
        (x as f64) as u128,
    ];
    let halves = |number: u128| [number as u64, (number >> 64) as u64];
    let expected: Vec<u8> = wide
        .into_iter()
        .flat_map(halves)
        .chain([(signed as f64).to_bits(), 16 + 16])
        .flat_map(u64::to_le_bytes)
        .collect();
    let [x, y] = [x, y].map(|number| {
        format!("((u128){:#x}ull << 64 | {:#x}ull)", (number >> 64) as u64, number as u64)
    });
    let code = format!(
        "typedef unsigned __int128 u128;\n__global__ void k(unsigned long long *a, int low) {{\n\
         u128 x = {x} + (low - 77), y = {y} + (low - 77);\n__int128 s = -(__int128)x;\n\
         u128 r[10] = {{ x * y, x / y, x % y, x - y, (u128)(s / low), (u128)(s % low), x >> low, (u128)(s >> 3), x << low,\n\
         (u128)(double)x }};\nfor (int i = 0; i < 10; i++) {{ a[2 * i] = r[i]; a[2 * i + 1] = r[i] >> 64; }}\n\
         a[20] = __double_as_longlong((double)s); a[21] = sizeof(s) + __SIZEOF_INT128__; }}"
    );
    runs("unsigned long long", "", "args = { low = 77 }", &code, &expected);
}

#[test]
fn elements_of_every_type_are_taken() {
    runs("bool", "", "", "__global__ void k(bool *a) { a[0] = true; }", &[1]);
    runs("unsigned char", "", "", "__global__ void k(bool *a) { a[0] = true; }", &[1]);
    let code = "#include <cuda_bf16.h>\n__global__ void k(__nv_bfloat16 *a) { a[0] = 1; }";
    runs("__nv_bfloat16", "", "", code, &[0x80, 0x3f]);
}

#[test]
fn types_by_other_names_are_what_the_compiler_says() {
    let x = "[param.x]\nvalue = 2.5";
    let first = 2.5_f32.to_le_bytes();
    runs(
        "float",
        x,
        "",
        "typedef float real;\n__global__ void k(real *a, real x) { a[0] = x; }",
        &first,
    );
    runs(
        "float",
        x,
        "",
        "#define REAL float\n__global__ void k(REAL *a, const REAL x) { a[0] = x; }",
        &first,
    );
    let code = "namespace inner {\nusing integer = long long;\nenum Kind { no, yes };\n\
                typedef float *numbers;\n__global__ void k(numbers a, integer n, Kind kind, float2 v)\n\
                { a[0] = n + 10 * (kind == yes) + 100 * v.y; }\n}";
    let args = "args = { n = 3, kind = 1, v = [0.0, 2.0] }";
    let source = scene("float", "", args, code).replace("kernel = 'k'", "kernel = 'inner::k'");
    for device in devices() {
        assert_eq!(told(&device, &source), [""; 0]);
    }
    let code = "typedef int whole;\n__global__ void k(float *a, whole n) { a[0] = n; }";
    let parts = ["`n` is a float constant", "takes `int`, its `whole`"];
    is_told("", "args = { n = 1.5 }", code, "args =", &parts);
    let code =
        "struct Params { float x; int n; };\n__global__ void k(float *a, Params p) { a[0] = p.x; }";
    is_told(
        "[param.p]\nvalue = 1.0",
        "",
        code,
        "kernel = 'k'",
        &["`p` is a `Params`", "p = { x = 1 }"],
    );
    runs("float", "", "args = { p = { x = 7, n = 1 } }", code, &7.0_f32.to_le_bytes());
}

#[test]
fn of_several_kernels_of_a_name_the_one_counts_that_is_compiled_or_fits() {
    gives(
        "__global__ void k(float *a) { a[0] = 1; }\n__global__ void k(double *b, int n) { b[0] = n; }",
        1.0,
    );
    let conditional = "#ifdef USE_DOUBLE\n__global__ void k(double *a, int m) { a[0] = 1; }\n#else\n__global__ void k(float *a) { a[0] = 2; }\n#endif";
    gives(conditional, 2.0);
    let compile = "[compile]\ndefine = { USE_DOUBLE = true }";
    is_told(compile, "", conditional, "int m", &["`m` of the kernel `k`"]);
    gives("__global__ void k(float *a\n#ifdef WITH_B\n, float *b\n#endif\n) { a[0] = 1; }", 1.0);
    gives(
        "#define BOUNDS(a, b) __launch_bounds__(a, b)\n__global__ void BOUNDS(256, 2) k(float *a) { a[0] = 1; }",
        1.0,
    );
}

#[test]
fn kernels_of_inline_namespaces_are_named_with_them_and_without() {
    let code = "namespace lib { inline namespace v2 { typedef float real; struct P { real x; };\n\
                __global__ void k(real *a, P p) { a[0] = 2 * p.x; }\n\
                template <class T> __global__ void t(T *a, P p) { a[0] = 2 * p.x; } } }";
    for kernel in ["lib::k", "lib::v2::k", "lib::t<float>", "lib::v2::t<float>"] {
        let source = scene("float", "", "args = { p = { x = 2.5 } }", code);
        runs_of(&source.replace("'k'", &format!("'{kernel}'")), &5.0_f32.to_le_bytes());
    }
}

#[test]
fn pointers_to_pointers_take_addresses() {
    let code = "__global__ void addresses(float **rows, float *b, float *c) { rows[0] = b; rows[1] = c + 2; }\n\
                __global__ void k(float **rows, float *a) { if (threadIdx.x == 0) a[0] = rows[0][0] + 10 * rows[1][1]; }";
    let arrays = "[array.b]\ntype = 'float'\ncount = 4\nvalue = [1, 2, 3, 4]\n\
                  [array.c]\ntype = 'float'\ncount = 4\nvalue = [5, 6, 7, 8]\n\
                  [array.rows]\ntype = 'unsigned long long'\ncount = 2\n\
                  [[pass]]\nkernel = 'addresses'\ngrid = 1\nblock = 1";
    let shape = "grid = 1\nblock = 64";
    runs("float", arrays, shape, code, &81.0_f32.to_le_bytes());
    let numbers = arrays.replace("'unsigned long long'", "'float'");
    let parts = ["`rows` is an array of numbers", "`unsigned long long` takes addresses"];
    is_told(&numbers, shape, code, "kernel = 'addresses'", &parts);
}

#[test]
fn pointers_to_pointers_take_lists() {
    let code = "__global__ void k(float *const *rows, float **more, float *a) {\n\
                if (threadIdx.x > 0) return; more[0][3] = 2;\n\
                a[0] = rows[0][0] + 10 * rows[1][1] + 100 * (rows[2] == nullptr) + 1000 * more[1][0]; }";
    let arrays = "[array.b]\ntype = 'float'\ncount = 4\nvalue = [1, 2, 3, 4]\n\
                  [array.c]\ntype = 'float2'\ncount = 4\nvalue = [5, 6, 7, 8, 9, 10, 11, 12]\n\
                  [array.d]\ntype = 'int'\ncount = 4\n\
                  [array.e]\ntype = 'float'\ncount = 4\ndouble = true\nvalue = 3\n";
    let args = |rows: &str, more: &str| format!("args = {{ rows = {rows}, more = {more} }}");
    let right = args("['b', '(float *)(c + 1)', 0]", "['e_next', 'e']");
    runs("float", arrays, &right, code, &(1.0 + 80.0 + 100.0 + 3000.0_f32).to_le_bytes());
    let parts = ["`rows[1]` is the array d (4 int), but the kernel takes `float *"];
    is_told(arrays, &args("['b', 'd']", "['b']"), code, "args =", &parts);
    let parts = ["`more[0]` is an int constant, but the kernel takes `float *`"];
    is_told(arrays, &args("['b', 'b']", "[4, 'b']"), code, "args =", &parts);
    // What lies behind the arrays is not there.
    let arrays = "[array.b]\ntype = 'float'\ncount = 4\n";
    let far = "__global__ void k(float **rows, float *a) {\n    if (threadIdx.x == 0) a[0] = rows[1][4];\n}";
    is_told(arrays, "args = { rows = ['b', 'b'] }", far, "rows[1][4]", &["`b[4]`"]);
}

#[test]
fn arrays_are_read_through_texture_objects() {
    let code = "__global__ void k(cudaTextureObject_t t, cudaTextureObject_t d, cudaTextureObject_t b, float *a) {\n    \
                int2 bits = tex1Dfetch<int2>(d, 1);\n    uchar4 c = tex1Dfetch<uchar4>(b, 1);\n    \
                if (threadIdx.x == 0) a[0] = tex1Dfetch<float>(t, 2) + __hiloint2double(bits.y, bits.x) + 100 * c.z\n        \
                + tex1Dfetch<float>(t, 4); }";
    let arrays = |bytes: &str| {
        format!(
            "[buffer.t]\ntype = 'float'\ncount = 4\nvalue = [1, 2, 3, 4]\n\
             [array.d]\ntype = 'double'\ncount = 2\nvalue = [5, 20]\n\
             [array.b]\ntype = '{bytes}'\ncount = 2\nvalue = [[1, 2, 3], [4, 5, 6]]"
        )
        .replace(
            "[[1, 2, 3], [4, 5, 6]]",
            match bytes {
                "uchar4" => "[[1, 2, 3, 4], [5, 6, 7, 8]]",
                _ => "[[1, 2, 3], [4, 5, 6]]",
            },
        )
    };
    runs("float", &arrays("uchar4"), "", code, &723.0_f32.to_le_bytes());
    is_told(&arrays("uchar3"), "", code, "void k", &["`b` is the array b (2 uchar3)"]);
    let args = "args = { t = 't + 1' }";
    is_told(&arrays("uchar4"), args, code, "args =", &["`t` is a part of an array"]);
}

#[test]
fn textures_may_have_one_axis() {
    let code = "__global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t t_next, float *a, int t_width) {\n    \
                int i = threadIdx.x;\n    if (i < t_width) surf1Dwrite(tex1D<float>(t, i + 0.5f) + i, t_next, 4 * i);\n    \
                if (i == 0) a[0] = tex1D<float>(t, 3.25f) + 100 * t_width; }";
    let texture = "[texture.t]\nformat = 'r32f'\nsize = [8]\nfilter = 'linear'\ndouble = true";
    let args = "repeat = 2";
    // Behind the first round the texels are 0 to 7, and 3.25 lies between the middles of 2 and 3.
    runs("float", texture, args, code, &802.75_f32.to_le_bytes());
}

#[test]
fn template_arguments_of_several_words_are_taken() {
    let code = "template <class T, int N> __global__ void k(float *a, T n) { a[0] = n + N; }";
    let source = scene("float", "", "args = { n = 3 }", code);
    let wrong = source.replace("'k'", "'k<flaot, 4>'");
    let told_of = told(&Device::cpu().unwrap(), &wrong);
    assert!(
        told_of[0].starts_with("foreign.cu:7:") && told_of[0].contains("k<flaot,4>"),
        "{told_of:?}"
    );
    for kernel in ["k<unsigned int, 4>", "k < unsigned   long  long , 2 >", "k<const int,1>"] {
        let source = source.replace("'k'", &format!("'{kernel}'"));
        for device in devices() {
            assert_eq!(told(&device, &source), [""; 0], "{kernel}");
        }
    }
}

#[test]
fn names_that_mean_something_else_are_given_by_args() {
    let keys = "[array.items]\ntype = 'int'\ncount = 64\n[array.item]\ntype = 'int'\ncount = 64";
    let code = "__global__ void k(float *a, int *keys, int seed, float step, double *time, int *item_count)\n\
                { a[0] = keys[0] + seed + step + (time == 0) + item_count[0]; }";
    let args = "args = { keys = 'items', seed = 3, step = 0.5, time = 0, item_count = 'item' }";
    runs("float", keys, args, code, &4.5_f32.to_le_bytes());
    is_told(
        "[array.keys]\ntype = 'int'\ncount = 64",
        "",
        code,
        "[array.keys]",
        &["is built in", "`args`"],
    );
    is_told(keys, "", code, "double *time", &["`time` is the time in seconds", "`args`"]);
    is_told("[array.a_count]\ntype = 'int'\ncount = 4", "", code, "[array.a_count]", &["`args`"]);
    let code = "__global__ void k(float *a, int2 d) { a[0] = d.x + d.y; }";
    is_told("[param.d]\nvalue = 1", "", code, "int2 d", &["`d` is an int parameter", "`args`"]);
    runs("float", "", "args = { d = [1, 2] }", code, &3.0_f32.to_le_bytes());
}

#[test]
fn what_the_compiler_does_not_take_is_said_to_be_so() {
    let code = "__device__ float2 f(float x) { return (float2){ x, x }; }\n__global__ void k(float *a) { a[0] = f(a[1]).x; }";
    is_told("", "", code, "(float2){", &["compound literal"]);
    for typo in ["half *a, float *b", "flaot *a"] {
        let code = format!("template <int N>\n__global__ void k({typo}) {{ a[0] = N; }}");
        let source = scene("float", "", "", &code).replace("'k'", "'k<16>'");
        let told = told(&Device::cpu().unwrap(), &source);
        assert!(told.iter().any(|text| text.contains("is undefined")), "{told:#?}");
    }
    let code =
        "__global__ void k(float *a) {\nasm volatile(\"wgmma.fence.sync.aligned;\");\na[0] = 1;\n}";
    let told = told(&Device::cpu().unwrap(), &scene("float", "", "", code));
    assert!(told.iter().any(|text| text.contains("does not support `wgmma.fence")), "{told:#?}");
}

#[test]
fn faults_say_what_was_meant() {
    let code = "__global__ void k(float *a) { extern __shared__ float s[];\ns[threadIdx.x] = 1; a[threadIdx.x] = s[threadIdx.x]; }";
    is_told("", "", code, "s[threadIdx.x] = 1", &["fault: kernel `k`", "no `shared = BYTES`"]);
    let code = "__global__ void k(float *a, float **p) {\np[0][1] = 1; }";
    let p = "[array.p]\ntype = 'unsigned long long'\ncount = 4";
    is_told(p, "", code, "p[0][1] = 1", &["through a null pointer"]);
    is_told(
        "",
        "args = { n = 1000 }",
        "__global__ void k(float *a, int n) {\na[n] = 1; }",
        "a[n] = 1",
        &["`a[1000]`, which has 64 elements"],
    );
    let code = "__global__ void __launch_bounds__(32) k(float *a) { a[0] = blockDim.x; }";
    is_told(
        "",
        "",
        code,
        "kernel = 'k'",
        &["64 threads in a block", "at most 32", "__launch_bounds__"],
    );
}

#[test]
fn pointers_into_arrays_stay_there() {
    let code = "__global__ void k(float *p, int n) {\np[n] = 1; }";
    let args = |start: &str, n: i32| format!("args = {{ p = 'a + {start}', n = {n} }}");
    runs("float", "", &args("a_count - 64", 0), code, &1.0_f32.to_le_bytes());
    let parts = ["fault: kernel `k`: `p`", "element 65", "within 0 and 64"];
    is_told("", &args("(step + 65)", 0), code, "args =", &parts);
    is_told("", &args("60", 4), code, "p[n] = 1", &["`a[64]`, which has 64 elements"]);
    is_told("", &args("1.5", 4), code, "args =", &["a whole number is needed"]);
}

#[test]
fn blocks_that_would_wait_for_one_another_are_told_how() {
    let code = "#include <cooperative_groups.h>\n__global__ void k(float *a) {\n\
                cooperative_groups::this_grid().sync(); a[0] = 1; }";
    let hint = ["fault: kernel `k`: trap", "`cooperative = true`"];
    is_told("", "", code, "this_grid().sync()", &hint);
    let grid = "grid = 1000000\nblock = 1024\ncooperative = true";
    is_told(
        "# block =",
        grid,
        code,
        "kernel = 'k'",
        &["cooperative launch", "all be there at once"],
    );
}

#[test]
fn constants_without_a_mark_are_declared_again() {
    let code = "extern \"C\" const unsigned LIMIT;\nextern \"C\" const unsigned LIMIT = 64 * 1024;\n\
                __global__ void k(float *a) { a[0] = 1; }\nint main() { return LIMIT; }";
    assert_eq!(told(&Device::cpu().unwrap(), &scene("float", "", "", code)), [""; 0]);
}

#[test]
fn structures_of_headers_beside_the_scene_are_found() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("parts")).unwrap();
    place.file("parts/vector.h", "#pragma once\ntypedef struct { float x, y; } Vector;\n");
    place.file("body.h", "#include \"parts/vector.h\"\nstruct Body { Vector at; double mass; };\n");
    let code = "#include \"body.h\"\n__global__ void k(Body *a) { a[threadIdx.x].at.y = 2; }\n";
    let until = "repeat = 3\nuntil = 'a.at.y.min == 2'";
    place.file("scene.cu", &scene("Body", "", until, code));
    place.run(&["render", "scene.cu", "--device", "cpu", "--npy", "a=a.npy"]).expect(0, &[]);
    let file = std::fs::read(place.path("a.npy")).unwrap();
    let has = |name: &[u8]| file.windows(name.len()).any(|part| part == name);
    assert!(has(b"'at.y'") || has(b"('at', [('x'"), "{}", String::from_utf8_lossy(&file));
    place.run(&["check", "scene.cu"]).expect(0, &[]);
    place.file("scene.cu", &scene("Bodi", "", until, code));
    place.run(&["check", "scene.cu"]).expect(1, &["did you mean `Body`"]);
}

#[test]
fn floats_for_integers_are_told_how() {
    let code = "__global__ void k(float *a, int n) { a[0] = n; }";
    let parts = ["`n` is a float constant, 6.0,", "takes `int`", "`int(...)` makes a whole number"];
    is_told("", "args = { n = '2.0 * 3' }", code, "args =", &parts);
    runs("float", "", "args = { n = 'int(2.0 * 3)' }", code, &6.0_f32.to_le_bytes());
}

#[test]
fn the_limit_of_time_is_named() {
    let source =
        scene("float", "", "", "__global__ void k(volatile float *a) { while (a[0] == 0) ; }");
    let device = Device::cpu().unwrap();
    let options = Options { step_timeout: Duration::from_secs(1), ..Options::new("t.cu", source) };
    let (compiler, interop) = (Compiler::new(Cache::user()), Interop::none(&device));
    let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap());
    session.run_steps(1, |_| {}).unwrap();
    let fault = session.snapshot().fault.unwrap().to_string();
    assert!(fault.contains("stopped after 1 s (the limit; `--step-timeout` raises it)"), "{fault}");
}

#[test]
fn kernels_may_be_made_by_macros() {
    let n = "args = { n = 5 }";
    let five = 5.0_f32.to_le_bytes();
    let body = "{ a[0] = n; }";
    for code in [
        format!("#define KERNEL extern \"C\" __global__ void\nKERNEL k(float *a, int n) {body}"),
        format!("#define NAME(x) x\n__global__ void NAME(k)(float *a, int n) {body}"),
        format!("#define OF(T) k##T\n__global__ void OF()(float *a, int n) {body}"),
        format!("#define PARAMS float *a, int n\n__global__ void k(PARAMS) {body}"),
        format!(
            "#define K(name, ...) __global__ void name(__VA_ARGS__)\nK(k, float *a, int n) {body}"
        ),
        format!("#define DEF(T) __global__ void k(T *a, int n) {body}\nDEF(float)"),
        "__attribute__((device)) int zero() { return 0; }\n\
         __attribute__((global)) void k(float *a, int n) { a[0] = n + zero(); }"
            .to_owned(),
    ] {
        runs("float", "", n, &code, &five);
    }
    let code =
        "#define P(T) T *a, T *b\n#define K(x, y) __global__ void x(y)\n  K(k,\n    P(float)) {}";
    is_told("", "", code, "    P(float)", &["`b` of the kernel `k`"]);
}

#[test]
fn fields_of_structures_are_given_whatever_they_are() {
    let gives = |args: &str, code: &str, first: f32| {
        runs("float", "", &format!("args = {{ p = {args} }}"), code, &first.to_le_bytes());
    };
    let inner = "struct In { float x, y; };\n";
    gives(
        "{ s = [{ x = 1 }, { x = 2, y = 3 }], one = [[{ x = 4 }]] }",
        &format!(
            "{inner}struct P {{ In s[2]; In one[1][1]; }};\n__global__ void k(float *a, P p) {{ \
             a[0] = p.s[0].x + 10 * p.s[1].x + 100 * p.s[1].y + 1000 * p.one[0][0].x + p.s[0].y; }}"
        ),
        4321.0,
    );
    let rows = "struct P { int m[2][2]; float3 v[2]; };\n__global__ void k(float *a, P p) { \
                a[0] = p.m[0][0] + 10 * p.m[0][1] + 100 * p.m[1][0] + 1000 * p.m[1][1] + 10000 * p.v[1].y; }";
    gives("{ m = [[1, 2], [3, 4]], v = [[0, 0, 0], [0, 5, 0]] }", rows, 54321.0);
    gives("{ m = [1, 2, 3, 4], v = [0, 0, 0, 0, 5, 0] }", rows, 54321.0);
    gives(
        "{ rows = ['a + 8', 0, 'a'], last = ['a + 9'] }",
        "struct P { float *rows[3], *last[1]; };\n__global__ void k(float *a, P p) { \
         p.rows[0][0] = 1; p.last[0][0] = 2; p.rows[2][0] = a[8] + 10 * a[9] + (p.rows[1] ? 100 : 0); }",
        21.0,
    );
    gives(
        "{ h = 1.5, v = [0.5, 2], b = 2, w = [[1, 2], [3, 4]] }",
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n\
         struct P { half h; half2 v; __nv_bfloat16 b; __nv_bfloat162 w[2]; };\n__global__ void k(float *a, P p) { \
         a[0] = __half2float(p.h) + 10 * __high2float(p.v) + 100 * __bfloat162float(p.b) \
         + 1000 * __bfloat162float(p.w[1].y); }",
        4221.5,
    );
    gives(
        "{ e = 3, f = -4, g = -1 }",
        "enum E : unsigned char { A }; enum class F : short { B }; enum G { C, D };\n\
         struct P { E e; F f; G g; };\n__global__ void k(float *a, P p) { a[0] = 100 * p.e + 10 * (int)p.f + p.g; }",
        259.0,
    );
    // The type that the source names, also where it is as long as an `int`.
    gives(
        "{ e = 3000000000 }",
        "enum E : unsigned { A };\nstruct P { E e; };\n__global__ void k(float *a, P p) { a[0] = p.e / 1000000; }",
        3000.0,
    );
    let code = "enum class E : unsigned char { A, B };\n__global__ void k(float *a, E e) { a[0] = (int)e; }";
    runs("float", "", "args = { e = 1 }", code, &1.0_f32.to_le_bytes());
    runs(
        "float",
        "[texture.t]\nformat = 'r32f'\nsize = [8, 8]",
        "args = { p = { maps = [{ out = 't' }, { in = 't' }] } }",
        "typedef cudaSurfaceObject_t Out;\nstruct Map { cudaTextureObject_t in; Out out; };\nstruct P { Map maps[2]; };\n\
         __global__ void k(float *a, P p) {\n    surf2Dwrite(3.0f, p.maps[0].out, 4, 0);\n    float v;\n    \
         surf2Dread(&v, p.maps[0].out, 4, 0);\n    if (threadIdx.x == 0) a[0] = v + tex2D<float>(p.maps[1].in, 7, 7);\n}",
        &3.0_f32.to_le_bytes(),
    );
}

/// C++ 14 has no way to them.
#[test]
fn private_fields_are_given_by_the_layout() {
    let code = "namespace n {\nclass In { double d; int q; friend struct P; };\n\
                class P {\n    float x;\n    In in[2];\n    const unsigned char kind[2];\n  protected:\n    float *to;\n  \
                public:\n    int y;\n    __host__ __device__ P(float a);\n    \
                __device__ void go() const { *to = x + 10 * y + 1000 * kind[1] + 10000 * *((const int *)&in[1] + 2); }\n};\n\
                __global__ void k(P p) { p.go(); }\n}";
    let args =
        "args = { p = { x = 1.5, y = 2, to = 'a', kind = [0, 3], in = [{ q = 4 }, { q = 5 }] } }";
    let of = |standard: &str| {
        let more = format!("[compile]\nstandard = '{standard}'");
        scene("float", &more, args, code).replace("kernel = 'k'", "kernel = 'n::k'")
    };
    for device in devices() {
        let options = Options::new("foreign.cu", of("c++17"));
        let (compiler, interop) = (Compiler::new(Cache::user()), Interop::none(&device));
        let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
        assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile);
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(session.read("a").unwrap()[..4], 53021.5_f32.to_le_bytes());
    }
    let told = told(&Device::cpu().unwrap(), &of("c++14"));
    assert!(told.iter().any(|text| text.contains("\"n::P::x\"")), "{told:#?}");
}

#[test]
fn fields_that_cannot_be_given_are_told_where_they_are() {
    let code = "struct In { float x, y; };\nclass P { In s[2]; public:  In *q; unsigned bits : 4; \
                unsigned long long t; int &r; };\n__global__ void k(float *a, P p) {}";
    for (args, part) in [
        ("{ s = [{ x = 1 }] }", "`s` has 2 elements, and is given 1"),
        ("{ s = [{ x = 1 }, { x = 2 }, { x = 3 }] }", "`s` has 2 elements, and is given 3"),
        ("{ q = ['a'] }", "q is no array, and is given a list"),
        ("{ q = 0, bits = 1 }", "`bits` is a bit field"),
        ("{ r = 1 }", "r is a reference, which no argument fills"),
        ("{ t = 't' }", "whether it is a `cudaTextureObject_t` or a `cudaSurfaceObject_t`"),
        ("['a']", "`p` is a list, but the kernel takes `P`"),
    ] {
        let t = "[texture.t]\nformat = 'r32f'\nsize = [8, 8]";
        is_told(t, &format!("args = {{ p = {args} }}"), code, "args =", &[part]);
    }
    // A type that is not what its name says.
    let code = "struct int2 { double x, y; };\n__global__ void k(float *a, int2 v) {}";
    let code = format!("namespace n {{\n{code}\n}}");
    let source = scene("float", "", "args = { v = [1, 2] }", &code).replace("'k'", "'n::k'");
    let told = told(&Device::cpu().unwrap(), &source);
    let text = "foreign.cu:10:14: error: kernel `n::k`: its parameter `v` has 16 bytes, and `int2` should have another size";
    assert_eq!(told, [text]);
}

#[test]
fn pointers_are_cast_where_args_says_so() {
    let code = "struct P { uint2 *u; };\n__global__ void k(float *a, int *p, const float4 *q, P s) {\n    \
                if (threadIdx.x) return;\n    p[1] = 0x40000000; s.u[1].x = 0x3f800000; a[0] = a[1] + 10 * q[0].x;\n}";
    let args =
        "args = { p = '(int *)a', q = '(const float4*)(a + 2)', s = { u = '( uint2 * ) a' } }";
    runs("float", "", args, code, &12.0_f32.to_le_bytes());
    let code = "typedef int *ints;\n__global__ void k(ints p) { p[0] = 0x40000000; }";
    runs("float", "", "args = { p = '(int *)a' }", code, &2.0_f32.to_le_bytes());
    for (given, part) in [
        ("'a'", "`p` is the array a (64 float)"),
        ("'(float *)a'", "`p` is cast to `float *`, but the kernel takes `int *`"),
        ("'(int *)3'", "no buffer or array"),
        ("'(int *)b'", "no resource"),
    ] {
        let args = format!("args = {{ p = {given} }}");
        is_told("", &args, "__global__ void k(int *p) {}", "args =", &[part]);
    }
}

#[test]
fn parameters_without_a_name_are_given_by_their_places() {
    let code = "__global__ void k(float *a, int n, int /* unused */, float = 2) { a[0] = n; }";
    runs("float", "", "args = { n = 5, 3 = 1 }", code, &5.0_f32.to_le_bytes());
    is_told("", "args = { n = 5 }", code, "void k", &["has no name", "args = { 3 = 0 }"]);
    is_told("", "args = { n = 5, 3 = 1.5 }", code, "args =", &["`3` is a float constant"]);
    is_told("", "args = { 2 = 5, 3 = 1 }", code, "args =", &["has no parameter `2`"]);
}

#[test]
fn unsigned_integers_have_all_their_bits() {
    let code = "struct P { unsigned long long one, many[2]; };\n\
                __global__ void k(float *a, unsigned long long s, unsigned long long h, P p) {\n    \
                a[0] = (s == 14695981039346656037ull) + 2 * (h == 0xcbf29ce484222325ull) + 4 * (p.one == ~0ull)\n        \
                + 8 * (p.many[0] == 1) + 16 * (p.many[1] == 1ull << 63);\n}";
    let p = "{ one = 18446744073709551615, many = [1, 9223372036854775808] }";
    let args = format!("args = {{ s = 14695981039346656037, h = '0xcbf29ce484222325', p = {p} }}");
    runs("float", "", &args, code, &31.0_f32.to_le_bytes());
    let code = "__global__ void k(float *a, long long n) {}";
    let told = ["9223372036854775808, which does not fit into the kernel's `long long`"];
    is_told("", "args = { n = 9223372036854775808 }", code, "args =", &told);
    is_told(
        "",
        "args = { n = 18446744073709551616 }",
        code,
        "args =",
        &["does not fit into 64 bits"],
    );
}

/// A pointer to a member function has its first bit set where the member is virtual (Itanium C++ ABI, 2.3), which
/// addresses of functions must not have.
#[test]
fn members_are_called_through_pointers() {
    let code = "struct M {\n    int a, b;\n    __device__ int f(int k) { return a * k + b; }\n    \
                __device__ int g(int k) { return b * k - a; }\n    __device__ int h(int k) { return a - b * k; }\n    \
                __device__ virtual int v(int k) { return 1000 * k + a; }\n};\n\
                __global__ void k(int *a, int step) {\n    M m; m.a = 2; m.b = 7;\n    \
                int (M::*which[4])(int) = {&M::f, &M::g, &M::h, &M::v};\n    \
                a[threadIdx.x] = (m.*which[(threadIdx.x + step) & 3])(3);\n}";
    let first = [13, 19, -19, 3002].map(i32::to_le_bytes).concat();
    runs("int", "", "args = { step = 0 }", code, &first);
}

/// What lies a few bytes behind a function is none.
#[test]
fn what_is_beside_a_function_is_not_called() {
    let code = "typedef float (*Function)(float);\n__device__ float once(float x) { return x; }\n\
                __device__ float twice(float x) { return 2.0f * x; }\n\
                __global__ void k(float *a, int step) {\n    Function all[] = {once, twice};\n    \
                Function f = (Function)((char *)all[(threadIdx.x + step) & 1] + 1);\n    \
                a[threadIdx.x] = f(1.0f); // here\n}";
    is_told("", "args = { step = 0 }", code, "// here", &["fault"]);
}
