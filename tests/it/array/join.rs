//! Arrays put together, against `ndarray`.

use ndarray::{ArrayD, Axis};
use warpaint::{
    array::{Error, GpuArray, concatenate, stack},
    index,
};

use super::{contexts, counted, flat, upload};

#[test]
fn arrays_are_put_together_as_ndarray_does() {
    for context in contexts() {
        let (x, y) = (counted(&[2, 3, 4]), counted(&[2, 3, 4]).mapv(|v| -v));
        let (a, b) = (upload(&context, &x), upload(&context, &y));
        for axis in 0..3 {
            let joined = concatenate(&[&a, &b, &a], axis).unwrap();
            let expected = ndarray::concatenate![Axis(axis), x, y, x];
            assert_eq!(joined.shape(), expected.shape());
            assert_eq!(joined.to_vec().unwrap(), flat(&expected));
        }
        for axis in 0..4 {
            let stacked = stack(&[&a, &b], axis).unwrap();
            let expected = ndarray::stack![Axis(axis), x, y];
            assert_eq!(stacked.shape(), expected.shape());
            assert_eq!(stacked.to_vec().unwrap(), flat(&expected));
        }
        let thin = a.slice(&index![.., ..;-2]).unwrap();
        let joined = concatenate(&[&a, &thin], 1).unwrap();
        let expected =
            ndarray::concatenate![Axis(1), x, x.slice(ndarray::s![.., ..;-2, ..]).into_dyn()];
        assert_eq!(joined.to_vec().unwrap(), flat(&expected));

        assert!(matches!(concatenate::<f32>(&[], 0), Err(Error::NoArrays { .. })));
        let none = stack::<f32>(&[], 0);
        assert!(matches!(none, Err(Error::NoArrays { operation: "stack" })), "{none:?}");
        assert!(matches!(concatenate(&[&a], 3), Err(Error::Axes { .. })));
        assert!(matches!(concatenate(&[&a, &a.transpose()], 0), Err(Error::Shape { .. })));
        let flatter = a.slice(&index![0]).unwrap();
        assert!(matches!(concatenate(&[&a, &flatter], 2), Err(Error::Shape { .. })));
        let none = a.slice(&index![..0]).unwrap();
        assert_eq!(concatenate(&[&none, &a], 0).unwrap().to_vec().unwrap(), flat(&x));
    }
}

#[test]
fn arrays_are_repeated_and_turned_round() {
    for context in contexts() {
        let a = GpuArray::<i32>::arange(&context, 6).unwrap().reshape(&[2, 3]).unwrap();
        let values = |array: GpuArray<i32>| (array.shape().to_vec(), array.to_vec().unwrap());
        let is = |shape: &[usize], elements: &[i32]| (shape.to_vec(), elements.to_vec());
        // numpy's answers.
        assert_eq!(values(a.roll(1, 1).unwrap()), is(&[2, 3], &[2, 0, 1, 5, 3, 4]));
        assert_eq!(values(a.roll(-4, 1).unwrap()), is(&[2, 3], &[1, 2, 0, 4, 5, 3]));
        assert_eq!(values(a.roll(0, 0).unwrap()), is(&[2, 3], &[0, 1, 2, 3, 4, 5]));
        assert_eq!(values(a.flip(&[1]).unwrap()), is(&[2, 3], &[2, 1, 0, 5, 4, 3]));
        assert_eq!(
            values(a.repeat(2, 1).unwrap()),
            is(&[2, 6], &[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
        );
        assert_eq!(
            values(a.tile(&[2, 1, 2]).unwrap()),
            is(&[2, 2, 6], &[[0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]; 2].concat())
        );
        assert_eq!(values(a.tile(&[2]).unwrap()).0, [2, 6]);
        assert_eq!(values(a.diagonal(0, 1).unwrap()), is(&[2], &[0, 4]));
        assert_eq!(values(a.transpose().ravel().unwrap()), is(&[6], &[0, 3, 1, 4, 2, 5]));
        assert_eq!(a.expand_dims(1).unwrap().shape(), [2, 1, 3]);
        assert_eq!(a.repeat(0, 0).unwrap().shape(), [0, 3]);
        // Copies, not views.
        a.repeat(1, 0).unwrap().fill(9).unwrap();
        a.tile(&[1]).unwrap().fill(9).unwrap();
        assert_eq!(a.to_vec().unwrap(), [0, 1, 2, 3, 4, 5]);
        let none = upload(&context, &ArrayD::<i32>::zeros(vec![0, 2]));
        assert_eq!(none.roll(3, 0).unwrap().shape(), [0, 2]);
        assert!(matches!(a.roll(1, 2), Err(Error::Axes { .. })));
        assert!(matches!(a.expand_dims(3), Err(Error::NewAxis { axis: 3, ndim: 2 })));
        assert!(matches!(a.diagonal(1, 1), Err(Error::Axes { .. })));
        assert!(matches!(a.repeat(usize::MAX, 0), Err(Error::TooLarge { .. })));
    }
}
