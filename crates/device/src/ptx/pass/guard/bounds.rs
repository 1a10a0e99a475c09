//! The comparison of an address with the memory that it has to lie in.

use super::extent::Size;
use super::group::{Bounds, Group, Root, is_wide};
use super::record::AccessRecord;
use super::search::RESERVED_SHARED;
use super::weaver::{Weaver, Woven};
use super::words::Word;
use crate::ptx::inst::Guard;
use crate::ptx::operand::{Operand, Reg, Scalar, Special, Symbol};
use crate::ptx::pass::origin::Source;
use crate::ptx::types::{Space, Type};

impl Weaver<'_> {
    /// Compares the index of a group with those that are right, where the guard holds; none where it has no index.
    pub(super) fn compare_index(&mut self, group: &Group, guard: Option<Guard>) -> Option<Woven> {
        let index = group.index?;
        let [first, count] = self.indices(group)?;
        let from = [Operand::Reg(index.reg), first.clone()];
        let distance = self.code.give("sub.s32", Type::B32, from);
        let (fine, fail) = self.outside("u32", distance, count.clone(), guard);
        Some(Woven { fine, fail, distance, start: first, limit: count })
    }

    /// Where a distance is within a limit, and where not, both where the guard holds.
    fn outside(
        &mut self,
        ty: &str,
        distance: Reg,
        limit: Operand,
        guard: Option<Guard>,
    ) -> (Guard, Reg) {
        let (fail, compared) = (self.code.reg(Type::Pred), [Operand::Reg(distance), limit]);
        let Some(guard) = guard else {
            self.code.put(&format!("setp.hs.{ty}"), [Operand::Reg(fail)], compared);
            return (Guard { reg: fail, negated: true }, fail);
        };
        let fine = self.code.reg(Type::Pred);
        let (condition, [distance, limit]) = (self.predicate(guard), compared);
        let results = [fail, fine].map(Operand::Reg);
        self.code.put(&format!("setp.hs.and.{ty}"), results, [distance, limit, condition]);
        (Guard { reg: fine, negated: false }, fail)
    }

    /// Compares the address of a group, where the guard holds.
    pub(super) fn compare(&mut self, group: &Group, guard: Option<Guard>) -> Woven {
        let wide = is_wide(self.body, group.root);
        let (ty, bits) = if wide { (Type::B64, "64") } else { (Type::B32, "32") };
        let (mut start, mut limit) = (Operand::Int(0), Operand::Int(0));
        let distance = match &group.bounds {
            Bounds::Search { .. } => self.lowest(group, wide),
            Bounds::Shared => {
                limit = self.shared_limit(group.span(), wide);
                self.lowest(group, wide)
            }
            Bounds::Sources { sources, generic } => {
                (start, limit) = self.memory(group, sources, *generic, wide);
                match group.root {
                    Root::Reg(reg) => {
                        let from = [Operand::Reg(reg), start.clone()];
                        self.code.give(&format!("sub.s{bits}"), ty, from)
                    }
                    Root::Symbol(_) => {
                        let low = [Operand::Int(group.low)];
                        self.code.give(&format!("mov.b{bits}"), ty, low)
                    }
                }
            }
        };
        let mut compared = distance;
        if let Bounds::Search { generic } = group.bounds {
            let inside = self.search(distance, wide, group.span(), generic);
            // Anything is too far from a range that was not found.
            let wrong = [Operand::Int(0), Operand::Int(1), Operand::Reg(inside)];
            limit = Operand::Int(1);
            compared = self.code.give(&format!("selp.b{bits}"), ty, wrong);
        }
        if group.tested_align > 1 {
            compared = self.with_alignment(group, wide, compared);
        }
        let (fine, fail) = self.outside(&format!("u{bits}"), compared, limit.clone(), guard);
        let searched = matches!(group.bounds, Bounds::Search { .. });
        let limit = if searched { Operand::Int(0) } else { limit };
        Woven { fine, fail, distance, start, limit }
    }

    /// The address of the lowest access.
    fn lowest(&mut self, group: &Group, wide: bool) -> Reg {
        let (ty, bits) = if wide { (Type::B64, "64") } else { (Type::B32, "32") };
        let root = match group.root {
            Root::Reg(reg) => reg,
            Root::Symbol(symbol) => self.symbol(symbol, group.space.is_none(), wide),
        };
        match group.low {
            0 => root,
            low => {
                let sum = [Operand::Reg(root), Operand::Int(low)];
                self.code.give(&format!("add.s{bits}"), ty, sum)
            }
        }
    }

    fn search(&mut self, address: Reg, wide: bool, span: u32, generic: bool) -> Reg {
        let address = self.widened(address, !wide);
        match self.found {
            Some(found) => found.search(&mut self.code, self.recorder, address, span, generic),
            // There is one wherever a group asks for it.
            None => self.code.give("setp.ne.u32", Type::Pred, [Operand::Int(0), Operand::Int(0)]),
        }
    }

    /// The distance, or one that is too far where the address is misaligned.
    fn with_alignment(&mut self, group: &Group, wide: bool, distance: Reg) -> Reg {
        let (ty, bits) = if wide { (Type::B64, "64") } else { (Type::B32, "32") };
        let address = self.lowest(group, wide);
        let mask = Operand::Int(i64::from(group.tested_align) - 1);
        let rest = [Operand::Reg(address), mask];
        let rest = self.code.give(&format!("and.b{bits}"), ty, rest);
        let wrong = [Operand::Reg(rest), Operand::Int(0)];
        let wrong = self.code.give(&format!("setp.ne.u{bits}"), Type::Pred, wrong);
        let chosen = [Operand::Int(-1), Operand::Reg(distance), Operand::Reg(wrong)];
        self.code.give(&format!("selp.b{bits}"), ty, chosen)
    }

    /// Where the memory of a group begins, less its lowest offset, and how far from there its address may be.
    fn memory(
        &mut self,
        group: &Group,
        sources: &[Source],
        generic: bool,
        wide: bool,
    ) -> (Operand, Operand) {
        let (ty, bits) = if wide { (Type::B64, "64") } else { (Type::B32, "32") };
        let mut chosen: Option<(Operand, Operand)> = None;
        let beside = match group.root {
            Root::Reg(reg) => self.sources.beside(reg),
            Root::Symbol(_) => None,
        };
        for source in sources {
            let start = self.start(group, *source, generic, wide);
            let limit = self.limit(group, *source, wide);
            chosen = Some(match (chosen, beside) {
                (Some((other_start, other_limit)), Some(beside)) => {
                    let number = Operand::Int(self.sources.number(*source));
                    let is_this = [Operand::Reg(beside), number];
                    let is_this = self.code.give("setp.eq.u32", Type::Pred, is_this);
                    let mut choose = |a: Operand, b: Operand| {
                        let choice = [a, b, Operand::Reg(is_this)];
                        Operand::Reg(self.code.give(&format!("selp.b{bits}"), ty, choice))
                    };
                    (choose(start, other_start), choose(limit, other_limit))
                }
                (Some(_) | None, _) => (start, limit),
            });
        }
        chosen.unwrap_or((Operand::Int(0), Operand::Int(0)))
    }

    fn start(&mut self, group: &Group, source: Source, generic: bool, wide: bool) -> Operand {
        match source {
            Source::Null => Operand::Int(group.low.wrapping_neg()),
            Source::Argument(argument) => {
                let word = self.words.operand(Word::Start { argument, low: group.low });
                Operand::Reg(self.code.give("ld.param.u64", Type::B64, [word]))
            }
            Source::Symbol(symbol) => {
                let start = Operand::Reg(self.symbol(symbol, generic, wide));
                let (ty, bits) = if wide { (Type::B64, "64") } else { (Type::B32, "32") };
                match group.low {
                    0 => start,
                    low => {
                        let less = [start, Operand::Int(low)];
                        Operand::Reg(self.code.give(&format!("sub.s{bits}"), ty, less))
                    }
                }
            }
        }
    }

    fn limit(&mut self, group: &Group, source: Source, wide: bool) -> Operand {
        let span = group.span();
        match source {
            Source::Null => Operand::Int(0),
            Source::Argument(argument) => {
                let word = Word::Limit { argument, span, align: group.align };
                let word = self.words.operand(word);
                Operand::Reg(self.code.give("ld.param.u64", Type::B64, [word]))
            }
            Source::Symbol(symbol) => match self.origins.size(symbol) {
                Some(Size::Bytes(bytes)) => {
                    let limit = (bytes + 1).saturating_sub(u64::from(span));
                    Operand::Int(i64::try_from(limit).unwrap_or(i64::MAX))
                }
                Some(Size::Dynamic) => {
                    let all = self.code.special(Special::Scalar(Scalar::DynamicSmemSize));
                    let less = [Operand::Reg(all), Operand::Int(i64::from(span) - 1)];
                    let limit = self.code.give("sub.s32", Type::B32, less);
                    let least = [Operand::Reg(limit), Operand::Int(0)];
                    self.code.put("max.s32", [Operand::Reg(limit)], least);
                    Operand::Reg(self.widened(limit, wide))
                }
                None => Operand::Int(0),
            },
        }
    }

    fn shared_limit(&mut self, span: u32, wide: bool) -> Operand {
        let all = self.code.special(Special::Scalar(Scalar::TotalSmemSize));
        let more = [Operand::Reg(all), Operand::Int(RESERVED_SHARED + 1 - i64::from(span))];
        let limit = self.code.give("add.s32", Type::B32, more);
        Operand::Reg(self.widened(limit, wide))
    }

    /// A register of 32 bits as one of 64, where the condition holds.
    fn widened(&mut self, reg: Reg, condition: bool) -> Reg {
        match condition {
            true => self.code.give("cvt.u64.u32", Type::B64, [Operand::Reg(reg)]),
            false => reg,
        }
    }

    /// What a record says of a group whose root is this.
    pub(super) fn access_from(&mut self, group: &Group, root: Reg) -> AccessRecord {
        let wide = is_wide(self.body, group.root);
        let (start, limit) = match &group.bounds {
            Bounds::Search { .. } => (Operand::Int(0), Operand::Int(0)),
            Bounds::Shared => (Operand::Int(0), self.shared_limit(group.span(), wide)),
            Bounds::Sources { sources, generic } => {
                let (start, limit) = self.memory(group, sources, *generic, wide);
                (self.more(start, group.low, wide), limit)
            }
        };
        let address = self.more(Operand::Reg(root), group.low, wide);
        let [address, start, limit] = [address, start, limit].map(|operand| match operand.reg() {
            Some(reg) => Operand::Reg(self.widened(reg, !wide)),
            None => operand,
        });
        AccessRecord { address, start, limit }
    }

    /// The sum with a constant.
    fn more(&mut self, of: Operand, by: i64, wide: bool) -> Operand {
        let (ty, bits) = if wide { (Type::B64, "64") } else { (Type::B32, "32") };
        match by {
            0 => of,
            by => Operand::Reg(self.code.give(&format!("add.s{bits}"), ty, [of, Operand::Int(by)])),
        }
    }

    /// The address of a symbol.
    pub(super) fn symbol(&mut self, symbol: Symbol, generic: bool, wide: bool) -> Reg {
        let (ty, bits) = if wide { (Type::B64, "64") } else { (Type::B32, "32") };
        let own = self.code.give(&format!("mov.u{bits}"), ty, [Operand::Symbol(symbol, 0)]);
        match self.origins.space(symbol) {
            Some(space) if generic && space != Space::Global => {
                let convert = format!("cvta.{}.u{bits}", space.text());
                self.code.give(&convert, ty, [Operand::Reg(own)])
            }
            Some(_) | None => own,
        }
    }

    /// What a record says of a group: the address of its lowest access, and what that was compared with.
    pub(super) fn recorded(&mut self, group: &Group, woven: &Woven) -> AccessRecord {
        let wide = is_wide(self.body, group.root);
        let (ty, bits) = if wide { (Type::B64, "64") } else { (Type::B32, "32") };
        // What is searched, and shared memory as a whole, has no beginning that the lowest access was added to.
        let start = match (&group.bounds, group.low) {
            (Bounds::Search { .. } | Bounds::Shared, _) | (Bounds::Sources { .. }, 0) => {
                woven.start.clone()
            }
            (Bounds::Sources { .. }, low) => {
                let sum = [woven.start.clone(), Operand::Int(low)];
                Operand::Reg(self.code.give(&format!("add.s{bits}"), ty, sum))
            }
        };
        let address = match group.stays {
            true => self.lowest(group, wide),
            false => {
                let sum = [Operand::Reg(woven.distance), start.clone()];
                self.code.give(&format!("add.s{bits}"), ty, sum)
            }
        };
        let address = Operand::Reg(self.widened(address, !wide));
        let mut wide_operand = |operand: &Operand| match operand.reg() {
            Some(reg) => Operand::Reg(self.widened(reg, !wide)),
            None => operand.clone(),
        };
        let (start, limit) = (wide_operand(&start), wide_operand(&woven.limit));
        AccessRecord { address, start, limit }
    }
}
