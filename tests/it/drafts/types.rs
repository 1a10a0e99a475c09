//! Memory is bytes: what one side writes as elements of a type the other may take as those of another.
//!
//! What each program really gives was seen with g++ and a stand-in for CUDA's library.

use super::after_a_step;

/// The lines that say what the array `d` of elements of a type begins with, behind this host code.
#[track_caller]
fn begins(element: &str, host: &str) -> String {
    let text = format!(
        "typedef float real;
        __constant__ {element} c[32];
        __global__ void k({element} *a) {{ a[threadIdx.x] += c[0]; }}
        int main() {{ {element} *d; cudaMalloc(&d, 128); {host} k<<<1, 32>>>(d); }}"
    );
    let manifest = warpaint::scene::draft("t.cu", &text);
    let lines = manifest.lines().filter(|line| {
        ["value = ", "each = ", "random = "].iter().any(|key| line.starts_with(key))
    });
    lines.collect::<Vec<_>>().join("\n")
}

const COPY: &str = "cudaMemcpy(d, h, 128, cudaMemcpyHostToDevice);";
const FILL: &str = "for (int i = 0; i < 32; i++) h[i] = i;";

#[test]
fn copies_keep_bytes_and_no_numbers() {
    let other = |element: &str, host: &str| {
        let found = begins(element, host);
        assert!(found.contains("# fill in: its numbers"), "{element}: {host}:\n{found}");
    };
    for of in ["float", "double", "short", "long long", "unsigned char", "bool"] {
        other("int", &format!("{of} *h = ({of} *)malloc(128); {FILL} {COPY}"));
        other("int", &format!("{of} h[32]; {FILL} {COPY}"));
        other("int", &format!("{of} h[32]; {FILL} cudaMemcpyToSymbol(c, h, 128);"));
    }
    for host in [
        "std::vector<int> h(32, 1); cudaMemcpy(d, h.data(), 128, cudaMemcpyHostToDevice);",
        "std::vector<int> h(32); cudaMemcpy(d, h.data(), 128, cudaMemcpyHostToDevice);
         std::fill(h.begin(), h.end(), 2); cudaMemcpy(d, h.data(), 128, cudaMemcpyHostToDevice);",
        "int h[32] = {1, 2}; cudaMemcpyToSymbol(c, h, sizeof(h));",
        "auto h = new int[32]; for (int i = 0; i < 32; i++) h[i] = i; cudaMemcpy(d, h, 128, cudaMemcpyHostToDevice);",
        "float *h = (float *)malloc(128); int *p = (int *)h; for (int i = 0; i < 32; i++) p[i] = i;
         cudaMemcpy(d, h, 128, cudaMemcpyHostToDevice);",
    ] {
        other("float", host);
    }
}

#[test]
fn elements_of_one_type_keep_their_numbers() {
    let same = |element: &str, host: &str, expected: &str| {
        assert_eq!(begins(element, host), expected, "{element}: {host}");
    };
    for host in [
        format!("float *h = (float *)malloc(128); {FILL} {COPY}"),
        format!("real *h = new real[32]; {FILL} {COPY}"),
        format!("auto h = new float[32]; {FILL} {COPY}"),
        format!(
            "auto h = std::make_unique<float[]>(32); {FILL} {}",
            COPY.replace("h,", "h.get(),")
        ),
        format!("std::vector<float> h(32); {FILL} {}", COPY.replace("h,", "h.data(),")),
    ] {
        same("float", &host, "each = \"i\"");
        same("real", &host, "each = \"i\"");
    }
    // A sign alone leaves the bits, and zeros are zeros of any type.
    same("unsigned", &format!("int *h = new int[32]; {FILL} {COPY}"), "each = \"i\"");
    same("float", &format!("int *h = new int[32]; memset(h, 0, 128); {COPY}"), "value = 0.0");
}

/// The array has the type of the pointer that it is allocated for, where launches take it as several.
#[test]
fn a_cast_at_a_launch_is_the_same_array() {
    let kernels = "__global__ void set(float *a, int v) { a[threadIdx.x] = v + threadIdx.x; }
        __global__ void ints(unsigned *a) { a[threadIdx.x] += 1u << 23; }
        __global__ void pairs(float2 *a) { a[threadIdx.x].y += 100; }
        __global__ void bytes(unsigned char *a) { a[4 * threadIdx.x + 3] ^= 128; }\n";
    for (host, part, expected) in [
        (
            "float *a; cudaMalloc(&a, 128); set<<<1, 32>>>(a, 4); ints<<<1, 32>>>((unsigned *)a);",
            "a = \"(unsigned *)a\"\n",
            [8.0, 10.0],
        ),
        (
            "float *a; cudaMalloc(&a, 128); set<<<1, 32>>>(a, 4); pairs<<<1, 16>>>(reinterpret_cast<float2 *>(a));",
            "a = \"(float2 *)a\"\n",
            [4.0, 105.0],
        ),
        (
            "void *a; cudaMalloc(&a, 128); set<<<1, 32>>>((float *)a, 4); bytes<<<1, 32>>>((unsigned char *)a);",
            "a = \"(unsigned char *)a\"\n",
            [-4.0, -5.0],
        ),
        (
            "float *a; cudaMalloc(&a, 128); set<<<1, 32>>>(a, 4); ints<<<1, 1>>>((unsigned *)(a + 1));",
            "a = \"(unsigned *)a\" # fill in: (unsigned *)(a+1)\n",
            [8.0, 5.0],
        ),
        (
            "float *a; cudaMalloc(&a, 128); set<<<1, 32>>>(a, 4); ints<<<1, 1>>>((unsigned *)a + 1);",
            "a = \"(unsigned *)(a + 1)\"\n",
            [4.0, 10.0],
        ),
    ] {
        let part = part.replace("(unsigned *)(a+1)", "(unsigned*)(a+1)");
        let found = after_a_step(&format!("{kernels}int main() {{ {host} }}\n"), &[&part], "a");
        assert_eq!(found[..2], expected, "{host}");
    }
}

/// An offset counts elements of the type that the pointer has where it is added.
#[test]
fn offsets_of_other_types_are_marked() {
    let kernel = "__global__ void k(float4 *a) { a[threadIdx.x].x += 1; }";
    for launch in [
        "float *p = a + 4; k<<<1, 1>>>((float4 *)p);",
        "k<<<1, 1>>>(static_cast<float4 *>(a + 4));",
        "char *p = (char *)a + 16; k<<<1, 1>>>((float4 *)p);",
    ] {
        let text = format!("{kernel} int main() {{ float *a; cudaMalloc(&a, 1024); {launch} }}");
        let manifest = warpaint::scene::draft("t.cu", &text);
        assert!(manifest.contains("# fill in"), "{launch}\n{manifest}");
    }
    let launch = "float4 *p = (float4 *)a; k<<<1, 1>>>(p + 4); k<<<1, 1>>>((float4 *)a + 4);";
    let text = format!("{kernel} int main() {{ float *a; cudaMalloc(&a, 1024); {launch} }}");
    let manifest = warpaint::scene::draft("t.cu", &text);
    assert_eq!(manifest.matches("a = \"a + 4\"\n").count(), 2, "{manifest}");
    assert!(!manifest.contains("# fill in"), "{manifest}");
}

/// A copy to a variable is what that begins with, where no launch may take it before.
#[test]
fn copies_to_variables_stand_before_what_takes_them() {
    let kernels =
        "__constant__ int n; __device__ int tick; __device__ int twice() { return 2 * n; }
        __global__ void other(int *a) { a[0] += 1; }
        __global__ void reads(int *a) { a[0] += n; }
        __global__ void calls(int *a) { a[0] += twice(); }
        __global__ void counts(int *a) { a[0] += tick++; }";
    let drafted = |host: &str| {
        let main = format!(
            "int main(int argc, char **argv) {{ int *a; cudaMalloc(&a, 128); int v = 7; {host} }}"
        );
        warpaint::scene::draft("t.cu", &format!("{kernels}\n{main}\n"))
    };
    let (copy, copy_tick) = ("cudaMemcpyToSymbol(n, &v, 4);", "cudaMemcpyToSymbol(tick, &v, 4);");
    for host in [
        format!("reads<<<1, 1>>>(a); {copy} reads<<<1, 1>>>(a);"),
        format!("calls<<<1, 1>>>(a); {copy} reads<<<1, 1>>>(a);"),
        format!("for (int t = 0; t < 4; t++) {{ int v = 7; {copy_tick} counts<<<1, 1>>>(a); }}"),
        format!("if (argc > v) {copy} reads<<<1, 1>>>(a);"),
    ] {
        let manifest = drafted(&host);
        assert!(manifest.contains("# fill in: `cudaMemcpyToSymbol("), "{host}\n{manifest}");
        assert!(!manifest.contains("[variable."), "{host}\n{manifest}");
    }
    // Operators are called by no name.
    let operator = "struct Reads { __device__ int operator()() const { return n; } };\n";
    let manifest = drafted(&format!("other<<<1, 1>>>(a); {copy}"));
    assert!(!manifest.contains("# fill in"), "{manifest}");
    let read = format!(
        "{kernels}{operator}int main() {{ int *a, v = 7; cudaMalloc(&a, 128); other<<<1, 1>>>(a); {copy} }}"
    );
    let manifest = warpaint::scene::draft("t.cu", &read);
    assert!(manifest.contains("# fill in: `cudaMemcpyToSymbol("), "{manifest}");
    for host in [
        format!("{copy} reads<<<1, 1>>>(a);"),
        format!("other<<<1, 1>>>(a); {copy} reads<<<1, 1>>>(a);"),
        format!("for (int t = 0; t < 4; t++) {{ int v = 7; {copy} calls<<<1, 1>>>(a); }}"),
        format!("{copy_tick} for (int t = 0; t < 4; t++) counts<<<1, 1>>>(a);"),
    ] {
        let manifest = drafted(&host);
        assert!(
            manifest.contains("type  = \"int\"\nvalue = [7]\n") || manifest.contains("value = 7\n"),
            "{manifest}"
        );
        assert!(!manifest.contains("# fill in"), "{host}\n{manifest}");
    }
}
