//! Operations of a whole warp against a model: what each lane gets of the words that the lanes there brought.

use super::{
    Lanes,
    tests::{run, widths},
};
use crate::device::LaunchConfig;

/// An operation, and what a lane gets of it; `lanes` are those of its warp that there are.
struct Operation {
    /// Of the word in `%r6` into `%r10`; `%p1` holds where the word's bit 8 is set, `%r7` is 64 times the word's bit 3.
    text: &'static str,
    gives: fn(lanes: &[u32], lane: usize) -> u32,
}

fn bits(lanes: &[u32], holds: impl Fn(u32) -> bool) -> u32 {
    (0..).zip(lanes).fold(0, |bits, (lane, word)| bits | u32::from(holds(*word)) << lane)
}

fn bit(word: u32) -> bool {
    word >> 8 & 1 == 1
}

fn all(lanes: &[u32]) -> u32 {
    bits(lanes, |_| true)
}

/// The value of another lane, if it is there, and whether it lies within the bounds.
fn from(lanes: &[u32], lane: usize, source: i64, valid: bool) -> u32 {
    let source = if valid { source as usize } else { lane };
    lanes.get(source).copied().unwrap_or(lanes[lane]).wrapping_add(valid.into())
}

const OPERATIONS: [Operation; 19] = [
    Operation {
        text: "vote.sync.ballot.b32 %r10, %p1, -1;",
        gives: |lanes, _| bits(lanes, bit),
    },
    Operation {
        text: "vote.sync.ballot.b32 %r10, !%p1, %r39;",
        gives: |lanes, _| bits(lanes, |word| !bit(word)),
    },
    Operation {
        text: "vote.sync.any.pred %p2, %p1, -1; selp.u32 %r10, 3, 4, %p2;",
        gives: |lanes, _| if bits(lanes, bit) == 0 { 4 } else { 3 },
    },
    Operation {
        text: "setp.ne.u32 %p3, %r6, 77; vote.sync.all.pred %p2, %p3, -1; selp.u32 %r10, 3, 4, %p2;",
        gives: |lanes, _| if lanes.contains(&77) { 4 } else { 3 },
    },
    Operation {
        text: "setp.eq.u32 %p3, %r3, 0; vote.sync.uni.pred %p2, %p3, -1; vote.sync.uni.pred %p3, %p1, -1;
               selp.u32 %r10, 3, 4, %p2; @%p3 add.u32 %r10, %r10, 8;",
        gives: |lanes, _| {
            let held = bits(lanes, bit);
            if held == 0 || held == all(lanes) { 11 } else { 3 }
        },
    },
    Operation {
        text: "redux.sync.add.u32 %r10, %r6, -1;",
        gives: |lanes, _| lanes.iter().fold(0, |sum, word| sum.wrapping_add(*word)),
    },
    Operation {
        text: "sub.u32 %r11, %r6, 0x10000000; redux.sync.min.s32 %r10, %r11, -1;",
        gives: |lanes, _| {
            let less = lanes.iter().map(|word| word.wrapping_sub(0x1000_0000).cast_signed());
            less.min().unwrap_or(0).cast_unsigned()
        },
    },
    Operation {
        text: "sub.u32 %r11, %r6, 0x10000000; redux.sync.max.u32 %r10, %r11, -1;",
        gives: |lanes, _| {
            lanes.iter().map(|word| word.wrapping_sub(0x1000_0000)).max().unwrap_or(0)
        },
    },
    Operation {
        text: "or.b32 %r11, %r6, 0xff00; redux.sync.and.b32 %r10, %r11, -1; redux.sync.or.b32 %r12, %r6, -1;
               redux.sync.xor.b32 %r13, %r6, -1; xor.b32 %r10, %r10, %r13; sub.u32 %r10, %r12, %r10;",
        gives: |lanes, _| {
            let and = lanes.iter().fold(u32::MAX, |sum, word| sum & (word | 0xff00));
            let or = lanes.iter().fold(0, |sum, word| sum | word);
            let xor = lanes.iter().fold(0, |sum, word| sum ^ word);
            or.wrapping_sub(and ^ xor)
        },
    },
    Operation {
        text: "and.b32 %r11, %r6, 7; match.any.sync.b32 %r10, %r11, -1;",
        gives: |lanes, lane| bits(lanes, |word| word & 7 == lanes[lane] & 7),
    },
    Operation {
        text: "and.b32 %r11, %r6, 1; mov.b64 %rd6, {%r11, %r7}; match.any.sync.b64 %r10, %rd6, -1;",
        gives: |lanes, lane| bits(lanes, |word| (word ^ lanes[lane]) & 9 == 0),
    },
    Operation {
        text: "match.all.sync.b32 %r10|%p2, %r3, -1; match.all.sync.b32 %r11|%p3, %r7, -1; @!%p3 add.u32 %r10, %r10, 1;
               @%p2 add.u32 %r10, %r10, %r11;",
        gives: |lanes, _| {
            let agreed = bits(lanes, |word| word & 8 == lanes[0] & 8) == all(lanes);
            all(lanes).wrapping_add(if agreed { all(lanes) } else { 1 })
        },
    },
    Operation { text: "activemask.b32 %r10;", gives: |lanes, _| all(lanes) },
    Operation {
        text: "shfl.sync.idx.b32 %r10|%p2, %r6, %r6, 31, -1; @%p2 add.u32 %r10, %r10, 1;",
        gives: |lanes, lane| from(lanes, lane, (lanes[lane] & 31).into(), true),
    },
    Operation {
        text: "shfl.sync.idx.b32 %r10|%p2, %r6, %r6, 0x1804, -1; @%p2 add.u32 %r10, %r10, 1;",
        gives: |lanes, lane| {
            let by = lanes[lane] as usize & 7;
            from(lanes, lane, (lane & 24 | by) as i64, by <= 4)
        },
    },
    Operation {
        text: "shfl.sync.up.b32 %r10|%p2, %r6, %r6, 0, -1; @%p2 add.u32 %r10, %r10, 1;",
        gives: |lanes, lane| {
            let source = lane as i64 - i64::from(lanes[lane] & 31);
            from(lanes, lane, source, source >= 0)
        },
    },
    Operation {
        text: "shfl.sync.down.b32 %r10|%p2, %r6, %r6, 0x101f, -1; @%p2 add.u32 %r10, %r10, 1;",
        gives: |lanes, lane| {
            let source = lane as i64 + i64::from(lanes[lane] & 31);
            from(lanes, lane, source, source <= (lane as i64 & 16) + 15)
        },
    },
    Operation {
        text: "shfl.sync.bfly.b32 %r10|%p2, %r6, %r6, 31, -1; @%p2 add.u32 %r10, %r10, 1;",
        gives: |lanes, lane| from(lanes, lane, (lane as u32 ^ lanes[lane] & 31).into(), true),
    },
    Operation {
        text: "and.b32 %r11, %r6, 16; shl.b32 %r11, %r11, 8; or.b32 %r11, %r11, 15;
               shfl.sync.down.b32 %r10|%p2, %r6, 3, %r11, -1; @%p2 add.u32 %r10, %r10, 1;",
        gives: |lanes, lane| {
            let segment = lanes[lane] as usize & 16;
            let source = lane + 3;
            from(lanes, lane, source as i64, source <= (lane & segment | 15 & !segment))
        },
    },
];

/// The words of the first buffer, as `run` fills it.
fn words(count: usize) -> Vec<u32> {
    let mut state = 7u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 3
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[test]
fn each_lane_gets_what_the_operation_says() {
    for Operation { text, gives } in &OPERATIONS {
        // Twice, so that something is brought to the other buffer, too.
        let body = format!(
            "ld.global.u32 %r6, [%rd4]; mov.u32 %r39, -1; mov.u32 %r20, 0; L: and.b32 %r8, %r6, 256;
             setp.ne.u32 %p1, %r8, 0; and.b32 %r7, %r6, 8; shl.b32 %r7, %r7, 3; {text}
             st.global.u32 [%rd5], %r10; add.u32 %r6, %r6, %r10; add.u32 %r20, %r20, 1; setp.lt.u32 %p9, %r20, 2; @%p9 bra L;"
        );
        for body in widths(&body) {
            for (grid, block) in [(2, 96), (2, 48), (3, 36), (2, 33)] {
                let config = LaunchConfig::new(grid, block);
                let (found, fault) = run(&body, &config, 0, Lanes::Always);
                assert_eq!(fault, None, "{text}");
                let input = words((grid * block) as usize);
                let blocks = input.chunks(block as usize).flat_map(|block| block.chunks(32));
                let due = blocks.flat_map(|warp| {
                    let once = |warp: &[u32]| -> Vec<u32> {
                        (0..warp.len()).map(|lane| gives(warp, lane)).collect()
                    };
                    let again = warp.iter().zip(once(warp)).map(|(a, b)| a.wrapping_add(b));
                    once(&again.collect::<Vec<u32>>())
                });
                let due: Vec<u32> = due.collect();
                let found: Vec<u32> = bytemuck::pod_collect_to_vec(&found[..4 * due.len()]);
                let first = (0..due.len()).find(|at| due[*at] != found[*at]);
                let differ = first.map(|at| (at, due[at], found[at]));
                assert_eq!(differ, None, "thread, due, found: {block} threads: {text}");
            }
        }
    }
}

/// What threads of a block hold after three rounds of [`sums_go_round`]; the first so many of them are there.
fn rounds_of_a_block(words: &mut [u32]) {
    for round in 0..3 {
        let sum = |warp: &[u32]| warp.iter().fold(0u32, |sum, word| sum.wrapping_add(*word));
        let sums: Vec<u32> = words.chunks(32).map(sum).collect();
        for (warp, words) in words.chunks_mut(32).enumerate() {
            if warp == round {
                let half = words.len().min(16);
                let most = words[..half].iter().copied().max().unwrap_or(0);
                words[..half].iter_mut().for_each(|word| *word = word.wrapping_add(most));
            }
            let next = sums[(warp + 1) % sums.len()];
            words.iter_mut().for_each(|word| *word = word.wrapping_add(next));
        }
    }
}

#[test]
fn sums_go_round() {
    // Each warp sums, and gets the next one's sum between two barriers; half of one of them does something of its own
    // meanwhile, which the host does, and those behind it go on all the same. Some have ended before, warps and parts.
    let body = "setp.ge.u32 %p1, %r4, %r1; @%p1 exit; ld.global.u32 %r6, [%rd4]; and.b32 %r8, %r4, 31; shr.u32 %r9, %r4, 5;
        mov.u32 %r20, 0; mov.u32 %r12, sh; mad.lo.u32 %r11, %r9, 4, %r12; min.u32 %r15, %r1, %r3; add.u32 %r15, %r15, 31;
        shr.u32 %r15, %r15, 5; add.u32 %r14, %r9, 1; rem.u32 %r14, %r14, %r15; mad.lo.u32 %r16, %r14, 4, %r12;
        L: redux.sync.add.u32 %r10, %r6, -1; setp.ne.u32 %p2, %r8, 0; @%p2 bra S; st.shared.u32 [%r11], %r10; S: bar.sync 0;
        setp.ne.u32 %p3, %r9, %r20; @%p3 bra H; setp.ge.u32 %p4, %r8, 16; @%p4 bra H; redux.sync.max.u32 %r13, %r6, 0xffff;
        add.u32 %r6, %r6, %r13; H: ld.shared.u32 %r17, [%r16]; bar.sync 0; add.u32 %r6, %r6, %r17; add.u32 %r20, %r20, 1;
        setp.lt.u32 %p9, %r20, 3; @%p9 bra L; st.global.u32 [%rd5], %r6;";
    for body in widths(body) {
        for (block, n) in [(64, 64), (256, 256), (96, 64), (128, 50), (80, 80), (48, 40), (33, 33)]
        {
            let (found, fault) = run(&body, &LaunchConfig::new(2, block), n, Lanes::Always);
            assert_eq!(fault, None, "{block} threads, of which {n}");
            let found: Vec<u32> = bytemuck::pod_collect_to_vec(&found);
            let blocks = words(2 * block as usize);
            for (at, words) in blocks.chunks(block as usize).enumerate() {
                let mut due = words[..n as usize].to_vec();
                rounds_of_a_block(&mut due);
                let found = &found[at * block as usize..][..n as usize];
                assert_eq!(found, due, "{block} threads, of which {n}");
            }
        }
    }
}
