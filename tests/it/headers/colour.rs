//! Colours: maps against those of views, Oklab against published values, and there and back.

use warpaint::draw::Colormap;

use super::{contexts, numbers, run};

#[test]
fn maps_are_those_of_views() {
    let source = "#include <warpaint/colour.cuh>
        __global__ void maps(const float *x, float3 *out) {
            int i = threadIdx.x;
            out[3 * i] = warpaint::viridis(x[i]);
            out[3 * i + 1] = warpaint::inferno(x[i]);
            out[3 * i + 2] = warpaint::turbo(x[i]);
        }";
    let places: Vec<f32> = (0..128).map(|i| i as f32 / 120.0 - 0.02).collect();
    // How far the best polynomials of degree 6 are off; turbo has the sharpest bends.
    let maps = [(Colormap::Viridis, 0.012), (Colormap::Inferno, 0.03), (Colormap::Turbo, 0.06)];
    for context in contexts() {
        let found: Vec<f32> = run(&context, source, &[("maps", 1, 128)], &[&places], 128 * 9);
        for (i, place) in places.iter().enumerate() {
            for (k, (map, bound)) in maps.iter().enumerate() {
                let (found, expected) = (&found[9 * i + 3 * k..][..3], map.srgb(*place));
                let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= *bound);
                assert!(near, "{} at {place}: {found:?} for {expected:?}", map.name());
            }
        }
    }
}

#[test]
fn spaces_have_published_values_and_ways_back() {
    let source = "#include <warpaint/colour.cuh>
        using namespace warpaint;
        __global__ void spaces(const float *c, float3 *out) {
            int i = threadIdx.x;
            float3 rgb = make_float3(c[3 * i], c[3 * i + 1], c[3 * i + 2]), h = to_hsv(rgb);
            out[4 * i] = to_oklab(rgb);
            out[4 * i + 1] = from_oklab(out[4 * i]);
            out[4 * i + 2] = hsv(h.x, h.y, h.z);
            out[4 * i + 3] = to_srgb(to_linear(rgb));
        }";
    // White and the primaries in linear light, with what Ottosson's page and CSS Color 4 say of them.
    let known: [([f32; 3], [f32; 3]); 4] = [
        ([1.0, 1.0, 1.0], [1.0, 0.0, 0.0]),
        ([1.0, 0.0, 0.0], [0.627_96, 0.224_86, 0.125_85]),
        ([0.0, 1.0, 0.0], [0.866_44, -0.233_89, 0.179_50]),
        ([0.0, 0.0, 1.0], [0.452_01, -0.032_46, -0.311_53]),
    ];
    let mut colours: Vec<f32> = known.iter().flat_map(|(rgb, _)| *rgb).collect();
    colours.extend(numbers(3 * 60, 9).iter().map(|x| x.abs()));
    for context in contexts() {
        let found: Vec<f32> = run(&context, source, &[("spaces", 1, 64)], &[&colours], 64 * 12);
        for (i, (rgb, lab)) in known.iter().enumerate() {
            let near = (0..3).all(|k| (found[12 * i + k] - lab[k]).abs() < 1e-4);
            assert!(near, "{rgb:?}: {:?} for {lab:?}", &found[12 * i..][..3]);
        }
        for (colour, found) in colours.chunks(3).zip(found.chunks(12)) {
            for back in found[3..].chunks(3) {
                // Cube roots and powers there and back, of numbers up to 1.
                let near = back.iter().zip(colour).all(|(a, b)| (a - b).abs() < 2e-5);
                assert!(near, "{colour:?}: {found:?}");
            }
        }
    }
}

#[test]
fn light_becomes_bytes_by_its_root() {
    let source = "#include <warpaint/colour.cuh>
        __global__ void pixels(const float *light, uchar4 *pixel) {
            const float x = light[threadIdx.x];
            pixel[threadIdx.x] = warpaint::pack(warpaint::to_gamma2(make_float3(x, 0.25f * x, -x)));
        }";
    let mut light: Vec<f32> = (0..60).map(|i| i as f32 / 50.0).collect();
    light.extend([-1.0, f32::NAN, f32::INFINITY, 1e-30]);
    // What is no number is dark.
    let byte = |x: f32| if x > 0.0 { 255.0 * f64::from(x.min(1.0)).sqrt() } else { 0.0 };
    for context in contexts() {
        let found: Vec<[u8; 4]> = run(&context, source, &[("pixels", 1, 64)], &[&light], 64);
        for (x, [r, g, b, a]) in light.iter().zip(found) {
            // Half of a byte by rounding, and what the reciprocal root is off by.
            let near = |found: u8, x| (f64::from(found) - byte(x)).abs() < 0.5001;
            assert!(near(r, *x) && near(g, 0.25 * x) && near(b, -x), "{x}: {r} {g} {b}");
            assert_eq!(a, 255);
        }
    }
}
