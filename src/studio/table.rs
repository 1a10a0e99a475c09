//! The elements of a resource as a table: which rows, in which order, and how a column's values are spread.
//!
//! Enters: the content of a resource, what is wanted of it. Leaves: rows, a histogram, and the table as a file. Must
//! not know: `device`, `gl`, `studio::panels`, `studio::window`.

mod content;
mod histogram;
mod rows;
mod sort;
mod written;

pub use content::Content;
pub use histogram::Histogram;
pub use rows::{PAGE, Rows};
pub use written::Written;

use self::{histogram::histogram, sort::sort_by};
use super::filter::Filter;

/// Larger resources are not read.
pub const MOST_BYTES: u64 = 256 << 20;
/// So many elements are chosen or sorted; more would take too much memory.
const MOST_ROWS: usize = 1 << 24;
/// After so many elements it is asked whether to go on, and so many are sorted at once.
const RUN: usize = 1 << 16;

/// What the user wants to see of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// An expression about the columns; empty: all elements.
    pub filter: String,
    /// The column by which they are sorted, and whether the largest come first.
    pub sort: Option<(usize, bool)>,
    /// The column whose values are counted.
    pub column: usize,
}

/// A table as it is wanted.
#[derive(Clone, Debug)]
pub struct Table {
    /// What it is of.
    pub content: Content,
    /// As it is wanted.
    pub wish: Wish,
    /// The elements.
    pub rows: Rows,
    /// Those of the chosen column in these rows.
    pub histogram: Histogram,
    /// What is wrong with the filter.
    pub problem: Option<String>,
}

/// Why a table is not made to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Nobody wants it any more.
    Unwanted,
    /// It takes too long.
    Late,
}

/// Says whether to go on; asked every few elements.
pub type GoOn<'a> = &'a dyn Fn() -> Result<(), Halt>;

impl Table {
    /// Filters, sorts and counts. Where that takes too long, or is too much, it has all elements and tells why.
    /// `None` where nobody wants it any more.
    pub fn make(content: Content, wish: Wish, go_on: GoOn<'_>) -> Option<Self> {
        let filter = match wish.filter.trim() {
            "" => Ok(None),
            text => Filter::parse(text, &content.terms()).map(Some),
        };
        let (filter, problem) = match filter {
            Ok(filter) => (filter, None),
            Err(problem) => (None, Some(problem)),
        };
        let (rows, problem) = match chosen(&content, filter.as_ref(), wish.sort, go_on) {
            Ok((rows, remark)) => (rows, problem.or(remark)),
            Err(Halt::Late) => {
                let text = "it takes too long: these are all elements, as they lie in memory";
                (Rows::All, Some(text.to_owned()))
            }
            Err(Halt::Unwanted) => return None,
        };
        let (histogram, problem) = match histogram(&content, &rows, wish.column, go_on) {
            Ok(histogram) => (histogram, problem),
            Err(Halt::Late) => {
                let text = "to count how often each value is there takes too long";
                (Histogram::default(), problem.or_else(|| Some(text.to_owned())))
            }
            Err(Halt::Unwanted) => return None,
        };
        Some(Self { content, wish, rows, histogram, problem })
    }
}

/// The elements that fit, in order, and what is to be said of them.
fn chosen(
    content: &Content,
    filter: Option<&Filter>,
    sort: Option<(usize, bool)>,
    go_on: GoOn<'_>,
) -> Result<(Rows, Option<String>), Halt> {
    if filter.is_none() && sort.is_none() {
        return Ok((Rows::All, None));
    }
    let fits = |element: &u32| {
        let value = |column| content.number(u64::from(*element), column);
        filter.is_none_or(|filter| filter.chooses(u64::from(*element), &value))
    };
    let count = u32::try_from(content.count()).unwrap_or(u32::MAX);
    let mut elements = Vec::new();
    for first in (0..count).step_by(RUN) {
        go_on()?;
        let run = first..first.saturating_add(RUN as u32).min(count);
        elements.extend(run.filter(fits).take(MOST_ROWS + 1 - elements.len()));
        if elements.len() > MOST_ROWS {
            let text = match sort {
                Some(_) => {
                    return Ok((Rows::All, Some(format!("more than {MOST_ROWS} are not sorted"))));
                }
                None => format!("the first {MOST_ROWS} that fit"),
            };
            elements.pop();
            return Ok((Rows::These(elements), Some(text)));
        }
    }
    if let Some((column, down)) = sort {
        sort_by(&mut elements, |element| content.number(u64::from(element), column), down, go_on)?;
    }
    Ok((Rows::These(elements), None))
}

#[cfg(test)]
pub mod tests {
    use super::{histogram::BARS, *};
    use crate::scene::{Number, Overrides, Scene};

    /// Elements `(x, y)` of a buffer of `float2`.
    pub fn content(elements: &[[f32; 2]]) -> Content {
        let text =
            format!("/*---\n[array.a]\ntype = \"float2\"\ncount = {}\n---*/", elements.len());
        let scene = Scene::parse("t.cu", &text, &Overrides::default()).unwrap();
        let resource = scene.manifest.resources()[0].clone();
        let bytes =
            elements.as_flattened().iter().flat_map(|number| number.to_le_bytes()).collect();
        let of = resource.of();
        Content::new(resource, of, (3, 0), bytes)
    }

    #[test]
    fn elements_are_filtered_sorted_and_counted() {
        let nan = f32::NAN;
        let content = content(&[[3.0, 0.0], [1.0, nan], [2.0, 5.0], [nan, 1.0], [0.0, 9.0]]);
        assert_eq!(content.names, ["x", "y"]);
        let make = |filter: &str, sort| {
            let wish = Wish { filter: filter.into(), sort, column: 0 };
            Table::make(content.clone(), wish, &|| Ok(())).expect("it is wanted")
        };
        assert_eq!(make("", None).rows, Rows::All);
        assert_eq!(make("x > 1 || isnan(y)", None).rows, Rows::These(vec![0, 1, 2]));
        assert_eq!(make("", Some((0, false))).rows, Rows::These(vec![4, 1, 2, 0, 3]), "NaN last");
        assert_eq!(make("", Some((0, true))).rows, Rows::These(vec![0, 2, 1, 4, 3]));
        let told = make("z > 1", None);
        assert_eq!((told.rows, told.problem.is_some()), (Rows::All, true));
        let counted = make("", None).histogram;
        assert_eq!((counted.range, counted.bars.iter().sum::<u64>()), ([0.0, 3.0], 4));
        assert_eq!([counted.bars[0], counted.bars[BARS - 1]], [1, 1]);
        let rows = make("x >= 2", Some((0, true))).rows;
        assert_eq!(csv(&content, &rows), "index,x,y\n0,3,0\n2,2,5\n");
        assert_eq!((rows.row(2), rows.row(4)), (Some(1), None));
    }

    #[test]
    fn many_elements_are_sorted_as_the_standard_library_does() {
        let count = 3 * RUN as u32 + 17;
        let keys: Vec<f64> = (0..count)
            .map(|of| match of.wrapping_mul(2_654_435_761) >> 16 {
                of if of % 97 == 0 => f64::NAN,
                of => f64::from(of % 5000),
            })
            .collect();
        for down in [false, true] {
            let mut sorted: Vec<u32> = (0..count).collect();
            let key = |of: u32| Number::Float(keys[of as usize]);
            sort_by(&mut sorted, key, down, &|| Ok(())).unwrap();
            let mut expected: Vec<u32> = (0..count).collect();
            // Of equal ones the earlier first, and NaN behind all: the standard library's total order has both.
            expected.sort_by(|a, b| {
                let [a, b] = [a, b].map(|of| keys[*of as usize]);
                if down && !a.is_nan() && !b.is_nan() { b.total_cmp(&a) } else { a.total_cmp(&b) }
            });
            assert!(sorted == expected, "down: {down}");
        }
    }

    fn csv(content: &Content, rows: &Rows) -> String {
        let mut bytes = Vec::new();
        content.write_csv(rows, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn great_and_small_numbers_have_exponents() {
        let content = content(&[[1e-30, -2.5e20], [-0.0, 0.25], [f32::INFINITY, f32::NAN]]);
        let text = csv(&content, &Rows::All);
        let numbers: Vec<Vec<f32>> = text
            .lines()
            .skip(1)
            .map(|line| line.split(',').skip(1).map(|text| text.parse().unwrap()).collect())
            .collect();
        assert_eq!(numbers[0], [1e-30, -2.5e20], "{text}");
        assert_eq!(
            (numbers[1][1], numbers[2][0], numbers[2][1].is_nan()),
            (0.25, f32::INFINITY, true)
        );
        assert!(text.lines().all(|line| line.len() < 60), "{text}");
    }

    #[test]
    fn a_histogram_may_reach_from_end_to_end() {
        let content = content(&[[-f32::MAX, 0.0], [0.0, 0.0], [f32::MAX, 0.0]]);
        let wide = histogram(&content, &Rows::All, 0, &|| Ok(())).unwrap();
        let filled: Vec<usize> = (0..BARS).filter(|bar| wide.bars[*bar] == 1).collect();
        assert_eq!(filled, [0, BARS / 2, BARS - 1]);
    }

    #[test]
    fn integers_have_all_their_digits() {
        let text = "/*---\n[array.h]\ntype = \"unsigned long long\"\ncount = 2\n---*/";
        let scene = Scene::parse("t.cu", text, &Overrides::default()).unwrap();
        let resource = scene.manifest.resources()[0].clone();
        let bytes = [u64::MAX, u64::MAX - 1].map(u64::to_le_bytes).concat();
        let of = resource.of();
        let content = Content::new(resource, of, (0, 0), bytes);
        let expected = "index,h\n0,18446744073709551615\n1,18446744073709551614\n";
        assert_eq!(csv(&content, &Rows::All), expected);
        let wish = Wish { sort: Some((0, false)), ..Wish::default() };
        let sorted = Table::make(content.clone(), wish, &|| Ok(())).unwrap();
        assert_eq!(sorted.rows, Rows::These(vec![1, 0]), "as doubles they are the same");
        let wish = Wish { filter: "h == 18446744073709551614".into(), ..Wish::default() };
        let chosen = Table::make(content, wish, &|| Ok(())).unwrap();
        assert_eq!((chosen.rows, chosen.problem), (Rows::These(vec![1]), None));
    }

    #[test]
    fn what_takes_too_long_is_all_of_it_and_what_nobody_wants_is_nothing() {
        let content = content(&[[3.0, 0.0], [1.0, 2.0]]);
        let wish = Wish { filter: "x > 2".into(), ..Wish::default() };
        let late = Table::make(content.clone(), wish.clone(), &|| Err(Halt::Late)).unwrap();
        assert_eq!((late.rows, late.problem.is_some()), (Rows::All, true));
        let all = Table::make(content.clone(), Wish::default(), &|| Err(Halt::Late)).unwrap();
        assert!(all.problem.is_some_and(|told| told.contains("how often")));
        assert!(Table::make(content, wish, &|| Err(Halt::Unwanted)).is_none());
    }

    #[test]
    fn pages_have_all_rows_once() {
        let count = PAGE as u32 * 2 + 5;
        let content = content(&[[0.0; 2]]);
        let rows = Rows::These((0..count).collect());
        let pages: Vec<_> = (0..rows.pages(&content)).map(|of| rows.page(&content, of)).collect();
        assert_eq!(pages, [0..PAGE, PAGE..2 * PAGE, 2 * PAGE..2 * PAGE + 5]);
        assert_eq!(Rows::These(Vec::new()).pages(&content), 1);
    }
}
