//! What numpy says of the numbers of a file: `'<f4'`, or the fields of structures,
//! `[('at', '<f4', (3,)), ('mass', '<f4'), ('', '|V4')]`.

/// So deep structures lie in one another.
const DEEPEST: usize = 8;
/// So many fields are read.
const MOST_FIELDS: usize = 10_000;
/// What the title of a field of `bf16` begins with, which numpy lacks: it is a `u2` with the bits, and no two fields of
/// a structure may have the same title.
pub(crate) const BFLOAT16: &str = "bfloat16";
/// So many bytes a path of names has at most: that of a structure stands before each of its fields.
const LONGEST_PATH: usize = 1 << 10;

/// A type of numpy's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Descriptor {
    /// numpy's name of it without the byte order: `f4`; of structures `V` and their bytes.
    pub(crate) kind: String,
    pub(crate) big_endian: bool,
    /// The fields, where it is a structure.
    pub(crate) fields: Vec<Field>,
}

/// A field of numpy's structures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its name, and before it those of the structures that it lies in: `grid.size`.
    pub(crate) path: String,
    /// As of a [`Descriptor`]; [`BFLOAT16`] where its title says that its numbers are such.
    pub(crate) kind: String,
    pub(crate) big_endian: bool,
    /// The bytes of one number.
    pub(crate) bytes: usize,
    /// How many numbers it has.
    pub(crate) count: usize,
    /// Where it begins in its structure, in bytes.
    pub(crate) offset: usize,
}

impl Descriptor {
    /// The bytes of one.
    #[cfg(feature = "cli")]
    pub(super) fn bytes(&self) -> Option<usize> {
        bytes(&self.kind)
    }

    /// Reads what numpy writes; `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text, fields: Vec::new() };
        let (kind, big_endian, _) = reader.of_type("", 0, DEEPEST)?;
        reader.rest.trim().is_empty().then_some(Self { kind, big_endian, fields: reader.fields })
    }
}

/// The bytes of a type that is called so, such as `f4`, `V16` or `M8[ns]`; the number of `U4` is that of letters, of
/// four bytes each.
fn bytes(kind: &str) -> Option<usize> {
    let number = kind.get(1..)?.split('[').next()?.parse::<usize>().ok()?;
    number.checked_mul(if kind.starts_with('U') { 4 } else { 1 })
}

struct Reader<'t> {
    rest: &'t str,
    fields: Vec<Field>,
}

impl<'t> Reader<'t> {
    /// Takes a sign, if it comes next.
    fn sign(&mut self, sign: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(sign)?;
        Some(())
    }

    /// A text in quotes.
    fn quoted(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|sign| matches!(sign, '\'' | '"'))?;
        let (text, rest) = rest[1..].split_once(quote)?;
        self.rest = rest;
        Some(text)
    }

    /// A type at `offset`, whose fields are called `path` first: its name, whether it is big-endian, its bytes.
    fn of_type(&mut self, path: &str, offset: usize, deep: usize) -> Option<(String, bool, usize)> {
        if self.sign('[').is_some() {
            let bytes = self.structure(path, offset, deep.checked_sub(1)?)?;
            return Some((format!("V{bytes}"), false, bytes));
        }
        let (order, kind) = self.quoted()?.split_at_checked(1)?;
        let big_endian = match order {
            "<" | "|" => false,
            ">" => true,
            _ => return None,
        };
        // Of what has none of its own, such as texts, nothing is read.
        Some((kind.to_owned(), big_endian, bytes(kind).unwrap_or(0)))
    }

    /// Fields up to the `]`; their bytes.
    fn structure(&mut self, path: &str, offset: usize, deep: usize) -> Option<usize> {
        let mut bytes = 0_usize;
        while self.sign(']').is_none() {
            self.sign('(')?;
            let (title, name) = self.name()?;
            self.sign(',')?;
            let (path, start) = (joined(path, name)?, offset.checked_add(bytes)?);
            let before = self.fields.len();
            let (kind, big_endian, each) = self.of_type(&path, start, deep)?;
            let count = if self.sign(',').is_some() { self.count()? } else { 1 };
            self.sign(')')?;
            let _ = self.sign(',');
            bytes = bytes.checked_add(each.checked_mul(count)?)?;
            let is_structure = self.fields.len() > before;
            if self.fields.len() >= MOST_FIELDS || (is_structure && count > 1) {
                return None;
            }
            if !is_structure && !name.is_empty() {
                let is_bfloat16 = kind == "u2" && title.starts_with(BFLOAT16);
                let kind = if is_bfloat16 { BFLOAT16.to_owned() } else { kind };
                let (offset, bytes) = (start, each);
                self.fields.push(Field { path, kind, big_endian, bytes, count, offset });
            }
        }
        Some(bytes)
    }

    /// A field's title, which may be empty, and its name.
    fn name(&mut self) -> Option<(&'t str, &'t str)> {
        if self.sign('(').is_none() {
            return Some(("", self.quoted()?));
        }
        let title = self.quoted()?;
        self.sign(',')?;
        let name = self.quoted()?;
        self.sign(')')?;
        Some((title, name))
    }

    /// How many a field has: the product of its shape.
    fn count(&mut self) -> Option<usize> {
        let (inside, rest) = self.rest.trim_start().strip_prefix('(')?.split_once(')')?;
        self.rest = rest;
        let sides = inside.split(',').map(str::trim).filter(|side| !side.is_empty());
        sides
            .map(|side| side.parse::<usize>().ok())
            .try_fold(1, |all: usize, side| all.checked_mul(side?))
    }
}

/// `None` where it becomes too long.
fn joined(path: &str, name: &str) -> Option<String> {
    let is_short = path.len() + name.len() < LONGEST_PATH;
    is_short.then(|| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_numpy_writes_is_read() {
        let number = Descriptor::parse("'>f8'").unwrap();
        assert_eq!((number.kind.as_str(), number.big_endian, number.fields.len()), ("f8", true, 0));
        // As numpy 2 writes `numpy.dtype([("at", "f4", 3), ("m", [("a", "i2"), ("b", ">u8")]), ("k", "u1", (2, 2))],
        // align=True)`.
        let text = "[('at', '<f4', (3,)), ('', '|V4'), ('m', [('a', '<i2'), ('', '|V6'), ('b', '>u8')]), \
                    ('k', '|u1', (2, 2)), ('', '|V4')]";
        let found = Descriptor::parse(text).unwrap();
        assert_eq!(found.kind, "V40");
        let told: Vec<String> = found
            .fields
            .iter()
            .map(|f| format!("{} {}{} x{} @{}", f.path, f.kind, f.big_endian, f.count, f.offset))
            .collect();
        assert_eq!(
            told,
            ["at f4false x3 @0", "m.a i2false x1 @16", "m.b u8true x1 @24", "k u1false x4 @32"]
        );
        assert_eq!(Descriptor::parse("[(('title', 'a'), '<f4')]").unwrap().fields[0].path, "a");
        // `numpy.dtype([("id", "U4"), ("at", "M8[s]"), ("tag", "S3"), ("x", "f4")])` has 31 bytes.
        let text = "[('id', '<U4'), ('at', '<M8[s]'), ('tag', '|S3'), ('x', '<f4')]";
        let found = Descriptor::parse(text).unwrap();
        assert_eq!((found.kind.as_str(), found.fields[3].offset), ("V31", 27));
    }

    #[test]
    fn anything_else_is_not() {
        let deep = format!("{}'<f4'{}", "[('a', ".repeat(5000), ")]".repeat(5000));
        let large = "[('a', '<f4', (99999999999, 99999999999))]";
        let long = format!("[('{}', [('a', '<f4')])]", "n".repeat(LONGEST_PATH));
        for text in [
            "",
            "[",
            "f4",
            "'f4",
            "[('a')]",
            "[('a', '<f4', (1)]",
            "'<f4' x",
            &deep,
            large,
            &long,
            "[('a', [('b', '<f4')], (2,))]",
        ] {
            assert_eq!(Descriptor::parse(text), None, "{text}");
        }
    }
}
