//! Parameters of kernels that users write as expressions: from a list in C to what a generated kernel takes.

use num_complex::Complex;

use crate::array::{Data, Error, GpuArray, Result, bound::Bound, node::Operand};
use crate::{
    cuda::{self, CType, KernelParameter, Pointee},
    element::Element,
    kernel::{Argument, Kind},
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

    /// Adds a value; whether the parameter can take it.
    fn value(&mut self, parameter: &'a KernelParameter, value: &Argument) -> bool {
        if matches!(value.kind(), Kind::Array(_)) || !value.fits(&parameter.ctype) {
            return false;
        }
        let align = value.align_as(Some(&parameter.ctype));
        self.add_value(&parameter.text, &*parameter.name, value.bytes(), align);
        true
    }
}
