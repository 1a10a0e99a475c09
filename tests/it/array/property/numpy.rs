//! Against tables that numpy made: types of results, and reductions of nothing.

use half::f16;
use num_complex::{Complex32, Complex64};
use warpaint::array::{Data, Error, GpuArray, Promote};

use crate::array::contexts;

/// The types of results are found by the compiler; all pairs of types of which numpy has a common one.
#[test]
fn common_types_are_those_of_numpy() {
    let mut found = Vec::new();
    macro_rules! pairs {
        ($($a:ident),*) => {
            $(pairs!(@row $a; bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64, Complex32, Complex64);)*
        };
        (@row $a:ident; $($b:ident),*) => {
            $(found.push((stringify!($a), stringify!($b), <$a as Promote<$b>>::Output::DTYPE.name));)*
        };
    }
    pairs!(bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64, Complex32, Complex64);
    let table: Vec<Vec<&str>> = include_str!("promotion.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(' ').collect())
        .collect();
    let (heads, rows) = table.split_first().unwrap();
    let expected = rows.iter().flat_map(|row| {
        let (a, types) = row.split_first().unwrap();
        heads[1..].iter().zip(types).map(move |(b, common)| (*a, *b, name_of(common)))
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
}

/// What CUDA C++ calls the type.
fn name_of(rust: &str) -> &'static str {
    macro_rules! names {
        ($($rust:ident),*) => {
            match rust {
                $(stringify!($rust) => <$rust as Data>::DTYPE.name,)*
                other => panic!("{other}"),
            }
        };
    }
    names!(bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64, Complex32, Complex64)
}

/// A list such as `2,0,3`, or `-` for none.
fn list<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> Vec<T> {
    text.split(',').filter(|word| *word != "-").map(|word| word.parse().unwrap()).collect()
}

#[test]
fn nothing_along_any_axis_reduces_to_what_numpy_has() {
    for context in contexts() {
        for line in include_str!("empty.txt").lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split(' ').collect();
            let a = GpuArray::<f32>::zeros(&context, &list(words[1])).unwrap();
            let of = a.reduce();
            let of = if words[2] == "all" { of } else { of.along(&list(words[2])) };
            let as_numbers = |found: Result<GpuArray<i64>, Error>| found?.cast::<f32>().eval();
            let as_truths = |found: Result<GpuArray<bool>, Error>| found?.cast::<f32>().eval();
            let found = match words[0] {
                "sum" => of.sum().eval(),
                "prod" => of.prod().eval(),
                "mean" => of.mean().eval(),
                "var" => of.var(0).eval(),
                "std" => of.std(0).eval(),
                "min" => of.min().eval(),
                "max" => of.max().eval(),
                "argmin" => as_numbers(of.argmin().eval()),
                "argmax" => as_numbers(of.argmax().eval()),
                "any" => as_truths(of.any().eval()),
                _ => as_truths(of.all().eval()),
            };
            match (words[3], found) {
                ("error", Err(Error::Empty { operation })) => assert_eq!(operation, words[0]),
                ("error", found) => panic!("{line}: {found:?}"),
                (shape, found) => {
                    let found = found.unwrap();
                    assert_eq!(found.shape(), list::<usize>(shape), "{line}");
                    let values = found.to_vec().unwrap().into_iter();
                    let text = |value: f32| {
                        if value.is_nan() { "nan".to_owned() } else { value.to_string() }
                    };
                    assert_eq!(
                        values.map(text).collect::<Vec<_>>(),
                        list::<String>(words[4]),
                        "{line}"
                    );
                }
            }
        }
    }
}
