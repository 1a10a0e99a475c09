//! The operators that C has between two operands: how they are written, and how tightly they bind.

use super::comparison::Comparison;

/// An operator that takes the values of both operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    BitOr,
    BitXor,
    BitAnd,
    Compare(Comparison),
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// What stands between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    And,
    Operator(Operator),
}

/// All of them; what another one begins with stands behind that.
const ALL: [Binary; 18] = [
    Binary::Or,
    Binary::And,
    Binary::Operator(Operator::Compare(Comparison::Equal)),
    Binary::Operator(Operator::Compare(Comparison::NotEqual)),
    Binary::Operator(Operator::ShiftLeft),
    Binary::Operator(Operator::ShiftRight),
    Binary::Operator(Operator::Compare(Comparison::LessEqual)),
    Binary::Operator(Operator::Compare(Comparison::GreaterEqual)),
    Binary::Operator(Operator::BitOr),
    Binary::Operator(Operator::BitXor),
    Binary::Operator(Operator::BitAnd),
    Binary::Operator(Operator::Compare(Comparison::Less)),
    Binary::Operator(Operator::Compare(Comparison::Greater)),
    Binary::Operator(Operator::Add),
    Binary::Operator(Operator::Subtract),
    Binary::Operator(Operator::Multiply),
    Binary::Operator(Operator::Divide),
    Binary::Operator(Operator::Remainder),
];

impl Operator {
    /// How it is written.
    pub(super) const fn spelling(self) -> &'static str {
        match self {
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::BitAnd => "&",
            Self::Compare(comparison) => comparison.spelling(),
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }

    /// How tightly it binds: more than those of smaller numbers.
    pub(super) const fn binding(self) -> u8 {
        match self {
            Self::BitOr => 3,
            Self::BitXor => 4,
            Self::BitAnd => 5,
            Self::Compare(comparison) if comparison.is_equality() => 6,
            Self::Compare(_) => 7,
            Self::ShiftLeft | Self::ShiftRight => 8,
            Self::Add | Self::Subtract => 9,
            Self::Multiply | Self::Divide | Self::Remainder => 10,
        }
    }
}

impl Binary {
    /// The first of those that a text may begin with, given whether it begins with a spelling.
    pub(super) fn at_start(begins_with: impl Fn(&str) -> bool) -> Option<Self> {
        ALL.into_iter().find(|binary| begins_with(binary.spelling()))
    }

    /// How it is written.
    pub(super) const fn spelling(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Operator(operator) => operator.spelling(),
        }
    }

    /// As [`Operator::binding`].
    pub(super) const fn binding(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Operator(operator) => operator.binding(),
        }
    }

    /// Whether it compares.
    pub(super) const fn compares(self) -> bool {
        matches!(self, Self::Operator(Operator::Compare(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_read_as_itself() {
        for binary in ALL {
            let text = format!("{}x", binary.spelling());
            assert_eq!(Binary::at_start(|spelling| text.starts_with(spelling)), Some(binary));
        }
        assert_eq!(Binary::at_start(|spelling| "=".starts_with(spelling)), None);
    }
}
