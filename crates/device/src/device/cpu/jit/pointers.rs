//! Calls through pointers. A pointer to a function is a handle, and for each list of parameters and results there is
//! one function that calls what the handle means: so a call takes as little code as any, however many functions there
//! are.

use std::collections::BTreeMap;

use cranelift_codegen::{
    Context,
    ir::{self, InstBuilder, types},
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module as _};

use super::{code, internal};
use crate::{
    device::{
        Result,
        cpu::layout::{Layout, function_handle},
    },
    ptx::ast::{FunctionKind, Module, Param},
};

/// What a call through a handle gives that means none of the functions with its parameters and results.
pub(super) const NO_FUNCTION: i64 = 0x4e4f_4e45;

/// More parameters and results are refused: their addresses are passed on the stack, without a check of their own.
const MOST_PARAMETERS: usize = 1000;

/// The sizes in bytes of parameters and of results.
type Shape = (Vec<u64>, Vec<u64>);

fn shape(params: &[Param], returns: &[Param]) -> Shape {
    let bytes = |all: &[Param]| all.iter().map(Param::bytes).collect();
    (bytes(params), bytes(returns))
}

/// The functions that calls through pointers call, for each shape of those whose address is taken.
#[derive(Debug, Default)]
pub(super) struct Pointers {
    shapes: BTreeMap<Shape, Alike>,
}

/// Functions of one shape.
#[derive(Debug)]
struct Alike {
    /// What calls them.
    caller: FuncId,
    /// With their handles.
    functions: Vec<(u64, FuncId)>,
}

impl Pointers {
    /// Declares them, where `ids` are the compiled functions of the module.
    pub(super) fn declare(
        code: &mut JITModule,
        module: &Module,
        layout: &Layout<'_>,
        ids: &[Option<FuncId>],
    ) -> Result<Self> {
        let mut found = Self::default();
        for (index, function) in module.functions.iter().enumerate() {
            let Some(id) = ids[index] else { continue };
            let is_one = function.kind == FunctionKind::Func && layout.is_addressed(index);
            let shape = shape(&function.params, &function.returns);
            if !is_one || shape.0.len() + shape.1.len() > MOST_PARAMETERS {
                continue;
            }
            let callee = (function_handle(index as u32), id);
            if let Some(alike) = found.shapes.get_mut(&shape) {
                alike.functions.push(callee);
                continue;
            }
            let (name, signature) =
                (format!("pointer{}", found.shapes.len()), signature(code, &shape));
            let caller = code.declare_function(&name, Linkage::Local, &signature);
            let caller = caller.map_err(|error| internal(&error.to_string()))?;
            found.shapes.insert(shape, Alike { caller, functions: vec![callee] });
        }
        Ok(found)
    }

    /// What calls the function that a handle means, with these parameters and results. It takes the context, the
    /// handle, and their addresses, and gives what the function gives, or [`NO_FUNCTION`].
    pub(super) fn caller(&self, params: &[Param], returns: &[Param]) -> Option<FuncId> {
        self.shapes.get(&shape(params, returns)).map(|alike| alike.caller)
    }

    /// Makes their code.
    pub(super) fn define(&self, code: &mut JITModule, context: &mut Context) -> Result<()> {
        for (shape, alike) in &self.shapes {
            context.clear();
            context.func.signature = signature(code, shape);
            context.func.name = ir::UserFuncName::user(0, alike.caller.as_u32());
            alike.build(code, &mut context.func);
            code::define(code, alike.caller, context)?;
        }
        Ok(())
    }
}

impl Alike {
    fn build(&self, code: &mut JITModule, clif: &mut ir::Function) {
        let mut own = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(clif, &mut own);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let mut arguments = b.block_params(entry).to_vec();
        let handle = arguments.remove(1);
        let none = b.create_block();
        let mut switch = Switch::new();
        let mut cases = Vec::new();
        for (handle, callee) in &self.functions {
            let block = b.create_block();
            switch.set_entry(u128::from(*handle), block);
            cases.push((block, *callee));
        }
        switch.emit(&mut b, handle, none);
        b.switch_to_block(none);
        let status = b.ins().iconst(types::I32, NO_FUNCTION);
        b.ins().return_(&[status]);
        for (block, callee) in cases {
            b.switch_to_block(block);
            let callee = code.declare_func_in_func(callee, b.func);
            let call = b.ins().call(callee, &arguments);
            let status = b.inst_results(call)[0];
            b.ins().return_(&[status]);
        }
        b.seal_all_blocks();
        b.finalize(code.target_config());
    }
}

fn signature(code: &JITModule, (params, returns): &Shape) -> ir::Signature {
    let mut signature = code.make_signature();
    let addresses = 2 + params.len() + returns.len();
    signature.params.extend((0..addresses).map(|_| ir::AbiParam::new(types::I64)));
    signature.returns.push(ir::AbiParam::new(types::I32));
    signature
}
