//! Source places that PTX names, as errors and findings show them.

use crate::{
    device::{Error, InlinedCall, Location},
    ptx::{
        self,
        ast::{self, LocationId, Module},
        inst::{Instruction, Op},
    },
};

/// The place with this number.
pub(super) fn of(module: &Module, id: Option<LocationId>) -> Option<Location> {
    Some(shown(module, module.location(id?)?))
}

/// The inlined calls that lead to a place, innermost first.
pub(super) fn inlined(module: &Module, id: Option<LocationId>) -> Vec<InlinedCall> {
    let chain = id.map_or_else(Vec::new, |id| module.inline_chain(id)).into_iter();
    chain
        .map(|(function, site)| InlinedCall {
            function: function.to_owned(),
            call_site: shown(module, site),
        })
        .collect()
}

/// What of an instruction is not supported.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unsupported<'a> {
    /// The operation, or this form of it.
    Operation,
    /// This, in words.
    Part(&'a str),
}

/// The error for an instruction that is not supported, as it stands in the text of the PTX.
pub(super) fn unsupported(
    module: &Module,
    text: &str,
    instruction: &Instruction,
    what: Unsupported<'_>,
) -> Error {
    let line = text.lines().nth((instruction.line as usize).saturating_sub(1));
    let text = line.map_or("", |line| line.trim().trim_end_matches(';').trim_end());
    let instruction_text = match what {
        Unsupported::Operation => text.to_owned(),
        Unsupported::Part(part) => format!("{text} ({part})"),
    };
    let location = own(module, instruction.location);
    Error::UnsupportedPtx { instruction: instruction_text, location }
}

/// All instructions of a text of PTX that this device does not have, each as the error that loading it ends with; none
/// where it is no PTX.
///
/// ```
/// use warpaint::device::{Error, cpu};
///
/// let ptx = ".version 8.0\n.target sm_90a\n.visible .entry k() {\n\
///            wgmma.fence.sync.aligned;\nret;\n}";
/// let unsupported = cpu::unsupported_instructions(ptx);
/// let [Error::UnsupportedPtx { instruction, .. }] = &unsupported[..] else { panic!("one is missing") };
/// assert_eq!(instruction, "wgmma.fence.sync.aligned");
/// ```
pub fn unsupported_instructions(text: &str) -> Vec<Error> {
    let Ok(module) = ptx::parse(text) else { return Vec::new() };
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let all = bodies.flat_map(|body| body.instructions());
    let missing = all.filter(|instruction| matches!(instruction.op, Op::Unsupported { .. }));
    let errors = missing.map(|i| unsupported(&module, text, i, Unsupported::Operation));
    errors.collect()
}

/// The innermost place that lies in the kernel's own file: instructions that are not supported come mostly
/// out of headers, and the user wants the line that uses them.
pub(super) fn own(module: &Module, id: Option<LocationId>) -> Option<Location> {
    let innermost = module.location(id?)?;
    let chain = module.inline_chain(id?);
    let outermost = chain.last().map_or(innermost, |(_, site)| site);
    let mut places = std::iter::once(innermost).chain(chain.iter().map(|(_, site)| *site));
    let own = places.find(|place| place.file == outermost.file).unwrap_or(innermost);
    Some(shown(module, own))
}

fn shown(module: &Module, location: &ast::Location) -> Location {
    Location {
        file: module.file_name(location.file).to_owned(),
        line: location.line,
        column: location.column,
    }
}
