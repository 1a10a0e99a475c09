//! What the expressions of passes name beside constants: what is known when a pass is launched, and what its
//! predecessors have written.

use super::{Builtin, Inputs, Measured, Number, ResourceId, Value, expression::Expression};

/// An expression whose value is known when a pass is launched.
pub type Formula = Expression<Term>;

/// What such an expression names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Term {
    /// A parameter, by index.
    Parameter(usize),
    /// One of the built-ins that are numbers.
    Builtin(Builtin),
    /// The rounds finished of a loop around the pass: 0 for the outermost.
    Round(usize),
    /// A number of a resource, as the launches before have left it.
    Element {
        /// Whose.
        of: ResourceId,
        /// Which element.
        index: u64,
        /// Which of its components, by its place in [`Type::components`](super::Type::components).
        component: u16,
    },
    /// A statistic, likewise.
    Measured(Measured),
}

impl Term {
    /// Whether its number is read from the device, for which the launches before must have ended.
    pub fn is_read(&self) -> bool {
        match self {
            Self::Element { .. } | Self::Measured(_) => true,
            Self::Parameter(_) | Self::Builtin(_) | Self::Round(_) => false,
        }
    }

    /// The terms of `formulas` whose numbers are read, each once.
    pub fn read_by<'a>(formulas: impl IntoIterator<Item = &'a Formula>) -> Vec<Self> {
        let mut found = Vec::new();
        for formula in formulas {
            formula.terms(&mut |term| {
                if term.is_read() && !found.contains(term) {
                    found.push(*term);
                }
            });
        }
        found
    }
}

/// What gives the terms their numbers when a pass is launched.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Those of the step.
    pub inputs: &'a Inputs,
    /// The rounds finished of each loop around the pass, from the outermost.
    pub rounds: &'a [u64],
    /// What was read from the device for the expression: the terms of [`Term::read_by`].
    pub read: &'a [(Term, Number)],
}

impl Scope<'_> {
    /// The number of `formula`.
    ///
    /// # Errors
    ///
    /// A sentence, where it has none: a division by zero, say.
    pub fn number(&self, formula: &Formula) -> Result<Number, String> {
        formula.value(&mut |term| self.term(term)).map_err(|error| error.text)
    }

    /// The number of a `formula` that is an int.
    ///
    /// # Errors
    ///
    /// As for [`number`](Self::number).
    pub fn integer(&self, formula: &Formula) -> Result<i64, String> {
        self.number(formula)?.whole()
    }

    /// The number of a term.
    ///
    /// # Errors
    ///
    /// A sentence, for one that has none, or was not read.
    pub fn term(&self, term: &Term) -> Result<Number, String> {
        match term {
            Term::Parameter(index) => match self.inputs.parameters.get(*index) {
                Some(Value::Float(value)) => Ok(Number::Float(*value)),
                Some(Value::Int(value)) => Ok(Number::Int((*value).into())),
                Some(Value::Toggle(value)) => Ok(Number::Bool(*value)),
                Some(Value::Color(_)) | None => Err("a color is no number".to_owned()),
            },
            Term::Builtin(Builtin::Time) => Ok(Number::Float(self.inputs.time)),
            Term::Builtin(Builtin::Dt) => Ok(Number::Float(self.inputs.dt)),
            Term::Builtin(Builtin::Frame) => Ok(Number::Int(self.inputs.frame.into())),
            Term::Builtin(Builtin::Step) => Ok(Number::Int(self.inputs.step.into())),
            Term::Builtin(Builtin::Seed) => Ok(Number::Int(self.inputs.seed.into())),
            Term::Builtin(builtin @ (Builtin::Mouse | Builtin::Keys)) => {
                Err(format!("`{}` is no number", builtin.name()))
            }
            Term::Round(depth) => {
                let round = self.rounds.get(*depth).copied().unwrap_or_default();
                Ok(Number::Int(round.into()))
            }
            Term::Element { .. } | Term::Measured(_) => {
                let found = self.read.iter().find(|(known, _)| known == term);
                let unread = || "what kernels write is not known here".to_owned();
                found.map(|(_, number)| *number).ok_or_else(unread)
            }
        }
    }
}
