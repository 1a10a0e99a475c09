//! Every built-in scene, small: the same each time, on both engines of the CPU device, and on an NVIDIA device.

use warpaint::{
    device::{
        Device,
        cpu::{self, Check, LaunchOptions},
    },
    element::Scalar,
    scene::built_ins,
    session::Session,
};

use super::{Run, bare};
use crate::support::nvidia;

/// How a built-in scene is run, and what is compared then.
struct Case {
    scene: &'static str,
    /// All that differ on the CPU device, too: devices are to do the same.
    constants: &'static [(&'static str, &'static str)],
    parameters: &'static [(&'static str, &'static str)],
    /// Whether another seed makes other numbers.
    seeded: bool,
    steps: u64,
    /// Steps on the interpreter, which takes about 0.2 us for an instruction where it is not optimised itself.
    interpreted: u64,
    /// Whether its checker looks for races meanwhile.
    checked: bool,
    compared: &'static [Compared],
}

/// A resource, and how near its numbers must be on another device.
///
/// What IEEE 754 defines has the same bits everywhere. The approximate functions that `sinf`, `expf`, `rsqrtf` and the
/// like are made of have not: the interpreter rounds them correctly, the compiler's are off by an ulp, NVIDIA's by two
/// at most. So tolerances are some twenty times of what the engines differ by after as many steps.
struct Compared {
    resource: &'static str,
    /// The greatest difference of two numbers, in shares of the resource's largest one; 0: the same bits.
    tolerance: f64,
    why: &'static str,
}

const fn same(resource: &'static str, why: &'static str) -> Compared {
    within(0.0, resource, why)
}

const fn within(tolerance: f64, resource: &'static str, why: &'static str) -> Compared {
    Compared { resource, tolerance, why }
}

/// What most have in common.
const CASE: Case = Case {
    scene: "",
    constants: &[],
    parameters: &[],
    seeded: false,
    steps: 10,
    interpreted: 2,
    checked: true,
    compared: &[],
};

const INTEGERS: &str = "integers";
const EXACT: &str = "sums and products in one order, no approximate function";
const FUSED: &str = "NVIDIA's driver fuses products and sums where PTX names no rounding";
const BYTES: &str = "a byte of 255: what lies between two is rounded to either";

const CASES: &[Case] = &[
    Case {
        scene: "boids",
        constants: &[("n", "250"), ("sight", "0.25"), ("cells", "8")],
        seeded: true,
        compared: &[
            within(2e-6, "position", "an integral of velocities"),
            within(1e-5, "velocity", "sines for its wandering, roots of its neighbours' headings"),
            within(1e-5, "order", "cosines by approximate roots"),
        ],
        ..CASE
    },
    Case {
        scene: "fluid",
        constants: &[("w", "64"), ("h", "64")],
        interpreted: 1,
        // It would take ten seconds.
        checked: false,
        compared: &[
            within(
                1e-5,
                "velocity",
                "jets by sines, from where it was to where it is in each step",
            ),
            within(5e-3, "dye", "texels are weighted in steps of 1/256, and kept as halves"),
            within(1e-2, "picture", BYTES),
        ],
        ..CASE
    },
    Case {
        scene: "gaussian-field",
        constants: &[("n", "32"), ("lines", "4")],
        seeded: true,
        compared: &[
            within(2e-6, "waves", "normal numbers by logarithms and sines, and sums of a thousand"),
            within(2e-6, "field", "the same"),
            within(2e-6, "measured", "a fit to logarithms"),
        ],
        ..CASE
    },
    Case {
        scene: "gray-scott",
        constants: &[("w", "64"), ("h", "48"), ("rows", "4"), ("speed", "8")],
        seeded: true,
        interpreted: 1,
        compared: &[within(5e-6, "cells", FUSED), within(1e-2, "picture", BYTES)],
        ..CASE
    },
    Case {
        scene: "ising",
        constants: &[("w", "64"), ("h", "48"), ("speed", "4")],
        seeded: true,
        compared: &[
            same("spins", "a spin turns by 24 random bits: one in millions is so near the limit"),
            same("average", EXACT),
            same("clock", INTEGERS),
        ],
        ..CASE
    },
    Case {
        scene: "karman",
        constants: &[("d", "10"), ("w", "40"), ("h", "40"), ("u", "0.08"), ("speed", "2")],
        interpreted: 1,
        compared: &[
            within(5e-6, "f", "starts from exponentials; relaxation wears differences away"),
            within(5e-6, "velocity", "sums of f"),
        ],
        ..CASE
    },
    Case {
        scene: "life",
        constants: &[("w", "64"), ("h", "48"), ("speed", "4")],
        parameters: &[("start", "soup")],
        seeded: true,
        compared: &[same("cells", INTEGERS), within(1e-2, "picture", BYTES)],
        ..CASE
    },
    Case {
        scene: "mandelbrot",
        constants: &[("w", "40"), ("h", "30"), ("samples", "16")],
        parameters: &[("limit", "200")],
        compared: &[
            within(1e-5, "light", "colours are cosines of logarithms; iterations are the same"),
            same("taken", INTEGERS),
            same("shown", "parameters"),
        ],
        ..CASE
    },
    Case {
        scene: "nbody",
        constants: &[("n", "100"), ("bodies", "1"), ("lanes", "32"), ("slices", "4")],
        seeded: true,
        steps: 16,
        interpreted: 3,
        compared: &[
            within(2e-6, "position", "an integral of velocities"),
            within(5e-6, "velocity", "an integral of accelerations"),
            within(5e-5, "acceleration", "of near bodies, by approximate roots, cubed"),
            within(1e-5, "conserved", "velocities squared, and potentials"),
        ],
        ..CASE
    },
    Case {
        scene: "noise",
        constants: &[("w", "16"), ("h", "12")],
        seeded: true,
        compared: &[within(5e-4, "field", FUSED), within(1e-2, "picture", BYTES)],
        ..CASE
    },
    Case {
        scene: "noise",
        constants: &[("w", "64"), ("h", "48")],
        parameters: &[("kind", "white")],
        seeded: true,
        compared: &[same("field", INTEGERS), same("picture", INTEGERS)],
        ..CASE
    },
    Case {
        scene: "ocean",
        constants: &[("n", "32"), ("lines", "4")],
        seeded: true,
        compared: &[
            within(2e-6, "noise", "normal numbers by logarithms and sines"),
            within(5e-6, "waves", "powers, exponentials and sines, and sums of a thousand"),
            within(5e-6, "measured", "sums of powers and exponentials"),
        ],
        ..CASE
    },
    Case {
        scene: "particles",
        constants: &[("n", "500"), ("emitters", "64")],
        seeded: true,
        compared: &[
            within(2e-3, "position", "an integral of velocities"),
            within(2e-3, "velocity", FUSED),
        ],
        ..CASE
    },
    Case {
        scene: "smoke",
        // The least, and too large for the interpreter.
        constants: &[("n", "32")],
        interpreted: 0,
        compared: &[
            within(1e-5, "flow", "the hearth goes by sines, smoke fades by an exponential"),
            within(1e-5, "pressure", "sums of differences of the flow"),
            within(1e-5, "smoke", "part of the flow"),
        ],
        ..CASE
    },
    Case {
        scene: "spheres",
        constants: &[("n", "500"), ("radius", "0.06"), ("wide", "16"), ("high", "8")],
        seeded: true,
        interpreted: 3,
        compared: &[
            within(2e-6, "position", "an integral of velocities"),
            within(2e-5, "velocity", "stiff contacts make much of little, by approximate roots"),
        ],
        ..CASE
    },
    Case {
        scene: "wave",
        constants: &[("w", "64"), ("h", "48"), ("speed", "4")],
        compared: &[within(2e-6, "cells", "starts from exponentials and cosines")],
        ..CASE
    },
];

impl Case {
    fn open(&self, device: &Device, seed: u64) -> Session {
        let source = bare(self.scene);
        let (constants, parameters) = (self.constants, self.parameters);
        Run { constants, parameters, seed, ..Run::of(&source) }.open(device)
    }

    /// What is compared, after so many steps of all.
    fn after(&self, session: &mut Session, step: u64) -> Vec<Content> {
        session.run_steps(step - session.clock().step, |_| {}).unwrap();
        assert!(session.fault().is_none(), "{}: {:?}", self.scene, session.fault());
        self.compared.iter().map(|compared| Content::of(session, compared.resource)).collect()
    }

    /// What is further apart than it may be, in words.
    #[expect(clippy::print_stdout, reason = "the table of all differences, with `--nocapture`")]
    fn differences(&self, expected: &[Content], found: &[Content], where_: &str) -> Vec<String> {
        let mut told = Vec::new();
        for ((compared, expected), found) in self.compared.iter().zip(expected).zip(found) {
            let Compared { resource, tolerance, why } = compared;
            let difference = expected.difference(found);
            let text = format!("{}: {resource} differs by {difference:.1e} {where_}", self.scene);
            println!("{text}");
            if difference > *tolerance {
                told.push(format!("{text}; {tolerance:e} is allowed: {why}"));
            }
        }
        told
    }

    fn runs_on_the_cpu_device(&self) {
        let (compiled, checked) = (Device::cpu().unwrap(), cpu::Device::new().unwrap());
        let mut session = self.open(&compiled, 1);
        let early = self.after(&mut session, self.interpreted);
        let late = self.after(&mut session, self.steps);
        session.reset();
        session.run_steps(0, |_| {}).unwrap();
        let again = self.after(&mut session, self.steps);
        assert!(late == again, "{}: other bits after a reset", self.scene);
        let again = self.after(&mut self.open(&compiled, 1), self.steps);
        assert!(late == again, "{}: other bits the second time", self.scene);
        let other = self.after(&mut self.open(&compiled, 2), self.steps);
        assert_eq!(late != other, self.seeded, "{}: whether the seed matters", self.scene);

        let check = if self.checked { Check::all() } else { Check::none() };
        checked.set_launch_options(LaunchOptions::checked(&check));
        let interpreted = self.after(&mut self.open(&Device::Cpu(checked), 1), self.interpreted);
        assert_eq!(self.differences(&interpreted, &early, "on the interpreter"), [""; 0]);
        assert_eq!(check.report().findings, [], "{}", self.scene);
    }
}

/// What a resource holds.
#[derive(PartialEq)]
struct Content {
    scalar: Scalar,
    bytes: Vec<u8>,
}

impl Content {
    fn of(session: &mut Session, name: &str) -> Self {
        let scalar = session.resource(name).unwrap().element().unwrap().scalar;
        Self { scalar, bytes: session.read(name).unwrap() }
    }

    fn numbers(&self) -> Vec<f64> {
        let number = |part: &[u8]| match self.scalar {
            Scalar::I8 => f64::from(part[0] as i8),
            Scalar::U8 => f64::from(part[0]),
            Scalar::I32 => f64::from(bytemuck::pod_read_unaligned::<i32>(part)),
            Scalar::U32 => f64::from(bytemuck::pod_read_unaligned::<u32>(part)),
            Scalar::F16 => f64::from(bytemuck::pod_read_unaligned::<half::f16>(part)),
            Scalar::F32 => f64::from(bytemuck::pod_read_unaligned::<f32>(part)),
            Scalar::F64 => bytemuck::pod_read_unaligned(part),
            other => panic!("{other:?}"),
        };
        self.bytes.chunks_exact(self.scalar.bytes()).map(number).collect()
    }

    /// The greatest difference of two numbers, in shares of the largest one; infinite where one is not finite.
    fn difference(&self, other: &Self) -> f64 {
        if self.bytes == other.bytes {
            return 0.0;
        }
        let (here, there) = (self.numbers(), other.numbers());
        let apart = here.iter().zip(&there).map(|(a, b)| (a - b).abs());
        let greatest = |most: f64, x: f64| if x.is_finite() { most.max(x) } else { f64::INFINITY };
        apart.fold(0.0, greatest) / here.iter().map(|a| a.abs()).fold(0.0, f64::max)
    }
}

/// A test for each, so that they run side by side.
macro_rules! tests {
    ($($test:ident = $scene:literal,)*) => {
        $(#[test]
        fn $test() {
            CASES.iter().filter(|case| case.scene == $scene).for_each(Case::runs_on_the_cpu_device);
        })*

        #[test]
        fn no_built_in_scene_is_left_out() {
            for scene in built_ins().iter().map(|scene| scene.name) {
                assert!(CASES.iter().any(|case| case.scene == scene), "{scene} is not in the table");
                assert!([$($scene),*].contains(&scene), "{scene} has no test");
            }
        }
    };
}

tests! {
    boids = "boids",
    fluid = "fluid",
    gaussian_field = "gaussian-field",
    gray_scott = "gray-scott",
    ising = "ising",
    karman = "karman",
    life = "life",
    mandelbrot = "mandelbrot",
    nbody = "nbody",
    noise = "noise",
    ocean = "ocean",
    particles = "particles",
    smoke = "smoke",
    spheres = "spheres",
    wave = "wave",
}

#[test]
fn nvidias_device_agrees() {
    let (cpu, Some(nvidia)) = (Device::cpu().unwrap(), nvidia()) else { return };
    let mut differences = Vec::new();
    for case in CASES {
        let [expected, found] =
            [&cpu, &nvidia].map(|device| case.after(&mut case.open(device, 1), case.steps));
        let again = case.after(&mut case.open(&nvidia, 1), case.steps);
        assert!(found == again, "{}: other bits the second time", case.scene);
        differences.extend(case.differences(&expected, &found, "on the NVIDIA device"));
    }
    assert_eq!(differences, [""; 0]);
}
