//! Which of the kernels that a text was seen to have the compiler made, and what their types are.
//!
//! Enters: signatures as they were read, and the names of compiled kernels, which tell their types, with those of their
//! parameters. Leaves: those of the signatures that are compiled. Must not know: `scene`, `compile`, `ptx`.

use std::collections::HashMap;

use super::{CType, Pointee, Signature, mangled::Function};

/// A compiled kernel: its name in the module, its types, and, where they are known, the names of its parameters.
struct Entry<'a> {
    lowered: &'a str,
    types: Vec<CType>,
    names: Option<&'a [String]>,
}

/// So many kernels of one name are looked at, each against each.
const MOST_OF_A_NAME: usize = 64;

/// Settles which of several kernels of one name, which their text leaves open, are compiled: the others go, and of
/// these the types are known, as far as the names tell of all that were `compiled`. With each come the names of its
/// parameters, where they are known. Whether anything changed.
pub(crate) fn settle<'a>(
    kernels: &mut Vec<Signature>,
    compiled: impl Iterator<Item = (&'a str, Option<&'a [String]>)>,
) -> bool {
    let mut groups: HashMap<String, (Vec<usize>, Vec<Entry<'a>>)> = HashMap::new();
    for (at, kernel) in kernels.iter().enumerate().filter(|(_, kernel)| !kernel.template) {
        groups.entry(kernel.name.clone()).or_default().0.push(at);
    }
    groups.retain(|_, (signatures, _)| (2..=MOST_OF_A_NAME).contains(&signatures.len()));
    for (lowered, names) in compiled {
        let Some(Function { name, parameters: Some(types) }) = Function::of(lowered) else {
            continue;
        };
        if let Some((_, entries)) = groups.get_mut(&name) {
            let types = types.iter().map(|text| CType::parse(text)).collect();
            entries.push(Entry { lowered, types, names });
        }
    }
    groups.retain(|_, (_, entries)| (1..=MOST_OF_A_NAME).contains(&entries.len()));
    let (mut is_changed, mut is_kept) = (false, vec![true; kernels.len()]);
    for (group, entries) in groups.into_values() {
        let claimed = vec![false; entries.len()];
        let mut open = Group { kernels, entries: &entries, known: HashMap::new(), claimed };
        let compiled = open.settle(&group);
        is_changed |= open.claimed.contains(&true);
        // Where none is, they were not read as they are.
        if !compiled.is_empty() {
            is_changed |= compiled.len() < group.len();
            group.iter().for_each(|at| is_kept[*at] = compiled.contains(at));
        }
    }
    let mut is_kept = is_kept.into_iter();
    kernels.retain(|_| is_kept.next().unwrap_or(true));
    is_changed
}

/// Kernels of one name.
struct Group<'k, 'e> {
    kernels: &'k mut [Signature],
    entries: &'e [Entry<'e>],
    /// What names of types stand for, as far as it was found out.
    known: HashMap<String, CType>,
    /// Which of the compiled kernels are those of a signature.
    claimed: Vec<bool>,
}

impl Group<'_, '_> {
    /// Which of these are compiled.
    fn settle(&mut self, group: &[usize]) -> Vec<usize> {
        let mut open: Vec<usize> =
            group.iter().copied().filter(|at| !self.matching(*at, true).is_empty()).collect();
        let compiled = open.clone();
        // What one of them tells of a type may decide for another.
        while let Some((place, entry)) =
            open.iter().enumerate().find_map(|(place, at)| match self.matching(*at, false)[..] {
                [only] => Some((place, only)),
                _ => None,
            })
        {
            self.claim(open.swap_remove(place), entry);
        }
        compiled
    }

    /// The compiled kernels that the signature at `at` may be of; unless `all`, those that are no other's.
    fn matching(&self, at: usize, all: bool) -> Vec<usize> {
        let parameters = &self.kernels[at].parameters;
        let is_one = |entry: &Entry<'_>| {
            parameters.len() == entry.types.len()
                && parameters.iter().zip(&entry.types).all(|(p, is)| self.may_be(&p.ctype, is))
                && entry.names.is_none_or(|names| parameters.iter().map(|p| &p.name).eq(names))
        };
        let entries = (0..).zip(self.entries).filter(|(_, entry)| is_one(entry));
        entries.map(|(index, _)| index).filter(|index| all || !self.claimed[*index]).collect()
    }

    /// Whether what is written as the one type may be the other.
    fn may_be(&self, written: &CType, is: &CType) -> bool {
        match (written, is) {
            (CType::Named(name), CType::Named(other)) if self.is_structure(name) => {
                is_called(other, name)
            }
            (CType::Named(name), _) => match self.known.get(name) {
                Some(known) => known == is,
                None => !self.is_structure(name),
            },
            // What it points to may be `const` by its name, too.
            (
                CType::Pointer { to: to @ Pointee::Named(_), constant },
                CType::Pointer { to: other, constant: promised },
            ) => *promised >= *constant && self.may_be(&pointed_to(to), &pointed_to(other)),
            (CType::Surface | CType::Texture, CType::Value(_)) => true,
            (CType::Value(_) | CType::Pointer { .. } | CType::Surface | CType::Texture, _) => {
                written == is
            }
        }
    }

    /// Whether a type is called so by the compiler, too: it stands for no other one.
    fn is_structure(&self, name: &str) -> bool {
        let mut types = self.entries.iter().flat_map(|entry| &entry.types);
        types.any(|is| match is {
            CType::Named(other) | CType::Pointer { to: Pointee::Named(other), .. } => {
                is_called(other, name)
            }
            CType::Value(_) | CType::Pointer { .. } | CType::Surface | CType::Texture => false,
        })
    }

    /// Gives the signature at `at` the types of the compiled kernel that it is of.
    fn claim(&mut self, at: usize, entry: usize) {
        self.claimed[entry] = true;
        let Entry { lowered, types, names: _ } = &self.entries[entry];
        let kernel = &mut self.kernels[at];
        (kernel.left_out, kernel.lowered) = (false, Some((*lowered).to_owned()));
        for (parameter, is) in kernel.parameters.iter_mut().zip(types) {
            match (&parameter.ctype, is) {
                (CType::Named(name), CType::Value(_) | CType::Pointer { .. }) => {
                    self.known.insert(name.clone(), is.clone());
                    parameter.ctype = is.clone();
                }
                (
                    CType::Pointer { to: Pointee::Named(name), .. },
                    CType::Pointer { to: to @ (Pointee::Element(_) | Pointee::Void), .. },
                ) => {
                    self.known.insert(name.clone(), pointed_to(to));
                    parameter.ctype = is.clone();
                }
                (
                    CType::Value(_)
                    | CType::Pointer { .. }
                    | CType::Surface
                    | CType::Texture
                    | CType::Named(_),
                    _,
                ) => {}
            }
        }
    }
}

/// What a pointer points to, as a type of its own.
fn pointed_to(to: &Pointee) -> CType {
    match to {
        Pointee::Element(element) => CType::Value(*element),
        Pointee::Void => CType::Named("void".to_owned()),
        Pointee::Named(name) if name.ends_with('*') => CType::parse(name),
        Pointee::Named(name) => CType::Named(name.clone()),
    }
}

/// Whether the type that the compiler calls `full` may be called `name` where it lies in a namespace.
fn is_called(full: &str, name: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let (full, name) = (plain(full), plain(name.trim_start_matches("::")));
    full == name || full.strip_suffix(name.as_str()).is_some_and(|path| path.ends_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::scan;

    /// The parameters of what is compiled of `text`, as they are known then.
    fn settled(text: &str, lowered: &[&str]) -> Vec<String> {
        let mut kernels = scan("t.cu", text);
        settle(&mut kernels, lowered.iter().map(|lowered| (*lowered, None)));
        let types = |kernel: &Signature| {
            let all = kernel.parameters.iter().map(|p| p.ctype.to_string());
            all.collect::<Vec<_>>().join(", ")
        };
        kernels.iter().map(types).collect()
    }

    #[test]
    fn what_is_not_compiled_goes() {
        let text = "__global__ void k(float *a, int n) {}\n__global__ void k(float *a, double *b, int n) {}\n\
                    __global__ void other(int n) {}";
        assert_eq!(settled(text, &["_Z1kPfPdi"]), ["float *, double *, int", "int"]);
        assert_eq!(settled(text, &["_Z1kPfi", "_Z1kPfPdi"]).len(), 3);
        // What nothing was read of leaves all as they are.
        assert_eq!(settled(text, &["_Z1kPi"]).len(), 3);
        assert_eq!(settled(text, &["k", "_Z1kIfEvT_"]).len(), 3);
        // So many are not looked through.
        let many: String =
            (0..500).map(|at| format!("__global__ void k(T{at} *a) {{}}\n")).collect();
        assert_eq!(settled(&many, &["_Z1kPf"]).len(), 500);
    }

    #[test]
    fn names_of_parameters_tell_kernels_of_the_same_types_apart() {
        let text =
            "__global__ void k(float *a, float *b) {}\n__global__ void k(float *b, float *a) {}";
        let kept = |names: &[&str]| {
            let mut kernels = scan("t.cu", text);
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            settle(&mut kernels, [("_Z1kPfS_", Some(&names[..]))].into_iter());
            kernels.iter().map(|kernel| kernel.at.line).collect::<Vec<_>>()
        };
        assert_eq!(kept(&["a", "b"]), [1]);
        assert_eq!(kept(&["b", "a"]), [2]);
        // Neither was read as it is.
        assert_eq!(kept(&["b", "c"]), [1, 2]);
    }

    #[test]
    fn names_of_types_are_found_out() {
        let real = "__global__ void k(real *a) {}\n__global__ void k(double *a) {}";
        assert_eq!(settled(real, &["_Z1kPd", "_Z1kPf"]), ["float *", "double *"]);
        let more = format!(
            "{real}\n__global__ void k(wide *a) {{}}\n__global__ void k(wide *a, real b) {{}}"
        );
        let lowered = ["_Z1kPd", "_Z1kPf", "_Z1kPi", "_Z1kPif"];
        assert_eq!(settled(&more, &lowered), ["float *", "double *", "int *", "int *, float"]);
        let structures =
            "__global__ void k(Q *a, cells b) {}\n__global__ void k(n::P *a, int *b) {}";
        let lowered = ["_Z1kPN1n1PEPi", "_Z1kP1QPf"];
        assert_eq!(settled(structures, &lowered), ["Q *, float *", "n::P *, int *"]);
        // Which of them is which nobody can say.
        let open = "__global__ void k(one *a) {}\n__global__ void k(other *a) {}";
        assert_eq!(settled(open, &["_Z1kPd", "_Z1kPf"]), ["one *", "other *"]);
    }
}
