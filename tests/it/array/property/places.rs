//! Views themselves, and what moves elements between them: copies, joins, lists of indices, files.

use fastrand::Rng;
use half::{bf16, f16};
use ndarray::{ArrayD, Axis, IxDyn};
use num_complex::{Complex32, Complex64};
use warpaint::{
    array::{Bounds, Expr, GpuArray, concatenate, random::Generator, stack},
    index,
    kernel::Context,
};

use super::{
    cases,
    value::{Value, assert_same},
    view::{Sample, View, shape},
};

fn flat<T: Copy>(array: &ArrayD<T>) -> Vec<T> {
    array.iter().copied().collect()
}

fn read<T: Value>(context: &Context, rng: &mut Rng) {
    let a: Sample<T> = Sample::random(context, rng);
    assert_eq!(a.device.shape(), a.shape());
    assert_same(&a.device.to_vec().unwrap(), &a.flat(), || a.name());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    a.device.write_npy(&path).unwrap();
    let again = GpuArray::<T>::read_npy(context, &path).unwrap();
    assert_eq!(again.shape(), a.shape());
    assert_same(&again.to_vec().unwrap(), &a.flat(), || format!("{} from its file", a.name()));
}

#[test]
fn views_have_the_elements_that_ndarray_has() {
    cases("views", 36, |context, rng, case| match case % 9 {
        0 => read::<bool>(context, rng),
        1 => read::<i8>(context, rng),
        2 => read::<u16>(context, rng),
        3 => read::<f16>(context, rng),
        4 => read::<bf16>(context, rng),
        5 => read::<f32>(context, rng),
        6 => read::<i64>(context, rng),
        7 => read::<Complex32>(context, rng),
        _ => read::<Complex64>(context, rng),
    });
}

/// Two views of one array that overlap as they like: the result is as if everything was read first.
#[test]
fn views_of_one_array_are_read_before_they_are_written() {
    cases("overlaps", 10, |context, rng, _| {
        let (n, most) = (rng.usize(1..40), 4);
        let base = View::whole(&[n + most, n + most]);
        let mut part = || View::inside(rng, base.shape(), &[n, n]);
        let (from, to) = (part(), part());
        let array = base_array(context, &base);
        let (a, mut out) = (from.of(&array), to.of(&array));
        (&a * 2 + 1).eval_into(&mut out).unwrap();
        let mut expected: Vec<i32> = (0..base.base_count() as i32).collect();
        let values: Vec<i32> = from.places().iter().map(|&place| place as i32 * 2 + 1).collect();
        to.places().iter().zip(values).for_each(|(&place, value)| expected[place] = value);
        assert_same(&array.to_vec().unwrap(), &expected, || format!("{from:?} into {to:?}"));

        // Element for element, a view may be written while it is read.
        out.add_assign(1).unwrap();
        to.places().iter().for_each(|&place| expected[place] += 1);
        assert_same(&array.to_vec().unwrap(), &expected, || format!("{to:?} in place"));

        let array = base_array(context, &base);
        let (a, out) = (from.of(&array), to.of(&array));
        let mut row = out.slice(&index![..1]).unwrap();
        a.reduce().along(&[0]).keep_axes().sum().eval_into(&mut row).unwrap();
        let sums = from.places().mapv(|place| place as i32).sum_axis(Axis(0));
        let mut expected: Vec<i32> = (0..base.base_count() as i32).collect();
        to.places()
            .index_axis(Axis(0), 0)
            .iter()
            .zip(&sums)
            .for_each(|(&place, &sum)| expected[place] = sum);
        assert_same(&array.to_vec().unwrap(), &expected, || {
            format!("sums of {from:?} into {to:?}")
        });
    });
}

fn base_array(context: &Context, base: &View) -> GpuArray<i32> {
    GpuArray::arange(context, base.base_count()).unwrap().reshape(base.shape()).unwrap()
}

fn joins<T: Value>(context: &Context, rng: &mut Rng) {
    let mut shape = shape(rng);
    if shape.is_empty() {
        shape.push(3);
    }
    let axis = rng.usize(..shape.len());
    let parts: Vec<Sample<T>> = (0..rng.usize(1..4))
        .map(|_| {
            let mut shape = shape.clone();
            shape[axis] = rng.usize(..6);
            View::of_shape(rng, &shape).sample(context, rng)
        })
        .collect();
    let name = || format!("{:?} along {axis}", parts.iter().map(Sample::name).collect::<Vec<_>>());
    let arrays: Vec<&GpuArray<T>> = parts.iter().map(|part| &part.device).collect();
    let views: Vec<_> = parts.iter().map(|part| part.host.view()).collect();
    let (found, expected) =
        (concatenate(&arrays, axis).unwrap(), ndarray::concatenate(Axis(axis), &views).unwrap());
    assert_eq!(found.shape(), expected.shape(), "{}", name());
    assert_same(&found.to_vec().unwrap(), &flat(&expected), name);

    let a = &parts[0];
    let new = rng.usize(..=shape.len());
    let (found, expected) = (
        stack(&[&a.device; 2], new).unwrap(),
        ndarray::stack(Axis(new), &[a.host.view(), a.host.view()]).unwrap(),
    );
    assert_eq!(found.shape(), expected.shape());
    assert_same(&found.to_vec().unwrap(), &flat(&expected), || format!("stack of {}", a.name()));

    let (shift, length) = (rng.isize(-9..9), a.shape()[axis] as isize);
    let mut expected = a.host.clone();
    for (i, mut to) in expected.axis_iter_mut(Axis(axis)).enumerate() {
        to.assign(&a.host.index_axis(Axis(axis), (i as isize - shift).rem_euclid(length) as usize));
    }
    let found = a.device.roll(shift, axis).unwrap();
    assert_same(&found.to_vec().unwrap(), &flat(&expected), || {
        format!("roll of {} by {shift}", a.name())
    });

    let times = rng.usize(..4);
    let rows: Vec<usize> = (0..a.shape()[axis]).flat_map(|i| vec![i; times]).collect();
    let found = a.device.repeat(times, axis).unwrap();
    let expected = a.host.select(Axis(axis), &rows);
    assert_eq!(found.shape(), expected.shape());
    assert_same(&found.to_vec().unwrap(), &flat(&expected), || {
        format!("repeat of {} by {times}", a.name())
    });

    let times: Vec<usize> =
        (0..rng.usize(..=a.shape().len() + 1)).map(|_| rng.usize(..3)).collect();
    let found = a.device.tile(&times).unwrap();
    let ndim = a.shape().len().max(times.len());
    let padded = |numbers: &[usize]| [&vec![1; ndim - numbers.len()][..], numbers].concat();
    let (own, all) = (padded(a.shape()), padded(&times));
    let wide: Vec<usize> = own.iter().zip(&all).map(|(n, times)| n * times).collect();
    let of = a.host.to_shape(&own[..]).unwrap();
    let expected = ArrayD::from_shape_fn(IxDyn(&wide), |index| {
        of[&(0..ndim).map(|axis| index[axis] % own[axis]).collect::<Vec<_>>()[..]]
    });
    assert_eq!(found.shape(), expected.shape());
    assert_same(&found.to_vec().unwrap(), &flat(&expected), || {
        format!("tile of {} by {times:?}", a.name())
    });
}

#[test]
fn joined_views_are_what_ndarray_joins() {
    cases("joins", 5, |context, rng, case| match case % 4 {
        0 => joins::<u8>(context, rng),
        1 => joins::<f32>(context, rng),
        2 => joins::<f16>(context, rng),
        _ => joins::<Complex64>(context, rng),
    });
}

/// Indices of all kinds along an axis of `length`, and the places that they mean.
fn indices(rng: &mut Rng, bounds: Bounds, length: usize, count: usize) -> (Vec<i32>, Vec<usize>) {
    let n = length as i32;
    let one = |rng: &mut Rng| match bounds {
        Bounds::Check => {
            let index = rng.i32(-n..n);
            (index, index.rem_euclid(n))
        }
        Bounds::Wrap => {
            let index = rng.i32(-3 * n..3 * n);
            (index, index.rem_euclid(n))
        }
        Bounds::Clip => {
            let index = rng.i32(-3 * n..3 * n);
            (index, index.clamp(0, n - 1))
        }
    };
    (0..count).map(|_| one(rng)).map(|(index, place)| (index, place as usize)).unzip()
}

fn gathers<T: Value>(context: &Context, rng: &mut Rng) {
    let a: Sample<T> = Sample::random(context, rng);
    let bounds = [Bounds::Check, Bounds::Wrap, Bounds::Clip][rng.usize(..3)];
    let usable: Vec<usize> = (0..a.shape().len()).filter(|&axis| a.shape()[axis] > 0).collect();
    if usable.is_empty() || a.flat().is_empty() {
        return;
    }
    let axis = usable[rng.usize(..usable.len())];
    let (given, places) = indices(rng, bounds, a.shape()[axis], 6);
    let list = GpuArray::from_shape(context, &[2, 3], &given).unwrap();
    let (list, places) = match rng.bool() {
        true => (list.transpose(), [0, 3, 1, 4, 2, 5].map(|i| places[i]).to_vec()),
        false => (list, places),
    };
    let found = a.device.take_with(&list, axis, bounds).unwrap();
    let expected = a.host.select(Axis(axis), &places);
    let (before, behind) = (&a.shape()[..axis], &a.shape()[axis + 1..]);
    assert_eq!(found.shape(), [before, list.shape(), behind].concat());
    assert_same(&found.to_vec().unwrap(), &flat(&expected), || {
        format!("{given:?} of {} along {axis}", a.name())
    });

    let (given, places) = indices(rng, bounds, a.flat().len(), 33);
    let list = GpuArray::from_slice(context, &given).unwrap();
    let found = a.device.at_with(&list, bounds).unwrap().eval().unwrap();
    let values = a.flat();
    let expected: Vec<T> = places.iter().map(|&place| values[place]).collect();
    assert_same(&found.to_vec().unwrap(), &expected, || format!("{given:?} of {}", a.name()));
}

/// Different places of a view, and a mask over it.
fn scatters<T: Value>(context: &Context, rng: &mut Rng) {
    let shape = shape(rng);
    let view = View::of_shape(rng, &shape);
    let mut expected: Vec<T> = (0..view.base_count()).map(|_| T::random(rng)).collect();
    let base = GpuArray::from_slice(context, &expected).unwrap();
    let mut out = view.of(&base);
    let places: Vec<usize> = view.places().iter().copied().collect();
    let mut chosen: Vec<i64> = (0..places.len() as i64).collect();
    rng.shuffle(&mut chosen);
    chosen.truncate(rng.usize(..=chosen.len()));
    let values: Vec<T> = chosen.iter().map(|_| T::random(rng)).collect();
    let list = GpuArray::from_slice(context, &chosen).unwrap();
    out.put(&list, GpuArray::from_slice(context, &values).unwrap()).unwrap();
    for (&at, &value) in chosen.iter().zip(&values) {
        expected[places[at as usize]] = value;
    }
    assert_same(&base.to_vec().unwrap(), &expected, || format!("put to {view:?}"));

    let mask: Sample<bool> = View::beside(rng, &shape).sample(context, rng);
    let value = T::random(rng);
    out.put_mask(&mask.device, Expr::scalar(value)).unwrap();
    for (&place, keep) in places.iter().zip(mask.spread(&shape)) {
        if keep {
            expected[place] = value;
        }
    }
    assert_same(&base.to_vec().unwrap(), &expected, || {
        format!("mask {} over {view:?}", mask.name())
    });
}

#[test]
fn lists_of_indices_mean_what_they_do_in_ndarray() {
    cases("gathers", 6, |context, rng, case| match case % 3 {
        0 => gathers::<i8>(context, rng),
        1 => gathers::<f32>(context, rng),
        _ => gathers::<Complex32>(context, rng),
    });
    cases("scatters", 5, |context, rng, case| match case % 3 {
        0 => scatters::<u16>(context, rng),
        1 => scatters::<f64>(context, rng),
        _ => scatters::<bf16>(context, rng),
    });
}

/// The numbers do not depend on where they are written.
#[test]
fn random_numbers_fill_views_in_the_order_of_their_elements() {
    cases("fills", 4, |context, rng, case| {
        let shape = shape(rng);
        let view = View::of_shape(rng, &shape);
        let base = GpuArray::<f32>::full(context, &[view.base_count()], -1.0).unwrap();
        Generator::new(case).fill_uniform(&mut view.of(&base)).unwrap();
        let whole = Generator::new(case).uniform::<f32>(context, &shape).unwrap().to_vec().unwrap();
        let mut expected = vec![-1.0; view.base_count()];
        view.places().iter().zip(whole).for_each(|(&place, value)| expected[place] = value);
        assert_same(&base.to_vec().unwrap(), &expected, || format!("{view:?}"));
    });
}
