//! Calls of libraries, which no scene makes, are said: what they have, and at their place among the passes.

const RELU: &str = "__global__ void relu(float *c, int n) { if (threadIdx.x < n) c[threadIdx.x] = fmaxf(c[threadIdx.x], 0); }
__global__ void twice(int *data) { data[threadIdx.x] *= 2; }
";

/// The draft of this host code, which is a manifest.
#[track_caller]
fn drafted(host: &str) -> String {
    let source = format!("{RELU}{host}\n");
    let manifest = warpaint::scene::draft("t.cu", &source);
    let scene = format!("{manifest}{RELU}");
    let found = warpaint::scene::Scene::parse("t.cu", &scene, &Default::default());
    found.unwrap_or_else(|found| panic!("{scene}\n{found:#?}"));
    manifest
}

#[track_caller]
fn in_order(manifest: &str, parts: &[&str]) {
    let mut rest = manifest;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part} in its order in\n{manifest}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn a_product_of_a_library_is_said_at_its_place() {
    let manifest = drafted(
        "int main() {
        const int n = 64; float *A, *B, *C, h[n * n]; const float one = 1, zero = 0;
        cudaMalloc(&A, n * n * 4); cudaMalloc(&B, n * n * 4); cudaMalloc(&C, n * n * 4);
        for (int i = 0; i < n * n; i++) h[i] = i;
        cudaMemcpy(A, h, n * n * 4, cudaMemcpyHostToDevice);
        cublasSetMatrix(n, n, sizeof(float), h, n, B, n);
        relu<<<1, 64>>>(A, n);
        CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A, n, B, n, &zero, C, n));
        relu<<<1, 64>>>(C, n);
        cublasGetVector(n, 4, C, 1, h, 1); cublasDestroy(handle); cufftDestroy(plan); }",
    );
    let call = "cublasSgemm(handle,CUBLAS_OP_N,CUBLAS_OP_N,n,n,n,&one,A,n,B,n,&zero,C,n)";
    in_order(
        &manifest,
        &[
            "[array.A]\ntype  = \"float\"\ncount = 4096\n# The host:",
            "[array.B]\ntype  = \"float\"\ncount = 4096\n# The host",
            &format!("[array.C]\ntype  = \"float\"\ncount = 4096\n# `{call}` may fill it"),
            "# fill in: its numbers\n",
            "c = \"A\"\n",
            &format!(
                "\n# fill in: `{call}` is made, which nothing here does; it is given `A`, `B` and `C`\n\n[[pass]]\n"
            ),
            "c = \"C\"\n",
        ],
    );
    assert_eq!(manifest.matches("cublas").count(), 2, "{manifest}");
}

/// In the loop of time steps, in a group, and behind the last pass.
#[test]
fn each_call_stands_in_its_loop() {
    let manifest = drafted(
        "int main() { float *d; cudaMalloc(&d, 256);
        for (int t = 0; t < 9; ++t) {
            cufftExecC2C(plan, (cufftComplex *)d, (cufftComplex *)d, CUFFT_FORWARD);
            for (int k = 1; k < 4; ++k) {
                curandGenerateUniform(gen, d, 64);
                relu<<<1, 64>>>(d, k);
                nppsSqr_32f_I(d, 64);
            }
            for (int k = 0; k < 4; ++k) cusparseSpMV(d);
        }
        cudnnRelu(d); }",
    );
    in_order(
        &manifest,
        &[
            "# fill in: `cufftExecC2C(",
            "\n[[pass]]\nrepeat  = 3\ncounter = \"k\"\n",
            "# fill in: `curandGenerateUniform(gen,d,64)` is made, which nothing here does; it is given `d`\n",
            "\n[[pass.pass]]\nkernel = \"relu\"",
            "# fill in: `nppsSqr_32f_I(d,64)`",
            "# fill in: `cusparseSpMV(d)`",
            "# fill in: `cudnnRelu(d)`",
        ],
    );
}

#[test]
fn what_thrust_and_cub_do_is_said() {
    let manifest = drafted(
        "int main() { thrust::device_vector<int> keys(1024), other(64); int *d; cudaMalloc(&d, 256);
        twice<<<1, 64>>>(thrust::raw_pointer_cast(keys.data()));
        thrust::sort(thrust::device, keys.begin(), keys.end(), thrust::greater<int>());
        int sum = thrust::reduce(other.begin(), other.end(), 0, thrust::plus<int>());
        thrust::device_ptr<int> p(d); auto q = thrust::device_pointer_cast(d);
        thrust::sort(p, p + 64); thrust::unique(q, q + 64);
        void *temp = nullptr; size_t bytes = 0;
        cub::DeviceScan::ExclusiveSum(temp, bytes, d, d, 64);
        cudaMalloc(&temp, bytes);
        cub::DeviceScan::ExclusiveSum(temp, bytes, d, d, 64);
        std::vector<int> h(64); thrust::sort(h.begin(), h.end());
        twice<<<1, 64>>>(d); }",
    );
    in_order(
        &manifest,
        &[
            "data = \"keys_\"\n",
            "`thrust::sort(thrust::device,keys.begin(),keys.end(),thrust::greater<int>())` is made, \
             which nothing here does; it is given `keys_`\n",
            "`thrust::reduce(other.begin(),other.end(),0,thrust::plus<int>())` is made, which nothing here does; \
             it is given `other`\n",
            "`thrust::sort(p,p+64)` is made, which nothing here does; it is given `d`\n",
            "`thrust::unique(q,q+64)` is made, which nothing here does; it is given `d`\n",
            "`cub::DeviceScan::ExclusiveSum(temp,bytes,d,d,64)`",
            "data = \"d\"\n",
        ],
    );
    assert_eq!(manifest.matches("ExclusiveSum").count(), 1, "{manifest}");
    assert!(!manifest.contains("h.begin()"), "{manifest}");
    assert!(manifest.contains("[array.other]\ntype  = \"int\"\n"), "{manifest}");
}

/// A function of the file's own is none of a library, and what a kernel calls is compiled.
#[test]
fn what_is_no_call_of_a_library_is_not_said() {
    let manifest = drafted(
        "void cublasOwn(int *p) { twice<<<1, 64>>>(p); }
        __global__ void sorts(int *data) { thrust::sort(thrust::seq, data, data + 4); }
        int main() { int *d; cudaMalloc(&d, 256); cublasOwn(d); cublasSetStream(handle, stream);
        if (false) cufftExecC2C(plan, d, d, 1); }",
    );
    assert!(!manifest.contains("nothing here does"), "{manifest}");
    // Nor is memory cleared behind a call that takes it.
    let manifest = drafted(
        "int main() { float *d; cudaMalloc(&d, 256);
        for (int t = 0; t < 9; ++t) { cudaMemset(d, 0, 256); cublasSscal(handle, 64, &two, d, 1); relu<<<1, 64>>>(d, 64); } }",
    );
    assert!(!manifest.contains("clear"), "{manifest}");
    assert!(
        manifest.contains("`cudaMemset(d,0,256)` is made, which nothing here does"),
        "{manifest}"
    );
}

/// Where nothing is launched, too.
#[test]
fn a_file_without_launches_says_them_as_well() {
    let manifest = drafted("void run(float *d, int n) { cublasSscal(handle, n, &two, d, 1); }");
    assert!(manifest.contains("`cublasSscal(handle,n,&two,d,1)` is made"), "{manifest}");
}

/// Random numbers of the library at the start are those of an array.
#[test]
fn what_an_array_begins_with_is_not_missing() {
    let manifest = drafted(
        "int main() { float *d; cudaMalloc(&d, 256); curandGenerateUniform(gen, d, 64); relu<<<1, 64>>>(d, 64); }",
    );
    assert!(manifest.contains("\nrandom = [0.0, 1.0]\n"), "{manifest}");
    assert!(!manifest.contains("fill in"), "{manifest}");
}
