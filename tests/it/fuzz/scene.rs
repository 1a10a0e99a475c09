//! Everything that is read from a scene.

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
