//! Draws what kernels made: points, images, surfaces and volumes.
//!
//! Enters: buffers and textures of OpenGL, a camera, a colour map, a size in pixels. Leaves: a picture, in a
//! framebuffer of its own. Must not know: `device`, `interop`, `scene`, `kernel`, `array`, `session`.
//! OpenGL is called only through [`crate::gl`].
//!
//! A [`View`] draws every kind of content into its own picture, so a window and a headless run do the same:
//!
//! ```no_run
//! # use warpaint::{draw, gl};
//! # fn example(context: &gl::CurrentContext, content: draw::Content<'_>) -> gl::Result<()> {
//! let mut view = draw::View::new(context.gl(), [1280, 720])?;
//! let camera = draw::Camera::default();
//! let picture = view.draw(&draw::Frame::new(&camera, content))?;
//! let pixels = picture.read_rgba8()?; // headless: a picture to save
//! picture.blit_to(gl::Target::Screen, [0, 0, 1280, 720])?; // or a window: a rectangle of it
//! # Ok(())
//! # }
//! ```

mod camera;
mod chart;
mod cloud;
mod coloring;
mod colormap;
mod cover;
mod difference;
mod glow;
mod guides;
mod image;
mod legend;
mod overlay;
mod pan_zoom;
mod pick;
mod picture;
mod points;
mod print;
mod recoloring;
mod splat;
mod surface;
mod svg;
mod ticks;
mod view;
mod volume;

pub use camera::{Bounds, Camera, Projection};
pub use chart::{Chart, Look, Marks, Series};
pub use cloud::{Blend, Cloud, Sprites, Values};
pub(crate) use coloring::above_zero;
pub use coloring::{Coloring, Paint};
pub use colormap::Colormap;
pub use difference::Difference;
pub use guides::Guides;
pub use image::Image;
pub use legend::Legend;
pub use pan_zoom::PanZoom;
pub use pick::{Spot, place_in_volume, place_on_surface};
pub use picture::Background;
pub use print::Print;
pub use recoloring::Recoloring;
pub use surface::Surface;
pub use view::{Content, Frame, View};
pub use volume::Volume;
