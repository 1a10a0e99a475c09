//! An element that somebody follows: what it holds, and what it held since it was picked.

use std::collections::VecDeque;

use super::table::Content;
use crate::{scene::Number, session::Picked};

/// So many steps are remembered.
const MOST_STEPS: usize = 240;
/// So many numbers are shown.
pub const MOST_NUMBERS: usize = 32;

/// An element that is followed.
#[derive(Clone, Debug)]
pub struct Followed {
    /// Which one.
    pub picked: Picked,
    /// The view in which it was picked.
    pub view: String,
    /// The step of the newest numbers; `None` until there are some.
    step: Option<u64>,
    names: Vec<String>,
    numbers: Vec<Number>,
    /// What the numbers were, step by step.
    past: VecDeque<(u64, Vec<f64>)>,
}

impl Followed {
    /// One of which nothing is known yet.
    pub fn new(picked: Picked, view: String) -> Self {
        let (names, numbers, past) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { picked, view, step: None, names, numbers, past }
    }

    /// Takes what it and elements like it hold after a step, the first element of each of these. Steps that come again,
    /// after a reset or a look at the past, take the place of those that were there.
    pub fn observe(&mut self, step: u64, contents: &[Content]) {
        let all = contents.iter().flat_map(|content| {
            let name = &content.resource.name;
            let columns = content.names.iter().enumerate();
            columns.map(move |(column, own)| {
                let whole = if own == name { own.clone() } else { format!("{name}.{own}") };
                (whole, content.number(0, column), content.value(0, column))
            })
        });
        let (mut names, mut numbers, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (name, number, value) in all.take(MOST_NUMBERS) {
            names.push(name);
            numbers.push(number);
            values.push(value);
        }
        if names != self.names {
            self.past.clear();
        }
        (self.names, self.numbers, self.step) = (names, numbers, Some(step));
        while self.past.back().is_some_and(|(last, _)| *last >= step) {
            self.past.pop_back();
        }
        self.past.push_back((step, values));
        if self.past.len() > MOST_STEPS {
            self.past.pop_front();
        }
    }

    /// The step after which it has its numbers; `None` until there are some.
    pub fn step(&self) -> Option<u64> {
        self.step
    }

    /// Its numbers: what each is called, to the last digit.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, &Number)> {
        self.names.iter().map(String::as_str).zip(&self.numbers)
    }

    /// What one of them was, by step, the oldest first.
    pub fn past(&self, number: usize) -> impl Iterator<Item = (u64, f64)> {
        let of = move |(step, values): &(u64, Vec<f64>)| Some((*step, *values.get(number)?));
        self.past.iter().filter_map(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::table::tests::content;

    fn picked() -> Picked {
        Picked { resource: "a".into(), index: 5, size: [12, 1, 1] }
    }

    #[test]
    fn a_step_that_comes_again_takes_the_place_of_those_from_it_on() {
        let mut followed = Followed::new(picked(), "view".into());
        assert_eq!((followed.step(), followed.numbers().count()), (None, 0));
        for (step, x) in [(1, 0.5), (2, 0.75), (4, 1.0), (2, 7.0)] {
            followed.observe(step, &[content(&[[x, 2.0]])]);
        }
        assert_eq!(followed.past(0).collect::<Vec<_>>(), [(1, 0.5), (2, 7.0)]);
        let numbers: Vec<_> = followed.numbers().collect();
        assert_eq!(numbers, [("a.x", &Number::Float(7.0)), ("a.y", &Number::Float(2.0))]);
        assert_eq!(followed.step(), Some(2));
    }

    #[test]
    fn what_is_remembered_has_a_limit_and_begins_anew_with_other_numbers() {
        let mut followed = Followed::new(picked(), "view".into());
        let one = content(&[[1.0, 2.0]]);
        (0..1000).for_each(|step| followed.observe(step, std::slice::from_ref(&one)));
        assert_eq!(followed.past(1).count(), MOST_STEPS);
        followed.observe(1000, &[one.clone(), one.clone()]);
        assert_eq!((followed.past(3).count(), followed.numbers().count()), (1, 4));
        followed.observe(1001, &vec![one; 40]);
        assert_eq!(followed.numbers().count(), MOST_NUMBERS);
    }

    #[test]
    fn of_a_grid_its_place_is_known() {
        let of = |index, size| Picked { resource: "a".into(), index, size }.place();
        assert_eq!(of(5, [12, 1, 1]), None);
        assert_eq!(of(29, [12, 4, 1]), Some([5, 2, 0]));
        assert_eq!(of(59, [4, 3, 5]), Some([3, 2, 4]));
    }
}
