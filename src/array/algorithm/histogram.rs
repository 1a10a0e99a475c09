//! Histograms: how many elements fall into each of equal bins.

use crate::array::{
    Error, Expr, GpuArray, Real, Result,
    elementwise::{counting_blocks, index},
    layout::Places,
    source::Code,
};
use crate::{
    device::{Arguments, LaunchConfig},
    kernel::{Context, GENERATED},
};

/// The algorithm.
const HISTOGRAM: &str = concat!(include_str!("bins.cuh"), include_str!("histogram.cuh"));

const BLOCK: u32 = 256;
/// Elements that a thread has on their way to it.
const UNROLL: u64 = 8;
/// Counters of a block in its shared memory: so many that all blocks of a multiprocessor still fit.
const MOST_SHARED: usize = 4096;
/// Warps of a block, each of which may have counters of its own.
const WARPS: usize = 8;

impl<T: Real> Expr<T> {
    /// How many elements lie in each of `bins` equal parts of `low` to `high` (`numpy.histogram`): in each from its
    /// lower end on and below its upper one, which belongs to the last part alone. Elements outside and NaN are not
    /// counted.
    ///
    /// The ends of the parts are those that [`GpuArray::linspace`] gives in `f64`, and elements are compared with them
    /// in `f64`.
    ///
    /// ```
    /// use warpaint::{array::GpuArray, device::Device, kernel::Context};
    ///
    /// let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[2.0f32, 5.0, 30.0, 400.0, 999.0, -1.0])?;
    /// let decades = a.log10().histogram(3, 0.0, 3.0)?; // -1 has no logarithm, and NaN is not counted
    /// assert_eq!(decades.to_vec()?, [2, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Bins`] for none, unless `low` is less than `high` and both are finite, and for bins narrower than the
    /// distance of neighbouring `f64` at the end that is farther from 0, or so narrow that their number in a unit is
    /// none; as [`Expr::eval`].
    pub fn histogram(&self, bins: usize, low: f64, high: f64) -> Result<GpuArray<u64>> {
        let width = high - low;
        let (each, farthest) = (width / bins as f64, low.abs().max(high.abs()));
        // Narrower ones would begin where they end, as numpy says, too.
        let is_told_apart = each >= farthest.next_up() - farthest;
        let has_scale = width.is_finite() && (bins as f64 / width).is_finite();
        if bins == 0 || low >= high || !has_scale || !is_told_apart {
            return Err(Error::Bins { bins, low, high });
        }
        let context = self.context()?;
        let counts = GpuArray::zeros(context, &[bins])?;
        let mut code = Code::new(&self.node)?;
        code.library = HISTOGRAM;
        code.use_on(context, "a histogram")?;
        let shape = code.shape()?;
        let places = Places::new(&shape, &code.layouts())?;
        if places.count() > 0 {
            let mut arguments = code.arguments();
            places.push_to(&mut arguments);
            arguments.push(&counts.operand().address()).push(&low).push(&high);
            count(context, &code, &places, bins, arguments)?;
        }
        Ok(counts)
    }
}

impl<T: Real> GpuArray<T> {
    /// As [`Expr::histogram`].
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[0.0f32, 0.5, 1.0, 1.5, 4.0, 5.0])?;
    /// assert_eq!(a.histogram(4, 0.0, 4.0)?.to_vec()?, [2, 2, 0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::histogram`].
    pub fn histogram(&self, bins: usize, low: f64, high: f64) -> Result<GpuArray<u64>> {
        Expr::from(self).histogram(bins, low, high)
    }
}

#[expect(unsafe_code, reason = "a kernel launch")]
fn count(
    context: &Context,
    code: &Code<'_>,
    places: &Places,
    bins: usize,
    mut arguments: Arguments,
) -> Result<()> {
    // Warps that do not share counters do not wait for each other where many elements are alike.
    let copies = (MOST_SHARED / bins).min(WARPS);
    let n = places.count();
    let facts = ("histogram", places, index(n));
    let kernel = code.compile(context, facts, || source(code, places))?;
    arguments.push(&(bins as u64)).push(&(copies as u64)).push(&n);
    let blocks = counting_blocks(context, n, u64::from(BLOCK) * UNROLL);
    let shared_bytes = (copies * bins * size_of::<u32>()) as u32;
    let config = LaunchConfig { shared_bytes, ..LaunchConfig::new(blocks, BLOCK) };
    // SAFETY: the kernel reads the elements of the layouts, which lie within their arrays' memory, and adds to `bins`
    // counters, in memory that has room for them.
    unsafe { context.stream().launch(&kernel, &config, &arguments)? };
    Ok(())
}

fn source(code: &Code<'_>, places: &Places) -> String {
    format!(
        "{definition}extern \"C\" __global__ void __launch_bounds__({BLOCK}) {GENERATED}({parameters}{places}
    unsigned long long *counts_, const double low_, const double high_, const unsigned long long bins_,
    const unsigned long long copies_, const unsigned long long n_)
{{
    extern __shared__ unsigned own_[];
    {index}
    const auto load_ = [&](const Index i) {{ {evaluate}return warpaint::convert<double>({result}); }};
    warpaint::count_in_bins<{BLOCK}, {UNROLL}>(counts_, own_, warpaint::Bins(low_, high_, bins_), copies_, first_,
        threads_, n_, load_);
}}
",
        definition = places.definition(),
        parameters = code.parameters(),
        places = places.parameter(),
        index = index(places.count()),
        evaluate = places.evaluate(code),
        result = code.result(),
    )
}
