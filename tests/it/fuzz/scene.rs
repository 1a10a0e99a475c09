//! Everything that is read from a scene, and what is drafted of a source.

use std::collections::BTreeMap;

use warpaint::scene::{Overrides, Scene};

/// Parses a scene and everything that follows from its text alone.
pub fn exercise(text: &str) -> Result<(), String> {
    let overrides = Overrides::default();
    match Scene::parse("fuzz.cu", text, &overrides) {
        Ok(scene) => {
            let _ = (scene.prelude(), scene.plan().map(|plan| plan.name_expressions()));
            let constants = BTreeMap::from([("n".to_owned(), text.chars().take(20).collect())]);
            let overrides = Overrides { constants, cpu: Some(true), ..Overrides::default() };
            let _ = Scene::parse("fuzz.cu", text, &overrides);
        }
        Err(diagnostics) => {
            diagnostics.iter().for_each(|diagnostic| drop(diagnostic.to_string()));
            if diagnostics.is_empty() {
                return Err("refused without a reason".to_owned());
            }
        }
    }
    Ok(())
}

/// Drafts a manifest for a source: whatever that is, the result is one, which ends where it ends.
pub fn draft(text: &str) -> Result<(), String> {
    let manifest = warpaint::scene::draft("fuzz.cu", text);
    // The text behind it says what its types are.
    let found = Scene::parse("fuzz.cu", &format!("{manifest}{text}"), &Overrides::default());
    match (found, manifest.matches("*/").count()) {
        (Ok(_), 1) => Ok(()),
        (Ok(_), _) => Err(format!("it has another end:\n{manifest}")),
        (Err(faults), _) => Err(format!("{faults:#?}\n{manifest}")),
    }
}
