//! What a parameter of a kernel receives: where its value comes from, and how that lies in memory.

use super::{Builtin, Formula, ResourceId};
use crate::cuda::{CType, Pointee, Position};

/// What a parameter of a kernel receives.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The parameter's name.
    pub name: String,
    /// The parameter's type.
    pub ctype: CType,
    /// Where the value comes from.
    pub source: Source,
    /// How it lies in memory, where it is a structure and its source is compiled.
    pub layout: Option<Layout>,
}

/// How a structure lies in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Its size in bytes.
    pub bytes: usize,
    /// Its alignment in bytes.
    pub align: usize,
    /// What fills its fields; the rest is 0.
    pub members: Vec<Member>,
}

/// What fills a field of a structure, or an element of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Where it lies, in bytes.
    pub offset: usize,
    /// What it gets.
    pub argument: Argument,
}

/// Where an argument's value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The address, surface or texture object of a resource.
    Resource(ResourceId),
    /// That of the half of a double resource which is being written.
    Next(ResourceId),
    /// The address of an element of an array, or of its end.
    Element {
        /// Which array.
        of: Half,
        /// Which element.
        index: Formula,
        /// How many there are.
        count: u64,
    },
    /// How many elements or texels a resource has.
    Count(ResourceId, u64),
    /// Width (0), height (1) or depth (2) of a texture, and its value.
    Extent(ResourceId, u8, u64),
    /// A constant, or an expression.
    Number(Formula),
    /// Components of a vector.
    Vector(Vec<Formula>),
    /// Fields of a structure; what the manifest does not name is 0. Those of a list are called `[0]`, `[1]`, ...
    Structure(Vec<Field>),
    /// A parameter, by index.
    Parameter(usize),
    /// One of the built-ins.
    Builtin(Builtin),
}

/// What a field of a structure is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it is given.
    pub source: Source,
    /// The type that the manifest casts it to: `int *`.
    pub cast: Option<String>,
    /// Where the manifest says so.
    pub at: Position,
}

/// A resource, or the half of a double one which is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Half {
    /// Which resource.
    pub resource: ResourceId,
    /// Whether it is the half being written.
    pub next: bool,
}

impl Source {
    /// Whether it is a list of what are not all numbers.
    pub fn is_list(&self) -> bool {
        match self {
            Self::Structure(fields) => {
                fields.first().is_some_and(|field| field.name.starts_with('['))
            }
            Self::Resource(_) | Self::Next(_) | Self::Element { .. } | Self::Count(..) => false,
            Self::Extent(..) | Self::Number(_) | Self::Vector(_) => false,
            Self::Parameter(_) | Self::Builtin(_) => false,
        }
    }

    /// The resource whose address it is, or the address of whose element.
    pub(crate) fn addressed(&self) -> Option<ResourceId> {
        match self {
            Self::Resource(id) | Self::Next(id) => Some(*id),
            Self::Element { of, .. } => Some(of.resource),
            Self::Count(..) | Self::Extent(..) | Self::Number(_) | Self::Vector(_) => None,
            Self::Structure(_) | Self::Parameter(_) | Self::Builtin(_) => None,
        }
    }

    /// Its expressions.
    pub fn formulas(&self) -> Vec<&Formula> {
        match self {
            Self::Number(formula) => vec![formula],
            Self::Element { index, .. } => vec![index],
            Self::Vector(formulas) => formulas.iter().collect(),
            Self::Structure(fields) => {
                fields.iter().flat_map(|field| field.source.formulas()).collect()
            }
            Self::Resource(_)
            | Self::Next(_)
            | Self::Count(..)
            | Self::Extent(..)
            | Self::Parameter(_)
            | Self::Builtin(_) => Vec::new(),
        }
    }

    /// The resources whose addresses or objects it has.
    pub fn resources(&self) -> Vec<ResourceId> {
        match self {
            Self::Structure(fields) => {
                fields.iter().flat_map(|field| field.source.resources()).collect()
            }
            Self::Resource(_) | Self::Next(_) | Self::Element { .. } => {
                self.addressed().into_iter().collect()
            }
            Self::Count(..) | Self::Extent(..) | Self::Number(_) | Self::Vector(_) => Vec::new(),
            Self::Parameter(_) | Self::Builtin(_) => Vec::new(),
        }
    }

    /// The double resources whose half that is being written it has.
    pub fn next(&self) -> Vec<ResourceId> {
        match self {
            Self::Next(id) => vec![*id],
            Self::Element { of, .. } => of.next.then_some(of.resource).into_iter().collect(),
            Self::Structure(fields) => {
                fields.iter().flat_map(|field| field.source.next()).collect()
            }
            Self::Resource(_)
            | Self::Count(..)
            | Self::Extent(..)
            | Self::Number(_)
            | Self::Vector(_)
            | Self::Parameter(_)
            | Self::Builtin(_) => Vec::new(),
        }
    }
}

impl Argument {
    /// The pointers that lie behind it one after the other, where it is a pointer to such and the manifest lists them.
    pub(crate) fn pointers(&self) -> Option<Vec<Self>> {
        let ctype = pointed(&self.ctype)?;
        let Source::Structure(fields) = &self.source else { return None };
        let pointer = |field: &Field| Self {
            name: format!("{}{}", self.name, field.name),
            ctype: ctype.clone(),
            source: field.source.clone(),
            layout: None,
        };
        Some(fields.iter().map(pointer).collect())
    }

    /// Whether the kernel may write into the list of [`Argument::pointers`]: `float **`, and not `float *const *`.
    pub(crate) fn may_change_pointers(&self) -> bool {
        matches!(self.ctype, CType::Pointer { constant: false, .. })
    }

    /// The resources that the kernel may write through this argument.
    pub fn writes(&self) -> Vec<ResourceId> {
        if let Some(listed) = self.pointers() {
            return listed.iter().flat_map(Self::writes).collect();
        }
        let writable = match self.ctype {
            CType::Pointer { constant, .. } => !constant,
            // A structure's fields may be pointers.
            CType::Surface | CType::Named(_) => true,
            CType::Texture | CType::Value(_) => false,
        };
        if writable { self.source.resources() } else { Vec::new() }
    }
}

/// The type of what a pointer to pointers points to; `None` where it is none.
pub(super) fn pointed(ctype: &CType) -> Option<CType> {
    let CType::Pointer { to: Pointee::Named(of), .. } = ctype else { return None };
    of.ends_with('*').then(|| CType::parse(of))
}
