//! Gray and Scott's model: steps against the same ones in double precision.

use warpaint::session::Value;

use super::{devices, open, read};
use crate::support::set;

const W: usize = 66;
const H: usize = 40;
/// The numbers of Pearson's paper, and the rates of the pattern "mitosis".
const SPREAD: [f64; 2] = [2e-5, 1e-5];
const CELL: f64 = 2.5 / 256.0;
const FEED: f64 = 0.0367;
const KILL: f64 = 0.0649;

fn later(cells: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let at = |x: usize, y: usize| cells[y % H * W + x % W];
    let cell = |i: usize| {
        let (x, y) = (i % W + W, i / W + H);
        let [u, v] = at(x, y);
        let around = [at(x - 1, y), at(x + 1, y), at(x, y - 1), at(x, y + 1)];
        let spread = [0, 1].map(|c| {
            let sum: f64 = around.iter().map(|a| a[c]).sum();
            SPREAD[c] / (CELL * CELL) * (sum - 4.0 * at(x, y)[c])
        });
        let eaten = u * v * v;
        [u + spread[0] - eaten + FEED * (1.0 - u), v + spread[1] + eaten - (FEED + KILL) * v]
    };
    (0..W * H).map(cell).collect()
}

#[test]
fn steps_are_eulers() {
    let constants = [("w", W.to_string()), ("h", H.to_string())];
    let constants = constants.each_ref().map(|(name, value)| (*name, value.as_str()));
    for device in devices() {
        let mut session = open(&device, "gray-scott", &constants);
        set(&mut session, "pattern", Value::Int(0));
        set(&mut session, "steps", Value::Int(5));
        let start: Vec<[f32; 2]> = read(&mut session, "cells");
        let mut cells: Vec<_> = start.iter().map(|cell| cell.map(f64::from)).collect();
        assert!(cells.iter().any(|cell| cell[1] > 0.2), "something was sown");
        session.run_steps(40, |_| {}).unwrap();
        for _ in 0..200 {
            cells = later(&cells);
        }
        let found: Vec<[f32; 2]> = read(&mut session, "cells");
        let pairs = found.iter().flatten().zip(cells.iter().flatten());
        let worst = pairs.map(|(f, e)| (f64::from(*f) - e).abs()).fold(0.0, f64::max);
        // Two hundred steps, each rounded to a few times 6e-8, in a system that spreads errors out but also feeds them.
        assert!(worst < 2e-4, "off by {worst:e}");
    }
}
