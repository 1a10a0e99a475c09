//! Wave equation: steps against leapfrog's in double precision, and the energy that they keep.

use super::{Run, bare, devices, read, worst};

const W: usize = 66;
const H: usize = 48;
/// Cells that a wave goes in a step, as the manifest has it.
const COURANT: f64 = 0.5;
const CONSTANTS: [(&str, &str); 3] = [("w", "66"), ("h", "48"), ("speed", "4")];

/// Outside of a pool of radius 0.48.
fn is_wall(i: usize) -> bool {
    let [x, y] =
        [(i % W, W), (i / W, H)].map(|(at, n)| (at as f64 + 0.5 - 0.5 * n as f64) / H as f64);
    x * x + y * y > 0.48 * 0.48
}

/// The neighbours of a cell; at an edge, where the membrane goes on as it ends, the cell itself.
fn around(i: usize) -> [usize; 4] {
    let (x, y) = (i % W, i / W);
    [
        if x > 0 { i - 1 } else { i },
        if x + 1 < W { i + 1 } else { i },
        if y > 0 { i - W } else { i },
        if y + 1 < H { i + W } else { i },
    ]
}

#[test]
fn steps_are_leapfrogs() {
    let source = bare("wave");
    for device in devices() {
        let run = Run {
            constants: &CONSTANTS,
            parameters: &[("walls", "round pool")],
            ..Run::of(&source)
        };
        let mut session = run.open(&device);
        let start: Vec<[f32; 2]> = read(&mut session, "cells");
        let mut now: Vec<f64> = start.iter().map(|c| f64::from(c[0])).collect();
        let mut before: Vec<f64> =
            start.iter().map(|c| f64::from(c[0]) - f64::from(c[1])).collect();
        assert!(now.iter().any(|u| *u > 0.3), "there is a wave");
        session.run_steps(50, |_| {}).unwrap();
        for _ in 0..4 * 50 {
            let next = |i: usize| {
                let laplacian = around(i).iter().map(|&j| now[j] - now[i]).sum::<f64>();
                let next = 2.0 * now[i] - before[i] + COURANT * COURANT * laplacian;
                if is_wall(i) { 0.0 } else { next }
            };
            before = (0..W * H).map(next).collect();
            std::mem::swap(&mut before, &mut now);
        }
        let found: Vec<[f32; 2]> = read(&mut session, "cells");
        // Two hundred steps, each of which rounds numbers of up to 1 to 6e-8; errors run about as waves do.
        let off = worst(found.iter().map(|c| c[0]), now);
        assert!(off < 2e-6, "off by {off:e}");
    }
}

/// Half of the squared velocities, and of the products of neighbours' differences now and a step before.
fn energy(cells: &[[f32; 2]]) -> f64 {
    let cells: Vec<[f64; 2]> = cells.iter().map(|c| c.map(f64::from)).collect();
    let own = |i: usize| {
        let [here, moved] = cells[i];
        let bond = |&j: &usize| {
            let now = cells[j][0] - here;
            now * (now - (cells[j][1] - moved))
        };
        // Each bond is met from both ends.
        0.5 * (moved * moved + 0.5 * COURANT * COURANT * around(i).iter().map(bond).sum::<f64>())
    };
    (0..cells.len()).map(own).sum()
}

#[test]
fn energy_stays() {
    let source = bare("wave");
    for device in devices() {
        let run =
            Run { constants: &CONSTANTS, parameters: &[("walls", "none")], ..Run::of(&source) };
        let mut session = run.open(&device);
        let before = energy(&read::<[f32; 2]>(&mut session, "cells"));
        session.run_steps(250, |_| {}).unwrap();
        let after = energy(&read::<[f32; 2]>(&mut session, "cells"));
        // A thousand steps whose rounding is as often up as down.
        assert!((after / before - 1.0).abs() < 1e-5, "{before} to {after}");
    }
}
