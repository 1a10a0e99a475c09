//! That every form of the table of operations runs in a case of `tests/ptx`, or is refused in one.

use std::{collections::BTreeSet, fs, time::Duration};

use warpaint::{
    device::{Device, Error, cpu::LaunchOptions},
    ptx::{
        self,
        ast::{Function, Module, Statement},
        inst::Instruction,
        op::{self, Form, Op},
        operand::{Address, Base, Operand, Symbol},
        types::Type,
    },
};

use super::{execute, execute_within, files, parse};
use crate::fuzz::refused;

/// A byte for each form, which says whether an instruction of it has run.
const RAN: &str = "form_has_run";

/// All forms but those of what is not interpreted, which are opcodes.
fn all() -> Vec<&'static Form> {
    let is_known = |form: &&Form| {
        let op = Op::parse(&form.expand(|_| 0).0).unwrap();
        !matches!(op, Op::Unsupported { .. })
    };
    op::forms().filter(is_known).collect()
}

/// The form that an instruction is of: where several have it, the first, so that the others need one of their own.
fn form_of(module: &Module, function: &Function, item: &Instruction) -> Option<&'static Form> {
    match item.op {
        Op::Call { .. } => op::forms().find(|form| form.notation.starts_with("call")),
        _ => ptx::verify::forms(module, function, item).first().copied(),
    }
}

/// The text with a store before each instruction, under the same guard, to the byte of its form.
fn marked(text: &str, all: &[&Form]) -> String {
    let (head, body) = text.split_once(".address_size 64\n").unwrap();
    let variable = format!(".visible .global .b8 {RAN}[{}];", all.len());
    let mut module = ptx::parse(&format!("{head}.address_size 64\n{variable}\n{body}")).unwrap();
    let variable = module.variables.iter().position(|variable| variable.name == RAN).unwrap();
    let base = Base::Symbol(Symbol::Variable(variable as u32));
    let store = |item: &Instruction, form: &Form| {
        let offset = all.iter().position(|other| *other == form).unwrap() as i64;
        let address = Operand::Address(Address { base, offset });
        let op = Op::parse("st.global.b8").unwrap();
        let store = Instruction::new(op, Vec::new(), vec![address, Operand::Int(1)]);
        Statement::Instruction(Instruction { guard: item.guard, ..store })
    };
    for index in 0..module.functions.len() {
        let function = &module.functions[index];
        let Some(mut body) = function.body.clone() else { continue };
        let with_store = |statement: Statement| {
            let mark = match &statement {
                Statement::Instruction(item) => {
                    form_of(&module, function, item).map(|form| store(item, form))
                }
                Statement::Label(_) | Statement::Pragma(_) => None,
            };
            mark.into_iter().chain([statement])
        };
        body.statements = body.statements.into_iter().flat_map(with_store).collect();
        module.functions[index].body = Some(body);
    }
    ptx::print(&module)
}

/// Which forms run in the case with this text.
fn run(device: &Device, name: &str, text: &str, all: &[&'static Form]) -> Vec<&'static str> {
    let module = device.load(&marked(text, all)).unwrap_or_else(|error| panic!("{name}: {error}"));
    for run in &parse(text).runs {
        let wrong = execute(device, &module, run, name, &LaunchOptions::interpreted());
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
    let stream = device.stream().unwrap();
    let ran = stream.download(module.global(RAN).unwrap()).unwrap().wait().unwrap();
    let ran = all.iter().zip(ran).filter(|(_, ran)| *ran == 1);
    ran.map(|(form, _)| form.notation).collect()
}

/// The forms of the instruction for which the device refuses the case.
fn refused(device: &Device, name: &str, text: &str) -> Vec<&'static str> {
    let Err(Error::UnsupportedPtx { instruction, .. }) = device.load(text) else {
        panic!("{name} is not refused");
    };
    let module = ptx::parse(text).unwrap();
    let mut forms = Vec::new();
    for function in &module.functions {
        for item in function.body.iter().flat_map(|body| body.instructions()) {
            if instruction.starts_with(&ptx::print::instruction(&module, function, item)) {
                let found = ptx::verify::forms(&module, function, item);
                forms.extend(found.iter().map(|form| form.notation));
            }
        }
    }
    forms
}

/// What each form gives, with numbers that were computed elsewhere.
#[test]
fn every_form_runs_in_a_case_or_is_refused_in_one() {
    let device = Device::cpu().unwrap();
    let all = all();
    let (mut ran, mut not_loaded) = (BTreeSet::new(), BTreeSet::new());
    for path in files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        match parse(&text).unsupported {
            None => ran.extend(run(&device, &name, &text, &all)),
            Some(_) => not_loaded.extend(refused(&device, &name, &text)),
        }
    }
    let idle: BTreeSet<&str> =
        all.iter().map(|form| form.notation).filter(|form| !ran.contains(form)).collect();
    let expected = refused::FORMS.iter().map(|(form, _)| *form).collect();
    let lists = [
        ("have no instruction that runs in a case", &idle - &expected),
        ("are refused, but run in a case or are no form", &expected - &idle),
        ("are refused in no case", &expected - &not_loaded),
    ];
    let wrong = lists.iter().filter(|(_, forms)| !forms.is_empty());
    let wrong: Vec<String> = wrong.map(|(what, forms)| format!("{what}: {forms:#?}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The forms of the instructions in a text, each once.
fn forms_in(text: &str) -> Vec<&'static Form> {
    let module = ptx::parse(text).unwrap();
    let mut forms = Vec::new();
    for function in &module.functions {
        for item in function.body.iter().flat_map(|body| body.instructions()) {
            match form_of(&module, function, item) {
                Some(form) if !forms.contains(&form) => forms.push(form),
                Some(_) | None => {}
            }
        }
    }
    forms
}

/// What makes the results of an instruction their complement.
fn spoiled(module: &Module, function: usize, item: &Instruction) -> Vec<Statement> {
    let Some(body) = &module.functions[function].body else { return Vec::new() };
    let results = item.dst.iter().flat_map(Operand::lanes).filter_map(Operand::reg);
    let spoil = |reg| {
        let mnemonic = match body.registers.ty(reg) {
            Type::Pred => "not.pred".to_owned(),
            ty if [16, 32, 64].contains(&ty.bits()) => format!("not.b{}", ty.bits()),
            _ => return None,
        };
        let op = Op::parse(&mnemonic).unwrap();
        let spoil = Instruction::new(op, vec![Operand::Reg(reg)], vec![Operand::Reg(reg)]);
        Some(Statement::Instruction(Instruction { guard: item.guard, ..spoil }))
    };
    results.into_iter().filter_map(spoil).collect()
}

/// The text with the results of all instructions of a form spoiled, or without its stores; `None` where it has none.
fn without(text: &str, form: &Form) -> Option<String> {
    let mut module = ptx::parse(text).unwrap();
    let mut any = false;
    for index in 0..module.functions.len() {
        let Some(mut body) = module.functions[index].body.clone() else { continue };
        let spoil = |statement: Statement| {
            let Statement::Instruction(item) = &statement else { return vec![statement] };
            if form_of(&module, &module.functions[index], item) != Some(form) {
                return vec![statement];
            }
            let mut all = spoiled(&module, index, item);
            any |= !all.is_empty() || item.op.facts().changes;
            if all.is_empty() && item.op.facts().changes {
                return Vec::new();
            }
            all.insert(0, statement);
            all
        };
        body.statements = body.statements.into_iter().flat_map(spoil).collect();
        module.functions[index].body = Some(body);
    }
    any.then(|| ptx::print(&module))
}

/// Longest that a kernel may take whose results are spoiled.
const LIMIT: Duration = Duration::from_secs(1);

/// A form whose result nobody reads would be covered by nothing.
#[test]
fn what_every_form_gives_is_read_in_a_case() {
    let device = Device::cpu().unwrap();
    let (mut read, mut unread) = (BTreeSet::new(), BTreeSet::new());
    for path in files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let case = parse(&text);
        if case.unsupported.is_some() {
            continue;
        }
        for form in forms_in(&text) {
            if read.contains(form.notation) {
                continue;
            }
            let Some(spoiled) = without(&text, form) else { continue };
            let module = device.load(&spoiled).unwrap_or_else(|e| panic!("{name}: {e}"));
            let options = LaunchOptions::interpreted();
            let is_noticed = case.runs.iter().any(|run| {
                !execute_within(Some(LIMIT), &device, &module, run, &name, &options).is_empty()
            });
            if is_noticed {
                read.insert(form.notation);
                unread.remove(form.notation);
            } else {
                unread.insert(form.notation);
            }
        }
    }
    // A policy is a number that means nothing but to the hardware, and memory that is no barrier any more is free.
    let expected =
        |form: &&str| form.starts_with("createpolicy") || form.starts_with("mbarrier.inval");
    let (hidden, unread): (Vec<&str>, Vec<&str>) = unread.into_iter().partition(expected);
    assert!(unread.is_empty(), "what these give is read in no case: {unread:#?}");
    assert_eq!(hidden.len(), 4, "{hidden:#?}");
    let seen = all().len() - hidden.len() - refused::FORMS.len();
    eprintln!("{} of {seen} forms have a result or change memory, and are read", read.len());
}
