//! Smoke: the pressure of a V-cycle against the exact one, by cosine transforms in double precision.

use std::f64::consts::PI;

use super::{devices, open, read};

const N: usize = 32;

/// Cosines of cells' middles: a wave a row.
fn cosines() -> Vec<[f64; N]> {
    let wave =
        |k: usize| std::array::from_fn(|i| (PI * k as f64 * (i as f64 + 0.5) / N as f64).cos());
    (0..N).map(wave).collect()
}

/// The sums over the fastest axis with each row of `table`, which then is the slowest one.
fn turned(field: &[f64], table: &[[f64; N]]) -> Vec<f64> {
    let sum = |line: &[f64], row: &[f64; N]| line.iter().zip(row).map(|(a, b)| a * b).sum::<f64>();
    table.iter().flat_map(|row| field.chunks(N).map(move |line| sum(line, row))).collect()
}

/// The pressure of which the differences between neighbours add up to `source`; its mean is 0.
fn exact(source: &[f64]) -> Vec<f64> {
    let there = cosines();
    let back: Vec<[f64; N]> = (0..N)
        .map(|i| std::array::from_fn(|k| there[k][i] * if k == 0 { 1.0 } else { 2.0 }))
        .collect();
    let mut waves = (0..3).fold(source.to_vec(), |field, _| turned(&field, &there));
    for (i, wave) in waves.iter_mut().enumerate() {
        let curvature = |k: usize| 2.0 * (PI * k as f64 / N as f64).cos() - 2.0;
        let all = curvature(i % N) + curvature(i / N % N) + curvature(i / N / N);
        *wave = if i == 0 { 0.0 } else { *wave / all / (N * N * N) as f64 };
    }
    (0..3).fold(waves, |field, _| turned(&field, &back))
}

fn norm(field: impl Iterator<Item = f64>) -> f64 {
    field.map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn a_cycle_comes_near_the_exact_pressure() {
    for device in devices() {
        let mut session = open(&device, "smoke", &[("n", &N.to_string())]);
        session.run_steps(40, |_| {}).unwrap();
        let level =
            |numbers: Vec<f32>| numbers[..N * N * N].iter().copied().map(f64::from).collect();
        let [pressure, source]: [Vec<f64>; 2] =
            ["pressure", "source"].map(|name| level(read(&mut session, name)));
        let flow: Vec<[f32; 4]> = read(&mut session, "flow");
        let exact = exact(&source);
        let mean = pressure.iter().sum::<f64>() / pressure.len() as f64;
        let off = norm(pressure.iter().zip(&exact).map(|(p, e)| p - mean - e));
        let off = off / norm(exact.iter().copied());
        // What one cycle a step leaves, each of which divides errors by ten or so and meets a new source: 0.034.
        assert!(off < 0.06, "off by {off} of the pressure");
        // What the pressure misses of the source is what is left of the divergence.
        let face = |i: usize, axis: usize| f64::from(flow[i][axis]);
        let steps = [1, N, N * N];
        let mut left = Vec::new();
        for i in 0..N * N * N {
            let (mut outflow, mut missing) = (0.0, source[i]);
            for (axis, step) in steps.into_iter().enumerate() {
                let place = i / step % N;
                outflow -= face(i, axis);
                if place + 1 < N {
                    outflow += face(i + step, axis);
                    missing -= pressure[i + step] - pressure[i];
                }
                if place > 0 {
                    missing -= pressure[i - step] - pressure[i];
                }
            }
            // Velocities of about 1, rounded.
            assert!((outflow - missing).abs() < 1e-6, "cell {i}: {outflow} {missing}");
            left.push(outflow);
        }
        let left = norm(left.into_iter()) / norm(source.iter().copied());
        // 0.064, for the same reason.
        assert!(left < 0.1, "{left} of the divergence are left");
    }
}
