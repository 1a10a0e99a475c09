//! The standard output of the process: the driver of an NVIDIA GPU prints to it what kernels print.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    os::fd::{AsFd as _, OwnedFd},
    thread,
};

use rustix::stdio::dup2_stdout;

/// What goes to the standard output goes to somebody else, too, until this is dropped.
#[derive(Debug)]
pub struct StandardOutput {
    /// Where it led before.
    own: OwnedFd,
}

impl StandardOutput {
    /// Lets `take` have all that is printed from now on, in parts as they come.
    ///
    /// # Errors
    /// The system's.
    pub fn listen(take: impl Fn(&str) + Send + 'static) -> io::Result<Self> {
        let own = io::stdout().as_fd().try_clone_to_owned()?;
        let (mut reader, writer) = io::pipe()?;
        let mut through = File::from(own.try_clone()?);
        let work = move || {
            let mut bytes = [0; 1 << 12];
            while let Ok(length @ 1..) = reader.read(&mut bytes) {
                let part = bytes.get(..length).unwrap_or_default();
                // Where nobody reads it, as behind a closed terminal, the window shows it all the same.
                let _ = through.write_all(part);
                take(&String::from_utf8_lossy(part));
            }
        };
        thread::Builder::new().name("printed".to_owned()).spawn(work)?;
        dup2_stdout(writer)?;
        Ok(Self { own })
    }
}

impl Drop for StandardOutput {
    fn drop(&mut self) {
        // What the C library still holds is written when the process ends.
        let _ = dup2_stdout(&self.own);
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    #[test]
    fn what_is_printed_is_heard_until_nobody_listens() {
        let (sender, receiver) = mpsc::channel();
        let listening = StandardOutput::listen(move |text| drop(sender.send(text.to_owned())));
        let listening = listening.unwrap();
        let print = |text: &str| {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).unwrap();
            out.flush().unwrap();
        };
        let hears = |text: &str| {
            // Other tests print, too.
            let mut heard = String::new();
            while let Ok(part) = receiver.recv_timeout(Duration::from_secs(2)) {
                heard += &part;
                if heard.contains(text) {
                    return true;
                }
            }
            false
        };
        print("a kernel's word\n");
        assert!(hears("a kernel's word\n"));
        drop(listening);
        print("nobody's word\n");
        assert!(!hears("nobody's word\n"));
    }
}
