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
    cudaTextureDesc how = {}; how.addressMode[0] = cudaAddressModeClamp; how.addressMode[1] = cudaAddressModeClamp;
    how.addressMode[2] = cudaAddressModeClamp;
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
        "[texture.surface]\nformat = \"r32f\"\nsize   = [320, 160]\n\n",
        "[texture.deep]\nformat = \"rgba32f\"\nsize   = [32, 16, 8]\n# The host fills it, as `file = \"deep.png\"` would. \
         # fill in: its texels\n",
        // Both objects are of one array.
        "\nflat = \"surface\"\n",
    ] {
        assert!(manifest.contains(part), "{part} in\n{manifest}");
    }
    assert!(!manifest.contains("[texture.flat]"), "{manifest}");
}

/// The lines of the texture `flat` behind its size, where `how` begins cleared and is then set so.
fn read_as(settings: &str) -> String {
    let host = HOST.replace("how = {};", &format!("how = {{}}; {settings}"));
    let manifest = drafted(&host.replace("cudaCreateSurfaceObject(&surface, &first);", ""));
    let (_, rest) =
        manifest.split_once("[texture.flat]\nformat = \"r32f\"\nsize   = [320, 160]\n").unwrap();
    rest.split("# The host fills it").next().unwrap().to_owned()
}

#[test]
fn textures_are_read_as_the_host_describes_it() {
    assert_eq!(read_as(""), "");
    assert_eq!(read_as("how.filterMode = cudaFilterModeLinear;"), "filter = \"linear\"\n");
    let normalized = "how.normalizedCoords = 1;";
    assert_eq!(read_as(normalized), "normalized = true\n");
    let wrapped = HOST.replace("cudaAddressModeClamp", "cudaAddressModeWrap");
    let wrapped = drafted(&wrapped.replace("how = {};", "how = {}; how.normalizedCoords = true;"));
    assert!(wrapped.contains("wrap   = \"repeat\"\nnormalized = true\n\n"), "{wrapped}");
    // Of texels' own coordinates CUDA wraps none.
    let clamped = drafted(&HOST.replace("cudaAddressModeClamp", "cudaAddressModeWrap"));
    assert!(!clamped.contains("wrap   ="), "{clamped}");
    for (settings, field) in [
        ("how.readMode = cudaReadModeNormalizedFloat;", "readMode = cudaReadModeNormalizedFloat"),
        ("how.sRGB = 1;", "sRGB = 1"),
        ("how.filterMode = mode;", "filterMode = mode"),
        ("if (argc > 1) how.normalizedCoords = 1;", "what `flat` is made of"),
        ("set(&how);", "what `flat` is made of"),
    ] {
        assert_eq!(
            read_as(settings),
            format!("# fill in: how it is read: {field}\n"),
            "{settings}"
        );
    }
    let mirrored = HOST.replacen(
        "addressMode[1] = cudaAddressModeClamp",
        "addressMode[1] = cudaAddressModeBorder",
        1,
    );
    let mirrored = drafted(&mirrored);
    let mark = "# fill in: how it is read: addressMode[1] = cudaAddressModeBorder\n";
    assert!(mirrored.contains(mark), "{mirrored}");
    // What is copied there no manifest has.
    let filled = HOST.replace(
        "paint<<<",
        "cudaMemcpy2DToArray(plane, 0, 0, h, 1280, 1280, 160, kind); paint<<<",
    );
    let texels = "# The host fills it, as `file = \"surface.png\"` would. # fill in: its texels\n";
    assert!(drafted(&filled).contains(texels) && !drafted(HOST).contains(texels));
}

/// What kernels fetch are the elements of the memory, all of them and of its type; else there is a mark.
#[test]
fn what_is_fetched_of_linear_memory_is_described() {
    let fetched = |mode: &str, desc: &str, bytes: &str| {
        let kernel = "__global__ void get(cudaTextureObject_t t, float *o) { o[0] = tex1Dfetch<float>(t, 1); }";
        let manifest = warpaint::scene::draft("t.cu", &format!("{kernel} int main() {{ const int n = 32; float *a, *o;
            cudaMalloc(&a, n * 4); cudaMalloc(&o, 128); cudaResourceDesc r = {{}}; r.resType = cudaResourceTypeLinear;
            r.res.linear.devPtr = a; {desc} r.res.linear.sizeInBytes = {bytes};
            cudaTextureDesc d = {{}}; d.readMode = cudaReadMode{mode}; cudaTextureObject_t t;
            cudaCreateTextureObject(&t, &r, &d, NULL); get<<<1, 1>>>(t, o); }}"));
        let line = manifest.lines().find(|line| line.starts_with("t = ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{manifest}"))
    };
    let (made, fields) = (
        "r.res.linear.desc = cudaCreateChannelDesc<float>();",
        "r.res.linear.desc.f = cudaChannelFormatKindFloat; r.res.linear.desc.x = 32;",
    );
    for desc in [made, fields] {
        assert_eq!(fetched("ElementType", desc, "n * sizeof(float)"), "t = \"a\"");
        for (mode, bytes) in [("ElementType", "n * 2"), ("NormalizedFloat", "n * 4")] {
            assert!(fetched(mode, desc, bytes).contains("# fill in"), "{mode} {bytes}");
        }
    }
    for desc in ["", "r.res.linear.desc = cudaCreateChannelDesc<unsigned char>();", "set(&r);"] {
        assert!(fetched("ElementType", desc, "n * 4").contains("# fill in"), "{desc}");
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
