//! Reads host code, and finds out what its parts say, one after the other.

use super::{code::members::Members, host::Host, reader::Reader};
use crate::cuda::Structures;

/// Reads `text`, whose structures are known, and what the pointers are called that these have.
pub(super) fn read<'s>(
    text: &'s str,
    structures: &'s Structures,
    members: &'s Members,
) -> Host<'s> {
    let (mut found, brackets) = Host::of(text, structures, members);
    Reader::new(&mut found, &brackets).read();
    let of_device = found.functions_of_device();
    let is_of_host = |at: usize| {
        let of = found.regions.function(at);
        of.is_none_or(|function| !of_device.contains(&function))
    };
    let mut untold = std::mem::take(&mut found.untold);
    untold.retain(|untold| is_of_host(untold.call.start));
    let mut swaps = std::mem::take(&mut found.swaps);
    swaps.retain(|(.., at)| is_of_host(*at));
    (found.untold, found.swaps) = (untold, swaps);
    (found.run_once, found.recursive) = found.runs_of_functions();
    found.set_fields = found.fields_set();
    found.moved_fields = found.fields_moved();
    found.loops = found.understood_loops();
    (found.done, found.is_all_done) = found.trace(found.acts(), &brackets);
    let places =
        found.done.iter().flat_map(|done| found.place_of(done).levels().collect::<Vec<_>>());
    found.acting = places.map(|place| place.at).collect();
    found.is_of_namesakes = found.is_of_namesakes(&brackets);
    found.called_indirectly = found.called_indirectly(&brackets);
    found.repeated = found.repeated_swaps();
    found.take_allocations();
    let (writes, is_all) = found.writes(&brackets);
    found.writes = writes;
    found.fillings = found.fillings(&brackets, is_all);
    found.filled.extend(found.fillings.keys());
    found
}
