//! Where host code writes numbers into memory of its own, or of the device by a library: element by element, all of it
//! at once, as a list.

use std::collections::BTreeSet;

use crate::{
    cuda::{brackets::Brackets, lexer::Tokens},
    scene::draft::{
        code::{
            LONGEST, Span,
            operands::is_perhaps,
            pointers::without_casts,
            readers,
            regions::Kind as RegionKind,
            variables::{Id, Value},
        },
        host::{
            Host,
            mention::{Does, Mention},
            place::Place,
            write::{Extent, Write, Written},
        },
    },
};

/// So many writes are told.
const MOST_WRITES: usize = 10_000;
/// So many writes may begin before a mention that is a part of one of them.
const MOST_COVERING: usize = 8;
/// So many tokens of a function without a name are looked at for what it returns.
const LONGEST_LAMBDA: usize = 200;

impl<'s> Host<'s> {
    /// All of them, in the order of the text, but for those of kernels, and whether that is all.
    pub(in crate::scene::draft) fn writes(&self, brackets: &Brackets) -> (Vec<Write<'s>>, bool) {
        let finder = Finder { host: self, brackets };
        let of_device = self.functions_of_device();
        let mut found = Vec::<Write<'s>>::new();
        let mut is_all = true;
        for at in 0..self.code.len() {
            if self.regions.function(at).is_some_and(|function| of_device.contains(&function)) {
                continue;
            }
            let of_place = match self.text_at(at) {
                "[" => finder.element(at),
                "*" => finder.behind_pointer(at),
                "." => finder.method(at),
                ":" => finder.range(at),
                "(" => finder.call(at),
                _ => None,
            };
            found.extend(of_place.filter(|write| self.is_plain(write.at)));
            found.extend(finder.declared(at));
            if found.len() >= MOST_WRITES || self.look(1).is_none() {
                is_all = false;
                break;
            }
        }
        found.sort_by_key(|write| write.covers.start);
        let followed = self.followed(brackets);
        let reading = self.reading(&found);
        let mentions = self.mentions.iter().filter(|own| {
            let of = self.regions.function(own.at);
            of.is_none_or(|function| !of_device.contains(&function))
        });
        let mut others = Vec::new();
        for mention in mentions.take(MOST_WRITES) {
            let is_it = |write: &Write<'_>| {
                write.covers.contains(&mention.at)
                    && self.text_at(write.at) == self.text_at(mention.at)
            };
            // What covers a mention begins with it, or not far before.
            let end = found.partition_point(|write| write.covers.start <= mention.at);
            let is_covered = found[end.saturating_sub(MOST_COVERING)..end].iter().any(is_it);
            let does = match mention.does {
                Does::Follows(name) if followed.contains(&name) && self.gives(mention, name) => {
                    Does::Reads
                }
                Does::Follows(_) => Does::Gives,
                Does::Names(other) if self.names_one(other) => Does::Reads,
                Does::Names(other) | Does::Points(other) => {
                    if reading.contains(&other) {
                        Does::Reads
                    } else {
                        Does::Keeps
                    }
                }
                does @ (Does::Reads | Does::Writes | Does::Gives | Does::Keeps | Does::Grows) => {
                    does
                }
            };
            if !is_covered && does != Does::Reads {
                let (what, covers) = (Written::Mentioned(does), mention.at..mention.at + 1);
                others.push(Write { at: mention.at, what, extent: Extent::Whole, covers });
            }
        }
        is_all &= self.mentions.len() <= MOST_WRITES;
        found.extend(others);
        found.sort_by_key(|write| write.at);
        (found, is_all)
    }

    /// The variables that point into memory, and that nothing is written by.
    fn reading(&self, writes: &[Write<'s>]) -> BTreeSet<Id> {
        let written =
            writes.iter().filter_map(|own| self.visible(self.text_at(own.at), own.at + 1));
        let others = self.mentions.iter().filter(|own| {
            !matches!(own.does, Does::Names(_) | Does::Points(_)) && !self.makes_pointer(own)
        });
        let mut writing: BTreeSet<Id> = written.chain(others.map(|own| own.id)).collect();
        let pointed = |own: &Mention| match own.does {
            Does::Names(other) | Does::Points(other) => Some(other),
            Does::Reads
            | Does::Writes
            | Does::Gives
            | Does::Keeps
            | Does::Follows(_)
            | Does::Grows => None,
        };
        // What points to one of these may write, too.
        for _ in 0..MOST_COVERING {
            let before = writing.len();
            let more = self
                .mentions
                .iter()
                .filter(|own| pointed(own).is_some_and(|other| writing.contains(&other)));
            let more: Vec<Id> = more.map(|own| own.id).collect();
            writing.extend(more);
            if writing.len() == before {
                break;
            }
        }
        let all = self.mentions.iter().filter_map(pointed);
        all.filter(|id| !writing.contains(id)).collect()
    }

    /// Whether a function whose name stands at `name` is given what is mentioned, or gives it as a variable of its own.
    fn gives(&self, mention: &Mention, name: usize) -> bool {
        let is_set = mention.at < name;
        let end = (name..name + LONGEST).find(|at| matches!(self.text_at(*at), ";" | ""));
        let place = Place::of(mention.at);
        !is_set || end.is_some_and(|end| self.returned_by(&(name..end), &place).is_some())
    }

    /// Whether a pointer alone is set where it is mentioned, to what another mention says.
    fn makes_pointer(&self, mention: &Mention) -> bool {
        let variable = self.variables.get(mention.id);
        let is_pointer = variable.declared.is_indirect || variable.declared.words.contains(&"auto");
        let is_set = self.text_at(mention.at + 1) == "=";
        mention.does == Does::Writes && is_pointer && !variable.declared.is_reference && is_set
    }

    /// Whether a pointer is set to one thing alone, so that what that is called says what it points to.
    fn names_one(&self, id: Id) -> bool {
        let is_nothing = |value: &Value| match value {
            Value::Expression(span) => matches!(self.word(span), Some("NULL" | "nullptr" | "0")),
            Value::Part => true,
            Value::List(_)
            | Value::Compound(..)
            | Value::Count(_)
            | Value::Behind(..)
            | Value::Swapped(_)
            | Value::Given(_)
            | Value::Unknown => false,
        };
        let sets = self.variables.get(id).definitions.iter();
        sets.filter(|set| !is_nothing(&set.value)).count() <= 1
    }

    /// Whether what stands at `at` is a statement's own, which is done whenever that is: not a part of a condition.
    fn is_plain(&self, at: usize) -> bool {
        let is_of_header = |kind: &RegionKind| match kind {
            RegionKind::For { header, .. } => header.contains(&at) && self.text_at(at - 1) != ":",
            RegionKind::While { condition } => condition.contains(&at),
            RegionKind::Block
            | RegionKind::Function { .. }
            | RegionKind::Lambda { .. }
            | RegionKind::Do { .. }
            | RegionKind::If { .. }
            | RegionKind::Switch { .. }
            | RegionKind::Catch => false,
        };
        !is_perhaps(&self.code, at)
            && self.regions.lambda(at).is_none()
            && !self.regions.around(at).any(|(_, region)| is_of_header(&region.kind))
    }
}

struct Finder<'h, 's> {
    host: &'h Host<'s>,
    brackets: &'h Brackets,
}

impl<'s> Finder<'_, 's> {
    /// The variable that the name at a place means.
    fn variable(&self, at: usize) -> Option<Id> {
        self.host.visible(self.host.code.text_at(at), at).filter(|_| self.host.code.is_word_at(at))
    }

    /// What is set behind `at`, where that is an `=`: what stands behind the last of several.
    fn set_behind(&self, at: usize) -> Option<Span> {
        if self.host.code.text_at(at) != "=" || self.host.code.text_at(at + 1) == "=" {
            return None;
        }
        let (mut start, mut end) = (at + 1, at + 1);
        while end - at < LONGEST {
            match self.host.code.text_at(end) {
                "," | ";" | ")" | "]" | "}" | "" => break,
                "(" | "[" | "{" => end = self.brackets.after(end)?,
                "=" if self.is_assignment(end) => {
                    end += 1;
                    start = end;
                }
                _ => end += 1,
            }
        }
        (start < end).then_some(start..end)
    }

    fn is_assignment(&self, at: usize) -> bool {
        let before = self.host.code.text_before(at);
        self.host.code.text_at(at + 1) != "="
            && !matches!(before, "=" | "<" | ">" | "!" | "+" | "-" | "*" | "/")
    }

    /// `name[i]` at the bracket `at`.
    fn element(&self, at: usize) -> Option<Write<'s>> {
        let name = at.checked_sub(1)?;
        self.variable(name)?;
        let before = name.checked_sub(1)?;
        // What stands behind a type is declared, and a member of something else is not known.
        let is_of_type = self.host.code.is_word_at(before)
            && !matches!(self.host.code.text_at(before), "else" | "do");
        if is_of_type || matches!(self.host.code.text_at(before), "." | ">" | "*" | "&") {
            return None;
        }
        let (mut end, mut index) = (at, Vec::new());
        while self.host.code.text_at(end) == "[" {
            let after = self.brackets.after(end)?;
            index.push(end + 1..after - 1);
            end = after;
        }
        let mut fields = Vec::new();
        while self.host.code.text_at(end) == "." && self.host.code.is_word_at(end + 1) {
            fields.push(self.host.code.text_at(end + 1));
            end += 2;
        }
        let value = self.set_behind(end)?;
        Some(Write::at(name, Written::Element { index, fields, value }))
    }

    /// `*(name + i) = value`, `*name = value`.
    fn behind_pointer(&self, at: usize) -> Option<Write<'s>> {
        let is_first = matches!(self.host.code.text_at(at.checked_sub(1)?), ";" | "{" | "}" | ")");
        let (name, end) = match self.host.code.text_at(at + 1) {
            "(" => (at + 2, self.brackets.after(at + 1)?),
            _ => (at + 1, at + 2),
        };
        let value = self.set_behind(end).filter(|_| is_first)?;
        self.variable(name)?;
        let index = match (self.host.code.text_at(at + 1), self.host.code.text_at(name + 1)) {
            ("(", "+") => std::iter::once(name + 2..end - 1).collect(),
            ("(", _) => return None,
            _ => Vec::new(),
        };
        Some(Write::at(name, Written::Element { index, fields: Vec::new(), value }))
    }

    /// `name.push_back(value)`, `name.assign(count, value)`.
    fn method(&self, at: usize) -> Option<Write<'s>> {
        let name = at.checked_sub(1)?;
        self.variable(name)?;
        let parts = self.parts_of_call(at + 2)?;
        let what = match (self.host.code.text_at(at + 1), parts.as_slice()) {
            ("push_back" | "emplace_back", [value]) => Written::Pushed(value.clone()),
            ("assign", [_, value]) => Written::All(Some(value.clone())),
            ("fill", [value]) => Written::All(Some(value.clone())),
            _ => return None,
        };
        Some(Write::at(name, what))
    }

    /// `for (auto &x : name) x = value;`, whose colon stands at `at`.
    fn range(&self, at: usize) -> Option<Write<'s>> {
        let (x, name, close) = (at.checked_sub(1)?, at + 1, at + 2);
        if self.host.code.text_at(close) != ")"
            || !self.host.code.is_word_at(x)
            || self.host.code.text_at(x.checked_sub(1)?) != "&"
        {
            return None;
        }
        self.variable(name)?;
        let is_block = self.host.code.text_at(close + 1) == "{";
        let body = if is_block { close + 2 } else { close + 1 };
        let value = self
            .set_behind(body + 1)
            .filter(|_| self.host.code.text_at(body) == self.host.code.text_at(x))?;
        // Nothing else is done in a round.
        let is_all = self.host.code.text_at(value.end) == ";"
            && (!is_block || self.host.code.text_at(value.end + 1) == "}");
        is_all.then(|| Write::at(name, Written::Drawn(value)))
    }

    /// Up to where something is written from `first` on: `name + n`, `name.end()`.
    fn extent(&self, first: usize, last: &Span) -> Option<Extent> {
        match self.host.tokens(last) {
            [name, plus, ..] if name.text == self.host.code.text_at(first) && plus.text == "+" => {
                let count = last.start + 2..last.end;
                // `a + n - 1` is no count behind the sign.
                let mut signs = count.clone().map(|at| self.host.code.text_at(at));
                (!signs.any(|sign| matches!(sign, "+" | "-"))).then_some(Extent::Elements(count))
            }
            [name, dot, end, ..]
                if name.text == self.host.code.text_at(first) && dot.text == "." =>
            {
                (end.text == "end").then_some(Extent::Whole)
            }
            [.., end, open, name, close]
                if (end.text, open.text, close.text) == ("end", "(", ")") =>
            {
                (name.text == self.host.code.text_at(first)).then_some(Extent::Whole)
            }
            _ => None,
        }
    }

    fn parts_of_call(&self, open: usize) -> Option<Vec<Span>> {
        let after = self.brackets.after(open).filter(|_| self.host.code.text_at(open) == "(")?;
        let inner = open + 1..after - 1;
        (inner.len() <= LONGEST && !inner.is_empty()).then(|| self.host.parts(inner))
    }

    /// A function of a library that fills what it is given, whose parenthesis opens at `at`.
    fn call(&self, at: usize) -> Option<Write<'s>> {
        let function = self.host.code.text_at(at.checked_sub(1)?);
        let parts = self.parts_of_call(at)?;
        let first = || self.host.whole(parts.first()?);
        let ends = |what: Written<'s>, last: &Span| {
            let first = first()?;
            Some((first, what, self.extent(first, last)?))
        };
        let counts = |what: Written<'s>, place: &Span, count: &Span| {
            Some((self.host.whole(place)?, what, Extent::Elements(count.clone())))
        };
        let (name, what, extent) = match (function, parts.as_slice()) {
            ("fill", [_, last, value]) => ends(Written::All(Some(value.clone())), last),
            ("iota", [_, last, from]) => ends(Written::Counted(from.clone()), last),
            ("sequence", [_, last]) => ends(Written::Counted(0..0), last),
            ("generate", [_, last, made]) => ends(self.made(made), last),
            ("fill_n", [first, count, value]) => {
                counts(Written::All(Some(value.clone())), first, count)
            }
            ("generate_n", [first, count, made]) => counts(self.made(made), first, count),
            ("curandGenerateUniform" | "curandGenerateUniformDouble", [_, to, count]) => {
                counts(Written::Between([0, 1]), to, count)
            }
            ("curandGenerateNormal" | "curandGenerateNormalDouble", [_, to, count, ..]) => {
                counts(Written::Between([-3, 3]), to, count)
            }
            // Of other bytes than zeros each type has other numbers.
            ("memset", [_, value, bytes]) if self.host.word(value) == Some("0") => {
                Some((first()?, Written::All(None), Extent::Bytes(bytes.clone())))
            }
            ("memset" | "fread", [..]) => Some((first()?, Written::Unknown, Extent::Whole)),
            ("fscanf" | "sscanf", [.., last]) => {
                Some((self.host.whole(last)?, Written::Unknown, Extent::Whole))
            }
            _ => None,
        }?;
        Some(Write { at: name, what, extent, covers: at..self.brackets.after(at)? })
    }

    /// What a function, perhaps one without a name, gives each time.
    fn made(&self, of: &Span) -> Written<'s> {
        let within = of.clone().take(LONGEST_LAMBDA);
        let mut returns = within.filter(|at| self.host.code.text_at(*at) == "return");
        let alone = returns.next().filter(|_| returns.next().is_none());
        match (alone, of.len()) {
            (Some(at), _) => {
                let end = (at..of.end).find(|at| self.host.code.text_at(*at) == ";").unwrap_or(at);
                Written::Drawn(at + 1..end)
            }
            // The name of a function, which is called.
            (None, 1) => Written::Drawn(of.clone()),
            (None, _) => Written::Unknown,
        }
    }

    /// What a declaration at `at` begins with: `float name[] = {1, 2}`, `std::vector<float> name(n, 1.0f)`.
    fn declared(&self, at: usize) -> Option<Write<'s>> {
        let id = self
            .host
            .visible(self.host.code.text_at(at), at + 1)
            .filter(|_| self.host.code.is_word_at(at))?;
        let variable = self.host.variables.get(id);
        if variable.at != at || variable.parameter.is_some() {
            return None;
        }
        let first = variable.definitions.iter().find(|set| set.at == at)?;
        let Value::List(parts) = &first.value else { return None };
        let declared = &variable.declared;
        let is_container = declared.words.iter().any(|word| readers::copies(word));
        let is_sized = declared.words.contains(&"vector") && self.host.code.text_at(at + 1) == "(";
        let what = match parts.as_slice() {
            // A pointer that is made of another one.
            [_] if declared.is_indirect && self.host.code.text_at(at + 1) == "(" => return None,
            [size, value] if is_sized && self.is_number(size) => Written::All(Some(value.clone())),
            [size] if is_sized && self.is_number(size) => Written::All(None),
            _ if is_container && self.host.code.text_at(at + 1) == "(" => Written::Unknown,
            all if declared.is_indirect || declared.words.contains(&"vector") => {
                Written::List(all.to_vec())
            }
            _ if is_container => Written::Unknown,
            _ => return None,
        };
        Some(Write::at(at, what))
    }

    /// Whether a part of the code is no memory, of which a container would be a copy.
    fn is_number(&self, span: &Span) -> bool {
        let is_memory = |at: usize| {
            let id = self.variable(at).filter(|_| self.host.code.text_at(at + 1) != ".");
            id.is_some_and(|id| {
                let declared = &self.host.variables.get(id).declared;
                declared.is_indirect || self.host.named_type(&declared.words).is_none()
            })
        };
        !span.clone().any(is_memory)
    }
}

impl Host<'_> {
    /// Where the name stands of something all of which a part of the code names: `name`, `name.begin()`, `&name[0]`,
    /// `(void **)name`.
    pub(in crate::scene::draft) fn whole(&self, span: &Span) -> Option<usize> {
        let inner = without_casts(&self.code, span.clone());
        let texts: Vec<&str> = self.tokens(&inner).iter().map(|token| token.text).collect();
        let name = match texts.as_slice() {
            [_] | [_, ".", "begin" | "data" | "get", "(", ")"] => inner.start,
            ["&", _, "[", "0", "]"] => inner.start + 1,
            ["std", "::", "begin", "(", _, ")"] => inner.start + 4,
            ["begin", "(", _, ")"] => inner.start + 2,
            _ => return None,
        };
        self.visible(self.text_at(name), name).map(|_| name)
    }
}
