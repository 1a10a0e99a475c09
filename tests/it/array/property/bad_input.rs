//! What must be an error, or numpy's answer: never a wrong result in silence.

use warpaint::{
    array::{Error, Expr, GpuArray, Index, Layout, Order, broadcast, concatenate, stack},
    device::Device,
    index,
    kernel::Context,
};

use super::{
    cases,
    value::assert_same,
    view::{View, shape},
};

/// Layouts are arithmetic only: any size can be tried without memory.
#[test]
fn shapes_that_cannot_be_counted_are_errors() {
    let large = |shape: &[usize]| matches!(Layout::contiguous(shape), Err(Error::TooLarge { .. }));
    assert!(large(&[1 << 32, 1 << 31]) && large(&[usize::MAX]) && large(&[0, 1 << 40, 1 << 40]));
    let most = Layout::contiguous(&[isize::MAX as usize]).unwrap();
    assert_eq!((most.count(), most.extent()), (isize::MAX as usize, 0..isize::MAX as usize));

    let one = Layout::contiguous(&[]).unwrap();
    assert!(matches!(one.broadcast_to(&[1 << 40, 1 << 40]), Err(Error::TooLarge { .. })));
    assert!(matches!(one.broadcast_to(&[1 << 40, 1 << 40, 0]), Err(Error::TooLarge { .. })));
    assert!(matches!(broadcast([&[1 << 40, 1][..], &[1, 1 << 40]]), Err(Error::TooLarge { .. })));
    let wide = one.broadcast_to(&[1 << 40, 1 << 22]).unwrap();
    assert_eq!((wide.count(), wide.extent()), (1 << 62, 0..1));
    assert_eq!(wide.reshape(&[1 << 62]).unwrap().unwrap().strides(), [0]);

    // Beyond 2^31 and 2^32 elements, places and steps are counted in 64 bits.
    let layout = Layout::contiguous(&[3, 1 << 32]).unwrap();
    let last = layout.index(&index![-1, ..;-(1_isize << 31)]).unwrap();
    assert_eq!(
        (last.shape(), last.strides(), last.offset()),
        (&[2][..], &[-(1 << 31)][..], (3 << 32) - 1)
    );
    assert_eq!(
        layout.transpose().index(&index![1_isize << 31, 2]).unwrap().offset(),
        (2 << 32) + (1 << 31)
    );
}

/// Python's slices take any numbers: those beyond the ends, and steps of any size.
#[test]
fn indices_of_any_size_are_as_in_python() {
    let layout = Layout::contiguous(&[4, 6]).unwrap();
    let ends = [isize::MIN, isize::MIN + 1, -7, -1, 0, 1, 5, isize::MAX - 1, isize::MAX];
    let check = |start, stop, step| {
        let range = Index::Range { start: Some(start), stop: Some(stop), step };
        let part = layout.index(&[range, range]);
        if step == 0 {
            assert!(matches!(part, Err(Error::ZeroStep)));
            return;
        }
        let part = part.unwrap();
        assert!(part.extent().end <= 24 && part.is_injective(), "{start}:{stop}:{step} {part:?}");
        assert_eq!(part.count() == 0, part.extent().is_empty());
    };
    for start in ends {
        for stop in ends {
            ends.iter().for_each(|&step| check(start, stop, step));
        }
    }
    for at in [isize::MIN, -5, 4, isize::MAX] {
        let wrong = Error::IndexOutOfRange { index: at, axis: 0, length: 4 };
        assert_eq!(layout.index(&[Index::At(at)]).unwrap_err().to_string(), wrong.to_string());
    }
    assert!(matches!(layout.index(&index![0, 0, 0]), Err(Error::TooManyIndices { .. })));
    assert!(matches!(layout.index(&index![..., 0, ...]), Err(Error::TwoEllipses)));
}

/// Wrong in one way each, on arrays of any shape, also without elements.
#[test]
fn wrong_arguments_are_named() {
    let elsewhere = Context::new(Device::cpu().unwrap()).unwrap();
    cases("wrong", 8, |context, rng, _| {
        let shape = [shape(rng), vec![3]].concat();
        let ndim = shape.len();
        let view = View::of_shape(rng, &shape);
        let base = GpuArray::<i32>::arange(context, view.base_count()).unwrap();
        let a = view.of(&base);
        let there = GpuArray::<i32>::zeros(&elsewhere, &shape).unwrap();
        let mut other = GpuArray::<i32>::zeros(&elsewhere, &shape).unwrap();
        let device = |result: Result<(), Error>| {
            assert!(matches!(result, Err(Error::WrongDevice { .. })), "{result:?}")
        };
        device((&a + &there).eval().map(drop));
        device(other.assign(&a));
        device(a.dot(&there).map(drop));
        device(a.compress(there.gt(0)).map(drop));
        device(concatenate(&[&a, &there], 0).map(drop));

        let axes = |result: Result<(), Error>| {
            assert!(matches!(result, Err(Error::Axes { .. })), "{result:?}")
        };
        axes(a.sum_along(&[ndim]).map(drop));
        axes(a.sum_along(&[0, 0]).map(drop));
        axes(a.cumsum_along(ndim).map(drop));
        axes(a.permute(&vec![0; ndim + 1]).map(drop));
        axes(a.flip(&[0, 0]).map(drop));
        axes(a.take(GpuArray::from_slice(context, &[0]).unwrap(), ndim).map(drop));
        axes(a.diagonal(0, 0).map(drop));
        axes(concatenate(&[&a], ndim).map(drop));
        axes(a.roll(1, ndim).map(drop));
        axes(a.repeat(2, ndim).map(drop));
        for new in [a.expand_dims(ndim + 1), stack(&[&a], ndim + 1)] {
            assert!(matches!(new, Err(Error::NewAxis { .. })), "{new:?}");
        }

        let wide = GpuArray::<i32>::zeros(context, &[2]).unwrap();
        let short = |result: Result<(), Error>| {
            assert!(matches!(result, Err(Error::Broadcast { .. })), "{result:?}")
        };
        short((&a + &wide).eval().map(drop));
        short(a.clone().assign(&wide));
        short(wide.clone().assign(&a));
        let shaped = |result: Result<(), Error>| {
            assert!(matches!(result, Err(Error::Shape { .. })), "{result:?}")
        };
        shaped(a.compress(wide.gt(0)).map(drop));
        shaped(
            concatenate(&[&a, &GpuArray::zeros(context, &vec![2; ndim + 1]).unwrap()], 0).map(drop),
        );
        assert!(matches!(a.reshape(&[a.len() + 1]), Err(Error::Reshape { .. })));
        assert!(matches!(
            GpuArray::from_shape(context, &shape, &vec![0; a.len() + 1]),
            Err(Error::Reshape { .. })
        ));
        let mut wide = wide.reshape(&[2, 1]).unwrap().broadcast_to(&[2, 3]).unwrap();
        assert!(matches!(wide.fill(1), Err(Error::NotWritable { .. })));
        assert!(matches!(wide.sort_in_place(Order::Ascending), Err(Error::NotWritable { .. })));

        let n = a.len() as i64;
        for index in [n, -n - 1, i64::MAX, i64::MIN] {
            let list = GpuArray::from_slice(context, &[0, index]).unwrap();
            let out = |result: Result<(), Error>| {
                assert!(matches!(result, Err(Error::IndexOutOfRange { .. })), "{result:?}")
            };
            out(a.at(&list).map(drop));
            out(a.clone().put(&list, 1).map(drop));
        }
        // Nothing of all that was written.
        let untouched: Vec<i32> = (0..view.base_count() as i32).collect();
        assert_same(&base.to_vec().unwrap(), &untouched, || format!("{view:?}"));
    });
}

/// Integers wrap around, whatever is done with the result: compilers may not take for granted that they do not.
#[test]
fn overflow_wraps_around_in_any_expression() {
    for context in crate::array::contexts() {
        let a = GpuArray::from_slice(&context, &[i32::MAX, i32::MIN, 7]).unwrap();
        let one = GpuArray::from_slice(&context, &[1, 1, 1]).unwrap();
        let truths: Vec<(Expr<bool>, [bool; 3])> = vec![
            ((&a + 1).gt(&a), [false, true, true]),
            ((&a + &one).gt(&a), [false, true, true]),
            ((&a - &one).lt(&a), [true, false, true]),
            (a.abs().lt(0), [false, true, false]),
            ((-&a).gt(0), [false, false, false]),
            ((&a * 2 / 2).eq(&a), [false, false, true]),
            (((&a << 1) >> 1).eq(&a), [false, false, true]),
        ];
        for (k, (found, expected)) in truths.iter().enumerate() {
            assert_eq!(found.eval().unwrap().to_vec().unwrap(), expected, "condition {k}");
        }
        let numbers: Vec<(Expr<i64>, [i64; 3])> = vec![
            ((&a + 1).cast(), [i32::MIN.into(), i64::from(i32::MIN) + 1, 8]),
            ((&a * 2).cast(), [-2, 0, 14]),
            ((-&a).cast(), [-i64::from(i32::MAX), i32::MIN.into(), -7]),
            ((&a - &one).cast(), [i64::from(i32::MAX) - 1, i32::MAX.into(), 6]),
        ];
        for (k, (found, expected)) in numbers.iter().enumerate() {
            assert_eq!(found.eval().unwrap().to_vec().unwrap(), expected, "number {k}");
        }
        let wide = GpuArray::from_slice(&context, &[i64::MAX, i64::MIN, 7]).unwrap();
        assert_eq!((&wide + 1).gt(&wide).eval().unwrap().to_vec().unwrap(), [false, true, true]);
        let words = GpuArray::from_slice(&context, &[u16::MAX, 0x8000, 3]).unwrap();
        assert_eq!((&words * &words).eval().unwrap().to_vec().unwrap(), [1, 0, 9]);
        assert_eq!((&words * &words).lt(0x100).eval().unwrap().to_vec().unwrap(), [true; 3]);
    }
}
