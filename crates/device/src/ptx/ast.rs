//! A PTX module: variables, functions, registers, source locations.

use std::{collections::BTreeMap, ops::Range};

pub use super::inst::LocationId;
use super::inst::{Instruction, Op};
use super::operand::{Label, Reg, Symbol};
use super::types::{Space, Type};

/// A parsed PTX text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version`: major and minor.
    pub version: (u32, u32),
    /// `.target`: the architecture, then options such as `debug`.
    pub target: Vec<String>,
    /// `.address_size`: 32 or 64 bits.
    pub address_size: u32,
    /// `.file`: names by number.
    pub files: BTreeMap<u32, File>,
    /// Variables of the module.
    pub variables: Vec<Variable>,
    /// Functions by id: one for each name, declared or defined.
    pub functions: Vec<Function>,
    /// Declarations and definitions in the order of the text.
    pub items: Vec<Item>,
    /// `.section`s, as they were written.
    pub sections: Vec<Section>,
    /// Strings of `.debug_str` by label.
    pub debug_strings: BTreeMap<String, String>,
    /// All source locations that instructions name.
    pub locations: Vec<Location>,
}

/// A top-level statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A variable: an index into [`Module::variables`].
    Variable(u32),
    /// A function without its body: an index into [`Module::functions`].
    Declaration(u32),
    /// A function with its body.
    Definition(u32),
}

/// One `.file`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct File {
    /// Its name as the compiler was told.
    pub name: String,
    /// Time of modification and size, where given.
    pub stamp: Option<(u64, u64)>,
}

/// One `.section`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name with the dot.
    pub name: String,
    /// What stands between its braces.
    pub text: String,
}

/// A place in the source that instructions came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// Number of the file.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where unknown.
    pub column: u32,
    /// The call that was inlined, where the place is in an inlined function.
    pub inlined: Option<Inlined>,
}

/// An inlined call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inlined {
    /// Label of the function's name in `.debug_str`.
    pub label: String,
    /// Bytes after the label.
    pub offset: u32,
    /// Where it was called.
    pub call_site: LocationId,
}

/// How a name is known outside its module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Not at all.
    #[default]
    Internal,
    /// `.extern`: defined elsewhere.
    Extern,
    /// `.visible`.
    Visible,
    /// `.weak`.
    Weak,
    /// `.common`.
    Common,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name, unique in its function or module.
    pub name: String,
    /// Where it lives.
    pub space: Space,
    /// Linkage.
    pub linkage: Linkage,
    /// Type of one lane.
    pub ty: Type,
    /// 1, 2 or 4: `.v2`, `.v4`.
    pub lanes: u8,
    /// `.align` as written.
    pub align: Option<u32>,
    /// Array sizes; 0 is an open one (`[]`).
    pub dims: Vec<u64>,
    /// What it holds at first.
    pub init: Option<Init>,
    /// `.attribute(…)` as written, such as `.managed`.
    pub attribute: Option<String>,
    /// The bank of `.const[n]`.
    pub bank: Option<u32>,
}

/// An initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// One value.
    Value(Value),
    /// `{…}`: of an array, or of a dimension of it. What is missing is zero.
    List(Vec<Init>),
    /// A string; a zero byte follows.
    Text(Vec<u8>),
}

/// A value of an initialiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// A single-precision number by its bits (`0f…`).
    F32(u32),
    /// A double-precision number by its bits (`0d…`, or a decimal); in an `f32` variable its value counts.
    F64(u64),
    /// An address.
    Address(SymbolAddress),
}

/// An address in an initialiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolAddress {
    /// Of what.
    pub symbol: Symbol,
    /// Plus bytes.
    pub offset: i64,
    /// `generic(…)`: the generic address instead of that in the symbol's space.
    pub generic: bool,
    /// `0xff00(…)`: only the byte(s) under the mask, shifted down.
    pub mask: Option<u64>,
}

/// `.entry` or `.func`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// A kernel.
    Entry,
    /// A device function.
    Func,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// Linkage.
    pub linkage: Linkage,
    /// `.attribute(…)` as written.
    pub attribute: Option<String>,
    /// What it returns; at most one in practice.
    pub returns: Vec<Param>,
    /// What it takes.
    pub params: Vec<Param>,
    /// `.maxntid`, `.reqntid`, `.minnctapersm`, `.noreturn`, `.pragma`, … in order.
    pub directives: Vec<Directive>,
    /// The body, where it is defined.
    pub body: Option<Body>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name; empty in a prototype that names none (`_`).
    pub name: String,
    /// Its register, where a `.func` takes it in one (`.reg`) and has a body.
    pub reg: Option<Reg>,
    /// Declared as `.reg` instead of `.param`.
    pub in_reg: bool,
    /// Type, of one element where it is an array.
    pub ty: Type,
    /// `.align` as written.
    pub align: Option<u32>,
    /// Number of elements where it is an array (a structure by value); 0 is an open one.
    pub count: Option<u64>,
    /// `.ptr` and what follows, as written.
    pub pointer: Option<String>,
}

/// Where each of a function's parameters lies, in bytes: one behind the other, each at a multiple of its alignment.
/// Kernels find them so in their packed arguments (CUDA driver API, `cuLaunchKernel`).
pub fn parameter_places(params: &[Param]) -> impl Iterator<Item = Range<u64>> + '_ {
    let mut end: u64 = 0;
    params.iter().map(move |param| {
        let start = end.next_multiple_of(u64::from(param.alignment().max(1)));
        end = start.saturating_add(param.bytes());
        start..end
    })
}

impl Param {
    /// One without a name, of this type.
    pub fn scalar(ty: Type) -> Self {
        Self {
            name: String::new(),
            reg: None,
            in_reg: false,
            ty,
            align: None,
            count: None,
            pointer: None,
        }
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.ty.bytes()).saturating_mul(self.count.unwrap_or(1))
    }

    /// Its alignment in bytes.
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or_else(|| self.ty.bytes())
    }
}

/// A directive of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Its name without the dot.
    pub name: String,
    /// Its numbers.
    pub numbers: Vec<u32>,
    /// Its strings (`.pragma`).
    pub strings: Vec<String>,
}

/// The inside of a function.
///
/// Nested scopes are flattened: a name that a scope declares again is made unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Registers.
    pub registers: Registers,
    /// Variables declared in it: `.local`, `.shared`, `.param` of its calls, …
    pub locals: Vec<Variable>,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// `.branchtargets`.
    pub tables: Vec<Table>,
    /// `.callprototype`s and `.calltargets`.
    pub prototypes: Vec<Prototype>,
    /// Instructions and labels in order.
    pub statements: Vec<Statement>,
}

/// A statement of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// An instruction.
    Instruction(Instruction),
    /// The place of a label.
    Label(Label),
    /// `.pragma` in the body.
    Pragma(String),
}

/// A list of branch targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its label.
    pub name: String,
    /// Where `brx.idx` may go.
    pub labels: Vec<Label>,
}

/// The signature of an indirect call.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    /// Its label.
    pub name: String,
    /// What is returned.
    pub returns: Vec<Param>,
    /// What is taken.
    pub params: Vec<Param>,
    /// `.noreturn`, ….
    pub directives: Vec<Directive>,
    /// `.calltargets`: the only functions, by id, that may be called; the signature is theirs.
    pub targets: Option<Vec<u32>>,
}

/// The registers of a function: each has a number, a type and a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    groups: Vec<Group>,
    types: Vec<Type>,
}

/// One declared name: a register, or `count` of them with numbers appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name, or what stands before the number.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// The `n` of `%r<n>`.
    pub count: Option<u32>,
    /// The first's number.
    pub first: u32,
}

impl Registers {
    /// Most registers of one function.
    pub const LIMIT: u32 = 1 << 20;

    /// How many there are.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// The type of `reg`; `b32` for one that does not exist.
    pub fn ty(&self, reg: Reg) -> Type {
        self.types.get(reg.0 as usize).copied().unwrap_or(Type::B32)
    }

    /// All types by register number.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The name of `reg`.
    pub fn name(&self, reg: Reg) -> String {
        if reg.0 as usize >= self.len() {
            return format!("%unknown{}", reg.0);
        }
        let after = self.groups.partition_point(|group| group.first <= reg.0);
        match after.checked_sub(1).and_then(|at| self.groups.get(at)) {
            Some(Group { name, count: None, .. }) => name.clone(),
            Some(group) => format!("{}{}", group.name, reg.0 - group.first),
            None => format!("%unknown{}", reg.0),
        }
    }

    /// What was declared, in order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Declares one register, or `count` with numbers appended to `name`; gives the first. Names are the
    /// caller's to keep unique.
    pub fn declare(&mut self, name: impl Into<String>, ty: Type, count: Option<u32>) -> Reg {
        let first = self.types.len() as u32;
        self.groups.push(Group { name: name.into(), ty, count, first });
        self.types.resize(self.types.len() + count.unwrap_or(1) as usize, ty);
        Reg(first)
    }
}

impl Variable {
    /// Its size in bytes; an open dimension counts as none, unless the initialiser says more.
    pub fn bytes(&self) -> u64 {
        let lane = u64::from(self.ty.bytes()) * u64::from(self.lanes.max(1));
        self.dims.iter().fold(lane, |bytes, dim| bytes.saturating_mul(*dim))
    }

    /// Its alignment in bytes: as written, else its element's size.
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or_else(|| self.ty.bytes() * u32::from(self.lanes.max(1)))
    }

    /// Whether its size is the launch's to say: `.extern .shared name[]`.
    pub fn is_dynamic(&self) -> bool {
        self.linkage == Linkage::Extern && self.dims.first() == Some(&0)
    }
}

impl Function {
    /// Whether it is CUDA's `malloc` or `free`, which the module does not define.
    pub fn is_of_heap(&self) -> bool {
        self.body.is_none() && ["malloc", "free"].contains(&self.name.as_str())
    }

    /// The directive `name` (without the dot).
    pub fn directive(&self, name: &str) -> Option<&Directive> {
        self.directives.iter().find(|directive| directive.name == name)
    }

    /// The most threads of a block that `.maxntid` or `.reqntid` allow.
    pub fn max_threads(&self) -> Option<u32> {
        let directive = self.directive("reqntid").or_else(|| self.directive("maxntid"))?;
        Some(directive.numbers.iter().fold(1, |product, n| product.saturating_mul(*n)))
    }

    /// The block shape that `.reqntid` demands.
    pub fn required_block(&self) -> Option<[u32; 3]> {
        let numbers = &self.directive("reqntid")?.numbers;
        let at = |axis: usize| numbers.get(axis).copied().unwrap_or(1);
        Some([at(0), at(1), at(2)])
    }

    /// The name of `symbol` as this function sees it.
    pub fn symbol_name<'a>(&'a self, module: &'a Module, symbol: Symbol) -> &'a str {
        let params = |list: &'a [Param], index: u32| list.get(index as usize).map(|p| &p.name);
        let name = match symbol {
            Symbol::Param(index) => params(&self.params, index),
            Symbol::Return(index) => params(&self.returns, index),
            Symbol::Local(index) => {
                let body = self.body.as_ref();
                body.and_then(|body| body.locals.get(index as usize)).map(|local| &local.name)
            }
            Symbol::Variable(index) => module.variables.get(index as usize).map(|v| &v.name),
            Symbol::Function(index) => module.functions.get(index as usize).map(|f| &f.name),
        };
        name.map_or("?", String::as_str)
    }
}

impl Body {
    /// The instructions in order.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.statements.iter().filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            Statement::Label(_) | Statement::Pragma(_) => None,
        })
    }
}

/// Most inlined calls that are told of one place.
const LONGEST_CHAIN: usize = 64;

impl Module {
    /// The architecture that `.target` names: (7, 5) for `sm_75`.
    pub fn architecture(&self) -> Option<(u32, u32)> {
        let digits = self.target.first()?.strip_prefix("sm_")?;
        let number: u32 = digits.trim_end_matches(char::is_alphabetic).parse().ok()?;
        Some((number / 10, number % 10))
    }

    /// The parameters and results of what the call `i` in `body` calls: a function, or one that a pointer leads to and
    /// a prototype describes. None where it is no call, or one of nothing known.
    pub fn parameters_of_call<'a>(
        &'a self,
        body: &'a Body,
        i: &Instruction,
    ) -> Option<(&'a [Param], &'a [Param])> {
        let Op::Call { prototype, .. } = &i.op else { return None };
        match (i.callee(), prototype) {
            (Some(callee), _) => {
                let function = self.functions.get(callee as usize)?;
                Some((&function.params, &function.returns))
            }
            (None, Some(prototype)) => {
                let prototype = body.prototypes.get(*prototype as usize)?;
                Some((&prototype.params, &prototype.returns))
            }
            (None, None) => None,
        }
    }

    /// The function `name`.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The variable `name`.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The kernels.
    pub fn entries(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.kind == FunctionKind::Entry && f.body.is_some())
    }

    /// The place `id`.
    pub fn location(&self, id: LocationId) -> Option<&Location> {
        self.locations.get(id.0 as usize)
    }

    /// The name of the file with this number.
    pub fn file_name(&self, number: u32) -> &str {
        self.files.get(&number).map_or("<unknown>", |file| &file.name)
    }

    /// The (mangled) name of an inlined function.
    pub fn inlined_name(&self, inlined: &Inlined) -> &str {
        let text = self.debug_strings.get(&inlined.label).map_or("?", String::as_str);
        text.get(inlined.offset as usize..).unwrap_or("?")
    }

    /// The inlined calls that lead to `id`, innermost first: the function's name and where it was called.
    pub fn inline_chain(&self, id: LocationId) -> Vec<(&str, &Location)> {
        let mut chain = Vec::new();
        let mut at = self.location(id);
        while let Some(inlined) = at.and_then(|location| location.inlined.as_ref()) {
            let Some(site) = self.location(inlined.call_site) else { break };
            chain.push((self.inlined_name(inlined), site));
            if chain.len() >= LONGEST_CHAIN {
                break;
            }
            at = Some(site);
        }
        chain
    }
}
