//! Classes of CUDA C++ that the kernel is made of.

use std::fmt;

/// A class of `warpaint`, with its arguments where it is a template's.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Class {
    name: &'static str,
    /// An empty one is none, and behind it are no others.
    arguments: [&'static str; 3],
}

impl Class {
    pub(super) fn new(name: &'static str, arguments: [&'static str; 3]) -> Self {
        Self { name, arguments }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warpaint::{}", self.name)?;
        let arguments = self.arguments.iter().filter(|argument| !argument.is_empty());
        for (number, argument) in arguments.clone().enumerate() {
            write!(f, "{}{argument}", if number == 0 { "<" } else { ", " })?;
        }
        if arguments.count() > 0 { f.write_str(">") } else { Ok(()) }
    }
}
