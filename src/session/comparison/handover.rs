//! A's state on its way to B.

use super::companion::{Companion, Stage};
use crate::{
    session::{Error, Reset, Session, brought::Way},
    state::Transfer,
};

impl Companion {
    /// B's own program has come to run on a device of its own; A's state is what it lacks.
    pub(super) fn begin_elsewhere(&mut self) -> Result<(), Error> {
        if self.has_come_to_run()? && matches!(self.stage, Stage::Beginning) {
            self.stage = Stage::Waiting;
        }
        Ok(())
    }

    /// Puts a copy of A's state on its way to B.
    pub(super) fn hand_over(&mut self, a: &mut Session) -> Result<(), Error> {
        if let Err(error) = a.expect_states() {
            // What A's variables point to would be B's, too.
            self.refuse(error.to_string());
            return Ok(());
        }
        let (Some(program), Some(mut copy)) = (a.program.clone(), a.copy_state_into(&self.pool)?)
        else {
            return Ok(());
        };
        (self.is_stale, self.due) = (false, None);
        if self.is_elsewhere {
            copy.send_to_host(&a.stream)?;
            self.stage = Stage::Sending(copy);
            return Ok(());
        }
        let copied = a.device.event()?;
        a.stream.record(&copied)?;
        let other = &mut self.other;
        if let Err(error) = other.install(&program) {
            let Error::NoRoom { reason } = error else { return Err(error) };
            self.refuse(reason);
            return Ok(());
        }
        let stream = &other.stream;
        stream.wait(&copied)?;
        other.state.resources.write(stream, |borrowed| {
            // The variables are those of A's program, which has them.
            copy.restore((&program.scene.manifest, borrowed), &[], stream)
        })?;
        self.await_copy()?;
        self.stage = Stage::Copying(copy);
        Ok(())
    }

    /// Brings the state from the host to B's device, once it is with the host; says whether it was.
    pub(super) fn send(&mut self) -> Result<bool, Error> {
        let Stage::Sending(copy) = &mut self.stage else { return Ok(false) };
        match copy.settle()? {
            Transfer::UnderWay => return Ok(false),
            Transfer::NoRoom(error) => return Err(error.into()),
            Transfer::Arrived(_) | Transfer::None => {}
        }
        let way = match copy.with_host() {
            Some(copy) => Way::begin(copy, &self.other.device),
            None => Way::Here(None),
        };
        if let Stage::Sending(copy) = std::mem::replace(&mut self.stage, Stage::Waiting) {
            self.stage = Stage::Bringing(copy, way);
        }
        Ok(true)
    }

    /// Puts the state into B's resources, once it is on B's device; says whether it was.
    pub(super) fn place(&mut self, a: &Session) -> Result<bool, Error> {
        let (copy, way) = match std::mem::replace(&mut self.stage, Stage::Waiting) {
            Stage::Bringing(copy, way) if way.has_ended() => (copy, way),
            stage => {
                self.stage = stage;
                return Ok(false);
            }
        };
        let copy = way.end()?.map_or(copy, |brought| *brought);
        let other = &mut self.other;
        if let (Some(of_a), Some(own)) = (&a.program, other.program.clone()) {
            let stream = &other.stream;
            other
                .state
                .resources
                .write(stream, |borrowed| own.go_on_from((of_a, &copy), borrowed, stream))?;
        }
        self.await_copy()?;
        self.stage = Stage::Copying(copy);
        Ok(true)
    }

    /// B's stopwatch says when it has what is on its stream.
    fn await_copy(&mut self) -> Result<(), Error> {
        let other = &mut self.other;
        other.stopwatch.restart();
        other.stopwatch.mark(&other.device, &other.stream)?;
        (other.resets.next, other.fault) = (Reset::None, None);
        Ok(())
    }

    /// B has A's state, and now takes over its own program, unless it has.
    pub(super) fn take_over(&mut self, a: &mut Session) -> Result<(), Error> {
        let Stage::Copying(copy) = std::mem::replace(&mut self.stage, Stage::Adopting) else {
            return Ok(());
        };
        let other = &mut self.other;
        other.stream.synchronize()?;
        let present = std::mem::replace(&mut other.state.inputs, copy.inputs.clone());
        if self.is_elsewhere
            && let Some(own) = &other.program
        {
            // They are in A's order, and of A's text.
            let manifest = &own.scene.manifest;
            other.state.inputs.parameters =
                manifest.take_values(&a.named_parameters(), &present.parameters);
        }
        other.show()?;
        if !self.is_elsewhere {
            other.edit.candidate = self.program.clone();
            return Ok(());
        }
        a.picture += 1;
        match self.is_stale {
            true => self.stage = Stage::Waiting,
            false => self.begin(a)?,
        }
        Ok(())
    }
}
