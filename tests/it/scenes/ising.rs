//! Ising: sweeps against Metropolis' rule with the same random numbers, on a lattice as one draws it.

use super::{Run, bare, devices, read};
use crate::support::philox;

const W: usize = 64;
const H: usize = 48;
const TEMPERATURE: f64 = 2.6;
const FIELD: f64 = 0.05;

/// Where a spin of the lattice is stored: first all of even x + y, row by row, then the others.
fn place(x: usize, y: usize) -> usize {
    (x + y) % 2 * (W * H / 2) + y * (W / 2) + x / 2
}

/// Turns the spins of one colour. Word `i % 4` of number `i / 4` belongs to the colour's spin `i`.
fn turn(spins: &mut [i8], clock: usize) {
    for y in 0..H {
        for x in (0..W).filter(|x| (x + y) % 2 == clock % 2) {
            let near = [(x + 1, y), (x + W - 1, y), (x, y + 1), (x, y + H - 1)];
            let sum: f64 = near.iter().map(|(x, y)| f64::from(spins[place(x % W, y % H)])).sum();
            let i = place(x, y) % (W * H / 2);
            let word = philox([i as u32 / 4, clock as u32, 0, 0], [1, 0x6973_696e])[i % 4];
            let spin = &mut spins[place(x, y)];
            let cost = 2.0 * f64::from(*spin) * (sum + FIELD);
            // Metropolis: always where it costs nothing.
            if f64::from(word >> 8) / 2f64.powi(24) < (-cost / TEMPERATURE).exp() {
                *spin = -*spin;
            }
        }
    }
}

#[test]
fn sweeps_are_metropoliss() {
    let source = bare("ising");
    for device in devices() {
        let run = Run {
            constants: &[("w", "64"), ("h", "48"), ("speed", "4")],
            parameters: &[("start", "random"), ("field", "0.05"), ("temperature", "2.6")],
            ..Run::of(&source)
        };
        let mut session = run.open(&device);
        let mut spins: Vec<i8> = read(&mut session, "spins");
        session.run_steps(20, |_| {}).unwrap();
        (0..80).for_each(|clock| turn(&mut spins, clock));
        let turned = spins.iter().filter(|spin| **spin == 1).count();
        assert!((300..2900).contains(&turned), "{turned} point up");
        // The same bits: of a hundred thousand chances of 24 bits none lies within 1e-7 of its limit.
        assert!(spins == read::<i8>(&mut session, "spins"));
    }
}
