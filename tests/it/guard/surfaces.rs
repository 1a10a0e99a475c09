//! Surfaces: an access outside is left out, and told in the CPU device's words.

use warpaint::device::{
    Arguments, ArrayDescriptor, ArrayShape, Device, Error, FaultKind, Format, LaunchConfig, Memory,
};

use super::{
    bench::{Bench, Stop, fault, run},
    faults::kernel,
};

/// A surface of so many texels, and rows.
const WIDTH: usize = 8;
const ROWS: usize = 4;

/// Slices or layers.
const SLICES: usize = 3;

/// Launches a kernel whose second argument is a flat surface, guarded and plain: where there is a fault, both tell the
/// same.
fn told(body: &str, threads: u32) -> (Option<FaultKind>, u32) {
    told_of(ArrayShape::D2 { width: WIDTH, height: ROWS }, body, threads)
}

/// The same, of a surface of any shape.
fn told_of(shape: ArrayShape, body: &str, threads: u32) -> (Option<FaultKind>, u32) {
    let device = Device::cpu().unwrap();
    let text = kernel(body);
    let mut bench = Bench::new(&device, &text);
    let array = device.array(&ArrayDescriptor::new(shape, Format::R32F).with_surface()).unwrap();
    let surface = device.surface(&array).unwrap();
    let [_, rows, slices] = shape.extent().map(|size| size as u32);
    bench.surfaces.push((surface.handle(), [4 * WIDTH as u32, rows, slices]));
    let memory = device.alloc(128).unwrap();
    let known: [&Memory; 1] = [&memory];
    let mut arguments = Arguments::new();
    arguments.push(&memory.address()).push(&surface.handle());
    let config = LaunchConfig::new(1, threads);
    bench.prepare(&known, Stop::Never);
    bench.launch("bad", &config, &arguments, &known).unwrap();
    let found = bench.told(&known).map(|told| told.fault);
    let plain = device.load(&text).unwrap().function("bad").unwrap();
    let ended: Result<(), Error> = run(&bench.stream, &plain, &config, &arguments);
    let expected = fault(ended);
    let essence = |fault: &warpaint::device::Fault| {
        (fault.kind.clone(), fault.location.clone(), fault.thread, fault.kernel.clone())
    };
    assert_eq!(found.as_ref().map(essence), expected.as_ref().map(essence));
    (found.map(|fault| fault.kind), bench.proved.get())
}

#[test]
fn an_access_outside_a_surface_is_left_out_and_told() {
    let store = |x: &str, y: &str| {
        format!(
            "{x} {y}
            .loc 1 7 2
            sust.b.2d.b32.trap [%rd4, {{%r5, %r6}}], {{%r1}};"
        )
    };
    let (x, y) = ("shl.b32 %r5, %r1, 2;", "mov.u32 %r6, 3;");
    assert_eq!(told(&store(x, y), 8), (None, 1), "a version without the check was launched");
    let outside = |at: [i32; 2]| {
        let at = [at[0], at[1], 0];
        let extent = [32, 4, 1];
        Some(FaultKind::OutsideSurface { write: true, at, bytes: 4, extent })
    };
    assert_eq!(told(&store(x, y), 9), (outside([32, 3]), 0));
    assert_eq!(told(&store("add.s32 %r5, %r1, -4;", y), 1).0, outside([-4, 3]));
    // An access that is not aligned ends a launch even where it would be inside.
    let odd = Some(FaultKind::Misaligned);
    assert_eq!(told(&store("add.s32 %r5, %r1, 4;", y), 2), (odd, 0), "thread 1 at byte 5");
    assert_eq!(told(&store(x, "mov.u32 %r6, 4;"), 1).0, outside([0, 4]));
    assert_eq!(told(&store(x, "add.s32 %r6, %r1, -1;"), 1).0, outside([0, -1]));
    // What is left out is not told where it is not made, nor where the instruction says what is to happen.
    let guarded = store(x, y).replace("sust", "setp.lt.u32 %p1, %r1, 8; @%p1 sust");
    assert_eq!(told(&guarded, 32).0, None);
    assert_eq!(told(&store(x, y).replace("trap", "zero"), 32).0, None);
    // But it must be aligned whatever is to happen outside.
    for clamp in ["zero", "clamp"] {
        let one = store("add.s32 %r5, %r1, 4;", y).replace("trap", clamp);
        assert_eq!((told(&one, 1).0, told(&one, 2).0), (None, Some(FaultKind::Misaligned)));
    }
}

#[test]
fn a_load_outside_a_surface_gives_zero() {
    let body = "shl.b32 %r5, %r1, 2; mov.u32 %r7, 9;
        .loc 1 7 2
        suld.b.2d.b32.trap {%r7}, [%rd4, {%r5, %r1}];
        st.global.u32 [%rd3], %r7;";
    let extent = [32, 4, 1];
    let expected = FaultKind::OutsideSurface { write: false, at: [16, 4, 0], bytes: 4, extent };
    assert_eq!(told(body, 5).0, Some(expected));
    assert_eq!(told(body, 4).0, None);
}

#[test]
fn slices_and_layers_are_compared_too() {
    let solid = ArrayShape::D3 { width: WIDTH, height: ROWS, depth: SLICES };
    let layers = ArrayShape::Layered2 { width: WIDTH, height: ROWS, layers: SLICES };
    let lines = ArrayShape::Layered1 { width: WIDTH, layers: SLICES };
    let set = "shl.b32 %r5, %r1, 2; mov.u32 %r6, ROW; mov.u32 %r7, SLICE;
        .loc 1 7 2
        ";
    let places = [
        (solid, "sust.b.3d.b32.trap [%rd4, {%r5, %r6, %r7, %r7}], {%r1};", ROWS),
        (layers, "sust.b.a2d.b32.trap [%rd4, {%r7, %r5, %r6, %r6}], {%r1};", ROWS),
        (lines, "sust.b.a1d.b32.trap [%rd4, {%r7, %r5}], {%r1};", 1),
    ];
    for (shape, store, rows) in places {
        let told = |threads: u32, row: i32, slice: i32| {
            let text = set.replace("ROW", &row.to_string()).replace("SLICE", &slice.to_string());
            told_of(shape, &format!("{text}{store}"), threads)
        };
        let last = rows as i32 - 1;
        assert_eq!(told(8, last, 2), (None, 1), "a version without the check was launched");
        let wrong = [(9, last, 2, [32, last, 2]), (1, 0, 3, [0, 0, 3]), (1, 0, -1, [0, 0, -1])];
        for (threads, row, slice, at) in wrong {
            let extent = [32, rows as u32, SLICES as u32];
            let expected = FaultKind::OutsideSurface { write: true, at, bytes: 4, extent };
            assert_eq!(told(threads, row, slice), (Some(expected), 0), "{store}");
        }
    }
}
