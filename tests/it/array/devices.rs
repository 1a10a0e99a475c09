//! Arrays on all devices of this machine at once.

use warpaint::{
    array::{Error, GpuArray},
    device::{self, Choice, Device},
    kernel::Context,
};

use crate::support::devices;

/// The CPU device and every GPU.
fn contexts() -> Vec<Context> {
    let others = (1..).map_while(|ordinal| match Device::open(Choice::Cuda(ordinal)) {
        Ok(device) => Some(device),
        Err(device::Error::NoDriver { .. } | device::Error::NoDevice { .. }) => None,
        Err(error) => panic!("{error}"),
    });
    let devices = devices().into_iter().chain(others);
    devices.map(|device| Context::new(device).unwrap()).collect()
}

const STEPS: i64 = 40;

fn start(context: &Context) -> GpuArray<i64> {
    GpuArray::arange(context, 1000).unwrap()
}

/// One step; exact on all devices.
fn step(array: &mut GpuArray<i64>, number: i64) {
    let next = (&*array * 3 + number) % 1_000_003;
    array.assign(next).unwrap();
}

fn check(array: &GpuArray<i64>) {
    let value = |start| (0..STEPS).fold(start, |x, number| (x * 3 + number) % 1_000_003);
    let expected: Vec<i64> = (0..1000).map(value).collect();
    assert_eq!(array.reduce().sum().item().unwrap(), expected.iter().sum::<i64>());
    assert_eq!(array.to_vec().unwrap(), expected);
}

#[test]
fn one_thread_uses_them_in_turn() {
    let contexts = contexts();
    let mut arrays: Vec<_> = contexts.iter().map(start).collect();
    for number in 0..STEPS {
        arrays.iter_mut().for_each(|array| step(array, number));
    }
    arrays.iter().for_each(check);
    for (k, one) in arrays.iter().enumerate() {
        for other in &arrays[k + 1..] {
            assert!(matches!((one + other).eval(), Err(Error::WrongDevice { .. })));
        }
    }
}

#[test]
fn each_has_a_thread_and_a_thread_may_end_with_anothers_array() {
    let contexts = contexts();
    let arrays: Vec<_> = std::thread::scope(|scope| {
        let run = |context| {
            let mut array = start(context);
            (0..STEPS).for_each(|number| step(&mut array, number));
            array
        };
        let threads: Vec<_> =
            contexts.iter().map(|context| scope.spawn(move || run(context))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    arrays.iter().for_each(check);
    std::thread::spawn(move || drop((contexts, arrays))).join().unwrap();
}
