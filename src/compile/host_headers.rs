//! Headers of the host, of which kernels need nothing.
//!
//! A file that nvcc compiles includes what its host code needs. That code is left out here (`sources`), so these
//! headers are there and empty: those of the C++ library, of the system, and of libraries that are called from the
//! host. What kernels use of the C++ library comes by what they name (`library`).

/// Headers without a folder.
const NAMES: &str = "algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts \
    condition_variable coroutine cctype cerrno cfenv clocale csetjmp csignal cstdarg cuchar cwchar cwctype \
    deque exception execution expected filesystem format forward_list fstream functional future generator \
    initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map mdspan memory \
    memory_resource mutex new numbers numeric optional ostream print queue random ranges ratio regex scoped_allocator \
    semaphore set shared_mutex source_location span spanstream sstream stack stacktrace stdexcept stop_token streambuf \
    string string_view syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set \
    utility valarray variant vector version \
    complex.h ctype.h errno.h fenv.h iso646.h locale.h setjmp.h signal.h stdalign.h stdarg.h stdatomic.h \
    stdbool.h tgmath.h threads.h uchar.h wchar.h wctype.h \
    alloca.h conio.h dirent.h dlfcn.h err.h error.h execinfo.h fcntl.h features.h ftw.h getopt.h glob.h grp.h immintrin.h \
    intrin.h io.h libgen.h malloc.h memory.h mm_malloc.h netdb.h numa.h omp.h openacc.h poll.h pthread.h pwd.h regex.h \
    sched.h semaphore.h strings.h syslog.h termios.h ucontext.h unistd.h utime.h values.h windows.h winsock2.h x86intrin.h \
    xmmintrin.h emmintrin.h pmmintrin.h smmintrin.h tmmintrin.h zlib.h png.h jpeglib.h tiffio.h hdf5.h netcdf.h fftw3.h \
    cblas.h lapacke.h mkl.h gsl.h sqlite3.h mpi.h nccl.h nvml.h nvToolsExt.h freeimage.h FreeImage.h gtest.h \
    cublas.h cublas_v2.h cublasLt.h cublasXt.h cudnn.h cufft.h cufftXt.h cufftw.h curand.h cusolverDn.h cusolverSp.h \
    cusolverRf.h cusolver_common.h cusparse.h cusparseLt.h cutensor.h cuda_profiler_api.h cudaProfiler.h cuda_gl_interop.h \
    cuda_egl_interop.h cuda_vdpau_interop.h cudaGL.h cudaEGL.h cudaVDPAU.h cudaTypedefs.h cuda_occupancy.h nvrtc.h \
    nvJitLink.h cuda.h nvjpeg.h npp.h nppi.h cutil.h cutil_inline.h \
    helper_cuda.h helper_cuda_drvapi.h helper_cuda_gl.h helper_cusolver.h helper_functions.h helper_gl.h helper_image.h \
    helper_multiprocess.h helper_string.h helper_timer.h helper_nvJPEG.hxx nvrtc_helper.h exception.h rendercheck_gl.h \
    nvscibuf.h nvscisync.h \
    DirectXMath.h D3Dcompiler.h d3dcompiler.h d3d9.h d3d10.h d3d11.h d3d12.h d3dx12.h dxgi.h dxgi1_4.h tchar.h strsafe.h \
    drm_fourcc.h xf86drm.h xf86drmMode.h mex.h";

/// Folders of headers.
const FOLDERS: &[&str] = &[
    "ATen/",
    "EGL/",
    "GL/",
    "GLES2/",
    "GLES3/",
    "GLFW/",
    "GLUT/",
    "Eigen/",
    "SDL2/",
    "X11/",
    "arpa/",
    "asm/",
    "bits/",
    "boost/",
    "c10/",
    "experimental/",
    "ext/",
    "fmt/",
    "glm/",
    "gtest/",
    "linux/",
    "net/",
    "netinet/",
    "nvml/",
    "nvtx3/",
    "opencv2/",
    "openssl/",
    "pybind11/",
    "rapidjson/",
    "spdlog/",
    "sys/",
    "tbb/",
    "torch/",
    "vulkan/",
    "thrust/",
];

/// What kernels may need all the same.
const FOR_KERNELS: &[&str] = &[
    "sys/types.h",
    "thrust/complex.h",
    "thrust/pair.h",
    "thrust/tuple.h",
    "thrust/swap.h",
    "thrust/functional.h",
];

/// What kernels use of some of them.
const TEXTS: &[(&str, &str)] = &[
    (
        "cufft",
        "#include <cuComplex.h>\ntypedef cuComplex cufftComplex;\ntypedef cuDoubleComplex cufftDoubleComplex;\n\
         typedef float cufftReal;\ntypedef double cufftDoubleReal;\n",
    ),
    (
        "cuda.h",
        // The driver's version is the toolkit's, which the compiler knows without a header.
        "#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)\n\
         #define __CUDA_API_VERSION CUDA_VERSION\n\
         typedef enum cudaError_enum { CUDA_SUCCESS = 0 } CUresult;\n\
         typedef unsigned long long CUdeviceptr;\ntypedef unsigned long long CUtexObject;\n\
         typedef unsigned long long CUsurfObject;\n",
    ),
    ("cublas", "#include <cuComplex.h>\n"),
    ("cusolver", "#include <cuComplex.h>\n"),
    ("cusparse", "#include <cuComplex.h>\n"),
    ("ATen/", "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"),
    ("c10/", "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"),
    ("torch/", "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"),
];

/// The text of a header of the host as kernels see it.
pub(super) fn text(name: &str) -> &'static str {
    let found = TEXTS.iter().find(|(start, _)| name.starts_with(start));
    found.map_or("", |(_, text)| text)
}

/// Whether the toolkit's own header of this name comes first, where it is there: `curand_kernel.h` has its types from
/// it.
pub(super) fn yields(name: &str) -> bool {
    name == "curand.h"
}

/// Whether `name` is a header of the host.
pub(super) fn is_one(name: &str) -> bool {
    if FOR_KERNELS.contains(&name) {
        return false;
    }
    // The whole of cub cannot be compiled for kernels alone; what they name of it is found as `library` says.
    name == "cub/cub.cuh"
        || FOLDERS.iter().any(|folder| name.starts_with(folder))
        || NAMES.split_ascii_whitespace().any(|known| known == name)
}
