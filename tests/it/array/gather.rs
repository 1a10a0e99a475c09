//! Elements by lists of indices, against `ndarray`'s `select`.

use ndarray::Axis;
use warpaint::{
    array::{Bounds, Error, Expr, GpuArray},
    device::Device,
    index,
    kernel::Context,
};

use super::{contexts, counted, flat, upload};

#[test]
fn parts_are_taken_along_every_axis_of_every_layout() {
    for context in contexts() {
        let x = counted(&[4, 5, 6]);
        let whole = upload(&context, &x);
        for (a, x) in [
            (whole.clone(), x.clone()),
            (whole.transpose(), x.t().to_owned()),
            (whole.reverse(), x.slice(ndarray::s![..;-1, ..;-1, ..;-1]).to_owned().into_dyn()),
        ] {
            for axis in 0..3 {
                let n = x.shape()[axis];
                let signed = [-1_i32, 0, 2, 2, -(n as i32)];
                let places = [n - 1, 0, 2, 2, 0];
                let indices = GpuArray::from_slice(&context, &signed).unwrap();
                let taken = a.take(&indices, axis).unwrap();
                let expected = x.select(Axis(axis), &places);
                assert_eq!(taken.shape(), expected.shape());
                assert_eq!(taken.to_vec().unwrap(), flat(&expected), "axis {axis}");
            }
            let every_other = GpuArray::<u8>::arange(&context, 60).unwrap();
            let subset = a.at((&every_other * 2).eval().unwrap()).unwrap();
            let expected: Vec<f32> = x.iter().copied().step_by(2).collect();
            assert_eq!(subset.eval().unwrap().to_vec().unwrap(), expected);
            assert_eq!(subset.sum().unwrap().item().unwrap(), expected.iter().sum::<f32>());
        }
    }
}

#[test]
fn indices_may_have_axes_and_lie_outside() {
    for context in contexts() {
        let a = upload(&context, &counted(&[2, 3]));
        let table = GpuArray::from_shape(&context, &[2, 2], &[2_i64, 0, 1, 1]).unwrap();
        let taken = a.take(&table, 1).unwrap();
        assert_eq!(taken.shape(), [2, 2, 2]);
        assert_eq!(taken.to_vec().unwrap()[..4], [-2.5, -3.0, -2.75, -2.75]);

        for wrong in [3_i32, -4] {
            let indices = GpuArray::from_slice(&context, &[0, wrong, 1]).unwrap();
            let error = a.take(&indices, 1).unwrap_err();
            let expected = (wrong as isize, 1, 3);
            let Error::IndexOutOfRange { index, axis, length } = error else { panic!("{error}") };
            assert_eq!((index, axis, length), expected);
        }
        let indices = GpuArray::from_slice(&context, &[-4_i64, 7, i64::MIN, i64::MAX]).unwrap();
        let row = a.slice(&index![0]).unwrap();
        let wrapped = row.take_with(&indices, 0, Bounds::Wrap).unwrap().to_vec().unwrap();
        let expected = [-4_i64, 7, i64::MIN, i64::MAX].map(|i| i.rem_euclid(3) as f32 * 0.25 - 3.0);
        assert_eq!(wrapped, expected);
        let clipped = row.take_with(&indices, 0, Bounds::Clip).unwrap().to_vec().unwrap();
        assert_eq!(clipped, [-3.0, -2.5, -3.0, -2.5]);

        let none = GpuArray::<f32>::zeros(&context, &[0]).unwrap();
        let nowhere = GpuArray::<i32>::zeros(&context, &[0]).unwrap();
        assert!(none.take(&nowhere, 0).unwrap().is_empty());
        assert!(a.take(&nowhere, 0).unwrap().is_empty());
        assert!(matches!(none.take(&indices, 0), Err(Error::IndexOutOfRange { length: 0, .. })));
        assert!(matches!(none.at_with(&indices, Bounds::Wrap), Err(Error::Empty { .. })));
        assert!(matches!(a.take(&indices, 2), Err(Error::Axes { .. })));
    }
}

#[test]
fn one_index_takes_one_part() {
    for context in contexts() {
        let x = counted(&[2, 3]);
        let mut a = upload(&context, &x);
        let column = a.take(-1, 1).unwrap();
        assert_eq!(column.shape(), [2]);
        assert_eq!(column.to_vec().unwrap(), flat(&x.index_axis(Axis(1), 2).to_owned()));
        assert_eq!(a.at(4).unwrap().eval().unwrap().item().unwrap(), x[[1, 1]]);
        assert_eq!(
            a.at_with(8_u8, Bounds::Wrap).unwrap().sum().unwrap().item().unwrap(),
            x[[0, 2]]
        );
        a.put(-2, 7.0).unwrap();
        a.put_with(99, 8.0, Bounds::Clip).unwrap();
        assert_eq!(a.to_vec().unwrap()[3..], [-2.25, 7.0, 8.0]);
        assert!(matches!(a.at(6), Err(Error::IndexOutOfRange { index: 6, axis: 0, length: 6 })));
    }
}

#[test]
fn elements_are_put_where_indices_say() {
    for context in contexts() {
        let mut x = counted(&[3, 4]);
        let whole = upload(&context, &x);
        let mut a = whole.transpose();
        let indices = GpuArray::from_slice(&context, &[1_i32, -1, 6]).unwrap();
        let values = GpuArray::from_slice(&context, &[10.0_f32, 20.0, 30.0]).unwrap();
        a.put(&indices, &values * 2.0).unwrap();
        // In C order of the transpose.
        for (i, value) in [(1, 20.0), (11, 40.0), (6, 60.0)] {
            x[[i % 3, i / 3]] = value;
        }
        assert_eq!(whole.to_vec().unwrap(), flat(&x));

        // What is read from the array itself is what it held before.
        let mut line = GpuArray::<i32>::arange(&context, 1000).unwrap();
        let back = (999 - &line).eval().unwrap();
        let own = Expr::from(&line);
        line.put(&back, own).unwrap();
        assert_eq!(line.to_vec().unwrap(), back.to_vec().unwrap());
        let gathered = line.at(&back).unwrap();
        line.assign(gathered).unwrap();
        assert_eq!(line.to_vec().unwrap(), (0..1000).collect::<Vec<i32>>());

        let outside = GpuArray::from_slice(&context, &[1_i32, 12]).unwrap();
        assert!(matches!(a.put(&outside, 0.0), Err(Error::IndexOutOfRange { index: 12, .. })));
        assert!(matches!(a.put(&indices, &whole), Err(Error::Broadcast { .. })));
        let mut wide = values.broadcast_to(&[2, 3]).unwrap();
        assert!(matches!(wide.put(&indices, 0.0), Err(Error::NotWritable { .. })));
        let elsewhere = Context::new(Device::cpu().unwrap()).unwrap();
        let other = GpuArray::from_slice(&elsewhere, &[0_i32]).unwrap();
        assert!(matches!(a.put(&other, 0.0), Err(Error::WrongDevice { .. })));

        line.put_mask(line.clone().lt(998), -1).unwrap();
        assert_eq!(line.to_vec().unwrap()[996..], [-1, -1, 998, 999]);
    }
}
