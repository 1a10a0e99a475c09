//! What the host does with the device beside launches is said, where nothing here does it: of each call that is not
//! known and is given memory of the device, and of none that is.

const KERNEL: &str = "__global__ void k(int *a, int n) { a[threadIdx.x] += n; }
__device__ int symbol[4];
__managed__ int shared = 3, row[4];
__global__ void q(int *a) { a[threadIdx.x] += shared + row[threadIdx.x & 3]; }
void ext(int *p, int n);
void number(int n);
struct Holder { int *p; int n; };
void attach(Holder *h);
void use(Holder &h);
int *view(int *p);
";

/// The draft of what stands in `main` between two launches, behind `before`.
fn drafted(before: &str, main: &str) -> String {
    let main = format!(
        "int main() {{ int *d, *e; int *h = (int *)malloc(256); cudaMalloc(&d, 256); cudaMalloc(&e, 256);
        k<<<1, 64>>>(d, 1); k<<<1, 64>>>(e, 1); q<<<1, 64>>>(d);\n{main}\nk<<<1, 64>>>(d, 2); }}"
    );
    let source = format!("{KERNEL}{before}\n{main}\n");
    let manifest = warpaint::scene::draft("t.cu", &source);
    let scene = format!("{manifest}{source}");
    let found = warpaint::scene::Scene::parse("t.cu", &scene, &Default::default());
    found.unwrap_or_else(|found| panic!("{scene}\n{found:#?}"));
    manifest
}

#[track_caller]
fn is_said(before: &str, main: &str, call: &str) {
    let manifest = drafted(before, main);
    let text = format!("# fill in: `{call}` is made, which nothing here does");
    assert!(manifest.contains(&text), "{text} of {main} in\n{manifest}");
}

#[test]
fn functions_of_cuda_that_no_pass_stands_for_are_said() {
    for call in [
        "cudaMemcpyPeer(d,0,e,0,256)",
        "cudaMemcpyPeerAsync(d,0,e,0,256,0)",
        "cuMemsetD8((CUdeviceptr)d,7,256)",
        "cuMemsetD32Async((CUdeviceptr)d,7,64,0)",
        "cuMemcpyDtoD((CUdeviceptr)d,(CUdeviceptr)e,256)",
        "cuLaunchKernel(f,1,1,1,64,1,1,0,0,list,0)",
        "cudaLaunchKernelEx(&config,k,d,5)",
        "cudaMemcpy3D(&parts)",
        "cudaGraphAddKernelNode(&node,graph,0,0,&parts)",
        "cudaGraphLaunch(graph,stream)",
        "cudaStreamWriteValue32(stream,d,1,0)",
        "cudaMemcpy(d,h,256,kind)",
        "cudaMemcpy(&d[4],h,16,cudaMemcpyHostToDevice)",
    ] {
        is_said("", &format!("{call};"), call);
    }
    let address = "void *p; cudaGetSymbolAddress(&p, symbol); cudaMemset(p, 0, 16);";
    is_said("", address, "cudaGetSymbolAddress(&p,symbol)");
}

#[test]
fn what_is_not_known_and_is_given_memory_is_said() {
    let classes = "struct Lib { void run(int *p); static void go(int *p); };
        typedef void (*Step)(int *, int); void helper(int *p) { ext(p, 4); }
        #define GO(p) ext(p, 3)";
    for (main, call) in [
        ("ext(d, 3);", "ext(d,3)"),
        ("Lib::go(d);", "Lib::go(d)"),
        ("Lib l; l.run(d);", "l.run(d)"),
        ("Foreign f(d); f.step();", "f(d)"),
        ("Foreign f(d); f.step();", "f.step()"),
        ("Foreign f{d};", "f{d}"),
        ("Foreign *f = new Foreign(d); f->step();", "f->step()"),
        ("Step f = ext; f(d, 3);", "f(d,3)"),
        ("Step table[2] = {ext, ext}; table[1](d, 3);", "table[1](d,3)"),
        ("Step f = ext; (*f)(d, 3);", "(*f)(d,3)"),
        ("helper(d);", "ext(p,4)"),
        ("GO(d);", "GO(d)"),
        ("int *r = d + 4; ext(r, 3);", "ext(r,3)"),
        ("int *r = view(d); ext(r, 3);", "ext(r,3)"),
        ("Holder s; s.p = d; attach(&s);", "attach(&s)"),
        ("Holder s = {d, 3}; use(s);", "use(s)"),
        ("std::vector<int *> v; v.push_back(d); ext(v[0], 3);", "ext(v[0],3)"),
        ("ext((int *)d, 3);", "ext((int*)d,3)"),
        ("ext(&d[2], 3);", "ext(&d[2],3)"),
        (
            "MPI_Recv(d, 64, MPI_INT, 0, 0, world, &status);",
            "MPI_Recv(d,64,MPI_INT,0,0,world,&status)",
        ),
        (
            "std::for_each(l.begin(), l.end(), [&](int n) { k<<<1, 64>>>(d, n); });",
            "std::for_each(l.begin(),l.end(),[&](int n){k<<<1,64>>>(d,n);})",
        ),
    ] {
        is_said(classes, main, call);
    }
}

#[test]
fn what_is_known_or_is_given_none_is_not_said() {
    let own = "#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { \\
            fprintf(stderr, \"%s\", cudaGetErrorString(e)); exit(1); } } while (0)
        #define FREE(p) if (p) { cudaFree(p); p = NULL; }
        void helper(int *p) { ext(p, 4); }";
    let manifest = drafted(
        own,
        "ext(h, 3); helper(h); number(64); Holder s; s.p = h; s.n = 3; attach(&s); number(s.n);
        Holder t; t.p = d; t.n = 3; number(t.n);
        cudaEvent_t event; cudaEventCreate(&event); cudaEventRecord(event); cudaStreamSynchronize(0);
        CHECK(cudaMemcpy(h, d, 256, cudaMemcpyDeviceToHost)); checkCudaErrors(cudaGetLastError());
        printf(\"%p\", d); assert(d != NULL); if (d == nullptr) number(1); std::sort(h, h + 64);
        std::vector<int> v(h, h + 64); v.push_back(3); std::thread run([&] { ext(h, 3); }); run.join();
        cudaMemPrefetchAsync(d, 256, 0); size_t bytes = sizeof(*d); number(bytes);
        FREE(e); CHECK(cudaFree(d)); cudaDeviceReset();",
    );
    assert!(!manifest.contains("fill in"), "{manifest}");
}

#[test]
fn what_the_host_writes_to_a_managed_variable_is_said() {
    for (main, text) in [
        ("shared = 8;", "shared=8"),
        ("shared++;", "shared++"),
        ("row[2] = 5;", "row[2]=5"),
        ("for (int i = 0; i < 4; i++) row[i] = i;", "row[i]=i"),
        ("memcpy(row, h, 16);", "memcpy(row,h,16)"),
    ] {
        is_said("", main, text);
    }
    let manifest = drafted("", "int n = shared + row[1]; printf(\"%d\", n);");
    assert!(!manifest.contains("nothing here does"), "{manifest}");
}

/// What a stream records is no launch: its graph makes those.
#[test]
fn recorded_launches_are_marked() {
    let manifest = drafted(
        "",
        "cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); k<<<1, 64, 0, s>>>(d, 3); cudaStreamEndCapture(s, &g);
        cudaGraphInstantiate(&run, g, 0); for (int i = 0; i < 4; i++) cudaGraphLaunch(run, s);",
    );
    for part in [
        "`cudaStreamBeginCapture(s,cudaStreamCaptureModeGlobal)` is made, which nothing here does; what it records is done here at once",
        "`cudaGraphLaunch(run,s)` is made",
    ] {
        assert!(manifest.contains(part), "{part} in\n{manifest}");
    }
}

/// A copy to memory that no launch takes, also where it changes places with what launches take.
#[test]
fn a_copy_to_what_nothing_takes_is_made() {
    let manifest = drafted(
        "",
        "for (int r = 0; r < 3; r++) { k<<<1, 64>>>(d, r); int *t; cudaMemcpy(e, d, 256, cudaMemcpyDeviceToDevice); }",
    );
    assert!(manifest.contains("copy   = { from = \"d\", to = \"e\" }"), "{manifest}");
    let source = format!(
        "{KERNEL}int main() {{ int *d, *e; cudaMalloc(&d, 256); cudaMalloc(&e, 256);
        for (int r = 0; r < 3; r++) {{ k<<<1, 64>>>(d, r); cudaMemcpy(e, d, 256, cudaMemcpyDeviceToDevice); std::swap(d, e);
        k<<<1, 64>>>(d, r); }} }}"
    );
    let manifest = warpaint::scene::draft("t.cu", &source);
    let copies = ["{ from = \"d\", to = \"e\" }", "{ from = \"e\", to = \"d\" }"];
    let are_made = copies.iter().all(|copy| manifest.contains(copy));
    assert!(are_made && !manifest.contains("# fill in"), "{manifest}");
}
