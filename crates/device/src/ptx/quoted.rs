//! Strings as PTX spells them, between quotes.

/// The bytes that a string token with its quotes stands for, escapes replaced: NVRTC writes bytes beyond ASCII as
/// `\303`.
pub(super) fn unquoted(text: &str) -> Vec<u8> {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
    let mut bytes = inner.bytes().peekable();
    let mut out = Vec::with_capacity(inner.len());
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => out.push(match bytes.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(first @ b'0'..=b'7') => {
                    let mut value = first - b'0';
                    for _ in 0..2 {
                        let Some(digit) = bytes.next_if(|b| (b'0'..=b'7').contains(b)) else {
                            break;
                        };
                        value = value.wrapping_mul(8).wrapping_add(digit - b'0');
                    }
                    value
                }
                Some(other) => other,
                None => b'\\',
            }),
            other => out.push(other),
        }
    }
    out
}

/// The string token, with its quotes, that stands for `bytes`; each that is no printable character of ASCII becomes
/// three octal digits behind a backslash.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_in_strings_are_replaced() {
        let found = unquoted(r#""d\303\274/a\"b\\\0c\n""#);
        assert_eq!(found, "dü/a\"b\\\0c\n".as_bytes());
    }

    #[test]
    fn strings_are_spelled_as_nvrtc_does() {
        assert_eq!(quoted("dü/a\"b\\".as_bytes()), r#""d\303\274/a\"b\\""#);
        // A digit behind an escape is no part of it, for each has three.
        let all: Vec<u8> = (0..=255).flat_map(|byte| [byte, b'7']).collect();
        assert_eq!(unquoted(&quoted(&all)), all);
    }
}
