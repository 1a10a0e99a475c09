//! How panes lie side by side, as a plain value: what files remember, and what commands change.

use serde::{Deserialize, Deserializer, Serialize};

use super::{MOST_VIEWS, Pane, Slot};

/// A pane, or several of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrangement {
    /// One.
    Pane(Pane),
    /// One of these, which a tab chooses.
    Tabs(usize, Vec<Self>),
    /// From left to right, each with its part of the width.
    Row(Vec<(f32, Self)>),
    /// From top to bottom, each with its part of the height.
    Column(Vec<(f32, Self)>),
}

/// An edge of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// At the left.
    Left,
    /// At the right.
    Right,
    /// Above.
    Top,
    /// Below.
    Bottom,
}

/// Arrangements within arrangements.
const DEEPEST: usize = 12;
/// The parts of a row or column are within these, so that each can be grabbed.
const PARTS: [f32; 2] = [0.05, 20.0];
/// The part that a pane gets that is put at an edge.
const AT_EDGE: f32 = 0.35;

impl Default for Arrangement {
    fn default() -> Self {
        let below = [
            Pane::Statistics,
            Pane::Numbers,
            Pane::Plots,
            Pane::Timings,
            Pane::Comparison,
            Pane::Console,
            Pane::Compiler,
        ];
        let above = Self::Row(vec![
            (0.73, Self::Pane(Pane::View(Slot(0)))),
            (0.27, Self::Pane(Pane::Parameters)),
        ]);
        let below = Self::Tabs(0, below.map(Self::Pane).to_vec());
        Self::Row(vec![
            (0.36, Self::Pane(Pane::Editor)),
            (0.64, Self::Column(vec![(0.7, above), (0.3, below)])),
        ])
    }
}

impl Arrangement {
    /// All panes, from the left above.
    pub fn panes(&self) -> Vec<Pane> {
        match self {
            Self::Pane(pane) => vec![*pane],
            Self::Tabs(_, parts) => parts.iter().flat_map(Self::panes).collect(),
            Self::Row(parts) | Self::Column(parts) => {
                parts.iter().flat_map(|(_, part)| part.panes()).collect()
            }
        }
    }

    /// Those that show a view, from the left above.
    pub fn slots(&self) -> impl Iterator<Item = Slot> {
        self.panes().into_iter().filter_map(|pane| match pane {
            Pane::View(slot) => Some(slot),
            _ => None,
        })
    }

    /// Whether a pane is somewhere in it.
    pub fn has(&self, pane: Pane) -> bool {
        self.panes().contains(&pane)
    }

    /// Whether a pane is seen: it lies behind no other tab.
    pub fn shows(&self, pane: Pane) -> bool {
        match self {
            Self::Pane(own) => *own == pane,
            Self::Tabs(shown, parts) => parts.get(*shown).is_some_and(|part| part.shows(pane)),
            Self::Row(parts) | Self::Column(parts) => {
                parts.iter().any(|(_, part)| part.shows(pane))
            }
        }
    }

    /// The same without what no window can show: panes that are there twice, empty parts, parts of no size. The usual
    /// one where nothing is left.
    pub fn sane(self) -> Self {
        let mut seen = Vec::new();
        self.kept(&mut seen, 0).unwrap_or_default()
    }

    fn kept(self, seen: &mut Vec<Pane>, depth: usize) -> Option<Self> {
        if depth > DEEPEST {
            return None;
        }
        let linear = |parts: Vec<(f32, Self)>, seen: &mut Vec<Pane>| {
            let sound =
                |part: f32| if part.is_finite() { part.clamp(PARTS[0], PARTS[1]) } else { 1.0 };
            let parts = parts.into_iter();
            let kept =
                parts.filter_map(|(part, of)| Some((sound(part), of.kept(seen, depth + 1)?)));
            kept.collect::<Vec<_>>()
        };
        match self {
            Self::Pane(pane) if seen.contains(&pane) => None,
            Self::Pane(pane) => {
                seen.push(pane);
                Some(self)
            }
            Self::Tabs(shown, parts) => {
                // The one that is shown stays so although others go.
                let parts = parts.into_iter().enumerate();
                let kept: Vec<(usize, Self)> = parts
                    .filter_map(|(at, part)| Some((at, part.kept(seen, depth + 1)?)))
                    .collect();
                let shown = kept.iter().position(|(at, _)| *at == shown).unwrap_or(0);
                let mut kept: Vec<Self> = kept.into_iter().map(|(_, part)| part).collect();
                match kept.len() {
                    0 => None,
                    1 => kept.pop(),
                    _ => Some(Self::Tabs(shown, kept)),
                }
            }
            Self::Row(parts) => {
                let parts = linear(parts, seen).into_iter().flat_map(|(part, of)| match of {
                    Self::Row(within) => scaled(within, part),
                    of => vec![(part, of)],
                });
                one_of(parts.collect(), Self::Row)
            }
            Self::Column(parts) => {
                let parts = linear(parts, seen).into_iter().flat_map(|(part, of)| match of {
                    Self::Column(within) => scaled(within, part),
                    of => vec![(part, of)],
                });
                one_of(parts.collect(), Self::Column)
            }
        }
    }

    /// The same with a pane in sight: it is put where panes of its kind are, if it is nowhere.
    pub fn show(&mut self, pane: Pane) {
        if !self.has(pane) {
            self.add(pane);
            *self = std::mem::take(self).sane();
        }
        self.bring_forward(pane);
    }

    fn bring_forward(&mut self, pane: Pane) -> bool {
        match self {
            Self::Pane(own) => *own == pane,
            Self::Tabs(shown, parts) => {
                let found = parts.iter_mut().position(|part| part.bring_forward(pane));
                *shown = found.unwrap_or(*shown);
                found.is_some()
            }
            Self::Row(parts) | Self::Column(parts) => {
                parts.iter_mut().any(|(_, part)| part.bring_forward(pane))
            }
        }
    }

    fn add(&mut self, pane: Pane) {
        let is_view = |of: &Pane| matches!(of, Pane::View(_));
        match pane {
            Pane::Editor => return self.put_at(pane, Edge::Left),
            Pane::Parameters => return self.put_at(pane, Edge::Right),
            Pane::View(_) if !self.panes().iter().any(is_view) => {
                return self.put_at(pane, Edge::Top);
            }
            // Beside another view.
            Pane::View(_) => {
                let last = self.panes().into_iter().rfind(is_view);
                if last.is_some_and(|last| self.split(last, pane)) {
                    return;
                }
            }
            Pane::Statistics
            | Pane::Numbers
            | Pane::Plots
            | Pane::Timings
            | Pane::Comparison
            | Pane::Console
            | Pane::Compiler => {
                if self.add_tab(pane) {
                    return;
                }
            }
        }
        self.put_at(pane, Edge::Bottom);
    }

    /// Puts a pane among the tables, where there are such.
    fn add_tab(&mut self, pane: Pane) -> bool {
        let is_table = |of: &Self| {
            !of.panes()
                .iter()
                .any(|of| matches!(of, Pane::Editor | Pane::View(_) | Pane::Parameters))
        };
        match self {
            Self::Tabs(_, parts) if parts.iter().all(is_table) => {
                parts.push(Self::Pane(pane));
                true
            }
            Self::Pane(own) if is_table(&Self::Pane(*own)) => {
                *self = Self::Tabs(1, vec![Self::Pane(*own), Self::Pane(pane)]);
                true
            }
            Self::Pane(_) => false,
            Self::Tabs(_, parts) => parts.iter_mut().any(|part| part.add_tab(pane)),
            Self::Row(parts) | Self::Column(parts) => {
                parts.iter_mut().any(|(_, part)| part.add_tab(pane))
            }
        }
    }

    /// Puts a pane right of another one, with half of its space.
    fn split(&mut self, at: Pane, pane: Pane) -> bool {
        match self {
            Self::Pane(own) if *own == at => {
                let both = [at, pane].map(|pane| (1.0, Self::Pane(pane)));
                *self = Self::Row(both.to_vec());
                true
            }
            Self::Pane(_) => false,
            Self::Tabs(_, parts) => parts.iter_mut().any(|part| part.split(at, pane)),
            Self::Row(parts) | Self::Column(parts) => {
                parts.iter_mut().any(|(_, part)| part.split(at, pane))
            }
        }
    }

    /// The same without a pane.
    pub fn hide(&mut self, pane: Pane) {
        // `sane` keeps what it has not seen.
        let all = std::mem::take(self);
        let kept = all.kept(&mut vec![pane], 0);
        *self = kept.unwrap_or(Self::Pane(pane));
    }

    /// The same with a pane along an edge of the window.
    pub fn put_at(&mut self, pane: Pane, edge: Edge) {
        if *self == Self::Pane(pane) {
            return;
        }
        self.hide(pane);
        let rest = std::mem::take(self);
        let (one, other) = ((AT_EDGE, Self::Pane(pane)), (1.0 - AT_EDGE, rest));
        *self = match edge {
            Edge::Left => Self::Row(vec![one, other]),
            Edge::Right => Self::Row(vec![other, one]),
            Edge::Top => Self::Column(vec![one, other]),
            Edge::Bottom => Self::Column(vec![other, one]),
        };
        *self = std::mem::take(self).sane();
    }

    /// The number of a view that is not there yet.
    pub fn free_slot(&self) -> Option<Slot> {
        let panes = self.panes();
        (0..MOST_VIEWS).map(Slot).find(|slot| !panes.contains(&Pane::View(*slot)))
    }

    /// Reads one that a file has; the usual one where that is damaged, so that the rest of the file still counts.
    ///
    /// # Errors
    /// None but those of a file that is no longer read.
    pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let read = serde_json::from_value::<Self>(value);
        Ok(read.map(Self::sane).unwrap_or_default())
    }
}

/// Parts that share `part` among them as they did their own space.
fn scaled(parts: Vec<(f32, Arrangement)>, part: f32) -> Vec<(f32, Arrangement)> {
    let whole: f32 = parts.iter().map(|(own, _)| own).sum();
    parts.into_iter().map(|(own, of)| (own / whole * part, of)).collect()
}

/// Of one part that itself, of none nothing.
fn one_of(
    mut parts: Vec<(f32, Arrangement)>,
    several: fn(Vec<(f32, Arrangement)>) -> Arrangement,
) -> Option<Arrangement> {
    match parts.len() {
        0 => None,
        1 => parts.pop().map(|(_, part)| part),
        _ => Some(several(parts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: Pane = Pane::View(Slot(0));
    const OTHER: Pane = Pane::View(Slot(1));

    fn read(text: &str) -> Arrangement {
        Arrangement::read(&mut serde_json::Deserializer::from_str(text)).expect("it is JSON")
    }

    #[test]
    fn what_is_written_is_read() {
        let mut arrangement = Arrangement::default();
        arrangement.show(OTHER);
        arrangement.show(Pane::Console);
        arrangement.put_at(Pane::Timings, Edge::Right);
        let text = serde_json::to_string(&arrangement).unwrap();
        assert!(text.contains("\"view 2\"") && text.contains("\"ptx and log\""), "{text}");
        assert_eq!(read(&text), arrangement);
    }

    #[test]
    fn damaged_arrangements_become_ones_that_can_be_shown() {
        let usual = Arrangement::default();
        for damaged in [
            "null",
            "7",
            "{}",
            "[]",
            "{\"pane\": \"kitchen\"}",
            "{\"row\": []}",
            "{\"tabs\": [3, []]}",
            "{\"column\": [[1e40, {\"row\": []}]]}",
        ] {
            assert_eq!(read(damaged), usual, "{damaged}");
        }
        // Twice the same pane, no size, and a tab that is not there.
        let text = r#"{"row": [[0.0, {"pane": "editor"}], [-3, {"pane": "editor"}],
            [1e30, {"tabs": [9, [{"pane": "view 1"}, {"pane": "console"}]]}]]}"#;
        let tabs =
            Arrangement::Tabs(0, vec![Arrangement::Pane(VIEW), Arrangement::Pane(Pane::Console)]);
        let parts = vec![(PARTS[0], Arrangement::Pane(Pane::Editor)), (PARTS[1], tabs)];
        assert_eq!(read(text), Arrangement::Row(parts));
        let deep = (0..40).fold("{\"pane\": \"editor\"}".to_owned(), |within, _| {
            format!("{{\"tabs\": [0, [{within}, {{\"pane\": \"console\"}}]]}}")
        });
        assert!(read(&deep).panes().len() < 3);
    }

    #[test]
    fn panes_are_hidden_and_shown_where_they_belong() {
        let mut arrangement = Arrangement::default();
        assert!(arrangement.shows(Pane::Statistics) && !arrangement.shows(Pane::Console));
        arrangement.show(Pane::Console);
        assert!(arrangement.shows(Pane::Console) && !arrangement.shows(Pane::Statistics));
        for pane in Pane::PANELS {
            arrangement.hide(pane);
            assert!(!arrangement.has(pane), "{pane}");
        }
        assert_eq!(arrangement, Arrangement::Pane(VIEW));
        arrangement.hide(VIEW);
        assert_eq!(arrangement, Arrangement::Pane(VIEW), "something is shown always");
        for pane in Pane::PANELS {
            arrangement.show(pane);
            assert!(arrangement.shows(pane), "{pane}");
        }
        let panes = arrangement.panes();
        assert_eq!(panes.len(), Pane::PANELS.len() + 1, "each once: {panes:?}");
        assert_eq!(panes[0], Pane::Editor);
        assert_eq!(arrangement.clone().sane().panes(), panes);
    }

    #[test]
    fn a_second_view_halves_the_first_and_numbers_are_given_again() {
        let mut arrangement = Arrangement::default();
        assert_eq!(arrangement.free_slot(), Some(Slot(1)));
        arrangement.show(OTHER);
        assert!(arrangement.shows(VIEW) && arrangement.shows(OTHER));
        arrangement.hide(VIEW);
        assert_eq!(arrangement.free_slot(), Some(Slot(0)));
        arrangement.show(VIEW);
        (2..MOST_VIEWS).for_each(|number| arrangement.show(Pane::View(Slot(number))));
        assert_eq!(arrangement.free_slot(), None);
    }

    #[test]
    fn panes_are_put_along_edges() {
        let mut arrangement = Arrangement::default();
        arrangement.put_at(Pane::Editor, Edge::Right);
        assert_eq!(arrangement.panes().last(), Some(&Pane::Editor));
        arrangement.put_at(Pane::Editor, Edge::Top);
        let Arrangement::Column(parts) = &arrangement else { panic!("{arrangement:?}") };
        assert_eq!(parts[0].1, Arrangement::Pane(Pane::Editor));
        assert_eq!(arrangement.clone().sane(), arrangement);
    }

    #[test]
    fn rows_in_rows_are_one() {
        let pane = |share, pane| (share, Arrangement::Pane(pane));
        let within = Arrangement::Row(vec![pane(1.0, VIEW), pane(3.0, Pane::Console)]);
        let row = Arrangement::Row(vec![pane(0.6, Pane::Editor), (0.4, within)]);
        let Arrangement::Row(parts) = row.sane() else { panic!("no row") };
        let shares: Vec<f32> = parts.iter().map(|(share, _)| (share * 1e4).round() / 1e4).collect();
        assert_eq!(shares, [0.6, 0.1, 0.3]);
    }
}
