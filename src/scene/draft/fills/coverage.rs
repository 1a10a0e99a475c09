//! Which elements a statement in loops writes to: the rounds of the loops, as formulas of an element's place.

use std::{collections::BTreeMap, rc::Rc};

use crate::scene::{
    draft::{
        code::Span,
        expression::told::Told,
        host::{
            Host,
            place::{Call, Place},
        },
        values::loops::counter,
    },
    expression::{Expression, Kind, Meaning, Number},
};

/// What an element's place is called in a manifest's `each`.
pub(in crate::scene::draft) const PLACE: &str = "i";

/// The elements that a statement writes to.
pub(in crate::scene::draft) struct Coverage {
    /// What the rounds of the loops are for an element, by their names.
    rounds: BTreeMap<String, String>,
    /// What has to hold of an element that is written to; all are where there is nothing.
    pub(in crate::scene::draft) conditions: Vec<String>,
    index: Index,
}

/// An index as a sum: a number, and so much for each round of the loops that it follows.
#[derive(Clone, Default)]
struct Index {
    first: i128,
    /// The depths of the loops, those first whose rounds are furthest apart.
    by: Vec<(usize, i128)>,
    /// The last element, where that is known.
    last: Option<i128>,
}

/// In which rounds of which loops a write is made, and how far it gets in each.
pub(in crate::scene::draft) struct Reach {
    loops: Vec<usize>,
    call: Option<Rc<Call>>,
    /// All elements where there is none.
    index: Option<Index>,
}

impl Reach {
    pub(in crate::scene::draft) fn new(place: &Place<'_, '_>, coverage: Option<&Coverage>) -> Self {
        let loops = place.loops.iter().map(|own| own.region).collect();
        let index = coverage.map(|coverage| coverage.index.clone());
        Self { loops, call: place.call.clone(), index }
    }

    /// Whether each element that both write to is written to by this one last: what they do in the rounds of a loop
    /// around both is done to other elements in each, or to the same ones.
    pub(in crate::scene::draft) fn is_behind(&self, earlier: &Self) -> bool {
        let outer = |own: &Self| own.call.as_ref().map_or(0, |call| call.loops);
        let is_one_call = match (&self.call, &earlier.call) {
            (Some(own), Some(other)) => Rc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        };
        let most = if is_one_call { usize::MAX } else { outer(self).min(outer(earlier)) };
        let both = self.loops.iter().zip(&earlier.loops).take(most);
        let common = both.take_while(|(own, other)| own == other).count();
        let by = |own: &Self, depth: usize| {
            let index = own.index.as_ref();
            index
                .and_then(|own| own.by.iter().find(|(of, _)| *of == depth))
                .map_or(0, |(_, by)| *by)
        };
        let steps: Vec<[i128; 2]> =
            (0..common).map(|depth| [by(self, depth), by(earlier, depth)]).collect();
        let is_alike = steps.iter().all(|[own, other]| own == other);
        let least = steps.iter().map(|[own, _]| *own).filter(|by| *by != 0).min();
        let (Some(own), Some(other)) = (&self.index, &earlier.index) else {
            return is_alike && least.is_none();
        };
        let is_before =
            |one: &Index, other: &Index| one.last.is_some_and(|last| last < other.first);
        if is_before(own, other) || is_before(other, own) {
            return true;
        }
        let Some(least) = least else { return is_alike };
        let stays = |of: &Index| {
            let is_inner = of.by.iter().any(|(depth, _)| *depth >= common);
            !is_inner || of.first % least == 0
        };
        is_alike && own.first / least == other.first / least && stays(own) && stays(other)
    }
}

impl Coverage {
    /// Whether it is another element in each round of some loop.
    pub(in crate::scene::draft) const fn follows_rounds(&self) -> bool {
        !self.index.by.is_empty()
    }

    /// A formula of rounds as one of the element's place; `None` where it names others.
    pub(in crate::scene::draft) fn placed(&self, formula: &str) -> Option<String> {
        let mut text = String::new();
        let mut rest = formula;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            text.push_str(&rest[..start]);
            let word = &rest[start..];
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
            let (word, behind) = word.split_at(end);
            let is_name = !word.starts_with(|c: char| c.is_ascii_digit());
            match self.rounds.get(word) {
                Some(round) => text.push_str(round),
                None if is_name && !behind.trim_start().starts_with('(') => return None,
                None => text.push_str(word),
            }
            rest = behind;
        }
        text.push_str(rest);
        Some(text)
    }
}

impl<'s> Host<'s> {
    /// What is written at `index`, an index for each axis, of something with these `sides` that has `count` elements.
    pub(in crate::scene::draft) fn coverage(
        &self,
        index: &[Span],
        sides: &[i64],
        place: &Place<'_, 's>,
        count: u64,
    ) -> Option<Coverage> {
        let mut index = self.index(index, sides, place)?;
        let mut rounds = BTreeMap::new();
        let mut conditions = Vec::new();
        let base = match index.first {
            0 => PLACE.to_owned(),
            first => format!("({PLACE} - {first})"),
        };
        if index.by.is_empty() {
            let conditions = vec![format!("{PLACE} == {}", index.first)];
            return Some(Coverage { rounds, conditions, index });
        }
        if index.first > 0 {
            conditions.push(format!("{PLACE} >= {}", index.first));
        }
        let mut room = i128::from(count) - index.first;
        let mut around = None;
        for (depth, by) in &index.by.clone() {
            let within = match around {
                None => base.clone(),
                Some(around) => format!("{base} % {around}"),
            };
            let round = if *by == 1 { within } else { format!("{within} / {by}") };
            let own = Place { loops: place.loops[..=*depth].to_vec(), ..place.clone() };
            let number = self.rounds(&own).and_then(|told| told.number()?.whole());
            let more = number.map(|number| (number - 1).max(0) * by);
            index.last = index.last.zip(more).map(|(last, more)| last + more);
            match number {
                // Rounds that write to elements of others.
                Some(number) if around.is_some() && number * by > room => return None,
                Some(number) if number * by < room => {
                    conditions.push(format!("{round} < {number}"))
                }
                Some(_) => {}
                None => self.doubt(),
            }
            let is_alone = round == PLACE;
            rounds.insert(
                counter(self, &own.loops),
                if is_alone { round } else { format!("({round})") },
            );
            (room, around) = (*by, Some(*by));
        }
        if let Some(last) = around.filter(|last| *last > 1) {
            conditions.push(format!("{base} % {last} == 0"));
        }
        Some(Coverage { rounds, conditions, index })
    }

    /// An index for each axis as one sum of rounds; `None` where it is none.
    fn index(&self, index: &[Span], sides: &[i64], place: &Place<'_, 's>) -> Option<Index> {
        let (mut first, mut by) = (0, BTreeMap::new());
        for (axis, span) in index.iter().enumerate() {
            let is_told = index.len() > 1 && sides.len() == index.len();
            let inner = sides.get(axis + 1..).filter(|_| is_told);
            let stride: i128 = match inner {
                Some(inner) => inner.iter().map(|side| i128::from(*side)).product(),
                None if index.len() == 1 => 1,
                None => return None,
            };
            let (start, steps) = match self.told(span, place)? {
                Told::Number(number) => (number.whole()?, Vec::new()),
                Told::Formula(formula) => self.sum(&formula.text, place)?,
            };
            first += start * stride;
            for (depth, step) in steps {
                *by.entry(depth).or_insert(0) += step * stride;
            }
        }
        let mut by: Vec<(usize, i128)> = by.into_iter().filter(|(_, by)| *by != 0).collect();
        by.sort_by_key(|(_, by)| std::cmp::Reverse(*by));
        let is_nested = by.windows(2).all(|pair| pair[0].1 % pair[1].1 == 0);
        let is_up = by.iter().all(|(_, by)| *by > 0);
        (is_nested && is_up && first >= 0).then_some(Index { first, by, last: Some(first) })
    }

    /// A formula of rounds as a sum of multiples of them.
    fn sum(&self, formula: &str, place: &Place<'_, 's>) -> Option<(i128, Vec<(usize, i128)>)> {
        let names: Vec<String> =
            (1..=place.loops.len()).map(|depth| counter(self, &place.loops[..depth])).collect();
        let depth_of = |name: &str| names.iter().rposition(|own| own == name);
        let expression = Expression::parse(formula, &mut |name| {
            let depth = depth_of(name).ok_or_else(String::new)?;
            Ok(Meaning::Term(depth, Kind::Int))
        });
        let expression = expression.ok()?;
        let at = |rounds: &dyn Fn(usize) -> i128| {
            let number = expression.value(&mut |depth| Ok(Number::Int(rounds(*depth)))).ok()?;
            number.whole().ok().map(i128::from)
        };
        let first = at(&|_| 0)?;
        let mut steps = Vec::new();
        for depth in 0..names.len() {
            steps.push((depth, at(&|other| i128::from(other == depth))? - first));
        }
        // Whether that is all: at some other places.
        for probe in [[2, 3, 5], [7, 1, 4]] {
            let rounds = |depth: usize| probe[depth % probe.len()];
            let sum: i128 = steps.iter().map(|(depth, by)| by * rounds(*depth)).sum();
            if at(&rounds)? != first + sum {
                return None;
            }
        }
        Some((first, steps))
    }
}
