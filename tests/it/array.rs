//! Arrays and expressions against `ndarray`, on each device that this machine has.

mod casts;
mod compact;
mod complex;
#[cfg(feature = "ndarray")]
mod creation;
mod devices;
mod functions;
mod gather;
mod generated;
mod histogram;
mod interface;
mod join;
#[cfg(feature = "ndarray")]
mod large;
mod misuse;
mod npy;
mod power;
mod property;
mod random;
mod reduce;
mod scalar;
mod scan;
mod sort;
mod vector;
mod view;
mod watched;

use ndarray::{ArrayD, s};
use warpaint::{
    array::{DType, Data, ElementwiseKernel, Error, Expr, GpuArray, Index, ReductionKernel},
    device::{ArrayDescriptor, ArrayShape, Device, Format, LaunchConfig},
    index,
    kernel::{Argument, Context, Source},
};

use crate::support::contexts;

/// Values that differ, and of which sums and products are exact.
fn counted(shape: &[usize]) -> ArrayD<f32> {
    let count: usize = shape.iter().product();
    ArrayD::from_shape_vec(shape, (0..count).map(|i| i as f32 * 0.25 - 3.0).collect()).unwrap()
}

fn upload<T: Data>(context: &Context, array: &ArrayD<T>) -> GpuArray<T> {
    GpuArray::from_shape(context, array.shape(), &flat(array)).unwrap()
}

fn flat<T: Copy>(array: &ArrayD<T>) -> Vec<T> {
    array.iter().copied().collect()
}

#[test]
fn expressions_over_every_layout_are_what_ndarray_computes() {
    for context in contexts() {
        for shape in
            [vec![], vec![1], vec![0, 3], vec![1001], vec![7, 5], vec![3, 1, 4], vec![2, 3, 4, 5]]
        {
            let (x, y) = (counted(&shape), counted(&shape).mapv(|v| v * 0.5 + 1.0));
            let (a, b) = (upload(&context, &x), upload(&context, &y));
            let expected = &x * 2.0 + &y * &x;
            let result = (&a * 2.0 + &b * &a).eval().unwrap();
            assert_eq!(result.shape(), &shape);
            assert_eq!(result.to_vec().unwrap(), flat(&expected), "{shape:?}");

            let expected = &x.t() - 1.0;
            let result = (&a.transpose() - 1.0).eval().unwrap();
            assert_eq!(result.to_vec().unwrap(), flat(&expected.into_dyn()), "{shape:?}");
        }
    }
}

#[test]
fn arrays_are_operands_themselves_too() {
    for context in contexts() {
        let count = || GpuArray::<f32>::arange(&context, 4).unwrap();
        let sums = [count() + 1.0, 1.0 + count(), &count() + count(), count() + (-count() + 1.0)];
        let expected = [[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 4.0, 6.0], [1.0; 4]];
        for (sum, expected) in sums.iter().zip(expected) {
            assert_eq!(sum.eval().unwrap().to_vec().unwrap(), expected);
        }
        let mut whole = count();
        whole.assign(count().reverse()).unwrap();
        whole.sub_assign(count().slice(&index![..1]).unwrap()).unwrap();
        assert_eq!(whole.maximum(count()).eval().unwrap().to_vec().unwrap(), [3.0, 2.0, 2.0, 3.0]);
        assert_eq!((!count().cast::<u8>()).eval().unwrap().to_vec().unwrap()[1], 254);
    }
}

/// What kernels get for views, and copies for arrays whose elements lie one behind the other.
#[test]
fn arrays_give_their_memory() {
    let first = Source::new("__global__ void first(const float *x, float *to) { *to = *x; }");
    for context in contexts() {
        let a = GpuArray::<f32>::arange(&context, 12).unwrap().reshape(&[3, 4]).unwrap();
        let to = GpuArray::<f32>::zeros(&context, &[]).unwrap();
        let kernel = context.module(&first).unwrap().kernel("first").unwrap();
        let views = [a.slice(&index![1.., 2..]), a.slice(&index![..;-1, 1..;-1]), Ok(a.reverse())];
        for (view, expected) in views.into_iter().zip([6.0, 9.0, 11.0]) {
            let view = view.unwrap();
            for x in [view.argument().unwrap(), Argument::address(view.address())] {
                let arguments = [x, to.argument().unwrap()];
                #[expect(unsafe_code, reason = "launches a kernel")]
                // SAFETY: it reads the view's first element, and writes the only one of `to`.
                unsafe { kernel.launch(context.stream(), &LaunchConfig::new(1, 1), &arguments) }
                    .unwrap();
                assert_eq!(to.item().unwrap(), expected);
            }
            assert!(matches!(view.memory(), Err(Error::Gaps { .. })));
        }
        assert!(a.slice(&index![3.., 4..]).unwrap().argument().is_ok(), "nothing, behind the end");

        let shape = ArrayShape::D2 { width: 4, height: 2 };
        let texels = context.device().array(&ArrayDescriptor::new(shape, Format::R32F)).unwrap();
        let rows = a.slice(&index![1..]).unwrap();
        context.stream().copy(texels.region(), rows.memory().unwrap()).unwrap();
        let corner = texels.region().part([1, 1, 0], [1, 1, 1]).unwrap();
        let other = context.on_new_stream().unwrap();
        context.synchronize().unwrap();
        let moved = to.on(&other).unwrap();
        other.stream().copy(moved.memory().unwrap(), corner).unwrap();
        assert_eq!(moved.item().unwrap(), 9.0);
        assert_eq!(a.slice(&index![1..1]).unwrap().memory().unwrap().bytes(), 0);
    }
}

#[test]
fn views_are_read_and_written_in_place() {
    for context in contexts() {
        let mut x = counted(&[6, 8]);
        let a = upload(&context, &x);
        a.slice(&index![1..;2, ..;-3]).unwrap().assign(9.0).unwrap();
        x.slice_mut(s![1..;2, ..;-3]).fill(9.0);
        assert_eq!(a.to_vec().unwrap(), flat(&x));

        let row = a.slice(&index![2]).unwrap();
        let sum = (&a + &row).eval().unwrap();
        let expected = &x + &x.slice(s![2, ..]);
        assert_eq!(sum.to_vec().unwrap(), flat(&expected.into_dyn()));

        let dense = a.slice(&index![1..3]).unwrap();
        assert_eq!(dense.to_contiguous().unwrap().address(), dense.address(), "as it is");
        let columns = a.slice(&index![.., 1..3]).unwrap().to_contiguous().unwrap();
        assert_eq!(columns.strides(), [2, 1]);
        assert_eq!(columns.to_vec().unwrap(), flat(&x.slice(s![.., 1..3]).to_owned().into_dyn()));

        let flipped = a.slice(&index![..;-1]).unwrap();
        a.slice(&index![...]).unwrap().assign(&flipped).unwrap();
        x.invert_axis(ndarray::Axis(0));
        assert_eq!(a.to_vec().unwrap(), flat(&x), "as if everything was read first");

        let wide = row.broadcast_to(&[3, 8]).unwrap();
        assert!(matches!(wide.clone().fill(1.0), Err(Error::NotWritable { .. })));
        assert_eq!(wide.to_vec().unwrap().len(), 24);
        assert!(matches!(
            (&a + &GpuArray::<f32>::zeros(&context, &[7]).unwrap()).eval(),
            Err(Error::Broadcast { .. })
        ));
    }
}

/// Numpy's result types, and its results where Rust has the same.
#[test]
fn types_promote_as_in_numpy() {
    for context in contexts() {
        let bytes = GpuArray::from_slice(&context, &[-128i8, 127, -1]).unwrap();
        let words = GpuArray::from_slice(&context, &[65535u16, 1, 2]).unwrap();
        let sum: GpuArray<i32> = (&bytes + &words).eval().unwrap();
        assert_eq!(sum.to_vec().unwrap(), [65407, 128, 1]);

        let big = GpuArray::from_slice(&context, &[i64::MIN, 3, 4]).unwrap();
        let floats = GpuArray::from_slice(&context, &[0.5f32, 0.25, -1.0]).unwrap();
        let product: GpuArray<f64> = (&big * &floats).eval().unwrap();
        assert_eq!(product.to_vec().unwrap(), [-4611686018427387904.0, 0.75, -4.0]);

        let by = GpuArray::from_slice(&context, &[-1i64, 0, -3]).unwrap();
        assert_eq!((&big / &by).eval().unwrap().to_vec().unwrap(), [i64::MIN, 0, -1]);
        assert_eq!((&big % &by).eval().unwrap().to_vec().unwrap(), [0, 0, 1]);
        assert_eq!((-&bytes).eval().unwrap().to_vec().unwrap(), [-128, -127, 1]);

        let halves = floats.cast::<half::f16>().eval().unwrap();
        let halved: GpuArray<half::f16> = (&halves * half::f16::from_f32(0.5)).eval().unwrap();
        let halved: Vec<f32> =
            halved.to_vec().unwrap().into_iter().map(half::f16::to_f32).collect();
        assert_eq!(halved, [0.25, 0.125, -0.5]);
        let brains = floats.cast::<half::bf16>().eval().unwrap();
        assert_eq!((&brains + &halves).eval().unwrap().to_vec().unwrap(), [1.0f32, 0.5, -2.0]);
    }
}

#[test]
fn comparisons_select() {
    for context in contexts() {
        let a = GpuArray::<f32>::arange(&context, 10).unwrap();
        let inside = a.ge(2.0) & a.lt(5.0);
        let chosen = Expr::select(&inside, &a, -1.0).eval().unwrap();
        assert_eq!(
            chosen.to_vec().unwrap(),
            [-1.0, -1.0, 2.0, 3.0, 4.0, -1.0, -1.0, -1.0, -1.0, -1.0]
        );
        let mask: Vec<bool> = inside.eval().unwrap().to_vec().unwrap();
        assert_eq!(mask.iter().filter(|&&m| m).count(), 3);
        let nan = GpuArray::from_slice(&context, &[f32::NAN, 1.0]).unwrap();
        let most = nan.maximum(0.5).eval().unwrap().to_vec().unwrap();
        assert!(most[0].is_nan() && most[1] == 1.0, "{most:?}");
    }
}

#[test]
fn streams_are_kept_in_order() {
    for context in contexts() {
        let other = context.on_new_stream().unwrap();
        let n = 1 << 20;
        for round in 0..5 {
            let mut a = GpuArray::<f32>::full(&context, &[n], 1.0).unwrap();
            for _ in 0..20 {
                let next = &a + 1.0;
                a.assign(next).unwrap();
            }
            let there = a.on(&other).unwrap();
            let result = (&there * 2.0).eval().unwrap();
            drop((a, there));
            assert!(result.to_vec().unwrap().iter().all(|&v| v == 42.0), "round {round}");
        }
    }
}

#[test]
fn long_chains_end_in_an_error_not_in_the_stack() {
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    let a = GpuArray::<f32>::zeros(&context, &[4]).unwrap();
    let mut expr = Expr::from(&a);
    for _ in 0..200_000 {
        expr = expr + 1.0;
    }
    assert!(matches!(expr.eval(), Err(Error::TooLong { .. })));
    let mut doubled = Expr::from(&a) + 1.0;
    for _ in 0..20 {
        doubled = &doubled + &doubled;
    }
    assert_eq!(doubled.eval().unwrap().to_vec().unwrap(), [1048576.0; 4], "shared, not repeated");
}

#[test]
fn reductions_along_axes_are_what_ndarray_sums() {
    for context in contexts() {
        let x = counted(&[5, 33, 7]);
        let a = upload(&context, &x);
        let sum = |axes: &[usize]| Expr::from(&a).sum_along(axes).unwrap();
        let along = |array: &ArrayD<f32>, axis| array.sum_axis(ndarray::Axis(axis));
        for axis in 0..3 {
            let sums = sum(&[axis]);
            assert_eq!(sums.to_vec().unwrap(), flat(&along(&x, axis)), "axis {axis}");
            let greatest = Expr::from(&a).max_along(&[axis]).unwrap();
            let expected =
                x.map_axis(ndarray::Axis(axis), |lane| lane.fold(f32::MIN, |m, v| m.max(*v)));
            assert_eq!(greatest.to_vec().unwrap(), flat(&expected.into_dyn()), "axis {axis}");
        }
        assert_eq!(sum(&[0, 2]).to_vec().unwrap(), flat(&along(&along(&x, 2), 0)));
        assert_eq!(sum(&[0, 1, 2]).item().unwrap(), x.sum());
        assert_eq!(sum(&[]).to_vec().unwrap(), flat(&x));
        assert_eq!(Expr::from(&a.transpose()).sum_along(&[0]).unwrap().to_vec().unwrap(), {
            let t = x.t().into_dyn().to_owned();
            flat(&along(&t, 0))
        });
        assert!(matches!(Expr::from(&a).sum_along(&[3]), Err(Error::Axes { .. })));
        assert!(matches!(Expr::from(&a).sum_along(&[1, 1]), Err(Error::Axes { .. })));
        let none = GpuArray::<f32>::zeros(&context, &[0, 4]).unwrap();
        assert_eq!(Expr::from(&none).sum().unwrap().item().unwrap(), 0.0);
        assert_eq!(Expr::from(&none).sum_along(&[0]).unwrap().to_vec().unwrap(), [0.0; 4]);
        assert!(matches!(Expr::from(&none).max(), Err(Error::Empty { .. })));
        assert!(Expr::from(&none).max_along(&[1]).unwrap().is_empty());
    }
}

/// Sizes around blocks and splits; the sums are exact in `f32`, and the large one needs wide accumulation.
#[test]
fn long_sums_are_exact() {
    for context in contexts() {
        for n in [1, 31, 255, 256, 257, 4095, 4096, 4097, 100_003] {
            let a = GpuArray::<i32>::arange(&context, n).unwrap();
            let expected = (n as i64 * (n as i64 - 1) / 2) as i32;
            assert_eq!(Expr::from(&a).sum().unwrap().item().unwrap(), expected, "{n}");
            assert_eq!(Expr::from(&a).max().unwrap().item().unwrap(), n as i32 - 1);
        }
        let ones = GpuArray::<f32>::full(&context, &[3, 1 << 24], 1.0).unwrap();
        let sum = (&ones + 0.25).sum().unwrap().item().unwrap();
        assert_eq!(sum, 3.75 * (1 << 24) as f32);
        let big = GpuArray::from_slice(&context, &[1e100, 1.0, -1e100, 1e-30]).unwrap();
        assert_eq!(Expr::from(&big).sum().unwrap().item().unwrap(), 1.0);
    }
}

/// Min and max at once, as PyCUDA's tests do it: a structure of the user's, with operators in a preamble.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Range {
    least: f32,
    greatest: f32,
}

impl Data for Range {
    const DTYPE: DType = DType {
        name: "Range",
        definition: "struct Range { float least, greatest; };",
        bytes: 8,
        align: 4,
    };
}

#[test]
#[expect(unsafe_code, reason = "kernels from expressions")]
fn kernels_from_expressions_take_arrays_of_any_layout() {
    let scale = "const float *x, double a, float *z";
    // SAFETY: the operation uses element `i` alone.
    let scale = unsafe { ElementwiseKernel::new(scale, "z[i] = a * x[i]") }.unwrap();
    // SAFETY: element `i` of `x` and the first of `sum` alone are used.
    let totals = unsafe { ElementwiseKernel::new("const float *x, float *sum", "mine += x[i]") };
    let totals =
        totals.unwrap().loop_prepare("float mine = 0").after_loop("atomicAdd(&sum[0], mine)");
    let (neutral, each) = ("Range{INFINITY, -INFINITY}", "Range{x[i], x[i]}");
    // SAFETY: the expressions use element `i` alone.
    let range =
        unsafe { ReductionKernel::<Range>::new("const float *x", neutral, "join(a, b)", each) };
    let range = range.unwrap();
    let range = range.preamble(
        "__device__ Range join(Range a, Range b) \
         { return Range{fminf(a.least, b.least), fmaxf(a.greatest, b.greatest)}; }",
    );
    for context in contexts() {
        let x = counted(&[40, 30, 20]);
        let a = upload(&context, &x);
        let z = GpuArray::<f32>::zeros(&context, &[20, 30, 40]).unwrap();
        scale.call(&[(&a.transpose()).into(), 2.0f64.into(), (&z).into()]).unwrap();
        assert_eq!(z.to_vec().unwrap(), flat(&(&x.t() * 2.0).into_dyn()));

        let part = a.slice(&index![..;3, 1..;2]).unwrap();
        let of = x.slice(s![..;3, 1..;2, ..]);
        let expected = Range {
            least: of.fold(f32::MAX, |m, v| m.min(*v)),
            greatest: of.fold(f32::MIN, |m, v| m.max(*v)),
        };
        assert_eq!(range.call(&[(&part).into()]).unwrap().item().unwrap(), expected);
        assert_eq!(
            range.call(&[(&a).into()]).unwrap().item().unwrap(),
            Range { least: -3.0, greatest: 23999.0 * 0.25 - 3.0 }
        );

        let line = GpuArray::<f32>::arange(&context, 10).unwrap();
        let out = GpuArray::<f32>::zeros(&context, &[10]).unwrap();
        scale
            .call_range(
                Index::Range { start: Some(8), stop: Some(2), step: -3 },
                &[(&line).into(), 1.0f64.into(), (&out).into()],
            )
            .unwrap();
        assert_eq!(out.to_vec().unwrap(), [0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 8.0, 0.0]);

        // What stands before and behind the loop runs once a thread.
        let sums = GpuArray::<f32>::zeros(&context, &[10]).unwrap();
        totals.call(&[(&line).into(), (&sums).into()]).unwrap();
        assert_eq!(sums.to_vec().unwrap()[..2], [45.0, 0.0]);
    }
}

#[test]
#[expect(unsafe_code, reason = "kernels from expressions")]
fn mistakes_in_kernels_from_expressions_are_named() {
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    let x = GpuArray::<f32>::zeros(&context, &[4]).unwrap();
    let ints = GpuArray::<i32>::zeros(&context, &[4]).unwrap();
    // SAFETY: none of them runs.
    let kernel =
        |parameters, operation: &str| unsafe { ElementwiseKernel::new(parameters, operation) };
    let told = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert!(matches!(kernel("float *", "x"), Err(Error::Parameters { .. })));
    assert_eq!(
        kernel("float *", "x").unwrap_err().to_string(),
        "`float *` is no list of kernel parameters: a parameter has no name"
    );
    let fill = kernel("float *x, float a", "x[i] = a").unwrap().named("fill");
    assert_eq!(told(fill.call(&[(&x).into()])), "`fill` takes 2 arguments, 1 was given");
    assert_eq!(
        told(fill.call(&[(&ints).into(), 1.0f32.into()])),
        "`fill`: parameter `x` is float *, the argument is an array of `int`"
    );
    assert_eq!(
        told(fill.call(&[(&x).into(), 1i32.into()])),
        "`fill`: parameter `a` is float, the argument is a value of type `int`"
    );
    let wide = x.reshape(&[1, 4]).unwrap().broadcast_to(&[3, 4]).unwrap();
    assert_eq!(
        told(fill.call(&[(&wide).into(), 1.0f32.into()])),
        "`fill`: parameter `x` is float *, the argument is a broadcast view of `float`, which can only be read"
    );
    let add = kernel("float *x, const float *y", "x[i] += y[i]").unwrap();
    let short = x.slice(&index![..3]).unwrap();
    assert!(matches!(add.call(&[(&x).into(), (&short).into()]), Err(Error::Shape { .. })));
    let no_arrays = kernel("float a", "a").unwrap();
    assert!(matches!(no_arrays.call(&[1.0f32.into()]), Err(Error::NoArrays { .. })));
    let wrong = kernel("float *x", "x[i] = 1;\nx[i] = y").unwrap();
    let error = told(wrong.call(&[(&x).into()]));
    assert!(error.contains("<operation>:2") && error.contains("\"y\""), "{error}");
}
