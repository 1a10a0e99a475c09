//! Headers of the CUDA toolkit that `scripts/setup` brings, in kernels as people write them.

use warpaint::{device::LaunchConfig, kernel::Source};

use super::{contexts, run};

/// What cuRAND's Philox gives is Philox 4x32-10 as published: the known answers of its authors' library, Random123
/// (`kat_vectors`), for a counter and a key of 0. What XORWOW gives is uniform: a mean of 65,536 numbers is 1/2 with a
/// standard deviation of 1 / sqrt(12 * 65536).
#[test]
fn curand_gives_its_generators_to_kernels() {
    let source = "#include <curand_kernel.h>
extern \"C\" __global__ void philox(uint4 *out) {
    curandStatePhilox4_32_10_t state;
    curand_init(0, 0, 0, &state);
    out[0] = curand4(&state);
}
extern \"C\" __global__ void uniform(float *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState state;
    curand_init(1234, i, 0, &state);
    out[i] = curand_uniform(&state);
}";
    for context in contexts() {
        let found = run::<u32, u32>(&context, source, &[("philox", 1, 1)], &[], 4);
        assert_eq!(found, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let found = run::<f32, f32>(&context, source, &[("uniform", 256, 256)], &[], 65_536);
        assert!(found.iter().all(|x| *x > 0.0 && *x <= 1.0));
        let mean = found.iter().map(|x| f64::from(*x)).sum::<f64>() / 65_536.0;
        // Six standard deviations.
        assert!((mean - 0.5).abs() < 6.0 / (12.0 * 65_536.0_f64).sqrt(), "{mean}");
    }
}

/// The last vector of an array whose length is no multiple of the vector's is copied in part, and the rest is zero:
/// only what is copied need be there.
#[test]
fn asynchronous_copies_read_as_much_as_they_are_told_to() {
    let source = "#include <cuda_pipeline_primitives.h>
extern \"C\" __global__ void k(const float *a, float *out) {
    __shared__ __align__(16) float s[8];
    for (int i = 0; i < 8; ++i) s[i] = -1;
    for (int i = 0; i < 5; i += 4) __pipeline_memcpy_async(s + i, a + i, 16, i + 4 <= 5 ? 0 : 12);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 8; ++i) out[i] = s[i];
}";
    for context in contexts() {
        let (stream, a) = (context.stream(), [1.0_f32, 2.0, 3.0, 4.0, 5.0]);
        // To the byte, which memory of a pool is not.
        let [input, output] = [20, 32].map(|bytes| context.device().alloc(bytes).unwrap());
        stream.upload(input.slice(..).unwrap(), bytemuck::cast_slice(&a)).unwrap();
        let kernel =
            context.module(&Source::new(source).instance("k")).unwrap().kernel("k").unwrap();
        let arguments = [&input, &output].map(|memory| memory.slice(..).unwrap().into());
        // SAFETY: the kernel reads five floats and writes eight.
        #[expect(unsafe_code, reason = "a launch")]
        unsafe { kernel.launch(stream, &LaunchConfig::new(1, 1), &arguments) }.unwrap();
        let bytes = stream.download(output.slice(..).unwrap()).unwrap().wait().unwrap();
        let found: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0]);
    }
}
