//! Where a kernel did something, as the author of its source sees it.

use crate::{
    device::{InlinedCall, Location},
    diagnostic::Diagnostic,
};

/// The file of CUDA's headers in which blocks wait for one another.
const GROUPS: &str = "cooperative_groups";

/// Whether it happened in the functions of cooperative groups.
pub(super) fn is_in_groups(place: Option<&Location>) -> bool {
    place.is_some_and(|place| place.file.contains(GROUPS))
}

/// Where something happened, as its author sees it: the functions of surfaces stand in a header of the compiler's own,
/// those of cooperative groups in one of the toolkit's.
pub(super) fn place<'a>(
    location: Option<&'a Location>,
    inlined: &'a [InlinedCall],
) -> Option<&'a Location> {
    let calls = inlined.iter().map(|frame| &frame.call_site);
    let mut places = location.into_iter().chain(calls);
    let is_own =
        |place: &&Location| !place.file.starts_with("__nv_nvrtc") && !place.file.contains(GROUPS);
    places.find(is_own).or(location)
}

/// A remark on a place of the source, or on the whole `file` where none is known.
pub(super) fn remark(place: Option<&Location>, file: &str, text: String) -> Diagnostic {
    let file = place.map_or(file, |place| place.file.as_str());
    let remark = Diagnostic::error(file, text);
    match place {
        Some(at) if at.line > 0 => remark.at(at.line, (at.column > 0).then_some(at.column)),
        Some(_) | None => remark,
    }
}
