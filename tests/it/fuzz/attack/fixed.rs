//! Attacks written by hand: what each may do, on every engine and in every setting.

use std::fmt::Write as _;

use super::{
    case::{Case, PLAIN, SETTINGS},
    parent, writer,
};

/// A module, and the ways in which its launches may end.
type Attack<'a> = (String, &'a [&'a str]);

/// No harm comes of any module, and each launch ends in one of its ways.
#[track_caller]
fn end(attacks: &[Attack<'_>]) {
    let case = |(text, _): &Attack<'_>| Case { number: PLAIN, text: text.clone() };
    let cases: Vec<Case> = attacks.iter().map(case).collect();
    for setting in SETTINGS {
        let (endings, harm) = parent::endings(setting, &cases);
        if let Some(harm) = harm {
            let text = &attacks[endings.len().saturating_sub(1)].0;
            panic!("{setting}: {harm}\n{text}");
        }
        assert_eq!(endings.len(), attacks.len(), "{setting}: all were tried");
        for (endings, (text, expected)) in endings.iter().zip(attacks) {
            assert!(!endings.is_empty(), "{setting}: it was not launched\n{text}");
            for (mode, how) in endings {
                // Some have no cooperative launch.
                let fine = expected.contains(&how.as_str()) || how == "refused InvalidLaunch";
                assert!(fine, "{setting} {mode}: {how}, not {expected:?}\n{text}");
            }
        }
    }
}

/// A kernel with this body.
fn body(text: &str) -> String {
    writer::around("", text)
}

/// Handles of the child's objects: textures and surfaces take turns.
fn handle(object: u64) -> u64 {
    1 << 32 | object
}

/// As many handles as there are threads, chosen by the thread.
fn by_thread(handles: &[u64]) -> String {
    let mut text = String::from("mov.b64 %d5, 0;\n");
    for (thread, handle) in handles.iter().enumerate() {
        let _ = writeln!(
            text,
            "setp.eq.u32 %p0, %r0, {thread};\nselp.b64 %d5, {}, %d5, %p0;",
            *handle as i64
        );
    }
    text
}

const FORGED: &[u64] = &[
    0,
    1,
    u64::MAX,
    1 << 32 | 0xffff_ffff,
    2 << 32,
    2 << 32 | 1,
    0xf000_0000_0000_0000,
    0x6000_0000_0000,
    1 << 32 | 4000,
    0xffff_ffff_0000_0001,
];

const IMAGE_OPERATIONS: &[&str] = &[
    "tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d5, {%f0}];",
    "tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d5, {%r0, %r0}];",
    "tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d5, {%f0, %f0}];",
    "txq.width.b32 %r1, [%d5];",
    "suq.height.b32 %r1, [%d5];",
    "suld.b.2d.b32.clamp %r1, [%d5, {%r0, %r0}];",
    "suld.b.1d.b8.zero %h0, [%d5, {%r0}];",
    "sust.b.2d.v4.b32.clamp [%d5, {%r0, %r0}], {%r0, %r1, %r2, %r3};",
    "sust.b.3d.b64.zero [%d5, {%r0, %r0, %r0, %r0}], %d0;",
    "sust.p.2d.v4.b32.trap [%d5, {%r0, %r0}], {%r0, %r1, %r2, %r3};",
];

#[test]
fn forged_handles_are_faults() {
    let kernel = |operation: &&str| body(&format!("{}{operation}", by_thread(FORGED)));
    let attacks: Vec<Attack<'_>> = IMAGE_OPERATIONS
        .iter()
        .map(|operation| (kernel(operation), &["InvalidHandle"][..]))
        .collect();
    end(&attacks);
}

/// A texture read as a surface, and the other way round.
#[test]
fn handles_of_the_other_kind_are_faults() {
    let mut attacks: Vec<Attack<'_>> = Vec::new();
    for operation in IMAGE_OPERATIONS {
        let of_surfaces = operation.starts_with('s');
        let other = if of_surfaces { handle(4) } else { handle(5) };
        attacks.push((body(&format!("mov.b64 %d5, {other};\n{operation}")), &["InvalidHandle"]));
    }
    end(&attacks);
}

/// Coordinates at both ends of their numbers, on objects of every shape, many of one texel.
const FAR: &[i64] =
    &[0, 1, -1, 2, 3, 15, -16, 65535, 65536, 0x7fff_ffff, -0x8000_0000, 0x4000_0000, -0x7fff_fff0];

/// What `%r1`, `%r2` and `%r3` are in each thread.
fn far_coordinates() -> String {
    let list = FAR.iter().map(|at| format!("{at}")).collect::<Vec<_>>().join(", ");
    let count = FAR.len();
    format!(
        ".const .align 4 .s32 far[{count}] = {{{list}}};\n// coordinates\n\
         .func (.param .b32 fr) coordinate (.param .b32 fa)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n\
         ld.param.b32 %r0, [fa];\nrem.u32 %r0, %r0, {count};\nmul.wide.u32 %d0, %r0, 4;\nmov.u64 %d1, far;\n\
         add.s64 %d0, %d1, %d0;\nld.const.b32 %r1, [%d0];\nst.param.b32 [fr], %r1;\nret;\n}}\n"
    )
}

const THREE: &str = "add.u32 %r4, %r0, 0;\ncall (%r1), coordinate, (%r4);\ndiv.u32 %r4, %r0, 3;\n\
                     call (%r2), coordinate, (%r4);\ndiv.u32 %r4, %r0, 7;\ncall (%r3), coordinate, (%r4);\n\
                     mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\nmov.b32 %f3, %r3;\n";

#[test]
fn surfaces_end_at_their_edges() {
    let shapes = [
        ("1d", "{%r1}", [0, 2]),
        ("2d", "{%r1, %r2}", [4, 7]),
        ("3d", "{%r1, %r2, %r3, %r3}", [10, 12]),
        ("a1d", "{%r2, %r1}", [14, 15]),
        ("a2d", "{%r2, %r1, %r3, %r3}", [16, 19]),
    ];
    let mut attacks: Vec<Attack<'_>> = Vec::new();
    for (geometry, at, arrays) in shapes {
        for array in arrays {
            let surface = handle(2 * array + 1);
            for (clamp, ended) in
                [("clamp", &["ran"]), ("zero", &["ran"]), ("trap", &["OutsideSurface"])]
            {
                let text = format!(
                    "{THREE}mov.b64 %d5, {surface};\nsust.b.{geometry}.b8.{clamp} [%d5, {at}], %h0;\n\
                     suld.b.{geometry}.b8.{clamp} %h0, [%d5, {at}];"
                );
                attacks.push((writer::around(&far_coordinates(), &text), ended));
                // Wider than some surfaces are, and misaligned for most coordinates.
                let text = format!(
                    "{THREE}mov.b64 %d5, {surface};\n\
                     sust.b.{geometry}.v4.b32.{clamp} [%d5, {at}], {{%r0, %r1, %r2, %r3}};"
                );
                let ways = &["Misaligned", "OutsideSurface", "ran"];
                attacks.push((writer::around(&far_coordinates(), &text), ways));
            }
        }
    }
    end(&attacks);
}

#[test]
fn textures_of_any_size_take_any_coordinate() {
    let shapes = [
        ("1d", "{%f1}", "{%r1}", [0, 3]),
        ("2d", "{%f1, %f2}", "{%r1, %r2}", [4, 6]),
        ("3d", "{%f1, %f2, %f3, %f3}", "{%r1, %r2, %r3, %r3}", [10, 13]),
        ("a1d", "{%r2, %f1}", "{%r2, %r1}", [14, 15]),
        ("a2d", "{%r2, %f1, %f3, %f3}", "{%r2, %r1, %r3, %r3}", [16, 19]),
        ("cube", "{%f1, %f2, %f3, %f3}", "", [20, 21]),
    ];
    let mut attacks: Vec<Attack<'_>> = Vec::new();
    for (geometry, floats, integers, arrays) in shapes {
        for array in arrays {
            let texture = handle(2 * array);
            let mut text = format!("{THREE}mov.b64 %d5, {texture};\n");
            let _ = writeln!(
                text,
                "tex.{geometry}.v4.f32.f32 {{%f0, %f0, %f0, %f0}}, [%d5, {floats}];"
            );
            // The numbers themselves, beyond what integers hold.
            let _ = writeln!(text, "cvt.rn.f32.s32 %f1, %r1;\nmul.f32 %f2, %f1, 0f7f7fffff;");
            let _ = writeln!(
                text,
                "tex.{geometry}.v4.f32.f32 {{%f0, %f0, %f0, %f0}}, [%d5, {floats}];"
            );
            if !integers.is_empty() {
                let _ = writeln!(
                    text,
                    "tex.{geometry}.v4.f32.s32 {{%f0, %f0, %f0, %f0}}, [%d5, {integers}];"
                );
            }
            let text = writer::around(&far_coordinates(), &text);
            attacks.push((text, &["ran", "InvalidHandle"]));
        }
    }
    end(&attacks);
}

#[test]
fn asynchronous_copies_stay_within_both_sides() {
    let copies: [(&str, &[&str]); 18] = [
        ("[svar], [%d1], 16", &["ran"]),
        ("[svar+8], [%d1], 16", &["Misaligned"]),
        ("[svar], [%d1+4], 8", &["Misaligned"]),
        ("[svar+4096], [%d1], 16", &["InvalidWrite"]),
        ("[svar], [%d1+4096], 4", &["InvalidRead"]),
        ("[svar], [%d1-4], 4", &["InvalidRead"]),
        ("[svar], [%d1+4088], 16", &["Misaligned"]),
        ("[svar], [%d1], 16, 17", &["ran"]),
        ("[svar], [%d1], 16, -1", &["ran"]),
        ("[svar], [%d1], 16, 1", &["ran"]),
        // What is not read need not be there.
        ("[svar], [8], 4, 0", &["ran"]),
        ("[svar], [%d1+4096], 16, 0", &["ran"]),
        ("[svar], [%d1+4096], 16, 1", &["InvalidRead"]),
        ("[svar], [%d1-16], 16, 16", &["InvalidRead"]),
        ("[svar], [%d1+8], 16, 8", &["Misaligned"]),
        ("[svar], [8], 4", &["InvalidRead"]),
        ("[dyn], [%d1], 4", &["InvalidWrite"]),
        ("[sodd+1], [%d1], 4", &["Misaligned"]),
    ];
    let attack = |(operands, ended): &(&str, &'static [&'static str])| {
        (body(&format!("cp.async.ca.shared.global {operands};\ncp.async.wait_all;")), *ended)
    };
    end(&copies.iter().map(attack).collect::<Vec<_>>());
}

#[test]
fn barriers_in_memory_are_words_of_shared_memory() {
    let bodies: [(&str, &[&str]); 7] = [
        ("mbarrier.init.shared.b64 [svar+4], 1;", &["Misaligned"]),
        ("mbarrier.init.shared.b64 [svar+4096], 1;", &["InvalidWrite"]),
        ("mbarrier.arrive.shared.b64 %d3, [dyn];", &["InvalidWrite"]),
        ("mov.u32 %r1, -8;\nmbarrier.arrive.shared.b64 %d3, [%r1];", &["InvalidWrite"]),
        ("mov.b64 %d3, 24592;\nmbarrier.test_wait.b64 %p0, [%d3], %d3;", &["InvalidRead"]),
        // Whatever lies there: a barrier is but a word.
        (
            "mov.b64 %d3, -1;\nst.shared.b64 [svar], %d3;\nmbarrier.arrive.shared.b64 %d3, [svar], 1048575;\n\
             mbarrier.arrive_drop.shared.b64 %d3, [svar];\nmbarrier.arrive.noComplete.shared.b64 %d3, [svar], 0;\n\
             mbarrier.init.shared.b64 [svar], 0;\nmbarrier.arrive.shared.b64 %d3, [svar], 4294967295;\n\
             mbarrier.inval.shared.b64 [svar];\nmbarrier.pending_count.b64 %r1, %d3;",
            &["ran"],
        ),
        // Two of them over each other, and one in an array.
        (
            "mbarrier.init.shared.b64 [svar], 3;\nst.shared.b32 [svar+4], -1;\n\
             mbarrier.arrive.shared.b64 %d3, [svar];\n\
             mbarrier.test_wait.shared.b64 %p0, [svar], %d3;\nmbarrier.init.b64 [%d0], 2;\n\
             mbarrier.arrive.b64 %d3, [%d0];",
            &["ran"],
        ),
    ];
    end(&bodies.map(|(text, ended)| (body(text), ended)));
}

#[test]
fn no_dynamic_shared_memory_is_none() {
    let outside: &[&str] = &["InvalidRead", "InvalidWrite"];
    end(&[
        (body("ld.shared.u8 %h0, [dyn];"), outside),
        (body("st.shared.u32 [dyn], 1;"), outside),
        (body("atom.shared.add.u32 %r1, [dyn], 1;"), outside),
        (body("mov.u32 %r1, %dynamic_smem_size;\nst.global.u32 [%d7], %r1;"), &["ran"]),
    ]);
}

#[test]
fn atomics_in_frames_of_functions_stay_there() {
    let function = |access: &str| {
        format!(
            ".func (.param .b64 fr) g (.param .b64 fa)\n{{\n.reg .b64 %d<4>;\n.reg .b32 %r<4>;\n\
             .local .align 16 .b8 own[16];\nld.param.b64 %d0, [fa];\nmov.b64 %d1, own;\nadd.s64 %d2, %d1, %d0;\n\
             cvta.local.u64 %d3, %d2;\n{access}\nst.param.b64 [fr], %d0;\nret;\n}}\n"
        )
    };
    let call = |distance: i64| {
        format!("mov.b64 %d3, {distance};\ncall (%d4), g, (%d3);\nst.global.b64 [%d7], %d4;")
    };
    let accesses = [
        "atom.add.u64 %d0, [%d3], 1;",
        "atom.cas.b32 %r0, [%d3], 0, 1;",
        "red.max.u32 [%d3], 7;",
        "atom.exch.b64 %d0, [%d3], %d1;",
    ];
    let mut attacks: Vec<Attack<'_>> = Vec::new();
    for access in accesses {
        let at = |distance: i64| writer::around(&function(access), &call(distance));
        attacks.push((at(8), &["ran"]));
        attacks.push((at(1), &["Misaligned"]));
        attacks.extend([1 << 40, 1 << 62, -(1 << 40)].map(|far| (at(far), &["InvalidWrite"][..])));
    }
    end(&attacks);
}

/// What nobody wrote is nothing of the host's.
#[test]
fn parameters_that_nobody_wrote_hold_nothing() {
    let functions = ".func (.param .align 16 .b8 fr[32]) g (.param .align 16 .b8 fa[32])\n{\n.reg .b64 %d<4>;\n\
                     ld.param.b64 %d0, [fa+16];\nst.param.b64 [fr+8], %d0;\nret;\n}\n";
    let text = "ld.param.b64 %d3, [pblk+16];\nst.global.b64 [%d7], %d3;\ncall (pblk), g, (pblk);\n\
                ld.param.b64 %d3, [pblk];\nst.global.b64 [%d7+1024], %d3;\nld.param.b64 %d3, [pblk+8];\n\
                st.global.b64 [%d7+2048], %d3;\nld.param.b64 %d3, [prm];\nst.global.b64 [%d7+3072], %d3;";
    let mut attacks: Vec<Attack<'_>> = vec![(writer::around(functions, text), &["ran"])];
    for symbol in ["prm", "pblk+8", "podd"] {
        // An address within the device's memory, if it has one.
        attacks
            .push((body(&format!("mov.b64 %d3, {symbol};\nst.global.b64 [%d7], %d3;")), &["ran"]));
    }
    end(&attacks);
}
