//! Where a text declares its resources.

/// The tables of a manifest that declare resources.
const TABLES: [&str; 3] = ["buffer", "array", "texture"];

/// Where the keys of the resource `name` begin, in characters: behind the line of its table's name. It was on `line`
/// (from 1) when the text was compiled; the text may have gone on since.
pub fn keys_of(text: &str, name: &str, line: u32) -> Option<usize> {
    let mut end = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        end += line.chars().count();
        (line, end)
    });
    let found: Vec<(usize, usize)> = (1..)
        .zip(lines)
        .filter(|(_, (line, _))| declares(line, name))
        .map(|(number, (_, end))| (number, end))
        .collect();
    let nearest = found.iter().min_by_key(|(number, _)| number.abs_diff(line as usize));
    nearest.map(|(_, end)| *end)
}

/// Whether a line is `[array.NAME]`, or another table of a resource of this name.
fn declares(line: &str, name: &str) -> bool {
    let table = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((kind, own)) = table.and_then(|(table, _)| table.split_once('.')) else {
        return false;
    };
    let own = own.trim().trim_matches(['"', '\'']);
    line.ends_with('\n') && TABLES.contains(&kind.trim()) && own == name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_resource_begin_behind_its_name() {
        let text = "/*---\n[array.a]\ncount = 1\n[ buffer . \"b\" ] # the other\ntype = \"int\"\n[array.ab]\n---*/\n";
        let rest =
            |name, line| keys_of(text, name, line).map(|at| text[at..].lines().next().unwrap());
        assert_eq!(rest("a", 2), Some("count = 1"));
        assert_eq!(rest("b", 4), Some("type = \"int\""));
        assert_eq!(rest("b", 1), Some("type = \"int\""), "lines have come since");
        assert_eq!(rest("ab", 1), Some("---*/"));
        assert_eq!(rest("c", 1), None);
        assert_eq!(
            keys_of("/*---\n# größer\n[array.a]\n", "a", 1),
            Some(25),
            "letters are counted"
        );
        // Not one that a comment shows.
        let twice = "// [array.a] x\n[array.a]\n[array.a]\nnear\n";
        assert_eq!(keys_of(twice, "a", 3).map(|at| &twice[at..]), Some("near\n"));
        assert_eq!(keys_of("[array.a]", "a", 1), None, "it has no keys");
    }
}
