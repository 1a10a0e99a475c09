//! What C's and CUDA's headers define: numbers, and names of types.

use super::cpp_number::{Number, Type};

/// What an address is as a number.
pub(in crate::scene::draft) const ADDRESS: &str = "unsigned long long";

/// Numbers of C's headers and CUDA's.
pub(in crate::scene::draft) fn known(name: &str) -> Option<Number> {
    let of = |of: Type, high: bool| {
        let value = of.range()?[usize::from(high)];
        Some(Number::Whole(of.promoted(), value))
    };
    match name {
        "cudaSuccess" | "NULL" | "nullptr" | "EXIT_SUCCESS" => Some(Number::int(0)),
        "M_PI" => Some(Number::Real(Type::Double, std::f64::consts::PI)),
        "M_E" => Some(Number::Real(Type::Double, std::f64::consts::E)),
        "INT_MAX" | "RAND_MAX" => of(Type::Int, true),
        "INT_MIN" => of(Type::Int, false),
        "UINT_MAX" => of(Type::Unsigned, true),
        "CHAR_BIT" => Some(Number::int(8)),
        "FLT_MAX" => Some(Number::Real(Type::Float, f64::from(f32::MAX))),
        "FLT_EPSILON" => Some(Number::Real(Type::Float, f64::from(f32::EPSILON))),
        "DBL_MAX" => Some(Number::Real(Type::Double, f64::MAX)),
        _ => None,
    }
}

/// What CUDA's and C's headers call otherwise.
pub(in crate::scene::draft) fn of_header(name: &str) -> Option<&'static str> {
    Some(match name {
        "clock_t" | "time_t" | "ssize_t" | "ptrdiff_t" => "long long",
        "cufftReal" => "float",
        "cufftDoubleReal" => "double",
        "cuComplex" | "cuFloatComplex" | "cufftComplex" => "float2",
        "cuDoubleComplex" | "cufftDoubleComplex" => "double2",
        "cudaTextureObject_t" | "cudaSurfaceObject_t" | "CUdeviceptr" => ADDRESS,
        _ => return None,
    })
}
