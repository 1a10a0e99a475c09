//! Changes to texts: of bytes, of tokens, of lines.

use fastrand::Rng;
use warpaint::ptx::types::Type;

use super::corpus::Corpus;

/// Longest text that a mutation makes.
const MOST_BYTES: usize = 60_000;

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "15",
    "16",
    "31",
    "32",
    "33",
    "63",
    "64",
    "65",
    "127",
    "128",
    "255",
    "256",
    "1023",
    "1024",
    "1025",
    "65535",
    "65536",
    "1048575",
    "1048576",
    "1048577",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "-2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0x",
    "0xffffffffffffffff",
    "0b102",
    "099",
    "0f7fc00000",
    "0f00000001",
    "0f80000000",
    "0fFF800000",
    "0d7FF8000000000000",
    "0d0000000000000001",
    "1e400",
    "1.5",
    "-0.0",
    "1e-400",
    "99999999999999999999999999999999",
];

const PIECES: &[&str] = &[
    "\"",
    "/*",
    "*/",
    "//",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ":",
    ",",
    "@",
    "!",
    "|",
    "+",
    "-",
    "=",
    "_",
    "%",
    "$",
    ".",
    "..",
    "::",
    "\\",
    "\0",
    "\u{7f}",
    "é",
    "\u{1F600}",
    "\r",
    "\t",
    "#",
    "@%p1",
    "%p",
    "%r1",
    "%tid.x",
    "WARP_SZ",
    "generic(",
    "0xff(",
    ".align 3",
    ".v4",
    ".extern",
    "[[[",
    "\"\\",
    "\"\"\"",
    "---*/",
    "/*---",
    "=[",
    "={",
];

/// A changed text of the corpus.
pub fn ptx(rng: &mut Rng, corpus: &Corpus) -> String {
    let mut text = pick(rng, &corpus.texts).clone();
    for _ in 0..1 + rng.usize(0..3) * rng.usize(0..3) {
        text = match rng.u32(0..16) {
            0 => bytes(rng, &text),
            1 => structure(rng, &text),
            2..5 => lines(rng, &text, corpus),
            5 => retyped(rng, &text),
            6..12 => mnemonic(rng, &text),
            _ => words(rng, &text, corpus),
        };
    }
    cut(text)
}

/// A changed scene.
pub fn scene(rng: &mut Rng, corpus: &Corpus) -> String {
    let mut text = pick(rng, &corpus.texts).clone();
    // The manifest is what is read most closely.
    if let Some(end) = text.find("---*/").filter(|_| rng.u32(0..3) > 0) {
        let rest = text.split_off(end);
        if rng.bool() {
            text.push_str(&rest);
        } else {
            text.push_str("---*/\n__global__ void k(float4 *position, int n) {}\n");
        }
    }
    changed(rng, text, corpus)
}

/// A changed source.
pub fn source(rng: &mut Rng, corpus: &Corpus) -> String {
    let text = pick(rng, &corpus.texts).clone();
    changed(rng, text, corpus)
}

fn changed(rng: &mut Rng, mut text: String, corpus: &Corpus) -> String {
    for _ in 0..1 + rng.usize(0..3) * rng.usize(0..3) {
        text = match rng.u32(0..8) {
            0 => bytes(rng, &text),
            1 => structure(rng, &text),
            2 | 3 => lines(rng, &text, corpus),
            _ => words(rng, &text, corpus),
        };
    }
    cut(text)
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MOST_BYTES));
    text
}

fn pick<'a, T>(rng: &mut Rng, list: &'a [T]) -> &'a T {
    &list[rng.usize(0..list.len())]
}

/// Words, numbers, runs of blanks, single other characters.
pub fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        _ if c.is_alphanumeric() || "_$%.".contains(c) => 0,
        _ if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut list = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let now = class(c);
        if before.is_some_and(|before| before != now || now == 2) {
            list.push(&text[start..at]);
            start = at;
        }
        before = Some(now);
    }
    list.push(&text[start..]);
    list
}

fn bytes(rng: &mut Rng, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + rng.usize(0..4) {
        let at = rng.usize(0..=bytes.len());
        match rng.u32(0..5) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.u32(0..8),
            1 if at < bytes.len() => bytes[at] = rng.u8(..),
            2 => bytes.insert(at, rng.u8(..)),
            3 if at < bytes.len() => {
                bytes.drain(at..(at + 1 + rng.usize(0..16)).min(bytes.len()));
            }
            _ => {
                let from = rng.usize(0..=bytes.len());
                let piece = bytes[from..(from + rng.usize(0..40)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Text that ends early, nests deeply or goes on for long.
fn structure(rng: &mut Rng, text: &str) -> String {
    let at = text.floor_char_boundary(rng.usize(0..=text.len()));
    let (before, after) = text.split_at(at);
    let count = 1 << rng.u32(0..14);
    match rng.u32(0..4) {
        0 => before.to_owned(),
        1 => {
            let piece = pick(rng, PIECES);
            format!("{before}{piece}{after}")
        }
        2 => format!("{before}{}{after}", pick(rng, PIECES).repeat(count)),
        _ => {
            let list = tokens(text);
            let word = pick(rng, &list);
            format!("{before}{}{after}", format!(" {word}").repeat(count / 4 + 1))
        }
    }
}

fn words(rng: &mut Rng, text: &str, corpus: &Corpus) -> String {
    let mut list: Vec<String> = tokens(text).into_iter().map(str::to_owned).collect();
    for _ in 0..1 + rng.usize(0..3) {
        let at = rng.usize(0..list.len());
        let is_number = list[at].starts_with(|c: char| c.is_ascii_digit());
        match rng.u32(0..8) {
            0 => drop(list.remove(at)),
            1 => list.insert(at, list[at].clone()),
            2 => {
                let other = rng.usize(0..list.len());
                list.swap(at, other);
            }
            3 => list[at] = pick(rng, &corpus.words).clone(),
            4 => list.insert(at, (*pick(rng, PIECES)).to_owned()),
            _ if is_number => list[at] = (*pick(rng, NUMBERS)).to_owned(),
            5 => list[at] = alike(rng, &list[at], &list),
            _ => list[at] = alike(rng, &list[at], &corpus.words),
        }
        if list.is_empty() {
            return String::new();
        }
    }
    list.concat()
}

/// A word of `list` that begins with the same letter, where there is one.
fn alike(rng: &mut Rng, word: &str, list: &[String]) -> String {
    let first = word.chars().next();
    for _ in 0..20 {
        let other = pick(rng, list);
        if other.chars().next() == first && other != word {
            return other.clone();
        }
    }
    word.to_owned()
}

/// Another type for all that has one.
fn retyped(rng: &mut Rng, text: &str) -> String {
    let (from, to) = (pick(rng, Type::ALL).text(), pick(rng, Type::ALL).text());
    let (from, to) = (format!(".{from}"), format!(".{to}"));
    if rng.bool() {
        return text.replace(&from, &to);
    }
    let places: Vec<usize> = text.match_indices(&from).map(|(at, _)| at).collect();
    if places.is_empty() {
        return text.to_owned();
    }
    let at = *pick(rng, &places);
    format!("{}{to}{}", &text[..at], &text[at + from.len()..])
}

/// A part of one opcode changed.
fn mnemonic(rng: &mut Rng, text: &str) -> String {
    let mut list: Vec<String> = tokens(text).into_iter().map(str::to_owned).collect();
    let is_opcode =
        |word: &String| word.contains('.') && word.starts_with(|c: char| c.is_ascii_lowercase());
    let opcodes: Vec<usize> = (0..list.len()).filter(|at| is_opcode(&list[*at])).collect();
    if opcodes.is_empty() {
        return text.to_owned();
    }
    let [at, other] = [(); 2].map(|()| *pick(rng, &opcodes));
    let mut parts: Vec<String> = list[at].split('.').map(str::to_owned).collect();
    let donor: Vec<String> = list[other].split('.').map(str::to_owned).collect();
    let which = rng.usize(0..parts.len());
    match rng.u32(0..7) {
        0 => drop(parts.remove(which)),
        1 => parts[which] = pick(rng, Type::ALL).text().to_owned(),
        2 => parts.insert(which + 1, (*pick(rng, &super::instructions::MODIFIERS)).to_owned()),
        3 => parts[which] = (*pick(rng, &super::instructions::MODIFIERS)).to_owned(),
        4 => parts[0].clone_from(&donor[0]),
        5 => parts[which] = pick(rng, &donor).clone(),
        _ => parts = donor,
    }
    list[at] = parts.join(".");
    list.concat()
}

fn lines(rng: &mut Rng, text: &str, corpus: &Corpus) -> String {
    let mut list: Vec<&str> = text.lines().collect();
    if list.is_empty() {
        return String::new();
    }
    let other: Vec<&str> = pick(rng, &corpus.texts).lines().collect();
    let at = rng.usize(0..list.len());
    match rng.u32(0..6) {
        0 => drop(list.remove(at)),
        1 => list.insert(at, list[at]),
        2 => {
            let to = rng.usize(0..list.len());
            list.swap(at, to);
        }
        3 => {
            let line = list.remove(at);
            let to = rng.usize(0..=list.len());
            list.insert(to, line);
        }
        4 => {
            let times = rng.usize(1..200);
            let line = list[at];
            list.splice(at..at, std::iter::repeat_n(line, times));
        }
        _ if !other.is_empty() => {
            let from = rng.usize(0..other.len());
            let piece = &other[from..(from + rng.usize(0..4)).min(other.len())];
            list.splice(at..at, piece.iter().copied());
        }
        _ => {}
    }
    list.join("\n")
}
