//! What of a drafted scene is seen.

use super::drafts;

const KERNELS: &str = "struct Grid { int nx, ny; float h; };
    __global__ void step(float *u, Grid g) { }
    __global__ void sum(const float *u, double *total, int n) { }
    __global__ void one(float *u) { }\n";

#[track_caller]
fn is_seen(kernels: &str, host: &str, part: &str) {
    drafts(&format!("{KERNELS}{kernels}"), &format!("int main() {{ {host} }}"), &[part]);
}

#[test]
fn products_of_numbers_are_pictures() {
    let picture = |name: &str, size: &str| {
        format!("[view]\nkind     = \"image\"\ntexture  = \"{name}\"\nsize     = {size}\n")
    };
    let host = "const int nx = 128, ny = 96, n = nx * ny; float *u; double *total; Grid g; g.nx = nx; g.ny = ny;
        cudaMalloc(&u, n * sizeof(float)); cudaMalloc(&total, sizeof(double));
        step<<<dim3(8, 6), dim3(16, 16)>>>(u, g); sum<<<48, 256>>>(u, total, n);";
    is_seen("", host, &picture("u", "[128, 96]"));
    for (bytes, size) in [
        ("size_t bytes = sizeof(float) * 96 * 128;", "[96, 128]"),
        ("int rows = 96, cols = 128; int bytes = rows * cols * sizeof(float);", "[128, 96]"),
        ("Grid g = { 128, 96, 1 }; size_t n = (size_t)g.nx * g.ny, bytes = n * 4;", "[128, 96]"),
        ("Grid g = { 128, 96, 1 }; Grid *p = &g; int bytes = p->ny * p->nx * 4;", "[128, 96]"),
        ("const int N = 64; int bytes = N * N * sizeof(float);", "[64, 64]"),
        ("int nx = 32, ny = 16, nz = 8, bytes = nx * ny * nz * sizeof(float);", "[32, 128]"),
        ("int width = 64, height = 48, bytes = width * height * 3 * sizeof(float);", "[192, 48]"),
    ] {
        let host = format!("float *u; {bytes} cudaMalloc(&u, bytes); one<<<48, 256>>>(u);");
        is_seen("", &host, &picture("u", size));
    }
    // By its threads.
    let host = "float *u; cudaMalloc(&u, 12288 * 4); one<<<dim3(8, 6), dim3(16, 16)>>>(u);";
    is_seen("", host, &picture("u", "[128, 96]"));
    // What is computed from a picture is seen beside it.
    let host = "float *u; unsigned *bins; cudaMalloc(&u, 64 * 48 * 4); cudaMalloc(&bins, 256 * 4);
        cudaMemcpy(u, h, 64 * 48 * 4, cudaMemcpyHostToDevice); bin<<<12, 256>>>(u, bins);";
    let kernel = "__global__ void bin(const float *u, unsigned *bins) { }";
    is_seen(kernel, host, &picture("u", "[64, 48]"));
    is_seen(kernel, host, "[[plot]]\nname = \"values\"\nkind = \"line\"\nof   = \"bins\"\n");
}

#[test]
fn the_largest_array_is_a_line() {
    let host = "float *u; double *total; cudaMalloc(&u, 1000 * 4); cudaMalloc(&total, 8);
        sum<<<4, 256>>>(u, total, 1000);";
    is_seen("", host, "kind = \"line\"\nof   = \"u\"\n");
    // Even if the host fills it.
    let filled = host.replace("sum<<<", "cudaMemcpy(u, h, 4000, cudaMemcpyHostToDevice); sum<<<");
    is_seen("", &filled, "kind = \"line\"\nof   = \"u\"\n");
    // Of doubles there is no picture.
    let rows = "double *d; cudaMalloc(&d, 64 * 48 * sizeof(double)); two<<<12, 256>>>(d);";
    let part = "kind = \"line\"\nof   = \"d\"\nsize = [64, 48]\nrow  = 24\n";
    is_seen("__global__ void two(double *d) { }", rows, part);
    let large = "float *u; cudaMalloc(&u, 50000000 * 4); one<<<1, 256>>>(u);";
    is_seen("", large, "kind = \"histogram\"\nof   = \"u\"\n");
}

/// Of structures that are no places the last field is seen that is no whole number, before what has one element.
#[test]
fn structures_are_seen_by_a_field() {
    let cells = "struct Cell { float u, v; int kind; };
        __global__ void cells(Cell *c, double *sum) { c[threadIdx.x].v = 1; }";
    let host =
        "const int w = 128, h = 96; Cell *c; double *sum; cudaMalloc(&c, w * h * sizeof(Cell));
        cudaMalloc(&sum, sizeof(double)); cells<<<48, 256>>>(c, sum);";
    is_seen(cells, host, "of   = \"c.v\"\nsize = [128, 96]\nrow  = 48\n");
    let options = "struct Option { float spot, strike, price; };
        __global__ void price(Option *o) { o[threadIdx.x].price = 1; }";
    let host = "Option *o; cudaMalloc(&o, 64 * sizeof(Option)); price<<<1, 64>>>(o);";
    is_seen(options, host, "kind = \"line\"\nof   = \"o.price\"\n");
    let colours = "struct Rgb { unsigned char r, g, b; };
        __global__ void paint(Rgb *o) { o[threadIdx.x].b = 1; }";
    let host = "Rgb *o; cudaMalloc(&o, 64 * sizeof(Rgb)); paint<<<1, 64>>>(o);";
    is_seen(colours, host, "of   = \"o.b\"\n");
    // Points are seen as such.
    let points = "struct Body { float mass; float4 at; }; __global__ void fall(Body *o) { }";
    let host = "Body *o; cudaMalloc(&o, 64 * sizeof(Body)); fall<<<1, 64>>>(o);";
    is_seen(points, host, "position = \"o.at\"");
}

#[test]
fn a_field_that_is_seen_is_drawn() {
    let place = crate::support::Workplace::new();
    let text = "struct Option { float spot, strike, price; };
__global__ void price(Option *o) { o[threadIdx.x].price = threadIdx.x; }
int main() { Option *o; cudaMalloc(&o, 64 * sizeof(Option)); price<<<1, 64>>>(o); }
";
    place.file("t.cu", text);
    place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
    let run = ["render", "s.cu", "--steps", "1", "--device", "cpu", "--plot", "values=o.svg"];
    place.run(&run).expect(0, &[]);
    assert!(std::fs::read_to_string(place.path("o.svg")).unwrap().contains("<svg"));
}
