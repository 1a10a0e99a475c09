//! Modules from source, and kernels that check what they are given.

use warpaint::{
    array::{ElementwiseKernel, GpuArray, vector::Int2},
    compile::{Cache, Compiler, Target},
    device::{self, LaunchConfig},
    kernel::{Argument, Context, Error, In, InOut, Out, Source},
};

use crate::support::contexts;

const SOURCE: &str = "__global__ void fill(float *x, int n, float v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = v;
}";

/// Launches `fill` of `source` and looks at what it wrote.
fn expect_it_fills(context: &Context, source: &Source) {
    let fill = context.module(source).unwrap().kernel("fill").unwrap();
    let x = context.pool().alloc(context.stream(), 400).unwrap();
    let arguments = [x.slice(..).unwrap().into(), 100.into(), 2.5_f32.into()];
    // SAFETY: the kernel writes a hundred floats, which `x` has.
    #[expect(unsafe_code, reason = "a launch")]
    unsafe { fill.launch(context.stream(), &LaunchConfig::over(100, 32), &arguments) }.unwrap();
    let read = context.stream().download(x.slice(..).unwrap()).unwrap().wait().unwrap();
    assert_eq!(bytemuck::pod_collect_to_vec::<u8, f32>(&read), [2.5; 100]);
}

/// The device runtime is a library for GPUs; what it would need is said in words, not by a name of its own alone.
#[test]
fn kernels_that_launch_kernels_are_refused_by_name() {
    let source = "__global__ void child(int *x) { x[threadIdx.x] = 1; }
        __global__ void parent(int *x) { child<<<1, 4>>>(x); }";
    for context in contexts() {
        let Err(error) = context.module(&Source::new(source).option("-rdc=true")) else {
            panic!("it loads");
        };
        let text = error.to_string();
        let cause = "kernels that launch kernels (dynamic parallelism) are not supported";
        assert!(matches!(error, Error::Device(device::Error::Load { .. })), "{text}");
        assert!(text.contains(cause), "{text}");
    }
}

#[test]
fn what_is_compiled_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    for context in contexts() {
        let kept = folder.path().join("deep/er");
        expect_it_fills(&context, &Source::new(SOURCE).named("fill.cu").keep(&kept));
        let read = |name: &str| std::fs::read_to_string(kept.join(name)).unwrap();
        assert_eq!(read("fill.cu"), SOURCE);
        assert!(read("fill.ptx").contains(".entry") && read("fill.log").is_empty());
        let wrong = context.module(&Source::new("nonsense").named("wrong.cu").keep(&kept));
        assert!(matches!(wrong, Err(Error::Rejected { .. })));
        assert!(read("wrong.log").contains("nonsense"), "{}", read("wrong.log"));
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = contexts()[0].module(&Source::new(SOURCE).keep(file.join("below")));
    assert!(matches!(refused, Err(Error::Keep(_))), "{refused:?}");
}

#[test]
fn headers_come_from_folders() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("below");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(below.join("filling.cuh"), SOURCE).unwrap();
    for context in contexts() {
        let compiler = Compiler::new(Cache::disabled());
        let context = Context::with_compiler(context.device().clone(), compiler).unwrap();
        let source = Source::new("#include <filling.cuh>\n#include <half.cuh>\n");
        let source = source.header("half.cuh", "#error \"in place of this comes the next\"");
        let source = source.header("half.cuh", "__global__ void half() {}");
        let without = context.module(&source);
        assert!(matches!(without, Err(Error::Rejected { .. })), "{without:?}");
        let source = source.include_dir(&below).instance("fill").instance("half");
        expect_it_fills(&context, &source);
        assert_eq!(context.module(&source).unwrap().kernel("half").unwrap().name(), "half");
    }
}

#[test]
fn modules_tell_what_they_have() {
    for context in contexts() {
        let text = "__device__ int answer = 42;
            __global__ void k(int *p, double d) { int unused; p[0] = answer; }";
        let module = context.module(&Source::new(text)).unwrap();
        let k = module.kernel("k").unwrap();
        let sizes: Vec<_> = k.info().parameters.iter().map(|parameter| parameter.bytes).collect();
        assert_eq!(sizes, [8, 8]);
        let answer = context.stream().download(module.global("answer").unwrap()).unwrap();
        assert_eq!(answer.wait().unwrap(), 42_i32.to_ne_bytes());
        let [warning] = module.warnings() else { panic!("{:?}", module.warnings()) };
        assert!(warning.text.contains("never referenced") && module.log().contains("#177-D"));
        assert!(module.kernel("answer").is_err() && module.global("k").is_err());
    }
}

#[test]
fn errors_call_kernels_what_the_source_does() {
    let text = "namespace field { __global__ void advance(float *x) { *x = 0.0f; } }
        template <class T> __global__ void fill(T *x) { *x = T(1); }";
    let source = Source::new(text).instance("fill<double>");
    for context in contexts() {
        let module = context.module(&source).unwrap();
        let missing = module.kernel("fill").unwrap_err().to_string();
        assert!(missing.starts_with("the module has no kernel `fill`; it has"), "{missing}");
        assert!(
            missing.contains("field::advance") && missing.contains("fill<double>"),
            "{missing}"
        );
        let x = GpuArray::<f32>::zeros(&context, &[1]).unwrap();
        let y = GpuArray::<f64>::zeros(&context, &[1]).unwrap();
        let fill = module.kernel("fill<double>").unwrap();
        let other = fill.arguments(&[x.argument().unwrap()]).unwrap_err().to_string();
        let expected = "kernel `fill<double>`: parameter `x` is double *, the argument is ";
        assert!(other.starts_with(expected), "{other}");
        let (stream, too_many) = (context.stream(), LaunchConfig::new(1, 1 << 20));
        for (name, argument) in [("field::advance", x.argument()), ("fill<double>", y.argument())] {
            let kernel = module.kernel(name).unwrap();
            #[expect(unsafe_code, reason = "a launch that is refused")]
            // SAFETY: no kernel runs.
            let refused = unsafe { kernel.launch(stream, &too_many, &[argument.unwrap()]) };
            let refused = refused.unwrap_err().to_string();
            assert!(refused.starts_with(&format!("kernel `{name}`: 1048576 threads")), "{refused}");
        }
    }
}

#[test]
fn builds_for_debuggers_run_and_name_their_source() {
    let folder = tempfile::tempdir().unwrap();
    for context in contexts() {
        let source = Source::new(SOURCE).named("fill.cu").debug(folder.path());
        expect_it_fills(&context, &source);
        let ptx = std::fs::read_to_string(folder.path().join("fill.ptx")).unwrap();
        let kept = folder.path().join("fill.cu");
        assert!(ptx.contains("debug") && ptx.contains(&*kept.to_string_lossy()), "{ptx}");
        assert!(kept.is_file());
    }
}

#[test]
fn a_source_may_choose_its_target() {
    for context in contexts() {
        let source = Source::new(SOURCE).target(Target(7, 5));
        assert!(context.module(&source).unwrap().ptx().contains("sm_75"));
        expect_it_fills(&context, &source);
    }
}

#[test]
fn prepared_kernels_check_what_replaces_an_argument() {
    for context in contexts() {
        let fill = context.module(&Source::new(SOURCE)).unwrap().kernel("fill").unwrap();
        let x = context.pool().alloc(context.stream(), 4).unwrap();
        let arguments = [x.slice(..).unwrap().into(), 1.into(), 0.0_f32.into()];
        let mut prepared = fill.prepare(&LaunchConfig::new(1, 1), &arguments).unwrap();
        prepared.set(2, 7.0_f32).unwrap();
        let wrong = prepared.set(2, 7_i32).unwrap_err();
        assert!(wrong.to_string().contains("parameter `v`"), "{wrong}");
        let none = prepared.set(3, 1_i32).unwrap_err();
        assert!(matches!(none, Error::ArgumentCount { expected: 3, found: 4, .. }), "{none}");
        // SAFETY: one thread, one float.
        #[expect(unsafe_code, reason = "a launch")]
        let timing = unsafe { prepared.launch_timed(context.stream()) }.unwrap();
        assert!((0.0..1000.0).contains(&timing.wait_ms().unwrap()));
        let read = context.stream().download(x.slice(..).unwrap()).unwrap().wait().unwrap();
        assert_eq!(read, 7.0_f32.to_ne_bytes());
        let wide = fill.prepare(&LaunchConfig::new(1, 5000), &arguments);
        let wide = wide.unwrap_err();
        assert!(
            matches!(wide, Error::Device(device::Error::InvalidLaunch { requested: 5000, .. })),
            "{wide}"
        );
    }
}

/// `float4` begins at a multiple of 16 bytes, an array of four `f32` of 4.
#[test]
#[expect(unsafe_code, reason = "launches")]
fn values_lie_where_the_kernel_looks_for_them() {
    for context in contexts() {
        let source =
            "__global__ void sum(float *x, int n, float4 v) { *x = n + v.x + v.y + v.z + v.w; }";
        let sum = context.module(&Source::new(source)).unwrap().kernel("sum").unwrap();
        let v = Argument::value([1.0_f32, 20.0, 300.0, 4000.0]);
        let mut x = [0.0_f32];
        let arguments = &mut [Out(&mut x).into(), 5.into(), v.clone().into()];
        // SAFETY: one thread, one element.
        unsafe { sum.call(&context, &LaunchConfig::new(1, 1), arguments) }.unwrap();
        assert_eq!(x, [4326.0]);
        // SAFETY: only the element `i` is used.
        let add = unsafe { ElementwiseKernel::new("float *x, int m, float4 v", "x[i] += m + v.w") };
        let x = GpuArray::from_slice(&context, &[0.5_f32]).unwrap();
        add.unwrap().call(&[(&x).into(), 5.into(), v.into()]).unwrap();
        assert_eq!(x.item().unwrap(), 4005.5);
    }
}

#[test]
fn a_checked_context_launches_as_any_other() {
    for context in contexts() {
        let checked = context.checked().unwrap();
        assert!(checked.stream().is_checked() && !context.stream().is_checked());
        expect_it_fills(&checked, &Source::new(SOURCE));
    }
}

const MIX: &str = "__global__ void mix(double *sum, float *kept, const int2 *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = kept[i] + a[i].x, kept[i] = a[i].y;
}";

#[test]
#[expect(unsafe_code, reason = "launches")]
fn slices_of_the_host_are_copied_around_a_call() {
    for context in contexts() {
        let mix = context.module(&Source::new(MIX)).unwrap().kernel("mix").unwrap();
        let config = LaunchConfig::over(1000, 128);
        let (mut sum, mut kept) = (vec![0.0_f64; 1000], vec![0.5_f32; 1000]);
        let a: Vec<_> = (0..1000).map(|i| Int2::new(i, -i)).collect();
        for turn in 0..2 {
            let arguments =
                &mut [Out(&mut sum).into(), InOut(&mut kept).into(), In(&a).into(), 1000.into()];
            // SAFETY: the kernel uses a thousand elements of each.
            unsafe { mix.call(&context, &config, arguments) }.unwrap();
            let before = |i: i32| if turn == 0 { 0.5 } else { -f64::from(i) };
            assert!(sum.iter().copied().eq((0..1000).map(|i| before(i) + f64::from(i))));
            assert!(kept.iter().copied().eq((0..1000).map(|i| -i as f32)));
        }

        // Memory of the device stands beside it, and no elements are some, too.
        let x = context.pool().alloc(context.stream(), 4).unwrap();
        let arguments = &mut [
            Out::<f64>(&mut []).into(),
            x.slice(..).unwrap().into(),
            In::<Int2>(&[]).into(),
            0.into(),
        ];
        // SAFETY: the kernel uses no element.
        unsafe { mix.call(&context, &config, arguments) }.unwrap();
    }
}

#[test]
#[expect(unsafe_code, reason = "a launch that is refused")]
fn slices_of_the_wrong_type_are_refused() {
    let context = &contexts()[0];
    let mix = context.module(&Source::new(MIX)).unwrap().kernel("mix").unwrap();
    let (mut sum, mut kept, a) = ([7.0_f32; 4], [0.0_f32; 4], [Int2::new(1, 2); 4]);
    let arguments = &mut [Out(&mut sum).into(), InOut(&mut kept).into(), In(&a).into(), 4.into()];
    // SAFETY: it does not run.
    let refused = unsafe { mix.call(context, &LaunchConfig::new(1, 4), arguments) };
    let Err(Error::Argument { parameter, found, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((&*parameter, &*found), ("sum", "an array of `float`"));
    assert_eq!(sum, [7.0; 4], "the host's values stay");
}
