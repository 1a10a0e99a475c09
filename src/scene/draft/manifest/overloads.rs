//! Which of several kernels of one name a launch means, and what a manifest calls that.

use super::Draft;
use crate::{
    cuda::{Signature, lexer},
    scene::draft::{
        code::{candidates::type_in, regions::Kind},
        host::{launch::Launch, place::Place},
        values::overloads::{Choice, Named},
    },
};

/// A type has at most so many tokens.
const MOST_TOKENS: usize = 200;

impl<'a, 's> Draft<'a, 's> {
    /// The kernel that a launch means, as it is declared, and whether that is sure.
    pub(in crate::scene::draft) fn kernel_of(
        &self,
        launch: &Launch,
        place: &Place<'_, 's>,
    ) -> Option<(&'a Signature, bool)> {
        let stem = launch.kernel.split('<').next().unwrap_or(&launch.kernel);
        let stem = stem.trim_start_matches("::");
        let path: Vec<&str> = stem.split("::").collect();
        let (name, path) = path.split_last()?;
        let first = self.declared(stem)?;
        // A specialisation is launched by the arguments of its template.
        let is_named = |kernel: &&Signature| {
            kernel.defined
                && kernel.specialised.is_none()
                && kernel.name.rsplit("::").next() == Some(*name)
        };
        if self.kernels.iter().filter(is_named).count() < 2 {
            return Some((first, true));
        }
        let is_instance = launch.kernel.contains('<');
        let named = Named { name, path: path.to_vec(), receiver: None, is_instance };
        let host = self.host;
        let at = Place { at: launch.at, ..place.clone() };
        let chosen = host.surely(|host| host.chosen(&named, &launch.arguments, &at)).0;
        match chosen {
            Some(Choice::Here(region)) => {
                let own = self.kernels.iter().filter(is_named).find(|own| self.is_at(own, region));
                Some(own.map_or((first, false), |own| (own, true)))
            }
            // Several of one name and the same types stand in branches of `#if`.
            Some(Choice::Unclear(_) | Choice::Elsewhere) | None => {
                let types = |of: &Signature| {
                    of.parameters.iter().map(|p| p.text.clone()).collect::<Vec<_>>()
                };
                let mut all = self.kernels.iter().filter(is_named);
                let is_one = all.all(|own| own.name == first.name && types(own) == types(first));
                Some((first, is_one))
            }
        }
    }

    /// Whether a kernel is the function of a region.
    fn is_at(&self, kernel: &Signature, region: usize) -> bool {
        let host = self.host;
        let Some(Kind::Function { parameters, name, .. }) =
            host.regions.get(region).map(|of| &of.kind)
        else {
            return false;
        };
        let path = host.candidates.path_of(Some(region), *name);
        let spaces: Vec<&str> = kernel.name.split("::").collect();
        let outer = kernel.outer_name.as_deref().map(|name| name.split("::").collect::<Vec<_>>());
        let is_path = |all: &Vec<&str>| all[..all.len() - 1] == path;
        let parts = match parameters.is_empty() {
            true => Vec::new(),
            false => host.parts(parameters.clone()),
        };
        let of_text = |text: &str| {
            let tokens: Vec<_> = lexer::code(text).take(MOST_TOKENS).collect();
            tokens.iter().map(|token| token.text).filter(|text| !is_mark(text)).collect::<String>()
        };
        let same =
            |(part, own): (&crate::scene::draft::code::Span, &crate::cuda::KernelParameter)| {
                let text = of_text(&own.text);
                let with_stars = text.replace("[]", "*");
                let tokens = type_in(host.tokens(part));
                let tokens: String = tokens.into_iter().filter(|text| !is_mark(text)).collect();
                tokens == text || tokens == with_stars
            };
        (is_path(&spaces) || outer.as_ref().is_some_and(is_path))
            && parts.len() == kernel.parameters.len()
            && parts.iter().zip(&kernel.parameters).all(same)
    }

    /// What a manifest calls a kernel: with the types of its parameters, where there are others of its name.
    pub(in crate::scene::draft) fn name_of(&self, kernel: &Signature, instance: &str) -> String {
        let types = |of: &Signature| {
            let types: Vec<&str> = of.parameters.iter().map(|p| p.text.as_str()).collect();
            types.join(", ")
        };
        let own = types(kernel);
        let others = self.kernels.iter().filter(|other| other.defined && other.name == kernel.name);
        let is_overloaded = others.clone().any(|other| types(other) != own)
            && others.clone().count() > 1
            && instance.is_empty();
        match is_overloaded {
            true => format!("{}({own})", kernel.name),
            false => format!("{}{instance}", kernel.name),
        }
    }
}

fn is_mark(text: &str) -> bool {
    matches!(text, "struct" | "volatile") || text.contains("restrict")
}
