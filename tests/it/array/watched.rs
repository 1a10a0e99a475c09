//! Array operations on the CPU device, watched: no kernel of theirs races, reads what nobody wrote, or divides by zero.

use warpaint::{
    array::{Expr, GpuArray, Order, random::Generator, vector::Float3},
    device::{
        Device,
        cpu::{self, Check, LaunchOptions},
    },
    index,
    kernel::Context,
};

/// That the checker finds nothing in what `work` launches.
#[track_caller]
fn watched(name: &str, work: impl FnOnce(&Context)) {
    let (device, check) = (cpu::Device::new().unwrap(), Check::all());
    device.set_launch_options(LaunchOptions::checked(&check));
    let context = Context::new(Device::Cpu(device)).unwrap();
    work(&context);
    context.synchronize().unwrap();
    assert_eq!(check.report().findings, [], "{name}");
}

/// More than a block takes at once, of threads and in scans: a tile of the CPU device's has 992.
const COUNT: usize = 1200;

fn values(context: &Context) -> GpuArray<f32> {
    let values: Vec<f32> = (0..COUNT).map(|i| ((i * 7919) % 1009) as f32 - 500.0).collect();
    GpuArray::from_slice(context, &values).unwrap()
}

#[test]
fn reductions() {
    watched("all", |context| {
        let a = values(context);
        a.sum().unwrap();
        a.var(0).unwrap();
        a.argmin().unwrap();
        a.minmax().unwrap();
        a.dot(&a).unwrap();
        a.histogram(10, -99.0, 99.0).unwrap();
        a.histogram(5000, -99.0, 99.0).unwrap();
    });
    watched("axes", |context| {
        let a = values(context).reshape(&[40, 30]).unwrap();
        for axis in [0, 1] {
            a.sum_along(&[axis]).unwrap();
            a.argmax_along(&[axis]).unwrap();
        }
        let part = a.slice(&index![..;-2, 1..;3]).unwrap();
        part.mean_along(&[1]).unwrap();
        let points = GpuArray::full(context, &[100], Float3::new(1.0, 2.0, 3.0)).unwrap();
        points.sum().unwrap();
    });
}

#[test]
fn scans_and_sorts() {
    watched("scans", |context| {
        let a = values(context);
        a.cumsum().unwrap();
        let table = a.reshape(&[40, 30]).unwrap();
        for axis in [0, 1] {
            table.cumsum_along(axis).unwrap();
            table.transpose().cumsum_along(axis).unwrap();
        }
    });
    watched("sorts", |context| {
        let a = values(context);
        // Two digits each.
        let keys = Expr::from(&a).cast::<i16>().eval().unwrap();
        keys.sort_by_key(&a, Order::Descending).unwrap();
        let rows = keys.slice(&index![..300]).unwrap().reshape(&[3, 100]).unwrap();
        rows.sort(Order::Ascending).unwrap();
    });
    watched("choices", |context| {
        let a = values(context);
        a.compress(a.gt(0.0)).unwrap();
        a.partition(a.gt(0.0)).unwrap();
        Expr::from(&a).cast::<i8>().unique_counts().unwrap();
        let places = GpuArray::from_slice(context, &[5i64, -1, 7, 0]).unwrap();
        a.take(&places, 0).unwrap();
    });
}

#[test]
fn random_numbers_and_elements() {
    watched("elements", |context| {
        let a = values(context);
        let part = a.slice(&index![1..;2]).unwrap();
        (Expr::from(&part).sin() * 2.0 + &part).eval().unwrap();
        a.slice(&index![..-1]).unwrap().assign(a.slice(&index![1..]).unwrap()).unwrap();
        GpuArray::<f64>::eye(context, 40).unwrap();
    });
    // Those that jump ahead would take minutes.
    let generators = [Generator::new(1), Generator::scrambled_sobol32(3, 1).unwrap()];
    for mut generator in generators {
        watched("random numbers", |context| {
            generator.uniform::<f32>(context, &[300]).unwrap();
            generator.normal::<f64>(context, &[301], 0.0, 1.0).unwrap();
            generator.poisson::<u32>(context, &[300], 20.0).unwrap();
            generator.integers(context, &[300], 0..7).unwrap();
        });
    }
}
