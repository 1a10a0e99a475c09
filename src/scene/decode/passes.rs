//! `[[pass]]`, and groups of them: `[[pass.pass]]`.

use toml::{Spanned, de::DeValue};

use super::{
    arguments,
    fields::Fields,
    formulas::{self, Names},
    is_identifier, suggestion,
};
use crate::{
    cuda::lexer::joined,
    scene::{
        Entry, Formula, Half, Manifest, Number, Pass, Repeat, Shape, Until, What, When,
        expression::Kind, meaning::meaning,
    },
};

/// Most threads of a block altogether.
pub(in crate::scene) const MOST_IN_BLOCK: i64 = 1024;
/// Most dynamic shared memory that a block can have on any device.
pub(in crate::scene) const MOST_SHARED_BYTES: i64 = 227 * 1024;
/// Launches in a row that are surely meant.
const MOST_REPEATS: i64 = 1_000_000;
/// Groups within groups.
const DEEPEST: usize = 8;

const WHEN: &[(&str, When)] = &[("reset", When::Reset), ("step", When::Step)];

/// Reads them in the file's order.
pub(super) fn decode(fields: &mut Fields<'_, '_, '_>, manifest: &mut Manifest) {
    let entries = entries(fields, manifest, &Outer { counters: &[], on: None, depth: 0 });
    manifest.entries = entries;
}

/// What is known of the groups around an entry.
struct Outer<'a> {
    /// The names of the loops' rounds.
    counters: &'a [String],
    /// When the group runs.
    on: Option<When>,
    depth: usize,
}

fn entries(
    fields: &mut Fields<'_, '_, '_>,
    manifest: &mut Manifest,
    outer: &Outer<'_>,
) -> Vec<Entry> {
    let tables = fields.array_of_tables("pass");
    tables.into_iter().map(|table| entry(table, manifest, outer)).collect()
}

fn entry(mut table: Fields<'_, '_, '_>, manifest: &mut Manifest, outer: &Outer<'_>) -> Entry {
    let on = on(&mut table, outer);
    let only_if = only_if(&mut table, manifest, outer.counters);
    let repeat = repeat(&mut table, manifest, outer.counters);
    let mut counters = outer.counters.to_vec();
    if repeat.is_some() {
        counters.push(counter(&mut table, manifest, outer.counters).unwrap_or_default());
    } else if table.take("counter").is_some() {
        table.complain_about(
            "counter",
            "`counter` names the rounds of a `repeat`, which is missing",
        );
    }
    let at = table.at();
    let clear = clear(&mut table, manifest);
    let what = match (table.has("pass"), table.has("copy")) {
        (true, _) => {
            group(&mut table, manifest, &Outer { counters: &counters, on: Some(on), ..*outer })
        }
        (false, true) => copy(&mut table, manifest),
        (false, false) => What::Launch(pass(&mut table, manifest, on, &counters)),
    };
    let at = match &what {
        What::Launch(index) => manifest.passes.get(*index).map_or(at, |pass| pass.at),
        What::Group { .. } | What::Copy { .. } => at,
    };
    table.finish();
    Entry { on, only_if, repeat, clear, what, at }
}

fn on(table: &mut Fields<'_, '_, '_>, outer: &Outer<'_>) -> When {
    let found = table.named("on", WHEN);
    match outer.on {
        Some(_) if table.has("on") => {
            table.complain_about(
                "on",
                "passes of a group run when the group does: `on` stands there",
            );
            When::Step
        }
        Some(on) => on,
        None => found.unwrap_or(When::Step),
    }
}

fn group(table: &mut Fields<'_, '_, '_>, manifest: &mut Manifest, outer: &Outer<'_>) -> What {
    let name = table.line("name");
    for key in ["kernel", "copy"] {
        if table.has(key) {
            let text =
                format!("a group of passes has no {key} of its own: make it one of its passes");
            table.complain_about(key, text);
            table.know(&[key]);
        }
    }
    let inner = Outer { depth: outer.depth + 1, ..*outer };
    if inner.depth > DEEPEST {
        let text = format!("groups of passes lie at most {DEEPEST} deep in one another");
        table.complain_about("pass", text);
        table.know(&["pass"]);
        return What::Group { name, entries: Vec::new() };
    }
    What::Group { name, entries: entries(table, manifest, &inner) }
}

/// What is filled with zeros: a name, or a list of them.
fn clear(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Vec<Half> {
    let Some(value) = table.take("clear") else { return Vec::new() };
    let single = std::slice::from_ref(value);
    let list: &[Spanned<DeValue<'_>>] = value.get_ref().as_array().map_or(single, |array| array);
    list.iter().filter_map(|value| half(table, manifest, "clear", value)).collect()
}

fn half(
    table: &Fields<'_, '_, '_>,
    manifest: &Manifest,
    key: &str,
    value: &Spanned<DeValue<'_>>,
) -> Option<Half> {
    let found = match value.get_ref().as_str() {
        Some(name) => arguments::half(manifest, name).map_err(|text| format!("`{key}`: {text}")),
        None => Err(format!("`{key}` must be the name of a buffer or an array")),
    };
    found.map_err(|text| table.report.error(value.span(), text)).ok()
}

/// `copy = { from = "a", to = "b" }`; a group of nothing where it is wrong.
fn copy(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> What {
    let nothing = What::Group { name: None, entries: Vec::new() };
    let value = table.take("copy").map(Spanned::get_ref);
    let ends = value.and_then(DeValue::as_table).filter(|ends| ends.len() == 2);
    let Some((from, to)) = ends.and_then(|ends| Some((ends.get("from")?, ends.get("to")?))) else {
        table.complain_about("copy", "`copy` must be a table: copy = { from = \"a\", to = \"b\" }");
        return nothing;
    };
    let (from, to) = (half(table, manifest, "from", from), half(table, manifest, "to", to));
    let Some((from, to)) = from.zip(to) else { return nothing };
    let [source, target] = [from, to].map(|half| manifest.resource(half.resource));
    if from == to {
        table.complain_about("copy", format!("the {source} would be copied to itself"));
    } else if source.of() != target.of() || source.count() != target.count() {
        let text =
            format!("the {source} cannot be copied to the {target}, which is another type or size");
        table.complain_about("copy", text);
    }
    What::Copy { from, to }
}

/// Adds the pass to the manifest's, and gives its place there.
fn pass(
    table: &mut Fields<'_, '_, '_>,
    manifest: &mut Manifest,
    on: When,
    counters: &[String],
) -> usize {
    table.require("kernel", "\"advance\"");
    let at = table.report.position(&table.span_of("kernel"));
    let pass = Pass {
        kernel: joined(table.text("kernel").unwrap_or_default().split_whitespace()),
        on,
        shape: shape(table, manifest, counters),
        shared_bytes: shared_bytes(table, manifest, counters),
        given: arguments::decode(table, manifest, counters),
        lockstep: table.boolean("lockstep").unwrap_or_default(),
        guarded: table.named("guard", &[("on", true), ("off", false)]).unwrap_or(true),
        cooperative: table.boolean("cooperative").unwrap_or_default(),
        counters: counters.to_vec(),
        bytes: table.positive("bytes"),
        flops: table.positive("flops"),
        at,
    };
    manifest.passes.push(pass);
    manifest.passes.len() - 1
}

fn shape(table: &mut Fields<'_, '_, '_>, manifest: &Manifest, counters: &[String]) -> Shape {
    let names = Names::of_pass(manifest, counters);
    let block = axes(table, &names, "block", (1, Shape::MOST_THREADS));
    if let Some(block) = &block {
        check_block(table, block);
    }
    let grid = axes(table, &names, "grid", (0, Shape::MOST_BLOCKS));
    let extent = over(table, &names);
    match (table.has("over"), table.has("grid"), table.has("block")) {
        (true, true, _) => table.complain_about("grid", "a pass has `over` or `grid`, not both"),
        (false, false, _) => {
            table.complain("needs `over`, such as `over = \"position\"`, or `grid` and `block`");
        }
        (false, true, false) => table.complain_about("grid", "`grid` needs `block` beside it"),
        _ => {}
    }
    match grid {
        Some(grid) => Shape::Explicit { grid, block: block.unwrap_or_else(ones) },
        None => Shape::Over { extent: extent.unwrap_or_else(ones), block },
    }
}

fn check_block(table: &Fields<'_, '_, '_>, block: &[Formula; 3]) {
    let axis = |formula: &Formula| match formula.constant() {
        Some(Number::Int(axis)) => axis,
        Some(Number::Float(_) | Number::Bool(_)) | None => 1,
    };
    let [x, y, z] = block.each_ref().map(axis);
    if x * y * z > MOST_IN_BLOCK.into() {
        let text = format!("a block of {x} x {y} x {z} has more than {MOST_IN_BLOCK} threads");
        table.complain_about("block", text);
    }
}

fn ones() -> [Formula; 3] {
    [1; 3].map(|one| Formula::from(Number::Int(one)))
}

/// One to three sizes: a number or an expression, or an array of them.
fn axes(
    table: &mut Fields<'_, '_, '_>,
    names: &Names<'_>,
    key: &'static str,
    (least, most): (i64, [i64; 3]),
) -> Option<[Formula; 3]> {
    let value = table.take(key)?;
    let single = std::slice::from_ref(value);
    let list: &[Spanned<DeValue<'_>>] = value.get_ref().as_array().map_or(single, |array| array);
    if list.is_empty() || list.len() > 3 {
        table.complain_about(key, format!("`{key}` must be one to three numbers"));
        return None;
    }
    let mut axes = ones();
    for (axis, value) in list.iter().enumerate() {
        axes[axis] = formulas::integer(table, names, key, value, [least, most[axis]])?;
    }
    Some(axes)
}

/// Threads needed: those of a resource, or as many as numbers and expressions say.
fn over(table: &mut Fields<'_, '_, '_>, names: &Names<'_>) -> Option<[Formula; 3]> {
    let value = table.take("over")?;
    if let Some(name) = value.get_ref().as_str()
        && is_identifier(name)
        && let Some(id) = names.manifest.find_resource(name)
    {
        let extent = names.manifest.resource(id).extent();
        return Some(extent.map(|axis| Formula::from(Number::Int(axis.into()))));
    }
    if let Some(name) = value.get_ref().as_str()
        && is_identifier(name)
        && names.meaning(name).is_err()
    {
        let manifest = names.manifest;
        let constants = manifest.constants.iter().map(|c| c.name.as_str());
        let all = manifest.resources.iter().map(|r| r.name.as_str()).chain(constants);
        let hint = suggestion(name, all);
        table.complain_about("over", format!("there is no resource `{name}`{hint}"));
        return None;
    }
    axes(table, names, "over", (0, Shape::MOST_OVER))
}

fn shared_bytes(
    table: &mut Fields<'_, '_, '_>,
    manifest: &Manifest,
    counters: &[String],
) -> Formula {
    let names = Names::of_pass(manifest, counters);
    let value = table.take("shared");
    let range = [0, MOST_SHARED_BYTES];
    let found = value.and_then(|value| formulas::integer(table, &names, "shared", value, range));
    found.unwrap_or_else(|| Formula::from(Number::Int(0)))
}

/// `repeat`, and `until` with its `every`. A loop that runs until something holds has a limit, too.
fn repeat(
    table: &mut Fields<'_, '_, '_>,
    manifest: &Manifest,
    counters: &[String],
) -> Option<Repeat> {
    let names = Names::of_pass(manifest, counters);
    let value = table.take("repeat");
    let range = [1, MOST_REPEATS];
    let times = value.and_then(|value| formulas::integer(table, &names, "repeat", value, range));
    let until = until(table, manifest, counters);
    if until.is_some() && value.is_none() {
        table.complain_about(
            "until",
            "`until` needs `repeat` beside it: the most rounds that there may be",
        );
    }
    Some(Repeat { times: times?, until })
}

fn until(
    table: &mut Fields<'_, '_, '_>,
    manifest: &Manifest,
    counters: &[String],
) -> Option<Until> {
    // The condition may look at the round that has just ended.
    let counters = [counters, &[String::new()]].concat();
    let names = Names::of_pass(manifest, &counters);
    let value = table.take("until");
    let condition = value.and_then(|value| formulas::any(table, &names, "until", value));
    let every = table.integer("every", 1, MOST_REPEATS);
    if every.is_some() && value.is_none() {
        table.complain_about(
            "every",
            "`every` says how often `until` is looked at, which is missing",
        );
    }
    let at = table.report.position(&table.span_of("until"));
    condition.map(|condition| Until { condition, every: every.unwrap_or(1) as u32, at })
}

/// The name of a loop's rounds, which nothing else may have.
fn counter(
    table: &mut Fields<'_, '_, '_>,
    manifest: &Manifest,
    outer: &[String],
) -> Option<String> {
    let name = table.text("counter")?;
    if !is_identifier(&name) {
        table.complain_about("counter", format!("`{name}` cannot be a name in expressions"));
    } else if meaning(manifest, &name).is_some() || outer.contains(&name) {
        table.complain_about("counter", format!("`{name}` means something else already"));
    }
    Some(name)
}

fn only_if(
    table: &mut Fields<'_, '_, '_>,
    manifest: &Manifest,
    counters: &[String],
) -> Option<Formula> {
    let value = table.take("only_if")?;
    let formula = formulas::any(table, &Names::of_pass(manifest, counters), "only_if", value)?;
    if formula.kind() == Kind::Float {
        table.complain_about(
            "only_if",
            "`only_if` needs a toggle, an int or a comparison, not a float",
        );
    }
    Some(formula)
}
