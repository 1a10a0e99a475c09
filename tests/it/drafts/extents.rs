//! Textures are as large as the host allocates them, and what kernels are given of the host's memory has its size.

const PAINT: &str = "
__global__ void paint(cudaSurfaceObject_t to, int w) {
    surf2Dwrite<float>(1, to, threadIdx.x * 4, blockIdx.x);
}
__global__ void see(cudaTextureObject_t flat, cudaTextureObject_t deep, float *out) {
    out[threadIdx.x] = tex2D<float>(flat, 0, 0) + tex3D<float4>(deep, 0, 0, 0).x;
}
__global__ void twice(float *a) { a[threadIdx.x] *= 2; }
";

#[track_caller]
fn drafted(host: &str) -> String {
    let manifest = warpaint::scene::draft("t.cu", &format!("{PAINT}{host}\n"));
    let scene = format!("{manifest}{PAINT}");
    let found = warpaint::scene::Scene::parse("t.cu", &scene, &Default::default());
    found.unwrap_or_else(|found| panic!("{scene}\n{found:#?}"));
    manifest
}

const HOST: &str = "
const int width = 320, height = width / 2;
const cudaExtent extent = make_cudaExtent(32, 16, 8);
int main() {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), other = cudaCreateChannelDesc<float4>();
    cudaArray_t plane; cudaArray *volume = 0; float *out;
    cudaMallocArray(&plane, &format, width, height, cudaArraySurfaceLoadStore);
    cudaMalloc3DArray((cudaArray **)&volume, &other, extent);
    cudaMalloc(&out, 128);
    cudaResourceDesc first = {}, second;
    first.resType = cudaResourceTypeArray; first.res.array.array = plane;
    second.resType = cudaResourceTypeArray; second.res.array.array = volume;
    cudaSurfaceObject_t surface; cudaTextureObject_t flat, deep;
    cudaCreateSurfaceObject(&surface, &first);
    cudaCreateTextureObject(&flat, &first, &how, NULL);
    cudaCreateTextureObject(&deep, &second, &how, NULL);
    paint<<<height, width>>>(surface, width);
    see<<<1, 32>>>(flat, deep, out);
}";

#[test]
fn textures_have_the_size_of_their_arrays() {
    let manifest = drafted(HOST);
    for part in [
        "[texture.surface]\nformat = \"r32f\"\nsize   = [320, 160]\n",
        "[texture.flat]\nformat = \"r32f\"\nsize   = [320, 160]\n",
        "[texture.deep]\nformat = \"rgba32f\"\nsize   = [32, 16, 8]\n",
    ] {
        assert!(manifest.contains(part), "{part} in\n{manifest}");
    }
}

/// A size that is not known, an array that is not surely the one, and a format that is not said have marks.
#[test]
fn sizes_that_are_not_known_have_marks() {
    let unknown = drafted(&HOST.replace("width = 320", "width = any()"));
    assert!(unknown.contains("size   = [512, 512] # fill in"), "{unknown}");
    let only = "void make(cudaTextureObject_t *texture, cudaArray *a) {
        cudaResourceDesc desc; desc.res.array.array = a; cudaCreateTextureObject(texture, &desc, 0, 0); }
    int main() { cudaArray *plane, *volume; float *out; cudaMalloc(&out, 128);
        cudaMallocArray(&plane, &format, 24, 12);
        cudaTextureObject_t flat, deep; make(&flat, plane);
        see<<<1, 32>>>(flat, deep, out); }";
    let manifest = drafted(only);
    assert!(
        manifest.contains("size   = [24, 12] # fill in: cudaMallocArray(&plane,&format,24,12)"),
        "{manifest}"
    );
    assert!(manifest.contains("size   = [64, 64, 64] # fill in"), "{manifest}");
    assert!(manifest.contains("[texture.flat]\nformat = \"r32f\" # fill in"), "{manifest}");
    let wrong = drafted(&HOST.replace("width = 320", "width = 1 << 20"));
    assert!(wrong.contains("size   = [512, 512] # fill in"), "{wrong}");
}

#[test]
fn memory_of_the_host_has_its_size() {
    let manifest = drafted(
        "int main() { const int n = 48; float *pinned, *mapped, *seen, *d;
        cudaMallocHost(&pinned, n * sizeof(float)); cudaHostAlloc((void **)&mapped, 2 * n * sizeof(float), 0);
        cudaMalloc(&d, 64);
        for (int i = 0; i < n; i++) pinned[i] = i + 1;
        cudaHostGetDevicePointer(&seen, mapped, 0);
        twice<<<1, 48>>>(pinned); twice<<<1, 48>>>(seen);
        cudaMemcpy(d, pinned, 64, cudaMemcpyDefault); twice<<<1, 16>>>(d); }",
    );
    for part in [
        "[array.pinned]\ntype  = \"float\"\ncount = 48\n# The host: pinned[i]=i+1\neach = \"i + 1\"\n",
        "[array.mapped]\ntype  = \"float\"\ncount = 96\n",
        "a = \"mapped\"\n",
    ] {
        assert!(manifest.contains(part), "{part} in\n{manifest}");
    }
    assert!(!manifest.contains("copy "), "{manifest}");
}
