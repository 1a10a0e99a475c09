//! Products.

use fastrand::Rng;
use warpaint::ptx::{
    matrix::{BitOp, Element, Major, Product, Role},
    modifier::Rounding,
};

use super::{
    Case, architecture, head, layout,
    number::{decode, encode, nearest_half},
    products, run, runners, vector,
};
use crate::skip::{Need, skip};

/// The matrices of one product, or of four, as codes: row by row.
struct Matrices {
    /// `a`, `b` and `c`.
    sources: [Vec<u64>; 3],
}

/// The range of whole numbers of which every sum of a product is exact in every format.
fn small(element: Element, rng: &mut Rng) -> f64 {
    f64::from(match element {
        Element::U8 | Element::U4 => rng.i32(0..16),
        Element::B1 => rng.i32(0..2),
        Element::S8 | Element::S4 => rng.i32(-8..8),
        Element::S32 => rng.i32(-1000..1000),
        Element::F16 | Element::Bf16 | Element::Tf32 | Element::E4m3 | Element::E5m2 => {
            rng.i32(-4..5)
        }
        Element::F32 | Element::F64 => rng.i32(-64..65),
    })
}

/// Any number of a format that is no infinity.
fn any(element: Element, rng: &mut Rng) -> u64 {
    loop {
        let code = rng.u64(..) & (u64::MAX >> (64 - element.bits()));
        let fraction = rng.f64() * 2.0 - 1.0;
        let near = |scale: i32| fraction * 2f64.powi(rng.clone().i32(-scale..scale));
        let code = match element {
            Element::F64 => near(30).to_bits(),
            Element::F32 => u64::from((near(20) as f32).to_bits()),
            // With bits that are not looked at.
            Element::Tf32 => u64::from((near(12) as f32).to_bits()),
            Element::Bf16 => encode(element, near(12)),
            _ => code,
        };
        // The numbers of 8 bits have no infinities here, and their NaNs are left out.
        let is_last = match element {
            Element::E4m3 => code & 0x7f == 0x7f,
            Element::E5m2 => code & 0x7c == 0x7c,
            _ => false,
        };
        rng.u32(..);
        if !is_last && decode(element, code).is_finite() {
            return code;
        }
    }
}

impl Matrices {
    fn new(product: &Product, mut number: impl FnMut(Element) -> u64) -> Self {
        let sources = Role::ALL.iter().map(|role| {
            let [rows, columns] = product.shape.of(*role);
            let count = rows * columns * product.count();
            (0..count).map(|_| number(product.element(*role))).collect()
        });
        let sources: Vec<Vec<u64>> = sources.collect();
        Self { sources: sources.try_into().unwrap() }
    }

    /// The code of each element of the result.
    fn result(&self, product: &Product) -> Vec<u64> {
        let [m, n, k] = [product.shape.m, product.shape.n, product.shape.k].map(usize::from);
        let [a, b, c] = &self.sources;
        let result = c.iter().enumerate().map(|(at, c)| {
            let (matrix, row, column) = (at / (m * n), at / n % m, at % n);
            let left = &a[(matrix * m + row) * k..][..k];
            let right = b[matrix * k * n + column..].iter().step_by(n);
            sum(product, *c, left.iter().copied().zip(right.copied()))
        });
        result.collect()
    }
}

fn sum(product: &Product, c: u64, factors: impl Iterator<Item = (u64, u64)>) -> u64 {
    let [_, a, b, added] = product.elements;
    let start = decode(added, c);
    match product.result() {
        Element::S32 => {
            let sum = factors.fold(start as i128, |sum, (x, y)| {
                sum + match product.bit_op {
                    Some(BitOp::And) => i128::from(x & y),
                    Some(BitOp::Xor) => i128::from(x ^ y),
                    None => decode(a, x) as i128 * decode(b, y) as i128,
                }
            });
            let least = i128::from(i32::MIN);
            let sum = if product.satfinite { sum.clamp(least, -least - 1) } else { sum };
            sum as u64 & 0xffff_ffff
        }
        Element::F64 => {
            let fused = |sum: f64, (x, y)| f64::from_bits(x).mul_add(f64::from_bits(y), sum);
            factors.fold(start, fused).to_bits()
        }
        _ => {
            let cut = |element, code| if element == Element::Tf32 { code & !0x1fff } else { code };
            let times = |x, y| decode(a, cut(a, x)) * decode(b, cut(b, y));
            let sum = factors.fold(start, |sum, (x, y)| sum + times(x, y));
            let half = product.result() == Element::F16;
            if half { nearest_half(sum) } else { (sum as f32).to_bits().into() }
        }
    }
}

/// The bytes of codes that lie one behind the other.
fn packed(codes: &[u64], element: Element) -> Vec<u8> {
    let bits = element.bits() as usize;
    let mut bytes = vec![0; (codes.len() * bits).div_ceil(8)];
    for (at, code) in codes.iter().enumerate() {
        for bit in 0..bits {
            let to = at * bits + bit;
            bytes[to / 8] |= ((code >> bit & 1) as u8) << (to % 8);
        }
    }
    bytes
}

fn unpacked(bytes: &[u8], element: Element) -> Vec<u64> {
    let bits = element.bits() as usize;
    let bit = |at: usize| u64::from(bytes[at / 8] >> (at % 8) & 1);
    let code = |at: usize| (0..bits).map(|i| bit(at * bits + i) << i).sum();
    (0..bytes.len() * 8 / bits).map(code).collect()
}

// By registers ------------------------------------------------------------------------------------------

/// Where each element of a thread's registers lies in the matrices.
fn indices(product: &Product, role: Role, element: Element) -> Vec<usize> {
    let [rows, columns] = product.shape.of(role);
    let each = rows * columns * product.count() / 32;
    let places = (0..32 * each).map(|at| {
        let lane = at / each;
        let [row, column] = layout::place(product, role, element, lane, at % each);
        let matrix = if product.count() == 4 { lane / 4 % 4 } else { 0 };
        (matrix * rows + row) * columns + column
    });
    places.collect()
}

/// Each thread loads its registers, multiplies, and stores the result's.
fn kernel_of_registers(case: &Case, product: &Product) -> String {
    let mut text = head(case.since, 4);
    let counts = case.vectors();
    let names = ["a", "b", "c", "d"];
    let element = |at: usize| match at {
        3 => product.result(),
        at => product.element(Role::ALL[at]),
    };
    for (at, name) in names.iter().enumerate() {
        let bits = element(at).register().bits();
        text += &format!(".reg .b{bits} %{name}<8>;\n");
        text += &format!("mul.wide.u32 %rd8, %r0, {};\n", counts[at] as u32 * bits / 8);
        text += &format!("add.u64 %rd{at}, %rd{at}, %rd8;\n");
        for register in (0..counts[at]).filter(|_| at < 3) {
            let offset = register as u32 * bits / 8;
            text += &format!("ld.global.b{bits} %{name}{register}, [%rd{at}+{offset}];\n");
        }
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| vector(names[at], counts[at]));
    text += &format!("{} {d}, {a}, {b}, {c};\n", case.mnemonic);
    let bits = element(3).register().bits();
    for register in 0..counts[3] {
        let offset = register as u32 * bits / 8;
        text += &format!("st.global.b{bits} [%rd3+{offset}], %d{register};\n");
    }
    text + "ret;\n}\n"
}

/// Runs a product on matrices that `number` fills, on the devices whose results are defined; what is wrong.
fn check_registers(
    case: &Case,
    product: &Product,
    mut number: impl FnMut(Element) -> u64,
    everywhere: bool,
) -> Vec<String> {
    let matrices = Matrices::new(product, &mut number);
    let mut buffers: Vec<Vec<u8>> = Vec::new();
    for (role, codes) in Role::ALL.iter().zip(&matrices.sources) {
        let element = product.element(*role);
        let list = indices(product, *role, element).into_iter().map(|at| codes[at]);
        buffers.push(packed(&list.collect::<Vec<u64>>(), element));
    }
    let result = product.result();
    let places = indices(product, Role::C, result);
    buffers.push(vec![0; places.len() * result.bits() as usize / 8]);
    let due = matrices.result(product);
    let text = kernel_of_registers(case, product);
    let mut wrong = Vec::new();
    for runner in runners() {
        if !everywhere && runner.0.as_nvidia().is_some() {
            continue;
        }
        if architecture(&runner.0) < case.since {
            skip(Need::Machine, format_args!("{} needs sm_{}", case.mnemonic, case.since));
            continue;
        }
        let found = unpacked(&run(&runner, &text, &buffers).unwrap()[3], result);
        wrong.extend(differences(case, &found, places.iter().map(|at| due[*at]), &runner));
    }
    wrong
}

fn differences(
    case: &Case,
    found: &[u64],
    due: impl Iterator<Item = u64>,
    runner: &(warpaint::device::Device, warpaint::device::cpu::LaunchOptions),
) -> Vec<String> {
    let unlike = found.iter().zip(due).enumerate().filter(|(_, (found, due))| *found != due);
    let told: Vec<String> = unlike
        .map(|(at, (found, due))| format!("{}: {at}: {found:x}, not {due:x}", case.mnemonic))
        .collect();
    let Some(first) = told.first() else { return told };
    vec![format!("{first}, and {} more on {}", told.len() - 1, runner.0.info().name)]
}

/// All that are no `wmma`.
fn by_registers() -> Vec<(Case, Product)> {
    products().into_iter().filter(|(_, product)| !product.wmma).collect()
}

#[test]
fn products_of_registers_are_those_of_their_matrices() {
    let mut rng = Rng::with_seed(1);
    let mut wrong = Vec::new();
    let all = by_registers();
    assert!(all.len() > 60, "{}", all.len());
    for (case, product) in &all {
        let number = |element| encode(element, small(element, &mut rng));
        wrong.extend(check_registers(case, product, number, true));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Of numbers of all sizes the CPU device gives what its documentation says.
#[test]
fn sums_are_rounded_as_it_is_documented() {
    let mut rng = Rng::with_seed(2);
    let mut wrong = Vec::new();
    for (case, product) in &by_registers() {
        wrong.extend(check_registers(case, product, |element| any(element, &mut rng), false));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

// By memory ---------------------------------------------------------------------------------------------

/// A matrix as it lies in memory: lines of so many elements, with some between them.
struct Lying {
    element: Element,
    major: Major,
    rows: usize,
    columns: usize,
    stride: usize,
}

impl Lying {
    fn new(product: &Product, role: Role, element: Element, major: Major, between: usize) -> Self {
        let [rows, columns] = product.shape.of(role);
        let line = if major == Major::Row { columns } else { rows };
        // Elements of 16 bytes, the least that a stride may be a multiple of.
        let step = (128 / element.bits() as usize).max(1);
        Self { element, major, rows, columns, stride: line.next_multiple_of(step) + between * step }
    }

    fn at(&self, row: usize, column: usize) -> usize {
        match self.major {
            Major::Row => row * self.stride + column,
            Major::Col => column * self.stride + row,
        }
    }

    /// Where the last line ends.
    fn len(&self) -> usize {
        self.at(self.rows - 1, self.columns - 1) + 1
    }

    fn bytes(&self, codes: &[u64]) -> Vec<u8> {
        let mut all = vec![0; self.len()];
        for (at, code) in codes.iter().enumerate() {
            all[self.at(at / self.columns, at % self.columns)] = *code;
        }
        packed(&all, self.element)
    }

    fn read(&self, bytes: &[u8]) -> Vec<u64> {
        let all = unpacked(bytes, self.element);
        let places = (0..self.rows * self.columns).map(|at| (at / self.columns, at % self.columns));
        places.map(|(row, column)| all[self.at(row, column)]).collect()
    }
}

/// Loads three matrices, multiplies, and stores the result. In `shared`, by way of shared memory.
fn kernel_of_memory(case: &Case, product: &Product, lying: &[Lying; 4], stated: bool) -> String {
    let counts = case.vectors();
    let names = ["a", "b", "c", "d"];
    let mut text = head(case.since, 4);
    for (name, lying) in names.iter().zip(lying) {
        text += &format!(".reg .b{} %{name}<8>;\n", lying.element.register().bits());
    }
    let stride = |lying: &Lying| if stated { format!(", {}", lying.stride) } else { String::new() };
    for (at, name) in names.iter().enumerate().take(3) {
        let Lying { element, major, .. } = &lying[at];
        text += &format!(
            "wmma.load.{name}.sync.aligned.{major}.{}.global.{element} {}, [%rd{at}]{};\n",
            product.shape,
            vector(name, counts[at]),
            stride(&lying[at])
        );
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| vector(names[at], counts[at]));
    text += &format!("{} {d}, {a}, {b}, {c};\n", case.mnemonic);
    let Lying { element, major, .. } = &lying[3];
    text += &format!(
        "wmma.store.d.sync.aligned.{major}.{}.global.{element} [%rd3], {d}{};\n",
        product.shape,
        stride(&lying[3])
    );
    text + "ret;\n}\n"
}

#[test]
fn products_of_memory_are_those_of_their_matrices() {
    let mut rng = Rng::with_seed(3);
    let mut wrong = Vec::new();
    let all: Vec<_> = products().into_iter().filter(|(_, product)| product.wmma).collect();
    assert!(all.len() > 100, "{}", all.len());
    for (at, (case, product)) in all.iter().enumerate() {
        let number = |element| encode(element, small(element, &mut rng));
        let matrices = Matrices::new(product, number);
        let [a, b] = product.majors;
        let majors = [Major::Row, Major::Col];
        let (c, d, between) = (majors[at % 2], majors[at / 2 % 2], at % 3);
        let of = |role, major| Lying::new(product, role, product.element(role), major, between);
        let result = Lying::new(product, Role::C, product.result(), d, between);
        let lying = [of(Role::A, a), of(Role::B, b), of(Role::C, c), result];
        let sources = matrices.sources.iter().zip(&lying);
        let mut buffers: Vec<Vec<u8>> = sources.map(|(codes, lying)| lying.bytes(codes)).collect();
        buffers.push(lying[3].bytes(&[]));
        let stated = between > 0
            || lying
                .iter()
                .any(|l| l.stride != if l.major == Major::Row { l.columns } else { l.rows });
        let text = kernel_of_memory(case, product, &lying, stated);
        let due = matrices.result(product);
        for runner in runners() {
            let found = lying[3].read(&run(&runner, &text, &buffers).unwrap()[3]);
            wrong.extend(differences(case, &found, due.iter().copied(), &runner));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What a thread holds of a fragment of `wmma`, as it is documented: of a sum, and of a factor, whose later registers
/// are copies.
#[test]
fn fragments_of_memory_are_blocks_of_registers() {
    let load = |role: &str, element: &str| {
        format!(
            "{}.reg .b32 %x<8>;\nwmma.load.{role}.sync.aligned.row.m16n16k16.global.{element} {}, [%rd0];\n\
             mul.wide.u32 %rd8, %r0, 32;\nadd.u64 %rd1, %rd1, %rd8;\n\
             st.global.v4.b32 [%rd1], {{%x0, %x1, %x2, %x3}};\n\
             st.global.v4.b32 [%rd1+16], {{%x4, %x5, %x6, %x7}};\nret;\n}}\n",
            head(80, 2),
            vector("x", 8)
        )
    };
    let runners = runners().into_iter().filter(|(device, _)| device.as_nvidia().is_none());
    for runner in runners {
        let words: Vec<u8> = (0..256u32).flat_map(u32::to_le_bytes).collect();
        let found = run(&runner, &load("c", "f32"), &[words, vec![0; 1024]]).unwrap();
        for (at, found) in unpacked(&found[1], Element::S32).into_iter().enumerate() {
            let (group, thread, i) = (at / 8 / 4, at / 8 % 4, at % 8);
            let (row, column) = (group + i / 2 % 2 * 8, thread * 2 + i % 2 + i / 4 * 8);
            assert_eq!(found, (row * 16 + column) as u64, "{at}");
        }
        let halves: Vec<u8> = (0..256u16).flat_map(u16::to_le_bytes).collect();
        let found = run(&runner, &load("a", "f16"), &[halves, vec![0; 1024]]).unwrap();
        for (at, found) in unpacked(&found[1], Element::F16).into_iter().enumerate() {
            let (group, thread, i) = (at / 16 / 4, at / 16 % 4, at % 8);
            let (row, column) = (group + i / 2 % 2 * 8, thread * 2 + i % 2 + i / 4 * 8);
            assert_eq!(found, (row * 16 + column) as u64, "{at}");
        }
    }
}

/// Sums of doubles in the directions that `wmma` has: beside the exact value.
#[test]
fn doubles_are_rounded_in_all_directions() {
    let directions =
        [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up].map(Rounding::text);
    let results = directions.map(|direction| {
        let text = format!(
            "{}.reg .f64 %a, %b, %c<2>;\nmov.f64 %a, 0d3FB999999999999A;\nmov.f64 %b, %a;\n\
             mov.f64 %c0, 0d3FF0000000000000;\nmov.f64 %c1, 0dBFF0000000000000;\n\
             wmma.mma.sync.aligned.row.col.m8n8k4.{direction}.f64.f64.f64.f64 {{%c0, %c1}}, {{%a}}, {{%b}}, {{%c0, %c1}};\n\
             mul.wide.u32 %rd1, %r0, 16;\nadd.u64 %rd0, %rd0, %rd1;\n\
             st.global.v2.f64 [%rd0], {{%c0, %c1}};\nret;\n}}\n",
            head(80, 1)
        );
        let mut of_runners = runners().into_iter().map(|runner| {
            let bytes = run(&runner, &text, &[vec![0; 512]]).unwrap();
            bytemuck::pod_collect_to_vec::<u8, f64>(&bytes[0])
        });
        let first = of_runners.next().unwrap();
        of_runners.for_each(|other| assert_eq!(other, first));
        [first[0], first[1]]
    });
    let [nearest, zero, down, up] = results;
    // 1 and -1, and four times the square of 0.1, with what that is more than 0.01.
    let sum = |start: f64| (0..4).fold(start, |sum, _| 0.1f64.mul_add(0.1, sum));
    assert_eq!(nearest, [sum(1.0), sum(-1.0)]);
    for at in [0, 1] {
        assert!(down[at] < up[at] && down[at] <= nearest[at] && nearest[at] <= up[at]);
    }
    assert_eq!(zero, [down[0], up[1]]);
}
