//! What expressions name of what kernels have written so far, elements of resources and statistics: it is read from
//! the device, behind the launches before.

use super::{
    Error,
    launch::{Launcher, Run, Stopped, Waited},
};
use crate::{
    array::{Pending, Statistics},
    cuda::Position,
    device,
    element::Scalar,
    scene::{Components, Formula, Measured, Number, ResourceId, Statistic, Term},
    state::linear,
};

impl Launcher<'_, '_> {
    /// The number of a `formula`, which stands under `key` in this place of the manifest.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn number_of(
        &mut self,
        (key, formula): (&str, &Formula),
        at: Position,
    ) -> Result<Result<Number, Stopped>, Error> {
        if let Some(stopped) = self.read(&Term::read_by([formula]))? {
            return Ok(Err(stopped));
        }
        let number = self.scope().number(formula);
        let no_value = |problem| Stopped::NoValue { problem: format!("`{key}`: {problem}"), at };
        Ok(number.map_err(no_value))
    }

    /// Reads the numbers of `terms`, which an expression of the manifest names, for the next scope. It
    /// waits for the launches so far, unless there is nothing to read. Returns why it could not, if so.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn read(&mut self, terms: &[Term]) -> Run {
        self.known.clear();
        for term in terms {
            let number = match *term {
                Term::Element { of, index, component } => self.element((of, index, component))?,
                Term::Measured(measured) => self.measured(measured)?,
                Term::Parameter(_) | Term::Builtin(_) | Term::Round(_) => continue,
            };
            match number {
                Ok(number) => self.known.push((*term, number)),
                Err(stopped) => return Ok(Some(stopped)),
            }
        }
        Ok(None)
    }

    fn element(
        &mut self,
        (of, index, component): (ResourceId, u64, u16),
    ) -> Result<Result<Number, Stopped>, Error> {
        let of_type = self.program.types.get(of.0);
        let Some((bytes, (part, lane))) =
            of_type.and_then(|of| Some((of.bytes(), of.part_of(component.into())?)))
        else {
            return Ok(Ok(Number::Int(0)));
        };
        let scalar = part.element.scalar;
        let size = scalar.bytes();
        let start = index as usize * bytes + part.offset + lane * size;
        let stream = self.queue.stream;
        let readback = match self.borrowed.get_mut(of.0) {
            Some(borrowed) => {
                let all = borrowed.linear(stream)?;
                stream.download(all.slice(start..start + size)?)?
            }
            None => return Ok(Ok(Number::Int(0))),
        };
        let waited = self.queue.wait(&mut || readback.is_ready())?;
        Ok(match waited {
            Waited::OutOfTime => {
                self.left = Some(Box::new(readback));
                Err(self.out_of_time())
            }
            Waited::Reached => match readback.wait() {
                Ok(bytes) => Ok(number(scalar, &bytes)),
                Err(device::Error::Fault(fault)) => Err(Stopped::Fault(fault)),
                Err(error) => return Err(error.into()),
            },
        })
    }

    fn measured(&mut self, measured: Measured) -> Result<Result<Number, Stopped>, Error> {
        let (program, stream) = (self.program, self.queue.stream);
        let summary = program.summary.get()?;
        let pending = match measured {
            Measured::Resource { of, .. } => {
                let (Some(borrowed), Some(of)) =
                    (self.borrowed.get_mut(of.0), program.types.get(of.0))
                else {
                    return Ok(Ok(Number::Float(f64::NAN)));
                };
                summary.enqueue_parts(stream, borrowed.linear(stream)?, of)?
            }
            Measured::Stat(index) => {
                let Some(stat) = program.stats.get(index) else {
                    return Ok(Ok(Number::Float(f64::NAN)));
                };
                let slices = linear(self.borrowed, stream)?;
                vec![stat.enqueue(summary, stream, &slices, self.inputs)?]
            }
        };
        let are_ready = &mut || {
            let all = pending.iter().map(Pending::is_ready);
            all.collect::<Result<Vec<_>, _>>().map(|ready| !ready.contains(&false))
        };
        if let Waited::OutOfTime = self.queue.wait(are_ready)? {
            self.left = Some(Box::new(pending));
            return Ok(Err(self.out_of_time()));
        }
        let found: device::Result<Vec<Vec<Statistics>>> =
            pending.into_iter().map(Pending::wait).collect();
        let found = match found {
            Ok(found) => found.concat(),
            Err(device::Error::Fault(fault)) => return Ok(Err(Stopped::Fault(fault))),
            Err(error) => return Err(error.into()),
        };
        let value = match measured {
            Measured::Resource { components, statistic, .. } => {
                statistic_of(statistic, components, &found)
            }
            Measured::Stat(index) => {
                program.stats.get(index).zip(found.first()).map(|(stat, found)| stat.value(found))
            }
        };
        Ok(Ok(Number::Float(value.unwrap_or(f64::NAN))))
    }
}

/// A statistic of some components, or of all, together; `None` where there is none.
pub fn statistic_of(
    statistic: Statistic,
    components: Option<Components>,
    all: &[Statistics],
) -> Option<f64> {
    let wanted = match components {
        Some(Components { first, count }) => {
            all.iter().skip(first.into()).take(count.into()).copied().collect()
        }
        None => all.to_vec(),
    };
    let of = match wanted[..] {
        [] => return None,
        // Alone it has no rounding of a sum of one.
        [only] => only,
        _ => Statistics::of_all(&wanted),
    };
    Some(match statistic {
        Statistic::Count => of.count as f64,
        Statistic::Sum => of.sum,
        Statistic::Min => of.min,
        Statistic::Max => of.max,
        Statistic::Mean => of.mean,
        Statistic::Std => of.std,
        Statistic::Nan => of.nan as f64,
        Statistic::Inf => of.inf as f64,
    })
}

/// The number that the bytes of a scalar stand for; truth values are 0 and 1.
fn number(scalar: Scalar, bytes: &[u8]) -> Number {
    let bits = Scalar::bits_in(bytes);
    match (scalar.value_of(bits), scalar.integer_of(bits)) {
        (Some(value), _) => Number::Float(value),
        (None, Some(value)) => Number::Int(value),
        (None, None) => Number::Int((bits != 0).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_the_numbers_that_they_are() {
        assert_eq!(number(Scalar::I8, &[0xff]), Number::Int(-1));
        assert_eq!(number(Scalar::U8, &[0xff]), Number::Int(255));
        assert_eq!(number(Scalar::I64, &[0xff; 8]), Number::Int(-1));
        assert_eq!(number(Scalar::U64, &[0xff; 8]), Number::Int(u64::MAX.into()));
        assert_eq!(number(Scalar::Bool, &[1]), Number::Int(1));
        assert_eq!(number(Scalar::F16, &[0x00, 0xc0]), Number::Float(-2.0));
        assert_eq!(number(Scalar::F32, &1.5_f32.to_le_bytes()), Number::Float(1.5));
    }
}
