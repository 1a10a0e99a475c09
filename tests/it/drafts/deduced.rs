//! What a launch leaves to the compiler, and types that headers or kernels name, are what the compiler takes them for.

use super::after_a_step;
use crate::support::Workplace;

/// A scene is drafted of the text, in which nothing is marked, and begins so; after one step `array` begins with these.
#[track_caller]
fn gives(text: &str, parts: &[&str], array: &str, expected: &[f32]) {
    let place = Workplace::new();
    place.run(&["check", place.file("t.cu", text)]).expect(0, &[]);
    let found = after_a_step(text, parts, array);
    assert_eq!(found[..expected.len()], *expected, "{text}");
}

#[test]
fn template_arguments_are_those_of_what_is_given() {
    let kernels = "template <class T> __global__ void set(T *a, const T value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += value + sizeof(T); }
template <typename T, typename U, int N = 4> __global__ void add(const T *__restrict__ a, U *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) b[i] += N * a[i]; }
template <int N, class T> __global__ void more(T *a) { a[threadIdx.x] += N; }
template <class T> __global__ void value(float *a, T x) { a[threadIdx.x] += 1000 * sizeof(x); }\n";
    let allocated = "const int n = 64; double *d; cudaMalloc((void **)&d, n * sizeof(double));
    float *f; cudaMalloc(&f, n * sizeof(float));\n";
    let main = |body: &str| format!("{kernels}int main() {{ {allocated}{body} }}");
    gives(
        &main("set<<<1, n>>>(d, 1.0, n); set<<<1, n>>>(f, 2.0f, n); add<<<1, n>>>(d, f, n);"),
        &["kernel = \"set<double>\"", "kernel = \"set<float>\"", "kernel = \"add<double,float>\""],
        "f",
        // 2 + 4, and four times 1 + 8.
        &[42.0, 42.0],
    );
    gives(
        &main(
            "more<16><<<1, n>>>(f); value<<<1, n>>>(f, 7ull); value<<<1, n>>>(f, (unsigned char)n);",
        ),
        &["\"more<16,float>\"", "\"value<unsigned long long>\"", "\"value<unsigned char>\""],
        "f",
        &[9016.0],
    );
    // In templates of the host, whose arguments are given, or left to the compiler, too.
    let host = "template <class T> void run(T *a, T x, int n) { set<<<1, n>>>(a, x, n); }
template <class T> void make(float *to, int n) { T *own; cudaMalloc(&own, n * sizeof(T));
    set<<<1, n>>>(own, (T)1, n); add<<<1, n>>>(own, to, n); }\n";
    let text =
        main("run(f, 2.0f, n); make<short>(f, n);").replace("int main", &format!("{host}int main"));
    gives(&text, &["\"set<float>\"", "\"set<short>\"", "\"add<short,float>\""], "f", &[18.0]);
}

/// As the runtime's and cuFFT's headers declare them, and as the file itself does.
#[test]
fn elements_are_what_a_name_means() {
    let text = "#include <cufft.h>
typedef uint4 data_t;
__global__ void times(clock_t *timer, float *a) { timer[0] = 7; a[0] += timer[0]; }
__global__ void wide(data_t *d, cufftComplex *c, float *a) { d[1].z = 4; c[1].y = 5; a[0] += d[1].z * c[1].y; }
int main() { clock_t *t; float *a; unsigned char *d; void *c;
    cudaMalloc(&t, 8 * sizeof(clock_t)); cudaMalloc(&a, 4); cudaMalloc(&d, 64); cudaMalloc(&c, 80);
    times<<<1, 1>>>(t, a); wide<<<1, 1>>>((data_t *)d, (cufftComplex *)c, a); }";
    let parts = [
        "[array.t]\ntype  = \"long long\"\ncount = 8\n",
        "[array.d]\ntype  = \"uint4\"\ncount = 4\n",
        "[array.c]\ntype  = \"float2\"\ncount = 10\n",
    ];
    gives(text, &parts, "a", &[27.0]);
}

/// Linear memory, by the pointer that the resource's description has; textures of one axis and of three.
#[test]
fn textures_are_what_kernels_read() {
    let text = "__global__ void set(float *a) { a[threadIdx.x] = threadIdx.x; }
__global__ void read(cudaTextureObject_t linear, cudaTextureObject_t line, cudaTextureObject_t box, float *b) {
    int i = threadIdx.x;
    b[i] = tex1Dfetch<float>(linear, i) + tex1D<float>(line, 0.5f) + tex3D<float>(box, 1, 1, 1); }
int main() { float *a, *b; cudaMalloc(&a, 256); cudaMalloc(&b, 256); set<<<1, 64>>>(a);
    cudaResourceDesc res; memset(&res, 0, sizeof(res)); res.resType = cudaResourceTypeLinear;
    res.res.linear.devPtr = a; cudaTextureDesc how = {}; cudaTextureObject_t t, u, v;
    cudaCreateTextureObject(&t, &res, &how, NULL);
    read<<<1, 64>>>(t, u, v, b); }";
    let parts = [
        "linear = \"a\" # fill in: res.linear.sizeInBytes",
        "[texture.u]\nformat = \"r32f\" # fill in\nsize   = [1024] # fill in\n# fill in: how it is read",
        "# The host fills it, as `file = \"u.png\"` would. # fill in: its texels\n",
        "[texture.v]\nformat = \"r32f\" # fill in\nsize   = [64, 64, 64] # fill in\n",
    ];
    gives(text, &parts, "b", &[0.0, 1.0, 2.0, 3.0]);
}

/// Neither parameter is called a height: threads beside one another are those of a row.
#[test]
fn rows_are_as_long_as_threads_lie_beside_one_another() {
    let kernel = "__global__ void k(float *c, int wA, int wB) {}";
    let host = "int main() { float *c; cudaMalloc(&c, 64 * 32 * 4);
    k<<<dim3(4, 2), dim3(16, 16)>>>(c, 32, 64); }";
    super::drafts(kernel, host, &["texture  = \"c\"\nsize     = [64, 32]\n"]);
    let named = kernel.replace("wA", "rows").replace("wB", "n");
    super::drafts(&named, host, &["size     = [64, 32]\n"]);
    let turned = kernel.replace("wA", "width").replace("wB", "height");
    super::drafts(&turned, host, &["size     = [32, 64]\n"]);
}

/// Two rows of many columns are no picture.
#[test]
fn a_strip_is_a_line() {
    let kernel = "__global__ void k(float *c) { c[threadIdx.x] = 1; }";
    let host = "#define N 256\nint main() { float *c; cudaMalloc(&c, sizeof(float) * N * 2); k<<<1, 64>>>(c); }";
    super::drafts(kernel, host, &["kind = \"line\"\nof   = \"c\"\n"]);
    super::drafts(kernel, &host.replace("* 2", "* 4"), &["kind     = \"image\"\n"]);
}

/// A size that the program reads is assumed, and so are the rounds that follow from it.
#[test]
fn rounds_follow_from_a_size_that_is_assumed() {
    let kernel = "__global__ void fan(float *a, int size, int t) {}";
    let host = "int size; float *a; int main(int argc, char **argv) { scanf(\"%d\", &size);
    cudaMalloc(&a, size * size * sizeof(float));
    for (int t = 0; t < size - 1; t++) fan<<<1, 64>>>(a, size, t); }";
    let parts =
        ["repeat  = 63 # fill in: rounds of the loop over `t`", "size = 64 # fill in: size"];
    super::drafts(kernel, host, &parts);
}
