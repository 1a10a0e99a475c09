//! Elements that views draw: which one is at a place of a picture, what one holds, and where it is drawn.

use std::collections::BTreeSet;

use glam::Vec3;

use super::{Arrival, Error, Session};
use crate::{
    device::Readback,
    draw::{Content, Paint, Spot, Sprites, place_in_volume, place_on_surface},
    element::{Element, Part, Scalar},
    scene::{Coordinates, Grid, Manifest, Selection, ViewId, ViewKind},
    state::{Borrowed, HostCopy},
};

/// At most so many resources are read together with the one that is drawn.
const MOST_LIKE_IT: usize = 16;

/// An element of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// The resource.
    pub resource: String,
    /// The element, in the order of memory.
    pub index: u64,
    /// Columns, rows and slices of what is drawn of the resource; a row alone of points.
    pub size: [u32; 3],
}

/// An element that was found, and where it is drawn.
pub type Found = (Picked, Vec3);

impl Picked {
    /// Column, row and slice, from 0; `None` of points.
    pub fn place(&self) -> Option<[u32; 3]> {
        let [width, height, _] = self.size.map(u64::from);
        (height > 1).then(|| {
            let [x, rows] = [self.index % width, self.index / width];
            [x, rows % height, rows / height].map(|of| of as u32)
        })
    }

    /// How many elements are drawn.
    pub fn count(&self) -> u64 {
        self.size.map(u64::from).into_iter().product()
    }
}

/// What elements hold after a step, on its way to the host.
#[derive(Debug)]
pub struct ElementRead {
    /// The step.
    pub step: u64,
    /// What [`Session::picture`] was then.
    pub picture: u64,
    of: Vec<(String, Readback)>,
}

impl ElementRead {
    /// Whether [`ElementRead::wait`] returns at once.
    ///
    /// # Errors
    /// The device's.
    pub fn is_here(&self) -> Result<bool, Error> {
        let mut all = self.of.iter();
        Ok(all.try_fold(true, |all, (_, one)| one.is_ready().map(|is| all && is))?)
    }

    /// The names of resources, and the bytes of the element of each.
    ///
    /// # Errors
    /// The device's.
    pub fn wait(self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let wait = |(name, readback): (String, Readback)| Ok((name, readback.wait()?));
        self.of.into_iter().map(wait).collect()
    }
}

impl Session {
    /// The element that an image has in this column and row.
    pub fn texel_element(&self, view: ViewId, [x, y]: [u32; 2]) -> Option<Picked> {
        let ViewKind::Image { grid, .. } = self.views().get(view.0)?.kind else { return None };
        let size = of_grid(grid);
        let resource = self.manifest()?.resource(grid.of).name.clone();
        let index = u64::from(y) * u64::from(size[0]) + u64::from(x);
        (x < size[0] && y < size[1]).then_some(Picked { resource, index, size })
    }

    /// Lets a thread look for the element that a view which has depth draws at a place of its picture, and where that
    /// is. What it goes by is copied to the host for that. `None` while the state is being changed, and where nothing
    /// like it is drawn.
    ///
    /// # Errors
    /// The device's; [`Error::Thread`].
    pub fn start_picking(
        &mut self,
        view: ViewId,
        spot: Spot,
    ) -> Result<Option<Arrival<Option<Found>>>, Error> {
        let Some(search) = self.search(view) else { return Ok(None) };
        let names: Vec<&str> = search.names().into_iter().collect();
        let Some(download) = self.start_download(&names)? else { return Ok(None) };
        Arrival::begin(download, move |copy| Ok(search.run(&copy, &spot))).map(Some)
    }

    /// Whether a view draws elements that [`Session::start_picking`] looks for.
    pub fn can_be_picked(&self, view: ViewId) -> bool {
        self.search(view).is_some()
    }

    fn search(&self, view: ViewId) -> Option<Search> {
        let (kind, manifest) = (self.views().get(view.0)?.kind, self.manifest()?);
        let content = self.content(view)?;
        let (of, size, what) = match (kind, content) {
            (ViewKind::Points { position, .. }, Content::Points(cloud)) => {
                let of = position.selections().next()?.of;
                let count = u32::try_from(position.count(manifest)).unwrap_or(u32::MAX);
                let axes = axes(manifest, position);
                (of, [count, 1, 1], What::Points(axes, cloud.sprites()))
            }
            (ViewKind::Surface { grid, height }, _) => {
                let heights = Axis::of(manifest, Selection::all(grid.of), 0)?;
                (grid.of, of_grid(grid), What::Surface(heights, height * self.unit_of(grid.of)))
            }
            (ViewKind::Volume { texture, .. }, Content::Volume(volume)) => {
                let channels: Vec<Axis> = (0..4)
                    .map_while(|lane| Axis::of(manifest, Selection::all(texture), lane))
                    .collect();
                let thick = Thickness {
                    channels,
                    paint: volume.coloring.paint,
                    // As the shader has it: of the value 1 along a length of 1.
                    scale: self.unit_of(texture) * volume.density / 2.0,
                };
                let size = manifest.resource(texture).extent().map(|n| n as u32);
                (texture, size, What::Volume(thick))
            }
            (ViewKind::Image { .. } | ViewKind::Points { .. } | ViewKind::Volume { .. }, _) => {
                return None;
            }
        };
        Some(Search { resource: manifest.resource(of).name.clone(), size, what })
    }

    /// Where a view draws an element, of which `read` is what was read: its place in space, and of an image from 0 at
    /// its lower left corner to 1 at its upper right one, without depth. `None` where it does not.
    pub fn place_of(
        &self,
        view: ViewId,
        picked: &Picked,
        read: &[(String, Vec<u8>)],
    ) -> Option<Vec3> {
        let (kind, manifest) = (self.views().get(view.0)?.kind, self.manifest()?);
        let number = |axis: &Axis| {
            let (_, bytes) = read.iter().find(|(name, _)| *name == axis.resource)?;
            axis.number(bytes, 0)
        };
        let is_of = |id| manifest.resource(id).name == picked.resource;
        let [x, y, z] = picked.place().unwrap_or([0; 3]);
        let place = match kind {
            ViewKind::Points { position, .. } => {
                is_of(position.selections().next()?.of).then_some(())?;
                let axes = axes(manifest, position);
                let at = axes.map(|axis| axis.as_ref().map_or(Some(0.0), number));
                Vec3::new(at[0]?, at[1]?, at[2]?)
            }
            ViewKind::Surface { grid, height } => {
                (is_of(grid.of) && of_grid(grid) == picked.size).then_some(())?;
                let of = number(&Axis::of(manifest, Selection::all(grid.of), 0)?)?;
                let of = if of.is_finite() { of } else { 0.0 };
                place_on_surface(grid.size, [x, y], of * height * self.unit_of(grid.of))
            }
            ViewKind::Volume { texture, .. } => {
                is_of(texture).then_some(())?;
                place_in_volume(picked.size, [x, y, z])
            }
            ViewKind::Image { grid, .. } => {
                (is_of(grid.of) && of_grid(grid) == picked.size).then_some(())?;
                let part = |at: u32, of: u32| (at as f32 + 0.5) / of as f32;
                Vec3::new(part(x, grid.size[0]), part(y, grid.size[1]), 0.0)
            }
        };
        place.is_finite().then_some(place)
    }

    /// Puts on the stream that an element goes to the host, and with it those of resources that have as many; the
    /// element's own comes first. `None` while the state is being changed, and where there is no such element.
    ///
    /// # Errors
    /// The device's.
    pub fn start_reading_element(&mut self, picked: &Picked) -> Result<Option<ElementRead>, Error> {
        if self.in_flight.is_some() || self.is_migrating() {
            return Ok(None);
        }
        let Some(program) = self.program.clone() else { return Ok(None) };
        let manifest = &program.scene.manifest;
        let Some(own) = manifest.find_resource(&picked.resource) else { return Ok(None) };
        let count = manifest.resource(own).count();
        if picked.index >= count {
            return Ok(None);
        }
        let resources = manifest.resources();
        let is_alike = |id: &usize| *id != own.0 && resources[*id].count() == count;
        let others = (0..resources.len()).filter(is_alike).take(MOST_LIKE_IT);
        let wanted: Vec<usize> = [own.0].into_iter().chain(others).collect();
        let stream = &self.stream;
        let of = self.state.resources.read(stream, |borrowed| {
            let element = |id: usize| -> Result<_, Error> {
                let resource = &resources[id];
                let [width, height, _] = resource.extent();
                let rows = picked.index / width;
                let at = [picked.index % width, rows % height, rows / height];
                let bytes = resource.of().bytes();
                let region = Borrowed::element(&borrowed[id], at.map(|of| of as usize), bytes)?;
                Ok((resource.name.clone(), stream.download(region)?))
            };
            wanted.into_iter().map(element).collect::<Result<Vec<_>, Error>>()
        })?;
        Ok(Some(ElementRead { step: self.state.inputs.step, picture: self.picture, of }))
    }
}

/// Columns, rows, and one slice.
fn of_grid(Grid { size: [width, height], .. }: Grid) -> [u32; 3] {
    [width, height, 1]
}

/// A number of each element of a resource.
pub(super) struct Axis {
    resource: String,
    /// Bytes from one element to the next.
    stride: usize,
    part: Part,
}

impl Axis {
    /// A component of what is selected; `None` where it has no such.
    pub(super) fn of(manifest: &Manifest, selection: Selection, lane: u8) -> Option<Self> {
        let (Element { scalar, lanes }, offset) = selection.vector(manifest)?;
        let offset = offset + usize::from(lane) * scalar.bytes();
        let resource = manifest.resource(selection.of);
        let element = Element::vector(scalar, 1);
        (lane < lanes).then(|| Self {
            resource: resource.name.clone(),
            stride: resource.of().bytes(),
            part: Part { path: String::new(), element, offset, count: 1 },
        })
    }

    /// That of an element; `None` beyond the last one.
    pub(super) fn number(&self, bytes: &[u8], element: usize) -> Option<f32> {
        let start = element.checked_mul(self.stride)?;
        let element = bytes.get(start..start.checked_add(self.stride)?)?;
        self.part.number(element, 0).map(|number| number as f32)
    }
}

/// The numbers that are x, y and z of points.
fn axes(manifest: &Manifest, position: Coordinates) -> [Option<Axis>; 3] {
    match position {
        Coordinates::Vector(vector) => [0, 1, 2].map(|lane| Axis::of(manifest, vector, lane)),
        Coordinates::Axes(axes) => axes.map(|axis| Axis::of(manifest, axis?, 0)),
    }
}

/// What is looked for, and in what.
struct Search {
    resource: String,
    size: [u32; 3],
    what: What,
}

enum What {
    Points([Option<Axis>; 3], Sprites),
    /// And the height of the number 1.
    Surface(Axis, f32),
    Volume(Thickness),
}

/// What of a volume hides what is behind it.
struct Thickness {
    channels: Vec<Axis>,
    paint: Paint,
    scale: f32,
}

impl Search {
    /// The resources that it needs.
    fn names(&self) -> BTreeSet<&str> {
        let axes: Vec<&Axis> = match &self.what {
            What::Points(axes, _) => axes.iter().flatten().collect(),
            What::Surface(heights, _) => vec![heights],
            What::Volume(Thickness { channels, .. }) => channels.iter().collect(),
        };
        axes.into_iter().map(|axis| axis.resource.as_str()).collect()
    }

    fn run(&self, copy: &HostCopy, spot: &Spot) -> Option<Found> {
        let Self { resource, size, what } = self;
        let number = |axis: &Axis, element: usize| {
            copy.of_resource(&axis.resource).and_then(|bytes| axis.number(bytes, element))
        };
        let (index, place) = match what {
            What::Points(axes, sprites) => {
                let at = |element: usize| {
                    let axis = |axis: &Option<Axis>| match axis {
                        Some(axis) => number(axis, element).unwrap_or(f32::NAN),
                        None => 0.0,
                    };
                    Vec3::from(axes.each_ref().map(axis))
                };
                let index = spot.point(sprites, (0..size[0] as usize).map(at))?;
                (index, at(index))
            }
            What::Surface(heights, of_one) => {
                let [width, depth, _] = *size;
                let at = |[x, y]: [u32; 2]| y as usize * width as usize + x as usize;
                let height = |texel| {
                    let of = number(heights, at(texel)).unwrap_or(0.0) * of_one;
                    if of.is_finite() { of } else { 0.0 }
                };
                let texel = spot.surface_texel([width, depth], height)?;
                (at(texel), place_on_surface([width, depth], texel, height(texel)))
            }
            What::Volume(thickness) => {
                let [width, height, _] = size.map(|n| n as usize);
                let at =
                    |[x, y, z]: [u32; 3]| (z as usize * height + y as usize) * width + x as usize;
                let thick = |texel| thickness.of(|axis| number(axis, at(texel)).unwrap_or(0.0));
                let texel = spot.volume_texel(*size, thick)?;
                (at(texel), place_in_volume(*size, texel))
            }
        };
        Some((Picked { resource: resource.clone(), index: index as u64, size: *size }, place))
    }
}

impl Thickness {
    /// That of a texel, of which `number` gives the channels.
    fn of(&self, number: impl Fn(&Axis) -> f32) -> f32 {
        let channel = |index: usize| self.channels.get(index).map(&number);
        let counts = match self.paint {
            Paint::Component(index) => channel(usize::from(index)).unwrap_or(0.0),
            Paint::Magnitude => {
                let squares = (0..3).filter_map(channel).map(|of| of * of);
                squares.sum::<f32>().sqrt()
            }
            // What has no alpha is opaque.
            Paint::Rgba => channel(3).unwrap_or(1.0 / self.unit()),
        };
        counts * self.scale
    }

    /// What the number 1 is to a view.
    fn unit(&self) -> f32 {
        let is_bytes = |axis: &Axis| axis.part.element.scalar == Scalar::U8;
        if self.channels.first().is_some_and(is_bytes) { 1.0 / 255.0 } else { 1.0 }
    }
}
