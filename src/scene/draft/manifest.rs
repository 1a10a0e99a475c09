//! Writes a manifest: passes with their arguments, arrays, textures, views.
//!
//! Enters: what was read, and what it says. Leaves: the text of a manifest. Must not know: `scene::draft::reader`.

mod arguments;
mod arrays;
mod deduced;
mod descriptions;
mod elements;
mod entries;
mod exchanges;
mod extents;
mod guess;
mod memory;
mod names;
mod overloads;
mod rows;
mod sampling;
mod shape;
mod spot;
mod steps;
mod symbols;
mod textures;
mod transfers;
mod untold;
mod uses;
mod views;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use self::{
    arguments::{blank, holds_sizes},
    arrays::{Array, element_of},
    descriptions::Object,
    guess::Guess,
    names::Names,
    shape::some_shared,
    textures::DraftedTexture,
    untold::SaidOf,
    uses::Uses,
};
use super::{
    expression::text::{key, one_line, quoted_text},
    host::{ASSUMED, Host, MOST_LAUNCHES, launch::Launch, place::Place},
    values::sizes::is_size,
};
use crate::{
    cuda::{CType, KernelParameter, Signature, Structures},
    element::Element,
};

/// What stands behind a value that the file does not say.
const FILL_IN: &str = "fill in";
/// Elements of an array whose size the file does not say.
const SOME: u64 = 65_536;
/// So many bytes of passes are written; a manifest has limits of its own.
const MOST_TEXT: usize = 1 << 17;
/// So many parameters a kernel has: as NVIDIA's have at most 32,764 bytes of them, hardly more.
const MOST_PARAMETERS: usize = 1000;
/// What elements are whose type is not known.
const BYTES: &str = "unsigned char";

/// The text of a manifest for what `host` says of `kernels`, in a file of this name.
pub(super) fn written(name: &str, host: &Host<'_>, kernels: &[Signature]) -> String {
    let mut draft = Draft::new(host, kernels);
    match host.launches.is_empty() {
        true => draft.each_kernel(),
        false => draft.launches(),
    }
    draft.written(name)
}

/// The instances of templates that `host` launches, as far as it surely says which.
pub(super) fn instances(host: &Host<'_>, kernels: &[Signature]) -> Vec<String> {
    let draft = Draft::new(host, kernels);
    let instance = |(launch, place): (&Launch, Place<'_, '_>)| {
        let (arguments, is_sure) = host.surely(|_| draft.instance(launch, &place));
        let stem = launch.kernel.split('<').next().unwrap_or_default();
        let kernel = draft.kernel_launched(launch, &place, stem)?;
        let arguments = match arguments.is_empty() && kernel.has_defaults() {
            true => "<>",
            false => arguments.as_str(),
        };
        let is_told = kernel.template && !arguments.is_empty();
        let is_said = draft.unsaid(arguments, &place).is_none();
        (is_sure && is_told && is_said).then(|| format!("{}{arguments}", kernel.name))
    };
    host.launched().filter_map(instance).collect::<BTreeSet<_>>().into_iter().collect()
}

struct Draft<'a, 's> {
    host: &'a Host<'s>,
    structures: &'s Structures,
    kernels: &'a [Signature],
    names: Names,
    arrays: Vec<Array>,
    /// Where each stands, by its name.
    places: BTreeMap<String, usize>,
    /// The types of elements that launches take memory as, by its pointer, in their order.
    taken: BTreeMap<&'s str, Vec<String>>,
    textures: BTreeMap<String, DraftedTexture>,
    /// What texture and surface objects are made of, by what the host calls them, in its order.
    objects: Vec<(&'s str, Option<Object>)>,
    /// How often the text was looked through for one.
    textures_looked_for: usize,
    /// What variables of the device begin with, as the key that says so, each with its type.
    variables: BTreeMap<String, (Element, String)>,
    passes: String,
    /// What is said of calls before the next pass.
    untold: Vec<SaidOf>,
    /// Pointers that stand for the half of another array that is being written.
    halves: BTreeMap<&'s str, &'s str>,
    /// Pointers that change places while something else still has them.
    shared: BTreeSet<&'s str>,
    /// Arrays that hold what others have while these change places, and those that have as many elements for that.
    spares: Vec<String>,
    alike: Vec<[String; 3]>,
    /// The places of those `cudaMemset` in what is done that some pass does.
    cleared: BTreeSet<usize>,
    uses: Uses<'s>,
    /// When what is done once behind the time steps is, while such is written.
    once: Option<Guess>,
    /// What could not be taken over.
    remarks: Vec<String>,
}

impl<'a, 's> Draft<'a, 's> {
    fn new(host: &'a Host<'s>, kernels: &'a [Signature]) -> Self {
        Self {
            host,
            structures: host.structures,
            kernels,
            names: Names::beside_counters(host),
            arrays: Vec::new(),
            places: BTreeMap::new(),
            taken: BTreeMap::new(),
            textures: BTreeMap::new(),
            objects: host.texture_objects(),
            textures_looked_for: 0,
            variables: BTreeMap::new(),
            passes: String::new(),
            untold: Vec::new(),
            halves: BTreeMap::new(),
            shared: BTreeSet::new(),
            spares: Vec::new(),
            alike: Vec::new(),
            cleared: BTreeSet::new(),
            uses: Uses::default(),
            once: None,
            remarks: Vec::new(),
        }
    }

    /// The kernel that a launch means, which calls it `name`, with its template's arguments.
    fn kernel_launched(
        &self,
        launch: &Launch,
        place: &Place<'_, 's>,
        name: &str,
    ) -> Option<Signature> {
        Some(self.kernel_of(launch, place)?.0.instance(name))
    }

    /// The same as it is declared: a template with the names of its parameters.
    fn declared(&self, name: &str) -> Option<&'a Signature> {
        let stem = name.split('<').next().unwrap_or(name).trim_start_matches("::");
        let last = stem.rsplit("::").next().unwrap_or(stem);
        let all = || self.kernels.iter().filter(|kernel| kernel.defined);
        let found = all().find(|kernel| kernel.is_called(stem));
        found.or_else(|| all().find(|kernel| kernel.name.rsplit("::").next() == Some(last)))
    }

    /// A pass for each kernel, whose parameters are bound by their names.
    fn each_kernel(&mut self) {
        let defined = self.kernels.iter().filter(|kernel| kernel.defined);
        if defined.clone().count() > MOST_LAUNCHES {
            self.remarks.push(format!("only the first {MOST_LAUNCHES} kernels are here"));
        }
        for kernel in defined.take(MOST_LAUNCHES) {
            if kernel.template && !kernel.has_defaults() {
                self.remarks.push(nameless_instance(&kernel.name));
                continue;
            }
            let kernel = &kernel.instance(&kernel.name);
            if !self.can_write(kernel) {
                continue;
            }
            let mut arguments = Vec::new();
            let mut first = None;
            let sizes = kernel.parameters.iter().filter(|parameter| is_some_size(parameter));
            let size = side(sizes.count());
            for parameter in &kernel.parameters {
                let name = parameter.name.as_str();
                let guess = match &parameter.ctype {
                    CType::Pointer { to, .. } => {
                        let array =
                            self.array(name, &element_of(self.structures, to, None), None, false);
                        first.get_or_insert_with(|| array.clone());
                        Guess::known(format!("\"{array}\""))
                    }
                    CType::Value(_) if is_some_size(parameter) => {
                        Guess::open(size.to_string(), name)
                    }
                    CType::Surface | CType::Texture => self.texture(name, name, &parameter.ctype),
                    other @ (CType::Value(_) | CType::Named(_)) => blank(other, name),
                };
                arguments.push((name.to_owned(), guess));
            }
            let over = first.map_or_else(
                || Guess::open("1", "threads"),
                |array| Guess::open(format!("\"{array}\""), "threads"),
            );
            let block = self.block_of(&kernel.name).map(|block| Guess::open(block, "a block"));
            let mut shape = vec![("over", over)];
            shape.extend(block.map(|block| ("block", block)));
            shape.extend(self.has_dynamic_shared().then(some_shared));
            self.pass("[[pass]]", &kernel.name, "step", &shape, &arguments);
        }
        for (index, done) in self.host.done.iter().enumerate() {
            self.untold(index, &self.host.place_of(done), 0, &[]);
        }
        self.write_untold(None);
    }

    /// Whether a pass of the kernel can be written; if not, it is told once.
    fn can_write(&mut self, kernel: &Signature) -> bool {
        let remark = if kernel.parameters.len() > MOST_PARAMETERS {
            format!("`{}` has more than {MOST_PARAMETERS} parameters", kernel.name)
        } else if kernel.parameters.iter().any(|parameter| parameter.name.is_empty()) {
            format!(
                "{FILL_IN}: nothing is bound to a parameter without a name, as `{}` has",
                kernel.name
            )
        } else if has_namesakes(&kernel.parameters) {
            format!("`{}` has two parameters of one name, as it seems", kernel.name)
        } else if self.passes.len() > MOST_TEXT {
            "there are more launches than a manifest has room for".to_owned()
        } else {
            return true;
        };
        self.remark(remark);
        false
    }

    /// Says something before the arrays, once.
    fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    fn pass(
        &mut self,
        header: &str,
        kernel: &str,
        on: &str,
        shape: &[(&str, Guess)],
        arguments: &[(String, Guess)],
    ) {
        self.table(header, Some(kernel), on, shape);
        // What the name means anyway need not be said.
        let own =
            |name: &str, guess: &Guess| guess.open.is_none() && guess.text == format!("\"{name}\"");
        let named = arguments.iter().filter(|(name, guess)| !name.is_empty() && !own(name, guess));
        let mut named = named.peekable();
        if named.peek().is_none() {
            return;
        }
        let table = header.trim_matches(['[', ']']);
        let _ = writeln!(self.passes, "\n[{table}.args]");
        for (name, guess) in named {
            let _ = writeln!(self.passes, "{} = {}{}", key(name), guess.text, guess.remark());
        }
    }

    /// Writes the table of a pass, or of a copy.
    fn table(&mut self, header: &str, kernel: Option<&str>, on: &str, keys: &[(&str, Guess)]) {
        self.write_untold(None);
        let _ = writeln!(self.passes, "\n{header}");
        if let Some(kernel) = kernel {
            let _ = writeln!(self.passes, "kernel = {}", quoted_text(kernel));
        }
        if on != "step" {
            let _ = writeln!(self.passes, "on     = \"{on}\"");
        }
        for (key, guess) in keys {
            let _ = writeln!(self.passes, "{key:<6} = {}{}", guess.text, guess.remark());
        }
    }

    fn written(mut self, name: &str) -> String {
        self.match_threads();
        let mut text = String::from("/*---\n");
        let title = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let _ = writeln!(text, "title = {}", quoted_text(title));
        for remark in &self.remarks {
            let _ = writeln!(text, "# {}", one_line(remark));
        }
        // Where sizes are assumed there may be as much as three of them make out.
        let is_told = self.host.assumed.borrow().is_empty();
        let least = if is_told { SOME } else { u64::from(ASSUMED).pow(3) };
        for array in &self.arrays {
            text.push_str(&array.written(self.structures, least));
        }
        for (name, texture) in &self.textures {
            text.push_str(&texture.written(name));
        }
        for (name, (element, contents)) in &self.variables {
            let _ = writeln!(text, "\n[variable.{}]\ntype  = \"{element}\"\n{contents}", key(name));
        }
        text.push_str(&self.passes);
        // A texture is seen without a word; what is only read is not what is to be seen.
        self.arrays.retain(|array| !self.spares.contains(&array.name));
        let is_seen = self.textures.values().any(|texture| texture.is_written);
        let view = (!is_seen).then(|| views::view(&self.arrays, self.structures));
        if let Some(view) = view.flatten() {
            let _ = write!(text, "\n{view}");
        }
        text.push_str("---*/\n");
        text
    }
}

/// What is said of a template whose arguments are nowhere written.
fn nameless_instance(kernel: &str) -> String {
    format!("`{kernel}` is a template: a pass needs its arguments, `{kernel}<...>`")
}

/// Whether two of them are called the same, as where an `#if` stands among them.
fn has_namesakes(parameters: &[KernelParameter]) -> bool {
    let mut names = BTreeSet::new();
    !parameters.iter().all(|parameter| names.insert(&parameter.name))
}

/// Whether a parameter may be given a number of elements, by its name and its type.
fn is_some_size(parameter: &KernelParameter) -> bool {
    let CType::Value(Element { scalar, lanes: 1 }) = parameter.ctype else { return false };
    is_size(&parameter.name) && holds_sizes(scalar)
}

/// So long are the sides of something that has so many, and [`SOME`] elements, or less.
const fn side(sides: usize) -> u64 {
    match sides {
        0 | 1 => SOME,
        2 => 256,
        3 => 32,
        _ => 16,
    }
}

fn header(depth: usize) -> String {
    format!("[[{}]]", vec!["pass"; depth + 1].join("."))
}
