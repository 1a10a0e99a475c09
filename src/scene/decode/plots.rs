//! `[[plot]]`.

use toml::de::DeValue;

use super::{checks::measured, fields::Fields, selection, views::size_of_rows};
use crate::scene::{Along, Manifest, Measured, Plot, PlotKind, Resource, Texels};

/// Plots that a scene can have: each is computed whenever statistics are taken.
const MOST_PLOTS: usize = 32;
/// Lines of a plot: more are not told apart.
const MOST_LINES: usize = 8;
/// Ranges of a histogram: a block of threads counts them in its shared memory.
const MOST_BINS: i64 = 4096;
const DEFAULT_BINS: u32 = 64;
/// Values of a line: they are copied to the host.
const MOST_VALUES: u64 = 1 << 20;
/// The longest text that stands beside a plot.
const LONGEST_TEXT: usize = 200;

#[derive(Clone, Copy)]
enum Kind {
    Time,
    Histogram,
    Line,
}

const KINDS: &[(&str, Kind)] =
    &[("time", Kind::Time), ("histogram", Kind::Histogram), ("line", Kind::Line)];

/// Reads them, in the file's order.
pub(super) fn decode(fields: &mut Fields<'_, '_, '_>, manifest: &mut Manifest) {
    for (index, table) in fields.array_of_tables("plot").into_iter().enumerate() {
        if index == MOST_PLOTS {
            table.complain(&format!("is one too many: a scene can have {MOST_PLOTS} plots"));
            break;
        }
        let plot = plot(table, manifest);
        manifest.plots.extend(plot);
    }
}

fn plot(mut table: Fields<'_, '_, '_>, manifest: &Manifest) -> Option<Plot> {
    for (key, example) in
        [("name", "\"energy\""), ("kind", "\"time\""), ("of", "\"position.x.max\"")]
    {
        table.require(key, example);
    }
    let name = table.label("name");
    if let Some(name) = &name
        && manifest.plots.iter().any(|other| other.name == *name)
    {
        table.complain_about("name", format!("there is another plot `{name}` already"));
    }
    let title = text(&mut table, "title");
    let unit = text(&mut table, "unit").unwrap_or_default();
    let log = table.boolean("log").unwrap_or(false);
    // Without its kind nothing is known about the other keys.
    let kind = match table.named("kind", KINDS)? {
        Kind::Time => time(&mut table, manifest),
        Kind::Histogram => histogram(&mut table, manifest),
        Kind::Line => line(&mut table, manifest),
    };
    let at = table.at();
    table.finish();
    let name = name?;
    Some(Plot { title: title.unwrap_or_else(|| name.clone()), name, kind: kind?, log, unit, at })
}

/// A text that stands beside the plot, in files and in the window.
fn text(table: &mut Fields<'_, '_, '_>, key: &'static str) -> Option<String> {
    let text = table.text(key)?;
    if text.chars().any(char::is_control) || text.chars().count() > LONGEST_TEXT {
        let rule = format!("at most {LONGEST_TEXT} letters, and no control characters");
        table.complain_about(key, format!("`{key}` must have {rule}"));
    }
    Some(text)
}

/// Statistics over the steps: the one that `of` names, or several.
fn time(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<PlotKind> {
    let value = table.take("of")?;
    let names = match value.get_ref() {
        DeValue::Array(names) => names.iter().collect(),
        _ => vec![value],
    };
    if names.is_empty() || names.len() > MOST_LINES {
        table.complain_about("of", format!("`of` must name 1 to {MOST_LINES} statistics"));
        return None;
    }
    let found = names.into_iter().map(|name| {
        let Some(text) = name.get_ref().as_str() else {
            table
                .report
                .error(name.span(), "`of` must name statistics, such as \"position.x.max\"");
            return None;
        };
        let found =
            measured(text, manifest).map_err(|problem| table.report.error(name.span(), problem));
        found.ok().map(|measured| (text.to_owned(), measured))
    });
    let of = found.collect::<Vec<Option<(String, Measured)>>>();
    Some(PlotKind::Time { of: of.into_iter().collect::<Option<_>>()? })
}

fn histogram(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<PlotKind> {
    let of = selection::read(table, "of", manifest);
    let bins = table.integer("bins", 1, MOST_BINS).map_or(DEFAULT_BINS, |bins| bins as u32);
    let range = table.floats("range", &[2]).map(|range| [range[0], range[1]]);
    if let Some([low, high]) = range
        && low >= high
    {
        let text = format!("`range` starts at {low}, not below its end {high}");
        table.complain_about("range", text);
    }
    Some(PlotKind::Histogram { of: of?, bins, range })
}

fn line(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<PlotKind> {
    let of = selection::read(table, "of", manifest);
    table.know(&["row", "column", "size"]);
    let of = of?;
    let resource = manifest.resource(of.of);
    let along = match resource.texture() {
        Some(texture) => of_texture(table, &resource.name, texture)?,
        None => of_elements(table, resource)?,
    };
    Some(PlotKind::Line { of, along })
}

/// A row, or a column.
enum Cut {
    Row(u32),
    Column(u32),
}

/// The one of both that a table names, of so many columns and rows; `None` where that is wrong.
fn cut(table: &mut Fields<'_, '_, '_>, name: &str, [width, height]: [u32; 2]) -> Option<Cut> {
    let number = |table: &mut Fields<'_, '_, '_>, key, sides: u32| {
        table.integer(key, 0, i64::from(sides) - 1).map(|number| number as u32)
    };
    match (table.has("row"), table.has("column")) {
        (true, false) => number(table, "row", height).map(Cut::Row),
        (false, true) => number(table, "column", width).map(Cut::Column),
        (true, true) | (false, false) => {
            table.complain(&format!("needs `row` or `column` of `{name}`"));
            None
        }
    }
}

fn of_texture(table: &mut Fields<'_, '_, '_>, name: &str, texture: &Texels) -> Option<Along> {
    if table.has("size") {
        let text =
            format!("the texture `{name}` has a size of its own: `size` is for buffers and arrays");
        table.complain_about("size", text);
    }
    if texture.dimensions != 2 {
        let text = format!("a line is of a 2-D texture, and `{name}` is {}-D", texture.dimensions);
        table.complain_about("of", text);
        return None;
    }
    let [width, height, _] = texture.size;
    Some(match cut(table, name, [width, height])? {
        Cut::Row(row) => Along::Row(row),
        Cut::Column(column) => Along::Column(column),
    })
}

/// Through all elements, or through a row or a column of those that lie in rows.
fn of_elements(table: &mut Fields<'_, '_, '_>, resource: &Resource) -> Option<Along> {
    if ["row", "column", "size"].iter().any(|key| table.has(key)) {
        let [width, height] = size_of_rows(table, "of", resource)?;
        let [columns, rows] = [width, height].map(u64::from);
        return Some(match cut(table, &resource.name, [width, height])? {
            Cut::Row(row) => {
                Along::Elements { first: u64::from(row) * columns, step: 1, count: columns }
            }
            Cut::Column(column) => {
                Along::Elements { first: column.into(), step: columns, count: rows }
            }
        });
    }
    let (name, count) = (&resource.name, resource.count());
    if count > MOST_VALUES {
        let text = format!("`{name}` has {count} elements, and a line at most {MOST_VALUES}");
        table.complain_about("of", text);
    }
    Some(Along::Elements { first: 0, step: 1, count })
}
