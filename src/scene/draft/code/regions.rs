//! The parts of host code that lie in one another: functions, blocks, loops and branches.

use super::{LONGEST, Span};
use crate::cuda::{
    brackets::Brackets,
    lexer::{Token, Tokens},
};

/// So many regions lie in one another; what lies deeper is not told apart.
pub(in crate::scene::draft) const DEEPEST: usize = 64;

/// So many tokens stand between the parameters of a lambda and its block, at most.
const MOST_BEHIND: usize = 40;

/// Words behind which parentheses and a brace are no function.
const NO_FUNCTIONS: [&str; 6] = ["if", "for", "while", "switch", "catch", "constexpr"];

/// What a region is.
#[derive(Clone, PartialEq)]
pub(in crate::scene::draft) enum Kind {
    /// A block, also one of a structure, a namespace, or behind a `try`; an `if`, a `while` or a `switch` from its
    /// parentheses on, where these declare something.
    Block,
    /// From the parentheses of its parameters on.
    Function {
        /// Where its name stands.
        name: usize,
        parameters: Span,
        body: usize,
    },
    /// From its parentheses or its block on.
    Lambda {
        /// Where its captures begin.
        captures: usize,
        parameters: Span,
        body: usize,
    },
    /// From its parentheses on, whose inside is the header.
    For {
        header: Span,
        body: Span,
    },
    While {
        condition: Span,
    },
    Do {
        condition: Option<Span>,
    },
    /// What runs where the condition holds, or where it does not.
    If {
        condition: Span,
        holds: bool,
    },
    Switch {
        condition: Span,
    },
    Catch,
}

/// A region of the code.
pub(in crate::scene::draft) struct Region {
    pub(in crate::scene::draft) kind: Kind,
    pub(in crate::scene::draft) span: Span,
    parent: Option<usize>,
    /// The function around it, or itself.
    function: Option<usize>,
}

impl Region {
    /// What a loop repeats; `None` where it is none.
    pub(in crate::scene::draft) fn repeated(&self) -> Option<Span> {
        match &self.kind {
            Kind::For { body, .. } => Some(body.clone()),
            Kind::While { .. } | Kind::Do { .. } => Some(self.span.clone()),
            Kind::Block
            | Kind::Function { .. }
            | Kind::Lambda { .. }
            | Kind::If { .. }
            | Kind::Switch { .. }
            | Kind::Catch => None,
        }
    }

    /// The parameters of what can be called, and where its name stands: a lambda has that of `name = [...]`, as far as
    /// `text` tells. `None` where it is no function and no lambda.
    pub(in crate::scene::draft) fn callable<'c>(
        &self,
        text: impl Fn(usize) -> &'c str,
    ) -> Option<(Option<usize>, &Span)> {
        match &self.kind {
            Kind::Function { name, parameters, .. } => Some((Some(*name), parameters)),
            Kind::Lambda { captures, parameters, .. } => {
                let name = captures.checked_sub(2).filter(|name| text(name + 1) == "=");
                Some((name, parameters))
            }
            Kind::Block
            | Kind::For { .. }
            | Kind::While { .. }
            | Kind::Do { .. }
            | Kind::If { .. }
            | Kind::Switch { .. }
            | Kind::Catch => None,
        }
    }

    /// All that is done in each round of a loop: the condition behind a `do`, too.
    pub(in crate::scene::draft) fn rounds(&self) -> Span {
        match &self.kind {
            Kind::Do { condition: Some(condition) } => self.span.start..condition.end,
            Kind::Do { condition: None }
            | Kind::For { .. }
            | Kind::While { .. }
            | Kind::Block
            | Kind::Function { .. }
            | Kind::Lambda { .. }
            | Kind::If { .. }
            | Kind::Switch { .. }
            | Kind::Catch => self.span.clone(),
        }
    }
}

/// All regions.
#[derive(Default)]
pub(in crate::scene::draft) struct Regions {
    all: Vec<Region>,
    /// The innermost at each token.
    innermost: Vec<Option<u32>>,
}

impl Regions {
    pub(in crate::scene::draft) fn new(code: &[Token<'_>], brackets: &Brackets) -> Self {
        let finder = Finder { code, brackets, ends: statement_ends(code, brackets) };
        let mut found: Vec<(Kind, Span)> =
            (0..code.len()).flat_map(|at| finder.regions_at(at)).collect();
        finder.blocks_of_macros(&mut found);
        let mut bodies: Vec<usize> = found.iter().map(|(kind, span)| body_of(kind, span)).collect();
        bodies.sort_unstable();
        let blocks = (0..code.len())
            .filter(|at| code[*at].text == "{" && bodies.binary_search(at).is_err())
            .filter_map(|at| Some((Kind::Block, at..brackets.after(at)?)));
        found.extend(blocks);
        found.sort_by_key(|(_, span)| (span.start, std::cmp::Reverse(span.end)));
        Self::nested(found, code.len())
    }

    /// Regions in the order of their starts, each within the ones around it.
    fn nested(found: Vec<(Kind, Span)>, length: usize) -> Self {
        let (mut all, mut open) = (Vec::<Region>::new(), Vec::<usize>::new());
        let mut innermost = Vec::with_capacity(length);
        let mut found = found.into_iter().peekable();
        for at in 0..length {
            while open.last().is_some_and(|last| all[*last].span.end <= at) {
                open.pop();
            }
            while let Some((kind, span)) = found.next_if(|(_, span)| span.start <= at) {
                if open.len() >= DEEPEST || span.end <= at {
                    continue;
                }
                let parent = open.last().copied();
                // Half-typed text may have some that cross.
                let end = parent.map_or(span.end, |parent| span.end.min(all[parent].span.end));
                let function = match kind {
                    Kind::Function { .. } => Some(all.len()),
                    _ => parent.and_then(|parent| all[parent].function),
                };
                open.push(all.len());
                all.push(Region { kind, span: span.start..end, parent, function });
            }
            innermost.push(open.last().map(|last| *last as u32));
        }
        Self { all, innermost }
    }

    /// All of them, in the order of their starts.
    pub(in crate::scene::draft) fn iter(&self) -> impl Iterator<Item = (usize, &Region)> {
        self.all.iter().enumerate()
    }

    pub(in crate::scene::draft) fn get(&self, region: usize) -> Option<&Region> {
        self.all.get(region)
    }

    /// The regions around a place, from the innermost.
    pub(in crate::scene::draft) fn around(
        &self,
        at: usize,
    ) -> impl Iterator<Item = (usize, &Region)> {
        let first = self.innermost.get(at).copied().flatten().map(|region| region as usize);
        let of = |region: usize| (region, &self.all[region]);
        std::iter::successors(first.map(of), move |(_, region)| region.parent.map(of))
    }

    /// Whether as many regions are around a place as are told apart.
    pub(in crate::scene::draft) fn is_too_deep(&self, at: usize) -> bool {
        self.around(at).count() >= DEEPEST
    }

    /// The function around a place.
    pub(in crate::scene::draft) fn function(&self, at: usize) -> Option<usize> {
        self.around(at).next().and_then(|(_, region)| region.function)
    }

    /// The lambda around a place.
    pub(in crate::scene::draft) fn lambda(&self, at: usize) -> Option<usize> {
        let is_lambda = |region: &Region| matches!(region.kind, Kind::Lambda { .. });
        self.around(at).find(|(_, region)| is_lambda(region)).map(|(index, _)| index)
    }

    /// What is in sight where something is declared at a place.
    pub(in crate::scene::draft) fn scope(&self, at: usize) -> Span {
        self.around(at).next().map_or(0..usize::MAX, |(_, region)| region.span.clone())
    }

    /// What the innermost loop around `at` repeats.
    pub(in crate::scene::draft) fn repeated_around(&self, at: usize) -> Option<Span> {
        self.around(at).find_map(|(_, region)| region.repeated().filter(|body| body.contains(&at)))
    }
}

/// Where the block of a region would begin.
fn body_of(kind: &Kind, span: &Span) -> usize {
    match kind {
        Kind::For { body, .. } => body.start,
        Kind::Function { body, .. } | Kind::Lambda { body, .. } => *body,
        Kind::Block
        | Kind::While { .. }
        | Kind::Do { .. }
        | Kind::If { .. }
        | Kind::Switch { .. }
        | Kind::Catch => span.start,
    }
}

/// For each token the place behind the statement that begins there. Statements of statements are known from behind,
/// however deep they lie.
fn statement_ends(code: &[Token<'_>], brackets: &Brackets) -> Vec<usize> {
    let length = code.len();
    // Behind the next semicolon outside of brackets.
    let mut simple = vec![length; length + 1];
    let mut ends = vec![length; length + 1];
    for at in (0..length).rev() {
        let after = |open: usize| brackets.after(open).filter(|after| *after > open);
        simple[at] = match code.text_at(at) {
            ";" => at + 1,
            ")" | "]" | "}" => at,
            "(" | "[" | "{" => after(at).map_or(length, |after| simple[after.min(length)]),
            _ => simple[at + 1],
        };
        let head = |at: usize| {
            let open = if code.text_at(at + 1) == "constexpr" { at + 2 } else { at + 1 };
            after(open).filter(|_| code.text_at(open) == "(")
        };
        ends[at] = match code.text_at(at) {
            "{" => after(at).unwrap_or(length),
            "if" => head(at).map_or(simple[at], |body| {
                let end = ends[body.min(length)];
                if code.text_at(end) == "else" { ends[(end + 1).min(length)] } else { end }
            }),
            "for" | "while" | "switch" => {
                head(at).map_or(simple[at], |body| ends[body.min(length)])
            }
            "do" => {
                let behind = ends[at + 1];
                if code.text_at(behind) == "while" { simple[behind] } else { behind }
            }
            "try" => ends[at + 1],
            _ => simple[at],
        };
    }
    ends
}

struct Finder<'t, 's> {
    code: &'t [Token<'s>],
    brackets: &'t Brackets,
    /// Of statements.
    ends: Vec<usize>,
}

impl Finder<'_, '_> {
    /// The statement at a place.
    fn statement(&self, at: usize) -> Span {
        at..self.ends.get(at).copied().unwrap_or(at).max(at)
    }

    /// What stands in the parentheses that open at `open`, and the place behind them.
    fn head(&self, open: usize) -> Option<(Span, usize)> {
        let after = self.brackets.after(open).filter(|_| self.code.text_at(open) == "(")?;
        Some((open + 1..after - 1, after))
    }

    /// The regions that the word at a place begins.
    fn regions_at(&self, at: usize) -> Vec<(Kind, Span)> {
        let of = |found: Option<(Kind, Span)>| found.into_iter().collect();
        match self.code.text_at(at) {
            "if" => self.branches(at).into_iter().chain(self.declaring(at)).collect(),
            "for" => of(self.head(at + 1).map(|(header, after)| {
                let body = self.statement(after);
                (Kind::For { header, body: body.clone() }, at + 1..body.end)
            })),
            // Behind the block of a `do` nothing is repeated.
            "while" => {
                let head = self.head(at + 1).filter(|(_, after)| self.code.text_at(*after) != ";");
                let is_loop = head.is_some();
                let found = head
                    .map(|(condition, after)| (Kind::While { condition }, self.statement(after)));
                found.into_iter().chain(self.declaring(at).filter(|_| is_loop)).collect()
            }
            "do" => {
                let body = self.statement(at + 1);
                let end =
                    self.head(body.end + 1).filter(|_| self.code.text_at(body.end) == "while");
                vec![(Kind::Do { condition: end.map(|(condition, _)| condition) }, body)]
            }
            "switch" => {
                let switch = self.head(at + 1).map(|(head, after)| {
                    let condition = self.condition(&head);
                    (Kind::Switch { condition }, self.statement(after))
                });
                switch.into_iter().chain(self.declaring(at)).collect()
            }
            "catch" => of(self.head(at + 1).map(|(_, after)| (Kind::Catch, self.statement(after)))),
            "(" => of(self.function(at)),
            "[" => of(self.lambda(at)),
            _ => Vec::new(),
        }
    }

    fn branches(&self, at: usize) -> Vec<(Kind, Span)> {
        let open = if self.code.text_at(at + 1) == "constexpr" { at + 2 } else { at + 1 };
        let Some((head, after)) = self.head(open) else { return Vec::new() };
        let condition = self.condition(&head);
        let branch =
            |holds, at| (Kind::If { condition: condition.clone(), holds }, self.statement(at));
        let yes = branch(true, after);
        let end = yes.1.end;
        match self.code.text_at(end) == "else" {
            true => vec![yes, branch(false, end + 1)],
            false => vec![yes],
        }
    }

    /// What is asked in a head, `n > 2` of `int n = 4; n > 2`.
    fn condition(&self, head: &Span) -> Span {
        let last = head.clone().rev().find(|at| self.code.text_at(*at) == ";");
        last.map_or(head.start, |semicolon| semicolon + 1)..head.end
    }

    /// All of the statement at a place where it declares something in its parentheses: that is in sight there alone.
    fn declaring(&self, at: usize) -> Option<(Kind, Span)> {
        let open = if self.code.text_at(at + 1) == "constexpr" { at + 2 } else { at + 1 };
        let (head, _) = self.head(open)?;
        let is_word = |at: usize| self.code.is_word_at(at);
        let is_other = |at: usize| {
            self.code.text_at(at) == "=" && self.code.text_at(at + 1) != "=" && is_word(at - 1)
        };
        let is_declared = head.clone().any(|at| self.code.text_at(at) == ";")
            || is_word(head.start) && head.clone().skip(2).any(is_other);
        let end = self.ends.get(at).copied()?;
        is_declared.then_some((Kind::Block, open..end))
    }

    /// `[captures](parameters) { ... }`
    fn lambda(&self, captures: usize) -> Option<(Kind, Span)> {
        let before = self.code.get(captures.checked_sub(1)?)?;
        let is_subscript = before.is_word() && before.text != "return";
        let start = self.brackets.after(captures).filter(|_| !is_subscript)?;
        if matches!(before.text, ")" | "]" | "[") || !matches!(self.code.text_at(start), "(" | "{")
        {
            return None;
        }
        let (parameters, behind) = self.head(start).unwrap_or((start..start, start));
        let mut near = behind..behind + MOST_BEHIND;
        let body = near.find(|at| matches!(self.code.text_at(*at), "{" | ";" | "," | ")" | ""))?;
        let end = self.brackets.after(body).filter(|_| self.code.text_at(body) == "{")?;
        Some((Kind::Lambda { captures, parameters, body }, start..end))
    }

    /// A function, by the look of it: a name, parentheses, a brace.
    fn function(&self, at: usize) -> Option<(Kind, Span)> {
        let name = self.name_before(at)?;
        let is_named = !NO_FUNCTIONS.contains(&self.code.text_at(name));
        let (parameters, mut behind) = self.head(at).filter(|_| is_named)?;
        let before = |by: usize| name.checked_sub(by).map_or("", |at| self.code.text_at(at));
        let is_initialiser = before(1) == "," || (before(2), before(1)) == (")", ":");
        if parameters.len() > LONGEST || is_initialiser {
            return None;
        }
        while matches!(self.code.text_at(behind), "const" | "noexcept" | "override") {
            behind += 1;
        }
        if (self.code.text_at(behind), self.code.text_at(behind + 1)) == ("-", ">") {
            let mut near = behind + 2..behind + MOST_BEHIND;
            behind =
                near.find(|at| matches!(self.code.text_at(*at), "{" | "}" | ";" | "=" | "." | ""))?;
        }
        let body = self.behind_initialisers(behind)?;
        let end = self.brackets.after(body).filter(|_| self.code.text_at(body) == "{")?;
        Some((Kind::Function { name, parameters, body }, at..end))
    }

    /// Where the name stands before the parentheses that open at `open`, and before what a specialisation has in angle
    /// brackets.
    fn name_before(&self, open: usize) -> Option<usize> {
        let mut at = open.checked_sub(1)?;
        if self.code.text_at(at) == ">" {
            let (mut depth, first) = (0_usize, at.saturating_sub(MOST_BEHIND));
            let opening = (first..=at).rev().find(|at| {
                match self.code.text_at(*at) {
                    ">" => depth += 1,
                    "<" => depth = depth.saturating_sub(1),
                    ";" | "{" | "}" | "(" | ")" => return true,
                    _ => {}
                }
                depth == 0
            });
            at = opening.filter(|at| self.code.text_at(*at) == "<")?.checked_sub(1)?;
        }
        (self.code.get(at)?.is_word()).then_some(at)
    }

    /// What looks like a function within the braces of another one, and has no type before its name, is the block of a
    /// macro, `FOR_EACH(i, n) { ... }`: it may be done any number of times.
    fn blocks_of_macros(&self, found: &mut [(Kind, Span)]) {
        let structures = self.structures();
        let (mut structures, mut inner) = (structures.into_iter().peekable(), 0);
        let mut outer = 0..0;
        for (kind, span) in found {
            let Kind::Function { name, parameters, body } = &*kind else { continue };
            if *name >= outer.end {
                outer = *body..span.end;
                continue;
            }
            while let Some(structure) = structures.next_if(|structure| structure.start < *name) {
                if structure.start > outer.start {
                    inner = inner.max(structure.end);
                }
            }
            let before = self.code.text_before(*name);
            let is_statement = matches!(before, ";" | "{" | "}" | ")" | ":" | "else" | "do");
            if is_statement && *name >= inner && *name > outer.start {
                (*kind, *span) = (Kind::While { condition: parameters.clone() }, *body..span.end);
            }
        }
    }

    /// The members of all structures, in the order of their starts.
    fn structures(&self) -> Vec<Span> {
        let is_word = |at: &usize| matches!(self.code.text_at(*at), "struct" | "class" | "union");
        let members = |at: usize| {
            let mut near = at + 1..at + MOST_BEHIND;
            let open =
                near.find(|at| matches!(self.code.text_at(*at), "{" | "(" | ")" | ";" | "=" | ""))?;
            Some(open..self.brackets.after(open).filter(|_| self.code.text_at(open) == "{")?)
        };
        (0..self.code.len()).filter(is_word).filter_map(members).collect()
    }

    /// Behind what a constructor makes its fields of, `: a(1), b{2}`, where that stands at `at`.
    fn behind_initialisers(&self, mut at: usize) -> Option<usize> {
        if self.code.text_at(at) != ":" {
            return Some(at);
        }
        for _ in 0..LONGEST {
            let open = (at + 1..at + MOST_BEHIND)
                .find(|at| matches!(self.code.text_at(*at), "(" | "{" | ";" | "}" | ""))?;
            at = self
                .brackets
                .after(open)
                .filter(|_| matches!(self.code.text_at(open), "(" | "{"))?;
            match self.code.text_at(at) {
                "," => {}
                "{" => return Some(at),
                _ => return None,
            }
        }
        None
    }
}
