//! The past of a scene that OpenGL draws: what it draws is no other state than the one that is sought.

use super::*;
use warpaint::{
    draw::{Camera, View},
    gl::CurrentContext,
    scene::{ResourceId, ViewId},
    session::Keeping,
};

/// What each step makes depends on what OpenGL draws of the one before.
const POINTS: &str = r#"/*---
[buffer.position]
type = "float4"
count = 300
[[pass]]
kernel = "walk"
over = "position"
[view]
kind = "points"
position = "position"
size = 6.0
camera.distance = 4.0
---*/
__global__ void walk(float4 *position, int position_count, unsigned long long step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= position_count) return;
    float4 p = position[i];
    position[i] = make_float4(p.x * 0.75f + 0.01f * (step % 17) - 0.4f, p.y * 0.5f + 0.001f * (i % 100), 0.0f, 1.0f);
}
"#;

/// So many steps lie between two copies.
const EVERY: u64 = 20;

/// A session that OpenGL draws, after so many steps; what each of them made of the points.
fn walked(context: &CurrentContext, steps: u64) -> (Session, Vec<Vec<u8>>) {
    let device = Device::cpu().unwrap();
    let options =
        Options { history: Past::Within(ROOM), seed: 7, ..Options::new("scene.cu", POINTS) };
    let (interop, compiler) = (Interop::new(context.gl(), &device), Compiler::new(Cache::user()));
    let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
    // So rare that there are no copies but those that are made here.
    session.keep_past(Keeping { share: 1e-9, ..timeline(&session).keeping });
    let mut known = Vec::new();
    for step in 1..=steps {
        session.run_steps(1, |_| {}).unwrap();
        known.push(session.read("position").unwrap());
        if step.is_multiple_of(EVERY) {
            seek(&mut session, Moment { line: 0, step });
        }
    }
    seek(&mut session, Moment { line: 0, step: 1 });
    let copies: Vec<u64> = (0..=steps / EVERY).map(|copy| copy * EVERY).collect();
    assert_eq!(timeline(&session).lines[0].copies, copies);
    (session, known)
}

/// Whether the same bits come out is looked at behind the moment that is sought. They were taken for other ones: each
/// part of the steps behind it began with what is drawn.
#[test]
fn what_is_drawn_is_no_other_past() {
    let Some(context) = crate::gl::context() else { return };
    let (mut session, known) = walked(&context, 120);
    let mut view = View::new(context.gl(), [80, 60]).unwrap();
    let mut picture = |session: &Session| {
        view.draw(&session.frame(ViewId(0), &Camera::default())).unwrap().read_rgba8().unwrap()
    };
    let mut pictures = Vec::new();
    // No two neighbours behind one another: what is drawn is not what comes behind by chance.
    for sought in (0..120).map(|round| 1 + round * 37 % 120) {
        let before = picture(&session);
        session.seek(Moment { line: 0, step: sought });
        let mut drawn = Vec::new();
        while session.is_busy() {
            session.update().unwrap();
            drawn.push((session.clock().step, picture(&session)));
        }
        // What is done behind it nobody sees.
        let mut behind = drawn.iter().filter(|(step, _)| *step > sought);
        let last = drawn.last().map_or(&before, |(_, last)| last);
        assert!(behind.all(|(_, drawn)| [&before, last].contains(&drawn)), "after {sought} steps");
        // It is seen before its steps are compared, and stays.
        let seen = drawn.iter().position(|(step, _)| *step == sought).unwrap();
        assert!(drawn[seen..].iter().all(|(_, drawn)| drawn == last), "after {sought} steps");
        assert!(session.read("position").unwrap() == known[sought as usize - 1], "{sought}");
        pictures.push(last.clone());
    }
    pictures.dedup();
    assert!(pictures.len() > 100, "each step is seen");
    // The next step takes over what was found.
    session.run_steps(1, |_| {}).unwrap();
    let found = &timeline(&session).lines[0];
    assert_eq!(found.others, Vec::<[u64; 2]>::new(), "{:?}", found.copies);
}

/// Another moment is wanted, or steps are, while the one that was sought before is compared: steps go on from the
/// moment that is seen.
#[test]
fn steps_go_on_from_the_moment_that_is_seen() {
    let Some(context) = crate::gl::context() else { return };
    let (mut session, known) = walked(&context, 200);
    let mut were_behind = 0;
    for sought in [171, 150, 111, 63, 25] {
        let at = Moment { line: 0, step: sought };
        session.seek(at);
        let is_behind = |session: &Session| !session.is_working() && session.clock().step > sought;
        session.wait_until_seen().unwrap();
        assert_eq!((timeline(&session).shown, timeline(&session).sought), (at, Some(at)));
        while session.is_busy() && !is_behind(&session) {
            session.update().unwrap();
            assert_eq!(timeline(&session).shown, at);
        }
        were_behind += usize::from(is_behind(&session));
        session.step_once();
        while session.is_busy() {
            session.update().unwrap();
        }
        assert_eq!(session.clock().step, sought + 1);
        assert!(session.read("position").unwrap() == known[sought as usize], "{sought}");
        let lines = timeline(&session).lines;
        assert_eq!(lines.last().unwrap().parent, Some(at));
    }
    assert_eq!(were_behind, 5);
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..60 {
        session.seek(Moment { line: 0, step: random.u64(1..200) });
        for _ in 0..random.u64(1..200) {
            session.update().unwrap();
        }
    }
    session.finish_seeking().unwrap();
    let last = session.clock().step;
    assert!(session.read("position").unwrap() == known[last as usize - 1], "{last}");
    session.run_steps(1, |_| {}).unwrap();
    let others = timeline(&session).lines.iter().flat_map(|line| line.others.clone()).count();
    assert_eq!(others, 0);
}

const MORE: &str = "[array.more]\ntype = 'int'\ncount = 4\n[buffer.position]";

/// The scene rests, and what an edit carries over comes to the device at a time of its own. It was drawn with the next
/// step only.
#[test]
fn what_an_edit_carries_over_is_drawn_at_rest() {
    let Some(context) = crate::gl::context() else { return };
    let (mut session, known) = walked(&context, 20);
    let larger = POINTS.replace("count = 300", "count = 300000");
    let drawn_now = larger.replace("[buffer.position]", MORE);
    let moved = drawn_now.replace("[array.more]", "[buffer.more]");
    for (text, name) in [(larger, "position"), (drawn_now, "position"), (moved, "more")] {
        session.set_source(text);
        while !session.is_idle() {
            session.update().unwrap();
        }
        let at = session.snapshot().resources.iter().position(|of| of.name == name).unwrap();
        let held = session.read(name).unwrap();
        let (buffer, _) = session.drawn(ResourceId(at)).unwrap();
        let mut drawn = vec![0; held.len()];
        buffer.read(0, &mut drawn).unwrap();
        assert!(drawn == held, "{name}");
    }
    assert!(session.read("position").unwrap()[..300 * 16] == known[0]);
}
