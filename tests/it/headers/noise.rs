//! Perlin's noise against published values, Worley's against a search of all cells.

use super::{contexts, numbers, run};
use crate::support::hash_of_cell;

#[test]
#[expect(clippy::approx_constant, reason = "the published value is for 3.14")]
fn perlins_noise_has_the_published_values() {
    let source = "#include <warpaint/noise.cuh>
        __global__ void at(const float *p, float *out) {
            int i = threadIdx.x;
            float3 q = make_float3(p[3 * i], p[3 * i + 1], p[3 * i + 2]);
            out[2 * i] = warpaint::perlin_noise(q);
            out[2 * i + 1] = warpaint::perlin_noise(q, 1);
        }";
    // The first is the one that implementations of Perlin's reference are checked with.
    let points: [f32; 18] = [
        3.14, 42.0, 7.0, -2.0, 5.0, 9.0, 0.5, 0.5, 0.5, -0.5, 17.25, 300.75, -0.5, 17.25, 44.75,
        4.14, 42.0, 7.0,
    ];
    for context in contexts() {
        let found: Vec<f32> = run(&context, source, &[("at", 1, 6)], &[&points], 12);
        // 3.14 has an error of 1e-7 as a float, and the slope is below 2.
        assert!((found[0] - 0.136_919_96).abs() < 1e-6, "{found:?}");
        assert_eq!(found[2], 0.0, "at whole numbers");
        assert_eq!(found[6], found[8], "again after 256");
        assert!((found[0] - found[1]).abs() > 1e-3, "another seed, another field");
    }
}

#[test]
fn worleys_noise_is_the_distance_to_points() {
    let source = "#include <warpaint/noise.cuh>
        __global__ void at(const float *p, float2 *out) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            out[i] = warpaint::worley_noise(make_float3(p[3 * i], p[3 * i + 1], p[3 * i + 2]), 5u);
        }";
    let points: Vec<f32> = numbers(3 * 1024, 2).iter().map(|x| x * 20.0).collect();
    let nearest = |p: &[f32]| {
        let home = [0, 1, 2].map(|axis| p[axis].floor() as i32);
        let mut distances = Vec::new();
        for cell in 0..343 {
            let cell =
                [cell % 7 - 3 + home[0], cell / 7 % 7 - 3 + home[1], cell / 49 - 3 + home[2]];
            let bits = hash_of_cell(cell, 5);
            let way = [0, 1, 2].map(|axis| {
                let part = f64::from((bits >> (10 * axis)) & 1023) / 1023.0;
                f64::from(cell[axis]) + part - f64::from(p[axis])
            });
            distances.push(way.iter().map(|d| d * d).sum::<f64>().sqrt());
        }
        distances.sort_by(f64::total_cmp);
        [distances[0], distances[1]]
    };
    for context in contexts() {
        let found: Vec<f32> = run(&context, source, &[("at", 8, 128)], &[&points], 2048);
        for (p, found) in points.chunks(3).zip(found.chunks(2)) {
            let expected = nearest(p);
            for (found, expected) in found.iter().zip(expected) {
                // Coordinates up to 20 have errors of a millionth.
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{p:?}: {found} {expected}");
            }
        }
    }
}
