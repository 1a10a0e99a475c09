//! `printf`, `assert`, `malloc` and `free`: host functions that work on the arena.
#![expect(unsafe_code, reason = "reads a kernel's memory through the context")]

use std::io::Write as _;

use crate::device::cpu::{
    launch::Context,
    memory::{Arena, CHUNK_BITS},
};

/// Longest string that is read.
const MAX_STRING: usize = 4096;

pub(super) fn functions() -> [(&'static str, *const u8); 4] {
    type Printf = extern "C" fn(&mut Context, u64, u64) -> i32;
    type Assert = extern "C" fn(&mut Context, u64, u64, u32, u64) -> i32;
    [
        ("warpaint_vprintf", vprintf as Printf as *const u8),
        ("warpaint_assertfail", assertfail as Assert as *const u8),
        ("warpaint_malloc", malloc as extern "C" fn(&mut Context, u64) -> u64 as *const u8),
        ("warpaint_free", free as extern "C" fn(&mut Context, u64) -> i32 as *const u8),
    ]
}

/// `N` bytes at an address, where all of them lie in an allocation.
fn read<const N: usize>(context: &Context, address: u64) -> Option<[u8; N]> {
    let offset = address.wrapping_sub(context.arena.base);
    let chunk = offset >> CHUNK_BITS;
    if chunk > context.arena.chunk_mask {
        return None;
    }
    let entry = (context.arena.read_ends + chunk * 8) as *const u64;
    // SAFETY: the table has an entry for each chunk, and lives as long as the device.
    let end = unsafe { entry.read_volatile() };
    if offset.checked_add(N as u64)? > end {
        return None;
    }
    // SAFETY: the bytes lie in an allocation of the arena, whose pages stay mapped.
    Some(unsafe { (address as *const [u8; N]).read_unaligned() })
}

fn string(context: &Context, address: u64) -> String {
    let bytes = (0..MAX_STRING as u64)
        .map_while(|at| read::<1>(context, address + at))
        .map(|[byte]| byte)
        .take_while(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}

/// CUDA programming guide, "Formatted output": arguments lie one after the other, floats as doubles.
extern "C" fn vprintf(context: &mut Context, format: u64, arguments: u64) -> i32 {
    let format = string(context, format);
    let mut next = arguments;
    let mut take = |bytes: u64| {
        let at = next.next_multiple_of(bytes);
        next = at + bytes;
        match bytes {
            4 => read::<4>(context, at).map_or(0, |b| u64::from(u32::from_le_bytes(b))),
            _ => read::<8>(context, at).map_or(0, u64::from_le_bytes),
        }
    };
    let mut text = String::new();
    let mut count = 0;
    let mut rest = format.as_str();
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        let Some((spec, after)) = Spec::parse(&rest[at + 1..]) else {
            text.push('%');
            rest = &rest[at + 1..];
            continue;
        };
        rest = after;
        if spec.conversion == '%' {
            text.push('%');
            continue;
        }
        count += 1;
        let spec = spec.with_stars(&mut take);
        let value = take(spec.bytes());
        text.push_str(&match spec.conversion {
            's' => spec.padded(string(context, value), false),
            _ => spec.number(value),
        });
    }
    text.push_str(rest);
    // Nobody is left to tell when the standard output is gone.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    count
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
    long: bool,
    conversion: char,
}

impl Spec {
    fn parse(text: &str) -> Option<(Self, &str)> {
        let mut spec = Self::default();
        let mut rest = text;
        loop {
            let flag = rest.chars().next()?;
            match flag {
                '-' => spec.left = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                '#' => spec.alternate = true,
                '0' => spec.zero = true,
                _ => break,
            }
            rest = &rest[1..];
        }
        (spec.width, spec.star_width, rest) = Self::size(rest);
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, star, after) = Self::size(after);
            (spec.precision, spec.star_precision, rest) = (precision.or(Some(0)), star, after);
        }
        while let Some(letter) = rest.chars().next().filter(|c| "hljztL".contains(*c)) {
            spec.long |= matches!(letter, 'l' | 'j' | 'z' | 't');
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
        (
            text[..digits].parse().ok().map(|size: usize| size.min(MAX_STRING)),
            false,
            &text[digits..],
        )
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
            'd' | 'i' | 'o' | 'u' | 'x' | 'X' if !self.long => 4,
            'c' => 4,
            _ => 8,
        }
    }

    fn number(&self, value: u64) -> String {
        let signed = if self.long { value as i64 } else { i64::from(value as u32 as i32) };
        let prefix = |p: &str| if self.alternate { p.to_owned() } else { String::new() };
        match self.conversion {
            'd' | 'i' => self.signed(self.digits(signed.unsigned_abs().to_string()), signed < 0),
            'u' => self.padded(self.digits(value.to_string()), true),
            'x' => self.padded(prefix("0x") + &self.digits(format!("{value:x}")), true),
            'X' => self.padded(prefix("0X") + &self.digits(format!("{value:X}")), true),
            'o' => self.padded(prefix("0") + &self.digits(format!("{value:o}")), true),
            'p' => self.padded(format!("{value:#x}"), false),
            'c' => self.padded(char::from(value as u8).to_string(), false),
            _ => self.float(f64::from_bits(value)),
        }
    }

    fn digits(&self, digits: String) -> String {
        format!("{digits:0>width$}", width = self.precision.unwrap_or(0))
    }

    fn float(&self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        let size = value.abs();
        let upper = self.conversion.is_ascii_uppercase();
        let text = match self.conversion.to_ascii_lowercase() {
            _ if !value.is_finite() => if value.is_nan() { "nan" } else { "inf" }.to_owned(),
            'f' => format!("{size:.precision$}"),
            'e' => exponent(size, precision),
            _ => general(size, precision.max(1), self.alternate),
        };
        let text = if upper { text.to_uppercase() } else { text };
        self.signed(text, value.is_sign_negative() && !value.is_nan())
    }

    fn signed(&self, text: String, negative: bool) -> String {
        let sign = match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        };
        let width = self.width.unwrap_or(0).saturating_sub(sign.len());
        if self.zero && !self.left {
            return format!("{sign}{text:0>width$}");
        }
        self.padded(format!("{sign}{text}"), false)
    }

    fn padded(&self, text: String, zeros: bool) -> String {
        let text = match (self.conversion, self.precision) {
            ('s', Some(most)) => text.chars().take(most).collect(),
            _ => text,
        };
        let width = self.width.unwrap_or(0);
        match (self.left, self.zero && zeros) {
            (true, _) => format!("{text:<width$}"),
            (false, true) => format!("{text:0>width$}"),
            (false, false) => format!("{text:>width$}"),
        }
    }
}

/// `%e`: at least two digits of exponent.
fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let Some((mantissa, power)) = text.split_once('e') else { return text };
    let (sign, digits) = match power.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', power),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// `%g`: as `%e` or `%f`, by the size; without trailing zeros.
fn general(value: f64, precision: usize, keep: bool) -> String {
    let scientific = exponent(value, precision - 1);
    let power: i32 = scientific.split_once('e').and_then(|(_, p)| p.parse().ok()).unwrap_or(0);
    let trim = |text: &str| {
        if keep || !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if power < -4 || power >= precision as i32 {
        let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{power}", trim(mantissa));
    }
    let decimals = (precision as i32 - 1 - power).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}

fn arena(context: &Context) -> &Arena {
    // SAFETY: the launch that runs keeps its device, which owns the arena.
    unsafe { &*context.heap }
}

/// Device memory for a kernel; null where there is none left, as in CUDA.
extern "C" fn malloc(context: &mut Context, bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { arena(context).heap_alloc(bytes).unwrap_or(0) }
}

/// Gives memory of `malloc` back, null is none; not 0 where there was nothing to give back.
extern "C" fn free(context: &mut Context, address: u64) -> i32 {
    i32::from(address != 0 && !arena(context).heap_free(address))
}

extern "C" fn assertfail(
    c: &mut Context,
    message: u64,
    file: u64,
    line: u32,
    function: u64,
) -> i32 {
    let [message, file, function] = [message, file, function].map(|at| string(c, at));
    let text = format!("`{message}` in {function} ({file}:{line})");
    c.assertion = Box::into_raw(Box::new(text)) as u64;
    0
}

/// The text of the assertion that failed last in this context, if one did.
pub(in crate::device::cpu) fn take_assertion(context: &mut Context) -> Option<String> {
    let address = std::mem::take(&mut context.assertion);
    if address == 0 {
        return None;
    }
    // SAFETY: only `assertfail` writes the field, with the address of a box that nobody else has.
    Some(*unsafe { Box::from_raw(address as *mut String) })
}

#[cfg(test)]
mod tests {
    use super::{Spec, exponent, general};

    #[test]
    fn numbers_look_as_in_c() {
        let spec = |text| Spec::parse(text).map(|(spec, _)| spec).unwrap_or_default();
        assert_eq!(spec("5d").number(42), "   42");
        assert_eq!(spec("-5d|").number(42), "42   ");
        assert_eq!(spec("05d").number(u64::from(-42i32 as u32)), "-0042");
        assert_eq!(spec("+.3f").number(1.5f64.to_bits()), "+1.500");
        assert_eq!(spec("#x").number(255), "0xff");
        assert_eq!(spec("llu").number(u64::MAX), "18446744073709551615");
        assert_eq!(exponent(12345.678, 3), "1.235e+04");
        assert_eq!(general(0.0001, 6, false), "0.0001");
        assert_eq!(general(1e10, 6, false), "1e+10");
        assert_eq!(general(100.0, 6, false), "100");
    }
}
