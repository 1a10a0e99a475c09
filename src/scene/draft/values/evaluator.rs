//! What expressions of host code are: numbers, as C++ computes them, or formulas of the rounds of the loops around.

use std::rc::Rc;

use super::{
    calls::type_of_call,
    sizes::{Here, is_size},
};
use crate::{
    cuda::lexer::{self, Token},
    scene::{
        draft::{
            code::{LONGEST, Span, variables::Id},
            expression::{
                cpp_number::{Number, Type},
                formula::{self, Formula},
                syntax::{self, Expression, Sign},
                told::Told,
            },
            host::{
                ASSUMED, Assumes, Host,
                place::{Call, Look, Place},
            },
        },
        operator::{Binary, Operator},
    },
};

/// Names that are defined by others, at most so many behind one another.
pub(super) const DEEPEST: usize = 24;
/// Operators within one another that are looked into.
const MOST_NESTED: usize = 200;

impl<'s> Host<'s> {
    /// The number of an expression at its place.
    pub(in crate::scene::draft) fn number(&self, span: &Span) -> Option<Number> {
        self.number_at(span, &Place::of(span.start))
    }

    pub(in crate::scene::draft) fn number_at(
        &self,
        span: &Span,
        place: &Place<'_, 's>,
    ) -> Option<Number> {
        self.told(span, &Place { loops: Vec::new(), ..place.clone() })?.number()
    }

    /// That as a whole number, in a call.
    pub(in crate::scene::draft) fn integer(
        &self,
        span: &Span,
        call: Option<&Rc<Call>>,
    ) -> Option<i64> {
        let place = Place { call: call.cloned(), ..Place::of(span.start) };
        let number = self.number_at(span, &place)?;
        i64::try_from(number.to(Type::Long)?.whole()?).ok()
    }

    /// The whole number of an expression that stands in no code, as if it did so at `place`.
    pub(in crate::scene::draft) fn integer_of_text(
        &self,
        text: &'s str,
        place: &Place<'_, 's>,
    ) -> Option<i64> {
        let tokens: Vec<Token<'s>> = lexer::code(text).take(LONGEST + 1).collect();
        let look = Look { place, given: None, depth: 0, nested: 0 };
        i64::try_from(self.told_of(&tokens, &look)?.number()?.whole()?).ok()
    }

    /// What an expression is for each round of the loops around.
    pub(in crate::scene::draft) fn told(&self, span: &Span, place: &Place<'_, 's>) -> Option<Told> {
        let look = Look { place, given: None, depth: 0, nested: 0 };
        self.told_of(self.code.get(span.clone())?, &look)
    }

    /// That, or where it follows no rule what it is in the first round.
    pub(in crate::scene::draft) fn guessed(
        &self,
        span: &Span,
        place: &Place<'_, 's>,
        assumes: Assumes,
    ) -> Option<Told> {
        self.told(span, place).or_else(|| {
            self.doubt();
            let number = || self.number_at(span, place).map(Told::Number);
            number().or_else(|| self.assuming(assumes, |host| host.told(span, place)))
        })
    }

    /// What a variable is taken for that makes out a size, or is called so, and of which the file does not say more.
    pub(super) fn assumption(&self, id: Id) -> Option<Told> {
        let variable = self.variables.get(id);
        let is_size = match self.assumes.get() {
            Assumes::Nothing => return None,
            Assumes::Sizes => self.assumed.borrow().contains(&id) || is_size(variable.name),
            Assumes::All => true,
        };
        let of = self.named_type(&variable.declared.words).filter(|of| !of.is_float());
        let number = Number::int(ASSUMED.into()).to(of?)?;
        let is_whole = of != Some(Type::Bool) && !variable.declared.is_indirect;
        (is_size && is_whole).then(|| {
            self.doubt();
            self.assumed.borrow_mut().insert(id);
            Told::Number(number)
        })
    }

    /// What an expression is at a place.
    pub(in crate::scene::draft) fn told_at(
        &self,
        expression: &Expression<'s>,
        place: &Place<'_, 's>,
    ) -> Option<Told> {
        self.told_in(expression, &Look { place, given: None, depth: 0, nested: 0 })
    }

    /// A part of the code as an expression at a place; `None` where it is none that is understood.
    pub(in crate::scene::draft) fn parsed(
        &self,
        tokens: &[Token<'s>],
        at: usize,
    ) -> Option<Expression<'s>> {
        let here = Here { host: self, at };
        self.look(tokens.len() + 1)?;
        if tokens.len() > LONGEST {
            return None;
        }
        if self.macros.leave(tokens) {
            return syntax::parse(tokens, &here);
        }
        let expanded = self.macros.expand(tokens, &|tokens| self.look(tokens))?;
        if !expanded.is_sure {
            self.doubt();
        }
        syntax::parse(&expanded.tokens, &here)
    }

    pub(in crate::scene::draft) fn told_of(
        &self,
        tokens: &[Token<'s>],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let expression = match self.with_types(tokens, look.place) {
            Some(tokens) => self.parsed(&tokens, look.place.at)?,
            None => self.parsed(tokens, look.place.at)?,
        };
        self.told_in(&expression, look)
    }

    /// Split at commas outside of brackets.
    pub(in crate::scene::draft) fn parts(&self, span: Span) -> Vec<Span> {
        let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, span.start);
        for at in span.clone() {
            match self.text_at(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "," if depth == 0 => {
                    parts.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(start..span.end);
        parts
    }

    pub(in crate::scene::draft) fn told_in(
        &self,
        expression: &Expression<'s>,
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        self.look(1)?;
        if look.nested > MOST_NESTED || look.depth > DEEPEST {
            return None;
        }
        let look = &Look { nested: look.nested + 1, ..*look };
        match expression {
            Expression::Number(number) => Some(Told::Number(*number)),
            Expression::Name(name) => self.told_named(name, look),
            Expression::Field(of, field) => self.told_field(of, field, look),
            Expression::Scoped(of, name) => {
                let id = *self.enumerators.get(&(*of, *name))?;
                let variable = self.variables.get(id);
                let set = variable.definitions.first()?;
                self.told_definition(set, &variable.declared.words, id, look)
            }
            Expression::Signed(sign, operand) => self.told_signed(*sign, operand, look),
            Expression::Binary(binary, operands) => self.told_binary(*binary, operands, look),
            Expression::Conditional(parts) => self.told_conditional(parts, look),
            Expression::Cast(of, operand) => self.converted(self.told_in(operand, look)?, *of),
            Expression::Call(callee, arguments) => self.told_call(callee, arguments, look),
            Expression::Unknown => None,
        }
    }

    fn told_signed(
        &self,
        sign: Sign,
        operand: &Expression<'s>,
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let told = self.told_in(operand, look)?;
        let of = told.of().promoted();
        match sign {
            Sign::Not => match self.converted(told, Type::Bool)? {
                Told::Number(number) => Some(Told::Number(Number::truth(!number.is_true()))),
                Told::Formula(formula) => Some(Told::Formula(formula.signed("!"))),
            },
            Sign::Plus => self.converted(told, of),
            Sign::Minus | Sign::Complement => match self.converted(told, of)? {
                Told::Number(number) if sign == Sign::Minus => number.negated().map(Told::Number),
                Told::Number(number) => number.complement().map(Told::Number),
                Told::Formula(_) if of.is_float() && sign == Sign::Complement => None,
                Told::Formula(formula) => {
                    let spelling = if sign == Sign::Minus { "-" } else { "~" };
                    self.within(formula.signed(spelling))
                }
            },
        }
    }

    fn told_binary(
        &self,
        binary: Binary,
        operands: &[Expression<'s>; 2],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let [left, right] = operands;
        let operator = match binary {
            Binary::Operator(operator) => operator,
            Binary::And | Binary::Or => {
                return self.told_both(binary == Binary::And, operands, look);
            }
        };
        let (left, right) = (self.told_in(left, look)?, self.told_in(right, look)?);
        self.combined(operator, left, right)
    }

    /// What an operator makes of two.
    pub(in crate::scene::draft) fn combined(
        &self,
        operator: Operator,
        left: Told,
        right: Told,
    ) -> Option<Told> {
        if let (Told::Number(left), Told::Number(right)) = (&left, &right) {
            return operator.apply(*left, *right).map(Told::Number);
        }
        let of = operator.of(left.of(), right.of())?;
        let is_shift = matches!(operator, Operator::ShiftLeft | Operator::ShiftRight);
        let common = left.of().common(right.of());
        let taken = if is_shift { [of, right.of().promoted()] } else { [common; 2] };
        let [left, right] = [self.converted(left, taken[0])?, self.converted(right, taken[1])?];
        if left.is_unrounded() || right.is_unrounded() {
            self.doubt();
        }
        self.within(formula::binary(operator, of, &left.formula()?, &right.formula()?)?)
    }

    /// A formula, doubted where its type may have another number: one that has gone round.
    fn within(&self, formula: Formula) -> Option<Told> {
        if !formula.fits(formula.of) {
            self.doubt();
        }
        Some(Told::Formula(formula))
    }

    /// `left && right`, `left || right`.
    fn told_both(
        &self,
        is_and: bool,
        [left, right]: &[Expression<'s>; 2],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let truth = |operand| self.converted(self.told_in(operand, look)?, Type::Bool);
        let decides = |told: &Option<Told>| match told {
            Some(Told::Number(number)) => Some(number.is_true() != is_and),
            Some(Told::Formula(_)) | None => None,
        };
        let decided = Some(Told::Number(Number::truth(!is_and)));
        let left = truth(left);
        if decides(&left) == Some(true) {
            return decided;
        }
        let right = truth(right);
        match (decides(&left), decides(&right)) {
            (_, Some(true)) => decided,
            (Some(false), _) => right,
            (_, Some(false)) => left,
            _ => {
                let spelling = if is_and { "&&" } else { "||" };
                Some(Told::Formula(left?.formula()?.linked(spelling, &right?.formula()?)))
            }
        }
    }

    fn told_conditional(
        &self,
        [condition, yes, no]: &[Expression<'s>; 3],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let condition = self.converted(self.told_in(condition, look)?, Type::Bool)?;
        match condition {
            Told::Number(number) => {
                let (chosen, other) = if number.is_true() { (yes, no) } else { (no, yes) };
                let chosen = self.told_in(chosen, look)?;
                // What the other one is counts for the type alone.
                let (told, _) = self.surely(|host| host.told_in(other, look));
                let other = told.map(|told| told.of()).or_else(|| type_of_call(other));
                match other.filter(|other| *other != chosen.of()) {
                    Some(other) => {
                        let of = chosen.of().common(other);
                        self.converted(chosen, of)
                    }
                    None => Some(chosen),
                }
            }
            Told::Formula(condition) => {
                let (yes, no) = (self.told_in(yes, look)?, self.told_in(no, look)?);
                let of = if yes.of() == no.of() { yes.of() } else { yes.of().common(no.of()) };
                let [yes, no] = [self.converted(yes, of)?, self.converted(no, of)?];
                let (yes, no) = (yes.formula()?, no.formula()?);
                Some(Told::Formula(condition.chooses(&yes, &no)))
            }
        }
    }

    /// That as a number of another type; a formula is doubted where it may be another number there.
    pub(in crate::scene::draft) fn converted(&self, told: Told, of: Type) -> Option<Told> {
        match told {
            Told::Number(number) => number.to(of).map(Told::Number),
            Told::Formula(formula) => {
                let (formula, is_same) = formula.to(of);
                if !is_same {
                    self.doubt();
                }
                Some(Told::Formula(formula))
            }
        }
    }
}
