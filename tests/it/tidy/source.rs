//! What a Rust source names, read off its syntax tree.

use std::{collections::HashMap, path::Path};

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Attribute, ExprUnsafe, File, ImplItem, Item, ItemForeignMod, ItemImpl, ItemMod, ItemTrait,
    ItemUse, Macro, Signature, UseTree, parse_file, spanned::Spanned as _, visit, visit::Visit,
};

use crate::{
    skip::{Need, skip},
    support::root,
};

/// The folders of sources of our crates.
pub const ROOTS: [&str; 2] = ["crates/device/src", "src"];

/// A Rust file of one of our crates.
pub struct Source {
    /// The folder that its crate's sources lie in.
    root: &'static str,
    /// From there, as in `device/cpu/mod.rs`.
    pub path: String,
    pub text: String,
    /// The module that it is, from the crate's root.
    pub module: Vec<String>,
    /// What it names outside of its unit tests, as written but for `crate`, `self` and `super`.
    pub names: Vec<Name>,
    /// The lines of code outside of its unit tests that are unsafe, or that declare what is.
    pub is_unsafe: Vec<usize>,
    /// The lines outside of its unit tests with a name that begins with `super::super`.
    pub climbs: Vec<usize>,
    /// The modules that it has.
    children: Vec<String>,
    /// What it calls by a name of its own, or by the last segment of its path.
    imports: HashMap<String, Vec<String>>,
}

/// A path somewhere in a source. One that begins with `crate` starts at the crate's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub line: usize,
    pub path: Vec<String>,
}

/// Every Rust file of our crates; none where an installed copy of the tests has no sources to read.
pub fn sources() -> Vec<Source> {
    let mut all = Vec::new();
    for folder in ROOTS.into_iter().filter(|folder| root().join(folder).is_dir()) {
        let files = super::texts(&root().join(folder)).into_iter();
        let rust = files.filter(|(path, _)| path.ends_with(".rs"));
        let before = all.len();
        all.extend(rust.map(|(path, text)| Source::new(folder, path, text)));
        assert!(all.len() > before + 30, "the sources are where this test looks for them");
    }
    if all.is_empty() {
        skip(Need::Sources, "there are no sources beside the tests");
    }
    all
}

impl Source {
    pub fn new(root: &'static str, path: String, text: String) -> Self {
        let file = parse_file(&text).unwrap_or_else(|error| panic!("{root}/{path}: {error}"));
        let module = module_of(&path);
        let mut reader = Reader::new(module.clone());
        reader.visit_file(&file);
        let children = children(&file);
        let Reader { names, is_unsafe, climbs, imports, .. } = reader;
        Self { root, path, text, module, names, is_unsafe, climbs, children, imports }
    }

    /// A line of it, as in `src/lib.rs:1`.
    pub fn at(&self, line: usize) -> String {
        format!("{}/{}:{line}", self.root, self.path)
    }

    /// The name with the first segment as the file's `use` and `mod` have it.
    pub fn absolute(&self, name: &Name) -> Vec<String> {
        let Some((first, rest)) = name.path.split_first() else { return Vec::new() };
        // What is imported may be a module's of this file, too.
        let begin = match self.imports.get(first) {
            Some(import) => self.below(import),
            None => self.below(std::slice::from_ref(first)),
        };
        [&begin, rest].concat()
    }

    /// The path from the crate's root where it begins with a module of this file.
    fn below(&self, path: &[String]) -> Vec<String> {
        match path.first().is_some_and(|first| self.children.contains(first)) {
            true => [&["crate".to_owned()], &self.module[..], path].concat(),
            false => path.to_vec(),
        }
    }
}

/// `device/cpu/mod.rs` and `device/cpu.rs` are `device::cpu`.
fn module_of(path: &str) -> Vec<String> {
    let path = Path::new(path).with_extension("");
    let mut module: Vec<String> =
        path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    module
}

fn children(file: &File) -> Vec<String> {
    let module = |item: &Item| match item {
        Item::Mod(module) if !is_test(&module.attrs) => Some(module.ident.to_string()),
        _ => None,
    };
    file.items.iter().filter_map(module).collect()
}

/// The syntax tree of a Rust file without its unit tests.
pub fn without_tests(text: &str) -> File {
    fn drop_tests(items: &mut Vec<Item>) {
        items.retain(|item| !matches!(item, Item::Mod(module) if is_test(&module.attrs)));
        for item in items {
            if let Item::Mod(ItemMod { content: Some((_, items)), .. }) = item {
                drop_tests(items);
            }
        }
    }
    let mut file = parse_file(text).unwrap();
    drop_tests(&mut file.items);
    file
}

/// Whether an item is there in tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        is_cfg && attribute.parse_args::<Ident>().is_ok_and(|condition| condition == "test")
    })
}

/// Reads one file.
struct Reader {
    /// The module that is read.
    module: Vec<String>,
    names: Vec<Name>,
    is_unsafe: Vec<usize>,
    climbs: Vec<usize>,
    imports: HashMap<String, Vec<String>>,
}

impl Reader {
    fn new(module: Vec<String>) -> Self {
        Self {
            module,
            names: Vec::new(),
            is_unsafe: Vec::new(),
            climbs: Vec::new(),
            imports: HashMap::new(),
        }
    }

    /// The path from the crate's root, where it says how it lies to it.
    fn resolved(&self, path: &[String]) -> Vec<String> {
        let mut from = self.module.clone();
        let mut rest = path;
        match rest.first().map(String::as_str) {
            Some("self") => rest = &rest[1..],
            Some("super") => {}
            _ => return path.to_vec(),
        }
        while let Some((first, others)) = rest.split_first()
            && first == "super"
        {
            from.pop();
            rest = others;
        }
        let root = vec!["crate".to_owned()];
        [root, from, rest.to_vec()].concat()
    }

    fn name(&mut self, line: usize, path: &[String]) -> Vec<String> {
        if path.iter().take_while(|segment| *segment == "super").count() > 1 {
            self.climbs.push(line);
        }
        let path = self.resolved(path);
        self.names.push(Name { line, path: path.clone() });
        path
    }

    fn import(&mut self, before: &[String], tree: &UseTree) {
        let joined = |ident: &Ident| [before, &[ident.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.import(&joined(&path.ident), &path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(before, tree)),
            UseTree::Glob(glob) => _ = self.name(glob.span().start().line, before),
            UseTree::Name(name) if name.ident == "self" => {
                let path = self.name(name.span().start().line, before);
                self.imports.extend(path.last().cloned().map(|last| (last, path)));
            }
            UseTree::Name(name) => {
                let path = self.name(name.span().start().line, &joined(&name.ident));
                self.imports.insert(name.ident.to_string(), path);
            }
            UseTree::Rename(rename) => {
                let path = self.name(rename.span().start().line, &joined(&rename.ident));
                self.imports.insert(rename.rename.to_string(), path);
            }
        }
    }

    /// Paths among the tokens of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<(usize, String)> = Vec::new();
        // How many of the two colons behind a segment have been seen.
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if ident == "unsafe" {
                        self.is_unsafe.push(ident.span().start().line);
                    }
                    if colons != 2 {
                        self.end(&mut path);
                    }
                    path.push((ident.span().start().line, ident.to_string()));
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                }
                TokenTree::Group(group) => {
                    self.end(&mut path);
                    colons = 0;
                    self.tokens(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.end(&mut path);
                    colons = 0;
                }
            }
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Vec<(usize, String)>) {
        if path.len() > 1 {
            let names: Vec<String> = path.iter().map(|(_, name)| name.clone()).collect();
            self.name(path[0].0, &names);
        }
        path.clear();
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Const(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        match item {
            ImplItem::Fn(item) if is_test(&item.attrs) => {}
            _ => visit::visit_impl_item(self, item),
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.import(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        // A name by itself is that of something here, or imported.
        if segments.len() > 1 {
            self.name(path.span().start().line, &segments);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.visit_path(&item.path);
        self.tokens(item.tokens.clone());
    }

    /// Not code.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_expr_unsafe(&mut self, block: &'ast ExprUnsafe) {
        self.is_unsafe.push(block.span().start().line);
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        self.is_unsafe.extend(signature.unsafety.iter().map(|token| token.span.start().line));
        visit::visit_signature(self, signature);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        self.is_unsafe.extend(item.unsafety.iter().map(|token| token.span.start().line));
        visit::visit_item_impl(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.is_unsafe.extend(item.unsafety.iter().map(|token| token.span.start().line));
        visit::visit_item_trait(self, item);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast ItemForeignMod) {
        self.is_unsafe.extend(item.unsafety.iter().map(|token| token.span.start().line));
        visit::visit_item_foreign_mod(self, item);
    }
}

#[test]
fn names_are_found_however_they_are_written() {
    let text = r#"
use crate::{gl::Texture, draw as painting};
use super::super::session;
mod inner;
fn f() -> glow::Context { painting::image(); inner::g(); println!("{}", crate::studio::NAME) }
mod nested { use super::other; }
#[cfg(test)]
mod tests { use crate::hidden; unsafe fn g() {} }
unsafe fn g() { call!(unsafe { 1 }) }
"#;
    let source = Source::new("src", "a/b/c.rs".to_owned(), text.to_owned());
    let found: Vec<String> = source
        .names
        .iter()
        .map(|name| format!("{} {}", name.line, source.absolute(name).join("::")))
        .collect();
    let expected = [
        "2 crate::gl::Texture",
        "2 crate::draw",
        "3 crate::a::session",
        "5 glow::Context",
        "5 crate::draw::image",
        "5 crate::a::b::c::inner::g",
        "5 crate::studio::NAME",
        "6 crate::a::b::c::other",
    ];
    assert_eq!(found, expected);
    assert_eq!(source.is_unsafe, [9, 9]);
    assert_eq!(source.climbs, [3]);
}
