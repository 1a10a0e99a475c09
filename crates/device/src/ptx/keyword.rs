//! Enumerations whose members are words of PTX.

/// Defines an enumeration together with the PTX spelling of each member, `text` gives it, `parse` reads it; and with a
/// number for each, `code` and `from_code`.
macro_rules! keywords {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $member:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $member,)+ }

        impl $name {
            /// All members.
            pub const ALL: &[Self] = &[$(Self::$member),+];

            /// Its PTX spelling.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$member => $text,)+ }
            }

            /// The number that stands for it where only a number can: in compiled code.
            pub const fn code(self) -> u32 {
                self as u32
            }

            /// The member whose [`code`](Self::code) it is.
            #[inline]
            pub fn from_code(code: u32) -> Option<Self> {
                Self::ALL.get(code as usize).copied()
            }

            /// The member spelt `text`.
            pub fn parse(text: &str) -> Option<Self> {
                Some(match text { $($text => Self::$member,)+ _ => return None })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.text())
            }
        }
    };
}

pub(crate) use keywords;
