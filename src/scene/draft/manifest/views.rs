//! What of a drafted scene can be seen.

use super::{
    FILL_IN, SOME,
    arrays::Array,
    elements::{is_place, is_texel},
};
use crate::{
    cuda::Structures,
    element::{Element, Scalar},
    scene::draft::{code::members::MOST_FIELDS, fills::sides::Rows},
};

/// A picture is at most so many times as long as it is wide.
const LONGEST_STRIP: u64 = 64;
/// A line goes through at most so many values.
const MOST_VALUES: u64 = 1 << 20;

/// The tables that show something of the arrays: points in space or a picture, and a line; `None` where there is
/// nothing that can be shown.
pub(in crate::scene::draft) fn view(arrays: &[Array], structures: &Structures) -> Option<String> {
    let drawn = points(arrays, structures).or_else(|| image(arrays));
    let is_result = |array: &&Array| {
        is_number(array) && array.filled.is_none() && array.rows.is_none() && !is_one(array)
    };
    match drawn {
        // What is computed from what is seen is seen beside it.
        Some(view) => Some(match largest(arrays, is_result).filter(|_| !view.contains("points")) {
            Some(array) => format!("{view}\n{}", plot(array, &array.name)),
            None => view,
        }),
        None => {
            let is_plain = |array: &&Array| plotted(array, structures).is_some();
            let array = largest(arrays, is_plain)?;
            Some(plot(array, &plotted(array, structures)?))
        }
    }
}

fn points(arrays: &[Array], structures: &Structures) -> Option<String> {
    let is_loose = |array: &&Array| array.rows.is_none() && !is_one(array);
    let loose = || arrays.iter().filter(is_loose);
    let vectors = loose().find(|array| array.is_place()).map(|array| quoted(&array.name));
    let fields = || arrays.iter().find_map(|array| of_fields(array, structures));
    let position = vectors.or_else(fields).or_else(|| of_axes(&loose().collect::<Vec<_>>()))?;
    Some(format!("[view]\nkind     = \"points\"\nposition = {position}\n"))
}

/// The places of structures: a field that is a vector, or fields x, y and perhaps z.
fn of_fields(array: &Array, structures: &Structures) -> Option<String> {
    let fields = structures.fields(&array.element, MOST_FIELDS)?;
    let path = |path: &str| format!("{}.{path}", array.name);
    if let Some(field) = fields.iter().find(|field| is_place(&field.element.to_string())) {
        return Some(quoted(&path(&field.path)));
    }
    let float = Element::scalar(Scalar::F32);
    let floats = fields.iter().filter(|field| field.element == float);
    let names: Vec<&str> = floats.map(|field| field.path.as_str()).collect();
    axes_of(&names).map(|axes| list(axes.iter().map(|axis| path(axis))))
}

/// The places of several arrays, one for each axis.
fn of_axes(arrays: &[&Array]) -> Option<String> {
    let floats = arrays.iter().filter(|array| array.element == "float");
    let names: Vec<&str> = floats.map(|array| array.name.as_str()).collect();
    let axes = axes_of(&names)?;
    let count = |name: &str| arrays.iter().find(|array| array.name == name).and_then(|a| a.count);
    axes.iter()
        .all(|axis| count(axis) == count(axes[0]))
        .then(|| list(axes.iter().map(|axis| (*axis).to_owned())))
}

/// Those names that differ in an x, a y and perhaps a z: at their beginning, their end, or next to a `_`.
fn axes_of<'n>(names: &[&'n str]) -> Option<Vec<&'n str>> {
    let known = |name: &str| names.iter().copied().find(|known| *known == name);
    names.iter().find_map(|name| {
        name.match_indices(['x', 'X']).find_map(|(at, letter)| {
            let (before, behind) = (&name[..at], &name[at + 1..]);
            let is_apart = |rest: &str| rest.is_empty() || rest == "s";
            let stands_alone =
                before.is_empty() || before.ends_with(['_', '.']) || is_apart(behind);
            let other = |axis: [&str; 2]| {
                known(&format!("{before}{}{behind}", axis[usize::from(letter == "X")]))
            };
            let y = other(["y", "Y"]).filter(|_| stands_alone)?;
            Some([Some(*name), Some(y), other(["z", "Z"])].into_iter().flatten().collect())
        })
    })
}

/// The last array that lies in rows, rather one that the host does not fill.
fn image(arrays: &[Array]) -> Option<String> {
    let is_meant = |array: &&Array| {
        is_texel(&array.element) && array.rows.is_some_and(|rows| !is_strip(rows.sides))
    };
    let meant = || arrays.iter().filter(is_meant);
    let found = meant().rfind(|array| array.filled.is_none()).or_else(|| meant().next_back())?;
    let Rows { sides: [width, height], is_sure } = found.rows?;
    let name = quoted(&found.name);
    let mark = if is_sure { String::new() } else { format!(" # {FILL_IN}") };
    Some(format!(
        "[view]\nkind     = \"image\"\ntexture  = {name}\nsize     = [{width}, {height}]{mark}\ncolormap = \"viridis\"\n"
    ))
}

/// Whether a picture of these sides would be a line.
fn is_strip([width, height]: [u64; 2]) -> bool {
    width.max(height) > LONGEST_STRIP * width.min(height)
}

/// What a line goes through of an array: numbers, or those of structures that the last field has which is no whole
/// number, as what is computed mostly is; else the last one.
fn plotted(array: &Array, structures: &Structures) -> Option<String> {
    if is_number(&array) {
        return Some(array.name.clone());
    }
    let fields = structures.fields(&array.element, MOST_FIELDS)?;
    let numbers = || fields.iter().filter(|field| field.element.lanes == 1 && !field.is_array);
    let field = numbers()
        .rfind(|field| field.element.scalar.is_float())
        .or_else(|| numbers().next_back())?;
    Some(format!("{}.{}", array.name, field.path))
}

/// Numbers side by side: of an array in rows the middle one, of one that is too large how often they lie where.
fn plot(array: &Array, of: &str) -> String {
    let name = quoted(of);
    let (kind, more) = match array.rows {
        Some(Rows { sides: [width, height], is_sure: true }) => {
            ("line", format!("size = [{width}, {height}]\nrow  = {}\n", height / 2))
        }
        // Of what has no size every thread has an element.
        _ if array.count.unwrap_or(array.threads) > MOST_VALUES => ("histogram", String::new()),
        _ => ("line", String::new()),
    };
    format!("[[plot]]\nname = \"values\"\nkind = \"{kind}\"\nof   = {name}\n{more}")
}

/// The array with the most elements, the last of them; what the host fills only where all are such, and what has one
/// element only where nothing has more.
fn largest(arrays: &[Array], is_meant: impl Fn(&&Array) -> bool) -> Option<&Array> {
    let size =
        |array: &&Array| (!is_one(array), array.filled.is_none(), array.count.unwrap_or(SOME));
    arrays.iter().filter(is_meant).max_by_key(size)
}

/// Whether its elements are numbers, and no vectors.
fn is_number(array: &&Array) -> bool {
    Element::parse(&array.element).is_some_and(|element| element.lanes == 1)
}

fn is_one(array: &Array) -> bool {
    array.count == Some(1)
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn list(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.map(|name| quoted(&name)).collect();
    format!("[{}]", names.join(", "))
}
