//! Gaussian random field: its waves and their sum, against the definitions in double precision.

use std::f64::consts::TAU;

use super::{
    devices,
    dft::{Complex, transform, wave_number},
    open, read, worst,
};
use crate::support::philox;

const N: usize = 32;
/// As the manifest has them.
const STEEPNESS: f64 = 2.8;
const TURN: f64 = 0.05;
const SPREAD: f64 = 0.5;

/// Two normal numbers for a cell, by Box and Muller's transform of Philox's words.
fn normals(cell: usize) -> Complex {
    let words = philox([0, cell as u32, 0, 0], [1, 0x7761_7270]);
    let unit = |word: u32| f64::from(word) / 2f64.powi(32);
    [0, 2].map(|i| {
        let radius = (-2.0 * (unit(words[i]) + 0.5f64.powi(33)).ln()).sqrt();
        radius * (TAU * unit(words[i + 1])).cos()
    })
}

/// k, from 0 to the corner's.
fn length(i: usize) -> f64 {
    wave_number(i % N, N).hypot(wave_number(i / N, N))
}

#[test]
fn the_field_has_the_given_spectrum() {
    let noise: Vec<Complex> = (0..N * N).map(normals).collect();
    let [a, b] = [0, 1].map(|part| {
        let real: Vec<Complex> = noise.iter().map(|n| [n[part], 0.0]).collect();
        transform(&real, N, -1.0)
    });
    let power = |i: usize| if i == 0 { 0.0 } else { length(i).powf(-STEEPNESS) };
    let all: f64 = (0..N * N).map(power).sum();
    for device in devices() {
        let mut session = open(&device, "gaussian-field", &[("n", &N.to_string())]);
        session.run_steps(90, |_| {}).unwrap();
        // Passes see the time at which their step begins.
        let time = 89.0 / 60.0;
        let wave = |i: usize| {
            let (s, c) = (TAU * TURN * length(i).powf(SPREAD) * time).sin_cos();
            let strength = (power(i) / all).sqrt() / N as f64;
            [0, 1].map(|part| strength * (c * a[i][part] + s * b[i][part]))
        };
        let waves: Vec<Complex> = (0..N * N).map(wave).collect();
        let expected = transform(&waves, N, 1.0);
        // Variance 1. Errors are those of some hundred rounded sums, and of angles up to 2.
        let found: Vec<f32> = read(&mut session, "field");
        let off = worst(found.iter().copied(), expected.iter().flatten().copied());
        assert!(off < 5e-6, "field off by {off:e}");
        // Parseval: the power of all waves is the field's variance.
        let variance = expected.iter().map(|f| f[0] * f[0]).sum::<f64>() / (N * N) as f64;
        let measured: Vec<f32> = read(&mut session, "measured");
        assert!((f64::from(measured[2]) / variance - 1.0).abs() < 1e-5, "{measured:?} {variance}");
    }
}
