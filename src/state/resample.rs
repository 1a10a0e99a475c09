//! A grid of numbers in another size.

use crate::scene::Wrap;

/// The numbers of a grid of `old` texels (x runs fastest), stretched to one of `new`. Each is a mean of those that lie
/// near it, which count the less the farther away they are, down to nothing in a distance of one texel of the coarser
/// of both grids (a triangle filter, as picture editors have it): between texels of a coarse grid that is linear
/// interpolation. What is beyond the edge is as `wrap` says, but for `clamp`, where nothing is.
pub(super) fn resampled(
    numbers: Vec<f64>,
    old: [usize; 3],
    new: [usize; 3],
    wrap: Wrap,
) -> Vec<f64> {
    let mut size = old;
    let mut numbers = numbers;
    for axis in 0..3 {
        if old[axis] != new[axis] {
            numbers = along(axis, &numbers, size, new[axis], wrap);
            size[axis] = new[axis];
        }
    }
    numbers
}

/// The same along one axis alone.
fn along(axis: usize, numbers: &[f64], size: [usize; 3], length: usize, wrap: Wrap) -> Vec<f64> {
    let inner: usize = size[..axis].iter().product();
    let outer: usize = size[axis + 1..].iter().product();
    let means: Vec<Vec<(usize, f64)>> =
        (0..length).map(|at| mean(at, size[axis], length, wrap)).collect();
    let mut found = Vec::with_capacity(inner * length * outer);
    for block in numbers.chunks_exact((inner * size[axis]).max(1)).take(outer) {
        for mean in &means {
            found.extend((0..inner).map(|at| {
                mean.iter().map(|(from, weight)| weight * block[from * inner + at]).sum::<f64>()
            }));
        }
    }
    found
}

/// Which of `old` numbers make number `at` of `new`, and what each counts; these make 1 together.
fn mean(at: usize, old: usize, new: usize, wrap: Wrap) -> Vec<(usize, f64)> {
    let scale = old as f64 / new as f64;
    let reach = scale.max(1.0);
    let middle = (at as f64 + 0.5) * scale;
    let (first, last) = ((middle - reach).floor() as i64, (middle + reach).ceil() as i64);
    let weighed = (first..last).filter_map(|from| {
        let weight = 1.0 - ((from as f64 + 0.5 - middle) / reach).abs();
        (weight > 0.0).then_some((wrap.texel(from, old)?, weight))
    });
    let weighed: Vec<(usize, f64)> = weighed.collect();
    let all: f64 = weighed.iter().map(|(_, weight)| weight).sum();
    weighed.into_iter().map(|(from, weight)| (from, weight / all)).collect()
}

impl Wrap {
    /// The texel that there is at `at` of an axis with so many; none beyond the edges, where the texture goes on with
    /// its last ones.
    fn texel(self, at: i64, count: usize) -> Option<usize> {
        let length = count as i64;
        let at = match self {
            Self::Clamp => at,
            Self::Repeat => at.rem_euclid(length),
            Self::Mirror => {
                let at = at.rem_euclid(2 * length);
                at.min(2 * length - 1 - at)
            }
        };
        usize::try_from(at).ok().filter(|at| *at < count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(numbers: &[f64], old: [usize; 2], new: [usize; 2], wrap: Wrap) -> Vec<f64> {
        resampled(numbers.to_vec(), [old[0], old[1], 1], [new[0], new[1], 1], wrap)
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        // Pillow works with `float`s.
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 2e-6 * b.abs().max(1.0);
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(is_near),
            "{found:?}"
        );
    }

    /// As `PIL.Image.fromarray(a, mode="F").resize(size, BILINEAR)` of Pillow 13.
    #[test]
    fn a_picture_is_resized_as_pillow_does_it() {
        let a = [1.0, 5.0, 2.0, 8.0, 0.0, 3.0, 9.0, 4.0];
        for (size, expected) in [
            ([6, 2], &[1.0, 3.0, 4.5, 2.5, 5.0, 8.0, 0.0, 1.5, 4.0, 8.0, 6.5, 4.0][..]),
            ([3, 2], &[2.2, 3.5, 6.2, 0.9, 6.0, 5.5]),
            (
                [4, 5],
                &[
                    1.0, 5.0, 2.0, 8.0, 0.9, 4.8, 2.7, 7.6, 0.5, 4.0, 5.5, 6.0, 0.1, 3.2, 8.3, 4.4,
                    0.0, 3.0, 9.0, 4.0,
                ],
            ),
            ([2, 1], &[2.7142858505249023, 5.5]),
        ] {
            assert_near(&flat(&a, [4, 2], size, Wrap::Clamp), expected);
        }
    }

    #[test]
    fn what_is_beyond_the_edge_is_as_the_texture_has_it() {
        let a = [0.0, 4.0, 8.0];
        assert_near(&flat(&a, [3, 1], [6, 1], Wrap::Repeat), &[2.0, 1.0, 3.0, 5.0, 7.0, 6.0]);
        assert_near(&flat(&a, [3, 1], [6, 1], Wrap::Mirror), &[0.0, 1.0, 3.0, 5.0, 7.0, 8.0]);
        assert_near(&flat(&a, [3, 1], [6, 1], Wrap::Clamp), &[0.0, 1.0, 3.0, 5.0, 7.0, 8.0]);
    }

    #[test]
    fn each_axis_of_a_volume_is_stretched() {
        let a: Vec<f64> = (0..8).map(f64::from).collect();
        let found = resampled(a.clone(), [2, 2, 2], [1, 1, 1], Wrap::Clamp);
        assert_near(&found, &[3.5]);
        let found = resampled(a, [2, 2, 2], [2, 2, 4], Wrap::Clamp);
        let expected: Vec<f64> = [0.0, 1.0, 3.0, 4.0]
            .iter()
            .flat_map(|z| (0..4).map(move |i| f64::from(i) + z))
            .collect();
        assert_near(&found, &expected);
    }
}
