//! Enumerations whose values manifests name.

/// An enumeration whose values a manifest names.
macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$variant_doc])* $variant),+ }

        impl $type {
            /// Every value, with the name that manifests use.
            pub const ALL: &'static [(&'static str, Self)] = &[$(($name, Self::$variant)),+];

            /// The name that manifests use.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The value with this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
            }
        }
    };
}
pub(super) use named;
