//! One number that stands before arrays, and what a user of `array::*` writes.

use half::f16;
use warpaint::{
    array::*,
    device::Device,
    index,
    kernel::{self, Context},
};

use super::contexts;

/// The types are checked by the compiler: those of numpy 2.4.6 for Python's numbers beside arrays.
#[test]
fn one_number_takes_the_type_of_what_stands_behind_it() {
    for context in contexts() {
        let x = GpuArray::from_slice(&context, &[0.5f32, 3.0]).unwrap();
        let powers: GpuArray<f32> = Expr::scalar(2.0).pow(&x).eval().unwrap();
        assert_eq!(powers.to_vec().unwrap(), [std::f32::consts::SQRT_2, 8.0]);
        let halves: GpuArray<f16> =
            (Expr::scalar(1.0) / x.cast::<f16>() - Expr::scalar(1)).eval().unwrap();
        assert_eq!(halves.to_vec().unwrap()[0], f16::ONE);
        let angles: Expr<f32> = Expr::scalar(0.0).atan2(-&x);
        assert_eq!(angles.to_vec().unwrap(), [std::f32::consts::PI; 2]);
        let complex: GpuArray<Complex<f32>> =
            (Expr::scalar(Complex::new(0.0, 2.0)) * &x).eval().unwrap();
        assert_eq!(complex.to_vec().unwrap()[1], Complex::new(0.0, 6.0));
        let wide: GpuArray<f64> = (Expr::scalar(0.5) * x.cast::<i32>()).eval().unwrap();
        assert_eq!(wide.to_vec().unwrap(), [0.0, 1.5]);
        let whole: GpuArray<u8> = (Expr::scalar(7) % x.cast::<u8>()).eval().unwrap();
        assert_eq!(whole.to_vec().unwrap(), [0, 1]);
        let behind: GpuArray<f32> = x.maximum(Expr::scalar(1.0)).eval().unwrap();
        assert_eq!(behind.to_vec().unwrap(), [1.0, 3.0]);
        // In `f32`, where 0.1 is another number than in `f64`.
        let tenth = GpuArray::from_slice(&context, &[0.1f32]).unwrap();
        assert!(Expr::scalar(0.1).eq(&tenth).item().unwrap());
        assert!(!Expr::scalar(-1).lt(tenth.cast::<u8>()).logical_not().item().unwrap());
        // By itself it is an expression of its own type.
        let root: GpuArray<f64> = (Expr::scalar(2.0).sqrt() + tenth.cast::<f64>()).eval().unwrap();
        assert_eq!(root.shape(), [1]);
        let chosen = Expr::select(x.gt(1.0), Expr::scalar(1.5f32), &x).to_vec().unwrap();
        assert_eq!(chosen, [0.5, 1.5]);
    }
}

/// Does not compile where the names of the module hide those of `std`.
#[test]
fn everything_of_the_module_stands_beside_std() {
    fn program() -> Result<(), Box<dyn std::error::Error>> {
        let context = Context::new(Device::cpu()?)?;
        let a = GpuArray::from_slice(&context, &[1.0f32, 2.0])?;
        assert_eq!((&a * 2.0).to_vec()?, [2.0, 4.0]);
        let short: Result<f32> = a.sum()?.item();
        assert_eq!(short?, 3.0);
        Ok(())
    }
    fn kernels() -> kernel::Result<u8, std::num::ParseIntError> {
        "7".parse()
    }
    program().unwrap();
    assert_eq!(kernels(), Ok(7));
}

#[test]
fn places_are_of_any_type_of_integers() {
    let layout = Layout::contiguous(&[4, 6]).unwrap();
    let (rows, columns) = (layout.shape()[0], layout.shape()[1]);
    let same = |a: &[Index], b: &[Index]| {
        assert_eq!(layout.index(a).unwrap(), layout.index(b).unwrap());
    };
    same(&index![rows - 1, columns / 2..columns], &index![-1, 3..6]);
    same(&index![1..rows; 2usize, ..columns], &index![1..4;2, ..6]);
    same(&index![1u8, 2i64..=3], &index![1, 2..=-3]);
    same(&index![..=2u32, -6i8], &index![..3, 0]);
    same(&index![0u64.., ..-1isize], &index![.., ..5]);
    // What is too large for a place is outside of all axes.
    assert!(matches!(layout.index(&index![usize::MAX]), Err(Error::IndexOutOfRange { .. })));
    same(&index![..u64::MAX], &index![..]);
}

#[test]
fn expressions_and_reductions_give_values_to_the_host() {
    for context in contexts() {
        let a = GpuArray::from_shape(&context, &[2, 2], &[1, 2, 3, 4]).unwrap();
        assert_eq!((&a + 1).to_vec().unwrap(), [2, 3, 4, 5]);
        assert!(matches!((&a + 1).item(), Err(Error::Shape { operation: "item", .. })));
        assert_eq!((a.max().unwrap() * 10).item().unwrap(), 40);
        assert_eq!(a.reduce().along(&[0]).min().to_vec().unwrap(), [1, 2]);
    }
}

#[test]
fn one_length_of_a_shape_follows_from_the_others() {
    for context in contexts() {
        let a = GpuArray::<i32>::arange(&context, 12).unwrap();
        let shape = |shape: &[Option<usize>]| Some(a.reshape_infer(shape).ok()?.shape().to_vec());
        assert_eq!(shape(&[None]), Some(vec![12]));
        assert_eq!(shape(&[Some(2), None, Some(3)]), Some(vec![2, 2, 3]));
        assert_eq!(shape(&[Some(4), Some(3)]), Some(vec![4, 3]));
        assert_eq!(shape(&[None, None]), None);
        assert_eq!(shape(&[None, Some(5)]), None);
        assert_eq!(shape(&[None, Some(0)]), None);
        assert_eq!(shape(&[Some(usize::MAX), Some(2), None]), None);
        let view = a.reshape(&[3, 4]).unwrap().transpose();
        let copy = view.reshape_infer(&[Some(2), None]).unwrap();
        assert_eq!(copy.to_vec().unwrap(), [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
        // numpy: array of size 0 into (0, -1) is an error, into (3, -1) is (3, 0).
        let none = GpuArray::<i32>::zeros(&context, &[3, 0]).unwrap();
        assert!(matches!(none.reshape_infer(&[Some(0), None]), Err(Error::ReshapeInfer { .. })));
        assert_eq!(none.reshape_infer(&[Some(5), None]).unwrap().shape(), [5, 0]);
    }
}
