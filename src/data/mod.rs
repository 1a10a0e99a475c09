//! Files with data: arrays and pictures, as the bytes of the elements that somebody wants of them.
//!
//! Enters: a file, and what is wanted of it: a type and how many, or texels. Leaves: bytes, in the order in which
//! a device has them. Must not know: `scene`, `gl`, `session`.
//!
//! Numbers are converted only where nothing can be lost, but for those of pictures, which stand for shares of 1.

mod array;
mod bytes;
mod cache;
mod convert;
mod order;
mod picture;
mod random;
mod structures;

use std::{
    fs::File,
    io::{self, Read, Seek as _},
    path::Path,
};

pub(crate) use cache::Cache;
pub(crate) use random::{computed, random, room};

use crate::{
    element::{Scalar, Type},
    file,
};

/// What is read of a file beyond its numbers at most: the header of an array, or what else a picture contains.
const HEADER_LIMIT: u64 = 1 << 20;

/// `Result` with this module's [`enum@Error`].
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// What is wanted of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The type of each element or texel.
    pub(crate) of: Type,
    /// How many.
    pub(crate) shape: Shape,
    /// The type of the file's numbers, where it has no header to tell it.
    pub(crate) raw: Option<Scalar>,
}

/// How many elements are wanted, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One after the other.
    Row(u64),
    /// As many as there is room for, or one for all.
    RowOrOne(u64),
    /// Width and height, the lowest row first.
    Flat([u64; 2]),
    /// Width, height and depth.
    Solid([u64; 3]),
}

/// What a file contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// All that was wanted.
    All(Vec<u8>),
    /// One element, for all.
    One(Vec<u8>),
}

/// Where a file of numpy's comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From a user. Bytes of truth values that are neither 0 nor 1, which numpy stores where it was told to, become 1;
    /// each field of a structure that is wanted is in it.
    Data,
    /// From a state. The bits are those that were in memory; fields that it lacks are new, and 0.
    State,
}

/// What a file of numpy's contains.
pub(crate) struct Numpy {
    pub(crate) found: Found,
    /// Whether it has whole structures as they are wanted, also what lies between their fields.
    pub(crate) is_whole: bool,
}

/// Why a file does not give what is wanted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is damaged, or nothing that is known, or a picture that does not fit the texture's texels.
    #[error("{0}")]
    Format(String),
    /// Its numbers would not all stay what they are.
    #[error("it has {found}, which does not become {wanted} without loss: save it with `{call}`")]
    Type {
        /// The file's type, as numpy calls it.
        found: String,
        /// The type that is wanted.
        wanted: Scalar,
        /// What to call of numpy.
        call: String,
    },
    /// It has more or fewer than wanted.
    #[error("it has {found}, not {wanted}")]
    Size {
        /// What it has.
        found: String,
        /// What is wanted.
        wanted: String,
    },
    /// All files together take more memory than they may.
    #[error(
        "with it all data are {bytes} bytes, and at most {room} may be: half of this machine's memory"
    )]
    Room {
        /// What all of them have.
        bytes: u64,
        /// What all of them may have.
        room: u64,
    },
    /// There is no memory for it.
    #[error("there is no memory for its {bytes} bytes")]
    Memory {
        /// What it has.
        bytes: u64,
    },
}

impl Wanted {
    /// How many elements or texels.
    fn count(&self) -> u64 {
        match self.shape {
            Shape::Row(count) | Shape::RowOrOne(count) => count,
            Shape::Flat([width, height]) => width.saturating_mul(height),
            Shape::Solid(sides) => sides.into_iter().fold(1, u64::saturating_mul),
        }
    }

    /// The bytes of all elements.
    pub(crate) fn bytes(&self) -> u64 {
        self.count().saturating_mul(self.of.bytes() as u64)
    }
}

/// Reads the regular file at `path`; never waits.
///
/// # Errors
/// Whatever keeps it from being what is wanted.
pub(crate) fn read(path: &Path, wanted: &Wanted) -> Result<Found> {
    read_opened(file::open_regular(path)?, wanted)
}

/// Reads numpy's `.npy` file of `length` bytes that stands at its beginning, such as one in an archive, for the bits
/// that memory held.
///
/// # Errors
/// As of [`read`].
pub(crate) fn read_npy(mut file: impl Read, length: u64, wanted: &Wanted) -> Result<Numpy> {
    let head = head(&mut file)?;
    match array::is_npy(&head) {
        true => array::npy(file, length, &head, wanted, Origin::State),
        false => Err(Error::Format("it is no `.npy` file".to_owned())),
    }
}

/// The beginning of a file, as far as a header may go.
fn head(file: &mut impl Read) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(HEADER_LIMIT).read_to_end(&mut head)?;
    Ok(head)
}

fn read_opened(mut file: File, wanted: &Wanted) -> Result<Found> {
    let length = file.metadata()?.len();
    let mut head = head(&mut file)?;
    if array::is_npy(&head) {
        let numpy = array::npy(file, length, &head, wanted, Origin::Data)?;
        return Ok(numpy.found);
    }
    match (wanted.shape, wanted.raw) {
        (Shape::Row(_) | Shape::RowOrOne(_), Some(raw)) => {
            file.rewind()?;
            array::raw(file, length, raw, wanted)
        }
        (Shape::Row(_) | Shape::RowOrOne(_), None) => {
            let text = "it is no `.npy` file; numbers without a header need `dtype`, such as `dtype = \"float32\"`";
            Err(Error::Format(text.to_owned()))
        }
        (Shape::Flat(size), _) => {
            let limit = picture::file_limit(size);
            if length > limit {
                let wanted = format!("at most {limit} for a texture of this size");
                return Err(Error::Size { found: format!("{length} bytes"), wanted });
            }
            file.take(limit.saturating_sub(head.len() as u64)).read_to_end(&mut head)?;
            let texel = wanted.of.element();
            let texel = texel.ok_or_else(|| Error::Format("it is a picture".to_owned()))?;
            picture::texels(&head, size, texel).map(Found::All)
        }
        (Shape::Solid(_), _) => {
            let text = "it is no `.npy` file: a picture has no depth";
            Err(Error::Format(text.to_owned()))
        }
    }
}
