//! Every property of a device that the CUDA driver tells, by name.

use std::fmt;

use super::{Device, Result, each};

/// Declares the attributes with their numbers and names in CUDA's header.
macro_rules! attributes {
    ($($variant:ident = $number:literal, $name:literal;)*) => {
        /// A property of a device: one of the driver's `CU_DEVICE_ATTRIBUTE_*`, by its name there. Sizes are in bytes,
        /// clock rates in kHz, and what is supported or not is 1 or 0.
        ///
        /// ```
        /// use warpaint::device::{Attribute, Device};
        ///
        /// let threads = Device::cpu()?.attribute(Attribute::MaxThreadsPerBlock)?;
        /// assert_eq!(threads, Some(1024));
        /// assert_eq!(Attribute::MaxThreadsPerBlock.to_string(), "MAX_THREADS_PER_BLOCK");
        /// # Ok::<(), warpaint::device::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(i32)]
        pub enum Attribute {
            $(#[doc = concat!("`CU_DEVICE_ATTRIBUTE_", $name, "`")] $variant = $number,)*
        }

        impl Attribute {
            /// All of them, by number.
            ///
            /// ```
            /// # use warpaint::device::Attribute;
            /// let named = |name: &str| Attribute::ALL.iter().find(|attribute| attribute.name() == name);
            /// assert_eq!(named("WARP_SIZE"), Some(&Attribute::WarpSize));
            /// assert_eq!(named("WARP_LENGTH"), None);
            /// ```
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name in CUDA's header, without `CU_DEVICE_ATTRIBUTE_`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

// CUDA driver API, `CUdevice_attribute` of CUDA 13.4, but for what is deprecated there. Numbers never change.
attributes! {
    MaxThreadsPerBlock = 1, "MAX_THREADS_PER_BLOCK";
    MaxBlockDimX = 2, "MAX_BLOCK_DIM_X";
    MaxBlockDimY = 3, "MAX_BLOCK_DIM_Y";
    MaxBlockDimZ = 4, "MAX_BLOCK_DIM_Z";
    MaxGridDimX = 5, "MAX_GRID_DIM_X";
    MaxGridDimY = 6, "MAX_GRID_DIM_Y";
    MaxGridDimZ = 7, "MAX_GRID_DIM_Z";
    MaxSharedMemoryPerBlock = 8, "MAX_SHARED_MEMORY_PER_BLOCK";
    TotalConstantMemory = 9, "TOTAL_CONSTANT_MEMORY";
    WarpSize = 10, "WARP_SIZE";
    MaxPitch = 11, "MAX_PITCH";
    MaxRegistersPerBlock = 12, "MAX_REGISTERS_PER_BLOCK";
    ClockRate = 13, "CLOCK_RATE";
    TextureAlignment = 14, "TEXTURE_ALIGNMENT";
    GpuOverlap = 15, "GPU_OVERLAP";
    MultiprocessorCount = 16, "MULTIPROCESSOR_COUNT";
    KernelExecTimeout = 17, "KERNEL_EXEC_TIMEOUT";
    Integrated = 18, "INTEGRATED";
    CanMapHostMemory = 19, "CAN_MAP_HOST_MEMORY";
    ComputeMode = 20, "COMPUTE_MODE";
    MaximumTexture1dWidth = 21, "MAXIMUM_TEXTURE1D_WIDTH";
    MaximumTexture2dWidth = 22, "MAXIMUM_TEXTURE2D_WIDTH";
    MaximumTexture2dHeight = 23, "MAXIMUM_TEXTURE2D_HEIGHT";
    MaximumTexture3dWidth = 24, "MAXIMUM_TEXTURE3D_WIDTH";
    MaximumTexture3dHeight = 25, "MAXIMUM_TEXTURE3D_HEIGHT";
    MaximumTexture3dDepth = 26, "MAXIMUM_TEXTURE3D_DEPTH";
    MaximumTexture2dLayeredWidth = 27, "MAXIMUM_TEXTURE2D_LAYERED_WIDTH";
    MaximumTexture2dLayeredHeight = 28, "MAXIMUM_TEXTURE2D_LAYERED_HEIGHT";
    MaximumTexture2dLayeredLayers = 29, "MAXIMUM_TEXTURE2D_LAYERED_LAYERS";
    SurfaceAlignment = 30, "SURFACE_ALIGNMENT";
    ConcurrentKernels = 31, "CONCURRENT_KERNELS";
    EccEnabled = 32, "ECC_ENABLED";
    PciBusId = 33, "PCI_BUS_ID";
    PciDeviceId = 34, "PCI_DEVICE_ID";
    TccDriver = 35, "TCC_DRIVER";
    MemoryClockRate = 36, "MEMORY_CLOCK_RATE";
    GlobalMemoryBusWidth = 37, "GLOBAL_MEMORY_BUS_WIDTH";
    L2CacheSize = 38, "L2_CACHE_SIZE";
    MaxThreadsPerMultiprocessor = 39, "MAX_THREADS_PER_MULTIPROCESSOR";
    AsyncEngineCount = 40, "ASYNC_ENGINE_COUNT";
    UnifiedAddressing = 41, "UNIFIED_ADDRESSING";
    MaximumTexture1dLayeredWidth = 42, "MAXIMUM_TEXTURE1D_LAYERED_WIDTH";
    MaximumTexture1dLayeredLayers = 43, "MAXIMUM_TEXTURE1D_LAYERED_LAYERS";
    CanTex2dGather = 44, "CAN_TEX2D_GATHER";
    MaximumTexture2dGatherWidth = 45, "MAXIMUM_TEXTURE2D_GATHER_WIDTH";
    MaximumTexture2dGatherHeight = 46, "MAXIMUM_TEXTURE2D_GATHER_HEIGHT";
    MaximumTexture3dWidthAlternate = 47, "MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE";
    MaximumTexture3dHeightAlternate = 48, "MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE";
    MaximumTexture3dDepthAlternate = 49, "MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE";
    PciDomainId = 50, "PCI_DOMAIN_ID";
    TexturePitchAlignment = 51, "TEXTURE_PITCH_ALIGNMENT";
    MaximumTexturecubemapWidth = 52, "MAXIMUM_TEXTURECUBEMAP_WIDTH";
    MaximumTexturecubemapLayeredWidth = 53, "MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH";
    MaximumTexturecubemapLayeredLayers = 54, "MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS";
    MaximumSurface1dWidth = 55, "MAXIMUM_SURFACE1D_WIDTH";
    MaximumSurface2dWidth = 56, "MAXIMUM_SURFACE2D_WIDTH";
    MaximumSurface2dHeight = 57, "MAXIMUM_SURFACE2D_HEIGHT";
    MaximumSurface3dWidth = 58, "MAXIMUM_SURFACE3D_WIDTH";
    MaximumSurface3dHeight = 59, "MAXIMUM_SURFACE3D_HEIGHT";
    MaximumSurface3dDepth = 60, "MAXIMUM_SURFACE3D_DEPTH";
    MaximumSurface1dLayeredWidth = 61, "MAXIMUM_SURFACE1D_LAYERED_WIDTH";
    MaximumSurface1dLayeredLayers = 62, "MAXIMUM_SURFACE1D_LAYERED_LAYERS";
    MaximumSurface2dLayeredWidth = 63, "MAXIMUM_SURFACE2D_LAYERED_WIDTH";
    MaximumSurface2dLayeredHeight = 64, "MAXIMUM_SURFACE2D_LAYERED_HEIGHT";
    MaximumSurface2dLayeredLayers = 65, "MAXIMUM_SURFACE2D_LAYERED_LAYERS";
    MaximumSurfacecubemapWidth = 66, "MAXIMUM_SURFACECUBEMAP_WIDTH";
    MaximumSurfacecubemapLayeredWidth = 67, "MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH";
    MaximumSurfacecubemapLayeredLayers = 68, "MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS";
    MaximumTexture1dLinearWidth = 69, "MAXIMUM_TEXTURE1D_LINEAR_WIDTH";
    MaximumTexture2dLinearWidth = 70, "MAXIMUM_TEXTURE2D_LINEAR_WIDTH";
    MaximumTexture2dLinearHeight = 71, "MAXIMUM_TEXTURE2D_LINEAR_HEIGHT";
    MaximumTexture2dLinearPitch = 72, "MAXIMUM_TEXTURE2D_LINEAR_PITCH";
    MaximumTexture2dMipmappedWidth = 73, "MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH";
    MaximumTexture2dMipmappedHeight = 74, "MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT";
    ComputeCapabilityMajor = 75, "COMPUTE_CAPABILITY_MAJOR";
    ComputeCapabilityMinor = 76, "COMPUTE_CAPABILITY_MINOR";
    MaximumTexture1dMipmappedWidth = 77, "MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH";
    StreamPrioritiesSupported = 78, "STREAM_PRIORITIES_SUPPORTED";
    GlobalL1CacheSupported = 79, "GLOBAL_L1_CACHE_SUPPORTED";
    LocalL1CacheSupported = 80, "LOCAL_L1_CACHE_SUPPORTED";
    MaxSharedMemoryPerMultiprocessor = 81, "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR";
    MaxRegistersPerMultiprocessor = 82, "MAX_REGISTERS_PER_MULTIPROCESSOR";
    ManagedMemory = 83, "MANAGED_MEMORY";
    MultiGpuBoard = 84, "MULTI_GPU_BOARD";
    MultiGpuBoardGroupId = 85, "MULTI_GPU_BOARD_GROUP_ID";
    HostNativeAtomicSupported = 86, "HOST_NATIVE_ATOMIC_SUPPORTED";
    SingleToDoublePrecisionPerfRatio = 87, "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO";
    PageableMemoryAccess = 88, "PAGEABLE_MEMORY_ACCESS";
    ConcurrentManagedAccess = 89, "CONCURRENT_MANAGED_ACCESS";
    ComputePreemptionSupported = 90, "COMPUTE_PREEMPTION_SUPPORTED";
    CanUseHostPointerForRegisteredMem = 91, "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM";
    CooperativeLaunch = 95, "COOPERATIVE_LAUNCH";
    CooperativeMultiDeviceLaunch = 96, "COOPERATIVE_MULTI_DEVICE_LAUNCH";
    MaxSharedMemoryPerBlockOptin = 97, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN";
    CanFlushRemoteWrites = 98, "CAN_FLUSH_REMOTE_WRITES";
    HostRegisterSupported = 99, "HOST_REGISTER_SUPPORTED";
    PageableMemoryAccessUsesHostPageTables = 100, "PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES";
    DirectManagedMemAccessFromHost = 101, "DIRECT_MANAGED_MEM_ACCESS_FROM_HOST";
    VirtualAddressManagementSupported = 102, "VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED";
    HandleTypePosixFileDescriptorSupported = 103, "HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED";
    HandleTypeWin32HandleSupported = 104, "HANDLE_TYPE_WIN32_HANDLE_SUPPORTED";
    HandleTypeWin32KmtHandleSupported = 105, "HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED";
    MaxBlocksPerMultiprocessor = 106, "MAX_BLOCKS_PER_MULTIPROCESSOR";
    GenericCompressionSupported = 107, "GENERIC_COMPRESSION_SUPPORTED";
    MaxPersistingL2CacheSize = 108, "MAX_PERSISTING_L2_CACHE_SIZE";
    MaxAccessPolicyWindowSize = 109, "MAX_ACCESS_POLICY_WINDOW_SIZE";
    GpuDirectRdmaWithCudaVmmSupported = 110, "GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED";
    ReservedSharedMemoryPerBlock = 111, "RESERVED_SHARED_MEMORY_PER_BLOCK";
    SparseCudaArraySupported = 112, "SPARSE_CUDA_ARRAY_SUPPORTED";
    ReadOnlyHostRegisterSupported = 113, "READ_ONLY_HOST_REGISTER_SUPPORTED";
    TimelineSemaphoreInteropSupported = 114, "TIMELINE_SEMAPHORE_INTEROP_SUPPORTED";
    MemoryPoolsSupported = 115, "MEMORY_POOLS_SUPPORTED";
    GpuDirectRdmaSupported = 116, "GPU_DIRECT_RDMA_SUPPORTED";
    GpuDirectRdmaFlushWritesOptions = 117, "GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS";
    GpuDirectRdmaWritesOrdering = 118, "GPU_DIRECT_RDMA_WRITES_ORDERING";
    MempoolSupportedHandleTypes = 119, "MEMPOOL_SUPPORTED_HANDLE_TYPES";
    ClusterLaunch = 120, "CLUSTER_LAUNCH";
    DeferredMappingCudaArraySupported = 121, "DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED";
    CanUse64BitStreamMemOps = 122, "CAN_USE_64_BIT_STREAM_MEM_OPS";
    CanUseStreamWaitValueNor = 123, "CAN_USE_STREAM_WAIT_VALUE_NOR";
    DmaBufSupported = 124, "DMA_BUF_SUPPORTED";
    IpcEventSupported = 125, "IPC_EVENT_SUPPORTED";
    MemSyncDomainCount = 126, "MEM_SYNC_DOMAIN_COUNT";
    TensorMapAccessSupported = 127, "TENSOR_MAP_ACCESS_SUPPORTED";
    HandleTypeFabricSupported = 128, "HANDLE_TYPE_FABRIC_SUPPORTED";
    UnifiedFunctionPointers = 129, "UNIFIED_FUNCTION_POINTERS";
    NumaConfig = 130, "NUMA_CONFIG";
    NumaId = 131, "NUMA_ID";
    MulticastSupported = 132, "MULTICAST_SUPPORTED";
    MpsEnabled = 133, "MPS_ENABLED";
    HostNumaId = 134, "HOST_NUMA_ID";
    D3d12CigSupported = 135, "D3D12_CIG_SUPPORTED";
    MemDecompressAlgorithmMask = 136, "MEM_DECOMPRESS_ALGORITHM_MASK";
    MemDecompressMaximumLength = 137, "MEM_DECOMPRESS_MAXIMUM_LENGTH";
    VulkanCigSupported = 138, "VULKAN_CIG_SUPPORTED";
    GpuPciDeviceId = 139, "GPU_PCI_DEVICE_ID";
    GpuPciSubsystemId = 140, "GPU_PCI_SUBSYSTEM_ID";
    HostNumaVirtualMemoryManagementSupported = 141, "HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED";
    HostNumaMemoryPoolsSupported = 142, "HOST_NUMA_MEMORY_POOLS_SUPPORTED";
    HostNumaMultinodeIpcSupported = 143, "HOST_NUMA_MULTINODE_IPC_SUPPORTED";
    HostMemoryPoolsSupported = 144, "HOST_MEMORY_POOLS_SUPPORTED";
    HostVirtualMemoryManagementSupported = 145, "HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED";
    HostAllocDmaBufSupported = 146, "HOST_ALLOC_DMA_BUF_SUPPORTED";
    OnlyPartialHostNativeAtomicSupported = 147, "ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED";
    AtomicReductionSupported = 148, "ATOMIC_REDUCTION_SUPPORTED";
    LocalityDomainCount = 149, "LOCALITY_DOMAIN_COUNT";
    MaxOversizedSharedMemoryPerBlock = 150, "MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK";
    D3d12CigStreamsSupported = 151, "D3D12_CIG_STREAMS_SUPPORTED";
    DmaBufMmapSupported = 152, "DMA_BUF_MMAP_SUPPORTED";
    LogicalEndpointUnicastSupported = 153, "LOGICAL_ENDPOINT_UNICAST_SUPPORTED";
    LogicalEndpointMulticastSupported = 154, "LOGICAL_ENDPOINT_MULTICAST_SUPPORTED";
    LogicalEndpointCountedOpsSupported = 155, "LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED";
    LogicalEndpointUnicastAccessOnOwnerDeviceSupported = 156, "LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED";
    LocalityDomainMultiprocessorCount = 157, "LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT";
    LogicalEndpointSupportedHandleTypes = 158, "LOGICAL_ENDPOINT_SUPPORTED_HANDLE_TYPES";
    GpuDirectRdmaWithLocalizedMemorySupported = 161, "GPU_DIRECT_RDMA_WITH_LOCALIZED_MEMORY_SUPPORTED";
}

impl Attribute {
    /// Its number in CUDA's header.
    ///
    /// ```
    /// # use warpaint::device::Attribute;
    /// assert_eq!(Attribute::WarpSize.number(), 10); // CU_DEVICE_ATTRIBUTE_WARP_SIZE
    /// ```
    pub fn number(self) -> i32 {
        self as i32
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Device {
    /// One property; `None` where the driver is too old to know it, and on the CPU device where it means nothing.
    ///
    /// ```
    /// use warpaint::device::{Attribute, Device};
    ///
    /// let device = Device::cpu()?;
    /// assert_eq!(device.attribute(Attribute::WarpSize)?, Some(32));
    /// assert_eq!(device.attribute(Attribute::EccEnabled)?, None);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn attribute(&self, attribute: Attribute) -> Result<Option<i32>> {
        each!(self, d => d.attribute(attribute))
    }

    /// All properties that the device has, by number.
    ///
    /// ```
    /// # use warpaint::device::{Attribute, Device};
    /// let attributes = Device::cpu()?.attributes()?;
    /// assert_eq!(attributes[0], (Attribute::MaxThreadsPerBlock, 1024));
    /// assert!(attributes.contains(&(Attribute::ManagedMemory, 1)));
    /// assert!(attributes.len() < Attribute::ALL.len(), "those that mean nothing here are left out");
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Call`](super::Error::Call) from the driver.
    pub fn attributes(&self) -> Result<Vec<(Attribute, i32)>> {
        let value = |&attribute| {
            let value = self.attribute(attribute).transpose()?;
            Some(value.map(|value| (attribute, value)))
        };
        Attribute::ALL.iter().filter_map(value).collect()
    }
}
