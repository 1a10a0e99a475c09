//! What host code fills arrays with: a drafted manifest gives them the same numbers, or such as lie where those do.

use super::drafts;
use crate::support::{Workplace, read_npy_f32};

/// Functions of the host that the programs here call.
const HELPERS: &str = "
    __global__ void take(const float *from, float *to) { to[threadIdx.x] = 2 * from[threadIdx.x]; }
    struct Body { float x, y; int tag; };
    __global__ void bodies(Body *b) { b[threadIdx.x].x += b[threadIdx.x].tag; }
    __constant__ float table[8];
    __global__ void look(float *to) { to[threadIdx.x] = table[threadIdx.x % 8]; }
    void init(float *data, int size, float by) { for (int i = 0; i < size; ++i) data[i] = by * i; }
    void twice(float *data, int size) { init(data, size, 2.0f); }
    float uniform() { return rand() / (float)RAND_MAX; }
    void randomInit(float *data, int size) { for (int i = 0; i < size; ++i) data[i] = uniform() * 4 - 1; }
";

fn program(host: &str) -> String {
    format!(
        "int main() {{ const int n = 64; float *a, *b; cudaMalloc(&a, n * sizeof(float)); cudaMalloc(&b, n * 4);
         float *h = (float *)malloc(n * sizeof(float)); {host}
         cudaMemcpy(a, h, n * sizeof(float), cudaMemcpyHostToDevice); take<<<1, 64>>>(a, b); }}"
    )
}

/// With this host code before the copy, `b` has twice these numbers after a step, and nothing is marked.
#[track_caller]
fn has(host: &str, expected: impl Fn(i32) -> f32) {
    let place = Workplace::new();
    place.file("t.cu", &format!("#include <vector>\n{HELPERS}{}", program(host)));
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("s.cu")).unwrap();
    assert!(!scene.contains("# fill in"), "{scene}");
    let run = ["render", "s.cu", "--steps", "1", "--device", "cpu", "--npy", "b=b.npy"];
    place.run(&run).expect(0, &[]);
    let expected: Vec<f32> = (0..64).map(|i| 2.0 * expected(i)).collect();
    assert_eq!(read_npy_f32(&place.path("b.npy")).1, expected, "{host}: {scene}");
}

/// With this host code before the copy the draft has these lines.
#[track_caller]
fn says(host: &str, parts: &[&str]) {
    drafts(HELPERS, &program(host), parts);
}

#[test]
fn numbers_that_follow_from_their_places_are_the_hosts() {
    has("for (int i = 0; i < n; i++) h[i] = 0.5f;", |_| 0.5);
    has("for (int i = 0; i < n; i++) h[i] = i % 7;", |i| (i % 7) as f32);
    has("for (int k = 0; k < n; ++k) { float x = k * 0.25f; h[k] = x; }", |i| i as f32 * 0.25);
    has(
        "for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++) h[y * 8 + x] = 10 * y + x;",
        |i| (10 * (i / 8) + i % 8) as f32,
    );
    has("for (int x = 0; x < 8; x++) for (int y = 0; y < 8; y++) h[x + 8 * y] = x - y;", |i| {
        (i % 8 - i / 8) as f32
    });
    has("for (int i = 0; i < n; i += 2) { h[i] = 1; h[i + 1] = i; }", |i| {
        if i % 2 == 0 { 1.0 } else { (i - 1) as f32 }
    });
    has("for (int i = 0; i < n; i++) { h[i] = 0; } h[5] = 3;", |i| if i == 5 { 3.0 } else { 0.0 });
    has("for (int i = 0; i < n; i++) { if (i < 10) h[i] = 1; else h[i] = i; }", |i| {
        if i < 10 { 1.0 } else { i as f32 }
    });
    has(
        "for (int i = 4; i < 9; i++) *(h + i) = 2;",
        |i| if (4..9).contains(&i) { 2.0 } else { 0.0 },
    );
    has("init(h, n, 0.5f);", |i| 0.5 * i as f32);
    has("twice(h, n);", |i| 2.0 * i as f32);
    has("std::fill(h, h + n, 1.5f);", |_| 1.5);
    has("std::iota(h, h + n, 3);", |i| (3 + i) as f32);
    has("h[1] = 7; memset(h, 0, n * sizeof(float));", |_| 0.0);
}

#[test]
fn memory_of_containers_and_lists_is_the_hosts() {
    let before = "#include <vector>\n";
    let vector = |host: &str| host.replace("h.data()", "v.data()");
    let of = |host: &str, parts: &[&str]| {
        let program = format!(
            "{before}int main() {{ const int n = 8; int *a; float *b; cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); {}
             cudaMemcpy(a, v.data(), n * sizeof(int), cudaMemcpyHostToDevice); ints<<<1, 8>>>(a, b); }}",
            vector(host)
        );
        let kernel = "__global__ void ints(const int *from, float *to) { to[threadIdx.x] = from[threadIdx.x]; }\n";
        drafts(kernel, &program, parts);
    };
    of("std::vector<int> v(n, 4);", &["value = 4\n"]);
    of("std::vector<int> v(n); for (int i = 0; i < n; i++) v[i] = n - i;", &["each = \"8 - i\"\n"]);
    of("std::vector<int> v = {1, 2, 3};", &["value = [1, 2, 3, 0, 0, 0, 0, 0]\n"]);
    of(
        "std::vector<int> v; for (int i = 0; i < n; i++) v.push_back(rand() % 5);",
        &["random = [0, 4]\n"],
    );
    of("std::vector<int> v(n); for (auto &x : v) x = 3;", &["value = 3\n"]);
    of(
        "std::vector<int> v(n); std::generate(v.begin(), v.end(), []() { return rand() % 100; });",
        &["random = [0, 99]\n"],
    );
    of("std::vector<int> v(n); load(v.data(), n);", &["random = [0, 9] # fill in: its numbers\n"]);
    // What both sides see needs no copy.
    let managed =
        "int main() { float *a, *b; cudaMallocManaged(&a, 256); cudaMallocManaged(&b, 256);
        for (int i = 0; i < 64; i++) a[i] = 3 * i; take<<<1, 64>>>(a, b); cudaDeviceSynchronize();
        for (int i = 0; i < 64; i++) b[i] = 1; }";
    drafts(HELPERS, managed, &["[array.a]", "each = \"3 * i\"\n"]);
    let text = warpaint::scene::draft("t.cu", &format!("{HELPERS}{managed}"));
    assert!(!text.contains("value ="), "{text}");
}

#[test]
fn random_numbers_lie_where_the_hosts_do() {
    says(
        "for (int i = 0; i < n; i++) h[i] = rand() / (float)RAND_MAX;",
        &["random = [0.0, 1.0]\n"],
    );
    says("for (int i = 0; i < n; i++) h[i] = rand() % 100 - 50;", &["random = [-50.0, 49.0]\n"]);
    says("for (int i = 0; i < n; i++) h[i] = (rand() & 15) * 0.5f;", &["random = [0.0, 7.5]\n"]);
    says("randomInit(h, n);", &["random = [-1.0, 3.0]\n"]);
    says(
        "for (int i = 0; i < n; i++) { float r = (float)rand() / RAND_MAX; h[i] = 10 * r; }",
        &["random = [0.0, 10.0]\n"],
    );
    says(
        "std::mt19937 gen(42); std::uniform_real_distribution<float> dist(-2.0f, 2.0f);
         for (int i = 0; i < n; i++) h[i] = dist(gen);",
        &["random = [-2.0, 2.0]\n"],
    );
    says(
        "for (int i = 0; i < n; i++) h[i] = other(i);",
        &["random = [0, 1] # fill in: its numbers\n"],
    );
    says("fread(h, 4, n, file);", &["random = [0, 1] # fill in: its numbers\n"]);
    let made = "int main() { float *a, *b; cudaMalloc(&a, 256); cudaMalloc(&b, 256);
        curandGenerateUniform(gen, a, 64); take<<<1, 64>>>(a, b); }";
    drafts(HELPERS, made, &["random = [0.0, 1.0]\n"]);
}

#[test]
fn fields_of_structures_have_numbers_of_their_own() {
    let of = |fill: &str| {
        format!(
            "int main() {{ Body *d; cudaMalloc(&d, 64 * sizeof(Body)); Body *h = new Body[64];
             for (int i = 0; i < 64; i++) {{ {fill} }}
             cudaMemcpy(d, h, 64 * sizeof(Body), cudaMemcpyHostToDevice); bodies<<<1, 64>>>(d); }}"
        )
    };
    drafts(
        HELPERS,
        &of("h[i].x = 0.5f * i; h[i].y = rand() % 3; h[i].tag = i;"),
        &["each = { x = \"0.5 * float(i)\", y = \"2.0 * random\", tag = \"i\" }\n"],
    );
    let vectors = "int main() { float4 *d; cudaMalloc(&d, 64 * sizeof(float4)); float4 h[64];
        for (int i = 0; i < 64; i++) h[i] = make_float4(i, 0.0f, 2.0f * i, 1.0f);
        cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice); move<<<1, 64>>>(d); }";
    let kernel = "__global__ void move(float4 *p) { p[threadIdx.x].x += 1; }\n";
    drafts(kernel, vectors, &["each = [\"i\", 0.0, \"2.0 * float(i)\", 1.0]\n"]);
}

#[test]
fn variables_of_the_device_are_filled_as_arrays_are() {
    let of = |fill: &str| {
        format!(
            "int main() {{ float *b; cudaMalloc(&b, 256); float h[8]; for (int i = 0; i < 8; i++) {{ {fill} }}
             cudaMemcpyToSymbol(table, h, sizeof(h)); look<<<1, 64>>>(b); }}"
        )
    };
    drafts(
        HELPERS,
        &of("h[i] = 3 * i + 1;"),
        &["[variable.table]\ntype  = \"float\"\neach = \"3 * i + 1\"\n"],
    );
    drafts(
        HELPERS,
        &of("h[i] = rand() % 3;"),
        &["[variable.table]\ntype  = \"float\"\nrandom = [0.0, 2.0]\n"],
    );
    drafts(HELPERS, &of("h[i] = other(i);"), &["`cudaMemcpyToSymbol(table,h,sizeof(h))` is made"]);
}

#[test]
fn sizes_of_containers_are_numbers() {
    let host = |vector: &str| {
        format!(
            "#include <vector>\nint main() {{ const int n = 12; {vector} float *a, *b;
             cudaMalloc(&a, v.size() * sizeof(float)); cudaMalloc(&b, sizeof(float) * v.size());
             cudaMemcpy(a, v.data(), v.size() * 4, cudaMemcpyHostToDevice); take<<<1, v.size()>>>(a, b); }}"
        )
    };
    let list = host("std::vector<float> v = {4, 1, 2};");
    drafts(
        HELPERS,
        &list,
        &["[array.a]\ntype  = \"float\"\ncount = 3\n", "value = [4.0, 1.0, 2.0]\n", "block  = 3\n"],
    );
    let many = host("std::vector<float> v(2 * n, 1.5f);");
    drafts(HELPERS, &many, &["[array.b]\ntype  = \"float\"\ncount = 24\n", "value = 1.5\n"]);
}

#[test]
fn rows_with_a_pitch_lie_one_behind_the_other() {
    let kernel =
        "__global__ void rows(float *a, int pitch) { a[blockIdx.x * pitch + threadIdx.x] += 1; }\n";
    let host = "int main() { float *a; size_t pitch; int w, h; w = h = 32;
        cudaMallocPitch((void **)&a, &pitch, w * sizeof(float), h);
        rows<<<h, w>>>(a, pitch / sizeof(float)); }";
    let size = "size     = [32, 32]\n";
    drafts(kernel, host, &["count = 1024\n", "pitch = 32\n", "grid   = 32\n", size]);
}

/// What a kernel writes in the block of a macro is nothing that the host fills.
#[test]
fn blocks_of_macros_in_kernels_are_none_of_the_host() {
    let text = "#define CUDA_KERNEL_LOOP(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
__global__ void kern(float *o, int n) { CUDA_KERNEL_LOOP(i, n) { o[i] = 2.0f * i; } }
int main() { float *o; int n = 100; cudaMalloc(&o, n * sizeof(float)); kern<<<1, 128>>>(o, n); }
";
    let manifest = warpaint::scene::draft("t.cu", text);
    assert!(!manifest.contains("host fills") && !manifest.contains("fill in"), "{manifest}");
}

/// Truth values that nobody knows are not said to be false.
#[test]
fn truth_values_that_are_not_known_are_marked() {
    let text = "__global__ void k(bool *m) { m[0] = !m[1]; }
int main() { bool *m, *h = load(); cudaMalloc(&m, 64); cudaMemcpy(m, h, 64, cudaMemcpyHostToDevice);
    k<<<1, 1>>>(m); }
";
    let manifest = warpaint::scene::draft("t.cu", text);
    assert!(
        manifest.contains("as `file = \"m.npy\"` would. # fill in: its numbers\n"),
        "{manifest}"
    );
}

/// Random numbers lie between the ends that the type of their computation has, and what always holds is none.
#[test]
fn random_numbers_beyond_their_type_are_marked() {
    for (ty, value) in [
        ("long long", "rand() * 2"),
        ("float", "rand() % 10 >= 10"),
        ("float", "(rand() % 100) <= 100"),
        ("float", "(rand() % 100) == 100"),
    ] {
        let text = format!(
            "__global__ void k({ty} *a) {{ }}
int main() {{ const int n = 8; {ty} *a, h[n]; cudaMalloc(&a, sizeof(h));
    for (int i = 0; i < n; i++) h[i] = {value};
    cudaMemcpy(a, h, sizeof(h), cudaMemcpyHostToDevice); k<<<1, 1>>>(a); }}
"
        );
        let manifest = warpaint::scene::draft("t.cu", &text);
        let random = manifest.lines().find(|line| line.starts_with("random = "));
        assert!(random.is_none_or(|line| line.contains("# fill in")), "{value}: {manifest}");
    }
}

/// A pointer to arrays is the array, whatever it is cast to.
#[test]
fn casts_to_arrays_are_the_array() {
    let text = "#define N 8
__global__ void k(float (*a)[N], int n) { a[threadIdx.x][1] = n; }
int main() { float *e, *x; cudaMalloc(&x, sizeof(float)*N*N); cudaMalloc(&e, N * N * 4);
    k<<<1, 8>>>((float (*)[N])e, 4); }
";
    let manifest = warpaint::scene::draft("t.cu", text);
    assert!(manifest.contains("a = \"e\"") && !manifest.contains("[array.N]"), "{manifest}");
}

/// What the host writes to memory of both sides between launches is no part of what is there at the start.
#[test]
fn managed_memory_that_is_written_between_launches_is_marked() {
    let drafted = |text: &str| {
        let text = format!(
            "__global__ void k(float *a) {{ a[threadIdx.x] += 1; }}
void ends(float *a) {{ a[0] = 0; a[39] = 0; }}
int main() {{ const int n = 40; float *a; cudaMallocManaged(&a, n * sizeof(float)); {text} }}
"
        );
        warpaint::scene::draft("t.cu", &text)
    };
    for text in [
        "for (int i = 0; i < n; i++) a[i] = i; k<<<1, n>>>(a); a[0] = 100; k<<<1, n>>>(a);",
        "k<<<1, n>>>(a); for (int i = 0; i < n; i++) a[i] = 7; k<<<1, n>>>(a);",
        "for (int i = 0; i < n; i++) a[i] = i; k<<<1, n>>>(a); std::sort(a, a + n); k<<<1, n>>>(a);",
        "float *b; cudaMallocManaged(&b, 160); k<<<1, n>>>(b); memcpy(a, b, 160); k<<<1, n>>>(a);",
        "float *b; cudaMallocManaged(&b, 160); k<<<1, n>>>(b); for (int i = 0; i < n; i++) a[i] = b[i]; k<<<1, n>>>(a);",
        "for (int t = 0; t < 9; t++) { k<<<1, n>>>(a); a[0] = t; }",
        "for (int t = 0; t < 9; t++) { k<<<1, n>>>(a); ends(a); }",
        "for (int t = 0; t < 9; t++) { ends(a); k<<<1, n>>>(a); }",
        "for (int t = 0; t < 9; t++) { a[t] = 1; k<<<1, n>>>(a); }",
    ] {
        let manifest = drafted(text);
        assert!(manifest.contains("# fill in: its numbers"), "{text}: {manifest}");
    }
    for text in [
        "for (int i = 0; i < n; i++) a[i] = i; k<<<1, n>>>(a); printf(\"%f\", a[3]); k<<<1, n>>>(a);",
        "for (int i = 0; i < n; i++) a[i] = i; for (int t = 0; t < 9; t++) k<<<1, n>>>(a); a[0] = 3;",
    ] {
        let manifest = drafted(text);
        assert!(!manifest.contains("# fill in") && manifest.contains("each = \"i\""), "{manifest}");
    }
}
