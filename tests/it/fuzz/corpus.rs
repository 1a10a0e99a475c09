//! Texts to start from.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use warpaint::ptx::{self, ast::Item};

/// Longest text that is mutated as a whole.
const WHOLE_BYTES: usize = 10_000;

/// A program as it is found elsewhere.
const PROGRAM: &str = "#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) exit(1); } while (0)
#ifdef USE_DOUBLE
typedef double real;
#else
typedef float real;
#endif
namespace grid {
struct Params { real dt; int n; Params() : dt(0), n(0) {} };
__constant__ real weights[3] = { 1, 2, 1 };
template <int N, class T> __device__ T power(T x) { if constexpr (N == 0) return 1; else return x * power<N - 1>(x); }
__global__ void __launch_bounds__(256) smooth(const real *in, real *out, Params p)
{
    extern __shared__ real tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < p.n ? in[i] : real(0);
    __syncthreads();
    if (i >= p.n) return;
    real sum = power<2>(tile[threadIdx.x]) * weights[1];
    asm volatile(\"membar.gl;\" ::: \"memory\");
    out[i] = sum * p.dt;
}
}
static void fill(std::vector<real> &host) { for (auto &x : host) x = rand() / (real)RAND_MAX; }
int main(int argc, char **argv)
{
    std::vector<real> host(1024);
    fill(host);
    real *a, *b;
    CHECK(cudaMalloc(&a, 4096)); CHECK(cudaMalloc(&b, 4096));
    grid::Params p; p.n = 1024;
    for (int step = 0; step < 10; ++step)
        grid::smooth<<<4, 256, 256 * sizeof(real)>>>(a, b, p);
    printf(\"%f\\n\", host[0]);
}
";

pub struct Corpus {
    pub texts: Vec<String>,
    /// All tokens that stand in the texts, once each.
    pub words: Vec<String>,
}

impl Corpus {
    pub fn ptx() -> Self {
        let root = crate::support::root();
        let mut files = read(&root.join("tests/ptx"), "ptx");
        files.extend(read(&root.join("benches"), "ptx"));
        if let Some(more) = std::env::var_os("WARPAINT_FUZZ_CORPUS") {
            files.extend(read(Path::new(&more), "ptx"));
        }
        let mut texts = Vec::new();
        for text in files {
            if text.len() <= WHOLE_BYTES {
                texts.push(text);
            } else {
                texts.extend(kernels(&text));
            }
        }
        Self::new(texts)
    }

    pub fn scenes() -> Self {
        let root = crate::support::root();
        let mut texts = read(&root.join("kernels"), "cu");
        texts.extend(read(&root.join("tests/scenes"), "cu"));
        Self::new(texts)
    }

    /// Scenes, the CUDA C++ of our own kernels, what other people's does that ours does not, and a program with host
    /// code.
    pub fn sources() -> Self {
        let root = crate::support::root();
        let mut texts = read(&root.join("kernels"), "cu");
        texts.extend(read(&root.join("tests/scenes"), "cu"));
        texts.extend(read(&root.join("tests/foreign"), "cu"));
        texts.push(PROGRAM.to_owned());
        if let Some(more) = std::env::var_os("WARPAINT_FUZZ_CORPUS") {
            texts.extend(read(Path::new(&more), "cu"));
        }
        Self::new(texts)
    }

    fn new(texts: Vec<String>) -> Self {
        assert!(!texts.is_empty(), "there is something to start from");
        let words: BTreeSet<&str> =
            texts.iter().flat_map(|text| super::mutate::tokens(text)).collect();
        let words = words.into_iter().filter(|word| word.len() < 80).map(str::to_owned).collect();
        Self { texts, words }
    }
}

/// The files of a folder, and of those in it, in the order of their names.
fn read(folder: &Path, extension: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = |path: &PathBuf| match path.is_dir() {
        true => read(path, extension),
        false if path.extension().is_some_and(|found| found == extension) => {
            vec![String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()]
        }
        false => Vec::new(),
    };
    paths.iter().flat_map(texts).collect()
}

/// Each kernel of a long module with what it names, as a module of its own.
fn kernels(text: &str) -> Vec<String> {
    let Ok(mut module) = ptx::parse(text) else { return vec![text.to_owned()] };
    module.sections.clear();
    let items = module.items.clone();
    let mut parts = Vec::new();
    for item in items {
        let name = match item {
            Item::Variable(index) => module.variables[index as usize].name.clone(),
            Item::Declaration(index) | Item::Definition(index) => {
                module.functions[index as usize].name.clone()
            }
        };
        module.items = vec![item];
        let printed = ptx::print(&module);
        let body = printed.split_once("\n\n").map_or(&*printed, |(_, body)| body).to_owned();
        parts.push((item, name, body));
    }
    let entries = parts.iter().enumerate().filter(|(_, (_, _, body))| body.contains(".entry"));
    entries
        .map(|(entry, _)| {
            let mut kept = BTreeSet::from([entry]);
            let mut todo = vec![entry];
            while let Some(at) = todo.pop() {
                for (other, (_, name, _)) in parts.iter().enumerate() {
                    if !kept.contains(&other) && parts[at].2.contains(name.as_str()) {
                        kept.insert(other);
                        todo.push(other);
                    }
                }
            }
            module.items = kept.iter().map(|at| parts[*at].0).collect();
            ptx::print(&module)
        })
        .collect()
}
