//! `each`: the numbers of each element, as expressions of its place.

use toml::{Spanned, de::DeValue};

use super::fields::{Fields, sorted, unknown_constant};
use crate::scene::{Content, Each, EachField, EachTerm, Initial, Type, expression::Meaning};

/// Reads `value`, which is that of `each`, for elements of a type, where that is known.
pub(super) fn each(
    table: &Fields<'_, '_, '_>,
    value: &Spanned<DeValue<'_>>,
    of: Option<&Type>,
) -> Option<Initial> {
    let mut fields = Vec::new();
    add(table, String::new(), value, &mut fields)?;
    let is_table = value.get_ref().as_table().is_some();
    if is_table && of.is_some_and(|of| of.structure().is_none()) {
        let text = "only structures have fields: `each` is an expression here, or a list of one for each component";
        table.report.error(value.span(), text);
        return None;
    }
    let at = table.report.position(&value.span());
    Some(Initial { content: Content::Each(Each { fields }), at: Some(at) })
}

/// Adds what `value` says of the field `path`, or of those within it.
fn add(
    table: &Fields<'_, '_, '_>,
    path: String,
    value: &Spanned<DeValue<'_>>,
    found: &mut Vec<EachField>,
) -> Option<()> {
    if let Some(fields) = value.get_ref().as_table() {
        return sorted(fields).into_iter().try_for_each(|(name, value)| {
            let before = if path.is_empty() { String::new() } else { format!("{path}.") };
            add(table, format!("{before}{}", name.get_ref()), value, found)
        });
    }
    let mut resolve = |name: &str| {
        // `i` and `random` mean one thing, whatever constants there are.
        let constant = || table.constants.iter().find(|constant| constant.name == name);
        let number = || constant().map(|constant| Meaning::<EachTerm>::Number(constant.value));
        EachTerm::meaning(name).or_else(number).ok_or_else(|| {
            let text = unknown_constant(name, table.constants);
            format!("{text}; `i` is the element's place, and `random` from 0 up to 1")
        })
    };
    let list = value.get_ref().as_array();
    if list.is_some_and(|list| list.is_empty()) {
        table.report.error(value.span(), "`each` has no expression in this list");
        return None;
    }
    let all = list.map_or(std::slice::from_ref(value), |list| &list[..]);
    let numbers = all.iter().map(|value| table.formula_in("each", value, &mut resolve));
    let numbers = numbers.collect::<Option<Vec<_>>>()?;
    found.push(EachField { path, numbers, at: table.report.position(&value.span()) });
    Some(())
}
