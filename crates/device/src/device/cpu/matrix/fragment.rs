//! Which thread of a warp holds which element of a matrix, in which register.
//!
//! As the PTX ISA has it for `mma`: in all shapes and types but one, four neighbouring threads share a row of `a`, a
//! column of `b` and a row of `c`; each of their registers holds elements that follow each other there, and the next
//! register holds those eight rows below, then those further along. What `wmma` has in larger shapes, which the ISA
//! leaves open, is made of such blocks, one behind the other, as GPUs of compute capability 8.0 and later have it.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use super::{Registers, WARP};
use crate::ptx::matrix::{Element, Major, MatrixAccess, Product, Role};

/// Rows, or columns, of a block whose elements lie in one register each of a warp's threads.
const BLOCK: usize = 8;

thread_local! {
    /// What [`Fragment::indices`] has computed so far.
    static INDICES: RefCell<HashMap<Fragment, Rc<[u16]>>> = RefCell::default();
}

/// A matrix in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fragment {
    role: Role,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) element: Element,
    /// How many such matrices there are: one of the warp, or one of each four and four threads.
    pub(super) count: usize,
    /// Of those four, whether a thread has elements of a row or of a column.
    major: Major,
    /// Registers of a thread, of which the later ones may be copies of the others.
    pub(super) registers: usize,
}

/// Where an element is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinates {
    /// In which of the matrices.
    pub(super) matrix: usize,
    pub(super) row: usize,
    pub(super) column: usize,
}

impl Fragment {
    /// A source of a product.
    pub(super) fn source(product: &Product, role: Role) -> Self {
        Self::of(product, role, product.element(role))
    }

    /// The result of a product.
    pub(super) fn result(product: &Product) -> Self {
        Self::of(product, Role::C, product.result())
    }

    fn of(product: &Product, role: Role, element: Element) -> Self {
        let [rows, columns] = product.shape.of(role);
        let [a, b] = product.majors;
        Self {
            role,
            rows,
            columns,
            element,
            count: product.count(),
            major: if role == Role::A { a } else { b },
            registers: product.registers(role, element),
        }
    }

    /// What `wmma.load` gives, and `wmma.store` takes.
    pub(super) fn accessed(access: &MatrixAccess) -> Self {
        let [rows, columns] = access.shape.of(access.role);
        Self {
            role: access.role,
            rows,
            columns,
            element: access.element,
            count: 1,
            major: access.major,
            registers: access.registers(),
        }
    }

    /// Elements of a register.
    pub(super) fn parts(&self) -> usize {
        (self.element.register().bits() / self.element.bits()) as usize
    }

    /// Registers of a thread that are no copies.
    pub(super) fn distinct(&self) -> usize {
        self.rows * self.columns * self.count / WARP / self.parts()
    }

    /// Where an element of a register of a thread is in the matrices.
    pub(super) fn place(&self, lane: usize, register: usize, part: usize) -> Coordinates {
        let register = register % self.distinct();
        match self.count {
            1 => self.place_in_warp(lane, register, part),
            _ => self.place_in_quads(lane, register * self.parts() + part),
        }
    }

    fn place_in_warp(&self, lane: usize, register: usize, part: usize) -> Coordinates {
        let (own, group) = (lane % 4, lane / 4);
        let parts = self.parts();
        // Two blocks below each other belong together, where there are as many.
        let pair = (self.rows / BLOCK).min(2);
        let (row, column) = match self.role {
            Role::A => {
                let along = self.columns / (4 * parts);
                let (below, next) = (register % pair, register / pair);
                let row = 2 * BLOCK * (next / along) + BLOCK * below + group;
                (row, (next % along * 4 + own) * parts + part)
            }
            Role::B => {
                let along = self.rows / (4 * parts);
                ((register % along * 4 + own) * parts + part, BLOCK * (register / along) + group)
            }
            Role::C => {
                let (at, along) = (register * parts + part, self.columns / BLOCK);
                let (below, next) = (at / 2 % pair, at / 2 / pair);
                let row = 2 * BLOCK * (next / along) + BLOCK * below + group;
                (row, BLOCK * (next % along) + 2 * own + at % 2)
            }
        };
        Coordinates { matrix: 0, row, column }
    }

    /// Of `m8n8k4` of halves: threads 4i to 4i + 3 and 4i + 16 to 4i + 19 hold the i-th matrices, the latter their
    /// lower rows, or later columns. `at` numbers the elements of a thread.
    fn place_in_quads(&self, lane: usize, at: usize) -> Coordinates {
        let (own, later) = (lane % 4, lane / 16 * 4);
        let (row, column) = match (self.role, self.major) {
            (Role::A, Major::Row) => (own + later, at),
            (Role::A, Major::Col) => (at + later, own),
            (Role::B, Major::Row) => (own, at + later),
            (Role::B, Major::Col) => (at, own + later),
            (Role::C, _) if self.element == Element::F32 => {
                ((own & 1) + (at & 2) + later, (at & 4) + (own & 2) + (at & 1))
            }
            (Role::C, _) => (own + later, at),
        };
        Coordinates { matrix: lane / 4 % 4, row, column }
    }

    /// The bits of one element of a register.
    pub(super) fn part(&self, register: u64, part: usize) -> u64 {
        let bits = self.element.bits();
        register >> (part as u32 * bits) & (u64::MAX >> (64 - bits))
    }

    /// Where the elements of the threads lie among the numbers of the matrices, which follow each other row by row:
    /// those of a thread's first register, then of its next, then of the next thread.
    fn indices(&self) -> Rc<[u16]> {
        let compute = || {
            let each = self.registers * self.parts();
            let places = (0..WARP * each).map(|at| {
                let (lane, at) = (at / each, at % each);
                self.place(lane, at / self.parts(), at % self.parts())
            });
            let rows = |place: Coordinates| place.matrix * self.rows + place.row;
            places.map(|place| (rows(place) * self.columns + place.column) as u16).collect()
        };
        INDICES.with_borrow_mut(|known| known.entry(*self).or_insert_with(compute).clone())
    }

    /// Calls `visit` for each element that the threads hold, with its place among the numbers of the matrices and its
    /// bits; `first` is the first of its registers.
    pub(super) fn for_each(
        &self,
        warp: &[Registers; WARP],
        first: usize,
        mut visit: impl FnMut(usize, u64),
    ) {
        let (indices, parts) = (self.indices(), self.parts());
        for (registers, indices) in warp.iter().zip(indices.chunks(self.registers * parts)) {
            let held = registers[first..].iter().zip(indices.chunks(parts));
            for (register, indices) in held.take(self.distinct()) {
                for (part, index) in indices.iter().enumerate() {
                    visit((*index).into(), self.part(*register, part));
                }
            }
        }
    }

    /// Gives the threads their elements, from the first register on, by their places among the numbers.
    pub(super) fn write(&self, warp: &mut [Registers; WARP], bits: impl Fn(usize) -> u64) {
        let (indices, parts, width) = (self.indices(), self.parts(), self.element.bits());
        for (registers, indices) in warp.iter_mut().zip(indices.chunks(self.registers * parts)) {
            for (register, indices) in registers.iter_mut().zip(indices.chunks(parts)) {
                let elements = indices.iter().rev();
                *register = elements.fold(0, |all, index| {
                    // A register of one part is as wide as a word.
                    let above = if parts == 1 { 0 } else { all << width };
                    above | bits((*index).into())
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ptx::{
        matrix::MatrixOp,
        op::{Op, Slot, Waits, WarpOp, forms},
    };

    /// The fragments of an operation's sources and of its result, in this order.
    fn fragments(op: &MatrixOp) -> Vec<Fragment> {
        match op {
            MatrixOp::Multiply(product) => {
                let sources = Role::ALL.iter().map(|role| Fragment::source(product, *role));
                sources.chain([Fragment::result(product)]).collect()
            }
            MatrixOp::Load(access) | MatrixOp::Store(access) => vec![Fragment::accessed(access)],
            MatrixOp::LoadTiles(_) | MatrixOp::StoreTiles(_) | MatrixOp::Transpose => Vec::new(),
        }
    }

    /// Each form of the table has as many registers as its fragments, which hold each element just once.
    #[test]
    fn forms_have_the_registers_of_their_fragments() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut seen = 0;
        for form in forms() {
            for _ in 0..24 {
                let (mnemonic, signature) = form.expand(|list| rng.usize(0..list.len()));
                let Ok(op) = Op::parse(&mnemonic) else { continue };
                let Waits::Warp(WarpOp::Matrix(op)) = op.facts().waits else { continue };
                let fragments = fragments(&op);
                let slots = signature.sources.iter().chain(&signature.destinations);
                let count = |slot: &Slot| {
                    if let Slot::Vector(_, count) = slot { Some(usize::from(*count)) } else { None }
                };
                let counts: Vec<usize> = slots.filter_map(count).collect();
                if !fragments.is_empty() {
                    let due: Vec<usize> = fragments.iter().map(|f| f.registers).collect();
                    assert_eq!(counts, due, "{mnemonic}");
                }
                for fragment in fragments {
                    let mut places = HashSet::new();
                    fragment.for_each(
                        &[[0; crate::device::cpu::matrix::REGISTERS]; WARP],
                        0,
                        |place, _| {
                            assert!(places.insert(place), "{mnemonic}: {place} twice");
                        },
                    );
                    let all = fragment.rows * fragment.columns * fragment.count;
                    assert_eq!(places.len(), all, "{mnemonic}");
                    assert!(places.into_iter().all(|place| place < all), "{mnemonic}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 1000, "{seen}");
    }
}
