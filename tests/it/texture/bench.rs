//! Kernels of one texture or surface instruction, and a device to run them on.

use warpaint::device::{
    Arguments, Array, ArrayDescriptor, ArrayShape, Channel, Device, Error, Format, Function,
    LaunchConfig, Stream, TextureDescriptor, TextureObject,
};

pub struct Bench {
    pub device: Device,
    pub stream: Stream,
}

/// A kernel `k(out, in, handle)` of one warp at most. Thread `t` has the words `4t` to `4t+3` of `in` in `%r1` to
/// `%r4` (as floats in `%f1` to `%f4`), and leaves `%o1` to `%o4` in `out`.
pub fn kernel(instruction: &str) -> String {
    format!(
        ".version 7.0
.target sm_80
.address_size 64
.file 1 \"texture.cu\"
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 handle)
{{
    .reg .pred %p<4>;
    .reg .b16 %h<8>;
    .reg .b32 %r<8>;
    .reg .b32 %o<8>;
    .reg .f32 %f<8>;
    .reg .b64 %rd<8>;
    .reg .b64 %handle;
    .loc 1 7 1
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u64 %handle, [handle];
    mov.u32 %r5, %tid.x;
    mul.wide.u32 %rd3, %r5, 16;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd2];
    mov.b32 %f1, %r1;
    mov.b32 %f2, %r2;
    mov.b32 %f3, %r3;
    mov.b32 %f4, %r4;
    mov.b32 %o1, 0;
    mov.b32 %o2, 0;
    mov.b32 %o3, 0;
    mov.b32 %o4, 0;
    .loc 1 9 5
    {instruction}
    st.global.v4.u32 [%rd1], {{%o1, %o2, %o3, %o4}};
    ret;
}}
"
    )
}

impl Bench {
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), stream: device.stream().unwrap() }
    }

    pub fn function(&self, instruction: &str) -> Function {
        let module = self.device.load(&kernel(instruction));
        module.unwrap_or_else(|e| panic!("{instruction}: {e}")).function("k").unwrap()
    }

    /// Runs a kernel with a thread for each element of `input`; what each left, or the launch's error.
    pub fn try_run(
        &self,
        function: &Function,
        handle: u64,
        input: &[[u32; 4]],
    ) -> Result<Vec<[u32; 4]>, Error> {
        let words: Vec<[u32; 4]> = input.to_vec();
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let [from, to] = [(); 2].map(|()| self.device.alloc(bytes.len()).unwrap());
        self.stream.upload(from.slice(..)?, bytes)?;
        self.stream.fill(to.slice(..)?, warpaint::device::Fill::U8(0))?;
        let mut read = Vec::new();
        for start in (0..input.len()).step_by(1024) {
            let threads = (input.len() - start).min(1024) as u32;
            let mut arguments = Arguments::new();
            let offset = 16 * start as u64;
            arguments.push(&(to.address() + offset)).push(&(from.address() + offset));
            arguments.push(&handle);
            let config = LaunchConfig::new(1, threads);
            crate::support::launch(&self.stream, function, &config, &arguments)?;
        }
        self.stream.synchronize()?;
        let bytes = self.stream.download(to.slice(..)?)?.wait()?;
        read.extend(bytes.chunks(16).map(|chunk| {
            let mut words = [0; 4];
            bytemuck::bytes_of_mut(&mut words).copy_from_slice(chunk);
            words
        }));
        Ok(read)
    }

    pub fn run(&self, instruction: &str, handle: u64, input: &[[u32; 4]]) -> Vec<[u32; 4]> {
        let function = self.function(instruction);
        self.try_run(&function, handle, input).unwrap_or_else(|e| panic!("{instruction}: {e}"))
    }

    /// The same with floats in and out.
    pub fn sample(&self, instruction: &str, handle: u64, at: &[[f32; 4]]) -> Vec<[f32; 4]> {
        let input: Vec<_> = at.iter().map(|at| at.map(f32::to_bits)).collect();
        let words = self.run(instruction, handle, &input);
        words.into_iter().map(|words| words.map(f32::from_bits)).collect()
    }

    pub fn array(&self, descriptor: &ArrayDescriptor, bytes: &[u8]) -> Array {
        let array = self.device.array(descriptor).unwrap();
        self.stream.upload(array.region(), bytes).unwrap();
        array
    }

    /// An array of one `f32` a texel.
    pub fn floats(&self, shape: ArrayShape, texels: &[f32]) -> Array {
        self.array(&ArrayDescriptor::new(shape, Format::R32F), bytemuck::cast_slice(texels))
    }

    pub fn texture(&self, array: &Array, descriptor: &TextureDescriptor) -> TextureObject {
        self.device.texture(array, descriptor).unwrap()
    }

    pub fn read(&self, array: &Array) -> Vec<u8> {
        self.stream.download(array.region()).unwrap().wait().unwrap()
    }
}

/// Every kind of channel.
pub const CHANNELS: [Channel; 8] = [
    Channel::U8,
    Channel::I8,
    Channel::U16,
    Channel::I16,
    Channel::U32,
    Channel::I32,
    Channel::F16,
    Channel::F32,
];

/// Numbers that look random, the same each time.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn word(&mut self) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 ^ (self.0 >> 12) as u32
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f32 {
        (self.word() >> 8) as f32 / (1u32 << 24) as f32
    }

    pub fn between(&mut self, least: f32, most: f32) -> f32 {
        least + self.unit() * (most - least)
    }
}
