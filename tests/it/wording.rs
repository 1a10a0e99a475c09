//! What errors say, word by word. Examples in the documentation show no more of an error than its variant.

mod faults;

use std::fmt::Display;

use half::f16;
#[cfg(feature = "gl")]
use warpaint::interop::Interop;
use warpaint::{
    array::{
        Bounds, ElementwiseKernel, Error, Expr, GpuArray, KernelArgument, Layout, ReductionKernel,
        Summary, broadcast,
        random::{Directions, Generator},
        vector::Int2,
    },
    compile::{Cache, Compiler, Request, Target},
    device::{
        AddressMode, Arguments, ArrayDescriptor, ArrayShape, Attachment, Channel, Choice, Device,
        EventOptions, Filter, Format, HostFlags, LaunchConfig, Limit, LinkCode, LinkInput,
        MemoryInfo, Pitch, Pool, Prepared, ReadMode, TextureDescriptor, TextureSource,
        occupancy::Multiprocessor,
    },
    element::{Element, Scalar},
    index,
    kernel::{Argument, Context, In, Kernel, Source},
};

const OTHERS: &str = "the handles belong to different devices";

/// What a call says that fails.
fn told<T, E: Display>(result: Result<T, E>) -> String {
    match result {
        Ok(_) => panic!("it does not fail"),
        Err(error) => error.to_string(),
    }
}

/// That each call says this and no more.
#[track_caller]
fn expect<const N: usize>(cases: [(String, &str); N]) {
    for (told, expected) in cases {
        assert_eq!(told, expected);
    }
}

/// That each call says this, perhaps among other things.
#[track_caller]
fn expect_part<const N: usize>(cases: [(String, &str); N]) {
    for (told, part) in cases {
        assert!(told.contains(part), "{told}\ndoes not contain\n{part}");
    }
}

fn context() -> Context {
    Context::new(Device::cpu().unwrap()).unwrap()
}

#[test]
fn of_arrays() {
    let context = context();
    let zeros = |shape: &[usize]| GpuArray::<i32>::zeros(&context, shape).unwrap();
    let line = GpuArray::from_slice(&context, &[10, 20, 30]).unwrap();
    let places = GpuArray::from_slice(&context, &[-1, 1, 3]).unwrap();
    let mask = GpuArray::full(&context, &[2], true).unwrap();
    let four = GpuArray::from_shape(&context, &[2, 3], &[1, 2, 3, 4]);
    let twelve = GpuArray::<f32>::arange(&context, 12).unwrap();
    let mut table = line.broadcast_to(&[1000, 3]).unwrap();
    expect([
        (
            told((&zeros(&[2, 3]) + &zeros(&[2])).eval()),
            "shapes [2, 3] and [2] do not fit together",
        ),
        (told(zeros(&[2, 2]).compress(mask)), "compress: the shape is [2], where [2, 2] is needed"),
        (
            told(line.at_with(&places, Bounds::Check)),
            "index 3 is outside axis 0, which has length 3",
        ),
        (
            told(GpuArray::<u8>::arange(&context, 300)),
            "`unsigned char` has no 299, the last of the numbers from 0 on",
        ),
        (
            told(Expr::scalar(2.0).eval()),
            "an expression needs an array, from which it takes shape and device",
        ),
        (told(four), "an array of shape [4] cannot become one of shape [2, 3]"),
        (told(line.item()), "item: the shape is [3], where [] is needed"),
        (
            told(twelve.reshape_infer(&[Some(5), None])),
            "no length for `_` makes an array of shape [12] one of shape [5, _]",
        ),
        (told(table.fill(0)), "a broadcast view of shape [1000, 3] cannot be written"),
    ]);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    twelve.write_npy(&path).unwrap();
    let expected = format!("{}: it holds `f4`, not `f8`", path.display());
    expect([(told(GpuArray::<f64>::read_npy(&context, &path)), &expected)]);

    let [float, double] = [Scalar::F32, Scalar::F64].map(Element::scalar);
    let summary = Summary::new(context.compiler(), context.device(), Target::CPU, [float]).unwrap();
    expect([(
        told(summary.enqueue(context.stream(), twelve.memory().unwrap(), double)),
        "no statistics kernel was compiled for `double`",
    )]);
}

#[test]
fn of_layouts() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    expect([
        (
            told(Layout::contiguous(&[usize::MAX, 2])),
            &format!("an array of shape [{}, 2] has too many elements", usize::MAX),
        ),
        (
            told(layout(&[4, 1]).broadcast_to(&[2, 3])),
            "shapes [4, 1] and [2, 3] do not fit together",
        ),
        (
            told(layout(&[8, 480, 640, 3]).permute(&[1, 2, 3, 4])),
            "[1, 2, 3, 4] are not the axes of an array of 4 dimensions, counted from 0, each once",
        ),
        (
            told(layout(&[4, 6]).index(&index![100])),
            "index 100 is outside axis 0, which has length 4",
        ),
        (told(broadcast([&[4, 2][..], &[3][..]])), "shapes [4, 2] and [3] do not fit together"),
    ]);
}

#[test]
fn of_random_numbers() {
    let context = context();
    let mut short = Generator::sobol32(1).unwrap();
    short.skip_ahead(1 << 32);
    let mut directions = Directions::<u64>::joe_kuo(2).unwrap();
    directions.numbers.pop();
    let mut random = Generator::new(7);
    let mut noise = GpuArray::<f16>::zeros(&context, &[3]).unwrap();
    let mut bytes = GpuArray::<u8>::zeros(&context, &[4]).unwrap();
    let dimensions = "a Sobol sequence has 1 to 1024 dimensions, not 2000";
    expect([
        (
            told(short.uniform::<f64>(&context, &[1])),
            "the generator's sequence of 4294967296 random numbers is used up",
        ),
        (
            told(Generator::sobol64_of(directions)),
            "direction numbers: the shape is [127], where [2, 64] is needed",
        ),
        (
            told(random.fill_normal(&mut noise, 0.0, -1.0)),
            "normal random numbers: mean 0, standard deviation -1",
        ),
        (
            told(random.fill_integers(&mut bytes, 7..7)),
            "integer random numbers: there is none from 7 to before 7",
        ),
        (told(Directions::<u32>::joe_kuo(2000)), dimensions),
        (told(Directions::<u64>::joe_kuo(2000)), dimensions),
    ]);
}

#[test]
#[expect(unsafe_code, reason = "kernels that stay within their arrays, or do not run")]
fn of_kernels_from_expressions() {
    let context = context();
    let elementwise = |parameters: &str, operation: &str| -> Result<ElementwiseKernel, Error> {
        // SAFETY: the operations use the element `i` alone.
        unsafe { ElementwiseKernel::new(parameters, operation) }
    };
    let x = GpuArray::from_slice(&context, &[1, 2, 3]).unwrap();
    let one = x.slice(&index![0]).unwrap().broadcast_to(&[3]).unwrap();
    let doubles = GpuArray::<f64>::zeros(&context, &[2]).unwrap();
    let two = GpuArray::<i32>::arange(&context, 2).unwrap();
    let copy = elementwise("int *to, const int *from", "to[i] = from[i]").unwrap();
    let negate = elementwise("float *x", "x[i] = -x[i]").unwrap().named("negate");
    let shift = elementwise("int2 *x, int2 by", "x[i].x += by.x; x[i].y += by.y").unwrap();
    let by = KernelArgument::from(Int2::new(10, 20));
    // SAFETY: only the element `i` is read.
    let sum = unsafe { ReductionKernel::<i32>::new("const int *x", "0", "a + b", "x[i]") };
    let map = "x[i] == y[i]";
    // SAFETY: only the element `i` of each array is read.
    let same = unsafe {
        ReductionKernel::<bool>::new("const int *x, const int *y", "true", "a && b", map)
    };
    expect([
        (
            told(shift.call(&[(&x).into(), by])),
            "`elementwise kernel`: parameter `x` is int2 *, the argument is an array of `int`",
        ),
        (
            told(negate.call(&[(&doubles).into()])),
            "`negate`: parameter `x` is float *, the argument is an array of `double`",
        ),
        (
            told(copy.call(&[(&one).into(), (&x).into()])),
            "`elementwise kernel`: parameter `to` is int *, the argument is a broadcast view of `int`, \
             which can only be read",
        ),
        (told(sum.unwrap().named("sum").item(&[])), "`sum` takes 1 argument, 0 were given"),
        (
            told(same.unwrap().item(&[(&x).into(), (&two).into()])),
            "a reduction: the shape is [2], where [3] is needed",
        ),
        (
            told(elementwise("float *x, int n", "x[i] = n")),
            "`float *x, int n` is no list of kernel parameters: `i`, an elementwise kernel's `n`, CUDA's variables \
             and names that end in `_` mean something else",
        ),
    ]);
}

#[test]
#[expect(unsafe_code, reason = "kernels that do not run")]
fn of_kernels() {
    let context = context();
    let module = |text: &str| context.module(&Source::new(text)).unwrap();
    let kernel = |name: &str, parameters: &str| -> Kernel {
        module(&format!("__global__ void {name}({parameters}) {{}}")).kernel(name).unwrap()
    };
    let (stream, three) = (context.stream(), LaunchConfig::new(1, 3));
    let memory = context.pool().alloc(stream, 12).unwrap();
    let memory = memory.slice(..).unwrap();
    let floats = Argument::array(memory, Some(Element::scalar(Scalar::F32)));
    let fields = module("namespace field { __global__ void advance(float *x) {} }");

    let keep = kernel("keep", "const float *x, int2 from, unsigned n");
    let wrong = [memory.into(), Argument::value([0i32, 1]), 3.into()];
    let [count, add] = [kernel("count", "int *n"), kernel("add", "int *x, int v")];
    let [look, twice] = [kernel("look", "const float *x"), kernel("twice", "float *x")];
    let [fill, square] = [kernel("fill", "float *x, float v"), kernel("square", "int *x")];
    let fit = [memory.into(), 1f32.into()];
    let mut prepared = fill.prepare(&three, &fit).unwrap();
    // SAFETY: it is refused.
    let looked = unsafe { look.call(&context, &three, &mut [In(&[1f64]).into()]) };
    // SAFETY: it is refused.
    let launched = unsafe { twice.launch(stream, &three, &[3i32.into()]) };
    // SAFETY: it is refused.
    let bare = unsafe { stream.launch(square.function(), &three, &Arguments::new()) };
    expect([
        (
            told(keep.arguments(&wrong)),
            "kernel `keep`: parameter `n` is unsigned, the argument is a value of type `int`",
        ),
        (
            told(count.arguments(&[floats])),
            "kernel `count`: parameter `n` is int *, the argument is an array of `float`",
        ),
        (told(add.arguments(&[memory.into()])), "kernel `add` takes 2 arguments, 1 was given"),
        (
            told(looked),
            "kernel `look`: parameter `x` is const float *, the argument is an array of `double`",
        ),
        (
            told(launched),
            "kernel `twice`: parameter `x` is float *, the argument is a value of type `int`",
        ),
        (told(bare), "kernel `square` takes 1 argument, 0 were given"),
        (
            told(fill.prepare(&LaunchConfig::new(1, 2048), &fit)),
            "kernel `fill`: 2048 threads in a block, where at most 1024 are allowed",
        ),
        (
            told(prepared.set(1, 2)),
            "kernel `fill`: parameter `v` is float, the argument is a value of type `int`",
        ),
        (told(prepared.set(2, 2)), "kernel `fill` takes 2 arguments, 3 were given"),
        (
            told(fields.kernel("advance")),
            "the module has no kernel `advance`; it has field::advance",
        ),
        (
            told(context.on(&Device::cpu().unwrap().stream().unwrap())),
            &format!("use a stream: {OTHERS}"),
        ),
    ]);
}

#[test]
fn of_sources() {
    let context = context();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wave.cu");
    std::fs::write(&path, "__global__ void wave() { int x = 1.5 }").unwrap();
    let text = "__global__ void twice(float *x) {\n    x[threadIdx.x] *= two;\n}";
    expect([
        (
            told(context.module(&Source::new(text).named("twice.cu"))),
            "twice.cu does not compile: twice.cu:2:23: error: identifier \"two\" is undefined",
        ),
        (
            told(context.module(&Source::read(&path).unwrap())),
            &format!("{0} does not compile: {0}:1:38: error: expected a \";\"", path.display()),
        ),
    ]);

    let run = "__device__ int twice(int x); __global__ void run(int *x) { *x = twice(*x); }";
    let for_fermi = Request::new("k.cu", "__global__ void k() {}", Target(2, 0));
    expect_part([
        (
            told(context.link(&[Source::new(run).named("run.cu")], &[])),
            "`_Z5twicei` is used in `run.cu`, but nothing defines it",
        ),
        (
            told(Compiler::new(Cache::memory()).compile(&for_fermi)),
            "not for compute_20: install an older NVRTC",
        ),
    ]);
}

#[test]
fn of_devices() {
    let (device, other) = (Device::cpu().unwrap(), Device::cpu().unwrap());
    let (stream, elsewhere) = (device.stream().unwrap(), other.stream().unwrap());
    let untimed = EventOptions { timing: false, ..EventOptions::default() };
    let (start, end) = (device.event().unwrap(), device.event_with(untimed).unwrap());
    stream.record(&start).unwrap();
    stream.record(&end).unwrap();
    end.synchronize().unwrap();
    let ampere = Multiprocessor::of(8, 0).unwrap();
    let mapped = device.alloc_mapped(4, HostFlags::default()).unwrap();
    let MemoryInfo { free, total } = device.memory_info().unwrap();
    let full = |bytes: u64| {
        format!("out of memory on the CPU device: {bytes} bytes were asked for, {free} are free")
    };
    let alloc = |bytes: u64| told(device.alloc(bytes.try_into().unwrap()));
    expect([
        (told("gpu".parse::<Choice>()), "`gpu` is no device; use auto, cuda, cuda:N or cpu"),
        (told(end.elapsed_ms(&start)), "the event keeps no time"),
        (
            told(device.set_limit(Limit::HeapBytes, 64 << 20)),
            "the CPU device does not support setting a limit",
        ),
        (
            told(stream.attach(&mapped, Attachment::Stream)),
            &format!("{} does not support attaching memory that is not managed", device.info()),
        ),
        (alloc(2 * total), &full(2 * total)),
        (alloc(1 << 60), &full(1 << 60)),
        (
            told(Pool::new(&device).alloc(&elsewhere, 16)),
            &format!("allocate from a pool: {OTHERS}"),
        ),
        (
            told(ampere.occupancy(1024, 128, 0)),
            "the block has 131072 registers, where at most 65536 are allowed",
        ),
    ]);
    if let Some(reason) = Device::all().nvidia_missing {
        assert!(reason.starts_with("no CUDA"), "{reason}");
    }
}

#[test]
fn of_memory_and_copies() {
    let device = Device::cpu().unwrap();
    let stream = device.stream().unwrap();
    let memory = device.alloc(16).unwrap();
    let whole = memory.slice(..).unwrap();
    let first = whole.slice(..4).unwrap();
    let host = device.alloc_host(10, HostFlags::default()).unwrap();
    let mut managed = device.alloc_managed(4).unwrap();
    let there = Device::cpu().unwrap().alloc(4).unwrap();
    let rows = whole.rows(Pitch { row_bytes: 3, rows: 2 }, [2, 2, 1]).unwrap();
    let row = rows.part([0, 0, 0], [1, 2, 1]).unwrap();
    let descriptor = ArrayDescriptor::new(ArrayShape::D2 { width: 4, height: 4 }, Format::R32F);
    let array = device.array(&descriptor).unwrap();
    let middle = array.region().part([1, 1, 0], [2, 2, 1]).unwrap();
    expect([
        (told(memory.slice(8..32)), "bytes 8..32 do not fit a range of 16 bytes"),
        (
            told(whole.slice(4..12).unwrap().slice(..12)),
            "bytes 0..12 do not fit a range of 8 bytes",
        ),
        (told(stream.upload_from(first, host.at(8))), "bytes 0..4 do not fit a range of 2 bytes"),
        (told(managed.write(3, &[1, 2])), "bytes 3..5 do not fit a range of 4 bytes"),
        (told(stream.upload(there.slice(..).unwrap(), &[0; 4])), &format!("copy: {OTHERS}")),
        (told(stream.upload(rows, &[0; 6])), "bytes 0..6 do not fit a range of 4 bytes"),
        (
            told(stream.copy(rows, row)),
            "a region of [2, 2, 1] bytes cannot be copied from one of [1, 2, 1] bytes",
        ),
        (
            told(middle.part([1, 0, 0], [2, 2, 1])),
            "[2, 2, 1] from [1, 0, 0] on do not fit a region of [2, 2, 1]",
        ),
    ]);
}

#[test]
fn of_textures_and_surfaces() {
    let device = Device::cpu().unwrap();
    let array = |shape, format| device.array(&ArrayDescriptor::new(shape, format)).unwrap();
    let square = ArrayShape::D2 { width: 4, height: 4 };
    let picture = array(square, Format::RGBA8);
    let plain = array(ArrayShape::D2 { width: 4, height: 3 }, Format::R32F);
    let numbers = array(ArrayShape::D1 { width: 8 }, Format::new(Channel::I32, 1).unwrap());
    let cube = ArrayShape::D3 { width: 4, height: 4, depth: 4 };
    let drawable = ArrayDescriptor::new(ArrayShape::D1 { width: 4 }, Format::R32F).with_surface();
    let drawable = device.array(&drawable).unwrap();
    let usual = TextureDescriptor::default();
    let smooth = TextureDescriptor { filter: Filter::Linear, ..usual };
    let normalized = TextureDescriptor { read: ReadMode::NormalizedFloat, ..usual };
    let tiled = TextureDescriptor { address: [AddressMode::Wrap; 3], ..normalized };
    let memory = device.alloc(4096).unwrap();
    let rows = TextureSource::Pitched {
        memory: memory.slice(..).unwrap(),
        format: Format::R32F,
        width: 10,
        height: 8,
        pitch_bytes: 40,
    };
    expect([
        (
            told(Format::new(Channel::U8, 3)),
            "no such format: texels have 1, 2 or 4 channels, not 3",
        ),
        (
            told(device.array(&ArrayDescriptor::new(cube, Format::R32F).with_gather())),
            "no such array: only 2-D arrays can be gathered from",
        ),
        (
            told(
                device
                    .array(&ArrayDescriptor::new(ArrayShape::D1 { width: 1 << 20 }, Format::R32F)),
            ),
            "the array has 1048576 texels in x, where at most 131072 are allowed",
        ),
        (
            told(device.surface(&plain)),
            "no such surface: the array of 4x3 of f32x1 was not made for it",
        ),
        (told(Device::cpu().unwrap().surface(&drawable)), &format!("create a surface: {OTHERS}")),
        (
            told(device.texture(&picture, &smooth)),
            "no such texture: u8x4 is read as integers, which cannot be filtered",
        ),
        (
            told(device.texture(&numbers, &normalized)),
            "no such texture: i32x1 cannot be read as normalised float, only 8 and 16 bit integers",
        ),
        (
            told(device.texture(&picture, &tiled)),
            "no such texture: address mode Wrap needs normalised coordinates",
        ),
        (
            told(device.texture(rows, &usual)),
            "no such texture: the pitch is 0x28, no multiple of 32",
        ),
    ]);
}

#[test]
fn of_modules() {
    const HEAD: &str = ".version 7.0 .target sm_75 .address_size 64";
    let device = Device::cpu().unwrap();
    let idle = format!("{HEAD} .visible .entry idle() {{ ret; }}");
    let module = device.load(&idle).unwrap();
    let function = module.function("idle").unwrap();
    let scale = format!("{HEAD} .visible .entry scale(.param .u64 x, .param .f32 by) {{ ret; }}");
    let scale = device.load(&scale).unwrap().function("scale").unwrap();
    let mut arguments = Arguments::new();
    arguments.push(&0u64).push(&1.5f64);
    let runtime = LinkInput { name: "libcudadevrt.a", code: LinkCode::Library(b"!<arch>\n") };
    expect([
        (told(module.function("idel")), "the module has no kernel `idel`; it has idle"),
        (
            told(device.load_binary(b"\x7fELF")),
            "the CPU device does not support machine code of GPUs",
        ),
        (told(device.link(&[runtime])), "the CPU device does not support machine code of GPUs"),
        (
            told(function.prefer_shared_memory(Some(101))),
            "the shared memory has 101 percent of a multiprocessor's, where at most 100 are allowed",
        ),
        (
            told(Prepared::new(&function, &LaunchConfig::new(1, 2000), Arguments::new())),
            "kernel `idle`: 2000 threads in a block, where at most 1024 are allowed",
        ),
        (
            told(Prepared::new(&scale, &LaunchConfig::new(1, 1), arguments)),
            "kernel `scale` takes 2 arguments, 2 were given; \
             parameter 1 has 4 bytes at offset 8, its argument 8 bytes at offset 8",
        ),
    ]);

    let defined = format!("{HEAD} .visible .global .u32 x;");
    let used = format!("{HEAD} .extern .global .u32 x; .visible .global .u64 p = x;");
    let [one, other] = ["one", "other"].map(|name| LinkInput::ptx(name, &defined));
    expect_part([
        (told(device.load(&idle.replace("ret", "rest"))), "rest"),
        (
            told(device.link(&[LinkInput::ptx("other", &used)])),
            "`x` is used in `other`, but nothing defines it",
        ),
        (
            told(device.link(&[one, other])),
            "other: error: `x` is defined in both, here and in `one`",
        ),
        (told(device.link(&[LinkInput::ptx("field.ptx", "no PTX at all")])), "field.ptx:"),
    ]);
}

#[test]
#[cfg(feature = "gl")]
fn of_shared_memory() {
    let mut buffer = Interop::none(&Device::cpu().unwrap()).buffer(16).unwrap();
    let elsewhere = Device::cpu().unwrap().stream().unwrap();
    expect([(told(buffer.map(&elsewhere)), &format!("map a shared buffer: {OTHERS}"))]);
}
