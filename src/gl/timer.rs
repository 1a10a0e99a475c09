//! How long OpenGL's own work takes.

use std::{cell::RefCell, collections::VecDeque, time::Duration};

use super::{Gl, Result};

/// Measures GPU time of drawing (`GL_TIME_ELAPSED`) without waiting: results come some frames later.
///
/// Only one timer runs at a time in a context; timers do not nest.
#[derive(Debug)]
pub struct TimerQuery {
    gl: Gl,
    free: RefCell<Vec<glow::NativeQuery>>,
    pending: RefCell<VecDeque<glow::NativeQuery>>,
}

/// Frames that may be in flight before a measurement is skipped.
const QUERIES: usize = 6;

impl TimerQuery {
    /// A timer.
    ///
    /// # Errors
    /// [`super::Error::Call`] when OpenGL refuses.
    pub fn new(gl: &Gl) -> Result<Self> {
        let timer = Self { gl: gl.clone(), free: RefCell::default(), pending: RefCell::default() };
        for _ in 0..QUERIES {
            let query = gl.create_query()?;
            timer.free.borrow_mut().push(query);
        }
        Ok(timer)
    }

    /// Measures what `draw` draws; skipped when no result has come for a while.
    pub fn measure<T>(&self, draw: impl FnOnce() -> T) -> T {
        let Some(query) = self.free.borrow_mut().pop() else { return draw() };
        self.gl.begin_query(glow::TIME_ELAPSED, query);
        let result = draw();
        self.gl.end_query(glow::TIME_ELAPSED);
        self.pending.borrow_mut().push_back(query);
        result
    }

    /// The latest measurement that is ready, if any is new; never waits.
    pub fn latest(&self) -> Option<Duration> {
        let mut latest = None;
        while let Some(elapsed) = self.next() {
            latest = Some(elapsed);
        }
        latest
    }

    fn next(&self) -> Option<Duration> {
        let query = *self.pending.borrow().front()?;
        if self.gl.get_query_parameter_u32(query, glow::QUERY_RESULT_AVAILABLE) == 0 {
            return None;
        }
        let elapsed_ns = self.gl.get_query_parameter_u64(query, glow::QUERY_RESULT);
        self.pending.borrow_mut().pop_front();
        self.free.borrow_mut().push(query);
        Some(Duration::from_nanos(elapsed_ns))
    }
}

impl Drop for TimerQuery {
    fn drop(&mut self) {
        let pending = self.pending.take();
        for query in self.free.take().into_iter().chain(pending) {
            self.gl.delete_query(query);
        }
    }
}
