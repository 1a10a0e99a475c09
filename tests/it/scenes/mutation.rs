//! Checks of the built-in scenes can fail: with a sign in the physics turned round, one does.

use warpaint::scene::Scene;

use crate::support::Workplace;

/// `warpaint test` on a built-in scene of which `from` is replaced by `to`, with other arguments behind.
fn is_noticed(scene: &str, arguments: &[&str], from: &str, to: &str) {
    let place = Workplace::new();
    let source = Scene::built_in(scene).unwrap();
    assert_eq!(source.matches(from).count(), 1, "{scene}: {from}");
    place.file("mutated.cu", &source.replace(from, to));
    let command = [&["test", "mutated.cu", "--device", "cpu"], arguments].concat();
    let ended = place.run(&command);
    assert!(ended.out.contains("FAILED"), "{scene}: {to}: {}{}", ended.out, ended.err);
    ended.expect(1, &[]);
}

#[test]
fn gray_and_scotts_reactions() {
    let small = ["--const", "w=96", "--const", "h=96"];
    for (from, to) in [
        ("+ eaten -", "- eaten -"),
        ("- eaten +", "+ eaten +"),
        ("+ spread_v *", "- spread_v *"),
        ("rate.x * (1.0f - here.x)", "rate.x * (here.x - 1.0f)"),
    ] {
        is_noticed("gray-scott", &small, from, to);
    }
}

#[test]
fn the_life_of_particles() {
    for (from, to) in [
        ("if (p.w <= 0.0f) {", "if (p.w <= -9.0f) {"),
        ("xyz(p) + w * dt", "xyz(p) * 1.05f + w * dt"),
    ] {
        is_noticed("particles", &["--const", "n=4096"], from, to);
    }
}

#[test]
fn gravity_of_galaxies() {
    for (from, to) in [
        ("field.x = fmaf(x, strength", "field.x = fmaf(-x, strength"),
        ("b.w * inverse, strength", "a.w * inverse, strength"),
        ("xyz(field) * (0.5f * dt)", "xyz(field) * (0.6f * dt)"),
        ("xyzw(xyz(p) + v * dt, p.w)", "xyzw(xyz(p) - v * dt, p.w)"),
    ] {
        is_noticed("nbody", &["--const", "n=1000"], from, to);
    }
}

#[test]
fn contacts_of_spheres() {
    let small = ["n=2000", "radius=0.0376", "wide=26", "high=13"];
    let small: Vec<_> = small.into_iter().flat_map(|constant| ["--const", constant]).collect();
    for (from, to) in [
        ("push += normal *", "push -= normal *"),
        ("stiffness * overlap / dt + damping", "stiffness * overlap / dt - damping"),
        ("if (fabsf(x) <= limit) return;", "return;"),
    ] {
        is_noticed("spheres", &small, from, to);
    }
}

#[test]
fn wishes_of_boids() {
    let small = ["n=2000", "sight=0.2", "cells=10"];
    let small: Vec<_> = small.into_iter().flat_map(|constant| ["--const", constant]).collect();
    for (from, to) in [
        ("(theirs / seen - v) * alignment", "(v - theirs / seen) * alignment"),
        ("kept = clamp(speed, slowest, fastest)", "kept = speed"),
        ("wish -= p * (8.0f", "wish += p * (8.0f"),
    ] {
        is_noticed("boids", &small, from, to);
    }
}

#[test]
fn spins_and_cells() {
    // Large enough for the checks to hold without the mutation.
    let small = ["--const", "w=256", "--const", "h=256"];
    is_noticed("ising", &small, "expf(-cost / temperature)", "expf(cost / temperature)");
    is_noticed("life", &[], "nine == 4 && age >= 128", "nine == 5 && age >= 128");
}

#[test]
fn numbers_and_waves() {
    is_noticed("mandelbrot", &[], "fma(2.0 * x, y, c.y)", "fma(2.0 * x, -y, c.y)");
    is_noticed("noise", &[], "make_uint4(i, step, 0, 0)", "make_uint4(i / 2, step, 0, 0)");
    let octaves = "strength *= gain) {\n        sum += strength";
    is_noticed("noise", &[], octaves, &octaves.replace("gain", "0.9f * gain"));
    is_noticed("gaussian-field", &[], "powf(k2, -0.5f *", "powf(k2, -0.4f *");
    is_noticed("gaussian-field", &[], "0.5f * (c.y - d.y)", "0.5f * (c.y + d.y)");
    is_noticed("ocean", &[], "slower = 0.5f * sqrtf(g / k)", "slower = 0.4f * sqrtf(g / k)");
    is_noticed("ocean", &[], "(a.y * c - a.x * s) - there", "(a.y * c - a.x * s) + there");
    is_noticed(
        "ocean",
        &[],
        "make_float2(-up * wave.x - right",
        "make_float2(-up * wave.x + right",
    );
    is_noticed("ocean", &[], "along.y * across.x);", "along.y * across.y);");
    is_noticed("wave", &[], "above - 4.0f * here.x", "above - 3.9f * here.x");
    is_noticed("wave", &[], "make_float2(here.x + v, v)", "make_float2(here.x - v, v)");
}

/// Whether `warpaint test` finds that the check on `stat` holds, in a scene that `arguments` make small.
fn holds(source: &str, stat: &str, arguments: &[&str]) -> bool {
    let place = Workplace::new();
    place.file("scene.cu", source);
    let ended = place.run(&[&["test", "scene.cu", "--device", "cpu"], arguments].concat());
    let line = ended.out.lines().find(|line| line.contains(&format!(": {stat} = ")));
    line.unwrap_or_else(|| panic!("{stat}: {ended:#?}")).starts_with("ok ")
}

/// That the check on `stat` holds, but not where the first of each pair of texts is replaced by the second.
fn is_noticed_by(stat: &str, scene: &str, arguments: &[&str], mutations: &[(&str, &str)]) {
    let source = Scene::built_in(scene).unwrap();
    assert!(holds(source, stat, arguments), "{scene}: {stat}");
    for (from, to) in mutations {
        assert_eq!(source.matches(from).count(), 1, "{scene}: {from}");
        assert!(!holds(&source.replace(from, to), stat, arguments), "{scene}: {stat}: {to}");
    }
}

#[test]
fn pressure_by_fourier_transforms() {
    let mutations = [
        ("u[e] - divergence * sine_x", "u[e] + divergence * sine_x"),
        ("v.x - u.y", "v.x + u.y"),
        ("make_float4(u[e].x, mean_v,", "make_float4(u[e].x, v[e].y,"),
    ];
    let small = ["--const", "w=64", "--const", "h=64", "--steps", "20"];
    is_noticed_by("divergence", "fluid", &small, &mutations);
}

#[test]
fn pressure_by_multigrid() {
    let mutations = [
        ("v.y -= pressure[i]", "v.y += pressure[i]"),
        ("= (sum.x - source[i]) / sum.y;", "= (sum.x + source[i]) / sum.y;"),
    ];
    is_noticed_by("divergence", "smoke", &["--const", "n=32", "--steps", "30"], &mutations);
}

#[test]
fn collisions_and_the_inlet() {
    let mutations = [
        ("- even_rate * same", "+ even_rate * same"),
        ("+ 6.0f * share[i] * inflow", "- 6.0f * share[i] * inflow"),
    ];
    is_noticed_by("velocity.x.mean", "karman", &["--const", "calm=100"], &mutations);
}
