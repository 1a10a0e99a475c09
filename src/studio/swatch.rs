//! Colours that stand in a manifest: a list of three or four numbers, in a table with `kind = "color"`.

/// The colour on a line of `lines`, red, green and blue from 0 to 1.
pub fn color_on(lines: &[String], line: usize) -> Option<[f32; 3]> {
    let (_, value) = lines.get(line)?.split_once('=')?;
    let list = value.trim().strip_prefix('[')?.split_once(']')?.0;
    let numbers: Option<Vec<f32>> = list.split(',').map(|of| of.trim().parse().ok()).collect();
    let [red, green, blue, ..] = numbers.filter(|of| matches!(of.len(), 3 | 4))?[..] else {
        return None;
    };
    let is_head = |line: &&String| line.trim_start().starts_with('[');
    let before = lines[..line].iter().rev().take_while(|line| !is_head(line));
    let behind = lines[line + 1..].iter().take_while(|line| !is_head(line));
    let is_color = |line: &String| {
        let found = line.split_once('=').filter(|(key, _)| key.trim() == "kind");
        found.is_some_and(|(_, value)| value.trim().starts_with("\"color\""))
    };
    let sound = [red, green, blue].map(|part| part.clamp(0.0, 1.0));
    before.chain(behind).any(is_color).then_some(sound)
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
        let odd = ["value = [1, x, 0]", "value = [1, 2]", "value = [", "kind = \"color\""];
        let odd: Vec<String> = odd.map(str::to_owned).to_vec();
        assert!((0..4).all(|line| color_on(&odd, line).is_none()));
    }
}
