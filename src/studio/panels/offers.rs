//! What the list of all commands offers of this machine and of the user: devices, and layouts of panes.

use super::device_menu;
use crate::{
    session::{Command, Snapshot},
    studio::{
        action::Action,
        panes::{Layouts, brought},
        runners::{Runner, Runners},
    },
};

/// All of it, each with what it is called.
pub fn all(
    snapshot: &Snapshot,
    (runners, present): (&Runners, &Runner),
    layouts: &Layouts,
) -> Vec<(String, Action)> {
    let others = || runners.all.iter().filter(|runner| *runner != present);
    let runs = others().map(|of| (format!("Run on {of}"), Action::RunOn(of.clone())));
    let compares = others().filter_map(|of| {
        let start = Command::StartComparison(device_menu::variant(of, present)?);
        Some((format!("Compare with {of} (A/B)"), Action::Session(start)))
    });
    let ends = snapshot
        .comparison
        .is_some()
        .then(|| ("End the comparison (A/B)".to_owned(), Action::Session(Command::StopComparison)));
    let own = || layouts.names().map(str::to_owned);
    let brought = brought().into_iter().map(|(name, _)| name.to_owned());
    let brought = brought.filter(|name| own().all(|own| own != *name));
    let chosen =
        brought.chain(own()).map(|name| (format!("Layout: {name}"), Action::ChooseLayout(name)));
    let saved = ("Save these panes as a layout".to_owned(), Action::NameLayout);
    let deleted =
        own().map(|name| (format!("Delete the layout {name}"), Action::DeleteLayout(name)));
    runs.chain(compares).chain(ends).chain(chosen).chain([saved]).chain(deleted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        session::{Engine, Variant},
        studio::{panes::Arrangement, test_screen::snapshot},
    };

    #[test]
    fn devices_and_layouts_are_offered() {
        let cpu = Runner::test();
        let interpreter = Runner { engine: Engine::Interpreter, ..cpu.clone() };
        let runners = Runners::with(vec![cpu.clone(), interpreter.clone()]);
        let mut layouts = Layouts::default();
        layouts.save("Mine", Arrangement::default()).unwrap();
        let all = all(&snapshot(), (&runners, &cpu), &layouts);
        let action = |title: &str| {
            let found = all.iter().find(|(own, _)| own == title);
            found.unwrap_or_else(|| panic!("no {title} in {all:#?}")).1.clone()
        };
        assert_eq!(action("Run on Interpreter (cpu)"), Action::RunOn(interpreter));
        let variant = Variant { engine: Some(Engine::Interpreter), ..Variant::default() };
        let compares = Action::Session(Command::StartComparison(variant));
        assert_eq!(action("Compare with Interpreter (cpu) (A/B)"), compares);
        assert_eq!(action("Layout: Mine"), Action::ChooseLayout("Mine".into()));
        assert_eq!(action("Layout: Looking"), Action::ChooseLayout("Looking".into()));
        assert_eq!(action("Delete the layout Mine"), Action::DeleteLayout("Mine".into()));
        assert!(all.iter().all(|(title, _)| title != "Run on A processor (cpu)"), "it does");
    }
}
