//! What OpenGL draws of a resource while a step writes it.

use crate::{
    device::{Fill, Stream},
    gl,
    interop::{Error, Interop, SharedBuffer},
};

/// Two buffers that OpenGL sees: it draws the front one while a step writes the other.
///
/// What was written may also be the present content before it is shown, where steps are done that nobody is to see.
pub(super) struct SharedPair {
    buffers: [SharedBuffer; 2],
    front: usize,
    /// Whether the present content is in the one that is not drawn.
    is_ahead: bool,
}

impl SharedPair {
    /// Two whose front one is zero: the other is overwritten before anybody looks at it.
    pub(super) fn zeroed(interop: &Interop, stream: &Stream, bytes: usize) -> Result<Self, Error> {
        let mut buffers = [interop.buffer(bytes)?, interop.buffer(bytes)?];
        let mapped = buffers[0].map(stream)?;
        stream.fill(mapped.slice(), Fill::U8(0))?;
        mapped.unmap()?;
        Ok(Self { buffers, front: 0, is_ahead: false })
    }

    fn front(&mut self) -> &mut SharedBuffer {
        &mut self.buffers[self.front]
    }

    /// The one with the present content.
    pub(super) fn present(&mut self) -> &mut SharedBuffer {
        if self.is_ahead { self.back() } else { self.front() }
    }

    pub(super) fn back(&mut self) -> &mut SharedBuffer {
        &mut self.buffers[1 - self.front]
    }

    /// The one that is to be written next, and the one whose content is to be put there first, unless it has it.
    pub(super) fn next(&mut self) -> (&mut SharedBuffer, Option<&mut SharedBuffer>) {
        let [first, second] = &mut self.buffers;
        let (front, back) = if self.front == 0 { (first, second) } else { (second, first) };
        (back, (!self.is_ahead).then_some(front))
    }

    /// What was written is the present content, and what was drawn before is drawn still.
    pub(super) fn advance(&mut self) {
        self.is_ahead = true;
    }

    /// What was written since something was shown is not to be looked at.
    pub(super) fn abandon(&mut self) {
        self.is_ahead = false;
    }

    /// Turns to the one that was written, which is to be presented.
    pub(super) fn show(&mut self) -> &mut SharedBuffer {
        (self.front, self.is_ahead) = (1 - self.front, false);
        self.front()
    }

    /// What OpenGL draws.
    pub(super) fn drawn(&self) -> Option<&gl::Buffer> {
        self.buffers[self.front].gl()
    }
}
