//! CUDA's vector types as elements of arrays.

use warpaint::{
    array::{
        Arithmetic, ElementwiseKernel, Expr, GpuArray, Promote,
        vector::{Double4, Float2, Float3, Float4, Int2, LongLong4, UChar4},
    },
    index,
};

use super::contexts;

/// Component by component, as the same expression over the components alone.
#[test]
fn components_are_computed_as_numbers() {
    for context in contexts() {
        let vectors = |from: f32| {
            (0..7)
                .map(move |i| Float3::new(from + i as f32, from * 0.5 - 1.0, 3.0 * i as f32 - 4.0))
        };
        let (p, q): (Vec<_>, Vec<_>) = (vectors(1.5).collect(), vectors(-2.0).collect());
        let a = GpuArray::from_slice(&context, &p).unwrap();
        let b = GpuArray::from_slice(&context, &q).unwrap();
        let s = &GpuArray::<f32>::arange(&context, 7).unwrap() + 0.25;
        let found = (-&a * &b + &b / &s - &s * 2.0 * Float3::new(1.0, 2.0, 3.0))
            .eval()
            .unwrap()
            .to_vec()
            .unwrap();
        for (i, v) in found.into_iter().enumerate() {
            let s = i as f32 + 0.25;
            let (p, q) = (p[i], q[i]);
            let of = |p: f32, q: f32, k: f32| (-p).mul_add(q, q / s) - s * 2.0 * k;
            let expected = [of(p.x, q.x, 1.0), of(p.y, q.y, 2.0), of(p.z, q.z, 3.0)];
            // Joined or not, two products and a sum of numbers below 100 differ by this much.
            let near = |(a, b): (f32, f32)| (a - b).abs() <= 100.0 * f32::EPSILON;
            assert!([v.x, v.y, v.z].into_iter().zip(expected).all(near), "{v:?} {expected:?}");
        }
    }
}

/// Several vectors of three make pieces of 16 bytes; those that begin elsewhere do not, and some are left over.
#[test]
fn pieces_of_odd_sizes_are_whole() {
    for context in contexts() {
        let numbers = GpuArray::<f32>::arange(&context, 1003).unwrap();
        let ones = Float3::new(1.0, 1.0, 1.0);
        let vectors = (&numbers * ones).eval().unwrap();
        for start in 0..5 {
            let (part, of) = (&index![start..], |v: f32| Float3::new(v, v, v));
            let (numbers, vectors) = (numbers.slice(part).unwrap(), vectors.slice(part).unwrap());
            let found = (&vectors * &numbers).eval().unwrap().to_vec().unwrap();
            let expected: Vec<_> = (start as usize..1003).map(|i| of((i * i) as f32)).collect();
            assert_eq!(found, expected, "from {start}");
        }
    }
}

#[test]
fn vectors_of_all_kinds_are_laid_out_as_in_cuda() {
    fn twice<T: Arithmetic + PartialEq + Promote<T, Output = T>>(
        context: &warpaint::kernel::Context,
        v: T,
        expected: T,
    ) {
        let a = GpuArray::full(context, &[2, 3], v).unwrap();
        let part = a.slice(&index![..;-1, 1..]).unwrap();
        assert_eq!((&part + &part).eval().unwrap().to_vec().unwrap(), [expected; 4].map(|v| v));
    }
    for context in contexts() {
        twice(&context, Float4::new(1.0, 2.0, 3.0, 4.0), Float4::new(2.0, 4.0, 6.0, 8.0));
        twice(&context, Double4::new(1.0, 2.0, 3.0, 4.0), Double4::new(2.0, 4.0, 6.0, 8.0));
        twice(&context, LongLong4::new(1 << 40, 2, -3, 4), LongLong4::new(1 << 41, 4, -6, 8));
        twice(&context, UChar4::new(1, 2, 3, 200), UChar4::new(2, 4, 6, 144));
        let a =
            GpuArray::from_slice(&context, &[Int2::new(7, -8), Int2::new(1, i32::MIN)]).unwrap();
        let b = GpuArray::from_slice(&context, &[Int2::new(2, 0), Int2::new(0, -1)]).unwrap();
        let quotient = (&a / &b).eval().unwrap().to_vec().unwrap();
        assert_eq!(quotient, [Int2::new(3, 0), Int2::new(0, i32::MIN)], "as integers divide");
        assert_eq!(a.to_string(), "[         (7, -8) (1, -2147483648)]");
        let chosen = Expr::select(GpuArray::from_slice(&context, &[true, false]).unwrap(), &a, &b);
        assert_eq!(chosen.eval().unwrap().to_vec().unwrap(), [Int2::new(7, -8), Int2::new(0, -1)]);
    }
}

#[test]
#[expect(unsafe_code, reason = "a kernel from an expression")]
fn kernels_take_vectors_and_complex_numbers_by_value() {
    // SAFETY: element `i` alone is used.
    let kernel = unsafe {
        ElementwiseKernel::new(
            "float4 *v, char c, float4 by, warpaint::complex<float> z, const warpaint::complex<double> *w",
            "v[i] = v[i] * by + warpaint::dot(v[i], v[i]) * abs(z) * c + float(w[i].im)",
        )
    };
    let kernel =
        kernel.unwrap().preamble("#include <warpaint/complex.cuh>\nusing namespace warpaint;");
    for context in contexts() {
        let v = GpuArray::from_slice(&context, &[Float4::new(1.0, 0.0, 2.0, 0.0)]).unwrap();
        let by = Float4::new(1.0, 2.0, 3.0, 4.0);
        let z = num_complex::Complex::new(3.0f32, -4.0);
        let w = [1.0, 7.0, 2.0, 8.0].map(|im| num_complex::Complex::new(0.0, im));
        let w = GpuArray::from_slice(&context, &w).unwrap().slice(&index![3..;-2]).unwrap();
        let (v, w) = (v.broadcast_to(&[2]).unwrap().copy().unwrap(), w);
        kernel.call(&[(&v).into(), 1i8.into(), by.into(), z.into(), (&w).into()]).unwrap();
        let expected = |w: f32| Float4::new(26.0 + w, 25.0 + w, 31.0 + w, 25.0 + w);
        assert_eq!(v.to_vec().unwrap(), [expected(8.0), expected(7.0)]);
    }
}

/// Scalars and vectors stand on either side, beside arrays, their views and expressions.
#[test]
fn scalars_stand_left_of_vectors() {
    for context in contexts() {
        let a = GpuArray::from_slice(&context, &[Float2::new(1.0, 2.0), Float2::new(-4.0, 8.0)]);
        let a = a.unwrap();
        let turned = a.slice(&index![..;-1]).unwrap();
        let found = (8.0 / &a - 1.0 * &turned).eval().unwrap();
        assert_eq!(found.to_vec().unwrap(), [Float2::new(12.0, -4.0), Float2::new(-3.0, -1.0)]);
        let found = (Float2::new(1.0, 0.0) - (Float2::new(0.5, 1.0) + &a)).eval().unwrap();
        assert_eq!(found.to_vec().unwrap(), [Float2::new(-0.5, -3.0), Float2::new(4.5, -9.0)]);
        let bytes = GpuArray::from_slice(&context, &[UChar4::new(1, 2, 3, 200)]).unwrap();
        assert_eq!((2u8 * &bytes).eval().unwrap().item().unwrap(), UChar4::new(2, 4, 6, 144));
    }
}

/// Sums of vectors are those of their components, which have tests of their own.
#[test]
fn vectors_are_summed_by_component() {
    for context in contexts() {
        let of = |i: i32| (i * 37 % 101) as f32 * 0.1 - 3.0;
        let values: Vec<_> =
            (0..9000).map(|i| Float3::new(of(i), of(i + 7), 1e7 * of(2 * i))).collect();
        let a = GpuArray::from_shape(&context, &[30, 300], &values).unwrap();
        let parts = a.view_as::<f32>().unwrap().reshape(&[30, 300, 3]).unwrap();
        let as_vectors = |sums: GpuArray<f32>| {
            let numbers = sums.to_vec().unwrap();
            numbers.chunks(3).map(|v| Float3::new(v[0], v[1], v[2])).collect::<Vec<_>>()
        };
        assert_eq!(
            [a.sum().unwrap().item().unwrap()][..],
            as_vectors(parts.sum_along(&[0, 1]).unwrap())
        );
        for axis in 0..2 {
            let expected = as_vectors(parts.sum_along(&[axis]).unwrap());
            assert_eq!(a.sum_along(&[axis]).unwrap().to_vec().unwrap(), expected);
        }
        let none = GpuArray::<Float3>::zeros(&context, &[0]).unwrap();
        assert_eq!(none.sum().unwrap().item().unwrap(), Float3::default());

        let doubles = [1e300, 1.0, -1e300].map(|x| Double4::new(x, 0.5, 1.0, -x));
        let sum = GpuArray::from_slice(&context, &doubles).unwrap().sum().unwrap();
        assert_eq!(sum.item().unwrap(), Double4::new(1.0, 1.5, 3.0, -1.0), "errors are kept");
        let bytes = GpuArray::full(&context, &[300], UChar4::new(1, 2, 255, 0)).unwrap();
        let wrapped = [300_i32, 600, 300 * 255, 0].map(|x| x as u8);
        let [x, y, z, w] = wrapped;
        assert_eq!(bytes.sum().unwrap().item().unwrap(), UChar4::new(x, y, z, w));

        let steps = GpuArray::full(&context, &[5000], Int2::new(1, -3)).unwrap();
        let running = steps.cumsum().unwrap().to_vec().unwrap();
        let expected = (1..=5000).map(|i| Int2::new(i, -3 * i));
        assert!(running.into_iter().eq(expected));
    }
}
