//! How large the window is at first: as last time, and no larger than the screen.

use winit::{dpi::LogicalSize, event_loop::ActiveEventLoop};

/// The least that the panels need.
const LEAST: [f32; 2] = [640.0, 400.0];

/// The window's size at first, and its least one, in points.
pub(super) fn sizes(event_loop: &ActiveEventLoop, wanted: [f32; 2]) -> [LogicalSize<f32>; 2] {
    let monitor = event_loop.primary_monitor().or_else(|| event_loop.available_monitors().next());
    let screen = monitor.map(|monitor| {
        let size = monitor.size().to_logical::<f32>(monitor.scale_factor());
        [size.width, size.height]
    });
    [wanted, LEAST].map(|size| {
        let [width, height] = within(size, screen);
        LogicalSize::new(width, height)
    })
}

/// A size, or as much of it as the screen has; some systems say that theirs has none.
fn within(size: [f32; 2], screen: Option<[f32; 2]>) -> [f32; 2] {
    let known = screen.filter(|screen| screen.iter().all(|side| *side >= 1.0));
    known.map_or(size, |screen| [size[0].min(screen[0]), size[1].min(screen[1])])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_no_larger_than_the_screen() {
        // 1600x1000 pixels at scale 2.
        let screen = Some([800.0, 500.0]);
        assert_eq!(within([1440.0, 900.0], screen), [800.0, 500.0]);
        assert_eq!(within([700.0, 900.0], screen), [700.0, 500.0]);
        assert_eq!(within(LEAST, Some([320.0, 240.0])), [320.0, 240.0]);
        assert_eq!(within([1440.0, 900.0], None), [1440.0, 900.0]);
        assert_eq!(within([1440.0, 900.0], Some([0.0, 0.0])), [1440.0, 900.0]);
    }
}
