//! What the expression of a statistic names, as arguments of the kernel that evaluates it.

use super::{
    Argument, Builtin, Control, Element, Manifest, Scalar, Source, Stat, Type, Value,
    meaning::meaning,
};
use crate::cuda::{CType, Pointee, lexer};

/// What `stat`'s expression itself calls its element and its place.
const OWN: [&str; 2] = ["x", "i"];

impl Stat {
    /// The resources, parameters and built-ins that the expression names, bound as if they were parameters of a kernel.
    /// A name that is none is the compiler's business: a constant, a function, a member.
    pub fn arguments(&self, manifest: &Manifest) -> Vec<Argument> {
        let words = lexer::words(&self.map).into_iter();
        words
            .filter(|name| !OWN.contains(name))
            .filter_map(|name| argument(manifest, name))
            .collect()
    }
}

fn argument(manifest: &Manifest, name: &str) -> Option<Argument> {
    let source = meaning(manifest, name)?;
    let ctype = match source {
        Source::Resource(id) if manifest.resource(id).texture().is_none() => {
            let to = match manifest.resource(id).of() {
                Type::Element(element) => Pointee::Element(element),
                Type::Structure(structure) => Pointee::Named(structure.name.clone()),
            };
            CType::Pointer { to, constant: true }
        }
        Source::Count(..) | Source::Extent(..) => CType::Value(Element::scalar(Scalar::I64)),
        Source::Parameter(index) => CType::Value(of_parameter(manifest, index)?),
        Source::Builtin(builtin) => CType::Value(of_builtin(builtin)),
        // Constants are there without being passed.
        Source::Number(_)
        | Source::Vector(_)
        | Source::Structure(_)
        | Source::Resource(_)
        | Source::Next(_)
        | Source::Element { .. } => return None,
    };
    Some(Argument { name: name.to_owned(), ctype, source, layout: None })
}

fn of_parameter(manifest: &Manifest, index: usize) -> Option<Element> {
    let declared = manifest.parameters.get(index)?;
    Some(match (&declared.default, &declared.control) {
        (Value::Float(_), _) => Element::scalar(Scalar::F32),
        (Value::Int(_), _) => Element::scalar(Scalar::I32),
        (Value::Toggle(_), _) => Element::scalar(Scalar::Bool),
        (Value::Color(_), Control::Color(true)) => Element::vector(Scalar::F32, 4),
        (Value::Color(_), _) => Element::vector(Scalar::F32, 3),
    })
}

fn of_builtin(builtin: Builtin) -> Element {
    match builtin {
        Builtin::Time | Builtin::Dt => Element::scalar(Scalar::F32),
        Builtin::Frame | Builtin::Step => Element::scalar(Scalar::I32),
        Builtin::Seed => Element::scalar(Scalar::U32),
        Builtin::Mouse => Element::vector(Scalar::F32, 4),
        Builtin::Keys => Element::vector(Scalar::U32, 4),
    }
}
