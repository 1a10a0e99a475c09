//! What makes an enumeration, its reader and its printer of a table.

/// Defines `Op` with all that is known of each operation; see `table.rs` for what a row says.
macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $name:ident
        $( { $(
            $( $word:literal )?
            $( $(#[$field_doc:meta])* $field:ident : $field_type:ty $( = $yes:literal $( / $no:literal )? )? )?
        ),* } )?
        $( ( $(
            $( $part_word:literal )?
            $( $part:ident : $part_type:ty )?
        ),* ) )?
        $( [ $( $alone:literal ),* ] )?
        => $facts:expr, [ $($form:literal),* $(,)? ]
    )*) => {
        /// What an instruction does.
        ///
        /// In sources `a`, `b`, `c` are values of the type named, registers or immediates. An immediate is cut to
        /// the type's width. A register may be wider than the type where the PTX ISA allows it (`ld`, `st`, `cvt`
        /// and untyped copies): then the low bits count; `ld` and `cvt` extend by the sign of the type.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Op { $(
            $(#[$doc])*
            $name
            $( { $( $(
                $(#[$field_doc])*
                #[doc = concat!("`", stringify!($field_type), "`.")]
                $field: $field_type,
            )? )* } )?
            $( ( $( $( $part_type, )? )* ) )?
        ),* }

        impl Op {
            /// How many rows the table has.
            pub(super) const ROWS: usize = [$(stringify!($name)),*].len();

            /// The row that it is of.
            pub(super) fn row(&self) -> usize {
                enum Row { $($name),* }
                match self { $( Self::$name { .. } => Row::$name as usize ),* }
            }

            /// What is known of it without its operands.
            #[allow(unused_variables, reason = "most rows need some of the fields, or none")]
            pub fn facts(&self) -> Facts {
                match self { $(
                    Self::$name
                    $( { $( $( $field, )? )* } )?
                    $( ( $( $( $part, )? )* ) )?
                    => $facts
                ),* }
            }

            /// The surface that it accesses.
            #[allow(unused_variables, reason = "a truth is no surface")]
            pub fn surface(&self) -> Option<&Surface> {
                match self { $(
                    Self::$name
                    $( { $( $( $field, )? )* } )?
                    $( ( $( $( $part, )? )* ) )?
                    => {
                        let found = None;
                        $( $( $( let found = found.or(surface!(surface, $field $( = $yes )?)); )? )* )?
                        $( $( $( let found = found.or(Modifier::surface($part)); )? )* )?
                        found
                    }
                ),* }
            }

            /// The surface that it accesses, to be changed.
            #[allow(unused_variables, reason = "a truth is no surface")]
            pub fn surface_mut(&mut self) -> Option<&mut Surface> {
                match self { $(
                    Self::$name
                    $( { $( $( $field, )? )* } )?
                    $( ( $( $( $part, )? )* ) )?
                    => {
                        let found = None;
                        $( $( $( let found = found.or(surface!(surface_mut, $field $( = $yes )?)); )? )* )?
                        $( $( $( let found = found.or(Modifier::surface_mut($part)); )? )* )?
                        found
                    }
                ),* }
            }

            /// Writes its mnemonic.
            pub(super) fn put(&self, text: &mut Text) {
                match self { $(
                    Self::$name
                    $( { $( $( $field, )? )* } )?
                    $( ( $( $( $part, )? )* ) )?
                    => {
                        $( $(
                            $( text.word($word); )?
                            $( put!(text, $field $( = $yes $( / $no )? )?); )?
                        )* )?
                        $( $(
                            $( text.word($part_word); )?
                            $( Modifier::put($part, text); )?
                        )* )?
                        $( $( text.word($alone); )* )?
                    }
                ),* }
            }
        }

        /// Reads a mnemonic as an operation of each row, in the table's order.
        pub(super) const READERS: [Reader; Op::ROWS] = [$( {
            fn read(words: &mut Words<'_>) -> Option<Op> {
                $( $(
                    $( words.flag($word).then_some(())?; )?
                    $( let $field = take!(words, $field_type $( , $yes $( / $no )? )?); )?
                )* )?
                $( $(
                    $( words.flag($part_word).then_some(())?; )?
                    $( let $part = <$part_type as Modifier>::take(words)?; )?
                )* )?
                $( $( words.flag($alone).then_some(())?; )* )?
                Some(Op::$name
                    $( { $( $( $field, )? )* } )?
                    $( ( $( $( $part, )? )* ) )?)
            }
            read
        } ),*];

        /// The forms of each row, in the table's order.
        pub(super) const FORMS: [&[&str]; Op::ROWS] = [$( &[$($form),*] ),*];
    };
}

/// Takes a field: its own words, whether a word is there, or which of two.
macro_rules! take {
    ($words:ident, $type:ty) => {
        <$type as Modifier>::take($words)?
    };
    ($words:ident, $type:ty, $yes:literal) => {
        $words.flag($yes)
    };
    ($words:ident, $type:ty, $yes:literal / $no:literal) => {
        $words.either($yes, $no)?
    };
}

/// The opposite of `take`.
macro_rules! put {
    ($text:ident, $field:ident) => {
        Modifier::put($field, $text)
    };
    ($text:ident, $field:ident = $yes:literal) => {
        _ = $text.flag(*$field, $yes)
    };
    ($text:ident, $field:ident = $yes:literal / $no:literal) => {
        _ = $text.word(if *$field { $yes } else { $no })
    };
}

/// The surface of a field: a truth has none.
macro_rules! surface {
    ($get:ident, $field:ident) => {
        Modifier::$get($field)
    };
    ($get:ident, $field:ident = $yes:literal) => {
        None
    };
}

pub(super) use {operations, put, surface, take};
