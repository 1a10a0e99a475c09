//! Variables of a module: where they lie and what they hold at first.

use std::collections::HashMap;

use crate::{
    device::{
        Error, Result,
        cpu::{
            error::NAME,
            memory::{Permission, Range},
        },
    },
    ptx::{
        ast::{Init, Module, SymbolAddress, Value, Variable},
        operand::Symbol,
        types::{Space, Type},
    },
};

/// Where the variables of a module lie.
#[derive(Debug, Default)]
pub(in crate::device::cpu) struct Globals {
    /// Memory of global and constant variables, by index in the module.
    ranges: HashMap<u32, Range>,
    /// Offsets of shared variables in a block's shared memory.
    shared: HashMap<u32, u64>,
    /// Static shared memory of the module's variables in bytes.
    shared_bytes: u64,
    /// What is to be written where before the first launch.
    pub(in crate::device::cpu) contents: Vec<(u64, Vec<u8>)>,
    /// Memory for the host: names, ranges.
    pub(in crate::device::cpu) named: Vec<(String, Range)>,
}

/// Where a variable lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::cpu) enum VariablePlace {
    /// At an address of the arena.
    Fixed { address: u64, bytes: u64 },
    /// In the block's shared memory.
    Shared { offset: u64 },
}

impl Globals {
    /// Gives every variable memory by `alloc`, and says what it holds at first.
    pub(in crate::device::cpu) fn new(
        module: &Module,
        mut alloc: impl FnMut(u64, Permission) -> Result<Range>,
    ) -> Result<Self> {
        let mut globals = Self::default();
        for (index, variable) in module.variables.iter().enumerate() {
            let bytes = variable.bytes().max(initial_bytes(variable));
            let permission = match variable.space {
                Space::Global => Permission::ReadWrite,
                Space::Const => Permission::ReadOnly,
                Space::Shared | Space::SharedCta => {
                    globals.add_shared(index as u32, variable);
                    continue;
                }
                Space::Reg | Space::Sreg | Space::Local | Space::Tex => continue,
                Space::Param | Space::ParamEntry | Space::ParamFunc => continue,
                Space::SharedCluster => continue,
            };
            let range = alloc(bytes, permission)?;
            globals.ranges.insert(index as u32, range);
            globals.named.push((variable.name.clone(), range));
        }
        for (index, variable) in module.variables.iter().enumerate() {
            if let (Some(range), Some(init)) =
                (globals.ranges.get(&(index as u32)).copied(), &variable.init)
            {
                let mut pieces = Pieces { range, list: Vec::new() };
                globals.fill(init, variable, 0, 0, &mut pieces)?;
                globals.contents.append(&mut pieces.list);
            }
        }
        Ok(globals)
    }

    fn add_shared(&mut self, index: u32, variable: &Variable) {
        if variable.is_dynamic() {
            return;
        }
        let offset = self.shared_bytes.next_multiple_of(u64::from(variable.alignment().max(1)));
        self.shared.insert(index, offset);
        self.shared_bytes = offset + variable.bytes(); // the verifier bounds their sum
    }

    /// Where variable `index` lies, unless its place depends on the kernel (dynamic shared memory).
    pub(in crate::device::cpu) fn place(&self, index: u32) -> Option<VariablePlace> {
        if let Some(range) = self.ranges.get(&index) {
            return Some(VariablePlace::Fixed { address: range.address, bytes: range.bytes });
        }
        self.shared.get(&index).map(|&offset| VariablePlace::Shared { offset })
    }

    /// Static shared memory in bytes of the module's own variables.
    pub(in crate::device::cpu) fn shared_bytes(&self) -> u64 {
        self.shared_bytes
    }

    /// Writes `init` into `bytes` from `at`, for an array from dimension `depth` on.
    fn fill(
        &self,
        init: &Init,
        variable: &Variable,
        depth: usize,
        at: u64,
        pieces: &mut Pieces,
    ) -> Result<()> {
        let lane = u64::from(variable.ty.bytes());
        match init {
            Init::Value(value) => pieces.put(at, &self.encode(value, variable.ty)?),
            Init::Text(text) => pieces.put(at, text),
            Init::List(items) => {
                let inner = extent(variable.dims.get(depth + 1..));
                let stride = match items.first() {
                    Some(Init::List(_)) if depth < variable.dims.len() => {
                        inner.saturating_mul(lane * u64::from(variable.lanes.max(1)))
                    }
                    Some(Init::Text(_)) => inner,
                    Some(Init::List(_) | Init::Value(_)) | None => lane,
                };
                for (index, item) in items.iter().enumerate() {
                    let at = at.saturating_add(stride.saturating_mul(index as u64));
                    self.fill(item, variable, depth + 1, at, pieces)?;
                }
                Ok(())
            }
        }
    }

    /// The bytes of a value in a variable of this type.
    ///
    /// # Errors
    /// [`Error::Load`] for types that PTX has no initial values of (PTX ISA, section 5.4.4), and for addresses that are
    /// not known before a launch.
    fn encode(&self, value: &Value, ty: Type) -> Result<Vec<u8>> {
        let width = ty.bytes() as usize;
        let bits = match ty {
            Type::F32 => match *value {
                Value::Int(v) => u64::from((v as f32).to_bits()),
                Value::F32(bits) => u64::from(bits),
                Value::F64(bits) => u64::from((f64::from_bits(bits) as f32).to_bits()),
                Value::Address(address) => self.address(&address)?,
            },
            Type::F64 => match *value {
                Value::Int(v) => (v as f64).to_bits(),
                Value::F32(bits) => f64::from(f32::from_bits(bits)).to_bits(),
                Value::F64(bits) => bits,
                Value::Address(address) => self.address(&address)?,
            },
            Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128 => self.bits(value)?,
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => self.bits(value)?,
            Type::S8 | Type::S16 | Type::S32 | Type::S64 => self.bits(value)?,
            Type::Texref | Type::Samplerref | Type::Surfref => self.bits(value)?,
            Type::F16 | Type::Bf16 | Type::Tf32 | Type::Pred => return Err(without_initial(ty)),
            Type::F16x2 | Type::Bf16x2 | Type::F32x2 | Type::U16x2 | Type::S16x2 => {
                return Err(without_initial(ty));
            }
            Type::E4m3x2 | Type::E5m2x2 => return Err(without_initial(ty)),
        };
        Ok(bits.to_le_bytes().into_iter().chain([0; 8]).take(width).collect())
    }

    /// A value of a type that converts nothing.
    fn bits(&self, value: &Value) -> Result<u64> {
        match value {
            Value::Int(v) => Ok(*v as u64),
            Value::F32(bits) => Ok(u64::from(*bits)),
            Value::F64(bits) => Ok(*bits),
            Value::Address(address) => self.address(address),
        }
    }

    fn address(&self, address: &SymbolAddress) -> Result<u64> {
        let base = match address.symbol {
            Symbol::Variable(index) => match self.place(index) {
                Some(VariablePlace::Fixed { address, .. }) => address,
                Some(VariablePlace::Shared { offset }) => offset,
                None => 0,
            },
            Symbol::Function(index) => super::function_handle(index),
            Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) => {
                return Err(bad("the address of a local symbol"));
            }
        };
        let value = base.wrapping_add(address.offset as u64);
        Ok(match address.mask {
            Some(mask) if mask != 0 => (value & mask) >> mask.trailing_zeros(),
            _ => value,
        })
    }
}

/// Bytes that an initialiser of an open array needs.
fn initial_bytes(variable: &Variable) -> u64 {
    let lane = u64::from(variable.ty.bytes());
    match &variable.init {
        Some(Init::Text(text)) => text.len() as u64 + 1,
        Some(Init::List(items)) if variable.dims.first() == Some(&0) => {
            let inner = extent(variable.dims.get(1..));
            let each = inner.saturating_mul(lane * u64::from(variable.lanes.max(1)));
            each.saturating_mul(items.len() as u64)
        }
        Some(Init::List(_) | Init::Value(_)) | None => 0,
    }
}

/// Elements of an array with these sizes.
fn extent(dims: Option<&[u64]>) -> u64 {
    dims.unwrap_or(&[]).iter().fold(1, |extent: u64, dim| extent.saturating_mul(*dim))
}

/// What an initialiser writes into a variable's memory: a large array may have but a few values.
struct Pieces {
    range: Range,
    /// Addresses and bytes.
    list: Vec<(u64, Vec<u8>)>,
}

impl Pieces {
    fn put(&mut self, at: u64, value: &[u8]) -> Result<()> {
        let end = at.checked_add(value.len() as u64);
        if end.is_none_or(|end| end > self.range.bytes) {
            return Err(bad("an initialiser longer than its variable"));
        }
        let address = self.range.address + at;
        match self.list.last_mut() {
            Some((start, bytes)) if *start + bytes.len() as u64 == address => {
                bytes.extend_from_slice(value);
            }
            _ => self.list.push((address, value.to_vec())),
        }
        Ok(())
    }
}

fn bad(what: &str) -> Error {
    Error::Load {
        device: NAME.into(),
        log: format!("{what} initialises a variable"),
        location: None,
    }
}

fn without_initial(ty: Type) -> Error {
    bad(&format!("a value of .{}, which has no initial values,", ty.text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::parse;

    /// What a variable of this type holds at first.
    fn initial(declared: &str) -> Result<Vec<u8>> {
        let text = format!(".version 8.8\n.target sm_90\n.address_size 64\n.global {declared};\n");
        let module = parse(&text).unwrap();
        let globals = Globals::new(&module, |bytes, _| Ok(Range { address: 0x1000, bytes }))?;
        Ok(globals.contents.into_iter().flat_map(|(_, bytes)| bytes).collect())
    }

    #[test]
    fn values_are_converted_to_floating_point_types_alone() {
        let one = |declared: &str| initial(declared).unwrap();
        assert_eq!(one(".f32 x = 2"), 2f32.to_le_bytes());
        assert_eq!(one(".f32 x = 0.5"), 0.5f32.to_le_bytes());
        assert_eq!(one(".f64 x = 0f3F000000"), 0.5f64.to_le_bytes());
        assert_eq!(one(".b32 x = 0f3F000000"), 0.5f32.to_le_bytes());
        assert_eq!(one(".s16 x = -2"), (-2i16).to_le_bytes());
        assert_eq!(one(".u64 x = 7"), 7u64.to_le_bytes());
    }

    #[test]
    fn some_types_have_no_initial_values() {
        for ty in ["f16", "f16x2", "bf16", "bf16x2", "tf32", "f32x2"] {
            let found = initial(&format!(".{ty} x = 1.0"));
            assert!(matches!(found, Err(Error::Load { .. })), "{ty}: {found:?}");
        }
    }
}
