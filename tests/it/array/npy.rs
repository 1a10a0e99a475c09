//! `.npy` files, against the crate `ndarray-npy` and files as numpy writes them.

use std::fs;

use half::{bf16, f16};
use ndarray::{Array, ArrayD, ShapeBuilder};
use num_complex::Complex;
use warpaint::{
    array::{Data, Error, GpuArray, vector::Float3},
    index,
    kernel::Context,
};

use super::{contexts, counted};

fn round_trip<T: Data + PartialEq>(context: &Context, values: &[T]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let written =
        GpuArray::from_shape(context, &[2, values.len() / 2], values).unwrap().transpose();
    written.write_npy(&path).unwrap();
    let read = GpuArray::<T>::read_npy(context, &path).unwrap();
    assert_eq!(read.shape(), written.shape());
    assert_eq!(read.to_vec().unwrap(), written.to_vec().unwrap());
}

#[test]
fn every_type_comes_back() {
    for context in contexts() {
        round_trip(&context, &[true, false, false, true]);
        round_trip(&context, &[-1i8, 2]);
        round_trip(&context, &[1u8, 255]);
        round_trip(&context, &[-300i16, 2]);
        round_trip(&context, &[60000u16, 2]);
        round_trip(&context, &[i32::MIN, 2]);
        round_trip(&context, &[u32::MAX, 2]);
        round_trip(&context, &[i64::MIN, 2]);
        round_trip(&context, &[u64::MAX, 2]);
        round_trip(&context, &[0.1, -2.0].map(f16::from_f32));
        round_trip(&context, &[0.1, -2.0].map(bf16::from_f32));
        round_trip(&context, &[0.1f32, -2.0]);
        round_trip(&context, &[0.1f64, -2.0]);
        round_trip(&context, &[Complex::new(0.1f32, 1.0), Complex::new(2.0, 3.0)]);
        round_trip(&context, &[Complex::new(0.1f64, 1.0), Complex::new(2.0, 3.0)]);
        round_trip(&context, &[Float3::new(1.0, 2.0, 3.0), Float3::new(4.0, 5.0, 6.0)]);
    }
}

#[test]
fn files_are_those_of_ndarray_npy() {
    for context in contexts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let x = counted(&[3, 4, 5]);
        let a = GpuArray::from_ndarray(&context, &x).unwrap();
        a.slice(&index![..;-1, 2]).unwrap().write_npy(&path).unwrap();
        let read: ArrayD<f32> = ndarray_npy::read_npy(&path).unwrap();
        assert_eq!(read, x.slice(ndarray::s![..;-1, 2, ..]).into_dyn());

        let fortran =
            Array::from_shape_fn((2, 3, 4).f(), |(i, j, k)| (i * 100 + j * 10 + k) as u16);
        ndarray_npy::write_npy(&path, &fortran).unwrap();
        let read = GpuArray::<u16>::read_npy(&context, &path).unwrap();
        assert_eq!(read.strides(), [1, 2, 6], "as it lies in the file");
        assert_eq!(read.to_ndarray().unwrap(), fortran.into_dyn());
    }
}

/// A file with this header text and data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

#[test]
fn what_numpy_writes_elsewhere_is_read_too() {
    let context = &contexts()[0];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let read = |content: Vec<u8>| {
        fs::write(&path, content).unwrap();
        GpuArray::<i32>::read_npy(context, &path)
            .map(|array| (array.shape().to_vec(), array.to_vec().unwrap()))
    };
    let big = file(
        "{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }\n",
        &[0, 0, 1, 2, 255, 255, 255, 255],
    );
    assert_eq!(read(big).unwrap(), (vec![2], vec![258, -1]));
    let single =
        file("{\"shape\": (), \"fortran_order\": True, \"descr\": \"<i4\"}", &[5, 0, 0, 0]);
    assert_eq!(read(single).unwrap(), (vec![], vec![5]));
    let none = file("{'descr': '<i4', 'fortran_order': False, 'shape': (0, 3)}", &[]);
    assert_eq!(read(none).unwrap(), (vec![0, 3], vec![]));
    let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (1L,)}";
    let second = [
        b"\x93NUMPY\x02\x00",
        &(header.len() as u32).to_le_bytes()[..],
        header.as_bytes(),
        &[7, 0, 0, 0],
    ];
    assert_eq!(read(second.concat()).unwrap(), (vec![1], vec![7]));
}

#[test]
fn damaged_files_are_errors() {
    let context = &contexts()[0];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let good = file(
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n",
        &[1, 0, 0, 0, 2, 0, 0, 0],
    );
    let told = |content: &[u8]| {
        fs::write(&path, content).unwrap();
        match GpuArray::<i32>::read_npy(context, &path) {
            Ok(_) => "fine".to_owned(),
            Err(error @ Error::Npy { .. }) => error.to_string(),
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(told(&good), "fine");
    for cut in 0..good.len() {
        assert_ne!(told(&good[..cut]), "fine", "cut after {cut} bytes");
    }
    for byte in 0..good.len() - 8 {
        for flip in [1, 0x20, 0x80] {
            let mut damaged = good.clone();
            damaged[byte] ^= flip;
            told(&damaged); // an error or another array, no panic
        }
    }
    let wrong = [
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "it holds `f4`, not `i4`"),
        (
            "{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}",
            "8 bytes cannot have the shape [3]",
        ),
        ("{'descr': '<i4', 'fortran_order': 0, 'shape': (2,)}", "its header is"),
        ("{'descr': '<i4', 'shape': (2,)}", "its header is"),
        (
            "{'descr': [('x', '<i4')], 'fortran_order': False, 'shape': (2,)}",
            "it holds `V4`, not `i4`",
        ),
        (
            "{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}",
            "8 bytes cannot have the shape",
        ),
    ];
    for (header, message) in wrong {
        let told = told(&file(header, &good[good.len() - 8..]));
        assert!(told.contains(message), "{told}");
    }
    fs::write(&path, file("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", &[2]))
        .unwrap();
    assert!(matches!(GpuArray::<bool>::read_npy(context, &path), Err(Error::InvalidBits { .. })));
    assert!(matches!(
        GpuArray::<bool>::read_npy(context, folder.path().join("none.npy")),
        Err(Error::File { action: "read", .. })
    ));
    let a = GpuArray::<i32>::arange(context, 2).unwrap();
    let error = a.write_npy(folder.path().join("no/such.npy")).unwrap_err();
    assert!(matches!(error, Error::File { action: "write", .. }), "{error}");
    // Of the file that is written meanwhile nobody asked.
    assert!(!format!("{error:?}").contains("draft"), "{error:?}");
}

/// A device has no end, and a pipe may have no writer.
#[cfg(target_os = "linux")]
#[test]
fn what_is_no_file_is_not_read() {
    use warpaint::{array::Error, device::Device, kernel::Source};
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [std::path::Path::new("/dev/zero"), &pipe] {
        let error = GpuArray::<f32>::read_npy(&context, path).unwrap_err();
        assert!(matches!(error, Error::File { .. }), "{error}");
        assert_eq!(Source::read(path).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    }
}
