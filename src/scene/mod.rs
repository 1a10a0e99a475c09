//! A scene: one CUDA C++ file whose first comment says what it needs. Data only: no files, no device.
//!
//! Enters: the text of a `.cu` file. Leaves: resources, parameters and the plan of launches, as data. Must not know:
//! `compile`, `ptx`, `device`, `kernel`, `array`, `gl`.
//!
//! [`Scene::parse`] reads the manifest and the signatures of the kernels; [`Scene::plan`] binds the kernels'
//! parameters by name to what the manifest declares.

mod argument;
mod binding;
mod builtin;
mod bytes;
mod comparison;
mod compile_options;
mod cpp_number;
mod data;
mod decode;
mod draft;
mod each;
mod expression;
mod inputs;
#[cfg(feature = "cli")]
mod literal;
mod manifest;
mod mapping;
mod meaning;
mod named;
mod operator;
mod pack;
mod parameter;
mod pass;
mod plan;
mod plot;
mod resource;
mod selected;
mod selection;
mod source;
mod statistic;
mod suggestion;
mod template;
mod term;
mod view;
#[cfg(feature = "cli")]
pub(crate) mod written;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::cuda::{self, Signature, SourceFile};
use crate::diagnostic::{Diagnostic, Severity};
pub use crate::element::{Element, Part, Scalar, Structure, Type};

pub use self::{
    argument::{Argument, Field, Half, Layout, Member, Source},
    builtin::{BuiltIn, built_ins},
    compile_options::CompileOptions,
    data::{Content, FieldValue, Initial, Variable},
    decode::DEFAULT_DT,
    draft::{Includes, draft, draft_beside, instances_beside},
    each::{Each, EachField, EachTerm},
    expression::{Expression, Floats, Kind, Meaning, Number},
    inputs::{Builtin, Inputs, Keys},
    manifest::{Change, Constant, Manifest},
    pack::{Handle, Packed, Wanted},
    parameter::{Control, Parameter, Preset, Value},
    pass::{Entry, Given, Pass, Repeat, Shape, Until, What, When},
    plan::{Plan, PlannedPass},
    plot::{Along, Plot, PlotKind},
    resource::{Elements, Filter, Format, Resource, ResourceId, ResourceKind, Texels, Wrap},
    selection::{Components, Selection},
    source::{CLOSE, OPEN, opens_manifest},
    statistic::{Bound, Check, Golden, Kept, Measured, Reduce, Stat, Statistic},
    template::{Template, find_template, templates},
    term::{Formula, Scope, Term},
    view::{
        COLORMAPS, Camera, ColorBy, Coloring, Coordinates, Grid, Projection, View, ViewId, ViewKind,
    },
};
#[cfg(feature = "gl")]
pub(crate) use self::{
    binding::{check_given, parted},
    decode::view_problems,
};
#[cfg(feature = "cli")]
pub(crate) use self::{
    decode::{is_label, is_macro},
    literal::literal,
};

/// A scene's file, understood.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The file as the user named it, for diagnostics.
    pub name: String,
    /// Where it lies; `None` for built-in scenes. Set by whoever read the file.
    pub path: Option<PathBuf>,
    /// Whether it may include files that lie elsewhere than below its own folder. Set by whoever read the file.
    pub trusted: bool,
    /// Its text.
    pub source: Arc<str>,
    /// What its first comment says.
    pub manifest: Manifest,
    /// Folders of [`Overrides::include_dirs`].
    pub include_dirs: Vec<PathBuf>,
    /// The kernels of its text, and of those that it includes.
    pub kernels: Vec<Signature>,
    /// The texts of the files that it includes, as far as they were read.
    pub(crate) headers: Vec<Arc<str>>,
    /// What is odd about it but no error.
    pub warnings: Vec<Diagnostic>,
}

/// What a scene depends on beside its file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overrides {
    /// Constants that the command line gives by name: a number or an expression over the other constants.
    pub constants: BTreeMap<String, String>,
    /// Macros that the command line defines, over those of `[compile]`.
    pub defines: BTreeMap<String, String>,
    /// What stands over `fast_math` of `[compile]`, if anything does.
    pub fast_math: Option<bool>,
    /// Folders in which the command line has included files looked for: they may lie anywhere.
    #[serde(with = "crate::file::any_path")]
    pub include_dirs: Vec<PathBuf>,
    /// Files that the command line gives resources and variables, by their names; they may lie anywhere.
    #[serde(with = "crate::file::any_path")]
    pub loads: BTreeMap<String, PathBuf>,
    /// The texts of headers beside its file, of which it may name structures.
    pub headers: Vec<String>,
    /// Whether `[constant.cpu]` stands over `[constant]`, as it does on the CPU device; `None`: as the device of a
    /// [`Session`](crate::session::Session) is, without one not.
    pub cpu: Option<bool>,
}

impl Scene {
    /// Reads a scene called `name` (for diagnostics) from its text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with its manifest, each with its place.
    pub fn parse(name: &str, source: &str, overrides: &Overrides) -> Result<Self, Vec<Diagnostic>> {
        let (manifest, warnings) = decode::decode(name, source, overrides)?;
        if let Some((line, how)) = manifest.compile.odd_line(source) {
            return Err(vec![Diagnostic::error(name, how).at(line, 1)]);
        }
        Ok(Self::with_manifest(name, source, overrides, manifest, warnings))
    }

    fn with_manifest(
        name: &str,
        source: &str,
        overrides: &Overrides,
        manifest: Manifest,
        warnings: Vec<Diagnostic>,
    ) -> Self {
        let mut scene = Self {
            name: name.to_owned(),
            path: None,
            trusted: false,
            include_dirs: overrides.include_dirs.clone(),
            source: Arc::from(source),
            manifest,
            kernels: Vec::new(),
            headers: Vec::new(),
            warnings,
        };
        scene.read_kernels(&[SourceFile { name, text: source, includes: BTreeMap::new() }]);
        scene
    }

    /// A file without a manifest, of which nothing runs.
    pub fn plain(name: &str, source: &str, overrides: &Overrides) -> Self {
        let defines = overrides.defines.clone();
        let compile = CompileOptions { defines, ..CompileOptions::default() };
        let manifest = Manifest { compile, ..Manifest::default() };
        Self::with_manifest(name, source, overrides, manifest, Vec::new())
    }

    /// Whether a source has a manifest, or begins one.
    pub fn has_manifest(source: &str) -> bool {
        source::manifest_block(source) != source::ManifestBlock::Missing
    }

    /// Reads the kernels of its text, the first of `files`, and of those that it includes, so that passes may name
    /// them. Where a limit leaves some out, a warning tells it.
    pub(crate) fn read_kernels(&mut self, files: &[SourceFile<'_>]) {
        let mut macros = self.manifest.compile.macros();
        let found = cuda::scan_files(&mut macros, files);
        self.kernels = found.kernels;
        self.headers = files.iter().skip(1).map(|file| Arc::from(file.text)).collect();
        self.warnings.retain(|warning| !cuda::is_remark(&warning.text));
        self.warnings.extend(found.remarks.into_iter().map(|(file, at, text)| {
            let warning = Diagnostic::error(&*file, text).at(at.line, at.column);
            warning.with_severity(Severity::Warning)
        }));
    }

    /// The text of the built-in scene with this name.
    pub fn built_in(name: &str) -> Option<&'static str> {
        built_ins().iter().find(|scene| scene.name == name).map(|scene| scene.source)
    }

    /// What is compiled before the source: the constants.
    pub fn prelude(&self) -> String {
        self.manifest.prelude()
    }

    /// Binds the parameters of every pass's kernel by name.
    ///
    /// # Errors
    ///
    /// Everything that does not fit, each with its place.
    pub fn plan(&self) -> Result<Plan, Vec<Diagnostic>> {
        self.plan_by_types(&BTreeSet::new())
    }

    /// The same where the compiler takes some names of kernels, as it calls these, for those of other functions, too:
    /// those go by their types.
    pub(crate) fn plan_by_types(
        &self,
        unclear: &BTreeSet<String>,
    ) -> Result<Plan, Vec<Diagnostic>> {
        binding::plan(self, unclear)
    }

    /// Whether a pass's kernel has the name of others, of which the text alone need not tell which is compiled.
    pub(crate) fn is_overloaded(&self) -> bool {
        binding::is_overloaded(self)
    }

    /// Takes into account which kernels were compiled, by their names in the module and, where they are known, those of
    /// their parameters. Whether that changed anything.
    pub(crate) fn settle_kernels<'a>(
        &mut self,
        compiled: impl Iterator<Item = (&'a str, Option<&'a [String]>)>,
    ) -> bool {
        cuda::settle(&mut self.kernels, compiled)
    }
}

#[cfg(test)]
mod tests;
