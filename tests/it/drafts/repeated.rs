//! Loops that go on until kernels have found something, and the halves of pairs that change places in them.

use super::{after_a_step, drafts};

/// Each round reaches one element more, until no element is reached.
const SEARCH: &str = "
__global__ void spread(float *reached, bool *more, int n) {
    int i = threadIdx.x + 1;
    if (i < n && reached[i] == 0 && reached[i - 1] > 0) { reached[i] = reached[i - 1] + 1; *more = true; }
}
__global__ void start(float *reached) { reached[0] = 1; }
int main() {
    const int n = 8; float *d_reached; bool *d_stop, stop;
    cudaMalloc(&d_reached, n * sizeof(float)); cudaMalloc(&d_stop, sizeof(bool));
    start<<<1, 1>>>(d_reached);
    do {
        stop = false;
        cudaMemcpy(d_stop, &stop, sizeof(bool), cudaMemcpyHostToDevice);
        spread<<<1, n>>>(d_reached, d_stop, n);
        cudaMemcpy(&stop, d_stop, sizeof(bool), cudaMemcpyDeviceToHost);
    } while (stop);
}
";

#[test]
fn a_search_goes_on_until_its_flag_stays_unset() {
    let parts = [
        "[array.d_stop]\ntype  = \"bool\"\ncount = 1\n\n",
        "[[pass]]\nrepeat = 1000 # fill in: so many rounds at most\nuntil  = \"d_stop[0] == 0\"\n\n[[pass.pass]]\n",
        "clear  = [\"d_stop\"]\n",
    ];
    // The threads of a round may see what others of it reach: each element is one more than that before it.
    assert_eq!(after_a_step(SEARCH, &parts, "d_reached"), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let other = SEARCH
        .replace("bool *more", "int *more")
        .replace("bool *d_stop, stop", "int *d_stop, stop");
    let other = other.replace("= false", "= 0").replace("sizeof(bool)", "sizeof(int)");
    let other = other.replace("(stop)", "(stop != 0)").replace("= true", "= 1");
    after_a_step(
        &other,
        &["until  = \"d_stop[0] == 0\"\n", "clear  = [\"d_stop\"]\n"],
        "d_reached",
    );
}

const JACOBI: &str = "
__global__ void jacobi(const float *x, float *y, float *moved, int n) {
    int i = threadIdx.x;
    y[i] = i == 0 || i == n - 1 ? 1 : 0.5f * (x[i - 1] + x[i + 1]);
    moved[i] = fabsf(y[i] - x[i]);
}
__global__ void residual(const float *moved, float *worst) {
    float most = 0;
    for (int i = 0; i < 16; i++) most = fmaxf(most, moved[i]);
    *worst = most;
}
int main() {
    const int n = 16; int iteration = 0; float *y, *y_next, *moved, *d_res, res = 1; const float eps = 1e-3f;
    cudaMalloc(&y, n * sizeof(float)); cudaMalloc(&y_next, n * sizeof(float)); cudaMalloc(&d_res, 4);
    cudaMalloc(&moved, n * sizeof(float));
    while (res > eps && iteration < 500) {
        jacobi<<<1, n>>>(y, y_next, moved, n);
        residual<<<1, 1>>>(moved, d_res);
        cudaMemcpy(&res, d_res, sizeof(float), cudaMemcpyDeviceToHost);
        std::swap(y, y_next);
        iteration++;
    }
}
";

#[test]
fn a_relaxation_goes_on_until_its_residual_is_small() {
    let parts = [
        "[[pass]]\nrepeat = 500 # fill in: so many rounds at most\nuntil  = \"d_res[0] <= 0.001",
        "x = \"y\"\ny = \"y_next\"\n",
    ];
    let found = after_a_step(JACOBI, &parts, "y");
    let (mut x, mut rounds) = ([0.0_f32; 16], 0);
    loop {
        let at = |i: usize| if i == 0 || i == 15 { 1.0 } else { 0.5 * (x[i - 1] + x[i + 1]) };
        let next: [f32; 16] = std::array::from_fn(at);
        let most = x.iter().zip(next).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        (x, rounds) = (next, rounds + 1);
        if most <= 1e-3 {
            break;
        }
    }
    assert!(rounds < 500);
    assert_eq!(found, x);
}

/// Without `const` the text of the kernel says which half is written.
#[test]
fn the_half_that_a_kernel_writes_is_the_next() {
    let kernel = "__global__ void step(float *to, float *from) { to[threadIdx.x] = 2 * from[threadIdx.x] + 1; }";
    let host = "int main() { float *a, *b; cudaMalloc(&a, 64); cudaMalloc(&b, 64);
        for (int t = 0; t < 9; ++t) { step<<<1, 16>>>(b, a); std::swap(a, b); } }";
    drafts(kernel, host, &["to = \"a_next\"\nfrom = \"a\"\n"]);
    drafts(kernel, &host.replace("(b, a)", "(a, b)"), &["to = \"b_next\"\nfrom = \"b\"\n"]);
    // A kernel that reads both is no sign; halves would have changed places before it.
    let both = "__global__ void step(float *to, const float *from) { to[threadIdx.x] = from[threadIdx.x]; }
        __global__ void compare(const float *one, const float *other, float *into) { *into = *one - *other; }";
    let host = host
        .replace("step<<<1, 16>>>(b, a);", "step<<<1, 16>>>(b, a); compare<<<1, 1>>>(a, b, c);");
    let parts = ["to = \"b\"\nfrom = \"a\"\n", "copy   = { from = \"b\", to = \"a\" }"];
    drafts(both, &host.replace("*b;", "*b, *c; cudaMalloc(&c, 4);"), &parts);
}

/// What is not seen to the end stays a remark.
#[test]
fn loops_of_another_form_are_remarks() {
    for (from, to) in [
        // The host makes something else of it.
        ("std::swap", "res = sqrt(res); std::swap"),
        // Not in each round.
        ("cudaMemcpy(&res", "if (iteration % 2) cudaMemcpy(&res"),
        ("res > eps &&", "res > eps ||"),
        (
            "&res, d_res, sizeof(float), cudaMemcpyDeviceToHost",
            "d_res, &res, 4, cudaMemcpyHostToDevice",
        ),
    ] {
        let manifest = warpaint::scene::draft("t.cu", &JACOBI.replace(from, to));
        assert!(manifest.contains("# fill in: `jacobi` is repeated while"), "{to}:\n{manifest}");
        assert!(!manifest.contains("until  ="), "{to}:\n{manifest}");
    }
    let unknown = JACOBI.replace("eps = 1e-3f", "eps = any()");
    let manifest = warpaint::scene::draft("t.cu", &unknown);
    assert!(
        manifest.contains("until  = \"d_res[0] <= 0\" # fill in: it goes on while"),
        "{manifest}"
    );
    let set = SEARCH.replace("stop = false;", "stop = any();");
    let manifest = warpaint::scene::draft("t.cu", &set);
    assert!(!manifest.contains("clear"), "{manifest}");
    let left = JACOBI.replace("iteration++;", "iteration++; if (iteration == 7) break;");
    let manifest = warpaint::scene::draft("t.cu", &left);
    assert!(manifest.contains("or a `break` where `iteration==7`"), "{manifest}");
}
