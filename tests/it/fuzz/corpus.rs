//! Texts to start from.

use std::{collections::BTreeSet, fs, path::Path};

use warpaint::ptx::{self, ast::Item};

/// Longest text that is mutated as a whole.
const WHOLE_BYTES: usize = 10_000;

pub struct Corpus {
    pub texts: Vec<String>,
    /// All tokens that stand in the texts, once each.
    pub words: Vec<String>,
}

impl Corpus {
    pub fn ptx() -> Self {
        let root = super::super::support::root();
        let mut files = read(&root.join("tests/ptx"), "ptx");
        files.extend(read(&root.join("benches"), "ptx"));
        if let Some(more) = std::env::var_os("WARPAINT_FUZZ_CORPUS") {
            files.extend(read(Path::new(&more), "ptx"));
        }
        let mut texts = Vec::new();
        for text in files {
            if text.len() <= WHOLE_BYTES {
                texts.push(text);
            } else {
                texts.extend(kernels(&text));
            }
        }
        Self::new(texts)
    }

    pub fn scenes() -> Self {
        let root = super::super::support::root();
        let mut texts = read(&root.join("kernels"), "cu");
        texts.extend(read(&root.join("tests/scenes"), "cu"));
        Self::new(texts)
    }

    fn new(texts: Vec<String>) -> Self {
        assert!(!texts.is_empty(), "there is something to start from");
        let words: BTreeSet<&str> =
            texts.iter().flat_map(|text| super::mutate::tokens(text)).collect();
        let words = words.into_iter().filter(|word| word.len() < 80).map(str::to_owned).collect();
        Self { texts, words }
    }
}

fn read(folder: &Path, extension: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Each kernel of a long module with what it names, as a module of its own.
fn kernels(text: &str) -> Vec<String> {
    let Ok(mut module) = ptx::parse(text) else { return vec![text.to_owned()] };
    module.sections.clear();
    let items = module.items.clone();
    let mut parts = Vec::new();
    for item in items {
        let name = match item {
            Item::Variable(index) => module.variables[index as usize].name.clone(),
            Item::Declaration(index) | Item::Definition(index) => {
                module.functions[index as usize].name.clone()
            }
        };
        module.items = vec![item];
        let printed = ptx::print(&module);
        let body = printed.split_once("\n\n").map_or(&*printed, |(_, body)| body).to_owned();
        parts.push((item, name, body));
    }
    let entries = parts.iter().enumerate().filter(|(_, (_, _, body))| body.contains(".entry"));
    entries
        .map(|(entry, _)| {
            let mut kept = BTreeSet::from([entry]);
            let mut todo = vec![entry];
            while let Some(at) = todo.pop() {
                for (other, (_, name, _)) in parts.iter().enumerate() {
                    if !kept.contains(&other) && parts[at].2.contains(name.as_str()) {
                        kept.insert(other);
                        todo.push(other);
                    }
                }
            }
            module.items = kept.iter().map(|at| parts[*at].0).collect();
            ptx::print(&module)
        })
        .collect()
}
