//! A number over the steps, in a memory that does not grow with them.

/// Pieces that are remembered at most; beyond it each two neighbours become one.
const MOST_PIECES: usize = 4096;

/// What a number was in the course of the steps.
#[derive(Clone, Debug)]
pub(super) struct TimeSeries {
    pieces: Vec<Piece>,
    /// Steps that a piece stands for.
    span: u64,
}

/// The least and the greatest number in some steps, each with its step; `None` where none was finite.
#[derive(Clone, Copy, Debug)]
struct Piece {
    step: u64,
    ends: Option<[(u64, f64); 2]>,
}

impl Default for TimeSeries {
    fn default() -> Self {
        Self { pieces: Vec::new(), span: 1 }
    }
}

impl TimeSeries {
    /// The number after `step`. What there was of later steps is forgotten: they are not those that follow now.
    pub(super) fn push(&mut self, step: u64, number: f64) {
        let known = self.pieces.partition_point(|piece| piece.step <= step);
        self.pieces.truncate(known);
        if let Some(last) = self.pieces.last_mut() {
            let is_later = |ends: &[(u64, f64); 2]| ends.iter().any(|(at, _)| *at > step);
            last.ends = last.ends.filter(|ends| !is_later(ends));
        }
        let ends = number.is_finite().then_some([(step, number); 2]);
        let piece = Piece { step, ends };
        match self.pieces.last_mut() {
            // It is measured anew.
            Some(last) if self.span == 1 && last.step == step => *last = piece,
            Some(last) if last.step / self.span == step / self.span => *last = last.with(piece),
            _ => self.pieces.push(piece),
        }
        while self.pieces.len() > MOST_PIECES {
            self.span *= 2;
            self.thin();
        }
    }

    fn thin(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        let groups = pieces.chunk_by(|a, b| a.step / self.span == b.step / self.span);
        let merged = groups.filter_map(|group| group.iter().copied().reduce(Piece::with));
        self.pieces = merged.collect();
    }

    /// Steps and numbers, in order; NaN where there was no finite number.
    pub(super) fn points(&self) -> Vec<[f64; 2]> {
        let mut points = Vec::with_capacity(2 * self.pieces.len());
        for piece in &self.pieces {
            match piece.ends {
                None => points.push([piece.step as f64, f64::NAN]),
                Some(mut ends) => {
                    ends.sort_by_key(|(step, _)| *step);
                    let [first, last] = ends.map(|(step, number)| [step as f64, number]);
                    points.push(first);
                    points.extend((first != last).then_some(last));
                }
            }
        }
        points
    }
}

impl Piece {
    /// Both as one.
    fn with(self, later: Self) -> Self {
        let ends = match (self.ends, later.ends) {
            (Some([low, high]), Some([least, greatest])) => Some([
                if least.1 < low.1 { least } else { low },
                if greatest.1 > high.1 { greatest } else { high },
            ]),
            (one, other) => one.or(other),
        };
        Self { step: self.step, ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_are_kept_as_they_are() {
        let mut time_series = TimeSeries::default();
        for (step, number) in [(1, 2.0), (2, f64::NAN), (2, 3.0), (5, f64::INFINITY), (9, -1.0)] {
            time_series.push(step, number);
        }
        let points = time_series.points();
        assert_eq!((points[0], points[1], points[3]), ([1.0, 2.0], [2.0, 3.0], [9.0, -1.0]));
        assert!(points[2][0] == 5.0 && points[2][1].is_nan() && points.len() == 4);
    }

    #[test]
    fn steps_from_an_earlier_one_on_take_the_place_of_those_behind_it() {
        let mut time_series = TimeSeries::default();
        (1..=9).for_each(|step| time_series.push(step, step as f64));
        (4..=6).for_each(|step| time_series.push(step, -1.0));
        let expected = [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, -1.0], [5.0, -1.0], [6.0, -1.0]];
        assert_eq!(time_series.points(), expected);
        // Where a piece stands for several steps, too.
        (7..=100_000).for_each(|step| time_series.push(step, 0.0));
        (50_001..=50_100).for_each(|step| time_series.push(step, step as f64));
        let points = time_series.points();
        assert!(points.is_sorted_by(|a, b| a[0] < b[0]), "they are in order");
        assert_eq!(points.last(), Some(&[50_100.0, 50_100.0]));
        assert!(time_series.span < 100);
    }

    #[test]
    fn many_steps_keep_their_extremes_and_their_order() {
        let mut time_series = TimeSeries::default();
        for step in 1..=100_000 {
            let spike = if step == 77_777 { 50.0 } else { 0.0 };
            time_series.push(step, (step as f64 * 0.001).sin() + spike);
        }
        let points = time_series.points();
        assert!(points.len() <= 2 * MOST_PIECES, "{} points", points.len());
        assert!(points.windows(2).all(|pair| pair[0][0] < pair[1][0]));
        assert_eq!((points[0][0], points.last().map(|last| last[0])), (1.0, Some(100_000.0)));
        assert!(points.contains(&[77_777.0, 77.777_f64.sin() + 50.0]));
        let least = points.iter().map(|point| point[1]).fold(f64::INFINITY, f64::min);
        assert!((-1.0..-0.999_999).contains(&least));
    }
}
