//! The kernels of the built-in scenes.

use std::{collections::HashSet, sync::Arc};

use fastrand::Rng;
use warpaint::{
    compile::{Cache, Compiler, Error, Outcome, Target},
    device::{Arguments, Device, Fault, FaultKind, LaunchConfig, Memory},
    ptx::{self, pass::guard::GuardedKernel, types::Type},
    session::requests_of_built_ins,
};

use super::bench::{Bench, Stop, Told, fault, guarded, run};
use crate::{
    fuzz::assembler::Assembler,
    skip::{Need, skip},
};

/// Bytes of each buffer.
const BUFFER: usize = 40_000;

/// The PTX of all built-in scenes, with their names.
pub fn programs(target: Target) -> Vec<(String, Arc<str>)> {
    let compiler = Compiler::new(Cache::user());
    if let Err(Error::NvrtcNotFound { .. }) = compiler.nvrtc() {
        skip(Need::Nvrtc, "no NVRTC");
        return Vec::new();
    }
    let compiled = |request| match compiler.compile(request).unwrap() {
        Outcome::Compiled(compiled) => compiled.ptx,
        Outcome::Rejected { log, .. } => panic!("{log}"),
    };
    let requests = requests_of_built_ins(target);
    let all = requests.iter().map(|request| (request.name.clone(), compiled(request)));
    let mut seen = HashSet::new();
    all.filter(|(_, text)| seen.insert(text.clone())).collect()
}

#[test]
fn what_is_guarded_is_ptx() {
    let Some(assembler) = Assembler::find() else { return };
    for target in [Target(7, 5), Target::CPU, Target(9, 0)] {
        let Target(major, minor) = target;
        for (name, text) in programs(target) {
            let printed = ptx::print(&guarded(&text).module);
            // The assembler is older than the compiler.
            let (_, rest) = printed.split_once('\n').unwrap();
            let text = format!(".version 9.0\n{rest}");
            let told = assembler.assemble(&text, 10 * major + minor);
            assert!(told.is_empty(), "{name} for {target}: {told:#?}");
        }
    }
}

/// Most accesses of ordinary kernels are followed to where their address comes from.
#[test]
fn nothing_is_searched_where_kernels_take_pointers() {
    for (name, text) in programs(Target::CPU) {
        let guarded = guarded(&text);
        for kernel in &guarded.kernels {
            let counts = kernel.counts;
            assert_eq!(counts.unchecked, 0, "{name}: {}", kernel.name);
        }
    }
}

/// Arguments for a kernel: pointers into the buffers where the guard sees such, small numbers elsewhere.
fn arguments(
    params: &[ptx::ast::Param],
    kernel: &GuardedKernel,
    buffers: &[Memory],
    rng: &mut Rng,
) -> Arguments {
    let mut arguments = Arguments::new();
    let mut next = 0;
    for param in params {
        let align = param.alignment() as usize;
        let start = arguments.bytes().len().next_multiple_of(align);
        let mut bytes = vec![0; param.bytes() as usize];
        let size = rng.u32(8..100);
        for word in bytes.chunks_mut(4) {
            let value = match param.ty {
                Type::F32 => rng.f32().to_bits(),
                _ => [size, rng.u32(0..64), rng.f32().to_bits() & 0xf000_0000][rng.usize(0..2)],
            };
            word.copy_from_slice(&value.to_ne_bytes()[..word.len()]);
        }
        let mut pointers: Vec<usize> =
            kernel.words.iter().map(|word| word.argument() as usize).collect();
        pointers.sort_unstable();
        pointers.dedup();
        for at in pointers {
            if (start..start + bytes.len()).contains(&at) {
                let address = buffers[next % buffers.len()].address();
                bytes[at - start..][..8].copy_from_slice(&address.to_ne_bytes());
                next += 1;
            }
        }
        arguments.push_bytes(&bytes, align);
    }
    arguments
}

/// Whether an access went from one buffer into another, which the CPU device, who looks at the address alone, takes.
fn is_in_another(told: &Told, memories: &[&Memory]) -> bool {
    let bounds = |memory: &&Memory| memory.address()..memory.address() + memory.bytes() as u64;
    let touches = |range: &std::ops::Range<u64>| {
        let mut ends = told.accesses().iter().map(|access| {
            let address = told.record.address.wrapping_add_signed(access.offset);
            [address, address + u64::from(access.bytes) - 1]
        });
        ends.any(|[first, last]| range.contains(&first) || range.contains(&last))
    };
    let others = memories.iter().map(bounds).filter(|range| range.start != told.record.start);
    others.into_iter().any(|range| touches(&range))
}

/// Whether both tell of the same mistake. Each module has variables of its own: of them the distance counts.
fn is_same(one: &Fault, other: &Fault) -> bool {
    let essence =
        |f: &Fault| (f.kind.clone(), f.location.clone(), f.inlined.clone(), f.block, f.thread);
    let distance = |f: &Fault| {
        let (address, bytes) = f.access?;
        Some((address.wrapping_sub(f.nearest?.address), bytes, f.nearest?.bytes))
    };
    let same_place = one.access == other.access || distance(one) == distance(other);
    essence(one) == essence(other) && same_place
}

/// Random launches of each kernel, plain and guarded: the same bits, or the same fault.
#[test]
fn guarded_kernels_do_what_plain_ones_do() {
    let device = Device::cpu().unwrap();
    let (mut equal, mut faulty, mut strict, mut other, mut proved) = (0, 0, 0, 0, 0);
    for (name, text) in programs(Target::CPU) {
        let plain = device.load(&text).unwrap();
        let bench = Bench::new(&device, &text);
        let module = ptx::parse(&text).unwrap();
        for kernel in &bench.guarded.kernels {
            let function = plain.function(&kernel.name).unwrap();
            let params = &module.function(&kernel.name).unwrap().params;
            for case in 0..2 {
                let mut rng = Rng::with_seed(case);
                let what = format!("{name}, {}, case {case}", kernel.name);
                let buffers: Vec<Memory> = (0..6).map(|_| device.alloc(BUFFER).unwrap()).collect();
                let memories: Vec<&Memory> = buffers.iter().collect();
                let content: Vec<u8> =
                    (0..BUFFER / 4).flat_map(|_| rng.f32().to_ne_bytes()).collect();
                let arguments = arguments(params, kernel, &buffers, &mut rng);
                let block = [[64, 1, 1], [8, 8, 1], [16, 16, 1]][case as usize % 3];
                let block = match module.function(&kernel.name).unwrap().max_threads() {
                    Some(threads) if threads < 256 => [threads, 1, 1],
                    _ => block,
                };
                let config =
                    LaunchConfig { shared_bytes: 1024, ..LaunchConfig::new([2, 2], block) };
                let fill = || {
                    for buffer in &buffers {
                        bench.stream.upload(buffer.slice(..).unwrap(), &content).unwrap();
                    }
                };
                let read = || -> Vec<Vec<u8>> {
                    let read = |b: &Memory| bench.stream.download(b.slice(..).unwrap()).unwrap();
                    buffers.iter().map(|buffer| read(buffer).wait().unwrap()).collect()
                };
                fill();
                let ended = fault(run(&bench.stream, &function, &config, &arguments));
                let of_access = |fault: &Fault| {
                    use FaultKind::{InvalidRead, InvalidWrite, Misaligned};
                    matches!(fault.kind, InvalidRead | InvalidWrite | Misaligned)
                };
                if ended.as_ref().is_some_and(|fault| !of_access(fault)) {
                    // A handle that is none, or too many rounds of a loop.
                    other += 1;
                    continue;
                }
                let expected = read();
                fill();
                bench.prepare(&memories, Stop::Never);
                let guarded = bench.launch(&kernel.name, &config, &arguments, &memories);
                let guarded = fault(guarded);
                let (found, told) = (read(), bench.told(&memories));
                if let Some(fault) = guarded {
                    assert!(!of_access(&fault), "{what}: the CPU device still finds {fault}");
                    other += 1;
                    continue;
                }
                match (&ended, &told) {
                    (None, None) => {
                        assert!(expected == found, "{what}: other results");
                        equal += 1;
                        proved += u32::from(bench.proved.take() > 0);
                    }
                    (_, Some(told)) if bench.proved.take() > 0 && !told.accesses().is_empty() => {
                        eprintln!("{what}: told in a proved launch: {told:?}");
                    }
                    (Some(fault), Some(told)) if is_same(fault, &told.fault) => {
                        faulty += 1;
                    }
                    (_, Some(told)) if is_in_another(told, &memories) => strict += 1,
                    _ => panic!("{what}: {ended:#?}, but {told:#?}"),
                }
            }
        }
    }
    eprintln!(
        "{equal} the same ({proved} of them proved), {faulty} with the same fault, {strict} in another buffer, {other} left out"
    );
}
