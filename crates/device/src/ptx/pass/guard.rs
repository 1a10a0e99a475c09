//! Guarded code: no access of it leaves the memory that it is for, and the host can stop it.
//!
//! Enters: a module. Leaves: the module with its checks, and what the host passes to them and reads of them. Must not
//! know: `device`, `ptx::parser`, `ptx::pass::inline`.
//!
//! After an illegal access CUDA is dead for the whole process, and a kernel that does not end cannot be stopped. So
//! neither may happen. This pass puts a check before each access and a look at a flag into each loop:
//!
//! - Each address is followed back through the arithmetic to the kernel parameter or the variable that it comes from
//!   (`origin`), and compared with the bounds of that memory (`bounds`). Those of a parameter come as further arguments
//!   ([`Word`]), so the check is exact between neighbours and loads nothing. Where one of several sources is meant, its
//!   number travels in a register beside the address (`follow`). Where nothing is known, the address is searched in a
//!   table of all memory (`search`). An address that is a pointer and a multiple of an index is compared by the index,
//!   in half the instructions (`proof::index`).
//! - Accesses that are constants apart share a check, and what a check before has shown needs none (`plan`).
//! - An access outside is left out, and a load of it gives zero; the thread goes on, so that others that wait for it
//!   at a barrier do not wait for ever. The first one is noted by its thread (`noted`) and written down for the host
//!   (`record`), and a flag is raised at which all loops end (`poll`).
//! - The host proves at a launch that checks are not needed, that one is enough for two, or that a loop ends soon, and
//!   launches a version without them (`proof`).
//! - A warp's access to a matrix is made by all its threads, or by none where one of them is wrong (`weave`).
//! - A function that reaches itself looks how much of the stack is left (`stack`).
//! - `trap` and failed assertions are written down, too, and end their thread alone (`stop`).
//! - Of many calls of `printf` the last print nothing, for a full buffer would hold up the kernel (`prints`).
//!
//! A function that has what is not known here stays as it is, and [`NotGuarded`] says why: a matrix whose stride is no
//! constant, say. Not prevented are: a barrier that some threads never reach, a call through a pointer to no function,
//! and wild addresses of local and constant memory that were loaded from memory (they are counted:
//! [`Counts::unchecked`]). An access outside a surface that is an argument is told of (`surface_check`); one outside
//! another surface reads zero or is left out.

mod bounds;
mod code;
mod extent;
mod follow;
mod globals;
mod group;
mod note;
mod noted;
mod options;
mod plan;
mod poll;
mod prints;
mod proof;
pub mod record;
mod search;
mod stack;
mod stop;
mod surface;
mod surface_check;
#[cfg(test)]
mod tests;
mod weave;
mod weaver;
mod windows;
mod words;

use std::collections::HashMap;

pub use self::{
    options::{GuardOptions, Telling, Versions},
    proof::{Launch, Proof},
    search::LOCAL_WINDOW,
    windows::LocalMemory,
    words::{Find, Word, pointer_at},
};
use super::{access::Action, origin::Origins};
use crate::ptx::ast::{Body, Function, FunctionKind, Item, Linkage, LocationId, Module, Variable};
use crate::ptx::cfg::{BlockId, Cfg};
use crate::ptx::inst::Instruction;
use crate::ptx::operand::{Operand, Symbol};
use crate::ptx::types::{Space, Type};
use code::Code;
use follow::Sources;
use proof::Version;
use record::{NO_KERNEL, Recorder, VARIABLE, control};
use stack::Stack;
use stop::Reason;
use weaver::Weaver;
use windows::Windows;
use words::Words;

/// A guarded module, and what a device has to know of it.
#[derive(Clone, Debug)]
pub struct Guarded {
    /// The module; the source places in it are those of the module that it was made of.
    pub module: Module,
    /// Its kernels in the order of their numbers.
    pub kernels: Vec<GuardedKernel>,
    /// All checks by number.
    pub checks: Vec<Check>,
    /// Whether it looks for addresses in the table of ranges.
    pub searches: bool,
    /// Whether its kernels may call `malloc` or `free`.
    pub allocates: bool,
    /// Bytes of the stack that calls need in each thread, at least; 0 where the driver's compiler sees them all.
    pub stack_bytes: u64,
    /// Functions that stay as they were.
    pub not_guarded: Vec<NotGuarded>,
}

/// A kernel of a guarded module.
#[derive(Clone, Debug)]
pub struct GuardedKernel {
    /// Its name.
    pub name: String,
    /// Where its words lie in the packed arguments, in bytes: behind all arguments that it had, at a multiple of 8.
    pub words_offset: u32,
    /// Its words; where there are none it has no further parameter.
    pub words: Vec<Word>,
    /// What was found in it, without the functions that it calls.
    pub counts: Counts,
    /// Variants without the checks that the host proves redundant at a launch; fewest checks first.
    pub proved: Vec<Proved>,
}

/// Another version of a kernel, with the same parameters.
#[derive(Clone, Debug)]
pub struct Proved {
    /// Its name.
    pub name: String,
    /// What has to be so at a launch of it.
    pub proof: Proof,
}

/// What stands before a kernel's name, and a number, in the names of its other versions.
const PROVED: &str = "__warpaint_proved_";

/// How many accesses there are, and what was done with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All, but those of parameters by their name.
    pub accesses: u32,
    /// Those that need no check of their own.
    pub proved: u32,
    /// Checks.
    pub checked: u32,
    /// Those of the checks that most launches do without, because the host sees that they need not be.
    pub launches: u32,
    /// Those that nothing is known to compare with.
    pub unchecked: u32,
}

/// What a record's number of a check means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The function that it stands in.
    pub function: String,
    /// What was wrong.
    pub kind: CheckKind,
}

/// What a check found to be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// One of these accesses, in their order.
    Access {
        /// Their state space; none of generic addresses.
        space: Option<Space>,
        /// The accesses.
        accesses: Vec<CheckedAccess>,
    },
    /// An access to a surface.
    Surface {
        /// It is written.
        write: bool,
        /// The width in bytes.
        bytes: u32,
        /// Where.
        location: Option<LocationId>,
        /// Its line of the PTX text.
        line: u32,
    },
    /// A loop saw that the host had raised the flag.
    Stop {
        /// Where it goes back.
        location: Option<LocationId>,
        /// Its line of the PTX text.
        line: u32,
    },
    /// A function that reaches itself began where too little of the stack was left.
    TooDeep {
        /// Where.
        location: Option<LocationId>,
        /// Its line of the PTX text.
        line: u32,
    },
    /// `trap` was reached.
    Trap {
        /// Where.
        location: Option<LocationId>,
        /// Its line of the PTX text.
        line: u32,
    },
    /// An assertion failed.
    Assert {
        /// The condition, the function and the place.
        text: String,
        /// Where.
        location: Option<LocationId>,
        /// The line of the PTX text.
        line: u32,
    },
}

/// One of the accesses that a check is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedAccess {
    /// Bytes from the lowest one's address on.
    pub offset: i64,
    /// Its width in bytes.
    pub bytes: u32,
    /// What its address is a multiple of: its width, but of a matrix.
    pub align: u32,
    /// What is done.
    pub action: Action,
    /// Where.
    pub location: Option<LocationId>,
    /// Its line of the PTX text.
    pub line: u32,
}

/// Why a module, or a function of one, is not guarded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not guarded: {why}")]
pub struct NotGuarded {
    /// What stands in the way, as a part of a sentence.
    pub why: String,
}

impl NotGuarded {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// How the names of functions begin that give memory which no table has, or launch kernels that nobody guards.
const UNKNOWN_MEMORY: [&str; 3] = ["__cudaCDP", "cudaGetParameterBuffer", "cudaLaunchDevice"];

/// Guards a module that [`verify`](crate::ptx::verify()) found no fault in.
///
/// # Errors
/// [`NotGuarded`], where each kernel has something that is not known here, or the module as a whole.
pub fn guard(module: &Module, options: &GuardOptions<'_>) -> Result<Guarded, NotGuarded> {
    let GuardOptions { plain, telling, versions, local } = *options;
    expect_known(module)?;
    let variable = module.variables.len() as u32;
    let stack = Stack::of(module, local);
    let mut guarded = Guarded {
        module: module.clone(),
        kernels: Vec::new(),
        checks: Vec::new(),
        searches: false,
        allocates: module.functions.iter().any(Function::is_of_heap),
        stack_bytes: stack.needed,
        not_guarded: Vec::new(),
    };
    guarded.module.variables.push(control_variable());
    let globals = globals::add(&mut guarded.module);
    let seen = (telling == Telling::All).then(|| {
        let index = guarded.module.variables.len() as u32;
        let variable = Variable { name: record::SEEN.to_owned(), ..control_variable() };
        guarded.module.variables.push(variable);
        guarded.module.items.insert(0, Item::Variable(index));
        index
    });
    let windows = Windows::of(module, local);
    let mut second = Vec::new();
    guarded.module.items.insert(0, Item::Variable(variable));
    for (index, function) in module.functions.iter().enumerate() {
        let Some(body) = &function.body else { continue };
        if function.kind == FunctionKind::Entry && plain.contains(&function.name.as_str()) {
            continue;
        }
        let kernel = match function.kind {
            FunctionKind::Entry => guarded.kernels.len() as u32,
            FunctionKind::Func => NO_KERNEL,
        };
        let (variable, seen) = (Symbol::Variable(variable), seen.map(Symbol::Variable));
        let heap = guarded.allocates;
        let recorder = Recorder { variable, kernel, seen, globals, heap, windows };
        let checks = guarded.checks.len();
        let done =
            guard_function(module, index, body, (recorder, &stack, versions), &mut guarded.checks);
        let done = match done {
            Ok(done) => done,
            Err(why) => {
                guarded.checks.truncate(checks);
                guarded.not_guarded.push(why);
                continue;
            }
        };
        let Done { body, words, counts, searches, proved } = done;
        guarded.searches |= searches;
        let there = &mut guarded.module.functions[index];
        there.params.extend(words.parameter());
        there.body = Some(body);
        if function.kind == FunctionKind::Entry {
            let proved = proved.into_iter().enumerate().map(|(at, (body, proof))| {
                let name = format!("{PROVED}{at}_{}", function.name);
                second.push(Function { name: name.clone(), body: Some(body), ..there.clone() });
                Proved { name, proof }
            });
            let proved = proved.collect();
            guarded.kernels.push(GuardedKernel {
                name: function.name.clone(),
                words_offset: words.offset,
                words: words.list,
                counts,
                proved,
            });
        }
    }
    if guarded.kernels.is_empty() && !guarded.not_guarded.is_empty() {
        return Err(guarded.not_guarded.swap_remove(0));
    }
    if let Some(seen) = seen {
        guarded.module.variables[seen as usize].dims = vec![4 * guarded.checks.len().max(1) as u64];
    }
    for function in second {
        let index = guarded.module.functions.len() as u32;
        guarded.module.functions.push(function);
        guarded.module.items.push(Item::Definition(index));
    }
    Ok(guarded)
}

fn expect_known(module: &Module) -> Result<(), NotGuarded> {
    if module.address_size != 64 {
        return Err(NotGuarded::new("its addresses have 32 bits"));
    }
    if module.architecture().is_none_or(|architecture| architecture < (7, 0)) {
        return Err(NotGuarded::new("it is for GPUs older than Volta"));
    }
    if module.variable(VARIABLE).is_some() {
        return Err(NotGuarded::new("it is guarded already"));
    }
    let used = module.functions.iter().find(|function| {
        function.body.is_none() && UNKNOWN_MEMORY.iter().any(|name| function.name.starts_with(name))
    });
    match used {
        Some(function) => Err(NotGuarded::new(format!("it may call `{}`", function.name))),
        None => Ok(()),
    }
}

/// The module's control block.
fn control_variable() -> Variable {
    Variable {
        name: VARIABLE.to_owned(),
        space: Space::Global,
        linkage: Linkage::Visible,
        ty: Type::B8,
        lanes: 1,
        align: Some(8),
        dims: vec![control::BYTES as u64],
        init: None,
        attribute: None,
        bank: None,
    }
}

/// One function's body, guarded, with the words that it needs.
struct Done {
    body: Body,
    words: Words,
    counts: Counts,
    searches: bool,
    /// The same without the checks of proofs.
    proved: Vec<(Body, Proof)>,
}

/// Guards one function.
fn guard_function(
    module: &Module,
    index: usize,
    body: &Body,
    (recorder, stack, versions): (Recorder, &Stack, Versions),
    checks: &mut Vec<Check>,
) -> Result<Done, NotGuarded> {
    let function = &module.functions[index];
    let name = &function.name;
    let refused = |what: String| NotGuarded::new(format!("`{name}` has {what}"));
    let wide = |i: &Instruction| {
        let lanes = i.dst.iter().flat_map(Operand::lanes).filter_map(Operand::reg);
        lanes.into_iter().any(|reg| body.registers.ty(reg) == Type::B128)
    };
    if body.instructions().any(wide) {
        return Err(refused("values of 128 bits".to_owned()));
    }
    let cfg = Cfg::new(body);
    let origins = Origins::new(module, function, body);
    let mut plan = plan::plan(body, &cfg, &origins).map_err(refused)?;
    proof::index::find(function, body, &cfg, &origins, &mut plan.groups);
    let surfaces = match function.kind {
        FunctionKind::Entry => proof::index::surfaces(function, body, &cfg, &origins),
        FunctionKind::Func => Vec::new(),
    };
    plan.counts.add_surfaces(surfaces.len() as u32);
    let polls = poll::places(body, &cfg);
    let stops: HashMap<usize, Reason> = (0..body.statements.len())
        .filter_map(|at| {
            let i = plan::instruction(body, at)?;
            Some((at, stop::reason(module, body, at, i)?))
        })
        .collect();
    let formats = prints::formats(module, body);
    let mut weave =
        |words: Words, version: &Version, polls: &[BlockId]| -> Result<Woven, NotGuarded> {
            let mut code = Code::new(body)
                .ok_or_else(|| refused("names that only guarded code has".to_owned()))?;
            let sources = Sources::new(body, &origins, &plan.groups, &mut code);
            let mut weaver = Weaver {
                body,
                origins: &origins,
                plan: &plan,
                surfaces: &surfaces,
                formats: &formats,
                version,
                recorder,
                reserve: stack.reserve(index),
                function: name,
                words,
                sources,
                code,
                found: None,
                poll: None,
                noted: None,
                checks,
                woven: HashMap::new(),
                pending: Vec::new(),
                failed: None,
            };
            weaver.body(&cfg, polls, &stops);
            let Weaver { code, words, found, .. } = weaver;
            if !words.fit() {
                let what = "more pointers among its parameters than can be checked";
                return Err(refused(what.to_owned()));
            }
            let Code { registers, labels, out: statements, .. } = code;
            let body = Body { registers, labels, statements, ..body.clone() };
            Ok((body, words, found.is_some()))
        };
    let (whole, words, searches) =
        weave(Words::new(&function.params), &Version::default(), &polls)?;
    let versions = match (function.kind, versions) {
        (FunctionKind::Entry, Versions::Proved) => {
            proof::promising(module, function, body, &cfg, &plan.groups, &surfaces, &polls)
        }
        (FunctionKind::Entry, Versions::Whole)
        | (FunctionKind::Func, Versions::Proved | Versions::Whole) => Vec::new(),
    };
    let (mut counts, mut proved, mut all) = (plan.counts, Vec::new(), words);
    counts.launches = versions
        .first()
        .map_or(0, |one| (one.without.len() + one.covered.len() + one.inside.len()) as u32);
    for version in versions {
        // Its checks are among those of the first, and so are their words.
        let ends_soon = |from: &BlockId| {
            let mut edges = cfg.back_edges.iter().filter(|(at, _)| at == from);
            edges.all(|(_, to)| version.proof.loops().contains(to))
        };
        let polls: Vec<BlockId> = polls.iter().filter(|from| !ends_soon(from)).copied().collect();
        let (body, words, _) = weave(all, &version, &polls)?;
        all = words;
        proved.push((body, version.proof));
    }
    Ok(Done { body: whole, words: all, counts, searches, proved })
}

/// A body with its checks, the words that they need, and whether they search.
type Woven = (Body, Words, bool);
