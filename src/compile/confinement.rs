//! The files that a compilation may open, which the system's kernel holds it to.
//!
//! Enters: folders, and a function that compiles. Leaves: what the function returns. Must not know: `cuda`,
//! `scene`, `session`.
//!
//! `compile::includes` reads a source as the compiler would, and refuses what leads out of its reach with the place and
//! the reason. It may read something otherwise than the compiler does. So the compiler runs in a thread that
//! *Landlock* (Linux 5.13 and newer, `landlock(7)`) lets open nothing else: what was overlooked is a file that cannot
//! be opened. Where the system has no Landlock, the reading alone decides.

use std::{io, panic, thread};

use serde::{Deserialize, Serialize};

/// The stack of the thread, in bytes: as large as that of a process's first one usually is.
const STACK_BYTES: usize = 8 << 20;

/// What a compilation may open, beside files that are open already: folders, whose names need not be text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Confinement {
    /// The user's, from which files may be read. What lies elsewhere is not opened, though links lead to it.
    pub own: Vec<Vec<u8>>,
    /// The toolkit's, from which files may be read, also through links to elsewhere.
    pub toolkit: Vec<Vec<u8>>,
    /// Those in which files may be written, too.
    pub written: Vec<Vec<u8>>,
}

impl Confinement {
    /// Runs `compile` so confined.
    ///
    /// # Errors
    /// The system's, when there can be no further thread.
    pub(super) fn run<T: Send>(&self, compile: impl FnOnce() -> T + Send) -> io::Result<T> {
        // A thread never gets rid of its confinement, nor does any that it starts. So it does one thing and ends.
        let confined = || {
            #[cfg(target_os = "linux")]
            self.enter();
            compile()
        };
        thread::scope(|scope| {
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            let thread = builder.spawn_scoped(scope, confined)?;
            Ok(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
        })
    }
}

#[cfg(target_os = "linux")]
mod landlocked {
    use std::{
        ffi::OsStr,
        fs,
        os::unix::ffi::OsStrExt,
        path::{Path, PathBuf},
    };

    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetError, RulesetStatus, path_beneath_rules,
    };

    use super::Confinement;

    impl Confinement {
        /// Confines this thread for as long as it lives, where the system can.
        pub(super) fn enter(&self) {
            match self.restrict() {
                Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => {}
                Ok(RulesetStatus::NotEnforced) => tracing::debug!("the system has no Landlock"),
                Err(error) => tracing::debug!(%error, "the compiler is not confined"),
            }
        }

        fn restrict(&self) -> Result<RulesetStatus, RulesetError> {
            // What later versions know besides (devices, sockets, signals) is nothing that a source could ask for.
            let all = AccessFs::from_all(ABI::V3);
            let read = AccessFs::ReadFile | AccessFs::ReadDir;
            let own = self.own.iter().map(|folder| path(folder));
            let toolkit = self.toolkit.iter().flat_map(|folder| with_links(path(folder)));
            let written = self.written.iter().map(|folder| path(folder));
            // Folders that are not there are passed over.
            let status = Ruleset::default()
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(all)?
                .create()?
                .add_rules(path_beneath_rules(own, read))?
                .add_rules(path_beneath_rules(toolkit, read))?
                .add_rules(path_beneath_rules(written, all))?
                .restrict_self()?;
            Ok(status.ruleset)
        }
    }

    /// A folder and the links in it. A rule is for what they lead to: some toolkits are folders of links to the
    /// packages that they are made of.
    fn with_links(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let links = entries.filter(is_link).map(|entry| entry.path());
        [folder.to_owned()].into_iter().chain(links).collect()
    }

    fn path(bytes: &[u8]) -> &Path {
        OsStr::from_bytes(bytes).as_ref()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path};

    use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};

    use super::*;

    fn is_available() -> bool {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
    }

    #[test]
    fn a_thread_opens_what_its_confinement_holds() {
        let temp = tempfile::tempdir().unwrap();
        let path = |name: &str| temp.path().join(name);
        for folder in ["own/sub", "toolkit", "package", "written", "elsewhere"] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        for file in ["own/a", "own/sub/b", "toolkit/c", "package/d", "elsewhere/e"] {
            fs::write(path(file), "text").unwrap();
        }
        symlink("../elsewhere/e", path("own/link")).unwrap();
        symlink("../package", path("toolkit/link")).unwrap();
        let folder = |name: &str| vec![path(name).as_os_str().as_encoded_bytes().to_owned()];
        let confinement = Confinement {
            own: [folder("own"), folder("missing")].concat(),
            toolkit: folder("toolkit"),
            written: folder("written"),
        };
        let reads = |name: &str| fs::read(path(name)).is_ok();
        let writes = |name: &str| fs::write(path(name), "text").is_ok();
        let found = confinement.run(|| {
            let read =
                ["own/a", "own/sub/b", "toolkit/c", "toolkit/link/d", "package/d"].map(reads);
            let not_read = ["own/link", "elsewhere/e", "own/../elsewhere/e"].map(reads);
            let not_written = ["own/a", "own/new", "toolkit/c", "elsewhere/new"].map(writes);
            let system = Path::new("/etc/passwd");
            (read, not_read, not_written, writes("written/new"), fs::File::open(system).is_ok())
        });
        // Where the system has no Landlock everything is open.
        let is_open = !is_available();
        let expected = ([true; 5], [is_open; 3], [is_open; 4], true, is_open);
        assert_eq!(found.unwrap(), expected);
        // No other thread is confined.
        assert!(reads("elsewhere/e") && writes("own/new"));
    }
}
