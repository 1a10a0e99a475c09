//! The statements of a function.

use super::call::Parts;
use super::locations::Locations;
use super::operand::Marked;
use super::scope::FunctionScope;
use super::{DEEPEST_SCOPE, Fault, Parsed, Parser};
use crate::ptx::ast::{Registers, Statement};
use crate::ptx::inst::{Guard, Instruction, Op};
use crate::ptx::lexer::Kind;
use crate::ptx::operand::{Address, Base, Operand};
use crate::ptx::quoted;
use crate::ptx::types::Type;
use crate::ptx::video::{Part, Video};

impl<'a> Parser<'a> {
    /// All statements up to the brace that ends the function.
    pub(super) fn body(&mut self, frame: &mut FunctionScope<'a>) -> Parsed<()> {
        let mut locations = Locations::default();
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End => return self.unexpected("`}`"),
                Kind::Mark(b'{') => {
                    if frame.depth() >= DEEPEST_SCOPE {
                        return self.unexpected("scopes nested less deeply");
                    }
                    self.next();
                    frame.open();
                }
                Kind::Mark(b'}') => {
                    self.next();
                    if frame.depth() == 1 {
                        return Ok(());
                    }
                    frame.close();
                }
                Kind::Mark(b';') => {
                    self.next();
                }
                Kind::Word | Kind::Directive | Kind::Number | Kind::Text | Kind::Mark(_) => {
                    let start = self.at;
                    if let Err(fault) = self.statement(frame, &mut locations) {
                        self.recover(fault);
                    }
                    if self.at == start && !self.is(b'}') {
                        self.next();
                    }
                }
            }
        }
    }

    fn statement(
        &mut self,
        frame: &mut FunctionScope<'a>,
        locations: &mut Locations,
    ) -> Parsed<()> {
        match self.directive() {
            Some("reg") => return self.registers(frame),
            Some("loc") => return self.location(locations),
            Some("pragma") => return self.pragma(frame),
            Some(_) => return self.locals(frame),
            None => {}
        }
        let token = self.peek();
        if token.kind == Kind::Word && self.ahead(1).kind == Kind::Mark(b':') {
            let name = self.name("a label")?;
            self.next();
            if self.labelled_list(name, frame)? {
                return Ok(());
            }
            return frame.place(name, token.line).ok_or_else(|| {
                let text = format!("`{name}` is declared twice");
                Fault { token, text }
            });
        }
        let instruction = self.instruction(frame, locations)?;
        frame.body.statements.push(Statement::Instruction(instruction));
        Ok(())
    }

    /// `.reg .b32 %r<5>, %x;`
    fn registers(&mut self, frame: &mut FunctionScope<'a>) -> Parsed<()> {
        self.next();
        let ty = self.ty()?;
        loop {
            let token = self.peek();
            let name = self.name("a register's name")?;
            let mut count = None;
            if self.take(b'<') {
                count = Some(self.small("a number of registers")?);
                self.expect(b'>')?;
            }
            let shadows = self.names.contains_key(name);
            if frame.declare_reg(name, ty, count, shadows).is_none() {
                let text = if u64::from(count.unwrap_or(0)) >= u64::from(Registers::LIMIT) {
                    "too many registers".to_owned()
                } else {
                    format!("`{name}` is declared twice")
                };
                return Err(Fault { token, text });
            }
            if !self.take(b',') {
                return self.expect(b';');
            }
        }
    }

    fn locals(&mut self, frame: &mut FunctionScope<'a>) -> Parsed<()> {
        let token = self.peek();
        let linkage = self.linkage();
        for (name, variable) in self.variables(linkage, None, Some(frame))? {
            let shadows = self.names.contains_key(name);
            if frame.declare_local(name, variable, shadows).is_none() {
                return Err(Fault { token, text: format!("`{name}` is declared twice") });
            }
        }
        self.expect(b';')
    }

    fn pragma(&mut self, frame: &mut FunctionScope<'a>) -> Parsed<()> {
        self.next();
        let token = self.peek();
        if token.kind != Kind::Text {
            return self.unexpected("a string");
        }
        self.next();
        let text = String::from_utf8_lossy(&quoted::unquoted(self.text(token))).into_owned();
        frame.body.statements.push(Statement::Pragma(text));
        self.expect(b';')
    }

    fn instruction(
        &mut self,
        frame: &mut FunctionScope<'a>,
        locations: &mut Locations,
    ) -> Parsed<Instruction> {
        let guard = self.guard(frame)?;
        let token = self.peek();
        let mnemonic = self.name("an instruction")?;
        let (op, destinations) = match self.ops.get(mnemonic) {
            Some(known) => known.clone(),
            None => {
                let op = Op::parse(mnemonic).map_err(|text| Fault { token, text })?;
                let known = (op.clone(), op.destinations());
                self.ops.insert(mnemonic, known.clone());
                known
            }
        };
        let (op, dst, src) = if let Op::Call { uni, .. } = op {
            self.call(uni, frame)?
        } else {
            let (operands, piped, marks) = self.operands(frame)?;
            let parts = arrange((op, destinations), operands, piped, &frame.body.registers);
            marked(parts, &marks).map_err(|text| Fault { token, text })?
        };
        self.expect(b';')?;
        let location = self.current_location(locations);
        Ok(Instruction { guard, op, dst, src, line: token.line, location })
    }

    fn guard(&mut self, frame: &mut FunctionScope<'a>) -> Parsed<Option<Guard>> {
        if !self.take(b'@') {
            return Ok(None);
        }
        let token = self.peek();
        let operand = self.operand(frame, 0)?;
        let (Operand::Reg(reg) | Operand::Not(reg)) = operand else {
            return Err(Fault { token, text: "a guard needs a predicate register".to_owned() });
        };
        Ok(Some(Guard { reg, negated: matches!(operand, Operand::Not(_)) }))
    }

    /// All operands; whether a `|` stands behind the first.
    fn operands(&mut self, frame: &mut FunctionScope<'a>) -> Parsed<(Vec<Operand>, bool, Marks)> {
        let mut list = Vec::with_capacity(4);
        let mut piped = false;
        let mut marks = Vec::new();
        if self.is(b';') {
            return Ok((list, piped, marks));
        }
        self.part = None;
        loop {
            list.push(self.operand(frame, 0)?);
            marks.extend(self.part.take().map(|marked| (list.len() - 1, marked)));
            if self.is(b'|') && list.len() == 1 {
                self.next();
                piped = true;
            } else if !self.take(b',') {
                return Ok((list, piped, marks));
            }
        }
    }
}

/// Which operands have a sign or name a part of their register.
type Marks = Vec<(usize, Marked)>;

/// Signs and parts are the video instructions' own.
fn marked((op, dst, src): Parts, marks: &Marks) -> Result<Parts, String> {
    if marks.is_empty() {
        return Ok((op, dst, src));
    }
    if let Op::Unsupported { .. } = op {
        return Ok((op, dst, src));
    }
    let mut video = if let Op::Video(video) = op {
        video
    } else if let Op::Simd(simd) = op {
        Video::from(simd)
    } else {
        return Err("only video instructions take parts of registers".to_owned());
    };
    for (at, Marked { negated, part }) in marks {
        let place = match at {
            0 => &mut video.d_part,
            1 => &mut video.a_part,
            2 => &mut video.b_part,
            _ => &mut None,
        };
        *place = *part;
        if let (true, Some(sign)) = (*negated, at.checked_sub(1)) {
            let sign = video.negated.get_mut(sign).ok_or("a sign at a fourth operand")?;
            *sign = true;
        }
    }
    let counts = |part: Option<Part>| part.is_none_or(|part| part.count <= video.lanes);
    let exact = |part: Option<Part>| part.is_none_or(|part| part.count == video.lanes);
    if !counts(video.d_part) || !exact(video.a_part) || !exact(video.b_part) {
        return Err("parts that do not fit the instruction's lanes".to_owned());
    }
    Ok((Op::Video(video), dst, src))
}

/// Splits operands into so many destinations, without one behind `|`, and sources, and completes what only they tell
/// about the operation.
fn arrange(
    (mut op, destinations): (Op, usize),
    mut list: Vec<Operand>,
    piped: bool,
    registers: &Registers,
) -> Parts {
    let mut count = destinations + usize::from(piped);
    if let Op::Unsupported { .. } = op {
        let written = matches!(list.first(), Some(Operand::Reg(_) | Operand::Vector(_)));
        count = if list.len() > 1 && written { 1 + usize::from(piped) } else { 0 };
    }
    let mut src = list.split_off(count.min(list.len()));
    if op.facts().in_brackets > 0 {
        let parts = unfold(&mut src);
        if let Op::Tex(tex) | Op::Tld4 { tex, .. } = &mut op {
            tex.sampler = parts == 3;
        }
    }
    // The state that an arrival gives need not be wanted; an address is not one.
    if let (Op::Mbarrier(_), 1, Some(Operand::Address(_))) = (&op, count, list.first()) {
        src.splice(0..0, list.drain(..));
    }
    if let Op::Min(min_max) | Op::Max(min_max) = &mut op {
        min_max.three = src.len() == 3;
    }
    if let Op::CpAsync { ignore, .. } = &mut op {
        let last = src.get(3).and_then(Operand::reg);
        *ignore = last.is_some_and(|reg| registers.ty(reg) == Type::Pred)
            || matches!(src.get(3), Some(Operand::Not(_)));
    }
    (op, list, src)
}

/// Replaces a leading `[handle, …]` by what stands in it; gives how many that were.
fn unfold(src: &mut Vec<Operand>) -> usize {
    let parts = if let Some(Operand::Bracket(parts)) = src.first_mut() {
        std::mem::take(parts).into_vec()
    } else if let Some(address @ Operand::Address(_)) = src.first() {
        vec![address.clone()]
    } else {
        return 0;
    };
    let count = parts.len();
    src.splice(0..1, parts.into_iter().map(plain));
    count
}

/// A handle that was read as an address: the register or symbol itself.
fn plain(operand: Operand) -> Operand {
    let Operand::Address(Address { base, offset }) = operand else { return operand };
    match base {
        Base::Reg(reg) if offset == 0 => Operand::Reg(reg),
        Base::Symbol(symbol) => Operand::Symbol(symbol, offset),
        Base::Reg(_) | Base::Absolute => operand,
    }
}
