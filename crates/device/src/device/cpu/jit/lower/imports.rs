//! The functions that compiled code calls: others of the module, and those of the host.

use std::collections::HashMap;

use cranelift_codegen::{
    ir::{self, AbiParam, FuncRef, Value},
    isa::TargetFrontendConfig,
};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module as _};

use super::{Step, Unsupported};

/// What a function calls, in the machine code's module.
pub(super) struct Imports<'f> {
    code: &'f mut JITModule,
    /// The functions of the host that were called before.
    hosts: HashMap<&'static str, FuncRef>,
}

impl<'f> Imports<'f> {
    pub(super) fn new(code: &'f mut JITModule) -> Self {
        Self { code, hosts: HashMap::new() }
    }

    pub(super) fn target_config(&self) -> TargetFrontendConfig {
        self.code.target_config()
    }

    /// Another function of the module.
    pub(super) fn function(&mut self, b: &mut FunctionBuilder<'_>, id: FuncId) -> FuncRef {
        self.code.declare_func_in_func(id, b.func)
    }

    /// A function of the host that takes such arguments.
    pub(super) fn host(
        &mut self,
        b: &mut FunctionBuilder<'_>,
        name: &'static str,
        arguments: &[Value],
        result: ir::Type,
    ) -> Step<FuncRef> {
        if let Some(known) = self.hosts.get(name) {
            return Ok(*known);
        }
        let mut signature = self.code.make_signature();
        let types = arguments.iter().map(|argument| b.func.dfg.value_type(*argument));
        signature.params.extend(types.map(AbiParam::new));
        signature.returns.push(AbiParam::new(result));
        let id = self.code.declare_function(name, Linkage::Import, &signature);
        let id = id.map_err(|_| Unsupported::Part("a host function with two signatures"))?;
        let callee = self.function(b, id);
        self.hosts.insert(name, callee);
        Ok(callee)
    }
}
