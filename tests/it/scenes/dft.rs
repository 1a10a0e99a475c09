//! Fourier transforms by their definition, in double precision.

use std::f64::consts::TAU;

pub type Complex = [f64; 2];

pub fn product(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The sum over x and y of `field` times exp(sign 2 pi i (k x / w + l y / h)), for each k of row l.
pub fn transform(field: &[Complex], w: usize, sign: f64) -> Vec<Complex> {
    turned(&turned(field, w, sign), field.len() / w, sign)
}

/// The transform of each row, as a column.
fn turned(field: &[Complex], w: usize, sign: f64) -> Vec<Complex> {
    let turns: Vec<Complex> =
        (0..w).map(|i| (sign * TAU * i as f64 / w as f64).sin_cos()).map(|(s, c)| [c, s]).collect();
    let coefficient = |row: &[Complex], k: usize| {
        row.iter().enumerate().fold([0.0; 2], |sum: Complex, (x, &value)| {
            let term = product(value, turns[k * x % w]);
            [sum[0] + term[0], sum[1] + term[1]]
        })
    };
    (0..w).flat_map(|k| field.chunks(w).map(move |row| coefficient(row, k))).collect()
}

/// The waves along an axis of `n` cells that place `i` of a transform stands for, negative ones in the upper half.
pub fn wave_number(i: usize, n: usize) -> f64 {
    if i < n / 2 { i as f64 } else { i as f64 - n as f64 }
}
