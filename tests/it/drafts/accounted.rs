//! A number or a fill stands without a mark only where all that may change it is understood.
//!
//! What each program really gives was seen with g++ and a stand-in for CUDA's library.

/// What host code here calls, and how it ends.
const HELPERS: &str = "
    #include <cstring>
    __constant__ float table[16];
    __global__ void k(float *a) { a[threadIdx.x] += 1; }
    __global__ void l(float *a, int n, float f) { a[threadIdx.x] += n * f; }
    void mystery(float *p);
    void third(float (&p)[16]) { p[3] = 7; }
    void twice(float *p) { for (int i = 0; i < 16; i++) p[i] *= 2; }
    void init(float *p, int n) { for (int i = 0; i < n; i++) p[i] = i * 2; }
    float *same(float *p) { return p; }
    float *kept; void keep(float *p) { kept = p; } void later() { kept[3] = 1; }
    void some(float *p, int n) { for (int i = 0; i < 16; i++) { if (i == n) return; p[i] = 9; } }
";
const FILL: &str = "for (int i = 0; i < 16; i++) h[i] = i;";
const COPY: &str = "cudaMemcpy(d, h, 64, cudaMemcpyHostToDevice);";

/// The draft of this host code behind the memory of both sides.
fn drafted(host: &str) -> String {
    let main = format!(
        "int main() {{ float h[16]; float *d; cudaMalloc(&d, 64); {host} k<<<1, 16>>>(d); }}"
    );
    warpaint::scene::draft("t.cu", &format!("{HELPERS}{main}\n"))
}

/// What the draft says that the elements are, without a mark.
fn unmarked(manifest: &str) -> Vec<&str> {
    let is_fill = |line: &&str| {
        ["each = ", "value = ", "random = "].iter().any(|key| line.starts_with(key))
            && !line.contains("# fill in")
    };
    manifest.lines().filter(is_fill).collect()
}

#[track_caller]
fn is_marked(host: &str) {
    let manifest = drafted(host);
    let is_marked = ["# fill in", "# The host fills it"].iter().any(|mark| manifest.contains(mark));
    assert!(is_marked, "{host}:\n{manifest}");
    assert_eq!(unmarked(&manifest), Vec::<&str>::new(), "{host}:\n{manifest}");
}

#[track_caller]
fn is_known(host: &str, expected: &str) {
    let manifest = drafted(host);
    assert_eq!(unmarked(&manifest), [expected], "{host}:\n{manifest}");
}

#[test]
fn changes_of_what_was_filled_are_marked() {
    for change in [
        "for (int i = 0; i < 16; i++) h[i] += 100;",
        "h[3] += 100;",
        "h[5]++;",
        "--h[5];",
        "std::reverse(h, h + 16);",
        "std::swap(h[1], h[2]);",
        "std::sort(h, h + 16, std::greater<float>());",
        "float *p = h + 2; *p = 77; p[1] = 5;",
        "for (int i = 0; i < 16; i++) { float &r = h[i]; r = 5; }",
        "for (float &r : h) r *= 2;",
        "for (float &r : h) { r = 2; if (r > 1) break; }",
        "std::transform(h, h + 16, h, [](float x) { return 2 * x; });",
        "memset(h, 0, 32);",
        "std::fill(h, h + 8, 1.0f);",
        "std::fill(h + 8, h + 16, 1.0f);",
        "std::fill_n(h, 4, 1.0f);",
        "init(h + 4, 4);",
        "twice(h);",
        "third(h);",
        "mystery(h);",
        "mystery(&h[3]);",
        "float g[16]; memcpy(h, g, 64);",
        "scanf(\"%f\", &h[2]);",
        "std::cin >> h[2];",
        "cudaMemcpy(h, d, 64, cudaMemcpyDeviceToHost);",
        "auto f = [&] { h[3] = 9; }; f();",
        "auto f = [&](float v) { h[3] = v; }; f(1); f(2);",
        "float *p = h; p++; *p = 4;",
        "float *p = h; float **q = &p; (*q)[2] = 5;",
        "float *p = same(h); p[2] = 5;",
        "keep(h); later();",
        "float (*p)[16] = &h; (*p)[3] = 2;",
        "auto &r = h[3]; r = 2;",
        "some(h, 4);",
        "struct { float *p; } s = { h }; s.p[3] = 1;",
        "int c = 0; while (c < 3) { h[c] = 1; if (++c > 1) break; }",
        "for (int i = 0; i < 16; i++) { h[i] = 5; if (i == 3) break; }",
        "for (int i = 0; i < 15; i++) { h[i] = 1; h[i + 1] = 2; }",
        "for (int i = 0; i < 16; i++) { h[3] = 7; h[i] = 1; }",
        "for (int i = 0; i < 4; i++) for (int j = 0; j <= i; j++) h[i * 4 + j] = 1;",
        "for (int r = 0; r < 3; r++) for (int i = 0; i < 16; i++) h[i] = i + r;",
        "#define CHANGE h[3] = 1\nCHANGE;",
        "bool b = true; b && (h[3] = 8);",
        "(true ? h[1] : h[2]) = 8;",
        "goto end; h[2] = 8; end: mystery(h);",
    ] {
        is_marked(&format!("{FILL} {change} {COPY}"));
    }
}

#[test]
fn jumps_and_parts_of_copies_are_marked() {
    for host in [
        "for (int i = 0; i < 16; i++) { h[i] = i; if (i == 3) break; }".to_owned() + COPY,
        format!("{FILL} cudaMemcpy(d, h + 4, 32, cudaMemcpyHostToDevice);"),
        format!("{FILL} cudaMemcpy(d + 4, h, 32, cudaMemcpyHostToDevice);"),
        format!("{FILL} cudaMemcpy(d, h, 32, cudaMemcpyHostToDevice);"),
        format!("{FILL} {COPY} cudaMemset(d, 0, 64);"),
        format!("init(h + 4, 4); {COPY}"),
        format!(
            "for (int i = 0; i < 4; i++) for (int j = 0; j <= i; j++) h[i * 4 + j] = 1; {COPY}"
        ),
        format!("unsigned long v = -3; for (int i = 0; i < 16; i++) h[i] = v > i; {COPY}"),
    ] {
        is_marked(&host);
    }
    for again in [
        format!("{FILL} {COPY} k<<<1, 16>>>(d); for (int i = 0; i < 16; i++) h[i] = 60; {COPY}"),
        format!("k<<<1, 16>>>(d); {FILL} {COPY}"),
        format!("{FILL} for (int t = 0; t < 9; t++) {{ {COPY} k<<<1, 16>>>(d); }}"),
        format!(
            "for (int t = 0; t < 9; t++) {{ for (int i = 0; i < 16; i++) h[i] = t; {COPY} k<<<1, 16>>>(d); }}"
        ),
        format!("{FILL} cudaMemcpyToSymbol(table, h, 32);"),
        format!("{FILL} cudaMemcpyToSymbol(table, h, 32, 32);"),
        "float w[16] = {1, 2}; w[1] += 5; cudaMemcpyToSymbol(table, w, 64);".to_owned(),
    ] {
        is_marked(&again);
    }
    let read_back = format!(
        "{FILL} k<<<1, 16>>>(d); cudaMemcpy(h, d, 64, cudaMemcpyDeviceToHost); float *e; cudaMalloc(&e, 64);
         cudaMemcpy(e, h, 64, cudaMemcpyHostToDevice); k<<<1, 16>>>(e);"
    );
    is_marked(&read_back);
}

#[test]
fn what_only_reads_changes_nothing() {
    for read in [
        "printf(\"%f\", h[3]);",
        "for (int i = 0; i < 16; i++) printf(\"%f \", h[i]);",
        "float s = 0; for (int i = 0; i < 16; i++) s += h[i];",
        "float x = h[2] * h[3], y = std::max(h[1], x);",
        "std::cout << h[2] << std::endl;",
        "float g[16]; memcpy(g, h, 64);",
        "float *p = h; printf(\"%f\", p[2]);",
        "float m = *std::max_element(h, h + 16);",
        "if (h[2] == 3 && h[1] != h[2]) printf(\"x\");",
        "float *other = (float *)malloc(64); for (int i = 0; i < 16; i++) other[i] = h[i] + 1;",
        "for (float x : h) printf(\"%f\", x);",
        "size_t n = sizeof(h) / sizeof(h[0]);",
        "assert(h[0] == 0);",
    ] {
        is_known(&format!("{FILL} {read} {COPY}"), "each = \"i\"");
    }
    is_known(&format!("{FILL} twice(h); {FILL} {COPY}"), "each = \"i\"");
    is_known(&format!("mystery(h); init(h, 16); {COPY}"), "each = \"i * 2\"");
    is_known(&format!("{FILL} float *p = h; p[2] = 7; {COPY}"), "each = \"i == 2 ? 7.0 : i\"");
    is_known(&format!("{FILL} *h = 7; {COPY}"), "each = \"i == 0 ? 7.0 : i\"");
    is_known(&format!("{FILL} cudaMemcpyToSymbol(table, h, sizeof(h));"), "each = \"i\"");
}

/// The number that a launch is given is marked, or is one of those that it really is.
#[track_caller]
fn numbers_are_marked(before: &str, main: &str) {
    let main = format!("int main() {{ float *d; cudaMalloc(&d, 64); {main} }}");
    let manifest = warpaint::scene::draft("t.cu", &format!("{HELPERS}{before}\n{main}\n"));
    let mut numbers = manifest.lines().filter(|line| line.starts_with("f = "));
    assert!(numbers.clone().count() > 0, "{before}:\n{manifest}");
    assert!(numbers.all(|line| line.contains("# fill in")), "{before}:\n{manifest}");
}

#[test]
fn what_a_function_changes_between_its_calls_is_marked() {
    let own = |body: &str| format!("int cc = 0; void g(float *d) {{ {body} }}");
    let calls = "g(d); g(d);";
    numbers_are_marked(&own("cc += 2; l<<<1, 16>>>(d, 1, cc);"), calls);
    numbers_are_marked(&own("static int s = 0; s++; l<<<1, 16>>>(d, 1, s);"), calls);
    numbers_are_marked(
        &own("l<<<1, 16>>>(d, 1, cc); cc += 2;"),
        "for (int i = 0; i < 3; i++) g(d);",
    );
    let member = "struct C { int n = 3; float *d; C() { cudaMalloc(&d, 64); }
        void run() { l<<<1, 16>>>(d, 1, n); n++; } };";
    numbers_are_marked(member, "C c; c.run(); c.run();");
    numbers_are_marked(&own("cc++; l<<<1, 16>>>(d, 1, cc); if (cc < 3) g(d);"), "g(d);");
    numbers_are_marked("", "int c = 0; auto f = [&] { c += 2; l<<<1, 16>>>(d, 1, c); }; f(); f();");
    numbers_are_marked(
        "void g(float *d, int n) { static int s = n; l<<<1, 16>>>(d, 1, s); }",
        "g(d, 1); g(d, 2);",
    );
    numbers_are_marked(
        &own("cc++; l<<<1, 16>>>(d, 1, cc);").replace("void g", "void h(float *); void g"),
        "void (*p)(float *) = g; p(d); p(d);",
    );
}

#[test]
fn members_that_others_set_are_marked() {
    let made = |members: &str| {
        format!(
            "struct C {{ float *d; int n = 3; {members} void run() {{ l<<<1, 16>>>(d, 1, n); }} }};"
        )
    };
    let alone = made("");
    for main in [
        "C c; c.n = 5; c.run();",
        "C c{d, 7}; c.run();",
        "C c = {d, 7}; c.run();",
        "C c; C *p = &c; p->n = 9; p->run();",
        "C c; int *p = &c.n; *p = 4; c.run();",
    ] {
        numbers_are_marked(&alone, main);
    }
    numbers_are_marked(&made("C(int k) : n(k) {}"), "C c(8); c.run();");
    numbers_are_marked(&made("void set(int n) { this->n = n; }"), "C c; c.set(9); c.run();");
    let itself = "void f(int k, float *d) { if (k > 0) f(k - 1, d); l<<<1, 16>>>(d, 1, k); }";
    numbers_are_marked(itself, "f(2, d);");
}

#[test]
fn what_a_function_changes_that_is_called_once_is_known() {
    let text = |before: &str, main: &str| {
        let main = format!("int main() {{ float *d; cudaMalloc(&d, 64); {main} }}");
        warpaint::scene::draft("t.cu", &format!("{HELPERS}{before}\n{main}\n"))
    };
    let global =
        "int cc = 0; void g(float *d); void g(float *d) { cc = 3; l<<<1, 16>>>(d, cc, 1); }";
    assert!(text(global, "g(d);").contains("\nn = 3\n"), "{}", text(global, "g(d);"));
    let constant = "void g(float *d) { static int s = 4; l<<<1, 16>>>(d, s, 1); }";
    assert!(text(constant, "g(d); g(d);").contains("\nn = 4\n"));
}
