//! Which element lies where in the registers of `mma`, as the PTX ISA writes it down shape by shape ("Matrix Fragments
//! for mma.…"): row and column of the `i`-th element of a thread.

use warpaint::ptx::matrix::{Element, Major, Product, Role};

pub fn place(product: &Product, role: Role, element: Element, lane: usize, i: usize) -> [usize; 2] {
    if product.count() == 4 {
        return quads(product, role, element, lane, i);
    }
    let (group, thread) = (lane >> 2, lane % 4);
    let lower = |is_lower: bool| if is_lower { group + 8 } else { group };
    let further =
        |start: usize, is_further: bool, by: usize| start + if is_further { by } else { 0 };
    match (role, product.shape.m, product.shape.k, element.bits()) {
        (Role::A, 8, 4, 64) => [group, thread],
        (Role::A, 16, 4, 64) => [lower(i == 1), thread],
        (Role::A, 16, 8, 64) => [lower(i % 2 == 1), further(thread, i >= 2, 4)],
        (Role::A, 16, 16, 64) if i & 1 == 0 => [group, i * 2 + thread],
        (Role::A, 16, 16, 64) => [group + 8, i * 2 - 2 + thread],
        (Role::A, 16, 4, 32) => [lower(i == 1), thread],
        (Role::A, 16, 8, 32) => [lower(i == 1 || i == 3), further(thread, i >= 2, 4)],
        (Role::A, 16, 8, 16) => [lower(i >= 2), thread * 2 + (i & 1)],
        (Role::A, 16, 16, 16) => {
            [lower((2..4).contains(&i) || i >= 6), further(thread * 2 + (i & 1), i >= 4, 8)]
        }
        (Role::A, 8, 16, 8) => [group, thread * 4 + i],
        (Role::A, 16, 16, 8) => [lower(i >= 4), thread * 4 + (i & 3)],
        (Role::A, 16, 32, 8) => {
            [lower((4..8).contains(&i) || i >= 12), further(thread * 4 + (i & 3), i >= 8, 16)]
        }
        (Role::A, 8, 32, 4) => [group, thread * 8 + i],
        (Role::A, 16, 32, 4) => [lower(i >= 8), thread * 8 + (i & 7)],
        (Role::A, 16, 64, 4) => {
            [lower((8..16).contains(&i) || i >= 24), further(thread * 8 + (i & 7), i >= 16, 32)]
        }
        (Role::A, 8, 128, 1) => [group, thread * 32 + i],
        (Role::A, 16, 128, 1) => [lower(i >= 32), thread * 32 + (i & 31)],
        (Role::A, 16, 256, 1) => {
            [lower((32..64).contains(&i) || i >= 96), further(thread * 32 + (i & 31), i >= 64, 128)]
        }
        (Role::B, _, _, 64) => [thread + 4 * i, group],
        (Role::B, _, 4, 32) => [thread, group],
        (Role::B, _, 8, 32) => [further(thread, i == 1, 4), group],
        (Role::B, _, 8, 16) => [thread * 2 + i, group],
        (Role::B, _, 16, 16) => [further(thread * 2 + (i & 1), i >= 2, 8), group],
        (Role::B, _, 16, 8) => [thread * 4 + i, group],
        (Role::B, _, 32, 8) => [further(thread * 4 + (i & 3), i >= 4, 16), group],
        (Role::B, _, 32, 4) => [thread * 8 + i, group],
        (Role::B, _, 64, 4) => [further(thread * 8 + (i & 7), i >= 8, 32), group],
        (Role::B, _, 128, 1) => [thread * 32 + i, group],
        (Role::B, _, 256, 1) => [further(thread * 32 + (i & 31), i >= 32, 128), group],
        (Role::C, 8, ..) => [group, thread * 2 + i],
        (Role::C, 16, ..) => [lower(i >= 2), thread * 2 + (i & 1)],
        (_, m, k, bits) => panic!("{role:?} of m{m}k{k} and {bits} bits"),
    }
}

/// "Matrix Fragments for mma.m8n8k4 with .f16 floating point type".
fn quads(product: &Product, role: Role, element: Element, lane: usize, i: usize) -> [usize; 2] {
    let later = if lane < 16 { 0 } else { 4 };
    let [a, b] = product.majors;
    match (role, element) {
        (Role::A, _) if a == Major::Row => [lane % 4 + later, i],
        (Role::A, _) => [i % 4 + later, lane % 4],
        (Role::B, _) if b == Major::Row => [lane % 4, i + later],
        (Role::B, _) => [i, lane % 4 + later],
        (Role::C, Element::F32) => [(lane & 1) + (i & 2) + later, (i & 4) + (lane & 2) + (i & 1)],
        (Role::C, _) => [lane % 4 + later, i],
    }
}
