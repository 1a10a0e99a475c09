use std::time::{Duration, Instant};

use super::*;
use crate::cuda::SourceFile;
use crate::scene::{Builtin, Handle, Inputs, Overrides, Scope, Value};

const MANIFEST: &str = "/*---
[constant]
n = 64
radius = 0.5
[buffer.position]
type = \"float4\"
count = \"n\"
[texture.dye]
format = \"rgba32f\"
size = [32, 16]
double = true
[param.drag]
value = 0.2
[param.rounds]
value = 3
min = 0
max = 300
[param.fast]
value = true
[param.tint]
value = [1.0, 0.5, 0.25]
kind = \"color\"
[[pass]]
kernel = \"f\"
over = \"position\"
repeat = \"rounds\"
only_if = \"fast\"
---*/
";

fn scene(parameters: &str) -> Scene {
    let source = format!("{MANIFEST}__global__ void f({parameters}) {{}}");
    Scene::parse("t.cu", &source, &Overrides::default()).expect("a good manifest")
}

fn bound(parameters: &str) -> Result<PlannedPass, Vec<Diagnostic>> {
    scene(parameters).plan().map(|plan| plan.passes[0].clone())
}

#[test]
fn every_kind_of_name_binds() {
    let pass = bound("const float4 *position, float *position_, cudaSurfaceObject_t dye")
        .expect_err("`position_` is nothing");
    assert_eq!(pass.len(), 1);
    let pass = bound(
        "float4 *position, int position_count, cudaTextureObject_t dye, \
         cudaSurfaceObject_t dye_next, int dye_width, unsigned dye_height, size_t dye_depth, int n, \
         float radius, float drag, int rounds, int fast, float3 tint, double time, float dt, \
         unsigned frame, unsigned long long step, unsigned seed, float4 mouse, uint4 keys",
    )
    .expect("all bind");
    let sources: Vec<Source> = pass.arguments.iter().map(|a| a.source.clone()).collect();
    let dye = ResourceId(1);
    let expected = [
        Source::Resource(ResourceId(0)),
        Source::Count(ResourceId(0), 64),
        Source::Resource(dye),
        Source::Next(dye),
        Source::Extent(dye, 0, 32),
        Source::Extent(dye, 1, 16),
        Source::Extent(dye, 2, 1),
        Source::Number(Number::Int(64).into()),
        Source::Number(Number::Float(0.5).into()),
        Source::Parameter(0),
        Source::Parameter(1),
        Source::Parameter(2),
        Source::Parameter(3),
        Source::Builtin(Builtin::Time),
        Source::Builtin(Builtin::Dt),
        Source::Builtin(Builtin::Frame),
        Source::Builtin(Builtin::Step),
        Source::Builtin(Builtin::Seed),
        Source::Builtin(Builtin::Mouse),
        Source::Builtin(Builtin::Keys),
    ];
    assert_eq!(sources, expected);
    assert_eq!(pass.swaps, [dye]);
    let written: Vec<_> = pass.writes().collect();
    assert_eq!(written, [ResourceId(0), dye], "a texture object is only read");
}

#[test]
fn arguments_have_the_bytes_that_their_types_ask_for() {
    let scene =
        scene("float4 *position, long long n, double drag, float3 tint, unsigned char rounds_");
    assert!(scene.plan().is_err());
    let scene = self::scene(
        "float4 *position, cudaSurfaceObject_t dye_next, long long n, double drag, float3 tint, \
         float time, unsigned seed, unsigned long long step, float2 mouse, uint4 keys, bool fast, \
         short rounds, half radius",
    );
    let plan = scene.plan().expect("all bind");
    let mut inputs = Inputs {
        time: 1.5,
        step: 1 << 40,
        seed: 0x1_0000_0007,
        mouse: [1.0, -2.0, 3.0, 4.0],
        parameters: scene.manifest.defaults(),
        ..Inputs::default()
    };
    inputs.keys.set(b'A', true);
    let packed: Vec<_> = plan.passes[0]
        .arguments
        .iter()
        .map(|argument| {
            let scope = Scope { inputs: &inputs, rounds: &[], read: &[] };
            let packed = argument.pack(&scope, |wanted| match wanted.handle {
                Handle::Address => 0x1122_3344_5566_7788,
                Handle::Surface => 7 + u64::from(wanted.next),
                Handle::Texture => 9,
            });
            packed.unwrap()
        })
        .collect();
    let floats = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let keys: Vec<u8> = [0_u32, 0, 2, 0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let expected: Vec<(Vec<u8>, usize)> = vec![
        (0x1122_3344_5566_7788_u64.to_le_bytes().into(), 8),
        (8_u64.to_le_bytes().into(), 8),
        (64_u64.to_le_bytes().into(), 8),
        (0.2_f64.to_le_bytes().into(), 8),
        (floats(&[1.0, 0.5, 0.25]), 4),
        (floats(&[1.5]), 4),
        (7_u32.to_le_bytes().into(), 4),
        ((1_u64 << 40).to_le_bytes().into(), 8),
        (floats(&[1.0, -2.0]), 8),
        (keys, 16),
        (vec![1], 1),
        (vec![3, 0], 2),
        (0x3800_u16.to_le_bytes().into(), 2),
    ];
    let found: Vec<_> = packed.iter().map(|p| (p.bytes().to_vec(), p.align)).collect();
    assert_eq!(found, expected);
}

#[test]
fn launches_follow_their_parameters() {
    let scene = scene("float4 *position");
    let [entry] = scene.manifest.entries.as_slice() else { panic!("one") };
    let mut inputs = Inputs { parameters: scene.manifest.defaults(), ..Inputs::default() };
    let (repeat, only_if) = (entry.repeat.as_ref().unwrap(), entry.only_if.as_ref().unwrap());
    let scope = Scope { inputs: &inputs, rounds: &[], read: &[] };
    assert_eq!(scope.integer(&repeat.times), Ok(3));
    assert_eq!(scope.number(only_if), Ok(Number::Bool(true)));
    inputs.parameters[1] = Value::Int(7);
    inputs.parameters[2] = Value::Toggle(false);
    let scope = Scope { inputs: &inputs, rounds: &[], read: &[] };
    assert_eq!(scope.integer(&repeat.times), Ok(7));
    assert_eq!(scope.number(only_if), Ok(Number::Bool(false)));
}

/// The bytes of the arguments of `f`, whose pass has these `args`, in the third round of the second loop.
fn given(parameters: &str, args: &str) -> Result<Vec<Vec<u8>>, String> {
    let manifest = MANIFEST
        .replace("repeat = \"rounds\"", &format!("repeat = 5\nargs = {args}"))
        .replace("[[pass]]", "[[pass]]\nrepeat = 4\ncounter = \"outer\"\n[[pass.pass]]");
    let source = format!("{manifest}\n__global__ void f({parameters}) {{}}");
    let scene =
        Scene::parse("t.cu", &source, &Overrides::default()).map_err(|found| told(&found))?;
    let plan = scene.plan().map_err(|found| told(&found))?;
    let inputs = Inputs { parameters: scene.manifest.defaults(), step: 10, ..Inputs::default() };
    let scope = Scope { inputs: &inputs, rounds: &[1, 2], read: &[] };
    let arguments = plan.passes[0].arguments.iter();
    let packed = arguments.map(|argument| argument.pack(&scope, |wanted| wanted.resource.0 as u64));
    packed.map(|packed| packed.map(|packed| packed.bytes().to_vec())).collect()
}

fn told(found: &[Diagnostic]) -> String {
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_pass_gives_arguments_over_what_names_mean() {
    let ints = |values: &[i32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let floats = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let found = given(
        "float4 *to, int step, int stride, float scale, bool last, int2 at, const float *none, int outer, float wide",
        "{ to = \"position\", step = \"1 << round\", stride = \"16 * step + outer\", scale = 2, \
           last = \"round == 4\", at = [3, \"n - 1\"], none = 0, wide = \"rounds\" }",
    );
    let expected = vec![
        0_u64.to_le_bytes().to_vec(),
        ints(&[4]),
        ints(&[161]),
        floats(&[2.0]),
        vec![0],
        ints(&[3, 63]),
        0_u64.to_le_bytes().to_vec(),
        ints(&[1]),
        floats(&[3.0]),
    ];
    assert_eq!(found, Ok(expected));
    // What nothing gives is what its default argument says, as in a launch that leaves it out.
    let found = given(
        "const int *list = NULL, float scale = 2, unsigned mask = 0xffu, bool on = false, int step = 7, double = .5f",
        "{}",
    );
    let expected = vec![
        0_u64.to_le_bytes().to_vec(),
        floats(&[2.0]),
        ints(&[255]),
        vec![0],
        // A name that means something comes before.
        ints(&[10]),
        0.5_f64.to_le_bytes().to_vec(),
    ];
    assert_eq!(found, Ok(expected));
    let faults = [
        ("int a = sizeof(float)", "{}", "`a` of the kernel `f` is no resource"),
        ("int a = 1.5", "{}", "`a` is a float constant"),
        ("int a", "{ a = 1, b = 2 }", "t.cu:30:21: error: the kernel `f` has no parameter `b`"),
        (
            "int a",
            "{ a = 1.5 }",
            "`a` is a float constant, 1.5, but the kernel takes `int`, which the pass gives it; `int(...)`",
        ),
        ("int a", "{ a = \"position\" }", "the buffer position"),
        ("float *a", "{ a = 1 }", "an int constant"),
        ("int2 a", "{ a = [1, 2, 3] }", "a vector of 3 numbers"),
        ("int2 a", "{ a = [1, 2.5] }", "a float constant"),
        ("char a", "{ a = 300 }", "does not fit into the kernel's `char`"),
        ("char a", "{ a = \"100 * round\" }", "`a`: 200 does not fit into the kernel's `char`"),
        ("int a", "{ a = \"1 / (round - 2)\" }", "`a`: division by zero"),
    ];
    for (parameters, args, part) in faults {
        let found = given(parameters, args).expect_err(args);
        assert!(found.contains(part), "{args}: {found}");
    }
}

#[test]
fn what_does_not_fit_is_told_on_its_parameter() {
    let cases = [
        (
            "float4 *positon",
            "`positon` of the kernel `f` is no resource",
            "did you mean `position`",
        ),
        ("float3 *position", "the buffer position (64 float4)", "write `float4 *position`"),
        ("double *position", "but the kernel takes `double *`", ""),
        ("float4 position", "but the kernel takes `float4`", ""),
        ("float *dye", "the texture dye (32x16 rgba32f)", "write `cudaSurfaceObject_t dye`"),
        ("int drag", "`drag` is a float parameter", "takes `int`: write `float drag`"),
        ("float rounds", "`rounds` is an int parameter", "write `int rounds`"),
        ("unsigned char rounds", "can be 300, which does not fit", "`unsigned char`"),
        ("float n", "an int constant", "write `int n`"),
        ("int radius", "a float constant", ""),
        ("float fast", "a toggle", ""),
        ("float2 tint", "a color", "write `float3 tint`"),
        ("int time", "the time in seconds", "write `float time`"),
        ("float step", "a counter", ""),
        ("float3 mouse", "the mouse's x, y", ""),
        ("unsigned long long keys", "the keys held", "write `uint4 keys`"),
        ("int", "has no name", ""),
    ];
    for (parameters, part, other) in cases {
        let found = bound(parameters).expect_err(parameters);
        assert_eq!(found.len(), 1, "{parameters}: {found:?}");
        assert!(found[0].text.contains(part), "{parameters}: {}", found[0].text);
        assert!(found[0].text.contains(other), "{parameters}: {}", found[0].text);
        assert_eq!(found[0].line, Some(29), "{parameters}");
    }
}

#[test]
fn a_choice_needs_room_for_its_last_index() {
    let bound = |names: usize| {
        let choices = (0..names).map(|i| format!("\"c{i}\"")).collect::<Vec<_>>().join(", ");
        let text = MANIFEST.replace(
            "[[pass]]",
            &format!("[param.mode]\nvalue = 0\nchoices = [{choices}]\n[[pass]]"),
        ) + "__global__ void f(signed char mode) {}";
        Scene::parse("t.cu", &text, &Overrides::default()).expect("a good manifest").plan()
    };
    assert!(bound(128).is_ok(), "0 to 127");
    assert!(bound(129).expect_err("128 is too much")[0].text.contains("can be 128"));
}

#[test]
fn the_greatest_integer_fits_a_long_long() {
    let bound = |ctype: &str| {
        let ends = "value = 1\nmin = -9223372036854775808\nmax = 9223372036854775807";
        let text = MANIFEST.replace("[[pass]]", &format!("[param.key]\n{ends}\n[[pass]]"))
            + &format!("__global__ void f({ctype} key) {{}}");
        Scene::parse("t.cu", &text, &Overrides::default()).expect("a good manifest").plan()
    };
    assert!(bound("long long").is_ok());
    assert!(bound("int").is_err());
}

#[test]
fn pointers_may_see_the_same_scalars_otherwise() {
    for parameters in ["float *position", "float2 *position", "void *position", "Body *position"] {
        assert!(bound(parameters).is_ok(), "{parameters}");
    }
}

#[test]
fn parameters_that_depend_on_an_unknown_condition_are_the_compilers() {
    let kernel = "\n__global__ void f(\n#if __CUDA_ARCH__ > 1\n int n, float drag\n#else\n float drag, int n\n#endif\n) {}";
    let scene = Scene::parse("t.cu", &format!("{MANIFEST}{kernel}"), &Overrides::default());
    let mut scene = scene.expect("good");
    let told = scene.plan().expect_err("which of them is not known");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].text.contains("2 kernels `f` with different parameters"), "{told:?}");
    assert!(told[0].text.contains("`kernel = \"f(int, float)\"` names one"), "{told:?}");
    assert!(scene.is_overloaded() && scene.settle_kernels([("_Z1ffi", None)].into_iter()));
    let plan = scene.plan().expect("the compiler told");
    let names: Vec<_> = plan.passes[0].arguments.iter().map(|given| given.name.as_str()).collect();
    assert_eq!(
        (names.as_slice(), plan.passes[0].name_expression.as_str()),
        (&["drag", "n"][..], "_Z1ffi")
    );
    assert!(plan.name_expressions().is_empty(), "it is known");
}

/// The manifest of these tests has an `n` and a `drag`, and no `m`.
#[test]
fn of_overloaded_kernels_the_one_is_launched_that_fits() {
    let of = |kernels: &str| {
        Scene::parse("t.cu", &format!("{MANIFEST}{kernels}"), &Overrides::default())
            .expect("good")
            .plan()
    };
    let one = "__global__ void f(int n, float drag) {}";
    let other = "__global__ void f(int n, float m) {}";
    let plan = of(&format!("{other}\n{one}")).expect("one fits");
    assert_eq!(plan.name_expressions(), ["static_cast<void (*)(int, float)>(f)"]);
    assert_eq!(plan.passes[0].arguments.len(), 2);
    let told = |kernels: &str| of(kernels).expect_err(kernels)[0].text.clone();
    let neither = other.replace("int n", "int l");
    assert!(told(&format!("{other}\n{neither}")).contains("of which none fits"));
    let both = one.replace(", float drag", "");
    assert!(told(&format!("{one}\n{both}")).contains("of which more than one fits"));
    let conditional = format!("#ifdef NOWHERE\n{other}\n#else\n{one}\n#endif");
    assert_eq!(of(&conditional).expect("one is there").name_expressions(), ["f"]);
    let open = format!("#if __CUDA_ARCH__ > 1\n{other}\n#else\n{one}\n#endif");
    assert_eq!(of(&open).expect("one fits").passes[0].arguments.len(), 2);
}

/// Reads `text` as the file `part.cuh` that the scene includes.
fn include(scene: &mut Scene, text: &str) {
    let (name, own) = (scene.name.clone(), scene.source.clone());
    let includes = [("part.cuh".to_owned(), 1)].into();
    let own = SourceFile { name: &name, text: &own, includes };
    scene.read_kernels(&[own, SourceFile { name: "part.cuh", text, includes: [].into() }]);
}

#[test]
fn a_kernel_of_an_included_file_is_found_there() {
    let text = format!("{MANIFEST}\n#include \"part.cuh\"");
    let mut scene = Scene::parse("t.cu", &text, &Overrides::default()).expect("good");
    assert!(scene.plan().is_err());
    include(&mut scene, "\n__global__ void f(int m) {}");
    let found = scene.plan().expect_err("`m` is nothing");
    assert_eq!((found[0].file.as_str(), found[0].line), ("part.cuh", Some(2)));
}

/// How many faults a scene of this manifest and these kernels is told.
fn faults(manifest: &str, kernels: &str) -> usize {
    let source = format!("/*---\n{manifest}\n---*/\n{kernels}");
    let scene = Scene::parse("t.cu", &source, &Overrides::default());
    scene.and_then(|scene| scene.plan()).map_or_else(|found| found.len(), |_| 0)
}

/// What is looked for in all of a scene for each thing that it names takes hours where it has many.
#[test]
fn a_scene_with_much_of_everything_takes_no_longer_than_its_length() {
    let started = Instant::now();
    let pass = |kernel: &str| format!("[[pass]]\nkernel = \"{kernel}\"\ngrid = 1\nblock = 1\n");
    let all = |most, line: &dyn Fn(usize) -> String| (0..most).map(line).collect::<String>();
    let constants = format!("[constant]\n{}", all(8000, &|i| format!("c{i}=1\n")));
    let f = pass("f");
    let same = "__global__ void f(int n);".repeat(60_000);
    let (few, many) = ("[constant]\nn = 1\n", |text: &str| text.repeat(4000));
    assert_eq!(faults(&format!("{few}{}", many(&f)), &same), 0);
    let wide = format!("__global__ void f({}int n);", "int n, ".repeat(60_000));
    assert_eq!(faults(&format!("{few}{}", many(&f)), &wide), MOST_FAULTS);
    let unknown = format!("__global__ void f({}int n);", "int x, ".repeat(40_000));
    assert!(faults(&format!("{constants}{}", f.repeat(100)), &unknown) > 0);
    let missing = all(2000, &|i| pass(&format!("k{i}")));
    let kernels = all(20_000, &|i| format!("__global__ void g{i}();"));
    assert_eq!(faults(&missing, &kernels), MOST_FAULTS);
    let long = "l".repeat(100_000);
    assert_eq!(faults(&pass(&long), &format!("__global__ void {long}l();")), 1);
    let parameters = all(7999, &|i| format!("T c{i}, "));
    let template = format!("template <class T> __global__ void f({parameters}T c7999) {{}}");
    assert_eq!(
        faults(&format!("{constants}{}", pass(&format!("f<{long}>"))), &template),
        0,
        "types unknown"
    );
    let crossed = all(2000, &|i| format!("c{i}=\"d{i}\"\n"));
    assert_eq!(faults(&format!("[constant]\n{crossed}{f}"), ""), 2000);
    let huge = format!("[constant]\n{}", all(40_000, &|i| format!("c{i}=1\n")));
    assert_eq!(faults(&huge, ""), 1, "longer than a manifest may be");
    assert!(started.elapsed() < Duration::from_secs(600), "{:?}", started.elapsed());
}

#[test]
fn kernels_that_are_left_out_are_told() {
    let kernels = "\n__global__ void f() {}".repeat(10_001);
    let text = format!("{MANIFEST}{kernels}\n#include \"part.cuh\"");
    let mut scene = Scene::parse("t.cu", &text, &Overrides::default()).expect("a good manifest");
    let line = MANIFEST.lines().count() as u32 + 10_001;
    let told = |scene: &Scene| -> Vec<_> {
        scene.warnings.iter().map(|w| (w.file.clone(), w.line, w.text.contains("10000"))).collect()
    };
    assert_eq!(told(&scene), [("t.cu".to_owned(), Some(line + 1), true)]);
    include(&mut scene, "\n__global__ void g() {}");
    assert_eq!(told(&scene)[1], ("part.cuh".to_owned(), Some(2), true));
    assert_eq!(scene.kernels.len(), 10_000);
}
