//! Expressions over arrays: written like arithmetic, evaluated as one kernel.
//!
//! Enters: arrays, numbers, and the operators between them. Leaves: an array, computed by one kernel. Must not know:
//! `compile`, `array::random`, `array::exchange`, `array::user_kernel`.
//!
//! `&a * 2.0 + &b` computes nothing; it says what to compute. [`Expr::eval`] turns all of it into one kernel that
//! reads each array once, and gives a new array; [`GpuArray::assign`] writes into one that is there.

mod assign;
pub(in crate::array) mod elementwise;
pub(in crate::array) mod functions;
pub(in crate::array) mod operators;
pub(in crate::array) mod scalar;

use std::{marker::PhantomData, sync::Arc};

use smallvec::smallvec;

use super::{
    DType, Data, Error, GpuArray, Result, Scalar,
    layout::{self, Arrays},
    node::{Constant, Node, Nodes, Operand, Order},
    source::Code,
};
use crate::kernel::Context;

/// Something to be computed for each element. Cheap to clone.
///
/// Operators and functions are numpy's, and so are the types of their results: `i32` with `f32` gives `f64`
/// ([`Promote`](super::Promote)), and a scalar takes the type of the array beside it ([`Beside`](super::Beside)).
/// Integers wrap around, and divided by 0 they are 0.
///
/// ```
/// use warpaint::{array::{Complex, Expr, GpuArray}, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let x = GpuArray::<f32>::linspace(&context, -1.0, 1.0, 5, true)?;
/// let wave = (x.abs().sqrt() * (&x * 2.0).sin()).eval()?;
/// assert_eq!(wave.to_vec()?[2], 0.0);
/// let inside = Expr::select(x.lt(0.0), -1.0, &x).eval()?;
/// assert_eq!(inside.to_vec()?, [-1.0, -1.0, 0.0, 0.5, 1.0]);
/// let roots = (&x * Complex::new(1.0, 0.0)).sqrt().eval()?;
/// assert_eq!(roots.to_vec()?[0], Complex::new(0.0, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors of functions
/// Functions state by how much they may differ from the correctly rounded value, in units in the last place (ulp) of
/// `f32` and of `f64`: "2 ulp, 1 ulp". These bounds are those of NVIDIA's CUDA C++ Programming Guide, "Mathematical
/// Functions", and hold on the CPU device, too. Where none is stated, results are correctly rounded. `f16` and `bf16`
/// are computed in `f32` and rounded once more. Complex results are within a few ulp of the larger part, with the
/// branch cuts of C99 and numpy.
#[derive(Clone, Debug)]
pub struct Expr<T> {
    pub(super) node: Arc<Node>,
    of: PhantomData<T>,
}

impl<T: Data> Expr<T> {
    pub(super) fn array(operand: Operand) -> Self {
        Self { node: Arc::new(Node::Array(operand)), of: PhantomData }
    }

    /// The same value everywhere. It takes the type of what stands beside it ([`Scalar`]).
    ///
    /// ```
    /// # use warpaint::{array::{Error, Expr, GpuArray}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let x = GpuArray::from_slice(&context, &[0.0f32, 1.0, 3.0])?;
    /// assert_eq!(Expr::scalar(2.0).pow(&x).to_vec()?, [1.0f32, 2.0, 8.0]);
    /// assert!(matches!(Expr::scalar(2.0).eval(), Err(Error::NoArrays { .. }))); // it has no shape
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scalar(value: T) -> Scalar<T> {
        Scalar::new(value)
    }

    /// The same value everywhere, of this type.
    pub(super) fn constant(value: T) -> Self {
        Self { node: Arc::new(Node::Scalar(Constant::new(value))), of: PhantomData }
    }

    pub(super) fn apply(code: &'static str, arguments: Nodes) -> Self {
        let node = Node::Apply { dtype: T::DTYPE, code, arguments };
        Self { node: Arc::new(node), of: PhantomData }
    }

    /// The place of each element in C order, from 0.
    pub(super) fn linear_index() -> Self {
        Self::apply("static_cast<$T>(i)", Nodes::new())
    }

    /// Whether it is one number for all elements.
    pub(super) fn is_constant(&self) -> bool {
        matches!(*self.node, Node::Scalar(_))
    }

    pub(super) fn unary<O: Data>(&self, code: &'static str) -> Expr<O> {
        Expr::apply(code, smallvec![self.node.clone()])
    }

    pub(super) fn binary<O: Data>(&self, code: &'static str, other: Arc<Node>) -> Expr<O> {
        Expr::apply(code, smallvec![self.node.clone(), other])
    }

    /// The same where the code's value has a type that no Rust type stands for.
    pub(super) fn binary_as(&self, dtype: DType, code: &'static str, other: Arc<Node>) -> Self {
        let node = Node::Apply { dtype, code, arguments: smallvec![self.node.clone(), other] };
        Self { node: Arc::new(node), of: PhantomData }
    }

    /// The elements of `source` with the numbers `at`, of which each must be one of its elements'.
    pub(super) fn gather(source: Operand, at: &Expr<i64>) -> Self {
        let node = Node::Gather { source, arguments: smallvec![at.node.clone()] };
        Self { node: Arc::new(node), of: PhantomData }
    }

    /// The arrays in it that give it its shape: all but those of which elements are gathered.
    pub(super) fn operands(&self) -> impl Iterator<Item = &Operand> {
        Order::of(&self.node).nodes.into_iter().filter_map(|node| match &**node {
            Node::Array(operand) => Some(operand),
            _ => None,
        })
    }

    /// The shape that it will have: that of its arrays, broadcast together.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let line = GpuArray::<f32>::zeros(&context, &[1000])?;
    /// let distances = line.expand_dims(1)? - &line;
    /// assert_eq!(distances.shape()?, [1000, 1000]); // of which nothing is computed yet
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    pub fn shape(&self) -> Result<Vec<usize>> {
        let operands: Arrays<_> = self.operands().collect();
        layout::broadcast(operands.iter().map(|operand| operand.layout.shape()))
    }

    /// Computes it into a new array, on the stream of its first array.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut a = GpuArray::from_slice(&context, &[1, 2])?;
    /// let next = &a + 1;
    /// a.fill(10)?;
    /// assert_eq!(next.eval()?.to_vec()?, [11, 11]); // of what `a` holds now
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Broadcast`], [`Error::WrongDevice`], [`Error::NoArrays`], the
    /// device's.
    pub fn eval(&self) -> Result<GpuArray<T>> {
        let mut code = Code::new(&self.node)?;
        let out = GpuArray::empty(code.context()?, &code.shape()?)?;
        elementwise::compute(&mut code, &out.operand())?;
        Ok(out)
    }

    /// Its elements in C order, as [`GpuArray::to_vec`] of what [`Expr::eval`] makes.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[1, 2, 3])?;
    /// assert_eq!((&a * &a).to_vec()?, [1, 4, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::eval`], and the device's for what has gone wrong before.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.eval()?.to_vec()
    }

    /// Its only element, as [`GpuArray::item`] of what [`Expr::eval`] makes.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[3.0f64, 4.0])?;
    /// assert_eq!((&a * &a).sum()?.sqrt().item()?, 5.0);
    /// assert!((&a * &a).item().is_err()); // two
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for fewer elements or more; as [`Expr::to_vec`].
    pub fn item(&self) -> Result<T> {
        self.eval()?.item()
    }

    /// Computes it into `out`, whose shape it must have or broadcast to, on the stream of `out`. Where `out` shares
    /// memory with an array of the expression, the result is as if everything was read first.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut a = GpuArray::from_slice(&context, &[1, 2, 3, 4, 5])?;
    /// let (left, right) = (a.slice(&index![..-2])?, a.slice(&index![2..])?);
    /// (left + right).eval_into(&mut a.slice(&index![1..-1])?)?; // overwrites what it reads: as if read first
    /// assert_eq!(a.to_vec()?, [1, 4, 6, 8, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Expr::eval`], and [`Error::NotWritable`] for a broadcast view.
    pub fn eval_into(&self, out: &mut GpuArray<T>) -> Result<()> {
        elementwise::compute(&mut Code::new(&self.node)?, &out.operand())
    }

    /// It; or, where it has no array to take shape and device from, its value as an array without axes.
    pub(super) fn on_device(self, context: &Context) -> Result<Self> {
        if self.operands().next().is_some() {
            return Ok(self);
        }
        let mut value = GpuArray::empty(context, &[])?;
        self.eval_into(&mut value)?;
        Ok(Self::from(&value))
    }

    /// The context of the first array.
    pub(super) fn context(&self) -> Result<&Context> {
        let first = self.operands().next().ok_or(Error::NoArrays { operation: "an expression" })?;
        Ok(&first.context)
    }

    /// Each element as another type, converted on every device as by Rust's `as`: floating-point to integer cuts off
    /// the fraction, what is out of range becomes the nearest integer of the type, and NaN 0; integers keep their lower
    /// bits. What is not 0, NaN included, is `true`. Complex to real leaves the real part, as in C; one value becomes
    /// all components of a vector.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::from_slice(&context, &[7, -7])?;
    /// assert_eq!((&a / 2).cast::<f32>().eval()?.to_vec()?, [3.0, -3.0]); // divided as integers
    /// assert_eq!((a.cast::<f32>() / 2.0).eval()?.to_vec()?, [3.5, -3.5]);
    /// let far = GpuArray::from_slice(&context, &[300.7f32, -1.0, f32::INFINITY, f32::NAN])?;
    /// assert_eq!(far.cast::<u8>().to_vec()?, [255, 0, 255, 0]);
    /// assert_eq!(far.cast::<i32>().to_vec()?, [300, -1, i32::MAX, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast<U: Data>(&self) -> Expr<U> {
        if T::DTYPE == U::DTYPE {
            return Expr { node: self.node.clone(), of: PhantomData };
        }
        self.unary("warpaint::convert<$T>($0)")
    }

    /// This where `condition` holds, `otherwise` elsewhere (`numpy.where`).
    ///
    /// ```
    /// # use warpaint::{array::{Expr, GpuArray}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let x = GpuArray::from_slice(&context, &[1.0f32, 0.0, -4.0])?;
    /// let safe = Expr::select(x.gt(0.0), x.log(), 0.0); // no NaN of what is not chosen
    /// assert_eq!(safe.eval()?.to_vec()?, [0.0, 0.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn select(
        condition: impl Into<Expr<bool>>,
        then: impl Into<Self>,
        otherwise: impl Into<Self>,
    ) -> Self {
        let arguments = smallvec![condition.into().node, then.into().node, otherwise.into().node];
        Self::apply("$0 ? $1 : $2", arguments)
    }
}

impl<T: Data> From<&GpuArray<T>> for Expr<T> {
    fn from(array: &GpuArray<T>) -> Self {
        Self::array(array.operand())
    }
}

impl<T: Data> From<GpuArray<T>> for Expr<T> {
    fn from(array: GpuArray<T>) -> Self {
        Self::from(&array)
    }
}

impl<T: Data> From<&Expr<T>> for Expr<T> {
    fn from(expr: &Expr<T>) -> Self {
        expr.clone()
    }
}

impl<T: Data> From<T> for Expr<T> {
    fn from(value: T) -> Self {
        Self::constant(value)
    }
}
