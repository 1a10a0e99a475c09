use super::*;

fn value(text: &str) -> Result<Number, Error> {
    evaluate(text, &mut |name| match name {
        "n" => Ok(Number::Int(1000)),
        "r" => Ok(Number::Float(0.5)),
        _ => Err(format!("no `{name}`")),
    })
}

#[test]
fn integers_and_floats_compute_as_in_c() {
    let cases = [
        ("1 + 2 * 3", Number::Int(7)),
        ("(1 + 2) * 3", Number::Int(9)),
        ("7 / 2", Number::Int(3)),
        ("-7 / 2", Number::Int(-3)),
        ("7 / 2.0", Number::Float(3.5)),
        ("10 - 3 - 2", Number::Int(5)),
        ("100 / 10 / 5", Number::Int(2)),
        ("n * 4", Number::Int(4000)),
        ("n * r", Number::Float(500.0)),
        ("--3", Number::Int(3)),
        ("2 - -3", Number::Int(5)),
        ("0x10", Number::Int(16)),
        (".5e1f", Number::Float(5.0)),
        ("16u + 1ULL", Number::Int(17)),
        ("0xFFu", Number::Int(255)),
        ("1e-3", Number::Float(1e-3)),
        ("-9223372036854775807 - 1", Number::Int(Number::LEAST)),
        ("18446744073709551615", Number::Int(Number::GREATEST)),
        ("0xcbf29ce484222325 - 1", Number::Int(0xcbf2_9ce4_8422_2324)),
        ("0x8000000000000000 >> 63", Number::Int(1)),
        ("~0 + 0xffffffffffffffff", Number::Int(Number::GREATEST - 1)),
        ("true", Number::Bool(true)),
        ("-9223372036854775808", Number::Int(Number::LEAST)),
        ("-7 % 4", Number::Int(-3)),
        ("5.5 % 2", Number::Float(1.5)),
        ("1 << 3 + 1", Number::Int(16)),
        ("6 & 3 | 8 ^ 1", Number::Int(2 | 9)),
        ("~5", Number::Int(-6)),
        ("1 < 2 == true", Number::Bool(true)),
        ("!(n > 5) || r < 1", Number::Bool(true)),
        ("n > 5 ? 1 : 2.5", Number::Float(1.0)),
        ("n == 0 ? 1 / 0 : 4", Number::Int(4)),
        ("n < 0 && 1 / 0 == 1", Number::Bool(false)),
        ("1 ? 0 ? 1 : 2 : 3", Number::Int(2)),
        ("min(3, -2) + max(1, 2.5)", Number::Float(0.5)),
        ("ceil_div(7, 2) + ceil_div(-7, 2)", Number::Int(1)),
        ("ilog2(1024) + int(floor(2.9)) + int(ceil(-2.9)) + int(-2.9)", Number::Int(8)),
        ("floor(5 / 2.0) / 4", Number::Float(0.5)),
        ("ceil(2) / 4", Number::Float(0.5)),
        ("sqrt(16) + abs(-1) + pow(2, 3)", Number::Float(13.0)),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn faults_have_their_place() {
    let cases = [
        ("", 0, "found the end"),
        ("1 +", 3, "found the end"),
        ("1 / 0", 2, "division by zero"),
        ("1 / 0.0", 2, "division by zero"),
        ("(1 + 2", 0, "never closed"),
        ("1 2", 2, "expected an operator"),
        ("1 + m", 4, "no `m`"),
        ("18446744073709551615 + 1", 21, "64 bits"),
        ("~0xffffffffffffffff", 0, "64 bits"),
        ("99999999999999999999", 0, "64 bits"),
        ("1e999", 0, "finite"),
        ("12abc", 0, "not a number"),
        ("1f", 0, "not a number"),
        ("1uu", 0, "not a number"),
        ("1.2.3", 0, "not a number"),
        ("n + 010", 4, "`010` is an octal number in C"),
        ("-007", 1, "write it without the 0"),
        ("true + 1", 5, "no numbers"),
        ("0xg", 0, "hexadecimal"),
        ("n $ 2", 2, "operator"),
        ("ü", 0, "found `ü`"),
        ("1 << 64", 2, "0 to 63 bits"),
        ("2 << 63", 2, "64 bits"),
        ("1.5 & 2", 4, "two ints"),
        ("true ? 1", 5, "no `:`"),
        ("true ? 1 : false", 5, "no numbers"),
        ("mix(1, 2)", 0, "did you mean `min`"),
        ("min(1)", 0, "2 numbers, not 1"),
        ("min(1, 2", 3, "never closed"),
        ("ilog2(0)", 0, "above 0"),
        ("log(0)", 0, "not a finite number"),
    ];
    for (text, offset, part) in cases {
        let error = value(text).expect_err(text);
        assert!(error.offset == offset && error.text.contains(part), "{text}: {error:?}");
    }
    assert!(value(&"(".repeat(100_000)).is_err());
    assert!(value(&"-".repeat(100_000)).is_err());
}

#[test]
fn terms_have_their_numbers_later() {
    let parse = |text: &str| {
        Expression::parse(text, &mut |name| match name {
            "n" => Ok(Meaning::Number(Number::Int(8))),
            "a" | "b[0].x" | "c.max" => Ok(Meaning::Term(name.to_owned(), Kind::Int)),
            _ => Err(format!("no `{name}`")),
        })
    };
    let value = |text: &str, a: i128| {
        let expression = parse(text).expect(text);
        assert_eq!(expression.constant(), None, "{text}");
        expression.value(&mut |_| Ok(Number::Int(a)))
    };
    assert_eq!(value("1 << a", 5), Ok(Number::Int(32)));
    assert_eq!(value("b[0].x + c.max * n", 2), Ok(Number::Int(18)));
    assert_eq!(value("a > 2 ? 1.5 : a", 1), Ok(Number::Float(1.0)));
    assert_eq!(value("n / a", 0).unwrap_err().text, "division by zero");
    assert_eq!(value("a == 0 ? 0 : n / a", 0), Ok(Number::Int(0)));
    assert_eq!(parse("a > 2 ? 1.5 : a").unwrap().kind(), Kind::Float);
    assert_eq!(parse("a * 2 > 1").unwrap().kind(), Kind::Bool);
    assert_eq!(parse("2 * n").unwrap().constant(), Some(Number::Int(16)));
    // Longer ones would be too deep for the stack.
    assert!(parse(&"a + ".repeat(499)).is_err());
    assert!(parse(&("a + ".repeat(499) + "a")).is_ok());
    assert!(parse(&("a + ".repeat(100_000) + "a")).unwrap_err().text.contains("500"));
    assert!(parse(&"a ? 1 : ".repeat(100_000)).unwrap_err().text.contains("deep"));
    assert!(value(&("1 / 0 + ".repeat(10) + "a"), 1).is_err());
}

/// A tree of random operations, printed, must evaluate to what Rust computes.
#[test]
fn random_expressions_agree_with_rust() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut compared = 0;
    for _ in 0..2000 {
        let (text, expected) = tree(&mut random, 4);
        match (value(&text), expected) {
            (Ok(Number::Int(found)), Some(expected)) => {
                compared += 1;
                assert_eq!(found, expected, "{text}");
            }
            (Err(_), None) => {}
            (found, expected) => panic!("{text}: {found:?}, Rust says {expected:?}"),
        }
    }
    assert!(compared > 1000, "only {compared} had a value");
}

fn tree(random: &mut u64, depth: u32) -> (String, Option<i128>) {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    let choice = *random >> 33;
    if depth == 0 || choice.is_multiple_of(5) {
        let small = i128::from(choice / 5 % 100);
        let value = if choice.is_multiple_of(29) { Number::GREATEST - small } else { small };
        return (value.to_string(), Some(value));
    }
    let (a, x) = tree(random, depth - 1);
    let (b, y) = tree(random, depth - 1);
    let both = |f: fn(i128, i128) -> Option<i128>| {
        let value = x.zip(y).and_then(|(x, y)| f(x, y));
        value.filter(|value| (Number::LEAST..=Number::GREATEST).contains(value))
    };
    match choice % 5 {
        1 => (format!("({a} + {b})"), both(i128::checked_add)),
        2 => (format!("({a}-{b})"), both(i128::checked_sub)),
        3 => (format!("(({a}) * ({b}))"), both(i128::checked_mul)),
        _ => (format!("(({a}) / ({b}))"), both(i128::checked_div)),
    }
}
