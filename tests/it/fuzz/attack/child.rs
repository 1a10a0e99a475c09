//! The process that may come to harm: it tries one case after the other and says which, before each step.

use std::{env, fs, time::Duration};

use warpaint::{
    device::{Device, Error, Module},
    diagnostic, ptx,
};

use super::{
    case::{Case, PLAIN, Setting},
    fixture::{Ended, Fixture, MODES, Mode, Outcome},
    marks,
    writer::{self, Theme},
};

/// What is asked of a child: the variable's value is the rest of [`Order`].
pub const ORDER: &str = "WARPAINT_FUZZ_ATTACK";
/// Begins each line that is for the parent.
pub const MARK: &str = "@@ ";
/// Most memory that the process may take in bytes.
const MOST_BYTES: u64 = 6 << 30;
/// Most lines that are taken out of a module before it counts as refused.
const MOST_DROPPED: usize = 12;
/// Longest that a module may take to be loaded.
const LOAD: Duration = Duration::from_secs(20);

/// Stands in modules that must end alike on every engine.
const TIDY: &str = "// must end alike\n";

#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn say(text: &str) {
    println!("{MARK}{text}");
}

/// What ends the child: said, and nothing else done in a process that may be broken.
#[expect(clippy::exit, reason = "no destructor is to run in a process that came to harm")]
fn give_up(text: &str) -> ! {
    say(&format!("harm {}", text.replace('\n', " ")));
    std::process::exit(9)
}

/// Does what the parent ordered.
pub fn serve() {
    let Ok(order) = env::var(ORDER) else { return };
    let words: Vec<&str> = order.split(' ').collect();
    let ["run" | "replay", setting, ..] = words[..] else { return };
    let setting = Setting::parse(setting).unwrap();
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let message = info.payload_as_str().unwrap_or_default().replace('\n', " ");
        say(&format!("panicked {place} {message}"));
    }));
    marks::use_cores(setting.cores, std::process::id() as usize);
    let fixture = Fixture::new(setting.lanes).unwrap();
    match words[..] {
        ["run", _, first, count] => {
            let (first, count): (u64, u64) = (first.parse().unwrap(), count.parse().unwrap());
            for number in first..first + count {
                try_case(&fixture, number);
            }
        }
        ["replay", _, mode, ref paths @ ..] => {
            let modes = Mode::parse(mode).map_or_else(|| MODES.to_vec(), |mode| vec![mode]);
            for path in paths {
                try_again(
                    &fixture,
                    &modes,
                    &Case::parse(&fs::read_to_string(path).unwrap()).unwrap(),
                );
            }
        }
        _ => panic!("an order of an unknown kind: {order}"),
    }
    say("end");
}

fn try_again(fixture: &Fixture, modes: &[Mode], case: &Case) {
    say(&format!("case {}", case.number));
    // Of a case written by hand all counts.
    let most_dropped = if case.number == PLAIN { 0 } else { MOST_DROPPED };
    match load(&fixture.device, &case.text, most_dropped) {
        Ok((_, module, _)) => run(fixture, &module, case, modes, case.text.contains(TIDY)),
        Err(reason) => say(&format!("refused {reason}")),
    }
}

fn try_case(fixture: &Fixture, number: u64) {
    say(&format!("case {number}"));
    let (text, theme) = generate(number);
    let started = std::time::Instant::now();
    let loaded = load(&fixture.device, &text, MOST_DROPPED);
    if started.elapsed() > LOAD {
        give_up("hang: loading took too long");
    }
    match loaded {
        Err(reason) => say(&format!("refused {reason}")),
        Ok((text, module, dropped)) => {
            say(if dropped == 0 { "loaded at once" } else { "loaded shorter" });
            let mut rng = crate::fuzz::generator("attack modes", number);
            let mut modes = vec![Mode::Jit, Mode::Deterministic, Mode::Interpreter];
            if rng.u32(0..8) == 0 {
                modes.push(Mode::Cooperative);
            }
            if rng.u32(0..8) == 0 {
                modes.push(Mode::Beside);
            }
            if theme == Theme::Tidy || rng.u32(0..6) == 0 {
                modes.push(Mode::Checked);
            }
            let case = Case { number, text };
            run(fixture, &module, &case, &modes, theme == Theme::Tidy);
        }
    }
    if number.is_multiple_of(16) && marks::resident_bytes() > MOST_BYTES {
        give_up("memory: the process takes more than 6 GiB");
    }
}

/// The module of a case.
pub fn generate(number: u64) -> (String, Theme) {
    let mut rng = crate::fuzz::generator("attack", number);
    let (text, theme) = writer::module(&mut rng);
    let remark = if theme == Theme::Tidy { TIDY } else { "" };
    (text + remark, theme)
}

/// Loads a module without the lines that are refused; how many those are.
fn load(
    device: &Device,
    text: &str,
    most_dropped: usize,
) -> Result<(String, Module, usize), String> {
    let mut text = text.to_owned();
    let mut reason = String::new();
    for dropped in 0..=most_dropped {
        let lines = match faulty_lines(&text) {
            Ok(()) => match device.load(&text) {
                Ok(module) => return Ok((text, module, dropped)),
                Err(Error::UnsupportedPtx { instruction, .. }) => {
                    reason = format!("unsupported {}", first_words(&instruction));
                    let is_it = |line: &str| {
                        let line = line.trim_end_matches(';');
                        !line.is_empty() && instruction.starts_with(line)
                    };
                    text.lines().position(is_it).into_iter().collect()
                }
                Err(Error::Load { log, .. }) if log.contains("internal error") => {
                    give_up(&format!("internal error: {log}"))
                }
                Err(error) => return Err(without_digits(&error.to_string())),
            },
            Err((lines, text)) => {
                reason = text;
                lines
            }
        };
        if lines.is_empty() {
            return Err(reason);
        }
        let kept = text.lines().enumerate().filter(|(at, _)| !lines.contains(at));
        text = kept.map(|(_, line)| line).collect::<Vec<_>>().join("\n");
    }
    Err(reason)
}

/// The lines that the parser or the verifier refuses, and what it says first.
fn faulty_lines(text: &str) -> Result<(), (Vec<usize>, String)> {
    let found = match ptx::parse(text) {
        Ok(module) => ptx::verify(&module),
        Err(found) => found,
    };
    if !diagnostic::has_errors(&found) {
        return Ok(());
    }
    let first = found[0].text.rsplit("`: ").next().unwrap_or_default();
    let first = without_digits(first);
    // Without its label or its end a function makes no sense.
    let is_instruction = |at: &usize| {
        let line = text.lines().nth(*at).unwrap_or_default();
        line.ends_with(';') && !line.starts_with('.') && !line.contains(':')
    };
    let lines = found.iter().filter_map(|found| found.line).map(|line| line as usize - 1);
    Err((lines.filter(is_instruction).collect(), first))
}

fn without_digits(text: &str) -> String {
    text.replace('\n', " ").chars().filter(|c| !c.is_ascii_digit()).take(70).collect()
}

fn first_words(text: &str) -> String {
    text.split(['.', ' ']).take(2).collect::<Vec<_>>().join(".")
}

/// Launches in each mode; where all must give the same, they are compared.
fn run(fixture: &Fixture, module: &Module, case: &Case, modes: &[Mode], alike: bool) {
    let Ok(function) = module.function("k") else { return };
    let mut outcomes: Vec<(Mode, Outcome)> = Vec::new();
    for mode in modes {
        say(&format!("mode {}", mode.name()));
        match fixture.run(&function, case.number, *mode) {
            Ok(outcome) => {
                say(&match &outcome.ended {
                    Ended::Ran => "ended ran".to_owned(),
                    Ended::Stopped(kind) => format!("ended {kind}"),
                    Ended::Refused(kind) => format!("ended refused {kind}"),
                });
                outcomes.push((*mode, outcome));
            }
            Err(harm) => give_up(&harm),
        }
    }
    let is_checked =
        |(mode, outcome): &&(Mode, Outcome)| *mode == Mode::Checked && !outcome.has_findings;
    if alike && let Some((_, expected)) = outcomes.iter().find(is_checked) {
        for (mode, outcome) in &outcomes {
            if let Some(text) = difference(expected, outcome) {
                give_up(&format!("differs: {} and the interpreter: {text}", mode.name()));
            }
        }
    }
}

fn difference(a: &Outcome, b: &Outcome) -> Option<String> {
    // Time is not the same everywhere.
    let late = Ended::Stopped("Cancelled".to_owned());
    if a.ended == late || b.ended == late {
        return None;
    }
    match (&a.ended, &b.ended) {
        (Ended::Ran, Ended::Ran) => {}
        (Ended::Stopped(_), Ended::Stopped(_))
        | (Ended::Refused(_), _)
        | (_, Ended::Refused(_)) => return None,
        (a, b) => return Some(format!("{b:?}, but {a:?}")),
    }
    a.arrays.iter().zip(&b.arrays).enumerate().find_map(|(array, (a, b))| {
        let at = a.iter().zip(b).position(|(a, b)| a != b)?;
        Some(format!("byte {at} of array {array} is {:#x}, but {:#x}", b[at], a[at]))
    })
}
