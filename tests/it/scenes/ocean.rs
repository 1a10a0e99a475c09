//! Ocean: the surface against a sum of waves in double precision, each with its own height, way and speed.

use std::f64::consts::{FRAC_2_PI, PI, TAU};

use super::{devices, dft::wave_number, open, read, worst};

const N: usize = 32;
const G: f64 = 9.81;
const PATCH: f64 = 250.0;
/// As the manifest has them: m/s, m, and where it blows to.
const WIND: f64 = 14.0;
const FETCH: f64 = 40e3;
const DIRECTION: f64 = 30.0 * PI / 180.0;

/// Hasselmann and others: the variance of a frequency.
fn jonswap(omega: f64) -> f64 {
    let peak = 22.0 * (G * G / (WIND * FETCH)).cbrt();
    let alpha = 0.076 * (WIND * WIND / (FETCH * G)).powf(0.22);
    let width = if omega <= peak { 0.07 } else { 0.09 };
    let near = (-0.5 * ((omega - peak) / (width * peak)).powi(2)).exp();
    let pierson_moskowitz = (-1.25 * (peak / omega).powi(4)).exp() / omega.powi(5);
    alpha * G * G * pierson_moskowitz * 3.3f64.powf(near)
}

/// A wave: its wave vector, its frequency, and the standard deviation of its height.
fn wave(i: usize) -> ([f64; 2], f64, f64) {
    let k = [i % N, i / N].map(|place| TAU / PATCH * wave_number(place, N));
    let length = k[0].hypot(k[1]);
    let omega = (G * length).sqrt();
    let cosine = (k[0] * DIRECTION.cos() + k[1] * DIRECTION.sin()) / length;
    // The mean is no wave; those against the wind are not there, nor the highest, which have no opposite.
    if i == 0 || cosine <= 0.0 || i % N == N / 2 || i / N == N / 2 {
        return (k, omega, 0.0);
    }
    // From frequencies to wave vectors: d(omega)/dk, and a circle of 2 pi k of which cos^2 takes 2/pi.
    let density = jonswap(omega) * 0.5 * (G / length).sqrt() * FRAC_2_PI * cosine.powi(2) / length;
    (k, omega, (density * (TAU / PATCH).powi(2)).sqrt())
}

#[test]
fn the_surface_is_a_sum_of_waves() {
    for device in devices() {
        let mut session = open(&device, "ocean", &[("n", &N.to_string())]);
        session.run_steps(300, |_| {}).unwrap();
        let time = 299.0 / 60.0;
        let noise: Vec<[f32; 2]> = read(&mut session, "noise");
        let waves: Vec<_> = (0..N * N).map(wave).enumerate().filter(|(_, w)| w.2 > 0.0).collect();
        let height = |cell: usize| {
            let at = [cell % N, cell / N].map(|place| place as f64 * PATCH / N as f64);
            let one = |&(i, (k, omega, deviation)): &(usize, ([f64; 2], f64, f64))| {
                let (s, c) = (k[0] * at[0] + k[1] * at[1] - omega * time).sin_cos();
                deviation * (f64::from(noise[i][0]) * c - f64::from(noise[i][1]) * s)
            };
            waves.iter().map(one).sum::<f64>()
        };
        let found: Vec<[f32; 2]> = read(&mut session, "sea");
        let found: Vec<f32> = found.into_iter().map(|[height, _]| height).collect();
        // Metres: some hundred waves of a decimetre each, at angles of up to 10 that are off by 1e-6.
        let off = worst(found.iter().copied(), (0..N * N).map(height));
        assert!(off < 3e-6, "off by {off:e} m");
        assert!(found.iter().any(|height| *height > 0.5), "there are waves");
    }
}
