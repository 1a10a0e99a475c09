//! Arrangements of panes that have names.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Arrangement, Pane, Slot};

/// So many are kept, and so long is a name.
const MOST: usize = 32;
const LONGEST: usize = 40;

/// Those that the user has saved, by their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Layouts(BTreeMap<String, Arrangement>);

impl Layouts {
    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The arrangement that is called so: a saved one, else one that the studio brings.
    pub fn get(&self, name: &str) -> Option<Arrangement> {
        let own = || brought().into_iter().find(|(known, _)| *known == name).map(|(_, of)| of);
        self.0.get(name).cloned().or_else(own)
    }

    /// Why none can be saved by a name.
    ///
    /// # Errors
    /// A sentence.
    pub fn check(&self, name: &str) -> Result<(), String> {
        let name = name.trim();
        if name.is_empty() {
            return Err("A layout needs a name.".to_owned());
        }
        if name.chars().count() > LONGEST {
            return Err(format!("A name has at most {LONGEST} letters."));
        }
        if self.0.len() >= MOST && !self.0.contains_key(name) {
            return Err(format!("There are {MOST} layouts already: delete one first."));
        }
        Ok(())
    }

    /// Keeps one by a name, in the place of another that was called so.
    ///
    /// # Errors
    /// As [`Layouts::check`].
    pub fn save(&mut self, name: &str, arrangement: Arrangement) -> Result<(), String> {
        self.check(name)?;
        self.0.insert(name.trim().to_owned(), arrangement);
        Ok(())
    }

    /// Forgets one.
    pub fn delete(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Reads those that a file has; a damaged one costs no other.
    ///
    /// # Errors
    /// None but those of a file that is no longer read.
    pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let mut read = Self::default();
        for (name, of) in value.as_object().into_iter().flatten() {
            if let Ok(arrangement) = serde_json::from_value::<Arrangement>(of.clone()) {
                // What has no name, or is one too many, is left out.
                let _ = read.save(name, arrangement.sane());
            }
        }
        Ok(read)
    }
}

/// What the studio brings: for writing, for looking, and for numbers.
pub fn brought() -> [(&'static str, Arrangement); 4] {
    let pane = Arrangement::Pane;
    let view = || pane(Pane::View(Slot(0)));
    let tabs = |panes: &[Pane]| Arrangement::Tabs(0, panes.iter().copied().map(pane).collect());
    let numbers = [
        Pane::Numbers,
        Pane::Plots,
        Pane::Timings,
        Pane::Comparison,
        Pane::Console,
        Pane::Compiler,
    ];
    [
        ("Usual", Arrangement::default()),
        ("Writing", Arrangement::Row(vec![(0.55, pane(Pane::Editor)), (0.45, view())])),
        ("Looking", Arrangement::Row(vec![(0.78, view()), (0.22, pane(Pane::Parameters))])),
        (
            "Numbers",
            Arrangement::Row(vec![
                (0.3, pane(Pane::Editor)),
                (0.3, Arrangement::Column(vec![(0.55, view()), (0.45, pane(Pane::Parameters))])),
                (
                    0.4,
                    Arrangement::Column(vec![(0.5, pane(Pane::Statistics)), (0.5, tabs(&numbers))]),
                ),
            ]),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_saved_chosen_and_deleted() {
        let mut layouts = Layouts::default();
        let only = Arrangement::Pane(Pane::Editor);
        layouts.save("  Mine ", only.clone()).unwrap();
        assert_eq!(layouts.names().collect::<Vec<_>>(), ["Mine"]);
        assert_eq!(layouts.get("Mine"), Some(only.clone()));
        assert_eq!(layouts.get("Usual"), Some(Arrangement::default()));
        // One of the user's comes before one that the studio brings.
        layouts.save("Usual", only.clone()).unwrap();
        assert_eq!(layouts.get("Usual"), Some(only));
        layouts.delete("Usual");
        assert_eq!(layouts.get("Usual"), Some(Arrangement::default()));
        layouts.delete("Mine");
        assert_eq!(layouts, Layouts::default());
        assert!(layouts.save(" ", Arrangement::default()).is_err());
        assert!(layouts.save(&"a".repeat(41), Arrangement::default()).is_err());
    }

    #[test]
    fn there_is_an_end_to_them() {
        let mut layouts = Layouts::default();
        for number in 0..MOST {
            layouts.save(&number.to_string(), Arrangement::default()).unwrap();
        }
        assert!(layouts.save("more", Arrangement::default()).unwrap_err().contains("delete one"));
        layouts.save("3", Arrangement::Pane(Pane::Editor)).unwrap();
    }

    #[test]
    fn files_have_them_and_a_damaged_one_costs_no_other() {
        let mut layouts = Layouts::default();
        layouts.save("Mine", brought()[3].1.clone()).unwrap();
        let text = serde_json::to_string(&layouts).unwrap();
        let read = |text: &str| {
            Layouts::read(&mut serde_json::Deserializer::from_str(text)).expect("it is JSON")
        };
        assert_eq!(read(&text), layouts);
        let damaged = text.replacen('{', "{\"Bad\": {\"row\": 3}, ", 1);
        assert_eq!(read(&damaged), layouts);
        for text in ["7", "[]", "null", "{}"] {
            assert_eq!(read(text), Layouts::default(), "{text}");
        }
    }

    #[test]
    fn what_the_studio_brings_is_sound() {
        for (name, arrangement) in brought() {
            assert_eq!(arrangement.clone().sane(), arrangement, "{name}");
        }
    }
}
