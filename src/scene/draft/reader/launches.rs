//! Launches in host code, as they are written.

use super::Reader;
use crate::{
    cuda::lexer,
    scene::draft::{
        code::{LONGEST, Span, pointers::without_casts, variables::Value},
        host::{MOST_LAUNCHES, launch::Launch},
    },
};

impl Reader<'_, '_> {
    pub(in crate::scene::draft) fn is_launch(&self, at: usize) -> bool {
        (0..3).all(|next| self.text(at + next) == "<") && self.before(at) != "<"
    }

    pub(in crate::scene::draft) fn launch(&mut self, at: usize) {
        let Some(kernel) = self.kernel_before(at) else { return };
        let mut end = at + 3;
        while !(0..3).all(|next| self.text(end + next) == ">") {
            if end >= self.found.code.len().min(at + LONGEST) {
                return;
            }
            end = match self.text(end) {
                "(" | "[" | "{" => self.brackets.after(end).unwrap_or(end + 1),
                ";" => return,
                // No launch lies in another.
                "<" if self.is_launch(end) => return,
                _ => end + 1,
            };
        }
        let (mut shape, mut part) = (Vec::new(), at + 3);
        while part < end {
            let span = self.expression(part);
            let span = span.start..span.end.min(end);
            part = span.end + 1;
            shape.push(span);
        }
        let open = end + 3;
        if self.text(open) == "(" {
            let arguments = self.list(open);
            let is_cooperative = false;
            self.add_launch(Launch { kernel, shape, arguments, at, is_cooperative });
        }
    }

    fn add_launch(&mut self, launch: Launch) {
        match self.found.launches.len() < MOST_LAUNCHES {
            true => self.found.launches.push(launch),
            false => self.found.are_all_launches = false,
        }
    }

    /// `cudaLaunchKernel(kernel, grid, block, arguments, shared, stream)`.
    pub(in crate::scene::draft) fn launch_by_call(&mut self, at: usize) {
        let parts = self.list(at + 1);
        let [kernel, grid, block, list, more @ ..] = parts.as_slice() else { return };
        let kernel = without_casts(&self.found.code, kernel.clone());
        let kernel =
            if self.text(kernel.start) == "&" { kernel.start + 1..kernel.end } else { kernel };
        let arguments = self.addressed(list, at);
        let is_named = self.is_word(kernel.start) && kernel.len() < LONGEST;
        if !is_named {
            return;
        }
        let Some(arguments) = arguments else { return self.leave(at) };
        let kernel = lexer::joined(kernel.map(|at| self.text(at)));
        let shape = [grid, block].into_iter().chain(more.first()).cloned().collect();
        let is_cooperative = self.text(at) == "cudaLaunchCooperativeKernel";
        self.add_launch(Launch { kernel, shape, arguments, at, is_cooperative });
    }

    /// What the addresses in the array are of that a list of arguments is, `void *list[] = { &a, &b }`.
    fn addressed(&self, list: &Span, at: usize) -> Option<Vec<Span>> {
        let name =
            list.clone().take(LONGEST).find(|at| self.is_word(*at) && self.text(*at) != "void")?;
        let variable = self.found.variables.get(self.visible(self.text(name), at)?);
        let Value::List(parts) = &variable.definitions.last()?.value else { return None };
        let address = |part: &Span| {
            let inner = without_casts(&self.found.code, part.clone());
            (self.text(inner.start) == "&").then(|| inner.start + 1..inner.end)
        };
        parts.iter().filter(|part| !part.is_empty()).map(address).collect()
    }

    /// The name before `<<<`, with its template arguments.
    fn kernel_before(&self, at: usize) -> Option<String> {
        let mut start = at.checked_sub(1)?;
        if self.text(start) == ">" {
            // Within parentheses they are comparisons.
            let (mut depth, mut parentheses) = (0_usize, 0_usize);
            for _ in 0..LONGEST {
                match self.text(start) {
                    ")" => parentheses += 1,
                    "(" => parentheses = parentheses.checked_sub(1)?,
                    ">" if parentheses == 0 => depth += 1,
                    "<" if parentheses == 0 => depth -= 1,
                    ";" | "{" | "}" => return None,
                    _ => {}
                }
                start = start.checked_sub(1)?;
                if depth == 0 {
                    break;
                }
            }
        }
        if !self.is_word(start) {
            return None;
        }
        while start >= 2 && self.text(start - 1) == "::" && self.is_word(start - 2) {
            start -= 2;
        }
        Some(lexer::joined((start..at).map(|at| self.text(at))))
    }

    /// Whether what stands at `at` lies in the list `void *arguments[] = { &a, &b }`, from which launches read.
    pub(in crate::scene::draft) fn is_of_launch(&self, at: usize) -> bool {
        let near = (at.saturating_sub(LONGEST / 4)..at).rev();
        let mut near = near.skip_while(|at| !matches!(self.text(*at), "{" | ";" | "}"));
        near.next().is_some_and(|open| {
            let declared: Vec<&str> =
                (open.saturating_sub(6)..open).map(|at| self.text(at)).collect();
            self.text(open) == "{" && matches!(declared.as_slice(), ["void", "*", _, "[", "]", "="])
        })
    }
}
