//! OpenGL's own messages (`KHR_debug`, in the core since 4.3), sent to the log.

use glow::HasContext;
use tracing::Level;

use super::loader;

/// Sends the context's messages to `tracing`, if it can make any; whether it can.
///
/// The context must be current and not shared yet.
pub(super) fn install(glow: &mut glow::Context) -> bool {
    if !glow.supports_debug() {
        return false;
    }
    loader::debug_output(glow, |source, kind, id, severity, text| {
        let (source, kind, text) = (source_name(source), kind_name(kind), text.trim_end());
        match level(severity) {
            Level::ERROR => tracing::error!(target: "warpaint::gl", source, kind, id, "{text}"),
            Level::WARN => tracing::warn!(target: "warpaint::gl", source, kind, id, "{text}"),
            Level::DEBUG => tracing::debug!(target: "warpaint::gl", source, kind, id, "{text}"),
            _ => tracing::trace!(target: "warpaint::gl", source, kind, id, "{text}"),
        }
    });
    true
}

/// Whether a debug context is worth its cost: in debug builds, and where someone reads the messages.
pub(super) fn wanted() -> bool {
    cfg!(debug_assertions) || tracing::enabled!(target: "warpaint::gl", Level::DEBUG)
}

fn level(severity: u32) -> Level {
    match severity {
        glow::DEBUG_SEVERITY_HIGH => Level::ERROR,
        glow::DEBUG_SEVERITY_MEDIUM => Level::WARN,
        glow::DEBUG_SEVERITY_LOW => Level::DEBUG,
        _ => Level::TRACE,
    }
}

fn source_name(source: u32) -> &'static str {
    match source {
        glow::DEBUG_SOURCE_API => "api",
        glow::DEBUG_SOURCE_WINDOW_SYSTEM => "window system",
        glow::DEBUG_SOURCE_SHADER_COMPILER => "shader compiler",
        glow::DEBUG_SOURCE_THIRD_PARTY => "third party",
        glow::DEBUG_SOURCE_APPLICATION => "application",
        _ => "other",
    }
}

fn kind_name(kind: u32) -> &'static str {
    match kind {
        glow::DEBUG_TYPE_ERROR => "error",
        glow::DEBUG_TYPE_DEPRECATED_BEHAVIOR => "deprecated",
        glow::DEBUG_TYPE_UNDEFINED_BEHAVIOR => "undefined behaviour",
        glow::DEBUG_TYPE_PORTABILITY => "portability",
        glow::DEBUG_TYPE_PERFORMANCE => "performance",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_fall_into_levels() {
        assert_eq!(level(glow::DEBUG_SEVERITY_HIGH), Level::ERROR);
        assert_eq!(level(glow::DEBUG_SEVERITY_MEDIUM), Level::WARN);
        assert_eq!(level(glow::DEBUG_SEVERITY_LOW), Level::DEBUG);
        assert_eq!(level(glow::DEBUG_SEVERITY_NOTIFICATION), Level::TRACE);
    }
}
