//! What decides a case, as text: so that one can be tried again.

use std::fmt;

use warpaint::device::cpu::Lanes;

/// How a child is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub lanes: Lanes,
    pub cores: usize,
}

pub const SETTINGS: [Setting; 4] = [
    Setting { lanes: Lanes::Always, cores: 1 },
    Setting { lanes: Lanes::WhereFaster, cores: 2 },
    Setting { lanes: Lanes::Never, cores: 1 },
    Setting { lanes: Lanes::Always, cores: 2 },
];

impl Setting {
    pub fn parse(text: &str) -> Option<Self> {
        SETTINGS.into_iter().find(|setting| setting.to_string() == text)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lanes = match self.lanes {
            Lanes::Always => "always",
            Lanes::WhereFaster => "auto",
            Lanes::Never => "never",
        };
        write!(f, "{lanes}-{}", self.cores)
    }
}

/// The number of cases written by hand: their arguments are arrays of zeros and zeros, for 64 threads.
pub const PLAIN: u64 = u64::MAX;

/// A module, and the number that arguments and shape follow from.
#[derive(Clone, Debug)]
pub struct Case {
    pub number: u64,
    pub text: String,
}

impl Case {
    /// Reads what [`Case::with`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let number = text.lines().find_map(|line| line.strip_prefix("// case "))?;
        Some(Self { number: number.split(' ').next()?.parse().ok()?, text: text.to_owned() })
    }

    /// The case as a file, with remarks in front.
    pub fn with(&self, remarks: &str) -> String {
        let remarks: String = remarks.lines().map(|line| format!("// {line}\n")).collect();
        format!("// case {}\n{remarks}{}", self.number, self.text)
    }
}
