//! The bytes of a kernel's arguments.

use super::{
    Argument, Builtin, Element, Formula, Half, Number, ResourceId, Scalar, Scope, Source, Value,
    argument::Member,
};
use crate::cuda::CType;

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
