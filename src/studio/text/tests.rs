//! Commands one by one, and many at random against a text that is edited as simply as can be.

use super::{
    Brackets, Buffer, Command, Direction, Motion, Selection, Selections,
    brackets::Nest,
    indentation::{TAB, openings},
    limit::{LONGEST, Limit, MOST_CARETS},
};

/// A buffer with what stands between `<` and `>` selected, the caret behind it, and a caret at each `|`.
fn buffer(text: &str) -> Buffer {
    let (mut plain, mut selections, mut open) = (String::new(), Vec::new(), 0);
    let mut at = 0;
    for c in text.chars() {
        match c {
            '|' => selections.push(Selection::caret(at)),
            '<' => open = at,
            '>' => selections.push(Selection::new(open, at)),
            c => {
                plain.push(c);
                at += 1;
            }
        }
    }
    let mut buffer = Buffer::new(&plain);
    let last = selections.len().saturating_sub(1);
    buffer.select(Selections::new(selections, last));
    buffer
}

/// The same the other way round.
fn shown(buffer: &Buffer) -> String {
    let mut marks: Vec<(usize, char)> = Vec::new();
    for selection in buffer.selections().all() {
        let range = selection.range();
        match selection.is_empty() {
            true => marks.push((range.start, '|')),
            false => marks.extend([(range.start, '<'), (range.end, '>')]),
        }
    }
    let mut text: Vec<char> = buffer.to_string().chars().collect();
    marks.sort_by_key(|(at, mark)| (*at, *mark != '>'));
    marks.into_iter().rev().for_each(|(at, mark)| text.insert(at, mark));
    text.into_iter().collect()
}

/// What `text` is after `commands`, done within one frame; undo gives it back.
#[track_caller]
fn after(text: &str, commands: &[Command]) -> String {
    let mut buffer = buffer(text);
    let before = (buffer.to_string(), buffer.selections().clone());
    for command in commands {
        buffer.run(command, 0.0);
    }
    let shown = shown(&buffer);
    while buffer.run(&Command::Undo, 0.0) {}
    assert_eq!(buffer.to_string(), before.0, "undone after {commands:?}");
    shown
}

fn typed(text: &str, keys: &str) -> String {
    let key = |c: char| match c {
        '\n' => Command::Break,
        '\t' => Command::Indent,
        c => Command::Type(c.into()),
    };
    after(text, &keys.chars().map(key).collect::<Vec<_>>())
}

#[test]
fn enter_keeps_the_indentation() {
    assert_eq!(typed("    a;|", "\nb"), "    a;\n    b|");
    assert_eq!(typed("  if (x) {|", "\nb"), "  if (x) {\n      b|");
    assert_eq!(typed("a {|", "\n"), "a {\n    |");
    assert_eq!(typed("  a {| }", "\nb"), "  a {\n      b|\n  }", "both brackets get their line");
}

#[test]
fn tab_goes_to_the_next_stop_or_indents_lines() {
    assert_eq!(typed("ab|", "\tc"), "ab  c|");
    assert_eq!(typed("|", "\t\tx"), "        x|");
    assert_eq!(typed("a<b\n\nc>d", "\t"), "    a<b\n\n    c>d");
    assert_eq!(after("  <a\n\tb\n     c>", &[Command::Unindent]), "<a\nb\n c>");
}

#[test]
fn a_closing_bracket_goes_below_the_line_that_opens() {
    assert_eq!(typed("|", "f() {\nx;\n}\ny"), "f() {\n    x;\n}\ny|");
    assert_eq!(typed("  f(|", "\nx\n)"), "  f(\n      x\n  )|");
    assert_eq!(typed("  {\n          |", "}"), "  {\n  }|", "whatever stood before it");
    assert_eq!(typed("f() { x;|", "}"), "f() { x;}|");
    assert_eq!(typed("  |", "}"), "  }|");
    assert_eq!(typed("      |", "}"), "  }|", "without one that opens, a step");
    assert_eq!(typed("|", "f() {\ng {\nx;\n}\n}\ny;"), "f() {\n    g {\n        x;\n    }\n}\ny;|");
}

#[test]
fn letters_take_the_place_of_what_is_selected() {
    assert_eq!(typed("a<b>c|", "x"), "ax|cx|");
    assert_eq!(after("<a>\n<b>", &[Command::Paste("1\r\n2\n".into())]), "1|\n2|");
    assert_eq!(after("<a>\n<b>", &[Command::Paste("1\n2\n3".into())]), "1\n2\n3|\n1\n2\n3|");
    assert_eq!(after("    |", &[Command::Paste("a\r\nb".into())]), "    a\nb|");
}

#[test]
fn backspace_takes_a_step_of_indentation() {
    assert_eq!(after("      |x", &[Command::Backspace]), "    |x");
    assert_eq!(after("a   |x", &[Command::Backspace]), "a  |x");
    assert_eq!(after("a\n|x", &[Command::Backspace]), "a|x");
    assert_eq!(after("|x", &[Command::Backspace]), "|x");
    let word = [Command::Delete(Motion::WordLeft)];
    assert_eq!(after("int a_b|; c|", &word), "int |; |");
    assert_eq!(after("a |b c", &[Command::Delete(Motion::WordRight)]), "a | c");
}

#[test]
fn comments_go_on_and_off() {
    let toggle = [Command::ToggleComment("//")];
    assert_eq!(after("  <a;\n\n    b>;\nc;", &toggle), "  // <a;\n\n  //   b>;\nc;");
    assert_eq!(after("  // <a;\n  //   b>;\nc;", &toggle), "  <a;\n    b>;\nc;");
    assert_eq!(after("//a|\n// b", &toggle), "a|\n// b");
    assert_eq!(after("x = 1|", &[Command::ToggleComment("#")]), "# x = 1|");
}

#[test]
fn lines_move_with_their_carets() {
    let up = [Command::MoveLines(Direction::Up)];
    let down = [Command::MoveLines(Direction::Down)];
    assert_eq!(after("a\nb|b\nc", &up), "b|b\na\nc");
    assert_eq!(after("a\nb|b\nc", &down), "a\nc\nb|b");
    assert_eq!(after("a|\nb", &up), "a|\nb");
    assert_eq!(after("a\nb|", &down), "a\nb|");
    assert_eq!(after("a\n<b\nc>\nd|\ne", &down), "a\ne\n<b\nc>\nd|");
    assert_eq!(after("a|\nb\nc|\nd", &down), "b\na|\nd\nc|");
}

#[test]
fn lines_are_duplicated_deleted_and_joined() {
    assert_eq!(after("a|b\nc", &[Command::DuplicateLines(Direction::Down)]), "ab\na|b\nc");
    assert_eq!(after("a|b\nc", &[Command::DuplicateLines(Direction::Up)]), "a|b\nab\nc");
    assert_eq!(after("a\n<b\nc>", &[Command::DuplicateLines(Direction::Down)]), "a\nb\nc\n<b\nc>");
    assert_eq!(after("ab\nc|d\nef", &[Command::DeleteLines]), "ab\ne|f");
    assert_eq!(after("ab\nc|d", &[Command::DeleteLines]), "a|b");
    assert_eq!(after("c|d", &[Command::DeleteLines]), "|");
    assert_eq!(after("a|\nb\nc|\nd", &[Command::Cut]), "b|\nd|");
    assert_eq!(after("a|;\n   b;\nc", &[Command::JoinLines]), "a|; b;\nc");
    assert_eq!(after("<a\n\n b>\nc", &[Command::JoinLines]), "<a b>\nc");
    assert_eq!(after("a|", &[Command::JoinLines]), "a|");
}

#[test]
fn occurrences_are_added_one_by_one_or_at_once() {
    let next = |count| vec![Command::AddNext; count];
    assert_eq!(after("x|y xy zxy", &next(1)), "<xy> xy zxy");
    assert_eq!(after("x|y xy zxy", &next(3)), "<xy> <xy> z<xy>");
    assert_eq!(after("xy <xy> zxy", &next(2)), "<xy> <xy> z<xy>", "from the start again");
    assert_eq!(after("x|y xy", &next(9)), "<xy> <xy>");
    assert_eq!(after("xy x|y zxy", &[Command::AddAll]), "<xy> <xy> z<xy>");
    let rename = [Command::AddAll, Command::Type("n".into())];
    assert_eq!(after("xy x|y zxy", &rename), "n| n| zn|");
    let many = 12_000;
    assert_eq!(after(&format!("x|y {}", "xy ".repeat(many)), &rename), "n| ".repeat(many + 1));
}

#[test]
fn carets_are_added_above_and_below() {
    let add = [Command::AddCaret(Direction::Down), Command::AddCaret(Direction::Down)];
    assert_eq!(after("ab|c\n\nabc", &add), "ab|c\n|\nab|c");
    let both = [Command::AddCaret(Direction::Up), Command::AddCaret(Direction::Up)];
    assert_eq!(after("ab\na|b", &both), "a|b\na|b");
    assert_eq!(after("a|\nb|", &[Command::OneCaret]), "a\nb|");
}

#[test]
fn lines_brackets_and_all_are_selected() {
    assert_eq!(after("a\nb|\nc", &[Command::SelectLine]), "a\n<b\n>c");
    assert_eq!(after("a\nb|\nc", &[Command::SelectLine, Command::SelectLine]), "a\n<b\nc>");
    assert_eq!(after("f(a[|1])", &[Command::SelectBracket]), "f(a[<1>])");
    let more = vec![Command::SelectBracket; 3];
    assert_eq!(after("f(a[|1])", &more), "f(<a[1]>)");
    assert_eq!(after("f|(a[1])", &[Command::GoToBracket]), "f(a[1]|)");
    assert_eq!(after("a|\n", &[Command::SelectAll]), "<a\n>");
}

#[test]
fn what_is_typed_is_undone_by_words_and_pauses() {
    let mut buffer = buffer("|");
    let key = |buffer: &mut Buffer, c: char, now: f64| buffer.run(&Command::Type(c.into()), now);
    for (n, c) in "int ab = 1".chars().enumerate() {
        key(&mut buffer, c, n as f64 * 0.1);
    }
    key(&mut buffer, '2', 5.0);
    let mut texts = Vec::new();
    while buffer.run(&Command::Undo, 9.0) {
        texts.push(buffer.to_string());
    }
    assert_eq!(texts, ["int ab = 1", "int ab = ", "int ab ", "int ", ""]);
    while buffer.run(&Command::Redo, 9.0) {}
    assert_eq!(shown(&buffer), "int ab = 12|");
    buffer.run(&Command::Backspace, 10.0);
    buffer.run(&Command::Backspace, 10.1);
    buffer.run(&Command::Move(Motion::Left), 10.1);
    buffer.run(&Command::Backspace, 10.2);
    assert_eq!(buffer.to_string(), "int ab  ");
    buffer.run(&Command::Undo, 10.3);
    assert_eq!(shown(&buffer), "int ab =| ", "a caret that moves begins a new one");
    buffer.run(&Command::Undo, 10.3);
    assert_eq!(shown(&buffer), "int ab = 12|");
}

#[test]
fn another_text_is_one_change_and_carets_stay() {
    let mut buffer = buffer("a\nb\nc|c\nd");
    assert!(buffer.replace_all("a\nx\ny\ncc\nd", 0.0));
    assert_eq!(shown(&buffer), "a\nx\ny\nc|c\nd");
    assert!(!buffer.replace_all("a\nx\ny\ncc\nd", 0.0));
    assert!(buffer.run(&Command::Undo, 0.0));
    assert_eq!(shown(&buffer), "a\nb\nc|c\nd");
    assert!(!buffer.run(&Command::Undo, 0.0));
}

#[test]
fn what_is_copied_are_selections_or_lines() {
    assert_eq!(buffer("a<b>c <d>|").copied(), "b\nd");
    assert_eq!(buffer("a|b|\ncd\n|").copied(), "ab\n\n");
}

/// The text edited as simply as can be: letters in a list, carets in pairs.
#[derive(Clone, Debug)]
struct Model {
    text: Vec<char>,
    /// Anchor, caret, and the column that it comes back to.
    carets: Vec<(usize, usize, Option<usize>)>,
}

impl Model {
    fn start_of_line(&self, at: usize) -> usize {
        (0..at).rev().find(|n| self.text[*n] == '\n').map_or(0, |n| n + 1)
    }

    fn end_of_line(&self, at: usize) -> usize {
        (at..self.text.len()).find(|n| self.text[*n] == '\n').unwrap_or(self.text.len())
    }

    /// Puts `new` in the place of what each caret selects, else of what `range` gives for it; the last one first.
    fn put(&mut self, new: &str, range: impl Fn(&Self, usize) -> (usize, usize)) {
        let lines: Vec<&str> = new.split('\n').collect();
        let is_one_each = lines.len() > 1 && lines.len() == self.carets.len();
        for n in (0..self.carets.len()).rev() {
            let new = if is_one_each { lines[n] } else { new };
            let (anchor, head, _) = self.carets[n];
            let (mut start, end) = match anchor == head {
                true => range(self, head),
                false => (anchor.min(head), anchor.max(head)),
            };
            if n > 0 {
                start = start.max(self.carets[n - 1].0.max(self.carets[n - 1].1));
            }
            let old: Vec<char> = self.text.splice(start..end.max(start), new.chars()).collect();
            let size = new.chars().count();
            self.carets[n] = (start + size, start + size, None);
            for caret in &mut self.carets[n + 1..] {
                let place = caret.1 + size - old.len();
                *caret = (place, place, None);
            }
        }
    }

    fn go(&self, motion: Motion, head: usize, column: Option<usize>) -> (usize, Option<usize>) {
        let (start, end) = (self.start_of_line(head), self.end_of_line(head));
        let wanted = column.unwrap_or(head - start);
        let within = |start: usize| (start + wanted).min(self.end_of_line(start));
        match motion {
            Motion::Left => (head.max(1) - 1, None),
            Motion::Right => ((head + 1).min(self.text.len()), None),
            Motion::LineEnd => (end, None),
            Motion::Start => (0, None),
            Motion::End => (self.text.len(), None),
            Motion::Up(_) if start == 0 => (0, Some(wanted)),
            Motion::Up(_) => (within(self.start_of_line(start - 1)), Some(wanted)),
            Motion::Down(_) if end == self.text.len() => (end, Some(wanted)),
            Motion::Down(_) => (within(end + 1), Some(wanted)),
            Motion::WordLeft | Motion::WordRight | Motion::LineStart => unreachable!(),
        }
    }

    fn run(&mut self, command: &Command) {
        match command {
            Command::Type(text) | Command::Paste(text) => self.put(text, |_, at| (at, at)),
            Command::Delete(Motion::Right) => {
                self.put("", |model, at| (at, (at + 1).min(model.text.len())))
            }
            Command::Backspace => self.put("", |model, at| {
                let before = &model.text[model.start_of_line(at)..at];
                let step = match before.is_empty() || before.iter().any(|c| *c != ' ') {
                    true => 1,
                    false => (before.len() - 1) % TAB + 1,
                };
                (at.saturating_sub(step), at)
            }),
            Command::Move(motion) | Command::Select(motion) => {
                let keeps = matches!(command, Command::Select(_));
                for n in 0..self.carets.len() {
                    let (anchor, head, column) = self.carets[n];
                    let (low, high) = (anchor.min(head), anchor.max(head));
                    let (to, column) = match motion {
                        Motion::Left if !keeps && low < high => (low, None),
                        Motion::Right if !keeps && low < high => (high, None),
                        motion => self.go(*motion, head, column),
                    };
                    self.carets[n] = (if keeps { anchor } else { to }, to, column);
                }
            }
            Command::AddCaret(Direction::Down) => {
                let (_, head, column) = *self.carets.last().unwrap();
                if self.end_of_line(head) < self.text.len() {
                    let (to, column) = self.go(Motion::Down(1), head, column);
                    self.carets.push((to, to, column));
                }
            }
            other => unreachable!("{other:?}"),
        }
        self.join();
    }

    /// Joins what meets, two by two, until nothing does.
    fn join(&mut self) {
        let ends = |(a, b, _): (usize, usize, Option<usize>)| (a.min(b), a.max(b));
        self.carets.sort_by_key(|caret| ends(*caret));
        let mut n = 1;
        while n < self.carets.len() {
            let (one, two) = (self.carets[n - 1], self.carets[n]);
            let ((low, high), (start, end)) = (ends(one), ends(two));
            if start < high || start == high && (low == high || start == end) {
                let (low, high) = (low, high.max(end));
                let forward = if one.0 == one.1 { two.0 <= two.1 } else { one.0 <= one.1 };
                let head = if forward { high } else { low };
                let column = one.2.filter(|_| one.1 == head);
                self.carets[n - 1] = (if forward { low } else { high }, head, column);
                self.carets.remove(n);
                n = 1;
            } else {
                n += 1;
            }
        }
    }
}

fn any_simple(random: &mut fastrand::Rng) -> Command {
    let motions = [
        Motion::Left,
        Motion::Right,
        Motion::Up(1),
        Motion::Down(1),
        Motion::LineEnd,
        Motion::Start,
        Motion::End,
    ];
    let motion = motions[random.usize(..motions.len())];
    match random.u8(..12) {
        0..3 => Command::Type(["a", "\u{fc}", " ", "{"][random.usize(..4)].into()),
        3 => Command::Paste(["x\n\u{f6}y", "x\ny\nz", "    "][random.usize(..3)].into()),
        4 => Command::Delete(Motion::Right),
        5 => Command::Backspace,
        6..9 => Command::Move(motion),
        9..11 => Command::Select(motion),
        _ => Command::AddCaret(Direction::Down),
    }
}

/// Any command at all.
fn any(random: &mut fastrand::Rng) -> Command {
    let motions =
        [Motion::WordLeft, Motion::WordRight, Motion::LineStart, Motion::Down(3), Motion::Up(2)];
    let motion = motions[random.usize(..motions.len())];
    let direction = if random.bool() { Direction::Up } else { Direction::Down };
    match random.u8(..28) {
        0..4 => any_simple(random),
        4 => Command::Break,
        5 => Command::Type(["}", ")", "{", "x("][random.usize(..4)].into()),
        6 => Command::Delete(motion),
        7 => Command::Cut,
        8 => Command::Move(motion),
        9 => Command::Select(motion),
        10 => Command::Indent,
        11 => Command::Unindent,
        12 => Command::ToggleComment("//"),
        13 => Command::ToggleComment("#"),
        14 => Command::MoveLines(direction),
        15 => Command::DuplicateLines(direction),
        16 => Command::DeleteLines,
        17 => Command::JoinLines,
        18 => Command::AddNext,
        19 => Command::AddAll,
        20 => Command::AddCaret(direction),
        21 => Command::SelectLine,
        22 => Command::SelectBracket,
        23 => Command::GoToBracket,
        24 => Command::OneCaret,
        25 => Command::Undo,
        26 => Command::Redo,
        _ => Command::SelectAll,
    }
}

const START: &str = "int a = 1;\n\n  f(a, {b}); // c\n\u{e4}\u{f6}\u{fc} a\n";

#[test]
fn simple_commands_do_what_a_list_of_letters_does() {
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut buffer = Buffer::new(START);
        let mut model = Model { text: START.chars().collect(), carets: vec![(0, 0, None)] };
        for step in 0..60 {
            let command = any_simple(&mut random);
            let before = shown(&buffer);
            buffer.run(&command, f64::from(step));
            model.run(&command);
            let carets: Vec<_> =
                buffer.selections().all().iter().map(|s| (s.anchor, s.head, s.column)).collect();
            let text: String = model.text.iter().collect();
            assert_eq!(
                (buffer.to_string(), carets),
                (text, model.carets.clone()),
                "{seed}: {command:?} on {before:?}"
            );
        }
    }
}

#[test]
fn undo_of_everything_gives_the_start_and_redo_the_end() {
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut buffer = Buffer::new(START);
        for _ in 0..80 {
            let before = buffer.clone();
            let command = any(&mut random);
            let changed = buffer.run(&command, random.f64() * 3.0);
            let told = || format!("{seed}: {command:?} on {:?}", shown(&before));
            assert_eq!(changed, buffer.revision() != before.revision(), "{}", told());
            assert!(changed || buffer.rope() == before.rope(), "{}", told());
            let selections = buffer.selections();
            assert_eq!(
                &Selections::new(selections.all().to_vec(), selections.primary_index()),
                selections,
                "{}",
                told()
            );
            assert!(
                selections.all().iter().all(|s| s.range().end <= buffer.rope().len_chars()),
                "{}",
                told()
            );
            if buffer.rope().len_chars() > 20_000 {
                break;
            }
        }
        while buffer.run(&Command::Redo, 9.0) {}
        let end = buffer.to_string();
        while buffer.run(&Command::Undo, 9.0) {}
        assert_eq!(buffer.to_string(), START, "{seed}");
        while buffer.run(&Command::Redo, 9.0) {}
        assert_eq!(buffer.to_string(), end, "{seed}");
    }
}

/// A line so many times, with a caret behind each `a`.
fn many_carets(line: &str, count: usize) -> Buffer {
    let mut buffer = Buffer::new(&line.repeat(count));
    buffer.select(Selections::one(Selection::caret(line.find('a').unwrap())));
    buffer.run(&Command::AddAll, 0.0);
    assert_eq!(buffer.selections().all().len(), count);
    buffer.run(&Command::Move(Motion::Right), 0.0);
    buffer
}

/// None of these may go through all carets for each of them: that would take minutes.
#[test]
fn commands_with_many_carets_do_what_they_do_with_one() {
    const COUNT: usize = 12_000;
    let commands = [
        Command::Type("}".into()),
        Command::SelectBracket,
        Command::ToggleComment("//"),
        Command::Unindent,
        Command::Break,
        Command::Backspace,
        Command::DuplicateLines(Direction::Down),
        Command::MoveLines(Direction::Down),
        Command::Delete(Motion::WordLeft),
        Command::DeleteLines,
    ];
    let line = "{ (\n    a\n) }\n\n";
    for command in commands {
        let [many, two] = [COUNT, 2].map(|count| {
            let mut buffer = many_carets(line, count);
            buffer.run(&command, 0.0);
            shown_by_parts(&buffer)
        });
        // The parts of the text are alike, so each becomes what each of two becomes.
        assert_eq!(two.len() % 2, 0, "{command:?}");
        assert!(many == two[..two.len() / 2].repeat(COUNT), "{command:?}");
    }
}

/// As [`shown`], without going through the text for each mark.
fn shown_by_parts(buffer: &Buffer) -> Vec<char> {
    let mut all = Vec::new();
    let mut before = 0;
    for selection in buffer.selections().all() {
        let range = selection.range();
        all.extend(buffer.text(before..range.start).chars().chain(['<']));
        all.extend(buffer.text(range.clone()).chars().chain(['>']));
        before = range.end;
    }
    all.extend(buffer.text(before..buffer.rope().len_chars()).chars());
    all
}

#[test]
fn too_many_carets_and_too_long_texts_are_refused() {
    let mut buffer = Buffer::new(&"a ".repeat(MOST_CARETS + 1));
    assert!(!buffer.run(&Command::AddAll, 0.0));
    assert_eq!(buffer.refused(), Some(Limit::Carets));
    assert!(buffer.selections().is_one());
    let mut buffer = many_carets("a\n", 1000);
    let (long, before) = ("x".repeat(LONGEST / 1000), buffer.to_string());
    assert!(!buffer.run(&Command::Paste(long), 0.0));
    assert!((buffer.refused(), buffer.to_string()) == (Some(Limit::Length), before));
    assert!(buffer.run(&Command::Paste("x".into()), 0.0));
    assert_eq!(buffer.refused(), None);
    let mut buffer = Buffer::new(&"x\n".repeat(LONGEST / 4 + 1));
    buffer.run(&Command::SelectAll, 0.0);
    assert!(!buffer.run(&Command::DuplicateLines(Direction::Down), 0.0));
    assert_eq!(buffer.refused(), Some(Limit::Length));
    assert!(buffer.run(&Command::Backspace, 0.0), "what makes it shorter is well");
}

/// Brackets and letters, some of them within comments.
fn any_brackets(random: &mut fastrand::Rng) -> String {
    let pieces = ["(", ")", "[", "]", "{", "}", "a", " ", "\n", "/*(", "[)*/", "//{\n", "\"(\""];
    (0..random.usize(0..60)).map(|_| pieces[random.usize(0..pieces.len())]).collect()
}

#[test]
fn brackets_around_are_those_of_a_look_at_all_pairs() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..500 {
        let text = any_brackets(&mut random);
        let brackets = Brackets::new(&ropey::Rope::from_str(&text));
        let nest = Nest::new(&brackets);
        let end = text.chars().count();
        for _ in 0..20 {
            let start = random.usize(0..=end);
            let range = start..random.usize(start..=end);
            let holds = |open: usize| {
                let close = brackets.partner(open).filter(|close| open < *close)?;
                (open < range.start && range.end <= close).then_some((open, close))
            };
            let found = (0..end).filter_map(holds).max_by_key(|(open, _)| *open);
            let within = found.map(|(open, close)| match open + 1..close {
                within if within == range => open..close + 1,
                within => within,
            });
            assert_eq!(nest.around(&range), within, "{text:?} {range:?}");
        }
    }
}

#[test]
fn the_opening_bracket_is_the_first_one_back_that_is_not_closed() {
    let mut random = fastrand::Rng::with_seed(6);
    for _ in 0..500 {
        let text: Vec<char> = any_brackets(&mut random).chars().collect();
        let rope = ropey::Rope::from_str(&text.iter().collect::<String>());
        let places: Vec<usize> = (0..=text.len()).filter(|_| random.bool()).collect();
        for (open, closing) in [('(', ')'), ('[', ']'), ('{', '}')] {
            let back = |place: &usize| {
                let mut depth = 0;
                (0..*place).rev().find(|at| {
                    depth += i32::from(text[*at] == closing) - i32::from(text[*at] == open);
                    depth < 0
                })
            };
            let expected: Vec<_> = places.iter().map(back).collect();
            assert_eq!(openings(&rope, &places, closing), expected, "{rope} {places:?}");
        }
    }
}

#[test]
fn places_beyond_a_line_or_the_text_are_its_end() {
    let buffer = Buffer::new("ab\ncd");
    assert_eq!(buffer.at(0, usize::MAX), 2);
    assert_eq!(buffer.at(usize::MAX, usize::MAX), 5);
}

/// What a file has is checked: it may be of another text, or wrong in any way.
#[test]
fn a_history_is_taken_over_for_its_own_text_alone() {
    let mut old = Buffer::new("one two\n");
    old.run(&Command::Type("zero ".to_owned()), 0.0);
    old.select(Selections::one(Selection::caret(13)));
    old.run(&Command::Type("three".to_owned()), 5.0);
    assert!(old.run(&Command::Undo, 6.0));
    let kept = serde_json::to_string(old.history()).unwrap();
    let take = |kept: &str, text: &str| {
        let mut new = Buffer::new(text);
        let history = serde_json::from_str(kept).unwrap();
        new.take_over(history, old.selections()).then_some(new)
    };
    let mut new = take(&kept, &old.to_string()).unwrap();
    assert_eq!(new.selections(), old.selections());
    assert!(new.run(&Command::Redo, 0.0));
    assert_eq!(new.to_string(), "zero one two\nthree");
    assert_eq!([(); 3].map(|()| new.run(&Command::Undo, 0.0)), [true, true, false]);
    assert_eq!(new.to_string(), "one two\n");
    assert!(take(&kept, "another text\n").is_none());
    let wrong = kept.replace("\"at\":0,\"old\"", "\"at\":99999999,\"old\"");
    assert!(wrong != kept && take(&wrong, &old.to_string()).is_none(), "{kept}");
    let wrong = kept.replace("\"head\":0", "\"head\":99999999");
    assert!(wrong != kept && take(&wrong, &old.to_string()).is_none(), "{kept}");
}
