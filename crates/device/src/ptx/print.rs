//! [`Module`] to text, which a driver accepts and [`parse`](super::parse) reads back to an equal module.
//!
//! Enters: a module. Leaves: its text. Must not know: `ptx::lexer`, `ptx::parser`, `ptx::pass`.

/// Writes to a string, which cannot fail.
macro_rules! put {
    ($out:expr, $($text:tt)*) => {{
        use ::std::fmt::Write as _;
        let _ = $out.write_fmt(format_args!($($text)*));
    }};
}

mod function;

use super::ast::{
    Directive, Function, FunctionKind, Init, Item, Linkage, Module, Param, Value, Variable,
};
use super::inst::Op;
use super::operand::Symbol;
use super::quoted::quoted;

/// The text of `module`.
pub fn print(module: &Module) -> String {
    let mut out = String::new();
    let (major, minor) = module.version;
    line(&mut out, format_args!(".version {major}.{minor}"));
    if !module.target.is_empty() {
        line(&mut out, format_args!(".target {}", module.target.join(", ")));
    }
    line(&mut out, format_args!(".address_size {}\n", module.address_size));
    for item in &module.items {
        match item {
            Item::Variable(index) => {
                if let Some(variable) = module.variables.get(*index as usize) {
                    line(&mut out, format_args!("{};", declared(module, None, variable)));
                }
            }
            Item::Declaration(index) | Item::Definition(index) => {
                let Some(function) = module.functions.get(*index as usize) else { continue };
                head(&mut out, function);
                match (item, &function.body) {
                    (Item::Definition(_), Some(body)) => {
                        function::body(&mut out, module, function, body);
                    }
                    _ => out.push_str(";\n"),
                }
            }
        }
    }
    for (number, file) in &module.files {
        put!(out, ".file {number} {}", quoted(file.name.as_bytes()));
        if let Some((time, bytes)) = file.stamp {
            put!(out, ", {time}, {bytes}");
        }
        out.push('\n');
    }
    for section in &module.sections {
        line(&mut out, format_args!(".section {}\n{{\n{}\n}}", section.name, section.text));
    }
    out
}

/// The opcode of `op` with its modifiers, such as `ld.global.v4.f32`.
pub fn mnemonic(op: &Op) -> String {
    op.mnemonic()
}

/// One instruction as it stands in `function`, with its guard, without its semicolon: for messages.
pub fn instruction(
    module: &Module,
    function: &Function,
    instruction: &super::inst::Instruction,
) -> String {
    let mut out = String::new();
    if let Some(body) = &function.body {
        function::instruction(&mut out, &function::Names { module, function, body }, instruction);
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    put!(out, "{text}");
    out.push('\n');
}

const fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Internal => "",
        Linkage::Extern => ".extern ",
        Linkage::Visible => ".visible ",
        Linkage::Weak => ".weak ",
        Linkage::Common => ".common ",
    }
}

/// A variable's declaration without its semicolon.
fn declared(module: &Module, function: Option<&Function>, variable: &Variable) -> String {
    let mut out = String::from(linkage(variable.linkage));
    put!(out, ".{}", variable.space);
    if let Some(bank) = variable.bank {
        put!(out, "[{bank}]");
    }
    if let Some(attribute) = &variable.attribute {
        put!(out, " .attribute({attribute})");
    }
    if let Some(align) = variable.align {
        put!(out, " .align {align}");
    }
    if variable.lanes > 1 {
        put!(out, " .v{}", variable.lanes);
    }
    put!(out, " .{} {}", variable.ty, variable.name);
    for dim in &variable.dims {
        match dim {
            0 => out.push_str("[]"),
            dim => {
                put!(out, "[{dim}]");
            }
        }
    }
    if let Some(init) = &variable.init {
        out.push_str(" = ");
        initial(&mut out, module, function, init);
    }
    out
}

fn initial(out: &mut String, module: &Module, function: Option<&Function>, init: &Init) {
    match init {
        Init::Value(value) => initial_value(out, module, function, *value),
        Init::Text(bytes) => {
            out.push_str(&quoted(bytes));
        }
        Init::List(list) => {
            out.push('{');
            for (at, part) in list.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                initial(out, module, function, part);
            }
            out.push('}');
        }
    }
}

fn initial_value(out: &mut String, module: &Module, function: Option<&Function>, value: Value) {
    let address = match value {
        Value::Int(value) => return put!(out, "{value}"),
        Value::F32(bits) => return put!(out, "0f{bits:08X}"),
        Value::F64(bits) => return put!(out, "0d{bits:016X}"),
        Value::Address(address) => address,
    };
    let name = symbol(module, function, address.symbol);
    if let Some(mask) = address.mask {
        put!(out, "{mask:#x}(");
    }
    if address.generic {
        put!(out, "generic({name})");
    } else {
        out.push_str(name);
    }
    offset(out, address.offset);
    if address.mask.is_some() {
        out.push(')');
    }
}

fn symbol<'a>(module: &'a Module, function: Option<&'a Function>, symbol: Symbol) -> &'a str {
    match (function, symbol) {
        (Some(function), symbol) => function.symbol_name(module, symbol),
        (None, Symbol::Variable(index)) => {
            module.variables.get(index as usize).map_or("?", |variable| &variable.name)
        }
        (None, Symbol::Function(index)) => {
            module.functions.get(index as usize).map_or("?", |function| &function.name)
        }
        // Of a function.
        (None, Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_)) => "?",
    }
}

/// `+ n`, where it is not zero.
fn offset(out: &mut String, offset: i64) {
    if offset != 0 {
        put!(out, "+{offset}"); // `+-4`: what drivers read
    }
}

/// A function's declaration up to its body or semicolon.
fn head(out: &mut String, function: &Function) {
    out.push_str(linkage(function.linkage));
    out.push_str(if function.kind == FunctionKind::Entry { ".entry " } else { ".func " });
    if let Some(attribute) = &function.attribute {
        put!(out, ".attribute({attribute}) ");
    }
    if !function.returns.is_empty() {
        params(out, &function.returns);
        out.push(' ');
    }
    out.push_str(&function.name);
    params(out, &function.params);
    directives(out, &function.directives);
}

fn params(out: &mut String, list: &[Param]) {
    out.push('(');
    for (at, param) in list.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        out.push_str(if param.in_reg { ".reg" } else { ".param" });
        if let Some(align) = param.align {
            put!(out, " .align {align}");
        }
        put!(out, " .{}", param.ty);
        if let Some(pointer) = &param.pointer {
            put!(out, " {pointer}");
        }
        let name = if param.name.is_empty() { "_" } else { &param.name };
        put!(out, " {name}");
        match param.count {
            None => {}
            Some(0) => out.push_str("[]"),
            Some(count) => put!(out, "[{count}]"),
        }
    }
    out.push(')');
}

fn directives(out: &mut String, list: &[Directive]) {
    for directive in list {
        put!(out, "\n.{}", directive.name);
        for (at, number) in directive.numbers.iter().enumerate() {
            put!(out, "{} {number}", if at == 0 { "" } else { "," });
        }
        for (at, text) in directive.strings.iter().enumerate() {
            put!(out, "{} {}", if at == 0 { "" } else { "," }, quoted(text.as_bytes()));
        }
        if directive.name == "pragma" {
            out.push(';');
        }
    }
}
