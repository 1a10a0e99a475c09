//! Small pictures of scenes, which the program draws itself: each in a process of its own, one after the other, and
//! kept in a folder for the next time.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use egui::ColorImage;
use sha2::{Digest, Sha256};

use super::wake::Wake;

/// In pixels: twice the size of a card's picture, for screens with small pixels.
pub const SIZE: [u32; 2] = [384, 216];
/// How often a process is looked at.
const PAUSE: Duration = Duration::from_millis(60);

/// A scene to draw: the picture's name, the scene's text, and after how many steps.
pub type Sitter = (String, &'static str, u32);

/// Makes them; ends what it has begun when it is dropped.
pub struct Thumbnails {
    made: Receiver<(String, ColorImage)>,
    ends: Arc<AtomicBool>,
    /// The process that draws.
    process: Arc<Mutex<Option<Child>>>,
}

impl Thumbnails {
    /// Begins with those that `folder` does not have.
    pub fn make(folder: PathBuf, sitters: Vec<Sitter>, wake: Wake) -> Self {
        let (sender, made) = mpsc::channel();
        let ends = Arc::new(AtomicBool::new(false));
        let process = Arc::default();
        let studio =
            Studio { folder, sender, wake, ends: ends.clone(), process: Arc::clone(&process) };
        let begun = thread::Builder::new().name("thumbnails".into()).spawn(move || {
            // First those that are there.
            let (ready, missing): (Vec<_>, _) =
                sitters.into_iter().partition(|sitter| studio.file(sitter).exists());
            for sitter in ready.iter().chain(&missing) {
                if studio.ends.load(Ordering::Relaxed) {
                    return;
                }
                if let Err(error) = studio.sit(sitter) {
                    tracing::debug!("{}: no picture: {error}", sitter.0);
                }
            }
        });
        if let Err(error) = begun {
            tracing::warn!("the gallery has no pictures: {error}");
        }
        Self { made, ends, process }
    }

    /// Those that have been made since.
    pub fn take(&self) -> Vec<(String, ColorImage)> {
        self.made.try_iter().collect()
    }
}

impl Drop for Thumbnails {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // The thread has no time to do it where the window is closed.
        if let Some(child) = &mut *locked(&self.process) {
            let _ = child.kill().and_then(|()| child.wait());
        }
    }
}

/// What the thread has.
struct Studio {
    folder: PathBuf,
    sender: Sender<(String, ColorImage)>,
    wake: Wake,
    ends: Arc<AtomicBool>,
    process: Arc<Mutex<Option<Child>>>,
}

fn locked(process: &Mutex<Option<Child>>) -> MutexGuard<'_, Option<Child>> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Studio {
    /// Where a picture is: another text, or another version of the program, has another file.
    fn file(&self, (name, source, steps): &Sitter) -> PathBuf {
        let text = format!("{}\n{steps}\n{source}", env!("CARGO_PKG_VERSION"));
        let digest = Sha256::digest(text);
        let mark: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{name}-{mark}.png"))
    }

    fn sit(&self, sitter: &Sitter) -> io::Result<()> {
        let file = self.file(sitter);
        if !file.exists() {
            self.draw(sitter, &file)?;
        }
        let image = image::open(&file).map_err(io::Error::other)?.into_rgb8();
        let size = [image.width() as usize, image.height() as usize];
        if self.sender.send((sitter.0.clone(), ColorImage::from_rgb(size, image.as_raw()))).is_ok()
        {
            (self.wake)();
        }
        Ok(())
    }

    /// Lets the program render the scene into `file`.
    fn draw(&self, (name, source, steps): &Sitter, file: &Path) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let place = tempfile::Builder::new().prefix(".drawing-").tempdir_in(&self.folder)?;
        let (scene, drawn) =
            (place.path().join(format!("{name}.cu")), place.path().join("drawn.png"));
        fs::write(&scene, source)?;
        let mut process = Command::new(std::env::current_exe()?);
        process.arg("render").arg(&scene).arg("--out").arg(&drawn);
        process.args(["--steps", &steps.to_string(), "--step-timeout", "20"]);
        process.args(["--size", &format!("{}x{}", SIZE[0], SIZE[1])]);
        process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        {
            let mut place = locked(&self.process);
            if self.ends.load(Ordering::Relaxed) {
                return Err(io::Error::other("the window was closed"));
            }
            *place = Some(process.spawn()?);
        }
        self.wait()?;
        fs::rename(drawn, file)
    }

    fn wait(&self) -> io::Result<()> {
        loop {
            let mut place = locked(&self.process);
            let Some(child) = &mut *place else { return Ok(()) };
            if let Some(status) = child.try_wait()? {
                *place = None;
                let ended = || io::Error::other(format!("it ended with {status}"));
                return if status.success() { Ok(()) } else { Err(ended()) };
            }
            drop(place);
            thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_picture_that_is_kept_is_taken_and_another_text_has_another() {
        let folder = tempfile::tempdir().unwrap();
        let (sender, made) = mpsc::channel();
        let studio = Studio {
            folder: folder.path().to_owned(),
            sender,
            wake: Arc::new(|| {}),
            ends: Arc::default(),
            process: Arc::default(),
        };
        let sitter = ("a".to_owned(), "text", 3);
        let file = studio.file(&sitter);
        assert_ne!(file, studio.file(&("a".to_owned(), "other", 3)));
        assert_ne!(file, studio.file(&("a".to_owned(), "text", 4)));
        image::RgbImage::from_pixel(4, 2, image::Rgb([255, 0, 7])).save(&file).unwrap();
        studio.sit(&sitter).unwrap();
        let (name, image) = made.try_recv().unwrap();
        assert_eq!((name.as_str(), image.size), ("a", [4, 2]));
        assert_eq!(image.pixels[0].to_array(), [255, 0, 7, 255]);
    }
}
