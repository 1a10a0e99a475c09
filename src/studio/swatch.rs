//! Colours that stand in a manifest: a list of three or four numbers, in a table with `kind = "color"`.

use std::ops::Range;

/// The colour on a line of `lines`, red, green and blue from 0 to 1.
pub fn color_on(lines: &[String], line: usize) -> Option<[f32; 3]> {
    let own = lines.get(line)?;
    let list: String = own.chars().skip(list_on(own)?.start).collect();
    let color = numbers(&list)?;
    let is_head = |line: &&String| line.trim_start().starts_with('[');
    let before = lines[..line].iter().rev().take_while(|line| !is_head(line));
    let behind = lines[line + 1..].iter().take_while(|line| !is_head(line));
    let is_color = |line: &String| {
        let found = line.split_once('=').filter(|(key, _)| key.trim() == "kind");
        found.is_some_and(|(_, value)| value.trim().starts_with("\"color\""))
    };
    before.chain(behind).any(is_color).then_some(color)
}

/// Where the list of a line stands that a key has as its value, in characters, with its brackets.
pub fn list_on(line: &str) -> Option<Range<usize>> {
    let value = line.find('=')? + 1;
    let start = value + line[value..].find(|c: char| !c.is_whitespace())?;
    let end = start + line[start..].strip_prefix('[')?.find(']')? + 2;
    let characters = |byte: usize| line[..byte].chars().count();
    Some(characters(start)..characters(end))
}

/// The colour that a list begins with, red, green and blue from 0 to 1.
pub fn numbers(list: &str) -> Option<[f32; 3]> {
    let list = list.strip_prefix('[')?.split_once(']')?.0;
    let numbers: Option<Vec<f32>> = list.split(',').map(|of| of.trim().parse().ok()).collect();
    let are_numbers =
        |of: &Vec<f32>| matches!(of.len(), 3 | 4) && of.iter().all(|of| of.is_finite());
    let [red, green, blue, ..] = numbers.filter(are_numbers)?[..] else {
        return None;
    };
    Some([red, green, blue].map(|part| part.clamp(0.0, 1.0)))
}

/// A list with another colour; its blanks, and a fourth number, stay.
pub fn written(list: &str, color: [f32; 3]) -> Option<String> {
    let parts = list.strip_prefix('[')?.strip_suffix(']')?.split(',').enumerate();
    let part = |(at, part): (usize, &str)| match color.get(at) {
        Some(value) => {
            let rounded = (f64::from(*value) * 1e3).round() / 1e3;
            part.replacen(part.trim(), &format!("{rounded:?}"), 1)
        }
        None => part.to_owned(),
    };
    let parts: Vec<String> = parts.map(part).collect();
    Some(format!("[{}]", parts.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_tables_that_say_so() {
        let text = "[param.tint]\nvalue = [1, 0.5, 0]  # warm\nkind  = \"color\"\n\
                    [view]\nbox = [1, 1, 1]\nkind = \"image\"";
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let found: Vec<_> = (0..8).map(|line| color_on(&lines, line)).collect();
        assert_eq!(found[1], Some([1.0, 0.5, 0.0]));
        assert!(found.iter().enumerate().all(|(line, of)| line == 1 || of.is_none()), "{found:?}");
        let odd = ["value = [1, nan, 0]", "value = [1, 2]", "value = [", "kind = \"color\""];
        let odd: Vec<String> = odd.map(str::to_owned).to_vec();
        assert!((0..4).all(|line| color_on(&odd, line).is_none()));
        let odd = ["value = [1, x, 0]", "value = [1, 2]", "value = [", "kind = \"color\""];
        let odd: Vec<String> = odd.map(str::to_owned).to_vec();
        assert!((0..4).all(|line| color_on(&odd, line).is_none()));
    }
}
