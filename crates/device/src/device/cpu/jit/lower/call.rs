//! Device functions: calls of them, and their own frames. Parameters and results lie in the caller's frame of local
//! memory, as `.local` variables do, and are passed by address.

use std::mem::offset_of;

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};
use cranelift_module::FuncId;

use super::{EXITED, Lower, Step, Unsupported, clif_type, walk};
use crate::{
    device::{
        Result,
        cpu::{
            abi::{BlockContext, STOPPED},
            jit::{kernel::SiteKind, pointers::NO_FUNCTION, span::MemorySpan},
            layout::SymbolPlace,
        },
    },
    ptx::{
        ast::Param,
        inst::Instruction,
        operand::{Operand, Symbol},
        types::Type,
    },
};

/// The functions that CUDA itself provides.
pub(in crate::device::cpu) const PROVIDED: [&str; 4] =
    ["vprintf", "__assertfail", "malloc", "free"];

/// Stack that a frame of compiled code may take beyond what was checked.
const MARGIN_BYTES: i64 = 64 << 10;

impl Lower<'_, '_> {
    /// The address of a parameter or result of this device function.
    pub(super) fn argument(&self, position: usize) -> Value {
        self.arguments[position]
    }

    /// The memory of a parameter or result of this device function.
    fn argument_memory(&self, position: usize, param: &Param) -> MemorySpan {
        MemorySpan::new(self.argument(position), 0, param.bytes())
    }

    // The callee ------------------------------------------------------------------------------------

    pub(in crate::device::cpu::jit) fn device_function(&mut self) -> Result<()> {
        let stack = self.b.ins().get_stack_pointer(types::I64);
        let limit = self.context_u64(offset_of!(BlockContext, stack_limit));
        let least = self.b.ins().iadd_imm_u(limit, MARGIN_BYTES);
        let fine = self.b.ins().icmp(IntCC::UnsignedGreaterThan, stack, least);
        let none = self.b.ins().iconst(types::I64, 0);
        self.stop_unless(fine, SiteKind::Stack, none);
        // Functions that call each other can go on for ever without a loop.
        self.poll();
        self.push_frame();
        self.define_all_registers();
        for (position, param) in self.source.function.params.iter().enumerate() {
            if let Some(reg) = param.reg {
                let from = self.argument_memory(position, param);
                let value = self.load(clif_type(param.ty), from, 0);
                let value = self.fit(value, clif_type(self.source.body.registers.ty(reg)));
                self.b.def_var(self.variable(reg), value);
            }
        }
        walk::statements(self, &[])?;
        self.b.switch_to_block(self.targets.next);
        let exited = self.b.ins().iconst(types::I32, EXITED);
        self.b.ins().return_(&[exited]);
        self.stop_block();
        Ok(())
    }

    fn push_frame(&mut self) {
        let at = offset_of!(BlockContext, local_top);
        let local = self.load(types::I64, self.context_memory(), at as i64);
        self.b.def_var(self.thread.local, local);
        let start = offset_of!(BlockContext, local_start) as i64;
        let start = self.load(types::I64, self.context_memory(), start);
        self.b.def_var(self.thread.start, start);
        if self.source.frame.local_bytes == 0 {
            return;
        }
        let top = self.b.ins().iadd_imm_u(local, self.source.frame.local_bytes as i64);
        let limit = offset_of!(BlockContext, local_limit) as i64;
        let limit = self.load(types::I64, self.context_memory(), limit);
        let fine = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, top, limit);
        self.stop_unless(fine, SiteKind::Stack, top);
        self.set_context(top, at);
    }

    pub(super) fn return_from_function(&mut self, status: i64) {
        let function = self.source.function;
        for (index, result) in function.returns.iter().enumerate() {
            if let Some(reg) = result.reg {
                let value = self.register(reg, result.ty);
                let to = self.argument_memory(function.params.len() + index, result);
                self.store(value, to, 0);
            }
        }
        if self.source.frame.local_bytes > 0 {
            let local = self.b.use_var(self.thread.local);
            self.set_context(local, offset_of!(BlockContext, local_top));
        }
        let status = self.b.ins().iconst(types::I32, status);
        self.b.ins().return_(&[status]);
    }

    // The caller ------------------------------------------------------------------------------------

    pub(super) fn call(&mut self, i: &Instruction) -> Step {
        let (unit, body) = (self.source.unit, self.source.body);
        if let Some(callee) = i.callee()
            && unit.ids[callee as usize].is_none()
        {
            return self.call_host(i, &unit.module.functions[callee as usize].name);
        }
        let (params, returns) = unit
            .module
            .parameters_of_call(body, i)
            .ok_or(Unsupported::Part("a call without a prototype"))?;
        let spans = self.pass_all(i, params, returns)?;
        let mut arguments = vec![self.context];
        for memory in &spans {
            let address = self.address_of(*memory);
            arguments.push(address);
        }
        let status = match i.callee().and_then(|callee| unit.ids[callee as usize]) {
            Some(id) => self.call_function(id, &arguments),
            None => self.call_by_handle(i, params, returns, arguments)?,
        };
        self.after_call(status);
        for (index, (operand, param)) in i.dst.iter().zip(returns).enumerate() {
            if let Operand::Reg(_) = operand {
                let from = spans[params.len() + index];
                let value = self.load(clif_type(param.ty), from, 0);
                self.set_operand(operand, value)?;
            }
        }
        Ok(())
    }

    fn call_function(&mut self, id: FuncId, arguments: &[Value]) -> Value {
        let callee = self.imports.function(&mut self.b, id);
        let call = self.b.ins().call(callee, arguments);
        self.b.inst_results(call)[0]
    }

    /// The memory of each argument, with what is passed in it, and of each result.
    fn pass_all(
        &mut self,
        i: &Instruction,
        params: &[Param],
        returns: &[Param],
    ) -> Step<Vec<MemorySpan>> {
        let given = i.src.get(1..).unwrap_or(&[]);
        if given.len() != params.len() || i.dst.len() != returns.len() {
            return Err(Unsupported::Part("a call with the wrong number of arguments"));
        }
        let operands = given.iter().chain(&i.dst);
        let mut temporaries = self.source.frame.temporaries();
        let mut spans = Vec::new();
        for (index, (operand, param)) in operands.zip(params.iter().chain(returns)).enumerate() {
            if let Operand::Symbol(Symbol::Local(local), 0) = operand {
                spans.push(self.variable_memory(*local, param)?);
                continue;
            }
            let local = self.b.use_var(self.thread.local);
            let memory = MemorySpan::new(local, temporaries.next(param) as i64, param.bytes());
            if index < params.len() {
                let value = self.value(operand, param.ty)?;
                self.store(value, memory, 0);
            }
            spans.push(memory);
        }
        Ok(spans)
    }

    /// A `.param` variable of this function, for a parameter that is passed in it.
    fn variable_memory(&mut self, local: u32, param: &Param) -> Step<MemorySpan> {
        let symbol = Symbol::Local(local);
        match self.place(symbol) {
            Some(SymbolPlace::Local { offset, bytes }) if bytes >= param.bytes() => {
                let base = self.b.use_var(self.thread.local);
                Ok(MemorySpan::new(base, offset as i64, bytes))
            }
            _ => Err(Unsupported::Part("an argument shorter than its parameter")),
        }
    }

    /// A call through a pointer, which is a handle: one of the functions with such parameters, or a fault.
    fn call_by_handle(
        &mut self,
        i: &Instruction,
        params: &[Param],
        returns: &[Param],
        mut arguments: Vec<Value>,
    ) -> Step<Value> {
        let handle = self.source(i, 0, Type::U64)?;
        let status = match self.source.unit.pointers.caller(params, returns) {
            Some(caller) => {
                arguments.insert(1, handle);
                self.call_function(caller, &arguments)
            }
            None => self.b.ins().iconst(types::I32, NO_FUNCTION),
        };
        let fine = self.b.ins().icmp_imm_u(IntCC::NotEqual, status, NO_FUNCTION);
        self.stop_unless(fine, SiteKind::Call, handle);
        Ok(status)
    }

    /// A stopped thread is stopped in every caller; one that has ended has ended in every caller.
    fn after_call(&mut self, status: Value) {
        let [gone, stopped, ended, on] = [(); 4].map(|()| self.b.create_block());
        self.b.set_cold_block(gone);
        self.b.set_cold_block(stopped);
        self.b.set_cold_block(ended);
        self.b.ins().brif(status, gone, &[], on, &[]);
        self.b.switch_to_block(gone);
        let stop = self.b.ins().icmp_imm_u(IntCC::Equal, status, i64::from(STOPPED));
        self.b.ins().brif(stop, stopped, &[], ended, &[]);
        self.b.switch_to_block(stopped);
        self.b.ins().return_(&[status]);
        self.b.switch_to_block(ended);
        self.leave(EXITED);
        self.b.switch_to_block(on);
    }

    /// Calls one of [`PROVIDED`]. That may take long, and very many calls need no loop: it is looked for the end behind
    /// each.
    fn call_host(&mut self, i: &Instruction, name: &str) -> Step {
        match name {
            "vprintf" => {
                let [format, arguments] = [1, 2].map(|at| self.call_argument(i, at, Type::U64));
                let arguments = [self.context, format?, arguments?];
                let count = self.host("warpaint_vprintf", &arguments, types::I32)?;
                self.poll();
                self.call_result(i, count)
            }
            "__assertfail" => {
                let mut arguments = vec![self.context];
                for (at, ty) in [(1, Type::U64), (2, Type::U64), (3, Type::U32), (4, Type::U64)] {
                    let value = self.call_argument(i, at, ty)?;
                    arguments.push(value);
                }
                self.host("warpaint_assertfail", &arguments, types::I32)?;
                let site = self.site(SiteKind::Assert);
                let none = self.b.ins().iconst(types::I64, 0);
                self.stop_at(site, none);
                Ok(())
            }
            "malloc" => {
                let bytes = self.call_argument(i, 1, Type::U64)?;
                let arguments = [self.context, bytes];
                let address = self.host("warpaint_malloc", &arguments, types::I64)?;
                self.poll();
                self.call_result(i, address)
            }
            "free" => {
                let address = self.call_argument(i, 1, Type::U64)?;
                let arguments = [self.context, address];
                let wrong = self.host("warpaint_free", &arguments, types::I32)?;
                let fine = self.b.ins().icmp_imm_u(IntCC::Equal, wrong, 0);
                self.stop_unless(fine, SiteKind::Free, address);
                self.poll();
                Ok(())
            }
            _ => Err(Unsupported::Part("a function without a body")),
        }
    }

    fn call_argument(&mut self, i: &Instruction, at: usize, ty: Type) -> Step<Value> {
        let operand = i.src.get(at).ok_or(Unsupported::Part("too few operands"))?;
        if let Operand::Symbol(Symbol::Local(local), 0) = operand {
            let memory = self.variable_memory(*local, &Param::scalar(ty))?;
            return Ok(self.load(clif_type(ty), memory, 0));
        }
        self.value(operand, ty)
    }

    fn call_result(&mut self, i: &Instruction, value: Value) -> Step {
        match i.dst.first() {
            Some(Operand::Symbol(Symbol::Local(local), 0)) => {
                let ty = super::special::bits_type(self.b.func.dfg.value_type(value).bytes());
                let memory = self.variable_memory(*local, &Param::scalar(ty))?;
                self.store(value, memory, 0);
                Ok(())
            }
            Some(operand) => self.set_operand(operand, value),
            None => Ok(()),
        }
    }
}
