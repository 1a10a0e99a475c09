//! What can go wrong with arrays.

use std::{io, path::PathBuf};

use crate::{
    device::{self, argument_counts},
    kernel,
};

/// `Result`, with this module's [`enum@Error`] where no other one is named: `use warpaint::array::*` leaves
/// `Result<(), Box<dyn std::error::Error>>` what it is.
///
/// ```
/// use warpaint::{array::{self, GpuArray}, device::Device, kernel::Context};
///
/// /// Each row divided by its sum.
/// fn rows_to_one(a: &GpuArray<f32>) -> array::Result<GpuArray<f32>> {
///     let sums = a.reduce().along(&[1]).keep_axes().sum().eval()?;
///     (a / &sums).eval()
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// let a = GpuArray::from_shape(&context, &[2, 2], &[1.0, 3.0, 2.0, 2.0])?;
/// assert_eq!(rows_to_one(&a)?.to_vec()?, [0.25, 0.75, 0.5, 0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on arrays cannot be done.
///
/// ```
/// use warpaint::{array::{Error, GpuArray}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let (a, b) = (GpuArray::<i32>::zeros(&context, &[2, 3])?, GpuArray::<i32>::zeros(&context, &[2])?);
/// let error = (&a + &b).eval().unwrap_err();
/// let Error::Broadcast { shapes } = error else { return Err(error.into()) };
/// assert_eq!(shapes, [&[2, 3][..], &[2]]);
/// let rows = (&a + b.expand_dims(1)?).eval()?;
/// assert_eq!(rows.shape(), [2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A kernel does not compile or cannot be launched.
    #[error(transparent)]
    Kernel(kernel::Error),
    /// The device refused.
    #[error(transparent)]
    Device(#[from] device::Error),
    /// The shapes cannot be broadcast together.
    #[error("shapes {} do not fit together", listed(.shapes))]
    Broadcast {
        /// The shapes.
        shapes: Vec<Vec<usize>>,
    },
    /// An operation needs one exact shape.
    #[error("{operation}: the shape is {found:?}, where {expected:?} is needed")]
    Shape {
        /// What was tried.
        operation: &'static str,
        /// The shape that it needs.
        expected: Vec<usize>,
        /// The shape that it was given.
        found: Vec<usize>,
    },
    /// More elements than can be counted.
    #[error("an array of shape {shape:?} has too many elements")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Another number of elements.
    #[error("an array of shape {from:?} cannot become one of shape {to:?}")]
    Reshape {
        /// Its shape.
        from: Vec<usize>,
        /// The shape asked for.
        to: Vec<usize>,
    },
    /// A shape with an unknown length, which has none that fits, or is not the only unknown one.
    #[error("no length for `_` makes an array of shape {from:?} one of shape {}", with_unknown(.to))]
    ReshapeInfer {
        /// Its shape.
        from: Vec<usize>,
        /// The shape asked for.
        to: Vec<Option<usize>>,
    },
    /// Bytes that are no whole elements of another type.
    #[error(
        "an array of `{from}` of shape {shape:?} and strides {strides:?} cannot be seen as `{to}`"
    )]
    View {
        /// Its shape.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
        /// Its type.
        from: &'static str,
        /// The type asked for.
        to: &'static str,
    },
    /// Elements that do not lie one behind the other.
    #[error("an array of shape {shape:?} and strides {strides:?} is not one piece of memory")]
    Gaps {
        /// Its shape.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
    },
    /// An array of another library that cannot be one here.
    #[error("not an array that can be used here: {problem}")]
    Interface {
        /// What is wrong with it.
        problem: String,
    },
    /// Axes that are not there, or not each once.
    #[error(
        "{axes:?} are not the axes of an array of {ndim} dimensions, counted from 0, each once"
    )]
    Axes {
        /// The axes given.
        axes: Vec<usize>,
        /// How many there are.
        ndim: usize,
    },
    /// A new axis with axes missing before it.
    #[error(
        "an array of {ndim} dimensions has no place for a new axis {axis}: that is one of 0 to {ndim}"
    )]
    NewAxis {
        /// The axis asked for.
        axis: usize,
        /// How many axes there are.
        ndim: usize,
    },
    /// An index outside its axis.
    #[error("index {index} is outside axis {axis}, which has length {length}")]
    IndexOutOfRange {
        /// The index.
        index: isize,
        /// The axis.
        axis: usize,
        /// Its length.
        length: usize,
    },
    /// More indices than axes.
    #[error("{indices} indices for an array of shape {shape:?}")]
    TooManyIndices {
        /// How many.
        indices: usize,
        /// The array's shape.
        shape: Vec<usize>,
    },
    /// Two `...` in one list of indices.
    #[error("more than one `...` in a list of indices")]
    TwoEllipses,
    /// A range of step 0.
    #[error("a range's step must not be 0")]
    ZeroStep,
    /// More whole numbers than a type of integers has.
    #[error("`{of}` has no {last}, the last of the numbers from 0 on")]
    Unrepresentable {
        /// The type.
        of: &'static str,
        /// The number that it lacks.
        last: usize,
    },
    /// Numbers at equal distances of which there are infinitely many.
    #[error("{range} is no number of elements")]
    Range {
        /// From where to where in which steps.
        range: String,
    },
    /// Bins of a histogram that there cannot be.
    #[error("there are no {bins} equal bins from {low} to {high}")]
    Bins {
        /// How many were asked for.
        bins: usize,
        /// The lower end of the first.
        low: f64,
        /// The upper end of the last.
        high: f64,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", .path.display())]
    File {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A `.npy` file that is damaged, or holds another type.
    #[error("{}: {problem}", .path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Arrays of two devices in one operation.
    #[error("{operation}: the arrays belong to different devices")]
    WrongDevice {
        /// What was tried.
        operation: &'static str,
    },
    /// Writing through a view in which one element stands for several.
    #[error("a broadcast view of shape {shape:?} cannot be written")]
    NotWritable {
        /// The view's shape.
        shape: Vec<usize>,
    },
    /// The device holds bits that are no value of the type, such as a `bool` that is neither 0 nor 1.
    #[error("the array holds bits that are no `{of}`")]
    InvalidBits {
        /// The type.
        of: &'static str,
    },
    /// A parameter list that cannot be understood.
    #[error("`{list}` is no list of kernel parameters: {problem}")]
    Parameters {
        /// The list.
        list: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// More or fewer arguments than parameters.
    #[error("`{kernel}` takes {}", argument_counts(*.expected, *.found))]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// How many parameters it has.
        expected: usize,
        /// How many arguments were given.
        found: usize,
    },
    /// An argument of another type than its parameter.
    #[error("`{kernel}`: parameter `{parameter}` is {expected}, the argument is {found}")]
    Argument {
        /// The kernel.
        kernel: String,
        /// The parameter's name.
        parameter: String,
        /// Its type.
        expected: String,
        /// The argument's type.
        found: String,
    },
    /// More than one kernel can hold.
    #[error(
        "an expression of {operations} operations is too long for one kernel: evaluate parts of it first"
    )]
    TooLong {
        /// How many.
        operations: usize,
    },
    /// Parameters that a distribution of random numbers cannot have.
    #[error("{distribution} random numbers: {problem}")]
    Distribution {
        /// The distribution.
        distribution: &'static str,
        /// What is wrong with them.
        problem: String,
    },
    /// More dimensions than there are direction numbers for, or none.
    #[error("a Sobol sequence has 1 to {most} dimensions, not {dimensions}")]
    Dimensions {
        /// How many were asked for.
        dimensions: usize,
        /// How many there can be.
        most: usize,
    },
    /// More random numbers than a generator's sequence has.
    #[error("the generator's sequence of {length} random numbers is used up")]
    Exhausted {
        /// How many it has.
        length: u64,
    },
    /// An operation that takes its shape and its device from arrays, without any.
    #[error("{operation} needs an array, from which it takes shape and device")]
    NoArrays {
        /// What was tried.
        operation: &'static str,
    },
    /// An operation that needs at least one element.
    #[error("{operation} of no elements has no value")]
    Empty {
        /// What was tried.
        operation: &'static str,
    },
}

impl From<kernel::Error> for Error {
    fn from(error: kernel::Error) -> Self {
        match error {
            kernel::Error::Device(error) => Self::Device(error),
            other => Self::Kernel(other),
        }
    }
}

fn with_unknown(shape: &[Option<usize>]) -> String {
    let lengths = shape.iter().map(|length| length.map_or("_".into(), |length| length.to_string()));
    format!("[{}]", lengths.collect::<Vec<_>>().join(", "))
}

fn listed(shapes: &[Vec<usize>]) -> String {
    let shapes: Vec<String> = shapes.iter().map(|shape| format!("{shape:?}")).collect();
    shapes.join(" and ")
}
