//! Stable fluids: the projection against one by plain Fourier transforms, and an even stream, which carries dye
//! exactly.

use std::f64::consts::TAU;

use half::f16;

use super::{
    Run, bare, devices,
    dft::{Complex, transform},
    read, replaced, worst,
};

const W: usize = 128;
const H: usize = 64;
const CONSTANTS: [(&str, &str); 2] = [("w", "128"), ("h", "64")];

/// The scene with another velocity at the start, and steps of `dt`.
fn starting(velocity: &str, dt: &str) -> String {
    let own = "velocity[y * w + x] = stirred(p.x, p.y);";
    let source = replaced(&bare("fluid"), own, &format!("velocity[y * w + x] = {velocity};"));
    replaced(&source, "\n[constant]", &format!("\ndt = {dt}\n[constant]"))
}

/// The part of a velocity that has no divergence, as central differences see it.
fn projected(velocity: &[[f32; 2]]) -> Vec<Complex> {
    let [mut u, mut v] = [0, 1].map(|axis| {
        let part: Vec<Complex> = velocity.iter().map(|v| [f64::from(v[axis]), 0.0]).collect();
        transform(&part, W, -1.0)
    });
    for i in 1..W * H {
        let sines = [(i % W, W), (i / W, H)].map(|(k, n)| (TAU * k as f64 / n as f64).sin());
        let square = sines[0] * sines[0] + sines[1] * sines[1];
        for part in 0..2 {
            let (a, b) = (u[i][part], v[i][part]);
            // What changes its sign from cell to cell has no differences to be seen, and goes.
            let hidden = square < 1e-20;
            let share = if hidden { 0.0 } else { (a * sines[0] + b * sines[1]) / square };
            u[i][part] = if hidden { 0.0 } else { a - share * sines[0] };
            v[i][part] = if hidden { 0.0 } else { b - share * sines[1] };
        }
    }
    let [u, v] = [u, v].map(|part| transform(&part, W, 1.0));
    let scale = 1.0 / (W * H) as f64;
    u.iter().zip(&v).map(|(u, v)| [scale * u[0], scale * v[0]]).collect()
}

#[test]
fn a_step_of_no_time_is_the_projection() {
    // Rough in all directions, up to 1.
    let rough = "make_float2(sinf(0.01f * x * x + 0.3f * y), cosf(0.02f * y * y - 0.2f * x))";
    let source = starting(rough, "1e-12");
    for device in devices() {
        let mut session = Run { constants: &CONSTANTS, ..Run::of(&source) }.open(&device);
        let expected = projected(&read::<[f32; 2]>(&mut session, "velocity"));
        session.run_steps(1, |_| {}).unwrap();
        let found: Vec<[f32; 2]> = read(&mut session, "velocity");
        let numbers = || found.iter().flatten().copied();
        // Sums of thousands of rounded numbers of up to 1, in fourteen stages.
        let off = worst(numbers(), expected.into_iter().flatten());
        assert!(off < 2e-6, "off by {off:e}");
        let cell = |x: usize, y: usize| found[y % H * W + x % W].map(f64::from);
        for (x, y) in (0..W * H).map(|i| (i % W + W, i / W + H)) {
            let along = cell(x + 1, y)[0] - cell(x - 1, y)[0];
            let divergence = along + cell(x, y + 1)[1] - cell(x, y - 1)[1];
            assert!(divergence.abs() < 4e-6, "{divergence:e} at {x}, {y}");
        }
        // A projection: once more changes nothing.
        session.run_steps(1, |_| {}).unwrap();
        let again: Vec<f32> = read(&mut session, "velocity");
        let moved = worst(again, numbers().map(f64::from));
        assert!(moved < 2e-6, "moved by {moved:e}");
    }
}

#[test]
fn an_even_stream_carries_dye_from_cell_to_cell() {
    // Three cells to the right and two down in a step, and nobody stirs.
    let source = starting("make_float2(3.0f, -2.0f)", "0.015625");
    let source = replaced(&source, "if (amount > 0.0f) {", "if (false) {");
    let pattern =
        "make_ushort4(to_half(x % 16), to_half(y % 32), to_half((x + y) % 8), 0), dye, x * 8, y);";
    let own =
        "make_ushort4(to_half(color.x), to_half(color.y), to_half(color.z), 0), dye, x * 8, y);";
    let source = replaced(&source, own, pattern);
    for device in devices() {
        let run = Run { constants: &CONSTANTS, parameters: &[("fade", "0")], ..Run::of(&source) };
        let mut session = run.open(&device);
        session.run_steps(9, |_| {}).unwrap();
        let off = worst(read::<f32>(&mut session, "velocity"), [3.0, -2.0].into_iter().cycle());
        assert!(off < 1e-5, "velocity off by {off:e}");
        let dye: Vec<[f16; 4]> =
            read::<[u16; 4]>(&mut session, "dye").iter().map(|t| t.map(f16::from_bits)).collect();
        for (i, texel) in dye.iter().enumerate() {
            let (x, y) = (i % W + W - 27, (i / W + 18) % H);
            let expected = [x % 16, y % 32, (x % W + y) % 8].map(|n| n as f32);
            // Between texels weights have steps of 1/256: rounding does not reach them.
            assert_eq!([0, 1, 2].map(|c| f32::from(texel[c])), expected, "texel {i}");
        }
    }
}
