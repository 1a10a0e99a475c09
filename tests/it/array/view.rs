//! The bytes of arrays as elements of other types.

use warpaint::{
    array::{Data, Error, GpuArray, vector::Float4},
    index,
};

use super::contexts;

/// Every layout that has a view is what the bytes of its rows are on the host.
#[test]
fn bytes_are_seen_as_other_types() {
    for context in contexts() {
        let values: Vec<u32> = (0..48).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
        let a = GpuArray::from_shape(&context, &[3, 2, 8], &values).unwrap();
        let parts = [
            a.clone(),
            a.slice(&index![..;-1, 1..]).unwrap(),
            a.slice(&index![..;2, ..;-1, 2..6]).unwrap(),
            a.slice(&index![.., .., 4..4]).unwrap(),
            a.slice(&index![1, .., ..]).unwrap().broadcast_to(&[4, 2, 8]).unwrap(),
        ];
        for part in &parts {
            let rows = part.to_vec().unwrap();
            let bytes: &[u8] = bytemuck::cast_slice(&rows);
            assert_eq!(part.view_as::<u8>().unwrap().to_vec().unwrap(), bytes);
            let halves: Vec<i16> = bytemuck::pod_collect_to_vec(bytes);
            assert_eq!(part.view_as::<i16>().unwrap().to_vec().unwrap(), halves);
            let doubles: Vec<u64> = bytemuck::pod_collect_to_vec(bytes);
            let seen = part.view_as::<f64>().unwrap();
            let found: Vec<u64> = seen.to_vec().unwrap().into_iter().map(f64::to_bits).collect();
            assert_eq!((found, seen.ndim()), (doubles, part.ndim()));
            assert_eq!(seen.view_as::<u32>().unwrap().to_vec().unwrap(), rows, "and back");
        }
        // Of one size, any layout.
        let turned = a.transpose().view_as::<i32>().unwrap();
        let expected: Vec<i32> =
            a.transpose().to_vec().unwrap().into_iter().map(|v| v as i32).collect();
        assert_eq!(turned.to_vec().unwrap(), expected);

        let vectors = a.view_as::<f32>().unwrap().view_as::<Float4>().unwrap();
        assert_eq!(vectors.shape(), [3, 2, 2]);
        vectors.view_as::<u32>().unwrap().fill(7).unwrap();
        assert_eq!(a.to_vec().unwrap(), [7; 48], "views share memory");
    }
}

#[test]
fn bytes_that_are_no_whole_elements_are_not_seen() {
    fn fails<T: Data, U: Data>(array: &GpuArray<T>) {
        assert!(matches!(array.view_as::<U>(), Err(Error::View { .. })), "{array:?}");
    }
    for context in contexts() {
        let a = GpuArray::<f32>::zeros(&context, &[3, 5]).unwrap();
        fails::<f32, f64>(&a);
        let even = a.slice(&index![.., ..4]).unwrap();
        // Rows are five apart.
        fails::<f32, f64>(&even);
        fails::<f32, f64>(&a.slice(&index![0, 1..3]).unwrap());
        fails::<f32, u16>(&a.transpose());
        fails::<f32, u16>(&a.slice(&index![0, 0]).unwrap());
        assert!(even.slice(&index![..1]).unwrap().view_as::<f64>().is_ok(), "one row has no step");
        let bytes = GpuArray::from_slice(&context, &[0u8, 1, 2]).unwrap();
        let truths = bytes.view_as::<bool>().unwrap();
        assert!(matches!(truths.to_vec(), Err(Error::InvalidBits { .. })));
    }
}
