//! The words of instructions on matrices.

use super::{Modifier, Text, Words};
use crate::ptx::matrix::{BitOp, Element, MatrixAccess, Product, Role, Shape, Tiles};

impl Modifier for Shape {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        words.find(Self::parse)
    }

    fn put(&self, text: &mut Text) {
        text.word(&self.to_string());
    }
}

impl Modifier for Tiles {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let count = words.find(|word| match word {
            "x1" => Some(1),
            "x2" => Some(2),
            "x4" => Some(4),
            _ => None,
        })?;
        Some(Self { count, trans: words.flag("trans"), space: Modifier::take(words)? })
    }

    fn put(&self, text: &mut Text) {
        text.word(&format!("x{}", self.count)).flag(self.trans, "trans").put(&self.space);
    }
}

impl Modifier for MatrixAccess {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        // What is stored is a result, which has the shape of what is added.
        let stored = words.flag("d");
        let role = if stored { Role::C } else { words.find(Role::parse)? };
        (words.flag("sync") && words.flag("aligned")).then_some(())?;
        Some(Self {
            role,
            stored,
            major: Modifier::take(words)?,
            shape: Modifier::take(words)?,
            space: Modifier::take(words)?,
            element: Modifier::take(words)?,
        })
    }

    fn put(&self, text: &mut Text) {
        text.word(if self.stored { "d" } else { self.role.text() }).word("sync").word("aligned");
        text.put(&self.major).put(&self.shape).put(&self.space).put(&self.element);
    }
}

/// `.xor.popc`
fn put_bit_op(text: &mut Text, op: Option<BitOp>) {
    text.put(&op).flag(op.is_some(), "popc");
}

impl Modifier for Product {
    fn take(words: &mut Words<'_>) -> Option<Self> {
        let wmma = words.flag("wmma");
        (words.flag("mma") && words.flag("sync") && words.flag("aligned")).then_some(())?;
        let shape = Modifier::take(words)?;
        let majors = [Modifier::take(words)?, Modifier::take(words)?];
        let (satfinite, rounding) = (words.flag("satfinite"), Modifier::take(words)?);
        let bit_op: Option<BitOp> = Modifier::take(words)?;
        (bit_op.is_none() || words.flag("popc")).then_some(())?;
        let elements: Vec<Element> =
            std::iter::from_fn(|| words.find(Element::parse)).take(4).collect();
        let elements = match elements[..] {
            [d, a, b, c] => [d, a, b, c],
            // The factors are halves where nothing is said of them.
            [d, c] if wmma => [d, Element::F16, Element::F16, c],
            _ => return None,
        };
        Some(Self { wmma, shape, majors, elements, satfinite, rounding, bit_op })
    }

    fn put(&self, text: &mut Text) {
        let [a, b] = self.majors;
        if self.wmma {
            text.word("wmma.mma");
            put_bit_op(text, self.bit_op);
            text.word("sync.aligned").put(&a).put(&b).put(&self.shape).put(&self.rounding);
        } else {
            text.word("mma.sync.aligned").put(&self.shape).put(&a).put(&b);
            text.flag(self.satfinite, "satfinite");
        }
        let implied = self.wmma && self.elements[1] == Element::F16;
        for (at, element) in self.elements.iter().enumerate() {
            if !implied || matches!(at, 0 | 3) {
                text.put(element);
            }
        }
        match self.wmma {
            true => _ = text.flag(self.satfinite, "satfinite"),
            false => put_bit_op(text, self.bit_op),
        }
    }
}
