//! Where pictures are drawn without a window.

use super::{Result, Run, run::measure};
use crate::{
    device::{self, Device},
    draw, gl,
    interop::Interop,
    session::Session,
};

/// An OpenGL context without a window and the picture drawn there.
pub(super) struct Stage {
    context: gl::CurrentContext,
    view: draw::View,
}

impl Stage {
    /// A stage for pictures of this size, of what runs on `device`.
    pub(super) fn new(device: &Device, size_px: [u32; 2]) -> Result<Self> {
        let cuda_ordinal = device.as_nvidia().map(device::nvidia::Device::ordinal);
        let context = gl::CurrentContext::headless(gl::Headless { cuda_ordinal })?;
        let view = draw::View::new(context.gl(), size_px)?;
        Ok(Self { context, view })
    }

    /// How results of `device` get to the stage, if there is one.
    pub(super) fn interop(stage: Option<&Self>, device: &Device) -> Interop {
        stage.map_or_else(|| Interop::none(device), |s| Interop::new(s.context.gl(), device))
    }

    /// The picture of the last finished step as rows of RGBA, top row first; with the legend, where there is one to
    /// draw.
    pub(super) fn picture(
        &mut self,
        session: &mut Session,
        run: &Run,
        size_px: [u32; 2],
        legend: bool,
    ) -> Result<Vec<u8>> {
        if self.view.size() != size_px {
            self.view.resize(size_px)?;
        }
        if session.needs_statistics_to_draw() {
            measure(session)?;
        }
        run.draw(|| {
            let camera = session.start_camera();
            self.view.draw(&session.frame(&camera))?;
            if let Some(legend) = session.legend().filter(|_| legend) {
                self.view.draw_legend(&legend)?;
            }
            Ok(self.view.picture().read_rgba8()?)
        })
    }
}
