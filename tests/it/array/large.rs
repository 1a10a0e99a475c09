//! Algorithms where 32 bits cannot count the elements any more, on a GPU that has room for them.

use crate::skip::{Need, skip};
use warpaint::{
    array::{Expr, GpuArray, Order},
    index,
    kernel::Context,
};

use super::contexts;

/// Contexts on GPUs with so many bytes of free memory.
fn roomy(bytes: u64) -> Vec<Context> {
    let has_room = |context: &Context| {
        let device = context.device();
        device.as_nvidia().is_some() && device.memory_info().unwrap().free > bytes
    };
    let contexts: Vec<_> = contexts().into_iter().filter(has_room).collect();
    if contexts.is_empty() {
        skip(Need::Machine, format_args!("no GPU with {bytes} bytes of free memory"));
    }
    contexts
}

#[test]
fn more_elements_than_32_bits_count() {
    for context in roomy(80 << 30) {
        for n in [1 << 31, (1 << 31) + 1, (1 << 32) + 5001_usize] {
            let ones = GpuArray::<u8>::full(&context, &[n], 1).unwrap();
            let sums = ones.cumsum().unwrap();
            for at in [0, 254, 255, (1 << 31) - 1, n - 1] {
                let sum = sums.slice(&index![at as isize]).unwrap().item().unwrap();
                assert_eq!(sum, (at + 1) as u8, "{n} {at}");
            }
            drop(ones);
            // The sums go round: each value but the last few as often as any other.
            let sorted = sums.sort(Order::Descending).unwrap();
            let (front, back) = (index![1..], index![..-1]);
            let (next, this) = (sorted.slice(&front).unwrap(), sorted.slice(&back).unwrap());
            let wrong = next.gt(&this).cast::<u64>().sum().unwrap().item().unwrap();
            assert_eq!(wrong, 0, "{n}");
            let greatest = sums.eq(255).cast::<u64>().sum().unwrap().item().unwrap();
            assert_eq!(greatest as usize, (n + 1) / 256);
            let chosen = sums.compress(sums.eq(255)).unwrap();
            assert_eq!(chosen.count().unwrap(), (n + 1) / 256);
            let parted = sums.partition(sums.lt(255)).unwrap();
            let at = (n - (n + 1) / 256) as isize;
            let around = parted.capacity().slice(&index![at - 1..at + 1]).unwrap();
            assert_eq!(around.to_vec().unwrap()[1], 255);
            assert!(around.to_vec().unwrap()[0] < 255);
        }
    }
}

#[test]
fn rows_of_more_elements_than_32_bits_count() {
    for context in roomy(40 << 30) {
        let (rows, length) = ((1 << 20) + 3, 4099);
        let ones = GpuArray::<u8>::full(&context, &[rows, length], 1).unwrap();
        for (array, axis) in [(ones.clone(), 1), (ones.transpose(), 0)] {
            let sums = array.cumsum_along(axis).unwrap();
            let last = if axis == 1 { sums } else { sums.transpose() };
            let last = Expr::from(&last.slice(&index![.., -1]).unwrap());
            let (least, most) = (last.min().unwrap(), last.max().unwrap());
            assert_eq!(
                (least.item().unwrap(), most.item().unwrap()),
                (3, 3),
                "4099 is 3 modulo 256"
            );
        }
    }
}
