//! Inlining, as text: what comes out must be PTX that means the same (`tests/ptx/functions.ptx` runs it).

use super::{Need, inline};
use crate::ptx::ast::Module;
use crate::ptx::inst::Op;
use crate::ptx::pass::lift_shared::lift_shared;
use crate::ptx::{parse, print, verify};

fn read(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|diagnostics| panic!("{}", diagnostics[0]));
    assert_eq!(verify(&module), [], "{text}");
    module
}

/// What must be inlined by its name.
fn needs(module: &Module, names: &[&str]) -> Vec<Need> {
    let must = |name: &str| if names.contains(&name) { Need::Must } else { Need::None };
    module.functions.iter().map(|function| must(&function.name)).collect()
}

fn calls(module: &Module, function: &str) -> usize {
    let body = module.function(function).and_then(|f| f.body.as_ref()).unwrap();
    body.instructions().filter(|i| matches!(i.op, Op::Call { .. })).count()
}

/// The module is without fault, and its text means it.
fn expect_round_trip(module: &Module) {
    assert_eq!(verify(module), [], "{}", print(module));
    let again = read(&print(module));
    assert_eq!(print(&again), print(module));
    for (a, b) in again.functions.iter().zip(&module.functions) {
        assert_eq!(a.body.is_some(), b.body.is_some());
        let (Some(a), Some(b)) = (&a.body, &b.body) else { continue };
        let instructions = |m: &Module, f: &crate::ptx::ast::Body| -> Vec<String> {
            let chain =
                |id| m.inline_chain(id).into_iter().map(|(name, _)| name.to_owned()).collect();
            let place = |i: &crate::ptx::inst::Instruction| -> Vec<String> {
                i.location.map_or_else(Vec::new, chain)
            };
            f.instructions().map(|i| format!("{:?} {:?}", i.op, place(i))).collect()
        };
        assert_eq!(instructions(&again, a), instructions(module, b));
    }
}

const CASES: &str = include_str!("../../../../../../tests/ptx/functions.ptx");

#[test]
fn what_waits_becomes_part_of_the_kernels() {
    let mut module = read(CASES);
    lift_shared(&mut module);
    expect_round_trip(&module);
    let needs = needs(&module, &["meet", "fifth", "swap", "odd", "lanes"]);
    let gone = inline(&mut module, &needs).unwrap();
    for (kernel, left) in [("meets", 0), ("guarded", 0), ("pointers", 1), ("nested", 1)] {
        assert_eq!(calls(&module, kernel), left, "{kernel}");
    }
    let names = module.functions.iter().map(|function| function.name.as_str());
    let gone: Vec<&str> = names.zip(gone).filter(|(_, gone)| *gone).map(|(name, _)| name).collect();
    assert_eq!(gone, ["meet", "fifth", "swap", "odd", "lanes", "outer"]);
    expect_round_trip(&module);
}

#[test]
fn shared_memory_of_a_function_is_there_once() {
    let mut module = read(CASES);
    lift_shared(&mut module);
    let shared = module.variables.iter().filter(|v| v.name.starts_with("mail")).count();
    assert_eq!(shared, 1);
    assert!(module.function("meet").unwrap().body.as_ref().unwrap().locals.is_empty());
}

const RECURSIVE: &str = "
.version 7.0
.target sm_80
.address_size 64
.func inner() { bar.sync 0; ret; }
.func again(.param .b32 n) {
    .reg .b32 %r<2>;
    .reg .pred %p<2>;
    ld.param.u32 %r1, [n];
    setp.eq.s32 %p1, %r1, 0;
    @%p1 ret;
    call inner;
    { .param .b32 p; st.param.b32 [p], %r1; call again, (p); }
    ret;
}
.visible .entry k() { { .param .b32 p; st.param.b32 [p], 3; call again, (p); } ret; }
";

#[test]
fn recursion_is_refused_where_it_must_be_inlined_and_left_alone_elsewhere() {
    let mut module = read(RECURSIVE);
    let needs = needs(&module, &["inner"]);
    let refused = inline(&mut module, &needs).unwrap_err();
    assert_eq!(module.functions[refused.function as usize].name, "again");
    let mut module = read(RECURSIVE);
    let needs: Vec<Need> = needs.iter().map(|need| (*need).min(Need::Better)).collect();
    inline(&mut module, &needs).unwrap();
    assert_eq!((calls(&module, "again"), calls(&module, "k")), (1, 1));
    expect_round_trip(&module);
}

#[test]
fn places_say_through_which_call_they_came() {
    let text = "
.version 7.0
.target sm_80
.address_size 64
.file 1 \"a.cu\"
.func inner() {
    .loc 1 3 5
    bar.sync 0;
    ret;
}
.func outer() {
    .loc 1 7 5
    call inner;
    ret;
}
.visible .entry k() {
    .loc 1 11 5
    call outer;
    .loc 1 12 5
    call outer;
    ret;
}
";
    let mut module = read(text);
    let needs = needs(&module, &["inner"]);
    inline(&mut module, &needs).unwrap();
    expect_round_trip(&module);
    let body = module.function("k").unwrap().body.as_ref().unwrap();
    let chains: Vec<Vec<(String, u32)>> = body
        .instructions()
        .filter(|i| matches!(i.op, Op::Bar { .. }))
        .filter_map(|i| i.location)
        .map(|id| {
            let chain = module.inline_chain(id).into_iter();
            chain.map(|(name, site)| (name.to_owned(), site.line)).collect()
        })
        .collect();
    let chain = |line| vec![("inner".to_owned(), 7), ("outer".to_owned(), line)];
    assert_eq!(chains, [chain(11), chain(12)]);
}

#[test]
fn calls_that_double_each_time_end() {
    let mut text = String::from(
        ".version 7.0\n.target sm_80\n.address_size 64\n.func f0() { bar.sync 0; ret; }\n",
    );
    for level in 1..40 {
        let inner = level - 1;
        text += &format!(".func f{level}() {{ call f{inner}; call f{inner}; ret; }}\n");
    }
    text += ".visible .entry k() { call f39; ret; }\n";
    let mut module = read(&text);
    let must = needs(&module, &["f0"]);
    assert!(inline(&mut module, &must).unwrap_err().why.contains("too large"));
    let mut module = read(&text);
    let better: Vec<Need> = must.iter().map(|need| (*need).min(Need::Better)).collect();
    inline(&mut module, &better).unwrap();
    expect_round_trip(&module);
}
