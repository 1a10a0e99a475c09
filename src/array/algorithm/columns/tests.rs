//! The ways in which a GPU goes through columns, on the CPU device, which has another of its own.

use super::{Columns, Plan, Steps, Way};
use crate::{
    array::{Data, Expr, GpuArray, source::Code},
    device::Device,
    index,
    kernel::Context,
};

/// `x -> factor * x + offset` modulo 2^32, as one number: associative, exact, and not commutative.
fn then(a: u64, b: u64) -> u64 {
    let [(a_factor, a_offset), (b_factor, b_offset)] = [a, b].map(|x| ((x >> 32) as u32, x as u32));
    let offset = b_factor.wrapping_mul(a_offset).wrapping_add(b_offset);
    u64::from(a_factor.wrapping_mul(b_factor)) << 32 | u64::from(offset)
}

fn steps() -> Steps {
    let definitions = "using Value = unsigned long long;
using Result = unsigned long long;
struct Combine {
    __device__ Value operator()(const Value &a, const Value &b) const {
        const unsigned factor = b >> 32;
        return (Value)(factor * (unsigned)(a >> 32)) << 32 | (factor * (unsigned)a + (unsigned)b);
    }
};
";
    let store = "row == 0 ? after : before * 3 + after".to_owned();
    Steps { definitions: definitions.to_owned(), load: "x_", store }
}

/// What `steps` give.
fn expected(values: &[u64], columns: usize) -> Vec<u64> {
    let mut totals = vec![None; columns];
    let step = |(k, &value): (usize, &u64)| {
        let before = totals[k % columns];
        let after = before.map_or(value, |before| then(before, value));
        totals[k % columns] = Some(after);
        before.map_or(after, |before| before.wrapping_mul(3).wrapping_add(after))
    };
    values.iter().enumerate().map(step).collect()
}

/// How input and result lie.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    Across,
    Along,
}

fn array(context: &Context, shape: [usize; 2], lie: Lie) -> GpuArray<u64> {
    match lie {
        Lie::Across => GpuArray::empty(context, &shape).unwrap(),
        Lie::Along => GpuArray::empty(context, &[shape[1], shape[0]]).unwrap().transpose(),
    }
}

/// Scans columns as a GPU of so many multiprocessors would; the plan.
fn check(context: &Context, shape: [usize; 2], lies: (Lie, Lie), multiprocessors: usize) -> Plan {
    let mut rng = fastrand::Rng::with_seed(shape[0] as u64);
    let values: Vec<u64> = (0..shape[0] * shape[1]).map(|_| rng.u64(..) | 1 << 32).collect();
    let mut from = array(context, shape, lies.0);
    from.assign(GpuArray::from_shape(context, &shape, &values).unwrap()).unwrap();
    let to = array(context, shape, lies.1);
    let (expr, out) = (Expr::from(&from), to.operand());
    let code = Code::new(&expr.node).unwrap();
    let columns =
        Columns::new(&shape, &[from.layout(), to.layout()], 0, out.dtype).unwrap().unwrap();
    let plan = Plan::of_gpu(&columns, multiprocessors);
    columns.launch(&plan, code, &out, (), steps).unwrap();
    let found = to.to_vec().unwrap();
    assert!(found == expected(&values, shape[1]), "{shape:?} {lies:?} {multiprocessors}");
    plan
}

#[test]
fn a_gpu_goes_through_columns_in_several_ways() {
    use Lie::{Across, Along};
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    let plain = (Across, Across);
    // Tiles of 152 rows: groups of them, and groups of groups.
    let plan = check(&context, [10_300, 33], plain, 132);
    assert_eq!((plan.width, plan.parts, plan.items, plan.look_back), (32, 8, 19, true));
    assert_eq!((plan.tiles, plan.load, plan.store), ((2, 68), Way::Own, Way::Own));
    let plan = check(&context, [4300, 65], plain, 0);
    assert_eq!((plan.width, plan.parts, plan.look_back), (128, 2, false));
    // Few columns.
    let plan = check(&context, [5000, 3], plain, 132);
    assert_eq!((plan.width, plan.parts, plan.items), (4, 64, 19));
    assert_eq!((plan.load, plan.store, plan.look_back), (Way::Across, Way::Across, true));
    // A short axis.
    let plan = check(&context, [5, 300], plain, 132);
    assert_eq!((plan.width, plan.parts, plan.look_back), (256, 1, false));
    let staged = [
        ((Along, Across), (Way::Along, Way::Own)),
        ((Across, Along), (Way::Own, Way::Along)),
        ((Along, Along), (Way::Along, Way::Along)),
    ];
    for (lies, ways) in staged {
        for (shape, multiprocessors, items) in
            [([700, 40], 132, 19), ([700, 40], 0, 8), ([20, 70], 132, 4), ([3, 70], 0, 1)]
        {
            let plan = check(&context, shape, lies, multiprocessors);
            assert_eq!((plan.load, plan.store), ways);
            assert_eq!((plan.width, plan.parts, plan.items), (32, 8, items), "{shape:?}");
        }
    }
}

#[test]
fn columns_are_what_lies_apart() {
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    let suits = |from: &GpuArray<f32>, to: &GpuArray<f32>, axis: usize| {
        let columns =
            Columns::new(from.shape(), &[from.layout(), to.layout()], axis, f32::DTYPE).unwrap();
        columns
            .filter(|columns| columns.pay_on(&context))
            .map(|columns| (columns.rows, columns.places.count(), columns.load, columns.store))
    };
    let a = GpuArray::<f32>::zeros(&context, &[6, 50, 40]).unwrap();
    assert_eq!(suits(&a, &a, 2), None);
    assert_eq!(suits(&a, &a, 1), Some((50, 240, Way::Own, Way::Own)));
    assert_eq!(suits(&a, &a, 0), Some((6, 2000, Way::Own, Way::Own)));
    let turned = a.transpose();
    assert_eq!(suits(&turned, &turned, 0), None, "along memory");
    let other = GpuArray::<f32>::zeros(&context, &[40, 50, 6]).unwrap();
    assert_eq!(suits(&turned, &other, 0), Some((40, 300, Way::Along, Way::Own)));
    let one = a.slice(&index![0..1, .., 3..4]).unwrap();
    assert_eq!(suits(&one, &one, 1), None, "one column");
    let same = a.slice(&index![.., .., 3..4]).unwrap().broadcast_to(&[6, 50, 40]).unwrap();
    assert_eq!(suits(&same, &a, 1), Some((50, 240, Way::Own, Way::Own)));
}
