//! What has been printed and told since the studio was opened: kernels' `printf`, the compiler, faults, notices.

use std::{
    collections::{BTreeSet, VecDeque},
    io,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::{notice::Notice, standard_output::StandardOutput, wake::Wake};
use crate::{
    device::{Device, cpu::Printed},
    diagnostic::{Diagnostic, Severity},
    session::{Phase, Snapshot},
};

/// So much is kept of what was printed and told, and as much between two frames; what is older is forgotten.
const MOST_LINES: usize = 20_000;
const MOST_BYTES: usize = 4 << 20;

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A kernel's `printf`.
    Print,
    /// The compiler, or who reads the manifest.
    Compiler,
    /// A kernel that was stopped.
    Fault,
    /// The checker.
    Checker,
    /// The studio.
    Studio,
}

impl Origin {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Print, Self::Compiler, Self::Fault, Self::Checker, Self::Studio];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Print => "printf",
            Self::Compiler => "compiler",
            Self::Fault => "faults",
            Self::Checker => "checks",
            Self::Studio => "notices",
        }
    }
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// When, since the studio was opened.
    pub at: Duration,
    /// Where from.
    pub origin: Origin,
    /// How bad it is; `None` of what is printed.
    pub severity: Option<Severity>,
    /// The block and the thread that have printed it, where they are known.
    pub thread: Option<[[u32; 3]; 2]>,
    /// The line and column of the open text, from 1, where it is about one.
    pub place: Option<(u32, Option<u32>)>,
    /// Its text, without the end of the line.
    pub text: String,
}

/// Lines, of which the oldest are forgotten beyond a limit.
#[derive(Debug, Default)]
struct Lines {
    lines: VecDeque<Line>,
    bytes: usize,
    forgotten: u64,
}

impl Lines {
    fn push(&mut self, line: Line) {
        self.bytes += line.text.len();
        self.lines.push_back(line);
        while self.lines.len() > MOST_LINES || self.bytes > MOST_BYTES {
            let Some(oldest) = self.lines.pop_front() else { return };
            self.bytes -= oldest.text.len();
            self.forgotten += 1;
        }
    }
}

/// What kernels have printed since the last frame, as the threads that run them have it.
#[derive(Debug, Default)]
struct Inbox {
    lines: Lines,
    /// Whether the last line goes on.
    is_open: bool,
}

impl Inbox {
    /// Takes the text of one `printf`, which may be several lines, or a part of one.
    fn take(&mut self, text: &str, thread: Option<[[u32; 3]; 2]>, at: Duration) {
        for part in text.split_inclusive('\n') {
            let is_whole = part.ends_with('\n');
            let text = part.trim_end_matches('\n');
            match self.lines.lines.back_mut() {
                Some(last) if self.is_open && last.thread == thread => {
                    last.text.push_str(text);
                    self.lines.bytes += text.len();
                }
                Some(_) | None => {
                    let (origin, text) = (Origin::Print, text.to_owned());
                    let line = Line { at, origin, severity: None, thread, place: None, text };
                    self.lines.push(line);
                }
            }
            self.is_open = !is_whole;
        }
    }
}

/// All of it.
pub struct Console {
    lines: Lines,
    inbox: Arc<Mutex<Inbox>>,
    begun: Instant,
    /// What is in it already of the snapshots, and of the notices.
    generation: u64,
    fault: Option<Diagnostic>,
    findings: BTreeSet<String>,
    notices: u64,
    /// What the driver of a GPU prints to.
    standard_output: Option<StandardOutput>,
}

impl Default for Console {
    fn default() -> Self {
        Self {
            lines: Lines::default(),
            inbox: Arc::default(),
            begun: Instant::now(),
            generation: 0,
            fault: None,
            findings: BTreeSet::new(),
            notices: 0,
            standard_output: None,
        }
    }
}

impl Console {
    /// Takes what the kernels of `device` print.
    ///
    /// # Errors
    /// The system's, for an NVIDIA GPU: its driver prints to the standard output.
    pub fn listen(&mut self, device: &Device, wake: Wake) -> io::Result<()> {
        let (inbox, begun) = (self.inbox.clone(), self.begun);
        let take = move |text: &str, thread: Option<[[u32; 3]; 2]>| {
            let mut inbox = inbox.lock().unwrap_or_else(PoisonError::into_inner);
            let was_empty = inbox.lines.lines.is_empty();
            inbox.take(text, thread, begun.elapsed());
            if was_empty {
                wake();
            }
        };
        match device {
            Device::Cpu(device) => device.print_with(move |Printed { text, at }| {
                take(text, at.map(|at| [at.block, at.thread]));
            }),
            Device::Nvidia(_) => {
                self.standard_output = Some(StandardOutput::listen(move |text| take(text, None))?);
            }
        }
        Ok(())
    }

    /// Takes what has been printed since the last time; gives whether there is any.
    pub fn take_printed(&mut self) -> bool {
        let Inbox { lines, .. } =
            std::mem::take(&mut *self.inbox.lock().unwrap_or_else(PoisonError::into_inner));
        self.lines.forgotten += lines.forgotten;
        let any = !lines.lines.is_empty();
        lines.lines.into_iter().for_each(|line| self.lines.push(line));
        any
    }

    /// Notes what is new in a snapshot of the scene in `file`, and among the notices.
    pub fn observe(&mut self, snapshot: &Snapshot, file: &str, notices: &[Notice]) {
        let compile = &snapshot.compile;
        if compile.phase != Phase::Compiling && compile.generation != self.generation {
            self.generation = compile.generation;
            compile
                .diagnostics
                .iter()
                .for_each(|diagnostic| self.tell(Origin::Compiler, diagnostic, file));
            // What the log says of errors and warnings is told by then, with its places.
            if compile.diagnostics.is_empty() {
                compile
                    .log
                    .lines()
                    .for_each(|line| self.say(Origin::Compiler, Severity::Note, line));
            }
        }
        if snapshot.fault != self.fault {
            self.fault.clone_from(&snapshot.fault);
            if let Some(fault) = &snapshot.fault {
                self.tell(Origin::Fault, fault, file);
            }
        }
        self.observe_findings(&snapshot.findings, file);
        let told = self.notices;
        for notice in notices.iter().filter(|notice| notice.number >= told) {
            self.say(Origin::Studio, notice.severity, &notice.text);
        }
        self.notices = notices.iter().map(|notice| notice.number + 1).fold(self.notices, u64::max);
    }

    /// What is found again and again is told once, as it was first.
    fn observe_findings(&mut self, findings: &[Diagnostic], file: &str) {
        if findings.is_empty() {
            return self.findings.clear();
        }
        for finding in findings {
            let without_count = finding.text.rsplit_once(" (").map_or(&*finding.text, |(of, _)| of);
            let place = (finding.line.unwrap_or(0), finding.column.unwrap_or(0));
            if self.findings.insert(format!("{}:{place:?} {without_count}", finding.file)) {
                self.tell(Origin::Checker, finding, file);
            }
        }
    }

    /// A session begins: what it counts begins anew.
    pub fn begin(&mut self) {
        self.generation = 0;
        self.fault = None;
        self.findings.clear();
    }

    fn tell(&mut self, origin: Origin, diagnostic: &Diagnostic, file: &str) {
        let is_here = diagnostic.file == file;
        let line = diagnostic.line.filter(|_| is_here);
        let place = match diagnostic.line {
            Some(line) => format!("{}:{line}: ", diagnostic.file),
            None => String::new(),
        };
        let at = self.begun.elapsed();
        for (index, text) in diagnostic.text.trim_end().lines().enumerate() {
            let text = if index == 0 { format!("{place}{text}") } else { format!("    {text}") };
            let (severity, place) =
                (Some(diagnostic.severity), line.map(|line| (line, diagnostic.column)));
            self.lines.push(Line { at, origin, severity, thread: None, place, text });
        }
    }

    fn say(&mut self, origin: Origin, severity: Severity, text: &str) {
        let (at, text) = (self.begun.elapsed(), text.to_owned());
        let severity = Some(severity);
        self.lines.push(Line { at, origin, severity, thread: None, place: None, text });
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        self.lines = Lines::default();
    }

    /// The lines, oldest first.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &Line> {
        self.lines.lines.iter()
    }

    /// How many lines are forgotten because there were too many.
    pub fn forgotten(&self) -> u64 {
        self.lines.forgotten
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    impl Console {
        /// Tells of a fault.
        pub fn tell_of(&mut self, fault: &Diagnostic, file: &str) {
            self.tell(Origin::Fault, fault, file);
        }

        /// Takes a line as a kernel's thread prints it.
        pub fn print(&mut self, text: &str, thread: Option<[[u32; 3]; 2]>) {
            self.inbox.lock().unwrap().take(text, thread, Duration::from_millis(1500));
            self.take_printed();
        }
    }

    fn texts(console: &Console) -> Vec<&str> {
        console.lines().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn what_one_thread_prints_piece_by_piece_is_one_line() {
        let mut console = Console::default();
        let (a, b) = (Some([[0; 3], [1, 0, 0]]), Some([[0; 3], [2, 0, 0]]));
        {
            let mut inbox = console.inbox.lock().unwrap();
            for (text, thread) in
                [("x = ", a), ("1\n", a), ("y = ", a), ("other\n", b), ("two\nlines\n", b)]
            {
                inbox.take(text, thread, Duration::ZERO);
            }
        }
        assert!(console.take_printed());
        assert_eq!(texts(&console), ["x = 1", "y = ", "other", "two", "lines"]);
        assert_eq!(console.lines().next().unwrap().thread, a);
        assert!(!console.take_printed());
    }

    #[test]
    fn the_oldest_are_forgotten_and_that_is_counted() {
        let mut console = Console::default();
        for index in 0..MOST_LINES + 5 {
            console.print(&format!("{index}\n"), None);
        }
        assert_eq!((console.lines().len(), console.forgotten()), (MOST_LINES, 5));
        assert_eq!(texts(&console)[0], "5");
        let long = "x".repeat(MOST_BYTES / 2 + 1);
        console.print(&format!("{long}\n{long}\n"), None);
        let is_long = |text: &&str| text.len() == long.len();
        assert_eq!(texts(&console).iter().filter(|text| is_long(text)).count(), 1);
        assert!(console.lines.bytes <= MOST_BYTES && console.forgotten() > 5);
        console.clear();
        assert_eq!((console.lines().len(), console.forgotten()), (0, 0));
    }
}
