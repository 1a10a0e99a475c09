//! The kernels that may still be running when an error comes in.

use std::{collections::VecDeque, sync::Arc};

use crate::device::LaunchConfig;

/// A kernel that was launched.
#[derive(Clone, Debug)]
pub(super) struct Launched {
    stream: u64,
    sequence: u64,
    /// Its (lowered) name.
    pub(super) kernel: Arc<str>,
    /// Its shape.
    pub(super) config: LaunchConfig,
}

/// A moment on a stream: all its launches so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    stream: u64,
    sequence: u64,
}

/// The kernels launched last on a device, as far as they are not known to have ended.
///
/// CUDA reports a kernel's failure from any later call, without its name; these are the ones it can have been.
#[derive(Debug)]
pub(super) struct Launches {
    running: VecDeque<Launched>,
    sequence: u64,
}

impl Launches {
    /// How many are remembered: some steps of a scene, without cost to a launch.
    const CAPACITY: usize = 16;

    pub(super) fn new() -> Self {
        Self { running: VecDeque::with_capacity(Self::CAPACITY), sequence: 0 }
    }

    /// A kernel was put on a stream.
    pub(super) fn push(&mut self, stream: u64, kernel: &Arc<str>, config: &LaunchConfig) {
        self.sequence += 1;
        // The same launch again takes the last one's place: where that one failed, so it seems did this one.
        if let Some(last) = self.running.back_mut()
            && last.stream == stream
            && Arc::ptr_eq(&last.kernel, kernel)
            && last.config == *config
        {
            last.sequence = self.sequence;
            return;
        }
        if self.running.len() == Self::CAPACITY {
            self.running.pop_front();
        }
        let (sequence, kernel, config) = (self.sequence, kernel.clone(), *config);
        self.running.push_back(Launched { stream, sequence, kernel, config });
    }

    /// All launches on `stream` so far.
    pub(super) fn mark(&self, stream: u64) -> Mark {
        Mark { stream, sequence: self.sequence }
    }

    /// The work before `mark` has ended well.
    pub(super) fn ended(&mut self, mark: Mark) {
        self.running
            .retain(|launched| launched.stream != mark.stream || launched.sequence > mark.sequence);
    }

    /// The work on all streams before the launch with number `sequence` has ended well.
    pub(super) fn all_ended(&mut self, sequence: u64) {
        self.running.retain(|launched| launched.sequence > sequence);
    }

    /// Whether nothing was launched since.
    pub(super) fn is_latest(&self, mark: Mark) -> bool {
        mark.sequence == self.sequence
    }

    /// The number of the latest launch.
    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Those that may be running, latest first, each kernel once.
    pub(super) fn suspects(&self) -> Vec<Launched> {
        let mut suspects: Vec<Launched> = Vec::new();
        for launched in self.running.iter().rev() {
            if suspects.iter().all(|known| known.kernel != launched.kernel) {
                suspects.push(launched.clone());
            }
        }
        suspects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(launches: &Launches) -> Vec<String> {
        launches.suspects().iter().map(|launched| launched.kernel.to_string()).collect()
    }

    #[test]
    fn suspects_are_the_kernels_not_known_to_have_ended() {
        let shape = LaunchConfig::new(1, 32);
        let mut launches = Launches::new();
        let (first, second) = ("first".into(), "second".into());
        launches.push(0, &first, &shape);
        let mark = launches.mark(0);
        launches.push(1, &"other stream".into(), &shape);
        launches.push(0, &second, &shape);
        let between = launches.mark(0);
        launches.push(0, &second, &shape);
        assert_eq!(names(&launches), ["second", "other stream", "first"]);

        launches.ended(mark);
        assert_eq!(names(&launches), ["second", "other stream"]);
        launches.ended(between);
        assert_eq!(names(&launches), ["second", "other stream"], "it was launched again");
        launches.ended(launches.mark(1));
        assert_eq!(names(&launches), ["second"]);
        launches.all_ended(launches.sequence());
        assert_eq!(names(&launches), [""; 0]);
    }

    #[test]
    fn only_the_latest_launches_are_remembered() {
        let mut launches = Launches::new();
        for number in 0..100 {
            launches.push(0, &format!("k{number}").into(), &LaunchConfig::new(1, 1));
        }
        assert_eq!(launches.suspects().len(), Launches::CAPACITY);
        assert_eq!(names(&launches)[0], "k99");
    }
}
