//! Reductions against sums in `f64` and `i128` on the host, over views of all kinds.

use ndarray::{ArrayD, Axis, Slice};
use num_complex::Complex;
use warpaint::{
    array::{Data, Error, Expr, GpuArray, Index, ReductionKernel, Summary},
    device::{self, Device},
    element::{Element, Scalar},
    index,
    kernel::Context,
};

use super::{contexts, flat, scan::random, upload};

/// A view of an array on the device and the same one on the host.
fn views<T: Data>(context: &Context, array: &ArrayD<T>) -> Vec<(GpuArray<T>, ArrayD<T>)> {
    let device = upload(context, array);
    let last = Axis(array.ndim() - 1);
    let mut other = array.clone();
    other.slice_axis_inplace(last, Slice::new(1, None, 1));
    let mut thinned = array.clone();
    thinned.slice_axis_inplace(Axis(0), Slice::new(0, None, -2));
    // Broadcast: the same elements all along an axis, or one for all.
    let repeated = |axis: usize| {
        let mut kept = vec![Index::from(..); array.ndim()];
        kept[axis] = (..1).into();
        let device = device.slice(&kept).unwrap().broadcast_to(array.shape()).unwrap();
        let mut one = array.clone();
        one.slice_axis_inplace(Axis(axis), Slice::new(0, Some(1), 1));
        (device, one.broadcast(array.shape()).unwrap().to_owned())
    };
    let one = device.slice(&vec![Index::At(1); array.ndim()]).unwrap();
    let value = array[ndarray::IxDyn(&vec![1; array.ndim()])];
    vec![
        repeated(0),
        repeated(array.ndim() - 1),
        (one.broadcast_to(array.shape()).unwrap(), ArrayD::from_elem(array.shape(), value)),
        (device.clone(), array.clone()),
        (device.transpose(), array.t().to_owned()),
        (device.slice(&index![..., 1..]).unwrap(), other),
        (device.slice(&index![..;-2]).unwrap(), thinned),
    ]
}

fn lanes<T: Copy, O>(array: &ArrayD<T>, axis: usize, of: impl Fn(&[T]) -> O) -> Vec<O> {
    let lane = |lane: ndarray::ArrayView1<'_, T>| of(&lane.to_vec());
    array.map_axis(Axis(axis), lane).into_iter().collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64], ddof: usize) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    squares / (values.len() as f64 - ddof as f64)
}

/// The place of the first greatest, of NaN before all.
fn first_greatest(values: &[f32]) -> i64 {
    let beats = |a: f32, b: f32| !b.is_nan() && (a.is_nan() || a > b);
    (0..values.len()).fold(0, |best, i| if beats(values[i], values[best]) { i } else { best })
        as i64
}

/// Whole numbers of few bits, so that sums and products of some are exact.
fn small(shape: &[usize]) -> ArrayD<f32> {
    let mut i = 0;
    ArrayD::from_shape_simple_fn(shape, || {
        i += 1;
        ((i * 37) % 11) as f32 - 4.0
    })
}

#[test]
fn reductions_over_views_are_what_the_host_computes() {
    for context in contexts() {
        for shape in [vec![5, 33, 8], vec![3, 1500]] {
            for (a, x) in views(&context, &small(&shape)) {
                let name = format!("{:?} with strides {:?}", a.shape(), a.strides());
                let sum = |v: &[f32]| v.iter().sum::<f32>();
                let wide = |v: &[f32]| v.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
                assert_eq!(a.sum().unwrap().item().unwrap(), x.sum(), "{name}");
                let all = flat(&x);
                assert_eq!(a.argmax().unwrap().item().unwrap(), first_greatest(&all), "{name}");
                let (least, greatest) = a.minmax_along(&[0]).unwrap();
                let extreme = |of: fn(f32, f32) -> f32, v: &[f32]| v.iter().copied().reduce(of);
                let expected = lanes(&x, 0, |v| extreme(f32::min, v).unwrap());
                assert_eq!(least.to_vec().unwrap(), expected, "{name}");
                let expected = lanes(&x, 0, |v| extreme(f32::max, v).unwrap());
                assert_eq!(greatest.to_vec().unwrap(), expected, "{name}");
                for axis in 0..x.ndim() {
                    let along = [axis];
                    let sums = a.sum_along(&along).unwrap().to_vec().unwrap();
                    assert_eq!(sums, lanes(&x, axis, sum), "{name}");
                    let places = a.argmax_along(&along).unwrap().to_vec().unwrap();
                    assert_eq!(places, lanes(&x, axis, first_greatest), "{name}");
                    // Both are within half a unit in the last place of f32 of nearly exact values.
                    let found = a.var_along(&along, 1).unwrap().to_vec().unwrap();
                    for (found, expected) in
                        found.iter().zip(lanes(&x, axis, |v| variance(&wide(v), 1)))
                    {
                        let close = (f64::from(*found) - expected).abs() <= expected * 1e-7;
                        assert!(
                            close || expected.is_nan() && found.is_nan(),
                            "{name}: {found} {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn results_have_the_types_and_values_of_numpy() {
    for context in contexts() {
        let bytes = GpuArray::from_slice(&context, &[100i8, 100, 27]).unwrap();
        assert_eq!(bytes.mean().unwrap().item().unwrap(), 227.0 / 3.0);
        assert_eq!(bytes.sum().unwrap().item().unwrap(), -29);
        assert_eq!(bytes.prod().unwrap().item().unwrap(), (100 * 100 * 27) as i8);
        assert_eq!(bytes.dot(&bytes).unwrap().item().unwrap(), 20729_i32 as i8);
        let big = GpuArray::from_slice(&context, &[i64::MAX, i64::MAX, 1]).unwrap();
        // 2^64 - 1, of which numpy's nearest is 2^64.
        assert_eq!(big.mean().unwrap().item().unwrap(), 18446744073709551616.0 / 3.0);

        let halves = GpuArray::full(&context, &[70_000], half::f16::from_f32(2.0)).unwrap();
        assert_eq!(halves.mean().unwrap().item().unwrap().to_f32(), 2.0, "the sum is beyond f16");
        assert_eq!(halves.std(0).unwrap().item().unwrap().to_f32(), 0.0);

        let z = [Complex::new(1.0f32, 2.0), Complex::new(-3.0, 0.5), Complex::new(0.0, -1.0)];
        let a = GpuArray::from_slice(&context, &z).unwrap();
        assert_eq!(a.mean().unwrap().item().unwrap(), z.iter().sum::<Complex<f32>>() / 3.0);
        assert_eq!(a.prod().unwrap().item().unwrap(), z.iter().product());
        assert_eq!(a.dot(&a).unwrap().item().unwrap(), z.iter().map(|z| z * z).sum());
        assert_eq!(
            a.vdot(&a).unwrap().item().unwrap(),
            Complex::from(z.iter().map(Complex::norm_sqr).sum::<f32>())
        );
        let mean = z.iter().sum::<Complex<f32>>() / 3.0;
        let expected = z.iter().map(|z| (z - mean).norm_sqr()).sum::<f32>() / 3.0;
        assert!((a.var(0).unwrap().item().unwrap() / expected - 1.0).abs() < 1e-6);

        let nan = f32::NAN;
        let a = GpuArray::from_slice(&context, &[1.0, nan, f32::INFINITY, 0.0, nan]).unwrap();
        assert_eq!(a.count_nan().unwrap().item().unwrap(), 2);
        assert_eq!(a.count_inf().unwrap().item().unwrap(), 1);
        assert_eq!(a.count_nonzero().unwrap().item().unwrap(), 4);
        assert_eq!(a.argmin().unwrap().item().unwrap(), 1);
        assert!(a.minmax().unwrap().1.item().unwrap().is_nan());
        assert!(a.any().unwrap().item().unwrap() && !a.all().unwrap().item().unwrap());
        let least = GpuArray::full(&context, &[5000], f32::NEG_INFINITY).unwrap();
        assert_eq!(least.argmax().unwrap().item().unwrap(), 0, "of equals the first");
        let mut values = vec![0.0f32; 9000];
        (values[10], values[20]) = (3.0, -3.0);
        (values[900], values[8000]) = (f32::NAN, f32::NAN);
        let a = GpuArray::from_slice(&context, &values).unwrap();
        assert_eq!(a.argmax().unwrap().item().unwrap(), 900, "the first NaN");
        assert_eq!(a.argmin().unwrap().item().unwrap(), 900, "the first NaN");
    }
}

#[test]
fn nothing_reduces_to_what_numpy_has() {
    for context in contexts() {
        let none = GpuArray::<f32>::zeros(&context, &[0, 4]).unwrap();
        assert_eq!(none.sum_along(&[0]).unwrap().to_vec().unwrap(), [0.0; 4]);
        assert_eq!(none.prod_along(&[0]).unwrap().to_vec().unwrap(), [1.0; 4]);
        assert!(none.mean().unwrap().item().unwrap().is_nan());
        assert!(none.var(0).unwrap().item().unwrap().is_nan());
        assert!(none.all().unwrap().item().unwrap() && !none.any().unwrap().item().unwrap());
        assert_eq!(none.count_nan().unwrap().item().unwrap(), 0);
        assert!(matches!(none.argmax_along(&[0]), Err(Error::Empty { operation: "argmax" })));
        assert!(matches!(none.minmax(), Err(Error::Empty { operation: "minmax" })));
        assert!(none.argmax_along(&[1]).unwrap().is_empty());
        assert_eq!(none.dot(&none).unwrap().item().unwrap(), 0.0);
    }
}

#[test]
fn results_go_into_arrays_of_any_layout() {
    for context in contexts() {
        let x = small(&[6, 4]);
        let a = upload(&context, &x);
        let table = GpuArray::<f32>::zeros(&context, &[6, 3]).unwrap();
        let mut column = table.slice(&index![.., 1..2]).unwrap();
        a.reduce().along(&[1]).keep_axes().sum().eval_into(&mut column).unwrap();
        let expected = lanes(&x, 1, |v| v.iter().sum::<f32>());
        assert_eq!(column.to_vec().unwrap(), expected);
        assert_eq!(table.sum().unwrap().item().unwrap(), x.sum(), "nothing else was written");

        let mut row = a.slice(&index![2]).unwrap();
        a.reduce().along(&[0]).sum().eval_into(&mut row).unwrap();
        let expected = lanes(&x, 0, |v| v.iter().sum::<f32>());
        assert_eq!(row.to_vec().unwrap(), expected, "as if everything was read first");

        let mut wrong = GpuArray::<f32>::zeros(&context, &[4]).unwrap();
        let sums = a.reduce().along(&[1]).sum();
        assert!(matches!(sums.eval_into(&mut wrong), Err(Error::Shape { .. })));
        let mut one = wrong.slice(&index![..1]).unwrap().broadcast_to(&[6]).unwrap();
        assert!(matches!(sums.eval_into(&mut one), Err(Error::NotWritable { .. })));
        let elsewhere = Context::new(Device::cpu().unwrap()).unwrap();
        let mut other = GpuArray::<f32>::zeros(&elsewhere, &[6]).unwrap();
        assert!(matches!(sums.eval_into(&mut other), Err(Error::WrongDevice { .. })));
        assert!(matches!(a.reduce().along(&[2]).sum().eval(), Err(Error::Axes { .. })));
    }
}

/// A mean 10^8 times the deviation leaves `E[x^2] - E[x]^2` no digit in `f64`; deviations keep nearly all.
#[test]
fn variances_do_not_cancel() {
    for context in contexts() {
        let n = 100_000;
        let deviation = |i: usize| ((i * 7919) % 1024) as f64 / 1024.0 - 0.5;
        let values: Vec<f64> = (0..n).map(|i| 1e8 + deviation(i)).collect();
        let expected = variance(&(0..n).map(deviation).collect::<Vec<_>>(), 0);
        let a = GpuArray::from_slice(&context, &values).unwrap();
        // The values themselves are rounded to 2^-26, which is 1.5e-8.
        let found = a.var(0).unwrap().item().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-8, "{found} {expected}");
        let first =
            Expr::select(Expr::from(&a).lt(a.slice(&index![1]).unwrap().item().unwrap()), 0.0, &a);
        let outlier = first.eval().unwrap().to_vec().unwrap();
        let expected = variance(&outlier, 0);
        let found = first.var(0).unwrap().item().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
        assert_eq!((&a * 0.0 + 0.1).var(0).unwrap().item().unwrap(), 0.0);
    }
}

/// Squares that are too large for `f64` are infinite, as numpy has them, and no NaN.
#[test]
fn variances_overflow_to_infinity() {
    for context in contexts() {
        for (values, expected) in [
            (vec![1e200, -1e200], f64::INFINITY),
            (vec![1e160; 300], 0.0),
            ([vec![1e160; 300], vec![0.0; 300]].concat(), f64::INFINITY),
            (vec![1e150, -1e150, 1e150], variance(&[1e150, -1e150, 1e150], 0)),
        ] {
            let a = GpuArray::from_slice(&context, &values).unwrap();
            let found: f64 = a.var(0).unwrap().item().unwrap();
            let alike = found == expected || (found / expected - 1.0_f64).abs() < 1e-12;
            assert!(alike, "{found}, not {expected}");
        }
    }
}

/// The mean is infinite, or none, and a deviation from it no number: numpy says so wherever the infinity stands.
#[test]
fn variances_of_infinities_are_no_numbers() {
    for context in contexts() {
        for at in [0, 1, 2, 700, 4999] {
            for wrong in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
                let mut values = vec![1.5; 5000];
                values[at] = wrong;
                let a = GpuArray::from_slice(&context, &values).unwrap();
                let [var, std] = [a.var(0), a.std(1)].map(|found| found.unwrap().item().unwrap());
                assert!(var.is_nan() && std.is_nan(), "{wrong} at {at}: {var}, {std}");
            }
        }
    }
}

#[test]
fn results_have_the_same_bits_each_time() {
    for context in contexts() {
        let a = GpuArray::<f32>::linspace(&context, -1.0, 1.7, 300_000, true).unwrap();
        let bits = || {
            let var = Expr::from(&a).sin().var(1).unwrap().item().unwrap();
            (a.prod().unwrap().item().unwrap().to_bits(), var.to_bits())
        };
        let first = bits();
        assert!((0..5).all(|_| bits() == first));
    }
}

/// Lengths around blocks, pieces and splits, from offsets that no piece begins at.
#[test]
fn long_rows_are_reduced_whole() {
    for context in contexts() {
        for n in [1, 3, 255, 4095, 4097, 40_001] {
            for (offset, rows) in [(0, 1), (1, 3), (4, 2)] {
                let whole = GpuArray::<i32>::arange(&context, rows * (n + offset)).unwrap();
                let whole = whole.reshape(&[rows, n + offset]).unwrap();
                let a = whole.slice(&index![.., offset as isize..]).unwrap();
                let sum = |row: usize| {
                    let first = (row * (n + offset) + offset) as i64;
                    (first * n as i64 + n as i64 * (n as i64 - 1) / 2) as i32
                };
                let sums: Vec<i32> = (0..rows).map(sum).collect();
                let name = format!("{rows} rows of {n} from {offset}");
                assert_eq!(a.sum_along(&[1]).unwrap().to_vec().unwrap(), sums, "{name}");
                let places = a.argmax_along(&[1]).unwrap().to_vec().unwrap();
                assert_eq!(places, vec![n as i64 - 1; rows], "{name}");
            }
        }
    }
}

#[test]
fn results_are_read_on_the_host_without_an_array() {
    for context in contexts() {
        let shape = |error: Result<f32, Error>| match error {
            Err(Error::Shape { operation: "item", found, .. }) => found,
            other => panic!("{other:?}"),
        };
        for n in [1, 31, 4096, 100_000] {
            let x: Vec<f32> = (0..n).map(|i| (i % 9) as f32 - 2.0).collect();
            let a = GpuArray::from_slice(&context, &x).unwrap();
            let sum: f64 = x.iter().map(|&v| f64::from(v)).sum();
            assert_eq!(f64::from(a.reduce().sum().item().unwrap()), sum);
            assert_eq!(
                a.reverse().reduce().sum().item().unwrap(),
                a.sum().unwrap().item().unwrap()
            );
            assert_eq!(
                a.reduce().along(&[0]).keep_axes().max().item().unwrap(),
                x[x.len().min(9) - 1].max(x[0])
            );
            assert_eq!(a.reduce().argmin().item().unwrap(), 0);
            assert!(!a.reduce().all().item().unwrap() || n == 1);
        }
        let none = GpuArray::<f32>::zeros(&context, &[0]).unwrap();
        assert_eq!(none.reduce().sum().item().unwrap(), 0.0);
        assert!(matches!(none.reduce().max().item(), Err(Error::Empty { operation: "max" })));
        let rows = GpuArray::<f32>::zeros(&context, &[2, 3]).unwrap();
        assert_eq!(shape(rows.reduce().along(&[0]).sum().item()), [3]);
        let gone = GpuArray::<f32>::zeros(&context, &[0, 3]).unwrap();
        assert_eq!(shape(gone.reduce().along(&[1]).sum().item()), [0]);
        assert!(matches!(rows.reduce().along(&[2]).sum().item(), Err(Error::Axes { .. })));
        assert!(matches!(Expr::scalar(1f32).reduce().sum().item(), Err(Error::NoArrays { .. })));
        // Work that is still under way comes first, also that of another stream.
        let other = GpuArray::<f32>::zeros(&context.on_new_stream().unwrap(), &[1 << 20]).unwrap();
        let ones = (&other + 1.0).eval().unwrap().on(&context).unwrap();
        assert_eq!(ones.reduce().sum().item().unwrap(), (1 << 20) as f32);
    }
}

#[test]
#[expect(unsafe_code, reason = "a kernel of our own making")]
fn a_fault_before_a_result_is_reported_and_the_next_result_is_right() {
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    let a = GpuArray::from_slice(&context, &[1i32, 2, 3]).unwrap();
    // SAFETY: on the CPU device an access outside the array is a fault.
    let outside = unsafe { ReductionKernel::<i32>::new("const int *x", "0", "a + b", "x[i - 9]") };
    let outside = outside.unwrap();
    let fault = outside.item(&[(&a).into()]).unwrap_err();
    assert!(matches!(fault, Error::Device(device::Error::Fault(_))), "{fault}");
    assert_eq!(a.reduce().sum().item().unwrap(), 6);
    // SAFETY: only the element `i` is read.
    let inside = unsafe { ReductionKernel::<i32>::new("const int *x", "0", "a + b", "2 * x[i]") };
    assert_eq!(inside.unwrap().item(&[(&a).into()]).unwrap(), 12);
}

/// Of every type, in the type of means; the squares of large numbers do not overflow on the way.
#[test]
fn norms_are_roots_of_sums_of_squares() {
    for context in contexts() {
        let x = small(&[7, 300]);
        let square = |v: &[f32]| v.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>();
        let a = upload(&context, &x);
        let norms = a.norm_along(&[1]).unwrap().to_vec().unwrap();
        assert_eq!(norms, lanes(&x, 1, |v| square(v).sqrt() as f32));
        let wide = (&a * 1e30).norm().unwrap().item().unwrap();
        assert!((f64::from(wide) / (square(&flat(&x)).sqrt() * 1e30) - 1.0).abs() < 1e-6);
        let whole = GpuArray::from_slice(&context, &[3i8, -4]).unwrap();
        assert_eq!(whole.norm().unwrap().item().unwrap(), 5.0f64);
        let z =
            GpuArray::from_slice(&context, &[Complex::new(2.0f32, -3.0), Complex::new(6.0, 0.0)]);
        assert_eq!(z.unwrap().norm().unwrap().item().unwrap(), 7.0f32);
        let halves = GpuArray::full(&context, &[4], half::f16::from_f32(300.0)).unwrap();
        assert_eq!(halves.norm().unwrap().item().unwrap().to_f32(), 600.0);
        let none = GpuArray::<f64>::zeros(&context, &[0]).unwrap();
        assert_eq!(none.norm().unwrap().item().unwrap(), 0.0);
    }
}

#[test]
#[expect(unsafe_code, reason = "a kernel from expressions")]
fn kernels_reduce_into_elements() {
    // SAFETY: element `i` alone is used.
    let sum = unsafe { ReductionKernel::<f32>::new("const float *x", "0", "a + b", "x[i]") };
    let sum = sum.unwrap();
    for context in contexts() {
        let table = upload(&context, &small(&[5, 40]));
        let sums = GpuArray::full(&context, &[7], -1.0).unwrap();
        for row in 0..5 {
            let mut place = sums.slice(&index![row + 1]).unwrap();
            sum.call_into(&[(&table.slice(&index![row]).unwrap()).into()], &mut place).unwrap();
        }
        let rows = table.sum_along(&[1]).unwrap().to_vec().unwrap();
        assert_eq!(sums.to_vec().unwrap(), [&[-1.0], &rows[..], &[-1.0]].concat());
    }
}

#[test]
fn extremes_of_subsets_are_those_of_their_elements() {
    for context in contexts() {
        let a = GpuArray::from_slice(&context, &[5.0f32, -7.0, 9.0, 2.0]).unwrap();
        let subset = GpuArray::from_slice(&context, &[3, 0, -4]).unwrap();
        let chosen = a.at(&subset).unwrap();
        assert_eq!(chosen.max().unwrap().item().unwrap(), 5.0);
        assert_eq!(chosen.min().unwrap().item().unwrap(), 2.0);
    }
}

/// Far from 0 neither the mean nor the deviation has the error of a sum of large numbers.
#[test]
fn statistics_are_exact_far_from_zero() {
    for context in contexts() {
        let element = Element::vector(Scalar::F64, 1);
        let (compiler, device) = (context.compiler(), context.device());
        let summary = Summary::new(compiler, device, context.target(), [element]).unwrap();
        let parts: Vec<f64> = random(3, 5000, |rng| rng.f64());
        for far in [0.0, 1e9, 1e12, -1e13] {
            let values: Vec<f64> = parts.iter().map(|part| far + part).collect();
            // What is left of the parts, which is exact.
            let left: Vec<f64> = values.iter().map(|value| value - far).collect();
            let mean = left.iter().sum::<f64>() / 5000.0;
            let variance = left.iter().map(|of| (of - mean).powi(2)).sum::<f64>() / 5000.0;
            let (stream, bytes) = (context.stream(), bytemuck::cast_slice(&values));
            let memory = device.alloc(bytes.len()).unwrap();
            stream.upload(memory.slice(..).unwrap(), bytes).unwrap();
            let pending = summary.enqueue(stream, memory.slice(..).unwrap(), element);
            let found = pending.unwrap().wait().unwrap()[0];
            // Sums of 5,000 numbers below 1, each rounded: some 1e-13, and a rounding of the mean itself.
            assert!(
                (found.mean - far - mean).abs() <= 1e-12 + far.abs() * 2e-16,
                "{found:?} at {far}"
            );
            assert!((found.std - variance.sqrt()).abs() < 1e-12, "{found:?} at {far}");
        }
    }
}
