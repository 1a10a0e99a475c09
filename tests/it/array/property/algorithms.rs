//! Scans, sorts and compactions of random views.

use std::cmp::Ordering;

use fastrand::Rng;
use half::{bf16, f16};
use ndarray::Axis;
use warpaint::{
    array::{
        Data, ExclusiveScanKernel, GpuArray, InclusiveScanKernel, Number, Order, Promote, Real,
        Sortable,
    },
    kernel::Context,
};

use super::{
    cases,
    value::{Value, assert_same},
    view::{Sample, View, shape},
};

/// What `combine` gives of each element and those before it, beginning anew where `heads` says.
fn scanned<T: Copy>(values: &[T], heads: &[bool], combine: impl Fn(T, T) -> T) -> Vec<T> {
    let mut total = None;
    let step = |(&value, &head): (&T, &bool)| {
        let next = match total {
            Some(before) if !head => combine(before, value),
            _ => value,
        };
        *total.insert(next)
    };
    values.iter().zip(heads).map(step).collect()
}

fn greater<T: Value + PartialOrd>(a: T, b: T) -> T {
    if !a.same(a) || a > b || !a.eq(&a) { a } else { b }
}

/// Greatest values so far, along an axis and over all.
fn cummax<T: Value + Real + PartialOrd>(context: &Context, rng: &mut Rng) {
    let a: Sample<T> = Sample::random(context, rng);
    let flat = a.flat();
    let whole = scanned(&flat, &vec![false; flat.len()], greater);
    assert_same(&a.device.cummax().unwrap().to_vec().unwrap(), &whole, || {
        format!("cummax of {}", a.name())
    });
    if a.shape().is_empty() {
        return;
    }
    let axis = rng.usize(..a.shape().len());
    let mut expected = a.host.clone();
    for mut lane in expected.lanes_mut(Axis(axis)) {
        let values = lane.to_vec();
        let values = scanned(&values, &vec![false; values.len()], greater);
        lane.iter_mut().zip(values).for_each(|(to, value)| *to = value);
    }
    let found = a.device.cummax_along(axis).unwrap();
    assert_eq!(found.shape(), a.shape());
    let expected: Vec<T> = expected.iter().copied().collect();
    assert_same(&found.to_vec().unwrap(), &expected, || {
        format!("cummax of {} along {axis}", a.name())
    });
}

/// Running sums of integers, and of floating-point numbers whose sums are exact: of all, along an axis, of segments.
fn cumsum<T: Value + Number>(
    context: &Context,
    rng: &mut Rng,
    of: fn(i32) -> T,
    add: fn(T, T) -> T,
) {
    let view = View::random(rng);
    let base: Vec<T> = (0..view.base_count()).map(|_| of(rng.i32(-3..4).max(-2))).collect();
    let device = view.of(&GpuArray::from_slice(context, &base).unwrap());
    let a = Sample { device, host: view.places().mapv(|place| base[place]) };
    let flat = a.flat();
    let none = vec![false; flat.len()];
    let found = a.device.cumsum().unwrap().to_vec().unwrap();
    assert_same(&found, &scanned(&flat, &none, add), || format!("cumsum of {}", a.name()));

    let heads: Sample<bool> = View::beside(rng, a.shape()).sample(context, rng);
    let begins = heads.spread(a.shape());
    let (inclusive, exclusive) = sums::<T>();
    let expected = scanned(&flat, &begins, add);
    let found = inclusive.call_segmented(&a.device, &heads.device).unwrap();
    assert_eq!(found.shape(), a.shape());
    let name = || format!("segmented sums of {}, heads {}", a.name(), heads.name());
    assert_same(&found.to_vec().unwrap(), &expected, name);
    let before: Vec<T> = (0..flat.len())
        .map(|i| if i == 0 || begins[i] { of(7) } else { expected[i - 1] })
        .collect();
    let found = exclusive.call_segmented(&a.device, &heads.device).unwrap().to_vec().unwrap();
    assert_same(&found, &before, name);
}

#[expect(unsafe_code, reason = "kernels from expressions")]
fn sums<T: Data>() -> (InclusiveScanKernel<T>, ExclusiveScanKernel<T>) {
    // SAFETY: the expression uses nothing but its operands.
    let inclusive = unsafe { InclusiveScanKernel::new("a + b") };
    // SAFETY: as before.
    (inclusive, unsafe { ExclusiveScanKernel::new("a + b", "7") })
}

#[test]
fn scans_of_views_are_what_the_host_computes() {
    cases("scans", 5, |context, rng, case| match case % 5 {
        0 => cumsum(context, rng, |v| v as i8, i8::wrapping_add),
        1 => cumsum(context, rng, |v| v as u16, u16::wrapping_add),
        2 => cumsum(context, rng, i64::from, i64::wrapping_add),
        3 => cumsum(context, rng, |v| v as f32, |a, b| a + b),
        _ => cumsum(context, rng, f64::from, |a, b| a + b),
    });
    cases("extremes", 4, |context, rng, case| match case % 4 {
        0 => cummax::<u8>(context, rng),
        1 => cummax::<f16>(context, rng),
        2 => cummax::<f32>(context, rng),
        _ => cummax::<i64>(context, rng),
    });
}

/// The error of each running sum keeps to the documented bound, and its bits are the same each time.
#[test]
fn running_sums_are_within_their_bound() {
    cases("running sums", 4, |context, rng, _| {
        let n = [1023, 1025, 40_000, 100_000][rng.usize(..4)];
        let values: Vec<f32> =
            (0..n).map(|_| (rng.f32() - 0.4) * 10.0_f32.powi(rng.i32(-3..4))).collect();
        let a = GpuArray::from_slice(context, &values).unwrap();
        let found = a.cumsum().unwrap().to_vec().unwrap();
        // The larger number of additions, that of the CPU device; `n` is less than 2^20.
        let (k, unit) = (64.0 + 220.0, 2.0_f64.powi(-24));
        let (mut sum, mut size) = (0.0, 0.0);
        for (i, (&value, &found)) in values.iter().zip(&found).enumerate() {
            sum += f64::from(value);
            size += f64::from(value).abs();
            let off = (f64::from(found) - sum).abs();
            assert!(off <= k * unit * size, "element {i} of {n} is off by {off:e}");
        }
        assert_eq!(a.cumsum().unwrap().to_vec().unwrap(), found);
    });
}

/// numpy's order, with NaN last.
fn compare<T: PartialOrd>(a: &T, b: &T) -> Ordering {
    let is_nan = |value: &T| value.partial_cmp(value).is_none();
    a.partial_cmp(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

/// The indices that sort, equal elements in the order in which they are.
fn sorted<T: PartialOrd>(values: &[T], order: Order) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|&a, &b| match order {
        Order::Ascending => compare(&values[a], &values[b]),
        Order::Descending => compare(&values[b], &values[a]),
    });
    places
}

fn sorts<T: Value + Sortable + PartialOrd>(context: &Context, rng: &mut Rng) {
    let a: Sample<T> = Sample::random(context, rng);
    let order = if rng.bool() { Order::Ascending } else { Order::Descending };
    let (flat, length) = (a.flat(), a.shape().last().copied().unwrap_or(1).max(1));
    let (mut expected, mut expected_places) = (Vec::new(), Vec::new());
    for row in flat.chunks(length) {
        let places = sorted(row, order);
        expected.extend(places.iter().map(|&place| row[place]));
        expected_places.extend(places.iter().map(|&place| place as i64));
    }
    let name = || format!("{order:?} of {}", a.name());
    if rng.bool() {
        let found = a.device.sort(order).unwrap();
        assert_eq!(found.shape(), a.shape(), "{}", name());
        assert_same(&found.to_vec().unwrap(), &expected, name);
    } else {
        let found = a.device.argsort(order).unwrap();
        assert_eq!(found.shape(), a.shape(), "{}", name());
        assert_same(&found.to_vec().unwrap(), &expected_places, name);
    }
}

#[test]
fn sorts_of_views_are_stable_sorts_of_their_rows() {
    cases("sorts", 3, |context, rng, case| match case % 8 {
        0 => sorts::<bool>(context, rng),
        1 => sorts::<i8>(context, rng),
        2 => sorts::<f32>(context, rng),
        3 => sorts::<u64>(context, rng),
        4 => sorts::<f16>(context, rng),
        5 => sorts::<f64>(context, rng),
        6 => sorts::<bf16>(context, rng),
        _ => sorts::<i32>(context, rng),
    });
}

fn compactions<T: Value + Sortable + PartialOrd + Promote<bool>>(
    context: &Context,
    rng: &mut Rng,
    zero: T,
) {
    let shape = shape(rng);
    let a: Sample<T> = View::of_shape(rng, &shape).sample(context, rng);
    let mask: Sample<bool> = View::of_shape(rng, &shape).sample(context, rng);
    let (flat, keep) = (a.flat(), mask.flat());
    let part = |wanted: bool| {
        let pairs = flat.iter().zip(&keep).filter(move |(_, keep)| **keep == wanted);
        pairs.map(|(&value, _)| value).collect::<Vec<T>>()
    };
    let name = || format!("{} by {}", a.name(), mask.name());
    let chosen = a.device.compress(&mask.device).unwrap();
    assert_eq!(chosen.count().unwrap(), part(true).len(), "{}", name());
    assert_same(&chosen.elements().unwrap().to_vec().unwrap(), &part(true), name);
    let parted = a.device.partition(&mask.device).unwrap();
    assert_same(&parted.capacity().to_vec().unwrap(), &[part(true), part(false)].concat(), name);

    let places = a.device.nonzero().unwrap();
    assert_eq!(places.len(), shape.len());
    for (axis, places) in places.iter().enumerate() {
        let expected: Vec<i64> = a
            .host
            .indexed_iter()
            .filter(|(_, value)| !value.same(zero))
            .map(|(index, _)| index[axis] as i64)
            .collect();
        assert_same(&places.to_vec().unwrap(), &expected, || {
            format!("nonzero, axis {axis} of {}", a.name())
        });
    }

    let mut unique = flat;
    unique.sort_by(compare);
    unique.dedup_by(|a, b| a.same(*b));
    let (values, counts) = a.device.unique_counts().unwrap();
    assert_same(&values.to_vec().unwrap(), &unique, || format!("unique of {}", a.name()));
    assert_eq!(counts.to_vec().unwrap().iter().sum::<i64>() as usize, a.flat().len());
}

#[test]
fn compactions_of_views_are_what_the_host_chooses() {
    cases("compactions", 3, |context, rng, case| match case % 3 {
        0 => compactions::<i16>(context, rng, 0),
        1 => compactions::<f32>(context, rng, 0.0),
        _ => compactions::<u64>(context, rng, 0),
    });
}
