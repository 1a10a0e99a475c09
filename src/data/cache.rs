//! Files that were read, and are read again only when they have changed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{Error, Found, Result, Wanted, read};
use crate::{
    file::{self, Stamp},
    machine,
};

/// What was found in files. As long as a file is as it was, it is the same [`Arc`].
#[derive(Debug)]
pub(crate) struct Cache {
    known: BTreeMap<PathBuf, Vec<Known>>,
    /// Bytes of all that was asked for since the last [`Cache::sweep`].
    used: u64,
    /// The most that they may be.
    room: u64,
}

impl Default for Cache {
    fn default() -> Self {
        Self { known: BTreeMap::new(), used: 0, room: machine::memory_bytes() / 2 }
    }
}

#[derive(Debug)]
struct Known {
    wanted: Wanted,
    stamp: Option<Stamp>,
    found: Arc<Found>,
    /// Whether somebody has asked for it since the last [`Cache::sweep`].
    is_used: bool,
}

/// A file that is younger than this may be written once more without a later time: clocks of disks tick slowly, that of
/// FAT every two seconds.
const TICK: Duration = Duration::from_secs(3);

/// `None` where it could not tell the next change.
fn settled(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    let is_settled = file::age(&metadata)? >= TICK;
    is_settled.then(|| Stamp::from(&metadata))?
}

impl Cache {
    /// What is wanted of the file at `path`.
    ///
    /// # Errors
    /// Those of [`read`], and [`Error::Room`].
    pub(crate) fn get(&mut self, path: &Path, wanted: &Wanted) -> Result<Arc<Found>> {
        self.take_room(wanted)?;
        // Before it is read: what comes meanwhile is seen the next time.
        let stamp = settled(path);
        let of_file = self.known.entry(path.to_owned()).or_default();
        let before = of_file.iter().position(|known| known.wanted == *wanted);
        if let Some(known) = before.and_then(|index| of_file.get_mut(index))
            && known.stamp.is_some()
            && known.stamp == stamp
        {
            known.is_used = true;
            return Ok(known.found.clone());
        }
        let found = read(path, wanted)?;
        let before = before.map(|index| of_file.swap_remove(index).found);
        // Written again, but the same.
        let same = before.filter(|before| **before == found);
        let found = same.unwrap_or_else(|| Arc::new(found));
        of_file.push(Known { wanted: wanted.clone(), stamp, found: found.clone(), is_used: true });
        Ok(found)
    }

    /// Counts what is made otherwise to what is asked for.
    ///
    /// # Errors
    /// [`Error::Room`].
    pub(crate) fn take_room(&mut self, wanted: &Wanted) -> Result<()> {
        let bytes = self.used.saturating_add(wanted.bytes());
        if bytes > self.room {
            return Err(Error::Room { bytes, room: self.room });
        }
        self.used = bytes;
        Ok(())
    }

    /// Forgets what nobody has asked for since the last time.
    pub(crate) fn sweep(&mut self) {
        self.used = 0;
        self.known.retain(|_, of_file| {
            of_file.retain_mut(|known| std::mem::take(&mut known.is_used));
            !of_file.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::{
        data::Shape,
        element::{Element, Scalar, Type},
    };

    const BYTES: Wanted = Wanted {
        of: Type::Element(Element::scalar(Scalar::U8)),
        shape: Shape::Row(3),
        raw: Some(Scalar::U8),
    };

    #[test]
    fn a_file_is_read_again_when_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut cache = Cache::default();
        fs::write(&path, [1, 2, 3]).unwrap();
        assert_eq!(settled(&path), None, "it may be written again at once");
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_modified(long_ago).unwrap();
        assert!(settled(&path).is_some());
        let first = cache.get(&path, &BYTES).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.get(&path, &BYTES).unwrap()));
        fs::write(&path, [4, 5, 6]).unwrap();
        assert_eq!(*cache.get(&path, &BYTES).unwrap(), Found::All(vec![4, 5, 6]));
        cache.sweep();
        assert_eq!(cache.known.len(), 1);
        cache.sweep();
        assert!(cache.known.is_empty(), "nobody has asked for it since");
    }

    #[test]
    fn all_files_together_have_so_much_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, [1, 2, 3]).unwrap();
        let mut cache = Cache { room: 7, ..Cache::default() };
        for _ in 0..2 {
            assert!(cache.get(&path, &BYTES).is_ok() && cache.get(&path, &BYTES).is_ok());
            let refused = cache.get(&path, &BYTES);
            assert!(matches!(refused, Err(Error::Room { bytes: 9, room: 7 })), "{refused:?}");
            assert!(matches!(cache.take_room(&BYTES), Err(Error::Room { bytes: 9, room: 7 })));
            // The next scene begins with nothing.
            cache.sweep();
        }
    }
}
