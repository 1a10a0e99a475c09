//! A state as a file that numpy opens: `.npz`, a zip with one `.npy` for each resource, and one JSON.
//!
//! `NAME.npy` is what a resource held last, as `--npy` writes it; `NAME.next.npy` is the half of a double one that was
//! being written. A variable of the module is `variables/NAME.npy`, in bytes. `state.json` has the rest: [`About`].

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, Read as _, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};
use zip::{
    CompressionMethod, ZipArchive, ZipWriter, read::ZipFile, result::ZipError,
    write::SimpleFileOptions,
};

use super::{Checkpoint, MOST_STEPS, Subject, until_error::UntilError};
use crate::{
    array::npy::{self, Npy},
    cuda::mangled::counterparts,
    data::{self, Found, Numpy, Shape, Wanted},
    element::{Scalar, Structure, Type},
    file::{self, Draft},
    scene::{Inputs, Keys, Manifest, Resource, Value},
};

/// What the file says that it is.
const FORMAT: &str = "warpaint state";
/// The version that is written. Every older one is read.
const VERSION: u32 = 1;
/// Where the rest stands.
const ABOUT: &str = "state.json";
/// The most bytes of that.
const MOST_ABOUT: u64 = 16 << 20;
/// The folder of variables.
const VARIABLES: &str = "variables/";
/// The most bytes of a header of numpy's.
const HEADER: u64 = 1 << 20;
/// So many files an archive has at most: every scene has fewer resources and variables.
const MOST_FILES: usize = 100_000;

/// `Result` with this module's [`enum@Error`].
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Why a state is not written to a file, or read from one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The system's.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The file is damaged, or another's.
    #[error("{0}")]
    Format(String),
}

impl From<ZipError> for Error {
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => Self::File(error),
            error => Self::Format(format!("it is no `.npz` file, or a damaged one: {error}")),
        }
    }
}

/// What a state has beside the contents of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct About {
    format: String,
    version: u32,
    /// The version of the program that wrote it.
    program: String,
    /// The scene's name.
    pub(crate) scene: String,
    /// The device that it was on.
    pub(crate) device: String,
    /// As of [`Inputs`].
    pub(crate) step: u64,
    pub(crate) time: f64,
    pub(crate) dt: f64,
    pub(crate) frame: u64,
    pub(crate) seed: u64,
    pub(crate) mouse: [f32; 4],
    pub(crate) keys: [u32; 4],
    /// The values of the parameters.
    pub(crate) parameters: BTreeMap<String, Value>,
    /// Variables that begin with addresses and held others: the file does not have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) moved_addresses: Vec<String>,
    /// What variables begin with, as digests. A text in which one begins with something else takes that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) starts: BTreeMap<String, String>,
    /// What the manifest sets variables to, as digests. `None` in files of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) set: Option<BTreeMap<String, String>>,
    /// The resources whose structures have members that are no fields. `None` in files of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    other_members: Option<BTreeSet<String>>,
}

impl About {
    pub(crate) fn of(scene: &str, device: &str, inputs: &Inputs, manifest: &Manifest) -> Self {
        let Inputs { time, dt, frame, step, seed, mouse, keys: Keys(keys), .. } = *inputs;
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            scene: scene.to_owned(),
            device: device.to_owned(),
            step,
            time,
            dt,
            frame,
            seed,
            mouse,
            keys,
            parameters: manifest.named_values(&inputs.parameters),
            moved_addresses: Vec::new(),
            starts: BTreeMap::new(),
            set: None,
            other_members: Some(other_members(manifest)),
        }
    }

    /// Whether `variable`, which is called `stored` here, begins with something else in the program that reads this.
    fn begins_otherwise(&self, stored: &str, variable: &KnownVariable) -> bool {
        let starts = self.starts.get(stored);
        // What the manifest does not set any more goes on.
        let set = self.set.as_ref().filter(|_| variable.set.is_some());
        starts.is_some_and(|start| *start != variable.start)
            || set.is_some_and(|set| set.get(stored) != variable.set.as_ref())
    }

    /// Whether members of `resource` are lost of which the file has the fields alone: those that are none.
    fn loses_members(&self, resource: &Resource) -> bool {
        match &self.other_members {
            Some(known) => known.contains(&resource.name),
            None => has_other_members(resource),
        }
    }

    /// What enters the next step of a scene with `manifest`, whose parameters are `values` where it says nothing of
    /// them.
    fn inputs(&self, manifest: &Manifest, values: &[Value]) -> Inputs {
        let Self { step, time, dt, frame, seed, mouse, keys, .. } = *self;
        let parameters = manifest.take_values(&self.parameters, values);
        Inputs { time, dt, frame, step, seed, mouse, keys: Keys(keys), parameters }
    }

    fn parse(text: &str) -> Result<Self> {
        let damaged = |error| Error::Format(format!("its {ABOUT} is damaged: {error}"));
        let about: Self = serde_json::from_str(text).map_err(damaged)?;
        if about.format != FORMAT {
            return Err(Error::Format(format!("it is a `{}`, and no `{FORMAT}`", about.format)));
        }
        if about.version > VERSION {
            let found = about.version;
            let text =
                format!("its version, {found}, is newer than {VERSION}, which this program reads");
            return Err(Error::Format(text));
        }
        if about.step.max(about.frame) > MOST_STEPS {
            return Err(Error::Format(format!("its {ABOUT} is damaged: no run has so many steps")));
        }
        Ok(about)
    }
}

/// The resources whose structures have members that are no fields.
fn other_members(manifest: &Manifest) -> BTreeSet<String> {
    let having = manifest.resources().iter().filter(|of| has_other_members(of));
    having.map(|of| of.name.clone()).collect()
}

fn has_other_members(resource: &Resource) -> bool {
    resource.of().structure().is_some_and(Structure::has_other_members)
}

/// A state on its way to a file. The contents come one by one: together they may fill most of the memory.
pub(crate) struct Writer {
    zip: ZipWriter<UntilError<io::BufWriter<File>>>,
    draft: Draft,
}

impl Writer {
    /// A file that takes the place of `path` when it is whole.
    ///
    /// # Errors
    /// [`Error::File`].
    pub(crate) fn new(path: &Path) -> Result<Self> {
        let draft = Draft::of(path)?;
        let file = io::BufWriter::new(draft.as_file().try_clone()?);
        Ok(Self { zip: ZipWriter::new(UntilError::new(file)), draft })
    }

    /// Adds what `subject` holds.
    ///
    /// # Errors
    /// [`Error::File`].
    pub(crate) fn add(&mut self, subject: &Subject, bytes: &[u8]) -> Result<()> {
        let content = match subject {
            Subject::Half { resource, .. } => content_of(resource, bytes),
            Subject::Variable { .. } => Npy::of(Scalar::U8, &[bytes.len()], bytes),
        };
        self.start(&name_of(subject), content.bytes())?;
        Ok(content.write(&mut self.zip)?)
    }

    /// Ends the file, with the rest, and puts it in the place of `path`.
    ///
    /// # Errors
    /// [`Error::File`].
    pub(crate) fn finish(mut self, path: &Path, about: &About) -> Result<()> {
        let json = serde_json::to_string_pretty(about).map_err(io::Error::from)?;
        self.start(ABOUT, json.len())?;
        self.zip.write_all(json.as_bytes())?;
        self.zip.finish()?.flush()?;
        Ok(self.draft.persist(path)?)
    }

    /// Begins a file of so many bytes, which are stored as they are: numbers of simulations are hardly compressed, and
    /// this takes no time.
    fn start(&mut self, name: &str, bytes: usize) -> Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(bytes as u64 >= u32::MAX.into());
        Ok(self.zip.start_file(name, options)?)
    }
}

/// What a subject's file is called.
fn name_of(subject: &Subject) -> String {
    match subject {
        Subject::Half { resource, half: 0 } => format!("{}.npy", resource.name),
        Subject::Half { resource, .. } => format!("{}.next.npy", resource.name),
        Subject::Variable { lowered } => format!("{VARIABLES}{lowered}.npy"),
    }
}

/// What a file gives a scene.
pub(crate) struct Loaded {
    /// Its content, with what enters the next step.
    pub(crate) checkpoint: Checkpoint,
    /// The resources that it says nothing of.
    pub(crate) missing: Vec<String>,
    /// The resources of whose structures members are lost that are no fields.
    pub(crate) lost_members: Vec<String>,
    /// The variables of the module that it does not have.
    pub(crate) missing_variables: Vec<String>,
    /// Those that it has in another size.
    pub(crate) other_sizes: Vec<String>,
    /// The variables that begin with something else in its program.
    pub(crate) other_starts: Vec<String>,
    /// The variables that it would have, but that they held addresses.
    pub(crate) moved_addresses: Vec<String>,
    /// The parameters that do not accept its values.
    pub(crate) refused: Vec<String>,
}

/// A variable of the module that a file may have.
pub(crate) struct KnownVariable {
    /// Its name in the module.
    pub(crate) name: String,
    pub(crate) bytes: usize,
    /// What it begins with, as a digest.
    pub(crate) start: String,
    /// What the manifest sets it to, likewise.
    pub(crate) set: Option<String>,
}

/// Reads the state of a scene with `manifest` and these `variables` of its module; parameters that the file does not
/// have are `values`. Numbers of another type are converted where none of them changes.
///
/// # Errors
/// [`Error`].
pub(crate) fn read(
    path: &Path,
    manifest: &Manifest,
    variables: &[KnownVariable],
    values: &[Value],
) -> Result<Loaded> {
    let mut zip = ZipArchive::new(file::open_regular(path)?)?;
    if zip.len() > MOST_FILES {
        return Err(Error::Format(format!("it has {} files", zip.len())));
    }
    let about = member(&mut zip, ABOUT)?;
    let about = about.ok_or_else(|| Error::Format(format!("it has no {ABOUT}")))?;
    let about = String::from_utf8(whole(about, MOST_ABOUT)?)
        .map_err(|_| Error::Format(format!("its {ABOUT} is damaged: it is no UTF-8 text")))?;
    let about = About::parse(&about)?;
    let (mut contents, mut missing, mut lost_members) = (Vec::new(), Vec::new(), Vec::new());
    // What the command line fills, which has no place in the text, comes before the file.
    let is_loaded = |of: &&Resource| of.initial.as_ref().is_some_and(|of| of.at.is_none());
    for resource in manifest.resources().iter().filter(|of| !is_loaded(of)) {
        let half = |half| Subject::Half { resource: resource.clone(), half };
        // What is being written is no substitute for what was written last.
        let Some((last, is_whole)) = resource_of(&mut zip, &half(0), resource)? else {
            missing.push(resource.name.clone());
            continue;
        };
        if !is_whole && about.loses_members(resource) {
            lost_members.push(resource.name.clone());
        }
        if resource.double() {
            // One half is enough of a file that somebody else has made.
            let next = resource_of(&mut zip, &half(1), resource)?.map(|(next, _)| next);
            contents.push((half(1), next.unwrap_or_else(|| last.clone())));
        }
        contents.push((half(0), last));
    }
    let (mut missing_variables, mut other_sizes, mut other_starts) =
        (Vec::new(), Vec::new(), Vec::new());
    let stored = stored_variables(&zip);
    let stored: Vec<&str> = stored.iter().map(String::as_str).collect();
    let names: Vec<&str> = variables.iter().map(|of| of.name.as_str()).collect();
    let pairs = counterparts(&names, &stored);
    for variable in variables {
        let KnownVariable { name, bytes, .. } = variable;
        let Some(&stored) = pairs.get(name.as_str()) else {
            missing_variables.push(name.clone());
            continue;
        };
        if about.begins_otherwise(stored, variable) {
            other_starts.push(name.clone());
            continue;
        }
        let subject = |lowered: &str| Subject::Variable { lowered: lowered.to_owned() };
        match variable_of(&mut zip, &subject(stored), *bytes)? {
            Some(bytes) => contents.push((subject(name), bytes)),
            None => other_sizes.push(name.clone()),
        }
    }
    let checkpoint = Checkpoint::of_host(about.inputs(manifest, values), contents);
    let refused = manifest.refused(&about.parameters).into_iter().map(str::to_owned).collect();
    let moved_addresses = about.moved_addresses;
    Ok(Loaded {
        checkpoint,
        missing,
        lost_members,
        missing_variables,
        other_sizes,
        other_starts,
        moved_addresses,
        refused,
    })
}

/// The names of the variables that a file has, in the module of its program.
fn stored_variables(zip: &ZipArchive<File>) -> Vec<String> {
    let own = |name: &str| Some(name.strip_prefix(VARIABLES)?.strip_suffix(".npy")?.to_owned());
    zip.file_names().flatten().filter_map(|name| own(&name)).collect()
}

/// The content of a variable of so many bytes; `None` where the file has it in another size, and of much larger ones
/// nothing is read.
fn variable_of(
    zip: &mut ZipArchive<File>,
    subject: &Subject,
    bytes: usize,
) -> Result<Option<Vec<u8>>> {
    let (name, limit) = (name_of(subject), (bytes as u64).saturating_add(HEADER));
    let Some(file) = member(zip, &name)?.filter(|file| file.size() <= limit) else {
        return Ok(None);
    };
    let content = whole(file, limit)?;
    let (header, found) =
        npy::decode(&content).map_err(|problem| Error::Format(format!("{name}: {problem}")))?;
    if header.shape != [found.len()] {
        let (said, has) = (header.shape, found.len());
        let text = format!("{name} is damaged: it says that it has {said:?} bytes, and has {has}");
        return Err(Error::Format(text));
    }
    Ok((found.len() == bytes).then(|| found.to_vec()))
}

/// The content of a resource's half, where the file has it, and whether that is all of its structures.
fn resource_of(
    zip: &mut ZipArchive<File>,
    subject: &Subject,
    resource: &Resource,
) -> Result<Option<(Vec<u8>, bool)>> {
    let (name, [width, height, depth]) = (name_of(subject), resource.extent());
    let shape = match resource.texture().map(|texture| texture.dimensions) {
        None => Shape::Row(width),
        Some(3) => Shape::Solid([width, height, depth]),
        Some(_) => Shape::Flat([width, height]),
    };
    let wanted = Wanted { of: resource.of(), shape, raw: None };
    let Some(mut file) = member(zip, &name)? else { return Ok(None) };
    let length = file.size();
    match data::read_npy(&mut file, length, &wanted) {
        Ok(Numpy { found: Found::All(bytes), is_whole }) => {
            expect_end(file)?;
            Ok(Some((bytes, is_whole)))
        }
        Ok(Numpy { found: Found::One(_), .. }) => Ok(None),
        Err(error) => Err(Error::Format(format!("{name} does not fit the {resource}: {error}"))),
    }
}

/// One of the archive's files, to be read as it is unpacked.
fn member<'a>(zip: &'a mut ZipArchive<File>, name: &str) -> Result<Option<ZipFile<'a, File>>> {
    match zip.by_name(name) {
        Err(ZipError::FileNotFound) => Ok(None),
        member => Ok(Some(member?)),
    }
}

/// All of one of the archive's files, which has at most `limit` bytes.
fn whole(mut file: ZipFile<'_, File>, limit: u64) -> Result<Vec<u8>> {
    let bytes = file.size();
    if bytes > limit {
        let name = file.name().unwrap_or_default();
        let text = format!("{name} has {bytes} bytes, and at most {limit} are read");
        return Err(Error::Format(text));
    }
    let mut content = Vec::new();
    file.by_ref().take(bytes).read_to_end(&mut content)?;
    expect_end(file)?;
    Ok(content)
}

/// That a file of the archive ends here. Its checksum is compared when its end is read.
fn expect_end(mut file: ZipFile<'_, File>) -> Result<()> {
    match file.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(Error::Format("it is damaged: a file is longer than the archive says".to_owned())),
    }
}

/// The content of a resource as a `.npy` file: native type, C order; bfloat16, which numpy lacks, as float32;
/// structures with their fields.
pub(crate) fn content_of<'a>(resource: &Resource, bytes: &'a [u8]) -> Npy<'a> {
    match resource.of() {
        Type::Element(element) => Npy::of(element.scalar, &shape(resource, element.lanes), bytes),
        Type::Structure(structure) => Npy::of_structures(&structure, bytes),
    }
}

/// The shape of a resource's array: `(count,)`, `(height, width)` or `(depth, height, width)`, and a last axis for the
/// components where there are several.
fn shape(resource: &Resource, lanes: u8) -> Vec<usize> {
    let [width, height, depth] = resource.extent().map(|n| n as usize);
    let mut shape = match resource.texture() {
        None => vec![width],
        Some(texture) if texture.dimensions == 3 => vec![depth, height, width],
        Some(_) => vec![height, width],
    };
    shape.extend((lanes > 1).then_some(usize::from(lanes)));
    shape
}
