//! What expressions of host code are: numbers, as C++ computes them, or formulas of the rounds of the loops around.

use std::collections::BTreeMap;

use super::{
    formula::{self, Formula},
    functions::Function,
    host::{Host, LONGEST, Span},
    loops::Loop,
    mathematics,
    number::{Number, Operator, Type},
    syntax::{self, Expression, Link, Sign, Types},
    variables::{Definition, Id, Value},
};
use crate::cuda::lexer::{self, Token};

/// Names that are defined by others, at most so many behind one another.
const DEEPEST: usize = 24;
/// Operators within one another that are looked into.
const MOST_NESTED: usize = 200;

/// Where an expression stands.
#[derive(Clone)]
pub(super) struct Place<'h, 's> {
    pub(super) at: usize,
    /// The loops around it whose rounds formulas may name, from the outermost.
    pub(super) loops: Vec<&'h Loop<'s>>,
    /// The region of the one of them that is the loop of time steps.
    pub(super) time: Option<usize>,
}

/// What is known of an expression.
#[derive(Clone)]
pub(super) enum Told {
    Number(Number),
    Formula(Formula),
}

/// What an expression is looked at with.
struct Look<'l, 'h, 's> {
    place: &'l Place<'h, 's>,
    /// The parameters of the function that it is the value of.
    given: Option<&'l BTreeMap<&'s str, Told>>,
    /// Names that led here, and operators.
    depth: usize,
    nested: usize,
}

impl<'s> Types for Host<'s> {
    fn number_type(&self, words: &[&str]) -> Option<Type> {
        self.named_type(words)
    }

    fn size_of(&self, words: &[&str]) -> Option<usize> {
        self.bytes_of(words)
    }
}

impl<'s> Host<'s> {
    /// The number of an expression at its place.
    pub(super) fn number(&self, span: &Span) -> Option<Number> {
        self.number_at(span, span.start)
    }

    fn number_at(&self, span: &Span, at: usize) -> Option<Number> {
        self.told(span, &Place { at, loops: Vec::new(), time: None })?.number()
    }

    /// That as a whole number.
    pub(super) fn integer(&self, span: &Span) -> Option<i64> {
        i64::try_from(self.number(span)?.to(Type::Long)?.whole()?).ok()
    }

    /// The whole number of an expression that stands in no code, as if it did so at `at`.
    pub(super) fn integer_of_text(&self, text: &'s str, at: usize) -> Option<i64> {
        let tokens: Vec<Token<'s>> = lexer::code(text).take(LONGEST + 1).collect();
        let place = Place { at, loops: Vec::new(), time: None };
        let look = Look { place: &place, given: None, depth: 0, nested: 0 };
        i64::try_from(self.told_of(&tokens, &look)?.number()?.whole()?).ok()
    }

    /// How many of a structure lie in an allocation of so many bytes.
    pub(super) fn count_of(&self, bytes: &Span, structure: &str) -> Option<i64> {
        *self.unit.borrow_mut() = Some(structure.to_owned());
        let count = self.integer(bytes);
        *self.unit.borrow_mut() = None;
        count
    }

    /// What an expression is for each round of the loops around.
    pub(super) fn told(&self, span: &Span, place: &Place<'_, 's>) -> Option<Told> {
        let look = Look { place, given: None, depth: 0, nested: 0 };
        self.told_of(self.code.get(span.clone())?, &look)
    }

    /// That, or where it follows no rule what it is in the first round.
    pub(super) fn guessed(&self, span: &Span, place: &Place<'_, 's>) -> Option<Told> {
        self.told(span, place).or_else(|| {
            self.doubt();
            self.number_at(span, place.at).map(Told::Number)
        })
    }

    /// What an expression is at a place.
    pub(super) fn told_at(
        &self,
        expression: &Expression<'s>,
        place: &Place<'_, 's>,
    ) -> Option<Told> {
        self.told_in(expression, &Look { place, given: None, depth: 0, nested: 0 })
    }

    /// A part of the code as an expression; `None` where it is none that is understood.
    pub(super) fn parsed(&self, tokens: &[Token<'s>]) -> Option<Expression<'s>> {
        self.look(tokens.len() + 1)?;
        if tokens.len() > LONGEST {
            return None;
        }
        if self.macros.leave(tokens) {
            return syntax::parse(tokens, self);
        }
        let expanded = self.macros.expand(tokens, &|tokens| self.look(tokens))?;
        if !expanded.is_sure {
            self.doubt();
        }
        syntax::parse(&expanded.tokens, self)
    }

    fn told_of(&self, tokens: &[Token<'s>], look: &Look<'_, '_, 's>) -> Option<Told> {
        let expression = self.parsed(tokens)?;
        self.told_in(&expression, look)
    }

    /// The parts of a `dim3` at a place: of its arguments, or of a variable that is one.
    pub(super) fn dimensions(&self, span: &Span, at: usize) -> Option<Vec<Span>> {
        match self.code.get(span.clone())? {
            [name] => match &self.set_to(self.visible(name.text, at)?, at)?.value {
                Value::List(parts) => Some(parts.clone()),
                Value::Expression(inner) if inner.start != span.start => {
                    let is_name = inner.len() == 1;
                    is_name.then(|| self.dimensions(inner, inner.start)).flatten()
                }
                Value::Expression(_)
                | Value::Compound(..)
                | Value::Count(_)
                | Value::Behind(..)
                | Value::Unknown => None,
            },
            [dim3, open, ..] if dim3.text == "dim3" && matches!(open.text, "(" | "{") => {
                Some(self.parts(span.start + 2..span.end.saturating_sub(1)))
            }
            _ => None,
        }
    }

    /// Split at commas outside of brackets.
    pub(super) fn parts(&self, span: Span) -> Vec<Span> {
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

    fn told_in(&self, expression: &Expression<'s>, look: &Look<'_, '_, 's>) -> Option<Told> {
        self.look(1)?;
        if look.nested > MOST_NESTED || look.depth > DEEPEST {
            return None;
        }
        let look = &Look { nested: look.nested + 1, ..*look };
        match expression {
            Expression::Number(number) => Some(Told::Number(*number)),
            Expression::Name(name) => self.told_named(name, look),
            Expression::Field(of, field) => self.told_field(of, field, look),
            Expression::Signed(sign, operand) => self.told_signed(*sign, operand, look),
            Expression::Binary(link, operands) => self.told_binary(*link, operands, look),
            Expression::Conditional(parts) => self.told_conditional(parts, look),
            Expression::Cast(of, operand) => self.converted(self.told_in(operand, look)?, *of),
            Expression::Call(name, template, arguments) => {
                self.told_call(name, *template, arguments, look)
            }
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
        link: Link,
        operands: &[Expression<'s>; 2],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let [left, right] = operands;
        let operator = match link {
            Link::Operator(operator) => operator,
            Link::And | Link::Or => return self.told_both(link == Link::And, operands, look),
        };
        let (left, right) = (self.told_in(left, look)?, self.told_in(right, look)?);
        self.combined(operator, left, right)
    }

    /// What an operator makes of two.
    pub(super) fn combined(&self, operator: Operator, left: Told, right: Told) -> Option<Told> {
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

    fn told_named(&self, name: &'s str, look: &Look<'_, '_, 's>) -> Option<Told> {
        if let Some(given) = look.given.and_then(|given| given.get(name)) {
            return Some(given.clone());
        }
        let at = look.place.at;
        match self.visible(name, at) {
            // A program without arguments is called with its name alone.
            _ if name == "argc" => Some(Told::Number(Number::int(1))),
            Some(id) => self.told_variable(id, look),
            None => match known(name) {
                Some(number) => Some(Told::Number(number)),
                None => self.told_namesake(name, look),
            },
        }
    }

    fn told_variable(&self, id: Id, look: &Look<'_, '_, 's>) -> Option<Told> {
        let variable = self.variables.get(id);
        let words = &variable.declared.words;
        if words.iter().any(|word| word.starts_with("cudaError")) {
            // Nothing goes wrong.
            return Some(Told::Number(Number::int(0)));
        }
        if let Some(depth) = look.place.loops.iter().rposition(|around| around.variable == id) {
            return self.value_in(look.place, depth);
        }
        if variable.declared.is_indirect {
            return None;
        }
        let Some(found) = self.set_to(id, look.place.at) else {
            return self.told_namesake(variable.name, look);
        };
        let told = self.told_definition(found, &variable.declared.words, id, look)?;
        match self.named_type(words) {
            Some(of) => self.converted(told, of),
            None => {
                // Of a type that is not known the number may be another one.
                if !words.contains(&"auto") {
                    self.doubt();
                }
                Some(told)
            }
        }
    }

    /// What another variable of this name is, where the one that is meant has no number.
    fn told_namesake(&self, name: &str, look: &Look<'_, '_, 's>) -> Option<Told> {
        let found = self.namesake(name, look.place.at)?;
        let Value::Expression(span) = &found.value else { return None };
        let place = Place { at: found.at, loops: Vec::new(), time: None };
        let tokens = self.code.get(span.clone())?;
        let look = Look { place: &place, given: None, depth: look.depth + 1, nested: 0 };
        self.told_of(tokens, &look)
    }

    fn told_definition(
        &self,
        found: &Definition,
        words: &[&str],
        id: Id,
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let place = Place { at: found.at, ..look.place.clone() };
        let look = &Look { place: &place, given: None, depth: look.depth + 1, nested: look.nested };
        let told = |span: &Span| self.told_of(self.code.get(span.clone())?, look);
        match &found.value {
            Value::Expression(span) => told(span),
            // `int n(4)`, `int n{4}`.
            Value::List(parts) => match parts.as_slice() {
                [one] if self.named_type(words).is_some() => told(one),
                _ => None,
            },
            Value::Compound(operator, span) => {
                let before = self.told_variable(id, look)?;
                self.combined(*operator, before, told(span)?)
            }
            Value::Count(by) => {
                let before = self.told_variable(id, look)?;
                self.combined(Operator::Add, before, Told::Number(Number::int(*by)))
            }
            Value::Behind(Some(span), by) => {
                let first = told(span)?;
                self.combined(Operator::Add, first, Told::Number(Number::int(*by)))
            }
            Value::Behind(None, by) => Some(Told::Number(Number::int(*by))),
            Value::Unknown => None,
        }
    }

    /// `block.x`, which is an unsigned int.
    fn told_field(&self, of: &str, field: &str, look: &Look<'_, '_, 's>) -> Option<Told> {
        let axis = ["x", "y", "z"].iter().position(|known| *known == field)?;
        let id = self.visible(of, look.place.at)?;
        if self.variables.get(id).declared.words.last() != Some(&"dim3") {
            return None;
        }
        let found = self.set_to(id, look.place.at)?;
        let Value::List(parts) = &found.value else { return None };
        let Some(part) = parts.get(axis) else {
            return Some(Told::Number(Number::Whole(Type::Unsigned, 1)));
        };
        let place = Place { at: found.at, ..look.place.clone() };
        let look = &Look { place: &place, given: None, depth: look.depth + 1, nested: look.nested };
        let told = self.told_of(self.code.get(part.clone())?, look)?;
        self.converted(told, Type::Unsigned)
    }

    fn told_call(
        &self,
        name: &'s str,
        template: Option<Type>,
        arguments: &[Expression<'s>],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        if let Some(function) = self.functions.named(name) {
            return self.told_function(function?, arguments, look);
        }
        if name.starts_with("cuda") && name.chars().nth(4).is_some_and(char::is_uppercase) {
            return Some(Told::Number(Number::int(0)));
        }
        let told = |argument| self.told_in(argument, look);
        let told: Vec<Told> = arguments.iter().map(told).collect::<Option<_>>()?;
        let found = mathematics::call(self, name, template, &told);
        found.or_else(|| self.told_division(name, &told))
    }

    /// What a function of another file is for sure called that rounds a quotient up.
    fn told_division(&self, name: &str, arguments: &[Told]) -> Option<Told> {
        let lower = name.to_ascii_lowercase();
        let rounds_up = lower.contains("up") || lower.contains("ceil");
        let [Told::Number(a), Told::Number(b)] = arguments else { return None };
        let (a, b) = (a.whole()?, b.whole()?);
        if !lower.contains("div") || !rounds_up || a < 0 || b <= 0 {
            return None;
        }
        self.doubt();
        Number::Whole(Type::Long, a.checked_add(b - 1)? / b).to(Type::Int).map(Told::Number)
    }

    fn told_function(
        &self,
        function: &Function<'s>,
        arguments: &[Expression<'s>],
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        let mut given = BTreeMap::new();
        if arguments.len() != function.parameters.len() {
            return None;
        }
        let as_type = |told: Told, words: &[&str]| match self.named_type(words) {
            Some(of) => self.converted(told, of),
            None => words.iter().all(|w| self.is_of_template(w)).then_some(told),
        };
        for ((name, declared), argument) in function.parameters.iter().zip(arguments) {
            let told = self.told_in(argument, look)?;
            given.insert(*name, as_type(told, &declared.words)?);
        }
        let place = Place { at: function.value.start, loops: Vec::new(), time: None };
        let inner = Look { place: &place, given: Some(&given), depth: look.depth + 1, nested: 0 };
        let told = self.told_of(self.code.get(function.value.clone())?, &inner)?;
        as_type(told, &function.returns)
    }

    fn is_of_template(&self, word: &str) -> bool {
        self.type_parameters.contains(word)
            || matches!(word, "auto")
            || super::number::QUALIFIERS.contains(&word)
    }

    /// That as a number of another type; a formula is doubted where it may be another number there.
    pub(super) fn converted(&self, told: Told, of: Type) -> Option<Told> {
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

impl Told {
    pub(super) const fn of(&self) -> Type {
        match self {
            Self::Number(number) => number.of(),
            Self::Formula(formula) => formula.of,
        }
    }

    pub(super) const fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Formula(_) => None,
        }
    }

    /// As a part of a formula; `None` for what no manifest can write.
    pub(super) fn formula(&self) -> Option<Formula> {
        match self {
            Self::Number(number) => Formula::of_number(*number),
            Self::Formula(formula) => Some(formula.clone()),
        }
    }

    /// Whether it is a float that manifests have not rounded to one.
    const fn is_unrounded(&self) -> bool {
        matches!(self, Self::Formula(Formula { is_unrounded: true, .. }))
    }

    /// The least and the greatest number that it can be, where that is known.
    pub(super) fn range(&self) -> Option<[i128; 2]> {
        match self {
            Self::Number(number) => number.whole().map(|value| [value, value]),
            Self::Formula(formula) => formula.range,
        }
    }
}

/// The type of what reads a number from a text.
fn type_of_call(expression: &Expression<'_>) -> Option<Type> {
    let Expression::Call(name, ..) = expression else { return None };
    match *name {
        "atoi" | "stoi" => Some(Type::Int),
        "atol" | "atoll" | "stol" | "stoll" | "strtol" | "strtoll" => Some(Type::Long),
        "stoul" | "stoull" | "strtoul" | "strtoull" => Some(Type::UnsignedLong),
        "atof" | "stod" | "strtod" => Some(Type::Double),
        "stof" | "strtof" => Some(Type::Float),
        _ => None,
    }
}

/// Numbers of C's headers and CUDA's.
fn known(name: &str) -> Option<Number> {
    let of = |of: Type, high: bool| {
        let value = of.range()?[usize::from(high)];
        Some(Number::Whole(of.promoted(), value))
    };
    match name {
        "cudaSuccess" | "NULL" | "nullptr" | "EXIT_SUCCESS" => Some(Number::int(0)),
        "M_PI" => Some(Number::Real(Type::Double, std::f64::consts::PI)),
        "M_E" => Some(Number::Real(Type::Double, std::f64::consts::E)),
        "INT_MAX" | "RAND_MAX" => of(Type::Int, true),
        "INT_MIN" => of(Type::Int, false),
        "UINT_MAX" => of(Type::Unsigned, true),
        "CHAR_BIT" => Some(Number::int(8)),
        "FLT_MAX" => Some(Number::Real(Type::Float, f64::from(f32::MAX))),
        "FLT_EPSILON" => Some(Number::Real(Type::Float, f64::from(f32::EPSILON))),
        "DBL_MAX" => Some(Number::Real(Type::Double, f64::MAX)),
        _ => None,
    }
}
