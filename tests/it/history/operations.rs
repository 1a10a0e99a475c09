//! Random operations on a scene: whatever is done to it, its state is the one that a computation by hand gives.

use std::{collections::VecDeque, fmt::Write as _, fs, path::PathBuf};

use super::{runs::replay, *};
use warpaint::session::Line;

/// What a random operation may be about: layouts of resources, of which an edit goes from any to any.
const LAYOUTS: [Layout; 5] = [
    Layout { name: "value", count: 20, lanes: 2, is_short: false, size: [6, 5] },
    Layout { name: "value", count: 33, lanes: 2, is_short: false, size: [7, 4] },
    Layout { name: "value", count: 12, lanes: 4, is_short: false, size: [6, 5] },
    Layout { name: "value", count: 20, lanes: 2, is_short: true, size: [6, 5] },
    Layout { name: "renamed", count: 20, lanes: 2, is_short: false, size: [6, 5] },
];
/// What kernels multiply with.
const FACTORS: [u32; 2] = [1_664_525, 22_695_477];
const OPERATIONS: [&str; 8] =
    ["step", "scrub", "branch", "edit", "migrate", "save", "load", "reset"];
const TWINS: usize = 16;
const SEED: u32 = 7;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Layout {
    name: &'static str,
    count: usize,
    lanes: usize,
    is_short: bool,
    size: [usize; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Text {
    layout: Layout,
    factor: u32,
}

impl Text {
    fn any(random: &mut fastrand::Rng) -> Self {
        Self {
            layout: LAYOUTS[random.usize(..LAYOUTS.len())],
            factor: FACTORS[random.usize(..FACTORS.len())],
        }
    }

    fn source(&self) -> String {
        let Self { layout: Layout { name, count, lanes, is_short, size: [width, height] }, factor } =
            self;
        let was = LAYOUTS.iter().find(|other| other.name != *name).unwrap().name;
        let twin = if *is_short { "unsigned short" } else { "unsigned" };
        let mut more = String::new();
        if *lanes == 4 {
            write!(more, "v.z += v.y + (unsigned)step; v.w = v.w * 5u + (i & 3);").unwrap();
        }
        let start = if *lanes == 4 { "i, seed, gain, 9" } else { "i, seed" };
        format!(
            r#"/*---
[buffer.{name}]
type  = "uint{lanes}"
count = {count}
was   = "{was}"
[array.twin]
type   = "{twin}"
count  = {TWINS}
double = true
[texture.dye]
format = "r32f"
size   = [{width}, {height}]
double = true
[param.gain]
value = 3
min   = 0
max   = 1000
[[pass]]
kernel = "begin"
on     = "reset"
over   = "{name}"
[[pass]]
kernel = "mix"
over   = "{name}"
[[pass]]
kernel = "shift"
over   = "twin"
[[pass]]
kernel = "paint"
over   = "dye"
---*/
__device__ unsigned calls;

__global__ void begin(uint{lanes} *{name}, int {name}_count, unsigned seed, int gain)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < {name}_count) {name}[i] = make_uint{lanes}({start});
}}

__global__ void mix(uint{lanes} *{name}, int {name}_count, int gain, float4 mouse, uint4 keys, unsigned long long step)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) calls += gain + 1;
    if (i >= {name}_count) return;
    uint{lanes} v = {name}[i];
    v.x = v.x * {factor}u + 1013904223u + gain;
    v.y ^= v.x >> 7 ^ __float_as_uint(mouse.x) ^ keys.z;
    {more}
    {name}[i] = v;
}}

__global__ void shift({twin} *twin, {twin} *twin_next, int twin_count, const uint{lanes} *{name})
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Every third element keeps what was there two steps before.
    if (i < twin_count && i % 3) twin_next[i] = twin[(i + 1) % twin_count] + {name}[i % 12].x + calls;
}}

__global__ void paint(cudaSurfaceObject_t dye, cudaSurfaceObject_t dye_next, int dye_width, int dye_height,
    const {twin} *twin)
{{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dye_width || y >= dye_height || (x + y) % 4 == 0) return;
    float before = surf2Dread<float>(dye, x * 4, y);
    surf2Dwrite(before * 0.5f + (float)(twin[x + y] & 0xffff), dye_next, x * 4, y);
}}
"#
        )
    }
}

/// What the scene holds, computed by hand.
#[derive(Clone, Debug, PartialEq)]
struct State {
    text: Text,
    step: u64,
    gain: u32,
    value: Vec<[u32; 4]>,
    /// Both halves; the first is what is seen.
    twin: [Vec<u32>; 2],
    dye: [Vec<f32>; 2],
    calls: u32,
}

impl State {
    fn begin(text: Text, gain: u32) -> Self {
        let [width, height] = text.layout.size;
        Self {
            text,
            step: 0,
            gain,
            value: (0..text.layout.count as u32).map(|i| [i, SEED, gain, 9]).collect(),
            twin: [vec![0; TWINS], vec![0; TWINS]],
            dye: [vec![0.0; width * height], vec![0.0; width * height]],
            calls: 0,
        }
    }

    fn step(&mut self, mouse: f32, keys: u32) {
        let Layout { is_short, size: [width, height], .. } = self.text.layout;
        self.calls = self.calls.wrapping_add(self.gain + 1);
        for (i, [x, y, z, w]) in self.value.iter_mut().enumerate() {
            *x = x.wrapping_mul(self.text.factor).wrapping_add(1_013_904_223 + self.gain);
            *y ^= *x >> 7 ^ mouse.to_bits() ^ keys;
            *z = z.wrapping_add(y.wrapping_add(self.step as u32));
            *w = w.wrapping_mul(5).wrapping_add(i as u32 & 3);
        }
        let [twin, next] = &mut self.twin;
        for i in (0..TWINS).filter(|i| i % 3 != 0) {
            let sum = twin[(i + 1) % TWINS].wrapping_add(self.value[i % 12][0]);
            let sum = sum.wrapping_add(self.calls);
            next[i] = if is_short { sum & 0xffff } else { sum };
        }
        self.twin.swap(0, 1);
        let [dye, next] = &mut self.dye;
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            if (x + y) % 4 != 0 {
                let added = (self.twin[0][x + y] & 0xffff) as f32;
                next[y * width + x] = dye[y * width + x] * 0.5 + added;
            }
        }
        self.dye.swap(0, 1);
        self.step += 1;
    }

    /// What an edit carries over: see "What an edit keeps" in `docs/scenes.md`.
    fn take_over(&mut self, text: Text) {
        let (old, new) = (self.text.layout, text.layout);
        self.text = text;
        // A component, or an element, that comes is as the reset passes make it.
        let fresh = Self::begin(text, self.gain);
        if old.lanes < new.lanes {
            for (value, fresh) in self.value.iter_mut().zip(&fresh.value) {
                value[old.lanes..].copy_from_slice(&fresh[old.lanes..]);
            }
        }
        self.value.truncate(new.count);
        self.value.extend_from_slice(&fresh.value[self.value.len()..]);
        if old.is_short != new.is_short {
            let most = if new.is_short { 0xffff } else { u32::MAX };
            let converted: Vec<u32> = self.twin[0].iter().map(|&of| of.min(most)).collect();
            self.twin = [converted.clone(), converted];
        }
        if old.size != new.size {
            let mut dye = fresh.dye[0].clone();
            for (x, y) in (0..old.size[1]).flat_map(|y| (0..old.size[0]).map(move |x| (x, y))) {
                if x < new.size[0] && y < new.size[1] {
                    dye[y * new.size[0] + x] = self.dye[0][y * old.size[0] + x];
                }
            }
            self.dye = [dye.clone(), dye];
        }
    }

    /// What the resources hold, as bytes.
    fn contents(&self) -> Vec<Vec<u8>> {
        let Layout { lanes, is_short, .. } = self.text.layout;
        let value = self.value.iter().flat_map(|of| &of[..lanes]);
        let twin = self.twin[0].iter();
        vec![
            value.flat_map(|of| of.to_le_bytes()).collect(),
            match is_short {
                true => twin.flat_map(|of| (*of as u16).to_le_bytes()).collect(),
                false => twin.flat_map(|of| of.to_le_bytes()).collect(),
            },
            self.dye[0].iter().flat_map(|of| of.to_le_bytes()).collect(),
        ]
    }
}

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
        let latest = Text { layout: LAYOUTS[0], factor: FACTORS[0] };
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
        both
    }

    #[track_caller]
    fn check(&mut self) {
        let Layout { name, .. } = self.state.text.layout;
        let told = || self.told.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        let found = [name, "twin", "dye"].map(|name| {
            self.session.read(name).unwrap_or_else(|error| panic!("{}\n{error}", told()))
        });
        assert!(found == *self.state.contents(), "{}\n{:?}", told(), self.state);
        assert_eq!(self.session.clock().step, self.state.step, "{}", told());
        let gain = &self.session.snapshot().parameters[0].value;
        assert_eq!(*gain, Value::Int(self.state.gain.into()), "{}", told());
    }

    fn tell(&mut self, what: &str) {
        let Timeline { shown, is_past, .. } = timeline(&self.session);
        let Layout { name, count, lanes, is_short, .. } = self.state.text.layout;
        let text = format!(
            "{name} {count} {lanes} {is_short} {} gain {}",
            self.state.text.factor, self.state.gain
        );
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
        let begins_line = is_wanted && text.layout != self.state.text.layout;
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
                self.state = self.known[&at].clone();
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
        if old != new && (old.name != new.name || !has_other_size) {
            return; // what it has no more begins as after a reset, other types are converted
        }
        let Timeline { lines, shown, is_past, .. } = timeline(&self.session);
        let is_end = |line: &Line| (line.id, line.last) == (shown.line, shown.step);
        if is_past && lines.iter().any(is_end) {
            return; // that line would go on first, by the newest text
        }
        let loaded = self.session.load(&self.slot(slot));
        self.go_on();
        match old == new {
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
        let (mut count, mut early) = ([0; 8], 0);
        for round in 0..rounds {
            let operation = match random.u32(..100) {
                0..45 => 0,
                45..65 => 1,
                65..73 => 2,
                73..81 => 3,
                81..88 => 4,
                88..95 => 5,
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
                4 => both.edit(Text::any(&mut random)),
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
