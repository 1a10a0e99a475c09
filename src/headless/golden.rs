//! What was looked at once and kept, compared with what comes out today.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use image::codecs::png::PngDecoder;

use super::{Error, Result, measured::Number, npy};
use crate::{
    file, record,
    scene::{Golden, Kept, Manifest},
};

/// A channel that differs by more than this makes its pixel an outlier.
const FAR: u8 = 32;
/// How many times differences are brightened to be seen.
const BRIGHTER: u8 = 8;
/// What is read of a picture's file at most: as many bytes as the largest picture has, for noise cannot be compressed,
/// and as much again for what else a PNG may contain.
const PICTURE_LIMIT: u64 = 2 * 4 * 4096 * 4096;
/// What a picture's file may become when it is unpacked, in bytes, beside its pixels.
const DECODED_LIMIT: u64 = 16 << 20;
/// An array's file may hold its numbers in a wider type than the scene does, at most by this factor.
const WIDER: u64 = 16;
/// What is read of an array's file beyond that: its header.
const HEADER_LIMIT: u64 = 1 << 20;

/// What came out of a comparison.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub(super) holds: bool,
    /// In words.
    pub(super) told: String,
}

/// What came out of a run: the content of a golden's file.
#[derive(Debug)]
pub(super) enum Actual {
    /// Rows of RGBA.
    Picture { size_px: [u32; 2], rgba: Vec<u8> },
    /// A `.npy` file.
    Array(Vec<u8>),
}

impl Actual {
    /// Writes it to the file `name` below `folder`; the folders between are made where they are missing. A file that
    /// is there is replaced only by one of its own kind, and no link is followed out of `folder`: a stranger's scene
    /// chooses the name.
    ///
    /// # Errors
    /// [`Error::File`].
    pub(super) fn write_below(&self, folder: &Path, name: &Path) -> Result<()> {
        let failed = |source| Error::File { action: "write", path: folder.join(name), source };
        let place = file::place_below(folder, name).map_err(failed)?;
        self.expect_own_kind(&place).map_err(failed)?;
        match self {
            Self::Picture { size_px, rgba } => Ok(record::png(&place, *size_px, rgba)?),
            Self::Array(npy) => Error::write(&place, npy),
        }
    }

    /// That what is there, if anything, is a file such as this one becomes.
    fn expect_own_kind(&self, path: &Path) -> io::Result<()> {
        let (kind, magic): (&str, &[u8]) = match self {
            Self::Picture { .. } => ("PNG picture", b"\x89PNG\r\n\x1a\n"),
            Self::Array(_) => (".npy array", b"\x93NUMPY"),
        };
        let mut found = Vec::new();
        match file::open_regular(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened?.take(magic.len() as u64).read_to_end(&mut found)?,
        };
        if found == magic {
            return Ok(());
        }
        let text = format!("what is there is no {kind}, and is not replaced by one");
        Err(io::Error::new(io::ErrorKind::AlreadyExists, text))
    }

    /// Compares it with the file that `golden` names, below `folder`. Where they differ too much, this and the
    /// difference are written to the folder `failed`.
    ///
    /// # Errors
    /// [`Error::File`].
    pub(super) fn compare(
        &self,
        golden: &Golden,
        folder: &Path,
        failed: &Path,
    ) -> Result<Comparison> {
        let name = Path::new(&golden.file);
        let shown = folder.join(name);
        let shown = shown.display();
        let found = match file::find_below(folder, name) {
            Ok(path) => match self {
                Self::Picture { size_px, rgba } => picture(golden, &path, *size_px, rgba),
                Self::Array(npy) => array(golden, &path, npy),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let told = format!("there is no {shown}: --update-golden writes it");
                return Ok(Comparison { holds: false, told });
            }
            Err(error) => Err(error.to_string()),
        };
        let (comparison, difference) = match found {
            Ok(found) => found,
            Err(problem) => {
                let told = format!("{shown} cannot be compared: {problem}");
                (Comparison { holds: false, told }, None)
            }
        };
        if comparison.holds {
            return Ok(comparison);
        }
        make(failed)?;
        let actual = renamed(name, "actual");
        self.write_below(failed, &actual)?;
        if let Some(difference) = difference {
            difference.write_below(failed, &renamed(name, "difference"))?;
        }
        let told = format!("{}; see {}", comparison.told, failed.join(actual).display());
        Ok(Comparison { told, ..comparison })
    }
}

/// That nothing which [`Actual::compare`] may write to the folder `failed` is one of a scene's goldens, which lie below
/// `folder`, or what it begins with.
///
/// # Errors
/// [`Error::File`].
pub(super) fn expect_apart(manifest: &Manifest, folder: &Path, failed: &Path) -> Result<()> {
    let goldens = &manifest.goldens;
    let known: BTreeSet<PathBuf> =
        goldens.iter().filter_map(|golden| folder.join(&golden.file).canonicalize().ok()).collect();
    for golden in goldens {
        for what in ["actual", "difference"] {
            let path = failed.join(renamed(Path::new(&golden.file), what));
            expect_no_input(manifest, folder, &path)?;
            if path.canonicalize().is_ok_and(|place| known.contains(&place)) {
                let text = "it is a golden of the scene: name another folder by --failed";
                let source = io::Error::new(io::ErrorKind::AlreadyExists, text);
                return Err(Error::File { action: "write", path, source });
            }
        }
    }
    Ok(())
}

/// That `path`, which is to be written, is nothing that a scene in `folder` begins with.
///
/// # Errors
/// [`Error::File`].
pub(super) fn expect_no_input(manifest: &Manifest, folder: &Path, path: &Path) -> Result<()> {
    let Ok(place) = path.canonicalize() else { return Ok(()) };
    let mut files = manifest.initials().filter_map(|initial| initial.file(folder));
    if !files.any(|file| file.canonicalize().is_ok_and(|known| known == place)) {
        return Ok(());
    }
    let text = "the scene reads it, and what comes out of it does not replace it";
    let source = io::Error::new(io::ErrorKind::AlreadyExists, text);
    Err(Error::File { action: "write", path: path.to_owned(), source })
}

/// Makes the folder for what failed. One that is a link may have come with the scene, and lead anywhere.
fn make(folder: &Path) -> Result<()> {
    let failed = |source| Error::File { action: "make", path: folder.to_owned(), source };
    if folder.is_symlink() {
        let text = "it is a symbolic link: name the folder itself by --failed";
        return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, text)));
    }
    fs::create_dir_all(folder).map_err(failed)
}

/// `folder/name.what.png` for `folder/name.png`.
fn renamed(path: &Path, what: &str) -> PathBuf {
    let part =
        |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{}.{what}.{}", part(path.file_stem()), part(path.extension())))
}

type Compared = std::result::Result<(Comparison, Option<Actual>), String>;

/// A decoder of a PNG file that should have this size. What else there is in the file, such as a colour profile, is
/// unpacked, too, but not beyond a limit.
fn decoder(
    content: Vec<u8>,
    [width, height]: [u32; 2],
) -> std::result::Result<PngDecoder<io::Cursor<Vec<u8>>>, String> {
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(DECODED_LIMIT + 8 * u64::from(width) * u64::from(height));
    let decoder = PngDecoder::with_limits(io::Cursor::new(content), limits);
    decoder.map_err(|error| error.to_string())
}

/// The pixels of a PNG file that should have this size, which is looked at first: a few bytes can become very many
/// pixels.
fn pixels_of(
    path: &Path,
    [width, height]: [u32; 2],
) -> std::result::Result<image::RgbaImage, String> {
    let content = file::read_regular(path, PICTURE_LIMIT).map_err(|error| error.to_string())?;
    let decoder = decoder(content, [width, height])?;
    let (w, h) = image::ImageDecoder::dimensions(&decoder);
    if (w, h) != (width, height) {
        return Err(format!("it is {w}x{h}, the picture {width}x{height}"));
    }
    let decoded = image::DynamicImage::from_decoder(decoder).map_err(|error| error.to_string())?;
    Ok(decoded.into_rgba8())
}

/// Compares red, green and blue.
fn picture(golden: &Golden, path: &Path, size_px: [u32; 2], rgba: &[u8]) -> Compared {
    let expected = pixels_of(path, size_px)?;
    let apart = |(a, b): (&[u8], &[u8])| [0, 1, 2].map(|at| a[at].abs_diff(b[at]));
    let pixels = rgba.chunks_exact(4).zip(expected.chunks_exact(4));
    let differences: Vec<[u8; 3]> = pixels.map(apart).collect();
    let count = differences.len().max(1) as f64;
    let mean = differences.iter().flatten().copied().map(f64::from).sum::<f64>() / (3.0 * count);
    let far = differences.iter().filter(|pixel| pixel.iter().any(|d| *d > FAR)).count();
    let share = far as f64 / count;
    let most = match golden.of {
        Kept::Image { outliers, .. } => outliers,
        Kept::Array { .. } => 0.0,
    };
    let told = format!(
        "mean difference {}, outliers {} (tolerance {}, outliers {})",
        Number(mean),
        Number(share),
        Number(golden.tolerance),
        Number(most)
    );
    let bright = differences.iter().flat_map(|pixel| {
        let [r, g, b] = pixel.map(|d| d.saturating_mul(BRIGHTER));
        [r, g, b, 255]
    });
    let difference = Actual::Picture { size_px, rgba: bright.collect() };
    let holds = mean <= golden.tolerance && share <= most;
    Ok((Comparison { holds, told }, Some(difference)))
}

/// Compares number by number, as numpy's `allclose` does, but NaN is as NaN was; those of structures by their fields.
fn array(golden: &Golden, path: &Path, npy: &[u8]) -> Compared {
    let limit = WIDER * npy.len() as u64 + HEADER_LIMIT;
    let content = file::read_regular(path, limit).map_err(|error| error.to_string())?;
    let (shape, expected) = npy::columns(&content)?;
    let (found_shape, mut found) = npy::columns(npy)?;
    if shape != found_shape {
        return Err(format!("its shape is {shape:?}, that of the array {found_shape:?}"));
    }
    let relative = match golden.of {
        Kept::Array { relative, .. } => relative,
        Kept::Image { .. } => 0.0,
    };
    let demand = match relative {
        0.0 => format!("tolerance {}", Number(golden.tolerance)),
        _ => format!("tolerance {}, relative {}", Number(golden.tolerance), Number(relative)),
    };
    let tolerances = [golden.tolerance, relative];
    let (mut count, mut off, mut greatest, mut first) = (0, 0, 0.0_f64, None);
    for (name, expected) in &expected {
        let own = found.iter().position(|(other, _)| other == name);
        let (_, own) = own.map(|at| found.swap_remove(at)).ok_or_else(|| unlike(name, "it"))?;
        if own.len() != expected.len() {
            return Err(format!(
                "it has {} numbers {name}, the array {}",
                expected.len(),
                own.len()
            ));
        }
        let differences = Differences::between(&own, expected, tolerances);
        count += expected.len();
        off += differences.off;
        greatest = greatest.max(differences.greatest);
        first = first.or_else(|| {
            let (at, [own, expected]) = (differences.first?, [&own, expected]);
            let numbers: usize = shape.iter().product();
            let each = expected.len() / numbers.max(1);
            // Of a field that has several, which one it is comes last.
            let axes: Vec<usize> =
                shape.iter().copied().chain((each > 1).then_some(each)).collect();
            let field = if name.is_empty() { String::new() } else { format!(" `{name}`") };
            Some(format!(
                "{:?}{field}: {}, not {}",
                place(at, &axes),
                shown(own, at),
                shown(expected, at)
            ))
        });
    }
    if let Some((name, _)) = found.first() {
        return Err(unlike(name, "the array"));
    }
    let told = match first {
        None => format!("greatest difference {} ({demand})", Number(greatest)),
        Some(first) => format!("{off} of {count} numbers differ, the first at {first} ({demand})"),
    };
    Ok((Comparison { holds: off == 0, told }, None))
}

/// That only `whose` structures have the field `name`, or that only one side has structures.
fn unlike(name: &str, whose: &str) -> String {
    match name {
        "" => "one of it and the array has structures, the other numbers".to_owned(),
        _ => format!("{whose} alone has the field `{name}`"),
    }
}

/// How numbers differ from those that are expected.
struct Differences {
    /// How many are too far away.
    off: usize,
    /// The place of the first of these.
    first: Option<usize>,
    greatest: f64,
}

impl Differences {
    fn between(
        found: &npy::Column<'_>,
        expected: &npy::Column<'_>,
        [tolerance, relative]: [f64; 2],
    ) -> Self {
        let apart = |at: usize| found.distance(at, expected);
        // Comparisons with NaN are false: what is no number is near nothing else, nor is what is infinite.
        let is_near = |at: &usize| match apart(*at) {
            0.0 => true,
            apart => {
                let allowed = tolerance + relative * expected.float(*at).abs();
                apart < f64::INFINITY && apart <= allowed
            }
        };
        let all = 0..expected.len();
        Self {
            off: all.clone().filter(|at| !is_near(at)).count(),
            first: all.clone().find(|at| !is_near(at)),
            greatest: all.map(apart).fold(0.0, f64::max),
        }
    }
}

fn shown(numbers: &npy::Column<'_>, at: usize) -> String {
    match numbers.integer(at) {
        Some(integer) => integer.to_string(),
        None => Number(numbers.float(at)).to_string(),
    }
}

/// The indices of element number `at` in C order.
fn place(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut indices: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&length| {
            let index = at % length.max(1);
            at /= length.max(1);
            index
        })
        .collect();
    indices.reverse();
    indices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        array::npy::Npy,
        cuda::Position,
        scene::{ResourceId, Scalar, ViewId},
    };

    fn golden(of: Kept, file: &str, tolerance: f64) -> Golden {
        Golden { of, file: file.to_owned(), after: None, tolerance, at: Position::default() }
    }

    fn file(values: &[f32]) -> Vec<u8> {
        Npy::of(Scalar::F32, &[values.len() / 2, 2], bytemuck::cast_slice(values)).to_vec()
    }

    /// A few kilobytes of a colour profile can become gigabytes.
    #[test]
    fn what_a_picture_carries_is_unpacked_within_a_limit() {
        use image::{ExtendedColorType, ImageDecoder as _, ImageEncoder as _};
        let unpacked = |profile_bytes: u64| {
            let mut content = Vec::new();
            let mut encoder = image::codecs::png::PngEncoder::new(&mut content);
            encoder.set_icc_profile(vec![0; profile_bytes as usize]).unwrap();
            encoder.write_image(&[7; 16], 2, 2, ExtendedColorType::Rgba8).unwrap();
            let profile = decoder(content, [2, 2])
                .and_then(|mut decoder| decoder.icc_profile().map_err(|error| error.to_string()));
            profile.ok().flatten().map_or(0, |profile| profile.len() as u64)
        };
        assert_eq!(unpacked(1000), 1000);
        assert_eq!(unpacked(4 * DECODED_LIMIT), 0);
    }

    #[test]
    fn arrays_are_compared_number_by_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        fs::write(&path, file(&[1.0, 2.0, f32::NAN, 100.0])).unwrap();
        let compared = |values: &[f32], tolerance, relative| {
            let of = Kept::Array { of: ResourceId(0), relative };
            let golden = golden(of, "a.npy", tolerance);
            let actual = Actual::Array(file(values));
            actual.compare(&golden, folder.path(), &folder.path().join("failed")).unwrap()
        };
        assert!(compared(&[1.0, 2.0, f32::NAN, 100.0], 0.0, 0.0).holds);
        assert!(!compared(&[1.0, 2.0, f32::NAN, f32::INFINITY], 0.5, 0.5).holds);
        assert!(compared(&[1.5, 2.5, f32::NAN, 100.5], 0.5, 0.0).holds);
        assert!(compared(&[1.0, 2.0, f32::NAN, 101.0], 0.0, 0.01).holds);
        let wrong = compared(&[1.0, 2.0, f32::NAN, 101.0], 0.5, 0.0);
        assert!(!wrong.holds);
        assert!(wrong.told.contains("1 of 4 numbers differ, the first at [1, 1]: 101, not 100"));
        assert!(folder.path().join("failed/a.actual.npy").exists());
        for values in [[1.0, 2.0, 3.0, 100.0], [1.0, f32::NAN, f32::NAN, 100.0]] {
            assert!(!compared(&values, 1e9, 1e9).holds, "NaN is near nothing: {values:?}");
        }
        assert!(
            compared(&[1.0, 2.0], 0.0, 0.0)
                .told
                .contains("its shape is [2, 2], that of the array [1, 2]")
        );
        let large =
            |values: [i64; 2]| Npy::of(Scalar::I64, &[2], bytemuck::cast_slice(&values)).to_vec();
        fs::write(&path, large([1 << 60, (1 << 60) + 1])).unwrap();
        let actual = Actual::Array(large([1 << 60, (1 << 60) + 2]));
        let golden = golden(Kept::Array { of: ResourceId(0), relative: 0.0 }, "a.npy", 0.0);
        let found = actual.compare(&golden, folder.path(), folder.path()).unwrap();
        assert!(!found.holds && found.told.contains("[1]: 1152921504606846978, not"), "{found:?}");
        fs::write(&path, file(&[1.0, f32::INFINITY])).unwrap();
        assert!(compared(&[1.0, f32::INFINITY], 0.0, 0.0).holds);
        for other in [5.0, f32::NEG_INFINITY, f32::NAN] {
            assert!(!compared(&[1.0, other], 0.5, 0.5).holds, "{other} is not infinite");
        }
    }

    #[test]
    fn pictures_are_compared_by_mean_and_outliers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let grey = |level: u8| [level, level, level, 255].repeat(100);
        record::png(&path, [10, 10], &grey(100)).unwrap();
        let compared = |rgba: Vec<u8>, tolerance, outliers| {
            let size_px = [10, 10];
            let view = ViewId::default();
            let of = Kept::Image { view, size_px, outliers, legend: false };
            let golden = golden(of, "a.png", tolerance);
            let actual = Actual::Picture { size_px: [10, 10], rgba };
            actual.compare(&golden, folder.path(), folder.path()).unwrap()
        };
        assert!(compared(grey(100), 0.0, 0.0).holds);
        assert!(compared(grey(102), 2.0, 0.0).holds);
        assert!(!compared(grey(103), 2.0, 0.0).holds);
        let mut one = grey(100);
        one[..3].fill(255);
        assert!(compared(one.clone(), 2.0, 0.01).holds, "one pixel of a hundred");
        assert!(!compared(one, 2.0, 0.009).holds);
        let difference = image::open(folder.path().join("a.difference.png")).unwrap().into_rgba8();
        assert_eq!((difference.get_pixel(0, 0)[0], difference.get_pixel(1, 0)[0]), (255, 0));
    }

    #[test]
    fn only_files_of_the_same_kind_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let array = Actual::Array(file(&[1.0, 2.0]));
        let picture = Actual::Picture { size_px: [1, 1], rgba: vec![0; 4] };
        let write =
            |actual: &Actual, name: &str| actual.write_below(folder.path(), Path::new(name));
        write(&array, "a.npy").unwrap();
        write(&array, "a.npy").unwrap();
        write(&picture, "a.png").unwrap();
        write(&picture, "a.png").unwrap();
        for (name, content) in [("b.npy", "int main;"), ("b.png", "\u{89}PNG"), ("c.npy", "")] {
            fs::write(folder.path().join(name), content).unwrap();
            let actual = if name.ends_with("png") { &picture } else { &array };
            let told = write(actual, name).unwrap_err().to_string();
            assert!(told.contains("and is not replaced by one"), "{told}");
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), content);
        }
    }

    #[test]
    fn a_picture_of_another_size_is_not_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        record::png(&path, [20, 10], &[0; 4 * 20 * 10]).unwrap();
        let mut png = fs::read(&path).unwrap();
        // Signature, head and the beginning of the pixels: to unpack these would be an error of its own.
        png.truncate(8 + 25 + 12);
        fs::write(&path, png).unwrap();
        assert_eq!(pixels_of(&path, [10, 10]).unwrap_err(), "it is 20x10, the picture 10x10");
        assert!(!pixels_of(&path, [20, 10]).unwrap_err().contains("20x10"));
    }
}
