//! Scans of expressions: running sums and the like, over all elements or along an axis.
//!
//! One pass over memory ([`Sweep`]). A scan along an axis, or of segments, is a scan with another operator, one that
//! begins anew at heads; along an axis whose elements lie apart, columns are scanned side by side ([`Columns`]).

use std::{borrow::Cow, sync::Arc};

use smallvec::smallvec;

use crate::array::{
    Additive, DType, Data, Error, Expr, GpuArray, Layout, Number, Real, Result,
    bound::Declaration,
    columns::{self, Columns},
    elementwise::{index_type, overlap, through_another},
    example::{example, example_of_rows},
    layout::Places,
    layout::{Arrays, Axes},
    node::{Node, Operand},
    source::{Code, user_code},
    sweep::{Steps, Sweep},
};

/// What a scan does with values: a type that they are collected in, and CUDA C++ for its steps.
#[derive(Clone, Debug, Hash)]
pub(in crate::array) struct Scan {
    /// What values are collected in.
    pub(in crate::array) accumulator: DType,
    /// From a value `x`, with its place `i` (along the axis, where there is one), to an accumulator.
    pub(in crate::array) map: Cow<'static, str>,
    /// From two accumulators `a` and `b` to one; associative.
    pub(in crate::array) combine: Cow<'static, str>,
    /// The accumulator of no values, which makes the scan exclusive.
    pub(in crate::array) neutral: Option<String>,
    /// What stands before all this.
    pub(in crate::array) preamble: String,
}

/// Where a scan begins anew.
#[derive(Clone, Copy)]
pub(in crate::array) enum Segments<'a> {
    /// Nowhere.
    One,
    /// With each row along this axis.
    Along(usize),
    /// Where an expression is true.
    Heads(&'a Arc<Node>),
}

impl Scan {
    fn inclusive(accumulator: DType, combine: &'static str) -> Self {
        let (map, combine) = ("static_cast<Value>(x)".into(), combine.into());
        Self { accumulator, map, combine, neutral: None, preamble: String::new() }
    }
}

/// The scans of numpy, of expressions and of arrays. Behind the name of each stands its example: four values in two
/// rows, what becomes of them all, and what down the columns.
macro_rules! scans {
    ($($bound:ident { $(
        $(#[$doc:meta])* $all:ident [$($values:tt)*] => $result:expr;
        $(#[$doc_along:meta])* $along:ident => $columns:expr;
        = $accumulator:ident, $combine:literal;
    )* })*) => {$(
        impl<T: $bound> Expr<T> {$(
            $(#[$doc])*
            ///
            #[doc = example_of_rows!(
                Expr, [$($values)*], stringify!($all), (), "?.to_vec()?" => $result
            )]
            ///
            /// # Errors
            /// As [`Expr::eval`].
            pub fn $all(&self) -> Result<GpuArray<T>> {
                self.scan_all(&Scan::inclusive(T::$accumulator, $combine))
            }

            $(#[$doc_along])*
            ///
            #[doc = example_of_rows!(
                Expr, [$($values)*], stringify!($along), ("0"), "?.to_vec()?" => $columns
            )]
            ///
            /// # Errors
            /// [`Error::Axes`]; as [`Expr::eval`].
            pub fn $along(&self, axis: usize) -> Result<GpuArray<T>> {
                self.scan_along(axis, &Scan::inclusive(T::$accumulator, $combine))
            }
        )*}

        impl<T: $bound> GpuArray<T> {$(
            #[doc = concat!("As [`Expr::", stringify!($all), "`].")]
            ///
            #[doc = example_of_rows!(
                GpuArray, [$($values)*], stringify!($all), (), "?.to_vec()?" => $result
            )]
            ///
            /// # Errors
            /// As [`Expr::eval`].
            pub fn $all(&self) -> Result<GpuArray<T>> {
                Expr::from(self).$all()
            }

            #[doc = concat!("As [`Expr::", stringify!($along), "`].")]
            ///
            #[doc = example_of_rows!(
                GpuArray, [$($values)*], stringify!($along), ("0"), "?.to_vec()?" => $columns
            )]
            ///
            /// # Errors
            /// [`Error::Axes`]; as [`Expr::eval`].
            pub fn $along(&self, axis: usize) -> Result<GpuArray<T>> {
                Expr::from(self).$along(axis)
            }
        )*}
    )*};
}

scans! {
    Additive {
        /// The running sums over all elements in C order, with one axis (`numpy.cumsum`).
        ///
        /// Integers wrap around. Floating-point sums are rounded in an order that depends on the number of elements
        /// and the kind of device alone, so they have the same bits each time. Half precision is collected in `f32`.
        /// The error of a sum is at most `k * u * s`, where `u` is the unit roundoff of the type that sums are
        /// collected in (2^-24 of `f32`), `s` the sum of the absolute values, and `k` the most additions that a value
        /// goes through: `64 + n / 2^20` on a GPU, 220 more on the CPU device.
        cumsum [1, 2, 3, 4] => [1, 3, 6, 10];
        /// The running sums along `axis`; the shape stays. As [`Expr::cumsum`], where of `n` elements along the axis
        /// a value goes through at most `64 + n / 2^9` additions on a GPU, and 2,048 more on the CPU device.
        cumsum_along => [1, 2, 4, 6];
        = RUNNING, "warpaint::add(a, b)";
    }
    Number {
        /// The running products over all elements in C order, with one axis (`numpy.cumprod`). As [`Expr::cumsum`].
        cumprod [1, 2, 3, 4] => [1, 2, 6, 24];
        /// The running products along `axis`; the shape stays.
        cumprod_along => [1, 2, 3, 8];
        = RUNNING, "a * b";
    }
    Real {
        /// The greatest element so far, of all in C order, with one axis; NaN from the first NaN on
        /// (`numpy.maximum.accumulate`).
        cummax [3, 1, 2, 5] => [3, 3, 3, 5];
        /// The greatest element so far along `axis`; the shape stays.
        cummax_along => [3, 1, 3, 5];
        = DTYPE, "warpaint::maximum(a, b)";
        /// The least element so far, of all in C order, with one axis; NaN from the first NaN on
        /// (`numpy.minimum.accumulate`).
        cummin [3, 1, 2, 5] => [3, 1, 1, 1];
        /// The least element so far along `axis`; the shape stays.
        cummin_along => [3, 1, 2, 1];
        = DTYPE, "warpaint::minimum(a, b)";
    }
}

impl<T: Data> Expr<T> {
    fn scan_all<O: Data>(&self, scan: &Scan) -> Result<GpuArray<O>> {
        let count = Layout::contiguous(&self.shape()?)?.count();
        let out = GpuArray::empty(self.context()?, &[count])?;
        scan.run(&self.node, Segments::One, out.operand())?;
        Ok(out)
    }

    fn scan_along<O: Data>(&self, axis: usize, scan: &Scan) -> Result<GpuArray<O>> {
        let out = GpuArray::empty(self.context()?, &self.shape()?)?;
        scan.run(&self.node, Segments::Along(axis), out.operand())?;
        Ok(out)
    }
}

impl Scan {
    /// Scans `root` into `out`, which has its shape, or one axis and as many elements.
    pub(in crate::array) fn run(
        &self,
        root: &Arc<Node>,
        segments: Segments<'_>,
        mut out: Operand,
    ) -> Result<()> {
        let (mut code, heads) = self.code(root, segments, out.dtype)?;
        code.use_on(&out.context, "a scan")?;
        code.write_on(&out.context, &out)?;
        let shape = code.shape()?;
        out.layout = fit(&out.layout, &shape)?.into();
        if overlap(&code, &out) {
            let run = |between: Operand| self.run_apart((code, heads), &shape, segments, &between);
            return through_another(&out, run);
        }
        self.run_apart((code, heads), &shape, segments, &out)
    }

    /// The same into `out`, which has this shape and shares no memory with what is read but element for element.
    fn run_apart(
        &self,
        (code, heads): (Code<'_>, Option<usize>),
        shape: &[usize],
        segments: Segments<'_>,
        out: &Operand,
    ) -> Result<()> {
        let order = order(segments, shape.len())?;
        if let Some(columns) = self.columns(&code, out, shape, segments)? {
            return columns.run(code, out, self, || columns::Steps {
                definitions: self.definitions(out.dtype),
                load: "map_(x_, row)",
                store: self.value("row == 0", ""),
            });
        }
        let places = Places::along(order.iter().copied(), shape, &layouts(&code, out))?;
        let total = match segments {
            Segments::One => DType { name: "Value", ..self.accumulator },
            _ => segmented(self.accumulator),
        };
        let length = order.last().map_or(1, |&axis| shape[axis]);
        let reciprocal = (u64::MAX / length.max(1) as u64).wrapping_add(1);
        let parameters = smallvec![
            (Declaration::pointer("Result", "out_", false), out.address()),
            (Declaration::number("length_"), length as u64),
            (Declaration::number("reciprocal_"), reciprocal),
        ];
        let facts = (self, std::mem::discriminant(&segments), heads, out.dtype.name);
        Sweep { code, places, total, parameters }.run(&out.context, facts, |code, places| {
            self.steps(segments, heads.map(|heads| code.name(heads)), out.dtype, code, places)
        })
    }

    /// What the kernel reads, with the number of the heads' value where it has one.
    fn code<'a>(
        &'a self,
        root: &'a Arc<Node>,
        segments: Segments<'a>,
        out: DType,
    ) -> Result<(Code<'a>, Option<usize>)> {
        let mut code = Code::new(root)?;
        let heads = match segments {
            Segments::Heads(heads) => Some(code.include(heads)?),
            _ => None,
        };
        code.user_preamble = &self.preamble;
        code.define(self.accumulator);
        code.define(out);
        Ok((code, heads))
    }

    /// The columns, where they are to be scanned side by side.
    fn columns(
        &self,
        code: &Code<'_>,
        out: &Operand,
        shape: &[usize],
        segments: Segments<'_>,
    ) -> Result<Option<Columns>> {
        match segments {
            Segments::Along(axis) if !shape.contains(&0) => {
                let columns = Columns::new(shape, &layouts(code, out), axis, self.accumulator)?;
                Ok(columns.filter(|columns| columns.pay_on(&out.context)))
            }
            _ => Ok(None),
        }
    }

    fn steps(
        &self,
        segments: Segments<'_>,
        heads: Option<String>,
        out: DType,
        code: &Code<'_>,
        places: &Places,
    ) -> Steps {
        let one = matches!(segments, Segments::One);
        let is_head = match segments {
            Segments::Along(_) => begins_row(places.count()),
            Segments::One | Segments::Heads(_) => heads.as_deref().unwrap_or("i == 0"),
        };
        let load = match segments {
            Segments::One => "map_(x_, i)",
            Segments::Along(_) => "Total{map_(x_, i % length_), is_head_}",
            Segments::Heads(_) => "Total{map_(x_, i), is_head_}",
        };
        Steps {
            definitions: self.definitions(out),
            combine: if one { "Combine()" } else { BY_HEADS },
            load: format!(
                "const bool is_head_ = {is_head}; const auto x_ = {}; return {load};",
                code.result()
            ),
            store: self.store(one, is_head, places, code),
        }
    }

    /// The steps as functions.
    fn definitions(&self, out: DType) -> String {
        let neutral = self.neutral.iter().map(|neutral| {
            format!("__device__ Value neutral_() {{ return {}; }}\n", user_code("neutral", neutral))
        });
        format!(
            "using Value = {accumulator};
using Result = {out};
template <class T> __device__ Value map_(const T &x, Index i) {{ return {map}; }}
struct Combine {{
    __device__ Value operator()(const Value &a, const Value &b) const {{ return {combine}; }}
}};
{neutral}",
            accumulator = self.accumulator.name,
            out = out.name,
            map = self.map,
            combine = self.combine,
            neutral = neutral.collect::<String>(),
        )
    }

    /// Statements that write an element of the result.
    fn store(&self, one: bool, is_head: &str, places: &Places, code: &Code<'_>) -> String {
        let part = if one { "" } else { ".value" };
        let value = self.value(&format!("i == 0 || ({is_head})"), part);
        let place = places.place(code.arrays.len());
        format!("out_[{place}] = static_cast<Result>({value});")
    }

    /// An element of the result, of this part of the totals; the first one where `is_first`.
    fn value(&self, is_first: &str, part: &str) -> String {
        match self.neutral {
            None => format!("after{part}"),
            Some(_) => format!("{is_first} ? neutral_() : before{part}"),
        }
    }
}

/// Whether element `i` of `count` begins a row, in CUDA C++. Of 32-bit numbers `i` is a multiple of `length_` just
/// where `i * reciprocal_`, modulo 2^64, is less than `reciprocal_`, which is 2^64 / `length_` rounded up (Lemire,
/// Kaser & Kurz, "Faster remainder by direct computation", 2019): one multiplication instead of a division.
fn begins_row(count: u64) -> &'static str {
    match index_type(count) {
        "unsigned" => "i * reciprocal_ <= reciprocal_ - 1",
        _ => "i % length_ == 0",
    }
}

const BY_HEADS: &str = "warpaint::ByHeads<Value, Combine>()";

/// `warpaint::Segmented` of this type.
fn segmented(of: DType) -> DType {
    let align = of.align.max(4);
    let bytes = (of.bytes.next_multiple_of(4) + 4).next_multiple_of(align);
    DType { name: "warpaint::Segmented<Value>", bytes, align, definition: "" }
}

/// `out` seen as an array of `shape`.
fn fit(out: &Layout, shape: &[usize]) -> Result<Layout> {
    if !out.is_injective() {
        return Err(Error::NotWritable { shape: out.shape().to_vec() });
    }
    let wrong = || Error::Shape {
        operation: "a scan",
        expected: shape.to_vec(),
        found: out.shape().to_vec(),
    };
    if out.shape() != shape && out.ndim() != 1 {
        return Err(wrong());
    }
    out.reshape(shape).ok().flatten().ok_or_else(wrong)
}

/// The axes in the order in which their elements are scanned.
fn order(segments: Segments<'_>, ndim: usize) -> Result<Axes<usize>> {
    let Segments::Along(last) = segments else { return Ok((0..ndim).collect()) };
    if last >= ndim {
        return Err(Error::Axes { axes: vec![last], ndim });
    }
    Ok((0..ndim).filter(|&axis| axis != last).chain([last]).collect())
}

/// The layouts of what is read, and of the result.
fn layouts<'a>(code: &'a Code<'_>, out: &'a Operand) -> Arrays<&'a Layout> {
    let mut layouts = code.layouts();
    layouts.push(&out.layout);
    layouts
}
