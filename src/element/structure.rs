//! What the elements of an array are: numbers, CUDA's vectors of them, or structures of the source with such fields.

use std::{fmt, ops::Range, sync::Arc};

use super::Element;

/// The names of a vector's components.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// The type of an array's elements.
///
/// ```
/// use warpaint::element::{Element, Part, Scalar, Structure, Type};
///
/// let [float, float3] = [1, 3].map(|lanes| Element::vector(Scalar::F32, lanes));
/// let part = |path: &str, element, offset| Part { path: path.into(), element, offset, count: 1 };
/// let body = Structure { name: "Body".into(), bytes: 16, parts: vec![part("at", float3, 0), part("mass", float, 12)]
/// }; let body = Type::from(body);
/// assert_eq!((body.to_string(), body.bytes()), ("Body".into(), 16));
/// assert_eq!(body.components(), ["at.x", "at.y", "at.z", "mass"]);
/// assert_eq!(body.find("at"), Some(0..3));
/// assert_eq!(Type::from(float3).components(), ["x", "y", "z"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A scalar or a CUDA vector.
    Element(Element),
    /// A structure.
    Structure(Arc<Structure>),
}

/// A structure, as far as its fields are of types that are known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// As CUDA C++ spells it, its namespaces included.
    pub name: String,
    /// Size in bytes.
    pub bytes: usize,
    /// The fields.
    pub parts: Vec<Part>,
}

/// Numbers of one type within an element: a field of a structure, or all of an element that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The field's name, and before it those of the structures that it lies in: `grid.size`. Empty for an element that
    /// is no structure.
    pub path: String,
    /// What it is, or each of it.
    pub element: Element,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// How many there are: more than one of a field that is an array.
    pub count: usize,
}

impl Structure {
    /// Whether it has bytes that are neither a field's nor between fields for their alignment: of members that are no
    /// fields.
    #[cfg(feature = "gl")]
    pub(crate) fn has_other_members(&self) -> bool {
        let mut parts: Vec<&Part> = self.parts.iter().collect();
        parts.sort_by_key(|part| part.offset);
        let (mut end, mut align) = (0_usize, 1);
        for part in parts {
            align = align.max(part.element.align());
            if part.offset > end.next_multiple_of(part.element.align()) {
                return true;
            }
            end = end.max(part.offset + part.bytes());
        }
        self.bytes > end.next_multiple_of(align)
    }
}

impl Part {
    /// Its size in bytes.
    pub const fn bytes(&self) -> usize {
        self.element.bytes().saturating_mul(self.count)
    }

    /// What one of its numbers is called, counted through all there are: `x`, `at.x`, `hits[2]`; empty for a scalar.
    ///
    /// ```
    /// # use warpaint::element::{Element, Part, Scalar};
    /// let int2 = Element::vector(Scalar::I32, 2);
    /// let ends = Part { path: "ends".into(), element: int2, offset: 0, count: 3 };
    /// assert_eq!([0, 5].map(|number| ends.number_name(number)), ["ends[0].x", "ends[2].y"]);
    /// ```
    pub fn number_name(&self, number: usize) -> String {
        let lanes = usize::from(self.element.lanes).max(1);
        let mut name = self.path.clone();
        if self.count > 1 {
            name += &format!("[{}]", number / lanes);
        }
        let lane = COMPONENTS.get(number % lanes).filter(|_| lanes > 1);
        let names = [Some(name.as_str()).filter(|name| !name.is_empty()), lane.copied()];
        names.into_iter().flatten().collect::<Vec<_>>().join(".")
    }
}

impl Part {
    /// How many numbers it has.
    pub fn numbers(&self) -> usize {
        usize::from(self.element.lanes).saturating_mul(self.count)
    }

    /// The number with this index in the bytes of an element; `None` where they do not have it.
    ///
    /// ```
    /// # use warpaint::element::{Element, Part, Scalar};
    /// let float2 = Element { scalar: Scalar::F32, lanes: 2 };
    /// let at = Part { path: "at".into(), element: float2, offset: 4, count: 1 };
    /// let bytes: Vec<u8> = [7.0_f32, 1.5, -2.0].iter().flat_map(|number| number.to_le_bytes()).collect();
    /// assert_eq!([0, 1].map(|number| at.number(&bytes, number)), [Some(1.5), Some(-2.0)]);
    /// assert_eq!(at.number(&bytes, 2), None);
    /// ```
    pub fn number(&self, element: &[u8], number: usize) -> Option<f64> {
        let (scalar, bits) = (self.element.scalar, self.bits(element, number)?);
        let integer = || scalar.integer_of(bits).map_or(bits as f64, |integer| integer as f64);
        Some(scalar.value_of(bits).unwrap_or_else(integer))
    }

    /// The same of integers, to the last digit; `None` where it has no other numbers.
    #[cfg(feature = "cli")]
    pub(crate) fn integer(&self, element: &[u8], number: usize) -> Option<i128> {
        self.element.scalar.integer_of(self.bits(element, number)?)
    }

    /// The bits of a number.
    fn bits(&self, element: &[u8], number: usize) -> Option<u64> {
        let size = self.element.scalar.bytes();
        let at = self.offset.checked_add(number.checked_mul(size)?)?;
        let mut word = [0; 8];
        word.get_mut(..size)?.copy_from_slice(element.get(at..at.checked_add(size)?)?);
        Some(u64::from_le_bytes(word))
    }
}

impl Type {
    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Element(element) => element.bytes(),
            Self::Structure(structure) => structure.bytes,
        }
    }

    /// The scalar or vector that it is.
    pub fn element(&self) -> Option<Element> {
        match self {
            Self::Element(element) => Some(*element),
            Self::Structure(_) => None,
        }
    }

    /// The structure that it is.
    pub fn structure(&self) -> Option<&Structure> {
        match self {
            Self::Element(_) => None,
            Self::Structure(structure) => Some(structure),
        }
    }

    /// What it consists of: one part, or the fields of a structure.
    pub fn parts(&self) -> Vec<Part> {
        match self {
            Self::Element(element) => {
                vec![Part { path: String::new(), element: *element, offset: 0, count: 1 }]
            }
            Self::Structure(structure) => structure.parts.clone(),
        }
    }

    /// The names of its components, part by part: `x`, `at.x`, `mass`; an empty one for a scalar. Numbers of a field
    /// that is an array are one component.
    pub fn components(&self) -> Vec<String> {
        self.parts().iter().flat_map(names).collect()
    }

    /// Which of its [`components`](Self::components) are called so: one, or those of a vector that is a field.
    pub fn find(&self, path: &str) -> Option<Range<usize>> {
        let mut first = 0;
        for part in self.parts() {
            let lanes = usize::from(part.element.lanes);
            if part.path == path && !path.is_empty() {
                return Some(first..first + lanes);
            }
            if let Some(lane) = names(&part).iter().position(|name| name == path) {
                return Some(first + lane..first + lane + 1);
            }
            first += lanes;
        }
        None
    }

    /// What `count` components from the one at `first` on are called together: the only one, or the field that all are
    /// of. What [`find`](Self::find) undoes.
    pub fn path_of(&self, first: u16, count: u16) -> Option<String> {
        match count {
            1 => self.components().into_iter().nth(first.into()).filter(|name| !name.is_empty()),
            _ => self.part_of(first.into()).map(|(part, _)| part.path),
        }
    }

    /// The part that has a component, by its place among all, and which of that part's it is.
    pub fn part_of(&self, component: usize) -> Option<(Part, usize)> {
        let mut lane = component;
        for part in self.parts() {
            let lanes = usize::from(part.element.lanes);
            if lane < lanes {
                return Some((part, lane));
            }
            lane -= lanes;
        }
        None
    }
}

/// The names of a part's components.
fn names(part: &Part) -> Vec<String> {
    let lanes = usize::from(part.element.lanes);
    let lane = |letter: &&str| match part.path.as_str() {
        "" => (*letter).to_owned(),
        path => format!("{path}.{letter}"),
    };
    match lanes {
        1 => vec![part.path.clone()],
        _ => COMPONENTS.iter().take(lanes).map(lane).collect(),
    }
}

impl From<Element> for Type {
    fn from(element: Element) -> Self {
        Self::Element(element)
    }
}

impl From<Structure> for Type {
    fn from(structure: Structure) -> Self {
        Self::Structure(Arc::new(structure))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(element) => element.fmt(f),
            Self::Structure(structure) => f.write_str(&structure.name),
        }
    }
}
