//! Sorts against stable sorts on the host.

use std::cmp::Ordering;

use half::f16;
use warpaint::{
    array::{DType, Data, Error, Expr, GpuArray, Order, Sortable},
    index,
    kernel::Context,
};

use super::{contexts, scan::random};

/// Keys of 4 bytes in a tile.
const TILE: usize = 256 * 20;

/// The order of keys on the host: numpy's, with NaN last.
trait Key: Sortable + Copy {
    fn order(&self, other: &Self) -> Ordering;
    fn bits(&self) -> u64;
}

macro_rules! keys {
    ($($rust:ty: $order:expr, $bits:expr;)*) => {$(
        impl Key for $rust {
            fn order(&self, other: &Self) -> Ordering {
                let order: fn(&Self, &Self) -> Ordering = $order;
                order(self, other)
            }
            fn bits(&self) -> u64 {
                let bits: fn(Self) -> u64 = $bits;
                bits(*self)
            }
        }
    )*};
}

/// NaN behind all numbers, which compare by value.
fn of_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

keys! {
    bool: Ord::cmp, u64::from;
    i8: Ord::cmp, |key| key as u64;
    u16: Ord::cmp, u64::from;
    i32: Ord::cmp, |key| key as u64;
    i64: Ord::cmp, |key| key as u64;
    f16: |a, b| of_floats(a.to_f64(), b.to_f64()), |key| key.to_bits().into();
    f32: |a, b| of_floats((*a).into(), (*b).into()), |key| key.to_bits().into();
    f64: |a, b| of_floats(*a, *b), f64::to_bits;
}

/// The indices of `keys` in their order, equal ones in the order in which they are.
fn sorted<K: Key>(keys: &[K], order: Order) -> Vec<usize> {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_by(|&a, &b| match order {
        Order::Ascending => keys[a].order(&keys[b]),
        Order::Descending => keys[b].order(&keys[a]),
    });
    places
}

/// Sorts by `keys` their own places.
fn check<K: Key>(context: &Context, keys: &[K]) {
    let array = GpuArray::from_slice(context, keys).unwrap();
    for order in [Order::Ascending, Order::Descending] {
        let places = sorted(keys, order);
        let values = Expr::from(&GpuArray::<u32>::arange(context, keys.len()).unwrap());
        let (by_key, values) = array.sort_by_key(values, order).unwrap();
        let name = K::DTYPE.name;
        let found = by_key.to_vec().unwrap();
        let expected = places.iter().map(|&at| keys[at].bits());
        assert!(found.iter().map(Key::bits).eq(expected), "{name} {} {order:?}", keys.len());
        let values = values.to_vec().unwrap();
        assert!(values.iter().map(|&at| at as usize).eq(places), "{name} {} {order:?}", keys.len());
    }
}

#[test]
fn keys_of_every_type_are_sorted_and_stay_in_order_where_they_are_equal() {
    // Few are ranked, many take a radix sort.
    for (n, context) in contexts().into_iter().flat_map(|c| [(3 * TILE + 77, c.clone()), (230, c)])
    {
        let bits = random(1, n, |rng| rng.u64(..));
        macro_rules! integers {
            ($($rust:ty),*) => {$(
                check(&context, &bits.iter().map(|&bits| bits as $rust).collect::<Vec<_>>());
            )*};
        }
        integers!(i8, u16, i64);
        check(&context, &bits.iter().map(|bits| bits & 1 == 0).collect::<Vec<_>>());
        // Any bits (`bf16` has the same code as `f16`): numbers of all sizes, infinities, NaN of both signs, zeros of
        // both signs.
        let halves: Vec<u16> = bits.iter().map(|&bits| bits as u16).collect();
        check(&context, &halves.iter().copied().map(f16::from_bits).collect::<Vec<_>>());
        let special = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let floats: Vec<f64> = bits.iter().map(|&bits| f64::from_bits(bits)).collect();
        let floats: Vec<f64> =
            floats.chunks(9).flat_map(|some| [some, &special].concat()).collect();
        check(&context, &floats);
        check(&context, &floats.iter().map(|&x| x as f32).collect::<Vec<_>>());
    }
}

#[test]
fn sizes_around_warps_and_tiles_are_sorted() {
    for context in contexts() {
        for n in [0, 1, 2, 31, 32, 33, 255, 256, 257, TILE - 1, TILE, TILE + 1, 7 * TILE + 3] {
            let mut keys = random(n as u64, n, |rng| rng.i32(..));
            check(&context, &keys);
            let alone = GpuArray::from_slice(&context, &keys).unwrap().sort(Order::Ascending);
            keys.sort_unstable();
            assert!(alone.unwrap().to_vec().unwrap() == keys, "{n}");
        }
        // All the same, sorted already, few values.
        check(&context, &vec![7; 2 * TILE]);
        check(&context, &(0..20_000).collect::<Vec<i32>>());
        check(&context, &random(5, 20_000, |rng| rng.i32(-2..2)));
    }
}

#[test]
fn rows_and_expressions_are_sorted() {
    // More rows than a digit counts; few comparisons, and many.
    for (length, context) in contexts().into_iter().flat_map(|c| [(70, c.clone()), (33, c)]) {
        let rows = 301;
        let values = random(2, rows * length, |rng| rng.i32(-500..500));
        let a = GpuArray::from_shape(&context, &[rows, length], &values).unwrap();
        for order in [Order::Ascending, Order::Descending] {
            let by_row: Vec<Vec<usize>> =
                values.chunks(length).map(|row| sorted(row, order)).collect();
            let keys: Vec<i32> = (by_row.iter().zip(values.chunks(length)))
                .flat_map(|(places, row)| places.iter().map(|&at| row[at] * 2))
                .collect();
            let result = (&a * 2).sort(order).unwrap();
            assert_eq!(result.shape(), [rows, length]);
            assert!(result.to_vec().unwrap() == keys);
            let places = a.argsort(order).unwrap().to_vec().unwrap();
            assert!(places.iter().map(|&at| at as usize).eq(by_row.into_iter().flatten()));
        }
        // Columns of a view, in place.
        let mut turned = a.slice(&index![..;-1, 1..;3]).unwrap().transpose();
        let mut expected = turned.to_vec().unwrap();
        expected.chunks_mut(rows).for_each(<[i32]>::sort);
        turned.sort_in_place(Order::Ascending).unwrap();
        assert!(turned.to_vec().unwrap() == expected);
        let rest = a.slice(&index![.., ..;3]).unwrap().to_vec().unwrap();
        let before = values.chunks(length).flat_map(|row| row.iter().step_by(3).copied());
        assert!(rest.into_iter().eq(before), "the other columns stay");
        let none = GpuArray::<f32>::zeros(&context, &[3, 0]).unwrap();
        assert_eq!(none.sort(Order::Ascending).unwrap().shape(), [3, 0]);
        assert_eq!(none.argsort(Order::Ascending).unwrap().shape(), [3, 0]);
        let short = GpuArray::<u8>::zeros(&context, &[3]).unwrap();
        assert!(matches!(a.sort_by_key(&short, Order::Ascending), Err(Error::Shape { .. })));
    }
}

/// To sort a few numbers for the first time must not take seconds: what takes them is to compile radix sorts.
#[test]
fn few_keys_need_one_small_kernel() {
    for context in contexts() {
        let keys: Vec<i32> = (0..60).map(|k| k * 37 % 60).collect();
        let a = GpuArray::from_slice(&context, &keys).unwrap();
        let written = || context.generated_statistics().written;
        let before = written();
        let sorted = a.sort(Order::Ascending).unwrap().to_vec().unwrap();
        assert!(sorted.into_iter().eq(0..60));
        assert_eq!(written() - before, 1);
        let turned = a.reshape(&[6, 10]).unwrap().argsort(Order::Descending).unwrap();
        assert_eq!(turned.shape(), [6, 10]);
        assert_eq!(written() - before, 2);
    }
}

/// Larger than what is moved with each digit.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Body {
    at: [f64; 6],
}

impl Data for Body {
    const DTYPE: DType =
        DType { name: "Body", definition: "struct Body { double at[6]; };", bytes: 48, align: 8 };
}

#[test]
fn structures_follow_their_keys() {
    for (n, context) in contexts().into_iter().flat_map(|c| [(3000, c.clone()), (300, c)]) {
        let keys = random(4, n, |rng| rng.u16(..100));
        let bodies: Vec<Body> = (0..n).map(|i| Body { at: [i as f64; 6] }).collect();
        let a = GpuArray::from_slice(&context, &keys).unwrap();
        let b = GpuArray::from_slice(&context, &bodies).unwrap();
        let (_, result) = a.sort_by_key(&b, Order::Ascending).unwrap();
        let expected: Vec<Body> =
            sorted(&keys, Order::Ascending).into_iter().map(|at| bodies[at]).collect();
        assert!(result.to_vec().unwrap() == expected);
    }
}
