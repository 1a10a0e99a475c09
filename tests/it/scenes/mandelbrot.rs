//! Mandelbrot: colours of pixels against iterations in double precision that know no shortcut.

use super::{Run, bare, devices, read};

const W: usize = 64;
const H: usize = 48;
const LIMIT: usize = 300;
const SAMPLES: usize = 6;

/// Iterations until c escapes, with a fraction that makes them continuous (Vepstas); `None` where it does not.
fn escape([a, b]: [f64; 2]) -> Option<f64> {
    let (mut x, mut y) = (0.0, 0.0);
    for i in 1..=LIMIT {
        (x, y) = (x * x - y * y + a, 2.0 * x * y + b);
        if x * x + y * y > 65536.0 {
            return Some((i as f64 + 3.0 - x.hypot(y).log2().log2()).max(0.0));
        }
    }
    None
}

/// The light of a sample, and whether it lies in the set.
fn light(c: [f64; 2]) -> [f64; 4] {
    let Some(iterations) = escape(c) else { return [0.0, 0.0, 0.0, 1.0] };
    let turn = std::f64::consts::TAU * 0.42 * iterations.ln_1p();
    let wave = |late: f64| (0.5 - 0.5 * (turn - late).cos()).powi(2);
    [0.004 + wave(0.9), 0.006 + 0.86 * wave(0.45), 0.02 + 0.8 * wave(0.0), 0.0]
}

#[test]
fn pixels_are_sums_of_samples() {
    let source = bare("mandelbrot");
    for device in devices() {
        let run = Run {
            constants: &[("w", "64"), ("h", "48"), ("samples", "16")],
            parameters: &[("limit", "300"), ("place", "seahorse valley"), ("magnification", "40")],
            ..Run::of(&source)
        };
        let mut session = run.open(&device);
        session.run_steps(SAMPLES as u64, |_| {}).unwrap();
        let found: Vec<[f32; 4]> = read(&mut session, "light");
        let side = 2.8 / (H as f64 * 40.0);
        let is_off = |i: usize| {
            let mut sum = [0.0; 4];
            for sample in 1..=SAMPLES {
                // Roberts' sequence fills a pixel evenly.
                let [u, v] = [0.754_877_666_246_692_7, 0.569_840_290_998_053_2]
                    .map(|step| (sample as f64 * step).fract());
                let x = -0.743_643_887_037_151 + ((i % W) as f64 + u - W as f64 / 2.0) * side;
                let y = 0.131_825_904_205_330 + ((i / W) as f64 + v - H as f64 / 2.0) * side;
                light([x, y]).iter().zip(&mut sum).for_each(|(part, sum)| *sum += part);
            }
            // Colours are floats, of angles up to 20.
            found[i].iter().zip(sum).any(|(f, e)| (f64::from(*f) - e).abs() > 2e-4)
        };
        let off = (0..W * H).filter(|i| is_off(*i)).count();
        // Near the set an orbit is chaotic: fused multiply-adds may end it an iteration sooner or later.
        assert!(off <= W * H / 200, "{off} pixels are off");
        let inside = found.iter().filter(|light| light[3] > 0.0).count();
        assert!((100..2900).contains(&inside), "{inside} pixels touch the set");
    }
}
