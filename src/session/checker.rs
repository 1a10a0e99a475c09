//! What the CPU device's checker finds in the passes of a scene, in the words of the scene.

use super::{
    options::Engine,
    place::{place, remark},
};
use crate::{
    device::{
        self, Arguments, Dim3, Function, LaunchConfig, Location, Stream,
        cpu::{Action, Check, Finding, FindingKind, LaunchOptions, Site},
    },
    diagnostic::Diagnostic,
    scene::Manifest,
    state::Extent,
};

/// How a warp's threads can be brought into an order that they lack.
const REMEDY: &str = ". Threads of one warp are ordered by `__syncwarp()` between the two; `lockstep = true` in the \
                      pass runs them in lockstep, as GPUs before Volta did";

/// Watches the launches of a session's passes.
pub(super) struct Checker {
    check: Check,
    /// What was found so far, each with what was accessed where that is an element of a resource.
    found: Vec<(Finding, Option<String>)>,
}

impl Checker {
    /// `None`, where the device itself runs the passes.
    pub(super) fn of(engine: Engine) -> Option<Self> {
        let mut check = match engine {
            Engine::Device => return None,
            Engine::Interpreter => Check::none(),
            Engine::Checker => Check::all(),
        };
        check.line_counts = false;
        Some(Self { check, found: Vec::new() })
    }

    /// Puts a kernel on the stream, to be watched.
    ///
    /// # Errors
    /// [`device::Error::Unsupported`] where the stream is not the CPU device's; as [`Stream::launch`].
    pub(super) fn launch(
        &self,
        stream: &Stream,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> device::Result<()> {
        let (Stream::Cpu(stream), Function::Cpu(function)) = (stream, function) else {
            return Err(device::Error::Unsupported {
                operation: "the checker",
                device: stream.device().info().to_string(),
            });
        };
        stream.launch_with(function, config, arguments, &LaunchOptions::checked(&self.check))
    }

    /// Takes over what was found in launches that have ended, while the resources lie where they lay for these.
    pub(super) fn take_over(&mut self, extents: &[Extent], manifest: &Manifest) {
        for (index, finding) in self.check.report().findings.into_iter().enumerate() {
            match self.found.get_mut(index) {
                Some((known, _)) => known.count = finding.count,
                None => {
                    let element = element(&finding, extents, manifest);
                    self.found.push((finding, element));
                }
            }
        }
    }

    /// What was found so far, as remarks on the lines of the source, in their order; those that have none are on the
    /// file. What a place has to do with several others is one remark.
    pub(super) fn diagnostics(&self, file: &str) -> Vec<Diagnostic> {
        let mut mistakes: Vec<Mistake<'_>> = Vec::new();
        for (finding, element) in &self.found {
            match mistakes.iter_mut().find(|known| known.is_like(finding)) {
                Some(known) => known.add(finding),
                None => mistakes.push(Mistake::new(finding, element.as_deref())),
            }
        }
        mistakes.sort_by_key(|mistake| mistake.place().map(|at| (&at.file, at.line, at.column)));
        let first = mistakes.iter().position(|mistake| mistake.finding.within_warp);
        let remarks = mistakes.iter().enumerate().map(|(index, mistake)| {
            let remedy = if first == Some(index) { REMEDY } else { "" };
            remark(mistake.place(), file, mistake.told() + remedy)
        });
        let dropped = self.check.report().dropped;
        let more = (dropped > 0).then(|| {
            let text = format!("the checker found mistakes at {dropped} places more");
            Diagnostic::error(file, text)
        });
        remarks.chain(more).collect()
    }
}

/// The element of a resource that was accessed, if it was one.
fn element(finding: &Finding, extents: &[Extent], manifest: &Manifest) -> Option<String> {
    let (space, address, _) = finding.access?;
    let holds = |extent: &&Extent| {
        address.checked_sub(extent.memory.address).is_some_and(|at| at < extent.memory.bytes)
    };
    let extent = extents.iter().find(holds).filter(|_| space == "global")?;
    Some(extent.element_at(address, manifest))
}

/// A mistake at one place of the source.
struct Mistake<'a> {
    finding: &'a Finding,
    element: Option<&'a str>,
    /// What else the place has to do with.
    others: Vec<&'a Site>,
    count: u64,
}

impl<'a> Mistake<'a> {
    fn new(finding: &'a Finding, element: Option<&'a str>) -> Self {
        Self { finding, element, others: Vec::new(), count: finding.count }
    }

    fn place(&self) -> Option<&'a Location> {
        place_of(&self.finding.site)
    }

    fn is_like(&self, other: &Finding) -> bool {
        let key = |finding: &Finding| (finding.kind, finding.within_warp);
        let is_alike = key(self.finding) == key(other) && self.finding.kernel == other.kernel;
        is_alike && self.place().is_some() && self.place() == place_of(&other.site)
    }

    fn add(&mut self, finding: &'a Finding) {
        self.count += finding.count;
        self.others.extend(finding.other.as_ref());
    }

    fn told(&self) -> String {
        let finding = self.finding;
        let (who, what) = (thread(&finding.site), accessed(finding, self.element));
        let here = format!("{who} {} {what} here", verb(finding.site.action));
        let there = finding.other.as_ref().map(|other| self.other_side(other)).unwrap_or_default();
        let text = match finding.kind {
            FindingKind::Race => format!("race: {here}, {there}, and nothing orders them"),
            FindingKind::Lockstep => {
                format!("only a warp in lockstep has an order here: {here}, {there}")
            }
            FindingKind::Uninitialised => format!("{here}, which nobody has written"),
            FindingKind::DivisionByZero => format!("{who} divides an integer by zero"),
        };
        let times =
            if self.count == 1 { "once".to_owned() } else { format!("{} times", self.count) };
        format!("kernel `{}`: {text} ({times})", finding.kernel_name())
    }

    /// What another thread did: `thread (0, 0, 0) of the same block writes it at sum.cu:7:5`.
    fn other_side(&self, other: &Site) -> String {
        let own = &self.finding.site;
        let who = match (self.finding.within_warp, other.block == own.block) {
            (true, _) => format!("thread {} of its warp", position(other.thread)),
            (false, true) => format!("thread {} of the same block", position(other.thread)),
            (false, false) => thread(other),
        };
        let mut more = self.others.iter().map(|other| self.place_name(other)).collect::<Vec<_>>();
        more.dedup();
        let more = match more.is_empty() {
            true => String::new(),
            false => format!(" (and others {})", more.join(", ")),
        };
        format!("{who} {} it {}{more}", verb(other.action), self.place_name(other))
    }

    fn place_name(&self, other: &Site) -> String {
        match place_of(other) {
            at if at == self.place() => "at the same place".to_owned(),
            Some(at) => format!("at {at}"),
            None => format!("at line {} of the PTX", other.ptx_line),
        }
    }
}

fn place_of(site: &Site) -> Option<&Location> {
    place(site.location.as_ref(), &site.inlined)
}

/// What was accessed: `position[3]`, or bytes of a memory that has no names.
fn accessed(finding: &Finding, element: Option<&str>) -> String {
    match (element, finding.access) {
        (Some(element), _) => element.to_owned(),
        (None, Some(("shared", offset, bytes))) => {
            format!("{bytes} bytes of shared memory at offset {offset}")
        }
        (None, Some((space, address, bytes))) => {
            format!("{bytes} bytes of {space} memory at {address:#x}")
        }
        (None, None) => "memory".to_owned(),
    }
}

fn thread(site: &Site) -> String {
    format!("thread {} of block {}", position(site.thread), position(site.block))
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Read => "reads",
        Action::Write => "writes",
        Action::Atomic => "changes atomically",
        Action::Divide => "divides",
    }
}

fn position(at: Dim3) -> String {
    format!("({}, {}, {})", at.x, at.y, at.z)
}
