//! The order of instructions within blocks. Cranelift's optimiser writes what only computes right before it is needed
//! first. Where values are loaded and summed up, that is behind the last load: so many values live at once that most
//! are stored to the stack and loaded again. Here such an instruction goes up to where its operands are known, if one
//! of them is not needed any more then, so that no more values live at once than before.

use cranelift_codegen::{
    cursor::{Cursor, FuncCursor},
    entity::SecondaryMap,
    ir::{Block, Function, Inst, Opcode, Value, ValueDef},
};

/// Brings the instructions of each block into that order.
pub(super) fn reorder(function: &mut Function) {
    let uses = uses(function);
    let mut operands = Operands::default();
    let blocks: Vec<Block> = function.layout.blocks().collect();
    for block in blocks {
        let insts: Vec<Inst> = function.layout.block_insts(block).collect();
        for inst in &insts {
            operands.look_at(function, block, *inst, &uses);
        }
        let order = operands.order(&insts);
        if order == insts {
            continue;
        }
        insts.iter().for_each(|inst| function.layout.remove_inst(*inst));
        let mut cursor = FuncCursor::new(function).at_bottom(block);
        order.into_iter().for_each(|inst| cursor.insert_inst(inst));
    }
}

/// How often each value is used.
fn uses(function: &Function) -> SecondaryMap<Value, u32> {
    let mut uses = SecondaryMap::new();
    for inst in function.layout.blocks().flat_map(|block| function.layout.block_insts(block)) {
        function.dfg.inst_values(inst).for_each(|value| uses[value] += 1);
    }
    uses
}

/// Whether an instruction does nothing but compute one value.
fn computes(function: &Function, inst: Inst) -> bool {
    let opcode: Opcode = function.dfg.insts[inst].opcode();
    let touches_memory = opcode.can_load() || opcode.can_store();
    let decides = opcode.is_terminator() || opcode.is_branch() || opcode.is_call();
    let does_more = opcode.can_trap() || opcode.other_side_effects();
    function.dfg.inst_results(inst).len() == 1 && !touches_memory && !decides && !does_more
}

/// What instructions of a block need of each other.
#[derive(Default)]
struct Operands {
    /// Of an instruction that may go up: how many operands come from the block, and are not known yet.
    missing: SecondaryMap<Inst, u32>,
    /// Those that may go up and need what this one gives.
    needed_by: SecondaryMap<Inst, Vec<Inst>>,
}

impl Operands {
    fn look_at(
        &mut self,
        function: &Function,
        block: Block,
        inst: Inst,
        uses: &SecondaryMap<Value, u32>,
    ) {
        let is_last_use = |value: Value| uses[value] == 1;
        if !computes(function, inst) || !function.dfg.inst_values(inst).any(is_last_use) {
            return;
        }
        for operand in function.dfg.inst_values(inst) {
            let ValueDef::Result(from, _) = function.dfg.value_def(operand) else { continue };
            if function.layout.inst_block(from) == Some(block) {
                self.missing[inst] += 1;
                self.needed_by[from].push(inst);
            }
        }
    }

    /// The instructions in the order in which they were, but that some follow what gives their last operand.
    fn order(&mut self, insts: &[Inst]) -> Vec<Inst> {
        let mut order = Vec::with_capacity(insts.len());
        let mut went_up = SecondaryMap::<Inst, bool>::new();
        for inst in insts {
            let mut open = if went_up[*inst] { Vec::new() } else { vec![*inst] };
            while let Some(inst) = open.pop() {
                order.push(inst);
                for by in std::mem::take(&mut self.needed_by[inst]).into_iter().rev() {
                    self.missing[by] -= 1;
                    if self.missing[by] == 0 {
                        went_up[by] = true;
                        open.push(by);
                    }
                }
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::{
        AbiParam, Function, InstBuilder, MemFlagsData, Opcode, Signature, Value, types,
    };
    use cranelift_codegen::isa::CallConv;
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    use super::reorder;

    /// The opcodes of a function's only block, which `make` writes behind four loads of numbers.
    fn opcodes(make: impl Fn(&mut FunctionBuilder<'_>, Value, [Value; 4])) -> Vec<Opcode> {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.push(AbiParam::new(types::I64));
        let mut function = Function::with_name_signature(Default::default(), signature);
        let mut context = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut function, &mut context);
        let block = b.create_block();
        b.append_block_params_for_function_params(block);
        b.switch_to_block(block);
        let at = b.block_params(block)[0];
        let loads = [0, 4, 8, 12];
        let loads = loads.map(|offset| b.ins().load(types::F32, MemFlagsData::new(), at, offset));
        make(&mut b, at, loads);
        b.ins().return_(&[]);
        b.seal_all_blocks();
        reorder(b.func);
        let insts = b.func.layout.block_insts(block);
        insts.map(|inst| b.func.dfg.insts[inst].opcode()).collect()
    }

    #[test]
    fn a_sum_follows_what_it_needs() {
        let found = opcodes(|b, at, loads| {
            let mut sum = loads[0];
            for load in &loads[1..] {
                sum = b.ins().fadd(sum, *load);
            }
            b.ins().store(MemFlagsData::new(), sum, at, 0);
        });
        let (load, add) = (Opcode::Load, Opcode::Fadd);
        let due = [load, load, add, load, add, load, add, Opcode::Store, Opcode::Return];
        assert_eq!(found, due);
    }

    #[test]
    fn what_keeps_its_operands_alive_stays() {
        let found = opcodes(|b, at, loads| {
            let sum = b.ins().fadd(loads[0], loads[1]);
            let product = b.ins().fmul(loads[0], loads[1]);
            b.ins().store(MemFlagsData::new(), sum, at, 0);
            b.ins().store(MemFlagsData::new(), product, at, 4);
        });
        let (load, store) = (Opcode::Load, Opcode::Store);
        let due =
            [load; 4].into_iter().chain([Opcode::Fadd, Opcode::Fmul, store, store, Opcode::Return]);
        assert_eq!(found, due.collect::<Vec<_>>());
    }
}
