//! Through which of its parameters a kernel may write.

use std::{collections::BTreeSet, ops::Range};

use super::{
    access::{Action, accesses},
    origin::{Origin, Origins, Source},
};
use crate::ptx::{
    ast::{Module, parameter_places},
    inst::Instruction,
    operand::{Address, Base, Operand},
    types::Space,
};

/// For each parameter of a kernel, whether its code may write where a pointer or a surface in it leads. A pointer that
/// is stored, or given to a function, may be written through. `None` where the module has no such kernel.
///
/// ```
/// use warpaint::ptx::{parse, pass::writes_through};
///
/// let text = "
/// .version 9.0 .target sm_90 .address_size 64
/// .visible .entry k(.param .u64 to, .param .u64 from)
/// {
///     .reg .b32 %r<1>; .reg .b64 %rd<2>;
///     ld.param.u64 %rd0, [from];
///     ld.global.u32 %r0, [%rd0];
///     ld.param.u64 %rd1, [to];
///     st.global.u32 [%rd1+4], %r0;
///     ret;
/// }";
/// let module = parse(text).map_err(|found| format!("{found:?}"))?;
/// assert_eq!(writes_through(&module, "k"), Some(vec![true, false]));
/// # Ok::<(), String>(())
/// ```
pub fn writes_through(module: &Module, kernel: &str) -> Option<Vec<bool>> {
    let origins = Origins::of_kernel(module, kernel)?;
    let params = &origins.function().params;
    let mut written = BTreeSet::new();
    for i in origins.body().instructions().filter(|i| i.op.facts().changes) {
        if writes_anywhere(i, &origins) {
            return Some(vec![true; params.len()]);
        }
        i.for_each_use(|reg| match origins.of(reg).origin {
            Origin::Pointer { sources, .. } => written.extend(sources),
            Origin::Number { .. } | Origin::Unknown => {}
        });
    }
    let leads = |source: &Source, place: &Range<u64>| match source {
        Source::Argument(at) => place.contains(&u64::from(*at)),
        Source::Symbol(_) | Source::Null => false,
    };
    let places = parameter_places(params);
    Some(places.map(|place| written.iter().any(|source| leads(source, &place))).collect())
}

/// Whether an instruction writes to global memory, and it is not known where.
fn writes_anywhere(i: &Instruction, origins: &Origins<'_>) -> bool {
    let Ok(accesses) = accesses(i) else { return true };
    accesses.iter().any(|access| {
        let reaches = match access.space.map(Space::kind) {
            None | Some(Space::Global) => true,
            Some(_) => false,
        };
        let is_known = match i.src.get(access.source).and_then(Operand::address) {
            Some(Address { base: Base::Symbol(_), .. }) => true,
            Some(Address { base: Base::Reg(reg), .. }) => match origins.of(*reg).origin {
                Origin::Pointer { .. } => true,
                Origin::Number { .. } | Origin::Unknown => false,
            },
            Some(Address { base: Base::Absolute, .. }) | None => false,
        };
        access.action == Action::Write && reaches && !is_known
    })
}

#[cfg(test)]
mod tests {
    use super::writes_through;
    use crate::ptx::parse;

    /// What a kernel with these instructions writes through of `a`, `b`, and the pointer in the middle of `c`.
    fn written(instructions: &str) -> Vec<bool> {
        let text = format!(
            ".version 9.0 .target sm_90 .address_size 64 .global .u64 kept;\n\
             .func f(.param .b64 x) {{ ret; }}\n\
             .visible .entry k(.param .u64 a, .param .u64 b, .param .align 8 .b8 c[24]) {{\n\
             .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<8>; .local .b64 own;\n\
             ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [c+8]; mov.u32 %r1, %tid.x;\n\
             {instructions}\nret; }}"
        );
        let module = parse(&text).unwrap_or_else(|found| panic!("{found:?}"));
        writes_through(&module, "k").unwrap()
    }

    #[test]
    fn what_is_written_is_followed_through_the_registers() {
        let computed = "cvta.to.global.u64 %rd3, %rd1; mad.wide.s32 %rd4, %r1, 4, %rd3;";
        assert_eq!(written(&format!("{computed} ld.global.u32 %r2, [%rd4+4];")), [false; 3]);
        let store = "@%p1 st.global.u32 [%rd4+4], %r2;";
        assert_eq!(written(&format!("{computed} {store}")), [false, true, false]);
        assert_eq!(written("red.global.add.u32 [%rd2], 1;"), [false, false, true]);
        assert_eq!(
            written("selp.b64 %rd3, %rd0, %rd2, %p1; st.u32 [%rd3], %r1;"),
            [true, false, true]
        );
        // An order of instructions that is not that in which they run.
        let back =
            "bra in; L: st.global.u32 [%rd3], %r1; bra end; in: mov.u64 %rd3, %rd0; bra L; end:";
        assert_eq!(written(back), [true, false, false]);
        assert_eq!(writes_through(&parse(".version 9.0 .target sm_90").unwrap(), "k"), None);
    }

    #[test]
    fn surfaces_and_what_is_given_away_count() {
        assert_eq!(written("sust.b.1d.b32.trap [%rd1, {%r1}], {%r2};"), [false, true, false]);
        assert_eq!(written("suld.b.1d.b32.trap {%r2}, [%rd1, {%r1}];"), [false; 3]);
        assert_eq!(written("st.global.u64 [kept], %rd0;"), [true, false, false]);
        assert_eq!(written("st.local.u64 [own], %rd2;"), [false, false, true]);
        let call = "{ .param .b64 x; st.param.b64 [x], %rd1; call f, (x); }";
        assert_eq!(written(call), [false, true, false]);
    }

    #[test]
    fn a_store_to_an_unknown_place_may_write_all() {
        let loaded = "ld.global.u64 %rd3, [kept]; st.global.u32 [%rd3], %r1;";
        assert_eq!(written(loaded), [true; 3]);
        // Halves of an address.
        let packed = "mov.b64 {%r1, %r2}, %rd0; mov.b64 %rd3, {%r1, %r2}; st.u32 [%rd3], %r1;";
        assert_eq!(written(packed), [true; 3]);
        assert_eq!(written("ld.global.u32 %r1, [kept]; st.local.u32 [own], %r1;"), [false; 3]);
    }
}
