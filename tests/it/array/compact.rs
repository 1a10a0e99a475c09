//! Compactions against filters on the host.

use std::collections::BTreeMap;

use warpaint::{
    array::{DType, Data, Error, GpuArray},
    device::Device,
    index,
    kernel::Context,
};

use super::{contexts, scan::random};

/// Counts of 4 bytes in a tile.
const TILE: usize = 256 * 17;

fn chosen<T: Copy>(values: &[T], mask: &[bool], which: bool) -> Vec<T> {
    values.iter().zip(mask).filter(|(_, mask)| **mask == which).map(|(value, _)| *value).collect()
}

#[test]
fn masks_choose_and_part() {
    for context in contexts() {
        for n in [0, 1, 31, 32, 33, TILE - 1, TILE, TILE + 1, 5 * TILE + 3] {
            for one_in in [1, 2, 50, 1_000_000] {
                let values = random(n as u64, n, |rng| rng.u64(..));
                let mask = random(one_in + n as u64, n, |rng| rng.u64(..one_in) == 0);
                let a = GpuArray::from_slice(&context, &values).unwrap();
                let m = GpuArray::from_slice(&context, &mask).unwrap();
                let (yes, no) = (chosen(&values, &mask, true), chosen(&values, &mask, false));
                let result = a.compress(&m).unwrap();
                assert_eq!(result.count().unwrap(), yes.len(), "{n} {one_in}");
                assert!(result.elements().unwrap().to_vec().unwrap() == yes, "{n} {one_in}");
                let places: Vec<i64> = chosen(&(0..n as i64).collect::<Vec<_>>(), &mask, true);
                let found = m.flatnonzero().unwrap().elements().unwrap().to_vec().unwrap();
                assert!(found == places, "{n} {one_in}");
                let parted = a.partition(&m).unwrap();
                assert_eq!(parted.count().unwrap(), yes.len());
                assert!(parted.capacity().to_vec().unwrap() == [yes, no].concat(), "{n} {one_in}");
            }
        }
        let (a, one) = (GpuArray::<f32>::zeros(&context, &[5]), GpuArray::zeros(&context, &[1]));
        let (a, one) = (a.unwrap(), one.unwrap());
        assert!(matches!(a.compress(&one), Err(Error::Shape { operation: "compress", .. })));
        assert!(matches!(a.partition(&one), Err(Error::Shape { operation: "partition", .. })));
    }
}

/// Three bytes that are no number.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Colour([u8; 3]);

impl Data for Colour {
    const DTYPE: DType = DType {
        name: "Colour",
        definition: "struct Colour { unsigned char rgb[3]; };",
        bytes: 3,
        align: 1,
    };
}

#[test]
fn views_expressions_and_structures_are_compressed() {
    for context in contexts() {
        let values = random(3, 60 * 70, |rng| rng.i32(-9..9));
        let a = GpuArray::from_shape(&context, &[60, 70], &values).unwrap();
        let part = a.slice(&index![..;-2, ..;3]).unwrap().transpose();
        let flat = part.to_vec().unwrap();
        let result = (&part * 2).compress(part.gt(3)).unwrap().elements().unwrap();
        let expected: Vec<i32> = flat.iter().filter(|v| **v > 3).map(|v| v * 2).collect();
        assert_eq!(result.to_vec().unwrap(), expected);

        let columns = part.shape()[1];
        let indices = part.nonzero().unwrap();
        let places = (0..flat.len()).filter(|&at| flat[at] != 0);
        let expected: [Vec<i64>; 2] = [
            places.clone().map(|at| (at / columns) as i64).collect(),
            places.map(|at| (at % columns) as i64).collect(),
        ];
        let indices: Vec<_> = indices.iter().map(|axis| axis.to_vec().unwrap()).collect();
        assert!(indices == expected);

        let colours = random(8, 5000, |rng| Colour(std::array::from_fn(|_| rng.u8(..))));
        let mask = random(9, 5000, fastrand::Rng::bool);
        let of = GpuArray::from_slice(&context, &colours).unwrap();
        let by = GpuArray::from_slice(&context, &mask).unwrap();
        let result = of.compress(&by).unwrap().elements().unwrap();
        assert!(result.to_vec().unwrap() == chosen(&colours, &mask, true));

        let short = by.slice(&index![1..]).unwrap();
        assert!(matches!(of.compress(&short), Err(Error::Shape { .. })));
        let elsewhere = Context::new(Device::cpu().unwrap()).unwrap();
        let far = GpuArray::from_slice(&elsewhere, &mask).unwrap();
        assert!(matches!(of.compress(&far), Err(Error::WrongDevice { .. })));
    }
}

#[test]
fn values_are_found_once() {
    for context in contexts() {
        for (n, different) in [(0, 1), (1, 1), (2 * TILE, 1), (20_000, 50), (20_000, i32::MAX)] {
            let values = random(n as u64, n, |rng| rng.i32(..different));
            let mut expected: BTreeMap<i32, i64> = BTreeMap::new();
            values.iter().for_each(|&value| *expected.entry(value).or_default() += 1);
            let a = GpuArray::from_slice(&context, &values).unwrap();
            let unique = a.unique().unwrap().elements().unwrap().to_vec().unwrap();
            assert!(unique.iter().eq(expected.keys()), "{n} {different}");
            let (unique, counts) = a.unique_counts().unwrap();
            let found = unique.to_vec().unwrap().into_iter().zip(counts.to_vec().unwrap());
            assert!(found.eq(expected), "{n} {different}");
        }
        let some = [f32::NAN, 2.0, -0.0, f32::INFINITY, -f32::NAN, 0.0, 2.0];
        let a = GpuArray::from_shape(&context, &[7, 1], &some).unwrap();
        let unique = a.unique().unwrap().elements().unwrap().to_vec().unwrap();
        assert_eq!(unique[..3], [0.0, 2.0, f32::INFINITY]);
        assert!(unique.len() == 4 && unique[3].is_nan(), "{unique:?}");
    }
}
