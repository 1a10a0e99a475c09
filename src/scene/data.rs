//! What resources, and variables of the source, hold at the start.

#[cfg(feature = "cli")]
use std::path::Path;
use std::path::PathBuf;

use super::{Each, Number, Scalar, Type, bytes::bytes_of};
#[cfg(feature = "gl")]
use super::{Part, Structure, suggestion::suggestion};
use crate::cuda::Position;

/// What something holds at the start and after each reset.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// What it is.
    pub content: Content,
    /// Where the manifest says so; `None` where the command line does.
    pub at: Option<Position>,
}

#[cfg(feature = "cli")]
impl Initial {
    /// The file that it is read from, where the scene lies in `folder`.
    pub(crate) fn file(&self, folder: &Path) -> Option<PathBuf> {
        match &self.content {
            Content::File { path, .. } if self.at.is_some() => Some(folder.join(path)),
            Content::File { path, .. } => Some(path.clone()),
            Content::Fill(_) | Content::Values(_) => None,
            Content::Structures(_) | Content::Random(_) | Content::Each(_) => None,
        }
    }
}

/// What an [`Initial`] is.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// What a file contains.
    File {
        /// Where it is: as seen from the scene's folder, where the manifest names it; else from the present one.
        path: PathBuf,
        /// The type of its numbers, where it has no header to tell it.
        raw: Option<Scalar>,
    },
    /// One element, which all of them are.
    Fill(Values),
    /// All elements.
    Values(Values),
    /// Structures by their fields; what is not named is 0.
    Structures(Vec<Vec<FieldValue>>),
    /// Random numbers between these ends.
    Random([f64; 2]),
    /// Numbers that follow from each element's place.
    Each(Each),
}

/// What a field of a structure holds.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldValue {
    /// Its name, and before it those of the structures that it lies in: `grid.size`.
    pub path: String,
    /// As many as it has.
    pub numbers: Vec<Number>,
    /// Where the manifest says so.
    pub at: Position,
}

impl FieldValue {
    /// Writes it where it belongs in `bytes`, which are a `structure`.
    ///
    /// # Errors
    /// A sentence, where that cannot be.
    #[cfg(feature = "gl")]
    pub(crate) fn write(&self, structure: &Structure, bytes: &mut [u8]) -> Result<(), String> {
        let (path, name) = (&self.path, &structure.name);
        let Some(Part { element, offset, count, .. }) =
            structure.parts.iter().find(|part| part.path == *path)
        else {
            let known = structure.parts.iter().map(|part| part.path.as_str());
            return Err(format!("`{name}` has no field `{path}`{}", suggestion(path, known)));
        };
        let wanted = usize::from(element.lanes) * count;
        if self.numbers.len() != wanted {
            let given = self.numbers.len();
            return Err(format!("`{path}` has {wanted} numbers, and is given {given}"));
        }
        let scalar = element.scalar;
        let places = bytes.get_mut(*offset..).unwrap_or_default().chunks_mut(scalar.bytes());
        for (place, number) in places.zip(&self.numbers) {
            let number = bytes_of(*number, scalar);
            place.copy_from_slice(&number.map_err(|problem| format!("`{path}`: {problem}"))?);
        }
        Ok(())
    }
}

/// Numbers of the manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// As they were declared, whatever type they were declared for.
    pub declared: Vec<Number>,
    /// The bytes of the elements.
    pub bytes: Vec<u8>,
}

impl Content {
    /// Whether a scene that declares this declares the same as `other`, perhaps for elements of another type, or for
    /// more of them. What files hold is not looked at.
    pub(crate) fn declares_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fill(own), Self::Fill(other)) | (Self::Values(own), Self::Values(other)) => {
                own.declared == other.declared
            }
            (Self::File { .. }, Self::File { .. }) | (Self::Random(_), Self::Random(_)) => {
                self == other
            }
            (Self::Structures(own), Self::Structures(other)) => {
                let values = |all: &[Vec<FieldValue>]| -> Vec<Vec<(String, Vec<Number>)>> {
                    let value = |field: &FieldValue| (field.path.clone(), field.numbers.clone());
                    all.iter().map(|fields| fields.iter().map(value).collect()).collect()
                };
                values(own) == values(other)
            }
            (Self::Each(own), Self::Each(other)) => own.declares_as(other),
            (Self::Fill(_) | Self::Values(_) | Self::Structures(_), _) => false,
            (Self::File { .. } | Self::Random(_) | Self::Each(_), _) => false,
        }
    }
}

/// A `__constant__` or `__device__` variable of the source that is set from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name, with its namespaces: `filters::blur`.
    pub name: String,
    /// The type of its elements.
    pub of: Type,
    /// What it holds at the start.
    pub initial: Initial,
    /// Where it is declared in the manifest.
    pub at: Position,
}
