//! How a resource of two programs differs, over all steps after which it was compared.

use serde::Serialize;

use super::difference::{Difference, Gap, Place, numbers};
use crate::{element::Type, scene::Resource};

/// A resource of both sides, and how it differs over all steps after which it was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    #[serde(skip)]
    resource: Resource,
    /// The name that kernels use.
    pub name: String,
    /// The type of its elements.
    pub element: String,
    /// Width, height and depth in elements.
    pub extent: [u64; 3],
    /// Numbers in all its elements together.
    pub numbers: u64,
    /// Whether it was the same to the last bit.
    pub same_bits: bool,
    /// Numbers that differ, at most.
    pub differing: u64,
    /// How far any are apart, at most.
    #[serde(flatten)]
    pub most: Gap,
    /// Where and when the first differs.
    pub first: Option<Parting>,
    /// Where and when the first differs by more than is allowed.
    pub beyond: Option<Parting>,
    /// How it differs after the last step.
    pub last: Option<Last>,
    /// The last step after which it was compared before any number of it was seen to differ.
    #[serde(skip)]
    pub same_after: Option<u64>,
}

/// How a resource differs after the last step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Last {
    /// Numbers that differ.
    pub differing: u64,
    /// How far any are apart, at most.
    #[serde(flatten)]
    pub most: Gap,
}

/// Two numbers that differ, where, and when.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parting {
    /// Steps finished; 0 after the reset.
    pub step: u64,
    /// As in `position[3].y`.
    pub at: String,
    /// The numbers as text: NaN is none of JSON's, and large integers are none of every reader's.
    pub a: String,
    /// B's.
    pub b: String,
}

/// A resource that is on one side alone, or has another shape there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unlike {
    /// The name that kernels use.
    pub name: String,
    /// What it is in A and in B.
    pub is: [Option<String>; 2],
}

/// The resources that can be compared, in A's order, and those that cannot.
pub(crate) fn in_common([of_a, of_b]: [&[Resource]; 2]) -> (Vec<Compared>, Vec<Unlike>) {
    let of_name = |all: &[Resource], name: &str| all.iter().find(|of| of.name == name).cloned();
    let (mut alike, mut unlike) = (Vec::new(), Vec::new());
    for resource in of_a {
        match of_name(of_b, &resource.name) {
            Some(other) if has_same_shape(resource, &other) => alike.push(Compared::new(resource)),
            other => unlike.push(Unlike::new([Some(resource), other.as_ref()])),
        }
    }
    let rest = of_b.iter().filter(|resource| of_name(of_a, &resource.name).is_none());
    unlike.extend(rest.map(|resource| Unlike::new([None, Some(resource)])));
    (alike, unlike)
}

/// Whether what both hold is numbers of one type in the same places.
fn has_same_shape(a: &Resource, b: &Resource) -> bool {
    (a.of(), a.extent()) == (b.of(), b.extent())
}

impl Unlike {
    fn new(sides: [Option<&Resource>; 2]) -> Self {
        let name = sides.iter().flatten().next().map(|resource| resource.name.clone());
        let is = sides.map(|resource| resource.map(Resource::to_string));
        Self { name: name.unwrap_or_default(), is }
    }
}

impl Compared {
    fn new(resource: &Resource) -> Self {
        Self {
            name: resource.name.clone(),
            element: resource.of().to_string(),
            extent: resource.extent(),
            numbers: numbers(&resource.of()).saturating_mul(resource.count()),
            same_bits: true,
            differing: 0,
            most: Gap::NONE,
            first: None,
            beyond: None,
            last: None,
            same_after: None,
            resource: resource.clone(),
        }
    }

    /// Whether some of its numbers are of a floating-point type, so that units in the last place say something.
    pub fn has_floats(&self) -> bool {
        self.resource.of().parts().iter().any(|part| part.element.scalar.is_float())
    }

    /// Compares what both sides hold after `step`; see [`super::difference`].
    #[cfg(feature = "cli")]
    pub(crate) fn compare(&mut self, step: u64, sides: [&[u8]; 2], tolerance: f64) {
        self.add(step, super::difference::difference(&self.resource.of(), sides, tolerance));
    }

    /// The type of its elements.
    pub(super) fn of(&self) -> Type {
        self.resource.of()
    }

    pub(super) fn add(&mut self, step: u64, found: Difference) {
        let Difference { same_bits, differing, most, first, beyond } = found;
        self.same_bits &= same_bits;
        self.differing = self.differing.max(differing);
        self.most = self.most.max(most);
        self.last = Some(Last { differing, most });
        match (&self.first, first) {
            (Some(_), _) => {}
            (None, Some(place)) => self.first = Some(self.parting(step, place)),
            (None, None) => self.same_after = Some(step),
        }
        if self.beyond.is_none() {
            self.beyond = beyond.map(|place| self.parting(step, place));
        }
    }

    fn parting(&self, step: u64, place: Place) -> Parting {
        let [a, b] = place.values;
        let number = match place.number.as_str() {
            "" => String::new(),
            name => format!(".{name}"),
        };
        let at = format!("{}[{}]{number}", self.name, self.index(place.element as u64));
        Parting { step, at, a, b }
    }

    /// How an element is called: `3`, or `x=12, y=3` of a texture.
    fn index(&self, element: u64) -> String {
        let [width, height, _] = self.extent.map(|side| side.max(1));
        let (x, y) = (element % width, element / width % height);
        match self.resource.texture() {
            None => element.to_string(),
            Some(texture) if texture.dimensions == 3 => {
                format!("x={x}, y={y}, z={}", element / width / height)
            }
            Some(_) => format!("x={x}, y={y}"),
        }
    }
}
