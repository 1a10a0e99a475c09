//! One cached result: its key, and its bytes on disk.
//!
//! A file is a header of 8 bytes of magic with the format's version, 8 of the payload's length and 32 of its
//! SHA-256, then the payload: the key (32 bytes), the length of a JSON text (8), the JSON text, the PTX.
//! Numbers are little-endian. Whatever does not add up is no entry.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::discovery::{Stamp, Toolchain};
use super::includes::{self, Input, Inputs};
use super::precompiled::Domain;
use super::reach::Reach;
use super::request::Request;
use super::sources::Sources;
use super::{Compiled, c_headers};
use crate::diagnostic::Diagnostic;

/// Changes with everything that makes old entries wrong: the layout of a file, the options always passed, how
/// PTX and log are worked on after the compiler, what is told beside them.
const MAGIC: [u8; 8] = *b"WARPTX\0\x04";

/// What an option starts with that comes long after the headers were read.
const OPTIMISER: &str = "--Ofast-compile";

/// Magic, length, checksum.
const HEADER_BYTES: usize = 8 + 8 + 32;

/// A digest of everything that can change a compilation's result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key(pub [u8; 32]);

/// What tells a compilation from every other one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    /// Of its result.
    pub key: Key,
    /// Of what its headers mean.
    pub domain: Domain,
    /// Whether the request alone decides, without any file that it includes.
    pub is_self_contained: bool,
}

impl Identity {
    /// Of `request` as compiled by `toolchain`; `None` where what it reads cannot be told.
    pub(super) fn of(request: &Request, toolchain: &Toolchain) -> Option<Self> {
        let scan = includes::scan(request, toolchain);
        let sources = Sources::of(request, &scan, toolchain);
        Some(Self::with_inputs(request, toolchain, scan.inputs.as_ref()?, &sources))
    }

    /// [`of`](Self::of) a request that reads `inputs`, of which `sources` are for the compiler.
    pub(super) fn with_inputs(
        request: &Request,
        toolchain: &Toolchain,
        inputs: &Inputs,
        sources: &Sources,
    ) -> Self {
        let mut hash = KeyHash(Sha256::new());
        hash.bytes(&MAGIC);
        hash.bytes(&request.target.number().to_le_bytes());
        hash.bytes(request.name.as_bytes());
        hash.list(request.path.as_slice(), |hash, path| hash.path(path));
        hash.bytes(request.prelude.as_bytes());
        hash.list(&request.headers, |hash, header| {
            hash.bytes(header.name.as_bytes());
            hash.bytes(header.text.as_bytes());
        });
        c_headers::ALL.iter().for_each(|header| hash.bytes(header.text.as_bytes()));
        hash.list(&request.include_dirs, |hash, dir| hash.path(dir));
        hash.list(&toolchain.stamps, KeyHash::stamp);
        hash.list(&inputs.files, |hash, input| match input {
            Input::Content(path, digest) => {
                hash.path(path);
                hash.bytes(digest);
            }
            Input::Toolkit(stamp) => hash.stamp(stamp),
        });
        hash.bytes(sources.library().as_bytes());
        // A source that is confined may find that a file is not there which another one finds.
        if request.reach != Reach::Anywhere {
            hash.bytes(b"confined");
        }
        let mut of_headers = hash.clone();
        let options: Vec<_> =
            request.options.iter().filter(|o| !o.starts_with(OPTIMISER)).collect();
        of_headers.list(&options, |hash, option| hash.bytes(option.as_bytes()));
        hash.bytes(request.text().as_bytes());
        hash.list(&request.options, |hash, option| hash.bytes(option.as_bytes()));
        hash.list(&request.name_expressions, |hash, name| hash.bytes(name.as_bytes()));
        Self {
            key: Key(hash.0.finalize().into()),
            domain: Domain(of_headers.0.finalize().into()),
            is_self_contained: inputs.none_asked_for,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// Hashes fields so that no two different sequences of fields look alike: each with its length first.
#[derive(Clone)]
struct KeyHash(Sha256);

impl KeyHash {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn path(&mut self, path: &Path) {
        self.bytes(path.as_os_str().as_encoded_bytes());
    }

    fn stamp(&mut self, stamp: &Stamp) {
        self.path(&stamp.path);
        self.bytes(&stamp.len.to_le_bytes());
        self.bytes(&stamp.modified_ns.to_le_bytes());
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.0.update((items.len() as u64).to_le_bytes());
        items.iter().for_each(|item| each(self, item));
    }
}

/// A compilation's result as the cache keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The PTX.
    pub ptx: Arc<str>,
    /// All else.
    pub rest: Rest,
}

/// The part of an [`Entry`] that is stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Rest {
    names: BTreeMap<String, String>,
    log: String,
    diagnostics: Vec<Diagnostic>,
    nvrtc: (u32, u32),
}

impl From<&Compiled> for Entry {
    fn from(compiled: &Compiled) -> Self {
        Self {
            ptx: compiled.ptx.clone(),
            rest: Rest {
                names: compiled.names.clone(),
                log: compiled.log.clone(),
                diagnostics: compiled.diagnostics.clone(),
                nvrtc: compiled.nvrtc,
            },
        }
    }
}

impl Entry {
    /// What a hit answers.
    pub(super) fn compiled(&self) -> Compiled {
        let Rest { names, log, diagnostics, nvrtc } = self.rest.clone();
        Compiled { ptx: self.ptx.clone(), names, log, diagnostics, cached: true, nvrtc }
    }

    /// About how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let names: usize =
            self.rest.names.iter().map(|(name, lowered)| name.len() + lowered.len()).sum();
        size_of::<Self>() + self.ptx.len() + 2 * self.rest.log.len() + names
    }

    /// The bytes of its file.
    pub(super) fn encode(&self, key: Key) -> Vec<u8> {
        let rest = serde_json::to_vec(&self.rest).unwrap_or_default();
        let mut payload = Vec::with_capacity(40 + rest.len() + self.ptx.len());
        payload.extend(key.0);
        payload.extend((rest.len() as u64).to_le_bytes());
        payload.extend(rest);
        payload.extend(self.ptx.as_bytes());
        let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
        bytes.extend(MAGIC);
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(Sha256::digest(&payload));
        bytes.extend(payload);
        bytes
    }

    /// The entry in a file's bytes, or `None` where they are not a whole, undamaged entry for `key`.
    pub(super) fn decode(bytes: &[u8], key: Key) -> Option<Self> {
        let (magic, bytes) = bytes.split_at_checked(8)?;
        let (len, bytes) = bytes.split_first_chunk::<8>()?;
        let (checksum, payload) = bytes.split_at_checked(32)?;
        let is_whole = magic == MAGIC && u64::from_le_bytes(*len) == payload.len() as u64;
        if !is_whole || Sha256::digest(payload).as_slice() != checksum {
            return None;
        }
        let payload = payload.strip_prefix(&key.0)?;
        let (len, payload) = payload.split_first_chunk::<8>()?;
        let (rest, ptx) =
            payload.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        Some(Self {
            ptx: std::str::from_utf8(ptx).ok()?.into(),
            rest: serde_json::from_slice(rest).ok()?,
        })
    }
}

#[cfg(test)]
pub(super) fn example(ptx: &str) -> Entry {
    let names = BTreeMap::from([("k<4>".to_owned(), "_Z1kILi4EEvv".to_owned())]);
    let diagnostics = vec![Diagnostic::error("a.cu", "ü").at(1, 2)];
    let rest = Rest { names, log: "log".into(), diagnostics, nvrtc: (13, 5) };
    Entry { ptx: ptx.into(), rest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::request::{Header, Target};

    const KEY: Key = Key([7; 32]);

    #[test]
    fn an_entry_comes_back_as_it_went() {
        let entry = example(".version 9.5\n");
        assert_eq!(Entry::decode(&entry.encode(KEY), KEY), Some(entry));
    }

    #[test]
    fn every_truncation_and_every_damaged_byte_is_noticed() {
        let bytes = example(".version 9.5\n").encode(KEY);
        for len in 0..bytes.len() {
            assert_eq!(Entry::decode(&bytes[..len], KEY), None, "cut to {len}");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x20;
            assert_eq!(Entry::decode(&bytes, KEY), None, "damaged at {at}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(Entry::decode(&longer, KEY), None);
        assert_eq!(Entry::decode(&bytes, Key([8; 32])), None, "another key's file");
    }

    #[test]
    fn everything_in_a_request_is_in_its_key() {
        let toolchain = Toolchain { library: "l".into(), include_dirs: vec![], stamps: vec![] };
        let request = Request::new("a.cu", "int x;", Target::CPU);
        let change = |change: &dyn Fn(&mut Request)| {
            let mut request = request.clone();
            change(&mut request);
            Identity::of(&request, &toolchain).unwrap().key
        };
        let header = |name: &str, text: &str| Header { name: name.into(), text: text.into() };
        let mut keys = vec![
            change(&|_| ()),
            change(&|request| request.name = "b.cu".into()),
            change(&|request| request.path = Some("b.cu".into())),
            change(&|request| request.source.push(' ')),
            change(&|request| request.target = Target(9, 0)),
            change(&|request| request.prelude = " ".into()),
            change(&|request| request.headers = vec![header("a", "bc")]),
            change(&|request| request.headers = vec![header("ab", "c")]),
            change(&|request| request.include_dirs = vec!["d".into()]),
            change(&|request| request.reach = Reach::Nowhere),
            change(&|request| request.options = vec!["d".into()]),
            change(&|request| request.name_expressions = vec!["d".into()]),
        ];
        let stamps = vec![Stamp { path: "l".into(), len: 1, modified_ns: 1 }];
        let other = Toolchain { stamps, ..toolchain.clone() };
        keys.push(Identity::of(&request, &other).unwrap().key);
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all);
        assert_eq!(change(&|_| ()), change(&|_| ()));
    }

    #[test]
    fn headers_mean_the_same_whatever_the_source_and_the_optimiser_do() {
        let toolchain = Toolchain { library: "l".into(), include_dirs: vec![], stamps: vec![] };
        let domain = |change: &dyn Fn(&mut Request)| {
            let mut request = Request::new("a.cu", "#include <x>", Target::CPU);
            change(&mut request);
            let identity = Identity::of(&request, &toolchain).unwrap();
            assert!(!identity.is_self_contained);
            identity.domain
        };
        let same: [&dyn Fn(&mut Request); 3] = [
            &|request| request.source.push_str("\nint x;"),
            &|request| request.name_expressions = vec!["k".into()],
            &|request| request.options = vec!["--Ofast-compile=mid".into()],
        ];
        for change in same {
            assert_eq!(domain(change), domain(&|_| ()));
        }
        let header = Header { name: "a".into(), text: "b".into() };
        let other: [&dyn Fn(&mut Request); 4] = [
            &|request| request.prelude = "int y;".into(),
            &|request| request.headers = vec![header.clone()],
            &|request| request.options = vec!["-DX".into()],
            &|request| request.target = Target(9, 0),
        ];
        for change in other {
            assert_ne!(domain(change), domain(&|_| ()));
        }
    }
}
