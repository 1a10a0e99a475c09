//! NVIDIA's assembler takes what the table of operations has, and what the generators write: an instruction that it
//! refuses is none, and a kernel with one is not compared on a GPU. It needs no GPU itself.
//!
//! ```text
//! WARPAINT_PTXAS=FILE   the assembler; otherwise what `scripts/setup --with-assembler` installed, or `ptxas` in PATH
//! ```

use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::PathBuf, process::Command};

use fastrand::Rng;

use super::{
    Budget, generator,
    operands::{self, Missing},
    others, random,
    random::Writer,
    spec::{self, Form, Row},
    sweep,
};
use crate::skip::{Need, skip};

/// How often an instruction with a word is tried until one is taken.
const TRIES: usize = 400;

/// What is not asked for: how forms begin, a word of theirs (none: any), and the reason.
const NOT_ASKED: &[(&str, &str, &str)] = &[
    ("shfl.{up", "", "GPUs since compute capability 7.0 do not have it"),
    ("vote.{all", "", "the same"),
    ("vote.ballot", "", "the same"),
    ("cvta", "u32", "the kernels of this test have addresses of 64 bits"),
    ("ld", ".param", "they have no parameter of so many bytes"),
    ("ld", ".param::entry", "the same"),
    ("ld", ".param::func", "they call no function"),
    ("st", ".param::func", "they call no function"),
    ("mbarrier.{arrive", ".shared::cluster", "has `_` for its result"),
];

/// The program `ptxas`.
pub struct Assembler {
    program: PathBuf,
    folder: tempfile::TempDir,
}

/// What it says of a line of a text.
#[derive(Debug)]
pub struct Complaint {
    /// From 1.
    line: usize,
    text: String,
}

impl Assembler {
    /// Where there is none, the test that asks is skipped.
    pub fn find() -> Option<Self> {
        let installed = || {
            let data =
                directories::BaseDirs::new()?.data_dir().join("warpaint/nvidia/ptxas/bin/ptxas");
            data.exists().then_some(data)
        };
        let named = env::var_os("WARPAINT_PTXAS").map(PathBuf::from);
        let program = named.or_else(installed).unwrap_or_else(|| "ptxas".into());
        if let Err(error) = Command::new(&program).arg("--version").output() {
            skip(Need::Ptxas, format!("{}: {error}", program.display()));
            return None;
        }
        Some(Self { program, folder: tempfile::tempdir().unwrap() })
    }

    /// What it finds wrong; nothing where it makes code of the text.
    pub fn assemble(&self, text: &str, architecture: u32) -> Vec<Complaint> {
        let (complaints, ended) = self.try_assemble(text, &architecture.to_string());
        assert_eq!(ended == Some(0), complaints.is_empty(), "{text}\n{complaints:#?}");
        complaints
    }

    /// What it finds wrong, and how it ends: by a signal at some texts.
    fn try_assemble(&self, text: &str, architecture: &str) -> (Vec<Complaint>, Option<i32>) {
        let file = self.folder.path().join("k.ptx");
        fs::write(&file, text).unwrap();
        let mut command = Command::new(&self.program);
        command.args([&format!("-arch=sm_{architecture}"), "-O0", "-o"]);
        let output = command.arg(self.folder.path().join("k.cubin")).arg(&file).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        (told.lines().filter_map(Complaint::parse).collect(), output.status.code())
    }

    /// The kernels of a text by name: how many instructions the code of each has, optimised, and how many registers.
    pub fn sizes(&self, text: &str, architecture: u32) -> BTreeMap<String, (u64, u32)> {
        let [file, binary] = ["k.ptx", "k.cubin"].map(|name| self.folder.path().join(name));
        fs::write(&file, text).unwrap();
        let mut command = Command::new(&self.program);
        command.arg("-v").arg(format!("-arch=sm_{architecture}")).arg("-o").args([&binary, &file]);
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{told}");
        let registers = registers(&told);
        let sizes = code_sections(&fs::read(&binary).unwrap()).into_iter();
        let both = sizes.map(|(name, size)| {
            let registers = registers.get(&name).copied().unwrap_or(0);
            (name, (size, registers))
        });
        both.collect()
    }
}

/// `ptxas info    : Function properties for k`, and further down `ptxas info    : Used 32 registers, …`
fn registers(told: &str) -> BTreeMap<String, u32> {
    let (mut all, mut name) = (BTreeMap::new(), None);
    for line in told.lines() {
        if let Some((_, function)) = line.split_once("Function properties for ") {
            name = Some(function.to_owned());
        } else if let Some((_, used)) = line.split_once("Used ")
            && let Some(count) = used.split(' ').next().and_then(|count| count.parse().ok())
        {
            all.extend(name.take().map(|name| (name, count)));
        }
    }
    all
}

/// The sections of a 64-bit ELF file with the code of a kernel, at 16 bytes an instruction.
fn code_sections(file: &[u8]) -> BTreeMap<String, u64> {
    let word = |at: u64| u32::from_le_bytes(file[at as usize..][..4].try_into().unwrap());
    let long = |at: u64| u64::from_le_bytes(file[at as usize..][..8].try_into().unwrap());
    let half =
        |at: u64| u64::from(u16::from_le_bytes(file[at as usize..][..2].try_into().unwrap()));
    let (table, size, count, names) = (long(40), half(58), half(60), half(62));
    let header = |at: u64| table + at * size;
    let names = long(header(names) + 24);
    let sections = (0..count).filter_map(|at| {
        let header = header(at);
        let name = &file[(names + u64::from(word(header))) as usize..];
        let name = name.split(|byte| *byte == 0).next()?;
        let name = String::from_utf8_lossy(name).strip_prefix(".text.")?.to_owned();
        Some((name, long(header + 32) / 16))
    });
    sections.collect()
}

impl Complaint {
    /// `ptxas k.ptx, line 12; error   : Illegal modifier '.sat' for instruction 'cvt'`
    fn parse(line: &str) -> Option<Self> {
        let (place, text) = line.split_once("error")?;
        let number = place.split_once(", line ")?.1.split_once(';')?.0;
        Some(Self {
            line: number.parse().ok()?,
            text: text.trim_start_matches([' ', ':']).to_owned(),
        })
    }
}

/// A function of one instruction after another, each on a line, with nothing that gives registers a value.
fn straight(forms: &[Form], architecture: u32, rng: &mut Rng) -> String {
    let mut writer = Writer::new(rng, architecture >= 90, false);
    let mut text = sweep::head(architecture);
    text.push_str(".visible .entry k()\n{\n");
    writer.registers();
    text.push_str(&writer.out);
    for form in forms {
        writer.out.clear();
        writer.write_guarded(form, "");
        let _ = writeln!(text, "{}", writer.out.trim_end().replace('\n', " "));
    }
    text.push_str("ret;\n}\n");
    text
}

/// The forms of the rows that it refuses, each with what it says.
fn refused(assembler: &Assembler, rows: &[Row], architecture: u32, rng: &mut Rng) -> Vec<String> {
    let text = straight(&sweep::every_form(rows), architecture, rng);
    let lines: Vec<&str> = text.lines().collect();
    let complaints = assembler.assemble(&text, architecture).into_iter();
    let told = complaints.map(|Complaint { line, text }| {
        format!("sm_{architecture}: `{}`: {text}", lines.get(line - 1).unwrap_or(&"?"))
    });
    told.collect()
}

#[test]
fn it_takes_every_form_that_is_compared() {
    let Some(assembler) = Assembler::find() else { return };
    let mut rng = generator("assembler", 0);
    let classes: [(&[Row], u32); 5] = [
        (&spec::INTEGER, 80),
        (&spec::FLOAT, 80),
        (&spec::HALF, 80),
        (&spec::SM90, 90),
        (&spec::SM100, 100),
    ];
    let mut told: Vec<String> = Vec::new();
    for (rows, architecture) in classes {
        assert!(!rows.is_empty());
        told.extend(refused(&assembler, rows, architecture, &mut rng));
    }
    assert!(told.is_empty(), "{} forms:\n{}", told.len(), told.join("\n"));
}

/// A word of a form, or a number of its operands, for which there must be an instruction.
struct Asked {
    row: Row,
    /// At which place of the mnemonic which word stands; none where there is but one at each place.
    word: Option<(usize, usize)>,
    /// Which of the ways to leave operands out.
    missing: usize,
    /// What it says of the instruction that was tried last.
    told: String,
}

impl Asked {
    /// All of a form.
    fn of(row: Row) -> Vec<Self> {
        let new = |word, missing| Self { row, word, missing, told: String::new() };
        let words: Vec<_> = spec::choices(row).into_iter().flatten().map(Some).collect();
        let (_, signature) = row.expand(|_| 0);
        let ways = Missing::all(&signature).count();
        // Without any word, that its first architecture has some of it.
        let words = words.into_iter().map(|word| new(word, 0));
        let all = words.chain((0..ways).map(|missing| new(None, missing)));
        all.filter(|asked| asked.reason().is_none()).collect()
    }

    /// An instruction: what is not asked for mostly stands as it does first.
    fn instruction(&self, rng: &mut Rng) -> String {
        let mut turn = 0;
        let one_in = [3, 8][rng.usize(0..2)];
        let (mnemonic, signature) = self.row.expand(|list| {
            turn += 1;
            match self.word {
                Some((at, choice)) if turn == at + 1 => choice,
                _ if rng.u32(0..one_in) == 0 => rng.usize(0..list.len()),
                _ => 0,
            }
        });
        let ways: Vec<Missing> = Missing::all(&signature).collect();
        let missing = match self.missing {
            0 => ways[rng.usize(0..ways.len())],
            way => ways[way % ways.len()],
        };
        operands::instruction(&mnemonic, &signature, missing, rng).0
    }

    /// What an instruction of it is made for: the first architecture that has its form, as the table says. Of some
    /// words it does not say that only a later one has them.
    fn target(&self, turn: usize) -> String {
        let since = self.row.since.max(80);
        let later = if self.word.is_some() { turn % 4 } else { turn % 2 };
        let target = match later {
            1 if since >= 90 => format!("sm_{since}a"),
            0 | 1 => format!("sm_{since}"),
            2 if since <= 90 => "sm_90a".to_owned(),
            _ => "sm_100a".to_owned(),
        };
        // A texture and a sampler: there is a mode in which they are apart.
        let is_apart = self.row.notation.contains("ptr ptr xyz");
        target + if is_apart { ", texmode_independent" } else { "" }
    }

    fn text(&self) -> Option<String> {
        let (at, choice) = self.word?;
        let (mut turn, mut text) = (0, String::new());
        self.row.expand(|list| {
            turn += 1;
            if turn == at + 1 {
                text.clone_from(&list[choice]);
            }
            0
        });
        Some(text)
    }

    /// Why it is not asked for.
    fn reason(&self) -> Option<&'static str> {
        let text = self.text();
        let is_it = |(start, word, _): &&(&str, &str, &str)| {
            spec::begins(self.row, start)
                && (word.is_empty() || text.as_deref().is_some_and(|text| text == *word))
        };
        NOT_ASKED.iter().find(is_it).map(|(_, _, reason)| *reason)
    }

    fn name(&self) -> String {
        let word = self.text().map(|text| format!("with `{text}` "));
        let operands = if self.missing > 0 { "without some operands " } else { "" };
        format!("{}{operands}of `{}`: {}", word.unwrap_or_default(), self.row.notation, self.told)
    }
}

/// Of each of those asked whether the assembler takes an instruction of it that is tried now.
fn try_once(assembler: &Assembler, asked: &mut [Asked], turn: usize, rng: &mut Rng) -> Vec<bool> {
    let mut targets: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for (index, one) in asked.iter().enumerate() {
        let item = (index, one.instruction(rng));
        targets.entry(one.target(turn)).or_default().push(item);
    }
    let mut taken = vec![true; asked.len()];
    for (target, items) in targets {
        for (index, told) in complaints(assembler, &target, items) {
            taken[index] = false;
            asked[index].told = told;
        }
    }
    taken
}

/// What it says of the instructions that it does not take, each by its number.
fn complaints(
    assembler: &Assembler,
    target: &str,
    mut items: Vec<(usize, String)>,
) -> Vec<(usize, String)> {
    let mut told = BTreeMap::new();
    let architecture = target.split(',').next().unwrap_or(target).trim_start_matches("sm_");
    // It stops at some mistakes before it has looked for others.
    loop {
        let text = operands::straight(items.iter().map(|(_, text)| text.as_str()), target);
        let lines: Vec<&str> = text.lines().collect();
        let (complaints, ended) = assembler.try_assemble(&text, architecture);
        if complaints.is_empty() {
            if ended != Some(0) && items.len() > 1 {
                // One of them ends it.
                let others = items.split_off(items.len() / 2);
                told.extend(self::complaints(assembler, target, items));
                told.extend(self::complaints(assembler, target, others));
            } else if ended != Some(0) {
                told.extend(items.pop().map(|(index, text)| {
                    (index, format!("{target}: `{text}`: it ends with {ended:?}"))
                }));
            }
            return told.into_iter().collect();
        }
        let before = items.len();
        for Complaint { line, text } in complaints {
            let instruction = lines[line - 1].trim_end_matches(';');
            for (index, _) in items.iter().filter(|(_, text)| text == instruction) {
                told.insert(*index, format!("{target}: `{instruction}`: {text}"));
            }
        }
        items.retain(|(index, _)| !told.contains_key(index));
        assert!(items.len() < before, "{target}: {text}");
    }
}

/// Of each word of the other forms there is an instruction: not all of a form's words go together.
#[test]
fn it_takes_each_word_of_the_other_forms() {
    let Some(assembler) = Assembler::find() else { return };
    let mut rng = generator("others", 0);
    let mut asked: Vec<Asked> = spec::OTHER.iter().flat_map(|row| Asked::of(row)).collect();
    assert!(asked.len() > 1000);
    for turn in 0..TRIES {
        let mut taken = try_once(&assembler, &mut asked, turn, &mut rng).into_iter();
        asked.retain(|_| !taken.next().unwrap());
    }
    let told: Vec<String> = asked.iter().map(Asked::name).collect();
    assert!(told.is_empty(), "no instruction {}:\n{}", told.len(), told.join("\n"));
}

/// Of each form that is compared with an NVIDIA GPU it takes a kernel: where none is taken, nothing is compared.
#[test]
fn it_takes_a_kernel_of_each_other_form() {
    let Some(assembler) = Assembler::find() else { return };
    let mut rng = generator("kernels", 0);
    let mut told = Vec::new();
    let rows = others::rows().into_iter().filter(|row| others::reason_on_nvidia(row).is_none());
    for row in rows {
        let architecture = if row.since > 90 { "100a" } else { "90a" };
        let mut last = String::new();
        let is_taken = (0..others::TRIES).any(|_| {
            let target = format!("sm_{architecture}");
            let Some(text) = others::text_for_nvidia(row, &target, &mut rng) else { return false };
            let (complaints, ended) = assembler.try_assemble(&text, architecture);
            last = format!("{ended:?} {complaints:#?}\n{text}");
            ended == Some(0)
        });
        if !is_taken {
            told.push(format!("`{}`: {last}", row.notation));
        }
    }
    assert!(told.is_empty(), "{}:\n{}", told.len(), told.join("\n"));
}

#[test]
fn it_takes_random_kernels() {
    let Some(assembler) = Assembler::find() else { return };
    for case in Budget::cases(40) {
        let mut rng = generator("assembled", case);
        let text = random::kernel(&mut rng).text;
        let architecture = if text.contains("sm_90") { 90 } else { 80 };
        let told = assembler.assemble(&text, architecture);
        assert!(told.is_empty(), "case {case}: {told:#?}\n{text}");
    }
}

/// The test of every form can fail.
#[test]
fn it_refuses_what_is_no_instruction() {
    let Some(assembler) = Assembler::find() else { return };
    let text = |line: &str| {
        format!("{}.visible .entry k()\n{{\n.reg .f32 %f;\n{line}\nret;\n}}\n", sweep::head(80))
    };
    assert!(assembler.assemble(&text("add.rn.f32 %f, %f, %f;"), 80).is_empty());
    let told = assembler.assemble(&text("add.rna.f32 %f, %f, %f;"), 80);
    assert_eq!(told.iter().map(|told| told.line).collect::<Vec<_>>(), [7], "{told:?}");
}
