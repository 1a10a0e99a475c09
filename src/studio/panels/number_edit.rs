//! Fields and sliders for numbers that change nothing by being shown, walked through or left again.
//!
//! egui's own set what they show, which is rounded, when the keyboard leaves them, with Escape, too; they move what
//! lies beside a slider's steps as soon as it is seen; and they know whole numbers as `f64` alone.

use std::{
    cell::{Cell, RefCell},
    fmt::Display,
    ops::RangeInclusive,
    rc::Rc,
    str::FromStr,
};

use egui::{DragValue, Id, Key, Response, Slider, SliderClamping, Ui, emath};

/// Decimals that are shown at most.
const MOST_DECIMALS: usize = 4;
/// Digits of a number that has too many decimals for that.
const DIGITS: usize = 4;

/// A field for a number: dragged, or typed as `parse` reads it. It is shown by [`add`].
pub(super) fn float<'a>(
    ui: &Ui,
    value: &'a mut f64,
    speed: f64,
    range: RangeInclusive<f64>,
    parse: impl Fn(&str) -> Option<f64> + 'a,
) -> DragValue<'a> {
    let (before, is_given_up) = (*value, is_given_up(ui));
    let text = Rc::new(RefCell::new(String::new()));
    let written = Rc::clone(&text);
    let get_set = move |new: Option<f64>| {
        *value = new.unwrap_or(*value);
        *value
    };
    DragValue::from_get_set(get_set)
        .speed(speed)
        .range(range)
        .clamp_existing_to_range(false)
        .update_while_editing(false)
        .max_decimals(MOST_DECIMALS)
        .custom_formatter(move |value, decimals| {
            let shown = shown(value, decimals);
            written.replace(shown.clone());
            shown
        })
        .custom_parser(move |typed| match is_given_up || typed.trim() == text.borrow().as_str() {
            true => Some(before),
            false => parse(typed),
        })
}

/// The same for a whole number.
pub(super) fn whole<'a, T>(
    ui: &Ui,
    value: &'a mut T,
    speed: f64,
    range: RangeInclusive<T>,
    parse: impl Fn(&str) -> Option<f64> + 'a,
) -> DragValue<'a>
where
    T: emath::Numeric + Display + FromStr,
{
    let (shown, is_given_up) = (value.to_string(), is_given_up(ui));
    let before = *value;
    // What was typed digit by digit: not all whole numbers are an `f64`.
    let exact = Rc::new(Cell::new(None));
    let typed_exactly = Rc::clone(&exact);
    let [least, greatest] = [*range.start(), *range.end()];
    let get_set = move |new: Option<f64>| {
        if let Some(new) = new {
            match exact.take() {
                Some(typed) => *value = typed,
                None if new != value.to_f64() => *value = T::from_f64(new),
                None => {}
            }
        }
        value.to_f64()
    };
    DragValue::from_get_set(get_set)
        .speed(speed)
        .range(least.to_f64()..=greatest.to_f64())
        .clamp_existing_to_range(false)
        .update_while_editing(false)
        .max_decimals(0)
        .custom_formatter(move |_, _| shown.clone())
        .custom_parser(move |typed| match typed.trim().parse::<T>() {
            _ if is_given_up => {
                typed_exactly.set(Some(before));
                Some(before.to_f64())
            }
            Ok(number) if number >= least && number <= greatest => {
                typed_exactly.set(Some(number));
                Some(number.to_f64())
            }
            Ok(number) => Some(number.to_f64()),
            Err(_) => parse(typed),
        })
}

/// Shows a field, whose text is given up with Escape.
pub(super) fn add(ui: &mut Ui, field: DragValue<'_>) -> Response {
    add_by(ui, |ui| ui.add(field))
}

/// The same, where `show` shows it.
pub(super) fn add_by(ui: &mut Ui, show: impl FnOnce(&mut Ui) -> Response) -> Response {
    let id = mark(ui);
    let response = show(ui);
    if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
        let frame = ui.ctx().cumulative_frame_nr();
        ui.data_mut(|data| data.insert_temp(id, frame));
    }
    response
}

/// Whether the field that is shown next was left with Escape in the frame before: egui takes its text in this one.
fn is_given_up(ui: &Ui) -> bool {
    let given_up = ui.data(|data| data.get_temp::<u64>(mark(ui)));
    given_up.is_some_and(|frame| frame + 1 == ui.ctx().cumulative_frame_nr())
}

/// Where it is noted of the field that is shown next.
fn mark(ui: &Ui) -> Id {
    ui.next_auto_id().with("given up")
}

/// A slider without its number.
pub(super) fn slider<'a, T: emath::Numeric>(
    value: &'a mut T,
    range: RangeInclusive<T>,
) -> Slider<'a> {
    let get_set = move |new: Option<f64>| {
        if let Some(new) = new.filter(|new| *new != value.to_f64()) {
            *value = T::from_f64(new);
        }
        value.to_f64()
    };
    let range = range.start().to_f64()..=range.end().to_f64();
    let slider = Slider::from_get_set(range, get_set).clamping(SliderClamping::Edits);
    let slider = if T::INTEGRAL { slider.integer() } else { slider };
    slider.show_value(false)
}

/// A number in few digits: with so many decimals, or as `2e-5` where these say too little of it.
fn shown(value: f64, decimals: RangeInclusive<usize>) -> String {
    let plain = emath::format_with_decimals_in_range(value, decimals);
    let is_near = plain.parse::<f64>().is_ok_and(|read| (read - value).abs() <= value.abs() * 5e-3);
    if is_near || !value.is_finite() {
        return plain;
    }
    let text = format!("{value:.0$e}", DIGITS - 1);
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}e{power}")
}

#[cfg(test)]
mod tests {
    use egui::{Key, vec2};

    use super::*;
    use crate::studio::test_screen::TestScreen;

    /// What a field makes of a number that it shows as `text`, where that is clicked, `typed` is typed, if anything,
    /// and `end` pressed.
    fn left(number: f64, text: &str, typed: &str, end: Key) -> f64 {
        let (mut screen, mut number) = (TestScreen::sized(vec2(260.0, 100.0)), number);
        let mut show = |screen: &mut TestScreen| {
            screen.frame(|ui| {
                let field = float(ui, &mut number, 0.01, 0.0..=1e6, |text| text.parse().ok());
                _ = add(ui, field);
            });
        };
        show(&mut screen);
        screen.click(text);
        (0..3).for_each(|_| show(&mut screen));
        if !typed.is_empty() {
            screen.types(typed);
            show(&mut screen);
        }
        screen.press(end);
        (0..3).for_each(|_| show(&mut screen));
        number
    }

    #[test]
    fn a_field_that_is_left_again_has_the_number_that_it_had() {
        for (number, text) in [(2.0e-5, "2e-5"), (std::f64::consts::PI, "3.1416"), (1.25, "1.25")] {
            for end in [Key::Escape, Key::Enter, Key::Tab] {
                assert_eq!(left(number, text, "", end), number, "{text} {end:?}");
            }
            assert_eq!(left(number, text, "0.5", Key::Enter), 0.5);
            assert_eq!(left(number, text, "0.5", Key::Escape), number);
        }
    }

    #[test]
    fn whole_numbers_are_exact() {
        const NUMBER: u64 = (1 << 53) + 1;
        for (typed, expected) in [("", NUMBER), ("9007199254740995", NUMBER + 2)] {
            let (mut screen, mut number) = (TestScreen::sized(vec2(260.0, 100.0)), NUMBER);
            let mut show = |screen: &mut TestScreen| {
                screen.frame(|ui| {
                    let field = whole(ui, &mut number, 0.1, 0..=u64::MAX, |_| None);
                    _ = add(ui, field);
                });
            };
            show(&mut screen);
            screen.click("9007199254740993");
            (0..3).for_each(|_| show(&mut screen));
            if !typed.is_empty() {
                screen.types(typed);
                show(&mut screen);
            }
            screen.press(Key::Enter);
            (0..3).for_each(|_| show(&mut screen));
            assert_eq!(number, expected);
        }
    }

    #[test]
    fn a_slider_that_is_shown_changes_nothing() {
        let (mut step, mut integer) = (0.35, (1_i64 << 53) + 1);
        let mut screen = TestScreen::sized(vec2(260.0, 100.0));
        for _ in 0..3 {
            screen.frame(|ui| {
                _ = ui.add(slider(&mut step, 0.0..=4.0).step_by(0.2));
                _ = ui.add(slider(&mut integer, i64::MIN..=i64::MAX));
            });
        }
        assert_eq!((step, integer), (0.35, (1 << 53) + 1));
    }

    #[test]
    fn small_numbers_are_shown_with_their_digits() {
        let shown = |value| shown(value, 2..=MOST_DECIMALS);
        assert_eq!(
            [2.0e-5, 0.00125, 0.35, 1234.5678, 0.0].map(shown),
            ["2e-5", "1.25e-3", "0.35", "1234.57", "0.00"]
        );
    }
}
