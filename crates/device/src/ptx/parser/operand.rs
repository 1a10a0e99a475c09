//! Operands.

use super::scope::{FunctionScope, Name};
use super::{DEEPEST, Fault, Parsed, Parser};
use crate::ptx::lexer::{self, Kind, Number};
use crate::ptx::operand::{Address, Base, Operand, Special};
use crate::ptx::video::Part;

/// What a video instruction's operand may have beside its register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marked {
    pub(super) negated: bool,
    pub(super) part: Option<Part>,
}

impl<'a> Parser<'a> {
    pub(super) fn operand(&mut self, frame: &mut FunctionScope<'a>, depth: u32) -> Parsed<Operand> {
        let token = self.peek();
        if depth > DEEPEST {
            return self.unexpected("operands nested less deeply");
        }
        match token.kind {
            Kind::Word => self.named(frame),
            Kind::Number => self.literal(false),
            Kind::Mark(b'-') => {
                self.next();
                if self.peek().kind == Kind::Word {
                    let operand = self.named(frame)?;
                    let part = self.part.take().and_then(|marked| marked.part);
                    self.part = Some(Marked { negated: true, part });
                    return Ok(operand);
                }
                self.literal(true)
            }
            Kind::Mark(b'!') => {
                self.next();
                match self.named(frame)?.reg() {
                    Some(reg) => Ok(Operand::Not(reg)),
                    None => Err(Fault { token, text: "`!` needs a predicate register".to_owned() }),
                }
            }
            Kind::Mark(b'{') => {
                self.next();
                self.list(frame, b'}', depth).map(|list| Operand::Vector(list.into()))
            }
            Kind::Mark(b'[') => {
                self.next();
                let list = self.list(frame, b']', depth)?;
                Ok(bracketed(list))
            }
            Kind::Directive | Kind::Text | Kind::Mark(_) | Kind::End => {
                self.unexpected("an operand")
            }
        }
    }

    /// Operands with commas between up to `close`.
    pub(super) fn list(
        &mut self,
        frame: &mut FunctionScope<'a>,
        close: u8,
        depth: u32,
    ) -> Parsed<Vec<Operand>> {
        let mut list = Vec::new();
        while !self.take(close) {
            let operand = self.operand(frame, depth + 1)?;
            list.push(match operand.reg() {
                Some(reg) if close == b']' => {
                    Operand::Address(Address { base: Base::Reg(reg), offset: self.offset()? })
                }
                _ => operand,
            });
            if !self.is(close) {
                self.expect(b',')?;
            }
        }
        Ok(list)
    }

    fn literal(&mut self, negative: bool) -> Parsed<Operand> {
        let token = self.peek();
        let number = (token.kind == Kind::Number).then(|| lexer::number(self.text(token)));
        let operand = match number.flatten() {
            Some(Number::Int(value)) if negative => Operand::Int((value as i64).wrapping_neg()),
            Some(Number::Int(value)) => Operand::Int(value as i64),
            Some(Number::F32(bits)) => Operand::F32(bits ^ (u32::from(negative) << 31)),
            Some(Number::F64(bits)) => Operand::F64(bits ^ (u64::from(negative) << 63)),
            None => return self.unexpected("a number"),
        };
        self.next();
        Ok(operand)
    }

    fn named(&mut self, frame: &mut FunctionScope<'a>) -> Parsed<Operand> {
        let token = self.peek();
        let name = self.name("a name")?;
        if name == "_" {
            return Ok(Operand::Sink);
        }
        let symbol = match frame.find(name) {
            Some(Name::Reg(reg)) => return Ok(Operand::Reg(reg)),
            Some(Name::Table(table)) => return Ok(Operand::Table(table)),
            Some(Name::Symbol(symbol)) => Some(symbol),
            Some(Name::Label(_)) => None,
            Some(Name::Prototype(_)) => return Err(misplaced(token, name)),
            None => self.names.get(name).copied(),
        };
        if let Some(symbol) = symbol {
            return Ok(Operand::Symbol(symbol, self.offset()?));
        }
        if let Some(special) = Special::parse(name) {
            return Ok(Operand::Special(special));
        }
        if let Some((register, part)) = name.rsplit_once('.')
            && let (Some(Name::Reg(reg)), Some(part)) = (frame.find(register), Part::parse(part))
        {
            self.part = Some(Marked { negated: false, part: Some(part) });
            return Ok(Operand::Reg(reg));
        }
        if name.starts_with('%') && frame.find(name).is_none() {
            let text = format!("register `{name}` is not declared");
            return Err(Fault { token, text });
        }
        Ok(Operand::Label(frame.label(name, token.line)))
    }
}

fn misplaced(token: lexer::Token, name: &str) -> Fault {
    Fault { token, text: format!("`{name}` is a prototype") }
}

/// What `[…]` means: an address where one stands in it, else a list.
fn bracketed(list: Vec<Operand>) -> Operand {
    let [only] = list.as_slice() else { return Operand::Bracket(list.into()) };
    match *only {
        Operand::Symbol(symbol, offset) => {
            Operand::Address(Address { base: Base::Symbol(symbol), offset })
        }
        Operand::Int(offset) => Operand::Address(Address { base: Base::Absolute, offset }),
        Operand::Address(address) => Operand::Address(address),
        Operand::Reg(_) | Operand::Not(_) | Operand::F32(_) | Operand::F64(_) => {
            Operand::Bracket(list.into())
        }
        Operand::Special(_) | Operand::Vector(_) | Operand::Bracket(_) | Operand::Label(_) => {
            Operand::Bracket(list.into())
        }
        Operand::Table(_) | Operand::Sink => Operand::Bracket(list.into()),
    }
}
