//! Control flow of a function: basic blocks, their order, loops, dominators, and which registers live where.

use std::{collections::HashSet, ops::Range};

use super::ast::{Body, Statement};
use super::inst::Instruction;
use super::op::Next;
use super::operand::{Label, Reg};

/// A basic block: an index into [`Cfg::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl BlockId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Statements that run one after the other: only the first is jumped to, only the last jumps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicBlock {
    /// Indices into [`Body::statements`]; labels stand at the beginning.
    pub statements: Range<usize>,
    /// Where control goes, without doubles: the targets of its branch, then what follows it.
    pub successors: Vec<BlockId>,
    /// Where control comes from.
    pub predecessors: Vec<BlockId>,
    /// The block that follows in the text, where control can fall through to it. At the end of the last block,
    /// which has none, the function returns.
    pub next: Option<BlockId>,
    /// A back edge ends here.
    pub is_loop_header: bool,
}

/// The control flow graph of a body. BasicBlock 0 is the entry; there is always one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cfg {
    /// The blocks in the order of the text.
    pub blocks: Vec<BasicBlock>,
    /// The blocks that can be reached, each after all its predecessors but those of back edges.
    pub order: Vec<BlockId>,
    /// Edges to a block that is not finished in a depth-first search: every cycle contains one.
    pub back_edges: Vec<(BlockId, BlockId)>,
    label_blocks: Vec<Option<BlockId>>,
    reachable: Vec<bool>,
}

impl Cfg {
    /// The graph of `body`. Branches to labels that stand nowhere (the verifier refuses them) lead nowhere.
    pub fn new(body: &Body) -> Self {
        let (mut blocks, label_blocks) = split(body);
        connect(body, &mut blocks, &label_blocks);
        let reachable = vec![false; blocks.len()];
        let (order, back_edges) = (Vec::new(), Vec::new());
        let mut cfg = Self { blocks, order, back_edges, label_blocks, reachable };
        cfg.search();
        cfg
    }

    /// The block `id`.
    ///
    /// # Panics
    /// When `id` is of another graph.
    pub fn block(&self, id: BlockId) -> &BasicBlock {
        &self.blocks[id.index()]
    }

    /// All blocks by id.
    pub fn ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len() as u32).map(BlockId)
    }

    /// The block that begins with `label`.
    pub fn target(&self, label: Label) -> Option<BlockId> {
        self.label_blocks.get(label.0 as usize).copied().flatten()
    }

    /// The instructions of a block with their indices in [`Body::statements`].
    pub fn instructions<'a>(
        &self,
        body: &'a Body,
        id: BlockId,
    ) -> impl DoubleEndedIterator<Item = (usize, &'a Instruction)> + use<'a> {
        let range = self.blocks.get(id.index()).map_or(0..0, |block| block.statements.clone());
        let statements = body.statements.get(range.clone()).unwrap_or(&[]);
        range.zip(statements).filter_map(|(at, statement)| match statement {
            Statement::Instruction(instruction) => Some((at, instruction)),
            Statement::Label(_) | Statement::Pragma(_) => None,
        })
    }

    /// Whether the edge closes a loop.
    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        self.back_edges.contains(&(from, to))
    }

    /// Whether control can get to the block.
    pub fn is_reachable(&self, id: BlockId) -> bool {
        self.reachable.get(id.index()).copied().unwrap_or(false)
    }

    /// The blocks of the loop that `header` begins, itself included: those from which a back edge to it starts,
    /// and all between. (For irreducible graphs: all that reach one without passing through `header`.)
    pub fn loop_blocks(&self, header: BlockId) -> Vec<BlockId> {
        let mut inside = vec![false; self.blocks.len()];
        inside[header.index()] = true;
        let ends = self.back_edges.iter().filter(|(_, to)| *to == header);
        let mut open: Vec<BlockId> = ends.map(|(from, _)| *from).collect();
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut inside[id.index()], true) {
                open.extend(&self.block(id).predecessors);
            }
        }
        self.order.iter().copied().filter(|id| inside[id.index()]).collect()
    }

    /// Depth-first from the entry: order and back edges.
    fn search(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.blocks.len()];
        let mut stack = vec![(BlockId(0), 0)];
        states[0] = State::Open;
        while let Some((id, next)) = stack.last_mut() {
            let id = *id;
            let Some(to) = self.blocks[id.index()].successors.get(*next).copied() else {
                states[id.index()] = State::Done;
                self.order.push(id);
                stack.pop();
                continue;
            };
            *next += 1;
            match states[to.index()] {
                State::New => {
                    states[to.index()] = State::Open;
                    stack.push((to, 0));
                }
                State::Open => {
                    self.back_edges.push((id, to));
                    self.blocks[to.index()].is_loop_header = true;
                }
                State::Done => {}
            }
        }
        self.order.reverse();
        self.order.iter().for_each(|id| self.reachable[id.index()] = true);
    }

    /// The immediate dominator of each block; `None` for the entry and for what cannot be reached.
    ///
    /// Cooper, Harvey, Kennedy: *A simple, fast dominance algorithm* (2001).
    pub fn dominators(&self) -> Vec<Option<BlockId>> {
        let mut rank = vec![usize::MAX; self.blocks.len()];
        self.order.iter().enumerate().for_each(|(at, id)| rank[id.index()] = at);
        let mut above: Vec<Option<BlockId>> = vec![None; self.blocks.len()];
        above[0] = Some(BlockId(0));
        let intersect = |above: &[Option<BlockId>], mut a: BlockId, mut b: BlockId| {
            while a != b {
                let deeper = if rank[a.index()] > rank[b.index()] { &mut a } else { &mut b };
                let Some(up) = above[deeper.index()] else { return *deeper };
                *deeper = up;
            }
            a
        };
        let mut changed = true;
        while changed {
            changed = false;
            for id in self.order.iter().skip(1) {
                let known = self.block(*id).predecessors.iter().copied();
                let known = known.filter(|from| above[from.index()].is_some());
                let new = known.reduce(|a, b| intersect(&above, a, b));
                changed |= new != above[id.index()];
                above[id.index()] = new;
            }
        }
        above[0] = None;
        above
    }
}

/// Cuts the statements into blocks; also where each label went.
fn split(body: &Body) -> (Vec<BasicBlock>, Vec<Option<BlockId>>) {
    let mut blocks: Vec<BasicBlock> = Vec::new();
    let mut label_blocks = vec![None; body.labels.len()];
    let (mut start, mut has_instruction) = (0, false);
    let mut finish = |range: Range<usize>| {
        blocks.push(BasicBlock {
            statements: range,
            successors: Vec::new(),
            predecessors: Vec::new(),
            next: None,
            is_loop_header: false,
        });
        blocks.len() as u32
    };
    let mut current = 0;
    for (at, statement) in body.statements.iter().enumerate() {
        match statement {
            Statement::Label(label) => {
                if has_instruction {
                    current = finish(start..at);
                    (start, has_instruction) = (at, false);
                }
                if let Some(entry) = label_blocks.get_mut(label.0 as usize) {
                    *entry = Some(BlockId(current));
                }
            }
            Statement::Instruction(instruction) => {
                has_instruction = true;
                if instruction.is_terminator() {
                    current = finish(start..at + 1);
                    (start, has_instruction) = (at + 1, false);
                }
            }
            Statement::Pragma(_) => {}
        }
    }
    if start < body.statements.len() || current == 0 {
        finish(start..body.statements.len());
    }
    (blocks, label_blocks)
}

fn connect(body: &Body, blocks: &mut [BasicBlock], label_blocks: &[Option<BlockId>]) {
    let count = blocks.len();
    for at in 0..count {
        let last =
            body.statements[blocks[at].statements.clone()].iter().rev().find_map(|s| match s {
                Statement::Instruction(instruction) => Some(instruction),
                Statement::Label(_) | Statement::Pragma(_) => None,
            });
        let mut to: Vec<BlockId> = Vec::new();
        let add = |label: &Label| {
            let block = label_blocks.get(label.0 as usize).copied().flatten();
            to.extend(block.filter(|block| block.index() < count));
        };
        let mut falls = true;
        if let Some(last) = last {
            falls = !last.is_terminator() || last.guard.is_some();
            match last.op.facts().next {
                Next::Branches => last.branch_target().iter().for_each(add),
                Next::BranchesByTable => {
                    let table = last.branch_table().and_then(|at| body.tables.get(at as usize));
                    table.iter().flat_map(|table| &table.labels).for_each(add);
                }
                Next::Follows | Next::Returns | Next::Exits | Next::Traps => {}
            }
        }
        if falls && at + 1 < count {
            let next = BlockId(at as u32 + 1);
            blocks[at].next = Some(next);
            to.push(next);
        }
        if to.len() > 1 {
            let mut seen = HashSet::with_capacity(to.len());
            to.retain(|id| seen.insert(*id));
        }
        for id in &to {
            blocks[id.index()].predecessors.push(BlockId(at as u32));
        }
        blocks[at].successors = to;
    }
}

/// A set of registers of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegSet {
    words: Vec<u64>,
}

impl RegSet {
    /// The empty set, without room.
    const EMPTY: Self = Self { words: Vec::new() };

    /// The empty set, with room for `registers`.
    pub fn new(registers: usize) -> Self {
        Self { words: vec![0; registers.div_ceil(64)] }
    }

    /// All registers, of so many.
    pub fn full(registers: usize) -> Self {
        let mut set = Self::new(registers);
        (0..registers as u32).for_each(|reg| set.insert(Reg(reg)));
        set
    }

    /// The registers that an instruction of `body` names.
    pub fn named(body: &Body) -> Self {
        let mut set = Self::new(body.registers.len());
        for instruction in body.instructions() {
            instruction.for_each_use(|reg| set.insert(reg));
            instruction.for_each_def(|reg| set.insert(reg));
        }
        set
    }

    /// Takes out what `other` has not.
    pub fn keep(&mut self, other: &Self) {
        for (at, word) in self.words.iter_mut().enumerate() {
            *word &= other.words.get(at).copied().unwrap_or(0);
        }
    }

    /// Adds a register.
    pub fn insert(&mut self, reg: Reg) {
        let word = reg.0 as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (reg.0 % 64);
    }

    /// Takes a register out.
    pub fn remove(&mut self, reg: Reg) {
        if let Some(word) = self.words.get_mut(reg.0 as usize / 64) {
            *word &= !(1 << (reg.0 % 64));
        }
    }

    /// Whether it has the register.
    pub fn contains(&self, reg: Reg) -> bool {
        self.words.get(reg.0 as usize / 64).is_some_and(|word| word >> (reg.0 % 64) & 1 == 1)
    }

    /// Adds all of `other`; whether that changed anything.
    pub fn extend(&mut self, other: &Self) -> bool {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut changed = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            changed |= *more & !*word != 0;
            *word |= more;
        }
        changed
    }

    /// The registers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                (rest != 0).then(|| {
                    rest &= rest - 1;
                    Reg(at as u32 * 64 + bit)
                })
            })
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }
}

/// Which registers hold a value that is read later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// At the beginning of each block.
    pub live_in: Vec<RegSet>,
    /// At the end of each block.
    pub live_out: Vec<RegSet>,
}

impl Liveness {
    /// The registers that may be read before anything writes them.
    pub fn at_entry(&self) -> &RegSet {
        const NONE: &RegSet = &RegSet::EMPTY;
        self.live_in.first().unwrap_or(NONE)
    }

    /// Of all registers of `body`. At returns, the function's return registers live.
    pub fn new(body: &Body, cfg: &Cfg, returned: &[Reg]) -> Self {
        let registers = body.registers.len();
        let empty = vec![RegSet::new(registers); cfg.blocks.len()];
        let mut liveness = Self { live_in: empty.clone(), live_out: empty };
        let mut leaving = RegSet::new(registers);
        returned.iter().for_each(|reg| leaving.insert(*reg));
        for id in cfg.ids() {
            let returns =
                cfg.instructions(body, id).any(|(_, i)| i.op.facts().next == Next::Returns);
            let ends = cfg.block(id).next.is_none() && id.index() + 1 == cfg.blocks.len();
            if returns || ends {
                liveness.live_out[id.index()].extend(&leaving);
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for id in cfg.order.iter().rev() {
                changed |= liveness.update(body, cfg, *id);
            }
        }
        liveness
    }

    fn update(&mut self, body: &Body, cfg: &Cfg, id: BlockId) -> bool {
        let mut out = std::mem::take(&mut self.live_out[id.index()]);
        for to in &cfg.block(id).successors {
            out.extend(&self.live_in[to.index()]);
        }
        let mut live = out.clone();
        for (_, instruction) in cfg.instructions(body, id).rev() {
            step_back(instruction, &mut live);
        }
        self.live_out[id.index()] = out;
        self.live_in[id.index()].extend(&live)
    }

    /// Calls `visit` for each instruction of a block, last first, with its index in [`Body::statements`] and the
    /// registers that live **after** it.
    pub fn for_each_after(
        &self,
        body: &Body,
        cfg: &Cfg,
        id: BlockId,
        mut visit: impl FnMut(usize, &Instruction, &RegSet),
    ) {
        let mut live = self.live_out[id.index()].clone();
        for (at, instruction) in cfg.instructions(body, id).rev() {
            visit(at, instruction, &live);
            step_back(instruction, &mut live);
        }
    }
}

/// What lives before `instruction`, from what lives after it. A guarded write keeps the old value alive.
pub fn step_back(instruction: &Instruction, live: &mut RegSet) {
    if instruction.guard.is_none() {
        instruction.for_each_def(|reg| live.remove(reg));
    }
    instruction.for_each_use(|reg| live.insert(reg));
}
