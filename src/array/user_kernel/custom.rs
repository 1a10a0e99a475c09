//! Parameters of kernels that users write as expressions: from a list in C to what a generated kernel takes.

use std::fmt;

use num_complex::Complex;
use smallvec::SmallVec;

use crate::array::{
    Data, Error, GpuArray, Result, expression::Operand, layout::Arrays, places::Packed,
};
use crate::{
    cuda::{self, CType, KernelParameter, Pointee},
    device::Arguments,
    element::Element,
    kernel::{Argument, Context, Kind},
};

/// What a kernel made from an expression is called with: an array of any layout, or a value.
///
/// Made by `From` of `&GpuArray`, of scalars and of [`vector`](crate::array::vector)s; [`Argument::value`] makes one
/// of a structure.
///
/// ```
/// use warpaint::array::{ElementwiseKernel, Error, GpuArray, KernelArgument, vector::Int2};
/// use warpaint::{device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// // SAFETY: only the element `i` is used.
/// let shift = unsafe { ElementwiseKernel::new("int2 *x, int2 by", "x[i].x += by.x; x[i].y += by.y")? };
/// let x = GpuArray::from_slice(&context, &[Int2::new(1, 2), Int2::new(3, 4)])?;
/// let by = KernelArgument::from(Int2::new(10, 20));
/// shift.call(&[(&x).into(), by.clone()])?;
/// assert_eq!(x.to_vec()?, [Int2::new(11, 22), Int2::new(13, 24)]);
/// let numbers = x.view_as::<i32>()?; // the same memory, but no `int2`
/// assert!(matches!(shift.call(&[(&numbers).into(), by]), Err(Error::Argument { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelArgument(Given);

#[derive(Clone, Debug)]
enum Given {
    Array(Operand),
    Value(Argument),
}

impl<T: Data> From<&GpuArray<T>> for KernelArgument {
    fn from(array: &GpuArray<T>) -> Self {
        Self(Given::Array(array.operand()))
    }
}

impl From<Argument> for KernelArgument {
    fn from(value: Argument) -> Self {
        Self(Given::Value(value))
    }
}

macro_rules! values {
    ($($rust:ty),*) => {$(
        impl From<$rust> for KernelArgument {
            fn from(value: $rust) -> Self {
                Self(Given::Value(value.into()))
            }
        }
    )*};
}

values!(bool, i8, u8, i16, u16, i32, u32, i64, u64, half::f16, half::bf16, f32, f64);
values!(Complex<f32>, Complex<f64>);

/// What may be said about a kernel in text, by a method for each field that holds it.
macro_rules! texts {
    ($kernel:ident $(<$of:ident>)? { $($(#[$doc:meta])* $name:ident => $field:ident;)* }) => {
        impl $(<$of>)? $kernel $(<$of>)? {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, text: impl Into<String>) -> Self {
                self.$field = text.into();
                self
            }
        )*}
    };
}
pub(in crate::array) use texts;

/// Names with a meaning in the user's code, which parameters would lose it to, or take it from, without a word. So do
/// all that end in `_`: variables of the generated kernels.
const OWN_NAMES: [&str; 6] = ["i", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"];

/// The parameters that a list in C declares.
#[derive(Clone, Debug)]
pub(in crate::array) struct Parameters(Vec<KernelParameter>);

/// Parameters with their arguments.
#[derive(Clone, Debug, Default)]
pub(in crate::array) struct Bound<'a> {
    pub(in crate::array) parameters: SmallVec<[Declaration<'a>; 4]>,
    pub(in crate::array) arguments: Arguments,
    pub(in crate::array) arrays: Arrays<&'a Operand>,
}

/// How a kernel declares a parameter, with a comma behind it.
#[derive(Clone, Copy, Debug, Hash)]
pub(in crate::array) struct Declaration<'a> {
    form: Form,
    /// The type of values or elements.
    of: &'a str,
    name: Name<'a>,
    constant: bool,
}

/// What a parameter is called.
#[derive(Clone, Copy, Debug, Hash)]
pub(in crate::array) enum Name<'a> {
    Text(&'a str),
    /// A letter or some, and a number.
    Numbered(&'a str, usize),
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Numbered(letters, number) => write!(f, "{letters}{number}"),
        }
    }
}

#[derive(Clone, Copy, Debug, Hash)]
enum Form {
    Value,
    Pointer,
    /// A `Strided` of so many axes.
    Strided(usize),
}

impl<'a> Declaration<'a> {
    /// A pointer to elements of type `of`, which are only read if `constant`.
    pub(in crate::array) fn pointer(of: &'a str, name: &'a str, constant: bool) -> Self {
        Self { form: Form::Pointer, of, name: name.into(), constant }
    }

    /// A 64-bit number.
    pub(in crate::array) fn number(name: &'a str) -> Self {
        Self { form: Form::Value, of: "unsigned long long", name: name.into(), constant: true }
    }
}

impl fmt::Display for Declaration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of, name, .. } = self;
        let qualifier = if self.constant { "const " } else { "" };
        match self.form {
            Form::Value => write!(f, "{qualifier}{of} {name}, "),
            Form::Pointer => write!(f, "{qualifier}{of} *{name}, "),
            Form::Strided(rank) => {
                write!(f, "const warpaint::Strided<{qualifier}{of}, {rank}> {name}, ")
            }
        }
    }
}

impl<'a> Bound<'a> {
    /// Context and length of the first array.
    ///
    /// # Errors
    /// [`Error::NoArrays`].
    pub(in crate::array) fn first(&self) -> Result<(&'a Context, usize)> {
        let first = self.arrays.first().ok_or(Error::NoArrays { operation: "a kernel" })?;
        Ok((&first.context, first.layout.count()))
    }

    /// The same of arrays that are all of one length.
    ///
    /// # Errors
    /// [`Error::Shape`] where they are not; as [`Bound::first`].
    pub(in crate::array) fn alike(&self, operation: &'static str) -> Result<(&'a Context, usize)> {
        let (context, n) = self.first()?;
        match self.arrays.iter().find(|array| array.layout.count() != n) {
            None => Ok((context, n)),
            Some(other) => {
                let found = other.layout.shape().to_vec();
                Err(Error::Shape { operation, expected: vec![n], found })
            }
        }
    }
}

impl Parameters {
    /// Understands a list such as `float a, const float *x, float *z`. The kernel itself uses the names in `own`, too.
    ///
    /// # Errors
    /// [`Error::Parameters`].
    pub(in crate::array) fn parse(list: &str, own: &[&str]) -> Result<Self> {
        let wrong = |problem| Error::Parameters { list: list.to_owned(), problem };
        // On a line of its own, what follows is no part of a comment.
        let declaration = format!("__global__ void kernel({list}\n);");
        let kernels = cuda::scan("parameters", &declaration);
        let [kernel] = &kernels[..] else { return Err(wrong("it does not end where it should")) };
        if kernel.parameters.iter().any(|parameter| parameter.name.is_empty()) {
            return Err(wrong("a parameter has no name"));
        }
        let taken =
            |name: &str| OWN_NAMES.contains(&name) || own.contains(&name) || name.ends_with('_');
        if kernel.parameters.iter().any(|parameter| taken(&parameter.name)) {
            return Err(wrong(
                "`i`, an elementwise kernel's `n`, CUDA's variables and names that end in `_` mean something else",
            ));
        }
        Ok(Self(kernel.parameters.clone()))
    }

    /// Gives each parameter its argument.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`], [`Error::Argument`].
    pub(in crate::array) fn bind<'a>(
        &'a self,
        kernel: &str,
        arguments: &'a [KernelArgument],
    ) -> Result<Bound<'a>> {
        if self.0.len() != arguments.len() {
            let (expected, found) = (self.0.len(), arguments.len());
            return Err(Error::ArgumentCount { kernel: kernel.to_owned(), expected, found });
        }
        let mut bound = Bound::default();
        for (parameter, argument) in self.0.iter().zip(arguments) {
            let fits = match &argument.0 {
                Given::Array(operand) => bound.array(parameter, operand),
                Given::Value(value) => bound.value(parameter, value),
            };
            if !fits {
                return Err(Error::Argument {
                    kernel: kernel.to_owned(),
                    parameter: parameter.name.clone(),
                    expected: parameter.text.clone(),
                    found: argument.describe(),
                });
            }
        }
        Ok(bound)
    }
}

impl KernelArgument {
    fn describe(&self) -> String {
        match &self.0 {
            Given::Array(Operand { layout, dtype, .. }) => match layout.is_injective() {
                true => format!("an array of `{}`", dtype.name),
                false => format!("a broadcast view of `{}`, which can only be read", dtype.name),
            },
            Given::Value(value) => value.kind().to_string(),
        }
    }
}

impl<'a> Bound<'a> {
    /// Adds an array; whether the parameter can take it.
    fn array(&mut self, parameter: &'a KernelParameter, operand: &'a Operand) -> bool {
        let CType::Pointer { to, constant } = &parameter.ctype else { return false };
        let name = operand.dtype.name;
        let same = match to {
            Pointee::Element(element) => Element::parse(name) == Some(*element),
            Pointee::Named(text) => text == name,
            Pointee::Void => false,
        };
        if !same || !*constant && !operand.layout.is_injective() {
            return false;
        }
        self.add_array(&*parameter.name, *constant, operand);
        true
    }

    /// Declares `name` as a pointer, or as a `Strided` where the elements do not lie one behind the other.
    pub(in crate::array) fn add_array(
        &mut self,
        name: impl Into<Name<'a>>,
        constant: bool,
        operand: &'a Operand,
    ) {
        let (of, name) = (operand.dtype.name, name.into());
        let form = if operand.layout.is_contiguous() {
            self.arguments.push(&operand.address());
            Form::Pointer
        } else {
            let axes = operand.layout.collapsed();
            let lengths = axes.iter().map(|&(length, _)| length as i64);
            let strides = axes.iter().map(|&(_, stride)| stride as i64);
            let address = operand.address().cast_signed();
            let packed: Packed = [address].into_iter().chain(lengths).chain(strides).collect();
            self.arguments.push_bytes(bytemuck::cast_slice(&packed), 8);
            Form::Strided(axes.len())
        };
        self.parameters.push(Declaration { form, of, name, constant });
        self.arrays.push(operand);
    }

    /// Adds a value; whether the parameter can take it.
    fn value(&mut self, parameter: &'a KernelParameter, value: &Argument) -> bool {
        if matches!(value.kind(), Kind::Array(_)) || !value.fits(&parameter.ctype) {
            return false;
        }
        let align = value.align_as(Some(&parameter.ctype));
        self.add_value(&parameter.text, &*parameter.name, value.bytes(), align);
        true
    }

    /// Declares `name` as a value of type `of`.
    pub(in crate::array) fn add_value(
        &mut self,
        of: &'a str,
        name: impl Into<Name<'a>>,
        bytes: &[u8],
        align: usize,
    ) {
        let (form, name) = (Form::Value, name.into());
        self.parameters.push(Declaration { form, of, name, constant: true });
        self.arguments.push_bytes(bytes, align);
    }
}
