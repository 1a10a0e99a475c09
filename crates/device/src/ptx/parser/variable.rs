//! Variables and their initialisers.

use super::scope::FunctionScope;
use super::{DEEPEST, Fault, Parsed, Parser};
use crate::ptx::ast::{Init, Linkage, SymbolAddress, Value, Variable};
use crate::ptx::lexer::{self, Kind, Number};
use crate::ptx::operand::Symbol;
use crate::ptx::quoted;
use crate::ptx::types::{Space, Type};

impl<'a> Parser<'a> {
    /// `.global .align 8 .u64 a[2] = {…}, b` without what follows; the state space is next.
    pub(super) fn variables(
        &mut self,
        linkage: Linkage,
        mut attribute: Option<String>,
        frame: Option<&FunctionScope<'a>>,
    ) -> Parsed<Vec<(&'a str, Variable)>> {
        let Some(space) = self.directive().and_then(Space::parse) else {
            return self.unexpected("a state space, `.entry` or `.func`");
        };
        self.next();
        let bank = if self.take(b'[') {
            let bank = self.small("a bank")?;
            self.expect(b']')?;
            Some(bank)
        } else {
            None
        };
        let (mut align, mut lanes) = (None, 1);
        let ty = loop {
            match self.directive() {
                Some("align") => align = Some(self.alignment()?),
                Some("attribute") => attribute = self.attribute()?,
                Some("v2") => lanes = self.skip_to(2),
                Some("v4") => lanes = self.skip_to(4),
                _ => break self.ty()?,
            }
        };
        let mut list = Vec::new();
        loop {
            let name = self.name("a name")?;
            let dims = self.dims()?;
            let init = if self.take(b'=') { Some(self.init(frame, 0)?) } else { None };
            let attribute = attribute.clone();
            let variable = Variable {
                name: name.to_owned(),
                space,
                linkage,
                ty,
                lanes,
                align,
                dims,
                init,
                attribute,
                bank,
            };
            list.push((name, variable));
            if !self.take(b',') {
                return Ok(list);
            }
        }
    }

    fn skip_to(&mut self, lanes: u8) -> u8 {
        self.next();
        lanes
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        let Some(ty) = self.directive().and_then(Type::parse) else {
            return self.unexpected("a type");
        };
        self.next();
        Ok(ty)
    }

    /// `.align n`, with the directive next.
    pub(super) fn alignment(&mut self) -> Parsed<u32> {
        self.next();
        let token = self.peek();
        let align = self.small("an alignment")?;
        if align.is_power_of_two() {
            Ok(align)
        } else {
            Err(Fault { token, text: format!("alignment {align} is no power of two") })
        }
    }

    /// `[2][3]`, perhaps none; an open one is 0.
    pub(super) fn dims(&mut self) -> Parsed<Vec<u64>> {
        let mut dims = Vec::new();
        while self.take(b'[') {
            dims.push(if self.is(b']') { 0 } else { self.unsigned("an array size")? });
            self.expect(b']')?;
        }
        Ok(dims)
    }

    fn init(&mut self, frame: Option<&FunctionScope<'a>>, depth: u32) -> Parsed<Init> {
        if depth > DEEPEST {
            return self.unexpected("braces nested less deeply");
        }
        let token = self.peek();
        if token.kind == Kind::Text {
            self.next();
            return Ok(Init::Text(quoted::unquoted(self.text(token))));
        }
        if !self.take(b'{') {
            return Ok(Init::Value(self.value(frame)?));
        }
        let mut list = Vec::new();
        while !self.take(b'}') {
            list.push(self.init(frame, depth + 1)?);
            if !self.is(b'}') {
                self.expect(b',')?;
            }
        }
        Ok(Init::List(list))
    }

    fn value(&mut self, frame: Option<&FunctionScope<'a>>) -> Parsed<Value> {
        let token = self.peek();
        if token.kind == Kind::Word {
            return self.address(None, frame).map(Value::Address);
        }
        let negative = self.take(b'-');
        let token = self.next();
        match (token.kind == Kind::Number).then(|| lexer::number(self.text(token))).flatten() {
            Some(Number::Int(mask)) if self.is(b'(') => {
                self.next();
                let mut address = self.address(Some(mask), frame)?;
                self.expect(b')')?;
                address.mask = Some(mask);
                Ok(Value::Address(address))
            }
            Some(Number::Int(value)) if negative => Ok(Value::Int((value as i64).wrapping_neg())),
            Some(Number::Int(value)) => Ok(Value::Int(value as i64)),
            Some(Number::F32(bits)) => Ok(Value::F32(bits)),
            Some(Number::F64(bits)) if negative => Ok(Value::F64(bits ^ (1 << 63))),
            Some(Number::F64(bits)) => Ok(Value::F64(bits)),
            None => Err(Fault { token, text: "expected an initial value".to_owned() }),
        }
    }

    /// `name`, `generic(name)`, either with `+ n`.
    fn address(
        &mut self,
        mask: Option<u64>,
        frame: Option<&FunctionScope<'a>>,
    ) -> Parsed<SymbolAddress> {
        let token = self.peek();
        let mut name = self.name("a name")?;
        let generic = name == "generic" && self.take(b'(');
        let mut offset = 0;
        if generic {
            name = self.name("a name")?;
            offset = self.offset()?;
            self.expect(b')')?;
        }
        offset = self.offset()?.wrapping_add(offset);
        let symbol = self.symbol(name, frame).ok_or_else(|| {
            let text = format!("`{name}` is not declared");
            Fault { token, text }
        })?;
        Ok(SymbolAddress { symbol, offset, generic, mask })
    }

    fn symbol(&self, name: &str, frame: Option<&FunctionScope<'a>>) -> Option<Symbol> {
        let local = frame.and_then(|frame| frame.find(name));
        match local {
            Some(super::scope::Name::Symbol(symbol)) => Some(symbol),
            _ => self.names.get(name).copied(),
        }
    }

    /// `+ n`, `- n` or nothing.
    pub(super) fn offset(&mut self) -> Parsed<i64> {
        let minus = self.take(b'-');
        if !minus && !self.take(b'+') {
            return Ok(0);
        }
        let minus = self.take(b'-') ^ minus; // `[%rd1+-4]`
        let value = self.unsigned("an offset")? as i64;
        Ok(if minus { value.wrapping_neg() } else { value })
    }
}
