//! NVIDIA's assembler takes what the table of operations has, and what the generators write: an instruction that it
//! refuses is none, and a kernel with one is not compared on a GPU. It needs no GPU itself.
//!
//! ```text
//! WARPAINT_PTXAS=FILE   the assembler; otherwise what `scripts/setup --with-assembler` installed, or `ptxas` in PATH
//! ```

use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::PathBuf, process::Command};

use fastrand::Rng;

use super::{
    Budget, generator, random,
    random::Writer,
    spec::{self, Form, Row},
    sweep,
};
use crate::skip::{Need, skip};

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
        let file = self.folder.path().join("k.ptx");
        fs::write(&file, text).unwrap();
        let mut command = Command::new(&self.program);
        command.args([&format!("-arch=sm_{architecture}"), "-O0", "-o"]);
        let output = command.arg(self.folder.path().join("k.cubin")).arg(&file).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let complaints: Vec<Complaint> = told.lines().filter_map(Complaint::parse).collect();
        assert_eq!(output.status.success(), complaints.is_empty(), "{text}\n{told}");
        complaints
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
