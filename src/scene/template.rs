//! Scenes to begin with: a short one of each kind, to be changed.

/// A scene that is there to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// What it is asked for by.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
}

/// The table of these scenes.
macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        &[$(Template { name: $name, source: include_str!(concat!("../../templates/", $name, ".cu")) }),+]
    };
}

const TEMPLATES: &[Template] = templates!("points", "image", "two-pass", "volume", "structs");

/// Scenes to begin with.
pub const fn templates() -> &'static [Template] {
    TEMPLATES
}

/// The one of this name.
///
/// # Errors
/// A sentence that names those that there are.
pub fn find_template(name: &str) -> Result<&'static Template, String> {
    TEMPLATES.iter().find(|template| template.name == name).ok_or_else(|| {
        let names: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
        format!("there is no template `{name}`, but {}", names.join(", "))
    })
}
