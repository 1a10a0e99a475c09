//! Loops of host code that count: how many rounds they have, and what their variables are in each.

use std::collections::BTreeMap;

use crate::scene::{
    comparison::Comparison,
    draft::{
        code::{
            LONGEST, Span,
            regions::Kind,
            variables::{Definition, Variable},
        },
        expression::{
            cpp_number::{Number, Type},
            formula::{self, Formula},
            syntax::Expression,
            text::possible,
            told::Told,
        },
        host::{Host, loop_header::Loop, place::Place},
    },
    operator::{Binary, Operator},
};

/// The innermost loops that become groups: a manifest has no more in one another.
pub(in crate::scene::draft) const MOST_LOOPS: usize = 8;
/// The most rounds of a loop that is counted here.
pub(in crate::scene::draft) const MOST_ROUNDS: i128 = 1_000_000;

/// How a loop's variable goes on, by how much.
enum Way {
    Up(Told),
    Down(Told),
    /// By so many bits.
    Doubled(u32),
    Halved(u32),
}

impl<'s> Host<'s> {
    /// The loops whose headers are understood, by their regions.
    pub(in crate::scene::draft) fn understood_loops(&self) -> BTreeMap<usize, Loop<'s>> {
        let all = self.regions.iter().filter_map(|(region, of)| match &of.kind {
            Kind::For { header, body } => {
                Some((region, self.understood_loop(region, header, body)?))
            }
            // Others are blocks of macros.
            Kind::While { condition } if self.text_at(condition.start - 2) == "while" => {
                let counted = self.understood_while(region, condition, &of.span);
                Some((region, counted.or_else(|| self.understood_until(region, condition))?))
            }
            Kind::Do { condition: Some(condition) } => {
                Some((region, self.understood_until(region, condition)?))
            }
            Kind::Block
            | Kind::Function { .. }
            | Kind::Lambda { .. }
            | Kind::While { .. }
            | Kind::Do { .. }
            | Kind::If { .. }
            | Kind::Switch { .. }
            | Kind::Catch => None,
        });
        all.collect()
    }

    fn understood_loop(&self, region: usize, header: &Span, body: &Span) -> Option<Loop<'s>> {
        let parts = self.split(header, ";");
        let [first, condition, step] = parts.as_slice() else { return None };
        let equals = first.clone().find(|at| self.text_at(*at) == "=")?;
        let value = equals + 1..first.end;
        if self.split(&value, ",").len() > 1 {
            return None;
        }
        let name = self.text_at(equals.checked_sub(1)?);
        let variable = self.visible(name, equals)?;
        let declared = &self.variables.get(variable).declared;
        let of = self.named_type(&declared.words).filter(|of| !of.is_float());
        let of = of.filter(|_| !declared.is_indirect)?;
        let ((comparison, limit), is_sure) = self.surely(|host| host.limit(condition, name));
        let (step, by) = self.step(step, name)?;
        let sets = &self.variables.get(variable).definitions;
        let is_changed = sets.iter().any(|set| body.contains(&set.at)) || !is_sure;
        let (header, body, first) = (header.clone(), body.clone(), value);
        let (comparison, limit) = comparison.zip(limit)?;
        Some(Loop {
            region,
            variable: Some(variable),
            name,
            of,
            header,
            body,
            first,
            comparison,
            limit,
            step,
            by,
            is_changed,
            until: None,
        })
    }

    /// `while (variable < limit) { ...; variable *= 2; }`, whose variable is set once in its body, whenever that is
    /// run, and is not named behind it.
    fn understood_while(&self, region: usize, condition: &Span, body: &Span) -> Option<Loop<'s>> {
        let is_counter = |at: &usize| {
            let id = self.visible(self.text_at(*at), *at);
            id.is_some_and(|id| {
                let set = |set: &Definition| body.contains(&set.at);
                self.variables.get(id).definitions.iter().any(set)
            })
        };
        let at = condition.clone().take(LONGEST).find(is_counter)?;
        let (name, variable) = (self.text_at(at), self.visible(self.text_at(at), at)?);
        let Variable { declared, definitions, .. } = self.variables.get(variable);
        let of = self.named_type(&declared.words).filter(|of| !of.is_float());
        let of = of.filter(|_| !declared.is_indirect)?;
        let mut sets = definitions.iter().filter(|set| body.contains(&set.at));
        let set = sets.next().filter(|_| sets.next().is_none())?.at;
        let is_end = |at: &usize| matches!(self.text_at(*at), ";" | "{" | "}" | ")");
        let start = (body.start..set).rev().find(is_end).map_or(body.start, |end| end + 1);
        let end = (set..body.end).find(|at| self.text_at(*at) == ";")?;
        let is_always = self.regions.repeated_around(set).as_ref() == Some(body)
            && self.branches(set, &|around| around.repeated().as_ref() == Some(body)).is_empty();
        let is_last = (end..body.end).all(|at| self.text_at(at) != name);
        let goes_on = self.jumps_in(body).any(|(_, goes_on)| goes_on);
        if !is_always || !is_last || goes_on {
            return None;
        }
        let ((comparison, limit), is_sure) = self.surely(|host| host.limit(condition, name));
        let (comparison, limit) = comparison.zip(limit)?;
        let (step, by) = self.step(&(start..end), name)?;
        Some(Loop {
            region,
            variable: Some(variable),
            name,
            of,
            header: condition.clone(),
            body: body.clone(),
            // What it is before.
            first: at..at + 1,
            comparison,
            limit,
            step,
            by,
            is_changed: !is_sure,
            until: None,
        })
    }

    /// Split at signs outside of brackets.
    pub(super) fn split(&self, span: &Span, sign: &str) -> Vec<Span> {
        let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, span.start);
        for at in span.clone().take(LONGEST) {
            match self.text_at(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                text if text == sign && depth == 0 => {
                    parts.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(start..span.end);
        parts
    }

    /// What the variable is compared with: `i < n`, `n > i`, `i`.
    pub(super) fn limit(
        &self,
        condition: &Span,
        name: &str,
    ) -> (Option<Comparison>, Option<Expression<'s>>) {
        let parsed = self.parsed(self.tokens(condition), condition.start);
        let is_it = |side: &Expression<'_>| matches!(side, Expression::Name(of) if *of == name);
        let found = match parsed {
            Some(Expression::Name(of)) if of == name => {
                Some((Comparison::NotEqual, Expression::Number(Number::int(0))))
            }
            Some(Expression::Binary(Binary::Operator(Operator::Compare(comparison)), sides)) => {
                let [left, right] = *sides;
                match (is_it(&left), is_it(&right)) {
                    (true, false) => Some((comparison, right)),
                    (false, true) => Some((comparison.mirrored(), left)),
                    (true, true) | (false, false) => None,
                }
            }
            Some(_) | None => None,
        };
        found.map_or((None, None), |(comparison, limit)| (Some(comparison), Some(limit)))
    }

    /// `++i`, `i += 2`, `i = i * 2`.
    fn step(&self, span: &Span, name: &str) -> Option<(Operator, Expression<'s>)> {
        let tokens = self.tokens(span);
        let texts: Vec<&str> = tokens.iter().take(4).map(|token| token.text).collect();
        let one = |operator| Some((operator, Expression::Number(Number::int(1))));
        let by =
            |operator, from: usize| Some((operator, self.parsed(tokens.get(from..)?, span.start)?));
        let is_it = |text: &&str| *text == name;
        match (texts.as_slice(), tokens.len()) {
            (["+", "+", own] | [own, "+", "+"], 3) if is_it(own) => one(Operator::Add),
            (["-", "-", own] | [own, "-", "-"], 3) if is_it(own) => one(Operator::Subtract),
            ([own, "<", "<", "="], _) if is_it(own) => by(Operator::ShiftLeft, 4),
            ([own, ">", ">", "="], _) if is_it(own) => by(Operator::ShiftRight, 4),
            ([own, "=", ..], _) if is_it(own) => match self.parsed(tokens.get(2..)?, span.start)? {
                Expression::Binary(Binary::Operator(operator), sides) => {
                    let [left, right] = *sides;
                    let own = matches!(left, Expression::Name(of) if of == name);
                    own.then_some((operator, right))
                }
                _ => None,
            },
            ([own, sign, "=", ..], _) if is_it(own) => by(
                match *sign {
                    "+" => Operator::Add,
                    "-" => Operator::Subtract,
                    "*" => Operator::Multiply,
                    "/" => Operator::Divide,
                    _ => return None,
                },
                3,
            ),
            _ => None,
        }
    }

    /// Where the header of a loop stands, whose own variable is not known there.
    fn header_place<'h>(&self, place: &Place<'h, 's>, depth: usize) -> Place<'h, 's> {
        place.around_loop(depth, place.loops[depth].header.end)
    }

    fn first_of(&self, place: &Place<'_, 's>, depth: usize) -> Option<Told> {
        let own = place.loops[depth];
        let before = Place { at: own.header.start, ..self.header_place(place, depth) };
        self.converted(self.told(&own.first, &before)?, own.of)
    }

    fn way(&self, place: &Place<'_, 's>, depth: usize) -> Option<Way> {
        let own = place.loops[depth];
        let by = self.told_at(&own.by, &self.header_place(place, depth))?;
        let [low, high] = by.range()?;
        let bits = || u32::try_from(high).ok().filter(|_| low == high && (1..32).contains(&high));
        let power = || (low == high && low > 1 && low & (low - 1) == 0).then(|| low.ilog2());
        match own.step {
            Operator::Add if low > 0 => Some(Way::Up(by)),
            Operator::Subtract if low > 0 => Some(Way::Down(by)),
            Operator::Add if high < 0 && low == high => {
                Some(Way::Down(Told::Number(by.number()?.negated()?)))
            }
            Operator::ShiftLeft => bits().map(Way::Doubled),
            Operator::ShiftRight => bits().map(Way::Halved),
            Operator::Multiply => power().map(Way::Doubled),
            Operator::Divide => power().map(Way::Halved),
            Operator::BitOr
            | Operator::BitXor
            | Operator::BitAnd
            | Operator::Compare(_)
            | Operator::Add
            | Operator::Subtract
            | Operator::Remainder => None,
        }
    }

    /// What the variable of the loop at this depth is, as a formula of its rounds.
    pub(in crate::scene::draft) fn value_in(
        &self,
        place: &Place<'_, 's>,
        depth: usize,
    ) -> Option<Told> {
        let own = place.loops[depth];
        if own.is_changed {
            self.doubt();
        }
        let first = self.first_of(place, depth)?;
        let way = self.way(place, depth)?;
        let range = self.range_in(place, depth, &first, &way);
        let name = match place.time == Some(own.region) {
            true => "step".to_owned(),
            false => counter(self, &place.loops[..=depth]),
        };
        let round = Formula::atom(name, own.of, None).following(depth);
        let number = |value: u32| Formula::of_number(Number::int(value.into()));
        let join = |operator, left: &Formula, right: &Formula| {
            formula::binary(operator, own.of, left, right)
        };
        let times = |by: &Told| match by.number().and_then(Number::whole) {
            Some(1) => Some(round.clone()),
            _ => join(Operator::Multiply, &round, &by.formula()?),
        };
        let bits = |by: u32| match by {
            1 => Some(round.clone()),
            _ => join(Operator::Multiply, &round, &number(by)?),
        };
        let start = first.formula()?;
        let found = match &way {
            Way::Up(by) if first.number().and_then(Number::whole) == Some(0) => times(by)?,
            Way::Up(by) => join(Operator::Add, &start, &times(by)?)?,
            Way::Down(by) => join(Operator::Subtract, &start, &times(by)?)?,
            Way::Doubled(by) => join(Operator::ShiftLeft, &start, &bits(*by)?)?,
            // A quotient is rounded to zero, bits are shifted out downwards.
            Way::Halved(_) if first.range().is_none_or(|[low, _]| low < 0) => return None,
            Way::Halved(by) => join(Operator::ShiftRight, &start, &bits(*by)?)?,
        };
        Some(Told::Formula(found.within(range)))
    }

    /// Between which numbers the variable lies in the loop's body.
    fn range_in(
        &self,
        place: &Place<'_, 's>,
        depth: usize,
        first: &Told,
        way: &Way,
    ) -> Option<[i128; 2]> {
        let own = place.loops[depth];
        let (limit, _) =
            self.surely(|host| host.told_at(&own.limit, &host.header_place(place, depth)));
        let [low, high] = first.range()?;
        let limit = limit.and_then(|limit| limit.range());
        let found = match (way, own.comparison) {
            (Way::Up(_) | Way::Doubled(_), Comparison::Less) => [low, limit?[1] - 1],
            (Way::Up(_) | Way::Doubled(_), Comparison::LessEqual) => [low, limit?[1]],
            (Way::Up(_), Comparison::NotEqual) => [low, limit?[1] - 1],
            (Way::Down(_) | Way::Halved(_), Comparison::Greater) => [limit?[0] + 1, high],
            (Way::Down(_) | Way::Halved(_), Comparison::GreaterEqual) => [limit?[0], high],
            (Way::Down(_) | Way::Halved(_), Comparison::NotEqual) => [limit?[0] + 1, high],
            (Way::Up(_) | Way::Down(_) | Way::Doubled(_) | Way::Halved(_), _) => return None,
        };
        Some([found[0], found[1].max(found[0])])
    }

    /// How many rounds the innermost of the loops at `place` has.
    pub(in crate::scene::draft) fn rounds(&self, place: &Place<'_, 's>) -> Option<Told> {
        let depth = place.loops.len().checked_sub(1)?;
        let own = place.loops[depth];
        if own.is_changed {
            self.doubt();
        }
        let first = self.first_of(place, depth)?;
        let limit = self.told_at(&own.limit, &self.header_place(place, depth))?;
        let limit = whole_limit(own.comparison, limit)?;
        let common = own.of.common(limit.of());
        let wide = |told| self.converted(self.converted(told, common)?, Type::Long);
        let (first, limit) = (wide(first)?, wide(limit)?);
        let more = match own.comparison {
            Comparison::LessEqual | Comparison::GreaterEqual => 1,
            Comparison::Equal | Comparison::NotEqual | Comparison::Less | Comparison::Greater => 0,
        };
        let number = |value: i128| Told::Number(Number::Whole(Type::Long, value));
        let less = |a: &Told, b: &Told| self.combined(Operator::Subtract, a.clone(), b.clone());
        let more_than = |told: Told, more: i128| match more {
            0 => Some(told),
            _ => self.combined(Operator::Add, told, number(more)),
        };
        let found = match (self.way(place, depth)?, own.comparison) {
            (Way::Up(by), Comparison::Less | Comparison::LessEqual) => {
                self.quotient(more_than(less(&limit, &first)?, more)?, by)?
            }
            (Way::Down(by), Comparison::Greater | Comparison::GreaterEqual) => {
                self.goes_round(own, &limit, &by, more);
                self.quotient(more_than(less(&first, &limit)?, more)?, by)?
            }
            (Way::Up(by), Comparison::NotEqual) => self.exactly(less(&limit, &first)?, &by)?,
            (Way::Down(by), Comparison::NotEqual) => self.exactly(less(&first, &limit)?, &by)?,
            (Way::Doubled(by), Comparison::Less | Comparison::LessEqual) => {
                // From 0 on there is no end.
                first.range().filter(|[low, _]| *low > 0)?;
                let last = more_than(limit, more - 1)?;
                let most = last.range().map(|[_, high]| high.checked_mul(1 << by));
                let fits = |most: Option<i128>| {
                    most.zip(own.of.range()).is_some_and(|(most, [_, high])| most <= high)
                };
                if !most.is_some_and(fits) && own.of.range().is_none_or(|[low, _]| low == 0) {
                    self.doubt();
                }
                self.powers(last, first, by)?
            }
            (
                Way::Halved(by),
                Comparison::Greater | Comparison::GreaterEqual | Comparison::NotEqual,
            ) => {
                let last = more_than(limit.clone(), 1 - more)?;
                let is_zero = limit.number().and_then(Number::whole) == Some(0);
                first.range().filter(|[low, _]| *low >= 0)?;
                last.range().filter(|[low, _]| *low > 0)?;
                if own.comparison == Comparison::NotEqual && !is_zero {
                    return None;
                }
                self.powers(first, last, by)?
            }
            (Way::Up(_) | Way::Down(_) | Way::Doubled(_) | Way::Halved(_), _) => return None,
        };
        match found {
            Told::Number(number) => Some(Told::Number(Number::int(number.whole()?.max(0)))),
            Told::Formula(formula) => Some(Told::Formula(formula)),
        }
    }

    /// Doubts the rounds of a loop down whose variable is unsigned and may go beyond 0.
    fn goes_round(&self, own: &Loop<'_>, limit: &Told, by: &Told, more: i128) {
        let is_unsigned = own.of.range().is_none_or(|[low, _]| low == 0);
        let last = limit.range().map(|[low, _]| low + 1 - more);
        let stays = last.zip(by.range()).is_some_and(|(last, [_, high])| last >= high);
        if is_unsigned && !stays {
            self.doubt();
        }
    }

    /// How often `by` lies in `distance`, rounded up.
    fn quotient(&self, distance: Told, by: Told) -> Option<Told> {
        if by.number().and_then(Number::whole) == Some(1) {
            return Some(distance);
        }
        if let (Some(distance), Some(by)) = (whole_of(&distance), whole_of(&by)) {
            let rounds = if distance > 0 { (distance - 1) / by + 1 } else { 0 };
            return Some(Told::Number(Number::Whole(Type::Long, rounds)));
        }
        let (distance, by) = (distance.formula()?, by.formula()?);
        Some(Told::Formula(Formula::called("ceil_div", &[&distance, &by], Type::Long)))
    }

    /// How often `by` lies in `distance` without a rest; without one there is no end to it.
    fn exactly(&self, distance: Told, by: &Told) -> Option<Told> {
        let by = whole_of(by)?;
        let is_positive = distance.range().is_some_and(|[low, _]| low >= 0);
        match whole_of(&distance) {
            Some(distance) => (distance >= 0 && distance % by == 0)
                .then(|| Told::Number(Number::Whole(Type::Long, distance / by))),
            None => (by == 1 && is_positive).then_some(distance),
        }
    }

    /// How many of `least`, `least << by`, `least << 2 * by`, ... are at most `most`.
    fn powers(&self, most: Told, least: Told, by: u32) -> Option<Told> {
        if let (Some(most), Some(least)) = (whole_of(&most), whole_of(&least)) {
            let rounds = if most < least { 0 } else { (most / least).ilog2() / by + 1 };
            return Some(Told::Number(Number::Whole(Type::Long, rounds.into())));
        }
        let is_reached = most.range().zip(least.range()).is_some_and(|(a, b)| a[0] >= b[1]);
        let (number, one) = (|value: u32| Formula::of_number(Number::int(value.into())), 1);
        let holds = self.combined(
            Operator::Compare(Comparison::GreaterEqual),
            most.clone(),
            least.clone(),
        )?;
        let ratio = match whole_of(&least) {
            Some(1) => most,
            _ => self.combined(Operator::Divide, most, least)?,
        };
        let logarithm = Formula::called("ilog2", &[&ratio.formula()?], Type::Long);
        let bits = match by {
            1 => logarithm,
            _ => formula::binary(Operator::Divide, Type::Long, &logarithm, &number(by)?)?,
        };
        let rounds = formula::binary(Operator::Add, Type::Long, &bits, &number(one)?)?;
        Some(Told::Formula(match is_reached {
            true => rounds,
            false => holds.formula()?.chooses(&rounds, &number(0)?),
        }))
    }
}

fn whole_of(told: &Told) -> Option<i128> {
    told.number().and_then(Number::whole)
}

/// A limit as a whole number: one that is not is rounded to where the comparison changes.
fn whole_limit(comparison: Comparison, limit: Told) -> Option<Told> {
    let Told::Number(Number::Real(_, value)) = limit else {
        return (!limit.of().is_float()).then_some(limit);
    };
    let value = match comparison {
        Comparison::Less | Comparison::GreaterEqual => value.ceil(),
        Comparison::LessEqual | Comparison::Greater => value.floor(),
        Comparison::Equal | Comparison::NotEqual => return None,
    };
    Number::Real(Type::Double, value).to(Type::Long).map(Told::Number)
}

/// What the rounds of the innermost of these loops are called: as its variable, where nothing else is.
pub(in crate::scene::draft) fn counter(host: &Host<'_>, loops: &[&Loop<'_>]) -> String {
    let Some((own, outer)) = loops.split_last() else { return String::new() };
    let same = outer.iter().filter(|around| around.name == own.name).count();
    let mut name = possible(own.name);
    if host.pointees.contains_key(name.as_str()) {
        name.push_str("_round");
    }
    name + &"_".repeat(same)
}
