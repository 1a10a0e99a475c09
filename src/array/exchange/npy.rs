//! Arrays as `.npy` files, numpy's own format
//! (<https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>).
//!
//! Enters: an array, or a file. Leaves: the file, or the array. Must not know: `device`, `array::algorithm`,
//! `array::expression`.
//!
//! All types of scalars that numpy has are read and written, vectors with their components along a last axis, and
//! `bf16`, which numpy lacks, as `float32`. Read are versions 1 to 3, both orders of axes and both orders of bytes.

#[cfg(feature = "cli")]
mod column;
mod descriptor;
#[cfg(feature = "gl")]
mod structures;

use std::{
    borrow::Cow,
    io::{self, Write},
    path::Path,
};

use half::bf16;
use num_complex::Complex;

#[cfg(feature = "cli")]
pub(crate) use self::column::{Column, columns};
#[cfg(feature = "gl")]
use self::descriptor::BFLOAT16;
pub(crate) use self::descriptor::Descriptor;
use crate::array::{DType, Data, Error, GpuArray, Result};
use crate::{
    element::{Element, Scalar},
    file,
    kernel::Context,
};

/// What every file starts with; two bytes of version follow.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";
/// The data starts at a multiple of this.
const ALIGNMENT: usize = 64;
/// So many elements are converted at once.
#[cfg(feature = "gl")]
const CHUNK: usize = 1 << 16;

/// What numpy calls a scalar type, in the byte order of what we write.
pub(crate) fn descriptor(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "|b1",
        Scalar::I8 => "|i1",
        Scalar::U8 => "|u1",
        Scalar::I16 => "<i2",
        Scalar::U16 => "<u2",
        Scalar::I32 => "<i4",
        Scalar::U32 => "<u4",
        Scalar::I64 => "<i8",
        Scalar::U64 => "<u8",
        Scalar::F16 => "<f2",
        Scalar::BF16 | Scalar::F32 => "<f4",
        Scalar::F64 => "<f8",
    }
}

/// A whole file that is to be written. What it says of the array is kept beside the elements, which stay where they
/// are: they may fill most of the memory.
pub(crate) struct Npy<'a> {
    header: Vec<u8>,
    elements: Elements<'a>,
}

/// The elements of a file.
enum Elements<'a> {
    /// As they are written.
    Native(&'a [u8]),
    /// Of `bf16`, which numpy lacks: they are written as `float32`.
    #[cfg(feature = "gl")]
    BFloat16(&'a [[u8; 2]]),
}

impl<'a> Npy<'a> {
    /// `bytes` are elements of `scalar` in C order; `bf16` becomes `float32`.
    #[cfg(feature = "gl")]
    pub(crate) fn of(scalar: Scalar, shape: &[usize], bytes: &'a [u8]) -> Self {
        let elements = match scalar {
            Scalar::BF16 => Elements::BFloat16(bytes.as_chunks().0),
            Scalar::Bool
            | Scalar::I8
            | Scalar::U8
            | Scalar::I16
            | Scalar::U16
            | Scalar::I32
            | Scalar::U32
            | Scalar::I64
            | Scalar::U64
            | Scalar::F16
            | Scalar::F32
            | Scalar::F64 => Elements::Native(bytes),
        };
        Self { header: header(&quoted(descriptor(scalar)), shape), elements }
    }

    /// A file whose `descriptor` stands as Python writes it.
    fn native(descriptor: &str, shape: &[usize], bytes: &'a [u8]) -> Self {
        Self { header: header(descriptor, shape), elements: Elements::Native(bytes) }
    }

    /// How many bytes it has.
    #[cfg(feature = "gl")]
    pub(crate) fn bytes(&self) -> usize {
        let elements = match self.elements {
            Elements::Native(bytes) => bytes.len(),
            Elements::BFloat16(values) => values.len() * size_of::<f32>(),
        };
        self.header.len() + elements
    }

    /// Writes it to `to`.
    ///
    /// # Errors
    /// Those of `to`.
    pub(crate) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&self.header)?;
        match self.elements {
            Elements::Native(bytes) => to.write_all(bytes),
            #[cfg(feature = "gl")]
            Elements::BFloat16(values) => values.chunks(CHUNK).try_for_each(|values| {
                // The same bits in front of others, also of NaNs that a conversion would make quiet.
                let wide = values.iter().map(|&value| u32::from(u16::from_ne_bytes(value)) << 16);
                to.write_all(&wide.flat_map(u32::to_ne_bytes).collect::<Vec<u8>>())
            }),
        }
    }

    /// Its content, for what compares it.
    #[cfg(feature = "cli")]
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        let mut content = Vec::with_capacity(self.bytes());
        // A vector takes whatever is written to it.
        let _ = self.write(&mut content);
        content
    }
}

fn quoted(descriptor: &str) -> String {
    format!("'{descriptor}'")
}

/// What stands in front of the elements; `descriptor` stands as Python writes it.
fn header(descriptor: &str, shape: &[usize]) -> Vec<u8> {
    // A tuple of one needs its comma; more commas at the end are fine too.
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut text =
        format!("{{'descr': {descriptor}, 'fortran_order': False, 'shape': ({shape}), }}");
    // Version 1 counts the header's bytes in 16 bits; a shape of a thousand axes needs version 2.
    let short = text.len() < usize::from(u16::MAX) - 2 * ALIGNMENT;
    let prefix = MAGIC.len() + 2 + if short { 2 } else { 4 };
    let padded = (prefix + text.len() + 1).next_multiple_of(ALIGNMENT) - prefix;
    text.extend(std::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let length = (text.len() as u32).to_le_bytes();
    let (version, length) = if short { ([1, 0], &length[..2]) } else { ([2, 0], &length[..]) };
    [MAGIC, &version, length, text.as_bytes()].concat()
}

/// The type that numpy calls so, or our files.
#[cfg(feature = "gl")]
pub(crate) fn scalar(kind: &str) -> Option<Scalar> {
    if kind == BFLOAT16 {
        return Some(Scalar::BF16);
    }
    let mut all = Scalar::numpy_names().map(|(_, scalar)| scalar);
    all.find(|scalar| &descriptor(*scalar)[1..] == kind)
}

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) descriptor: Descriptor,
    pub(crate) fortran_order: bool,
    pub(crate) shape: Vec<usize>,
}

/// The header and the data behind it; what is wrong with the file otherwise.
pub(crate) fn decode(content: &[u8]) -> std::result::Result<(Header, &[u8]), String> {
    let cut = || "it ends within its header".to_owned();
    let rest = content.strip_prefix(MAGIC).ok_or("it does not start as `.npy` files do")?;
    let (&[major, _], rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        other => return Err(format!("its version, {other}, is unknown")),
    };
    let (text, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let text = std::str::from_utf8(text).map_err(|_| "its header is no text")?;
    let header = Header::parse(text).ok_or_else(|| format!("its header is `{}`", text.trim()))?;
    Ok((header, data))
}

impl Header {
    /// Reads the dictionary that numpy writes: three entries in any order.
    fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descriptor, mut fortran_order, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, value) = rest.split_once(':')?;
            let value = value.trim_start();
            let end = match value.chars().next()? {
                '(' => value.find(')')? + 1,
                // The fields of structures: behind them come the other two entries.
                '[' => {
                    value
                        .find("'fortran_order'")
                        .map_or(value.rfind(']'), |end| value[..end].rfind(']'))?
                        + 1
                }
                quote @ ('\'' | '"') => value[1..].find(quote)? + 2,
                _ => value.find(',').unwrap_or(value.len()),
            };
            let (value, behind) = value.split_at(end);
            match key.trim().trim_matches(['\'', '"']) {
                "descr" => descriptor = Some(Descriptor::parse(value)?),
                "fortran_order" => fortran_order = Some(value.trim()),
                "shape" => shape = Some(value),
                _ => return None,
            }
            rest = behind.trim_start().trim_start_matches(',').trim_start();
        }
        Some(Self {
            descriptor: descriptor?,
            fortran_order: match fortran_order? {
                "True" => true,
                "False" => false,
                _ => return None,
            },
            shape: lengths(shape?)?,
        })
    }
}

/// The numbers of a tuple such as `(3, 4)`, `(3,)` or `()`.
fn lengths(tuple: &str) -> Option<Vec<usize>> {
    let inside = tuple.strip_prefix('(')?.strip_suffix(')')?;
    let words = inside.split(',').map(str::trim).filter(|word| !word.is_empty());
    // Python 2 wrote `3L`.
    words.map(|word| word.trim_end_matches('L').parse().ok()).collect()
}

/// How a type is stored: numpy's name, bytes of what changes with the byte order, and how many there are in an element
/// as an axis of their own (1 for none).
struct Stored {
    descriptor: &'static str,
    word: usize,
    lanes: usize,
}

impl Stored {
    /// `None` for types that numpy lacks.
    fn of(dtype: DType) -> Option<Self> {
        if dtype == Complex::<f32>::DTYPE {
            return Some(Self { descriptor: "<c8", word: 4, lanes: 1 });
        }
        if dtype == Complex::<f64>::DTYPE {
            return Some(Self { descriptor: "<c16", word: 8, lanes: 1 });
        }
        let element = Element::parse(dtype.name)?;
        let (descriptor, word) = (descriptor(element.scalar), element.scalar.bytes());
        Some(Self { descriptor, word, lanes: element.lanes.into() })
    }
}

/// numpy's name of a type; `None` for those that it lacks.
pub(in crate::array) fn type_name(dtype: DType) -> Option<&'static str> {
    let stored = Stored::of(dtype).filter(|stored| stored.lanes == 1 && dtype != bf16::DTYPE);
    stored.map(|stored| stored.descriptor)
}

fn wrong(path: &Path, problem: impl Into<String>) -> Error {
    Error::Npy { path: path.to_owned(), problem: problem.into() }
}

fn stored<T: Data>(path: &Path) -> Result<Stored> {
    let lacks = || wrong(path, format!("numpy has no type like `{}`", T::DTYPE.name));
    Stored::of(T::DTYPE).ok_or_else(lacks)
}

impl<T: Data> GpuArray<T> {
    /// Writes it to a `.npy` file, in C order, whole or not at all. Components of vectors become a last axis; `bf16`,
    /// which numpy lacks, becomes `float32`. Waits for the work before it.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("a.npy");
    /// let a = GpuArray::from_shape(&context, &[2, 3], &[1u8, 2, 3, 4, 5, 6])?;
    /// a.transpose().write_npy(&path)?;
    /// let file = std::fs::read(&path)?;
    /// assert_eq!(file.len() % 64, 6); // a header of whole lines of 64 bytes, and the elements in C order
    /// assert_eq!(file[file.len() - 6..], [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Npy`] for a structure; [`Error::File`]; as [`GpuArray::to_vec`].
    pub fn write_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        if T::DTYPE == bf16::DTYPE {
            return self.cast::<f32>().eval()?.write_npy(path);
        }
        let Stored { descriptor, lanes, .. } = stored::<T>(path)?;
        let lanes = (lanes > 1).then_some(lanes);
        let shape: Vec<usize> = self.shape().iter().copied().chain(lanes).collect();
        let elements = self.to_vec()?;
        let npy = Npy::native(&quoted(descriptor), &shape, bytemuck::cast_slice(&elements));
        let failed = |source| Error::File { action: "write", path: path.to_owned(), source };
        file::replace_with(path, |to| npy.write(to)).map_err(failed)
    }

    /// The array of a `.npy` file, which must hold `T`: `bf16` comes from `float32`, vectors from files whose last axis
    /// has their components. Files in Fortran order give a transposed view.
    ///
    /// ```
    /// # use warpaint::{array::{Error, GpuArray}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("a.npy");
    /// GpuArray::from_shape(&context, &[2, 2], &[1.0f32, 2.0, 3.0, 4.0])?.write_npy(&path)?;
    /// let a = GpuArray::<f32>::read_npy(&context, &path)?;
    /// assert_eq!(a.to_string(), "[[1.0 2.0]\n [3.0 4.0]]");
    /// // Nothing is converted.
    /// assert!(matches!(GpuArray::<f64>::read_npy(&context, &path), Err(Error::Npy { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::File`], for a pipe or a device too; [`Error::Npy`] for a damaged file, one of another type and vectors
    /// in Fortran order; [`Error::InvalidBits`] for a `bool` that is neither 0 nor 1; as [`GpuArray::empty`].
    pub fn read_npy(context: &Context, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if T::DTYPE == bf16::DTYPE {
            return GpuArray::<f32>::read_npy(context, path)?.cast().eval();
        }
        let failed = |source| Error::File { action: "read", path: path.to_owned(), source };
        let content = file::read_regular(path, u64::MAX - 1).map_err(failed)?;
        let (header, data) = decode(&content).map_err(|problem| wrong(path, problem))?;
        Self::from_npy(context, path, header, data)
    }

    fn from_npy(context: &Context, path: &Path, header: Header, data: &[u8]) -> Result<Self> {
        let Stored { descriptor, word, lanes } = stored::<T>(path)?;
        let Descriptor { kind, big_endian, .. } = &header.descriptor;
        if *kind != descriptor[1..] {
            let (found, expected) = (kind, &descriptor[1..]);
            return Err(wrong(path, format!("it holds `{found}`, not `{expected}`")));
        }
        let mut shape = header.shape;
        let count = shape.iter().try_fold(1_usize, |count, &n| count.checked_mul(n));
        let needed = count.and_then(|count| count.checked_mul(T::DTYPE.bytes / lanes));
        if needed != Some(data.len()) {
            let found = data.len();
            return Err(wrong(path, format!("{found} bytes cannot have the shape {shape:?}")));
        }
        if lanes > 1 && shape.pop() != Some(lanes) {
            let name = T::DTYPE.name;
            return Err(wrong(path, format!("its last axis has not the components of `{name}`")));
        }
        if lanes > 1 && header.fortran_order {
            return Err(wrong(path, "vectors are read in C order only"));
        }
        let mut data = Cow::Borrowed(data);
        if *big_endian {
            data.to_mut().chunks_exact_mut(word).for_each(<[u8]>::reverse);
        }
        let read = |bytes: &[u8]| bytemuck::checked::try_pod_read_unaligned(bytes).ok();
        let values: Option<Vec<T>> = data.chunks_exact(size_of::<T>()).map(read).collect();
        let values = values.ok_or(Error::InvalidBits { of: T::DTYPE.name })?;
        if header.fortran_order {
            shape.reverse();
            return Ok(Self::from_shape(context, &shape, &values)?.transpose());
        }
        Self::from_shape(context, &shape, &values)
    }
}
