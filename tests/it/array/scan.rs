//! Scans against loops on the host.

use std::num::Wrapping;

use ndarray::{ArrayD, Axis};
use num_complex::Complex;
use warpaint::{
    array::{
        Additive, DType, Data, Error, ExclusiveScanKernel, Expr, GpuArray, InclusiveScanKernel,
        vector::Double4,
    },
    device::Device,
    index,
    kernel::Context,
};

use super::{contexts, counted, flat, upload};

/// Elements of 4 bytes in a tile; tiles around it, groups of tiles and the chain have edges of their own.
const TILE: usize = 256 * 17;

pub(super) fn random<T>(
    seed: u64,
    count: usize,
    value: impl Fn(&mut fastrand::Rng) -> T,
) -> Vec<T> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| value(&mut rng)).collect()
}

/// What a scan on the host gives.
fn scanned<T: Copy>(values: &[T], combine: impl Fn(T, T) -> T) -> Vec<T> {
    let mut total = None;
    let step = |&value: &T| *total.insert(total.map_or(value, |total| combine(total, value)));
    values.iter().map(step).collect()
}

/// `x -> factor * x + offset` modulo 2^32: to apply one behind the other is associative, exact, and not commutative.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Affine {
    factor: Wrapping<u32>,
    offset: Wrapping<u32>,
}

impl Data for Affine {
    const DTYPE: DType = DType {
        name: "Affine",
        definition: "struct Affine { unsigned factor, offset; };",
        bytes: 8,
        align: 4,
    };
}

impl Affine {
    fn then(self, next: Self) -> Self {
        Self { factor: next.factor * self.factor, offset: next.factor * self.offset + next.offset }
    }

    fn random(seed: u64, count: usize) -> Vec<Self> {
        let number = |rng: &mut fastrand::Rng| Wrapping(rng.u32(..));
        random(seed, count, |rng| Self { factor: number(rng) | Wrapping(1), offset: number(rng) })
    }
}

#[expect(unsafe_code, reason = "kernels from expressions")]
fn affine() -> (InclusiveScanKernel<Affine>, ExclusiveScanKernel<Affine>) {
    let then = "Affine{b.factor * a.factor, b.factor * a.offset + b.offset}";
    // SAFETY: the expression uses its operands alone.
    let inclusive = unsafe { InclusiveScanKernel::new(then) };
    // SAFETY: as above.
    (inclusive, unsafe { ExclusiveScanKernel::new(then, "Affine{1, 0}") })
}

#[test]
fn sizes_around_warps_tiles_and_groups_are_scanned() {
    for context in contexts() {
        for n in [0, 1, 2, 31, 32, 33, 255, 256, 257, TILE - 1, TILE, TILE + 1, 40 * TILE + 7] {
            let values = random(n as u64, n, |rng| rng.i32(..));
            let a = GpuArray::from_slice(&context, &values).unwrap();
            let sums = scanned(&values, i32::wrapping_add);
            assert_eq!(a.cumsum().unwrap().to_vec().unwrap(), sums, "{n}");
            let most = scanned(&values, i32::max);
            assert_eq!(a.cummax().unwrap().to_vec().unwrap(), most, "{n}");
        }
    }
}

/// All three levels of totals, with an operator that shows any other order.
#[test]
fn structures_are_scanned_in_their_order() {
    let (inclusive, exclusive) = affine();
    for context in contexts() {
        let n = 2_500_000;
        let values = Affine::random(1, n);
        let a = GpuArray::from_slice(&context, &values).unwrap();
        let expected = scanned(&values, Affine::then);
        let some =
            |array: &GpuArray<Affine>| array.slice(&index![..; 977]).unwrap().to_vec().unwrap();
        let result = inclusive.call(&a).unwrap();
        let all: Vec<_> = expected.iter().step_by(977).copied().collect();
        assert_eq!(some(&result), all);
        let last = result.slice(&index![-1]).unwrap().item().unwrap();
        assert_eq!(last, expected[n - 1]);

        let result: GpuArray<Affine> = exclusive.call(&a).unwrap();
        let first = Affine { factor: Wrapping(1), offset: Wrapping(0) };
        assert_eq!(result.slice(&index![0]).unwrap().item().unwrap(), first);
        let later = result.slice(&index![1..]).unwrap();
        assert_eq!(some(&later), all[..some(&later).len()]);
    }
}

/// Larger than what a thread otherwise takes at once.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Counts {
    of: [u32; 64],
}

impl Data for Counts {
    const DTYPE: DType = DType {
        name: "Counts",
        definition: "struct Counts { unsigned of[64]; };",
        bytes: 256,
        align: 4,
    };
}

#[test]
#[expect(unsafe_code, reason = "kernels from expressions")]
fn large_structures_are_scanned() {
    // SAFETY: the expression uses its operands alone.
    let histogram = unsafe { InclusiveScanKernel::<Counts>::new("add(a, b)") };
    let histogram = histogram.map("one(x)").preamble(
        "__device__ Counts add(Counts a, const Counts &b)
        { for (int k = 0; k < 64; ++k) a.of[k] += b.of[k]; return a; }
        __device__ Counts one(int x) { Counts c{}; c.of[x] = 1; return c; }",
    );
    for context in contexts() {
        let n = 500;
        let values = random(6, n, |rng| rng.i32(0..64));
        let a = GpuArray::from_slice(&context, &values).unwrap();
        let all = histogram.call(&a).unwrap().to_vec().unwrap();
        let mut expected = Counts { of: [0; 64] };
        for (value, found) in values.iter().zip(all) {
            expected.of[*value as usize] += 1;
            assert!(found == expected);
        }
    }
}

#[test]
fn segments_begin_anew_at_heads() {
    let (inclusive, exclusive) = affine();
    for context in contexts() {
        for (n, every) in [(1, 1), (33, 5), (5000, 3), (5000, 700), (5000, 100_000)] {
            let values = Affine::random(n as u64, n);
            let heads = random(every, n, |rng| rng.u64(..every) == 0);
            let a = GpuArray::from_slice(&context, &values).unwrap();
            let h = GpuArray::from_slice(&context, &heads).unwrap();
            let start = Affine { factor: Wrapping(1), offset: Wrapping(0) };
            let mut total = start;
            let (mut with, mut before) = (Vec::new(), Vec::new());
            for (&value, &head) in values.iter().zip(&heads) {
                total = if head { start } else { total };
                before.push(total);
                total = total.then(value);
                with.push(total);
            }
            let result = inclusive.call_segmented(&a, &h).unwrap();
            assert_eq!(result.to_vec().unwrap(), with, "{n} {every}");
            let mut result = a.copy().unwrap();
            let input = Expr::from(&result);
            exclusive.call_segmented_into(input, &h, &mut result).unwrap();
            assert_eq!(result.to_vec().unwrap(), before, "{n} {every}");
        }
    }
}

#[test]
fn axes_of_every_layout_are_scanned() {
    for context in contexts() {
        // Small, so that no sum is rounded.
        let x = counted(&[5, 33, 70]).mapv(|value| value % 16.0);
        let a = upload(&context, &x);
        let along = |x: &ArrayD<f32>, axis: usize| {
            let mut sums = x.clone();
            sums.accumulate_axis_inplace(Axis(axis), |before, value| *value += before);
            flat(&sums)
        };
        for axis in 0..3 {
            assert_eq!(a.cumsum_along(axis).unwrap().to_vec().unwrap(), along(&x, axis), "{axis}");
            let t = x.t().into_dyn().to_owned();
            let sums = a.transpose().cumsum_along(axis).unwrap();
            assert_eq!(sums.to_vec().unwrap(), along(&t, axis), "{axis}");
            let part = a.slice(&index![..;-2, ..;3, 2..]).unwrap();
            let of = x.slice(ndarray::s![..;-2, ..;3, 2..]).into_dyn().to_owned();
            let sums = (&part * 2.0).cumsum_along(axis).unwrap();
            assert_eq!(sums.to_vec().unwrap(), along(&(of * 2.0), axis), "{axis}");
            let row = a.slice(&index![2..3, 5..6]).unwrap().broadcast_to(&[5, 33, 70]).unwrap();
            let of = x.slice(ndarray::s![2..3, 5..6, ..]).into_dyn();
            let of = of.broadcast(x.shape()).unwrap().to_owned();
            assert_eq!(row.cumsum_along(axis).unwrap().to_vec().unwrap(), along(&of, axis));
        }
        let sevens = GpuArray::full(&context, &[], 7.0f32).unwrap().broadcast_to(&[9000]).unwrap();
        let multiples: Vec<f32> = (1..=9000).map(|i| i as f32 * 7.0).collect();
        assert_eq!(sevens.cumsum().unwrap().to_vec().unwrap(), multiples);
        let all = scanned(&flat(&x.t().into_dyn().to_owned()), |a, b| a + b);
        let sums = a.transpose().cumsum().unwrap();
        assert_eq!(sums.shape(), [x.len()]);
        assert!(sums.to_vec().unwrap() == all);
        assert!(matches!(a.cumsum_along(3), Err(Error::Axes { .. })));
        let none = GpuArray::<f32>::zeros(&context, &[3, 0]).unwrap();
        assert_eq!(none.cumsum_along(1).unwrap().shape(), [3, 0]);
        assert!(none.cummin().unwrap().is_empty());
    }
}

/// The scans of each column of an array in C order, with its elements before and with them.
fn columns(values: &[Affine], width: usize) -> (Vec<Affine>, Vec<Affine>) {
    let start = Affine { factor: Wrapping(1), offset: Wrapping(0) };
    let mut totals = vec![start; width];
    let step = |(k, &value): (usize, &Affine)| {
        let before = totals[k % width];
        totals[k % width] = before.then(value);
        (before, totals[k % width])
    };
    values.iter().enumerate().map(step).unzip()
}

/// One tile and several below each other, groups of them and groups of groups; few columns and many, a short axis and a
/// long one, with an operator that shows any other order.
#[test]
fn columns_are_scanned_in_their_order() {
    let (inclusive, exclusive) = affine();
    for context in contexts() {
        let mut shapes = vec![
            [2, 2],
            [2, 700],
            [17, 5],
            [64, 32],
            [65, 65],
            [900, 1],
            [9000, 3],
            [4200, 40],
            [4200, 130],
        ];
        if context.device().as_nvidia().is_some() {
            shapes.extend([
                [300, 40_000],
                [40, 200_000],
                [5, 300_000],
                [100_000, 32],
                [300_000, 7],
            ]);
        }
        for shape in shapes {
            let values = Affine::random(shape[0] as u64, shape[0] * shape[1]);
            let (before, with) = columns(&values, shape[1]);
            let a = GpuArray::from_shape(&context, &shape, &values).unwrap();
            assert!(inclusive.call_along(&a, 0).unwrap().to_vec().unwrap() == with, "{shape:?}");
            assert!(exclusive.call_along(&a, 0).unwrap().to_vec().unwrap() == before, "{shape:?}");
            // Read along the axis and written across, and the other way round.
            let turned = a.transpose().copy().unwrap();
            let sums = exclusive.call_along(turned.transpose(), 0).unwrap();
            assert!(sums.to_vec().unwrap() == before, "{shape:?}");
            // Read and written along it: on a GPU side by side only where there are many.
            let sums = inclusive.call_along(&turned, 1).unwrap();
            assert!(sums.transpose().to_vec().unwrap() == with, "{shape:?}");
            let mut sums = turned.transpose();
            inclusive.call_along_into(&a, 0, &mut sums).unwrap();
            assert!(sums.to_vec().unwrap() == with, "{shape:?}");
            let mut sums = turned.transpose();
            exclusive.call_along_into(&a, 0, &mut sums).unwrap();
            assert!(sums.to_vec().unwrap() == before, "{shape:?}");
            let mut same = a;
            let input = Expr::from(&same);
            inclusive.call_along_into(input, 0, &mut same).unwrap();
            assert!(same.to_vec().unwrap() == with, "in place, {shape:?}");
        }
    }
}

/// Sizes of elements from one byte to more than columns are scanned with.
#[test]
fn columns_of_all_types_are_scanned() {
    fn check<T>(context: &Context, of: impl Fn(u8) -> T, add: impl Fn(T, T) -> T)
    where
        T: Additive + Copy + PartialEq + std::fmt::Debug,
    {
        let (rows, width) = (300, 35);
        let values = random(11, rows * width, |rng| of(rng.u8(0..3)));
        let mut sums = values.clone();
        for k in width..sums.len() {
            sums[k] = add(sums[k - width], sums[k]);
        }
        let a = GpuArray::from_shape(context, &[rows, width], &values).unwrap();
        assert!(a.cumsum_along(0).unwrap().to_vec().unwrap() == sums, "{:?}", T::DTYPE);
    }
    for context in contexts() {
        check(&context, |x| x, u8::wrapping_add);
        check(&context, i16::from, i16::wrapping_add);
        check(&context, i64::from, i64::wrapping_add);
        check(&context, f64::from, |a, b| a + b);
        check(&context, |x| half::f16::from_f32(x.into()), |a, b| a + b);
        check(&context, |x| Complex::new(f64::from(x), -f64::from(x)), |a, b| a + b);
        let vector = |x: u8| Double4::new(x.into(), 1.0, -1.0, 0.5);
        check(&context, vector, |a, b| Double4::new(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w));
    }
}

#[test]
#[expect(unsafe_code, reason = "kernels from expressions")]
fn scans_along_axes_go_where_they_are_wanted() {
    // SAFETY: the expressions use their operands alone.
    let weighted =
        unsafe { ExclusiveScanKernel::<i64>::new("a + b", "-1") }.map("x * (long long)i");
    for context in contexts() {
        let x = random(5, 6 * 50 * 40, |rng| rng.i32(-99..99));
        let a = GpuArray::from_shape(&context, &[6, 50, 40], &x).unwrap();
        for (axis, length, step) in [(0, 6, 2000), (1, 50, 40), (2, 40, 1)] {
            let mut expected = vec![-1; x.len()];
            for k in 0..x.len() {
                let place = k / step % length;
                if place > 0 {
                    let before = if place > 1 { expected[k - step] } else { 0 };
                    expected[k] = before + i64::from(x[k - step]) * (place as i64 - 1);
                }
            }
            let wide = GpuArray::<i64>::zeros(&context, &[6, 50, 80]).unwrap();
            let mut part = wide.slice(&index![..;-1, .., ..;2]).unwrap();
            weighted.call_along_into(&a, axis, &mut part).unwrap();
            assert!(part.to_vec().unwrap() == expected, "{axis}");
            let rest = wide.slice(&index![.., .., 1..;2]).unwrap();
            assert!(rest.to_vec().unwrap().iter().all(|&value| value == 0));
        }
        // Shifted by a row, as if everything was read first.
        let mut from = GpuArray::from_slice(&context, &[1i32; 400]).unwrap();
        from = from.reshape(&[100, 4]).unwrap();
        let mut to = from.slice(&index![1..]).unwrap();
        // SAFETY: as above.
        let sum = unsafe { InclusiveScanKernel::<i32>::new("a + b") };
        sum.call_along_into(from.slice(&index![..-1]).unwrap(), 0, &mut to).unwrap();
        let expected: Vec<i32> = (0..400).map(|k| (k / 4).max(1)).collect();
        assert_eq!(from.to_vec().unwrap(), expected);

        let mut short = GpuArray::<i64>::zeros(&context, &[6, 50]).unwrap();
        let wrong = weighted.call_along_into(&a, 0, &mut short);
        assert!(matches!(wrong, Err(Error::Shape { .. })), "{wrong:?}");
        let mut once = short.slice(&index![.., 0..1]).unwrap().broadcast_to(&[6, 50]).unwrap();
        let flat = a.slice(&index![.., .., 0]).unwrap();
        let wrong = weighted.call_along_into(&flat, 0, &mut once);
        assert!(matches!(wrong, Err(Error::NotWritable { .. })), "{wrong:?}");
        assert!(matches!(weighted.call_along(&a, 3), Err(Error::Axes { .. })));
        for shape in [[0, 40], [40, 0]] {
            let none = GpuArray::<i32>::zeros(&context, &shape).unwrap();
            assert!(
                [0, 1].iter().all(|&axis| weighted.call_along(&none, axis).unwrap().is_empty())
            );
        }
    }
}

/// The documented bound, against sums in `f64`; and the same bits each time.
#[test]
fn sums_of_columns_are_near_and_always_the_same() {
    for context in contexts() {
        for (rows, width) in [(9000, 33), (9000, 6), (2000, 140)] {
            let draw = |rng: &mut fastrand::Rng| (rng.f32() - 0.5) * 2f32.powi(rng.i32(-10..10));
            let values = random(3, rows * width, draw);
            let a = GpuArray::from_shape(&context, &[rows, width], &values).unwrap();
            let sums = a.cumsum_along(0).unwrap().to_vec().unwrap();
            let mut exact = vec![(0.0, 0.0); width];
            let serial = if context.device().as_nvidia().is_some() { 0.0 } else { 2048.0 };
            let k = 64.0 + rows as f64 / 512.0 + serial;
            for (at, (&value, &sum)) in values.iter().zip(&sums).enumerate() {
                let (exact, magnitude) = &mut exact[at % width];
                *exact += f64::from(value);
                *magnitude += f64::from(value.abs());
                let bound = k * 2f64.powi(-24) * *magnitude;
                assert!((f64::from(sum) - *exact).abs() <= bound, "{sum} {exact} {bound}");
            }
            for _ in 0..3 {
                let again = a.cumsum_along(0).unwrap().to_vec().unwrap();
                assert!(again.iter().zip(&sums).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }
}

#[test]
#[expect(unsafe_code, reason = "kernels from expressions")]
fn results_go_where_they_are_wanted() {
    // More tiles than a CPU has cores: some are written before others are read.
    const COUNT: usize = 60_000;
    // SAFETY: the expression uses its operands alone.
    let sum = unsafe { InclusiveScanKernel::<i32>::new("a + b") };
    for context in contexts() {
        let values = random(9, COUNT, |rng| rng.i32(-9..9));
        let a = GpuArray::from_slice(&context, &values).unwrap();
        let sums = scanned(&values, |a, b| a + b);
        let mut same = a.copy().unwrap();
        sum.call_in_place(&mut same).unwrap();
        assert_eq!(same.to_vec().unwrap(), sums);

        // Into itself backwards, as if everything was read first.
        let mut back = same.slice(&index![..;-1]).unwrap();
        sum.call_into(&same, &mut back).unwrap();
        assert_eq!(back.to_vec().unwrap(), scanned(&sums, |a, b| a + b));

        let wide = GpuArray::<i32>::zeros(&context, &[600, 200]).unwrap();
        let mut part = wide.slice(&index![.., ..;2]).unwrap();
        sum.call_into(a.reshape(&[600, 100]).unwrap(), &mut part).unwrap();
        assert_eq!(part.to_vec().unwrap(), sums);
        let rest = wide.slice(&index![.., 1..;2]).unwrap();
        assert!(rest.to_vec().unwrap().iter().all(|&value| value == 0));

        let mut short = GpuArray::<i32>::zeros(&context, &[COUNT - 1]).unwrap();
        assert!(matches!(sum.call_into(&a, &mut short), Err(Error::Shape { .. })));
        let mut once = short.slice(&index![0..1]).unwrap().broadcast_to(&[COUNT]).unwrap();
        assert!(matches!(sum.call_into(&a, &mut once), Err(Error::NotWritable { .. })));
        let elsewhere = Context::new(Device::cpu().unwrap()).unwrap();
        let mut far = GpuArray::<i32>::zeros(&elsewhere, &[COUNT]).unwrap();
        assert!(matches!(sum.call_into(&a, &mut far), Err(Error::WrongDevice { .. })));
    }
}

/// The documented bound, against sums in `f64`; and the same bits each time.
#[test]
fn floating_point_sums_are_near_and_always_the_same() {
    for context in contexts() {
        let n = 300_000;
        let values = random(3, n, |rng| (rng.f32() - 0.5) * 2f32.powi(rng.i32(-10..10)));
        let a = GpuArray::from_slice(&context, &values).unwrap();
        let sums = a.cumsum().unwrap().to_vec().unwrap();
        let wide: Vec<f64> = values.iter().copied().map(f64::from).collect();
        let exact = scanned(&wide, |a, b| a + b);
        let magnitude = scanned(&wide, |a, b| a.abs() + b.abs());
        let serial = if context.device().as_nvidia().is_some() { 0.0 } else { 220.0 };
        let k = 64.0 + n as f64 / f64::from(1 << 20) + serial;
        for ((&sum, exact), magnitude) in sums.iter().zip(exact).zip(magnitude) {
            let bound = k * 2f64.powi(-24) * magnitude;
            assert!((f64::from(sum) - exact).abs() <= bound, "{sum} {exact} {bound}");
        }
        let bits = |sums: &[f32]| sums.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>();
        for _ in 0..5 {
            assert!(bits(&a.cumsum().unwrap().to_vec().unwrap()) == bits(&sums));
        }
        // 4096 times 1 is more than half precision can count one by one.
        let halves = GpuArray::full(&context, &[4096], half::f16::ONE).unwrap();
        let counted = halves.cumsum().unwrap().slice(&index![-1]).unwrap().item().unwrap();
        assert_eq!(counted, half::f16::from_f32(4096.0));
        let some = GpuArray::from_slice(&context, &[2.0f64, f64::NAN, 7.0]).unwrap();
        let most = some.cummax().unwrap().to_vec().unwrap();
        assert!(most[0] == 2.0 && most[1].is_nan() && most[2].is_nan(), "{most:?}");
        let products = GpuArray::from_slice(&context, &[100u8, 3, 2]).unwrap().cumprod().unwrap();
        assert_eq!(products.to_vec().unwrap(), [100, 44, 88]);
    }
}

#[test]
#[expect(unsafe_code, reason = "kernels from expressions")]
fn maps_preambles_and_mistakes_of_scans() {
    // SAFETY: the expressions use their operands alone.
    let with = |preamble: &str| unsafe {
        InclusiveScanKernel::<u64>::new("join(a, b)").map("x + i").preamble(preamble)
    };
    let (sum, or) = (
        with(
            "__device__ unsigned long long join(unsigned long long a, unsigned long long b) { return a + b; }",
        ),
        with(
            "__device__ unsigned long long join(unsigned long long a, unsigned long long b) { return a | b; }",
        ),
    );
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    let a = GpuArray::from_slice(&context, &[1u8, 1, 1]).unwrap();
    assert_eq!(sum.call(&a).unwrap().to_vec().unwrap(), [1, 3, 6]);
    assert_eq!(or.call(&a).unwrap().to_vec().unwrap(), [1, 3, 3], "another preamble");
    // SAFETY: it does not run.
    let wrong = unsafe { InclusiveScanKernel::<f32>::new("a +\n c") };
    let error = wrong.call(&a).unwrap_err().to_string();
    assert!(error.contains("<scan expression>:2") && error.contains("\"c\""), "{error}");
}
