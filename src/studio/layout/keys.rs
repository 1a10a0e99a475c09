//! Keys of the whole window, of the view that was touched last, and of parameters.

use egui::{Event, Key, Modifiers, Ui};

use super::{Locals, Shown};
use crate::{
    session::{Command, Snapshot},
    studio::{
        action::Action,
        look::Look,
        panels::{parameters, transport},
        parameter_keys,
        seen::Seen,
        typing::Typing,
        viewpoints::{Side, Switch},
    },
};

/// Keys that are pressed with Alt: the digits are those of Blender's pad of numbers.
fn looks() -> [(Key, Look); 10] {
    [
        (Key::Num1, Look::From(Side::Front)),
        (Key::Num3, Look::From(Side::Right)),
        (Key::Num7, Look::From(Side::Top)),
        (Key::Num9, Look::FromBehind),
        (Key::Num5, Look::Switch(Switch::Orthographic)),
        (Key::A, Look::Switch(Switch::Axes)),
        (Key::G, Look::Switch(Switch::Grid)),
        (Key::E, Look::PickHere),
        (Key::L, Look::Switch(Switch::Colors)),
        (Key::M, Look::Measure),
    ]
}

/// Parameters that are animated, or changed by keys.
pub(super) fn parameters_change(ui: &Ui, snapshot: &Snapshot, locals: &mut Locals) -> Vec<Action> {
    let parameters::Local { animations, keys, .. } = &mut locals.parameters;
    let mut commands = Vec::new();
    let letter = |event: &Event| match event {
        Event::Key { key, pressed: true, modifiers, .. }
            if !modifiers.command && !modifiers.alt =>
        {
            Some((*key, modifiers.shift))
        }
        _ => None,
    };
    let pressed: Vec<_> = ui.input(|input| input.events.iter().filter_map(letter).collect());
    if keys.asked().is_some() {
        pressed.first().into_iter().for_each(|(key, _)| keys.answer(*key));
    } else if locals.keyboard.is_the_scenes() {
        for (key, shift) in pressed {
            let bound = keys.all(&snapshot.parameters).find(|(own, _)| *own == key);
            let Some((_, parameter)) = bound else { continue };
            animations.stop(&parameter.name);
            commands.extend(parameter_keys::pressed(parameter, shift));
        }
    }
    commands.extend(animations.commands(snapshot, ui.input(|input| input.time)));
    if !animations.is_empty() && snapshot.clock.playing {
        ui.request_repaint();
    }
    commands.into_iter().map(Action::Session).collect()
}

/// Keys that work while no text field has the keyboard.
pub(super) fn pressed(ui: &Ui, shown: &Shown<'_>, locals: &Locals) -> Vec<Action> {
    let Shown { snapshot, course, .. } = *shown;
    let mut actions = Vec::new();
    let keymap = Typing::keymap(ui.ctx());
    let pressed = |modifiers, key| {
        !keymap.frees(modifiers, key) && ui.input_mut(|input| input.consume_key(modifiers, key))
    };
    if pressed(Modifiers::COMMAND, Key::R) {
        actions.push(Action::Session(Command::Reset));
    }
    if pressed(Modifiers::NONE, Key::F11) {
        actions.push(Action::FullWindow);
    }
    // Those with Shift and Ctrl first, as below.
    if pressed(Modifiers::COMMAND, Key::F12) {
        actions.push(Action::CopyPicture(None));
    }
    if pressed(Modifiers::SHIFT, Key::F12) {
        actions.push(Action::Record(None, None));
    }
    if pressed(Modifiers::NONE, Key::F12) {
        actions.push(Action::Screenshot(None));
    }
    if !locals.keyboard.is_the_scenes() {
        return actions;
    }
    // What was begun last ends first.
    let any = |is: fn(&Seen) -> bool| shown.sights.values().any(is);
    if any(|seen| seen.measured.is_some()) && pressed(Modifiers::NONE, Key::Escape) {
        actions.push(Action::Look(None, Look::StopMeasuring));
    }
    if any(|seen| seen.marked.is_some()) && pressed(Modifiers::NONE, Key::Escape) {
        actions.push(Action::Look(None, Look::Unfollow));
    }
    if locals.full.is_some() && pressed(Modifiers::NONE, Key::Escape) {
        actions.push(Action::FullWindow);
    }
    if pressed(Modifiers::NONE, Key::Space) {
        actions.push(Action::Session(transport::play_or_pause(snapshot, course)));
    }
    // The one with Shift first: a key that is asked for without is found with it, too.
    if pressed(Modifiers::SHIFT, Key::Period) {
        actions.push(Action::Session(Command::Steps(locals.title.steps())));
    }
    if pressed(Modifiers::NONE, Key::Period) {
        actions.push(Action::Session(Command::Step));
    }
    if pressed(Modifiers::SHIFT, Key::Home) {
        actions.push(Action::Look(None, Look::Fit));
    }
    if pressed(Modifiers::NONE, Key::Home) {
        actions.push(Action::Look(None, Look::Reset));
    }
    for (key, look) in looks() {
        if pressed(Modifiers::ALT, key) {
            actions.push(Action::Look(None, look));
        }
    }
    actions
}
