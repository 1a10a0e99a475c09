//! Linking, as text: what the directives mean, and that nothing else changes.

use super::{Input, link};
use crate::ptx::ast::{Init, Module, Value};
use crate::ptx::operand::Symbol;
use crate::ptx::{parse, print, verify};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn input(name: &str, text: &str, lines_before: u32) -> Input {
    let module = parse(&format!("{HEAD}{text}")).unwrap_or_else(|found| panic!("{}", found[0]));
    Input { name: name.to_owned(), module, lines_before }
}

/// Links texts that are called `a`, `b`, …; `f` needs no definition.
fn linked(texts: &[&str]) -> Result<Module, String> {
    let names = ["a", "b", "c"].into_iter().zip(texts);
    let inputs = names.map(|(name, text)| input(name, text, 0)).collect();
    let module = link(inputs, &["f"]);
    let module = module.map_err(|found| {
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        found.join("\n")
    })?;
    assert_eq!(verify(&module), []);
    let again = parse(&print(&module)).unwrap_or_else(|found| panic!("{}", found[0]));
    assert_eq!(print(&again), print(&module));
    Ok(module)
}

/// What a variable holds at first.
fn value(module: &Module, name: &str) -> Option<i64> {
    match module.variable(name).unwrap().init {
        Some(Init::Value(Value::Int(value))) => Some(value),
        _ => None,
    }
}

/// The variable that the address in another one is of.
fn pointed<'a>(module: &'a Module, name: &str) -> &'a str {
    match module.variable(name).unwrap().init {
        Some(Init::Value(Value::Address(address))) => match address.symbol {
            Symbol::Variable(index) => &module.variables[index as usize].name,
            Symbol::Function(index) => &module.functions[index as usize].name,
            Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) => panic!("{address:?}"),
        },
        _ => panic!("{name}"),
    }
}

#[test]
fn the_strongest_definition_counts_in_any_order() {
    let texts = [
        ".extern .global .u32 x; .visible .global .u64 p = x;",
        ".weak .global .u32 x = 2;",
        ".visible .global .u32 x = 3;",
    ];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 1, 0]] {
        let module = linked(&order.map(|at| texts[at])).unwrap();
        assert_eq!(module.variables.len(), 2);
        assert_eq!((value(&module, "x"), pointed(&module, "p")), (Some(3), "x"));
    }
    let weak = [".weak .global .u32 x = 2;", ".weak .global .u32 x = 1;"];
    assert_eq!(value(&linked(&weak).unwrap(), "x"), Some(2), "the first of weak ones");
    let common = [".common .global .u32 x;", weak[0]];
    assert_eq!(value(&linked(&common).unwrap(), "x"), None, "`.common` before `.weak`");
}

#[test]
fn of_common_variables_the_largest_counts() {
    let texts = [
        ".common .global .b8 x[4];",
        ".common .global .b8 x[16];",
        ".common .global .align 8 .b8 x[2];",
    ];
    let module = linked(&texts).unwrap();
    let x = module.variable("x").unwrap();
    assert_eq!((module.variables.len(), x.bytes(), x.alignment()), (1, 16, 8));
    let strong = linked(&[texts[1], ".visible .global .u32 x = 5;"]).unwrap();
    assert_eq!(value(&strong, "x"), Some(5));
    for small in
        [[".common .global .u32 x = 1;", texts[1]], [texts[1], ".common .global .u32 x = 1;"]]
    {
        let error = linked(&small).unwrap_err();
        assert!(
            error.contains("`x` has an initialiser that is not that of the largest"),
            "{error}"
        );
    }
}

#[test]
fn own_names_stay_apart() {
    let own = ".global .u32 x = 1; .global .u64 p = x; .func g() { ret; }
        .visible .entry k() { .shared .b8 s[4]; call g, (); ret; }";
    let other = own.replace("= 1", "= 2").replace("entry k", "entry l");
    let module = linked(&[own, &other, ".visible .global .u32 x = 3;"]).unwrap();
    let values = ["x", "x$1", "x$2"].map(|name| value(&module, name).unwrap());
    assert_eq!(values, [3, 1, 2]);
    assert_eq!(["p", "p$1"].map(|name| pointed(&module, name)), ["x$1", "x$2"]);
    for (kernel, callee) in [("k", "g"), ("l", "g$1")] {
        let body = module.function(kernel).unwrap().body.as_ref().unwrap();
        let called = body.instructions().find_map(|i| i.callee()).unwrap();
        assert_eq!(module.functions[called as usize].name, callee);
    }
}

#[test]
fn dynamic_shared_memory_is_one() {
    let text = ".extern .shared .align 4 .b8 s[]; .visible .func K() { .reg .b32 %r; mov.u32 %r, s; ret; }";
    let wider = text.replace("align 4", "align 16").replace('K', "l");
    let module = linked(&[text, &wider]).unwrap();
    let [s] = &module.variables[..] else { panic!("{:?}", module.variables) };
    assert!(s.is_dynamic() && s.alignment() == 16);
}

#[test]
fn functions_are_found_through_all_that_names_them() {
    let user = ".extern .func (.reg .b32 r) g(.reg .b32 a);
        .visible .global .u64 table[2] = {g, g};
        .visible .func (.reg .b32 r) u(.reg .b64 p)
        {
            targets: .calltargets g;
            call (r), p, (1), targets;
            call (r), g, (2);
            ret;
        }";
    let definer = ".visible .func other() { ret; }
        .visible .func (.reg .b32 r) g(.reg .b32 a) { mov.b32 r, a; ret; }";
    for texts in [[user, definer], [definer, user]] {
        expect_calls(&linked(&texts).unwrap());
    }
}

/// Whether `u` calls `g`, which is defined, directly and through its list of targets.
fn expect_calls(module: &Module) {
    let of = |name: &str| module.functions.iter().position(|f| f.name == name).unwrap() as u32;
    assert!(module.function("g").unwrap().body.is_some());
    let body = module.function("u").unwrap().body.as_ref().unwrap();
    assert_eq!(body.prototypes[0].targets.as_deref(), Some(&[of("g")][..]));
    assert_eq!(body.instructions().find_map(|i| i.callee()), Some(of("g")));
}

#[test]
fn what_does_not_go_together_is_named() {
    let g = ".visible .func (.reg .b32 r) g(.reg .b32 a) { mov.b32 r, a; ret; }";
    let x = ".visible .const .align 4 .b8 x[16];";
    let call = |g: &str| format!(".extern .func {g}; .visible .func u() {{ ret; }}");
    for (texts, expected) in [
        ([g.to_owned(), g.to_owned()], "b: error: `g` is defined in both, here and in `a`"),
        ([x.to_owned(), x.to_owned()], "b: error: `x` is defined in both, here and in `a`"),
        (
            [x.to_owned(), ".extern .const .b8 x[12];".to_owned()],
            "b: error: `x` is 12 bytes of `.const` here, but 16 bytes of `.const` in `a`",
        ),
        (
            [".extern .global .b8 x[16];".to_owned(), x.to_owned()],
            "a: error: `x` is 16 bytes of `.global` here, but 16 bytes of `.const` in `b`",
        ),
        (
            [call("(.reg .b32 r) g(.reg .b64 a)"), g.to_owned()],
            "a: error: `g` is `.func (.b32) (.b64)` here, but `.func (.b32) (.b32)` in `b`",
        ),
        ([call("g()"), ".visible .entry g() { ret; }".to_owned()], "`.entry ()` in `b`"),
        ([x.replace(" x", " g"), g.to_owned()], "`g` is defined in both"),
        ([x.to_owned(), call("x()")], "b: error: `x` is `.func () ()` here"),
        (
            [".extern .global .u32 y; .visible .global .u64 p = y;".to_owned(), x.to_owned()],
            "a: error: `y` is used in `a`, but nothing defines it",
        ),
    ] {
        let error = linked(&[&texts[0], &texts[1]]).unwrap_err();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
    let open = [".extern .const .b8 x[];", x, ".extern .const .b8 x[16];"];
    assert_eq!(linked(&open).unwrap().variable("x").unwrap().bytes(), 16);
    let mut narrow = input("b", "", 0);
    narrow.module.address_size = 32;
    let error = link(vec![input("a", "", 0), narrow], &[]).unwrap_err();
    assert!(error[0].text.contains("its addresses have 32 bits"), "{error:?}");
}

#[test]
fn what_is_provided_or_not_used_needs_no_definition() {
    let text = ".extern .func f(); .extern .func g(); .extern .global .u32 x;
        .visible .entry k() { call f, (); ret; }";
    assert!(linked(&[text, text.replace("entry k", "entry l").as_str()]).is_ok());
}

#[test]
fn places_and_lines_keep_what_they_say() {
    let text = |file: &str, kernel: &str, line: u32| {
        format!(
            ".extern .func g();\n.visible .entry {kernel}()\n{{\n.loc 1 {line} 3\n\
             .loc 2 7 5, function_name $label, inlined_at 1 {line} 3\ncall g, ();\nret;\n}}\n\
             .file 1 \"{file}\"\n.file 2 \"common.cuh\"\n.section .debug_str\n{{\n$label:\n.b8 103, 0\n}}\n\
             .section .debug_info\n{{\n.b8 1\n}}\n"
        )
    };
    let inputs = || {
        let second = text("b.cu", "l", 20).replace("103", "104");
        vec![input("a", &text("a.cu", "k", 10), 0), input("b", &second, 100)]
    };
    let module = link(inputs(), &["g"]).unwrap();
    let files: Vec<_> = module.files.values().map(|file| &*file.name).collect();
    assert_eq!(files, ["a.cu", "common.cuh", "b.cu"]);
    for (kernel, name, file, line, ptx) in [("k", "g", "a.cu", 10, 9), ("l", "h", "b.cu", 20, 109)]
    {
        let body = module.function(kernel).unwrap().body.as_ref().unwrap();
        let call = body.instructions().next().unwrap();
        let place = module.location(call.location.unwrap()).unwrap();
        assert_eq!((module.file_name(place.file), place.line), ("common.cuh", 7));
        let chain = module.inline_chain(call.location.unwrap());
        assert_eq!(
            (chain[0].0, module.file_name(chain[0].1.file), chain[0].1.line),
            (name, file, line)
        );
        assert_eq!(call.line, ptx);
    }
    let again = parse(&print(&module)).unwrap();
    assert_eq!(again.debug_strings, module.debug_strings);
    let error = link(inputs(), &[]).unwrap_err();
    assert_eq!(
        error[0].to_string(),
        "common.cuh:7:5: error: `g` is used in `a`, but nothing defines it"
    );
}

#[test]
fn the_newest_version_and_architecture_count() {
    let mut inputs = vec![input("a", "", 0), input("b", "", 0)];
    inputs[0].module.version = (8, 8);
    inputs[1].module.target = vec!["sm_90a".to_owned(), "debug".to_owned()];
    let module = link(inputs, &[]).unwrap();
    assert_eq!((module.version, module.target.join(" ")), ((8, 8), "sm_90a debug".to_owned()));
}
