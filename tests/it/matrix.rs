//! Instructions on matrices, every form of them, compared with products of the textbook: with numbers of which all
//! sums are exact, so that the order in which a device adds does not matter, on every device; and with random ones by
//! the rule that the CPU device documents.

mod faults;
mod layout;
mod number;
mod product;

use warpaint::{
    device::{Arguments, Device, LaunchConfig, cpu::LaunchOptions},
    ptx::{
        matrix::{MatrixOp, Product},
        op::{Form, Op, Signature, Slot, Waits, WarpOp, forms},
    },
};

use crate::support::{launch_with, nvidia};

/// A form of the table with all choices made, and what it is.
pub struct Case {
    mnemonic: String,
    signature: Signature,
    op: MatrixOp,
    /// As in `sm_90`.
    since: u32,
}

/// Everything that `form` may be.
fn expansions(form: &'static Form) -> Vec<(String, Signature)> {
    let mut found = Vec::new();
    // The choices of the one before, with how many there were.
    let mut choices: Vec<(usize, usize)> = Vec::new();
    loop {
        let mut at = 0;
        found.push(form.expand(|list| {
            if at == choices.len() {
                choices.push((0, list.len()));
            }
            at += 1;
            choices[at - 1].0
        }));
        while choices.pop_if(|(chosen, of)| *chosen + 1 == *of).is_some() {}
        let Some((chosen, _)) = choices.last_mut() else { return found };
        *chosen += 1;
    }
}

/// All instructions on matrices.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for form in forms() {
        let (mnemonic, _) = form.expand(|_| 0);
        let waits = Op::parse(&mnemonic).unwrap().facts().waits;
        let Waits::Warp(WarpOp::Matrix(_)) = waits else { continue };
        for (mnemonic, signature) in expansions(form) {
            let waits = Op::parse(&mnemonic).unwrap().facts().waits;
            let Waits::Warp(WarpOp::Matrix(op)) = waits else { panic!("{mnemonic}") };
            cases.push(Case { mnemonic, signature, op, since: form.since.max(80) });
        }
    }
    cases
}

/// All products, with their instructions.
fn products() -> Vec<(Case, Product)> {
    let products = cases().into_iter().filter_map(|case| match case.op {
        MatrixOp::Multiply(product) => Some((case, product)),
        _ => None,
    });
    products.collect()
}

impl Case {
    /// How many registers its vectors have: of the sources, then of the result.
    fn vectors(&self) -> Vec<usize> {
        let slots = self.signature.sources.iter().chain(&self.signature.destinations);
        let vectors = slots.filter_map(|slot| match slot {
            Slot::Vector(_, count) => Some(usize::from(*count)),
            _ => None,
        });
        vectors.collect()
    }
}

/// `{%a0, %a1}`
fn vector(name: &str, count: usize) -> String {
    let parts: Vec<String> = (0..count).map(|at| format!("%{name}{at}")).collect();
    format!("{{{}}}", parts.join(", "))
}

/// The devices, and how each runs a launch: as compiled code, on the interpreter and watched.
fn runners() -> Vec<(Device, LaunchOptions)> {
    let cpu = || Device::cpu().unwrap();
    let mut runners = vec![
        (cpu(), LaunchOptions::default()),
        (cpu(), LaunchOptions::interpreted()),
        (cpu(), LaunchOptions { lockstep: true, ..LaunchOptions::default() }),
    ];
    runners.extend(nvidia().map(|device| (device, LaunchOptions::default())));
    runners
}

fn architecture(device: &Device) -> u32 {
    let (major, minor) = device.info().compute_capability;
    if device.as_nvidia().is_some() { 10 * major + minor } else { u32::MAX }
}

/// Runs kernel `k` of `text` on one warp, with a buffer for each argument; what the buffers hold then.
fn run(
    (device, options): &(Device, LaunchOptions),
    text: &str,
    buffers: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, warpaint::device::Error> {
    let module = device.load(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (function, stream) = (module.function("k").unwrap(), device.stream().unwrap());
    let mut arguments = Arguments::new();
    let mut memory = Vec::new();
    for buffer in buffers {
        let range = device.alloc(buffer.len()).unwrap();
        stream.upload(range.slice(..).unwrap(), buffer).unwrap();
        arguments.push(&range.address());
        memory.push(range);
    }
    launch_with(&stream, &function, &LaunchConfig::new(1, 32), &arguments, options).unwrap();
    stream.synchronize()?;
    let read = |range| stream.download(range).unwrap().wait().unwrap();
    Ok(memory.iter().map(|range| read(range.slice(..).unwrap())).collect())
}

/// How a text begins whose kernel has so many pointers.
fn head(since: u32, pointers: usize) -> String {
    let params: Vec<String> = (0..pointers).map(|at| format!(".param .u64 p{at}")).collect();
    let mut text = format!(
        ".version 8.4\n.target sm_{since}\n.address_size 64\n.visible .entry k({})\n{{\n\
         .reg .b32 %r<8>;\n.reg .b64 %rd<16>;\n",
        params.join(", ")
    );
    for at in 0..pointers {
        text += &format!("ld.param.u64 %rd{at}, [p{at}];\n");
    }
    text += "mov.u32 %r0, %tid.x;\n";
    text
}
