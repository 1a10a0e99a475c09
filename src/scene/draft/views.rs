//! What of a drafted scene can be seen.

use super::Array;
use crate::{
    cuda::Structures,
    element::{Element, Scalar},
};

/// Fields of a structure that are looked at.
const MOST_FIELDS: usize = 64;
/// A line goes through at most so many values.
const MOST_VALUES: u64 = 1 << 20;

/// The table that shows something of the arrays: points in space, else a picture, else a line; `None` where there is
/// nothing that can be shown.
pub(super) fn view(arrays: &[Array], structures: &Structures) -> Option<String> {
    points(arrays, structures).or_else(|| image(arrays)).or_else(|| line(arrays))
}

fn points(arrays: &[Array], structures: &Structures) -> Option<String> {
    let vectors = arrays.iter().find(|array| is_place(&array.element)).map(|a| quoted(&a.name));
    let fields = || arrays.iter().find_map(|array| of_fields(array, structures));
    let position = vectors.or_else(fields).or_else(|| of_axes(arrays))?;
    Some(format!("[view]\nkind     = \"points\"\nposition = {position}\n"))
}

/// Whether vectors of this type are places.
fn is_place(element: &str) -> bool {
    matches!(element, "float2" | "float3" | "float4")
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
fn of_axes(arrays: &[Array]) -> Option<String> {
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

/// Between which numbers those may lie that the host fills an array with: places around the middle, others from 0 on.
/// Integers may be indices, of which only 0 is safe.
pub(super) fn some_numbers(element: &str, structures: &Structures) -> Option<[i32; 2]> {
    match Element::parse(element) {
        Some(_) if is_place(element) => Some([-1, 1]),
        Some(element) => element.scalar.is_float().then_some([0, 1]),
        None => {
            let fields = structures.fields(element, MOST_FIELDS)?;
            fields.iter().all(|field| field.element.scalar.is_float()).then_some([-1, 1])
        }
    }
}

/// The last array that lies in rows, rather one that the host does not fill.
fn image(arrays: &[Array]) -> Option<String> {
    let is_seen = |array: &&Array| array.rows.is_some() && is_texel(&array.element);
    let found = last(arrays, is_seen)?;
    let [width, height] = found.rows?;
    let name = quoted(&found.name);
    Some(format!(
        "[view]\nkind     = \"image\"\ntexture  = {name}\nsize     = [{width}, {height}]\ncolormap = \"viridis\"\n"
    ))
}

/// A line through the last array of numbers.
fn line(arrays: &[Array]) -> Option<String> {
    let is_shown = |array: &&Array| {
        let is_number = Element::parse(&array.element).is_some_and(|element| element.lanes == 1);
        is_number && array.count.is_none_or(|count| count <= MOST_VALUES)
    };
    let name = &last(arrays, is_shown)?.name;
    Some(format!("[[plot]]\nname = \"values\"\nkind = \"line\"\nof   = {}\n", quoted(name)))
}

/// The last of those that are meant; what the host fills only where all are such.
fn last(arrays: &[Array], is_meant: impl Fn(&&Array) -> bool) -> Option<&Array> {
    let meant = || arrays.iter().filter(&is_meant);
    meant().rfind(|array| !array.filled).or_else(|| meant().next_back())
}

/// Whether OpenGL draws such elements.
fn is_texel(element: &str) -> bool {
    use Scalar::{F16, F32, I32, U8, U32};
    Element::parse(element)
        .is_some_and(|element| matches!(element.scalar, F16 | F32 | I32 | U8 | U32))
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn list(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.map(|name| quoted(&name)).collect();
    format!("[{}]", names.join(", "))
}
