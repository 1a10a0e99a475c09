//! How long a piece of work takes, and how near that is to what the device can do.

use std::fmt::Write as _;

use serde::Serialize;

use super::ceilings::Ceilings;

/// The time of one piece of work, and what of the device's ceilings it reaches.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) median_ms: f64,
    pub(super) min_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) flops: Option<f64>,
    /// Bytes a second, relative to the ceiling of copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of_copy: Option<f64>,
    /// Operations a second, relative to the ceiling of fused multiply-adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of_fma: Option<f64>,
}

impl Figure {
    /// The figure of work that took these milliseconds each time; `None` where it was never done.
    pub(super) fn new(
        name: &str,
        mut times_ms: Vec<f64>,
        [bytes, flops]: [Option<f64>; 2],
        ceilings: &Ceilings,
    ) -> Option<Self> {
        times_ms.sort_by(f64::total_cmp);
        let (&min_ms, &median_ms) = times_ms.first().zip(times_ms.get(times_ms.len() / 2))?;
        let ratio = |amount: Option<f64>, ceiling: f64| {
            amount.filter(|_| median_ms > 0.0).map(|n| n / (median_ms * 1e-3) / ceiling)
        };
        Some(Self {
            name: name.to_owned(),
            median_ms,
            min_ms,
            bytes,
            flops,
            of_copy: ratio(bytes, ceilings.copy_bytes_per_second),
            of_fma: ratio(flops, ceilings.fma_flops_per_second),
        })
    }

    /// As a line of the table.
    pub(super) fn line(&self) -> String {
        let mut line = format!("  {:<32}{:>10.4}{:>10.4}", self.name, self.median_ms, self.min_ms);
        let seconds = self.median_ms * 1e-3;
        for (amount, ratio) in [(self.bytes, self.of_copy), (self.flops, self.of_fma)] {
            let _ = match amount.zip(ratio) {
                Some((n, ratio)) => {
                    write!(line, "{:>10.1}{:>7.0} %", n / seconds * 1e-9, 100.0 * ratio)
                }
                None => write!(line, "{:>10}{:>9}", "", ""),
            };
        }
        line.trim_end().to_owned()
    }
}
