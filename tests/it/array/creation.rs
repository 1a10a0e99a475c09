//! Arrays that are made by a rule, printed, and exchanged with `ndarray`.

use half::f16;
use ndarray::{Array, ArrayD, ShapeBuilder, s};
use num_complex::Complex;
use warpaint::{
    array::{Error, GpuArray, vector::Int3},
    index,
};

use super::{contexts, counted};

#[test]
fn ranges_are_those_of_numpy() {
    for context in contexts() {
        let whole = |start, stop, step| GpuArray::<i32>::range(&context, start, stop, step);
        assert_eq!(whole(5, -4, -3).unwrap().to_vec().unwrap(), [5, 2, -1]);
        assert_eq!(whole(0, 7, 3).unwrap().to_vec().unwrap(), [0, 3, 6]);
        assert!(whole(3, 3, 1).unwrap().is_empty() && whole(3, 0, 1).unwrap().is_empty());
        assert!(matches!(whole(0, 1, 0), Err(Error::Range { .. })));
        let bytes = GpuArray::range(&context, i8::MIN, i8::MAX, 85).unwrap().to_vec().unwrap();
        assert_eq!(bytes, [-128, -43, 42]);
        let tenths = GpuArray::range(&context, 0.0f32, 1.0, 0.1).unwrap().to_vec().unwrap();
        let expected: Vec<f32> =
            (0..10).map(|i| (f64::from(i) * f64::from(0.1f32)) as f32).collect();
        assert_eq!(tenths, expected, "each as exact as if there were no others");
        // What numpy.arange has of these types, whose quotients are rounded: without the stop.
        for (stop, step) in [(0.3_f32, 0.1), (0.6, 0.2), (1.2, 0.4)] {
            let found = GpuArray::range(&context, 0.0, stop, step).unwrap().to_vec().unwrap();
            assert_eq!(found, [0.0, step, 2.0 * step], "before {stop}");
        }
        assert_eq!(GpuArray::range(&context, 1.0, 1.3_f32, 0.1).unwrap().len(), 3);
        // Quotients that are too small for the type: numpy has [0.], and none where they are negative.
        for (stop, step, count) in
            [(1e-30_f32, 1e30, 1), (1.0, f32::INFINITY, 1), (-1e-30, 1e30, 0)]
        {
            let found = GpuArray::range(&context, 0.0, stop, step).unwrap().to_vec().unwrap();
            assert_eq!(found, vec![0.0; count], "{stop} by {step}");
        }
        assert_eq!(GpuArray::range(&context, 1.0, 1.3_f64, 0.1).unwrap().len(), 4);
        let halves = [1.0, 1.3, 0.1].map(f16::from_f64);
        let [start, stop, step] = halves;
        assert_eq!(GpuArray::range(&context, start, stop, step).unwrap().len(), 3);
        assert!(matches!(GpuArray::range(&context, 0.0, f64::NAN, 1.0), Err(Error::Range { .. })));
        assert!(matches!(GpuArray::range(&context, 0.0, 1e30, 1.0), Err(Error::TooLarge { .. })));
    }
}

#[test]
fn numbers_at_equal_distances_meet_both_ends() {
    for context in contexts() {
        let line = |n, endpoint| {
            GpuArray::linspace(&context, -0.3f64, 0.7, n, endpoint).unwrap().to_vec().unwrap()
        };
        for n in [0, 1, 2, 5, 1001] {
            let expected = Array::linspace(-0.3, 0.7, n).to_vec();
            let found = line(n, true);
            // Two roundings here, three in ndarray, of numbers below 1.
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 2.0 * f64::EPSILON;
            assert!(found.len() == n && found.iter().zip(&expected).all(near), "{found:?}");
            assert!(n < 2 || (found[0], found[n - 1]) == (-0.3, 0.7));
        }
        // numpy.linspace has these bits.
        let sevenths = GpuArray::linspace(&context, -1.0f64, 1.0, 7, true).unwrap();
        assert_eq!(
            sevenths.to_vec().unwrap(),
            [
                -1.0,
                -0.666_666_666_666_666_7,
                -0.333_333_333_333_333_37,
                0.0,
                0.333_333_333_333_333_26,
                0.666_666_666_666_666_5,
                1.0
            ]
        );
        let least = GpuArray::linspace(&context, 0.0, 5e-324, 5, true).unwrap();
        assert_eq!(least.to_vec().unwrap(), [0.0, 0.0, 0.0, 5e-324, 5e-324]);
        let powers = GpuArray::<f64>::logspace(&context, -1.0, 1.0, 7, true, 10.0).unwrap();
        assert_eq!(powers.to_vec().unwrap()[3].to_bits(), 1.0_f64.to_bits());
        assert_eq!(line(1000, true).len(), 1000);
        let open = GpuArray::linspace(&context, 0.0f32, 1.0, 4, false).unwrap();
        assert_eq!(open.to_vec().unwrap(), [0.0, 0.25, 0.5, 0.75]);
        let powers = GpuArray::logspace(&context, -3.0f32, 3.0, 7, true, 10.0).unwrap();
        assert_eq!(powers.to_vec().unwrap(), [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]);
        let halves = GpuArray::linspace(&context, f16::ZERO, f16::ONE, 3, true).unwrap();
        assert_eq!(halves.to_vec().unwrap(), [0.0, 0.5, 1.0].map(f16::from_f32));
    }
}

#[test]
fn arrays_like_others_lie_like_them() {
    for context in contexts() {
        let a = GpuArray::<f32>::ones(&context, &[2, 3, 4]).unwrap().permute(&[2, 0, 1]).unwrap();
        let like = a.zeros_like().unwrap();
        assert_eq!((like.shape(), like.strides()), (a.shape(), a.strides()));
        assert_eq!(like.to_vec().unwrap(), [0.0; 24]);
        let part = a.slice(&index![..;-2, ..]).unwrap();
        assert_eq!(part.full_like(3.0).unwrap().to_vec().unwrap(), [3.0; 12]);
        assert_eq!(part.ones_like().unwrap().to_vec().unwrap(), [1.0; 12]);
        assert!(part.empty_like().unwrap().strides().iter().all(|&stride| stride > 0));
        let unit = GpuArray::<Complex<f32>>::eye(&context, 3).unwrap().real().eval().unwrap();
        assert_eq!(unit.to_ndarray().unwrap(), Array::<f32, _>::eye(3).into_dyn());
        assert!(GpuArray::<u8>::eye(&context, 0).unwrap().is_empty());
    }
}

#[test]
fn arrays_of_ndarray_go_there_and_back() {
    for context in contexts() {
        let x = counted(&[3, 4, 5]);
        let fortran = Array::from_shape_fn((4, 3).f(), |(i, j)| (i * 10 + j) as f32).into_dyn();
        let views = [
            x.view(),
            x.view().permuted_axes(&[1, 2, 0][..]),
            x.slice(s![..;-1, 1..3, ..;2]).into_dyn(),
            x.slice(s![1..1, .., ..]).into_dyn(),
            x.slice(s![..1, .., 2]).into_dyn(),
            fortran.view(),
        ];
        for view in views {
            let there = GpuArray::from_ndarray(&context, &view).unwrap();
            assert_eq!(there.to_ndarray().unwrap(), view);
        }
        let kept = GpuArray::from_ndarray(&context, &fortran).unwrap();
        assert_eq!(kept.strides(), [1, 4], "the order in memory is kept");
        let flipped = kept.reverse().to_ndarray().unwrap();
        assert_eq!(flipped, fortran.slice(s![..;-1, ..;-1]).into_dyn());
    }
}

/// As numpy prints the same arrays, but for `1.0` where it leaves out the zero.
#[test]
fn arrays_print_as_in_numpy() {
    for context in contexts() {
        let text =
            |array: &ArrayD<f32>| GpuArray::from_ndarray(&context, array).unwrap().to_string();
        assert_eq!(text(&ArrayD::from_elem(vec![], 2.5)), "2.5");
        assert_eq!(text(&ArrayD::zeros(vec![0])), "[]");
        assert_eq!(text(&ArrayD::zeros(vec![2, 0])), "[] of shape [2, 0]");
        let a = counted(&[2, 2, 3]);
        let expected = "[[[ -3.0 -2.75  -2.5]\n  [-2.25  -2.0 -1.75]]\n\n [[ -1.5 -1.25  -1.0]\n  [-0.75  -0.5 -0.25]]]";
        assert_eq!(text(&a), expected);
        let short = format!("{:.1}", GpuArray::from_slice(&context, &[1.25f64, -10.0]).unwrap());
        assert_eq!(short, "[  1.2 -10.0]");
        let long = GpuArray::<i32>::arange(&context, 2000).unwrap();
        assert_eq!(long.to_string(), "[   0    1    2 ... 1997 1998 1999]");
        let table = long.reshape(&[1000, 2]).unwrap().transpose();
        let expected =
            "[[   0    2    4 ... 1994 1996 1998]\n [   1    3    5 ... 1995 1997 1999]]";
        assert_eq!(table.to_string(), expected);
        let z =
            GpuArray::from_slice(&context, &[Complex::new(1.0f32, -2.0), Complex::new(0.5, 3.0)]);
        assert_eq!(z.unwrap().to_string(), "[1.0-2.0i 0.5+3.0i]");
    }
}

#[test]
fn a_readback_holds_what_was_there() {
    for context in contexts() {
        let mut a = GpuArray::<u32>::arange(&context, 1 << 16).unwrap();
        let first = a.reverse().download().unwrap();
        a.set(&vec![7; 1 << 16]).unwrap();
        let second = a.download().unwrap();
        context.synchronize().unwrap();
        assert!(first.is_ready().unwrap() && second.is_ready().unwrap());
        assert_eq!(second.wait().unwrap(), vec![7; 1 << 16]);
        assert_eq!(first.wait().unwrap(), (0..1 << 16).rev().collect::<Vec<u32>>());
    }
}

#[test]
fn large_arrays_are_read_piece_by_piece() {
    for context in contexts() {
        let n = 11_000_000;
        let counted = GpuArray::<i32>::arange(&context, n).unwrap();
        assert!(counted.to_vec().unwrap().into_iter().eq(0..n as i32));
        let mut values = vec![0; n];
        counted.reverse().copy_to_slice(&mut values).unwrap();
        assert!(values.iter().copied().eq((0..n as i32).rev()));
        let few = counted.copy_to_slice(&mut values[1..]);
        assert!(matches!(few, Err(Error::Reshape { .. })), "{few:?}");
        let endless = counted.slice(&index![..1]).unwrap().broadcast_to(&[1 << 45]).unwrap();
        assert!(endless.to_vec().is_err());
        // No piece is a power of two long.
        let triples = counted.slice(&index![..9_999_999]).unwrap().view_as::<Int3>().unwrap();
        let (triples, first) = (triples.to_vec().unwrap(), (0..).step_by(3));
        assert_eq!(triples.len(), 3_333_333);
        assert!(triples.iter().zip(first).all(|(t, i)| *t == Int3::new(i, i + 1, i + 2)));
        let bytes = GpuArray::<u8>::zeros(&context, &[20_000_000]).unwrap();
        bytes.slice(&index![-1]).unwrap().fill(2).unwrap();
        let truths = bytes.view_as::<bool>().unwrap().to_vec();
        assert!(matches!(truths, Err(Error::InvalidBits { .. })));
    }
}
