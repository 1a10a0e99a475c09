//! Executable memory.
#![expect(unsafe_code, reason = "frees executable memory")]

use std::{fmt, sync::Mutex};

use cranelift_codegen::{
    Context,
    control::ControlPlane,
    isa::OwnedTargetIsa,
    settings::{self, Configurable},
};
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{FuncId, Module as _, ModuleReloc, default_libcall_names};

use super::{images, internal, math, order};
use crate::{
    device::{Error, Result, cpu::abi::Entry},
    machine,
};

/// Addresses reserved for a module's code, so that its functions reach each other by near calls.
const RESERVED_BYTES: u64 = 256 << 20;
/// The least that is reserved where the process may not have many addresses.
const LEAST_RESERVED_BYTES: u64 = 4 << 20;

/// A module's machine code; its memory is given back when the last kernel that uses it goes.
pub(in crate::device::cpu) struct Code {
    /// Locked by nobody; it makes the module, which is only `Send`, shareable.
    module: Mutex<Option<JITModule>>,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").finish_non_exhaustive()
    }
}

impl Code {
    /// Makes everything defined in `module` executable; addresses in the order of `functions`.
    pub(super) fn finish(
        mut module: JITModule,
        functions: &[FuncId],
    ) -> Result<(Self, Vec<*const u8>)> {
        module.finalize_definitions().map_err(|e| internal(&e.to_string()))?;
        let addresses = functions.iter().map(|id| module.get_finalized_function(*id)).collect();
        Ok((Self { module: Mutex::new(Some(module)) }, addresses))
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        let module = self.module.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: every launch keeps its kernel, every kernel this; so nothing runs or will run it.
            unsafe { module.free_memory() };
        }
    }
}

/// The allocator of registers that makes the better code.
const BETTER: &str = "backtracking";
/// The one whose time and memory are in proportion to what it is given.
const LINEAR: &str = "single_pass";

/// Functions are optimised.
const OPTIMISES: &str = "speed";
/// They were, and nothing is to put them into another order again.
const OPTIMISED: &str = "none";

/// CLIF blocks from which on registers are allocated in linear time. The better allocator's time grows with their
/// square: 3,000 loads in a row, of two blocks each, took it 18 s and 670 MB, the other 1 s and 110 MB.
const MANY_BLOCKS: usize = 3000;

/// Compiles the function of `context` as `id`.
pub(super) fn define(module: &mut JITModule, id: FuncId, context: &mut Context) -> Result<()> {
    let blocks = context.func.dfg.num_blocks();
    let allocator = if blocks < MANY_BLOCKS { BETTER } else { LINEAR };
    if allocator == LINEAR {
        tracing::debug!("registers of a function of {blocks} blocks are allocated in linear time");
    }
    context
        .optimize(module.isa(), &mut ControlPlane::default())
        .map_err(|error| internal(&format!("{error:?}")))?;
    order::reorder(&mut context.func);
    let isa = isa(allocator, OPTIMISED)?;
    context
        .compile(&*isa, &mut ControlPlane::default())
        .map_err(|error| internal(&format!("{:?}", error.inner)))?;
    let Some(compiled) = context.compiled_code() else { return Err(internal("no code")) };
    let relocs = compiled.buffer.relocs().iter();
    let relocs: Vec<ModuleReloc> =
        relocs.map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, id)).collect();
    let alignment = u64::from(compiled.buffer.alignment);
    let defined = module.define_function_bytes(id, alignment, compiled.code_buffer(), &relocs);
    defined.map_err(|error| internal(&format!("{error:?}")))
}

/// This processor, and how its code is made: how registers are allocated, and what is done before that.
fn isa(allocator: &str, level: &str) -> Result<OwnedTargetIsa> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let wanted = [
        ("opt_level", level),
        ("enable_verifier", verify),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("regalloc_algorithm", allocator),
    ];
    for (name, value) in wanted {
        flags.set(name, value).map_err(|e| internal(&format!("flag {name}: {e}")))?;
    }
    cranelift_native::builder()
        .map_err(internal)?
        .finish(settings::Flags::new(flags))
        .map_err(|e| internal(&e.to_string()))
}

/// An empty module for this processor, in which the host's functions are known.
pub(super) fn empty_module() -> Result<JITModule> {
    let mut builder = JITBuilder::with_isa(isa(BETTER, OPTIMISES)?, default_libcall_names());
    let left = machine::addresses_left().unwrap_or(u64::MAX);
    let bytes = (left / 16).clamp(LEAST_RESERVED_BYTES, RESERVED_BYTES);
    let memory = ArenaMemoryProvider::new_with_size(bytes as usize);
    let memory = memory.map_err(|_| Error::OutOfMemory {
        device: "the host".into(),
        requested: bytes,
        free: left,
    })?;
    builder.memory_provider(Box::new(memory));
    for (name, address) in math::functions() {
        builder.symbol(name, address);
    }
    for (name, address) in images::functions() {
        builder.symbol(name, address);
    }
    Ok(JITModule::new(builder))
}

/// The address of a compiled kernel as a function.
pub(super) fn entry(address: *const u8) -> Entry {
    // SAFETY: the address is that of a function compiled with the signature that `Entry` has.
    unsafe { std::mem::transmute::<*const u8, Entry>(address) }
}
