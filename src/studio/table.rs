//! The elements of a resource as a table: which rows, in which order, and how a column's values are spread.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
    thread,
};

use super::{filter::Filter, workspace::Wake};
use crate::{
    element::{Part, Type},
    scene::Resource,
};

/// Bars of a histogram.
pub const BARS: usize = 64;

/// The content of a resource after a step.
#[derive(Clone, Debug)]
pub struct Content {
    /// What it is.
    pub resource: Resource,
    /// How its elements lie in memory.
    of: Type,
    /// The step.
    pub step: u64,
    bytes: Arc<[u8]>,
    columns: Vec<Column>,
    /// What they are called; the name of the resource where elements are numbers.
    pub names: Vec<String>,
}

/// A number of each element.
#[derive(Clone, Debug)]
struct Column {
    part: Part,
    number: usize,
}

/// So many columns are shown.
const MOST_COLUMNS: usize = 64;

impl Content {
    /// That of `resource`, whose elements are of the type `of`.
    pub fn new(resource: Resource, of: Type, step: u64, bytes: Vec<u8>) -> Self {
        let parts = of.parts();
        let columns = parts.iter().flat_map(|part| {
            (0..part.numbers()).map(|number| Column { part: part.clone(), number })
        });
        let columns: Vec<Column> = columns.take(MOST_COLUMNS).collect();
        let names = columns.iter().map(|column| match column.part.number_name(column.number) {
            name if name.is_empty() => resource.name.clone(),
            name => name,
        });
        let names = names.collect();
        Self { resource, of, step, bytes: bytes.into(), columns, names }
    }

    /// How many elements it has.
    pub fn count(&self) -> u64 {
        (self.bytes.len() / self.of.bytes().max(1)) as u64
    }

    /// The number of an element in a column; NaN where there is none.
    pub fn value(&self, element: u64, column: usize) -> f64 {
        let size = self.of.bytes().max(1);
        let at = element as usize * size;
        let bytes = self.bytes.get(at..at + size);
        let number = self.columns.get(column).zip(bytes);
        number.and_then(|(of, bytes)| of.part.number(bytes, of.number)).unwrap_or(f64::NAN)
    }

    /// Its bytes, for a file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// These elements as text with commas, the names of the columns first.
    pub fn to_csv(&self, rows: &Rows) -> String {
        let mut text = format!("index,{}\n", self.names.join(","));
        for row in 0..rows.count(self) {
            let element = rows.element(row);
            _ = write!(text, "{element}");
            for column in 0..self.columns.len() {
                _ = write!(text, ",{}", self.value(element, column));
            }
            text.push('\n');
        }
        text
    }
}

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

/// Which elements are shown, in which order.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Rows {
    /// All, as they lie in memory.
    #[default]
    All,
    /// These.
    These(Vec<u64>),
}

impl Rows {
    /// How many there are.
    pub fn count(&self, content: &Content) -> u64 {
        match self {
            Self::All => content.count(),
            Self::These(elements) => elements.len() as u64,
        }
    }

    /// The element in a row.
    pub fn element(&self, row: u64) -> u64 {
        match self {
            Self::All => row,
            Self::These(elements) => elements.get(row as usize).copied().unwrap_or(0),
        }
    }

    /// The row of an element.
    pub fn row(&self, element: u64) -> Option<u64> {
        match self {
            Self::All => Some(element),
            Self::These(elements) => {
                elements.iter().position(|of| *of == element).map(|row| row as u64)
            }
        }
    }
}

/// How the values of a column are spread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// The least and the greatest finite value.
    pub range: [f64; 2],
    /// How many are in each of equal parts of it.
    pub bars: Vec<u64>,
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

impl Table {
    /// Filters, sorts and counts, in a time in proportion to the elements.
    pub fn make(content: Content, wish: Wish) -> Self {
        let filter = match wish.filter.trim() {
            "" => Ok(None),
            text => Filter::parse(text, &content.names).map(Some),
        };
        let (filter, problem) = match filter {
            Ok(filter) => (filter, None),
            Err(problem) => (None, Some(problem)),
        };
        let rows = chosen(&content, filter.as_ref(), wish.sort);
        let histogram = histogram(&content, &rows, wish.column);
        Self { content, wish, rows, histogram, problem }
    }
}

fn chosen(content: &Content, filter: Option<&Filter>, sort: Option<(usize, bool)>) -> Rows {
    if filter.is_none() && sort.is_none() {
        return Rows::All;
    }
    let fits = |element: &u64| {
        filter.is_none_or(|filter| {
            filter.chooses(*element, &|column| content.value(*element, column))
        })
    };
    let mut elements: Vec<u64> = (0..content.count()).filter(fits).collect();
    if let Some((column, down)) = sort {
        // NaN comes last, whichever way.
        let key = |element: &u64| content.value(*element, column);
        elements.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            let order = a.partial_cmp(&b).map(|order| if down { order.reverse() } else { order });
            order.unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        });
    }
    Rows::These(elements)
}

fn histogram(content: &Content, rows: &Rows, column: usize) -> Histogram {
    let values = || {
        let of = (0..rows.count(content)).map(|row| content.value(rows.element(row), column));
        of.filter(|value| value.is_finite())
    };
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return Histogram::default();
    }
    let width = (high - low).max(f64::MIN_POSITIVE);
    let mut bars = vec![0; BARS];
    for value in values() {
        let at = ((value - low) / width * BARS as f64) as usize;
        bars[at.min(BARS - 1)] += 1;
    }
    Histogram { range: [low, high], bars }
}

/// Makes tables on a thread, the newest that is wanted.
#[derive(Default)]
pub struct Tables {
    /// The last one that was made.
    pub present: Option<Table>,
    making: Option<Receiver<Table>>,
    next: Option<(Content, Wish)>,
}

impl Tables {
    /// Makes one, after the one that is being made.
    pub fn make(&mut self, content: Content, wish: Wish, wake: &Wake) {
        self.next = Some((content, wish));
        self.go_on(wake);
    }

    /// Whether one is being made.
    pub fn is_making(&self) -> bool {
        self.making.is_some()
    }

    /// Takes what has been made; gives whether there is something new.
    pub fn take(&mut self, wake: &Wake) -> bool {
        let made = self.making.as_ref().and_then(|making| making.try_recv().ok());
        let is_new = made.is_some();
        if is_new {
            self.present = made;
            self.making = None;
            self.go_on(wake);
        }
        is_new
    }

    fn go_on(&mut self, wake: &Wake) {
        if self.making.is_some() {
            return;
        }
        let Some((content, wish)) = self.next.take() else { return };
        let (sender, receiver) = mpsc::channel();
        let wake = wake.clone();
        let begun = thread::Builder::new().name("table".into()).spawn(move || {
            // The window may be gone.
            let _ = sender.send(Table::make(content, wish));
            wake();
        });
        self.making = begun.is_ok().then_some(receiver);
    }

    /// Those of which this one is there already.
    #[cfg(test)]
    pub fn with(table: Table) -> Self {
        Self { present: Some(table), ..Self::default() }
    }

    /// Forgets them: another scene is open.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::scene::{Overrides, Scene};

    /// Elements `(x, y)` of a buffer of `float2`.
    pub fn content(elements: &[[f32; 2]]) -> Content {
        let text =
            format!("/*---\n[array.a]\ntype = \"float2\"\ncount = {}\n---*/", elements.len());
        let scene = Scene::parse("t.cu", &text, &Overrides::default()).unwrap();
        let resource = scene.manifest.resources()[0].clone();
        let bytes =
            elements.as_flattened().iter().flat_map(|number| number.to_le_bytes()).collect();
        let of = resource.of();
        Content::new(resource, of, 3, bytes)
    }

    #[test]
    fn elements_are_filtered_sorted_and_counted() {
        let nan = f32::NAN;
        let content = content(&[[3.0, 0.0], [1.0, nan], [2.0, 5.0], [nan, 1.0], [0.0, 9.0]]);
        assert_eq!(content.names, ["x", "y"]);
        let make = |filter: &str, sort| {
            Table::make(content.clone(), Wish { filter: filter.into(), sort, column: 0 })
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
        assert_eq!(content.to_csv(&rows), "index,x,y\n0,3,0\n2,2,5\n");
        assert_eq!((rows.row(2), rows.row(4)), (Some(1), None));
    }
}
