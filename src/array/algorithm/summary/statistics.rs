//! Statistics of a component of an array.

/// Statistics of one component of an array; NaN and infinite values are counted and otherwise left out.
///
/// ```
/// use warpaint::array::Statistics;
///
/// let of_nothing = Statistics::of_all(&[]);
/// assert_eq!((of_nothing.count, of_nothing.sum), (0, 0.0));
/// assert_eq!((of_nothing.min, of_nothing.max), (f64::INFINITY, f64::NEG_INFINITY));
/// assert!(of_nothing.mean.is_nan());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Statistics {
    /// Values looked at.
    pub count: u64,
    /// Least finite value; infinity when there is none.
    pub min: f64,
    /// Greatest finite value; minus infinity when there is none.
    pub max: f64,
    /// Sum of the finite values.
    pub sum: f64,
    /// Mean of the finite values; NaN when there is none.
    pub mean: f64,
    /// Standard deviation of the finite values, all of them being there are; NaN when there is none.
    pub std: f64,
    /// How many are NaN.
    pub nan: u64,
    /// How many are infinite.
    pub inf: u64,
}

impl Statistics {
    /// Those of all values of `parts` together; of nothing where there are none.
    ///
    /// ```
    /// # use warpaint::array::Statistics;
    /// let of = |count, min, max, mean, std| {
    ///     Statistics { count, min, max, mean, std, sum: mean * count as f64, nan: 0, inf: 0 }
    /// };
    /// let all = Statistics::of_all(&[of(2, 1.0, 3.0, 2.0, 1.0), of(2, 5.0, 7.0, 6.0, 1.0)]); // of 1, 3, 5, 7
    /// assert_eq!(all, of(4, 1.0, 7.0, 4.0, 5f64.sqrt()));
    /// ```
    pub fn of_all(parts: &[Self]) -> Self {
        let total = |of: fn(&Self) -> u64| parts.iter().map(of).sum::<u64>();
        let (count, nan, inf) = (total(|s| s.count), total(|s| s.nan), total(|s| s.inf));
        let finite = (count - nan - inf) as f64;
        let sum = parts.iter().map(|s| s.sum).sum::<f64>();
        let mean = sum / finite;
        // The squares about the common mean: those within each part, and those of the parts' means.
        let squares = parts.iter().filter(|s| s.finite() > 0);
        let squares =
            squares.map(|s| s.finite() as f64 * (s.std.powi(2) + (s.mean - mean).powi(2)));
        Self {
            count,
            min: parts.iter().map(|s| s.min).fold(f64::INFINITY, f64::min),
            max: parts.iter().map(|s| s.max).fold(f64::NEG_INFINITY, f64::max),
            sum,
            mean,
            std: (squares.sum::<f64>() / finite).sqrt(),
            nan,
            inf,
        }
    }

    /// How many are neither NaN nor infinite.
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, Summary}, device::Device, element::{Element, Scalar}, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let float = Element::scalar(Scalar::F32);
    /// # let summary = Summary::new(context.compiler(), context.device(), context.target(), [float])?;
    /// let a = GpuArray::from_slice(&context, &[1.0, f32::NAN, f32::INFINITY, 3.0])?;
    /// let of = summary.enqueue(context.stream(), a.memory()?, float)?.wait()?[0];
    /// assert_eq!((of.count, of.finite(), of.mean), (4, 2, 2.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finite(&self) -> u64 {
        self.count - self.nan - self.inf
    }
}

/// `warpaint::summary::Partial` of `summary.cuh`.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(in crate::array) struct Partial {
    least: f64,
    greatest: f64,
    sum: f64,
    shift: f64,
    distances: f64,
    squares: f64,
    count: u64,
    nan: u64,
    inf: u64,
}

impl From<Partial> for Statistics {
    fn from(p: Partial) -> Self {
        let finite = (p.count - p.nan - p.inf) as f64;
        let distance = p.distances / finite;
        // As numpy has it. The sum of values at the ends of the range overflows, that of their distances may not.
        let mean = if p.sum.is_finite() { p.sum / finite } else { p.shift + distance };
        let variance = p.squares / finite - distance.powi(2);
        Self {
            count: p.count,
            min: p.least,
            max: p.greatest,
            sum: p.sum,
            mean,
            // Rounding may take what is hardly above 0 below it; NaN, of no values, stays.
            std: if variance < 0.0 { 0.0 } else { variance.sqrt() },
            nan: p.nan,
            inf: p.inf,
        }
    }
}
