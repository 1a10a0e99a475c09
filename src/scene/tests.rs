use super::*;

#[test]
fn the_example_of_the_design_plans() {
    let scene = Scene::parse("sparks.cu", decode::tests::SPARKS, &Overrides::default());
    let plan = scene.expect("parses").plan().expect("plans");
    assert_eq!(plan.passes.len(), 2);
    let names: Vec<_> = plan.passes[1].arguments.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["position", "velocity", "n", "drag", "time", "seed", "mouse"]);
}

#[test]
fn every_built_in_scene_plans() {
    for built_in in built_ins() {
        let scene = Scene::parse(built_in.name, built_in.source, &Overrides::default());
        let scene = scene.unwrap_or_else(|found| panic!("{}: {found:#?}", built_in.name));
        assert_eq!(scene.warnings, [], "{}", built_in.name);
        scene.plan().unwrap_or_else(|found| panic!("{}: {found:#?}", built_in.name));
    }
}

/// The scenes that test the engine: the good ones bind, the bad ones are told what their name says.
#[test]
fn the_scenes_for_tests_are_what_their_names_say() {
    macro_rules! scene {
        ($name:literal) => {
            ($name, include_str!(concat!("../../tests/scenes/", $name, ".cu")))
        };
    }
    let plan = |(name, source): (&str, &str)| {
        Scene::parse(name, source, &Overrides::default()).and_then(|scene| scene.plan())
    };
    let good = [
        scene!("counter"),
        scene!("noise"),
        scene!("sparks"),
        // What is wrong with these, the compiler or the device will find.
        scene!("bad/does_not_compile"),
        scene!("bad/endless_loop"),
        scene!("bad/out_of_bounds_write"),
    ];
    for scene in good {
        assert!(plan(scene).is_ok(), "{}: {:#?}", scene.0, plan(scene));
    }
    let bad: [(_, &[&str]); 6] = [
        (scene!("bad/no_manifest"), &["bad/no_manifest:1:1: error: the file has no manifest"]),
        (
            scene!("bad/unknown_key"),
            &[
                "bad/unknown_key:4:1: error: [buffer.position] has no key `cuont`; did you mean `count`?",
            ],
        ),
        (
            scene!("bad/wrong_type"),
            &[
                "bad/wrong_type:8:9: error: `max` must be a number, not true",
                "bad/wrong_type:12:10: error: `over` must be a whole number, not the bool true",
            ],
        ),
        (
            scene!("bad/unknown_kernel"),
            &[
                "bad/unknown_kernel:7:10: error: there is no kernel `advacne` in the file; did you mean `advance`?",
            ],
        ),
        (
            scene!("bad/unknown_parameter"),
            &["bad/unknown_parameter:14:31: error: `darg` of the kernel `advance` is no resource"],
        ),
        (
            scene!("bad/wrong_parameter_type"),
            &[
                "bad/wrong_parameter_type:13:33: error: `position` is the buffer position (16 float4)",
                "bad/wrong_parameter_type:13:47: error: `drag` is a float parameter",
            ],
        ),
    ];
    for (scene, expected) in bad {
        let found = plan(scene).expect_err(scene.0);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let same = found.len() == expected.len()
            && found.iter().zip(expected).all(|(found, start)| found.starts_with(start));
        assert!(same, "{found:#?}");
    }
}
