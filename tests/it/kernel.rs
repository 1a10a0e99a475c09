//! Modules from source, and kernels that check what they are given.

use warpaint::{
    compile::Target,
    device::{self, Choice, Device, LaunchConfig},
    kernel::{Context, Error, Source},
};

const SOURCE: &str = "__global__ void fill(float *x, int n, float v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = v;
}";

fn contexts() -> Vec<Context> {
    let nvidia = Device::open(Choice::Cuda(0)).ok();
    let devices = [Some(Device::cpu().unwrap()), nvidia].into_iter().flatten();
    devices.map(|device| Context::new(device).unwrap()).collect()
}

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

#[test]
fn a_checked_context_launches_as_any_other() {
    for context in contexts() {
        let checked = context.checked().unwrap();
        assert!(checked.stream().is_checked() && !context.stream().is_checked());
        expect_it_fills(&checked, &Source::new(SOURCE));
    }
}
