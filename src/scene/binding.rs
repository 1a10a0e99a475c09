//! Binds the parameters of kernels by name to what the manifest declares.

use super::{Plan, Scene};
use crate::diagnostic::Diagnostic;

/// Binds every pass of `scene`.
pub(super) fn plan(scene: &Scene) -> Result<Plan, Vec<Diagnostic>> {
    Err(vec![Diagnostic::error(&scene.name, "not written yet")])
}
