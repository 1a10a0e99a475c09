//! numpy on a device: arrays, expressions that become one kernel, views that share memory, broadcasting, reductions.
//!
//! One learns that operators compute nothing by themselves: [`Expr::eval`] does, in one pass over memory however long
//! the expression, and a reduction takes an expression without storing it.

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use std::error::Error;

use warpaint::{
    array::{Expr, GpuArray, Order},
    device::Choice,
    index,
    kernel::Context,
};

/// A walk through what arrays can do.
pub fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::open(Choice::Auto)?;
    println!("on {}", context.device().info());

    // An expression is a value. One kernel computes all of it, here into a new array.
    let x = GpuArray::<f32>::linspace(&context, -1.0, 1.0, 5, true)?;
    let parabola = (&x * &x * 2.0 - 1.0).eval()?;
    println!("2 x^2 - 1 = {parabola}");
    assert_eq!(parabola.to_vec()?, [1.0, -0.5, -1.0, -0.5, 1.0]);

    // Types promote as in numpy, and conditions choose.
    let steps = GpuArray::<i32>::arange(&context, 5)?;
    let chosen = Expr::select(x.lt(0.0), -1.0, &x * 10.0);
    println!("steps + chosen = {}", (&steps + chosen).eval()?);

    // Views share memory: what is assigned to a part is seen in the whole. Rows are broadcast.
    let mut table = GpuArray::<f32>::zeros(&context, &[3, 5])?;
    table.add_assign(&x)?;
    table.slice(&index![1..;2, ..;-1])?.assign(steps.cast::<f32>())?;
    println!("table = {table}");
    assert_eq!(table.slice(&index![1])?.to_vec()?, [4.0, 3.0, 2.0, 1.0, 0.0]);

    // Reductions along axes, scans and sorts take expressions of any layout.
    let columns = table.sum_along(&[0])?;
    assert_eq!(columns.to_vec()?, [2.0, 2.0, 2.0, 2.0, 2.0]);
    let (greatest, norm) = (table.max()?.item()?, (&table * &table).sum()?.item()?.sqrt());
    println!("sums of columns = {columns}, greatest = {greatest}, norm = {norm}");
    println!("sorted = {}", x.abs().sort(Order::Descending)?);
    println!("running sums = {}", (&steps * &steps).cumsum()?);
    Ok(())
}
