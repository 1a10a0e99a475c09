//! The values of a group's threads: vectors, their making from scalars and their taking apart. Vectors are those of one
//! quad, for which work is done at a time; only what says so is for the whole group.

use cranelift_codegen::ir::{
    self, Block, BlockArg, ConstantData, InstBuilder, MemFlagsData, Value, types,
};
use cranelift_frontend::Variable;

use super::GroupLower;
use crate::{
    device::cpu::{
        abi::LANES,
        jit::lower::{Lower, Step, clif_type, int_type},
    },
    ptx::{
        inst::Instruction,
        operand::{Operand, Reg},
        pass::uniform::Shape,
        types::Type,
    },
};

/// The vectors, one behind the other, that hold four values; four scalars where there is no such vector.
pub(super) type Parts = Vec<Value>;

/// How the values of a register of this type are held: the type of a part, and how many parts.
///
/// A predicate is a mask: all bits of a lane set, or none.
pub(super) fn form(ty: Type) -> (ir::Type, usize) {
    match if ty == Type::Pred { types::I32 } else { clif_type(ty) } {
        types::I32 => (types::I32X4, 1),
        types::F32 => (types::F32X4, 1),
        types::I64 => (types::I64X2, 2),
        types::F64 => (types::F64X2, 2),
        other => (other, LANES),
    }
}

/// A register on its way into the code for single threads.
enum Held {
    /// Those of each quad.
    Parts(Vec<Parts>),
    Affine {
        first: Value,
        stride: i64,
    },
}

impl GroupLower<'_, '_, '_> {
    pub(super) fn shape(&self, reg: Reg) -> Shape {
        self.plan.shapes.of(reg)
    }

    pub(super) fn operand_shape(&self, operand: &Operand) -> Shape {
        self.plan.shapes.operand(self.lower.body(), operand)
    }

    /// How many quads a group has: so many threads as lie in one vector of 32-bit values.
    pub(super) fn quads(&self) -> usize {
        self.plan.width / LANES
    }

    /// Does `work` for each quad of the group, which is then what vectors are read and written of.
    pub(super) fn each_quad<T>(&mut self, mut work: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let before = self.quad;
        let quads = 0..self.quads();
        let results = quads.map(|quad| {
            self.quad = quad;
            work(self)
        });
        let results = results.collect();
        self.quad = before;
        results
    }

    /// The vectors of a register that varies, of all quads one behind the other.
    pub(super) fn all_vectors(&mut self, reg: Reg) -> Parts {
        self.each_quad(|group| group.vectors(reg)).concat()
    }

    /// Writes a register that varies, in all quads.
    pub(super) fn set_all_vectors(&mut self, reg: Reg, parts: &[Value]) {
        for (variable, part) in self.plan.registers[reg.0 as usize].iter().zip(parts) {
            self.lower.b.def_var(*variable, *part);
        }
    }

    /// As [`Self::spread`], of all quads one behind the other.
    pub(super) fn spread_all(&mut self, first: Value, stride: i64, ty: Type) -> Parts {
        self.each_quad(|group| group.spread(first, stride, ty)).concat()
    }

    /// The variables of a register that varies, in the quad that work is done for.
    fn variables(&self, reg: Reg) -> Vec<Variable> {
        let variables = &self.plan.registers[reg.0 as usize];
        let parts = variables.len() / self.quads();
        variables[self.quad * parts..][..parts].to_vec()
    }

    /// The vectors of a register that varies, of one quad.
    pub(super) fn vectors(&mut self, reg: Reg) -> Parts {
        self.variables(reg).into_iter().map(|variable| self.lower.b.use_var(variable)).collect()
    }

    /// Writes a register that varies, in one quad.
    pub(super) fn set_vectors(&mut self, reg: Reg, parts: &[Value]) {
        for (variable, part) in self.variables(reg).into_iter().zip(parts) {
            self.lower.b.def_var(variable, *part);
        }
    }

    pub(super) fn vector_constant(&mut self, ty: ir::Type, bytes: [u8; 16]) -> Value {
        let constant = self.lower.b.func.dfg.constants.insert(ConstantData::from(&bytes[..]));
        self.lower.b.ins().vconst(ty, constant)
    }

    /// The same bits in all lanes.
    pub(super) fn all_lanes(&mut self, ty: ir::Type, bits: u64) -> Value {
        let mut bytes = [0; 16];
        let width = ty.lane_bits() as usize / 8;
        for lane in bytes.chunks_mut(width) {
            lane.copy_from_slice(&bits.to_le_bytes()[..width]);
        }
        self.vector_constant(ty, bytes)
    }

    pub(super) fn recast(&mut self, value: Value, ty: ir::Type) -> Value {
        if self.lower.b.func.dfg.value_type(value) == ty {
            return value;
        }
        let flags = MemFlagsData::new().with_endianness(ir::Endianness::Little);
        self.lower.b.ins().bitcast(ty, flags, value)
    }

    /// The values of a quad where the group's begin with `first` and differ by `stride`.
    pub(super) fn spread(&mut self, first: Value, stride: i64, ty: Type) -> Parts {
        self.count_from(first, (self.quad * LANES) as i64, stride, ty)
    }

    /// Four values that differ by `stride`, the first of them by so many times that from `first`.
    pub(super) fn count_from(&mut self, first: Value, times: i64, stride: i64, ty: Type) -> Parts {
        let (vector, parts) = form(ty);
        if ty == Type::Pred {
            let wide = self.lower.b.ins().uextend(types::I32, first);
            let all = self.lower.b.ins().splat(types::I32X4, wide);
            return vec![self.lower.b.ins().ineg(all)];
        }
        if !vector.is_vector() {
            return vec![first; parts];
        }
        if stride == 0 {
            return vec![self.lower.b.ins().splat(vector, first); parts];
        }
        // A stride is one of bits, whatever they are taken for.
        let whole = vector.as_int();
        let first = self.recast(first, whole.lane_type());
        let all = self.lower.b.ins().splat(whole, first);
        let lanes = LANES / parts;
        let part = |index: usize| {
            let mut bytes = [0; 16];
            let width = 16 / lanes;
            for (lane, out) in bytes.chunks_mut(width).enumerate() {
                let step = stride.wrapping_mul(times + (index * lanes + lane) as i64);
                out.copy_from_slice(&step.to_le_bytes()[..width]);
            }
            let steps = self.vector_constant(whole, bytes);
            let sum = self.lower.b.ins().iadd(all, steps);
            self.recast(sum, vector)
        };
        (0..parts).map(part).collect()
    }

    /// An operand's values as ones of type `ty`; `None` where the register has another width.
    pub(super) fn vector_source(&mut self, operand: &Operand, ty: Type) -> Step<Option<Parts>> {
        let (vector, parts) = form(ty);
        if !vector.is_vector() {
            return Ok(None);
        }
        let mut held = match operand {
            Operand::Reg(reg) | Operand::Not(reg) => {
                let from = self.lower.body().registers.ty(*reg);
                if from.bytes() != ty.bytes() || (from == Type::Pred) != (ty == Type::Pred) {
                    return Ok(None);
                }
                match self.shape(*reg).stride() {
                    Some(stride) => {
                        let first = self.lower.register(*reg, ty);
                        self.spread(first, stride, ty)
                    }
                    None => self.vectors(*reg),
                }
            }
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) if ty != Type::Pred => {
                let bits = constant_bits(operand, ty);
                vec![self.all_lanes(vector, bits); parts]
            }
            // No values of their own, or of more than one register.
            Operand::Vector(_) | Operand::Bracket(_) | Operand::Address(_) => return Ok(None),
            Operand::Label(_) | Operand::Table(_) | Operand::Sink => return Ok(None),
            Operand::Int(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Special(_)
            | Operand::Symbol(..) => {
                let Some(stride) = self.operand_shape(operand).stride() else { return Ok(None) };
                let first = self.lower.value(operand, ty)?;
                self.spread(first, stride, ty)
            }
        };
        if matches!(operand, Operand::Not(_)) {
            held = held.into_iter().map(|part| self.lower.b.ins().bnot(part)).collect();
        }
        if held.len() != parts {
            return Ok(None);
        }
        Ok(Some(held.into_iter().map(|part| self.recast(part, vector)).collect()))
    }

    /// Writes a register that varies; `false`, and nothing done, where it has another width.
    pub(super) fn set_vector(&mut self, operand: &Operand, ty: Type, parts: &[Value]) -> bool {
        if let Operand::Sink = operand {
            return true;
        }
        let Some(reg) = operand.reg() else { return false };
        let to = self.lower.body().registers.ty(reg);
        let (vector, count) = form(to);
        if to.bytes() != ty.bytes()
            || count != parts.len()
            || (to == Type::Pred) != (ty == Type::Pred)
        {
            return false;
        }
        let parts: Parts = parts.iter().map(|part| self.recast(*part, vector)).collect();
        self.set_vectors(reg, &parts);
        true
    }

    /// One thread's value of a register of type `ty`, as the code for single threads has it.
    pub(super) fn lane_of(&mut self, parts: &[Value], lane: usize, ty: Type) -> Value {
        let lanes = LANES / parts.len();
        if lanes == 1 {
            return parts[lane];
        }
        let value = self.lower.b.ins().extractlane(parts[lane / lanes], (lane % lanes) as u8);
        if ty == Type::Pred {
            let bit = self.lower.b.ins().band_imm_u(value, 1);
            return self.lower.b.ins().ireduce(types::I8, bit);
        }
        value
    }

    /// Four threads' values as vectors.
    pub(super) fn join_lanes(&mut self, values: &[Value], ty: Type) -> Parts {
        let (vector, parts) = form(ty);
        if !vector.is_vector() {
            return values.to_vec();
        }
        let values: Vec<Value> = match ty == Type::Pred {
            true => values.iter().map(|v| self.lower.b.ins().uextend(types::I32, *v)).collect(),
            false => values.to_vec(),
        };
        let build = |group: &[Value]| {
            let mut whole = self.lower.b.ins().scalar_to_vector(vector, group[0]);
            for (lane, value) in group.iter().enumerate().skip(1) {
                whole = self.lower.b.ins().insertlane(whole, *value, lane as u8);
            }
            if ty == Type::Pred { self.lower.b.ins().ineg(whole) } else { whole }
        };
        values.chunks(LANES / parts).map(build).collect()
    }

    /// Does `work` for one thread after the other, as the code for single threads; not for those whose bit in `round`
    /// is set.
    pub(super) fn per_lane(
        &mut self,
        uses: &[Reg],
        defs: &[Reg],
        round: Option<Value>,
        mut work: impl FnMut(&mut Lower<'_, '_>) -> Step,
    ) -> Step {
        let held: Vec<(Reg, Held)> =
            uses.iter().filter_map(|reg| Some((*reg, self.held(*reg)?))).collect();
        let position = self.lower.position();
        let present = self.lower.present.take();
        let mut results: Vec<Vec<Value>> = vec![Vec::new(); defs.len()];
        for lane in 0..self.plan.width {
            self.lower.set_position(position, lane as i64);
            for (reg, held) in &held {
                let value = match held {
                    Held::Parts(parts) => {
                        let ty = self.lower.body().registers.ty(*reg);
                        self.lane_of(&parts[lane / LANES].clone(), lane % LANES, ty)
                    }
                    Held::Affine { first, stride } => {
                        self.lower.b.ins().iadd_imm_s(*first, stride.wrapping_mul(lane as i64))
                    }
                };
                self.lower.b.def_var(self.lower.variable(*reg), value);
            }
            let next = round.map(|round| {
                let [own, next] = [(); 2].map(|()| self.lower.b.create_block());
                self.lower.skip_where(round, lane, (next, &[]), own);
                next
            });
            work(self.lower)?;
            if let Some(next) = next {
                self.lower.b.ins().jump(next, &[]);
                self.lower.b.switch_to_block(next);
            }
            for (reg, results) in defs.iter().zip(&mut results) {
                results.push(self.lower.b.use_var(self.lower.variable(*reg)));
            }
        }
        self.lower.set_position(position, 0);
        self.lower.present = present;
        for (reg, held) in &held {
            if let Held::Affine { first, .. } = held {
                self.lower.b.def_var(self.lower.variable(*reg), *first);
            }
        }
        for (reg, results) in defs.iter().zip(results) {
            let ty = self.lower.body().registers.ty(*reg);
            let quads = results.chunks(LANES).map(|values| self.join_lanes(values, ty));
            let parts = quads.collect::<Vec<Parts>>().concat();
            self.set_all_vectors(*reg, &parts);
        }
        Ok(())
    }

    /// What must be handed to the code for single threads; nothing for what is the same for all.
    fn held(&mut self, reg: Reg) -> Option<Held> {
        match self.shape(reg) {
            Shape::Varying => Some(Held::Parts(self.each_quad(|group| group.vectors(reg)))),
            Shape::Affine { stride: 0, .. } => None,
            Shape::Affine { stride, .. } => {
                let first = self.lower.b.use_var(self.lower.variable(reg));
                let bits = int_type(self.lower.b.func.dfg.value_type(first).bytes()).bits();
                let stride = if bits == 32 { i64::from(stride as i32) } else { stride };
                Some(Held::Affine { first, stride })
            }
        }
    }

    /// An instruction for one thread after the other.
    pub(super) fn instruction_per_lane(&mut self, index: usize, i: &Instruction) -> Step {
        let (mut uses, mut defs) = (Vec::new(), Vec::new());
        let add = |list: &mut Vec<Reg>, reg: Reg| {
            if !list.contains(&reg) {
                list.push(reg);
            }
        };
        i.for_each_use(|reg| add(&mut uses, reg));
        i.for_each_def(|reg| add(&mut defs, reg));
        let gone = self.gone();
        if i.guard.is_some() || gone.is_some() {
            // Where the guard does not hold, the old value stays.
            defs.iter().for_each(|reg| add(&mut uses, *reg));
        }
        self.per_lane(&uses, &defs, gone, |lower| lower.instruction(index, i, None))
    }
}

impl Lower<'_, '_> {
    /// Goes to `next` where the bit of a lane is set, else on in `own`.
    pub(super) fn skip_where(
        &mut self,
        bits: Value,
        lane: usize,
        (next, arguments): (Block, &[BlockArg]),
        own: Block,
    ) {
        let skips = self.b.ins().band_imm_u(bits, 1 << lane);
        self.b.ins().brif(skips, next, arguments, own, &[]);
        self.b.switch_to_block(own);
    }
}

/// The bits of a constant in a type.
fn constant_bits(operand: &Operand, ty: Type) -> u64 {
    match operand {
        Operand::Int(int) => *int as u64,
        Operand::F32(bits) if ty == Type::F64 => f64::from(f32::from_bits(*bits)).to_bits(),
        Operand::F32(bits) => u64::from(*bits),
        Operand::F64(bits) if ty == Type::F32 => {
            u64::from((f64::from_bits(*bits) as f32).to_bits())
        }
        Operand::F64(bits) => *bits,
        // No constants.
        Operand::Reg(_) | Operand::Not(_) | Operand::Special(_) | Operand::Symbol(..) => 0,
        Operand::Address(_) | Operand::Vector(_) | Operand::Bracket(_) => 0,
        Operand::Label(_) | Operand::Table(_) | Operand::Sink => 0,
    }
}
