//! Galaxies: forces and steps against sums in double precision, and what gravity keeps.

use super::{devices, open, read, sum};

type Vector = [f64; 3];

const DT: f64 = 0.005;
const SOFTENING: f64 = 0.03;

/// The shapes that the manifest has for GPUs and for the CPU device; 500 fills no block.
const SHAPES: [&[(&str, &str)]; 2] = [
    &[("n", "500"), ("bodies", "4"), ("lanes", "64"), ("slices", "4")],
    &[("n", "500"), ("bodies", "1"), ("lanes", "256"), ("slices", "1")],
];

fn of(v: &[f32; 4]) -> Vector {
    [0, 1, 2].map(|axis| f64::from(v[axis]))
}

fn minus(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|axis| a[axis] - b[axis])
}

/// a + s b
fn plus(a: Vector, s: f64, b: Vector) -> Vector {
    [0, 1, 2].map(|axis| a[axis] + s * b[axis])
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The acceleration of each body, and the energy of all.
fn gravity(p: &[Vector], v: &[Vector], mass: &[f64]) -> (Vec<Vector>, f64) {
    let mut energy = 0.0;
    let field = |i: usize| {
        let mut sum = [0.0; 3];
        for j in (0..p.len()).filter(|j| *j != i) {
            let d = minus(p[j], p[i]);
            let r2 = dot(d, d) + SOFTENING * SOFTENING;
            sum = plus(sum, mass[j] * r2.powf(-1.5), d);
            energy -= 0.5 * mass[i] * mass[j] / r2.sqrt();
        }
        energy += 0.5 * mass[i] * dot(v[i], v[i]);
        sum
    };
    ((0..p.len()).map(field).collect(), energy)
}

#[test]
fn steps_are_leapfrogs() {
    for device in devices() {
        for shape in SHAPES {
            let mut session = open(&device, "nbody", shape);
            let start: Vec<[f32; 4]> = read(&mut session, "position");
            let mass: Vec<f64> = start.iter().map(|p| f64::from(p[3])).collect();
            let mut p: Vec<Vector> = start.iter().map(of).collect();
            let mut v: Vec<Vector> = read(&mut session, "velocity").iter().map(of).collect();
            let (mut a, _) = gravity(&p, &v, &mass);
            for _ in 0..17 {
                for i in 0..p.len() {
                    v[i] = plus(v[i], 0.5 * DT, a[i]);
                    p[i] = plus(p[i], DT, v[i]);
                }
                a = gravity(&p, &v, &mass).0;
                (0..p.len()).for_each(|i| v[i] = plus(v[i], 0.5 * DT, a[i]));
            }
            let (a, energy) = gravity(&p, &v, &mass);
            session.run_steps(17, |_| {}).unwrap();
            // Sums of hundreds of rounded terms; velocities are about 1, accelerations up to about 10.
            for (name, expected, bound) in
                [("position", p, 2e-6), ("velocity", v, 2e-5), ("acceleration", a, 5e-4)]
            {
                let found: Vec<[f32; 4]> = read(&mut session, name);
                let worst = found.iter().zip(&expected).map(|(found, expected)| {
                    let d = minus(of(found), *expected);
                    dot(d, d).sqrt()
                });
                let worst = worst.fold(0.0, f64::max);
                assert!(worst < bound, "{name} with {shape:?}: off by {worst:e}");
            }
            let found = sum(&read(&mut session, "conserved"), |c: &[f32; 4]| c[3]);
            assert!((found / energy - 1.0).abs() < 1e-5, "energy {found} for {energy}");
        }
    }
}

#[test]
fn momentum_and_energy_stay() {
    for device in devices() {
        let mut session = open(&device, "nbody", &[("n", "1000")]);
        let measured = |session: &mut super::Session| {
            let conserved: Vec<[f32; 4]> = read(session, "conserved");
            let spin: Vec<[f32; 4]> = read(session, "spin");
            let momentum = [0, 1, 2].map(|axis| sum(&conserved, |c| c[axis]));
            (dot(momentum, momentum).sqrt(), sum(&conserved, |c| c[3]), sum(&spin, |s| s[2]))
        };
        session.run_steps(1, |_| {}).unwrap();
        let (_, energy, spin) = measured(&mut session);
        session.run_steps(160, |_| {}).unwrap();
        let (momentum, later, spin_later) = measured(&mut session);
        // Rounding alone, of bodies that together weigh 2 and move at about 1.
        assert!(momentum < 1e-5, "momentum {momentum:e}");
        assert!((spin_later / spin - 1.0).abs() < 1e-4, "spin {spin} to {spin_later}");
        // The leapfrog's error, bounded but not zero.
        assert!((later / energy - 1.0).abs() < 2e-3, "energy {energy} to {later}");
    }
}
