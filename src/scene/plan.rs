//! The launch plan: which kernels a session launches with which arguments. Data, not code.

use super::{CType, Inputs, Number, Repeat, ResourceId, Shape, When};

/// What a session launches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// In the order of their launches.
    pub passes: Vec<PlannedPass>,
}

/// A pass whose kernel's parameters are bound.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPass {
    /// The kernel as the manifest names it; also the name expression for the compiler.
    pub kernel: String,
    /// When it runs.
    pub on: When,
    /// How many threads it has.
    pub shape: Shape,
    /// Dynamic shared memory of each block in bytes.
    pub shared_bytes: u32,
    /// How often it is launched in a row.
    pub repeat: Repeat,
    /// The parameter (an index) that must be on, or not 0, for it to run.
    pub only_if: Option<usize>,
    /// One for each parameter of the kernel.
    pub arguments: Vec<Argument>,
    /// Double textures whose two halves change places after each launch: those whose `_next` it takes.
    pub swaps: Vec<ResourceId>,
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
}

/// Where an argument's value comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// The address, surface or texture object of a resource.
    Resource(ResourceId),
    /// That of the half of a double texture which is being written.
    Next(ResourceId),
    /// How many elements or texels a resource has.
    Count(ResourceId, u64),
    /// Width (0), height (1) or depth (2) of a texture, and its value.
    Extent(ResourceId, u8, u64),
    /// A constant.
    Constant(Number),
    /// A parameter, by index.
    Parameter(usize),
    /// One of the built-ins.
    Builtin(Builtin),
}

/// The names that every scene's kernels may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `time`: seconds since the reset.
    Time,
    /// `dt`: seconds that a step advances.
    Dt,
    /// `frame`: pictures drawn since the reset.
    Frame,
    /// `step`: steps finished since the reset.
    Step,
    /// `seed`: the run's seed.
    Seed,
    /// `mouse`: x, y, buttons, wheel.
    Mouse,
    /// `keys`: keys held.
    Keys,
}

/// What [`Argument::pack`] makes: the bytes of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    bytes: [u8; 32],
    length: u8,
    /// Alignment in bytes.
    pub align: usize,
}

impl Packed {
    /// The bytes, little-endian as every CUDA device has them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// A resource, or the half of a double texture which is being written, whose address or object is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// Which resource.
    pub resource: ResourceId,
    /// Whether it is the half being written.
    pub next: bool,
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
    /// The bytes of this argument for a step with `inputs`; `resolve` gives addresses and objects.
    pub fn pack(&self, inputs: &Inputs, resolve: impl Fn(Wanted) -> u64) -> Packed {
        let _ = (inputs, &resolve);
        Packed { bytes: [0; 32], length: 0, align: 1 }
    }

    /// The resource that the kernel may write through this argument.
    pub fn writes(&self) -> Option<ResourceId> {
        let (Source::Resource(id) | Source::Next(id)) = self.source else { return None };
        let writable = match self.ctype {
            CType::Pointer { constant, .. } => !constant,
            CType::Surface => true,
            _ => false,
        };
        writable.then_some(id)
    }
}

impl PlannedPass {
    /// How often it is launched in a step with `inputs`: 0 where `only_if` is off.
    pub fn launches(&self, inputs: &Inputs) -> u32 {
        let _ = inputs;
        1
    }

    /// The resources that its kernel may write.
    pub fn writes(&self) -> impl Iterator<Item = ResourceId> {
        self.arguments.iter().filter_map(Argument::writes)
    }
}
