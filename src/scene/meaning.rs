//! What names mean in a scene.

use super::{Builtin, Manifest, ResourceId, Source, suggestion::suggestion};

/// What `name` means in the scene.
pub(super) fn meaning(manifest: &Manifest, name: &str) -> Option<Source> {
    resource_source(manifest, name)
        .or_else(|| manifest.find_constant(name).map(|number| Source::Number(number.into())))
        .or_else(|| manifest.find_parameter(name).map(Source::Parameter))
        .or_else(|| Builtin::parse(name).map(Source::Builtin))
}

fn resource_source(manifest: &Manifest, name: &str) -> Option<Source> {
    if let Some(id) = manifest.find_resource(name) {
        return Some(Source::Resource(id));
    }
    manifest.resources.iter().enumerate().find_map(|(index, resource)| {
        let ending = name.strip_prefix(resource.name.as_str())?.strip_prefix('_')?;
        let id = ResourceId(index);
        let extent = |axis: u8| Source::Extent(id, axis, resource.extent()[usize::from(axis)]);
        match (ending, resource.texture()) {
            ("count", _) => Some(Source::Count(id, resource.count())),
            ("width", Some(_)) => Some(extent(0)),
            ("height", Some(_)) => Some(extent(1)),
            ("depth", Some(_)) => Some(extent(2)),
            ("next", _) if resource.double() => Some(Source::Next(id)),
            _ => None,
        }
    })
}

/// What kernels may call besides a resource's own name.
pub(super) fn derived_names(manifest: &Manifest, id: ResourceId) -> Vec<String> {
    let resource = manifest.resource(id);
    let mut endings = vec!["count"];
    if resource.texture().is_some() {
        endings.extend(["width", "height", "depth"]);
    }
    endings.extend(resource.double().then_some("next"));
    endings.iter().map(|ending| format!("{}_{ending}", resource.name)).collect()
}

/// Which of the loops around has rounds of this name.
pub(super) fn round_of(counters: &[String], name: &str) -> Option<usize> {
    counters.iter().rposition(|counter| !counter.is_empty() && counter == name)
}

/// What may have been meant by `name`, which means nothing in the scene.
pub(super) fn hint(manifest: &Manifest, name: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    names.extend(manifest.resources.iter().map(|r| r.name.clone()));
    names.extend(manifest.constants.iter().map(|c| c.name.clone()));
    names.extend(manifest.parameters.iter().map(|p| p.name.clone()));
    names
        .extend((0..manifest.resources.len()).flat_map(|i| derived_names(manifest, ResourceId(i))));
    names.extend(Builtin::ALL.iter().map(|(name, _)| (*name).to_owned()));
    suggestion(name, names.iter().map(String::as_str))
}
