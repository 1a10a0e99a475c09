//! What things are called in a drafted manifest, where each name means one thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::scene::draft::{expression::text::possible, host::Host, values::loops::counter};

/// What a name of a resource may end with to mean something of it.
const DERIVED: [&str; 5] = ["_count", "_next", "_width", "_height", "_depth"];

/// What a texture is; other resources are arrays, each of its elements.
pub(in crate::scene::draft) const TEXTURE: &str = "texture";

/// The names that were given.
#[derive(Default)]
pub(in crate::scene::draft) struct Names {
    taken: BTreeSet<String>,
    /// By what the file calls the thing, and by what it is.
    given: BTreeMap<(String, String), String>,
}

impl Names {
    /// None but those that the rounds of loops have.
    pub(in crate::scene::draft) fn beside_counters(host: &Host<'_>) -> Self {
        let taken = host.done.iter().flat_map(|done| {
            let loops = host.place_of(done).loops;
            (1..=loops.len()).map(move |depth| counter(host, &loops[..depth]))
        });
        Self { taken: taken.collect(), given: BTreeMap::new() }
    }

    /// The resource that the file calls `name`, and that is a `what`: of one name and kind there is one.
    pub(in crate::scene::draft) fn of(&mut self, name: &str, what: &str) -> String {
        let key = (name.to_owned(), what.to_owned());
        if let Some(known) = self.given.get(&key) {
            return known.clone();
        }
        let with_derived = |own: &str| {
            let derived = DERIVED.map(|ending| format!("{own}{ending}"));
            [own.to_owned()].into_iter().chain(derived)
        };
        // Of a member the field alone, unless another one is called so.
        let field = possible(name.rsplit('.').next().unwrap_or(name));
        let is_taken = with_derived(&field).any(|name| self.taken.contains(&name));
        let mut own = if is_taken { possible(name) } else { field };
        while with_derived(&own).any(|name| self.taken.contains(&name)) {
            own.push('_');
        }
        self.taken.extend(with_derived(&own));
        self.given.insert(key, own.clone());
        own
    }

    /// The array that the file calls `name`, where there is one.
    pub(in crate::scene::draft) fn array(&self, name: &str) -> Option<&str> {
        let is_it = |(own, what): &(String, String)| own == name && what != TEXTURE;
        self.given.iter().find(|(key, _)| is_it(key)).map(|(_, given)| given.as_str())
    }
}
