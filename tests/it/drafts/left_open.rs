//! What drafts do not know they mark: no value is taken over that C++ would change in a way that is not understood.
//! What is expected was worked out with the same host code, compiled by g++.

const KERNEL: &str = "__global__ void k(float *a, int n) { a[threadIdx.x] = n; }";

/// The manifest of this host code: what stands in `main` behind an array `d`, and what before it.
pub(super) fn drafted(before: &str, main: &str) -> String {
    let main = format!("int main() {{ float *d; cudaMalloc(&d, 4096); {main} }}");
    warpaint::scene::draft("t.cu", &format!("{KERNEL}\n{before}\n{main}\n"))
}

/// The number that the kernel is given in each launch is marked in each of these.
#[track_caller]
pub(super) fn are_marked(before: &str, texts: &[&str]) {
    for main in texts {
        let manifest = drafted(before, main);
        let numbers: Vec<&str> = manifest.lines().filter(|line| line.starts_with("n = ")).collect();
        assert!(!numbers.is_empty(), "{main}:\n{manifest}");
        assert!(numbers.iter().all(|line| line.contains("# fill in")), "{main}:\n{manifest}");
    }
}

/// The number that the kernel is given is this one in each of these, and nothing is marked.
#[track_caller]
pub(super) fn are_known(before: &str, expected: &str, texts: &[&str]) {
    for main in texts {
        let manifest = drafted(before, main);
        assert!(manifest.contains(&format!("\nn = {expected}\n")), "{main}:\n{manifest}");
    }
}

/// A manifest can give but one of them something.
#[test]
fn parameters_of_one_name_are_a_remark() {
    let kernel = "__global__ void k(int *a, float n, int n) {}";
    for host in ["", "int main() { int *a; cudaMalloc(&a, 64); k<<<1, 16>>>(a, 1, 2); }"] {
        let manifest = warpaint::scene::draft("t.cu", &format!("{kernel}\n{host}\n"));
        let remark = "# `k` has two parameters of one name, as it seems\n";
        assert!(manifest.contains(remark) && !manifest.contains("[[pass]]"), "{manifest}");
    }
}

#[test]
fn launches_beyond_those_that_are_told_are_told_of() {
    let many =
        |count: usize| (0..count).map(|n| format!("k<<<1, 32>>>(d, {n});\n")).collect::<String>();
    let remark = "# fill in: only the first 200 launches are here\n";
    assert!(drafted("", &many(201)).contains(remark));
    assert!(!drafted("", &many(200)).contains(remark));
    let call =
        "void *list[] = { &d, &n }; ".to_owned() + &"cudaLaunchKernel(k, 1, 32, list);".repeat(201);
    assert!(drafted("", &format!("int n = 3; {call}")).contains(remark));
}

#[test]
fn constructors_make_fields_of_what_they_are_given() {
    let constructed = "struct P { int n; P(int q) : n(q * 2) {} };
        struct Q { int n; Q(int q) { n = q * 2; } };
        struct R { int n = 4; int m; R(int m_) : m(m_) {} };
        struct S { int b; int n; S(int n, int b) : b(b), n(n) {} };
        struct B { int z; }; struct D : B { int n; };
        class C { public: int n; explicit C(int q) : n(q + 1) {} };
        template <class T> struct V { T n; V(T v) : n(-v) {} };
        typedef P Other; using Another = Other; typedef struct T { int n; T(int q) : n(-q) {} } U;";
    for main in [
        "P p(5);",
        "P p{5};",
        "P p = {5};",
        "P p = P(5);",
        "P p = P{5};",
        "P p = 5;",
        "P q{5}, p = q;",
        "Q p(5);",
        "R p(5);",
        "S p(5, 6);",
        "D p{{1}, 2};",
        "C p(5);",
        "V<int> p(5);",
        "Other p(5);",
        "Another p{5};",
        "U p(5);",
        "P p(1); p = {5};",
        "P p(1); p = P(5);",
    ] {
        are_marked(constructed, &[&format!("{main} k<<<1, 32>>>(d, p.n);")]);
    }
    let plain = "struct P { int n, m; int twice() { return 2 * n; } ~P() {} };";
    for main in ["P p{5, 6};", "P q = {5}, p = q;", "P p; p = {5, 6};"] {
        are_known(plain, "5", &[&format!("{main} k<<<1, 32>>>(d, p.n);")]);
    }
}

#[test]
fn pointers_that_a_constructor_places_are_not_known() {
    let before = "struct Two { float *a, *b; Two(float *x, float *y) : a(y), b(x) {} };
        __global__ void m(Two t) { t.a[threadIdx.x] = 1; t.b[threadIdx.x] = 2; }";
    let arrays = "float *x, *y; cudaMalloc(&x, 128); cudaMalloc(&y, 128);";
    for made in ["Two t(x, y);", "Two t{x, y};", "Two t = Two(x, y);"] {
        let manifest = drafted(before, &format!("{arrays} {made} m<<<1, 32>>>(t);"));
        let named = manifest.lines().find(|line| line.starts_with("t = "));
        assert!(named.is_none_or(|line| line.contains("# fill in")), "{manifest}");
    }
    let lists = before.replace(" Two(float *x, float *y) : a(y), b(x) {}", "");
    let manifest = drafted(&lists, &format!("{arrays} Two t{{x, y}}; m<<<1, 32>>>(t);"));
    assert!(manifest.contains("t = { a = \"x\", b = \"y\" }\n"), "{manifest}");
}

#[test]
fn conditions_of_loops_change_variables_once_a_round() {
    are_marked(
        "",
        &[
            "int n = 1; while ((n *= 2) < 100); k<<<1, 32>>>(d, n);",
            "int n = 1; while ((n <<= 1) < 100) {} k<<<1, 32>>>(d, n);",
            "int n = 10; while (n-- > 3); k<<<1, 32>>>(d, n);",
            "int n = 10; do { } while (--n > 3); k<<<1, 32>>>(d, n);",
            "int n = 10; while (--n); k<<<1, 32>>>(d, n);",
            "int n = 10; while (--n) k<<<1, 32>>>(d, n);",
            "int n = 10; do k<<<1, 32>>>(d, n); while (--n > 3);",
            "int n = 10; do { k<<<1, 32>>>(d, n); } while (--n > 3);",
        ],
    );
    are_known("", "9", &["int n = 10; if (--n) {} k<<<1, 32>>>(d, n);"]);
}

#[test]
fn what_jumps_go_round_is_not_done() {
    are_known(
        "[[noreturn]] void stop(int code) { exit(code); } void check(int e) { if (e == 0) return; exit(1); }",
        "3",
        &[
            "int n = 3; goto L; n = 77; L: k<<<1, 32>>>(d, n);",
            "int n = 3; { k<<<1, 32>>>(d, n); return 0; n = 5; }",
            "int n = 3; for (int i = 0; i < 4; i++) { if (i == 2) { break; n = 4; } } k<<<1, 32>>>(d, n);",
            "int n = 3; if (cudaGetLastError() != 0) goto L; n = 3; L: k<<<1, 32>>>(d, n);",
            "check(0); int n = 3; k<<<1, 32>>>(d, n);",
            "int n = 2; try { n = 3; } catch (...) { n = 4; } k<<<1, 32>>>(d, n);",
        ],
    );
    are_marked(
        "",
        &[
            "int n = 3; if (d[0] > 1) goto L; n = 77; L: k<<<1, 32>>>(d, n);",
            "int n = 1; L: n *= 2; if (n < 100) goto L; k<<<1, 32>>>(d, n);",
            "int n = 1; L: k<<<1, 32>>>(d, n); n = 4; if (d[0] > 1) goto L;",
            "int n = 1; goto B; A: n = 2; goto C; B: n = 3; goto A; C: k<<<1, 32>>>(d, n);",
            "int n = 1; try { n = 2; throw 1; n = 3; } catch (...) { n += 10; } k<<<1, 32>>>(d, n);",
            "int n = 1; try { if (d[0] > 1) throw 1; n = 3; } catch (...) { } k<<<1, 32>>>(d, n);",
        ],
    );
    for (jump, text) in [
        ("exit(0);", "`exit(0)` stands before"),
        ("std::exit(0);", "`exit(0)` stands before"),
        ("return 0;", "`return 0` stands before"),
        ("throw 1;", "`throw 1` stands before"),
        ("stop(2);", "`stop(2)` stands before"),
    ] {
        let manifest = drafted(
            "void stop(int code) { exit(code); }",
            &format!("k<<<1, 32>>>(d, 1); {jump} k<<<1, 32>>>(d, 9999);"),
        );
        assert!(manifest.contains(&format!("# `k` is never done: {text}\n")), "{manifest}");
        assert!(!manifest.contains("n = 9999"), "{manifest}");
    }
}

#[test]
fn lambdas_are_done_later() {
    are_marked(
        "",
        &[
            "int n = 1; auto set = [&] { n = 4; }; k<<<1, 32>>>(d, n);",
            "int n = 1; auto set = [&n]() mutable { n = 4; }; n = 7; set(); k<<<1, 32>>>(d, n);",
            "int n = 3; auto run = [&](int n) { k<<<1, 32>>>(d, n); }; run(5);",
            "int n = 3; auto run = [&] { k<<<1, 32>>>(d, n); }; n = 5; run();",
        ],
    );
    are_known("", "3", &["int n = 3; auto run = [&] { k<<<1, 32>>>(d, n); }; run();"]);
}

#[test]
fn what_variables_are_handed_to_may_set_them() {
    let before = "struct W { W(int &q) { q = 5; } };
        struct X { int *p; X(int *q) : p(q) {} void operator()(int &q) { q = 8; }
            X &operator<<(int &q) { q = 9; return *this; } };
        struct Guard { int &r, old; Guard(int &q, int v) : r(q), old(q) { r = v; } };
        void (*fp)(int &) = other; void set(int &); std::ifstream in;";
    for change in [
        "in >> n;",
        "in >> m >> n;",
        "std::cin >> n;",
        "std::istringstream(text) >> n;",
        "W w(n);",
        "W w{n};",
        "W{n};",
        "(void)W(n);",
        "W *w = new W(n);",
        "Guard g(n, 50);",
        "Guard g{n, 50};",
        "X x(p); x(n);",
        "X x(p); x << n;",
        "X x(&n); n = 3; x.go();",
        "fp(n);",
        "set(n);",
        "unknown(n);",
        "auto inc = [](int &q) { q += 5; }; inc(n);",
        "std::invoke(inc, n);",
        "std::ref(n).get() = 11;",
        "std::from_chars(a, b, n);",
        "std::tie(n, m) = pair;",
        "std::pair<int &, int> pr(n, 2); pr.first = 9;",
        "decltype(auto) r = (n); n = 2; r = 3;",
        "int &r = m ? n : m; n = 2; r = 3;",
        "int *p = &n; n = 4; *p = 5;",
        "asm(\"movl $5, %0\" : \"=r\"(n));",
    ] {
        are_marked(before, &[&format!("int n = 1, m = 2; {change} k<<<1, 32>>>(d, n);")]);
    }
}

#[test]
fn what_reads_variables_leaves_them() {
    let before = "struct Cfg { int n; float h; }; void host(float *a, int n) {} int half(const int &n) { return n / 2; }
        #define CHECK(x) do { cudaError_t e = x; if (e) exit(1); } while (0)\n";
    for read in [
        "CHECK(cudaMalloc((void **)&d, n * sizeof(float)));",
        "printf(\"%d %d\", n, m);",
        "std::cout << n << m;",
        "std::ofstream out(\"x\"); out << n;",
        "std::vector<float> v(n);",
        "std::vector<int> w{n, m};",
        "dim3 grid((n + 255) / 256), block(n);",
        "k<<<n / 256, 256>>>(d, n);",
        "int z = std::min(n, 5);",
        "memset(d, 0, n);",
        "for (int i = 0; i < n; i++) { }",
        "float x = d[n];",
        "float *x = new float[n];",
        "host(d, n);",
        "int z = half(n);",
        "int z = n >> m, y = (m + 1) >> n, x = m >> n, w = 7 >> n;",
        "Cfg c = {n, 1.0f};",
        "Cfg c{n, 1.0f};",
        "auto f = [](int a) { return a; }; f(n);",
        "float y = (float)(n);",
        "std::fill(v.begin(), v.end(), n);",
        "v.push_back(n);",
        "switch (n) { case 1: break; }",
        "srand(n);",
    ] {
        are_known(before, "512", &[&format!("int n = 512, m = 2; {read} k<<<1, 32>>>(d, n);")]);
    }
}

#[test]
fn values_of_several_assignments_are_those_of_the_last() {
    let before = "struct M { int w, s; unsigned char c; float f; }; M g;";
    for text in
        ["M a; a.w = a.s = 64;", "M a, *p = &a; a.s = a.w = 64;", "M a; int n; n = a.s = a.w = 64;"]
    {
        let field = if text.contains("a.s = a.w") { "a.s" } else { "a.w" };
        are_known(before, "64", &[&format!("{text} k<<<1, 32>>>(d, {field});")]);
    }
    are_known(before, "64", &["int n, m; n = m = 64; k<<<1, 32>>>(d, n);"]);
    // Each makes a number of its own type of it.
    are_marked(
        before,
        &[
            "int n; unsigned char m; n = m = 300; k<<<1, 32>>>(d, n);",
            "int n; M a; n = a.c = 300; k<<<1, 32>>>(d, n);",
            "float n; int m; n = m = 2.5f; k<<<1, 32>>>(d, 2 * n);",
            "int m; float n = m = 2.5f; k<<<1, 32>>>(d, 2 * n);",
            "int n; M a; n = a.f = 16777217; k<<<1, 32>>>(d, n);",
        ],
    );
}

/// A macro with a block behind it may do that any number of times.
#[test]
fn blocks_of_macros_are_not_known() {
    let before = "#define REPEAT(i, n) for (int i = 0; i < n; i++)\n#define TWICE(n) for (int z = 0; z < 2; z++)\n";
    are_marked(
        before,
        &[
            "int n = 1; REPEAT(i, 3) { n *= 2; } k<<<1, 32>>>(d, n);",
            "int n = 4; TWICE(n) { n -= 1; } k<<<1, 32>>>(d, n);",
            "int n = 1; if (n) REPEAT(i, 3) { n = 2; } k<<<1, 32>>>(d, n);",
        ],
    );
    let manifest = drafted(before, "REPEAT(i, 3) { k<<<1, 32>>>(d, 5); }");
    assert!(manifest.contains("n = 5\n") && manifest.contains("is repeated while"), "{manifest}");
    are_known("", "4", &["int n = 3; if constexpr (true) { n = 4; } k<<<1, 32>>>(d, n);"]);
    let local = "struct L { int m; L(int q) { m = q; } int f() { return 1; } };";
    are_known("", "3", &[&format!("int n = 3; {local} k<<<1, 32>>>(d, n);")]);
}

/// A variable that outlives the rounds of a loop has in each what it had in the one before.
#[test]
fn what_a_round_leaves_is_not_set_anew() {
    are_marked(
        "",
        &[
            "for (int i = 0; i < 4; i++) { static int c = 0; c += 2; k<<<1, 32>>>(d, c); }",
            "for (int i = 0; i < 4; i++) { static int c = i; k<<<1, 32>>>(d, c); }",
            "for (int i = 0; i < 4; i++) { static const int c = 3 * i; k<<<1, 32>>>(d, c); }",
            "for (int i = 0; i < 4; i++) { thread_local int c = 0; c += 2; k<<<1, 32>>>(d, c); }",
            "int i = 0; again: { static int c = 0; c += 2; k<<<1, 32>>>(d, c); } if (i++ < 3) goto again;",
        ],
    );
    are_known(
        "const int n = 3;",
        "3",
        &[
            "for (int i = 0; i < 4; i++) { static int c = 3; k<<<1, 32>>>(d, c); }",
            "for (int i = 0; i < 4; i++) { static const int c = n; k<<<1, 32>>>(d, c); }",
            "for (int i = 0; i < 4; i++) { int c = 1; c += 2; k<<<1, 32>>>(d, c); }",
        ],
    );
}

#[test]
fn pointers_that_a_round_leaves_are_not_known() {
    let rounds = "float *e; cudaMalloc(&e, 64);
        for (int i = 0; i < 4; i++) { static float *p = d; k<<<1, 32>>>(p, 1); p = e; }";
    let manifest = drafted("", rounds);
    assert!(manifest.contains("a = \"d\" # fill in: p\n"), "{manifest}");
    let once = drafted("", "static float *p = d; k<<<1, 32>>>(p, 1);");
    assert!(!once.contains("fill in"), "{once}");
}

#[test]
fn what_a_goto_repeats_is_told_of() {
    let manifest = drafted("", "int i = 0; again: k<<<1, 32>>>(d, 3); if (i++ < 3) goto again;");
    assert!(manifest.contains("# fill in: `k` is repeated by a `goto`\n"), "{manifest}");
}

/// What has the address of a function may call it, where no call is seen.
#[test]
fn functions_called_by_their_addresses_are_told_of() {
    let before = "void work(float *a, int n) { k<<<1, 32>>>(a, n); }";
    let remark = "# fill in: what `work` does where its address is called\n";
    for main in [
        "work(d, 1); (*work)(d, 2);",
        "work(d, 1); (&work)(d, 2);",
        "work(d, 1); (work)(d, 2);",
        "work(d, 1); auto f = work; f(d, 2);",
        "work(d, 1); void (*f[])(float *, int) = { work }; f[0](d, 2);",
        "work(d, 1); std::thread(work, d, 2).join();",
    ] {
        let manifest = drafted(before, main);
        assert!(manifest.contains(remark), "{main}:\n{manifest}");
    }
    for main in ["work(d, 1); ::work(d, 2);", "work(d, 1); int work = 3; k<<<1, 32>>>(d, work);"] {
        let manifest = drafted(before, main);
        assert!(!manifest.contains("fill in"), "{main}:\n{manifest}");
    }
}
