//! What the host does with the device, in the order in which it does it: calls of the file's own functions are
//! followed, so that what one of them does is done once for each of its calls, with what that gives.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use super::overloads::Choice;
use crate::{
    cuda::{brackets::Brackets, lexer::Tokens},
    scene::draft::{
        code::{
            Span,
            parameters::{called_with, declarators},
            pointers::without_casts,
            regions::Kind,
            variables::Value,
        },
        host::{
            Host, MOST_LAUNCHES,
            done::{Act, Done},
            place::{Call, Place},
        },
    },
};

/// Calls in one another that are followed.
pub(in crate::scene::draft) const DEEPEST: usize = 16;
/// So much is told of what the host does.
const MOST_ACTS: usize = 8 * MOST_LAUNCHES;
/// So many calls are looked at.
const MOST_CALLS: usize = 10_000;

/// The calls of functions of the file.
#[derive(Default)]
struct Calls {
    followed: Vec<Call>,
    /// The regions of functions that are called where others of their names may be.
    namesakes: BTreeSet<usize>,
}

/// Calls of a function, or what it does itself.
enum Item {
    Act(Act),
    Call(usize),
}

/// The functions of the file that do something, with what they do in the order of the text.
#[derive(Default)]
struct Doing {
    calls: Vec<Call>,
    items: BTreeMap<Option<usize>, Vec<(usize, Item)>>,
    roots: Vec<Option<usize>>,
}

impl<'s> Host<'s> {
    /// What the host does of all `acts`, which are told with their places, in its order, and whether that is all.
    pub(in crate::scene::draft) fn trace(
        &self,
        acts: Vec<(usize, Act)>,
        brackets: &Brackets,
    ) -> (Vec<Done>, bool) {
        let doing = self.doing(acts, brackets);
        let (mut done, mut is_all) = (Vec::new(), true);
        for root in &doing.roots {
            is_all &= self.follow(*root, None, &doing, &mut done);
        }
        (done, is_all)
    }

    /// All that the host does with the device, with its places.
    pub(in crate::scene::draft) fn acts(&self) -> Vec<(usize, Act)> {
        let launches = self.launches.iter().map(|launch| launch.at).enumerate();
        let transfers = self.transfers.iter().map(|transfer| transfer.call.start).enumerate();
        let swaps = self.swaps.iter().map(|(.., at)| *at).enumerate();
        let allocations = self.allocating.iter().map(|found| found.target.start).enumerate();
        let fills = self.filling.iter().map(|target| target.start).enumerate();
        let untold = self.untold.iter().map(|untold| untold.call.start).enumerate();
        let symbols = self.symbols.iter().map(|(.., call)| call.start).enumerate();
        let acts = (launches.map(|(place, at)| (at, Act::Launch(place))))
            .chain(transfers.map(|(place, at)| (at, Act::Transfer(place))))
            .chain(swaps.map(|(place, at)| (at, Act::Swap(place))))
            .chain(allocations.map(|(place, at)| (at, Act::Allocation(place))))
            .chain(fills.map(|(place, at)| (at, Act::Fill(place))))
            .chain(symbols.map(|(place, at)| (at, Act::Symbol(place))))
            .chain(untold.map(|(place, at)| (at, Act::Untold(place))));
        acts.collect()
    }

    fn doing(&self, acts: Vec<(usize, Act)>, brackets: &Brackets) -> Doing {
        let mut items: BTreeMap<Option<usize>, Vec<(usize, Item)>> = BTreeMap::new();
        for (at, act) in acts {
            items.entry(self.regions.function(at)).or_default().push((at, Item::Act(act)));
        }
        let calls = self.calls(brackets).followed;
        // Who calls one that does something does something.
        let mut callers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, call) in calls.iter().enumerate() {
            callers.entry(call.function).or_default().push(place);
        }
        let mut open: Vec<usize> = items.keys().copied().flatten().collect();
        let (mut active, mut called) = (BTreeSet::new(), BTreeSet::new());
        while let Some(function) = open.pop() {
            if !active.insert(function) {
                continue;
            }
            for place in callers.get(&function).into_iter().flatten() {
                let at = calls[*place].at;
                let caller = self.regions.function(at);
                items.entry(caller).or_default().push((at, Item::Call(*place)));
                called.extend((caller != Some(function)).then_some(function));
                open.extend(caller);
            }
        }
        for of_function in items.values_mut() {
            // What ends where others do ends in the order of its calls.
            of_function.sort_by_key(|(at, item)| match item {
                Item::Act(_) => (*at, 0),
                Item::Call(place) => (*at, 1 + place),
            });
        }
        let is_root = |function: &Option<usize>| function.is_none_or(|of| !called.contains(&of));
        let roots = items.keys().copied().filter(is_root).collect();
        Doing { calls, items, roots }
    }

    /// The calls of functions of the file; those are followed of whose name and number of parameters there is one.
    fn calls(&self, brackets: &Brackets) -> Calls {
        let names = self.regions.iter().filter_map(|(_, region)| match region.kind {
            Kind::Function { name, .. } => Some(name),
            _ => None,
        });
        let definitions: BTreeSet<usize> = names.collect();
        let mut found = Calls::default();
        for (at, token) in self.code.iter().enumerate() {
            if self.candidates.named(token.text).is_empty() {
                continue;
            }
            let before = self.code.text_before(at);
            let is_hidden = !matches!(before, "." | ">" | "::") && self.is_hidden(token.text, at);
            let is_call =
                token.is_word() && !definitions.contains(&at) && before != "~" && !is_hidden;
            if !is_call || self.regions.function(at).is_none() || found.followed.len() >= MOST_CALLS
            {
                continue;
            }
            let Some((template, open)) = called_with(&self.code, at + 1) else { continue };
            let Some(after) = brackets.after(open) else { continue };
            let arguments = match after - open {
                2 => Vec::new(),
                _ => self.parts(open + 1..after - 1),
            };
            if self.look(after - open).is_none() {
                break;
            }
            let named = self.named_in_call(at);
            match self.chosen(&named, &arguments, &Place::of(at)) {
                Some(Choice::Here(function)) => {
                    let (loops, caller) = (0, None);
                    found.followed.push(Call { function, arguments, template, at, loops, caller });
                }
                Some(Choice::Unclear(all)) => found.namesakes.extend(all),
                Some(Choice::Elsewhere) | None => {}
            }
        }
        self.implied_calls(brackets, &mut found.followed);
        found
    }

    /// The calls that are followed.
    pub(in crate::scene::draft) fn calls_followed(&self, brackets: &Brackets) -> Vec<Call> {
        self.calls(brackets).followed
    }

    /// Where the names of functions stand in the calls that are followed, with all that they are given.
    pub(in crate::scene::draft) fn followed(&self, brackets: &Brackets) -> BTreeSet<usize> {
        let is_named = |call: &Call| match self.regions.get(call.function).map(|of| &of.kind) {
            Some(Kind::Function { parameters, .. }) => {
                let named = declarators(&self.code, parameters).len();
                named == self.parts(parameters.clone()).len() || parameters.is_empty()
            }
            Some(_) | None => false,
        };
        let calls = self.calls(brackets).followed.into_iter();
        calls.filter(is_named).map(|call| call.at).collect()
    }

    /// Whether some of what is done with the device is so by a function of which it is not known whether it is called
    /// or one of its namesakes.
    pub(in crate::scene::draft) fn is_of_namesakes(&self, brackets: &Brackets) -> bool {
        let namesakes = self.calls(brackets).namesakes;
        let is_one =
            |at: &usize| self.regions.function(*at).is_some_and(|of| namesakes.contains(&of));
        !namesakes.is_empty() && self.acting.iter().any(is_one)
    }

    /// Adds what a function does in a call; returns whether that is all.
    fn follow(
        &self,
        function: Option<usize>,
        call: Option<&Rc<Call>>,
        doing: &Doing,
        done: &mut Vec<Done>,
    ) -> bool {
        let mut is_all = true;
        for (at, item) in doing.items.get(&function).into_iter().flatten() {
            if done.len() >= MOST_ACTS {
                return false;
            }
            match item {
                Item::Act(act) => done.push(Done { act: *act, at: *at, call: call.cloned() }),
                Item::Call(place) => {
                    let callee = &doing.calls[*place];
                    if chain(call).any(|call| call.function == callee.function)
                        || function == Some(callee.function)
                        || chain(call).count() >= DEEPEST
                    {
                        is_all = false;
                        continue;
                    }
                    let inner = Rc::new(Call {
                        function: callee.function,
                        arguments: callee.arguments.clone(),
                        template: callee.template.clone(),
                        at: *at,
                        loops: self.place_in(*at, call).loops.len(),
                        caller: call.cloned(),
                    });
                    is_all &= self.follow(Some(callee.function), Some(&inner), doing, done);
                }
            }
        }
        is_all
    }

    /// What a parameter of the function around a place is given in the call that led there: where that stands.
    pub(in crate::scene::draft) fn argument_of<'h>(
        &'h self,
        name: &str,
        place: &Place<'h, 's>,
    ) -> Option<(Span, Place<'h, 's>)> {
        let call = place.call.as_ref()?;
        let variable = self.variables.get(self.visible(name, place.at)?);
        let (parameters, index) = variable.parameter.as_ref()?;
        let is_own = match &self.regions.get(call.function)?.kind {
            Kind::Function { parameters: own, .. } => own == parameters,
            _ => false,
        };
        if !is_own {
            return None;
        }
        if let Some(argument) = call.arguments.get(*index) {
            return Some((argument.clone(), place.outer()?));
        }
        let default = variable.definitions.iter().find(|set| parameters.contains(&set.at))?;
        let Value::Expression(default) = &default.value else { return None };
        Some((default.clone(), Place::of(default.start)))
    }

    /// The same of a parameter of the template around a place; of one that no call led to what the first call gives.
    pub(in crate::scene::draft) fn template_argument_of<'h>(
        &'h self,
        name: &str,
        place: &Place<'h, 's>,
    ) -> Option<(Span, Place<'h, 's>)> {
        let before = self.templates.partition_point(|template| template.body.start <= place.at);
        let mut nearest = self.templates[..before].iter().rev().take(DEEPEST);
        let template = nearest.find(|template| template.body.contains(&place.at))?;
        let index = template.parameters.iter().position(|(parameter, _)| *parameter == name)?;
        let is_own = |call: &Call| {
            self.regions.get(call.function).is_some_and(|of| of.span.end == template.body.end)
        };
        let call = place.call.as_ref().filter(|call| is_own(call) && !call.template.is_empty());
        if let Some(argument) = call.and_then(|call| call.template.get(index)) {
            return Some((argument.clone(), place.outer()?));
        }
        let first = template.arguments.get(index).filter(|_| call.is_none());
        if first.is_some() {
            // Another call may have others.
            self.doubt();
        }
        let first = first.or(template.parameters[index].1.as_ref())?;
        Some((first.clone(), Place::of(first.start)))
    }

    /// `name = f(...)`, where `f` returns the variable `of` in the call that led to a place.
    pub(in crate::scene::draft) fn returned_to<'h>(
        &'h self,
        of: &str,
        place: &Place<'h, 's>,
    ) -> Option<(&'s str, Place<'h, 's>)> {
        let call = place.call.as_ref()?;
        let body = &self.regions.get(call.function)?.span;
        let first = self.jumps.partition_point(|jump| *jump < body.start);
        let mut jumps = self.jumps[first..].iter().take_while(|jump| **jump < body.end);
        let is_returned = jumps.any(|jump| {
            let end = (jump + 1..body.end).find(|at| self.text_at(*at) == ";");
            let value = end.map(|end| without_casts(&self.code, jump + 1..end));
            self.text_at(*jump) == "return" && value.is_some_and(|v| self.word(&v) == Some(of))
        });
        let equals = (call.at.saturating_sub(DEEPEST)..call.at).rev();
        let equals = equals.take_while(|at| !matches!(self.text_at(*at), ";" | "{" | "}" | ","));
        let equals = equals.filter(|at| self.text_at(*at) == "=").last()?;
        let name = self.code.get(equals.checked_sub(1)?).filter(|t| t.is_word())?;
        is_returned.then(|| Some((name.text, place.outer()?)))?
    }
}

impl<'s> Host<'s> {
    /// The variable that a function of the file returns which is called by all of `span`, with the place of that.
    pub(in crate::scene::draft) fn returned_by<'h>(
        &'h self,
        span: &Span,
        place: &Place<'h, 's>,
    ) -> Option<(&'s str, Place<'h, 's>)> {
        let [name, open, .., close] = self.tokens(span) else { return None };
        if (open.text, close.text) != ("(", ")") || chain(place.call.as_ref()).count() >= DEEPEST {
            return None;
        }
        let inner = span.start + 2..span.end - 1;
        let arguments = if inner.is_empty() { Vec::new() } else { self.parts(inner) };
        let mut functions = self.regions.iter().filter_map(|(at, region)| match &region.kind {
            Kind::Function { name: own, parameters, .. } if self.text_at(*own) == name.text => {
                let count = match parameters.is_empty() {
                    true => 0,
                    false => self.parts(parameters.clone()).len(),
                };
                (count == arguments.len()).then_some((at, &region.span))
            }
            _ => None,
        });
        let (function, body) = functions.next().filter(|_| functions.next().is_none())?;
        self.look(self.regions.iter().count())?;
        let first = self.jumps.partition_point(|jump| *jump < body.start);
        let inside = self.jumps[first..].iter().take_while(|jump| **jump < body.end);
        let mut returns = inside.filter(|jump| self.text_at(**jump) == "return");
        let jump = *returns.next().filter(|_| returns.next().is_none())?;
        let value = self.code.get(jump + 1).filter(|token| token.is_word())?;
        let is_alone = self.text_at(jump + 2) == ";";
        let (at, caller) = (span.start, place.call.clone());
        let loops = place.loops.len();
        let call = Call { function, arguments, template: Vec::new(), at, loops, caller };
        let there = Place { at: jump, call: Some(Rc::new(call)), ..place.clone() };
        is_alone.then_some((value.text, there))
    }
}

/// A call and those within which it is made.
fn chain(call: Option<&Rc<Call>>) -> impl Iterator<Item = &Rc<Call>> {
    std::iter::successors(call, |call| call.caller.as_ref())
}
