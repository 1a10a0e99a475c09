//! Formats of C's `printf`, as CUDA's device function has them (CUDA programming guide, "Formatted output"), with
//! the results of C's.

/// Longest string that is read, and widest field.
pub(in crate::device::cpu) const MAX_STRING: usize = 4096;

/// What `printf` makes of a format and its arguments in memory, and how many there are; nothing and -1 of a format at
/// the null address. Of the text there are `most` bytes, and at most one conversion more.
///
/// Arguments lie one after the other, floats as doubles; `load` reads so many bytes of one, `string` a string.
pub(in crate::device::cpu) fn formatted(
    format: Option<&str>,
    most: u64,
    arguments: u64,
    load: impl Fn(u64, u64) -> u64,
    string: impl Fn(u64) -> Vec<u8>,
) -> (String, i32) {
    let Some(format) = format else { return (String::new(), -1) };
    let mut next = arguments;
    let mut take = |bytes: u64| {
        // A kernel may say any address; what wraps round is no allocation either.
        let at = next.checked_next_multiple_of(bytes).unwrap_or(0);
        next = at.wrapping_add(bytes);
        load(at, bytes)
    };
    // As in C, what is printed are bytes, which need not be characters one by one.
    let mut text: Vec<u8> = Vec::new();
    let mut count = 0;
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        text.extend(rest[..at].bytes());
        let Some((spec, after)) = Spec::parse(&rest[at + 1..]) else {
            text.push(b'%');
            rest = &rest[at + 1..];
            continue;
        };
        rest = after;
        if spec.conversion == '%' {
            text.push(b'%');
            continue;
        }
        count += 1;
        let spec = spec.with_stars(&mut take);
        let value = take(spec.bytes());
        if text.len() as u64 >= most {
            continue;
        }
        text.extend(match (spec.conversion, value) {
            ('s', 0) => spec.string(b"(null)"),
            ('s', at) => spec.string(&string(at)),
            ('c', value) => spec.padded(&[value as u8]),
            _ => spec.number(value).into_bytes(),
        });
    }
    text.extend(rest.bytes());
    (String::from_utf8_lossy(&text).into_owned(), count)
}

/// How wide the integer is that is converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Length {
    Char,
    Short,
    #[default]
    Int,
    Long,
}

/// One conversion of a format.
#[derive(Clone, Debug, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
    star_width: bool,
    star_precision: bool,
    length: Length,
    conversion: char,
}

impl Spec {
    /// What stands behind a `%`, and the rest.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let mut spec = Self::default();
        let mut rest = text;
        while let Some(flag) = rest.chars().next().filter(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => spec.left = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                '#' => spec.alternate = true,
                _ => spec.zero = true,
            }
            rest = &rest[1..];
        }
        (spec.width, spec.star_width, rest) = Self::size(rest);
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, star, after) = Self::size(after);
            (spec.precision, spec.star_precision, rest) = (precision.or(Some(0)), star, after);
        }
        while let Some(letter) = rest.chars().next().filter(|c| "hljztL".contains(*c)) {
            spec.length = match letter {
                'h' if spec.length == Length::Short => Length::Char,
                'h' => Length::Short,
                _ => Length::Long,
            };
            rest = &rest[1..];
        }
        spec.conversion = rest.chars().next().filter(|c| "diouxXcfFeEgGaAsp%".contains(*c))?;
        Some((spec, &rest[1..]))
    }

    fn size(text: &str) -> (Option<usize>, bool, &str) {
        if let Some(after) = text.strip_prefix('*') {
            return (None, true, after);
        }
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (size, rest) = text.split_at(digits);
        let size = (digits > 0).then(|| size.parse().unwrap_or(MAX_STRING).min(MAX_STRING));
        (size, false, rest)
    }

    fn with_stars(mut self, take: &mut impl FnMut(u64) -> u64) -> Self {
        if self.star_width {
            let width = take(4) as i32;
            self.left |= width < 0;
            self.width = Some((width.unsigned_abs() as usize).min(MAX_STRING));
        }
        if self.star_precision {
            let precision = take(4) as i32;
            self.precision = usize::try_from(precision).ok().map(|p| p.min(MAX_STRING));
        }
        self
    }

    fn bytes(&self) -> u64 {
        match self.conversion {
            'd' | 'i' | 'o' | 'u' | 'x' | 'X' if self.length != Length::Long => 4,
            'c' => 4,
            _ => 8,
        }
    }

    fn number(&self, value: u64) -> String {
        let signed = match self.length {
            Length::Char => i64::from(value as i8),
            Length::Short => i64::from(value as i16),
            Length::Int => i64::from(value as i32),
            Length::Long => value as i64,
        };
        let unsigned = match self.length {
            Length::Char => value & 0xff,
            Length::Short => value & 0xffff,
            Length::Int => value & 0xffff_ffff,
            Length::Long => value,
        };
        match self.conversion {
            'd' | 'i' => {
                let digits = self.digits(signed.unsigned_abs().to_string());
                self.field(self.sign(signed < 0), &digits, self.precision.is_none())
            }
            'u' => self.integer("", unsigned.to_string()),
            'x' => self.integer("0x", format!("{unsigned:x}")),
            'X' => self.integer("0X", format!("{unsigned:X}")),
            'o' => self.integer("0", format!("{unsigned:o}")),
            'p' if value == 0 => self.field("", "(nil)", false),
            'p' => self.field("0x", &format!("{value:x}"), true),
            _ => self.float(f64::from_bits(value)),
        }
    }

    fn integer(&self, prefix: &str, digits: String) -> String {
        let is_zero = digits == "0";
        let mut digits = self.digits(digits);
        let octal = self.conversion == 'o';
        if self.alternate && octal && !digits.starts_with('0') {
            digits.insert(0, '0');
        }
        let prefix = if self.alternate && !octal && !is_zero { prefix } else { "" };
        self.field(prefix, &digits, self.precision.is_none())
    }

    /// At least as many digits as the precision says; none for a zero of which none are wanted.
    fn digits(&self, digits: String) -> String {
        match self.precision {
            Some(0) if digits == "0" => String::new(),
            least => format!("{digits:0>width$}", width = least.unwrap_or(0)),
        }
    }

    const fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    fn float(&self, value: f64) -> String {
        let sign = self.sign(value.is_sign_negative());
        let size = value.abs();
        let upper = self.conversion.is_ascii_uppercase();
        let case = |text: String| if upper { text.to_uppercase() } else { text };
        if !value.is_finite() {
            let text = if value.is_nan() { "nan" } else { "inf" };
            return self.field(sign, &case(text.to_owned()), false);
        }
        let precision = self.precision.unwrap_or(6);
        let text = match self.conversion.to_ascii_lowercase() {
            'f' => point(format!("{size:.precision$}"), self.alternate),
            'e' => exponent(size, precision, self.alternate),
            'g' => general(size, precision.max(1), self.alternate),
            _ => {
                let sign = format!("{sign}{}", if upper { "0X" } else { "0x" });
                let text = case(hexadecimal(size, self.precision, self.alternate));
                return self.field(&sign, &text, true);
            }
        };
        self.field(sign, &case(text), true)
    }

    fn string(&self, text: &[u8]) -> Vec<u8> {
        self.padded(&text[..self.precision.unwrap_or(text.len()).min(text.len())])
    }

    /// With blanks to the width, which counts bytes.
    fn padded(&self, text: &[u8]) -> Vec<u8> {
        let blanks = vec![b' '; self.width.unwrap_or(0).saturating_sub(text.len())];
        if self.left { [text, &blanks].concat() } else { [&blanks, text].concat() }
    }

    /// Padded to the width: with zeros behind the sign where the flag says so and `zeros` allows it.
    fn field(&self, sign: &str, text: &str, zeros: bool) -> String {
        let width = self.width.unwrap_or(0);
        if self.left {
            format!("{:<width$}", format!("{sign}{text}"))
        } else if self.zero && zeros {
            format!("{sign}{text:0>width$}", width = width.saturating_sub(sign.len()))
        } else {
            format!("{:>width$}", format!("{sign}{text}"))
        }
    }
}

/// With a point behind, where one is wanted and there is none.
fn point(text: String, wanted: bool) -> String {
    if wanted && !text.contains('.') { text + "." } else { text }
}

/// `%e`: at least two digits of exponent.
fn exponent(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    let Some((mantissa, power)) = text.split_once('e') else { return text };
    let (sign, digits) = match power.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', power),
    };
    let mantissa = point(mantissa.to_owned(), alternate);
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// `%g`: as `%e` or `%f`, by the size; without trailing zeros.
fn general(value: f64, precision: usize, alternate: bool) -> String {
    let scientific = exponent(value, precision - 1, alternate);
    let power: i32 = scientific.split_once('e').and_then(|(_, p)| p.parse().ok()).unwrap_or(0);
    let trim = |text: &str| {
        if alternate || !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if power < -4 || power >= precision as i32 {
        let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{power}", trim(mantissa));
    }
    let decimals = (precision as i32 - 1 - power).max(0) as usize;
    trim(&point(format!("{value:.decimals$}"), alternate))
}

/// `%a` without its sign and `0x`: the bits of a finite number that is not negative.
fn hexadecimal(value: f64, precision: Option<usize>, alternate: bool) -> String {
    const FRACTION_BITS: u32 = 52;
    let bits = value.to_bits();
    let (biased, fraction) = (bits >> FRACTION_BITS, bits & ((1 << FRACTION_BITS) - 1));
    let (whole, power) = match (biased, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        (biased, _) => (1, biased as i64 - 1023),
    };
    let mut digits = whole << FRACTION_BITS | fraction;
    if let Some(shown) = precision.filter(|shown| *shown < 13) {
        let dropped = FRACTION_BITS - 4 * shown as u32;
        let (half, rest) = (1 << (dropped - 1), digits & ((1 << dropped) - 1));
        digits >>= dropped;
        // To the nearest, half to even.
        digits += u64::from(rest > half || rest == half && digits & 1 != 0);
        digits <<= dropped;
    }
    let fraction = format!("{:013x}", digits & ((1 << FRACTION_BITS) - 1));
    let fraction = match precision {
        Some(shown) => format!("{fraction:0<shown$}")[..shown].to_owned(),
        None => fraction.trim_end_matches('0').to_owned(),
    };
    let dot = if fraction.is_empty() && !alternate { "" } else { "." };
    format!("{:x}{dot}{fraction}p{power:+}", digits >> FRACTION_BITS)
}

#[cfg(test)]
mod tests {
    #![expect(unsafe_code, reason = "compares with the C library")]

    use std::ffi::{CStr, CString};

    use super::*;

    enum Value {
        Int(i32),
        Long(i64),
        Double(f64),
    }

    fn expected(format: &str, value: &Value) -> String {
        let c = CString::new(format).unwrap();
        let mut out = vec![0u8; 2 * MAX_STRING];
        let (to, size) = (out.as_mut_ptr().cast(), out.len());
        match *value {
            // SAFETY: the format has one conversion, of the value's type; the buffer is as long as said.
            Value::Int(v) => unsafe { libc::snprintf(to, size, c.as_ptr(), v) },
            // SAFETY: as above.
            Value::Long(v) => unsafe { libc::snprintf(to, size, c.as_ptr(), v) },
            // SAFETY: as above.
            Value::Double(v) => unsafe { libc::snprintf(to, size, c.as_ptr(), v) },
        };
        CStr::from_bytes_until_nul(&out).unwrap().to_string_lossy().into_owned()
    }

    fn found(format: &str, value: &Value) -> String {
        let bits = match *value {
            Value::Int(v) => u64::from(v as u32),
            Value::Long(v) => v as u64,
            Value::Double(v) => v.to_bits(),
        };
        let (text, count) = formatted(Some(format), u64::MAX, 0, |_, _| bits, |_| Vec::new());
        assert_eq!(count, 1);
        text
    }

    #[test]
    fn numbers_look_as_those_of_the_c_library() {
        let flags = ["", "-", "+", " ", "#", "0", "+0", "-#", "#0", " 0", "+-", "#+0"];
        let widths = ["", "1", "12", "30"];
        let precisions = ["", ".", ".0", ".1", ".3", ".15", ".20"];
        let ints = [0, 1, -1, 7, 42, -42, 255, i32::MIN, i32::MAX, 65536 + 300];
        let floats = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1,
            2.5,
            0.5,
            99999.95,
            123456.0,
            1234567.0,
            1e-4,
            9.9999e-5,
            1e10,
            1e100,
            -1e-300,
            5e-324,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1.0 / 3.0,
            65504.0,
            0.999_999_999,
        ];
        for flags in flags {
            for width in widths {
                for precision in precisions {
                    let start = format!("<%{flags}{width}{precision}");
                    for value in ints {
                        for end in
                            ["d>", "i>", "u>", "x>", "X>", "o>", "hd>", "hhu>", "hhd>", "hx>"]
                        {
                            // `#` with `d` and `+` with `u` mean nothing, and are tried all the same.
                            let (format, value) = (start.clone() + end, Value::Int(value));
                            assert_eq!(
                                found(&format, &value),
                                expected(&format, &value),
                                "{format}"
                            );
                        }
                        for end in ["lld>", "ld>", "llu>", "llx>", "lo>", "zu>", "jd>"] {
                            let value = Value::Long(i64::from(value) << 20);
                            let format = start.clone() + end;
                            assert_eq!(
                                found(&format, &value),
                                expected(&format, &value),
                                "{format}"
                            );
                        }
                    }
                    for value in floats {
                        for end in ["f>", "e>", "g>", "a>", "F>", "E>", "G>", "A>"] {
                            let (format, value) = (start.clone() + end, Value::Double(value));
                            assert_eq!(
                                found(&format, &value),
                                expected(&format, &value),
                                "{format}"
                            );
                        }
                    }
                }
            }
        }
        for (format, value) in [("%c|", 65), ("%5c|", 65), ("%-5c|", 65), ("%%%d%%", 3)] {
            let value = Value::Int(value);
            assert_eq!(found(format, &value), expected(format, &value), "{format}");
        }
        for value in [0, 1, 0x7fff_1234_5678] {
            for format in ["%p|", "%20p|", "%-20p|"] {
                let value = Value::Long(value);
                assert_eq!(found(format, &value), expected(format, &value), "{format}");
            }
        }
    }

    #[test]
    fn stars_and_strings_take_arguments_in_order() {
        // Two ints and a pointer, as CUDA lays them out.
        let memory: [u8; 16] = [6, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0];
        let load = |at: u64, bytes: u64| {
            let mut word = [0; 8];
            word[..bytes as usize].copy_from_slice(&memory[at as usize..][..bytes as usize]);
            u64::from_le_bytes(word)
        };
        let (text, count) = formatted(Some("<%*.*s> %"), u64::MAX, 0, load, |at| {
            format!("string {at}").into_bytes()
        });
        assert_eq!((text.as_str(), count), ("<    st> %", 1));
        let format = "%4000d".repeat(1000);
        let (text, count) = formatted(Some(&format), 5000, 0, |_, _| 7, |_| Vec::new());
        assert_eq!((text.len(), count), (8000, 1000));
        // Bytes are counted, and become characters where they stand together: C's library gives the same bytes.
        let load = |at: u64, _: u64| [0xc3, 0xa9, 1, 1, 1][at as usize / 8];
        let byte = |at: u64, bytes: u64| {
            if bytes == 4 { [0xc3, 0xa9][at as usize / 4] } else { load(at, 8) }
        };
        let (text, count) =
            formatted(Some("%c%c|%5s|%-4s|%.1s|"), u64::MAX, 0, byte, |_| "é".into());
        assert_eq!((text.as_str(), count), ("é|   é|é  |\u{fffd}|", 5));
    }
}
