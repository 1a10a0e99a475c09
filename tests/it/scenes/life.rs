//! Life: generations of a soup against the rules as they were told, cell by cell.

use super::{Run, bare, devices, read};

const W: usize = 64;
const H: usize = 48;

/// A generation: what lives from 128 on, by age, and what fades below.
fn later(cells: &[u8]) -> Vec<u8> {
    let lives = |x: usize, y: usize| usize::from(cells[y % H * W + x % W] >= 128);
    let cell = |i: usize| {
        let (x, y) = (i % W + W, i / W + H);
        let near = [x - 1, x, x + 1].map(|x| [y - 1, y, y + 1].map(|y| lives(x, y)).iter().sum());
        let neighbours = near.iter().sum::<usize>() - lives(x, y);
        match (cells[i], neighbours) {
            (age @ 128.., 2 | 3) => age.saturating_add(1),
            (_, 3) => 128,
            (128.., _) => 127,
            (faded, _) => faded.saturating_sub(1),
        }
    };
    (0..W * H).map(cell).collect()
}

#[test]
fn generations_follow_conways_rules() {
    let source = bare("life");
    for device in devices() {
        let run = Run {
            constants: &[("w", "64"), ("h", "48"), ("speed", "4")],
            parameters: &[("start", "soup")],
            ..Run::of(&source)
        };
        let mut session = run.open(&device);
        let mut cells: Vec<u8> = read(&mut session, "cells");
        let living = cells.iter().filter(|cell| **cell >= 128).count();
        assert!((600..1200).contains(&living), "three of ten live, not {living}");
        session.run_steps(40, |_| {}).unwrap();
        for _ in 0..160 {
            cells = later(&cells);
        }
        // Integers: the same ones.
        assert!(cells == read::<u8>(&mut session, "cells"));
    }
}

/// Sequence A284810 of the On-Line Encyclopedia of Integer Sequences: from generation 1103 on eight blocks, six
/// gliders, four beehives, four blinkers, a boat, a loaf and a ship are left.
#[test]
fn the_r_pentomino_comes_to_rest_with_116_cells() {
    let source = bare("life");
    for device in devices() {
        let constants = &[("w", "640"), ("h", "640"), ("speed", "8")];
        let parameters = &[("start", "R-pentomino")];
        let mut session = Run { constants, parameters, ..Run::of(&source) }.open(&device);
        session.run_steps(150, |_| {}).unwrap();
        let cells: Vec<u8> = read(&mut session, "cells");
        assert_eq!(cells.iter().filter(|cell| **cell >= 128).count(), 116);
    }
}
