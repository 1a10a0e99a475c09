//! Histograms against loops over the edges on the host.

use warpaint::{
    array::{Error, GpuArray},
    index,
};

use super::{contexts, scan::random};

/// In which bin, found among the edges one by one.
fn bin(value: f64, edges: &[f64]) -> Option<usize> {
    let last = edges.len() - 2;
    (0..=last).find(|&k| {
        value >= edges[k] && (value < edges[k + 1] || k == last && value == edges[k + 1])
    })
}

#[test]
fn elements_are_counted_in_the_bins_between_the_edges() {
    for context in contexts() {
        // Counters of each warp, of each block, of all.
        for bins in [10, 1000, 5000] {
            let edges = GpuArray::<f64>::linspace(&context, 0.0, 1.0, bins + 1, true).unwrap();
            let edges = edges.to_vec().unwrap();
            // The edges, their neighbours, and some in between and outside.
            let around = |e: &f64| {
                let bits = e.to_bits();
                [*e, f64::from_bits(bits + 1), f64::from_bits(bits.wrapping_sub(1))]
            };
            let between = random(7, 10_000, |rng| rng.f64() * 1.5 - 0.25);
            let values: Vec<f64> = edges.iter().flat_map(around).chain(between).collect();
            let a = GpuArray::from_slice(&context, &values).unwrap();
            let count = |values: &mut dyn Iterator<Item = f64>| {
                let mut expected = vec![0_u64; bins];
                let places = values.filter_map(|value| bin(value, &edges));
                places.for_each(|k| expected[k] += 1);
                expected
            };
            let expected = count(&mut values.iter().copied());
            assert_eq!(a.histogram(bins, 0.0, 1.0).unwrap().to_vec().unwrap(), expected, "{bins}");
            let part = a.slice(&index![1..;3]).unwrap();
            let expected = count(&mut values[1..].iter().copied().step_by(3));
            assert_eq!(part.histogram(bins, 0.0, 1.0).unwrap().to_vec().unwrap(), expected);
        }
    }
}

/// As numpy.histogram counts them.
#[test]
fn zeros_are_in_the_bin_that_begins_with_zero() {
    for context in contexts() {
        let counts = |values: &[f64], bins, low, high| {
            let a = GpuArray::from_slice(&context, values).unwrap();
            a.histogram(bins, low, high).unwrap().to_vec().unwrap()
        };
        assert_eq!(counts(&[0.0, 0.0, 0.0, -0.5, 0.5], 6, -1.0, 1.0), [0, 1, 0, 3, 1, 0]);
        let found = counts(&[-2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0], 10, -3.0, 3.0);
        assert_eq!(found, [0, 1, 0, 1, 0, 3, 1, 0, 1, 0]);
    }
}

#[test]
fn what_is_no_number_of_a_bin_is_not_counted() {
    for context in contexts() {
        let edges = [f32::NAN, f32::INFINITY, -f32::INFINITY, 0.0, 1.0, 1.0001, -0.0001];
        let a = GpuArray::from_slice(&context, &edges).unwrap();
        assert_eq!(a.histogram(2, 0.0, 1.0).unwrap().to_vec().unwrap(), [1, 1]);
        let none = GpuArray::<i32>::zeros(&context, &[0]).unwrap();
        assert_eq!(none.histogram(3, 0.0, 1.0).unwrap().to_vec().unwrap(), [0; 3]);
        for (bins, low, high) in [
            (0, 0.0, 1.0),
            (1, 1.0, 1.0),
            (1, 0.0, f64::NAN),
            (1, 0.0, f64::INFINITY),
            (4, 0.0, 2e-323),
            // Five parts where there are four numbers; half a million between neighbours of a million million.
            (5, 1.0, 1.0 + 4.0 * f64::EPSILON),
            (1_000_000, -1e12, 1.0 - 1e12),
            (1, f64::MIN, f64::MAX),
        ] {
            assert!(
                matches!(a.histogram(bins, low, high), Err(Error::Bins { .. })),
                "{bins} {low} {high}"
            );
        }
        // As many as there are numbers.
        let four = (0..4).map(|k| 1.0 + f64::from(k) * f64::EPSILON).collect::<Vec<_>>();
        let a = GpuArray::from_slice(&context, &four).unwrap();
        let counts = a.histogram(4, 1.0, 1.0 + 4.0 * f64::EPSILON).unwrap();
        assert_eq!(counts.to_vec().unwrap(), [1; 4]);
    }
}
