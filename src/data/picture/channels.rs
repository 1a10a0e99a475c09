//! OpenEXR pictures without all of red, green and blue, which the reader of coloured ones refuses: a depth, a luminance
//! with or without alpha, two components of a flow.

use std::io::Cursor;

use exr::{
    image::{AnyChannel, FlatSamples},
    meta::{MetaData, attribute::ChannelList},
    prelude::{ReadChannels as _, ReadLayers as _},
};
use image::{DynamicImage, Rgba, Rgba32FImage};

use super::{DECODED_LIMIT, Error, PIXEL_BYTES, too_large};
use crate::data::Result;

/// Where the numbers of a channel go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Red, green and blue alike.
    Gray,
    /// One of red, green, blue and alpha.
    One(usize),
}

/// Whether a layer has red, green and blue, so that [`decode`] is not for it.
pub(super) fn has_colours(data: &MetaData) -> bool {
    let has = |list: &ChannelList, name: &str| {
        list.list.iter().any(|channel| channel.name.to_string() == name)
    };
    let mut flat = data.headers.iter().filter(|header| !header.deep);
    flat.any(|header| ["R", "G", "B"].iter().all(|name| has(&header.channels, name)))
}

/// Which of the channels of these names go where: those of colours, else the luminance, else the only one.
///
/// # Errors
/// A sentence, where that says nothing.
fn parts(names: &[String]) -> Result<Vec<Option<Part>>> {
    let is = |name: &String, of: &str| name.eq_ignore_ascii_case(of);
    let has = |of: &str| names.iter().any(|name| is(name, of));
    let colours = ["R", "G", "B"];
    let gray = match names {
        _ if colours.iter().any(|of| has(of)) => None,
        // Colours as differences from the luminance.
        _ if has("RY") || has("BY") => None,
        _ if has("Y") => Some("Y"),
        [only] if !is(only, "A") => Some(only.as_str()),
        _ => None,
    };
    if gray.is_none() && !colours.iter().any(|of| has(of)) {
        let told = names.join(", ");
        let text =
            format!("it has the channels {told}: R, G and B are read, Y, or a single one, and A");
        return Err(Error::Format(text));
    }
    let part = |name: &String| match gray {
        Some(gray) if is(name, gray) => Some(Part::Gray),
        Some(_) | None => ["R", "G", "B", "A"].iter().position(|of| is(name, of)).map(Part::One),
    };
    Ok(names.iter().map(part).collect())
}

/// The picture: its display window, of this size, with zeros for what it lacks but alpha, and beside its layer.
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
    let names: Vec<String> = channels.iter().map(|channel| channel.name.to_string()).collect();
    let mut picture = Rgba32FImage::from_pixel(width as u32, height as u32, Rgba([0.0; 4]));
    let columns = layer.size.width().max(1);
    let place = |at: usize, offset: i32| u32::try_from(at as i64 + i64::from(offset)).ok();
    let mut set = |at: usize, numbers: &dyn Fn(&mut [f32; 4])| {
        let (x, y) = (place(at % columns, offset.x()), place(at / columns, offset.y()));
        if let (Some(x), Some(y)) = (x, y)
            && let Some(pixel) = picture.get_pixel_mut_checked(x, y)
        {
            numbers(&mut pixel.0);
        }
    };
    // Only the pixels of the layer are opaque where it has no alpha.
    (0..columns.saturating_mul(layer.size.height())).for_each(|at| set(at, &|rgba| rgba[3] = 1.0));
    for (channel, part) in channels.iter().zip(parts(&names)?) {
        let Some(part) = part else { continue };
        for (at, value) in channel.sample_data.values_as_f32().enumerate() {
            set(at, &|rgba| match part {
                Part::Gray => rgba[..3].fill(value),
                Part::One(lane) => rgba[lane] = value,
            });
        }
    }
    Ok(DynamicImage::ImageRgba32F(picture))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_told_by_their_names() {
        let of = |names: &str| parts(&names.split(' ').map(str::to_owned).collect::<Vec<_>>()).ok();
        let (gray, one) = (Some(Part::Gray), |lane| Some(Part::One(lane)));
        assert_eq!(of("A Y"), Some(vec![one(3), gray]));
        assert_eq!(of("G R"), Some(vec![one(1), one(0)]));
        assert_eq!(of("R Z"), Some(vec![one(0), None]));
        assert_eq!(of("b g r"), Some(vec![one(2), one(1), one(0)]));
        assert_eq!(of("depth"), Some(vec![gray]));
        for none in ["A", "A Z", "U V", "BY RY Y"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
