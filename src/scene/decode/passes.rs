//! `[[pass]]`.

use toml::{Spanned, de::DeValue};

use super::{fields::Fields, suggestion};
use crate::scene::{Manifest, Pass, Repeat, Shape, Value, When};

/// Most threads that a block can have in x, y and z on any device.
const MOST_THREADS: [i64; 3] = [1024, 1024, 64];
/// Most threads of a block altogether.
const MOST_IN_BLOCK: u64 = 1024;
/// Most blocks that a grid can have in x, y and z.
const MOST_BLOCKS: [i64; 3] = [i32::MAX as i64, 65535, 65535];
/// Most threads that `over` can ask for in x, y and z.
const MOST_OVER: [i64; 3] = [1 << 40, MOST_BLOCKS[1], MOST_BLOCKS[2]];
/// Most dynamic shared memory that a block can have on any device.
const MOST_SHARED_BYTES: i64 = 227 * 1024;
/// Launches in a row that are surely meant.
const MOST_REPEATS: i64 = 1_000_000;

const WHEN: &[(&str, When)] = &[("reset", When::Reset), ("step", When::Step)];

/// Reads them in the file's order.
pub(super) fn decode(fields: &mut Fields<'_, '_, '_>, manifest: &mut Manifest) {
    for mut table in fields.array_of_tables("pass") {
        table.require("kernel", "\"advance\"");
        let at = table.report.position(&table.span_of("kernel"));
        let pass = Pass {
            kernel: table.text("kernel").unwrap_or_default().split_whitespace().collect(),
            on: table.named("on", WHEN).unwrap_or(When::Step),
            shape: shape(&mut table, manifest),
            shared_bytes: table.integer("shared", 0, MOST_SHARED_BYTES).unwrap_or(0) as u32,
            repeat: repeat(&mut table, manifest),
            bytes: table.positive("bytes"),
            flops: table.positive("flops"),
            only_if: only_if(&mut table, manifest),
            at,
        };
        table.finish();
        manifest.passes.push(pass);
    }
}

fn shape(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Shape {
    let block = axes(table, "block", MOST_THREADS);
    if let Some(block) = block
        && block.into_iter().product::<u64>() > MOST_IN_BLOCK
    {
        let [x, y, z] = block;
        let text = format!("a block of {x} x {y} x {z} has more than {MOST_IN_BLOCK} threads");
        table.complain_about("block", text);
    }
    let grid = axes(table, "grid", MOST_BLOCKS);
    let extent = over(table, manifest);
    match (table.has("over"), table.has("grid"), table.has("block")) {
        (true, true, _) => table.complain_about("grid", "a pass has `over` or `grid`, not both"),
        (false, false, _) => {
            table.complain("needs `over`, such as `over = \"position\"`, or `grid` and `block`");
        }
        (false, true, false) => table.complain_about("grid", "`grid` needs `block` beside it"),
        _ => {}
    }
    // Within their limits, which are far below 2^32.
    let narrow = |axes: [u64; 3]| axes.map(|axis| axis as u32);
    let block = block.map(narrow);
    match grid {
        Some(grid) => Shape::Explicit { grid: narrow(grid), block: block.unwrap_or([1; 3]) },
        None => Shape::Over { extent: extent.unwrap_or([1; 3]), block },
    }
}

/// One to three sizes: a number, or an array of them.
fn axes(table: &mut Fields<'_, '_, '_>, key: &'static str, most: [i64; 3]) -> Option<[u64; 3]> {
    let value = table.take(key)?;
    let single = std::slice::from_ref(value);
    let list: &[Spanned<DeValue<'_>>] = value.get_ref().as_array().map_or(single, |array| array);
    if list.is_empty() || list.len() > 3 {
        table.complain_about(key, format!("`{key}` must be one to three numbers"));
        return None;
    }
    let mut axes = [1; 3];
    for (axis, value) in list.iter().enumerate() {
        axes[axis] = table.integer_in(key, value, 1, most[axis])?.unsigned_abs();
    }
    Some(axes)
}

/// Threads needed: those of a resource, or as many as numbers and expressions say.
fn over(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<[u64; 3]> {
    let value = table.take("over")?;
    if let Some(name) = value.get_ref().as_str()
        && is_name(name)
        && !table.constants.iter().any(|c| c.name == name)
    {
        let found = manifest.find_resource(name).map(|id| manifest.resource(id).extent());
        if found.is_none() {
            let constants = table.constants.iter().map(|c| c.name.as_str());
            let names = manifest.resources.iter().map(|r| r.name.as_str()).chain(constants);
            let hint = suggestion(name, names);
            table.complain_about("over", format!("there is no resource `{name}`{hint}"));
        }
        return found;
    }
    axes(table, "over", MOST_OVER)
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

fn repeat(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Repeat {
    if let Some(name) = table.take("repeat").and_then(|value| value.get_ref().as_str())
        && let Some(index) = manifest.find_parameter(name)
    {
        if !matches!(manifest.parameters[index].default, Value::Int(_)) {
            let kind = manifest.parameters[index].default.kind();
            let text = format!("`repeat` needs an int parameter, but `{name}` is of kind {kind}");
            table.complain_about("repeat", text);
        }
        return Repeat::Parameter(index);
    }
    let times = table.integer("repeat", 1, MOST_REPEATS);
    Repeat::Times(times.map_or(1, |times| times as u32))
}

fn only_if(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<usize> {
    let name = table.text("only_if")?;
    let Some(index) = manifest.find_parameter(&name) else {
        let hint = suggestion(&name, manifest.parameters.iter().map(|p| p.name.as_str()));
        table.complain_about("only_if", format!("there is no parameter `{name}`{hint}"));
        return None;
    };
    let parameter = &manifest.parameters[index];
    if !matches!(parameter.default, Value::Toggle(_) | Value::Int(_)) {
        let kind = parameter.default.kind();
        let text = format!("`only_if` needs a toggle or an int, but `{name}` is of kind {kind}");
        table.complain_about("only_if", text);
    }
    Some(index)
}
