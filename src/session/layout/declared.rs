//! What the text says of fields, and the compiler does not tell.

use std::cell::OnceCell;

use super::leaves::Leaf;
use crate::{
    cuda::{CType, Structures},
    scene::Scene,
};

/// The structures of a scene's text, which is read when the first one is asked for.
pub(super) struct DeclaredFields<'a> {
    pub(super) scene: &'a Scene,
    structures: OnceCell<Structures>,
}

impl<'a> DeclaredFields<'a> {
    pub(super) const fn new(scene: &'a Scene) -> Self {
        Self { scene, structures: OnceCell::new() }
    }

    fn structures(&self) -> &Structures {
        self.structures.get_or_init(|| {
            let macros = self.scene.manifest.compile.macros();
            let headers = self.scene.headers.iter().map(|text| &**text);
            let texts: Vec<&str> = headers.chain([&*self.scene.source]).collect();
            Structures::of(macros, &texts.join("\n"))
        })
    }

    /// The type of the field `leaf` of the structure `of`, which is given a texture: a texture object, a surface object
    /// and an integer are one type to the compiler.
    ///
    /// # Errors
    /// A sentence, where the text does not tell.
    pub(super) fn object(&self, of: &str, leaf: &Leaf<'_>) -> Result<CType, String> {
        self.structures().object(of, &leaf.path).ok_or_else(|| {
            format!(
                "`{}` is given a texture: whether it is a `cudaTextureObject_t` or a `cudaSurfaceObject_t` the text \
                 must say where it declares `{of}`",
                leaf.path
            )
        })
    }

    /// Whether the field `path` of the structure `of` is one that others may not name, but in a way that C++ has from
    /// 2017 on.
    pub(super) fn is_hidden(&self, of: &str, path: &str) -> bool {
        let standard = self.scene.manifest.compile.standard.as_deref();
        !matches!(standard, Some("c++11" | "c++14")) && self.structures().is_hidden(of, path)
    }
}
