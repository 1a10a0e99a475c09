//! PTX to machine code, by Cranelift. In order:
//!
//! Enters: a verified module, where its variables lie. Leaves: machine code, and what a launch must know of each
//! kernel. Must not know: `device::cpu::interp`, `device::cpu::launch`, `device::cpu::stream`, `ptx::pass::guard`.
//!
//! 1. [`inlining`]: device functions that wait become part of their callers.
//! 2. [`Layout`]: variables, parameters and locals have their places.
//! 3. [`flow`]: which registers live across the places where threads wait.
//! 4. [`function`]: each function becomes one CLIF function, by [`lower`] and, where groups of threads run side by
//!    side, by [`lanes`], too. A kernel's holds the loop over the threads of a block, so that it is called once a
//!    block (or warp), not once a thread. Places where threads wait are resume points ([`sync`]): the live
//!    registers are spilled, and the next thread's turn comes. Where all of a warp or a block come to the same one, the
//!    next turns begin within the function; else the host says who goes on.
//! 5. [`code`]: machine code in executable memory.
//!
//! All kernels of a module are compiled when it is loaded, so that what the device lacks is said then, not at a
//! launch in the middle of a run.

mod clif;
mod code;
mod fault;
mod flow;
mod function;
mod images;
mod inlining;
mod kernel;
mod known;
mod lanes;
mod limits;
mod lower;
mod math;
mod order;
mod output;
mod pointers;
#[cfg(target_arch = "x86_64")]
mod rounding;
mod sites;
mod span;
mod spin;
mod sync;
mod windows;

use std::sync::Arc;

use cranelift_codegen::{Context, ir};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_module::{FuncId, Linkage, Module as _};

pub(super) use kernel::{Brings, Kernel, Packed, Reduce, Resume, Schedule};
pub(super) use lanes::Groups;
pub(super) use lower::PROVIDED;
pub(super) use output::take_assertion;

use super::{
    abi::Entry,
    error::NAME,
    layout::{Globals, Layout},
    memory::Tables,
    options::Lanes,
};
use crate::{
    device::{Error, FunctionInfo, Parameter, Result},
    ptx::ast::{Function, FunctionKind, Module, parameter_places},
};
use function::Lowered;
use limits::Limits;
use pointers::Pointers;
use sites::Sites;

/// What all functions of a module share while they are compiled.
struct Unit<'a> {
    module: &'a Module,
    layout: &'a Layout<'a>,
    tables: Tables,
    limits: Limits,
    /// The compiled function of each PTX function that has a body, by its index.
    ids: Vec<Option<FuncId>>,
    pointers: Pointers,
}

/// Compiles the kernels of a module, all or the one of this name, and the device functions that they call.
pub(super) fn compile(
    (module, text): (&Module, &str),
    globals: &Globals,
    tables: Tables,
    groups: Groups,
    only: Option<&str>,
) -> Result<Vec<Kernel>> {
    let (module, inlined) = inlining::inlined(module, text)?;
    let module = &*module;
    let mut code = code::empty_module()?;
    let layout = Layout::new(module, globals);
    let leaves_out = |index: usize, function: &Function| {
        let is_other = only.is_some_and(|name| name != function.name);
        inlined[index] || function.kind == FunctionKind::Entry && is_other
    };
    let ids = declare(&mut code, module, &layout, leaves_out)?;
    let reserves = flow::uses_reserved_shared(module);
    let pointers = Pointers::declare(&mut code, module, &layout, &ids)?;
    let unit = Unit { module, layout: &layout, tables, limits: Limits::new(), ids, pointers };
    let mut sites = Sites::new(module, text);
    let mut kernels = Vec::new();
    let mut context = Context::new();
    for (index, function) in module.functions.iter().enumerate() {
        let Some(id) = unit.ids[index] else { continue };
        let mut lower = |groups| {
            context.clear();
            context.func.signature = signature(function, &code);
            context.func.name = ir::UserFuncName::user(0, id.as_u32());
            let (clif, mut builder) = (&mut context.func, FunctionBuilderContext::new());
            let own = (index, function);
            let lowered =
                function::lower(&unit, groups, own, &mut code, clif, &mut builder, &mut sites)?;
            unit.limits.check(&function.name, &context.func)?;
            Ok(lowered)
        };
        let lowered = match lower(groups) {
            // Code for groups of threads makes it larger; without it, it may be within the limits.
            Err(Error::Load { .. }) if groups.wish != Lanes::Never => lower(Groups::NONE),
            lowered => lowered,
        };
        let placed = |error| limits::placed(error, module, function);
        let lowered = lowered.map_err(placed)?;
        code::define(&mut code, id, &mut context)?;
        let deep = unit.limits.needs_deep_stack(&function.name, &context.func).map_err(placed)?;
        if function.kind == FunctionKind::Entry {
            let lowered = Lowered { calls: lowered.calls || deep, ..lowered };
            kernels.push((function, id, lowered));
        }
    }
    unit.pointers.define(&mut code, &mut context)?;
    let functions: Vec<_> = kernels.iter().map(|(_, id, _)| *id).collect();
    let (code, entries) = code::Code::finish(code, &functions)?;
    let (code, sites) = (Arc::new(code), sites.finish());
    let kernels = kernels.into_iter().zip(entries);
    Ok(kernels
        .map(|((function, _, lowered), entry)| {
            let entry = code::entry(entry);
            let kernel = kernel(function, lowered, entry, code.clone(), sites.clone());
            let info = FunctionInfo { ptx_version: module.architecture(), ..kernel.info };
            Kernel { reserves, info, ..kernel }
        })
        .collect())
}

/// A name for each function that is to be compiled by itself: not for those that `leaves_out` means.
fn declare(
    code: &mut cranelift_jit::JITModule,
    module: &Module,
    layout: &Layout<'_>,
    leaves_out: impl Fn(usize, &Function) -> bool,
) -> Result<Vec<Option<FuncId>>> {
    let declare = |(index, function): (usize, &Function)| {
        if function.body.is_none() || !layout.is_reached(index) || leaves_out(index, function) {
            return Ok(None);
        }
        let signature = signature(function, code);
        let name = format!("f{index}");
        let id = code.declare_function(&name, Linkage::Local, &signature);
        id.map(Some).map_err(|e| internal(&e.to_string()))
    };
    module.functions.iter().enumerate().map(declare).collect()
}

/// Kernels take the context and a range of threads; device functions the context and the addresses of their
/// parameters and results. Both return a status.
fn signature(function: &Function, code: &cranelift_jit::JITModule) -> ir::Signature {
    let mut signature = code.make_signature();
    let mut take = |ty| signature.params.push(ir::AbiParam::new(ty));
    take(ir::types::I64);
    if function.kind == FunctionKind::Entry {
        take(ir::types::I32);
        take(ir::types::I32);
    } else {
        function.params.iter().chain(&function.returns).for_each(|_| take(ir::types::I64));
    }
    signature.returns.push(ir::AbiParam::new(ir::types::I32));
    signature
}

fn kernel(
    function: &Function,
    lowered: Lowered,
    entry: Entry,
    code: Arc<code::Code>,
    sites: Arc<[kernel::Site]>,
) -> Kernel {
    let parameters = parameter_places(&function.params).map(|place| Parameter {
        offset: place.start as usize,
        bytes: (place.end - place.start) as usize,
    });
    let info = FunctionInfo {
        max_threads: function.max_threads().unwrap_or(u32::MAX).min(1024),
        shared_bytes: lowered.shared_bytes as u32,
        local_bytes: lowered.frame_bytes as u32,
        registers: function.body.as_ref().map_or(0, |body| body.registers.len() as u32),
        parameters: parameters.collect(),
        ..FunctionInfo::default()
    };
    Kernel {
        name: function.name.clone(),
        info,
        entry,
        schedule: lowered.schedule,
        local_bytes: lowered.local_bytes,
        spill_words: lowered.spill_bytes.div_ceil(8),
        calls: lowered.calls,
        yields: lowered.yields,
        reserves: false,
        width: lowered.width,
        flushes: lowered.flushes,
        entry_site: lowered.entry_site,
        sites,
        resumes: lowered.resumes,
        packed: lowered.packed,
        _code: code,
    }
}

/// A mistake of ours, as an error: it must never end the process.
pub(super) fn internal(what: &str) -> Error {
    Error::Load {
        device: NAME.into(),
        log: format!("internal error of the compiler: {what}"),
        location: None,
    }
}
