//! Paths in JSON: text where they are UTF-8, else their bytes, for a file's name may be any bytes but JSON's text may
//! not. To be named by `#[serde(with = ...)]`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};

/// A path as it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Written {
    Text(String),
    Bytes(Vec<u8>),
}

/// A path, or several.
pub(crate) trait Paths: Sized {
    type Written: Serialize + DeserializeOwned;

    fn written(&self) -> Self::Written;
    fn read(written: Self::Written) -> Self;
}

impl Paths for PathBuf {
    type Written = Written;

    fn written(&self) -> Written {
        match self.to_str() {
            Some(text) => Written::Text(text.to_owned()),
            None => Written::Bytes(bytes_of(self)),
        }
    }

    fn read(written: Written) -> Self {
        match written {
            Written::Text(text) => text.into(),
            Written::Bytes(bytes) => of_bytes(bytes),
        }
    }
}

impl<P: Paths> Paths for Option<P> {
    type Written = Option<P::Written>;

    fn written(&self) -> Self::Written {
        self.as_ref().map(P::written)
    }

    fn read(written: Self::Written) -> Self {
        written.map(P::read)
    }
}

impl<P: Paths> Paths for Vec<P> {
    type Written = Vec<P::Written>;

    fn written(&self) -> Self::Written {
        self.iter().map(P::written).collect()
    }

    fn read(written: Self::Written) -> Self {
        written.into_iter().map(P::read).collect()
    }
}

impl<P: Paths> Paths for BTreeMap<String, P> {
    type Written = BTreeMap<String, P::Written>;

    fn written(&self) -> Self::Written {
        self.iter().map(|(name, path)| (name.clone(), path.written())).collect()
    }

    fn read(written: Self::Written) -> Self {
        written.into_iter().map(|(name, path)| (name, P::read(path))).collect()
    }
}

#[cfg(unix)]
fn bytes_of(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_owned()
}

#[cfg(unix)]
fn of_bytes(bytes: Vec<u8>) -> PathBuf {
    <std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes).into()
}

/// Elsewhere such a path is no sequence of bytes that another process may be given.
#[cfg(not(unix))]
fn bytes_of(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

#[cfg(not(unix))]
fn of_bytes(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

pub(crate) fn serialize<P: Paths, S: Serializer>(paths: &P, to: S) -> Result<S::Ok, S::Error> {
    paths.written().serialize(to)
}

pub(crate) fn deserialize<'de, P: Paths, D: Deserializer<'de>>(from: D) -> Result<P, D::Error> {
    P::Written::deserialize(from).map(P::read)
}

#[cfg(all(test, unix))]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Kept {
        #[serde(with = "super")]
        one: Option<PathBuf>,
        #[serde(with = "super")]
        list: Vec<PathBuf>,
        #[serde(with = "super")]
        named: BTreeMap<String, PathBuf>,
    }

    #[test]
    fn names_of_any_bytes_are_read_as_they_were() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/data/l\xff.npy"));
        let list = vec![PathBuf::from("/inc/\u{e4}"), odd.clone()];
        let kept = Kept { one: Some(odd.clone()), list, named: [("x".to_owned(), odd)].into() };
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Kept>(&text).unwrap(), kept);
        // What was written before has text alone.
        let before = r#"{"one": null, "list": ["/inc"], "named": {"x": "a.npy"}}"#;
        let named = [("x".to_owned(), PathBuf::from("a.npy"))].into();
        let expected = Kept { one: None, list: vec!["/inc".into()], named };
        assert_eq!(serde_json::from_str::<Kept>(before).unwrap(), expected);
    }
}
