//! The array library's main operations, for `bench --library`.

use super::{Result, ceilings::Ceilings, figure::Figure, stopwatch::quickest_ms};
use crate::{
    array::{self, Expr, GpuArray, Order, random::Generator},
    device::DeviceKind,
    kernel::Context,
};

/// Calls one behind the other, of which the time is shared out.
const CALLS: u32 = 4;

/// Measures them and hands over each one's figure.
///
/// # Errors
/// The library's.
pub(super) fn measure(
    context: &Context,
    ceilings: &Ceilings,
    mut tell: impl FnMut(Figure),
) -> Result<()> {
    let n: usize = match context.device().info().kind {
        DeviceKind::Nvidia => 1 << 27,
        DeviceKind::Cpu => 1 << 21,
    };
    // Each with how many times 4 bytes for each element are read or written at least.
    let mut show = |name: &str, moved: u32, work: &mut dyn FnMut() -> array::Result<()>| {
        let ms = quickest_ms(context.device(), context.stream(), CALLS, || Ok(work()?))?;
        let bytes = Some(n as f64 * 4.0 * f64::from(moved));
        let figure = Figure::new(&format!("{name}, {n} f32"), vec![ms], [bytes, None], ceilings);
        figure.into_iter().for_each(&mut tell);
        Result::Ok(())
    };
    let counted = GpuArray::<u32>::arange(context, n)?;
    let keys = ((&counted * 2_654_435_761_u32) ^ 0x5bd1_e995).eval()?;
    let x = (keys.cast::<f32>() * 2f32.powi(-32)).eval()?;
    let (mut y, mut z) = (x.copy()?, x.copy()?);
    drop((counted, keys));
    let all = Expr::from(&x);
    show("copy", 2, &mut || z.assign(&x))?;
    show("2 x + y", 3, &mut || y.assign(&x * 2.0 + &y))?;
    show("sin(x)", 2, &mut || z.assign(x.sin()))?;
    show("sum", 1, &mut || all.sum().map(drop))?;
    show("max", 1, &mut || all.max().map(drop))?;
    show("dot", 2, &mut || (&x * &y).sum().map(drop))?;
    show("inclusive scan", 2, &mut || all.cumsum().map(drop))?;
    show("sort", 2, &mut || x.sort(Order::Ascending).map(drop))?;
    let mut philox = Generator::new(1);
    show("uniform numbers", 1, &mut || philox.fill_uniform(&mut z))
}
