//! Modules of a few instructions each, put together from all words of PTX, right or wrong: those that the verifier
//! accepts must load or be refused, and run.

use std::{collections::BTreeSet, fmt::Write as _, sync::LazyLock};

use fastrand::Rng;
use warpaint::{
    diagnostic, ptx,
    ptx::{inst::Op, op, types::Type},
};

use super::spec::{self, Form, Place};

/// Words behind opcodes: those of the table, and some that only stand elsewhere.
pub static MODIFIERS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut words: BTreeSet<String> =
        ["unified", "reg", "sreg", "mask", "b", "p", "c4"].map(str::to_owned).into();
    for form in op::forms() {
        let (mnemonic, _) = form.expand(|list| {
            words.extend(list.iter().flat_map(|choice| choice.split('.')).map(str::to_owned));
            0
        });
        words.extend(mnemonic.split('.').skip(1).map(str::to_owned));
    }
    words.retain(|word| !word.is_empty() && TYPES.iter().all(|(ty, _)| ty != word));
    words.into_iter().map(|word| &*word.leak()).collect()
});

/// Types with their bits: all but references to textures, of which there are no values.
static TYPES: LazyLock<Vec<(&'static str, u32)>> = LazyLock::new(|| {
    let is_reference = |ty: &Type| matches!(ty, Type::Texref | Type::Samplerref | Type::Surfref);
    let all = Type::ALL.iter().filter(|ty| !is_reference(ty));
    all.map(|ty| (ty.text(), ty.bits())).collect()
});

const IMMEDIATES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "8",
    "16",
    "31",
    "32",
    "33",
    "63",
    "64",
    "255",
    "256",
    "0xffff",
    "2147483647",
    "-2147483648",
    "0xffffffff",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "0f3F800000",
    "0f80000000",
    "0f7fc00000",
    "0fFF800000",
    "0f00000001",
    "0d3FF0000000000000",
    "0d7FF8000000000000",
    "0dFFF0000000000000",
    "1.5",
    "WARP_SZ",
    "%tid.x",
    "%laneid",
    "%clock64",
    "%envreg3",
    "%pm0",
    "%tid",
    "sh",
    "lo",
    "gl",
    "cn",
    "f",
    "p",
    "q",
    "dyn",
];

const ADDRESSES: &[&str] = &[
    "[%a]",
    "[%a+4]",
    "[%a+8]",
    "[%a+16]",
    "[%a+64]",
    "[%a+-4]",
    "[sh]",
    "[sh+4]",
    "[sh+16]",
    "[sh+1024]",
    "[lo]",
    "[lo+8]",
    "[lo+32]",
    "[lo+-16]",
    "[gl]",
    "[gl+4]",
    "[gl+64]",
    "[cn]",
    "[cn+4]",
    "[dyn]",
    "[dyn+4]",
    "[p]",
    "[p+4]",
    "[q]",
    "[q+4]",
    "[q+1]",
    "[q+12]",
    "[0]",
    "[16]",
    "[%b32_0]",
    "[%u64_1]",
    "[f]",
    "[%pred_0]",
    "[%f64_0]",
    "[%s64_0+9223372036854775807]",
    "[sh+4294967296]",
    "[lo+9223372036854775807]",
    "[gl+-9223372036854775808]",
    "[q+2147483648]",
];

/// An operand and the registers in it.
struct Operand {
    text: String,
    registers: Vec<(&'static str, u32)>,
}

fn register(rng: &mut Rng, ty: &'static str) -> Operand {
    let number = rng.u32(0..3);
    Operand { text: format!("%{ty}_{number}"), registers: vec![(ty, number)] }
}

fn any_register(rng: &mut Rng, types: &[(&'static str, u32)]) -> Operand {
    let ty = pick(rng, types).0;
    register(rng, ty)
}

fn plain(text: &str) -> Operand {
    Operand { text: text.to_owned(), registers: Vec::new() }
}

fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.usize(0..list.len())]
}

/// Something that may stand where a value of one of `types` is due.
fn operand(rng: &mut Rng, types: &[(&'static str, u32)], depth: u32) -> Operand {
    match rng.u32(0..40) {
        0..14 => any_register(rng, types),
        14..20 => {
            // Another of the same width, or of twice that.
            let width = pick(rng, types).1 * pick(rng, &[1, 1, 2]);
            let same: Vec<_> = TYPES.iter().copied().filter(|(_, bits)| *bits == width).collect();
            if same.is_empty() { plain("0") } else { any_register(rng, &same) }
        }
        20..23 => any_register(rng, &[("u32", 32), ("s32", 32), ("b32", 32)]),
        23 | 24 => {
            let mut found = register(rng, "pred");
            if rng.bool() {
                found.text.insert(0, '!');
            }
            found
        }
        25..28 => plain(pick(rng, IMMEDIATES)),
        28 => plain("_"),
        29 => plain(pick(rng, &["L", "T", "P", "f", "g"])),
        30..36 => plain(pick(rng, ADDRESSES)),
        _ if depth == 0 => {
            let parts: Vec<Operand> =
                (0..pick(rng, &[2, 2, 4, 4, 8, 1, 3])).map(|_| operand(rng, types, 1)).collect();
            together(parts)
        }
        _ => any_register(rng, &TYPES),
    }
}

/// A vector.
fn together(parts: Vec<Operand>) -> Operand {
    let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    let text = format!("{{{}}}", texts.join(", "));
    Operand { text, registers: parts.into_iter().flat_map(|part| part.registers).collect() }
}

/// Something for a place, mostly of the type that is due there.
fn fitting(rng: &mut Rng, place: &Place) -> Operand {
    let ty = match place {
        Place::Value(ty) | Place::Divisor(ty) => ty.as_str(),
        Place::Vector(ty, count) => {
            let value = Place::Value(ty.clone());
            let parts: Vec<Operand> = (0..*count).map(|_| fitting(rng, &value)).collect();
            return together(parts);
        }
        Place::Byte => return plain(pick(rng, &["0", "1", "0x96", "255", "0xE8"])),
        Place::Amount | Place::Small => "u32",
    };
    match ty {
        "label" => return plain("L"),
        "table" => return plain("T"),
        "mem" => return plain(pick(rng, ADDRESSES)),
        "{f32}" => return plain("{%f32_0, %f32_1, %f32_2, %f32_0}"),
        _ => {}
    }
    let Some(known) = TYPES.iter().find(|(name, _)| *name == ty) else { return plain(ty) };
    match rng.u32(0..14) {
        0 => operand(rng, &[*known], 0),
        1 | 2 => plain(pick(rng, IMMEDIATES)),
        3 => {
            let same: Vec<_> = TYPES.iter().copied().filter(|(_, bits)| *bits == known.1).collect();
            any_register(rng, &same)
        }
        4 => {
            let wide: Vec<_> = TYPES.iter().copied().filter(|(_, bits)| *bits > known.1).collect();
            if wide.is_empty() { plain("0") } else { any_register(rng, &wide) }
        }
        _ => register(rng, known.0),
    }
}

/// A form of any row, now and then with a part that does not belong there.
fn any_form(rng: &mut Rng) -> Form {
    let rows = match rng.u32(0..10) {
        0..3 => &spec::INTEGER,
        3 | 4 => &spec::FLOAT,
        5 | 6 => &spec::HALF,
        7 => &spec::SM90,
        _ => &spec::OTHER,
    };
    let mut form = spec::random(rng, rows);
    // Types that the row does not name.
    if rng.u32(0..3) == 0 {
        let ty = pick(rng, &TYPES).0;
        let places = form.destinations.iter_mut().chain(&mut form.sources);
        let named = places.filter_map(|place| match place {
            Place::Value(name) | Place::Divisor(name) | Place::Vector(name, _) => Some(name),
            Place::Byte | Place::Amount | Place::Small => None,
        });
        let named: Vec<&mut String> = named.collect();
        let last = form.mnemonic.rsplit('.').next().unwrap_or_default().to_owned();
        named.into_iter().filter(|name| **name == last).for_each(|name| *name = ty.to_owned());
        form.mnemonic = format!("{}{ty}", form.mnemonic.strip_suffix(&last).unwrap_or_default());
        return form;
    }
    if rng.u32(0..4) == 0 {
        let mut parts: Vec<&str> = form.mnemonic.split('.').collect();
        let at = rng.usize(0..parts.len());
        match rng.u32(0..4) {
            0 => drop(parts.remove(at)),
            1 => parts[at] = pick(rng, &MODIFIERS),
            2 => parts[at] = pick(rng, &TYPES).0,
            _ => parts.insert(at + 1, pick(rng, &MODIFIERS)),
        }
        form.mnemonic = parts.join(".");
    }
    form
}

fn instruction(rng: &mut Rng) -> Operand {
    let form = any_form(rng);
    let lanes = ["v2", "v4", "v8"].iter().position(|word| form.mnemonic.contains(word));
    let lanes = lanes.map_or(1, |at| 2 << at);
    let mut text = pick(rng, &["", "", "", "", "", "@%pred_0 ", "@!%pred_1 "]).to_owned();
    text.push_str(&form.mnemonic);
    let mut parts = Vec::new();
    if rng.u32(0..40) == 0 {
        text = pick(rng, CALLS).to_owned();
    } else {
        let places = form.destinations.iter().chain(&form.sources);
        for (at, place) in places.enumerate() {
            let separator = match at {
                0 => " ",
                1 if form.destinations.len() == 2 => "|",
                _ => ", ",
            };
            let values = matches!(place, Place::Value(ty) if ty != "pred" && ty != "mem");
            let part = if lanes > 1 && values {
                together((0..lanes).map(|_| fitting(rng, place)).collect())
            } else {
                fitting(rng, place)
            };
            let _ = write!(text, "{separator}{}", part.text);
            parts.push(part);
        }
    }
    let mut registers: Vec<_> = parts.into_iter().flat_map(|part| part.registers).collect();
    for (ty, _) in TYPES.iter() {
        for number in 0..3 {
            if text.contains(&format!("%{ty}_{number}")) {
                registers.push((ty, number));
            }
        }
    }
    Operand { text, registers }
}

const CALLS: &[&str] = &[
    "call (%u32_0), f, (%u32_1)",
    "call f, (%u32_1)",
    "call (%f32_0), f, (%f32_1)",
    "call (%b64_0), f, (%b64_1)",
    "call (%pred_0), f, (%pred_1)",
    "call (%b8_0), f, (1)",
    "call (_), f, (0f3F800000)",
    "call (%u32_0), %a, (%u32_1), P",
    "call (%u32_0), %f64_0, (%u32_1), P",
    "call (%u32_0), %u32_1, (%u32_1), P",
    "call (%u32_0), f, (%tid.x)",
    "call (%u32_0), f, ({%u16_0, %u16_1})",
    "call g, (q)",
];

/// A kernel that fills all registers that `list` names, does it, and stores them.
fn kernel(list: &[Operand]) -> String {
    let used: BTreeSet<(&str, u32)> =
        list.iter().flat_map(|item| item.registers.iter().copied()).collect();
    let names: BTreeSet<&str> = used.iter().map(|(ty, _)| *ty).collect();
    let mut text = String::from(
        ".version 8.3\n.target sm_80\n.address_size 64\n.global .align 16 .b8 gl[64];\n\
         .const .align 16 .b8 cn[64] = {1,2,3,4};\n.shared .align 16 .b8 sh[64];\n\
         .extern .shared .align 16 .b8 dyn[];\n\
         .func (.reg .u32 r) f (.reg .u32 x)\n{\nadd.u32 r, x, 1;\nret;\n}\n\
         .func g (.param .align 8 .b8 x[16])\n{\nret;\n}\n\
         .visible .entry k(.param .u64 p, .param .align 8 .b8 q[16])\n{\n\
         .local .align 16 .b8 lo[32];\n.reg .b64 %a;\n.reg .b32 %t;\n.reg .pred %tp;\n",
    );
    for ty in names {
        let _ = writeln!(text, ".reg .{ty} %{ty}_<3>;");
    }
    if list.iter().any(|item| item.text.contains('T')) {
        text.push_str("T: .branchtargets L, L;\n");
    }
    if list.iter().any(|item| item.text.contains('P')) {
        text.push_str("P: .callprototype (.reg .u32 _) _ (.reg .u32 _);\n");
    }
    text.push_str("ld.param.u64 %a, [p];\n");
    for (at, (ty, number)) in used.iter().enumerate() {
        let offset = 8 * at;
        let _ = match *ty {
            "pred" => writeln!(
                text,
                "ld.global.u32 %t, [%a+{offset}];\nsetp.lt.s32 %pred_{number}, %t, 0;"
            ),
            "b128" => Ok(()),
            ty => {
                let bits =
                    TYPES.iter().find(|(other, _)| *other == ty).map_or(32, |(_, bits)| *bits);
                writeln!(text, "ld.global.b{bits} %{ty}_{number}, [%a+{offset}];")
            }
        };
    }
    for item in list {
        let _ = writeln!(text, "{};", item.text);
    }
    text.push_str("L:\n");
    for (at, (ty, number)) in used.iter().enumerate() {
        let offset = 8 * at + 1024;
        let _ = match *ty {
            "pred" => writeln!(
                text,
                "selp.u32 %t, 1, 0, %pred_{number};\nst.global.u32 [%a+{offset}], %t;"
            ),
            "b128" => Ok(()),
            ty => {
                let bits =
                    TYPES.iter().find(|(other, _)| *other == ty).map_or(32, |(_, bits)| *bits);
                writeln!(text, "st.global.b{bits} [%a+{offset}], %{ty}_{number};")
            }
        };
    }
    text.push_str("ret;\n}\n");
    text
}

/// Whether nothing is known to be wrong with it.
fn is_fine(module: &ptx::ast::Module) -> bool {
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let mut instructions = bodies.flat_map(|body| body.instructions());
    !instructions.any(|i| matches!(i.op, Op::Unsupported { .. }))
        && !diagnostic::has_errors(&ptx::verify(module))
}

/// A module with a few instructions that the verifier lets pass.
pub fn module(rng: &mut Rng) -> String {
    let mut chosen: Vec<Operand> = Vec::new();
    for _ in 0..rng.usize(1..4) {
        for _ in 0..60 {
            let item = instruction(rng);
            let one = [item];
            let text = kernel(&one);
            let fine = ptx::parse(&text).is_ok_and(|module| is_fine(&module));
            if fine {
                chosen.extend(one);
                break;
            }
        }
    }
    kernel(&chosen)
}
