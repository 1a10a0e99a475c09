//! What the system says of files, in plain words.

use std::io::{self, ErrorKind};

/// Why a file cannot be read or written, as the end of a sentence: `there is no such folder`.
pub fn told(error: &io::Error) -> String {
    let text = error.to_string();
    // What the program says by itself is plain.
    let Some(system) = text.find(" (os error ") else { return text };
    let words = match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder",
        ErrorKind::PermissionDenied => "you have no right to do that there",
        ErrorKind::ReadOnlyFilesystem => "what is there can only be read",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "there is no room left on the disk",
        ErrorKind::IsADirectory => "that is a folder",
        ErrorKind::NotADirectory => "a part of the path is a file and not a folder",
        ErrorKind::InvalidFilename => "the system takes no such name",
        _ => &text[..system],
    };
    words.to_owned()
}

/// The same for a file that is written: what is missing then is its folder.
pub fn told_of_writing(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound if error.to_string().contains("(os error ") => {
            "there is no such folder, or nothing can be written to it".to_owned()
        }
        _ => told(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_numbers_are_left_out() {
        let missing = io::Error::from_raw_os_error(2);
        assert_eq!(told(&missing), "there is no such file or folder");
        assert!(told_of_writing(&missing).contains("no such folder"));
        let draft = "Too many links (os error 31) at path \"/proc/.warpaint-draft-x.tmp\"";
        assert_eq!(told(&io::Error::other(draft)), "Too many links");
        assert_eq!(told(&io::Error::other("it is not UTF-8 text")), "it is not UTF-8 text");
    }
}
