//! OpenEXR pictures of one channel, such as a depth or a luminance, which the reader of coloured ones refuses.

use std::io::Cursor;

use exr::{
    image::{AnyChannel, FlatSamples},
    meta::{MetaData, header::Header},
    prelude::{ReadChannels as _, ReadLayers as _},
};
use image::{DynamicImage, Rgba, Rgba32FImage};

use super::{DECODED_LIMIT, Error, PIXEL_BYTES, too_large};
use crate::data::Result;

/// Whether what is seen of a file has one channel, and is to be read by [`decode`].
pub(super) fn is_gray(data: &MetaData) -> bool {
    let is_flat = |header: &Header| header.channels.list.len() == 1 && !header.deep;
    data.headers.first().is_some_and(is_flat)
}

/// The picture: its display window, of this size, with the channel as red, green and blue, and zeros beside it.
///
/// # Errors
/// [`Error::Format`], [`Error::Size`].
pub(super) fn decode(content: &[u8], size: [u64; 2]) -> Result<DynamicImage> {
    let wrong = |error: exr::error::Error| Error::Format(format!("it cannot be read: {error}"));
    let needed = size.iter().fold(PIXEL_BYTES, |bytes, side| bytes.saturating_mul(*side));
    if needed > DECODED_LIMIT {
        return Err(too_large(needed));
    }
    let reader = exr::prelude::read().no_deep_data().largest_resolution_level();
    let reader = reader.all_channels().first_valid_layer().all_attributes();
    let image = reader.from_buffered(Cursor::new(content)).map_err(wrong)?;
    let window = image.attributes.display_window;
    let [width, height] = [window.size.width(), window.size.height()];
    if [width as u64, height as u64] != size {
        let found = format!("{width} x {height} pixels");
        return Err(Error::Size { found, wanted: format!("{} x {}", size[0], size[1]) });
    }
    let layer = &image.layer_data;
    let offset = layer.attributes.layer_position - window.position;
    let channels: &[AnyChannel<FlatSamples>] = &layer.channel_data.list;
    let mut picture = Rgba32FImage::from_pixel(width as u32, height as u32, Rgba([0.0; 4]));
    for (at, value) in channels.iter().flat_map(|of| of.sample_data.values_as_f32()).enumerate() {
        let place = |at: usize, offset: i32| u32::try_from(at as i64 + i64::from(offset)).ok();
        let columns = layer.size.width().max(1);
        let (x, y) = (place(at % columns, offset.x()), place(at / columns, offset.y()));
        if let (Some(x), Some(y)) = (x, y)
            && let Some(pixel) = picture.get_pixel_mut_checked(x, y)
        {
            *pixel = Rgba([value, value, value, 1.0]);
        }
    }
    Ok(DynamicImage::ImageRgba32F(picture))
}
