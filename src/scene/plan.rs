//! The launch plan: which kernels a session launches with which arguments. Data, not code.

use std::collections::BTreeSet;

use super::{
    Element, Formula, Number, Pass, ResourceId, Scalar, Scope, Term, Value, resource::named,
};
use crate::cuda::{CType, Position};

/// What a session launches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// In the order of their launches.
    pub passes: Vec<PlannedPass>,
}

impl Plan {
    /// What the compiler is asked for: the kernels, each once, but for those whose mangled names it told already.
    pub fn name_expressions(&self) -> Vec<String> {
        let all = self.passes.iter().map(|pass| pass.name_expression.clone());
        let asked = all.filter(|name| !name.starts_with("_Z"));
        asked.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// A pass whose kernel's parameters are bound.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPass {
    /// What the manifest says.
    pub declared: Pass,
    /// The kernel for the compiler: its name; where functions are overloaded, a cast to its type, or the mangled name
    /// that the compiler told.
    pub name_expression: String,
    /// One for each parameter of the kernel.
    pub arguments: Vec<Argument>,
    /// Double resources whose halves change places after each launch: those whose `_next` it takes.
    pub swaps: Vec<ResourceId>,
    /// What its expressions name that is read from the device before each launch.
    pub reads: Vec<Term>,
}

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

named! {
    /// The names that every scene's kernels may use, and that nothing else may have.
    Builtin {
        /// Seconds since the reset.
        Time = "time",
        /// Seconds that a step advances.
        Dt = "dt",
        /// Pictures drawn since the reset.
        Frame = "frame",
        /// Steps finished since the reset.
        Step = "step",
        /// The run's seed.
        Seed = "seed",
        /// x, y, buttons, wheel.
        Mouse = "mouse",
        /// Keys held.
        Keys = "keys",
    }
}

/// What [`Argument::pack`] makes: the bytes of one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    bytes: [u8; 32],
    length: u8,
    /// Those of a structure, in place of the others.
    structure: Vec<u8>,
    /// Alignment in bytes.
    pub align: usize,
}

impl Packed {
    /// Nothing yet.
    const fn new(align: usize) -> Self {
        Self { bytes: [0; 32], length: 0, structure: Vec::new(), align }
    }

    /// With these bytes behind the others.
    fn append(mut self, bytes: &[u8]) -> Self {
        let start = usize::from(self.length);
        if let Some(place) = self.bytes.get_mut(start..start + bytes.len()) {
            place.copy_from_slice(bytes);
            self.length += bytes.len() as u8;
        }
        self
    }

    /// The bytes, little-endian as every CUDA device has them.
    pub fn bytes(&self) -> &[u8] {
        match self.structure.as_slice() {
            [] => &self.bytes[..usize::from(self.length)],
            structure => structure,
        }
    }
}

/// A resource, or the half of a double one which is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Half {
    /// Which resource.
    pub resource: ResourceId,
    /// Whether it is the half being written.
    pub next: bool,
}

/// What a kernel is given of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// Which resource.
    pub resource: ResourceId,
    /// Whether it is the half being written.
    pub next: bool,
    /// The element whose address it is.
    pub element: u64,
    /// What the kernel takes.
    pub handle: Handle,
}

/// What a kernel takes of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    /// Its address.
    Address,
    /// A surface object.
    Surface,
    /// A texture object.
    Texture,
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
    /// The bytes of this argument for a launch in `scope`; `resolve` gives addresses and objects.
    ///
    /// # Errors
    ///
    /// A sentence, where an expression has no value, or one that the parameter's type does not hold.
    pub fn pack(
        &self,
        scope: &Scope<'_>,
        resolve: impl Fn(Wanted) -> u64,
    ) -> Result<Packed, String> {
        self.pack_with(scope, &resolve)
    }

    fn pack_with(
        &self,
        scope: &Scope<'_>,
        resolve: &dyn Fn(Wanted) -> u64,
    ) -> Result<Packed, String> {
        Ok(match &self.source {
            Source::Resource(resource) => {
                self.resource(Half { resource: *resource, next: false }, 0, resolve)
            }
            Source::Next(resource) => {
                self.resource(Half { resource: *resource, next: true }, 0, resolve)
            }
            Source::Element { of, index, count } => {
                self.resource(*of, self.element(scope, index, *count)?, resolve)
            }
            Source::Count(_, value) | Source::Extent(_, _, value) => {
                self.components(&[Component::Int(i128::from(*value))])
            }
            Source::Number(formula) => match self.ctype {
                CType::Value(_) => self.components(&[self.component(scope, formula)?]),
                // Nothing but 0 is given to others: a null pointer, no object.
                CType::Pointer { .. } | CType::Surface | CType::Texture | CType::Named(_) => {
                    Packed::new(8).append(&[0; 8])
                }
            },
            Source::Vector(formulas) => {
                let component = |formula| self.component(scope, formula);
                self.components(&formulas.iter().map(component).collect::<Result<Vec<_>, _>>()?)
            }
            Source::Structure(_) => self.structure(scope, resolve)?,
            Source::Parameter(index) => self.parameter(scope.inputs.parameters.get(*index))?,
            Source::Builtin(builtin) => self.builtin(*builtin, scope.inputs),
        })
    }

    /// A structure's bytes: 0 where nothing is given.
    fn structure(
        &self,
        scope: &Scope<'_>,
        resolve: &dyn Fn(Wanted) -> u64,
    ) -> Result<Packed, String> {
        let Some(layout) = &self.layout else { return Ok(Packed::new(1)) };
        let mut packed = Packed::new(layout.align);
        packed.structure = vec![0; layout.bytes];
        for Member { offset, argument } in &layout.members {
            let member = argument.pack_with(scope, resolve)?;
            let end = offset + member.bytes().len();
            if let Some(place) = packed.structure.get_mut(*offset..end) {
                place.copy_from_slice(member.bytes());
            }
        }
        Ok(packed)
    }

    /// The number of an expression, which the parameter's type must hold.
    fn component(&self, scope: &Scope<'_>, formula: &Formula) -> Result<Component, String> {
        let fault = |problem: String| format!("`{}`: {problem}", self.name);
        match scope.number(formula).map_err(fault)? {
            Number::Int(value) => {
                let range = match &self.ctype {
                    CType::Value(element) => element.scalar.integer_range(),
                    CType::Pointer { .. } | CType::Surface | CType::Texture | CType::Named(_) => {
                        None
                    }
                };
                match range {
                    Some((least, most)) if !(least..=most).contains(&value) => Err(fault(format!(
                        "{value} does not fit into the kernel's `{}`",
                        self.ctype
                    ))),
                    Some(_) => Ok(Component::Int(value)),
                    None => self.whole(value),
                }
            }
            Number::Float(value) => self.float(value),
            Number::Bool(value) => Ok(Component::Int(value.into())),
        }
    }

    fn resource(
        &self,
        Half { resource, next }: Half,
        element: u64,
        resolve: impl Fn(Wanted) -> u64,
    ) -> Packed {
        let handle = resolve(Wanted { resource, next, element, handle: self.handle() });
        Packed::new(8).append(&handle.to_le_bytes())
    }

    /// The element that a pointer is to point at, of so many; behind the last one it may point, too.
    fn element(&self, scope: &Scope<'_>, index: &Formula, count: u64) -> Result<u64, String> {
        let fault = |problem: String| format!("`{}`: {problem}", self.name);
        let index = scope.integer(index).map_err(fault)?;
        let found = u64::try_from(index).ok().filter(|index| *index <= count);
        found.ok_or_else(|| {
            fault(format!("it would point at element {index}, but must stay within 0 and {count}"))
        })
    }

    /// What the parameter's type takes of a resource.
    fn handle(&self) -> Handle {
        match self.ctype {
            CType::Surface => Handle::Surface,
            CType::Texture => Handle::Texture,
            CType::Value(_) | CType::Pointer { .. } | CType::Named(_) => Handle::Address,
        }
    }

    /// A number that the parameter's type must have, nearly: none that is beyond its range.
    fn float(&self, value: f64) -> Result<Component, String> {
        let is_beyond = |element: &Element| {
            let there =
                element.scalar.bits_of(value).and_then(|bits| element.scalar.value_of(bits));
            value.is_finite() && there.is_some_and(f64::is_infinite)
        };
        match &self.ctype {
            CType::Value(element) if is_beyond(element) => {
                let (name, ctype) = (&self.name, &self.ctype);
                Err(format!("`{name}`: {value:?} is beyond the range of the kernel's `{ctype}`"))
            }
            CType::Value(_) => Ok(Component::Float(value)),
            CType::Pointer { .. } | CType::Surface | CType::Texture | CType::Named(_) => {
                Ok(Component::Float(value))
            }
        }
    }

    /// The same of a whole number, where the parameter's type is one of floats; others wrap around.
    fn whole(&self, value: i128) -> Result<Component, String> {
        match &self.ctype {
            CType::Value(element) if element.scalar.is_float() => {
                self.float(value as f64).map(|_| Component::Int(value))
            }
            CType::Value(_) | CType::Pointer { .. } | CType::Named(_) => Ok(Component::Int(value)),
            CType::Surface | CType::Texture => Ok(Component::Int(value)),
        }
    }

    fn parameter(&self, value: Option<&Value>) -> Result<Packed, String> {
        Ok(match value {
            Some(Value::Float(value)) => self.components(&[self.float(*value)?]),
            Some(Value::Int(value)) => self.components(&[self.whole((*value).into())?]),
            Some(Value::Toggle(value)) => self.components(&[Component::Int(i128::from(*value))]),
            Some(Value::Color(rgba)) => self.components(&rgba.map(|c| Component::Float(c.into()))),
            None => self.components(&[]),
        })
    }

    fn builtin(&self, builtin: Builtin, inputs: &super::Inputs) -> Packed {
        match builtin {
            Builtin::Time => self.components(&[Component::Float(inputs.time)]),
            Builtin::Dt => self.components(&[Component::Float(inputs.dt)]),
            Builtin::Frame => self.components(&[Component::Int(inputs.frame.into())]),
            Builtin::Step => self.components(&[Component::Int(inputs.step.into())]),
            Builtin::Seed => self.components(&[Component::Int(inputs.seed.into())]),
            Builtin::Mouse => self.components(&inputs.mouse.map(|x| Component::Float(x.into()))),
            Builtin::Keys => self.components(&inputs.keys.0.map(|x| Component::Int(x.into()))),
        }
    }

    /// A scalar or vector of the parameter's type; components that are missing are 0.
    fn components(&self, values: &[Component]) -> Packed {
        let CType::Value(element) = self.ctype else { return Packed::new(1) };
        let mut packed = Packed::new(element.align());
        for lane in 0..usize::from(element.lanes) {
            let value = values.get(lane).copied().unwrap_or(Component::Int(0));
            packed = value.append(element.scalar, packed);
        }
        packed
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

impl PlannedPass {
    /// The resources that its kernel takes.
    pub fn takes(&self) -> impl Iterator<Item = ResourceId> {
        self.arguments.iter().flat_map(|argument| argument.source.resources())
    }

    /// The resources that its kernel may write.
    pub fn writes(&self) -> impl Iterator<Item = ResourceId> {
        self.arguments.iter().flat_map(Argument::writes)
    }
}

/// A component on its way into an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Component {
    Int(i128),
    Float(f64),
}

impl Component {
    /// `packed` with this behind it as a `scalar`. Integers wrap around, as C's conversions do.
    fn append(self, scalar: Scalar, packed: Packed) -> Packed {
        let bits = match scalar.bits_of(self.float()) {
            Some(bits) => bits,
            None if scalar == Scalar::Bool => u64::from(self.int() != 0),
            None => self.int() as u64,
        };
        packed.append(&bits.to_le_bytes()[..scalar.bytes()])
    }

    const fn int(self) -> i128 {
        match self {
            Self::Int(value) => value,
            Self::Float(value) => value as i128,
        }
    }

    const fn float(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}
