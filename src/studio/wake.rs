//! What another thread calls when there is something for the window.

use std::sync::Arc;

/// Called, on any thread, when the window should look at the workspace again.
pub type Wake = Arc<dyn Fn() + Send + Sync>;
