//! From a PTX function to its CLIF function: what is found out of it first, and who translates it then: [`Lower`]
//! alone, one thread at a time, or [`GroupLower`], too, where groups of threads are worth it.

use cranelift_codegen::ir;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;

use super::{
    Schedule, Unit,
    kernel::{Packed, ResumePoint, SiteKind},
    known::Known,
    lanes::{self, GroupLower, Groups},
    lower::{FunctionInput, Lower, kernel},
    sites::Sites,
    sync,
};
use crate::{
    device::{Result, cpu::layout::StackFrame},
    ptx::{
        ast::{Function, FunctionKind},
        cfg::{Cfg, Liveness},
    },
};

/// What is known of a function once it is lowered.
pub(super) struct Lowered {
    pub(super) schedule: Schedule,
    pub(super) shared_bytes: u64,
    pub(super) frame_bytes: u64,
    pub(super) local_bytes: u64,
    pub(super) spill_bytes: usize,
    pub(super) calls: bool,
    pub(super) yields: bool,
    pub(super) flushes: bool,
    pub(super) entry_site: u32,
    /// How many threads run side by side, each with local memory of its own.
    pub(super) width: usize,
    pub(super) resumes: Vec<ResumePoint>,
    pub(super) packed: Vec<Packed>,
}

impl Lowered {
    fn new(
        frame: &StackFrame,
        stack_bytes: u64,
        mut plan: sync::WaitPlan,
        entry_site: u32,
        width: usize,
    ) -> Self {
        Self {
            schedule: plan.schedule,
            shared_bytes: frame.shared_bytes,
            frame_bytes: frame.local_bytes,
            local_bytes: frame.local_bytes + if plan.calls { stack_bytes } else { 0 },
            spill_bytes: plan.spill_bytes(),
            calls: plan.calls,
            yields: !plan.spins.is_empty(),
            flushes: plan.flushes,
            entry_site,
            width,
            packed: std::mem::take(&mut plan.packed),
            resumes: plan.into_resumes(),
        }
    }
}

/// Lowers the function with this index in the module into `clif`, with code for groups of threads as is `wanted`.
pub(super) fn lower<'a, 'f>(
    unit: &'a Unit<'a>,
    wanted: Groups,
    (index, function): (usize, &'a Function),
    code: &'f mut JITModule,
    clif: &'f mut ir::Function,
    builder: &'f mut FunctionBuilderContext,
    sites: &'f mut Sites<'a>,
) -> Result<Lowered> {
    let Some(body) = &function.body else { return Err(super::internal("a function without body")) };
    let cfg = Cfg::new(body);
    unit.limits.check_flow(&function.name, &cfg)?;
    let liveness = Liveness::new(body, &cfg, &[]);
    unit.limits.check_registers(&function.name, body, &cfg, &liveness)?;
    let mut plan = sync::WaitPlan::new(function, body, &cfg, &liveness);
    unit.limits.check_spills(&function.name, &plan)?;
    let headers = super::flow::loop_headers(body, &cfg);
    let Some(frame) = unit.layout.frame(index) else {
        return Err(super::internal("a function without a frame"));
    };
    let mut b = FunctionBuilder::new(clif, builder);
    let groups = lanes::Plan::new(&mut b, function, body, (&cfg, &liveness), &plan, wanted);
    if let Some(groups) = &groups {
        plan.set_spill_bytes(groups.spill_bytes());
    }
    let width = groups.as_ref().map_or(1, lanes::Plan::width);
    let known = Known::new(body);
    let source =
        FunctionInput { unit, index, function, body, frame, width: width as i64, known, headers };
    let entry_site = sites.add(SiteKind::Poll, body.instructions().find_map(|i| i.location), None);
    let mut lower = Lower::new(b, code, source, plan, sites);
    match (function.kind, &groups) {
        (FunctionKind::Entry, None) => kernel(&mut lower)?,
        (FunctionKind::Entry, Some(groups)) => kernel(&mut GroupLower::new(&mut lower, groups))?,
        (FunctionKind::Func, _) => lower.device_function()?,
    }
    let stack_bytes = unit.layout.stack_bytes(index);
    Ok(Lowered::new(frame, stack_bytes, lower.finish()?, entry_site, width))
}
