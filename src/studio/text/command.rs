//! What can be done with a text and its carets.

use super::motion::Motion;

/// A command; with several carets it is done at each.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Types letters in place of what is selected. A closing bracket that is the first on its line goes below the line
    /// that opens it.
    Type(String),
    /// Begins a new line, indented as the one before.
    Break,
    /// Puts in a text as it is; where it has as many lines as there are carets, each gets one of them.
    Paste(String),
    /// Deletes what is selected, else what the caret would go over.
    Delete(Motion),
    /// Deletes what is selected, else a character back, or a step of indentation.
    Backspace,
    /// Deletes what is selected, else the caret's whole line.
    Cut,
    /// Moves the carets; nothing is selected afterwards.
    Move(Motion),
    /// Moves the carets and selects what they go over.
    Select(Motion),
    /// A step more for the lines that are selected; a caret goes to the next step.
    Indent,
    /// A step less.
    Unindent,
    /// Makes comments of the lines that begin with this mark, or code again.
    ToggleComment(&'static str),
    /// The lines change places with the one above or below.
    MoveLines(Direction),
    /// The lines once more; the carets are in the upper or the lower ones.
    DuplicateLines(Direction),
    /// The lines are deleted.
    DeleteLines,
    /// The lines become one; a single one is joined to the next.
    JoinLines,
    /// The word at the caret is selected, then its next occurrence, too, and so on.
    AddNext,
    /// All occurrences of what is selected, or of the word at the caret, are selected.
    AddAll,
    /// One more caret above the uppermost one, or below the lowest one.
    AddCaret(Direction),
    /// All of the text.
    SelectAll,
    /// The lines with their ends; once more, the next one too.
    SelectLine,
    /// What is within the brackets around; once more, the brackets too.
    SelectBracket,
    /// From a bracket to its partner.
    GoToBracket,
    /// The primary caret alone.
    OneCaret,
    /// Takes back what was done last.
    Undo,
    /// Does it again.
    Redo,
}

/// A way along the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the start of the text.
    Up,
    /// To its end.
    Down,
}
