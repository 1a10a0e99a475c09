//! Loops of host code that go on until kernels have found something: `while (residual > eps)`,
//! `do ... while (changed)`, where the variable is what is copied from the device in each round.

use crate::scene::{
    comparison::Comparison,
    draft::{
        code::{
            LONGEST, Span,
            operands::change_at,
            regions::{Kind, Region},
        },
        expression::{
            cpp_number::{Number, Type},
            syntax::Expression,
        },
        host::{
            Host,
            loop_header::{Loop, Until},
        },
    },
    operator::Operator,
};

impl<'s> Host<'s> {
    /// The loop of a region, where a kernel's result ends it.
    pub(in crate::scene::draft) fn understood_until(
        &self,
        region: usize,
        condition: &Span,
    ) -> Option<Loop<'s>> {
        let body = self.regions.get(region)?.repeated()?;
        let (mut found, mut most) = (None, None);
        for part in self.split(condition, "&").into_iter().filter(|part| !part.is_empty()) {
            let tokens = self.tokens(&part);
            let negated = matches!(tokens, [not, _] if not.text == "!");
            let name = if negated { part.start + 1 } else { part.start };
            let name = self.code.get(name)?.text;
            let (comparison, limit) = match negated {
                true => (Comparison::Equal, Expression::Number(Number::int(0))),
                false => {
                    let (comparison, limit) = self.limit(&part, name);
                    comparison.zip(limit)?
                }
            };
            match self.copied_to(name, &body) {
                Some((pointer, at)) if found.is_none() => {
                    found = Some((pointer, at, comparison, limit));
                }
                None if comparison == Comparison::Less && most.is_none() => most = Some(limit),
                Some(_) | None => return None,
            }
        }
        let (pointer, at, comparison, limit) = found?;
        let condition = condition.clone();
        Some(Loop {
            region,
            variable: None,
            name: "round",
            of: Type::Int,
            header: condition.clone(),
            body,
            first: condition.start..condition.start,
            comparison,
            limit: Expression::Unknown,
            step: Operator::Add,
            by: Expression::Unknown,
            is_changed: false,
            until: Some(Until { pointer, at, comparison, limit, most, condition }),
        })
    }

    /// The pointer that a variable's number is copied from in each round of a loop, and where; nothing sets it behind
    /// that.
    fn copied_to(&self, name: &str, body: &Span) -> Option<(&'s str, usize)> {
        let is_copy = |at: &usize| matches!(self.text_at(*at), "cudaMemcpy" | "cudaMemcpyAsync");
        let mut copies = body.clone().filter(is_copy).filter_map(|at| {
            let parts = self.parts_of_call(at);
            let [to, from, _, kind, ..] = parts.as_slice() else { return None };
            let [and, own] = self.tokens(to) else { return None };
            let is_back = self.text(kind).ends_with("cudaMemcpyDeviceToHost");
            let is_it = is_back && and.text == "&" && own.text == name;
            is_it.then_some((at, kind.end, self.base(from)?))
        });
        let (at, end, pointer) = copies.next().filter(|_| copies.next().is_none())?;
        let variable = self.variables.get(self.visible(name, at)?);
        let mut later = variable.definitions.iter().filter(|set| set.at > end);
        let is_loop = |around: &Region| around.repeated().as_ref() == Some(body);
        let is_always = self.regions.repeated_around(at).as_ref() == Some(body)
            && self.branches(at, &is_loop).is_empty();
        (is_always && !later.any(|set| body.contains(&set.at))).then_some((pointer, at))
    }

    /// What a call is given whose name stands at `at`.
    pub(in crate::scene::draft) fn parts_of_call(&self, at: usize) -> Vec<Span> {
        let (mut depth, mut end) = (0_usize, at + 1);
        while end < self.code.len().min(at + LONGEST) {
            match self.text_at(end) {
                "(" => depth += 1,
                ")" if depth == 1 => return self.parts(at + 2..end),
                ")" => depth = depth.saturating_sub(1),
                ";" => break,
                _ => {}
            }
            end += 1;
        }
        Vec::new()
    }

    /// Whether a kernel may write to what its parameter `pointer` points to, as far as its text tells.
    pub(in crate::scene::draft) fn may_write(&self, kernel: &str, pointer: &str) -> bool {
        let last = kernel.rsplit("::").next().unwrap_or(kernel);
        let mut bodies = self.regions.iter().filter_map(|(_, region)| match &region.kind {
            Kind::Function { name, body, .. } if self.text_at(*name) == last => {
                Some(*body..region.span.end)
            }
            _ => None,
        });
        bodies.any(|body| {
            let is_it = |at: &usize| self.text_at(*at) == pointer;
            body.filter(is_it).any(|at| {
                let before = self.text_at(at.saturating_sub(1));
                let behind = self.behind_subscripts(at + 1);
                let is_given =
                    matches!(before, "(" | ",") && matches!(self.text_at(at + 1), ")" | ",");
                before == "&" || is_given || change_at(&self.code, behind).is_some()
            })
        })
    }

    /// Behind the subscripts that stand at `at`.
    fn behind_subscripts(&self, at: usize) -> usize {
        let (mut depth, mut end) = (0_usize, at);
        while end < self.code.len().min(at + LONGEST) {
            match self.text_at(end) {
                "[" => depth += 1,
                "]" => depth = depth.saturating_sub(1),
                _ if depth == 0 => break,
                _ => {}
            }
            end += 1;
        }
        end
    }
}
