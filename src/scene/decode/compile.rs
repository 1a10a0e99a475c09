//! `[compile]`: how the source is compiled.

use super::fields::{Fields, sorted};
use crate::scene::{
    Overrides,
    compile_options::{CompileOptions, STANDARDS},
};

/// Macros and folders of a manifest.
const MOST: usize = 1000;

pub(super) fn decode(fields: &mut Fields<'_, '_, '_>, overrides: &Overrides) -> CompileOptions {
    let mut options = CompileOptions::default();
    if let Some(mut table) = fields.table("compile") {
        defines(&mut table, &mut options);
        options.standard = table.line("standard");
        if let Some(standard) = &options.standard
            && !STANDARDS.contains(&standard.as_str())
        {
            let text = format!("`standard` must be one of {}", STANDARDS.join(", "));
            table.complain_about("standard", text);
        }
        let folders = table.list("include").unwrap_or_default();
        if folders.len() > MOST {
            table.complain_about("include", format!("`include` takes {MOST} folders at most"));
        }
        for value in folders.iter().take(MOST) {
            match value.get_ref().as_str().filter(|text| !text.contains(char::is_control)) {
                Some(folder) => options.include.push(folder.into()),
                None => table.report.error(value.span(), "`include` takes names of folders"),
            }
        }
        options.fast_math = table.boolean("fast_math").unwrap_or(false);
        let registers = table.integer("max_registers", 16, 255);
        options.max_registers = registers.and_then(|count| u32::try_from(count).ok());
        table.finish();
    }
    options.defines.extend(overrides.defines.clone());
    options.fast_math = overrides.fast_math.unwrap_or(options.fast_math);
    options
}

/// `define = { N = 1024, DEBUG = true, TYPE = "float" }`; `false` defines nothing.
fn defines(table: &mut Fields<'_, '_, '_>, options: &mut CompileOptions) {
    let Some(value) = table.take("define") else { return };
    let Some(defines) = value.get_ref().as_table() else {
        return table.complain_about("define", "`define` must be a table, such as { N = 1024 }");
    };
    if defines.len() > MOST {
        table.complain_about("define", format!("`define` takes {MOST} macros at most"));
    }
    for (key, value) in sorted(defines).into_iter().take(MOST) {
        let name: &str = key.get_ref();
        if !is_macro(name) {
            table.report.error(key.span(), format!("`{name}` cannot be a macro's name"));
            continue;
        }
        let text = match (value.get_ref().as_bool(), value.get_ref().as_str()) {
            (Some(true), _) => Some("1".to_owned()),
            (Some(false), _) => continue,
            (None, Some(text)) => {
                Some(text.to_owned()).filter(|text| !text.contains(char::is_control))
            }
            (None, None) => table.number_in("define", value).map(|number| number.to_string()),
        };
        match text {
            Some(text) => drop(options.defines.insert(name.to_owned(), text)),
            None => table.report.error(value.span(), format!("`{name}` needs a value on one line")),
        }
    }
}

/// Whether a macro can be called so.
pub(crate) fn is_macro(name: &str) -> bool {
    super::is_identifier(name)
}
