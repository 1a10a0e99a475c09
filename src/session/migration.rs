//! Edits that change how resources lie in memory: what they held goes on in the new layout.
//!
//! The contents come to the host, the new program takes over, its reset passes fill what is new, and then what there
//! was before is put over it. What only changes its place, because OpenGL draws it now or no longer, is copied on the
//! device. Nothing of that is waited for: each part is taken over when it is done, and contents come to the host and
//! back as copies of the past do.

use std::{
    collections::BTreeSet,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{
    Error, Session,
    carried::Carried,
    moment::Moment,
    program::Program,
    rename::{Rename, likely_rename},
    reset::Reset,
    work::is_reset_for,
};
use crate::{
    device::{Device, Pool},
    diagnostic::{Diagnostic, Severity},
    interop,
    scene::{self, Change, ResourceKind, When},
    state::{Checkpoint, Download, HostCopy, migrate},
};

/// How often somebody who waits for it looks whether he should.
const LOOK: Duration = Duration::from_micros(200);

/// Which members of structures are no fields.
pub(super) const NO_FIELDS: &str = "those of base classes, of unions, bit fields, private ones";

/// What goes on from one layout to another.
pub(super) struct Migration {
    program: Arc<Program>,
    carried: Vec<Carried>,
    /// What the program has by another name, perhaps: that is asked, and it does not go on by itself.
    leaving: Option<(Carried, Moment)>,
    stage: Stage,
}

enum Stage {
    /// The old contents are on their way to the host: of what goes on, and of what leaves.
    Reading([Option<Download>; 2]),
    /// What is drawn now, or no longer, is on its way to its new place on the device.
    Moving,
    /// The new program's reset passes fill what is new.
    Resetting,
    /// What they have written is on its way to the host.
    Filling(Download),
    /// A thread puts the old contents over it, and brings what comes of that to the device.
    Converting(JoinHandle<interop::Result<Checkpoint>>),
    /// It is on its way to its place.
    Putting(Checkpoint),
}

impl Session {
    /// Whether the scene stands still for an edit's sake.
    pub(super) fn is_between_layouts(&self) -> bool {
        match &self.edit.migration {
            None => false,
            Some(Migration { stage: Stage::Resetting, .. }) => false,
            Some(_) => true,
        }
    }

    /// Whether contents are being carried over, and nothing is in the way of it.
    pub(super) fn is_migrating(&self) -> bool {
        self.edit.migration.is_some() && !self.waits_for_mending()
    }

    /// Whether contents that are to be carried over wait for a program whose reset passes do not fault.
    fn waits_for_mending(&self) -> bool {
        match &self.edit.migration {
            Some(Migration { stage: Stage::Resetting, .. }) => self.fault.is_some(),
            Some(_) | None => false,
        }
    }

    /// Leaves what there was before the edit: the state becomes another one. A program that has not taken over yet
    /// still will.
    pub(super) fn abandon_migration(&mut self) {
        if let Some(Migration { program, stage: Stage::Reading(_), .. }) =
            self.edit.migration.take()
        {
            self.edit.candidate.get_or_insert(program);
        }
    }

    /// Begins to carry contents over to `program`, where it has resources in other layouts. Says whether it does.
    pub(super) fn begin_migration(&mut self, program: &Arc<Program>) -> Result<bool, Error> {
        self.remark_on_renames(program);
        let mut kept = self.edit.migration.take().map_or_else(Vec::new, |before| before.carried);
        if self.resets.next == Reset::All {
            self.forget_rename();
            return Ok(false);
        }
        self.remark_on_lost(program);
        kept.extend(self.take_rename(program));
        let carried = self.carried(program, kept);
        let leaving = self.leaving(program);
        if carried.is_empty() && leaving.is_none() {
            return Ok(false);
        }
        self.remark_on_members(&carried, program);
        let reading = [self.read_unknown(carried.iter())?, self.read_unknown(leaving.iter())?];
        let at = self.moment();
        let leaving = leaving.map(|carried| (carried, at));
        let (program, stage) = (program.clone(), Stage::Reading(reading));
        self.edit.migration = Some(Migration { program, carried, leaving, stage });
        Ok(true)
    }

    /// Puts what these held on its way, as far as that is not known.
    fn read_unknown<'a>(
        &mut self,
        of: impl Iterator<Item = &'a Carried>,
    ) -> Result<Option<Download>, Error> {
        let unknown = of.filter(|carried| carried.content.is_none());
        let names: Vec<&str> = unknown.map(|carried| &*carried.old.name).collect();
        match names[..] {
            [] => Ok(None),
            [_, ..] => self.download(&names, &Pool::passing(&self.device)).map(Some),
        }
    }

    /// What `program`, which has taken over, has in other places comes there, where it has such.
    pub(super) fn begin_moving(&mut self, program: Arc<Program>) {
        if self.state.resources.is_unsettled() {
            let (carried, leaving, stage) = (Vec::new(), None, Stage::Moving);
            self.edit.migration = Some(Migration { program, carried, leaving, stage });
        }
    }

    /// Shows what has come to another place, and frees the one before; says whether that is done.
    pub(super) fn settle(&mut self) -> Result<bool, Error> {
        let is_settled = self.state.resources.settle(&self.stream)?;
        if is_settled {
            self.refresh_grids()?;
            self.picture += 1;
        }
        Ok(is_settled)
    }

    /// The resource that `program` may have by another name.
    fn leaving(&self, program: &Program) -> Option<Carried> {
        if self.resets.next != Reset::None {
            return None; // it holds nothing that was wanted
        }
        let before = &self.program.as_ref()?.scene.manifest;
        let (old, name) = likely_rename(before, &program.scene.manifest)?;
        Some(Carried { old: old.clone(), name: name.to_owned(), content: None })
    }

    /// Says where an edit renames a resource to one that was there already, whose content goes on instead.
    fn remark_on_renames(&mut self, program: &Program) {
        let Some(old) = &self.program else { return };
        let (before, after) = (&old.scene.manifest, &program.scene.manifest);
        for new in after.resources() {
            let Some(was) = new.was.as_deref() else { continue };
            let own = before.find_resource(&new.name).map(|id| before.resource(id));
            let is_new = own.is_some_and(|own| own.was != new.was && own.name != was);
            if is_new && before.find_resource(was).is_some() {
                let name = &new.name;
                let text =
                    format!("`{name}` was there before, so that `was = \"{was}\"` has no effect");
                let remark = Diagnostic::error(&self.options.name, text);
                let remark = remark.at(new.at.line, new.at.column);
                self.edit.compile.diagnostics.push(remark.with_severity(Severity::Warning));
            }
        }
    }

    /// Says which structures lose members by it.
    fn remark_on_members(&mut self, carried: &[Carried], program: &Program) {
        let manifest = &program.scene.manifest;
        for Carried { old, name, .. } in carried {
            let new = manifest.find_resource(name).map(|id| manifest.resource(id));
            if new.is_some_and(|new| migrate::loses_members(old, new)) {
                let text = format!(
                    "`{name}`: members of `{}` that are no fields ({NO_FIELDS}) begin with zeros, for the structure \
                     is another one now",
                    old.of()
                );
                let remark = Diagnostic::error(&self.options.name, text);
                self.edit.compile.diagnostics.push(remark.with_severity(Severity::Warning));
            }
        }
    }

    /// Says which resources begin anew, since nothing of what they held has a place in what they are now.
    fn remark_on_lost(&mut self, program: &Program) {
        let Some(old) = &self.program else { return };
        let (before, after) = (&old.scene.manifest, &program.scene.manifest);
        let mut remarks = Vec::new();
        for (new, change) in after.resources().iter().zip(after.changes(before)) {
            let from = match change {
                Change::Converted(from) => before.resource(from),
                Change::New | Change::Kept(_) | Change::Moved(_) => continue,
            };
            if !migrate::is_possible(from, new) {
                let (name, from, to) = (&new.name, described(from), described(new));
                let text = format!("`{name}` begins anew: what {from} held has no place in {to}");
                let remark = Diagnostic::error(&self.options.name, text);
                let remark = remark.at(new.at.line, new.at.column);
                remarks.push(remark.with_severity(Severity::Warning));
            }
        }
        self.edit.compile.diagnostics.extend(remarks);
    }

    /// The resources whose contents go on in another layout, and those that the reset passes of the new ones would
    /// overwrite. Of those that are `kept` the content from before the running program goes on, whose reset passes have
    /// not filled what there is of them now.
    fn carried(&self, program: &Program, mut kept: Vec<Carried>) -> Vec<Carried> {
        let Some(old) = &self.program else { return Vec::new() };
        let (before, after) = (&old.scene.manifest, &program.scene.manifest);
        let changes = after.changes(before);
        let is_fresh = |change: &Change| matches!(change, Change::New | Change::Converted(_));
        let all = || after.resources().iter().zip(&changes);
        let mut fresh: BTreeSet<String> =
            all().filter(|(_, change)| is_fresh(change)).map(|(of, _)| of.name.clone()).collect();
        // What is still to be filled for the running program holds nothing that could go on.
        let due = match &self.resets.next {
            Reset::Fresh(due) => due.clone(),
            Reset::None | Reset::All => BTreeSet::new(),
        };
        fresh.extend(due.iter().cloned());
        let is_due = |from: scene::ResourceId| due.contains(&before.resource(from).name);
        let resets = after.entries(When::Reset);
        let resets = resets.filter(|entry| is_reset_for(&fresh, entry, program));
        let written: BTreeSet<scene::ResourceId> =
            resets.flat_map(|entry| program.written_by(entry)).collect();
        let carried = |(index, (of, change)): (usize, (&scene::Resource, &Change))| {
            let name = of.name.clone();
            let before_edit = |from: scene::ResourceId| {
                let known = &before.resource(from).name;
                kept.iter().position(|kept| kept.name == *known)
            };
            let from = match *change {
                Change::Converted(from) | Change::Kept(from) | Change::Moved(from)
                    if let Some(index) = before_edit(from) =>
                {
                    let Carried { old, content, .. } = kept.swap_remove(index);
                    let is_possible = migrate::is_possible(&old, of);
                    return is_possible.then_some(Carried { old, name, content });
                }
                Change::Converted(from) | Change::Kept(from) | Change::Moved(from)
                    if is_due(from) =>
                {
                    return None;
                }
                Change::Converted(from) if migrate::is_possible(before.resource(from), of) => from,
                Change::Kept(from) | Change::Moved(from)
                    if written.contains(&scene::ResourceId(index)) =>
                {
                    from
                }
                Change::Converted(_) | Change::Kept(_) | Change::Moved(_) | Change::New => {
                    return None;
                }
            };
            Some(Carried { old: before.resource(from).clone(), name, content: None })
        };
        all().enumerate().filter_map(carried).collect()
    }

    /// Does what can be done of it now, without waiting. Not while something is under way.
    pub(super) fn go_on_migrating(&mut self) -> Result<(), Error> {
        let Some(Migration { program, mut carried, mut leaving, stage }) =
            self.edit.migration.take()
        else {
            return Ok(());
        };
        let stage = match stage {
            Stage::Reading(reading) if are_ready(&reading)? => {
                let leaves = leaving.as_mut().map(|(carried, _)| carried);
                let [of_carried, of_leaving] = reading;
                take(of_carried, carried.iter_mut())?;
                take(of_leaving, leaves.into_iter())?;
                if !self.adopt(&program)? {
                    return Ok(()); // it does not fit; the old one goes on
                }
                if let Some((carried, at)) = leaving.take() {
                    self.edit.rename = Some(Rename { carried, at });
                }
                Stage::Moving
            }
            Stage::Moving if self.settle()? => {
                if carried.is_empty() {
                    return Ok(());
                }
                Stage::Resetting
            }
            Stage::Resetting if self.fault.is_none() && self.resets.next == Reset::None => {
                let names: Vec<&str> = carried.iter().map(|carried| &*carried.name).collect();
                Stage::Filling(self.download(&names, &Pool::passing(&self.device))?)
            }
            Stage::Filling(download) if download.is_ready()? => {
                let carried = std::mem::take(&mut carried);
                Stage::Converting(convert(carried, download.wait()?, &self.device)?)
            }
            Stage::Converting(thread) if thread.is_finished() => {
                let converted = thread.join().map_err(|_| Error::WorkerLost)??;
                self.put(&converted)?;
                Stage::Putting(converted)
            }
            Stage::Putting(converted) if self.stopwatch.is_reached()? => {
                drop(converted);
                return self.show();
            }
            unchanged @ (Stage::Reading(_)
            | Stage::Moving
            | Stage::Resetting
            | Stage::Filling(_)
            | Stage::Converting(_)
            | Stage::Putting(_)) => unchanged,
        };
        self.edit.migration = Some(Migration { program, carried, leaving, stage });
        Ok(())
    }

    /// Puts the converted contents into the resources. They are shown when the stopwatch says that they are there.
    fn put(&mut self, converted: &Checkpoint) -> Result<(), Error> {
        let Some(program) = self.program.clone() else { return Ok(()) };
        let stream = &self.stream;
        self.state.resources.write(stream, |borrowed| {
            converted.fill((&program.scene.manifest, borrowed), stream)
        })?;
        self.state.resources.advance();
        self.stopwatch.restart();
        Ok(self.stopwatch.mark(&self.device, &self.stream)?)
    }

    /// Waits until contents have been carried over, where they are.
    pub(super) fn finish_migrating(&mut self) -> Result<(), Error> {
        while self.is_migrating() {
            self.complete_in_flight()?;
            self.state.resources.wait()?;
            self.go_on_migrating()?;
            self.finish_bringing()?;
            self.launch_due()?;
            thread::sleep(LOOK);
            self.expect_uninterrupted()?;
        }
        Ok(())
    }
}

/// What a resource is, in words.
fn described(resource: &scene::Resource) -> String {
    let of = resource.of();
    match &resource.kind {
        ResourceKind::Buffer(_) => format!("a buffer of `{of}`"),
        ResourceKind::Array(_) => format!("an array of `{of}`"),
        ResourceKind::Texture(texture) => {
            format!("a texture of `{of}` with {} dimensions", texture.dimensions)
        }
    }
}

fn are_ready(reading: &[Option<Download>]) -> Result<bool, Error> {
    let mut all = reading.iter().flatten();
    Ok(all.try_fold(true, |ready, one| Ok::<_, interop::Error>(ready && one.is_ready()?))?)
}

/// Gives what was read to those whose content is not known.
fn take<'a>(
    read: Option<Download>,
    of: impl Iterator<Item = &'a mut Carried>,
) -> Result<(), Error> {
    let Some(read) = read.map(Download::wait).transpose()? else { return Ok(()) };
    let unknown = of.filter(|carried| carried.content.is_none());
    unknown.for_each(|carried| carried.content = Some(read.clone()));
    Ok(())
}

/// Puts the old contents over what is `filled`, and brings that to the device, on a thread of its own. It stays with
/// the host where the device has no room for it beside the resources.
fn convert(
    carried: Vec<Carried>,
    mut filled: HostCopy,
    device: &Device,
) -> Result<JoinHandle<interop::Result<Checkpoint>>, Error> {
    let device = device.clone();
    let work = move || {
        filled.change(|of, to| {
            let new = of.resource();
            let is_it = |carried: &&Carried| new.is_some_and(|new| new.name == carried.name);
            if let (Some(new), Some(of)) = (new, carried.iter().find(is_it))
                && let Some(from) =
                    of.content.as_ref().and_then(|all| all.of_resource(&of.old.name))
            {
                migrate::overlay((&of.old, from), (new, to));
            }
        });
        Ok(Checkpoint::bring(&filled, &device)?.unwrap_or_else(|| filled.into()))
    };
    thread::Builder::new().name("migrate".to_owned()).spawn(work).map_err(Error::Thread)
}
