//! Trying a case: panics are caught and shortened, a case that does not end ends the process with its text.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    fs,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::{Arc, Mutex, Once},
    thread,
    time::{Duration, Instant},
};

/// Longest that one case may take, on a busy machine and without optimisation.
const LIMIT: Duration = Duration::from_secs(60);
/// Most differences that are told apart.
const MOST: usize = 40;
/// Most tries to shorten a text that fails.
const SHRINK_TRIES: usize = 600;

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Panics of cases are kept instead of printed; all others go where they went before.
fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if CATCHING.get() {
                let message = info.payload_as_str().unwrap_or("a panic");
                let place = info.location().map(ToString::to_string).unwrap_or_default();
                LAST.set(format!("{place}: {message}"));
            } else {
                before(info);
            }
        }));
    });
}

/// What a case says: nothing, or what is wrong.
pub fn caught(try_it: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    CATCHING.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(try_it));
    CATCHING.set(false);
    result.unwrap_or_else(|_| Err(LAST.take()))
}

/// What is being tried since when.
type Current = Arc<Mutex<Option<(Instant, u64, String)>>>;

pub struct Guard {
    test: &'static str,
    current: Current,
    keep: Option<PathBuf>,
    cases: u64,
    started: Instant,
    /// A text for each kind of failure.
    failures: BTreeMap<String, (u64, String)>,
}

impl Guard {
    pub fn new(test: &'static str) -> Self {
        install_hook();
        let current = Current::default();
        let watched = Arc::downgrade(&current);
        thread::spawn(move || {
            while let Some(current) = watched.upgrade() {
                if let Some((since, case, text)) = &*current.lock().unwrap()
                    && since.elapsed() > LIMIT
                {
                    eprintln!("{test}, case {case} does not end:\n{text}");
                    std::process::abort();
                }
                drop(current);
                thread::sleep(Duration::from_millis(200));
            }
        });
        let long = std::env::var_os("WARPAINT_FUZZ_SECONDS").is_some();
        let name = format!("warpaint-fuzz-{test}-{}.txt", std::process::id());
        let keep = long.then(|| std::env::temp_dir().join(name));
        Self { test, current, keep, cases: 0, started: Instant::now(), failures: BTreeMap::new() }
    }

    /// Tries one text.
    pub fn try_text(
        &mut self,
        case: u64,
        text: &str,
        mut attempt: impl FnMut(&str) -> Result<(), String>,
    ) {
        self.cases += 1;
        if let Some(keep) = &self.keep {
            fs::write(keep, format!("// case {case}\n{text}")).unwrap();
        }
        *self.current.lock().unwrap() = Some((Instant::now(), case, text.to_owned()));
        let result = caught(|| attempt(text));
        if let Err(message) = result {
            let kind = kind_of(&message);
            // One difference hides behind another: each is known by the instructions that it needs.
            let differs = message.contains(" differ: ");
            if !self.failures.contains_key(&kind) || differs && self.failures.len() < MOST {
                let current = &self.current;
                let fails = |text: &str| {
                    *current.lock().unwrap() = Some((Instant::now(), case, text.to_owned()));
                    let again = caught(|| attempt(text));
                    again.is_err_and(|message| kind_of(&message) == kind)
                };
                // What is left of a kernel may go astray, which NVIDIA's devices do not survive.
                let can_shorten = !message.contains("Nvidia");
                let short = if can_shorten { shortened(text, fails) } else { text.to_owned() };
                let message = caught(|| attempt(&short)).err().unwrap_or(message);
                let key = if differs { format!("{kind} {}", mnemonics(&short)) } else { kind };
                if !self.failures.contains_key(&key) {
                    eprintln!("{}, case {case}: {message}\n{short}\n", self.test);
                    self.failures.insert(key, (case, format!("{message}\n{short}")));
                }
            }
        }
        *self.current.lock().unwrap() = None;
    }

    /// Fails where something was found, or nothing was tried.
    pub fn finish(self) {
        let seconds = self.started.elapsed().as_secs_f64();
        eprintln!("{}: {} cases in {seconds:.1} s", self.test, self.cases);
        if let Some(keep) = &self.keep {
            let _ = fs::remove_file(keep);
        }
        let all: Vec<String> = self
            .failures
            .values()
            .map(|(case, text)| format!("WARPAINT_FUZZ_SEED={case}: {text}"))
            .collect();
        assert!(self.cases > 0, "{}: no case was tried", self.test);
        assert!(all.is_empty(), "{} failures\n{}", all.len(), all.join("\n\n"));
    }
}

/// A message without its numbers, which differ from case to case, and cut after its first line.
fn kind_of(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    // Cranelift's verifier: the instruction and what is wrong with it.
    if let Some((_, context)) = line.split_once(" = ") {
        let rest = context.split_once("message: ").map_or("", |(_, message)| message);
        let opcode = context.split(' ').next().unwrap_or_default();
        return format!(
            "{opcode}: {}",
            rest.chars().filter(|c| !c.is_ascii_digit()).take(30).collect::<String>()
        );
    }
    let (place, rest) = line.split_once(": ").unwrap_or((line, ""));
    let rest: String = rest.chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
    format!("{place}: {rest}")
}

/// What stands first in each line, once.
fn mnemonics(text: &str) -> String {
    let words = text.lines().filter_map(|line| line.split_whitespace().next());
    words.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
}

/// The text with as few lines as the failure needs.
pub fn shortened(text: &str, mut fails: impl FnMut(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let (mut size, mut tries) = (lines.len().div_ceil(2).max(1), 0);
    loop {
        let mut at = 0;
        let mut removed = false;
        while at < lines.len() && tries < SHRINK_TRIES {
            let mut fewer = lines.clone();
            fewer.drain(at..(at + size).min(lines.len()));
            tries += 1;
            if fails(&fewer.join("\n")) {
                lines = fewer;
                removed = true;
            } else {
                at += size;
            }
        }
        if tries >= SHRINK_TRIES || (size == 1 && !removed) {
            return lines.join("\n");
        }
        size = (size / 2).max(1);
    }
}

#[test]
fn a_guard_that_saw_no_case_fails() {
    let none = || {
        Guard::new("none").finish();
        Ok(())
    };
    assert!(caught(none).is_err());
    let mut guard = Guard::new("one");
    guard.try_text(0, "", |_| Ok(()));
    guard.finish();
}
