//! What the last frames were made of: the parts of the window's work, the passes of the step before, the picture and
//! the compilation, each with its beginning and its length.
//!
//! Enters: marks of the window, and snapshots. Leaves: frames to look at, and files: Chrome's format of traces, which
//! Perfetto reads, and CSV.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::session::{Phase, Snapshot};

/// As many frames are known.
const MOST_FRAMES: usize = 1000;

/// Where something was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Track {
    /// On the window's thread.
    Window,
    /// By the device that runs the kernels.
    Device,
    /// By OpenGL.
    OpenGl,
    /// By the compiler.
    Compiler,
}

impl Track {
    /// All of them, as they are shown from above.
    pub const ALL: [Self; 4] = [Self::Window, Self::Device, Self::OpenGl, Self::Compiler];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Device => "device",
            Self::OpenGl => "OpenGL",
            Self::Compiler => "compiler",
        }
    }
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Where.
    pub track: Track,
    /// What.
    pub name: String,
    /// When it began, in milliseconds since the studio did.
    pub start_ms: f64,
    /// How long it took.
    pub ms: f64,
}

/// A frame of the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracedFrame {
    /// Counts them.
    pub number: u64,
    /// When it began, in milliseconds since the studio did.
    pub start_ms: f64,
    /// How long it took.
    pub ms: f64,
    /// What was done in it, and what was known at its end to have been done meanwhile.
    pub spans: Vec<Span>,
}

/// The last frames.
#[derive(Debug)]
pub struct Trace {
    begun: Instant,
    frames: VecDeque<TracedFrame>,
    present: TracedFrame,
    /// When the last mark was.
    marked: Instant,
    count: u64,
    /// The step and the compilation that are in it already.
    step: Option<u64>,
    running: u64,
}

/// What it is written to a file as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// What Chrome and Perfetto read.
    Trace,
    /// A line for each part of each frame.
    Csv,
}

impl Default for Trace {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            begun: now,
            frames: VecDeque::new(),
            present: TracedFrame::default(),
            marked: now,
            count: 0,
            step: None,
            running: 0,
        }
    }
}

impl Trace {
    /// A frame begins.
    pub fn begin(&mut self, now: Instant) {
        self.count += 1;
        self.marked = now;
        let start_ms = self.ms(now);
        self.present = TracedFrame { number: self.count, start_ms, ..TracedFrame::default() };
    }

    /// What was done since the last mark is called so.
    pub fn mark(&mut self, name: &str, now: Instant) {
        let (start_ms, ms) = (self.ms(self.marked), milliseconds(now - self.marked));
        self.marked = now;
        self.present.spans.push(Span { track: Track::Window, name: name.to_owned(), start_ms, ms });
    }

    /// OpenGL took so long for the picture of a frame before.
    pub fn drew(&mut self, took: Duration) {
        let (start_ms, ms) = (self.present.start_ms, milliseconds(took));
        self.present.spans.push(Span { track: Track::OpenGl, name: "draw".into(), start_ms, ms });
    }

    /// A step, or a compilation, may have ended before this frame: it is put where it ended at the latest.
    pub fn observe(&mut self, snapshot: &Snapshot) {
        let end = self.present.start_ms;
        if self.step.replace(snapshot.clock.step) != Some(snapshot.clock.step) {
            let whole: f64 = snapshot.passes.iter().map(|pass| f64::from(pass.last_ms)).sum();
            let mut start_ms = (end - whole).max(0.0);
            for pass in &snapshot.passes {
                let ms = f64::from(pass.last_ms);
                let span = Span { track: Track::Device, name: pass.name.clone(), start_ms, ms };
                self.present.spans.push(span);
                start_ms += ms;
            }
        }
        let compile = &snapshot.compile;
        let is_new = compile.phase == Phase::Running && compile.running != self.running;
        if std::mem::replace(&mut self.running, compile.running) != compile.running && is_new {
            let ms = milliseconds(compile.elapsed);
            let (name, start_ms) = (format!("version {}", compile.running), (end - ms).max(0.0));
            self.present.spans.push(Span { track: Track::Compiler, name, start_ms, ms });
        }
    }

    /// The frame ends.
    pub fn end(&mut self, now: Instant) {
        let mut frame = std::mem::take(&mut self.present);
        frame.ms = self.ms(now) - frame.start_ms;
        if self.frames.len() == MOST_FRAMES {
            self.frames.pop_front();
        }
        self.frames.push_back(frame);
    }

    /// The frames that are known, oldest first.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &TracedFrame> {
        self.frames.iter()
    }

    /// The frame with a number; the last one where that is not known, or none is named.
    pub fn frame(&self, number: Option<u64>) -> Option<&TracedFrame> {
        let found = self.frames.iter().find(|frame| Some(frame.number) == number);
        found.or(self.frames.back())
    }

    /// Forgets them: another scene is open.
    pub fn clear(&mut self) {
        self.frames.clear();
        (self.step, self.running) = (None, 0);
    }

    /// As a file that Chrome (`chrome://tracing`) and Perfetto open.
    pub fn to_chrome(&self, scene: &str) -> String {
        let thread = |track: Track| Track::ALL.iter().position(|of| *of == track);
        let named = |what: &str, tid: Option<usize>, name: &str| {
            let args = json!({ "name": name });
            json!({ "name": what, "ph": "M", "pid": 1, "tid": tid, "args": args })
        };
        let names = Track::ALL.map(|track| named("thread_name", thread(track), track.name()));
        let process = named("process_name", None, &format!("warpaint: {scene}"));
        let event = |name: &str, track, start_ms: f64, ms: f64| {
            json!({
                "name": name, "cat": Track::name(track), "ph": "X", "pid": 1, "tid": thread(track),
                "ts": start_ms * 1e3, "dur": ms * 1e3,
            })
        };
        let frames = self.frames.iter().flat_map(|frame| {
            let name = format!("frame {}", frame.number);
            let whole = event(&name, Track::Window, frame.start_ms, frame.ms);
            let spans = frame.spans.iter();
            let spans = spans.map(|span| event(&span.name, span.track, span.start_ms, span.ms));
            [whole].into_iter().chain(spans)
        });
        let events: Vec<Value> = [process].into_iter().chain(names).chain(frames).collect();
        json!({ "displayTimeUnit": "ms", "traceEvents": events }).to_string()
    }

    /// A line for each part of each frame.
    pub fn to_csv(&self) -> String {
        let mut text = "frame,track,name,start_ms,ms\n".to_owned();
        for frame in &self.frames {
            let TracedFrame { number, start_ms, ms, spans } = frame;
            _ = writeln!(text, "{number},window,frame,{start_ms:.4},{ms:.4}");
            for Span { track, name, start_ms, ms } in spans {
                let (track, name) = (track.name(), quoted(name));
                _ = writeln!(text, "{number},{track},{name},{start_ms:.4},{ms:.4}");
            }
        }
        text
    }

    fn ms(&self, moment: Instant) -> f64 {
        milliseconds(moment.saturating_duration_since(self.begun))
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// A field of CSV: kernels of templates have commas in their names.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::{session::PassTiming, studio::test_screen::snapshot};

    fn pass(name: &str, last_ms: f32) -> PassTiming {
        let name = name.to_owned();
        PassTiming { name, last_ms, history_ms: vec![last_ms], bytes: None, flops: None }
    }

    /// Two frames of 10 ms, 20 ms apart: the second one is of a new step.
    pub fn trace() -> Trace {
        let mut trace = Trace::default();
        let mut snapshot = snapshot();
        snapshot.passes = vec![pass("a", 2.0), pass("smooth<1, 0>", 3.0)];
        let begun = trace.begun;
        let at = |ms: u64| begun + Duration::from_millis(ms);
        for frame in [0, 1] {
            snapshot.clock.step = frame;
            let start = 100 + 20 * frame;
            trace.begin(at(start));
            trace.observe(&snapshot);
            trace.drew(Duration::from_millis(4));
            trace.mark("panels", at(start + 6));
            trace.mark("show", at(start + 10));
            trace.end(at(start + 10));
        }
        trace
    }

    #[test]
    fn a_frame_has_the_window_s_parts_and_the_passes_before_it() {
        let trace = trace();
        let last = trace.frame(None).unwrap();
        assert_eq!((last.number, last.start_ms, last.ms), (2, 120.0, 10.0));
        let spans = last.spans.iter().map(|of| (of.track, &*of.name, of.start_ms, of.ms));
        let expected = [
            (Track::Device, "a", 115.0, 2.0),
            (Track::Device, "smooth<1, 0>", 117.0, 3.0),
            (Track::OpenGl, "draw", 120.0, 4.0),
            (Track::Window, "panels", 120.0, 6.0),
            (Track::Window, "show", 126.0, 4.0),
        ];
        assert_eq!(spans.collect::<Vec<_>>(), expected);
        assert_eq!(trace.frame(Some(1)).map(|of| of.number), Some(1));
        assert_eq!(trace.frame(Some(77)).map(|of| of.number), Some(2));
    }

    #[test]
    fn a_step_that_was_seen_is_not_seen_again() {
        let mut trace = trace();
        let mut snapshot = snapshot();
        (snapshot.passes, snapshot.clock.step) = (vec![pass("a", 2.0)], 1);
        trace.begin(Instant::now());
        trace.observe(&snapshot);
        trace.end(Instant::now());
        assert_eq!(trace.frame(None).unwrap().spans, []);
    }

    #[test]
    fn what_is_kept_has_a_limit() {
        let mut trace = Trace::default();
        for _ in 0..MOST_FRAMES + 10 {
            trace.begin(Instant::now());
            trace.end(Instant::now());
        }
        assert_eq!(trace.frames().count(), MOST_FRAMES);
        assert_eq!(trace.frames().next().map(|of| of.number), Some(11));
    }

    /// <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>: complete events have `ts` and
    /// `dur` in microseconds, names of threads are metadata.
    #[test]
    fn a_trace_is_what_chrome_reads() {
        let trace: Value = serde_json::from_str(&trace().to_chrome("a \"scene\"")).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let complete: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        assert_eq!(complete.len(), 2 * 6);
        let smooth = complete.iter().rfind(|event| event["name"] == "smooth<1, 0>").unwrap();
        assert_eq!((smooth["ts"].as_f64(), smooth["dur"].as_f64()), (Some(117e3), Some(3e3)));
        let names: Vec<_> = events.iter().filter(|event| event["name"] == "thread_name").collect();
        let of_device = names.iter().find(|event| event["args"]["name"] == "device").unwrap();
        assert_eq!(smooth["tid"], of_device["tid"]);
        assert!(complete.iter().all(|event| event["pid"] == 1 && event["tid"].is_u64()));
    }

    #[test]
    fn csv_has_a_line_for_each_part() {
        let text = trace().to_csv();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 2 * 6);
        assert_eq!(lines[0], "frame,track,name,start_ms,ms");
        assert!(lines.contains(&"2,device,\"smooth<1, 0>\",117.0000,3.0000"), "{text}");
    }
}
