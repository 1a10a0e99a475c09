//! Names as the source spells them, told from those that the compiler gives to kernels.

use std::borrow::Cow;

/// What the source calls a function that has this name in PTX (Itanium C++ ABI, 5.1 "External Names"):
/// `field::advance` for `_ZN5field7advanceEPf`, `fill<float, 3>` for `_Z4fillIfLi3EEvPT_`. Names that say more stay as
/// they are.
pub(super) fn spelled(name: &str) -> Cow<'_, str> {
    if name.len() > LONGEST {
        return Cow::Borrowed(name);
    }
    let read = |encoded| Reader(encoded).name();
    name.strip_prefix("_Z").and_then(read).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Names that are longer are not read: an argument that has arguments takes stack.
const LONGEST: usize = 4096;

/// The types that have a letter.
const TYPES: [(&str, &str); 14] = [
    ("b", "bool"),
    ("c", "char"),
    ("a", "signed char"),
    ("h", "unsigned char"),
    ("s", "short"),
    ("t", "unsigned short"),
    ("i", "int"),
    ("j", "unsigned"),
    ("l", "long"),
    ("m", "unsigned long"),
    ("x", "long long"),
    ("y", "unsigned long long"),
    ("f", "float"),
    ("d", "double"),
];

/// The part of a name that was not read yet.
struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    fn eat(&mut self, prefix: &str) -> bool {
        let rest = self.0.strip_prefix(prefix);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// `5field`, with what stands before its end `E` where it is nested: `N5field7advanceE`.
    fn name(&mut self) -> Option<String> {
        if !self.eat("N") {
            return self.part();
        }
        let mut parts = Vec::new();
        while !self.eat("E") {
            parts.push(self.part()?);
        }
        // A namespace without a name, and one that the compiler makes of the file, are none in the source.
        parts.retain(|part| !part.starts_with("_GLOBAL__N") && !part.starts_with("_INTERNAL_"));
        Some(parts.join("::"))
    }

    /// An identifier with its template arguments.
    fn part(&mut self) -> Option<String> {
        let mut part = self.identifier()?.to_owned();
        if self.eat("I") {
            let mut arguments = Vec::new();
            while !self.eat("E") {
                arguments.push(self.argument()?);
            }
            part = format!("{part}<{}>", arguments.join(", "));
        }
        Some(part)
    }

    /// Its length in decimal digits, then itself.
    fn identifier(&mut self) -> Option<&'a str> {
        let digits = self.0.find(|c: char| !c.is_ascii_digit())?;
        let (length, rest) = self.0.split_at(digits);
        let (identifier, rest) = rest.split_at_checked(length.parse().ok()?)?;
        self.0 = rest;
        Some(identifier)
    }

    /// A type, or a number of a type: `Li3E`.
    fn argument(&mut self) -> Option<String> {
        if !self.eat("L") {
            return self.of_letter().map(str::to_owned).or_else(|| self.name());
        }
        let of = self.of_letter()?;
        let (value, rest) = self.0.split_once('E')?;
        self.0 = rest;
        Some(match (of, value) {
            ("bool", "0") => "false".to_owned(),
            ("bool", _) => "true".to_owned(),
            _ => value.replacen('n', "-", 1),
        })
    }

    fn of_letter(&mut self) -> Option<&'static str> {
        TYPES.iter().find(|(letter, _)| self.eat(letter)).map(|(_, name)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_compiler_are_spelled_as_in_the_source() {
        let cases = [
            ("twice", "twice"),
            ("_Z5shiftPff", "shift"),
            ("_ZN5field7advanceEPf", "field::advance"),
            ("_Z4fillIfLi3EEvPT_", "fill<float, 3>"),
            ("_Z1kILin2ELb1E6float4yEvv", "k<-2, true, float4, unsigned long long>"),
            ("_Z1kIN5field4GridIdEEEvv", "k<field::Grid<double>>"),
            ("_ZN12_GLOBAL__N_14sortEPi", "sort"),
            // A lambda's, a pointer as an argument, and what no compiler gives.
            ("_ZZ4movevENKUlvE_clEv", "_ZZ4movevENKUlvE_clEv"),
            ("_Z1kIPfEvT_", "_Z1kIPfEvT_"),
            ("_Z99short", "_Z99short"),
            ("_Z1\u{e4}b", "_Z1\u{e4}b"),
            ("_Z18446744073709551616k", "_Z18446744073709551616k"),
            ("_ZN", "_ZN"),
            ("_Z1kILi", "_Z1kILi"),
            ("_Z", "_Z"),
        ];
        for (name, expected) in cases {
            assert_eq!(spelled(name), expected);
        }
        for deep in [1000, 1 << 20] {
            let name = format!("_Z{}", "1kI".repeat(deep));
            assert_eq!(spelled(&name), name);
        }
    }

    /// The kernels of the built-in scenes have the names that they were asked for by.
    #[test]
    fn names_are_those_that_were_asked_for() {
        let seed: serde_json::Value =
            serde_json::from_str(include_str!("../../../../assets/seed.json")).expect("JSON");
        let names =
            seed.as_object().into_iter().flatten().filter_map(|(_, s)| s["names"].as_object());
        let plain = |name: &str| name.replace(' ', "");
        let mut seen = 0;
        for (asked, given) in names.flatten() {
            let given = given.as_str().expect("a name");
            // `S0_` is a part once more, which is not looked up.
            let expected = if given.contains("NS0_4") { given } else { asked };
            assert_eq!(plain(&spelled(given)), plain(expected), "{given}");
            seen += 1;
        }
        assert!(seen > 50, "{seen} names");
    }
}
