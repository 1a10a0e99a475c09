//! What a summary reads.

use super::Summary;
use crate::element::{Element, Type};

/// What a reduction reads.
///
/// ```
/// use warpaint::{array::Values, element::{Element, Scalar}};
///
/// let float = Element::scalar(Scalar::F32);
/// assert_eq!(Values::of(&float.into()), [Values::Elements(float)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Values {
    /// Elements one behind the other.
    Elements(Element),
    /// Such fields of structures.
    Fields(Element),
}

impl Values {
    /// What the statistics of elements of this type read, of its [parts](Type::parts) in order.
    pub fn of(of: &Type) -> Vec<Self> {
        match of {
            Type::Element(element) => vec![Self::Elements(*element)],
            Type::Structure(structure) => {
                structure.parts.iter().map(|part| Self::Fields(part.element)).collect()
            }
        }
    }

    /// What each of them is.
    pub const fn element(self) -> Element {
        match self {
            Self::Elements(element) | Self::Fields(element) => element,
        }
    }

    pub(super) fn kernel_name(self) -> String {
        let Element { scalar, lanes } = self.element();
        let kernel = match self {
            Self::Elements(_) => "summarize",
            Self::Fields(_) => "summarize_fields",
        };
        format!("warpaint::summary::{kernel}<{}, {lanes}>", Summary::scalar_name(scalar))
    }
}
