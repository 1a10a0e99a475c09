//! What nobody should do to arrays and kernels, and what comes of it: an error, or what numpy does.

use std::{sync::mpsc, thread, time::Duration};

use warpaint::{
    array::{
        ArrayInterface, ElementwiseKernel, Error, GpuArray, Order, ReductionKernel, concatenate,
        random::Generator, stack,
    },
    compile::{Cache, Compiler},
    device::{self, LaunchConfig},
    index,
    kernel::{self, Context, Source},
};

use super::contexts;

/// Another array over the memory of `array`, told of by nothing but its address.
fn imported(array: &GpuArray<i32>, change: impl FnOnce(&mut ArrayInterface)) -> GpuArray<i32> {
    let mut interface = array.interface().unwrap();
    change(&mut interface);
    #[expect(unsafe_code, reason = "memory that is there")]
    // SAFETY: the array is kept.
    unsafe {
        GpuArray::from_interface(array.context(), &interface, array.clone()).unwrap()
    }
}

fn elementwise(parameters: &str, operation: &str) -> Result<ElementwiseKernel, Error> {
    #[expect(unsafe_code, reason = "kernels of our own making")]
    // SAFETY: only the element `i` of each array is used.
    unsafe {
        ElementwiseKernel::new(parameters, operation)
    }
}

fn reduction(parameters: &str, map: &str) -> Result<ReductionKernel<f32>, Error> {
    #[expect(unsafe_code, reason = "kernels of our own making")]
    // SAFETY: only the element `i` of each array is read.
    unsafe {
        ReductionKernel::new(parameters, "0 // of none", "a + b // the sum", map)
    }
}

#[test]
fn arrays_that_share_memory_through_another_library_are_read_before_they_are_written() {
    for context in contexts() {
        let n = 100_000;
        let shifted: Vec<i32> = [0].into_iter().chain(0..n - 1).collect();
        let turned: Vec<i32> = (0..n).rev().collect();

        let a = GpuArray::<i32>::arange(&context, n as usize).unwrap();
        let b = imported(&a, |_| {});
        let to = &mut b.slice(&index![1..]).unwrap();
        to.assign(a.slice(&index![..-1]).unwrap()).unwrap();
        assert_eq!(a.to_vec().unwrap(), shifted);

        let a = GpuArray::<i32>::arange(&context, n as usize).unwrap();
        imported(&a, |_| {}).assign(a.reverse()).unwrap();
        assert_eq!(a.to_vec().unwrap(), turned);

        let a = GpuArray::<i32>::ones(&context, &[3, 4]).unwrap();
        let mut row = imported(&a.slice(&index![1]).unwrap(), |_| {});
        a.reduce().along(&[0]).sum().eval_into(&mut row).unwrap();
        assert_eq!(a.to_vec().unwrap(), [1, 1, 1, 1, 3, 3, 3, 3, 1, 1, 1, 1]);
    }
}

#[test]
fn steps_that_lead_nowhere_may_be_of_any_size() {
    for context in contexts() {
        let a = GpuArray::<i32>::arange(&context, 4).unwrap();
        let b = imported(&a, |interface| {
            interface.shape = vec![1, 4, 1];
            interface.strides = Some(vec![isize::MIN, 4, isize::MIN]);
        });
        assert_eq!(b.reverse().to_vec().unwrap(), [3, 2, 1, 0]);
        assert_eq!(b.diagonal(0, 2).unwrap().to_vec().unwrap(), [0, 1, 2, 3]);
        assert_eq!(b.transpose().interface().unwrap().shape, [1, 4, 1]);
        let none = GpuArray::<f64>::empty(&context, &[0, 1 << 62]).unwrap();
        assert_eq!(none.interface().unwrap().shape, [0, 1 << 62]);
        let wide = GpuArray::<u64>::zeros(&context, &[1, 8]).unwrap();
        let wide = wide.broadcast_to(&[1 << 59, 8]).unwrap();
        assert!(matches!(wide.view_as::<u8>(), Err(Error::View { .. })));
    }
}

#[test]
fn parameters_have_names_that_the_kernel_does_not_use_itself() {
    for name in ["i", "turn_", "total_", "u_", "threadIdx", "blockIdx", "gridDim"] {
        let lists = [format!("float *x, float {name}"), format!("const float *{name}")];
        for list in lists {
            let told = |error| matches!(error, Err(Error::Parameters { .. }));
            assert!(told(elementwise(&list, "x[i] = 1").map(drop)), "{list}");
            assert!(told(reduction(&list, "1").map(drop)), "{list}");
        }
    }
    let length = elementwise("float *x, int n", "x[i] = n");
    assert!(matches!(length, Err(Error::Parameters { .. })), "{length:?}");
    for context in contexts() {
        // Of functions that it is made of, too, and `n` where that is not the kernel's.
        let list = "const float *x, float n, float a, float b";
        let kernel = reduction(list, "x[i] * n + a - b").unwrap();
        let x = GpuArray::<f32>::arange(&context, 4).unwrap();
        let given = [(&x).into(), 2f32.into(), 3f32.into(), 1f32.into()];
        assert_eq!(kernel.item(&given).unwrap(), 20.0);
    }
}

#[test]
fn comments_end_with_their_line() {
    for context in contexts() {
        let x = GpuArray::<f32>::arange(&context, 4).unwrap();
        let kernel = reduction("const float *x // the numbers", "x[i] // each").unwrap();
        assert_eq!(kernel.item(&[(&x).into()]).unwrap(), 6.0);
        let kernel = elementwise("float *x /* in, out */ // all", "x[i] += 1 // more").unwrap();
        kernel.call(&[(&x).into()]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    }
}

#[test]
fn arrays_of_a_reduction_have_one_length() {
    for context in contexts() {
        let kernel = reduction("const float *x, const float *y", "x[i] * y[i]").unwrap();
        let of = |n| GpuArray::<f32>::ones(&context, &[n]).unwrap();
        for other in [3, 100_000] {
            let given = [(&of(5)).into(), (&of(other)).into()];
            assert!(matches!(kernel.call(&given), Err(Error::Shape { .. })));
            assert!(matches!(kernel.item(&given), Err(Error::Shape { .. })));
        }
    }
}

#[test]
fn a_result_on_another_device_is_refused() {
    for context in contexts() {
        let other = Context::new(device::Device::cpu().unwrap()).unwrap();
        let kernel = reduction("const float *x", "x[i]").unwrap();
        let x = GpuArray::<f32>::ones(&context, &[5]).unwrap();
        let result = kernel.call_into(&[(&x).into()], &mut GpuArray::zeros(&other, &[]).unwrap());
        let refused = matches!(
            result,
            Err(Error::Device(device::Error::WrongDevice { operation: "use memory on a stream" }))
        );
        assert!(refused, "{result:?}");
    }
}

#[test]
fn operations_without_arrays_say_so() {
    let none = concatenate::<f32>(&[], 0).unwrap_err();
    assert_eq!(
        none.to_string(),
        "concatenate needs an array, from which it takes shape and device"
    );
}

/// What is told is the caller's own: the operation, the shape, the axis and the element that are wrong.
#[test]
fn errors_name_what_is_wrong() {
    for context in contexts() {
        let zeros = |shape: &[usize]| GpuArray::<i32>::zeros(&context, shape).unwrap();
        let (matrix, line) = (zeros(&[3, 4]), zeros(&[12]));
        let told = |error: Error| error.to_string();
        assert_eq!(
            told(matrix.sort_by_key(&line, Order::Ascending).unwrap_err()),
            "a sort by key, whose keys have one axis: the shape is [3, 4], where [12] is needed"
        );
        assert_eq!(
            told(line.sort_by_key(&matrix, Order::Ascending).unwrap_err()),
            "a sort by key, which has a value for each key: the shape is [3, 4], where [12] is needed"
        );
        assert_eq!(
            told(stack(&[&matrix, &zeros(&[1, 0])], 0).unwrap_err()),
            "stack: the shape is [1, 0], where [3, 4] is needed"
        );
        let no_place =
            "an array of 2 dimensions has no place for a new axis 9: that is one of 0 to 2";
        assert_eq!(told(matrix.expand_dims(9).unwrap_err()), no_place);
        assert_eq!(told(stack(&[&matrix], 9).unwrap_err()), no_place);
        let places = GpuArray::from_slice(&context, &[0, 5, i32::MIN, 2]).unwrap();
        let first = "index 5 is outside axis 0, which has length 3";
        assert_eq!(told(matrix.take(&places, 0).unwrap_err()), first);
        assert_eq!(told(zeros(&[3]).at(&places).unwrap_err()), first);
        let least = GpuArray::<i8>::arange(&context, 128).unwrap().to_vec().unwrap();
        assert_eq!(least.last(), Some(&127));
        assert_eq!(
            told(GpuArray::<i8>::arange(&context, 129).unwrap_err()),
            "`signed char` has no 128, the last of the numbers from 0 on"
        );
    }
}

#[test]
#[expect(unsafe_code, reason = "a kernel launch")]
fn a_kernel_gets_a_pointer_to_the_first_element() {
    for context in contexts() {
        let source = Source::new("__global__ void mark(float *x) { *x = 9; }");
        let mark = context.module(&source).unwrap().kernel("mark").unwrap();
        let a = GpuArray::<f32>::zeros(&context, &[2, 3]).unwrap();
        for view in [a.reverse(), a.slice(&index![0, ..;-2]).unwrap()] {
            let argument = [view.argument().unwrap()];
            // SAFETY: the element is there.
            unsafe { mark.launch(context.stream(), &LaunchConfig::new(1, 1), &argument).unwrap() };
        }
        assert_eq!(a.to_vec().unwrap(), [0.0, 0.0, 9.0, 0.0, 0.0, 9.0]);
    }
}

#[test]
fn blocks_of_more_threads_than_can_be_counted_are_refused() {
    for context in contexts() {
        let source = Source::new("__global__ void nothing() {}");
        let nothing = context.module(&source).unwrap().kernel("nothing").unwrap();
        for block in [[1 << 31; 3], [u32::MAX; 3]] {
            let prepared = nothing.prepare(&LaunchConfig::new(1, block), &[]);
            let refused =
                matches!(prepared, Err(kernel::Error::Device(device::Error::InvalidLaunch { .. })));
            assert!(refused, "{block:?}");
        }
    }
}

#[test]
fn counts_that_a_type_has_no_room_for_become_its_greatest() {
    for context in contexts() {
        for mean in [120.0, 300.0, 3e9] {
            let wide = Generator::new(3).poisson::<i64>(&context, &[500], mean).unwrap();
            let bytes = Generator::new(3).poisson::<u8>(&context, &[500], mean).unwrap();
            let small = Generator::new(3).poisson::<i8>(&context, &[500], mean).unwrap();
            let wide = wide.to_vec().unwrap();
            assert!(wide.iter().any(|&count| count > 127));
            let bound = |most: i64| wide.iter().map(move |&count| count.min(most));
            assert!(bytes.to_vec().unwrap().into_iter().map(i64::from).eq(bound(255)));
            assert!(small.to_vec().unwrap().into_iter().map(i64::from).eq(bound(127)));
        }
    }
}

#[test]
fn arrays_of_any_size_and_precision_are_printed() {
    for context in contexts() {
        let a = GpuArray::from_slice(&context, &[1.5f32, 100.0]).unwrap();
        // Of width 65539, which is more than a format can have.
        let text = format!("{a:.65535}");
        assert_eq!(text.len(), 2 * 65539 + 3);
        assert!(text.starts_with("[  1.50") && text.ends_with("00]"));
        let wide = a.reshape(&[2, 1]).unwrap().broadcast_to(&[2, 1 << 40]).unwrap();
        let row = |value: &str| format!("[{value} {value} {value} ... {value} {value} {value}]");
        let expected = format!("[{}\n {}]", row("  1.5"), row("100.0"));
        assert_eq!(wide.to_string(), expected);
        let high = a.reshape(&[2, 1, 1]).unwrap().broadcast_to(&[2, 1 << 20, 1 << 30]).unwrap();
        assert_eq!(high.to_string().lines().count(), 15);
        // To `Debug` of a `bool`, a precision is how much is left of the word.
        assert_eq!(format!("{:.2}", a.gt(2.0).eval().unwrap()), "[false  true]");
    }
}

/// While one thread compiles what it will do with an array, another uses the array on a stream of its own and drops it.
#[test]
fn memory_is_not_reused_before_work_that_another_thread_puts_on_its_stream_late() {
    let device = device::Device::cpu().unwrap();
    let context = Context::with_compiler(device, Compiler::new(Cache::disabled())).unwrap();
    let [other, third] = [(); 2].map(|()| context.on_new_stream().unwrap());
    let x = GpuArray::<f32>::ones(&context, &[5000]).unwrap();
    let y = GpuArray::<f32>::zeros(&context, &[5000]).unwrap();
    let kernel = elementwise("const float *x, float *y", "y[i] = x[i] + 1").unwrap();
    let (begun, begins) = mpsc::channel();
    let (theirs, result) = (x.clone(), y.clone());
    let late = thread::spawn(move || {
        begun.send(()).unwrap();
        kernel.call(&[(&theirs).into(), (&result).into()])
    });
    begins.recv().unwrap();
    // To compile takes longer. (Where it does not, nothing is late, and nothing shown.)
    thread::sleep(Duration::from_millis(5));
    let read = x.on(&other).unwrap().download().unwrap();
    let (go, wait) = mpsc::channel::<()>();
    context.stream().host_function(move || wait.recv().unwrap()).unwrap();
    late.join().unwrap().unwrap();
    assert!(read.wait().unwrap().iter().all(|&v| v == 1.0));
    drop(x);
    let z = GpuArray::<f32>::zeros(&third, &[5000]).unwrap();
    thread::sleep(Duration::from_millis(20));
    go.send(()).unwrap();
    assert!(y.to_vec().unwrap().iter().all(|&v| v == 2.0));
    assert!(z.to_vec().unwrap().iter().all(|&v| v == 0.0));
}

/// Its ends tell nothing then of what shares memory with it, not even with what was just allocated.
#[test]
fn an_array_that_is_said_to_reach_over_all_memory_faults_where_it_has_none() {
    let context = Context::new(device::Device::cpu().unwrap()).unwrap();
    let a = GpuArray::<i32>::arange(&context, 4).unwrap();
    let far = imported(&a, |interface| {
        interface.shape = vec![2];
        interface.strides = Some(vec![1 << 61]);
    });
    let faults = |read| matches!(read, Err(Error::Device(device::Error::Fault(_))));
    assert!(faults((&far + 1).eval().unwrap().to_vec()));
    assert!(faults(far.cumsum().unwrap().to_vec()));
}
