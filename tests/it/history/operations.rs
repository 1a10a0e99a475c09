//! Random operations on a scene: whatever is done to it, its state is the one that a computation by hand gives.

mod computed;

use std::{collections::VecDeque, fs, path::PathBuf};

use self::computed::{BASE, FACTORS, FIELDS, Layout, State, Text};
use super::{runs::replay, *};
use warpaint::session::Line;

const OPERATIONS: [&str; 10] = [
    "step",
    "scrub",
    "branch",
    "edit",
    "migrate",
    "save",
    "load",
    "reset",
    "array or buffer",
    "fields",
];

/// A session, and what it must hold.
struct Both {
    session: Session,
    state: State,
    /// The newest text, which goes on from whatever is shown.
    latest: Text,
    /// What each moment had that is not forgotten.
    known: BTreeMap<(u64, u64), State>,
    /// Whether the next step begins anew: where it does, what enters it is its start's, too.
    is_interrupted: bool,
    /// What entered the step behind such a moment.
    next_gain: BTreeMap<(u64, u64), u32>,
    folder: tempfile::TempDir,
    /// What the files have that were saved.
    saved: [Option<State>; 3],
    /// What an edit without a step since then was made of: a reset leaves that behind.
    edited: Option<((u64, u64), State)>,
    /// The lines whose past a file cut off.
    loaded: Vec<u64>,
    /// What was done of late.
    told: VecDeque<String>,
}

impl Both {
    fn open(device: &Device, budget: Budget) -> Self {
        let latest = Text { layout: BASE, factor: FACTORS[0] };
        let mut both = Self {
            session: open(device, budget, &latest.source()),
            state: State::begin(latest, 3),
            latest,
            known: BTreeMap::new(),
            is_interrupted: true,
            next_gain: BTreeMap::new(),
            folder: tempfile::tempdir().unwrap(),
            saved: [const { None }; 3],
            edited: None,
            loaded: Vec::new(),
            told: VecDeque::new(),
        };
        both.session.run_steps(0, |_| {}).unwrap();
        both.note();
        both
    }

    #[track_caller]
    fn check(&mut self) {
        let Layout { name, .. } = self.state.text.layout;
        let told = self.told();
        let found = [name, "twin", "dye", "part"].map(|name| {
            self.session.read(name).unwrap_or_else(|error| panic!("{}\n{error}", told))
        });
        assert!(found == *self.state.contents(), "{}\n{:?}", told, self.state);
        assert_eq!(self.session.clock().step, self.state.step, "{}", told);
        let gain = &self.session.snapshot().parameters[0].value;
        assert_eq!(*gain, Value::Int(self.state.gain.into()), "{}", told);
    }

    fn told(&self) -> String {
        self.told.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn tell(&mut self, what: &str) {
        let Timeline { shown, is_past, .. } = timeline(&self.session);
        let Text { layout, factor } = self.state.text;
        let text = format!("{layout:?} {factor} gain {}", self.state.gain);
        self.told.push_back(format!("{what}: {shown:?} {is_past} {text}"));
        if self.told.len() > 40 {
            self.told.pop_front();
        }
    }

    /// What the moment that is shown has from now on.
    fn note(&mut self) {
        let Timeline { lines, shown, .. } = timeline(&self.session);
        let ids: Vec<u64> = lines.iter().map(|line| line.id).collect();
        self.known.retain(|(line, _), _| ids.contains(line));
        self.next_gain.retain(|(line, _), _| ids.contains(line));
        self.loaded.retain(|line| ids.contains(line));
        self.known.insert((shown.line, shown.step), self.state.clone());
    }

    /// What is done next is done by the newest text, to the state that is shown.
    fn go_on(&mut self) {
        if self.state.text != self.latest {
            self.state.take_over(self.latest);
        }
    }

    fn step(&mut self, random: &mut fastrand::Rng) {
        let gain = random.bool().then(|| random.u32(..1000));
        let (mouse, key) = (random.f32(), random.u8(..26));
        let mut keys = Keys::default();
        keys.set(b'A' + key, true);
        self.session.set_input([mouse, 0.5, 0.0, 0.0], keys);
        if let Some(gain) = gain {
            assert!(self.session.set_parameter("gain", Value::Int(gain.into())));
        }
        let is_first = self.is_interrupted || self.state.text != self.latest;
        let before = self.state.clone();
        let Timeline { lines, shown, .. } = timeline(&self.session);
        let is_end = |line: &Line| (line.id, line.last) == (shown.line, shown.step);
        self.state.gain = gain.unwrap_or(self.state.gain);
        self.go_on();
        self.session.run_steps(1, |_| {}).unwrap();
        assert!(self.session.fault().is_none(), "{:?}", self.session.fault());
        let line = timeline(&self.session).shown.line;
        if is_first {
            // A line that leaves another one begins with what that has there, under the newest text.
            self.next_gain.insert((line, before.step), self.state.gain);
            let begun = State { gain: before.gain, ..self.state.clone() };
            self.known.insert((line, before.step), begun);
            // So does the end of the line before, where the newest text has another layout.
            if lines.iter().any(is_end) {
                self.next_gain.insert((shown.line, before.step), self.state.gain);
            }
        }
        (self.is_interrupted, self.edited) = (false, None);
        self.state.step(mouse, keys.0[2]);
        self.note();
    }

    fn edit(&mut self, text: Text) {
        let Timeline { lines, shown, is_past, .. } = timeline(&self.session);
        let line = lines.iter().find(|line| line.id == shown.line);
        let has_steps = |of: &Line| of.parent.map_or(0, |parent| parent.step) < of.last;
        let is_wanted = line.is_some_and(has_steps) || self.loaded.contains(&shown.line);
        let begins_line = is_wanted && text.layout.differs(&self.state.text.layout);
        if !is_past && self.edited.is_none() {
            self.edited = Some(((shown.line, shown.step), self.state.clone()));
        }
        edit(&mut self.session, &text.source());
        self.latest = text;
        self.is_interrupted = true;
        self.go_on();
        if begins_line {
            // What there was stays the end of the line before.
            self.edited = None;
        }
        let now = timeline(&self.session).shown;
        assert_eq!(now.line != shown.line, begins_line, "{now:?} after {shown:?}");
        if !is_past || begins_line {
            self.note();
        }
    }

    fn scrub(&mut self, random: &mut fastrand::Rng) {
        self.edited = None;
        let Timeline { lines, .. } = timeline(&self.session);
        let Some(line) = random.choice(lines.iter()) else { return };
        let to = Moment { line: line.id, step: random.u64(line.first..=line.last) };
        self.session.seek(to);
        self.session.finish_seeking().unwrap();
        match timeline(&self.session).shown == to {
            true => {
                let at = (to.line, to.step);
                let known = self.known.get(&at);
                self.state = known.unwrap_or_else(|| panic!("{}\n{to:?}", self.told())).clone();
                let found = self.session.snapshot().parameters[0].value.clone();
                if let Some(next) =
                    self.next_gain.get(&at).filter(|&&of| found == Value::Int(of.into()))
                {
                    self.state.gain = *next;
                }
                self.is_interrupted = true;
            }
            false => assert!(line.copies.is_empty(), "{to:?} in {line:?}"),
        }
    }

    fn slot(&self, slot: usize) -> PathBuf {
        self.folder.path().join(format!("{slot}.npz"))
    }

    fn save(&mut self, slot: usize) {
        self.session.save(&self.slot(slot)).unwrap();
        self.saved[slot] = Some(self.state.clone());
    }

    fn load(&mut self, slot: usize) {
        let Some(saved) = self.saved[slot].clone() else { return };
        let (old, new) = (saved.text.layout, self.latest.layout);
        let has_other_size = (old.count, old.size) != (new.count, new.size);
        let is_other = old.differs(&new);
        if is_other && (old.name != new.name || !has_other_size) {
            return; // what it has no more begins as after a reset, other types are converted
        }
        let Timeline { lines, shown, is_past, .. } = timeline(&self.session);
        let is_end = |line: &Line| (line.id, line.last) == (shown.line, shown.step);
        if is_past && lines.iter().any(is_end) {
            return; // that line would go on first, by the newest text
        }
        let loaded = self.session.load(&self.slot(slot));
        self.go_on();
        match !is_other {
            true => {
                assert_eq!(loaded.unwrap(), Vec::<String>::new());
                self.state = State { text: self.latest, ..saved };
                self.edited = None;
                self.loaded.push(timeline(&self.session).shown.line);
            }
            false => {
                let said = loaded.unwrap_err().to_string();
                assert!(said.contains("does not fit"), "{said}");
            }
        }
        self.is_interrupted = true;
        self.note();
    }

    fn reset(&mut self) {
        self.known.extend(self.edited.take());
        self.session.reset();
        self.session.run_steps(0, |_| {}).unwrap();
        self.state = State::begin(self.latest, self.state.gain);
        self.is_interrupted = true;
        self.note();
    }

    /// Whether all steps that led here are known.
    fn has_begun_with_a_reset(&self) -> bool {
        let Timeline { lines, shown, .. } = timeline(&self.session);
        let parent = |id: u64| lines.iter().find(|line| line.id == id)?.parent.map(|of| of.line);
        let mut led = std::iter::successors(Some(shown.line), |id| parent(*id));
        // That of a file is forgotten where no copy of it is left.
        led.all(|id| !self.loaded.contains(&id) && lines.iter().any(|line| line.id == id))
    }
}

/// What the process has of memory of its own, in bytes.
fn memory() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) << 10
}

#[test]
fn random_operations_give_what_a_straight_run_gives() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let rounds = number("WARPAINT_HISTORY_ROUNDS").unwrap_or(300);
    let seed = number("WARPAINT_HISTORY_SEED").unwrap_or(2);
    on_each_device(|device| {
        let mut random = fastrand::Rng::with_seed(seed);
        let budget = Budget { device: 64 << 10, host: 0 };
        let mut both = Both::open(device, budget);
        let (mut count, mut early) = ([0; OPERATIONS.len()], 0);
        for round in 0..rounds {
            let operation = match random.u32(..100) {
                0..45 => 0,
                45..65 => 1,
                65..73 => 2,
                73..81 => 3,
                81..86 => 4,
                86..88 => 8,
                88..91 => 9,
                91..95 => 5,
                95..98 => 6,
                _ => 7,
            };
            match operation {
                0 => (0..random.u32(1..4)).for_each(|_| both.step(&mut random)),
                1 => both.scrub(&mut random),
                2 => {
                    // A branch, unless that is the end.
                    both.scrub(&mut random);
                    both.step(&mut random);
                }
                3 => {
                    let factor = FACTORS[random.usize(..2)];
                    both.edit(Text { factor, ..both.latest });
                }
                4 => both.edit(both.latest.any(&mut random)),
                8 => {
                    let Layout { is_array, .. } = both.latest.layout;
                    let layout = Layout { is_array: !is_array, ..both.latest.layout };
                    both.edit(Text { layout, ..both.latest });
                }
                9 => {
                    let fields = FIELDS[random.usize(..FIELDS.len())];
                    let layout = Layout { fields, ..both.latest.layout };
                    both.edit(Text { layout, ..both.latest });
                }
                5 => both.save(random.usize(..3)),
                6 => both.load(random.usize(..3)),
                _ => both.reset(),
            }
            count[operation] += 1;
            both.tell(OPERATIONS[operation]);
            both.check();
            let bytes = timeline(&both.session).bytes[0];
            // A state has less than 2000 bytes. Some come, at most one for each part of an operation, before others go.
            assert!(bytes <= budget.device + 5 * 2000, "round {round}: {bytes} bytes");
            if round % 250 == 249 {
                eprintln!("{} rounds: {} KiB, {:?}", round + 1, memory() >> 10, count);
                if both.has_begun_with_a_reset() {
                    let replayed = replay(&both.session.run().unwrap());
                    assert!(replayed.status.success(), "round {round}: {replayed:?}");
                }
            }
            if round == rounds / 4 {
                early = memory();
            }
        }
        // Fewer say nothing, and run beside other tests.
        if rounds >= 4000 {
            let [early, late] = [early, memory()].map(|bytes| bytes >> 20);
            assert!(late < early + 4, "{early} MiB have become {late}");
        }
    });
}
