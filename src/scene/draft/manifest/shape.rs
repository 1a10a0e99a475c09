//! The grid, the block and the shared memory of a launch.

use super::{Draft, guess::Guess};
use crate::{
    cuda::lexer::Token,
    scene::{
        Shape,
        decode::{MOST_IN_BLOCK, MOST_SHARED_BYTES},
        draft::{
            code::Span,
            expression::{
                cpp_number::{Number, Type},
                text::{quoted, quoted_text},
                told::Told,
            },
            host::{Assumes, Host, launch::Launch, place::Place},
        },
    },
};

impl<'s> Draft<'_, 's> {
    pub(in crate::scene::draft) fn shape(
        &self,
        launch: &Launch,
        place: &Place<'_, 's>,
        arguments: &[(String, Guess)],
    ) -> Vec<(&'static str, Guess)> {
        let axes = |span: Option<&Span>, most: [i64; 3], altogether: i64| {
            let span = span?;
            let (found, is_sure) =
                self.host.surely(|host| written_axes(host, span, place, most, altogether));
            Some(Guess::of((found?, is_sure), &self.host.text(span)))
        };
        let grid = axes(launch.shape.first(), Shape::MOST_BLOCKS, i64::MAX);
        let block = axes(launch.shape.get(1), Shape::MOST_THREADS, MOST_IN_BLOCK);
        let mut shape = match (grid, block) {
            (Some(grid), Some(block)) => {
                vec![("grid", grid), ("block", block)]
            }
            // All blocks of such a launch have to be there at once.
            (_, block) if launch.is_cooperative => {
                let text = |axis: usize| {
                    launch.shape.get(axis).map_or_else(String::new, |span| self.host.text(span))
                };
                let block = block.unwrap_or_else(|| Guess::open("256", text(1)));
                vec![("grid", Guess::open("1", text(0))), ("block", block)]
            }
            (_, block) => {
                let array = arguments.iter().find(|(_, guess)| guess.text.starts_with('"'));
                let over = array.map_or("1".to_owned(), |(_, guess)| {
                    quoted_text(guess.array().trim_end_matches("_next"))
                });
                let mut shape = vec![("over", Guess::open(over, "threads"))];
                shape.extend(block.map(|block| ("block", block)));
                shape
            }
        };
        if let Some(span) = launch.shape.get(2) {
            shape.extend(self.shared(span, place).map(|shared| ("shared", shared)));
        }
        shape
    }

    /// The bytes of dynamic shared memory; `None` where there are none.
    fn shared(&self, span: &Span, place: &Place<'_, 's>) -> Option<Guess> {
        let is_too_much = |bytes: i64| !(0..=MOST_SHARED_BYTES).contains(&bytes);
        let (bytes, is_sure) = self.host.surely(|host| {
            let told = host.guessed(span, place, Assumes::All)?;
            written_whole(&host.converted(told, Type::Long)?)
        });
        match bytes.filter(|bytes| !bytes.parse().is_ok_and(is_too_much)) {
            Some(bytes) if bytes == "0" && is_sure => None,
            Some(bytes) => Some(Guess::of((quoted(&bytes), is_sure), &self.host.text(span))),
            None => Some(some_shared().1),
        }
    }

    /// A block for a kernel that nothing launches: by a constant that is called so, square where the kernel has two
    /// axes.
    pub(in crate::scene::draft) fn block_of(&self, kernel: &str) -> Option<String> {
        let last = kernel.rsplit("::").next().unwrap_or(kernel);
        let at = self.host.code.iter().rposition(|token| token.text == last)?;
        let until = self.host.code[at..].iter().position(|token| token.text == "__global__");
        let body = &self.host.code[at..until.map_or(self.host.code.len(), |length| at + length)];
        let is_flat = !body.windows(3).any(|w| w[0].text == "threadIdx" && w[2].text == "y");
        let is_named = |token: &&Token<'_>| {
            let name = token.text.to_ascii_lowercase();
            let words = ["block", "thread", "tile"];
            token.is_word() && words.iter().any(|word| name.contains(word))
        };
        let place = Place::of(at);
        let number = |token: &Token<'s>| self.host.integer_of_text(token.text, &place);
        let mut sizes = body.iter().filter(is_named).take(200).filter_map(number);
        let most = if is_flat { 1024 } else { 32 };
        match (sizes.find(|size| (1..=most).contains(size)), is_flat) {
            (Some(size), true) => Some(size.to_string()),
            (Some(size), false) => Some(format!("[{size}, {size}]")),
            (None, true) => None,
            (None, false) => Some("[16, 16]".to_owned()),
        }
    }

    /// Whether some kernel has shared memory of a size that its launch says.
    pub(in crate::scene::draft) fn has_dynamic_shared(&self) -> bool {
        let shared = |w: &[Token<'_>]| w.iter().any(|token| token.text == "__shared__");
        self.host.code.windows(3).any(|w| w[0].text == "extern" && shared(w))
    }
}

/// How many threads a shape has, where it says so in numbers.
pub(in crate::scene::draft) fn threads(shape: &[(&str, Guess)]) -> Option<u64> {
    let axes = |key: &str| {
        let (_, guess) = shape.iter().find(|(own, _)| *own == key)?;
        let axes = guess.text.trim_matches(['[', ']']).split(',');
        axes.map(|axis| axis.trim().parse::<u64>().ok()).product::<Option<u64>>()
    };
    axes("grid")?.checked_mul(axes("block")?)
}

/// A grid or a block: a number, a `dim3`, or a variable that is one. `None` for what is 0, or too much, and so computed
/// in a way that is not understood here.
pub(in crate::scene::draft) fn written_axes<'s>(
    host: &Host<'s>,
    span: &Span,
    place: &Place<'_, 's>,
    most: [i64; 3],
    altogether: i64,
) -> Option<String> {
    let found = host.dimensions(span, place, 0);
    let is_said =
        |axis: &Option<(Span, _)>| axis.as_ref().is_some_and(|(part, _)| !part.is_empty());
    let found = found.filter(|found| found.iter().any(is_said));
    let found = found.unwrap_or_else(|| vec![Some((span.clone(), place.clone()))]);
    let mut axes = Vec::new();
    let mut product = 1_i64;
    for (axis, most) in found.iter().zip(most) {
        let Some((part, place)) = axis else {
            axes.push("1".to_owned());
            continue;
        };
        let told = host.guessed(part, place, Assumes::All)?;
        let told = host.converted(told, Type::Unsigned)?;
        if let Told::Number(number) = &told {
            let axis = i64::try_from(number.whole()?).ok()?;
            product = product.saturating_mul(axis);
            if !(1..=most).contains(&axis) || product > altogether {
                return None;
            }
        }
        axes.push(quoted(&written_whole(&told)?));
    }
    while axes.len() > 1 && axes.last().is_some_and(|last| last == "1") {
        axes.pop();
    }
    match axes.as_slice() {
        [axis] => Some(axis.clone()),
        axes => Some(format!("[{}]", axes.join(", "))),
    }
}

fn written_whole(told: &Told) -> Option<String> {
    match told {
        Told::Number(number) => number.to(Type::Long).map(Number::written),
        Told::Formula(formula) => formula.checked(),
    }
}

/// Dynamic shared memory of a size that the file does not say.
pub(in crate::scene::draft) fn some_shared() -> (&'static str, Guess) {
    ("shared", Guess::open("16384", "bytes of dynamic shared memory"))
}
