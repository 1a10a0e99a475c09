//! Properties of the CPU device.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "most of the driver's properties are those of hardware: what is not named has no answer here"
)]

use super::Device;
use crate::device::{ArrayDescriptor, ArrayShape, Attribute, Format, Result};

impl Device {
    /// A property, where it means something on this device.
    ///
    /// # Errors
    /// None on this device.
    pub fn attribute(&self, attribute: Attribute) -> Result<Option<i32>> {
        use Attribute::*;
        let info = self.info();
        let number = match attribute {
            MaxThreadsPerBlock => info.max_threads_per_block,
            MaxBlockDimX => info.max_block[0],
            MaxBlockDimY => info.max_block[1],
            MaxBlockDimZ => info.max_block[2],
            MaxGridDimX => info.max_grid[0],
            MaxGridDimY => info.max_grid[1],
            MaxGridDimZ => info.max_grid[2],
            MaxSharedMemoryPerBlock | MaxSharedMemoryPerBlockOptin => info.max_shared_bytes,
            WarpSize => info.warp_size,
            MultiprocessorCount => info.multiprocessors,
            ComputeCapabilityMajor => info.compute_capability.0,
            ComputeCapabilityMinor => info.compute_capability.1,
            MaxPitch => i32::MAX as u32,
            Integrated | CanMapHostMemory | ConcurrentKernels | UnifiedAddressing => 1,
            ManagedMemory | ConcurrentManagedAccess | HostRegisterSupported => 1,
            CooperativeLaunch | CanTex2dGather | HostNativeAtomicSupported => 1,
            GpuOverlap | AsyncEngineCount => 1,
            KernelExecTimeout | StreamPrioritiesSupported | ClusterLaunch => 0,
            PageableMemoryAccess | CanUseHostPointerForRegisteredMem => 0,
            _ => return self.largest_texels(attribute),
        };
        Ok(i32::try_from(number).ok())
    }

    /// The limits of arrays.
    fn largest_texels(&self, attribute: Attribute) -> Result<Option<i32>> {
        use Attribute::*;
        let (d1, d2) = (ArrayShape::D1 { width: 1 }, ArrayShape::D2 { width: 1, height: 1 });
        let d3 = ArrayShape::D3 { width: 1, height: 1, depth: 1 };
        let layered1 = ArrayShape::Layered1 { width: 1, layers: 1 };
        let layered2 = ArrayShape::Layered2 { width: 1, height: 1, layers: 1 };
        let (cube, cubes) =
            (ArrayShape::Cube { width: 1 }, ArrayShape::LayeredCube { width: 1, cubes: 1 });
        let (shape, axis, surface) = match attribute {
            MaximumTexture1dWidth => (d1, 0, false),
            MaximumTexture2dWidth => (d2, 0, false),
            MaximumTexture2dHeight => (d2, 1, false),
            MaximumTexture3dWidth => (d3, 0, false),
            MaximumTexture3dHeight => (d3, 1, false),
            MaximumTexture3dDepth => (d3, 2, false),
            MaximumTexture1dLayeredWidth => (layered1, 0, false),
            MaximumTexture1dLayeredLayers => (layered1, 2, false),
            MaximumTexture2dLayeredWidth => (layered2, 0, false),
            MaximumTexture2dLayeredHeight => (layered2, 1, false),
            MaximumTexture2dLayeredLayers => (layered2, 2, false),
            MaximumTexturecubemapWidth => (cube, 0, false),
            MaximumTexturecubemapLayeredWidth => (cubes, 0, false),
            MaximumTexturecubemapLayeredLayers => (cubes, 2, false),
            MaximumSurface1dWidth => (d1, 0, true),
            MaximumSurface2dWidth => (d2, 0, true),
            MaximumSurface2dHeight => (d2, 1, true),
            MaximumSurface3dWidth => (d3, 0, true),
            MaximumSurface3dHeight => (d3, 1, true),
            MaximumSurface3dDepth => (d3, 2, true),
            _ => return Ok(None),
        };
        let descriptor = ArrayDescriptor { surface, ..ArrayDescriptor::new(shape, Format::R32F) };
        Ok(i32::try_from(self.largest_array(&descriptor)?[axis]).ok())
    }
}
