//! How the arrays of a drafted manifest lie in rows, as launches say.

use super::{Draft, guess::Guess};
use crate::scene::draft::fills::sides::{LONGEST_SIDE, Rows, in_order, is_height};

impl Draft<'_, '_> {
    /// How the arrays of a launch lie in rows, where nothing else says it: two of its numbers whose product is the
    /// number of elements are their sides, or one that is so twice, or the threads along two axes.
    pub(in crate::scene::draft) fn rows(
        &mut self,
        arguments: &[(String, Guess)],
        shape: &[(&str, Guess)],
    ) {
        let number = |(name, guess): &(String, Guess)| {
            let number = guess.text.parse::<u64>().ok();
            let number = number.filter(|number| (2..=LONGEST_SIDE).contains(number))?;
            guess.open.is_none().then(|| (name.to_lowercase(), number))
        };
        let numbers: Vec<(String, u64)> = arguments.iter().filter_map(number).collect();
        let threads = threads_along(shape);
        let pairs = || {
            numbers
                .iter()
                .enumerate()
                .flat_map(|(at, first)| numbers[at + 1..].iter().map(move |second| [first, second]))
        };
        let is_all = |[a, b]: [u64; 2], count: u64| a.checked_mul(b) == Some(count);
        for (_, guess) in arguments {
            let name = guess.array().trim_end_matches("_next");
            let Some(place) = self.places.get(name).copied() else { continue };
            let array = &mut self.arrays[place];
            let Some(count) = array.count else { continue };
            let pair = pairs().find(|[a, b]| is_all([a.1, b.1], count));
            let pair = pair.map(|[a, b]| {
                let sides = in_order([(&a.0, a.1), (&b.0, b.1)]);
                // Where neither is called a height, threads beside one another are those of a row.
                let is_told = is_height(&a.0) || is_height(&b.0);
                threads.filter(|along| !is_told && *along == [b.1, a.1]).unwrap_or(sides)
            });
            let found = array.rows.map(|rows| rows.sides);
            // Names say which of two sides is the width.
            let pair = pair.filter(|pair| {
                found.is_none_or(|found| found == *pair || found == [pair[1], pair[0]])
            });
            let square = || {
                let side = numbers.iter().find(|number| is_all([number.1; 2], count));
                side.map(|side| [side.1; 2]).filter(|_| !array.is_place())
            };
            let own =
                || found.is_none().then(|| square().or(threads.filter(|t| is_all(*t, count))));
            let sides = pair.or_else(|| own().flatten());
            if let Some(sides) = sides {
                array.rows = Some(Rows { sides, is_sure: true });
            }
        }
    }
}

/// The threads of a launch along two axes, where it says so in numbers.
fn threads_along(shape: &[(&str, Guess)]) -> Option<[u64; 2]> {
    let axes = |key: &str| {
        let (_, guess) = shape.iter().find(|(own, _)| *own == key)?;
        let axes = guess.text.trim_matches(['[', ']']).split(',');
        let mut axes: Vec<u64> =
            axes.map(|axis| axis.trim().parse().ok()).collect::<Option<_>>()?;
        axes.resize(3, 1);
        Some(axes)
    };
    let (grid, block) = (axes("grid")?, axes("block")?);
    let along: Vec<u64> =
        grid.iter().zip(&block).map(|(grid, block)| grid.saturating_mul(*block)).collect();
    let sides = [along[0], along[1]];
    let is_flat = along[2] == 1 && sides.iter().all(|side| (2..=LONGEST_SIDE).contains(side));
    is_flat.then_some(sides)
}
