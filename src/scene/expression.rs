//! Arithmetic over constants: `+ - * /` and parentheses.

/// A number of a manifest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
}
