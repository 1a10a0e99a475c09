//! Noise: simplex noise against the sum over all of its lattice in double precision. Perlin's and Worley's are looked
//! at where the headers are.

use super::{Run, bare, devices, read, worst};
use crate::support::hash_of_cell;

const W: usize = 64;
const H: usize = 48;

/// What a vertex of the simplex lattice adds: `65 (1/2 - r^2)^4 (g . r)`, as far as the first factor is positive.
fn vertex(cell: [i32; 3], p: [f64; 3], seed: u32) -> f64 {
    // The lattice is the cubic one, pressed together along its diagonal.
    let back = f64::from(cell.iter().sum::<i32>()) / 6.0;
    let r = [0, 1, 2].map(|axis| p[axis] - (f64::from(cell[axis]) - back));
    let t = (0.5 - r.iter().map(|r| r * r).sum::<f64>()).max(0.0);
    let bits = hash_of_cell(cell, seed);
    let along = (0..3).map(|axis| r[axis] * (f64::from(bits >> (10 * axis) & 1023) / 511.5 - 1.0));
    65.0 * t.powi(4) * along.sum::<f64>()
}

/// All vertices in reach: no simplex is chosen.
fn simplex(p: [f64; 3], seed: u32) -> f64 {
    let skew = p.iter().sum::<f64>() / 3.0;
    let home = p.map(|x| (x + skew).floor() as i32);
    let cells =
        (0..64).map(|i| [home[0] + i % 4 - 1, home[1] + i / 4 % 4 - 1, home[2] + i / 16 - 1]);
    cells.map(|cell| vertex(cell, p, seed)).sum()
}

#[test]
fn simplex_noise_is_a_sum_over_its_lattice() {
    let source = bare("noise");
    for device in devices() {
        let run = Run {
            constants: &[("w", "64"), ("h", "48")],
            parameters: &[("octaves", "3"), ("warp", "0"), ("zoom", "6"), ("lacunarity", "2.5")],
            ..Run::of(&source)
        };
        let mut session = run.open(&device);
        session.run_steps(20, |_| {}).unwrap();
        let field = |i: usize| {
            let at = |place: usize| (place as f64 + 0.5) * 6.0 / H as f64;
            let mut p = [at(i % W), at(i / W), 0.12 * 19.0 / 60.0];
            let (mut sum, mut strength) = (0.0, 1.0);
            for octave in 0..3 {
                sum += strength * simplex(p, 1 + octave);
                p = [0, 1, 2].map(|axis| 2.5 * p[axis] + [17.3, 41.7, 5.9][axis]);
                strength *= 0.5;
            }
            0.5 + 0.9 * sum / 1.75
        };
        let found: Vec<f32> = read(&mut session, "field");
        // Places of up to 150 are off by 1e-5, and slopes are about 4, of which an octave has a quarter or less.
        let off = worst(found, (0..W * H).map(field));
        assert!(off < 2e-5, "off by {off:e}");
    }
}
