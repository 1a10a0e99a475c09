//! Reductions of random views along random axes.

use fastrand::Rng;
use half::{bf16, f16};
use num_complex::{Complex, Complex32, Complex64};
use warpaint::{
    array::{Data, Error, GpuArray, Number, Promote, Real, Reduce, Reduced},
    kernel::Context,
};

use super::{
    cases,
    value::{Value, assert_same},
    view::{Sample, View},
};

/// What a reduction should give, and by how much it may be off.
type Expected<O> = (O, f64);

/// A floating-point type: its unit roundoff, that of the type in which values are collected, and where that overflows.
trait Rounded: Value + Real {
    const UNIT: f64;
    const WIDE_UNIT: f64;
    const WIDE_GREATEST: f64;
    /// 2 where rounding errors are kept, so that only theirs count.
    const POWER: i32;
    fn of(value: f64) -> Self;

    /// What collecting `n` values may add to the error, for each unit of their absolute values' sum.
    fn gathered(n: usize) -> f64 {
        (n as f64 * Self::WIDE_UNIT).powi(Self::POWER)
    }
}

macro_rules! rounded {
    ($($rust:ty: $digits:literal, $wide:literal, $power:literal, $greatest:expr, $of:expr;)*) => {$(
        impl Rounded for $rust {
            const UNIT: f64 = 1.0 / (1_u64 << $digits) as f64;
            const WIDE_UNIT: f64 = 1.0 / (1_u128 << $wide) as f64;
            const WIDE_GREATEST: f64 = $greatest;
            const POWER: i32 = $power;
            fn of(value: f64) -> Self { $of(value) }
        }
    )*};
}

rounded! {
    f16: 11, 24, 1, 1e38, f16::from_f64;
    bf16: 8, 24, 1, 1e38, bf16::from_f64;
    f32: 24, 53, 1, 1e300, |value| value as f32;
    f64: 53, 53, 2, 1e300, |value| value;
}

/// Sums and products on the host.
trait Summed: Value + Number {
    fn sum(values: &[Self]) -> Expected<Self>;
    /// Nothing where the result depends on the order, because a part of it overflows.
    fn prod(values: &[Self]) -> Option<Expected<Self>>;
    fn dot(a: &[Self], b: &[Self]) -> Expected<Self>;
}

macro_rules! integers {
    ($($rust:ty),*) => {$(
        impl Summed for $rust {
            fn sum(values: &[Self]) -> Expected<Self> {
                (values.iter().fold(0, |sum, &v| sum.wrapping_add(v)), 0.0)
            }
            fn prod(values: &[Self]) -> Option<Expected<Self>> {
                Some((values.iter().fold(1, |product, &v| product.wrapping_mul(v)), 0.0))
            }
            fn dot(a: &[Self], b: &[Self]) -> Expected<Self> {
                (a.iter().zip(b).fold(0, |sum, (&a, &b)| sum.wrapping_add(a.wrapping_mul(b))), 0.0)
            }
        }
        impl Wide for $rust {
            fn wide(self) -> f64 { i128::from(self) as f64 }
        }
    )*};
}

integers!(i8, u32, i64);

/// A real type as `f64`, exactly or nearly.
trait Wide: Value + Real {
    fn wide(self) -> f64;
}

/// The sum of `terms` as a type of floating-point numbers, by the bound that is documented for it.
fn sum<T: Rounded>(terms: impl Iterator<Item = f64> + Clone) -> Expected<T> {
    let (n, exact) = (terms.clone().count(), exact(terms.clone()));
    let size: f64 = terms.map(f64::abs).sum();
    (T::of(exact), 2.0 * T::UNIT * exact.abs() + T::gathered(n) * size)
}

/// A sum with its rounding errors (Neumaier's).
fn exact(terms: impl Iterator<Item = f64>) -> f64 {
    let add = |(sum, errors): (f64, f64), term: f64| {
        let next = sum + term;
        let (larger, smaller) = if sum.abs() > term.abs() { (sum, term) } else { (term, sum) };
        (next, errors + ((larger - next) + smaller))
    };
    let (sum, errors) = terms.fold((0.0, 0.0), add);
    if errors.is_finite() { sum + errors } else { sum }
}

macro_rules! floats {
    ($($rust:ty),*) => {$(
        impl Wide for $rust {
            fn wide(self) -> f64 { self.into() }
        }
        impl Summed for $rust {
            fn sum(values: &[Self]) -> Expected<Self> {
                sum(values.iter().map(|v| v.wide()))
            }
            fn prod(values: &[Self]) -> Option<Expected<Self>> {
                let part = |keep: fn(f64) -> bool| {
                    values.iter().map(|v| v.wide().abs()).filter(|&v| v.is_finite() && keep(v)).product::<f64>()
                };
                let safe = part(|v| v > 1.0) < Self::WIDE_GREATEST && part(|v| v < 1.0 && v > 0.0) > 1.0 / Self::WIDE_GREATEST;
                let product: f64 = values.iter().map(|v| v.wide()).product();
                let error = values.len() as f64 * Self::WIDE_UNIT;
                // Below the least normal number, units are absolute.
                let least = f64::from(Self::MIN_POSITIVE) * Self::UNIT * 2.0;
                safe.then(|| (Self::of(product), product.abs() * (error + 2.0 * Self::UNIT) + least))
            }
            fn dot(a: &[Self], b: &[Self]) -> Expected<Self> {
                let products = a.iter().zip(b).map(|(a, b)| a.wide() * b.wide());
                let size: f64 = products.clone().map(f64::abs).sum();
                let (value, error) = sum(products);
                // Products of `f64` are rounded here, not there.
                (value, error + size * 2.0_f64.powi(-53))
            }
        }
    )*};
}

floats!(f16, bf16, f32, f64);

macro_rules! complex {
    ($($part:ty),*) => {$(
        impl Summed for Complex<$part> {
            fn sum(values: &[Self]) -> Expected<Self> {
                let (re, im) = (<$part>::sum(&values.iter().map(|z| z.re).collect::<Vec<_>>()),
                    <$part>::sum(&values.iter().map(|z| z.im).collect::<Vec<_>>()));
                (Self::new(re.0, im.0), re.1.max(im.1))
            }
            fn prod(values: &[Self]) -> Option<Expected<Self>> {
                let wide = values.iter().map(|z| Complex64::new(z.re.into(), z.im.into()));
                let size: f64 = wide.clone().map(|z| z.norm().max(1.0)).product();
                let product: Complex64 = wide.product();
                let expected = Self::new(product.re as $part, product.im as $part);
                // Each product is off by a few units of its size.
                let error = size * (values.len() as f64 * 2.0_f64.powi(-50) + 2.0 * <$part>::UNIT);
                (size < 1e30).then_some((expected, error))
            }
            fn dot(a: &[Self], b: &[Self]) -> Expected<Self> {
                let terms = a.iter().zip(b).map(|(a, b)| {
                    let [a, b] = [a, b].map(|z| Complex64::new(z.re.into(), z.im.into()));
                    (a * b, a.norm() * b.norm())
                });
                let (re, im) = (exact(terms.clone().map(|(z, _)| z.re)), exact(terms.clone().map(|(z, _)| z.im)));
                let size: f64 = terms.map(|(_, size)| size).sum();
                let unit = <$part>::UNIT;
                (Self::new(re as $part, im as $part), 2.0 * unit * (re.abs() + im.abs()) + size * a.len() as f64 * 2.0_f64.powi(-51))
            }
        }
    )*};
}

complex!(f32, f64);

/// A random reduction and what `expected` says of each of its lanes: nothing for those without a result.
fn check<T: Value, F: Data, O: Value>(
    rng: &mut Rng,
    a: &Sample<T>,
    name: &str,
    reduce: impl FnOnce(Reduce<T>) -> Reduced<F, O>,
    expected: impl Fn(&[T]) -> Option<Expected<O>>,
) {
    let axes: Vec<usize> = (0..a.shape().len()).filter(|_| rng.u8(..5) < 3).collect();
    let (of, keep) = (a.device.reduce().along(&axes), rng.bool());
    let reduced = reduce(if keep { of.keep_axes() } else { of });
    let name = format!("{name} of {} along {axes:?}", a.name());
    let (mut shape, lanes) = a.lanes(&axes);
    if keep {
        shape = a.shape().to_vec();
        axes.iter().for_each(|&axis| shape[axis] = 1);
    }
    let lanes: Vec<_> = lanes.iter().map(|lane| (lane, expected(lane))).collect();
    // An error as in numpy, whether or not there are lanes.
    let of_nothing = axes.iter().any(|&axis| a.shape()[axis] == 0);
    if of_nothing && expected(&[]).is_none() {
        assert!(matches!(reduced.eval(), Err(Error::Empty { .. })), "{name}");
        return;
    }
    let found = reduced.eval().unwrap();
    assert_eq!(found.shape(), shape, "{name}");
    let found = found.to_vec().unwrap();
    for (found, (lane, expected)) in found.iter().zip(&lanes) {
        let Some((expected, error)) = *expected else { continue };
        let off = found.off(expected);
        let within = off <= error || error.is_nan() && off == 0.0;
        assert!(
            within,
            "{name}: {found:?} is not {expected:?} by {error:e}: {:?}",
            &lane[..lane.len().min(40)]
        );
    }
    let view = View::of_shape(rng, &shape);
    let context = a.device.context();
    let base = GpuArray::<O>::zeros(context, &[view.base_count()]).unwrap();
    let mut out = view.of(&base);
    reduced.eval_into(&mut out).unwrap();
    let bits = |values: &[O]| bytemuck::cast_slice::<O, u8>(values).to_vec();
    assert_eq!(bits(&out.to_vec().unwrap()), bits(&found), "{name}, again into a view");
}

/// The place of the first element that no other beats; of NaN where there is one.
fn first<T: Wide>(values: &[T], beats: fn(&T, &T) -> bool) -> Option<Expected<i64>> {
    let nan = values.iter().position(|v| v.wide().is_nan());
    let best = || {
        (0..values.len()).reduce(|best, i| if beats(&values[i], &values[best]) { i } else { best })
    };
    nan.or_else(best).map(|place| (place as i64, 0.0))
}

fn extreme<T: Wide>(values: &[T], beats: fn(&T, &T) -> bool) -> Option<Expected<T>> {
    first(values, beats).map(|(place, _)| (values[place as usize], 0.0))
}

fn variance(values: &[f64], ddof: usize) -> f64 {
    let n = values.len() as f64;
    let mean = exact(values.iter().copied()) / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    squares / (n - ddof as f64).max(0.0)
}

fn count<T>(values: &[T], holds: impl Fn(&T) -> bool) -> Option<Expected<u64>> {
    Some((values.iter().filter(|v| holds(v)).count() as u64, 0.0))
}

fn sums<T: Summed>(context: &Context, rng: &mut Rng, which: u64) {
    let view = View::random(rng);
    let a: Sample<T> = view.sample(context, rng);
    match which % 3 {
        0 => check(rng, &a, "sum", Reduce::sum, |v| Some(T::sum(v))),
        1 => check(rng, &a, "prod", Reduce::prod, |v| {
            // Where it depends on the order, anything is right.
            T::prod(v).or_else(|| v.first().map(|&any| (any, f64::INFINITY)))
        }),
        _ => {
            let b: Sample<T> = View::beside(rng, a.shape()).sample(context, rng);
            let device = b.device.broadcast_to(a.shape()).unwrap();
            let host = b.host.broadcast(a.shape()).unwrap().to_owned();
            dot(rng, &a, &Sample { device, host });
        }
    }
}

fn dot<T: Summed>(rng: &mut Rng, a: &Sample<T>, b: &Sample<T>) {
    let axes: Vec<usize> = (0..a.shape().len()).filter(|_| rng.u8(..5) < 3).collect();
    let found = a.device.dot_along(&axes, &b.device).unwrap().to_vec().unwrap();
    let (x, y) = (a.lanes(&axes).1, b.lanes(&axes).1);
    for ((x, y), found) in x.iter().zip(&y).zip(found) {
        let (expected, error) = T::dot(x, y);
        let off = found.off(expected);
        assert!(
            off <= error || error.is_nan() && off == 0.0,
            "dot of {} and {} along {axes:?}: {found:?} is not {expected:?} by {error:e}",
            a.name(),
            b.name()
        );
    }
}

fn statistics<T>(context: &Context, rng: &mut Rng, which: u64)
where
    T: Wide + Promote<bool> + PartialOrd,
    T::Mean: Rounded,
    <T::Mean as Number>::Real: Rounded,
{
    let a: Sample<T> = Sample::random(context, rng);
    let wide = |values: &[T]| values.iter().map(|v| v.wide()).collect::<Vec<f64>>();
    let ddof = rng.usize(..3);
    match which % 11 {
        0 => check(rng, &a, "mean", Reduce::mean, |v| {
            let n = v.len() as f64;
            // Of integers up to 2^63, which `f64` rounds here and there.
            let (sum, error) = sum::<f64>(wide(v).into_iter());
            let (mean, error) = (sum / n, error / n.max(1.0));
            let size: f64 = wide(v).iter().map(|v| v.abs()).sum();
            Some((
                T::Mean::of(mean),
                error
                    + 3.0 * T::Mean::UNIT * mean.abs()
                    + T::Mean::gathered(v.len()) * size / n.max(1.0),
            ))
        }),
        // Squares of deviations are collected in `f64`, and the result is rounded.
        1 => check(
            rng,
            &a,
            "var",
            |of| of.var(ddof),
            |v| {
                let var = variance(&wide(v), ddof);
                Some((
                    <T::Mean as Number>::Real::of(var),
                    var * (1e-12 + 2.0 * <T::Mean as Number>::Real::UNIT),
                ))
            },
        ),
        2 => check(
            rng,
            &a,
            "std",
            |of| of.std(ddof),
            |v| {
                let std = variance(&wide(v), ddof).sqrt();
                Some((
                    <T::Mean as Number>::Real::of(std),
                    std * (1e-12 + 2.0 * <T::Mean as Number>::Real::UNIT),
                ))
            },
        ),
        3 => check(rng, &a, "min", Reduce::min, |v| extreme(v, |a, b| a < b)),
        4 => check(rng, &a, "max", Reduce::max, |v| extreme(v, |a, b| a > b)),
        5 => check(rng, &a, "argmin", Reduce::argmin, |v| first(v, |a, b| a < b)),
        6 => check(rng, &a, "argmax", Reduce::argmax, |v| first(v, |a, b| a > b)),
        7 => check(rng, &a, "any", Reduce::any, |v| Some((wide(v).iter().any(|&v| v != 0.0), 0.0))),
        8 => check(rng, &a, "all", Reduce::all, |v| Some((wide(v).iter().all(|&v| v != 0.0), 0.0))),
        9 => check(rng, &a, "count_nonzero", Reduce::count_nonzero, |v| {
            count(&wide(v), |&v| v != 0.0)
        }),
        _ => {
            check(rng, &a, "count_nan", Reduce::count_nan, |v| count(&wide(v), |v| v.is_nan()));
            check(rng, &a, "count_inf", Reduce::count_inf, |v| {
                count(&wide(v), |v| v.is_infinite())
            });
        }
    }
}

/// Counts of an expression of a view; edges are those of `numpy.linspace`, to which elements are compared.
fn histogram<T: Wide>(context: &Context, rng: &mut Rng) {
    let a: Sample<T> = Sample::random(context, rng);
    let (bins, low) = ([1_usize, 7, 33, 5000][rng.usize(..4)], f64::from(rng.i8(-9..3)) * 0.5);
    let high = low + f64::from(rng.u8(1..19)) * 0.25;
    let step = (high - low) / bins as f64;
    let edge = |k: usize| match k < bins.div_ceil(2) {
        true => (k as f64).mul_add(step, low),
        false => (k as f64 - bins as f64).mul_add(step, high),
    };
    let edges: Vec<f64> = (0..=bins).map(edge).collect();
    let mut expected = vec![0; bins];
    for value in a.flat().iter().map(|v| v.wide()).filter(|v| (low..=high).contains(v)) {
        expected[edges.partition_point(|&edge| edge <= value).min(bins) - 1] += 1;
    }
    let found = a.device.histogram(bins, low, high).unwrap().to_vec().unwrap();
    assert_same(&found, &expected, || format!("{bins} bins from {low} to {high} of {}", a.name()));
}

#[test]
fn histograms_of_views_count_what_lies_between_edges() {
    cases("histograms", 6, |context, rng, case| match case % 3 {
        0 => histogram::<i8>(context, rng),
        1 => histogram::<f32>(context, rng),
        _ => histogram::<f64>(context, rng),
    });
}

#[test]
fn sums_of_views_are_within_their_bounds() {
    cases("sums", 18, |context, rng, case| match case % 9 {
        0 => sums::<i8>(context, rng, case / 9),
        1 => sums::<u32>(context, rng, case / 9),
        2 => sums::<i64>(context, rng, case / 9),
        3 => sums::<f16>(context, rng, case / 9),
        4 => sums::<bf16>(context, rng, case / 9),
        5 => sums::<f32>(context, rng, case / 9),
        6 => sums::<f64>(context, rng, case / 9),
        7 => sums::<Complex32>(context, rng, case / 9),
        _ => sums::<Complex64>(context, rng, case / 9),
    });
}

#[test]
fn statistics_of_views_are_what_the_host_computes() {
    cases("statistics", 22, |context, rng, case| match case % 7 {
        0 => statistics::<i8>(context, rng, case),
        1 => statistics::<u32>(context, rng, case),
        2 => statistics::<i64>(context, rng, case),
        3 => statistics::<f16>(context, rng, case),
        4 => statistics::<bf16>(context, rng, case),
        5 => statistics::<f32>(context, rng, case),
        _ => statistics::<f64>(context, rng, case),
    });
}
