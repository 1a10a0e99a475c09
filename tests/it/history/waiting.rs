//! The thread that draws waits for nothing that is on a stream, however long it takes.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use super::*;
use warpaint::{
    device::Stream,
    session::{Command, Keeping, Phase, Variant},
};

/// After so long a stream goes on that somebody waits for.
const PATIENCE: Duration = Duration::from_secs(20);
/// So many updates have begun all that can be begun while nothing on the stream goes on.
const UPDATES: usize = 40;

/// A stream on which nothing that is put there from now on goes on before it is let go.
struct Held {
    go: mpsc::Sender<()>,
    is_waited_for: Arc<AtomicBool>,
}

impl Held {
    fn hold(stream: &Stream) -> Self {
        let (go, held) = mpsc::channel();
        let is_waited_for = Arc::<AtomicBool>::default();
        let told = is_waited_for.clone();
        let wait = move || told.store(held.recv_timeout(PATIENCE).is_err(), Ordering::Release);
        stream.clone().host_function(wait).unwrap();
        Self { go, is_waited_for }
    }

    /// Lets it go, and says whether somebody waited for it before.
    fn let_go(self) -> bool {
        let is_waited_for = self.is_waited_for.load(Ordering::Acquire);
        self.go.send(()).unwrap_or(());
        is_waited_for
    }
}

/// What a thread has copied between the host and a device: to put more on the way than a few numbers takes the longer,
/// the more it is, for a GPU's driver page-locks memory for it.
#[derive(Clone, Default)]
pub(super) struct Copies(Arc<Mutex<Vec<u8>>>);

impl Copies {
    /// Notes what this thread copies while it does `work`.
    pub(super) fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        let to = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter("warpaint::copy=trace")
            .with_writer(move || to.clone())
            .with_ansi(false)
            .finish();
        tracing::subscriber::with_default(subscriber, work)
    }

    /// Those of so many bytes, or more.
    pub(super) fn of(&self, least: usize) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let bytes = |line: &str| line.rsplit_once("bytes=").unwrap().1.parse::<usize>().unwrap();
        text.lines().filter(|line| bytes(line) >= least).map(str::to_owned).collect()
    }
}

impl io::Write for Copies {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A half of the smallest resource has so many bytes.
pub(super) const LEAST: usize = 12 * 10 * 4;

/// Where a stream is held.
#[derive(Clone, Copy, Debug)]
enum At {
    /// Where nothing is under way.
    Rest,
    /// Before a step that is under way.
    Step,
    /// Behind one.
    BehindStep,
    /// On another stream of the device.
    Beside,
}

/// What somebody does.
#[derive(Debug)]
enum Deed {
    Do(Command),
    /// While the scene plays.
    Playing(Command),
    Edit(String),
    /// In a session that keeps no past.
    EditForGood(String),
    /// Begins anew in a scene with this text.
    Reset(String),
    /// Ends a comparison with this variant.
    EndComparison(Variant),
    /// Goes on from a state's file.
    Load(PathBuf),
    /// Digests what it holds.
    Digest,
    /// Reads a resource.
    Read(&'static str),
}

/// A deed, and what has become of it at last.
type Row = (Deed, Box<dyn Fn(&mut Session)>);

fn row(deed: Deed, check: impl Fn(&mut Session) + 'static) -> Row {
    (deed, Box::new(check))
}

/// Updates without waiting for anything, and then until all is done.
fn update(session: &mut Session, is_done: impl Fn(&Session) -> bool) {
    while !is_done(session) {
        session.update().unwrap();
        thread::sleep(Duration::from_millis(1));
    }
}

/// Does it while a stream is held there; what was waited for.
fn waits((deed, check): &Row, at: At) -> Vec<String> {
    let (source, history) = match deed {
        Deed::Reset(source) => (&**source, Past::Within(ROOM)),
        Deed::EditForGood(_) => (SCENE, Past::Forgotten),
        _ => (SCENE, Past::Within(ROOM)),
    };
    let options = Options { history, seed: 7, ..Options::new("scene.cu", source) };
    let mut session = open_with(&Device::cpu().unwrap(), options);
    // Of nearly every step there is a copy.
    session.apply(&Command::KeepPast(Keeping { budget: ROOM, share: 1.0 }));
    (0..20).for_each(|number| step(&mut session, number));
    if let Deed::EndComparison(variant) = deed {
        session.apply(&Command::StartComparison(variant.clone()));
        let is_compared =
            |session: &Session| session.snapshot().comparison.is_some_and(|of| of.step.is_some());
        update(&mut session, is_compared);
    }
    let held = match at {
        At::Rest => Held::hold(session.stream()),
        At::Beside => Held::hold(&session.device().stream().unwrap()),
        At::Step => {
            let held = Held::hold(session.stream());
            session.step_once();
            update(&mut session, Session::is_working);
            held
        }
        At::BehindStep => {
            session.step_once();
            update(&mut session, Session::is_working);
            Held::hold(session.stream())
        }
    };
    let copies = Copies::default();
    match deed {
        Deed::Do(command) => session.apply(command),
        Deed::Playing(command) => {
            session.play();
            session.apply(command);
        }
        Deed::Reset(_) => session.apply(&Command::Reset),
        Deed::EndComparison(_) => session.apply(&Command::StopComparison),
        Deed::Edit(source) | Deed::EditForGood(source) => _ = session.set_source(source.clone()),
        Deed::Load(path) => session.start_loading(path.clone()),
        Deed::Digest | Deed::Read(_) => {}
    }
    // They are asked for again and again, until no step is under way.
    let (mut digests, mut read) = (None, None);
    let mut ask = |session: &mut Session| match deed {
        Deed::Digest if digests.is_none() => digests = session.start_digests().unwrap(),
        Deed::Read(name) if read.is_none() => read = session.start_read(name).unwrap(),
        _ => {}
    };
    let is_compiled = |session: &Session| session.snapshot().compile.phase != Phase::Compiling;
    let mut is_waited_for = false;
    copies.during(|| {
        update(&mut session, is_compiled);
        assert_eq!(session.snapshot().compile.phase, Phase::Running);
        for _ in 0..UPDATES {
            session.update().unwrap();
            ask(&mut session);
            thread::sleep(Duration::from_millis(1));
        }
        is_waited_for = held.let_go();
        session.pause();
        update(&mut session, Session::is_idle);
        ask(&mut session);
    });
    if let Some(digests) = digests {
        assert_eq!(digests.wait().unwrap(), session.digests().unwrap());
    }
    if let (Deed::Read(name), Some(read)) = (deed, read) {
        assert!(read.wait().unwrap() == session.read(name).unwrap());
    }
    check(&mut session);
    let stream = is_waited_for.then(|| "the stream".to_owned());
    stream.into_iter().chain(copies.of(LEAST)).collect()
}

/// The scene, another line of which is this one.
fn with(line: &str, other: &str) -> String {
    assert!(SCENE.contains(line));
    SCENE.replacen(line, other, 1)
}

/// Without it the texture is shown.
const IMAGE: &str = "[view]\nkind = 'image'\ntexture = 'twin'\nsize = [20, 10]\n";

/// What all that there is comes to is the same as without the edit.
fn goes_on(session: &mut Session) {
    let mut plain = open(&Device::cpu().unwrap(), ROOM, SCENE);
    let steps = session.clock().step;
    (0..steps.min(20) as u32).for_each(|number| step(&mut plain, number));
    plain.run_steps(steps - steps.min(20), |_| {}).unwrap();
    assert!(contents(session) == contents(&mut plain), "{steps} steps");
    step(session, 20);
    step(&mut plain, 20);
    assert!(contents(session) == contents(&mut plain), "behind {steps} steps");
}

#[test]
fn no_update_waits_for_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.npz");
    let past = Moment { line: 0, step: 3 };
    let compared = |session: &mut Session| {
        assert!(session.snapshot().comparison.unwrap().step.is_some());
    };
    let exported = |session: &mut Session| {
        assert_eq!(session.take_exported().unwrap().problem, None);
    };
    let saved = folder.path().join("saved.npz");
    let mut before = open(&Device::cpu().unwrap(), ROOM, SCENE);
    (0..5).for_each(|number| step(&mut before, number));
    before.save(&saved).unwrap();
    let held = contents(&mut before);
    let loaded = move |session: &mut Session| {
        assert_eq!(session.take_loaded().unwrap().outcome.unwrap(), [""; 0]);
        assert_eq!((session.clock().step, timeline(session).shown.step), (5, 5));
        assert!(contents(session) == held);
    };
    let budget = Budget { device: 3 << 13, host: 0 };
    let narrower = Command::KeepPast(Keeping { budget, share: 0.5 });
    let elsewhere = Variant { device: Some("cpu".into()), ..Variant::default() };
    let rows = [
        row(Deed::Do(Command::Seek(past)), move |session| {
            assert_eq!(timeline(session).shown, past);
        }),
        row(Deed::Do(narrower), move |session| {
            assert!(timeline(session).bytes[0] <= budget.device);
        }),
        row(Deed::Do(Command::Export(Exportable::State, path.clone())), exported),
        row(Deed::Playing(Command::Export(Exportable::Run, path)), exported),
        row(Deed::Do(Command::StartComparison(elsewhere)), compared),
        row(Deed::Do(Command::StartComparison(Variant::default())), compared),
        row(Deed::Load(saved), loaded),
        row(Deed::EditForGood(with("v.w * 5u", "v.w * 7u")), |session| {
            assert_eq!(session.read("value").unwrap().len(), 300 * 16);
        }),
        row(Deed::Reset(with("count  = 200", "count  = 200\nrandom = [0, 9]")), |session| {
            assert_eq!(session.clock().step, 0);
            let words = session.read("twin").unwrap();
            let words: Vec<u32> = bytemuck::pod_collect_to_vec(&words);
            assert!(
                words.iter().all(|word| *word <= 9) && words.iter().any(|word| *word != words[0])
            );
        }),
        row(Deed::EndComparison(Variant::default()), |session| {
            assert!(session.snapshot().comparison.is_none());
        }),
        row(
            Deed::EndComparison(Variant { device: Some("cpu".into()), ..Variant::default() }),
            |_| {},
        ),
        // A texture that is read otherwise has other objects.
        row(
            Deed::Edit(with("format = \"r32f\"", "format = \"r32f\"\nwrap   = \"mirror\"")),
            goes_on,
        ),
        row(Deed::Digest, |_| {}),
        row(Deed::Read("value"), |_| {}),
        row(Deed::Edit(with("count = 300", "count = 310")), |session| {
            assert_eq!(session.read("value").unwrap().len(), 310 * 16);
        }),
        row(Deed::Edit(with("count = 300", "count = 30")), |session| {
            assert_eq!(session.read("value").unwrap().len(), 30 * 16);
        }),
        row(
            Deed::Edit(
                with("type   = \"unsigned\"", "type   = \"int\"")
                    .replace("unsigned *twin", "int *twin"),
            ),
            |session| {
                assert_eq!(session.resource("twin").unwrap().of().to_string(), "int");
            },
        ),
        row(Deed::Edit(with("size   = [12, 10]", "size   = [14, 8]")), |session| {
            assert_eq!(session.read("dye").unwrap().len(), 14 * 8 * 4);
        }),
        row(
            Deed::Edit(
                with("[array.twin]", "[array.other]\nwas = \"twin\"")
                    .replace("*twin", "*other")
                    .replace("twin_", "other_")
                    .replace("twin[", "other[")
                    .replace("over   = \"twin\"", "over   = \"other\""),
            ),
            |session| {
                assert_eq!(session.read("other").unwrap().len(), 200 * 4);
            },
        ),
        row(
            Deed::Edit(
                with("[array.twin]", "[array.other]")
                    .replace("*twin", "*other")
                    .replace("twin_", "other_")
                    .replace("twin[", "other[")
                    .replace("over   = \"twin\"", "over   = \"other\""),
            ),
            |session| {
                assert_eq!(session.snapshot().renamed.unwrap().from, "twin");
            },
        ),
        row(Deed::Edit(with("[buffer.value]", "[array.value]")), goes_on),
        // An array is drawn now, both halves of which go on, and a texture no longer.
        row(Deed::Edit(with("---*/", &format!("{IMAGE}---*/"))), goes_on),
    ];
    let mut waited = Vec::new();
    for row in &rows {
        for at in [At::Rest, At::Step, At::BehindStep, At::Beside] {
            let waits = waits(row, at);
            if !waits.is_empty() {
                waited.push((&row.0, at, waits));
            }
        }
    }
    assert!(waited.is_empty(), "{waited:#?}");
}
