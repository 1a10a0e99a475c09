//! Expressions over arrays: written like arithmetic, evaluated as one kernel.
//!
//! `&a * 2.0 + &b` computes nothing; it says what to compute. [`Expr::eval`] turns all of it into one kernel that
//! reads each array once, and gives a new array; [`GpuArray::assign`] writes into one that is there.

use std::{collections::HashMap, marker::PhantomData, ops, sync::Arc};

use super::{
    Bits, DType, Data, Error, Float, GpuArray, Layout, Number, Promote, Real, Result, elementwise,
    layout,
};
use crate::{device::Block, kernel::Context};

/// Something to be computed for each element. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Expr<T> {
    pub(super) node: Arc<Node>,
    of: PhantomData<T>,
}

/// What an expression is made of.
#[derive(Debug)]
pub(super) enum Node {
    Array(Operand),
    /// A value that is given to the kernel as an argument, so that another one needs no other kernel.
    Scalar {
        dtype: DType,
        bytes: Box<[u8]>,
    },
    /// CUDA C++ with `$0`, `$1`, ... for the arguments.
    Apply {
        dtype: DType,
        code: &'static str,
        arguments: Vec<Arc<Node>>,
    },
}

/// An array in an expression.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) context: Context,
    pub(super) memory: Arc<Block>,
    pub(super) layout: Layout,
    pub(super) dtype: DType,
}

impl Operand {
    /// Where its first element is.
    pub(super) fn address(&self) -> u64 {
        self.memory.address() + (self.layout.offset() * self.dtype.bytes) as u64
    }
}

impl Node {
    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Array(operand) => operand.dtype,
            Self::Scalar { dtype, .. } | Self::Apply { dtype, .. } => *dtype,
        }
    }

    fn arguments(&self) -> &[Arc<Self>] {
        match self {
            Self::Apply { arguments, .. } => arguments,
            _ => &[],
        }
    }
}

/// Long chains must not be dropped by recursion, which would run out of stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut left = match self {
            Self::Apply { arguments, .. } => std::mem::take(arguments),
            _ => return,
        };
        while let Some(node) = left.pop() {
            if let Some(Self::Apply { arguments, .. }) = Arc::into_inner(node).as_mut() {
                left.append(arguments);
            }
        }
    }
}

/// The nodes that `root` needs, each once and behind its arguments.
pub(super) fn in_order(root: &Arc<Node>) -> Vec<&Arc<Node>> {
    let mut done: HashMap<*const Node, ()> = HashMap::new();
    let mut order = Vec::new();
    let mut stack = vec![(root, false)];
    while let Some((node, ready)) = stack.pop() {
        if done.contains_key(&Arc::as_ptr(node)) {
            continue;
        }
        if ready {
            done.insert(Arc::as_ptr(node), ());
            order.push(node);
        } else {
            stack.push((node, true));
            stack.extend(node.arguments().iter().rev().map(|argument| (argument, false)));
        }
    }
    order
}

impl<T: Data> Expr<T> {
    pub(super) fn array(operand: Operand) -> Self {
        Self { node: Arc::new(Node::Array(operand)), of: PhantomData }
    }

    /// The same value everywhere.
    pub fn scalar(value: T) -> Self {
        let bytes = bytemuck::bytes_of(&value).into();
        Self { node: Arc::new(Node::Scalar { dtype: T::DTYPE, bytes }), of: PhantomData }
    }

    fn apply(code: &'static str, arguments: Vec<Arc<Node>>) -> Self {
        let node = Node::Apply { dtype: T::DTYPE, code, arguments };
        Self { node: Arc::new(node), of: PhantomData }
    }

    /// The place of each element in C order, from 0.
    pub(super) fn linear_index() -> Self {
        Self::apply("static_cast<$T>(i)", Vec::new())
    }

    fn unary<O: Data>(&self, code: &'static str) -> Expr<O> {
        Expr::apply(code, vec![self.node.clone()])
    }

    fn binary<O: Data>(&self, code: &'static str, other: Arc<Node>) -> Expr<O> {
        Expr::apply(code, vec![self.node.clone(), other])
    }

    /// The arrays in it.
    fn operands(&self) -> impl Iterator<Item = &Operand> {
        in_order(&self.node).into_iter().filter_map(|node| match &**node {
            Node::Array(operand) => Some(operand),
            _ => None,
        })
    }

    /// The shape that it will have: that of its arrays, broadcast together.
    ///
    /// # Errors
    /// [`Error::Broadcast`].
    pub fn shape(&self) -> Result<Vec<usize>> {
        let operands: Vec<_> = self.operands().collect();
        layout::broadcast(operands.iter().map(|operand| operand.layout.shape()))
    }

    /// Computes it into a new array, on the stream of its first array.
    ///
    /// # Errors
    /// [`Error::Broadcast`], [`Error::WrongDevice`], [`Error::Empty`] for an expression without any array, the
    /// device's.
    pub fn eval(&self) -> Result<GpuArray<T>> {
        let context = self.context()?;
        let mut out = GpuArray::empty(&context, &self.shape()?)?;
        self.eval_into(&mut out)?;
        Ok(out)
    }

    /// Computes it into `out`, whose shape it must have or broadcast to, on the stream of `out`. Where `out` shares
    /// memory with an array of the expression, the result is as if everything was read first.
    ///
    /// # Errors
    /// As [`Expr::eval`], and [`Error::NotWritable`] for a broadcast view.
    pub fn eval_into(&self, out: &mut GpuArray<T>) -> Result<()> {
        elementwise::evaluate(&self.node, out.operand())
    }

    /// The context of the first array.
    pub(super) fn context(&self) -> Result<Context> {
        let first = self.operands().next().ok_or(Error::Empty { operation: "an expression" })?;
        Ok(first.context.clone())
    }

    /// Each element as another type, converted as C++ does; floating-point to integer cuts off the fraction.
    pub fn cast<U: Data>(&self) -> Expr<U> {
        self.unary("static_cast<$T>($0)")
    }

    /// This where `condition` holds, `otherwise` elsewhere (`numpy.where`).
    pub fn select(
        condition: impl Into<Expr<bool>>,
        then: impl Into<Self>,
        otherwise: impl Into<Self>,
    ) -> Self {
        let arguments = vec![condition.into().node, then.into().node, otherwise.into().node];
        Self::apply("$0 ? $1 : $2", arguments)
    }
}

impl<T: Data> From<&GpuArray<T>> for Expr<T> {
    fn from(array: &GpuArray<T>) -> Self {
        Self::array(array.operand())
    }
}

impl<T: Data> From<&Expr<T>> for Expr<T> {
    fn from(expr: &Expr<T>) -> Self {
        expr.clone()
    }
}

impl<T: Data> From<T> for Expr<T> {
    fn from(value: T) -> Self {
        Self::scalar(value)
    }
}

/// Operators between arrays and expressions of any two types ([`Promote`]), and between them and scalars: these
/// have the type of the array beside them, so that `&a * 2.0` stays what `a` is.
macro_rules! arithmetic {
    ($($trait:ident, $method:ident, $code:literal;)*) => {$(
        arithmetic!(@left $trait, $method, $code; Expr<A>, &Expr<A>, &GpuArray<A>);
        arithmetic!(@scalar $trait, $method, $code;
            i8, u8, i16, u16, i32, u32, i64, u64, half::f16, half::bf16, f32, f64);
    )*};
    (@left $trait:ident, $method:ident, $code:literal; $($left:ty),*) => {$(
        arithmetic!(@right $trait, $method, $code, $left; Expr<B>, &Expr<B>, &GpuArray<B>);
    )*};
    (@right $trait:ident, $method:ident, $code:literal, $left:ty; $($right:ty),*) => {$(
        impl<A: Promote<B>, B: Data> ops::$trait<$right> for $left {
            type Output = Expr<A::Output>;
            fn $method(self, right: $right) -> Self::Output {
                let (left, right) = (Expr::<A>::from(self), Expr::<B>::from(right));
                left.cast::<A::Output>().binary($code, right.cast::<A::Output>().node)
            }
        }
    )*};
    (@scalar $trait:ident, $method:ident, $code:literal; $($scalar:ty),*) => {$(
        arithmetic!(@pair $trait, $method, $code, $scalar;
            Expr<$scalar>, &Expr<$scalar>, &GpuArray<$scalar>);
    )*};
    (@pair $trait:ident, $method:ident, $code:literal, $scalar:ty; $($array:ty),*) => {$(
        impl ops::$trait<$scalar> for $array {
            type Output = Expr<$scalar>;
            fn $method(self, right: $scalar) -> Self::Output {
                Expr::from(self).binary($code, Expr::scalar(right).node)
            }
        }
        impl ops::$trait<$array> for $scalar {
            type Output = Expr<$scalar>;
            fn $method(self, right: $array) -> Self::Output {
                Expr::scalar(self).binary($code, Expr::from(right).node)
            }
        }
    )*};
}

arithmetic! {
    Add, add, "$0 + $1";
    Sub, sub, "$0 - $1";
    Mul, mul, "$0 * $1";
    Div, div, "warpaint::divide($0, $1)";
    Rem, rem, "warpaint::remainder($0, $1)";
}

macro_rules! unary_operators {
    ($($trait:ident, $method:ident, $bound:ident, $code:literal: $($left:ty),*;)*) => {$($(
        impl<A: $bound> ops::$trait for $left {
            type Output = Expr<A>;
            fn $method(self) -> Expr<A> {
                Expr::from(self).unary($code)
            }
        }
    )*)*};
}

unary_operators! {
    Neg, neg, Number, "static_cast<$T>(-$0)": Expr<A>, &Expr<A>, &GpuArray<A>;
    Not, not, Bits, "warpaint::complement($0)": Expr<A>, &Expr<A>, &GpuArray<A>;
}

macro_rules! bit_operators {
    ($($trait:ident, $method:ident, $code:literal: $($left:ty),*;)*) => {$($(
        impl<A: Bits, R: Into<Expr<A>>> ops::$trait<R> for $left {
            type Output = Expr<A>;
            fn $method(self, right: R) -> Expr<A> {
                Expr::from(self).binary($code, right.into().node)
            }
        }
    )*)*};
}

bit_operators! {
    BitAnd, bitand, "static_cast<$T>($0 & $1)": Expr<A>, &Expr<A>, &GpuArray<A>;
    BitOr, bitor, "static_cast<$T>($0 | $1)": Expr<A>, &Expr<A>, &GpuArray<A>;
    BitXor, bitxor, "static_cast<$T>($0 ^ $1)": Expr<A>, &Expr<A>, &GpuArray<A>;
}

/// Methods that arrays and expressions have alike.
macro_rules! functions {
    ($($bound:ident { $($(#[$doc:meta])* $name:ident($($argument:ident),*) -> $output:ty = $code:literal;)* })*) => {$(
        impl<T: $bound> Expr<T> {$(
            $(#[$doc])*
            pub fn $name(&self $(, $argument: impl Into<Self>)*) -> Expr<$output> {
                Expr::apply($code, vec![self.node.clone() $(, $argument.into().node)*])
            }
        )*}

        impl<T: $bound> GpuArray<T> {$(
            $(#[$doc])*
            pub fn $name(&self $(, $argument: impl Into<Expr<T>>)*) -> Expr<$output> {
                Expr::from(self).$name($($argument),*)
            }
        )*}
    )*};
}

functions! {
    Number {
        /// Whether it equals `other`.
        eq(other) -> bool = "$0 == $1";
        /// Whether it differs from `other`.
        ne(other) -> bool = "$0 != $1";
        /// To the power of `exponent`; of integers by multiplication, where a negative exponent gives what
        /// C's division by the power would: 0, 1 or -1.
        pow(exponent) -> T = "warpaint::power($0, $1)";
    }
    Real {
        /// Whether it is less than `other`.
        lt(other) -> bool = "$0 < $1";
        /// Whether it is at most `other`.
        le(other) -> bool = "$0 <= $1";
        /// Whether it is greater than `other`.
        gt(other) -> bool = "$0 > $1";
        /// Whether it is at least `other`.
        ge(other) -> bool = "$0 >= $1";
        /// The greater of both; NaN where one is NaN (`numpy.maximum`).
        maximum(other) -> T = "warpaint::maximum($0, $1)";
        /// The lesser of both; NaN where one is NaN (`numpy.minimum`).
        minimum(other) -> T = "warpaint::minimum($0, $1)";
        /// Its absolute value; of the least integer, itself.
        abs() -> T = "warpaint::absolute($0)";
    }
    Float {
        /// Square root.
        sqrt() -> T = "warpaint::sqrt($0)";
        /// Natural exponential.
        exp() -> T = "warpaint::exp($0)";
        /// Natural logarithm.
        log() -> T = "warpaint::log($0)";
        /// Sine.
        sin() -> T = "warpaint::sin($0)";
        /// Cosine.
        cos() -> T = "warpaint::cos($0)";
    }
}
