//! A table as a file.

use std::{io, io::Write as _, ops::Range};

use super::{content::Content, rows::Rows};
use crate::scene::Number;

/// Floating-point numbers that are written without an exponent.
const PLAIN: Range<f64> = 1e-5..1e16;

/// What a table is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Numbers with commas between.
    Csv,
    /// numpy's file of an array.
    Npy,
}

impl Content {
    /// These elements as text with commas, the names of the columns first.
    ///
    /// # Errors
    /// Whatever the system says about writing.
    pub fn write_csv(&self, rows: &Rows, to: &mut dyn io::Write) -> io::Result<()> {
        let mut to = io::BufWriter::new(to);
        writeln!(to, "index,{}", self.names.join(","))?;
        for row in 0..rows.count(self) {
            let element = rows.element(row);
            write!(to, "{element}")?;
            for column in 0..self.columns.len() {
                match self.number(element, column) {
                    Number::Float(number) if PLAIN.contains(&number.abs()) || number == 0.0 => {
                        write!(to, ",{number}")
                    }
                    // With all their zeros such numbers have up to 300 digits.
                    Number::Float(number) if number.is_finite() => write!(to, ",{number:e}"),
                    number @ (Number::Int(_) | Number::Float(_) | Number::Bool(_)) => {
                        write!(to, ",{number}")
                    }
                }?;
            }
            writeln!(to)?;
        }
        to.flush()
    }
}
