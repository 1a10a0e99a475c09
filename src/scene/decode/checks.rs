//! `[[stat]]`, `[[check]]` and `[[golden]]`.

use std::path::{Component, Path};

use super::{fields::Fields, literal, selection, suggestion};
use crate::{
    cuda::{lexer, unfinished},
    file,
    scene::{
        Bound, Check, Golden, Kept, Manifest, Measured, Reduce, ResourceId, Stat, Statistic, ViewId,
    },
};

/// Difference that `equals` allows where the manifest does not say.
const DEFAULT_TOLERANCE: f64 = 0.0;

/// Mean difference of a channel that pictures may have where the manifest does not say: another version of a software
/// renderer rounds sums of light otherwise, by one or two steps.
const DEFAULT_IMAGE_TOLERANCE: f64 = 2.0;
/// Share of pixels that may be quite different: a processor without fused multiply-add moves single points by a pixel.
const DEFAULT_OUTLIERS: f64 = 0.02;
/// Size of pictures where the manifest does not say.
const DEFAULT_SIZE: [u32; 2] = [320, 180];
/// Longest side of a picture.
const MOST_PIXELS: i64 = 4096;
/// Statistics that a scene can have: each is a kernel, whose compilation takes its time.
const MOST_STATS: usize = 256;

/// Reads them, in the file's order.
pub(super) fn decode(fields: &mut Fields<'_, '_, '_>, manifest: &mut Manifest) {
    for (index, table) in fields.array_of_tables("stat").into_iter().enumerate() {
        if index == MOST_STATS {
            table.complain(&format!("is one too many: a scene can have {MOST_STATS} statistics"));
        }
        if index >= MOST_STATS {
            continue;
        }
        if let Some(stat) = stat(table, manifest) {
            manifest.stats.push(stat);
        }
    }
    for table in fields.array_of_tables("check") {
        if let Some(check) = check(table, manifest) {
            manifest.checks.push(check);
        }
    }
    for table in fields.array_of_tables("golden") {
        if let Some(golden) = golden(table, manifest) {
            manifest.goldens.push(golden);
        }
    }
}

/// The last step after which a scene may be checked: `test` takes all of them.
const LATEST: i64 = 1_000_000;

fn golden(mut table: Fields<'_, '_, '_>, manifest: &Manifest) -> Option<Golden> {
    let (image, of) = (table.line("image"), resource(&mut table, manifest));
    let after = table.integer("after", 1, LATEST).map(i64::unsigned_abs);
    let tolerance = amount(&mut table, "tolerance");
    let at = table.at();
    let found = if table.has("image") {
        let size_px = table.sides("size", MOST_PIXELS).unwrap_or(DEFAULT_SIZE);
        let outliers = amount(&mut table, "outliers").unwrap_or(DEFAULT_OUTLIERS);
        let view = view(&mut table, manifest);
        let tolerance = tolerance.unwrap_or(DEFAULT_IMAGE_TOLERANCE);
        let legend = table.boolean("legend").unwrap_or(false);
        kept_below(&mut table, "image", image.as_deref(), "png", manifest);
        let image = image.zip(view);
        image.map(|(file, view)| (Kept::Image { view, size_px, outliers, legend }, file, tolerance))
    } else {
        for (key, example) in [("of", "\"position\""), ("file", "\"position.npy\"")] {
            table.require(key, example);
        }
        let relative = amount(&mut table, "relative").unwrap_or(0.0);
        let file = table.line("file");
        kept_below(&mut table, "file", file.as_deref(), "npy", manifest);
        let tolerance = tolerance.unwrap_or(DEFAULT_TOLERANCE);
        of.zip(file).map(|(of, file)| (Kept::Array { of, relative }, file, tolerance))
    };
    table.finish();
    let (of, file, tolerance) = found?;
    Some(Golden { of, file, after, tolerance, at })
}

/// Complains about the name of a file that is not below the scene's folder, or has not its kind's ending: a stranger's
/// scene names nothing else to be read or written. Also about one that another golden has.
fn kept_below(
    table: &mut Fields<'_, '_, '_>,
    key: &'static str,
    file: Option<&str>,
    ending: &str,
    manifest: &Manifest,
) {
    let Some(path) = file.map(Path::new) else { return };
    if !file::stays_below(path) {
        let text = format!(
            "`{key}` must lie in the scene's folder or below it: neither `/` first nor `..`"
        );
        table.complain_about(key, text);
    } else if path.extension().is_none_or(|found| found != ending) {
        table.complain_about(key, format!("`{key}` must be a file that ends with .{ending}"));
    } else if manifest.goldens.iter().any(|other| named(Path::new(&other.file)).eq(named(path))) {
        table.complain_about(key, "another [[golden]] is kept in this file already");
    }
}

/// The names that a path consists of: `./a` and `a` are the same file.
fn named(path: &Path) -> impl Iterator<Item = Component<'_>> {
    path.components().filter(|part| *part != Component::CurDir)
}

/// A number that is at least 0.
fn amount(table: &mut Fields<'_, '_, '_>, key: &'static str) -> Option<f64> {
    let found = table.float(key)?;
    if found < 0.0 {
        table.complain_about(key, format!("`{key}` must be at least 0"));
    }
    Some(found)
}

/// The view that `view` names, or the first one.
fn view(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<ViewId> {
    let name = table.text("view");
    let found = manifest.find_view(name.as_deref());
    let key = if name.is_some() { "view" } else { "image" };
    found.map_err(|text| table.complain_about(key, text)).ok()
}

/// The resource that `of` names.
fn resource(table: &mut Fields<'_, '_, '_>, manifest: &Manifest) -> Option<ResourceId> {
    let name = table.text("of")?;
    let found = manifest.find_resource(&name);
    if found.is_none() {
        let hint = suggestion(&name, manifest.resources.iter().map(|r| r.name.as_str()));
        table.complain_about("of", format!("there is no resource `{name}`{hint}"));
    }
    found
}

fn stat(mut table: Fields<'_, '_, '_>, manifest: &Manifest) -> Option<Stat> {
    for (key, example) in [("name", "\"energy\""), ("of", "\"velocity\""), ("reduce", "\"sum\"")] {
        table.require(key, example);
    }
    let name = table.line("name");
    if let Some(name) = &name
        && manifest.stats.iter().any(|other| other.name == *name)
    {
        table.complain_about("name", format!("there is another statistic \"{name}\" already"));
    }
    let of = resource(&mut table, manifest);
    let map_span = table.span_of("map");
    let map = table.text("map").map(|map| on_its_lines(map, table.report.literal(&map_span)));
    let map_at = table.report.inside_string(&map_span, 0);
    if let Some(wrong) = map.as_deref().and_then(unfinished) {
        table.complain_about("map", format!("`map` is no expression of its own: it {wrong}"));
    }
    let reduce = table.named("reduce", Reduce::ALL);
    let at = table.at();
    if let Some(of) = of
        && map.is_none()
        && manifest.resource(of).element().is_none_or(|element| element.lanes > 1)
    {
        let of = manifest.resource(of).of();
        let example = of.components().into_iter().next().unwrap_or_default();
        table.complain(&format!(
            "needs `map`, such as `map = \"x.{example}\"`: its elements are {of}"
        ));
    }
    table.finish();
    let map = map.unwrap_or_else(|| "x".to_owned());
    Some(Stat { name: name?, of: of?, map, map_at, reduce: reduce?, at })
}

/// C++ that a string holds, on the lines on which it is written, where that makes no other text of it: what the
/// compiler says of it is told where it stands.
fn on_its_lines(held: String, literal: &str) -> String {
    let Some(written) = literal::with_its_lines(literal) else { return held };
    let texts = |text| lexer::code(text).map(|token| token.text).collect::<Vec<_>>().join("\n");
    let is_same = texts(&held) == texts(&written.replace('\\', " "));
    if is_same { written.to_owned() } else { held }
}

fn check(mut table: Fields<'_, '_, '_>, manifest: &Manifest) -> Option<Check> {
    table.require("stat", "\"position.nan\"");
    let of = table.text("stat").and_then(|text| {
        let found = measured(&text, manifest);
        if let Err(problem) = &found {
            table.complain_about("stat", problem.clone());
        }
        found.ok()
    });
    let after = table.integer("after", 1, LATEST).map(i64::unsigned_abs);
    let bounds = bounds(&mut table);
    let at = table.at();
    table.finish();
    Some(Check { of: of?, after, bounds, at })
}

fn bounds(table: &mut Fields<'_, '_, '_>) -> Vec<Bound> {
    let mut bounds = Vec::new();
    bounds.extend(table.float("min").map(Bound::Min));
    bounds.extend(table.float("max").map(Bound::Max));
    let tolerance = amount(table, "tolerance");
    if let Some(value) = table.float("equals") {
        let tolerance = tolerance.unwrap_or(DEFAULT_TOLERANCE);
        bounds.push(Bound::Equals { value, tolerance });
    } else if table.has("tolerance") {
        table.complain_about("tolerance", "`tolerance` needs `equals` beside it");
    }
    bounds.extend(table.float("drift").map(Bound::Drift));
    if !["min", "max", "equals", "drift"].iter().any(|key| table.has(key)) {
        table.complain("needs `min`, `max`, `equals` or `drift`");
    }
    bounds
}

/// A statistic of the manifest, or `resource.statistic`, or `resource.component.statistic`.
pub(super) fn measured(text: &str, manifest: &Manifest) -> Result<Measured, String> {
    if let Some(index) = manifest.stats.iter().position(|stat| stat.name == text) {
        return Ok(Measured::Stat(index));
    }
    let Some((name, rest)) = text.split_once('.') else { return Err(no_statistic(text, manifest)) };
    let (path, statistic) = match rest.rsplit_once('.') {
        Some((path, statistic)) => (Some(path), statistic),
        None => (None, rest),
    };
    let of = manifest.find_resource(name).ok_or_else(|| no_statistic(text, manifest))?;
    let Some(statistic) = Statistic::parse(statistic) else {
        let hint = suggestion(statistic, Statistic::ALL.iter().map(|(name, _)| *name));
        return Err(format!("a resource has no statistic `{statistic}`{hint}"));
    };
    let components = path.map(|path| selection::components(path, of, manifest)).transpose()?;
    Ok(Measured::Resource { of, components, statistic })
}

fn no_statistic(text: &str, manifest: &Manifest) -> String {
    let stats = manifest.stats.iter().map(|stat| stat.name.clone());
    let own = manifest.resources.iter().flat_map(|r| {
        Statistic::ALL.iter().map(move |(statistic, _)| format!("{}.{statistic}", r.name))
    });
    let all: Vec<String> = stats.chain(own).collect();
    let hint = suggestion(text, all.iter().map(String::as_str));
    format!("there is no statistic \"{text}\"{hint}")
}
