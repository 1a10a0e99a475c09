//! Between which numbers an expression of host code lies that is random, or that is not known otherwise.

use std::collections::BTreeMap;

use crate::scene::{
    comparison::Comparison,
    draft::{
        code::{Span, functions::Function, variables::Value},
        expression::{
            cpp_number::{Number, Type},
            syntax::{Callee, Expression, Sign},
        },
        host::{Host, place::Place},
        values::calls::Called,
    },
    operator::{Binary, Operator},
};

/// Names and calls behind one another that are looked at.
const DEEPEST: usize = 16;
/// How many deviations from the mean the ends of a normal distribution are taken to be.
const DEVIATIONS: f64 = 2.0;

/// Between which numbers something lies, both of them included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::scene::draft) struct Spread {
    pub(in crate::scene::draft) low: f64,
    pub(in crate::scene::draft) high: f64,
    of: Type,
    /// It is drawn at random, which of others only is not known where they lie.
    pub(in crate::scene::draft) is_drawn: bool,
}

impl Spread {
    pub(in crate::scene::draft) fn new(low: f64, high: f64, of: Type) -> Option<Self> {
        let is_drawn = false;
        let is_one = low <= high && low.is_finite() && high.is_finite();
        is_one.then_some(Self { low, high, of, is_drawn })
    }

    /// The same of what is drawn at random.
    fn drawn(low: f64, high: f64, of: Type) -> Option<Self> {
        Self::new(low, high, of)?.also(true)
    }

    /// The same, drawn at random where this is, too.
    fn also(self, is_drawn: bool) -> Option<Self> {
        Some(Self { is_drawn: self.is_drawn || is_drawn, ..self })
    }

    pub(in crate::scene::draft) fn of_number(number: Number) -> Option<Self> {
        Self::new(number.as_f64(), number.as_f64(), number.of())
    }

    /// Around both.
    pub(in crate::scene::draft) fn around(self, other: Self) -> Self {
        let is_drawn = self.is_drawn || other.is_drawn;
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        Self { low, high, is_drawn, ..self }
    }

    /// As numbers of another type, whole ones without their fractions.
    pub(in crate::scene::draft) fn to(self, of: Type) -> Option<Self> {
        let [low, high] = match of.range() {
            None => [self.low, self.high],
            // A number that is drawn from 0 up to n never is n.
            Some(_) if self.of.is_float() => [self.low.trunc(), self.last()],
            Some(_) => [self.low, self.high],
        };
        let fits =
            of.range().is_none_or(|[least, most]| least as f64 <= low && high <= most as f64);
        if fits { Self::new(low, high, of)?.also(self.is_drawn) } else { None }
    }

    fn last(self) -> f64 {
        let is_end = self.high.fract() == 0.0 && self.high > self.low.trunc();
        if is_end { self.high - 1.0 } else { self.high.trunc() }
    }

    fn map(self, of: Type, function: impl Fn(f64) -> f64) -> Option<Self> {
        Self::new(function(self.low), function(self.high), of)?.also(self.is_drawn)
    }

    /// Whether a comparison of the two may be true as well as false.
    fn may_be_either(self, comparison: Comparison, other: Self) -> bool {
        let meets = self.low <= other.high && other.low <= self.high;
        let is_one = self.low == self.high && other.low == other.high;
        match comparison {
            Comparison::Equal | Comparison::NotEqual => meets && !is_one,
            Comparison::Less => self.low < other.high && self.high >= other.low,
            Comparison::LessEqual => self.low <= other.high && self.high > other.low,
            Comparison::Greater => self.high > other.low && self.low <= other.high,
            Comparison::GreaterEqual => self.high >= other.low && self.low < other.high,
        }
    }

    /// What an operator makes of two.
    fn combined(self, operator: Operator, other: Self) -> Option<Self> {
        let of = operator.of(self.of, other.of)?;
        let ends = |join: fn(f64, f64) -> f64| {
            let all = [
                join(self.low, other.low),
                join(self.low, other.high),
                join(self.high, other.low),
                join(self.high, other.high),
            ];
            let least = all.into_iter().fold(f64::INFINITY, f64::min);
            Self::new(least, all.into_iter().fold(f64::NEG_INFINITY, f64::max), of)
        };
        let found = match operator {
            Operator::Add => ends(|a, b| a + b),
            Operator::Subtract => ends(|a, b| a - b),
            Operator::Multiply => ends(|a, b| a * b),
            Operator::Divide if other.low > 0.0 || other.high < 0.0 => {
                let found = ends(|a, b| a / b)?;
                if of.is_float() { Some(found) } else { found.map(of, f64::trunc) }
            }
            Operator::Remainder if self.low >= 0.0 && other.low > 0.0 => {
                Self::new(0.0, self.high.min(other.high - 1.0), of)
            }
            Operator::BitAnd if self.low >= 0.0 && other.low >= 0.0 => {
                Self::new(0.0, self.high.min(other.high), of)
            }
            Operator::Compare(_) => Self::new(0.0, 1.0, Type::Bool),
            Operator::ShiftRight if self.low >= 0.0 && other.low >= 0.0 => {
                let by = |bits: f64| 2.0_f64.powf(bits);
                Self::new(
                    (self.low / by(other.high)).floor(),
                    (self.high / by(other.low)).floor(),
                    of,
                )
            }
            Operator::Divide
            | Operator::Remainder
            | Operator::BitAnd
            | Operator::BitOr
            | Operator::BitXor
            | Operator::ShiftLeft
            | Operator::ShiftRight => None,
        };
        // Beyond its type a number is another one.
        let found = found?;
        found.to(found.of)?.also(self.is_drawn || other.is_drawn)
    }
}

/// What an expression is looked at with: where it stands, what the parameters of the function around it are, and how
/// many names led there.
struct Look<'l, 'h, 's> {
    place: &'l Place<'h, 's>,
    given: BTreeMap<&'s str, Spread>,
    depth: usize,
}

impl<'s> Host<'s> {
    /// Between which numbers the expression `span` lies.
    pub(in crate::scene::draft) fn spread(
        &self,
        span: &Span,
        place: &Place<'_, 's>,
    ) -> Option<Spread> {
        let expression = self.parsed(self.tokens(span), place.at)?;
        let look = Look { place, given: BTreeMap::new(), depth: 0 };
        self.spread_of(&expression, &look).or_else(|| self.drawn_by_name(span, &look))
    }

    /// The name alone of a function that is called each time.
    fn drawn_by_name(&self, span: &Span, look: &Look<'_, '_, 's>) -> Option<Spread> {
        let name = self.word(span)?;
        let function = self.functions.named(name)??;
        self.spread_of_function(function, &[], look)
    }

    fn spread_of(&self, expression: &Expression<'s>, look: &Look<'_, '_, 's>) -> Option<Spread> {
        self.look(1)?;
        if look.depth > DEEPEST {
            return None;
        }
        let of = |expression| self.spread_of(expression, look);
        let is_drawn = |operand| of(operand).is_some_and(|found: Spread| found.is_drawn);
        let truth = |is_drawn| Spread::new(0.0, 1.0, Type::Bool)?.also(is_drawn);
        match expression {
            Expression::Number(number) => Spread::of_number(*number),
            Expression::Name(name) => self.spread_of_name(name, look),
            Expression::Signed(Sign::Minus, operand) => {
                let found = of(operand)?;
                Spread::new(-found.high, -found.low, found.of.promoted())?.also(found.is_drawn)
            }
            Expression::Signed(Sign::Plus, operand) => of(operand),
            Expression::Signed(Sign::Not, operand) => truth(is_drawn(operand)),
            Expression::Binary(Binary::And | Binary::Or, operands) => {
                truth(operands.iter().any(is_drawn))
            }
            Expression::Binary(Binary::Operator(operator), operands) => {
                let [left, right] = &**operands;
                match operator {
                    Operator::Compare(comparison) => match of(left).zip(of(right)) {
                        Some((left, right)) if !left.may_be_either(*comparison, right) => None,
                        Some(_) | None => truth(operands.iter().any(is_drawn)),
                    },
                    _ => of(left)?.combined(*operator, of(right)?),
                }
            }
            Expression::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                of(yes)?.around(of(no)?).also(is_drawn(condition))
            }
            Expression::Cast(to, operand) => of(operand)?.to(*to),
            Expression::Call(callee, arguments) => self.spread_of_call(callee, arguments, look),
            Expression::Field(..)
            | Expression::Scoped(..)
            | Expression::Signed(Sign::Complement, _)
            | Expression::Unknown => None,
        }
    }

    fn spread_of_name(&self, name: &'s str, look: &Look<'_, '_, 's>) -> Option<Spread> {
        if let Some(given) = look.given.get(name) {
            return Some(*given);
        }
        let told = self.told_at(&Expression::Name(name), look.place);
        if let Some(told) = told.filter(|told| told.range().is_some() || told.number().is_some()) {
            return match (told.number(), told.range()) {
                (Some(number), _) => Spread::of_number(number),
                (None, Some([low, high])) => Spread::new(low as f64, high as f64, told.of()),
                (None, None) => None,
            };
        }
        let id = self.visible(name, look.place.at)?;
        if let Some((span, outer)) = self.argument_of(name, look.place) {
            return self.spread_at(&span, &outer, look);
        }
        let set = self.set_to(id, look.place.at)?;
        let Value::Expression(span) = &set.value else { return None };
        let found = self.spread_at(span, &Place { at: set.at, ..look.place.clone() }, look)?;
        match self.named_type(&self.variables.get(id).declared.words) {
            Some(of) => found.to(of),
            None => Some(found),
        }
    }

    fn spread_at(
        &self,
        span: &Span,
        place: &Place<'_, 's>,
        look: &Look<'_, '_, 's>,
    ) -> Option<Spread> {
        let expression = self.parsed(self.tokens(span), place.at)?;
        let look = Look { place, given: BTreeMap::new(), depth: look.depth + 1 };
        self.spread_of(&expression, &look)
    }

    fn spread_of_call(
        &self,
        callee: &Callee<'s>,
        arguments: &[Expression<'s>],
        look: &Look<'_, '_, 's>,
    ) -> Option<Spread> {
        let name = callee.name;
        if let Some(found) = self.distribution(name, look.place) {
            return Some(found);
        }
        match self.called(callee, look.place.at) {
            Called::OfLibrary => {}
            Called::Own(function) => return self.spread_of_function(function, arguments, look),
            Called::Unknown => return None,
        }
        let most = Type::Int.range().map_or(0.0, |[_, most]| most as f64);
        match (name, arguments) {
            ("rand" | "random" | "lrand48" | "rand_r", _) => Spread::drawn(0.0, most, Type::Int),
            ("drand48", _) => Spread::drawn(0.0, 1.0, Type::Double),
            (_, [argument]) => {
                let of = self.spread_of(argument, look)?;
                let real = if of.of == Type::Float || name.ends_with('f') {
                    Type::Float
                } else {
                    Type::Double
                };
                match name.strip_suffix('f').unwrap_or(name) {
                    "sin" | "cos" => Spread::new(-1.0, 1.0, real)?.also(of.is_drawn),
                    "sqrt" => of.map(real, f64::sqrt),
                    "exp" => of.map(real, f64::exp),
                    "log" => of.map(real, f64::ln),
                    "floor" => of.map(real, f64::floor),
                    "ceil" => of.map(real, f64::ceil),
                    "abs" | "fabs" if of.low >= 0.0 => Some(of),
                    "abs" | "fabs" => {
                        Spread::new(0.0, of.high.max(-of.low), of.of)?.also(of.is_drawn)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn spread_of_function(
        &self,
        function: &Function<'s>,
        arguments: &[Expression<'s>],
        look: &Look<'_, '_, 's>,
    ) -> Option<Spread> {
        let mut given = BTreeMap::new();
        if arguments.len() != function.parameters.len() {
            return None;
        }
        for ((name, declared), argument) in function.parameters.iter().zip(arguments) {
            let of = self.named_type(&declared.words)?;
            given.insert(*name, self.spread_of(argument, look)?.to(of)?);
        }
        let place = Place::of(function.value.start);
        let look = Look { place: &place, given, depth: look.depth + 1 };
        let found = self.spread_of(&self.parsed(self.tokens(&function.value), place.at)?, &look)?;
        match self.named_type(&function.returns) {
            Some(of) => found.to(of),
            None => Some(found),
        }
    }

    /// `name(generator)` of a distribution of C++'s library.
    fn distribution(&self, name: &str, place: &Place<'_, 's>) -> Option<Spread> {
        let variable = self.variables.get(self.visible(name, place.at)?);
        let words = &variable.declared.words;
        let is = |wanted: &str| words.contains(&wanted);
        let parts = variable.definitions.first().map(|set| &set.value);
        let numbers: Vec<f64> = match parts {
            Some(Value::List(parts)) => {
                let number = |part: &Span| Some(self.number_at(part, place)?.as_f64());
                parts.iter().map(number).collect::<Option<_>>()?
            }
            Some(_) | None => Vec::new(),
        };
        let ends = |low: f64, high: f64| match numbers.as_slice() {
            [] => [low, high],
            [first] => [*first, high],
            [first, second, ..] => [*first, *second],
        };
        if is("uniform_real_distribution") {
            let [low, high] = ends(0.0, 1.0);
            Spread::drawn(low, high, Type::Double)
        } else if is("uniform_int_distribution") {
            let [low, high] = ends(0.0, f64::from(i32::MAX));
            Spread::drawn(low, high, Type::Int)
        } else if is("normal_distribution") {
            let [mean, deviation] = ends(0.0, 1.0);
            let by = DEVIATIONS * deviation;
            Spread::drawn(mean - by, mean + by, Type::Double)
        } else if is("bernoulli_distribution") {
            Spread::drawn(0.0, 1.0, Type::Bool)
        } else {
            None
        }
    }
}
