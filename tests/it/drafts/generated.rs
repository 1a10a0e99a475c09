//! Host programs that are made at random, each with what it really does: a draft gives these numbers, or marks them.

use std::fmt::Write as _;

use fastrand::Rng;

use crate::{
    fuzz::{Budget, generator},
    support::{Workplace, read_npy_f32},
};

/// Elements of each array.
const COUNT: usize = 16;
/// Arrays of one program.
const ARRAYS: usize = 24;
/// What the programs call.
const HELPERS: &str = "
#include <cstring>
__global__ void k(float *a) { a[threadIdx.x] += 1; }
__global__ void l(float *a, int n) { a[threadIdx.x] += n; }
void init(float *p, int n, int by) { for (int i = 0; i < n; i++) p[i] = by * i; }
void twice(float *p) { for (int i = 0; i < 16; i++) p[i] *= 2; }
void put(float *p, int at) { p[at] = 50; }
void some(float *p, int n) { for (int i = 0; i < 16; i++) { if (i == n) return; p[i] = 9; } }
void third(float (&p)[16]) { p[3] = 7; }
float *same(float *p) { return p; }
";

/// A program as it is written, and what its memory has then.
struct Program {
    text: String,
    memory: [f32; COUNT],
}

impl Program {
    /// Adds a statement of which `change` is the meaning.
    fn does(&mut self, text: &str, change: impl FnOnce(&mut [f32; COUNT])) {
        let _ = write!(self.text, " {text}");
        change(&mut self.memory);
    }

    /// Adds a random statement, with others in it down to so many.
    fn statement(&mut self, rng: &mut Rng, depth: usize) {
        let [at, other] = [rng.usize(..COUNT), rng.usize(..COUNT)];
        let value = rng.i32(1..60);
        let of = value as f32;
        match rng.u32(..if depth > 0 { 32 } else { 26 }) {
            0..=4 => self.does(&format!("for (int i = 0; i < 16; i++) h[i] = i * {value};"), |h| {
                (0..COUNT).for_each(|i| h[i] = i as f32 * of);
            }),
            5 => self.does(&format!("for (int i = {at}; i < 16; i += 2) h[i] = {value};"), |h| {
                (at..COUNT).step_by(2).for_each(|i| h[i] = of);
            }),
            6 => self.does(&format!("h[{at}] += {value};"), |h| h[at] += of),
            7 => self.does(&format!("for (int i = 0; i < {at}; i++) h[i] -= {value};"), |h| {
                h[..at].iter_mut().for_each(|x| *x -= of);
            }),
            8 => {
                let at = at.min(14);
                let text = format!("{{ float *p = h + {at}; *p = {value}; p[1] = 5; }}");
                self.does(&text, |h| (h[at], h[at + 1]) = (of, 5.0));
            }
            9 => self.does(&format!("{{ float &r = h[{at}]; r = {value}; }}"), |h| h[at] = of),
            10 => self.does(&format!("for (auto &x : h) x = {value};"), |h| *h = [of; COUNT]),
            11 => self.does("for (float &x : h) x *= 2;", |h| h.iter_mut().for_each(|x| *x *= 2.0)),
            12 => self.does(&format!("memset(h, 0, {});", 4 * at), |h| h[..at].fill(0.0)),
            13 => {
                let [low, high] = [at.min(other), at.max(other)];
                let text = format!("std::fill(h + {low}, h + {high}, {value});");
                self.does(&text, |h| h[low..high].fill(of));
            }
            14 => {
                let count = COUNT - at;
                self.does(&format!("init(h + {at}, {count}, {value});"), |h| {
                    (0..count).for_each(|i| h[at + i] = i as f32 * of);
                });
            }
            15 => self.does("twice(h);", |h| h.iter_mut().for_each(|x| *x *= 2.0)),
            16 => self.does(&format!("init(h, {at}, {value});"), |h| {
                (0..at).for_each(|i| h[i] = i as f32 * of);
            }),
            17 => self.does(
                &format!(
                    "for (int i = 0; i < 16; i++) {{ h[i] = {value}; if (i == {at}) break; }}"
                ),
                |h| h[..=at].fill(of),
            ),
            18 => self.does(&format!("std::swap(h[{at}], h[{other}]);"), |h| h.swap(at, other)),
            19 => self.does(
                &format!("for (int i = 0; i < 15; i++) {{ h[i] = {value}; h[i + 1] = 2; }}"),
                |h| {
                    h[..15].fill(of);
                    h[15] = 2.0;
                },
            ),
            20 => self.does(
                "for (int i = 0; i < 4; i++) for (int j = 0; j <= i; j++) h[i * 4 + j] = 1;",
                |h| (0..4).for_each(|i| (0..=i).for_each(|j| h[i * 4 + j] = 1.0)),
            ),
            21 => {
                let text = format!("some(h, {at}); put(h, {other}); third(h);");
                self.does(&text, |h| {
                    h[..at].fill(9.0);
                    h[other] = 50.0;
                    h[3] = 7.0;
                });
            }
            22 => {
                let text =
                    format!("auto f = [&](int n) {{ h[n] = {value}; }}; f({at}); f({other});");
                self.does(&format!("{{ {text} }}"), |h| (h[at], h[other]) = (of, of));
            }
            23 => {
                let text = format!("{{ float *p = h; p[{at}] = {value}; p += {other}; *p = 3; }}");
                self.does(&text, |h| {
                    h[at] = of;
                    h[other] = 3.0;
                });
            }
            24 => self.does(
                &format!(
                    "for (int i = 0; i < 16; i++) if (i < {at}) h[i] = {value}; else h[i] = i;"
                ),
                |h| (0..COUNT).for_each(|i| h[i] = if i < at { of } else { i as f32 }),
            ),
            25 => self.does(&format!("printf(\"%f\", h[{at}] + h[{other}]);"), |_| {}),
            26 | 27 => {
                let rounds = rng.usize(..4);
                self.block(rng, depth, &format!("for (int r = 0; r < {rounds}; r++)"), rounds);
            }
            28 => self.block(rng, depth, &format!("if ({at} < {other})"), usize::from(at < other)),
            29 => self.block(rng, depth, "do", 1),
            30 => {
                let text =
                    format!("{{ int c = 0; while (c < {at}) {{ h[c] = {value}; c += 3; }} }}");
                self.does(&text, |h| (0..at).step_by(3).for_each(|i| h[i] = of));
            }
            _ => {
                let text = format!("{{ float *q = same(h); q[{at}] = {value}; }}");
                self.does(&text, |h| h[at] = of);
            }
        }
    }

    /// Adds some statements in braces behind `head`, which is done so often.
    fn block(&mut self, rng: &mut Rng, depth: usize, head: &str, rounds: usize) {
        let seed = rng.u64(..);
        let before = self.memory;
        let mut inner = String::new();
        let mut memory = before;
        for round in 0..rounds.max(1) {
            let mut own = Self { text: String::new(), memory };
            let mut rng = Rng::with_seed(seed);
            (0..rng.usize(1..3)).for_each(|_| own.statement(&mut rng, depth - 1));
            memory = if round < rounds { own.memory } else { memory };
            inner = own.text;
        }
        let end = if head == "do" { "while (false);" } else { "" };
        self.does(&format!("{head} {{{inner} }}{end}"), |h| *h = memory);
    }
}

/// What the section of an array says without a mark.
fn is_unmarked(manifest: &str, name: &str) -> bool {
    let start = manifest.find(&format!("[array.{name}]\n")).unwrap();
    let section = manifest[start + 1..].split("\n[").next().unwrap();
    !section.contains("# fill in") && !section.contains("# The host fills it")
}

#[test]
fn random_fills_are_the_hosts_or_marked() {
    let mut known = 0;
    for case in Budget::cases(3) {
        let mut rng = generator("fills", case);
        let programs: Vec<Program> = (0..ARRAYS)
            .map(|_| {
                let mut program = Program { text: String::new(), memory: [0.0; COUNT] };
                program.does("float h[16] = {0};", |_| {});
                (0..rng.usize(1..4)).for_each(|_| program.statement(&mut rng, 2));
                program
            })
            .collect();
        let mut main = String::new();
        for (index, program) in programs.iter().enumerate() {
            let _ = writeln!(main, "float *d{index}; cudaMalloc(&d{index}, 64);");
            let copy = format!("cudaMemcpy(d{index}, h, 64, cudaMemcpyHostToDevice);");
            let _ = writeln!(main, "{{{} {copy} }}", program.text);
        }
        (0..ARRAYS).for_each(|index| _ = writeln!(main, "k<<<1, 16>>>(d{index});"));
        let place = Workplace::new();
        place.file("t.cu", &format!("{HELPERS}int main() {{\n{main}}}\n"));
        place.run(&["new", "--from", "t.cu", "--out", "s.cu"]).expect(0, &[]);
        let mut arguments: Vec<String> =
            ["render", "s.cu", "--steps", "0", "--device", "cpu"].map(str::to_owned).to_vec();
        for index in 0..ARRAYS {
            arguments.extend(["--npy".to_owned(), format!("d{index}=d{index}.npy")]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        place.run(&arguments).expect(0, &[]);
        let manifest = std::fs::read_to_string(place.path("s.cu")).unwrap();
        for (index, program) in programs.iter().enumerate() {
            let name = format!("d{index}");
            if is_unmarked(&manifest, &name) {
                known += 1;
                let (_, found) = read_npy_f32(&place.path(&format!("{name}.npy")));
                assert_eq!(found, program.memory, "case {case}: {}\n{manifest}", program.text);
            }
        }
    }
    // A draft that marks all of them would be of no use.
    assert!(known >= 12, "{known}");
}

/// Functions that change what outlives them, and the numbers that their launches are given.
#[test]
fn random_numbers_of_launches_are_the_hosts_or_marked() {
    for case in Budget::cases(200) {
        let mut rng = generator("numbers", case);
        let mut before = String::from("int g = 1;\n");
        let mut main = String::from("float *d; cudaMalloc(&d, 64); int m = 2;");
        let mut expected = Vec::new();
        let mut bodies = Vec::new();
        for function in 0..2 {
            let statics = rng.bool();
            let [first, by] = [rng.i32(0..9), rng.i32(0..3)];
            let name = if statics { format!("s{function}") } else { "g".to_owned() };
            let declared =
                if statics { format!("static int {name} = {first}; ") } else { String::new() };
            let is_before = rng.bool();
            let change = format!("{name} += {by};");
            let launch = format!("l<<<1, 16>>>(d, {name} + n);");
            let body =
                if is_before { format!("{change} {launch}") } else { format!("{launch} {change}") };
            let _ = writeln!(before, "void f{function}(float *d, int n) {{ {declared}{body} }}");
            bodies.push((statics, first, by, is_before));
        }
        let (mut global, mut local) = (1, 2);
        let mut statics: Vec<i32> = bodies.iter().map(|(_, first, ..)| *first).collect();
        for statement in 0..rng.usize(3..7) {
            // Each of them is called.
            match if statement < 2 { 3 } else { rng.u32(..5) } {
                0 => {
                    let by = rng.i32(1..9);
                    let _ = write!(main, " m += {by};");
                    local += by;
                }
                1 => {
                    let _ = write!(main, " {{ int *p = &m; *p = 7; }}");
                    local = 7;
                }
                2 => {
                    let _ = write!(main, " l<<<1, 16>>>(d, m + g);");
                    expected.push(local + global);
                }
                _ => {
                    let function = if statement < 2 { statement } else { rng.usize(..2) };
                    let (is_static, _, by, is_before) = bodies[function];
                    let _ = write!(main, " f{function}(d, m);");
                    let of = if is_static { &mut statics[function] } else { &mut global };
                    *of += if is_before { by } else { 0 };
                    expected.push(*of + local);
                    *of += if is_before { 0 } else { by };
                }
            }
        }
        let text = format!("{HELPERS}{before}int main() {{ {main} }}\n");
        let manifest = warpaint::scene::draft("t.cu", &text);
        let found: Vec<&str> = manifest.lines().filter(|line| line.starts_with("n = ")).collect();
        assert_eq!(found.len(), expected.len(), "case {case}: {text}\n{manifest}");
        for (line, expected) in found.iter().zip(&expected) {
            let is_it = line.contains("# fill in") || *line == format!("n = {expected}");
            assert!(is_it, "case {case}: {line} for {expected}: {text}\n{manifest}");
        }
    }
}
