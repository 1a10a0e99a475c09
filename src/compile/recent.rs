//! The latest requests that were answered, found again by comparing them: a tenth of what hashing one costs.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::discovery::Toolchain;
use super::entry::Entry;
use super::request::Request;

/// Requests remembered; beyond that all are forgotten.
const MOST: usize = 256;

/// A request with more text than this, in bytes, is not remembered.
const LONGEST_BYTES: usize = 256 << 10;

/// Answers by a [`mark`] of their requests; a second request with the same mark takes the first one's place.
#[derive(Debug, Default)]
pub(super) struct Recent {
    answers: HashMap<u64, Answer>,
}

#[derive(Debug)]
struct Answer {
    request: Request,
    toolchain: Arc<Toolchain>,
    entry: Arc<Entry>,
}

impl Recent {
    /// The answer to an equal request to the same compiler.
    pub(super) fn find(&self, request: &Request, toolchain: &Arc<Toolchain>) -> Option<Arc<Entry>> {
        let answer = self.answers.get(&mark(request))?;
        let same_compiler =
            Arc::ptr_eq(&answer.toolchain, toolchain) || answer.toolchain == *toolchain;
        (same_compiler && answer.request == *request).then(|| Arc::clone(&answer.entry))
    }

    /// Remembers an answer.
    pub(super) fn keep(
        &mut self,
        request: &Request,
        toolchain: &Arc<Toolchain>,
        entry: &Arc<Entry>,
    ) {
        let headers = request.headers.iter().map(|header| header.text.len());
        if request.source.len() + request.prelude.len() + headers.sum::<usize>() > LONGEST_BYTES {
            return;
        }
        if self.answers.len() >= MOST {
            self.answers.clear();
        }
        let (toolchain, entry) = (Arc::clone(toolchain), Arc::clone(entry));
        let answer = Answer { request: request.clone(), toolchain, entry };
        self.answers.insert(mark(request), answer);
    }
}

/// What two different requests seldom share, from a few of their bytes: lengths, names, the source's last bytes.
fn mark(request: &Request) -> u64 {
    let mut hasher = DefaultHasher::new();
    let source = request.source.as_bytes();
    (source.len(), &source[source.len().saturating_sub(64)..]).hash(&mut hasher);
    (request.target, &request.name, &request.name_expressions, &request.options).hash(&mut hasher);
    (request.prelude.len(), request.headers.len()).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{entry::example, request::Target};

    fn toolchain(library: &str) -> Arc<Toolchain> {
        Arc::new(Toolchain { library: library.into(), include_dirs: vec![], stamps: vec![] })
    }

    #[test]
    fn only_an_equal_request_to_the_same_compiler_is_answered() {
        let (mut recent, library) = (Recent::default(), toolchain("a"));
        let request = Request::new("a.cu", "int x;", Target::CPU);
        recent.keep(&request, &library, &Arc::new(example("ptx")));
        assert!(recent.find(&request.clone(), &toolchain("a")).is_some());
        assert!(recent.find(&request, &toolchain("b")).is_none());
        let changes: [&dyn Fn(&mut Request); 5] = [
            &|request| request.source = "int y;".into(),
            &|request| request.prelude = "int y;".into(),
            &|request| request.options = vec!["-DX".into()],
            &|request| request.include_dirs = vec!["x".into()],
            &|request| request.target = Target(9, 0),
        ];
        for change in changes {
            let mut other = request.clone();
            change(&mut other);
            assert!(recent.find(&other, &library).is_none(), "{other:?}");
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut recent, library) = (Recent::default(), toolchain("a"));
        let entry = Arc::new(example("ptx"));
        for number in 0..10 * MOST {
            let request = Request::new("a.cu", format!("int x{number};"), Target::CPU);
            recent.keep(&request, &library, &entry);
            assert!(recent.find(&request, &library).is_some());
        }
        assert!(recent.answers.len() <= MOST);
        let long = Request::new("a.cu", "x".repeat(LONGEST_BYTES + 1), Target::CPU);
        recent.keep(&long, &library, &entry);
        assert!(recent.find(&long, &library).is_none());
    }
}
