//! Branches and ends.

use cranelift_codegen::ir::{Block, InstBuilder, types};
use cranelift_frontend::Switch;

use super::{Lower, Step, Unsupported};
use crate::{
    device::cpu::jit::kernel::SiteKind,
    ptx::{inst::Instruction, operand::Label, types::Type},
};

impl Lower<'_, '_> {
    fn target(&self, label: Label) -> Block {
        self.targets.label(label)
    }

    pub(super) fn branch(&mut self, i: &Instruction) -> Step {
        let label = i.branch_target().ok_or(Unsupported::Part("a branch without a label"))?;
        let target = self.target(label);
        let Some(guard) = i.guard else {
            self.b.ins().jump(target, &[]);
            return Ok(());
        };
        let holds = self.register(guard.reg, Type::Pred);
        let on = self.b.create_block();
        let (yes, no) = if guard.negated { (on, target) } else { (target, on) };
        self.b.ins().brif(holds, yes, &[], no, &[]);
        self.b.switch_to_block(on);
        Ok(())
    }

    pub(super) fn trap(&mut self) {
        let site = self.site(SiteKind::Trap);
        let none = self.b.ins().iconst(types::I64, 0);
        self.stop_at(site, none);
    }

    pub(super) fn branch_by_table(&mut self, i: &Instruction) -> Step {
        let index = self.source(i, 0, Type::U32)?;
        let table = i.branch_table().and_then(|table| self.source.body.tables.get(table as usize));
        let Some(labels) = table.map(|table| &table.labels) else {
            return Err(Unsupported::Part("a branch without a table"));
        };
        let mut switch = Switch::new();
        for (value, label) in labels.iter().enumerate() {
            switch.set_entry(value as u128, self.target(*label));
        }
        let last = labels.last().ok_or(Unsupported::Part("an empty table"))?;
        let otherwise = self.target(*last);
        switch.emit(&mut self.b, index, otherwise);
        Ok(())
    }
}
