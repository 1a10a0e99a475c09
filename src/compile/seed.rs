//! The seed of the cache: what the built-in scenes need, compiled ahead, for machines without NVRTC.
//!
//! `assets/seed.json` is made from the scenes by a test (`WARPAINT_UPDATE_SEED=1 cargo test --test it seed`), which
//! otherwise checks that it is current. It is PTX for compute_80, which newer devices take, too.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Compiled, Request, Target};

/// PTX compiled ahead.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Seed {
    ptx: String,
    names: BTreeMap<String, String>,
    nvrtc: (u32, u32),
}

fn seeds() -> &'static BTreeMap<String, Seed> {
    static SEEDS: OnceLock<BTreeMap<String, Seed>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        serde_json::from_str(include_str!("../../assets/seed.json")).unwrap_or_else(|error| {
            tracing::error!("the seed of the cache is unreadable: {error}");
            BTreeMap::new()
        })
    })
}

/// The answer to `request`, where it is one of a built-in scene's.
pub(super) fn find(request: &Request) -> Option<Compiled> {
    let seed = seeds().get(&key(request)).filter(|_| request.target >= Target::CPU)?;
    Some(Compiled {
        ptx: seed.ptx.as_str().into(),
        names: seed.names.clone(),
        log: String::new(),
        diagnostics: Vec::new(),
        cached: true,
        nvrtc: seed.nvrtc,
    })
}

/// Whether the seed answers `request`.
///
/// ```
/// # use warpaint::compile::{Request, Target, has_seed};
/// assert!(!has_seed(&Request::new("mine.cu", "__global__ void mine() {}", Target::CPU)));
/// ```
pub fn has_seed(request: &Request) -> bool {
    find(request).is_some()
}

/// The text of `assets/seed.json` for these compilations.
///
/// ```
/// # use warpaint::compile::{Cache, Compiler, Outcome, Request, Target, write_seed};
/// let mut request = Request::new("k.cu", "__global__ void k() {}", Target::CPU);
/// request.name_expressions.push("k".into());
/// let Outcome::Compiled(compiled) = Compiler::new(Cache::memory()).compile(&request)? else { panic!() };
/// let seed: serde_json::Value = serde_json::from_str(&write_seed(&[(request, compiled)])?)?;
/// let Some(of_request) = seed.as_object().and_then(|seed| seed.values().next()) else { panic!() };
/// assert_eq!(of_request["names"]["k"], "_Z1kv");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of writing JSON.
pub fn write_seed(of: &[(Request, Compiled)]) -> serde_json::Result<String> {
    let seed = |compiled: &Compiled| Seed {
        ptx: compiled.ptx.to_string(),
        names: compiled.names.clone(),
        nvrtc: compiled.nvrtc,
    };
    let seeds: BTreeMap<_, _> = of.iter().map(|(r, compiled)| (key(r), seed(compiled))).collect();
    serde_json::to_string_pretty(&seeds)
}

/// All of a request that is its author's: neither the compiler nor the target.
fn key(request: &Request) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    [request.name.as_str(), request.text(), &request.prelude].into_iter().for_each(&mut add);
    request
        .headers
        .iter()
        .for_each(|header| [&header.name, &header.text].into_iter().for_each(|t| add(t)));
    request.options.iter().chain(&request.name_expressions).for_each(|word| add(word));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
