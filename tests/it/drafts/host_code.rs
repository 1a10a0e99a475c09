//! What host code means is what its drafted manifest says, or it is marked. What is expected of numbers and of rounds
//! was printed by the same host code, compiled by g++.

use super::drafts;
use crate::support::{Workplace, read_npy_f32};

/// A kernel of many types.
const TYPES: &str =
    "__global__ void k(int i, unsigned u, float f, double d, bool b, unsigned char c) {}";

/// What its parameters are given for an expression behind `before`.
fn given(before: &str, expression: &str, expected: [&str; 6]) {
    let host = format!("int main() {{ {before}\nk<<<1, 64>>>({}); }}", [expression; 6].join(", "));
    let names = ["i", "u", "f", "d", "b", "c"];
    let lines: Vec<String> =
        names.iter().zip(expected).map(|(name, value)| format!("\n{name} = {value}\n")).collect();
    drafts(TYPES, &host, &lines.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn casts_are_those_of_the_language() {
    let n = "int n = 1000;";
    given(n, "ceil(n / (float)64)", ["16", "16", "16.0", "16.0", "true", "16"]);
    given(n, "(n / (double)3) / 8", ["41", "41", "41.666668", "41.666666666666664", "true", "41"]);
    let part = ["0", "0", "0.001", "0.0010000000474974513", "true", "0"];
    for cast in ["(float)n", "float(n)", "static_cast<float>(n)", "float{n}", "(const float)n"] {
        given(n, &format!("1 / {cast}"), part);
    }
    given(n, "100 / (int)7.9", ["14", "14", "14", "14", "true", "14"]);
    given(n, "3 * (int)2.9", ["6", "6", "6", "6", "true", "6"]);
    given(n, "(unsigned char)300 + (short)65537", ["45", "45", "45", "45", "true", "45"]);
    given(n, "-7 / 2 + -7 % 4", ["-6", "4294967290", "-6", "-6", "true", "250"]);
}

#[test]
fn variables_keep_what_their_types_hold() {
    let seven = |value| [value, value, value, value, "true", value];
    given("int n = 1000, blocks = n * 0.3 / 64;", "blocks * 2", seven("8"));
    given("int n = 1000, h = sqrt(n);", "h * h / 10", seven("96"));
    given("double q = floor(5.0) / 2;", "q", ["2", "2", "2.5", "2.5", "true", "2"]);
    given("unsigned char c = 300;", "c", seven("44"));
    given(
        "\n#define CHECK(a) if (a) {}\nCHECK(0)\nconst int m = 3; CHECK(1) unsigned int n = m + 4;",
        "n",
        seven("7"),
    );
    given("bool on = 5;", "on + on", seven("2"));
    given("unsigned u = -1;", "u >> 28", seven("15"));
    given("unsigned u = 5;", "u - 6 > 0", ["1", "1", "1.0", "1.0", "true", "1"]);
    given("int n = 7; n += 2.9; n *= 2; n--;", "n", seven("17"));
    // Signs that do not touch are two operators.
    given("int v = 5, w = v - -1 + +1;", "w + v - -1", seven("13"));
    given("int v = 5, n = 1; v+++n;", "10 * v + n", seven("61"));
    given("enum { A = 3, B, C };", "A * B + C", seven("17"));
    given("float f = 16777217;", "f == 16777216", ["1", "1", "1.0", "1.0", "true", "1"]);
    // What the language leaves open is no number.
    let host = "int main() { int n = 2147483647; k<<<1, 1>>>(n + 1, 0, 1 / 0, 0, 0, 0); }";
    drafts(TYPES, host, &["i = 0 # fill in: n+1\n", "f = 0.0 # fill in: 1/0\n"]);
}

#[test]
fn macros_are_texts() {
    let eight = ["8", "8", "8", "8", "true", "8"];
    given("\n#define N 2+3\n", "N * 2", eight);
    given("\n#define DIV(a, b) (a + b - 1) / b\nint n = 60;\n", "DIV(n, 8)", eight);
    given("\n#define A (B + 1)\n#define B 7\n", "A", eight);
    let up = format!("{TYPES} int up(int a, int b) {{ return (a + b - 1) / b; }}");
    let host = "int main() { int n = 60; k<<<1, 64>>>(up(n, 8), up(n, 8), up(n, 8), up(n, 8), up(n, 8), up(n, 8)); }";
    drafts(&up, host, &["\ni = 8\n", "\nd = 8\n", "\nb = true\n"]);
    let host = "#ifdef LARGE\n#define N 8\n#else\n#define N 4\n#endif\nint main() { k<<<1, 1>>>(N, 0, 0, 0, 0, 0); }";
    drafts(TYPES, host, &["i = 4 # fill in: N\n"]);
}

#[test]
fn literals_are_those_of_the_language() {
    given("", "010", ["8", "8", "8", "8", "true", "8"]);
    given("", "0x10 + 0b101 + 1'0u", ["31", "31", "31", "31", "true", "31"]);
    given("", "'a' + 0.5f", ["97", "97", "97.5", "97.5", "true", "97"]);
    given("", "1e2 + .5", ["100", "100", "100.5", "100.5", "true", "100"]);
    given("", "0xffffffff + 1", ["0", "0", "0", "0", "false", "0"]);
    given("", "4294967295 + 1 > 0", ["1", "1", "1.0", "1.0", "true", "1"]);
    given("", "sizeof(float) * sizeof(double *)", ["32", "32", "32", "32", "true", "32"]);
}

/// Writes down what each launch is given.
const LOG: &str = "__global__ void note(float *a, float *n, int x, int y) { a[(int)n[0]] = 100 * x + y; n[0] += 1; }";

/// A scene of this host code, in which nothing is marked, makes these launches.
#[track_caller]
fn launches(host: &str, expected: &[f32]) {
    let place = Workplace::new();
    let text = format!(
        "{LOG}\nint main() {{ float *a, *n; cudaMalloc(&a, 400); cudaMalloc(&n, 4);\n{host}\n}}\n"
    );
    place.file("t.cu", &text);
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let scene = std::fs::read_to_string(place.path("s.cu")).unwrap();
    assert!(!scene.contains("# fill in"), "{scene}");
    place
        .run(&["render", "s.cu", "--steps", "1", "--device", "cpu", "--npy", "a=a.npy"])
        .expect(0, &[]);
    let (_, found) = read_npy_f32(&place.path("a.npy"));
    assert_eq!(found[..expected.len()], *expected, "{scene}");
    assert!(found[expected.len()..].iter().all(|left| *left == 0.0), "{scene}");
}

#[test]
fn loops_have_the_rounds_that_they_have() {
    let call = |x: &str, y: &str| format!("note<<<1, 1>>>(a, n, {x}, {y});");
    let within =
        |head: &str| format!("for (int i = 0; i <= 3; i++) for ({head}) {}", call("i", "j"));
    // The inner loop has none for i = 0.
    launches(&within("int j = i; j > 0; j /= 2"), &[101.0, 202.0, 201.0, 303.0, 301.0]);
    launches(&within("int j = 1; j < i; j *= 2"), &[201.0, 301.0, 302.0]);
    launches(&within("int j = i; j >= 2; --j"), &[202.0, 303.0, 302.0]);
    launches(&within("unsigned j = 5; j > i + 2u; j -= 2"), &[5.0, 3.0, 105.0, 205.0]);
    launches(&within("short j = 0; 2 * i > j; j += 4"), &[100.0, 200.0, 300.0, 304.0]);
    let odd = format!("for (int l = 0; l < 6; ++l) {{ if (l & 1) continue; {} }}", call("1", "l"));
    launches(&odd, &[100.0, 102.0, 104.0]);
    let none = format!("for (int l = 6; l < 6; ++l) {} {}", call("1", "l"), call("2", "0"));
    launches(&none, &[200.0]);
    let derived = format!(
        "for (int i = 1; i < 4; i++) {{ int half = 8 >> i; double q = i / 2.; {} }}",
        call("half", "(int)(4 * q)")
    );
    launches(&derived, &[402.0, 204.0, 106.0]);
}

#[test]
fn loops_that_are_left_or_changed_are_marked() {
    let mark = "__global__ void mark(int *a, int at) { a[at] = 1; }";
    let host = |rest: &str| format!("int main() {{ int *a; cudaMalloc(&a, 400); {rest} }}");
    for (body, parts) in [
        (
            "for (int i = 0; i < 10; i += 3) { mark<<<1, 1>>>(a, i); i++; }",
            &["repeat  = 4 # fill in: rounds", "at = \"i * 3\" # fill in: i\n"][..],
        ),
        (
            "for (int j = 0; j < 10; ++j) { if (j == 5) break; mark<<<1, 1>>>(a, j); }",
            &["# fill in: rounds of the loop over `j`, which may end at a `break` where `j==5`\n"],
        ),
        (
            "for (int j = 0; j < 10; ++j) { mark<<<1, 1>>>(a, j); if (a) goto end; } end: return 0;",
            &["repeat  = 10 # fill in: rounds of the loop over `j`, which may end at a `goto`"],
        ),
        (
            "for (int t = 0; t < 10; ++t) { mark<<<1, 1>>>(a, 1); if (error(a) < 1e-3) break; }",
            &["# fill in: the loop over `t` ends at a `break` where `error(a)<1e-3`"],
        ),
        ("for (;;) mark<<<1, 1>>>(a, 1);", &["# fill in: `mark` is repeated by `for (;;)`"]),
        (
            "for (unsigned i = 9; i >= 0; i--) mark<<<1, 1>>>(a, i);",
            &["# fill in: rounds of the loop over `i`"],
        ),
        (
            "for (int i = 0; i < 2000000; i++) mark<<<1, 1>>>(a, i);",
            &["repeat  = 1000000 # fill in: rounds of the loop over `i`"],
        ),
    ] {
        drafts(mark, &host(body), parts);
    }
    // What only ends where something went wrong does not.
    let checked = "for (int i = 0; i < 4; ++i) { cudaError_t e = cudaGetLastError();
        if (e != cudaSuccess) return 1; mark<<<1, 1>>>(a, i); }";
    drafts(mark, &host(checked), &["repeat  = 4\n", "counter = \"i\"\n"]);
}

#[test]
fn launches_in_branches_have_their_conditions() {
    let call = |x: &str, y: &str| format!("note<<<1, 1>>>(a, n, {x}, {y});");
    let both = format!(
        "for (int i = 0; i < 4; ++i) {{ if (i % 2 == 0) {} else {} }}",
        call("1", "i"),
        call("2", "i")
    );
    launches(&both, &[100.0, 201.0, 102.0, 203.0]);
    let nested = format!(
        "const bool fast = sizeof(float) == 4; for (int i = 0; i < 6; ++i) {{
         if (fast && i > 1) {{ if (i != 3) {{ {} }} else if (!fast) {} }} }}",
        call("1", "i"),
        call("2", "i")
    );
    launches(&nested, &[102.0, 104.0, 105.0]);
    let decided = format!(
        "if (argc > 1) {} else {} if (cudaSetDevice(0) == cudaSuccess) {} try {{ {} }} catch (...) {{ {} }}
         do {{ {} }} while (0);",
        call("1", "0"),
        call("2", "0"),
        call("3", "0"),
        call("4", "0"),
        call("5", "0"),
        call("6", "0")
    );
    launches(&decided, &[200.0, 300.0, 400.0, 600.0]);
    let returned = format!(
        "const int n = 3; if (argc < 2) {{ auto f = [](int i) {{ return i; }}; if (f(0)) return 1; }}
         if (n > 4) return 1; {} if (n == 3) {{ {} return 0; }} {}",
        call("1", "0"),
        call("2", "0"),
        call("3", "0")
    );
    launches(&returned, &[100.0, 200.0]);
    let mark = "__global__ void mark(int *a, int at) { a[at] = 1; }";
    let host = |rest: &str| format!("void f(int *a, int mode) {{ {rest} }}");
    for (body, part) in [
        ("if (mode > 2) mark<<<1, 1>>>(a, 0);", "only_if = true # fill in: mode>2\n"),
        (
            "\n#ifdef FAST\nmark<<<1, 1>>>(a, 0);\n#endif\n",
            "only_if = true # fill in: #ifdef FAST\n",
        ),
        ("if (ready(a)) ; else mark<<<1, 1>>>(a, 0);", "only_if = true # fill in: !(ready(a))\n"),
        (
            "switch (mode) { case 1: mark<<<1, 1>>>(a, 0); }",
            "only_if = true # fill in: switch (mode)\n",
        ),
        ("mode ? mark<<<1, 1>>>(a, 0) : mark<<<2, 1>>>(a, 0);", "only_if = true # fill in: mode\n"),
        (
            "for (int i = 0; i < 4; i++) if (i > 1 && mode) mark<<<1, 1>>>(a, i);",
            "only_if = true # fill in: i>1&&mode\n",
        ),
        (
            "for (int i = 0; i < 4; i++) if (i > 1) { if (mode) mark<<<1, 1>>>(a, i); }",
            "only_if = \"i > 1\" # fill in: mode\n",
        ),
    ] {
        drafts(mark, &host(body), &[part]);
    }
}

#[test]
fn copies_on_the_device_are_passes() {
    let place = Workplace::new();
    let copied = "__global__ void inc(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }
int main() {
    float *in, *out;
    const int n = 4;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, 16);
    for (int i = 0; i < 10; ++i) {
        inc<<<1, 4>>>(in, out);
        cudaMemcpy(in, out, n * sizeof(*in), cudaMemcpyDeviceToDevice);
    }
}
";
    // 10 10 10 10, as the program prints.
    place.file("t.cu", &copied.replace("sizeof(*in)", "sizeof(float)"));
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let run = ["render", "s.cu", "--steps", "10", "--device", "cpu", "--npy", "in=a.npy"];
    place.run(&run).expect(0, &[]);
    assert_eq!(read_npy_f32(&place.path("a.npy")).1, [10.0; 4]);
    let kernel = "__global__ void inc(int *a, int *b) { }";
    let host = |rest: &str| {
        format!("int main() {{ int *a, *b; cudaMalloc(&a, 64); cudaMalloc(&b, 64); {rest} }}")
    };
    let part = "inc<<<1, 4>>>(a, b); cudaMemcpy(a, b, 32, cudaMemcpyDeviceToDevice);";
    drafts(
        kernel,
        &host(part),
        &["# fill in: `cudaMemcpy(a,b,32,cudaMemcpyDeviceToDevice)` copies"],
    );
    let sometimes = "for (int i = 0; i < 9; i++) { inc<<<1, 4>>>(a, b);
        if (i % 3 == 2) cudaMemcpy(a, b, 64, cudaMemcpyDeviceToDevice); }";
    let parts = ["only_if = \"step % 3 == 2\"\ncopy   = { from = \"b\", to = \"a\" }\n"];
    drafts(kernel, &host(sometimes), &parts);
}

#[test]
fn bytes_that_arrays_begin_with_are_their_data() {
    let of = |element: &str, set: &str| {
        let kernel = format!("__global__ void inc({element} *a) {{ }}");
        let host =
            format!("int main() {{ {element} *a; cudaMalloc(&a, 64); {set} inc<<<1, 4>>>(a); }}");
        (kernel, host)
    };
    for (element, byte, value) in [
        ("int", "0xff", "-1"),
        ("unsigned", "-1", "4294967295"),
        ("short", "1", "257"),
        ("float", "0x3f", "0.7470588088035583"),
        ("double2", "0x40", "32.501960784313724"),
    ] {
        let (kernel, host) = of(element, &format!("cudaMemset(a, {byte}, 64);"));
        drafts(&kernel, &host, &[&format!("value = {value}\n")]);
    }
    for (element, set) in [
        // No number, a part, another time.
        ("float", "cudaMemset(a, 0xff, 64);"),
        ("int", "cudaMemset(a, 0xff, 32);"),
        ("int", "inc<<<1, 4>>>(a); cudaMemset(a, 0xff, 64);"),
        ("int", "inc<<<1, 4>>>(a); if (ready(a)) cudaMemset(a, 0, 64);"),
    ] {
        let (kernel, host) = of(element, set);
        drafts(&kernel, &host, &["# fill in: `cudaMemset(a,"]);
    }
    let (kernel, host) = of("int", "inc<<<1, 4>>>(a); cudaMemset(a, 0, 64);");
    drafts(&kernel, &host, &["clear  = [\"a\"]\n"]);
}

#[test]
fn variables_are_those_of_their_blocks() {
    let place = Workplace::new();
    let text = "__global__ void set(float *a, int n) { a[0] = n; }
int main() {
    float *a, *b;
    cudaMalloc(&a, 4); cudaMalloc(&b, 4);
    int n = 4;
    { int n = 77; set<<<1, 1>>>(b, n); }
    set<<<1, 1>>>(a, n);
}
";
    place.file("t.cu", text);
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let run = ["render", "s.cu", "--steps", "1", "--device", "cpu"];
    place.run(&[&run[..], &["--npy", "a=a.npy", "--npy", "b=b.npy"]].concat()).expect(0, &[]);
    let [a, b] = ["a.npy", "b.npy"].map(|name| read_npy_f32(&place.path(name)).1);
    assert_eq!([a, b], [[4.0], [77.0]]);
    let mark = "__global__ void mark(int *a, int at) { a[at] = 1; }";
    for (host, part) in [
        // Where a variable is set in a branch, further down in a loop, elsewhere, or by who has its address.
        ("int n = 1; if (a) n = 2; mark<<<1, 1>>>(a, n);", "at = 2 # fill in: n\n"),
        ("int n = 1; if (argc > 1) n = 2; mark<<<1, 1>>>(a, n);", "at = 1\n"),
        ("int n = 1; while (a) { mark<<<1, 1>>>(a, n); n = 2; }", "at = 1 # fill in: n\n"),
        ("int n = 1; scanf(\"%d\", &n); mark<<<1, 1>>>(a, n);", "at = 1 # fill in: n\n"),
        (
            "\n#ifdef A\nint n = 1;\n#else\nint n = 2;\n#endif\nmark<<<1, 1>>>(a, n);",
            "at = 2 # fill in: n\n",
        ),
        ("{ const int n = 1; } mark<<<1, 1>>>(a, n);", "at = 1 # fill in: n\n"),
        ("mark<<<1, 1>>>(a, global);", "at = 8 # fill in: global\n"),
    ] {
        let host = format!(
            "int global = 7; void other() {{ global = 8; }}
             int main(int argc, char **argv) {{ int *a; cudaMalloc(&a, 64); {host} }}"
        );
        drafts(mark, &host, &[part]);
    }
}

/// Changes that stand in no statement of their own, or under another name.
#[test]
fn changes_are_seen_wherever_they_stand() {
    let mark = "__global__ void mark(int *a, int at) { a[at] = 1; }";
    let host = |more: &str, rest: &str| {
        format!(
            "{more} int main() {{ int *a; cudaMalloc(&a, 400); int v = 5, w = 2; {rest} mark<<<1, 1>>>(a, v); }}"
        )
    };
    for (more, rest) in [
        ("void f(int &x) { x = 9; }", "f(v);"),
        ("void f(int y, int &x) { x = y; } void g(int &x) { f(3, x); }", "g(v);"),
        ("template <class T> void f(T &x) { x = 9; }", "f<int>(v);"),
        ("\n#define INC(x) (x)++\n", "INC(v);"),
        ("\n#define INC(x) x += 2\n#define STEP INC(v)\n", "STEP;"),
        ("", "w > 3 ? v = 8 : v = 9;"),
        ("", "w > 3 && (v = 8);"),
        ("", "w > 1 || v++;"),
        ("", "int h[2]; int &q = h[1]; std::exchange(v, 4);"),
        ("", "for (int i = 0; i < 3; i++) v *= 2;"),
        ("", "for (int i = 0; i < 3; i++) { v *= 2; mark<<<1, 1>>>(a, v); }"),
        ("", "for (int i = 0; i < 3; i++) { std::swap(v, w); mark<<<1, 1>>>(a, v); }"),
    ] {
        drafts(mark, &host(more, rest), &["# fill in: v\n"]);
    }
    for (rest, at) in [
        ("int &q = v; q = 7;", "at = 7\n"),
        ("const int &q = v; v = q + 1;", "at = 6\n"),
        ("std::swap(v, w);", "at = 2\n"),
        ("(v)++; ++(v); ((v)) += 2;", "at = 9\n"),
        ("if (w > 1) v = 3; else ++v;", "at = 3\n"),
        ("if (w > 2) v = 3; else ++v;", "at = 6\n"),
        ("if (w > 1 && v > 1) v = 3;", "at = 3\n"),
        ("int h[2] = {1, 2}; h[1] = 9; w = v == 5 ? 1 : 2; v -= w;", "at = 4\n"),
    ] {
        drafts(mark, &host("", rest), &[at]);
    }
}

#[test]
fn what_a_jump_leaves_out_is_not_done() {
    let mark = "__global__ void mark(int *a, int at) { a[at] = 1; }";
    let host = |rest: &str| {
        format!(
            "void die() {{ exit(0); }} int main() {{ int *a; cudaMalloc(&a, 400); int v = 5; {rest} }}"
        )
    };
    let over =
        host("mark<<<1, 1>>>(a, 1); goto end; mark<<<1, 1>>>(a, 2); end: mark<<<1, 1>>>(a, 3);");
    drafts(
        mark,
        &over,
        &["at = 1\n", "at = 3\n", "`mark` is never done: `goto end` stands before"],
    );
    let perhaps = host("if (a[0] > 2) goto end; mark<<<1, 1>>>(a, 2); end: ;");
    drafts(mark, &perhaps, &["fill in: not known whether `mark` is done", "where `a[0]>2`"]);
    let ended = host("if (v > 3) die(); mark<<<1, 1>>>(a, 2);");
    drafts(mark, &ended, &["`mark` is never done: the function returns before, by `v>3`"]);
    let may_end = host("if (a[0] > 3) die(); mark<<<1, 1>>>(a, 2);");
    drafts(mark, &may_end, &["fill in: not known whether `mark` is done"]);
    let other = host("if (v > 7) die(); mark<<<1, 1>>>(a, 2);");
    let manifest = warpaint::scene::draft("t.cu", &format!("{mark}\n{other}"));
    assert!(!manifest.contains("never done") && !manifest.contains("not known"), "{manifest}");
}

#[test]
fn axes_are_changed_like_variables() {
    let kernel = "__global__ void k(int *a) {}";
    let host = |rest: &str| {
        format!("int main() {{ int *a; cudaMalloc(&a, 4); dim3 g(2, 3); {rest} k<<<g, 4>>>(a); }}")
    };
    for (rest, grid) in [
        ("dim3 &r = g; r.x = 7;", "grid   = [7, 3]\n"),
        ("g.y = 5; g = dim3(4);", "grid   = 4\n"),
        ("std::swap(g.x, g.y);", "fill in: g\n"),
        ("g.x += 1;", "fill in: g\n"),
    ] {
        drafts(kernel, &host(rest), &[if grid.starts_with("grid") { grid } else { "# fill in" }]);
        let manifest = warpaint::scene::draft("t.cu", &format!("{kernel}\n{}", host(rest)));
        let is_marked = manifest.contains("fill in: ");
        assert_eq!(is_marked, grid.starts_with("fill"), "{rest}: {manifest}");
    }
    let truth = "int main() { int *a; cudaMalloc(&a, 4); bool big = true; k<<<big, big>>>(a); }";
    drafts(kernel, truth, &["grid   = 1\nblock  = 1\n"]);
}

#[test]
fn deduced_types_are_those_of_the_first_value() {
    let one = ["1", "1", "1.0", "1.0", "true", "1"];
    given("int v = 5; auto b = v > 3; b += 1;", "b", one);
    given("int v = 0; auto b = !v; b += 5;", "b", one);
    given("int v = 5; auto b = v && v; b += 5;", "b", one);
    given("auto u = 3u; u -= 4;", "u >> 31", ["1", "1", "1", "1", "true", "1"]);
    // No 64-bit integer of a manifest has it.
    let large = "18446744073709551611";
    let host = format!("int main() {{ k<<<1, 1>>>(0, 0, (size_t)-5, {large}u, 0, 0); }}");
    drafts(TYPES, &host, &["f = 1.8446744e19\n", "d = 1.8446744073709552e19\n"]);
}

#[test]
fn a_while_that_counts_is_a_group() {
    let kernel = "__global__ void k(int *a, int at) { a[threadIdx.x] += at; }";
    let of = |body: &str| format!("int main() {{ int *a, n = 64; cudaMalloc(&a, 256); {body} }}");
    drafts(
        kernel,
        &of("int s = 1; while (s < n) { k<<<1, 64>>>(a, s); s *= 2; }"),
        &["\n[[pass]]\nrepeat  = 6\ncounter = \"s\"\n", "at = \"1 << s\"\n"],
    );
    drafts(
        kernel,
        &of("int s = n; while (s > 1) { s /= 2; k<<<1, 64>>>(a, 3); }"),
        &["repeat  = 6\ncounter = \"s\"\n"],
    );
    drafts(
        kernel,
        &of("int t = 0; while (t < 100) { k<<<1, 64>>>(a, 3); t++; }"),
        &["[[pass]]\nkernel = \"k\"\ngrid   = 1\n"],
    );
    // Which numbers these have is not known.
    for body in [
        "int s = 1; while (s < n) { s *= 2; k<<<1, 64>>>(a, s); }",
        "int s = 1; while (s < n) { k<<<1, 64>>>(a, s); if (n > a[0]) s *= 2; }",
        "int s = 1; while (s < n) { k<<<1, 64>>>(a, s); s *= 2; s += 1; }",
        "int s = 1; while (s < n) { if (h[s]) continue; k<<<1, 64>>>(a, s); s *= 2; }",
    ] {
        drafts(kernel, &of(body), &["# fill in: `k` is repeated while `s<n`"]);
    }
}
