//! A manifest for a file that has none: what its signatures and its host code say, and the rest marked to be filled in.

mod host;
mod names;
mod structures;
mod templates;
mod values;
mod views;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use self::{
    host::{Host, Launch, Loop, MOST_LAUNCHES, Span, Step},
    names::{Names, counter},
};
use super::{
    Number, Shape,
    decode::{MOST_IN_BLOCK, MOST_RESOURCE_BYTES, MOST_SHARED_BYTES},
    expression::Kind as NumberKind,
};
use crate::{
    cuda::{
        self, CType, Macros, Pointee, Signature, Structures,
        lexer::{self, Kind, Token},
    },
    diagnostic::{escaped, escaped_json},
    element::{Element, Scalar},
};

/// What stands behind a value that the file does not say.
const FILL_IN: &str = "fill in";
/// Elements of an array whose size the file does not say.
const SOME: u64 = 65_536;
/// The innermost loops that become groups: a manifest has no more in one another.
const MOST_LOOPS: usize = 8;
/// So many bytes of passes are written; a manifest has limits of its own.
const MOST_TEXT: usize = 1 << 17;
/// So many parameters a kernel has: as NVIDIA's have at most 32,764 bytes of them, hardly more.
const MOST_PARAMETERS: usize = 1000;
/// The longest side of a picture that OpenGL surely takes (OpenGL 4.5, table 23.53).
const LONGEST_SIDE: u64 = 16_384;
/// What elements are whose type is not known.
const BYTES: &str = "unsigned char";
/// A template argument has at most so many words.
const MOST_WORDS: usize = 100;
/// The most launches of a loop that is counted here.
const MOST_ROUNDS: i64 = 1_000_000;

/// A manifest for `source`, the text of the file called `name`, as the comment that stands before it.
///
/// Each kernel that the host code launches becomes a pass with the launch's shape and arguments, each allocation an
/// array, and each loop of launches a group; without host code each kernel becomes a pass. What cannot be told is
/// marked with `# fill in`. The result is a manifest for sure, but where arrays are too small its kernels may fault.
///
/// ```
/// let source = "__global__ void fill(float *a, float v) { a[threadIdx.x] = v; }
/// int main() { float *d; cudaMalloc(&d, 64 * sizeof(float)); fill<<<1, 64>>>(d, 1.5f); }";
/// let manifest = warpaint::scene::draft("fill.cu", source);
/// assert!(manifest.contains("kernel = \"fill\"\ngrid   = 1\nblock  = 64"), "{manifest}");
/// assert!(manifest.contains("[array.d]\ntype  = \"float\"\ncount = 64\n"), "{manifest}");
/// ```
pub fn draft(name: &str, source: &str) -> String {
    let kernels = cuda::scan(name, source);
    let mut host = Host::read(source);
    let structures = Structures::of(Macros::default(), source);
    let sizes = structures.elements().map(|(name, element)| (name.to_owned(), element.bytes()));
    host.sizes = sizes.collect();
    let mut draft =
        Draft { host: &host, kernels: &kernels, structures, ..Draft::default_of(&host) };
    match host.launches.is_empty() {
        true => draft.each_kernel(),
        false => draft.launches(),
    }
    draft.written(name)
}

struct Draft<'a, 's> {
    host: &'a Host<'s>,
    structures: Structures,
    kernels: &'a [Signature],
    names: Names,
    arrays: Vec<Array>,
    /// Where each stands, by its name.
    places: BTreeMap<String, usize>,
    /// With their formats.
    textures: BTreeMap<String, &'static str>,
    passes: String,
    /// Pointers that stand for the half of another array that is being written.
    halves: BTreeMap<&'s str, &'s str>,
    /// Those of them that several launches take before the halves are to change places.
    shared: BTreeSet<&'s str>,
    /// What could not be taken over.
    remarks: Vec<String>,
}

struct Array {
    name: String,
    element: String,
    count: Option<u64>,
    double: bool,
    /// The host fills it.
    filled: bool,
    /// Elements in a row, and rows, where a launch that takes it says so.
    rows: Option<[u64; 2]>,
}

/// A value of the manifest, and whether it is a guess.
struct Guess {
    text: String,
    open: Option<String>,
}

impl Guess {
    fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), open: None }
    }

    /// What was found, and whether it is surely that.
    fn of((text, is_sure): (String, bool), what: &str) -> Self {
        if is_sure { Self::known(text) } else { Self::open(text, what) }
    }

    fn open(text: impl Into<String>, what: impl Into<String>) -> Self {
        Self { text: text.into(), open: Some(what.into()) }
    }

    /// What stands behind it.
    fn remark(&self) -> String {
        let what = self.open.as_ref();
        what.map_or_else(String::new, |what| format!(" # {FILL_IN}: {}", one_line(what)))
    }
}

impl<'a, 's> Draft<'a, 's> {
    fn default_of(host: &'a Host<'s>) -> Self {
        Self {
            host,
            structures: Structures::default(),
            kernels: &[],
            names: Names::beside_counters(host),
            arrays: Vec::new(),
            places: BTreeMap::new(),
            textures: BTreeMap::new(),
            passes: String::new(),
            halves: BTreeMap::new(),
            shared: BTreeSet::new(),
            remarks: Vec::new(),
        }
    }

    fn kernel(&self, name: &str) -> Option<Signature> {
        let stem = name.split('<').next().unwrap_or(name).trim_start_matches("::");
        let last = stem.rsplit("::").next().unwrap_or(stem);
        let all = || self.kernels.iter().filter(|kernel| kernel.defined).chain(self.kernels);
        let found = all().find(|kernel| kernel.name == stem);
        let found =
            found.or_else(|| all().find(|kernel| kernel.name.rsplit("::").next() == Some(last)))?;
        Some(found.instance(name))
    }

    /// A pass for each kernel, whose parameters are bound by their names.
    fn each_kernel(&mut self) {
        let defined = self.kernels.iter().filter(|kernel| kernel.defined);
        if defined.clone().count() > MOST_LAUNCHES {
            self.remarks.push(format!("only the first {MOST_LAUNCHES} kernels are here"));
        }
        for kernel in defined.take(MOST_LAUNCHES) {
            if kernel.template {
                self.remarks.push(nameless_instance(&kernel.name));
                continue;
            }
            if !self.can_write(kernel) {
                continue;
            }
            let mut arguments = Vec::new();
            let mut first = None;
            for parameter in &kernel.parameters {
                let name = parameter.name.as_str();
                let guess = match &parameter.ctype {
                    CType::Pointer { to, .. } => {
                        let array =
                            self.array(name, &element_of(&self.structures, to, None), None, false);
                        first.get_or_insert_with(|| array.clone());
                        Guess::known(format!("\"{array}\""))
                    }
                    CType::Value(Element { scalar, lanes: 1 })
                        if is_size(name) && holds_sizes(*scalar) =>
                    {
                        Guess::open(SOME.to_string(), name)
                    }
                    CType::Surface | CType::Texture => self.texture(name, name),
                    other @ (CType::Value(_) | CType::Named(_)) => blank(other, name),
                };
                arguments.push((name.to_owned(), guess));
            }
            let over = first.map_or_else(
                || Guess::open("1", "threads"),
                |array| Guess::open(format!("\"{array}\""), "threads"),
            );
            let block = self.host.block_of(&kernel.name).map(|block| Guess::open(block, "a block"));
            let mut shape = vec![("over", over)];
            shape.extend(block.map(|block| ("block", block)));
            shape.extend(self.host.has_dynamic_shared().then(some_shared));
            self.pass("[[pass]]", &kernel.name, "step", &shape, &arguments);
        }
    }

    /// A pass for each launch of the host code, in groups as its loops have them.
    fn launches(&mut self) {
        self.halves_of_swaps();
        let launches: Vec<&Launch<'s>> = self.host.launches.iter().collect();
        let time = launches.iter().find_map(|launch| self.time_loop(launch)).cloned();
        let mut open: Vec<Loop<'s>> = Vec::new();
        for launch in &launches {
            let (on, skipped) = match &time {
                Some(time) if launch.loops.first() == Some(time) => ("step", 1),
                Some(time) if launch.at < time.body.start => ("reset", 0),
                Some(_) | None => ("step", 0),
            };
            let loops = &launch.loops[skipped..];
            let loops = &loops[loops.len().saturating_sub(MOST_LOOPS)..];
            self.entry(launch, loops, on, skipped, &mut open);
        }
    }

    /// The loop of time steps around a launch: the outermost, where its variable is given to no kernel.
    fn time_loop(&self, launch: &'a Launch<'s>) -> Option<&'a Loop<'s>> {
        let first = launch.loops.first()?;
        let is_plain = first.step == Step::One;
        let inside = self.host.launches.iter().filter(|other| other.loops.first() == Some(first));
        let is_named =
            inside.flat_map(|other| other.arguments.iter().chain(&other.shape)).any(|span| {
                self.host.code[span.clone()].iter().any(|token| token.text == first.variable)
            });
        (is_plain && !is_named).then_some(first)
    }

    /// Two pointers that change places in a loop are the halves of one array, and of no other.
    fn halves_of_swaps(&mut self) {
        let mut known = BTreeSet::new();
        let kernels = self.host.launches.iter().map(|launch| self.kernel(&launch.kernel));
        let launches: Vec<_> = self.host.launches.iter().zip(kernels).collect();
        for (first, second, at) in &self.host.swaps {
            let around = self.host.loop_around(*at);
            let inside =
                |launch: &Launch<'s>| around.is_some_and(|around| around.body.contains(&launch.at));
            let reads_second = launches.iter().any(|(launch, kernel)| {
                let kernel = kernel.as_ref().filter(|_| inside(launch));
                kernel.is_some_and(|kernel| {
                    kernel.parameters.iter().zip(&launch.arguments).any(|(parameter, span)| {
                        let constant =
                            matches!(parameter.ctype, CType::Pointer { constant: true, .. });
                        constant && self.word(span) == Some(second)
                    })
                })
            });
            let (read, written) = if reads_second { (second, first) } else { (first, second) };
            if read == written || known.contains(read) || known.contains(written) {
                continue;
            }
            known.extend([*read, *written]);
            let takes = |launch: &&Launch<'s>| {
                launch.arguments.iter().any(|span| self.word(span) == Some(written))
            };
            let launches = self.host.launches.iter().filter(|launch| inside(launch));
            if launches.filter(takes).count() > 1 {
                self.shared.insert(*written);
            }
            self.halves.insert(*written, *read);
        }
    }

    /// The one word that a part of the host code is.
    fn word(&self, span: &Span) -> Option<&'s str> {
        match self.host.code.get(span.clone())? {
            [token] => Some(token.text),
            _ => None,
        }
    }

    /// Writes a launch with the groups that begin with it. `open` are the loops whose groups are open.
    fn entry(
        &mut self,
        launch: &Launch<'s>,
        loops: &[Loop<'s>],
        on: &str,
        skipped: usize,
        open: &mut Vec<Loop<'s>>,
    ) {
        let instance = self.instance(launch);
        let stem = launch.kernel.split('<').next().unwrap_or_default();
        let Some(kernel) = self.kernel(&format!("{stem}{instance}")) else {
            let text = format!("`{}` is launched, and no kernel of this file", launch.kernel);
            self.remarks.push(text);
            return;
        };
        if kernel.template && !launch.kernel.contains('<') {
            self.remarks.push(nameless_instance(&kernel.name));
            return;
        }
        if !self.can_write(&kernel) {
            return;
        }
        self.remark_on_while(launch);
        let shared = open.iter().zip(loops).take_while(|(open, own)| open == own).count();
        open.truncate(shared);
        for depth in shared..loops.len() {
            self.group(&loops[..=depth], on);
            open.push(loops[depth].clone());
        }
        let header = header(loops.len());
        let time = launch.loops.first().filter(|_| skipped == 1).map(|time| time.variable);
        let of_loop = |name: &str| value_in(self.host, loops, name, time);
        let mut arguments = Vec::new();
        let pairs = kernel.parameters.iter().zip(&launch.arguments);
        for (parameter, span) in pairs {
            let guess = self.argument(&parameter.ctype, span, &of_loop);
            let written = match guess {
                Wanted::Guess(guess) => guess,
                Wanted::Texture(name) => self.texture(name, &parameter.name),
                Wanted::Array { pointer, element, offset } => {
                    let name = self.array_of(pointer, &element);
                    let is_known = self.remark_on_type(&parameter.ctype, &name, &element);
                    let unknown = || Offset::Unknown(self.text(span));
                    self.address(pointer, name, if is_known { offset } else { unknown() })
                }
            };
            arguments.push((parameter.name.clone(), written));
        }
        self.rows(&arguments);
        let shape = self.shape(launch, &of_loop, &arguments);
        let on = if loops.is_empty() { on } else { "step" };
        let name = format!("{}{instance}", kernel.name);
        let shape = self.clears(launch).into_iter().chain(shape).collect::<Vec<_>>();
        self.pass(&header, &name, on, &shape, &arguments);
    }

    /// Says so where a launch is repeated by a `while`, whose condition is the host's.
    fn remark_on_while(&mut self, launch: &Launch<'s>) {
        let around = self.host.loop_around(launch.at);
        let Some(condition) = around.and_then(|around| around.condition.as_ref()) else { return };
        let remark = format!(
            "{FILL_IN}: `{}` is repeated while `{}`; `repeat` and `until` would do so",
            launch.kernel,
            self.text(condition)
        );
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// Says so where an array has bytes since the text does not explain its type. Returns whether it does.
    fn remark_on_type(&mut self, ctype: &CType, name: &str, element: &str) -> bool {
        let CType::Pointer { to: Pointee::Named(of), .. } = ctype else { return true };
        if element != BYTES {
            return true;
        }
        let remark = format!("{FILL_IN}: `{name}` has elements of the type `{of}`");
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
        false
    }

    /// What is given for a pointer into the array `name`.
    fn address(&self, pointer: &str, name: String, offset: Offset) -> Guess {
        let text = match offset {
            Offset::None => format!("\"{name}\""),
            Offset::Elements(number) => quoted_text(&format!("{name} + {number}")),
            Offset::Unknown(what) => return Guess::open(format!("\"{name}\""), what),
        };
        let half = self.halves.get(pointer).copied().unwrap_or(pointer);
        let is_shared = self.shared.iter().any(|written| self.halves.get(written) == Some(&half));
        match is_shared {
            true => Guess::open(text, "halves change places behind each launch of `_next`"),
            false => Guess::known(text),
        }
    }

    /// What the host fills with zeros before a launch, in each round of the loop around both.
    fn clears(&self, launch: &Launch<'s>) -> Option<(&'static str, Guess)> {
        let around = self.host.loop_around(launch.at)?;
        let before = self.host.launches.iter().rfind(|other| other.at < launch.at);
        let start = before.map_or(around.body.start, |other| other.at.max(around.body.start));
        let cleared = self.host.clears.iter().filter(|(_, at)| (start..launch.at).contains(at));
        let name_of = |pointer: &&'s str| match self.halves.get(pointer) {
            Some(read) => (self.names.array(read), "_next"),
            None => (self.names.array(pointer), ""),
        };
        let known = cleared.map(|(pointer, _)| name_of(pointer));
        let names: Vec<String> = known
            .filter_map(|(name, half)| Some(quoted_text(&format!("{}{half}", name?))))
            .collect();
        (!names.is_empty()).then(|| ("clear", Guess::known(format!("[{}]", names.join(", ")))))
    }

    /// How the arrays of a launch lie in rows: its numbers say it whose product is the number of elements, the width
    /// before the height, unless they are called rows and columns.
    fn rows(&mut self, arguments: &[(String, Guess)]) {
        let number = |(name, guess): &(String, Guess)| {
            let number = guess.text.parse::<u64>().ok();
            let number = number.filter(|number| (2..=LONGEST_SIDE).contains(number))?;
            guess.open.is_none().then(|| (name.to_lowercase(), number))
        };
        let numbers: Vec<(String, u64)> = arguments.iter().filter_map(number).collect();
        let rows_of = |count: u64| {
            let pairs = numbers.iter().enumerate().flat_map(|(at, first)| {
                numbers[at + 1..].iter().map(move |second| [first, second])
            });
            let mut pairs = pairs.chain(numbers.iter().map(|number| [number, number]));
            let [first, second] = pairs.find(|[a, b]| a.1.checked_mul(b.1) == Some(count))?;
            let pair = [first.1, second.1];
            Some(if is_height(&first.0) { [pair[1], pair[0]] } else { pair })
        };
        for (_, guess) in arguments {
            let name = guess.text.trim_matches('"').trim_end_matches("_next");
            let Some(array) = self.places.get(name).map(|place| &mut self.arrays[*place]) else {
                continue;
            };
            if array.rows.is_none() {
                array.rows = array.count.and_then(rows_of);
            }
        }
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
        } else if self.passes.len() > MOST_TEXT {
            "there are more launches than a manifest has room for".to_owned()
        } else {
            return true;
        };
        if self.remarks.last() != Some(&remark) {
            self.remarks.push(remark);
        }
        false
    }

    /// The template arguments of a launch, where those that are names of the host's are numbers or types.
    fn instance(&self, Launch { kernel, at, .. }: &Launch<'s>) -> String {
        let Some((_, arguments)) = kernel.split_once('<') else { return String::new() };
        let arguments = arguments.strip_suffix('>').unwrap_or(arguments);
        let written = arguments.split(',').map(|argument| self.template_argument(argument, *at, 0));
        format!("<{}>", written.collect::<Vec<_>>().join(","))
    }

    /// A template argument that stands at `at`: where it is a parameter of the host's own template around it, what that
    /// is called with.
    fn template_argument(&self, argument: &str, at: usize, depth: usize) -> String {
        let given = |word: &Token<'_>| {
            let span = templates::argument_at(&self.host.templates, word.text, at)?;
            let at = span.start;
            let tokens = self.host.code.get(span).filter(|_| depth < MOST_LOOPS)?;
            self.host.look_at(tokens)?;
            let text: Vec<&str> = tokens.iter().map(|token| token.text).collect();
            Some(self.template_argument(&text.join(" "), at, depth + 1))
        };
        let written = |token: Token<'_>| given(&token).unwrap_or_else(|| token.text.to_owned());
        let argument: String = lexer::lex(argument).take(MOST_WORDS).map(written).collect();
        let argument = argument.as_str();
        if argument.parse::<i64>().is_ok() || Element::parse(argument).is_some() {
            return argument.to_owned();
        }
        if let Some(number) = self.host.number_of_text(argument) {
            return number;
        }
        match self.host.type_parameters.contains(argument) {
            true => "float".to_owned(),
            false if self.host.value_parameters.contains(argument) => "16".to_owned(),
            false => argument.to_owned(),
        }
    }

    fn group(&mut self, loops: &[Loop<'s>], on: &str) {
        let Some((inner, outer)) = loops.split_last() else { return };
        let of_loop = |name: &str| value_in(self.host, outer, name, None);
        let (rounds, is_sure) = self.host.surely(|host| rounds(host, inner, &of_loop));
        let _ = writeln!(self.passes, "\n{}", header(outer.len()));
        if on != "step" && outer.is_empty() {
            let _ = writeln!(self.passes, "on      = \"{on}\"");
        }
        let what = format!("rounds of the loop over `{}`", inner.variable);
        let rounds = match rounds {
            Some(rounds) => Guess::of((quoted(&rounds), is_sure), &what),
            None => Guess::open("1", what),
        };
        let _ = writeln!(self.passes, "repeat  = {}{}", rounds.text, rounds.remark());
        let _ = writeln!(self.passes, "counter = \"{}\"", counter(self.host, loops));
    }

    /// What a parameter is given in a launch.
    fn argument(
        &self,
        ctype: &CType,
        span: &Span,
        of_loop: &dyn Fn(&str) -> Option<String>,
    ) -> Wanted<'s> {
        let tokens = self.host.code.get(span.clone()).unwrap_or_default();
        let text: String = tokens.iter().map(|token| token.text).collect();
        match ctype {
            CType::Pointer { .. } if matches!(text.as_str(), "0" | "NULL" | "nullptr") => {
                Wanted::Guess(Guess::known("0"))
            }
            CType::Pointer { to, .. } => {
                let offset = self.offset(span, of_loop);
                let known = |name: &&str| {
                    self.host.pointees.contains_key(name)
                        || self.host.allocations.contains_key(name)
                };
                let is_word = |token: &&Token<'_>| token.kind == Kind::Word;
                let words = || tokens.iter().filter(is_word).map(|token| token.text);
                let pointer = words().find(known).or_else(|| words().next_back());
                match pointer {
                    Some(pointer) => {
                        let element = element_of(
                            &self.structures,
                            to,
                            self.host.pointees.get(pointer).copied(),
                        );
                        Wanted::Array { pointer, element, offset }
                    }
                    None => Wanted::Guess(Guess::open("0", text)),
                }
            }
            CType::Value(element) if element.lanes == 1 => {
                let (formula, is_sure) = self.host.surely(|host| host.formula(span, of_loop));
                Wanted::Guess(match formula {
                    Some(formula) if !element.scalar.is_float() => {
                        Guess::of((quoted(&whole(formula)), is_sure), &text)
                    }
                    Some(formula) => Guess::of((quoted(&formula), is_sure), &text),
                    None if is_size(&text) && holds_sizes(element.scalar) => {
                        Guess::open(SOME.to_string(), text)
                    }
                    None => blank(ctype, &text),
                })
            }
            CType::Surface | CType::Texture => match tokens {
                [name] if name.kind == Kind::Word => Wanted::Texture(name.text),
                _ => Wanted::Guess(blank(ctype, &text)),
            },
            // What is given a number is one under another name.
            CType::Named(name) => {
                let of_fields = match tokens {
                    [variable] if variable.kind == Kind::Word => {
                        let place = (variable.text, span.start);
                        structures::value(self.host, &self.structures, name, place)
                    }
                    _ => None,
                };
                Wanted::Guess(match self.host.surely(|host| host.formula(span, of_loop)) {
                    (Some(formula), is_sure) => Guess::of((quoted(&formula), is_sure), &text),
                    (None, _) => of_fields.unwrap_or_else(|| blank(ctype, &text)),
                })
            }
            CType::Value(_) => Wanted::Guess(blank(ctype, &text)),
        }
    }

    /// Where into its array a pointer points.
    fn offset(&self, span: &Span, of_loop: &dyn Fn(&str) -> Option<String>) -> Offset {
        let unknown = || Offset::Unknown(self.text(span));
        let inner = without_casts(&self.host.code, span.clone());
        match self.host.code.get(inner.clone()).unwrap_or_default() {
            [name] if name.kind == Kind::Word => Offset::None,
            [name, plus, rest @ ..] if name.kind == Kind::Word && plus.text == "+" => {
                let number = inner.end - rest.len()..inner.end;
                match self.host.surely(|host| host.formula(&number, of_loop)) {
                    (Some(formula), true) => Offset::Elements(formula),
                    (Some(_) | None, _) => unknown(),
                }
            }
            _ => unknown(),
        }
    }

    /// A part of the host code as text.
    fn text(&self, span: &Span) -> String {
        let tokens = self.host.code.get(span.clone()).unwrap_or_default();
        tokens.iter().map(|token| token.text).collect()
    }

    /// A texture, and what manifests call it; its texels as kernels read or write them.
    fn texture(&mut self, name: &str, of_kernel: &str) -> Guess {
        let name = self.names.of(name, names::TEXTURE);
        if !self.textures.contains_key(&name) {
            let is_looked_for = self.textures.len() < MOST_LAUNCHES;
            let found = is_looked_for.then(|| self.host.texel_of(of_kernel)).flatten();
            self.textures.insert(name.clone(), found.unwrap_or("r32f"));
        }
        Guess::known(format!("\"{name}\""))
    }

    /// The array behind a pointer of the host code, and what manifests call it.
    fn array_of(&mut self, pointer: &'s str, element: &str) -> String {
        if let Some(read) = self.halves.get(pointer).copied() {
            let name = self.array_of(read, element);
            if let Some(place) = self.places.get(&name) {
                self.arrays[*place].double = true;
            }
            return format!("{name}_next");
        }
        let bytes = self.host.allocation(pointer);
        let count = bytes.and_then(|bytes| match Element::parse(element) {
            Some(element) => {
                let bytes = u64::try_from(self.host.integer(bytes)?).ok()?;
                Some(bytes.div_ceil(element.bytes() as u64))
            }
            None => u64::try_from(self.host.count_of(bytes, element)?).ok(),
        });
        let bytes = Element::parse(element).map_or(1, |element| element.bytes() as u64);
        let count = count.filter(|count| (1..=MOST_RESOURCE_BYTES / bytes).contains(count));
        let filled = self.host.fills(pointer);
        self.array(pointer, element, count, filled)
    }

    fn array(&mut self, name: &str, element: &str, count: Option<u64>, filled: bool) -> String {
        // Two kernels may call different things the same.
        let name = self.names.of(name, element);
        if let Some(place) = self.places.get(&name) {
            let array = &mut self.arrays[*place];
            array.count = array.count.max(count);
            return name;
        }
        self.places.insert(name.clone(), self.arrays.len());
        let (name_of, element) = (name.clone(), element.to_owned());
        let (double, rows) = (false, None);
        self.arrays.push(Array { name: name_of, element, count, double, filled, rows });
        name
    }

    fn shape(
        &self,
        launch: &Launch<'s>,
        of_loop: &dyn Fn(&str) -> Option<String>,
        arguments: &[(String, Guess)],
    ) -> Vec<(&'static str, Guess)> {
        let axes = |span: Option<&Span>, most: [i64; 3], altogether: i64| {
            let span = span?;
            let (found, is_sure) = self.host.surely(|host| match host.dimensions(span) {
                // What is 0, or too much, is computed in a way that is not understood here.
                Some(axes) => {
                    let fit = axes.iter().zip(most).all(|(axis, most)| (1..=most).contains(axis));
                    let product = axes.iter().fold(1, |all: i64, axis| all.saturating_mul(*axis));
                    (fit && product <= altogether).then(|| written_axes(&axes))
                }
                None => host.formula(span, of_loop).map(|text| quoted(&whole(text))),
            });
            Some(Guess::of((found?, is_sure), &self.text(span)))
        };
        let grid = axes(launch.shape.first(), Shape::MOST_BLOCKS, i64::MAX);
        let block = axes(launch.shape.get(1), Shape::MOST_THREADS, MOST_IN_BLOCK);
        let mut shape = match (grid, block) {
            (Some(grid), Some(block)) => {
                vec![("grid", grid), ("block", block)]
            }
            (_, block) => {
                let array = arguments.iter().find(|(_, guess)| guess.text.starts_with('"'));
                let over =
                    array.map_or("1".to_owned(), |(_, guess)| guess.text.replace("_next\"", "\""));
                let mut shape = vec![("over", Guess::open(over, "threads"))];
                shape.extend(block.map(|block| ("block", block)));
                shape
            }
        };
        if let Some(span) = launch.shape.get(2) {
            let is_too_much = |bytes: i64| !(0..=MOST_SHARED_BYTES).contains(&bytes);
            let (bytes, is_sure) = self.host.surely(|host| host.formula(span, of_loop));
            let bytes = bytes.map(whole);
            match bytes.filter(|bytes| !bytes.parse().is_ok_and(is_too_much)) {
                Some(bytes) if bytes == "0" => {}
                Some(bytes) => {
                    let bytes = (quoted(&bytes), is_sure);
                    shape.push(("shared", Guess::of(bytes, &self.text(span))));
                }
                None => shape.push(some_shared()),
            }
        }
        shape
    }

    fn pass(
        &mut self,
        header: &str,
        kernel: &str,
        on: &str,
        shape: &[(&str, Guess)],
        arguments: &[(String, Guess)],
    ) {
        let _ = writeln!(self.passes, "\n{header}\nkernel = {}", quoted_text(kernel));
        if on != "step" {
            let _ = writeln!(self.passes, "on     = \"{on}\"");
        }
        for (key, guess) in shape {
            let _ = writeln!(self.passes, "{key:<6} = {}{}", guess.text, guess.remark());
        }
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

    fn written(&self, name: &str) -> String {
        let mut text = String::from("/*---\n");
        let title = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let _ = writeln!(text, "title = {}", quoted_text(title));
        for remark in &self.remarks {
            let _ = writeln!(text, "# {}", one_line(remark));
        }
        for Array { name, element, count, double, filled, rows: _ } in &self.arrays {
            let _ = writeln!(text, "\n[array.{name}]\ntype  = \"{element}\"");
            match count {
                Some(count) => _ = writeln!(text, "count = {count}"),
                None => _ = writeln!(text, "count = {SOME} # {FILL_IN}: elements"),
            }
            if *double {
                text.push_str("double = true\n");
            }
            if *filled {
                let _ = writeln!(text, "# The host fills it, as `file = \"{name}.npy\"` would.");
                if let Some([low, high]) = views::some_numbers(element, &self.structures) {
                    let _ = writeln!(text, "random = [{low}, {high}] # {FILL_IN}: its numbers");
                }
            }
        }
        for (name, format) in &self.textures {
            let _ = writeln!(
                text,
                "\n[texture.{name}]\nformat = \"{format}\" # {FILL_IN}\nsize   = [512, 512] # {FILL_IN}"
            );
        }
        text.push_str(&self.passes);
        // A texture is seen without a word.
        let view = self.textures.is_empty().then(|| views::view(&self.arrays, &self.structures));
        if let Some(view) = view.flatten() {
            let _ = write!(text, "\n{view}");
        }
        text.push_str("---*/\n");
        text
    }
}

/// Whether a number that is called so is one of rows; it may come before that of columns.
fn is_height(name: &str) -> bool {
    matches!(name, "h" | "m") || ["row", "height", "ny"].iter().any(|part| name.contains(part))
}

/// What is said of a template whose arguments are nowhere written.
fn nameless_instance(kernel: &str) -> String {
    format!("`{kernel}` is a template: a pass needs its arguments, `{kernel}<...>`")
}

/// What a parameter wants in a launch.
enum Wanted<'s> {
    Texture(&'s str),
    Array { pointer: &'s str, element: String, offset: Offset },
    Guess(Guess),
}

/// Where into its array a pointer of the host code points.
enum Offset {
    /// To its start.
    None,
    /// To this element.
    Elements(String),
    /// What is written there is not understood.
    Unknown(String),
}

/// What is cast: `(float *)name`, `static_cast<float *>(name)`.
fn without_casts(code: &[Token<'_>], mut span: Span) -> Span {
    let is_type = |token: &Token<'_>| {
        token.kind == Kind::Word || matches!(token.text, "*" | "::" | "<" | ">")
    };
    for _ in 0..MOST_LOOPS {
        let tokens = code.get(span.clone()).unwrap_or_default();
        let (open, close) = match tokens {
            [open, ..] if open.text == "(" => (0, ")"),
            [name, open, ..] if name.text.ends_with("_cast") && open.text == "<" => (1, ">"),
            _ => break,
        };
        let Some(length) = tokens.iter().position(|token| token.text == close) else { break };
        let behind = span.start + length + 1;
        span = match (open, &tokens[length + 1..]) {
            (0, [_, ..]) if tokens[1..length].iter().all(is_type) => behind..span.end,
            (1, [first, .., last]) if first.text == "(" && last.text == ")" => {
                behind + 1..span.end - 1
            }
            _ => break,
        };
    }
    span
}

/// Dynamic shared memory of a size that the file does not say.
fn some_shared() -> (&'static str, Guess) {
    ("shared", Guess::open("16384", "bytes of dynamic shared memory"))
}

fn header(depth: usize) -> String {
    format!("[[{}]]", vec!["pass"; depth + 1].join("."))
}

/// The value of a loop's variable as a formula of its rounds.
fn value_in(host: &Host<'_>, loops: &[Loop<'_>], name: &str, time: Option<&str>) -> Option<String> {
    if time == Some(name) {
        return Some("step".to_owned());
    }
    let depth = loops.iter().rposition(|around| around.variable == name)?;
    let (outer, own) = (&loops[..depth], &loops[depth]);
    let of_loop = |name: &str| value_in(host, outer, name, time);
    let first = host.formula(&own.first, &of_loop)?;
    let round = counter(host, &loops[..=depth]);
    let step = |span: &Span| host.formula(span, &of_loop);
    Some(match &own.step {
        Step::One if first == "0" => round,
        Step::One => format!("({first} + {round})"),
        Step::MinusOne => format!("({first} - {round})"),
        Step::Add(span) => format!("({first} + {round} * ({}))", step(span)?),
        Step::Subtract(span) => format!("({first} - {round} * ({}))", step(span)?),
        Step::Double => format!("(({first}) << {round})"),
        Step::Halve => format!("(({first}) >> {round})"),
    })
}

/// How many rounds a loop has.
fn rounds(
    host: &Host<'_>,
    of: &Loop<'_>,
    of_loop: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let first = host.formula(&of.first, of_loop)?;
    let end = host.formula(&of.end, of_loop)?;
    // With a limit that is reached, one round more.
    let (low, high, more) = match of.comparison {
        "<" => (&first, &end, "0"),
        "<=" => (&first, &end, "1"),
        ">" => (&end, &first, "0"),
        _ => (&end, &first, "1"),
    };
    let formula = match &of.step {
        Step::One | Step::MinusOne => format!("({high}) - ({low}) + {more}"),
        Step::Add(span) | Step::Subtract(span) => {
            let step = host.formula(span, of_loop)?;
            format!("ceil_div(({high}) - ({low}) + {more}, {step})")
        }
        Step::Double => format!("ilog2(max(1, (({high}) - 1 + {more}) / ({low}))) + 1"),
        // Down to above 0 is down to 1.
        Step::Halve if low == "0" => format!("ilog2(max(1, {high})) + 1"),
        Step::Halve => format!("ilog2(max(1, ({high}) / (({low}) + 1 - {more}))) + 1"),
    };
    let expression = values::understood(&formula)?;
    match (expression.kind(), expression.constant()) {
        (NumberKind::Int, Some(Number::Int(rounds))) => {
            Some(rounds.clamp(1, MOST_ROUNDS).to_string())
        }
        (NumberKind::Int, _) => Some(formula),
        (NumberKind::Float | NumberKind::Bool, _) => None,
    }
}

/// A formula as a whole number.
fn whole(formula: String) -> String {
    match values::understood(&formula).map(|expression| expression.kind()) {
        Some(NumberKind::Float) => format!("int({formula})"),
        Some(NumberKind::Int | NumberKind::Bool) | None => formula,
    }
}

/// The manifest's name of an element's type, which may be one of the `structures`; bytes where it has none.
fn element_of(structures: &Structures, to: &Pointee, of_host: Option<&str>) -> String {
    let name = match to {
        Pointee::Element(element) => return element.to_string(),
        Pointee::Void => of_host,
        Pointee::Named(name) => Some(of_host.unwrap_or(name)),
    };
    let name = name.unwrap_or_default().trim_start_matches("struct ");
    let has_fields = || structures.fields(name, 1).is_some_and(|fields| !fields.is_empty());
    match Element::parse(name) {
        Some(element) => element.to_string(),
        None if has_fields() => name.to_owned(),
        None => {
            let found = structures.elements().find(|(known, _)| *known == name);
            found.map_or_else(|| BYTES.to_owned(), |(_, element)| element.to_string())
        }
    }
}

/// What is given for a value that the manifest cannot take from the host code.
fn blank(ctype: &CType, what: &str) -> Guess {
    let text = match ctype {
        CType::Value(Element { scalar, lanes: 1 }) => {
            let zero = if scalar.is_float() { "0.0" } else { "0" };
            if *scalar == Scalar::Bool { "false".to_owned() } else { zero.to_owned() }
        }
        CType::Value(Element { lanes, .. }) => {
            format!("[{}]", vec!["0"; usize::from(*lanes)].join(", "))
        }
        CType::Pointer { .. } | CType::Surface | CType::Texture => "0".to_owned(),
        CType::Named(_) => "{}".to_owned(),
    };
    Guess::open(text, what)
}

/// Whether numbers of elements fit into it.
fn holds_sizes(scalar: Scalar) -> bool {
    scalar.integer_range().is_some_and(|(_, greatest)| greatest > i128::from(SOME))
}

fn is_size(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "n" | "m" | "k" | "w" | "h")
        || ["size", "count", "len", "num", "width", "height", "elements"]
            .iter()
            .any(|part| name.contains(part))
}

/// The name of a parameter as a key.
fn key(name: &str) -> String {
    let is_plain = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if is_plain { name.to_owned() } else { quoted_text(name) }
}

/// A number as it is, an expression in quotes.
fn quoted(text: &str) -> String {
    if text.parse::<f64>().is_ok() || matches!(text, "true" | "false") {
        text.to_owned()
    } else {
        quoted_text(text)
    }
}

/// A string of TOML, in which nothing ends the comment that the manifest stands in.
fn quoted_text(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace("*/", "*\\u002F");
    // What would steer the terminal, or a reader's eye, is spelt as JSON spells it.
    format!("\"{}\"", escaped_json(&text.replace("---", "--\\u002D")))
}

/// Text in a remark, which ends with its line and must not end the comment.
fn one_line(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).take(200).collect();
    escaped(&text.replace("*/", "* /").replace("---", "-")).into_owned()
}

fn written_axes(axes: &[i64; 3]) -> String {
    match axes {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("[{x}, {y}]"),
        [x, y, z] => format!("[{x}, {y}, {z}]"),
    }
}
