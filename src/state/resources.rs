//! The memory of a scene: to its kernels one thing that keeps its content, to OpenGL two that take turns.

use std::{collections::BTreeSet, fmt, slice, thread::JoinHandle};

use super::{
    borrowed::{Borrowed, borrow, in_order},
    free::free,
    parity::Parity,
    shared_pair::SharedPair,
    texture::SceneTexture,
};
use crate::{
    cuda::Position,
    device::{self, Device, Event, EventOptions, Fill, Memory, Stream},
    gl,
    interop::{self, Error, Interop, SharedBuffer},
    number,
    scene::{Change, Manifest},
};

/// The resources of the running scene, in the manifest's order.
#[derive(Default)]
pub(crate) struct Resources {
    list: Vec<Resource>,
    /// What others have taken the place of, until the work on it has ended: to free memory waits for that.
    left: Vec<Left>,
    /// A thread frees it, for that waits for the work on other streams, too.
    freeing: Vec<JoinHandle<()>>,
}

/// Resources that a manifest has no more.
struct Left {
    resources: Vec<Resource>,
    /// Recorded behind the work on them.
    ended: Event,
}

/// One resource.
pub(crate) struct Resource {
    pub(crate) name: String,
    pub(crate) type_name: String,
    /// The names of its components.
    pub(crate) components: Vec<String>,
    pub(crate) count: u64,
    pub(crate) bytes: usize,
    storage: Storage,
    /// Whether its content is on the way from where it was before, and OpenGL has none of it yet.
    is_coming: bool,
}

enum Storage {
    /// Kernels alone use it: one memory, or two that take turns. What OpenGL draws of two is a copy.
    Device { halves: Vec<Memory>, parity: Parity, drawn: Option<Box<SharedPair>> },
    /// OpenGL draws one of two buffers while a step writes the other one.
    Shared(Box<SharedPair>),
    /// Kernels use it through objects, OpenGL draws its twin.
    Texture(Box<SceneTexture>),
}

/// A resource that memory, or OpenGL, is too small for: the manifest's fault.
pub(crate) struct TooLarge {
    /// One sentence.
    pub(crate) text: String,
    /// Where the resource is declared.
    pub(crate) at: Position,
}

impl TooLarge {
    /// What `error` means where `what`, declared in this place, was to be allocated, if it means that.
    pub(crate) fn of(what: &dyn fmt::Display, at: Position, error: &Error) -> Option<Self> {
        use device::Error::{InvalidExtent, OutOfMemory};
        let too_large = match error {
            Error::Device(error) => matches!(error, OutOfMemory { .. } | InvalidExtent { .. }),
            Error::Gl(error) => error.is_for_want_of_memory(),
            Error::ShortMapping { .. } => false,
        };
        let why = match error {
            Error::Device(OutOfMemory { device, requested, free }) => format!(
                "it takes {}, and {} are free on {device}",
                number::bytes(*requested),
                number::bytes(*free)
            ),
            other => other.to_string(),
        };
        let text = format!("the {what} is too large: {why}");
        too_large.then_some(Self { text, at })
    }
}

impl Resources {
    /// Becomes the resources that `new` declares. Those declared as in `old` stay as they are, but for those that are
    /// drawn now, or no longer: their contents are put on the way, up to [`Resources::settle`]. The rest is
    /// allocated, zeroed, and named in the result. When it fails, everything is as before.
    ///
    /// What OpenGL shares is registered with CUDA here, and unregistered when it is freed: that belongs to the thread
    /// that has OpenGL's context, and the driver may wait for the work of the device.
    pub(crate) fn adopt(
        &mut self,
        old: Option<&Manifest>,
        new: &Manifest,
        stream: &Stream,
        interop: &Interop,
    ) -> Result<Result<BTreeSet<String>, TooLarge>, Error> {
        let all_new = || vec![Change::New; new.resources().len()];
        let changes = old.map_or_else(all_new, |old| new.changes(old));
        // No more than what goes now is kept beside what comes.
        self.free_left();
        // Everything that can fail comes first.
        let mut made = Vec::new();
        for (declared, change) in new.resources().iter().zip(&changes) {
            if let Change::Kept(_) = change {
                made.push(None);
                continue;
            }
            let allocate = || Resource::allocate(declared, stream, interop);
            let is_too_large = |error: &Error| TooLarge::of(declared, declared.at, error).is_some();
            let allocated = match allocate() {
                // There is more room when what was left before is free.
                Err(error) if is_too_large(&error) && !self.freeing.is_empty() => {
                    self.freeing.drain(..).for_each(|thread| _ = thread.join());
                    allocate()
                }
                allocated => allocated,
            };
            let mut resource = match allocated {
                Ok(resource) => resource,
                Err(error) => {
                    return TooLarge::of(declared, declared.at, &error).map(Err).ok_or(error);
                }
            };
            if let Change::Moved(from) = *change
                && let Some(before) = self.list.get_mut(from.0)
            {
                resource.go_on_from(before, stream)?;
            }
            made.push(Some(resource));
        }
        let mut before: Vec<_> = std::mem::take(&mut self.list).into_iter().map(Some).collect();
        for (made, change) in made.into_iter().zip(&changes) {
            self.list.extend(match *change {
                Change::Kept(from) => before[from.0].take(),
                Change::New | Change::Moved(_) | Change::Converted(_) => made,
            });
        }
        self.leave(before.into_iter().flatten().collect(), stream)?;
        for (resource, declared) in self.list.iter_mut().zip(new.resources()) {
            if let (Storage::Texture(texture), Some(declared)) =
                (&mut resource.storage, declared.texture())
            {
                texture.sample_as(declared, &stream.device())?;
            }
        }
        let is_fresh = |change: &Change| match change {
            Change::New | Change::Converted(_) => true,
            Change::Kept(_) | Change::Moved(_) => false,
        };
        let fresh = self.list.iter().zip(&changes).filter(|(_, change)| is_fresh(change));
        Ok(Ok(fresh.map(|(resource, _)| resource.name.clone()).collect()))
    }

    /// Gives these up, once the work that is on `stream` has ended.
    fn leave(&mut self, resources: Vec<Resource>, stream: &Stream) -> Result<(), Error> {
        if resources.is_empty() {
            return Ok(());
        }
        let untimed = EventOptions { timing: false, ..EventOptions::default() };
        let ended = stream.device().event_with(untimed)?;
        stream.record(&ended)?;
        self.left.push(Left { resources, ended });
        Ok(())
    }

    /// Whether something is left of an adoption that [`Resources::settle`] does.
    pub(crate) fn is_unsettled(&self) -> bool {
        !self.left.is_empty()
    }

    /// Frees what an adoption has left, and shows what it put on the way, where that is done. Gives whether it is.
    /// Not while other work is under way.
    pub(crate) fn settle(&mut self, stream: &Stream) -> Result<bool, Error> {
        for left in &self.left {
            if !left.ended.is_reached()? {
                return Ok(false);
            }
        }
        self.free_left();
        show(self.list.iter_mut().filter(|resource| resource.is_coming), stream)?;
        Ok(true)
    }

    /// Gives all of them up: threads free their memory, and what OpenGL has of them is freed here. Nothing is under
    /// way.
    pub(crate) fn leave_all(mut self) {
        self.free_left();
        self.list.into_iter().for_each(|resource| _ = resource.free());
    }

    fn free_left(&mut self) {
        self.freeing.retain(|thread| !thread.is_finished());
        let left = self.left.drain(..).flat_map(|left| left.resources);
        self.freeing.extend(left.filter_map(Resource::free));
    }

    /// Waits until [`Resources::settle`] has nothing to wait for.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        Ok(self.left.iter().try_for_each(|left| left.ended.synchronize())?)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Resource> {
        self.list.iter()
    }

    /// Runs `work` on memory that a step may write: what it finds there is the content after the last step.
    ///
    /// OpenGL goes on drawing that last step until [`Resources::show`].
    pub(crate) fn write<R, E: From<Error>>(
        &mut self,
        stream: &Stream,
        work: impl FnOnce(&mut [Borrowed<'_>]) -> Result<R, E>,
    ) -> Result<R, E> {
        write(&mut self.list, stream, work)
    }

    /// Runs `work` on the content after the last step, which it must not change.
    pub(crate) fn read<R, E: From<Error>>(
        &mut self,
        stream: &Stream,
        work: impl FnOnce(&mut [Borrowed<'_>]) -> Result<R, E>,
    ) -> Result<R, E> {
        read(&mut self.list, stream, work)
    }

    /// Shows what the finished step wrote.
    pub(crate) fn show(&mut self, stream: &Stream) -> Result<(), Error> {
        show(self.list.iter_mut(), stream)
    }

    /// What the finished work wrote is the present content from now on, and OpenGL goes on drawing what it drew.
    pub(crate) fn advance(&mut self) {
        self.list.iter_mut().for_each(Resource::advance);
    }

    /// Forgets the step that a fault ended, as far as its results lie beside those of the one before.
    pub(crate) fn abandon(&mut self) {
        for resource in &mut self.list {
            match &mut resource.storage {
                Storage::Device { parity, .. } => parity.abandon(),
                Storage::Shared(pair) => pair.abandon(),
                Storage::Texture(texture) => texture.abandon(),
            }
        }
    }
}

impl Resource {
    fn allocate(
        declared: &crate::scene::Resource,
        stream: &Stream,
        interop: &Interop,
    ) -> Result<Self, Error> {
        let bytes = declared.bytes() as usize;
        let drawn = declared.shared && *interop.path() != interop::Path::None;
        let storage = match declared.texture() {
            Some(texture) => {
                let interop = drawn.then_some(interop);
                Storage::Texture(Box::new(SceneTexture::allocate(texture, stream, interop)?))
            }
            None if drawn && !declared.double() => {
                Storage::Shared(Box::new(SharedPair::zeroed(interop, stream, bytes)?))
            }
            None => {
                let parity = Parity::new(declared.double());
                let half = |_| zeroed(&stream.device(), stream, bytes);
                let pair = drawn.then(|| SharedPair::zeroed(interop, stream, bytes)).transpose()?;
                Storage::Device {
                    halves: parity.halves().map(half).collect::<Result<_, _>>()?,
                    parity,
                    drawn: pair.map(Box::new),
                }
            }
        };
        Ok(Self {
            name: declared.name.clone(),
            type_name: declared.of().to_string(),
            components: declared.of().components(),
            count: declared.count(),
            bytes,
            storage,
            is_coming: false,
        })
    }

    /// Lets a thread free it; what OpenGL has of it is freed here.
    fn free(self) -> Option<JoinHandle<()>> {
        match self.storage {
            Storage::Device { halves, .. } => free(halves),
            Storage::Shared(_) => None,
            Storage::Texture(texture) => free(texture.into_memory()),
        }
    }

    /// Puts on `stream` that it has the content of `before`, which is of the same type and size. It is the present
    /// content for all work that is put there from now on.
    fn go_on_from(&mut self, before: &mut Self, stream: &Stream) -> Result<(), Error> {
        read(slice::from_mut(before), stream, |from| {
            write(slice::from_mut(self), stream, |to| -> Result<(), Error> {
                let (to, from) = (to.iter().flat_map(Borrowed::halves), from.iter());
                let mut halves = to.zip(from.flat_map(Borrowed::halves));
                Ok(halves.try_for_each(|(to, from)| stream.copy(to, from))?)
            })
        })?;
        self.advance();
        self.is_coming = true;
        Ok(())
    }

    /// What was written is the present content, and OpenGL goes on drawing what it drew.
    fn advance(&mut self) {
        match &mut self.storage {
            Storage::Device { parity, .. } => parity.finish(),
            Storage::Shared(pair) => pair.advance(),
            Storage::Texture(texture) => texture.advance(),
        }
    }

    /// Turns to what was written; gives the buffer of which OpenGL is to be given that.
    fn show(&mut self, stream: &Stream) -> Result<Option<&mut SharedBuffer>, Error> {
        self.is_coming = false;
        match &mut self.storage {
            Storage::Device { parity, drawn, .. } => {
                parity.finish();
                Ok(drawn.as_mut().map(|pair| pair.show()))
            }
            Storage::Shared(pair) => Ok(Some(pair.show())),
            Storage::Texture(texture) => texture.show(stream).map(|()| None),
        }
    }

    /// Whether OpenGL draws it.
    pub(crate) fn is_drawn(&self) -> bool {
        self.drawn().is_some() || self.drawn_texture().is_some()
    }

    /// The OpenGL buffer that holds the last finished step, where it is shared.
    pub(crate) fn drawn(&self) -> Option<&gl::Buffer> {
        match &self.storage {
            Storage::Device { drawn, .. } => drawn.as_ref()?.drawn(),
            Storage::Shared(pair) => pair.drawn(),
            Storage::Texture(_) => None,
        }
    }

    /// The OpenGL texture that shows the last finished step, where it is a texture that is drawn.
    pub(crate) fn drawn_texture(&self) -> Option<&gl::Texture> {
        match &self.storage {
            Storage::Device { .. } | Storage::Shared(_) => None,
            Storage::Texture(texture) => texture.gl(),
        }
    }
}

fn zeroed(device: &Device, stream: &Stream, bytes: usize) -> Result<Memory, Error> {
    let memory = device.alloc(bytes)?;
    stream.fill(memory.slice(..)?, Fill::U8(0))?;
    Ok(memory)
}

/// See [`Resources::write`].
fn write<R, E: From<Error>>(
    list: &mut [Resource],
    stream: &Stream,
    work: impl FnOnce(&mut [Borrowed<'_>]) -> Result<R, E>,
) -> Result<R, E> {
    let mut borrowed = Vec::new();
    let (mut drawn, mut spare, mut shared) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ahead, mut of_ahead) = (Vec::new(), Vec::new());
    let (mut copies, mut copied) = (Vec::new(), Vec::new());
    for (index, resource) in list.iter_mut().enumerate() {
        match &mut resource.storage {
            Storage::Device { halves, parity, drawn } => {
                borrowed.push((index, borrow(halves, parity)?));
                if let Some(pair) = drawn {
                    copies.push(pair.back());
                    copied.push(index);
                }
            }
            Storage::Texture(texture) => borrowed.push((index, Borrowed::Texture(texture))),
            Storage::Shared(pair) => match pair.next() {
                (back, Some(front)) => {
                    drawn.push(front);
                    spare.push(back);
                    shared.push(index);
                }
                (back, None) => {
                    ahead.push(back);
                    of_ahead.push(index);
                }
            },
        }
    }
    spare.append(&mut ahead);
    shared.append(&mut of_ahead);
    spare.append(&mut copies);
    let spare = interop::map_all(&mut spare, stream)?;
    // What is on the screen is given back at once, so that drawing waits for this copy at most.
    let drawn = interop::map_all(&mut drawn, stream)?;
    for (from, to) in drawn.slices().zip(spare.slices()) {
        stream.copy(to, from).map_err(Error::from)?;
    }
    drawn.unmap_unchanged()?;
    let shared_count = shared.len();
    borrowed.extend(shared.into_iter().zip(spare.slices().map(Borrowed::Memory)));
    let mut borrowed = in_order(borrowed);
    let result = work(&mut borrowed)?;
    for texture in borrowed.iter_mut().filter_map(Borrowed::texture) {
        texture.send(stream)?;
    }
    for (to, index) in spare.slices().skip(shared_count).zip(copied) {
        stream.copy(to, borrowed[index].linear(stream)?).map_err(Error::from)?;
    }
    drop(borrowed);
    // OpenGL draws on while this work takes its time; they are its own when they are shown.
    spare.leave()?;
    Ok(result)
}

/// See [`Resources::show`].
fn show<'a>(
    resources: impl Iterator<Item = &'a mut Resource>,
    stream: &Stream,
) -> Result<(), Error> {
    let shown = resources.filter_map(|resource| resource.show(stream).transpose());
    let mut shown = shown.collect::<Result<Vec<_>, _>>()?;
    // The event behind all work was reached: whatever is copied has arrived, and OpenGL waits for nothing.
    interop::present_all(&mut shown).map(|_| ())
}

/// See [`Resources::read`].
fn read<R, E: From<Error>>(
    list: &mut [Resource],
    stream: &Stream,
    work: impl FnOnce(&mut [Borrowed<'_>]) -> Result<R, E>,
) -> Result<R, E> {
    let mut borrowed = Vec::new();
    let (mut drawn, mut shared) = (Vec::new(), Vec::new());
    for (index, resource) in list.iter_mut().enumerate() {
        match &mut resource.storage {
            Storage::Device { halves, parity, .. } => {
                borrowed.push((index, borrow(halves, parity)?));
            }
            Storage::Texture(texture) => borrowed.push((index, Borrowed::Texture(texture))),
            Storage::Shared(pair) => {
                drawn.push(pair.present());
                shared.push(index);
            }
        }
    }
    let drawn = interop::map_all(&mut drawn, stream)?;
    borrowed.extend(shared.into_iter().zip(drawn.slices().map(Borrowed::Memory)));
    let result = work(&mut in_order(borrowed))?;
    drawn.unmap_unchanged()?;
    Ok(result)
}
