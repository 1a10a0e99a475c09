//! Loads and stores of a group's threads whose addresses follow each other at a constant distance: one check for all,
//! and where they touch, one access for each quad.

use std::mem::offset_of;

use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::{GroupLower, value::Parts, vector_form::has_form};
use crate::{
    device::cpu::{
        abi::{BlockContext, LANES},
        jit::{
            lower::{Checked, Step, clif_type},
            span::MemorySpan,
        },
        memory::CHUNK_BITS,
    },
    ptx::{
        inst::{Instruction, Op},
        modifier::Access,
        operand::{Address, Base, Operand},
        types::{Space, Type},
    },
};

impl GroupLower<'_, '_, '_> {
    /// The access for all; `false`, with nothing done, where they must go one after the other.
    pub(super) fn vector_memory(&mut self, index: usize, i: &Instruction) -> Step<bool> {
        if i.guard.is_some() {
            return Ok(false);
        }
        if let Op::Ld(access) = &i.op
            && is_plain(access)
        {
            return self.vector_load(index, i, access);
        }
        if let Op::St(access) = &i.op
            && is_plain(access)
        {
            return self.vector_store(index, i, access);
        }
        Ok(false)
    }

    fn vector_load(&mut self, index: usize, i: &Instruction, access: &Access) -> Step<bool> {
        if !i.dst[0].lanes().iter().all(|part| self.holds(part, access.ty)) {
            return Ok(false);
        }
        let Some((memory, stride)) = self.run(index, i, access, false)? else { return Ok(false) };
        self.each_quad(|group| {
            let gone = if group.is_checked_before(index) { None } else { group.gone() };
            let elements = match gone {
                None => group.load_row(memory, stride, access),
                Some(gone) => group.load_present(gone, (memory, stride), access),
            };
            for (operand, parts) in i.dst[0].lanes().iter().zip(elements) {
                group.set_vector(operand, access.ty, &parts);
            }
        });
        Ok(true)
    }

    fn vector_store(&mut self, index: usize, i: &Instruction, access: &Access) -> Step<bool> {
        let Some(value) = i.src.get(1) else { return Ok(false) };
        let mut quads = Vec::new();
        for elements in self.each_quad(|group| group.elements(value, access.ty)) {
            match elements? {
                Some(elements) => quads.push(elements),
                None => return Ok(false),
            }
        }
        let Some((memory, stride)) = self.run(index, i, access, true)? else { return Ok(false) };
        let mut quads = quads.into_iter();
        self.each_quad(|group| {
            let elements = quads.next().unwrap_or_default();
            match group.gone() {
                None => group.store_row(memory, stride, access, &elements),
                Some(gone) => group.store_present(gone, (memory, stride), access, &elements),
            }
        });
        Ok(true)
    }

    /// The values that a quad stores, of each element of an access; `None` where one has no vector form.
    fn elements(&mut self, value: &Operand, ty: Type) -> Step<Option<Vec<Parts>>> {
        value.lanes().iter().map(|part| self.vector_source(part, ty)).collect()
    }

    fn holds(&self, operand: &Operand, ty: Type) -> bool {
        matches!(operand, Operand::Sink)
            || operand
                .reg()
                .is_some_and(|reg| self.lower.body().registers.ty(reg).bytes() == ty.bytes())
    }

    /// What all access, once that is known to be good, and the distance from one's to the next one's. Where some went
    /// round the code, it is good of the others alone, and only they access it ([`super::mask`]).
    fn run(
        &mut self,
        index: usize,
        i: &Instruction,
        access: &Access,
        write: bool,
    ) -> Step<Option<(MemorySpan, i64)>> {
        let Some(Operand::Address(address)) = i.src.first() else { return Ok(None) };
        let Base::Reg(base) = address.base else { return Ok(None) };
        let bytes = access.bytes();
        let Some(stride) = self.shape(base).stride() else { return Ok(None) };
        if !is_run(stride, bytes, self.plan.width) {
            return Ok(None);
        }
        let checked = Checked { space: access.space, bytes, write };
        match access.space {
            Some(Space::Shared | Space::SharedCta) => {
                self.shared_run(index, address, stride, checked).map(Some)
            }
            Some(Space::Global | Space::Const) | None => {
                if let Some(memory) = self.memory_in_row(index, i, access) {
                    return Ok(Some((memory, stride)));
                }
                let at = self.lower.address_value(address)?;
                let span = stride * (self.plan.width as i64 - 1);
                let reach = self.reach_at(index, stride, write);
                let first = self.first_of_present(at, reach);
                if !self.is_checked_before(index) {
                    let fine = match reach {
                        None => self.is_placed(address, first, span, checked),
                        Some([_, span]) => self.ends_are_placed(address, first, span, checked),
                    };
                    self.lower.stop_unless_placed(fine, first, stride, checked)?;
                }
                let at = self.back_from_present(first, reach);
                Ok(Some((MemorySpan::new(at, 0, span as u64 + u64::from(bytes)), stride)))
            }
            Some(Space::Local | Space::Param | Space::ParamEntry | Space::ParamFunc) => Ok(None),
            Some(Space::Reg | Space::Sreg | Space::SharedCluster | Space::Tex) => Ok(None),
        }
    }

    fn shared_run(
        &mut self,
        index: usize,
        address: &Address,
        stride: i64,
        checked: Checked,
    ) -> Step<(MemorySpan, i64)> {
        let offset = self.lower.address_value(address)?;
        let span = stride * (self.plan.width as i64 - 1);
        let reach = self.reach_at(index, stride, checked.write);
        let first = self.first_of_present(offset, reach);
        if !self.is_checked_before(index) {
            let end = self.lower.context_u64(offset_of!(BlockContext, shared_bytes));
            let fine = match reach {
                None => self.lower.ends_before(first, end, span, checked),
                Some([_, span]) => self.ends_before(first, end, span, checked),
            };
            self.lower.stop_unless_placed(fine, first, stride, checked)?;
        }
        let offset = self.back_from_present(first, reach);
        let base = self.lower.context_u64(offset_of!(BlockContext, shared_base));
        let at = self.lower.b.ins().iadd(base, offset);
        Ok((MemorySpan::new(at, 0, span as u64 + u64::from(checked.bytes)), stride))
    }

    /// As [`Self::reach_of_present`], of the accesses at a statement: all load what was found to be good of all.
    fn reach_at(&mut self, index: usize, stride: i64, write: bool) -> Option<[Value; 2]> {
        let is_good_of_all = !write && self.is_checked_before(index);
        if is_good_of_all { None } else { self.reach_of_present(stride) }
    }

    /// Whether the accesses from the one at `first` to the one `span` bytes behind it end at or before `end`, where
    /// `span` is so small that no offset that does wraps with it.
    pub(super) fn ends_before(
        &mut self,
        first: Value,
        end: Value,
        span: Value,
        checked: Checked,
    ) -> Value {
        let last = self.lower.b.ins().iadd(first, span);
        let ends = [first, last].map(|at| self.lower.ends_before(at, end, 0, checked));
        self.lower.b.ins().band(ends[0], ends[1])
    }

    /// The first access, of a group's that begin at `at`, of a thread that did not go round the code, in 64 bits: with
    /// fewer, a thread that went round may have had one that wraps.
    pub(super) fn first_of_present(&mut self, at: Value, reach: Option<[Value; 2]>) -> Value {
        let at = match reach {
            None => at,
            Some([before, _]) => {
                let before = self.lower.fit(before, self.lower.b.func.dfg.value_type(at));
                self.lower.b.ins().iadd(at, before)
            }
        };
        self.lower.fit(at, types::I64)
    }

    /// Where the accesses of a group would begin of which that is the first.
    fn back_from_present(&mut self, first: Value, reach: Option<[Value; 2]>) -> Value {
        reach.map_or(first, |[before, _]| self.lower.b.ins().isub(first, before))
    }

    /// Whether the accesses from the one at `at` to the one `span` bytes behind it are good; where that does not
    /// hold they may be all the same, in more than one allocation.
    pub(super) fn is_placed(
        &mut self,
        address: &Address,
        at: Value,
        span: i64,
        checked: Checked,
    ) -> Value {
        if let Some(fine) = self.lower.is_in_window(address, at, span, checked) {
            return fine;
        }
        let (offset, end) = self.lower.end_of_allocation(at, checked.write);
        // An allocation begins at a chunk, so the first one lies in the allocation whose end its chunk names.
        self.lower.ends_before(offset, end, span, checked)
    }

    /// Whether the accesses from the one at `at` to the one `span` bytes behind it are good, where `span` is so small
    /// that no offset within the arena wraps with it: the first is, and the last ends where the same memory does.
    pub(super) fn ends_are_placed(
        &mut self,
        address: &Address,
        at: Value,
        span: Value,
        checked: Checked,
    ) -> Value {
        let (first, end) = match self.lower.in_window(address, at, 0, checked) {
            Some(place) => place,
            None => {
                let (offset, end) = self.lower.end_of_allocation(at, checked.write);
                let units = i64::from(checked.bytes.trailing_zeros());
                (offset, self.lower.b.ins().ushr_imm_u(end, units))
            }
        };
        let last = self.lower.b.ins().iadd(first, span);
        let [first, last] = [first, last].map(|at| self.lower.is_before(at, end, checked.bytes));
        self.lower.b.ins().band(first, last)
    }

    /// Where the accesses of the quad begin among those of the group.
    fn start_of_quad(&self, stride: i64) -> i64 {
        (self.quad * LANES) as i64 * stride
    }

    /// Each element of a quad's accesses as vectors.
    pub(super) fn load_row(
        &mut self,
        memory: MemorySpan,
        stride: i64,
        access: &Access,
    ) -> Vec<Parts> {
        let (lanes, width) = (usize::from(access.lanes), access.ty.bytes() as usize);
        let vector = super::value::form(access.ty).0;
        let dense = stride as usize == lanes * width;
        let row = |group: &mut Self, index: usize| {
            let at = group.start_of_quad(stride) + 16 * index as i64;
            group.lower.load_unaligned(vector, memory, at)
        };
        match (dense, lanes, width) {
            (true, 1, 4) => vec![vec![row(self, 0)]],
            (true, 1, 8) => vec![vec![row(self, 0), row(self, 1)]],
            (true, 2, 4) => {
                let (a, b) = (row(self, 0), row(self, 1));
                [[0, 2, 4, 6], [1, 3, 5, 7]].map(|words| vec![self.pick(a, b, words)]).to_vec()
            }
            (true, 4, 4) => {
                let rows = [0, 1, 2, 3].map(|index| row(self, index));
                self.transposed(rows).map(|column| vec![column]).to_vec()
            }
            (true, 2, 8) => {
                let rows = [0, 1, 2, 3].map(|index| row(self, index));
                let pair = |group: &mut Self, a: Value, b: Value, which: u8| {
                    let words = [2 * which, 2 * which + 1, 4 + 2 * which, 5 + 2 * which];
                    group.pick(a, b, words)
                };
                let column = |group: &mut Self, which: u8| {
                    let low = pair(group, rows[0], rows[1], which);
                    vec![low, pair(group, rows[2], rows[3], which)]
                };
                vec![column(self, 0), column(self, 1)]
            }
            _ => (0..lanes).map(|e| self.gathered(memory, stride, e * width, access.ty)).collect(),
        }
    }

    fn gathered(&mut self, memory: MemorySpan, stride: i64, offset: usize, ty: Type) -> Parts {
        let (clif, start) = (clif_type(ty), self.start_of_quad(stride) + offset as i64);
        let values = [0, 1, 2, 3].map(|lane| self.lower.load(clif, memory, start + lane * stride));
        self.join_lanes(&values, ty)
    }

    /// Columns of a matrix of words, as vectors of integers.
    fn transposed(&mut self, rows: [Value; 4]) -> [Value; 4] {
        let [a, b, c, d] = rows;
        let (ab, cd) = (self.pick(a, b, [0, 4, 1, 5]), self.pick(c, d, [0, 4, 1, 5]));
        let (ab_high, cd_high) = (self.pick(a, b, [2, 6, 3, 7]), self.pick(c, d, [2, 6, 3, 7]));
        [
            self.pick(ab, cd, [0, 1, 4, 5]),
            self.pick(ab, cd, [2, 3, 6, 7]),
            self.pick(ab_high, cd_high, [0, 1, 4, 5]),
            self.pick(ab_high, cd_high, [2, 3, 6, 7]),
        ]
    }

    pub(super) fn store_row(
        &mut self,
        memory: MemorySpan,
        stride: i64,
        access: &Access,
        elements: &[Parts],
    ) {
        let (lanes, width) = (elements.len(), access.ty.bytes() as usize);
        let dense = stride as usize == lanes * width;
        let rows: Vec<Value> = match (dense, lanes, width) {
            (true, 1, _) => elements[0].clone(),
            (true, 2, 4) => {
                let (a, b) = (elements[0][0], elements[1][0]);
                vec![self.pick(a, b, [0, 4, 1, 5]), self.pick(a, b, [2, 6, 3, 7])]
            }
            (true, 4, 4) => {
                let columns = [0, 1, 2, 3].map(|e| elements[e][0]);
                self.transposed(columns).to_vec()
            }
            _ => return self.scattered(memory, stride, access.ty, elements),
        };
        for (index, row) in rows.into_iter().enumerate() {
            let at = self.start_of_quad(stride) + 16 * index as i64;
            self.lower.store_unaligned(row, memory, at);
        }
    }

    fn scattered(&mut self, memory: MemorySpan, stride: i64, ty: Type, elements: &[Parts]) {
        (0..LANES).for_each(|lane| self.store_lane_of(memory, stride, ty, (lane, elements)));
    }

    /// The elements of one thread of the quad.
    pub(super) fn store_lane_of(
        &mut self,
        memory: MemorySpan,
        stride: i64,
        ty: Type,
        (lane, elements): (usize, &[Parts]),
    ) {
        let start = self.start_of_quad(stride) + lane as i64 * stride;
        for (element, parts) in elements.iter().enumerate() {
            let value = self.lane_of(parts, lane, ty);
            let at = start + element as i64 * i64::from(ty.bytes());
            self.lower.store(value, memory, at);
        }
    }
}

/// Whether a group's accesses of so many bytes that lie this far apart are one run of memory.
pub(super) fn is_run(stride: i64, bytes: u32, width: usize) -> bool {
    let span = stride.checked_mul(width as i64 - 1);
    let far = span.is_none_or(|span| span >= 1 << CHUNK_BITS);
    stride > 0 && !far && stride % i64::from(bytes) == 0 && bytes.is_power_of_two()
}

/// Whether it is neither atomic nor narrow.
pub(super) fn is_plain(access: &Access) -> bool {
    !access.is_strong() && has_form(access.ty)
}
