//! Starts children, sees how they end, and finds out what ended them.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use super::{
    super::guard,
    case::{Case, SETTINGS, Setting},
    child::{self, MARK, ORDER},
};
use crate::support;

/// Longest that a child may say nothing, on a busy machine and without optimisation.
const SILENCE: Duration = Duration::from_secs(60);

/// The kind of harm that a kernel has an address of the host's memory, which may be chance.
const ADDRESS: &str = "address of the host";

/// What is known of all cases that were tried.
#[derive(Default)]
pub struct Summary {
    pub cases: u64,
    pub at_once: u64,
    pub shorter: u64,
    pub refused: BTreeMap<String, u64>,
    pub ended: BTreeMap<String, u64>,
    pub harms: BTreeMap<String, Vec<Finding>>,
    /// Words that happened to be addresses of the host, and were no more when the module was tried again.
    pub chances: u64,
}

/// A module that did harm.
#[derive(Clone, Debug)]
pub struct Finding {
    pub number: u64,
    pub setting: Setting,
    pub mode: String,
    pub what: String,
}

/// How a child ended.
struct End {
    /// Case and mode that it was at last, and what happened, unless all went well.
    harm: Option<(u64, String, String)>,
}

impl Summary {
    fn add(&mut self, line: &str) {
        match line.split_once(' ') {
            Some(("case", _)) => self.cases += 1,
            Some(("loaded", how)) => {
                *if how == "at once" { &mut self.at_once } else { &mut self.shorter } += 1
            }
            Some(("refused", why)) => *self.refused.entry(why.to_owned()).or_default() += 1,
            Some(("ended", how)) => *self.ended.entry(how.to_owned()).or_default() += 1,
            _ => {}
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.cases += other.cases;
        self.at_once += other.at_once;
        self.shorter += other.shorter;
        self.chances += other.chances;
        other
            .refused
            .into_iter()
            .for_each(|(why, count)| *self.refused.entry(why).or_default() += count);
        other
            .ended
            .into_iter()
            .for_each(|(how, count)| *self.ended.entry(how).or_default() += count);
        other
            .harms
            .into_iter()
            .for_each(|(kind, all)| self.harms.entry(kind).or_default().extend(all));
    }

    /// Several lines.
    pub fn text(&self) -> String {
        let percent = |count: u64| 100.0 * count as f64 / self.cases.max(1) as f64;
        let listed = |map: &BTreeMap<String, u64>| {
            let mut all: Vec<_> = map.iter().collect();
            all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let all = all.into_iter().take(25).map(|(what, count)| format!("  {count} {what}\n"));
            all.collect::<String>()
        };
        let mut text = format!(
            "{} modules: {:.1} % loaded at once, {:.1} % without some lines\n\
             refused:\n{}launches:\n{}addresses and differences by chance: {}\n\
             harm:\n",
            self.cases,
            percent(self.at_once),
            percent(self.shorter),
            listed(&self.refused),
            listed(&self.ended),
            self.chances
        );
        for (kind, all) in &self.harms {
            let Finding { number, setting, mode, what } = &all[0];
            text += &format!(
                "  {} {kind}, first case {number} ({setting}, {mode}): {what}\n",
                all.len()
            );
        }
        text
    }
}

/// What kind of harm it is, without numbers.
fn kind_of(what: &str) -> String {
    let parts: Vec<&str> = what.split(':').map(str::trim).collect();
    let kind = match parts[0] {
        ADDRESS | "read" | "differs" => parts[0].to_owned(),
        _ => parts.join(" "),
    };
    let kind = kind.split("changed at").next().unwrap_or_default();
    let kind: String = kind.chars().filter(|c| !c.is_ascii_digit()).take(80).collect();
    kind.trim_end().to_owned()
}

fn start(order: &str) -> Child {
    let mut command = support::alone("fuzz::attack::child_that_may_come_to_harm");
    command.env(ORDER, order).env_remove("WARPAINT_FUZZ_SECONDS");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Follows a child to its end; each line that it says goes to `tell`.
fn follow(mut child: Child, mut tell: impl FnMut(&str)) -> End {
    let out = BufReader::new(child.stdout.take().unwrap());
    let (send, lines) = mpsc::channel();
    let reader = thread::spawn(move || {
        // What a kernel prints need not be UTF-8, and may stand in front of a line of the child's.
        out.split(b'\n').map_while(Result::ok).try_for_each(|line| send.send(line))
    });
    let (mut case, mut mode, mut harm, mut ended) = (0, String::new(), None, false);
    let mut panicked = String::new();
    loop {
        let line = match lines.recv_timeout(SILENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                harm = Some("hang: nothing for a minute".to_owned());
                break;
            }
        };
        let line = String::from_utf8_lossy(&line);
        let Some((_, line)) = line.split_once(MARK) else { continue };
        match line.split_once(' ') {
            Some(("case", number)) => {
                (case, mode) = (number.parse().unwrap_or(0), "load".to_owned())
            }
            Some(("mode", name)) => name.clone_into(&mut mode),
            Some(("panicked", place)) => panicked = format!("panic: {place}"),
            Some(("harm", what)) if what.starts_with("panic") => harm = Some(panicked.clone()),
            Some(("harm", what)) => harm = Some(what.to_owned()),
            _ => ended |= line == "end",
        }
        tell(line);
    }
    let status = child.wait().unwrap();
    drop(reader.join());
    if harm.is_none() && !ended {
        harm = Some(format!("the process ended: {status} {panicked}"));
    }
    End { harm: harm.map(|what| (case, mode, what)) }
}

/// Tries `count` cases from `first` on.
pub fn run(setting: Setting, first: u64, count: u64) -> Summary {
    let mut summary = Summary::default();
    let (mut next, last) = (first, first + count);
    while next < last {
        let child = start(&format!("run {setting} {next} {}", last - next));
        let end = follow(child, |line| summary.add(line));
        let Some((number, mode, what)) = end.harm else { break };
        next = number + 1;
        let is_chance = match kind_of(&what).as_str() {
            ADDRESS => is_chance(setting, &mode, number, &what),
            "differs" => !differs_again(setting, number),
            _ => false,
        };
        if is_chance {
            summary.chances += 1;
            continue;
        }
        let finding = Finding { number, setting, mode, what };
        summary.harms.entry(kind_of(&finding.what)).or_default().push(finding);
    }
    summary
}

/// Whether a word only happened to be an address of the host: where everything lies elsewhere, in another process, what
/// was read from the host is an address again, and another one.
fn is_chance(setting: Setting, mode: &str, number: u64, what: &str) -> bool {
    let low_half = |what: &str| {
        let digits = what.split("0x").nth(1)?.split(' ').next()?;
        u64::from_str_radix(digits, 16).ok().map(|word| word as u32)
    };
    let case = Case { number, text: child::generate(number).0 };
    match again(setting, mode, &case) {
        Some(other) => !other.starts_with(ADDRESS) || low_half(what) == low_half(&other),
        None => true,
    }
}

/// Whether a kernel ends differently again where other things lie around its arrays. A wild access may have met the
/// memory of the kernel beside it, which no two engines have at the same place.
fn differs_again(setting: Setting, number: u64) -> bool {
    let case = Case { number, text: child::generate(number).0 };
    (0..3).any(|_| again(setting, "all", &case).is_some())
}

/// Tries for so long on so many children at once; tells how far it came now and then.
pub fn run_for(time: Duration, workers: usize, first: u64) -> Summary {
    const BATCH: u64 = 400;
    let end = Instant::now() + time;
    let next = std::sync::atomic::AtomicU64::new(0);
    let total = std::sync::Mutex::new((Summary::default(), Instant::now()));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while Instant::now() < end {
                    let batch = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let setting = SETTINGS[batch as usize % SETTINGS.len()];
                    let summary = run(setting, first + batch * BATCH, BATCH);
                    for (kind, all) in &summary.harms {
                        let known = total.lock().unwrap().0.harms.get(kind).map_or(0, Vec::len);
                        for finding in all.iter().take(most_of(kind).saturating_sub(known)) {
                            eprintln!("{}\n", keep(kind, finding));
                        }
                    }
                    let mut total = total.lock().unwrap();
                    total.0.merge(summary);
                    if total.1.elapsed() > Duration::from_secs(60) {
                        total.1 = Instant::now();
                        eprintln!("{}", total.0.text());
                    }
                }
            });
        }
    });
    total.into_inner().unwrap().0
}

/// Tries a case again by itself; what happened.
fn again(setting: Setting, mode: &str, case: &Case) -> Option<String> {
    try_all(setting, mode, std::slice::from_ref(case), |_| {})
}

/// How a launch ended: in which mode, and in which way.
pub type Ending = (String, String);

/// Tries cases in all modes, one after the other; for each how its launches ended, or what harm the last one did.
pub fn endings(setting: Setting, cases: &[Case]) -> (Vec<Vec<Ending>>, Option<String>) {
    let (mut mode, mut all) = (String::new(), Vec::new());
    let harm = try_all(setting, "all", cases, |line| match line.split_once(' ') {
        Some(("case", _)) => all.push(Vec::new()),
        Some(("mode", name)) => name.clone_into(&mut mode),
        Some(("ended" | "refused", how)) => {
            all.last_mut().unwrap().push((mode.clone(), how.to_owned()));
        }
        _ => {}
    });
    (all, harm)
}

fn try_all(setting: Setting, mode: &str, cases: &[Case], tell: impl FnMut(&str)) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut order = format!("replay {setting} {mode}");
    for (index, case) in cases.iter().enumerate() {
        let path = folder.path().join(index.to_string());
        fs::write(&path, case.with("")).unwrap();
        order += &format!(" {}", path.display());
    }
    follow(start(&order), tell).harm.map(|(_, _, what)| what)
}

/// Where findings are kept.
fn folder() -> PathBuf {
    let folder = env::var_os("WARPAINT_FUZZ_FINDINGS");
    folder.map_or_else(|| env::temp_dir().join("warpaint-fuzz-attack"), PathBuf::from)
}

/// Tries findings again by themselves, and keeps the first ones of each kind, shortened.
pub fn keep_all(summary: &Summary) -> Vec<String> {
    let harms = summary.harms.iter();
    let first =
        harms.flat_map(|(kind, all)| all.iter().take(most_of(kind)).map(move |one| (kind, one)));
    first.map(|(kind, finding)| keep(kind, finding)).collect()
}

/// How many findings of a kind are shortened and kept; of crashes many may have the same name.
fn most_of(kind: &str) -> usize {
    if kind.starts_with("the process ended") { 12 } else { 3 }
}

/// Tries a finding again by itself, and keeps it, shortened.
fn keep(kind: &str, finding: &Finding) -> String {
    let Finding { number, setting, mode, what } = finding;
    let case = Case { number: *number, text: child::generate(*number).0 };
    // What differs shows where there are several.
    let mode = if kind == "differs" { "all" } else { mode };
    let first = again(*setting, mode, &case);
    let mut text = case.text.clone();
    if first.as_deref().map(kind_of).as_deref() == Some(kind) {
        let fails = |text: &str| {
            let case = Case { number: *number, text: text.to_owned() };
            again(*setting, mode, &case).is_some_and(|what| kind_of(&what) == kind)
        };
        text = guard::shortened(&text, fails);
    }
    let alone = first.map_or("not by itself".to_owned(), |what| format!("by itself: {what}"));
    let remarks = format!("{setting} {mode}: {what}\n{alone}");
    let case = Case { number: *number, text };
    let name: String = kind.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    fs::create_dir_all(folder()).unwrap();
    let path = folder().join(format!("{name}-{number}.ptx"));
    let written = case.with(&remarks);
    fs::write(&path, &written).unwrap();
    format!("{}\n{written}", path.display())
}

/// Tries a file of [`keep`] in every setting and mode.
pub fn replay(path: &str) -> Vec<String> {
    let case = Case::parse(&fs::read_to_string(path).unwrap()).unwrap();
    let mut harms = Vec::new();
    for setting in SETTINGS {
        for mode in super::fixture::MODES {
            let harm = again(setting, mode.name(), &case);
            eprintln!("{setting} {}: {}", mode.name(), harm.as_deref().unwrap_or("no harm"));
            harms.extend(harm.map(|what| format!("{setting} {}: {what}", mode.name())));
        }
    }
    harms
}
