//! What the resources of a scene, and variables of its source, hold at the start: read from files, put on the device.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use super::{
    Error, Reset,
    digests::digest,
    symbol::{Symbol, Symbols},
};
use crate::{
    compile::{Compiler, Reach, TRUST},
    cuda::Position,
    data::{self, Cache, Found, Shape, Wanted},
    device::{Module, Stream},
    diagnostic::{Diagnostic, one_line},
    element::Type,
    file,
    scene::{self, Content, Each, FieldValue, Initial, Manifest, ResourceId, Scene, Variable},
    state::{Borrowed, Checkpoint, Subject, put},
};

/// What there is at the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Contents {
    /// Of each resource; `None`: zeros.
    resources: Vec<Option<Arc<Found>>>,
    /// Of variables, by their names in the module.
    variables: Vec<(String, Arc<Found>)>,
}

/// Reads what a scene begins with, and notes what is to be said about it.
pub(super) struct Reader<'a> {
    scene: &'a Scene,
    cache: &'a mut Cache,
    /// Its limit of time, and what ends its work, are those of the reading, too.
    compiler: &'a Compiler,
    started: Instant,
    is_late: bool,
    contents: Contents,
    /// All that is wrong.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The files that were read, or would be if they were there.
    pub(super) files: Vec<PathBuf>,
    /// Files that the scene may not read.
    pub(super) untrusted: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(scene: &'a Scene, cache: &'a mut Cache, compiler: &'a Compiler) -> Self {
        Self {
            scene,
            cache,
            compiler,
            started: Instant::now(),
            is_late: false,
            contents: Contents::default(),
            diagnostics: Vec::new(),
            files: Vec::new(),
            untrusted: Vec::new(),
        }
    }

    /// What was found. What nobody has asked for is forgotten.
    pub(super) fn finish(self) -> Contents {
        self.cache.sweep();
        self.contents
    }

    /// Reads the contents of all resources.
    pub(super) fn read_resources(&mut self) {
        for resource in self.scene.manifest.resources() {
            let read = |initial: &Initial| {
                let (of, [width, height, depth]) = (resource.of(), resource.extent());
                let shape = match resource.texture().map(|texture| texture.dimensions) {
                    None => Shape::Row(width),
                    Some(3) => Shape::Solid([width, height, depth]),
                    Some(_) => Shape::Flat([width, height]),
                };
                let wanted = Wanted { of, shape, raw: None };
                let what = format!("the {resource}");
                self.content(initial, (&resource.name, &what), wanted)
            };
            let found = resource.initial.as_ref().and_then(read);
            self.contents.resources.push(found);
        }
    }

    /// Reads the contents of the variables, whose places in the compiled text tell how many there are.
    pub(super) fn read_variables(&mut self, ptx: &str) {
        let variables = &self.scene.manifest.variables;
        if variables.is_empty() {
            return;
        }
        let symbols = Symbols::of(ptx);
        for variable in variables {
            // To find out that one is not there takes its time, too.
            if self.is_over(&variable.initial) {
                return;
            }
            match symbols.find(&variable.name) {
                Ok(symbol) => self.read_variable(variable, symbol),
                Err(text) => self.complain(Some(variable.at), text),
            }
        }
    }

    fn read_variable(&mut self, variable: &Variable, symbol: &Symbol) {
        let (name, of, bytes) = (&variable.name, &variable.of, symbol.bytes);
        if !bytes.is_multiple_of(of.bytes().max(1)) {
            let text =
                format!("the variable `{name}` has {bytes} bytes, which no number of {of} has");
            return self.complain(Some(variable.at), text);
        }
        let count = bytes / of.bytes().max(1);
        let what = format!("the variable `{name}` ({count} {of})");
        let wanted = Wanted { of: of.clone(), shape: Shape::RowOrOne(count as u64), raw: None };
        if let Some(found) = self.content(&variable.initial, (name, &what), wanted) {
            self.contents.variables.push((symbol.lowered.clone(), found));
        }
    }

    /// What `initial` stands for; `name` and `what` are what it is for.
    fn content(
        &mut self,
        initial: &Initial,
        (name, what): (&str, &str),
        wanted: Wanted,
    ) -> Option<Arc<Found>> {
        if self.is_over(initial) {
            return None;
        }
        let found = match &initial.content {
            Content::Fill(element) => Ok(Arc::new(Found::One(element.bytes.clone()))),
            Content::Values(all) => values(&all.bytes, what, &wanted),
            Content::Structures(all) => match structures(all, &wanted.of) {
                Ok(bytes) => values(&bytes, what, &wanted),
                Err((text, at)) => {
                    self.complain(Some(at), text);
                    return None;
                }
            },
            Content::Random(range) => {
                let made = self.cache.take_room(&wanted).and_then(|()| {
                    data::random(&wanted, name, *range, &|| self.has_no_time_left())
                });
                match made {
                    Ok(Some(found)) => Ok(Arc::new(found)),
                    Ok(None) => {
                        self.is_over(initial);
                        return None;
                    }
                    Err(error) => Err(format!("`random` does not fit {what}: {error}")),
                }
            }
            Content::Each(each) => match self.computed(each, (name, what), &wanted) {
                Ok(Some(found)) => Ok(Arc::new(found)),
                Ok(None) => {
                    self.is_over(initial);
                    return None;
                }
                Err((text, at)) => {
                    self.complain(at.or(initial.at), text);
                    return None;
                }
            },
            Content::File { path, raw } => {
                let wanted = Wanted { raw: *raw, ..wanted };
                match initial.at {
                    Some(_) => {
                        self.place(path).and_then(|place| self.file(&place, path, what, &wanted))
                    }
                    None => {
                        self.files.push(path.clone());
                        let found = self.file(path, path, what, &wanted);
                        found.map_err(|text| format!("--load {name}={}: {text}", path.display()))
                    }
                }
            }
        };
        found.map_err(|text| self.complain(initial.at, text)).ok()
    }

    /// What `each` computes; `None` where there is no more time.
    ///
    /// # Errors
    /// A sentence, and where the manifest has what it is about.
    fn computed(
        &mut self,
        each: &Each,
        (name, what): (&str, &str),
        wanted: &Wanted,
    ) -> Result<Option<Found>, (String, Option<Position>)> {
        let taken = self.cache.take_room(wanted);
        let is_over = || self.has_no_time_left();
        let room = taken.and_then(|()| data::room(wanted, &is_over));
        let room = room.map_err(|e| (format!("`each` does not fit {what}: {e}"), None))?;
        let Some(mut bytes) = room else { return Ok(None) };
        let placed = each.placed(&wanted.of).map_err(|(text, at)| (text, Some(at)))?;
        let of_all = (bytes.as_mut_slice(), wanted.of.bytes());
        let is_whole = data::computed(of_all, name, &is_over, &|index, random, element| {
            placed.iter().try_for_each(|field| field.write(index, random, element))
        });
        match is_whole {
            Ok(is_whole) => Ok(is_whole.then_some(Found::All(bytes))),
            Err((text, at)) => Err((format!("`each` of {what}: {text}"), Some(at))),
        }
    }

    fn has_no_time_left(&self) -> bool {
        self.started.elapsed() >= self.compiler.limits().time || self.compiler.is_cancelled()
    }

    /// Whether nothing more is read or computed, which is said once.
    fn is_over(&mut self, initial: &Initial) -> bool {
        let is_over = self.has_no_time_left();
        if is_over && !self.is_late {
            self.is_late = true;
            let seconds = self.compiler.limits().time.as_secs_f64();
            let text = format!(
                "what the scene begins with is read and computed for {seconds} s, and no longer \
                 (`WARPAINT_COMPILE_SECONDS` sets that limit)"
            );
            self.complain(initial.at, text);
        }
        is_over
    }

    fn complain(&mut self, at: Option<Position>, text: String) {
        // Names of files, and of fields in them, may have line feeds.
        let text = one_line(&text);
        self.diagnostics.push(match at {
            Some(at) => Diagnostic::error(&self.scene.name, text).at(at.line, at.column),
            None => Diagnostic::usage(&self.scene.name, text),
        });
    }

    /// The content of the file at `place`, which the user knows as `named`.
    fn file(
        &mut self,
        place: &Path,
        named: &Path,
        what: &str,
        wanted: &Wanted,
    ) -> Result<Arc<Found>, String> {
        self.cache.get(place, wanted).map_err(|error| match error {
            data::Error::File(error) => format!("cannot read {}: {error}", named.display()),
            error => format!("{} does not fit {what}: {error}", named.display()),
        })
    }

    /// Where a file lies that the manifest names, if the scene may read it.
    fn place(&mut self, named: &Path) -> Result<PathBuf, String> {
        let folder = self.scene.path.as_deref().and_then(Path::parent);
        let path = folder.unwrap_or(Path::new("")).join(named);
        if self.scene.trusted {
            self.files.push(path.clone());
            return Ok(path);
        }
        let reach = Reach::of_file(self.scene.path.as_deref());
        let found = path.canonicalize();
        let may_be_there = file::stays_below(named) && reach != Reach::Nowhere;
        match &found {
            Ok(place) if reach.holds(place) => {
                self.files.push(path);
                Ok(place.clone())
            }
            Err(error) if may_be_there => {
                let text = format!("cannot read {}: {error}", named.display());
                self.files.push(path);
                Err(text)
            }
            Ok(_) | Err(_) => {
                if may_be_there {
                    // Another file may come there.
                    self.files.push(path.clone());
                }
                let named = named.display();
                let leads = found.map_or_else(
                    |_| String::new(),
                    |place| format!("it leads to {}, and ", place.display()),
                );
                self.untrusted.push(path.display().to_string());
                Err(format!(
                    "`{named}` may not be read: {leads}a scene takes files from its own folder and below it; {TRUST}"
                ))
            }
        }
    }
}

/// The elements of a list in the manifest, which has as many as are wanted, or one for all.
fn values(bytes: &[u8], what: &str, wanted: &Wanted) -> Result<Arc<Found>, String> {
    let (of, shape) = (&wanted.of, wanted.shape);
    if wanted.bytes() == bytes.len() as u64 {
        return Ok(Arc::new(Found::All(bytes.to_vec())));
    }
    if matches!(shape, Shape::RowOrOne(_)) && bytes.len() == of.bytes() {
        return Ok(Arc::new(Found::One(bytes.to_vec())));
    }
    let count = bytes.len() / of.bytes().max(1);
    Err(format!("`value` has {count} {of}, and {what} takes as many as it has, or one for all"))
}

/// The bytes of structures that the manifest has by their fields.
///
/// # Errors
/// A sentence, and where it belongs.
fn structures(all: &[Vec<FieldValue>], of: &Type) -> Result<Vec<u8>, (String, Position)> {
    let Some(structure) = of.structure() else { return Ok(Vec::new()) };
    let mut bytes = vec![0; structure.bytes * all.len()];
    for (place, fields) in bytes.chunks_mut(structure.bytes.max(1)).zip(all) {
        for field in fields {
            field.write(structure, place).map_err(|text| (text, field.at))?;
        }
    }
    Ok(bytes)
}

impl Contents {
    /// The resources of `manifest` whose contents at the start are not those that `before` has of `old`.
    pub(super) fn changed(
        &self,
        manifest: &Manifest,
        before: &Self,
        old: &Manifest,
    ) -> BTreeSet<String> {
        let is_other = |(index, resource): &(usize, &scene::Resource)| {
            let new = self.of(ResourceId(*index));
            old.find_resource(&resource.name).is_some_and(|id| before.of(id) != new)
        };
        let resources = manifest.resources().iter().enumerate();
        resources.filter(is_other).map(|(_, resource)| resource.name.clone()).collect()
    }

    /// Whether it sets variables: each program that takes over does so anew.
    pub(super) fn sets_variables(&self) -> bool {
        !self.variables.is_empty()
    }

    /// Whether it sets variables as `other` does.
    pub(super) fn sets_as(&self, other: &Self) -> bool {
        self.variables == other.variables
    }

    /// What it sets a variable of so many bytes to, as a digest; the variable is named as in the module.
    pub(super) fn digest_of_variable(&self, lowered: &str, bytes: usize) -> Option<String> {
        let (_, found) = self.variables.iter().find(|(name, _)| name == lowered)?;
        Some(match &**found {
            Found::All(all) => digest(all),
            Found::One(one) => digest(&one.repeat(bytes / one.len().max(1))),
        })
    }

    fn of(&self, id: ResourceId) -> Option<&Arc<Found>> {
        self.resources.get(id.0)?.as_ref()
    }

    /// What `reset` begins anew of the resources of `manifest` that have a number for each of their places.
    pub(super) fn wanted(&self, reset: &Reset, manifest: &Manifest) -> Vec<(Subject, Arc<Found>)> {
        let wanted = |(index, resource): (usize, &scene::Resource)| {
            let found = self.of(ResourceId(index)).filter(|found| is_whole(found))?;
            let subject = Subject::Half { resource: resource.clone(), half: 0 };
            reset.concerns(&resource.name).then(|| (subject, found.clone()))
        };
        manifest.resources().iter().enumerate().filter_map(wanted).collect()
    }

    /// Puts everything that `reset` begins anew on `stream` as it is at the start; `borrowed` are the resources of
    /// `manifest`. Where those that are [wanted](Contents::wanted) were `brought` to the device, they come from there.
    pub(super) fn restore(
        &self,
        reset: &Reset,
        (manifest, module): (&Manifest, &Module),
        brought: Option<&Checkpoint>,
        borrowed: &mut [Borrowed<'_>],
        stream: &Stream,
    ) -> Result<(), Error> {
        let resources = manifest.resources().iter().zip(&mut *borrowed);
        for (index, (resource, borrowed)) in resources.enumerate() {
            if !reset.concerns(&resource.name) {
                continue;
            }
            match self.of(ResourceId(index)) {
                Some(found) if brought.is_some() && is_whole(found) => {}
                Some(found) => borrowed.set(found, stream)?,
                None => borrowed.clear(stream)?,
            }
        }
        if let Some(brought) = brought {
            brought.fill((manifest, borrowed), stream)?;
        }
        match reset {
            Reset::None | Reset::Fresh(_) => Ok(()),
            Reset::All => self.set_variables(module, stream),
        }
    }

    /// Sets the variables of `module`.
    pub(super) fn set_variables(&self, module: &Module, stream: &Stream) -> Result<(), Error> {
        for (name, found) in &self.variables {
            put(found, module.global(name)?, stream)?;
        }
        Ok(())
    }
}

/// Whether there is a number for each place.
fn is_whole(found: &Found) -> bool {
    match found {
        Found::All(_) => true,
        Found::One(_) => false,
    }
}

/// The bytes of what was found.
pub(super) fn bytes_of(found: &Found) -> &[u8] {
    match found {
        Found::All(bytes) | Found::One(bytes) => bytes,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        compile::{self, Limits},
        scene::Overrides,
    };

    #[test]
    fn files_are_read_for_as_long_as_a_compilation_may_take() {
        let resource =
            |name| format!("[array.{name}]\ntype = \"int\"\ncount = 1\nfile = \"{name}.npy\"\n");
        let source = format!("/*---\n{}{}---*/", resource("a"), resource("b"));
        let mut scene = Scene::parse("t.cu", &source, &Overrides::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        scene.path = Some(folder.path().join("t.cu"));
        let told = |time| {
            let compiler = Compiler::new(compile::Cache::disabled());
            let compiler = compiler.with_limits(Limits { time, ..Limits::default() });
            let mut cache = Cache::default();
            let mut reader = Reader::new(&scene, &mut cache, &compiler);
            reader.read_resources();
            reader.diagnostics
        };
        let all = told(Duration::from_secs(60));
        assert!(all.len() == 2 && all.iter().all(|d| d.text.contains("cannot read")), "{all:#?}");
        let late = told(Duration::ZERO);
        let [late] = &late[..] else { panic!("it is said once: {late:#?}") };
        assert!(late.text.contains("is read and computed for 0 s, and no longer"), "{late}");
    }
}
