//! `file`, `value` and `dtype` of resources, `[variable.*]`, and what the command line loads instead.

use toml::{Spanned, de::DeValue};

use super::{
    KEYWORDS, Report,
    each::each,
    fields::{Fields, sorted},
    is_identifier, suggestion,
    types::Types,
};
use crate::scene::{
    Content, Element, FieldValue, Initial, Manifest, Number, Overrides, Scalar, Type, Variable,
    bytes::bytes_of, data::Values,
};

/// The most that a filename can have on any system.
const LONGEST_NAME: usize = 4096;
/// The keys of which one alone says what something holds at the start.
const EXCLUSIVE: [&str; 4] = ["file", "value", "random", "each"];

/// Reads `[variable.*]` in the file's order. Returns the names of all that there are, sound or not.
pub(super) fn variables(
    fields: &mut Fields<'_, '_, '_>,
    manifest: &mut Manifest,
    overrides: &Overrides,
) -> Vec<String> {
    let types = Types::new(fields.report, &manifest.compile, &overrides.headers);
    let mut names = Vec::new();
    for (name, mut table) in fields.tables("variable") {
        let at = table.at();
        if !is_variable(&name) {
            let rule =
                "a name of CUDA C++, perhaps with its namespace, as in [variable.\"ns::name\"]";
            table.complain(&format!("must be {rule}"));
        }
        let of = types.read(&mut table, "\"float\"");
        let element = of.as_ref().and_then(Type::element);
        element.into_iter().for_each(|element| types.compare(&table, &name, element));
        let wanted = of.as_ref().map(|of| (of, None));
        let is_structure = of.as_ref().is_some_and(|of| of.structure().is_some());
        let structures = if is_structure { structures(&mut table) } else { None };
        let initial = initial(&mut table, &name, wanted, overrides).or(structures);
        let has_any = EXCLUSIVE.into_iter().any(|key| table.has(key));
        if initial.is_none() && !has_any {
            table.complain("needs `file` or `value`, such as `value = 0.5`");
        }
        table.finish();
        names.push(name.clone());
        if let (Some(of), Some(initial)) = (of, initial) {
            manifest.variables.push(Variable { name, of, initial, at });
        }
    }
    names
}

/// `value` of structures: the fields of one, or of each in a list.
fn structures(table: &mut Fields<'_, '_, '_>) -> Option<Initial> {
    let value = table.take("value")?;
    let fields = |value| {
        let mut found = Vec::new();
        fields_of(table, "", value, &mut found).map(|()| found)
    };
    let all: Option<Vec<_>> = match value.get_ref().as_array() {
        Some(list) => list.iter().map(fields).collect(),
        None => fields(value).map(|one| vec![one]),
    };
    let at = table.report.position(&value.span());
    Some(Initial { content: Content::Structures(all?), at: Some(at) })
}

/// Adds the fields of a structure that `value` gives; `before` stands before their names.
fn fields_of(
    table: &Fields<'_, '_, '_>,
    before: &str,
    value: &Spanned<DeValue<'_>>,
    found: &mut Vec<FieldValue>,
) -> Option<()> {
    let Some(fields) = value.get_ref().as_table() else {
        let text =
            "`value` of a structure names its fields: { n = 3, dt = 0.1 }, or a list of such";
        table.report.error(value.span(), text);
        return None;
    };
    for (name, value) in sorted(fields) {
        let path = format!("{before}{}", name.get_ref());
        if value.get_ref().as_table().is_some() {
            fields_of(table, &format!("{path}."), value, found)?;
            continue;
        }
        let mut numbers = Vec::new();
        numbers_in(table, value, &mut numbers)?;
        found.push(FieldValue { path, numbers, at: table.report.position(&value.span()) });
    }
    Some(())
}

/// Adds the number that `value` is, or those of lists within lists.
fn numbers_in(
    table: &Fields<'_, '_, '_>,
    value: &Spanned<DeValue<'_>>,
    found: &mut Vec<Number>,
) -> Option<()> {
    match value.get_ref().as_array() {
        Some(list) => {
            list.iter().try_for_each(|item| numbers_in(table, item, found).ok_or(())).ok()
        }
        None => {
            found.push(table.number_in("value", value)?);
            Some(())
        }
    }
}

/// Whether a variable of C++ can be called so.
fn is_variable(name: &str) -> bool {
    let name = name.strip_prefix("::").unwrap_or(name);
    name.split("::").all(|part| is_identifier(part) && !KEYWORDS.contains(&part))
}

/// Complains about what the command line loads and is neither a resource nor one of the `variables`.
pub(super) fn expect_known(
    report: &Report<'_>,
    manifest: &Manifest,
    variables: &[String],
    overrides: &Overrides,
) {
    let resources = manifest.resources.iter().map(|resource| resource.name.as_str());
    let known: Vec<&str> = resources.chain(variables.iter().map(String::as_str)).collect();
    for name in overrides.loads.keys().filter(|name| !known.contains(&name.as_str())) {
        let hint = suggestion(name, known.iter().copied());
        let text = format!("--load {name}: the scene has no such resource or variable{hint}");
        report.error_in_option(text);
    }
}

/// `file` with `dtype`, `value`, `random` or `each`; `wanted` is what it is for, where that is known: the type of its
/// elements and how many there are, which is not known of variables.
pub(super) fn initial(
    table: &mut Fields<'_, '_, '_>,
    name: &str,
    wanted: Option<(&Type, Option<u64>)>,
    overrides: &Overrides,
) -> Option<Initial> {
    let file = file(table, name, overrides, true);
    let (value, random) = (table.take("value"), table.floats("random", &[2]));
    let of_each = table.take("each");
    let mut given = EXCLUSIVE.into_iter().filter(|key| table.has(key));
    if let Some(first) = given.next() {
        for key in given {
            table.complain_about(key, format!("`{first}` and `{key}` exclude each other"));
        }
    }
    if file.is_some() {
        return file;
    }
    if let Some(range) = random {
        return self::random(table, [range[0], range[1]], wanted.and_then(|(of, _)| of.element()));
    }
    if let Some(value) = of_each {
        return each(table, value, wanted.map(|(of, _)| of));
    }
    let (value, (of, count)) = (value?, wanted?);
    let element = of.element()?;
    let at = table.report.position(&value.span());
    Some(Initial { content: content(table, value, element, count)?, at: Some(at) })
}

/// `random`, of what may be an `element`, or a structure where there is none.
fn random(
    table: &Fields<'_, '_, '_>,
    range: [f64; 2],
    element: Option<Element>,
) -> Option<Initial> {
    let [low, high] = range;
    let complain = |text: String| table.complain_about("random", text);
    if low > high {
        complain(format!("`random` starts at {low}, behind its end {high}"));
        return None;
    }
    let scalar = element.map_or(Scalar::F64, |element| element.scalar);
    let is_number = scalar.is_integer() || scalar.is_float();
    let ends = match scalar.is_integer() {
        true => [low.ceil(), high.floor()].map(|end| bytes_of(Number::Int(end as i128), scalar)),
        false => range.map(|end| bytes_of(Number::Float(end), scalar)),
    };
    if !is_number {
        complain(format!(
            "`random` gives whole and floating-point numbers, and a {scalar} is neither"
        ));
        return None;
    }
    if scalar.is_integer() && low.ceil() > high.floor() {
        complain(format!("there is no {scalar} between {low} and {high}"));
        return None;
    }
    if let Some(Err(problem)) = ends.into_iter().find(Result::is_err) {
        complain(problem);
        return None;
    }
    let at = table.report.position(&table.span_of("random"));
    Some(Initial { content: Content::Random(range), at: Some(at) })
}

/// `file`, with `dtype` where files without a header are taken.
pub(super) fn file(
    table: &mut Fields<'_, '_, '_>,
    name: &str,
    overrides: &Overrides,
    takes_raw: bool,
) -> Option<Initial> {
    let named = table.line("file").filter(|name| {
        let is_name = !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains('\0');
        if !is_name {
            table.complain_about("file", "`file` must be the name of a file");
        }
        is_name
    });
    let raw = if takes_raw { dtype(table) } else { None };
    let load = overrides.loads.get(name);
    if table.has("dtype") && takes_raw && !table.has("file") && load.is_none() {
        table.complain_about(
            "dtype",
            "`dtype` needs `file` beside it: it is the type of what that holds",
        );
    }
    if let Some(path) = load {
        return Some(Initial { content: Content::File { path: path.clone(), raw }, at: None });
    }
    let at = table.report.position(&table.span_of("file"));
    Some(Initial { content: Content::File { path: named?.into(), raw }, at: Some(at) })
}

/// The type of numbers in a file without a header, by numpy's name.
fn dtype(table: &mut Fields<'_, '_, '_>) -> Option<Scalar> {
    let all: Vec<(&str, Scalar)> = Scalar::numpy_names().collect();
    table.named("dtype", &all)
}

/// What `value` stands for: a number for all, or a list of as many as there are.
fn content(
    table: &Fields<'_, '_, '_>,
    value: &Spanned<DeValue<'_>>,
    element: Element,
    count: Option<u64>,
) -> Option<Content> {
    let lanes = usize::from(element.lanes);
    let Some(list) = value.get_ref().as_array() else {
        let (number, bytes) = number(table, value, element.scalar)?;
        return Some(Content::Fill(Values { declared: vec![number], bytes: bytes.repeat(lanes) }));
    };
    let none = Values { declared: Vec::new(), bytes: Vec::new() };
    let mut found = Numbers { table, scalar: element.scalar, row: None, values: none };
    let is_flat = list.iter().all(|item| item.get_ref().as_array().is_none());
    found.list(value)?;
    let (numbers, row) = (found.values.declared.len(), found.row.unwrap_or(0));
    if !is_flat && lanes > 1 && row != lanes {
        let text = format!("its innermost lists have {row} numbers, and {element} has {lanes}");
        table.report.error(value.span(), text);
        return None;
    }
    let wanted = count.map(|count| u128::from(count) * lanes as u128);
    let is_whole = numbers.is_multiple_of(lanes) && numbers > 0;
    if wanted.is_some_and(|wanted| wanted != numbers as u128) || !is_whole {
        let needed = match (count, wanted) {
            (Some(count), Some(wanted)) if lanes > 1 => format!("{wanted}: {count} {element}"),
            (Some(_), Some(wanted)) => format!("{wanted}, or one number for all"),
            _ => format!("some for each {element}"),
        };
        table
            .report
            .error(value.span(), format!("`value` has {numbers} numbers, and takes {needed}"));
        return None;
    }
    Some(Content::Values(found.values))
}

/// One number, and its bytes.
fn number(
    table: &Fields<'_, '_, '_>,
    value: &Spanned<DeValue<'_>>,
    scalar: Scalar,
) -> Option<(Number, Vec<u8>)> {
    let number = table.number_in("value", value)?;
    let found = bytes_of(number, scalar).map_err(|text| table.report.error(value.span(), text));
    Some((number, found.ok()?))
}

/// The numbers of lists within lists, as they come.
struct Numbers<'f, 'r, 't, 's> {
    table: &'f Fields<'r, 't, 's>,
    scalar: Scalar,
    /// How many there are in each of the innermost lists.
    row: Option<usize>,
    values: Values,
}

impl Numbers<'_, '_, '_, '_> {
    /// Adds those of `value`, a list; complains about each that is none, and about lists of unequal length.
    fn list(&mut self, value: &Spanned<DeValue<'_>>) -> Option<()> {
        let list: &[Spanned<DeValue<'_>>] = value.get_ref().as_array().map_or(&[], |list| list);
        let lists = list.iter().filter(|item| item.get_ref().as_array().is_some()).count();
        let report = self.table.report;
        if lists == 0 {
            if *self.row.get_or_insert(list.len()) != list.len() {
                report.error(value.span(), "this list is not as long as those before it");
                return None;
            }
            let numbers: Vec<_> =
                list.iter().map(|item| number(self.table, item, self.scalar)).collect();
            for (number, bytes) in numbers.into_iter().collect::<Option<Vec<_>>>()? {
                self.values.declared.push(number);
                self.values.bytes.extend(bytes);
            }
            return Some(());
        }
        if lists != list.len() {
            report.error(value.span(), "there are both numbers and lists in this list");
            return None;
        }
        let found: Vec<_> = list.iter().map(|item| self.list(item)).collect();
        found.into_iter().collect()
    }
}
