//! Files that a scene names: they lie in its folder or below it, whatever links say.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::stays_below;

/// So many folders lie between at most, for each is made and looked at.
const DEEPEST: usize = 32;

/// The file that is called `name` below `folder`, behind links that do not leave it.
///
/// # Errors
/// `NotFound`, `PermissionDenied` where it lies elsewhere, and whatever the system says.
#[cfg(feature = "cli")]
pub(crate) fn find_below(folder: &Path, name: &Path) -> io::Result<PathBuf> {
    let root = root(folder)?;
    let path = fs::canonicalize(root.join(name))?;
    must_be_below(&root, path)
}

/// Where a file called `name` is written below `folder`; the folders between are made. What is there is a regular file
/// with one of the names that its content has, no link.
///
/// # Errors
/// `PermissionDenied` where that lies elsewhere, `AlreadyExists` for what is no file, and whatever the system says.
pub(crate) fn place_below(folder: &Path, name: &Path) -> io::Result<PathBuf> {
    let mut place = root(folder)?;
    let root = place.clone();
    let file_name = name.file_name().filter(|_| stays_below(name));
    let file_name = file_name.ok_or_else(|| leaves(name))?;
    if name.components().count() > DEEPEST {
        let text = format!("it lies more than {DEEPEST} folders deep");
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, text));
    }
    for part in name.parent().into_iter().flat_map(Path::components) {
        place.push(part);
        if let Err(error) = fs::create_dir(&place)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error);
        }
        place = must_be_below(&root, fs::canonicalize(&place)?)?;
    }
    place.push(file_name);
    match fs::symlink_metadata(&place) {
        Ok(there) if there.is_symlink() => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "it is a symbolic link, which is not followed for a scene's sake",
        )),
        Ok(there) if !there.is_file() => {
            Err(io::Error::new(io::ErrorKind::AlreadyExists, "what is there is no file"))
        }
        Ok(_) => Ok(place),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(place),
        Err(error) => Err(error),
    }
}

fn root(folder: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

fn must_be_below(root: &Path, path: PathBuf) -> io::Result<PathBuf> {
    if path.starts_with(root) { Ok(path) } else { Err(leaves(&path)) }
}

fn leaves(path: &Path) -> io::Error {
    let text = format!("{} is not below the scene's folder", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn no_link_leads_out() {
        use std::os::unix::fs::symlink;
        let [inside, outside] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let (folder, other) = (inside.path(), outside.path());
        fs::write(other.join("there.npy"), "").unwrap();
        fs::create_dir(folder.join("kept")).unwrap();
        fs::write(folder.join("kept/a.npy"), "").unwrap();
        symlink(other, folder.join("out")).unwrap();
        symlink(other.join("there.npy"), folder.join("link.npy")).unwrap();
        symlink("kept", folder.join("within")).unwrap();

        let place = |name: &str| place_below(folder, Path::new(name));
        let kept = fs::canonicalize(folder.join("kept/a.npy")).unwrap();
        assert_eq!(place("kept/a.npy").unwrap(), kept);
        assert_eq!(place("within/a.npy").unwrap(), kept);
        assert!(place(&format!("{}a.npy", "d/".repeat(31))).is_ok());
        assert!(place(&format!("{}a.npy", "d/".repeat(32))).is_err());
        assert!(place("new/er/a.npy").unwrap().parent().unwrap().is_dir());
        for name in ["out/a.npy", "out/new/a.npy", "link.npy", "../a.npy", "/a.npy", "kept"] {
            assert!(place(name).is_err(), "{name}");
        }
        assert_eq!(fs::read_dir(other).unwrap().count(), 1, "nothing was made elsewhere");

        let find = |name: &str| find_below(folder, Path::new(name)).map_err(|error| error.kind());
        assert_eq!(find("within/a.npy"), Ok(kept));
        assert_eq!(find("nowhere.npy"), Err(io::ErrorKind::NotFound));
        for name in ["out/there.npy", "link.npy"] {
            assert_eq!(find(name), Err(io::ErrorKind::PermissionDenied), "{name}");
        }
    }
}
