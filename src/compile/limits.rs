//! How much a compilation may take.

use std::time::Duration;

/// The variable with the longest time of a compilation, in seconds.
pub(super) const SECONDS_VARIABLE: &str = "WARPAINT_COMPILE_SECONDS";

/// The variable with the most memory of a compilation, in MiB.
pub(super) const MEMORY_VARIABLE: &str = "WARPAINT_COMPILE_MIB";

/// Longer than any program runs.
pub(super) const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

/// How long a compilation may take, and how much memory: a few lines of macros or templates can ask for any amount.
///
/// They hold where NVRTC runs in a process of its own; see [`Compiler`](super::Compiler).
///
/// ```
/// use std::time::Duration;
/// use warpaint::compile::{Cache, Compiler, Limits, Outcome, Request, Target};
///
/// let limits = Limits { time: Duration::from_secs(10), memory_bytes: 256 << 20 };
/// let compiler = Compiler::new(Cache::memory()).with_limits(limits);
/// // 2 to the 22nd types.
/// let source = "
/// template <int D, int N> struct T { static constexpr long v = T<D - 1, 2 * N>::v + T<D - 1, 2 * N + 1>::v; };
/// template <int N> struct T<0, N> { static constexpr long v = N; };
/// __device__ long sum = T<22, 1>::v;";
/// let outcome = compiler.compile(&Request::new("types.cu", source, Target::CPU))?;
/// assert!(matches!(outcome, Outcome::Rejected { .. }));
/// # Ok::<(), warpaint::compile::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest time of one compilation.
    pub time: Duration,
    /// The most memory of one compilation in bytes, beside what NVRTC itself takes.
    pub memory_bytes: u64,
}

impl Default for Limits {
    /// A minute, and 4 GiB or half of the machine's memory, whichever is less.
    fn default() -> Self {
        let memory_bytes = (crate::machine::memory_bytes() / 2).min(4 << 30);
        Self { time: Duration::from_secs(60), memory_bytes }
    }
}

impl Limits {
    /// What the user wants for all programs: `WARPAINT_COMPILE_SECONDS` and `WARPAINT_COMPILE_MIB` where they are set
    /// to a number above 0, else the [default](Self::default).
    ///
    /// ```
    /// use warpaint::compile::Limits;
    /// assert!(Limits::of_user().time.as_secs_f64() > 0.0);
    /// ```
    pub fn of_user() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str| {
            let text = variable(name).filter(|text| !text.trim().is_empty())?;
            let number: Option<f64> = text.trim().parse().ok().filter(|number| *number > 0.0);
            if number.is_none() {
                tracing::warn!("{name} is `{text}`, which is no number above 0; it is ignored");
            }
            number
        };
        let mut limits = Self::default();
        if let Some(time) = number(SECONDS_VARIABLE) {
            limits.time = Duration::try_from_secs_f64(time).unwrap_or(Duration::MAX);
        }
        if let Some(mib) = number(MEMORY_VARIABLE) {
            limits.memory_bytes = (mib * f64::from(1 << 20)) as u64;
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_set_them_and_nonsense_does_not() {
        let with = |seconds: &str, mib: &str| {
            Limits::from_variables(|name| match name {
                SECONDS_VARIABLE => Some(seconds.to_owned()),
                MEMORY_VARIABLE => Some(mib.to_owned()),
                _ => None,
            })
        };
        let half = Limits { time: Duration::from_millis(500), memory_bytes: 3 << 20 };
        assert_eq!(with("0.5", " 3 "), half);
        for nonsense in ["", "x", "0", "-1", "nan"] {
            assert_eq!(with(nonsense, nonsense), Limits::default(), "{nonsense}");
        }
        assert_eq!(with("1e300", "1e300"), Limits { time: Duration::MAX, memory_bytes: u64::MAX });
    }
}
