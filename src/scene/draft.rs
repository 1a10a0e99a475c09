//! A manifest for a file that has none: what its signatures and its host code say, and the rest marked to be filled in.
//!
//! Enters: a source without a manifest. Leaves: the text of a manifest. Must not know: `compile`, `device`,
//! `scene::binding`.
//!
//! Host code is read (`reader`) into its parts, variables and launches: `host` holds them, and `code` has their types.
//! What an expression (`expression`) is at a place is told by `values`: a number, with C++'s own meaning, or a formula
//! of the rounds of loops that means the same in a manifest. `fills` tells which numbers the memory of the device
//! begins with. `reading` has all of that done in its order, and `manifest` writes it down.

mod code;
mod expression;
mod fills;
mod host;
mod manifest;
mod reader;
mod reading;
mod values;

pub use self::code::source::Includes;
use self::{
    code::{members::Members, source},
    host::Host,
};
use crate::cuda::{self, Macros, Signature, Structures};

/// A manifest for `source`, the text of the file called `name`, as the comment that stands before it.
///
/// Each kernel that the host code launches becomes a pass with the launch's shape and arguments, each allocation an
/// array, and each loop of launches a group; without host code each kernel becomes a pass. What cannot be told is
/// marked with `# fill in`. The result is a manifest for sure, but where arrays are too small its kernels may fault.
///
/// ```
/// let source = "__global__ void fill(float *a, float v) { a[threadIdx.x] = v; }
/// int main() { float *d; cudaMalloc(&d, 64 * sizeof(float)); fill<<<1, 64>>>(d, 1.5f); }";
/// let manifest = warpaint::scene::draft("fill.cu", source);
/// assert!(manifest.contains("kernel = \"fill\"\ngrid   = 1\nblock  = 64"), "{manifest}");
/// assert!(manifest.contains("[array.d]\ntype  = \"float\"\ncount = 64\n"), "{manifest}");
/// ```
pub fn draft(name: &str, source: &str) -> String {
    draft_beside(name, source, &mut |_, _| None)
}

/// The same, with the files that `source` includes: what they define counts as if it stood there.
pub fn draft_beside(name: &str, source: &str, includes: &mut Includes<'_>) -> String {
    read(name, source, includes, |host, kernels| manifest::written(name, host, kernels))
}

/// The instances of templates of `source` that its host code launches, as far as it surely says which:
/// `scale<float,4>`.
pub fn instances_beside(name: &str, source: &str, includes: &mut Includes<'_>) -> Vec<String> {
    read(name, source, includes, manifest::instances)
}

/// What `look` finds in a text and in the files that it includes.
fn read<T>(
    name: &str,
    source: &str,
    includes: &mut Includes<'_>,
    look: impl FnOnce(&Host<'_>, &[Signature]) -> T,
) -> T {
    let source = source::whole(name, source, includes);
    let kernels = cuda::scan(name, &source);
    let structures = Structures::of(Macros::default(), &source);
    let members = Members::new(&source, &structures);
    look(&reading::read(&source, &structures, &members), &kernels)
}
