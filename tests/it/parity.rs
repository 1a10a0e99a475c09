//! `docs/pycuda.md` against the inventory of PyCUDA's features, the sources and the tests.

use std::{collections::BTreeSet, fs, ops::RangeInclusive};

use crate::{
    skip::{Need, skip},
    support::root,
    tidy::{code, sources},
};

/// The inventory: its IDs are these prefixes with these numbers. Sparse matrices (`SPA`) are left out.
const INVENTORY: [(&str, &[RangeInclusive<u32>]); 13] = [
    (
        "DRV",
        &[
            1..=15,
            20..=34,
            40..=57,
            60..=70,
            80..=94,
            100..=111,
            120..=129,
            140..=145,
            150..=167,
            170..=190,
            195..=196,
        ],
    ),
    ("CMP", &[1..=21]),
    ("GPA", &[1..=22, 30..=48, 60..=75, 80..=86]),
    ("CUM", &[1..=10]),
    ("ELW", &[1..=11]),
    ("RED", &[1..=8]),
    ("SCN", &[1..=7]),
    ("RND", &[1..=23]),
    ("TLS", &[1..=26]),
    ("GL", &[1..=17]),
    ("INI", &[1..=4]),
    ("HDR", &[1..=3]),
    ("DBG", &[1..=12]),
];

fn inventory() -> BTreeSet<String> {
    let numbered = |(prefix, ranges): &(&str, &[RangeInclusive<u32>])| {
        let numbers = ranges.iter().flat_map(Clone::clone);
        numbers.map(|number| format!("{prefix}-{number:03}")).collect::<Vec<_>>()
    };
    INVENTORY.iter().flat_map(numbered).collect()
}

/// The document; `None` where there are no sources beside the tests.
fn document() -> Option<String> {
    let there = root().join("src").is_dir();
    if !there {
        skip(Need::Sources, "there are no sources beside the tests");
    }
    there.then(|| fs::read_to_string(root().join("docs/pycuda.md")).unwrap())
}

/// A row of one of its tables.
struct Row<'a> {
    id: &'a str,
    here: &'a str,
    shown: &'a str,
}

fn rows(document: &str) -> impl Iterator<Item = Row<'_>> {
    document.lines().filter(|line| line.starts_with("| ")).filter_map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [id, _, here, shown] = cells[..] else { panic!("not four cells: {line}") };
        (id != "ID").then_some(Row { id, here, shown })
    })
}

/// What stands in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The file and the function of a test, of `array/scan.rs: results_go_where_they_are_wanted`.
fn test_name(quoted: &str) -> Option<(&str, &str)> {
    quoted.split_once(": ").filter(|(file, _)| file.ends_with(".rs"))
}

#[test]
fn every_feature_of_pycuda_has_its_row() {
    let Some(document) = document() else { return };
    let mut missing = inventory();
    assert_eq!(missing.len(), 349, "the inventory's size without sparse matrices");
    for Row { id, here, shown } in rows(&document) {
        assert!(missing.remove(id), "{id} stands twice, or is no ID");
        let tested = |quoted| quoted == "doc" || test_name(quoted).is_some();
        let reason = shown.split('`').step_by(2).any(|text| !text.trim().is_empty());
        assert!(quoted(shown).any(tested) || reason, "{id} has neither a test nor a reason");
        assert!(!here.is_empty() || reason, "{id} is not there, and no reason is given");
    }
    assert!(missing.is_empty(), "without a row: {missing:?}");
}

#[test]
fn what_the_rows_name_is_there() {
    let Some(document) = document() else { return };
    let sources = sources();
    let files: Vec<_> =
        sources.iter().map(|source| File::new(&source.path, &source.text)).collect();
    let missing = |name: &&str| !is_there(&files, name);
    let missing: Vec<_> = document.lines().flat_map(quoted).filter(missing).collect();
    assert!(missing.is_empty(), "nothing public is called {missing:?}");

    let documented = rows(&document).filter(|row| quoted(row.shown).any(|name| name == "doc"));
    for Row { id, here, .. } in documented {
        let name = quoted(here).next().unwrap();
        let shown = |file: &File<'_>| file.has_example && file.holds(name);
        assert!(files.iter().any(shown), "{id}: the documentation of {name} has no example");
    }
}

#[test]
fn tests_that_rows_name_are_there() {
    let Some(document) = document() else { return };
    let mut seen = 0;
    for (file, function) in document.lines().flat_map(quoted).filter_map(test_name) {
        let folder = if is_source(file) { root() } else { root().join("tests/it") };
        let text =
            fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut defined = text.lines().filter_map(defined);
        assert!(defined.any(|name| name == function), "{file} has no `{function}`");
        seen += 1;
    }
    assert!(seen > 200, "{seen} tests are named");
}

/// A test shows what it mentions, or what the functions and tables that it uses of its file and of `support.rs` do.
/// Types need no mention: they are there wherever a value of theirs is.
#[test]
fn tests_mention_what_their_rows_name() {
    let Some(document) = document() else { return };
    let mut missing = Vec::new();
    for Row { id, here, shown } in rows(&document) {
        let tests: Vec<_> = quoted(shown).filter_map(test_name).collect();
        if tests.is_empty() {
            continue;
        }
        let mentioned: BTreeSet<String> =
            tests.iter().flat_map(|(file, function)| mentions(file, function)).collect();
        let name = |path: &str| path.rsplit("::").next().unwrap_or(path).to_owned();
        let unseen =
            quoted(here).filter(|path| is_member(path) && !mentioned.contains(&name(path)));
        missing.extend(unseen.map(|path| format!("{id}: {path}")));
    }
    assert!(missing.is_empty(), "no test of their rows mentions {missing:#?}");
}

/// Whether a file lies beside what it tests.
fn is_source(file: &str) -> bool {
    ["src/", "crates/"].iter().any(|folder| file.starts_with(folder))
}

/// Whether a path names a function, or a variant or a constant of a type.
fn is_member(path: &str) -> bool {
    let mut parts = path.rsplit("::");
    let upper = |part: Option<&str>| part.is_some_and(|part| part.starts_with(char::is_uppercase));
    let last = parts.next();
    let module = ["src", "crates/device/src"].into_iter().any(|folder| {
        let source = root().join(folder).join(path.replace("::", "/"));
        source.is_dir() || source.with_extension("rs").is_file()
    });
    path.contains("::") && !module && (!upper(last) || upper(parts.next()))
}

/// The words of a test and of all that it uses of its file and of what all tests share.
fn mentions(file: &str, test: &str) -> BTreeSet<String> {
    let read = |path: String| fs::read_to_string(root().join(path)).unwrap();
    let words = |text: &str| text.split(|c| !in_word(c)).map(str::to_owned).collect();
    let text = match file {
        "examples.rs" => return words(&read(format!("examples/{test}.rs"))),
        file if is_source(file) => read(file.to_owned()),
        file => read(format!("tests/it/{file}")),
    };
    let shared = read("tests/it/support.rs".to_owned());
    let items = [items(&text), items(&shared)].concat();
    let (mut found, mut left) = (BTreeSet::new(), vec![test.to_owned()]);
    while let Some(name) = left.pop() {
        for (_, item) in items.iter().filter(|(item, _)| *item == name) {
            let of_item: BTreeSet<String> = words(item);
            left.extend(of_item.difference(&found).cloned().collect::<Vec<_>>());
            found.extend(of_item);
        }
    }
    found
}

/// The functions, constants and statics of a file, each with its text: a line, or what is up to the brace below its
/// beginning.
fn items(text: &str) -> Vec<(&str, String)> {
    let lines: Vec<_> = text.lines().collect();
    let all = lines.iter().enumerate().filter_map(|(at, line)| {
        let name = item_name(line.trim_start())?;
        let indent = &line[..line.len() - line.trim_start().len()];
        let closes = |other: &&str| {
            let closing = ["}", "};", "];", ");"];
            other.strip_prefix(indent).is_some_and(|rest| closing.contains(&rest.trim_end()))
        };
        let whole = line.ends_with(['}', ';']);
        let end = if whole { Some(0) } else { lines[at..].iter().position(closes) };
        let body = &lines[at..=at + end.unwrap_or(0)];
        Some((name, body.join("\n")))
    });
    all.collect()
}

/// The name of the function, constant or static that a line begins.
fn item_name(line: &str) -> Option<&str> {
    let words = ["pub ", "pub(super) ", "pub(crate) ", "unsafe "];
    let item = words.iter().fold(line, |line, word| line.trim_start_matches(word));
    let kinds = ["fn ", "const fn ", "const ", "static "];
    let name = kinds.iter().find_map(|kind| item.strip_prefix(kind))?;
    let name = &name[..name.find(|c| !in_word(c)).unwrap_or(name.len())];
    (!name.is_empty()).then_some(name)
}

/// The modules of which the document names parts.
const MODULES: [&str; 8] =
    ["array", "compile", "device", "diagnostic", "element", "gl", "interop", "kernel"];

/// Whether `name` is no name of ours, or one that there is.
fn is_there(files: &[File<'_>], name: &str) -> bool {
    if let Some(header) = name.strip_prefix('<').and_then(|name| name.strip_suffix('>')) {
        return root().join("kernels/include").join(header).is_file();
    }
    if let Some(name) = name.strip_suffix('!') {
        return files.iter().any(|file| file.defined.contains(name));
    }
    let word = |part: &str| part.chars().all(in_word);
    let mut parts = name.split("::");
    let ours = parts.next().is_some_and(|first| MODULES.contains(&first)) && parts.all(word);
    !ours || files.iter().any(|file| file.holds(name))
}

/// What a file of the sources defines, as far as its lines tell.
struct File<'a> {
    /// Its module below the crate: `device::nvidia::peer`.
    module: String,
    /// Items that are public, fields, variants, and what stands in macros' tables.
    defined: BTreeSet<&'a str>,
    words: BTreeSet<&'a str>,
    has_example: bool,
}

impl<'a> File<'a> {
    fn new(path: &'a str, text: &'a str) -> Self {
        let lines = || code(text).map(|(_, line)| line);
        let private = ["fn ", "const fn ", "unsafe fn ", "struct ", "enum ", "trait ", "type "];
        let hidden = |line: &&str| private.iter().any(|kind| line.trim_start().starts_with(kind));
        Self {
            module: path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::"),
            defined: lines().filter(|line| !hidden(line)).filter_map(defined).collect(),
            words: lines().flat_map(|line| line.split(|c| !in_word(c))).collect(),
            has_example: text.contains("/// ```\n") || text.contains("//! ```\n"),
        }
    }

    /// Whether it holds what a path such as `array`, `array::Expr` or `array::GpuArray::cumsum` names: it lies in that
    /// module, has the item, and where that is a type's, mentions the type.
    fn holds(&self, name: &str) -> bool {
        let mut module = &self.module[..];
        loop {
            if let Some(item) = name.strip_prefix(module) {
                match item.strip_prefix("::").map(|item| item.split_once("::")) {
                    None if item.is_empty() => return true,
                    Some(None) => return self.defined.contains(&item[2..]),
                    Some(Some((of, member))) => {
                        return self.words.contains(of) && self.defined.contains(member);
                    }
                    None => {}
                }
            }
            let Some((outer, _)) = module.rsplit_once("::") else { return false };
            module = outer;
        }
    }
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name that a line defines, of an item or a macro's, or begins with as fields, variants and entries of tables do.
fn defined(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    let kinds = ["pub", "const", "unsafe", "fn", "struct", "enum", "trait", "type", "mod"];
    let mut item = false;
    while let Some((first, others)) = rest.split_once(' ')
        && (kinds.contains(&first) || first == "macro_rules!")
    {
        (rest, item) = (others, true);
    }
    let name = &rest[..rest.find(|c| !in_word(c)).unwrap_or(rest.len())];
    let entry = ["(", ": ", ";", ",", " =", " \"", " [", " {"];
    let ends = item || entry.iter().any(|end| rest[name.len()..].starts_with(end));
    (ends && !name.is_empty()).then_some(name)
}
