//! The statistics that a manifest asks for: a kernel each, compiled behind the scene's own text, so that an expression
//! may use whatever the scene's kernels may.

use std::fmt::Write as _;

use super::Error;
use crate::{
    array::{Pending, Statistics, Summary},
    device::{self, Arguments, Function, Module, Slice, Stream},
    element::{Element, Scalar, Structure, Type},
    scene::{self, Inputs, Reduce, ResourceId, Scene, Scope},
};

/// A statistic of the manifest, ready to be taken.
pub(super) struct Stat {
    declared: scene::Stat,
    arguments: Vec<scene::Argument>,
    count: u64,
    function: Function,
}

impl Stat {
    /// Those of `scene`, whose kernels [`with_stats`] put into `module`.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn load(scene: &Scene, module: &Module) -> device::Result<Vec<Self>> {
        let stats = scene.manifest.stats.iter().enumerate();
        stats
            .map(|(index, declared)| {
                Ok(Self {
                    declared: declared.clone(),
                    arguments: declared.arguments(&scene.manifest),
                    count: scene.manifest.resource(declared.of).count(),
                    function: module.function(&kernel_name(index))?,
                })
            })
            .collect()
    }

    /// What the manifest says.
    pub(super) fn declared(&self) -> &scene::Stat {
        &self.declared
    }

    /// The name of its kernel.
    pub(super) fn kernel(&self) -> &str {
        self.function.name()
    }

    /// Puts its reduction on `stream`: of `slices`, the contents after the step that `inputs` describes.
    ///
    /// # Errors
    /// The device's.
    #[expect(unsafe_code, reason = "a kernel launch")]
    pub(super) fn enqueue(
        &self,
        summary: &Summary,
        stream: &Stream,
        slices: &[Slice<'_>],
        inputs: &Inputs,
    ) -> Result<Pending, Error> {
        let address = |id: ResourceId| slices.get(id.0).map_or(0, Slice::address);
        let mut arguments = Arguments::new();
        arguments.push(&address(self.declared.of));
        let scope = Scope { inputs, rounds: &[], read: &[] };
        for argument in &self.arguments {
            let packed = argument.pack(&scope, |wanted| address(wanted.resource));
            let packed = packed.map_err(|problem| Error::NoValue { problem })?;
            arguments.push_bytes(packed.bytes(), packed.align);
        }
        // SAFETY: the addresses are those of the scene's resources, which outlive the reduction. What the manifest's
        // expression does beyond them is its author's risk on an NVIDIA device, as in the scene's kernels; the CPU
        // device checks every access.
        let pending =
            unsafe { summary.enqueue_kernel(stream, &self.function, arguments, self.count, 1) };
        Ok(pending?)
    }

    /// The number that `values`, the statistics of the mapped values, give; NaN where one of them is NaN or infinite.
    pub(super) fn value(&self, values: &Statistics) -> f64 {
        match self.declared.reduce {
            _ if values.finite() < values.count => f64::NAN,
            Reduce::Sum => values.sum,
            Reduce::Min => values.min,
            Reduce::Max => values.max,
            Reduce::Mean => values.mean,
        }
    }
}

/// The text of `scene` with the kernels of its statistics behind it, on lines that count as those of the expressions.
pub(super) fn with_stats(scene: &Scene) -> String {
    let mut text = scene.source.to_string();
    if scene.manifest.stats.is_empty() {
        return text;
    }
    text += "\n#line 1 \"<statistics>\"\n";
    text += Summary::LIBRARY;
    for (index, stat) in scene.manifest.stats.iter().enumerate() {
        kernel(&mut text, scene, index, stat);
    }
    text
}

fn kernel(text: &mut String, scene: &Scene, index: usize, stat: &scene::Stat) {
    let (pointee, element, x) = match scene.manifest.resource(stat.of).of() {
        Type::Element(element) => of_element(element),
        Type::Structure(structure) => of_structure(&structure),
    };
    let parameters: String = stat
        .arguments(&scene.manifest)
        .iter()
        .map(|argument| format!("{} {}, ", argument.ctype, argument.name))
        .collect();
    let (line, file) = (stat.map_at.line, quoted(&scene.name));
    let indent = " ".repeat(stat.map_at.column.saturating_sub(1) as usize);
    // The line of the expression's own text goes on until the end of the statement: a mistake at its end is seen there.
    let _ = write!(
        text,
        "
#line 1 \"<statistics>\"
extern \"C\" __global__ void {name}(const {pointee} *elements_, {parameters}const unsigned long long count_,
    warpaint::summary::Partial *partials_)
{{
    warpaint::summary::summarize_values<1>(count_, partials_, [&](const unsigned long long i, int) {{
        [[maybe_unused]] const {element} x = {x};
        double value_ =
#line {line} {file}
{indent}{expression}
#line {line} {file}
        ;
        return value_;
    }});
}}
",
        name = kernel_name(index),
        expression = stat.map,
    );
}

fn of_structure(structure: &Structure) -> (String, String, String) {
    let name = &structure.name;
    (name.clone(), format!("{name} &"), "elements_[i]".to_owned())
}

/// What the kernel takes a pointer to, the type of `x`, and how `x` is read. Half precision becomes `float`.
fn of_element(element: Element) -> (String, String, String) {
    let Element { scalar, lanes } = element;
    if !matches!(scalar, Scalar::F16 | Scalar::BF16) {
        return (element.to_string(), element.to_string(), "elements_[i]".to_owned());
    }
    let wide = Element::vector(Scalar::F32, lanes).to_string();
    let lane = |lane| format!("elements_[{lanes} * i + {lane}]");
    let components: Vec<String> = (0..lanes).map(lane).collect();
    let x = match lanes {
        1 => components.concat(),
        _ => format!("make_{wide}({})", components.join(", ")),
    };
    (Summary::scalar_name(scalar).to_owned(), wide, x)
}

fn kernel_name(index: usize) -> String {
    format!("warpaint_stat_{index}")
}

/// A file's name as a string literal.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
