//! Pictures as texels: the lowest row first, as views show it.
//!
//! Enters: a file's content, the size and the texels that are wanted. Leaves: the texels' bytes. Must not know:
//! `scene`, `gl`, `session`.

mod channels;

use std::io::Cursor;

use exr::meta::{MetaData, header::Header};
use image::{
    DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits, metadata::Orientation,
};

use super::{Error, HEADER_LIMIT, Result, convert::written};
use crate::element::{Element, Scalar};

/// What a picture may take when it is unpacked, in bytes.
const DECODED_LIMIT: u64 = 1 << 30;
/// What a pixel takes at most, in any format.
const PIXEL_BYTES: u64 = 16;

/// So many times what is seen of it may be in the layers of an OpenEXR file, and so many pixels more.
const MOST_UNSEEN: u64 = 16;
const SPARE_PIXELS: u64 = 1 << 20;

/// The most that is read of a picture's file: what its pixels take where they cannot be compressed, twice, and what
/// else such a file contains.
pub(super) fn file_limit([width, height]: [u64; 2]) -> u64 {
    width.saturating_mul(height).saturating_mul(2 * PIXEL_BYTES).saturating_add(16 * HEADER_LIMIT)
}

/// The texels of a picture of this size, whose file is `content`.
pub(super) fn texels(content: &[u8], size: [u64; 2], element: Element) -> Result<Vec<u8>> {
    let picture = decode(content, size)?;
    // The first row of a file is the highest.
    let picture = picture.flipv();
    match element.scalar {
        Scalar::U8 => bytes(picture, element),
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::F16
        | Scalar::BF16
        | Scalar::F32
        | Scalar::F64 => shares(&picture, element),
    }
}

/// The picture, upright. Its size is compared before it is unpacked.
fn decode(content: &[u8], size: [u64; 2]) -> Result<DynamicImage> {
    let wrong = |error: image::ImageError| Error::Format(format!("it cannot be read: {error}"));
    let reader = ImageReader::new(Cursor::new(content)).with_guessed_format()?;
    if reader.format().is_none() {
        let text = "it is neither a PNG, JPEG, OpenEXR or Radiance HDR picture nor a `.npy` file";
        return Err(Error::Format(text.to_owned()));
    }
    if reader.format() == Some(ImageFormat::OpenExr) {
        let data = layers(content, size)?;
        let is_flat = data.headers.iter().any(|header| !header.deep);
        if is_flat && !channels::has_colours(&data) {
            return channels::decode(content, size);
        }
    }
    let mut decoder = reader.into_decoder().map_err(wrong)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let (mut found, needed) = (decoder.dimensions(), decoder.total_bytes());
    if is_turned(orientation) {
        found = (found.1, found.0);
    }
    let ([width, height], (found_width, found_height)) = (size, found);
    if (width, height) != (found_width.into(), found_height.into()) {
        let (found, wanted) =
            (format!("{found_width} x {found_height} pixels"), format!("{width} x {height}"));
        return Err(Error::Size { found, wanted });
    }
    if needed > DECODED_LIMIT {
        return Err(too_large(needed));
    }
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(DECODED_LIMIT.saturating_mul(2));
    decoder.set_limits(limits).map_err(wrong)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(wrong)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

fn too_large(needed: u64) -> Error {
    Error::Format(format!("it takes {needed} bytes when it is unpacked, more than {DECODED_LIMIT}"))
}

/// The layers of an OpenEXR file, which are not much larger than what is seen of them: all of their pixels are
/// unpacked, also those outside the display window, whose size is the picture's.
fn layers(content: &[u8], [width, height]: [u64; 2]) -> Result<MetaData> {
    let wrong = |error: exr::error::Error| Error::Format(format!("it cannot be read: {error}"));
    let data = MetaData::read_from_buffered(content, false).map_err(wrong)?;
    let pixels = |header: &Header| {
        let size = header.layer_size;
        (size.width() as u64).saturating_mul(size.height() as u64)
    };
    let bytes =
        |header: &Header| pixels(header).saturating_mul(header.channels.bytes_per_pixel as u64);
    let sum =
        |of: &dyn Fn(&Header) -> u64| data.headers.iter().map(of).fold(0, u64::saturating_add);
    let (found, needed) = (sum(&pixels), sum(&bytes));
    let seen = width.saturating_mul(height);
    let allowed = seen.saturating_mul(MOST_UNSEEN).saturating_add(SPARE_PIXELS);
    if needed > DECODED_LIMIT {
        return Err(too_large(needed));
    }
    if found > allowed {
        let text = format!("its layers have {found} pixels, of which {width} x {height} are seen");
        return Err(Error::Format(text));
    }
    Ok(data)
}

/// Whether what a camera says of a picture turns its sides into one another.
fn is_turned(orientation: Orientation) -> bool {
    match orientation {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => true,
        Orientation::NoTransforms
        | Orientation::Rotate180
        | Orientation::FlipHorizontal
        | Orientation::FlipVertical => false,
    }
}

/// Texels of bytes, as they are in the file.
fn bytes(picture: DynamicImage, element: Element) -> Result<Vec<u8>> {
    let bits = picture.color().bits_per_pixel() / u16::from(picture.color().channel_count());
    if bits != 8 {
        let text = format!(
            "it has {bits} bits for each channel, and {element} has 8: take a texture of `rgba16f` or `rgba32f`"
        );
        return Err(Error::Format(text));
    }
    Ok(picture.into_rgba8().into_raw())
}

/// Texels of floating-point numbers: integers become shares of 1. Those with fewer channels have the first ones.
fn shares(picture: &DynamicImage, element: Element) -> Result<Vec<u8>> {
    // Gray, from which that makes other last bits than from colours, is coloured before.
    let pixels = match picture {
        DynamicImage::ImageLuma8(_) | DynamicImage::ImageLumaA8(_) => {
            DynamicImage::ImageRgba8(picture.to_rgba8()).into_rgba32f()
        }
        DynamicImage::ImageLuma16(_) | DynamicImage::ImageLumaA16(_) => {
            DynamicImage::ImageRgba16(picture.to_rgba16()).into_rgba32f()
        }
        _ => picture.to_rgba32f(),
    };
    let lanes = usize::from(element.lanes);
    let channels = pixels.pixels().flat_map(|pixel| pixel.0.into_iter().take(lanes));
    let count = pixels.len() / 4 * lanes;
    written(channels.map(f64::from), element.scalar, count)
}
