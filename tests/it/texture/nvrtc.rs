//! Every texture and surface function of CUDA C++, through NVRTC.

use crate::skip::{Need, skip};
use warpaint::compile::{Cache, Compiler, Error, Outcome, Request, Target};
use warpaint::device::Device;

/// Calls for one type of texels; `T` stands for it.
const TEXTURES: [&str; 28] = [
    "tex1Dfetch<T>(t, i)",
    "tex1D<T>(t, x)",
    "tex2D<T>(t, x, y)",
    "tex3D<T>(t, x, y, z)",
    "tex1DLayered<T>(t, x, i)",
    "tex2DLayered<T>(t, x, y, i)",
    "texCubemap<T>(t, x, y, z)",
    "texCubemapLayered<T>(t, x, y, z, i)",
    "tex1DLod<T>(t, x, z)",
    "tex2DLod<T>(t, x, y, z)",
    "tex3DLod<T>(t, x, y, z, x)",
    "tex1DLayeredLod<T>(t, x, i, z)",
    "tex2DLayeredLod<T>(t, x, y, i, z)",
    "texCubemapLod<T>(t, x, y, z, x)",
    "texCubemapLayeredLod<T>(t, x, y, z, i, x)",
    "tex1DGrad<T>(t, x, y, z)",
    "tex2DGrad<T>(t, x, y, two, two)",
    "tex3DGrad<T>(t, x, y, z, four, four)",
    "tex1DLayeredGrad<T>(t, x, i, y, z)",
    "tex2DLayeredGrad<T>(t, x, y, i, two, two)",
    "texCubemapGrad<T>(t, x, y, z, four, four)",
    "texCubemapLayeredGrad<T>(t, x, y, z, i, four, four)",
    "tex2D<T>(t, x, y, resident)",
    "tex3D<T>(t, x, y, z, resident)",
    "tex2DLayered<T>(t, x, y, i, resident)",
    "tex2DLod<T>(t, x, y, z, resident)",
    "tex2DGrad<T>(t, x, y, two, two, resident)",
    "tex3DLod<T>(t, x, y, z, x, resident)",
];

const GATHERS: [&str; 3] = [
    "tex2Dgather<T>(t, x, y, 0)",
    "tex2Dgather<T>(t, x, y, 3)",
    "tex2Dgather<T>(t, x, y, resident, 2)",
];

/// The middles of the names of surface functions, and their coordinates.
const SURFACES: [(&str, &str); 7] = [
    ("surf1D", "i"),
    ("surf2D", "i, j"),
    ("surf3D", "i, j, k"),
    ("surf1DLayered", "i, k"),
    ("surf2DLayered", "i, j, k"),
    ("surfCubemap", "i, j, k"),
    ("surfCubemapLayered", "i, j, k"),
];

fn source() -> String {
    let mut text = String::new();
    let mut kernel = |statement: &str| {
        let number = text.lines().count();
        text += &format!(
            "extern \"C\" __global__ void k{number}(void *out, cudaTextureObject_t t, cudaSurfaceObject_t s, float x, \
             float y, float z, int i, int j, int k, float2 two, float4 four, bool *resident) {{ {statement} }}\n"
        );
    };
    for ty in ["float", "float4", "int2", "uchar4", "unsigned short"] {
        for call in TEXTURES {
            kernel(&format!("*({ty} *)out = {};", call.replace("<T>", &format!("<{ty}>"))));
        }
    }
    for ty in ["float4", "uchar4", "int4"] {
        for call in GATHERS {
            kernel(&format!("*({ty} *)out = {};", call.replace("<T>", &format!("<{ty}>"))));
        }
    }
    for ty in [
        "unsigned char",
        "uchar2",
        "uchar4",
        "short",
        "short2",
        "ushort4",
        "float",
        "int2",
        "float4",
        "long long",
        "longlong2",
    ] {
        for (name, at) in SURFACES {
            for mode in ["Trap", "Clamp", "Zero"] {
                let mode = format!("cudaBoundaryMode{mode}");
                kernel(&format!("*({ty} *)out = {name}read<{ty}>(s, {at}, {mode});"));
                kernel(&format!("{name}write(*({ty} *)out, s, {at}, {mode});"));
            }
        }
    }
    text
}

/// That all of it loads on the CPU device, for the oldest and the newest architecture whose PTX is read.
#[test]
fn every_function_of_cuda_loads() {
    let compiler = Compiler::new(Cache::disabled());
    match compiler.nvrtc() {
        Err(Error::NvrtcNotFound { .. }) => return skip(Need::Nvrtc, "no NVRTC"),
        other => drop(other.unwrap()),
    }
    let source = source();
    for target in [Target(7, 5), Target(9, 0)] {
        let request = Request::new("texture.cu", &source, target);
        let compiled = match compiler.compile(&request).unwrap() {
            Outcome::Compiled(compiled) => compiled,
            Outcome::Rejected { log, .. } => panic!("{log}"),
        };
        let module = warpaint::ptx::parse(&compiled.ptx).unwrap();
        let printed = warpaint::ptx::print(&module);
        assert_eq!(warpaint::ptx::parse(&printed).unwrap(), module, "it prints back");
        Device::cpu().unwrap().load(&compiled.ptx).unwrap_or_else(|e| panic!("{e}"));
    }
}
