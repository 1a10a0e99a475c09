//! Launches of templates: what their arguments are, and what no manifest can say of them.

use super::drafts;
use crate::support::Workplace;

/// The draft of this file runs on the CPU device for a step; it is given back.
fn runs(source: &str) -> String {
    let place = Workplace::new();
    place.file("t.cu", source);
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    place.run(&["render", "s.cu", "--steps", "1", "--device", "cpu"]).expect(0, &[]);
    std::fs::read_to_string(place.path("s.cu")).unwrap()
}

/// A template whose arguments all have defaults is launched by its name alone, with and without a manifest.
#[test]
fn arguments_with_defaults_are_left_out() {
    let kernel = "template <class T = float, int by = 2> __global__ void g(T *data) { data[threadIdx.x] += by; }\n";
    let scene =
        runs(&format!("{kernel}int main() {{ float *d; cudaMalloc(&d, 64); g<<<1, 16>>>(d); }}"));
    assert!(scene.contains("kernel = \"g<float>\"\n"), "{scene}");
    let alone = runs(
        "template <int by = 2> __global__ void g(float *data) { data[threadIdx.x] += by; }\n
        int main() { float *d; cudaMalloc(&d, 64); g<<<1, 16>>>(d); }",
    );
    assert!(alone.contains("kernel = \"g\"\n") && !alone.contains("fill in"), "{alone}");
    let nothing_launched = runs(kernel);
    assert!(nothing_launched.contains("kernel = \"g\"\n"), "{nothing_launched}");
    let bound = format!(
        "/*---\n[array.data]\ntype = \"float\"\ncount = 16\n[[pass]]\nkernel = \"g\"\ngrid = 1\nblock = 16\n---*/\n{kernel}"
    );
    let place = Workplace::new();
    place.file("s.cu", &bound);
    let run = ["render", "s.cu", "--steps", "3", "--device", "cpu", "--npy", "data=d.npy"];
    place.run(&run).expect(0, &[]);
    let (_, data) = crate::support::read_npy_f32(&place.path("d.npy"));
    assert_eq!(data, [6.0; 16]);
    // The compiler would know the type of what is not known here.
    let unknown = "void run() { auto d = make(); g<<<1, 16>>>(d); }";
    drafts(kernel, unknown, &["# fill in: `g` may have other template arguments"]);
}

#[test]
fn functors_that_are_made_in_the_launch_have_their_fields() {
    let source = "struct Twice { float by; int more; __device__ float operator()(float x) const { return by * x + more; } };
template <class F> __global__ void apply(float *g, F f) { g[threadIdx.x] = f(g[threadIdx.x]); }
int main() { float *g; cudaMalloc(&g, 64); apply<<<1, 16>>>(g, Twice{3.f, 4}); }
";
    let scene = runs(source);
    assert!(scene.contains("kernel = \"apply<Twice>\"\n"), "{scene}");
    assert!(scene.contains("f = { by = 3.0, more = 4 }\n"), "{scene}");
    let scene = runs(&source.replace("Twice{3.f, 4}", "Twice{3.f}"));
    assert!(scene.contains("f = { by = 3.0, more = 0 } # fill in"), "{scene}");
    // What a constructor makes of its arguments is not known.
    let made = source.replace("int more;", "int more; Twice(float a, int b) : by(b), more(a) {}");
    let manifest = warpaint::scene::draft("t.cu", &made);
    assert!(manifest.contains("kernel = \"apply<Twice>\"\n"), "{manifest}");
    assert!(manifest.contains("f = {} # fill in"), "{manifest}");
}

#[test]
fn what_has_no_name_in_a_manifest_is_a_remark() {
    let kernel = "template <class F> __global__ void apply(float *g, F f) { g[threadIdx.x] = f(g[threadIdx.x]); }
        template <int n> __global__ void shift(float *g) { g[threadIdx.x] += n; }";
    for launch in [
        "apply<<<1, 16>>>(g, [=] __device__ (float x) { return 2 * x; });",
        "auto twice = [=] __host__ __device__ (float x) { return 2 * x; }; apply<<<1, 16>>>(g, twice);",
    ] {
        let manifest = warpaint::scene::draft(
            "t.cu",
            &format!("{kernel}\nint main() {{ float *g; cudaMalloc(&g, 64); {launch} }}\n"),
        );
        assert!(manifest.contains("# fill in: `apply` is given a lambda"), "{manifest}");
        assert!(!manifest.contains("[[pass]]"), "{manifest}");
    }
    for (before, argument) in [
        ("std::integral_constant<int, 4> four;", "four.value"),
        ("const int four = any();", "four"),
    ] {
        let launch = format!("{before} shift<{argument}><<<1, 16>>>(g);");
        let manifest = warpaint::scene::draft(
            "t.cu",
            &format!("{kernel}\nint main() {{ float *g; cudaMalloc(&g, 64); {launch} }}\n"),
        );
        let told = "is launched, whose template argument `";
        assert!(manifest.contains(told) && !manifest.contains("[[pass]]"), "{manifest}");
    }
    let known = "int main() { constexpr int four = 2 * 2; float *g; cudaMalloc(&g, 64); shift<four><<<1, 16>>>(g); }";
    drafts(kernel, known, &["kernel = \"shift<4>\"\n"]);
}

#[test]
fn enumerators_with_their_scope_are_numbers() {
    let source = "enum class Mode : int { Slow, Fast = 5, Faster };
enum Old { First = 3, Second };
const int Slow = 70;
__global__ void run(float *g, Mode m, Old o, int n) { g[threadIdx.x] = float(m) + o + n; }
int main() { float *g; cudaMalloc(&g, 64); Mode slow = Mode::Slow;
run<<<1, 16>>>(g, Mode::Faster, Old::Second, Slow); run<<<1, 16>>>(g, slow, First, static_cast<int>(Mode::Fast)); }
";
    let scene = runs(source);
    assert!(scene.contains("m = 6\no = 4\nn = 70\n"), "{scene}");
    assert!(scene.contains("m = 0\no = 3\nn = 5\n"), "{scene}");
}

#[test]
fn elements_that_are_instances_have_their_fields() {
    let source = "template <class T, int n> struct Vec { T x, y; int id; };
using V = Vec<float, 2>;
typedef V W;
__global__ void move(V *at, W *by) { at[threadIdx.x].x += by[threadIdx.x].y; }
int main() { V *at; W *by; cudaMalloc(&at, 32 * sizeof(V)); cudaMalloc(&by, 16 * sizeof(W)); move<<<1, 16>>>(at, by); }
";
    let scene = runs(source);
    for name in ["at", "by"] {
        let count = if name == "at" { 32 } else { 16 };
        let array = format!(
            "[array.{name}]\ntype  = \"Vec<float, 2>\"\nfields = {{ x = \"float\", y = \"float\", id = \"int\" }}\ncount = {count}\n"
        );
        assert!(scene.contains(&array), "{array} in {scene}");
    }
}
