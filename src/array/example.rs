//! Examples in the documentation of what macros declare.

/// A block of code for a documentation comment: these lines, with what each of them needs.
macro_rules! example {
    ($($line:expr),* $(,)?) => {
        concat!(
            "```\n",
            "# use warpaint::{array::{Complex, Expr, GpuArray, Order, random::Generator}, device::Device, kernel::Context};\n",
            "# let context = Context::new(Device::cpu()?)?;\n",
            $($line, "\n",)*
            "# Ok::<(), Box<dyn std::error::Error>>(())\n",
            "```"
        )
    };
}
pub(super) use example;

/// What a method makes of an array of these elements, or of such an expression, with these arguments; shown as text.
macro_rules! example_of_each {
    (GpuArray, $($of:tt)*) => { example_of_each!(@of "", "?;", $($of)*) };
    (Expr, $($of:tt)*) => { example_of_each!(@of "Expr::from(", "?);", $($of)*) };
    (@of $open:literal, $close:literal, $name:ident, [$($of:tt)*], [$($with:tt)*] => $shown:literal) => {
        example!(
            concat!("let a = ", $open, "GpuArray::from_slice(&context, &[", stringify!($($of)*), "])", $close),
            concat!("let result = a.", stringify!($name), "(", stringify!($($with)*), ").eval()?;"),
            concat!("assert_eq!(format!(\"{result:.2}\"), \"", $shown, "\");"),
        )
    };
}
pub(super) use example_of_each;

/// What a call of a method with arguments that are text, and with what follows it, makes of two rows of an array, or of
/// such an expression.
macro_rules! example_of_rows {
    (GpuArray, $($of:tt)*) => { example_of_rows!(@of "", "?;", $($of)*) };
    (Expr, $($of:tt)*) => { example_of_rows!(@of "Expr::from(", "?);", $($of)*) };
    (
        @of $open:literal, $close:literal,
        [$($values:tt)*], $method:expr, ($($first:expr $(, $more:expr)*)?), $then:literal => $result:expr
    ) => {
        example!(
            concat!(
                "let a = ", $open,
                "GpuArray::from_shape(&context, &[2, 2], &[", stringify!($($values)*), "])", $close
            ),
            concat!(
                "assert_eq!(a.", $method, "(", $($first, $(", ", $more,)*)? ")", $then,
                ", ", stringify!($result), ");"
            ),
        )
    };
}
pub(super) use example_of_rows;
