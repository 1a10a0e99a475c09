//! Arrays over memory of others, as `__cuda_array_interface__` describes it.

use std::sync::{Arc, Mutex};

use warpaint::{
    array::{ArrayInterface, Data, Error, GpuArray, vector::Float3},
    index,
    kernel::Context,
};

use super::contexts;

/// An array over `interface`, whose memory is `kept`'s.
fn import<T: Data>(
    context: &Context,
    interface: &ArrayInterface,
    kept: impl Send + Sync + 'static,
) -> Result<GpuArray<T>, Error> {
    #[expect(unsafe_code, reason = "memory that is there")]
    // SAFETY: tests give interfaces of arrays that they keep, or that are refused.
    unsafe {
        GpuArray::from_interface(context, interface, kept)
    }
}

/// What an array says of itself is an array again, over the same memory.
#[test]
fn what_an_array_says_of_itself_is_an_array_again() {
    for context in contexts() {
        let a = GpuArray::<f64>::arange(&context, 60).unwrap().reshape(&[3, 4, 5]).unwrap();
        let views = [
            a.clone(),
            a.transpose(),
            a.slice(&index![..;-1, 1.., ..;-2]).unwrap(),
            a.slice(&index![1, .., 2]).unwrap(),
            a.slice(&index![.., 4..4]).unwrap(),
            a.slice(&index![2, 3, 4]).unwrap(),
        ];
        for view in views {
            let interface = view.interface().unwrap();
            assert_eq!((&*interface.typestr, interface.address), ("<f8", view.address()));
            assert_eq!(interface.stream.is_some(), context.device().as_nvidia().is_some());
            let again: GpuArray<f64> = import(&context, &interface, view.clone()).unwrap();
            assert_eq!(again.shape(), view.shape());
            assert_eq!(again.to_vec().unwrap(), view.to_vec().unwrap());
            (&again + 100.0).eval_into(&mut again.clone()).unwrap();
            assert_eq!(again.to_vec().unwrap(), view.to_vec().unwrap(), "the same memory");
        }
        let halves = GpuArray::<half::bf16>::zeros(&context, &[2]).unwrap();
        assert_eq!(halves.interface().unwrap().typestr, "|V2");
        let vectors = GpuArray::<Float3>::zeros(&context, &[2]).unwrap();
        assert_eq!(vectors.interface().unwrap().typestr, "|V12");
        let one = a.slice(&index![..1, ..1, ..1]).unwrap().broadcast_to(&[2, 2, 2]).unwrap();
        assert!(one.interface().unwrap().read_only);
    }
}

#[test]
fn foreign_memory_is_kept_until_its_work_has_ended() {
    struct Kept(GpuArray<i32>, Arc<Mutex<Option<Vec<i32>>>>);
    impl Drop for Kept {
        fn drop(&mut self) {
            *self.1.lock().unwrap() = Some(self.0.to_vec().unwrap());
        }
    }
    for context in contexts() {
        let theirs = GpuArray::<i32>::zeros(&context, &[1 << 20]).unwrap();
        let interface = theirs.interface().unwrap();
        let found = Arc::default();
        let kept = Kept(theirs.on(&context.on_new_stream().unwrap()).unwrap(), Arc::clone(&found));
        let mut ours: GpuArray<i32> = import(&context, &interface, kept).unwrap();
        let view = ours.slice(&index![..;2]).unwrap();
        for _ in 0..20 {
            ours.add_assign(1).unwrap();
        }
        drop(ours);
        assert!(found.lock().unwrap().is_none(), "a view is left");
        drop(view);
        assert_eq!(found.lock().unwrap().take().unwrap(), [20; 1 << 20]);
    }
}

#[test]
fn interfaces_that_are_no_arrays_are_refused() {
    for context in contexts() {
        let a = GpuArray::<f32>::zeros(&context, &[2, 3]).unwrap();
        let good = a.interface().unwrap();
        let refused = |interface: ArrayInterface| {
            let refused = import::<f32>(&context, &interface, a.clone());
            assert!(matches!(refused, Err(Error::Interface { .. })), "{interface:?}: {refused:?}");
        };
        for typestr in ["<i4", ">f4", "", "<f8"] {
            refused(ArrayInterface { typestr: typestr.into(), ..good.clone() });
        }
        refused(ArrayInterface { read_only: true, ..good.clone() });
        for strides in [vec![12], vec![12, 2], vec![isize::MAX - 3, isize::MAX - 3]] {
            refused(ArrayInterface { strides: Some(strides), ..good.clone() });
        }
        for address in [0, good.address + 2] {
            refused(ArrayInterface { address, ..good.clone() });
        }
        let huge = ArrayInterface { shape: vec![usize::MAX, 2], ..good.clone() };
        assert!(matches!(import::<f32>(&context, &huge, ()), Err(Error::TooLarge { .. })));
        if context.device().as_nvidia().is_none() {
            let elsewhere = ArrayInterface { stream: Some(1), ..good.clone() };
            assert!(matches!(import::<f32>(&context, &elsewhere, ()), Err(Error::Device(_))));
        }
        let none = ArrayInterface { shape: vec![0, 3], address: 0, stream: None, ..good };
        assert!(import::<f32>(&context, &none, ()).unwrap().to_vec().unwrap().is_empty());
    }
}
