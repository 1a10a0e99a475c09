//! Enumerations whose members are words of PTX.

/// Defines an enumeration together with the PTX spelling of each member: `text` gives it, `parse` reads it.
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
