//! The statistics that a manifest asks for: a kernel each, compiled behind the scene's own text, so that an expression
//! may use whatever the scene's kernels may.

use std::fmt::Write as _;

use super::Error;
use crate::{
    array::{Pending, Statistics, Summary},
    cuda::lexer,
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
    /// Those of `scene`, whose [`kernels`] are in `module`.
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

/// What the kernels of the statistics use, which [`library`] defines, under names that no macro of the source has.
const DECLARATIONS: &str = "
#line 1 \"<statistics>\"
__device__ inline float warpaint_half(unsigned short);
__device__ inline float warpaint_bfloat16(unsigned short);
template <class warpaint_map> __device__ void warpaint_summarize(unsigned long long, void *, const warpaint_map &);
";

/// The same on top of [`Summary::LIBRARY`].
const DEFINITIONS: &str = "
__device__ inline float warpaint_half(unsigned short bits) { return warpaint::summary::Half{bits}; }
__device__ inline float warpaint_bfloat16(unsigned short bits) { return warpaint::summary::BFloat16{bits}; }
template <class Map> __device__ void warpaint_summarize(unsigned long long count, void *partials, const Map &map)
{
    warpaint::summary::summarize_values<1>(count, static_cast<warpaint::summary::Partial *>(partials), map);
}
";

/// The kernels of the statistics, to stand behind the source, on lines that count as those of the expressions; empty
/// where there are none.
pub(super) fn kernels(scene: &Scene) -> String {
    let stats = &scene.manifest.stats;
    let mut text = if stats.is_empty() { String::new() } else { DECLARATIONS.to_owned() };
    for (index, stat) in stats.iter().enumerate() {
        kernel(&mut text, scene, index, stat);
    }
    text
}

/// What [`kernels`] use, to stand last: a macro of the source that is called as something in it is needed no more.
pub(super) fn library(scene: &Scene) -> String {
    if scene.manifest.stats.is_empty() {
        return String::new();
    }
    let own = [Summary::LIBRARY, DEFINITIONS].concat();
    // What begins so is the compiler's: `__device__` may be a macro that is meant.
    let names = lexer::words(&own).into_iter().filter(|word| !word.starts_with('_'));
    format!("\n#line 1 \"<statistics>\"\n{}#line 1 \"<statistics>\"\n{own}", undefined(names))
}

/// The lines that make names mean what they are declared as from now on.
fn undefined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("#undef {name}\n")).collect()
}

fn kernel(text: &mut String, scene: &Scene, index: usize, stat: &scene::Stat) {
    let (pointee, element, x) = match scene.manifest.resource(stat.of).of() {
        Type::Element(element) => of_element(element),
        Type::Structure(structure) => of_structure(&structure),
    };
    let arguments = stat.arguments(&scene.manifest);
    let names = arguments.iter().map(|argument| argument.name.as_str()).chain(["x", "i"]);
    let parameters: String = arguments
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
{undefined}extern \"C\" __global__ void {name}(const {pointee} *warpaint_elements, {parameters}
    const unsigned long long warpaint_count, void *warpaint_partials)
{{
    warpaint_summarize(warpaint_count, warpaint_partials, [&](const unsigned long long i, int) {{
        [[maybe_unused]] const {element} x = {x};
        double warpaint_value =
#line {line} {file}
{indent}{expression}
#line {line} {file}
        ;
        return warpaint_value;
    }});
}}
",
        undefined = undefined(names),
        name = kernel_name(index),
        expression = stat.map,
    );
}

fn of_structure(structure: &Structure) -> (String, String, String) {
    let name = &structure.name;
    (name.clone(), format!("{name} &"), "warpaint_elements[i]".to_owned())
}

/// What the kernel takes a pointer to, the type of `x`, and how `x` is read. Half precision becomes `float`.
fn of_element(element: Element) -> (String, String, String) {
    let Element { scalar, lanes } = element;
    let to_float = match scalar {
        Scalar::F16 => Some("warpaint_half"),
        Scalar::BF16 => Some("warpaint_bfloat16"),
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => None,
        Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 | Scalar::F32 | Scalar::F64 => None,
    };
    let Some(to_float) = to_float else {
        return (element.to_string(), element.to_string(), "warpaint_elements[i]".to_owned());
    };
    let wide = Element::vector(Scalar::F32, lanes).to_string();
    let lane = |lane| format!("{to_float}(warpaint_elements[{lanes} * i + {lane}])");
    let components: Vec<String> = (0..lanes).map(lane).collect();
    let x = match lanes {
        1 => components.concat(),
        _ => format!("make_{wide}({})", components.join(", ")),
    };
    ("unsigned short".to_owned(), wide, x)
}

fn kernel_name(index: usize) -> String {
    format!("warpaint_stat_{index}")
}

/// A file's name as a string literal, on one line whatever is in it.
pub(super) fn quoted(name: &str) -> String {
    let escaped = |letter: char| match letter {
        '\\' | '"' => format!("\\{letter}"),
        letter if letter.is_ascii_control() => format!("\\{:03o}", letter as u32),
        letter => letter.to_string(),
    };
    format!("\"{}\"", name.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_literals_of_one_line() {
        assert_eq!(quoted("a b\\ü.cu"), r#""a b\\ü.cu""#);
        assert_eq!(quoted("a\n#error \"b\".cu\u{7f}"), r#""a\012#error \"b\".cu\177""#);
    }
}
