//! Kernels of array operations: written once, found again, and never taken for another.

use warpaint::{
    array::{
        DType, Data, ElementwiseKernel, Expr, GpuArray, InclusiveScanKernel, Order,
        ReductionKernel, random::Generator,
    },
    index,
    kernel::{Context, GeneratedStatistics},
};

use super::contexts;

/// What `work` adds to the statistics of `context`.
fn counted(context: &Context, work: impl FnOnce()) -> GeneratedStatistics {
    let before = context.generated_statistics();
    work();
    let after = context.generated_statistics();
    GeneratedStatistics {
        found: after.found - before.found,
        written: after.written - before.written,
    }
}

#[test]
#[expect(unsafe_code, reason = "kernels of our own making")]
fn no_source_is_written_for_an_operation_that_was_done_before() {
    for context in contexts() {
        let (list, sum) = ("float a, const float *x, float *y", "a + b");
        // SAFETY: only the element `i` of each array is used.
        let axpy = unsafe { ElementwiseKernel::new(list, "y[i] += a * x[i]").unwrap() };
        // SAFETY: the same.
        let dot = unsafe { ReductionKernel::<f32>::new("const float *x", "0", sum, "x[i] * x[i]") };
        let dot = dot.unwrap();
        // SAFETY: the expression uses nothing but its operands.
        let scan = unsafe { InclusiveScanKernel::<f32>::new(sum) };
        // Other lengths, values and memory; the same alignment.
        let work = |n: usize, by: f32| {
            let x = GpuArray::<f32>::arange(&context, n).unwrap();
            let y = (&x * by + 1.0).eval().unwrap();
            axpy.call(&[by.into(), (&x).into(), (&y).into()]).unwrap();
            let last = (n - 1) as f32;
            let expected = last * by + 1.0 + by * last;
            assert_eq!(y.slice(&index![-1]).unwrap().item().unwrap(), expected);
            let squares: f32 = (0..n).map(|i| (i * i) as f32).sum();
            assert_eq!(dot.call(&[(&x).into()]).unwrap().item().unwrap(), squares);
            let sum = last * (last + 1.0) / 2.0;
            assert_eq!(x.sum().unwrap().item().unwrap(), sum);
            assert_eq!(x.sum_along(&[0]).unwrap().item().unwrap(), sum);
            assert_eq!(scan.call(&x).unwrap().to_vec().unwrap()[n - 1], sum);
            assert_eq!(x.sort(Order::Descending).unwrap().to_vec().unwrap()[0], last);
            assert_eq!(x.compress(x.gt(by)).unwrap().count().unwrap(), n - 1 - by as usize);
            assert_eq!(x.histogram(2, 0.0, 1e6).unwrap().to_vec().unwrap(), [n as u64, 0]);
            Generator::new(n as u64).fill_uniform(&mut y.clone()).unwrap();
        };
        let first = counted(&context, || work(20, 2.0));
        assert!(first.written > 5, "{first:?}");
        let again = counted(&context, || work(24, 3.0));
        assert_eq!(again.written, 0, "{again:?}");
        assert_eq!(again.found, first.written + first.found);
    }
}

#[test]
fn expressions_alike_but_for_one_thing_have_kernels_of_their_own() {
    for context in contexts() {
        let a = GpuArray::from_slice(&context, &[7i32, -3, 5, 2, 9]).unwrap();
        let b = GpuArray::from_slice(&context, &[2i32, 4, -6, 3, 1]).unwrap();
        let values = |expr: Expr<i32>| expr.eval().unwrap().to_vec().unwrap();
        let kernels = |work: &dyn Fn()| counted(&context, work).written;
        // The operation, the order of its operands, which of them are the same.
        assert_eq!(kernels(&|| assert_eq!(values(&a - &b), [5, -7, 11, -1, 8])), 1);
        assert_eq!(kernels(&|| assert_eq!(values(&a + &b), [9, 1, -1, 5, 10])), 1);
        assert_eq!(kernels(&|| assert_eq!(values(&a - &a), [0; 5])), 1);
        assert_eq!(kernels(&|| assert_eq!(values(&a - 1), [6, -4, 4, 1, 8])), 1);
        let (sum, one) = (&a + &b, Expr::scalar(1));
        assert_eq!(kernels(&|| assert_eq!(values((&sum - &one) * &sum), [72, 0, 2, 20, 90])), 1);
        assert_eq!(kernels(&|| assert_eq!(values((&sum - &one) * &one), [8, 0, -2, 4, 9])), 1);
        // Another constant is another argument.
        assert_eq!(kernels(&|| assert_eq!(values(&a - 3), [4, -6, 2, -1, 6])), 0);
        // Types, of the same size and of another.
        let u = a.cast::<u32>().eval().unwrap();
        assert_eq!(kernels(&|| drop((&u - 1u32).eval().unwrap().to_vec().unwrap())), 1);
        let f = a.cast::<f32>().eval().unwrap();
        let minus = || assert_eq!((&f - 1.5).eval().unwrap().to_vec().unwrap()[1], -4.5);
        assert_eq!(kernels(&minus), 1);
        // Where the elements lie: one behind the other, not aligned, with steps, one for all.
        let (odd, steps) = (a.slice(&index![1..]).unwrap(), a.slice(&index![..;2]).unwrap());
        assert_eq!(kernels(&|| assert_eq!(values(&odd - 1), [-4, 4, 1, 8])), 1);
        assert_eq!(kernels(&|| assert_eq!(values(&steps - 1), [6, 4, 8])), 1);
        let one = a.slice(&index![..1]).unwrap();
        assert_eq!(kernels(&|| assert_eq!(values(&b - &one), [-5, -3, -13, -4, -6])), 1);
    }
}

/// Two types that CUDA C++ calls by the same name.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Doubled(i32);
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Negated(i32);

macro_rules! named_alike {
    ($($of:ident = $operation:literal),*) => {$(
        impl Data for $of {
            const DTYPE: DType = DType {
                name: "Alike",
                definition: concat!(
                    "struct Alike { int v; __device__ int get() const { return ", $operation, "; } };"
                ),
                bytes: 4,
                align: 4,
            };
        }
    )*};
}

named_alike!(Doubled = "2 * v", Negated = "-v");

#[test]
#[expect(unsafe_code, reason = "kernels of our own making")]
fn kernels_of_the_users_alike_but_for_one_thing_are_told_apart() {
    for context in contexts() {
        let out = GpuArray::<i32>::zeros(&context, &[3]).unwrap();
        let run = |preamble: &str, before: &str, operation: &str| {
            // SAFETY: only the element `i` is written.
            let kernel = unsafe { ElementwiseKernel::new("int *z", operation).unwrap() };
            kernel.preamble(preamble).loop_prepare(before).call(&[(&out).into()]).unwrap();
            out.to_vec().unwrap()
        };
        let (two, three) = ("#define K 2", "#define K 3");
        assert_eq!(run(two, "int k = 1;", "z[i] = K + k"), [3; 3]);
        assert_eq!(run(three, "int k = 1;", "z[i] = K + k"), [4; 3]);
        assert_eq!(run(three, "int k = 5;", "z[i] = K + k"), [8; 3]);
        assert_eq!(run(three, "int k = 5;", "z[i] = K - k"), [-2; 3]);
        // SAFETY: only the element `i` of each array is used.
        let get = unsafe { ElementwiseKernel::new("const Alike *x, int *z", "z[i] = x[i].get()") };
        let get = get.unwrap();
        let doubled = GpuArray::from_slice(&context, &[Doubled(4); 3]).unwrap();
        get.call(&[(&doubled).into(), (&out).into()]).unwrap();
        assert_eq!(out.to_vec().unwrap(), [8; 3]);
        let negated = GpuArray::from_slice(&context, &[Negated(4); 3]).unwrap();
        get.call(&[(&negated).into(), (&out).into()]).unwrap();
        assert_eq!(out.to_vec().unwrap(), [-4; 3]);
    }
}
