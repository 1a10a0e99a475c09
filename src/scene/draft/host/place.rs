//! Where an expression stands: the loops around it, and the calls that led there.

use std::{collections::BTreeMap, rc::Rc};

use super::loop_header::Loop;
use crate::scene::draft::{code::Span, expression::told::Told};

/// Where an expression stands.
#[derive(Clone)]
pub(in crate::scene::draft) struct Place<'h, 's> {
    pub(in crate::scene::draft) at: usize,
    /// The loops around it whose rounds formulas may name, from the outermost.
    pub(in crate::scene::draft) loops: Vec<&'h Loop<'s>>,
    /// The region of the one of them that is the loop of time steps.
    pub(in crate::scene::draft) time: Option<usize>,
    /// The call of the function around it that led there, where one did.
    pub(in crate::scene::draft) call: Option<Rc<Call>>,
}

/// A call of a function of the file.
pub(in crate::scene::draft) struct Call {
    /// The region of the function.
    pub(in crate::scene::draft) function: usize,
    pub(in crate::scene::draft) arguments: Vec<Span>,
    /// Those in angle brackets.
    pub(in crate::scene::draft) template: Vec<Span>,
    pub(in crate::scene::draft) at: usize,
    /// The loops around it that are understood, those around its callers among them.
    pub(in crate::scene::draft) loops: usize,
    /// The call within which it is made.
    pub(in crate::scene::draft) caller: Option<Rc<Self>>,
}

/// What an expression is looked at with.
pub(in crate::scene::draft) struct Look<'l, 'h, 's> {
    pub(in crate::scene::draft) place: &'l Place<'h, 's>,
    /// The parameters of the function that it is the value of.
    pub(in crate::scene::draft) given: Option<&'l BTreeMap<&'s str, Told>>,
    /// Names that led here, and operators.
    pub(in crate::scene::draft) depth: usize,
    pub(in crate::scene::draft) nested: usize,
}

impl<'h, 's> Place<'h, 's> {
    /// Where no call led, and no loop counts.
    pub(in crate::scene::draft) const fn of(at: usize) -> Self {
        Self { at, loops: Vec::new(), time: None, call: None }
    }

    /// Where the function around this place is called.
    pub(in crate::scene::draft) fn outer(&self) -> Option<Self> {
        let call = self.call.as_ref()?;
        let loops = self.loops.get(..call.loops).unwrap_or(&self.loops).to_vec();
        Some(Self { at: call.at, loops, time: self.time, call: call.caller.clone() })
    }

    /// This place and those of the calls that led to it, from the innermost.
    pub(in crate::scene::draft) fn levels(&self) -> impl Iterator<Item = Self> + use<'h, 's> {
        std::iter::successors(Some(self.clone()), Self::outer)
    }

    /// This place as it is around the loop at `depth`: with the loops around that alone.
    pub(in crate::scene::draft) fn around_loop(&self, depth: usize, at: usize) -> Self {
        let mut call = self.call.clone();
        while let Some(inner) = call.as_ref().filter(|call| call.loops > depth) {
            call = inner.caller.clone();
        }
        Self { at, loops: self.loops[..depth].to_vec(), time: self.time, call }
    }
}
