//! Parameters of generated kernels, with their arguments.

use std::fmt;

use smallvec::SmallVec;

use crate::array::{Error, Result, layout::Arrays, node::Operand, places::Packed};
use crate::{device::Arguments, kernel::Context};

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
