//! The manifest of a scene, typed and checked.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "cli")]
use super::Initial;
use super::{
    Check, CompileOptions, Entry, Golden, Half, Number, Parameter, Pass, Plot, Preset, Resource,
    ResourceId, Stat, Value, Variable, View, ViewId, What, When, suggestion::suggestion,
};
use crate::cuda::Position;

/// What a scene consists of, as its first comment says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// Title to show; the scene's name where the manifest gives none.
    pub title: String,
    /// One sentence about it; may be empty.
    pub summary: String,
    /// Seconds that a step advances.
    pub dt: f64,
    /// Constants of the compilation.
    pub constants: Vec<Constant>,
    /// How the source is compiled.
    pub compile: CompileOptions,
    /// Buffers, arrays and textures; a [`ResourceId`] is an index into them.
    pub resources: Vec<Resource>,
    /// Names of those whose type is wrong: what elements they have is not known.
    pub(super) untyped: BTreeSet<String>,
    /// Variables of the source that are set.
    pub variables: Vec<Variable>,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Values of them that are set together.
    pub presets: Vec<Preset>,
    /// Passes, in the file's order.
    pub passes: Vec<Pass>,
    /// What runs in which order, and how often.
    pub entries: Vec<Entry>,
    /// What is drawn, in the file's order; none where nothing can be.
    pub views: Vec<View>,
    /// Statistics beside those that every resource has.
    pub stats: Vec<Stat>,
    /// Checks of the test mode.
    pub checks: Vec<Check>,
    /// Plots of numbers.
    pub plots: Vec<Plot>,
    /// What the test mode compares with files.
    pub goldens: Vec<Golden>,
}

/// A constant of the compilation: `constexpr` in the prelude.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// The name that the source uses.
    pub name: String,
    /// Its value.
    pub value: Number,
    /// Where it is declared.
    pub at: Position,
}

/// What becomes of a resource's contents when a manifest takes another's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The old resource goes on.
    Kept(ResourceId),
    /// Same contents, but whether OpenGL draws it has changed: they are to be copied.
    Moved(ResourceId),
    /// What there was before goes on in another layout: of another type or size, or called otherwise.
    Converted(ResourceId),
    /// It is new, or begins with other data, or what there was before has no place in it.
    New,
}

/// What `named` has for a parameter, in the kind of its `value`, where it accepts that.
fn accepted(
    parameter: &Parameter,
    value: &Value,
    named: &BTreeMap<String, Value>,
) -> Option<Value> {
    let given = named.get(&parameter.name)?.as_kind_of(value)?;
    parameter.accepts(&given).then_some(given)
}

impl Manifest {
    /// Gives a resource the type that the compiler knows.
    ///
    /// # Errors
    ///
    /// What stands behind its name in a sentence, where it is too large then.
    #[cfg(feature = "gl")]
    pub(crate) fn set_type(&mut self, id: ResourceId, of: super::Type) -> Result<(), String> {
        use super::ResourceKind;
        let Some(resource) = self.resources.get_mut(id.0) else { return Ok(()) };
        match &mut resource.kind {
            ResourceKind::Buffer(elements) | ResourceKind::Array(elements) => elements.of = of,
            ResourceKind::Texture(_) => {}
        }
        resource.too_many_bytes().map_or(Ok(()), Err)
    }

    /// The buffers, arrays and textures in the file's order; a [`ResourceId`] is an index into them.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The resource with this id.
    ///
    /// # Panics
    ///
    /// If the id is another manifest's and beyond this one's resources.
    pub fn resource(&self, id: ResourceId) -> &Resource {
        &self.resources[id.0]
    }

    /// The resource with this name.
    pub fn find_resource(&self, name: &str) -> Option<ResourceId> {
        self.resources.iter().position(|r| r.name == name).map(ResourceId)
    }

    /// What resources and variables begin with, where that is told.
    #[cfg(feature = "cli")]
    pub(crate) fn initials(&self) -> impl Iterator<Item = &Initial> {
        let resources = self.resources.iter().filter_map(|resource| resource.initial.as_ref());
        resources.chain(self.variables.iter().map(|variable| &variable.initial))
    }

    /// The view that is called `name`; the first one where there is no name.
    ///
    /// # Errors
    ///
    /// A sentence, where there is none.
    pub fn find_view(&self, name: Option<&str>) -> Result<ViewId, String> {
        if self.views.is_empty() {
            return Err("the scene has nothing to draw: it needs a [view]".to_owned());
        }
        let Some(name) = name else { return Ok(ViewId::default()) };
        let names = || self.views.iter().map(|view| view.name.as_str());
        let found = names().position(|known| known == name);
        let unknown = || format!("there is no view `{name}`{}", suggestion(name, names()));
        found.map(ViewId).ok_or_else(unknown)
    }

    /// The index of the plot that is called `name`.
    ///
    /// # Errors
    ///
    /// A sentence, where there is none.
    pub fn find_plot(&self, name: &str) -> Result<usize, String> {
        let names = || self.plots.iter().map(|plot| plot.name.as_str());
        let unknown = || format!("there is no plot `{name}`{}", suggestion(name, names()));
        names().position(|known| known == name).ok_or_else(unknown)
    }

    /// The index of the parameter with this name.
    pub fn find_parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|p| p.name == name)
    }

    /// What runs `when`, in this order.
    pub fn entries(&self, when: When) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.on == when)
    }

    /// What to call an entry: its kernel, or its own name, or the kernels of its passes.
    pub fn name_of(&self, entry: &Entry) -> String {
        match &entry.what {
            What::Launch(pass) => {
                self.passes.get(*pass).map_or_else(String::new, |pass| pass.kernel.clone())
            }
            What::Group { name: Some(name), .. } => name.clone(),
            What::Group { name: None, entries } => {
                let names: Vec<String> = entries.iter().map(|entry| self.name_of(entry)).collect();
                names.join(", ")
            }
            What::Copy { from, to } => {
                format!("copy {} to {}", self.name_of_half(*from), self.name_of_half(*to))
            }
        }
    }

    fn name_of_half(&self, half: Half) -> String {
        let name = &self.resource(half.resource).name;
        if half.next { format!("{name}_next") } else { name.clone() }
    }

    /// The value of the constant with this name.
    pub fn find_constant(&self, name: &str) -> Option<Number> {
        self.constants.iter().find(|constant| constant.name == name).map(|c| c.value)
    }

    /// Each parameter's value to start with.
    pub fn defaults(&self) -> Vec<Value> {
        self.parameters.iter().map(|p| p.default.clone()).collect()
    }

    /// For each resource, what becomes of its contents when this manifest takes the place of `old`.
    pub fn changes(&self, old: &Self) -> Vec<Change> {
        let change = |new: &Resource| {
            let own = old.find_resource(&new.name);
            let renamed = || old.find_resource(new.was.as_deref()?);
            let Some(id) = own.or_else(renamed) else { return Change::New };
            let before = old.resource(id);
            match (before.keeps_contents(new), before.shared == new.shared) {
                (true, true) if own.is_some() => Change::Kept(id),
                (true, false) if own.is_some() => Change::Moved(id),
                (true | false, _) if new.keep && before.begins_as(new) => Change::Converted(id),
                (true | false, _) => Change::New,
            }
        };
        self.resources.iter().map(change).collect()
    }

    /// Each parameter's value when this manifest takes the place of `old`, whose values are `values`.
    ///
    /// A parameter declared as before keeps its value; an edited declaration starts anew.
    pub fn carry(&self, old: &Self, values: &[Value]) -> Vec<Value> {
        let carry = |new: &Parameter| {
            let index = old.find_parameter(&new.name)?;
            let before = &old.parameters[index];
            let same = before.default == new.default && before.control == new.control;
            values.get(index).filter(|_| same).cloned()
        };
        self.parameters.iter().map(|p| carry(p).unwrap_or_else(|| p.default.clone())).collect()
    }

    /// The values of the parameters by their names.
    pub fn named_values(&self, values: &[Value]) -> BTreeMap<String, Value> {
        let named = self.parameters.iter().zip(values);
        named.map(|(parameter, value)| (parameter.name.clone(), value.clone())).collect()
    }

    /// `values`, but for those that `named` has, where the parameters accept them.
    pub fn take_values(&self, named: &BTreeMap<String, Value>, values: &[Value]) -> Vec<Value> {
        let all = self.parameters.iter().zip(values);
        let value = |(parameter, value): (&Parameter, &Value)| {
            accepted(parameter, value, named).unwrap_or_else(|| value.clone())
        };
        all.map(value).collect()
    }

    /// The parameters that do not accept what `named` has for them.
    pub fn refused<'a>(&'a self, named: &BTreeMap<String, Value>) -> Vec<&'a str> {
        let defaults = self.defaults();
        let refuses = |(parameter, value): &(&Parameter, &Value)| {
            named.contains_key(&parameter.name) && accepted(parameter, value, named).is_none()
        };
        let refused = self.parameters.iter().zip(&defaults).filter(refuses);
        refused.map(|(parameter, _)| parameter.name.as_str()).collect()
    }

    /// Seconds that a step advances while the parameters are `values`: the value of a `float` parameter
    /// called `dt`, else the manifest's.
    pub fn step_seconds(&self, values: &[Value]) -> f64 {
        match self.find_parameter("dt").and_then(|index| values.get(index)) {
            Some(Value::Float(dt)) => *dt,
            _ => self.dt,
        }
    }

    /// The index and the value that `text`, from a command line, gives the parameter called `name`.
    ///
    /// # Errors
    ///
    /// A sentence, where there is no such parameter, or the text is no value of its kind and range.
    pub fn parse_parameter(&self, name: &str, text: &str) -> Result<(usize, Value), String> {
        let Some(index) = self.find_parameter(name) else {
            let names = self.parameters.iter().map(|p| p.name.as_str());
            return Err(format!("the scene has no parameter `{name}`{}", suggestion(name, names)));
        };
        Ok((index, self.parameters[index].parse(text)?))
    }

    /// The constants, each with the line, from 1, of what is compiled before the source that declares it: a mistake
    /// that the compiler finds there is one of the manifest.
    pub fn lines_of_prelude(&self) -> impl Iterator<Item = (u32, &Constant)> {
        // Before them come `WARPAINT`'s line and one for each of them.
        let first =
            u32::try_from(self.constants.len()).map_or(u32::MAX, |count| count.saturating_add(2));
        (first..).zip(&self.constants)
    }

    /// What is compiled before the source: `WARPAINT` so that a file can tell, and the constants, a line each.
    pub(super) fn prelude(&self) -> String {
        let mut text = String::from("#define WARPAINT 1\n");
        // What the manifest names comes before a macro of that name, as `M_PI`.
        for Constant { name, .. } in &self.constants {
            text.push_str(&format!("#undef {name}\n"));
        }
        for Constant { name, value, .. } in &self.constants {
            let (ctype, value) = match *value {
                Number::Int(Number::LEAST) => ("long long", "(-9223372036854775807LL - 1)".into()),
                Number::Int(value) if i32::try_from(value).is_ok() => ("int", value.to_string()),
                Number::Int(value) if i64::try_from(value).is_ok() => {
                    ("long long", format!("{value}LL"))
                }
                Number::Int(value) => ("unsigned long long", format!("{value}ULL")),
                Number::Float(value) => ("float", format!("{:?}f", value as f32)),
                Number::Bool(value) => ("bool", value.to_string()),
            };
            text.push_str(&format!("[[maybe_unused]] constexpr {ctype} {name} = {value};\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Overrides, Scene};

    const MANIFEST: &str = "/*---
[constant]
n = 64
[buffer.position]
type = \"float4\"
count = \"n\"
[texture.dye]
format = \"rgba32f\"
size = [32, 16]
[param.drag]
value = 0.2
[param.fast]
value = true
[[pass]]
kernel = \"f\"
over = \"position\"
---*/
";

    #[test]
    fn edits_keep_what_they_do_not_touch() {
        let parse = |source: &str| {
            Scene::parse("t.cu", source, &Overrides::default()).expect("good").manifest
        };
        let old = parse(MANIFEST);
        let edited = MANIFEST
            .replace("count = \"n\"", "count = \"n * 2\"")
            .replace("value = 0.2", "value = 0.25");
        let new = parse(&edited);
        assert_eq!(
            new.changes(&old),
            [Change::Converted(ResourceId(0)), Change::Kept(ResourceId(1))]
        );
        let values = [Value::Float(0.1), Value::Toggle(false)];
        let carried = new.carry(&old, &values);
        assert_eq!(carried[0], Value::Float(0.25), "its declaration was edited");
        assert_eq!(carried[1..], values[1..]);
    }
}
