//! Names of resources, of their fields and components.

use super::{fields::Fields, suggestion};
use crate::scene::{Components, Manifest, Resource, ResourceId, Selection, Type};

/// Why nothing is called so of a resource whose type is wrong, which is told there and not here again.
pub(super) const UNTYPED: &str = "what elements it has is not known";

/// The numbers that `key` names: a resource, or a field or component of one.
pub(super) fn read(
    table: &mut Fields<'_, '_, '_>,
    key: &'static str,
    manifest: &Manifest,
) -> Option<Selection> {
    let text = table.text(key)?;
    let found = find(&text, "resource", manifest, |_| true);
    found.map_err(|problem| table.complain_about(key, problem)).ok()
}

/// The numbers that are called so, of the resources that `is_meant` takes: `what` they are called.
///
/// # Errors
/// A sentence.
pub(super) fn find(
    text: &str,
    what: &str,
    manifest: &Manifest,
    is_meant: impl Fn(&Resource) -> bool,
) -> Result<Selection, String> {
    let (name, path) = match text.split_once('.') {
        Some((name, path)) => (name, Some(path)),
        None => (text, None),
    };
    let found = manifest.find_resource(name).filter(|id| is_meant(manifest.resource(*id)));
    let of = found.ok_or_else(|| {
        let meant = manifest.resources.iter().filter(|resource| is_meant(resource));
        let hint = suggestion(name, meant.map(|resource| resource.name.as_str()));
        format!("there is no {what} `{name}`{hint}")
    })?;
    let components = path.map(|path| components(path, of, manifest)).transpose()?;
    let resource = manifest.resource(of);
    if components.is_none() && resource.element().is_none() {
        let field =
            resource.of().parts().into_iter().next().map_or_else(String::new, |part| part.path);
        return Err(format!("`{name}` has structures: name a field, such as \"{name}.{field}\""));
    }
    Ok(Selection { of, components })
}

/// The components of a resource that are called so: a field, or one of a vector.
pub(super) fn components(
    path: &str,
    of: ResourceId,
    manifest: &Manifest,
) -> Result<Components, String> {
    let resource = manifest.resource(of);
    let (name, of) = (&resource.name, resource.of());
    if manifest.untyped.contains(name) {
        return Err(UNTYPED.to_owned());
    }
    if let Some(found) = of.find(path) {
        return Ok(Components { first: found.start as u16, count: found.len() as u16 });
    }
    let all = of.components();
    let fields = of.parts().into_iter().map(|part| part.path);
    let vectors = fields.filter(|field| !all.contains(field));
    let known: Vec<String> = all.iter().cloned().chain(vectors).collect();
    let hint = match of {
        Type::Element(_) => String::new(),
        Type::Structure(_) => suggestion(path, known.iter().map(String::as_str)),
    };
    Err(format!("`{name}` has no component `{path}`: its elements are {of}{hint}"))
}
