//! The studio's comparison in a real window: A and B split by a line, side by side, and their difference.

use std::time::Duration;

use super::{screen::Screen, window::BLOB};

/// At the studio's first layout: the button of the comparisons, the first of its menu, and the ways to show it.
const MENU: [i32; 2] = [1341, 859];
const WHAT_RUNS_NOW: [i32; 2] = [1184, 746];
const SIDE_BY_SIDE: [i32; 2] = [805, 74];
const DIFFERENCE: [i32; 2] = [885, 74];
/// The line between A and B, and where the view begins and ends.
const LINE: [i32; 2] = [855, 400];
const ENDS: [i32; 2] = [521, 1189];
/// Rows of the view that only pictures cover.
const ROWS: std::ops::Range<usize> = 140..500;

impl Screen {
    /// The middle, along x, of the view's pixels that `accept` likes, if there are more than a few.
    fn middle(&self, [left, right]: [i32; 2], accept: impl Fn([i32; 3]) -> bool) -> Option<f32> {
        let picture = self.picture();
        let (mut sum, mut count) = (0.0, 0);
        for y in ROWS {
            for x in left as usize..right as usize {
                if accept(picture.rgb[y * picture.width + x].map(i32::from)) {
                    (sum, count) = (sum + x as f32, count + 1);
                }
            }
        }
        (count > 30).then(|| sum / count as f32)
    }

    #[track_caller]
    fn middle_where(
        &self,
        what: &str,
        ends: [i32; 2],
        color: impl Fn([i32; 3]) -> bool,
        accept: impl Fn(f32) -> bool,
    ) -> f32 {
        let mut found = None;
        self.until(what, || {
            found = self.middle(ends, &color).filter(|&x| accept(x));
            found.is_some()
        });
        found.unwrap()
    }

    fn drag(&self, from: [i32; 2], to: [i32; 2]) {
        self.mouse(&["sleep", "0.3", "mousedown", "1"], from);
        for part in 1..=4 {
            std::thread::sleep(Duration::from_millis(300));
            self.mouse(&[], [from[0] + (to[0] - from[0]) * part / 4, to[1]]);
        }
        std::thread::sleep(Duration::from_millis(300));
        self.xdotool(&["mouseup", "1"]).expect(0, &[]);
    }
}

fn bright([red, green, blue]: [i32; 3]) -> bool {
    red + green + blue > 500
}

#[test]
fn an_edit_is_seen_beside_what_ran_before() {
    let Some((screen, mut studio)) = Screen::open(BLOB) else { return };
    let before = screen.blob_where("the blob is drawn", |_| true)[0];
    screen.click(MENU);
    screen.click(WHAT_RUNS_NOW);
    // The ground is nearly black there.
    screen.until("the line between both is there", || {
        let picture = screen.picture();
        let light = |x: i32, y: usize| {
            picture.rgb[y * picture.width + x as usize].map(i32::from).iter().sum::<i32>()
        };
        let around = |y: usize| (LINE[0] - 3..=LINE[0] + 3).any(|x| light(x, y) > 250);
        [150, 200, 460, 490].into_iter().all(around)
    });
    screen.type_behind_the_number("+0.5f");

    // All of the view but its right end is A's, which has moved; then B's, which has not.
    let beyond_the_line = |line: i32| [line + 12, ENDS[1]];
    screen.drag(LINE, [1160, 400]);
    let after =
        screen.middle_where("A moves to the right", [ENDS[0], 1140], bright, |x| x > before + 40.0);
    screen.drag([1160, 400], [540, 400]);
    screen.middle_where("B stays where it was", beyond_the_line(540), bright, |x| {
        (x - before).abs() < 12.0
    });

    screen.click(DIFFERENCE);
    let ochre = |[red, _, blue]: [i32; 3]| red > 120 && red > 2 * blue;
    let blue = |[red, _, blue]: [i32; 3]| blue > 120 && blue > red + 60;
    screen.middle_where("A is ochre", ENDS, ochre, |x| (x - after).abs() < 12.0);
    screen.middle_where("B is blue", ENDS, blue, |x| (x - before).abs() < 12.0);

    screen.click(SIDE_BY_SIDE);
    let [left, right] = [[ENDS[0], LINE[0] - 8], [LINE[0] + 8, ENDS[1]]];
    let middle = |[left, right]: [i32; 2]| (left + right) as f32 / 2.0;
    screen.middle_where("A is on the left", left, bright, |x| x > middle(left) + 20.0);
    screen.middle_where("B is on the right", right, bright, |x| (x - middle(right)).abs() < 15.0);
    assert!(studio.is_running());
}
