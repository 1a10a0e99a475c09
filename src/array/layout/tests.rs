//! Against `ndarray`, whose views follow the same rules.

use super::*;
use crate::{array::Index, index};

/// The elements in C order, as places.
fn places(layout: &Layout) -> Vec<usize> {
    let mut places = vec![layout.offset() as isize];
    for (&n, &stride) in layout.shape().iter().zip(layout.strides()) {
        let along = |place: isize| (0..n as isize).map(move |i| place + i * stride);
        places = places.into_iter().flat_map(along).collect();
    }
    places.into_iter().map(|place| place as usize).collect()
}

fn counted(shape: &[usize]) -> ndarray::ArrayD<usize> {
    ndarray::ArrayD::from_shape_vec(shape, (0..shape.iter().product()).collect()).unwrap()
}

#[test]
fn slices_take_what_ndarray_takes() {
    let layout = Layout::contiguous(&[4, 5, 6]).unwrap();
    let array = counted(&[4, 5, 6]);
    for (indices, expected) in [
        (index![1, 2, 3].to_vec(), array.slice(ndarray::s![1, 2, 3]).into_dyn()),
        (index![-1, .., ..;2].to_vec(), array.slice(ndarray::s![-1, .., ..;2]).into_dyn()),
        (index![1..3, ..;-1, -2].to_vec(), array.slice(ndarray::s![1..3, ..;-1, -2]).into_dyn()),
        (index![..2, 1..;3].to_vec(), array.slice(ndarray::s![..2, 1..;3, ..]).into_dyn()),
        (index![..., 1..=2].to_vec(), array.slice(ndarray::s![.., .., 1..=2]).into_dyn()),
        (
            index![..=2, 1..=-1, ..=-1].to_vec(),
            array.slice(ndarray::s![..=2, 1.., ..=-1]).into_dyn(),
        ),
        (
            index![.., new, 0, ...].to_vec(),
            array.slice(ndarray::s![.., ndarray::NewAxis, 0, ..]).into_dyn(),
        ),
    ] {
        let part = layout.index(&indices).unwrap();
        assert_eq!(part.shape(), expected.shape(), "{indices:?}");
        assert_eq!(places(&part), expected.iter().copied().collect::<Vec<_>>(), "{indices:?}");
    }
}

/// Values from Python: `range(10)[start:stop:step]`.
#[test]
fn ranges_are_cut_as_in_python() {
    let layout = Layout::contiguous(&[10]).unwrap();
    let range = |start, stop, step| {
        let part = layout.index(&[Index::Range { start, stop, step }]).unwrap();
        places(&part)
    };
    assert_eq!(range(Some(5), Some(3), 1), [0; 0]);
    assert_eq!(range(Some(-3), None, 1), [7, 8, 9]);
    assert_eq!(range(Some(-99), Some(99), 4), [0, 4, 8]);
    assert_eq!(range(None, None, -3), [9, 6, 3, 0]);
    assert_eq!(range(Some(99), Some(-99), -4), [9, 5, 1]);
    assert_eq!(range(Some(2), Some(-9), -1), [2]);
    assert_eq!(range(Some(2), None, -1), [2, 1, 0]);
    assert_eq!(range(Some(99), None, 1), [0; 0]);
    // A last one that is taken: `range(10)[5:1:-1]`, `[5::-1]`, `[:7:-2]`, `[1:5:3]`, `[-3:]`, `[5:-11:-2]`.
    let through = |indices: &[Index]| places(&layout.index(indices).unwrap());
    assert_eq!(through(&index![5..=2;-1]), [5, 4, 3, 2]);
    assert_eq!(through(&index![5..=0;-1]), [5, 4, 3, 2, 1, 0]);
    assert_eq!(through(&index![..=8;-2]), [9]);
    assert_eq!(through(&index![1..=4;3]), [1, 4]);
    assert_eq!(through(&index![-3..=-1]), [7, 8, 9]);
    assert_eq!(through(&index![5..=-10;-2]), [5, 3, 1]);
    assert_eq!(through(&index![2..=-1;-1]), [0; 0]);
    assert!(matches!(
        layout.index(&[Index::Range { start: None, stop: None, step: 0 }]),
        Err(Error::ZeroStep)
    ));
    assert!(matches!(layout.index(&index![10]), Err(Error::IndexOutOfRange { .. })));
    assert!(matches!(layout.index(&index![-11]), Err(Error::IndexOutOfRange { .. })));
    assert!(matches!(layout.index(&index![0, 0]), Err(Error::TooManyIndices { .. })));
    assert!(matches!(layout.index(&index![..., ...]), Err(Error::TwoEllipses)));
    assert!(matches!(Layout::contiguous(&[0, usize::MAX, 3]), Err(Error::TooLarge { .. })));
}

#[test]
fn reshape_is_a_view_exactly_where_ndarray_says_so() {
    let base = Layout::contiguous(&[4, 6, 5]).unwrap();
    let array = counted(&[4, 6, 5]);
    for (view, of) in [
        (base.clone(), array.view()),
        (base.index(&index![..;2]).unwrap(), array.slice(ndarray::s![..;2, .., ..]).into_dyn()),
        (base.index(&index![.., 1..4]).unwrap(), array.slice(ndarray::s![.., 1..4, ..]).into_dyn()),
        (base.transpose(), array.t()),
        (base.permute(&[1, 0, 2]).unwrap(), array.view().permuted_axes(vec![1, 0, 2])),
    ] {
        let flat: Vec<usize> = of.iter().copied().collect();
        assert_eq!(places(&view), flat);
        for shape in [
            vec![of.len()],
            vec![2, of.len() / 2],
            vec![of.shape()[0], 1, of.len() / of.shape()[0]],
        ] {
            if let Some(reshaped) = view.reshape(&shape).unwrap() {
                assert_eq!(places(&reshaped), flat, "{shape:?} of {view:?}");
            } else {
                assert!(!view.is_contiguous());
            }
        }
    }
    let rows = base.index(&index![..;2]).unwrap();
    assert!(rows.reshape(&[2, 30]).unwrap().is_some(), "each row is one run");
    assert!(rows.reshape(&[60]).unwrap().is_none());
    assert!(matches!(base.reshape(&[7]), Err(Error::Reshape { .. })));
}

#[test]
fn broadcasting_follows_numpy() {
    let of = |shapes: &[&[usize]]| broadcast(shapes.iter().copied());
    assert_eq!(of(&[&[3, 1], &[4]]).unwrap(), [3, 4]);
    assert_eq!(of(&[&[], &[2, 1, 5], &[7, 1]]).unwrap(), [2, 7, 5]);
    assert_eq!(of(&[&[0], &[1]]).unwrap(), [0]);
    assert!(matches!(of(&[&[3], &[4]]), Err(Error::Broadcast { .. })));
    assert!(matches!(of(&[&[0], &[2]]), Err(Error::Broadcast { .. })));
    let wide = Layout::contiguous(&[3, 1]).unwrap().broadcast_to(&[2, 3, 4]).unwrap();
    assert_eq!(wide.strides(), [0, 1, 0]);
    assert!(!wide.is_injective());
}

#[test]
fn extents_cover_negative_strides() {
    let back = Layout::contiguous(&[3, 4]).unwrap().index(&index![..;-1, 1..;2]).unwrap();
    assert_eq!(places(&back), [9, 11, 5, 7, 1, 3]);
    assert_eq!(back.extent(), 1..12);
    assert!(back.is_injective());
}

#[test]
fn squeezing_drops_axes_of_length_one_alone() {
    let layout = Layout::contiguous(&[1, 4, 1, 6]).unwrap().index(&index![.., 1.., ..]).unwrap();
    let squeezed = layout.squeeze();
    assert_eq!(
        (squeezed.shape(), squeezed.strides(), squeezed.offset()),
        (&[3, 6][..], &[6, 1][..], 6)
    );
    assert_eq!(places(&squeezed), places(&layout));
    assert_eq!(Layout::contiguous(&[1, 0, 3]).unwrap().squeeze().shape(), [0, 3]);
}
