//! Karman's vortex street: a step of the lattice Boltzmann method against the textbook's, in double precision.

use super::{Run, bare, devices, read};

const W: usize = 60;
const H: usize = 41;
const D: f64 = 10.0;
const U: f64 = 0.08;
const REYNOLDS: f64 = 100.0;
/// Where each population goes, and its share of a fluid at rest.
const WAYS: [([isize; 2], f64); 9] = [
    ([0, 0], 4.0 / 9.0),
    ([1, 0], 1.0 / 9.0),
    ([0, 1], 1.0 / 9.0),
    ([-1, 0], 1.0 / 9.0),
    ([0, -1], 1.0 / 9.0),
    ([1, 1], 1.0 / 36.0),
    ([-1, 1], 1.0 / 36.0),
    ([-1, -1], 1.0 / 36.0),
    ([1, -1], 1.0 / 36.0),
];

fn opposite(i: usize) -> usize {
    WAYS.iter().position(|(way, _)| *way == WAYS[i].0.map(|c| -c)).unwrap()
}

/// What arrives at a cell; walls give back what went there, the inlet with its own momentum.
fn arriving(f: &dyn Fn(usize, usize, usize) -> f64, x: usize, y: usize) -> [f64; 9] {
    std::array::from_fn(|i| {
        let ([to_x, to_y], share) = WAYS[i];
        let from = (x.checked_add_signed(-to_x), y.checked_add_signed(-to_y).filter(|y| *y < H));
        match from {
            (_, None) => f(opposite(i), x, y),
            (None, _) => {
                let height = y as f64 + 0.5 - 0.5 * to_y as f64;
                let inflow = 6.0 * U * height * (H as f64 - height) / (H * H) as f64;
                f(opposite(i), x, y) + 6.0 * share * inflow
            }
            (Some(x), Some(y)) => f(i, x, y),
        }
    })
}

/// Two relaxation times towards the equilibrium: that of the even parts has the viscosity, and the product of both,
/// less 1/2 each, is 1/4.
fn relaxed(f: [f64; 9]) -> [f64; 9] {
    let density: f64 = f.iter().sum();
    let velocity = [0, 1].map(|axis| {
        f.iter().zip(WAYS).map(|(f, (way, _))| f * way[axis] as f64).sum::<f64>() / density
    });
    let square = velocity[0] * velocity[0] + velocity[1] * velocity[1];
    let apart: [f64; 9] = std::array::from_fn(|i| {
        let (way, share) = WAYS[i];
        let along = way[0] as f64 * velocity[0] + way[1] as f64 * velocity[1];
        f[i] - share * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square)
    });
    let even = 3.0 * U * D / REYNOLDS + 0.5;
    let odd = 0.25 / (even - 0.5) + 0.5;
    std::array::from_fn(|i| {
        let (here, there) = (apart[i], apart[opposite(i)]);
        f[i] - 0.5 * (here + there) / even - 0.5 * (here - there) / odd
    })
}

#[test]
fn a_step_streams_and_collides() {
    let source = bare("karman");
    let constants = [("d", "10"), ("w", "60"), ("h", "41"), ("u", "0.08"), ("speed", "1")];
    for device in devices() {
        let mut session = Run { constants: &constants, ..Run::of(&source) }.open(&device);
        session.run_steps(40, |_| {}).unwrap();
        let before: Vec<f32> = read(&mut session, "f");
        session.run_steps(1, |_| {}).unwrap();
        let after: Vec<f32> = read(&mut session, "f");
        let place = |i: usize, x: usize, y: usize| (i * H + y) * W + x;
        // Populations are stored less their share at rest.
        let full = |i, x, y| f64::from(before[place(i, x, y)]) + WAYS[i].1;
        let mut worst: f64 = 0.0;
        for (x, y) in (0..W - 1).flat_map(|x| (0..H).map(move |y| (x, y))) {
            let from_middle = (x as f64 + 0.5 - 2.0 * D).hypot(y as f64 + 0.5 - 2.0 * D);
            // The curved wall is the cylinder's own affair, as the last column is the outlet's.
            if from_middle < 0.5 * D + 1.5 {
                continue;
            }
            let expected = relaxed(arriving(&full, x, y));
            for (i, expected) in expected.into_iter().enumerate() {
                let found = f64::from(after[place(i, x, y)]) + WAYS[i].1;
                worst = worst.max((found - expected).abs());
            }
        }
        // Populations differ from rest by about 0.05, and of such numbers nine are added up.
        assert!(worst < 5e-8, "off by {worst:e}");
    }
}
