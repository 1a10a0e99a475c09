"""What PyCUDA and CuPy take for the same calls as `benches/host.rs` and `benches/array.rs`, on the same device.

    python3 benches/peers/python.py

Packages that are not installed are left out. Host times: least and median of calls one by one, with a wait, which is
not counted, behind every 32. Throughput: milliseconds, the best of six rounds of ten calls, one behind the other.
"""

import sys
import time

import numpy as np

CALLS, QUEUED, FEW, MANY, TRANSFERRED = 4000, 32, 4096, 1 << 28, 1 << 26


def host(name, synchronize, call):
    for _ in range(100):
        call()
    times = []
    for i in range(CALLS):
        if i % QUEUED == 0:
            synchronize()
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e6)
    synchronize()
    times.sort()
    print(f"{name:<44}{times[0]:>10.2f}{times[len(times) // 2]:>10.2f}")


def rate(name, nbytes, synchronize, call):
    best = float("inf")
    for _ in range(8):
        start = time.perf_counter()
        call()
        synchronize()
        best = min(best, time.perf_counter() - start)
    print(f"{name:<44}{nbytes / best / 1e9:>10.1f} GB/s")


def throughput(name, synchronize, call):
    call()
    best = float("inf")
    for _ in range(6):
        synchronize()
        start = time.perf_counter()
        for _ in range(10):
            call()
        synchronize()
        best = min(best, (time.perf_counter() - start) * 100)
    print(f"{name:<44}{best:>10.3f}")


def pycuda():
    import pycuda.autoinit
    import pycuda.cumath as cumath
    import pycuda.curandom as curandom
    import pycuda.driver as driver
    import pycuda.gpuarray as gpuarray
    from pycuda.compiler import SourceModule
    from pycuda.elementwise import ElementwiseKernel
    from pycuda.reduction import ReductionKernel
    from pycuda.scan import InclusiveScanKernel
    from pycuda.tools import DeviceMemoryPool

    print("PyCUDA", __import__("pycuda").VERSION_TEXT, pycuda.autoinit.device.name())
    wait = pycuda.autoinit.context.synchronize
    pool = DeviceMemoryPool()
    text = "__global__ void empty(float *x) {}"
    empty = SourceModule(text).get_function("empty")
    empty.prepare("P")
    few = gpuarray.to_gpu(np.arange(FEW, dtype=np.float32), allocator=pool.allocate)
    out = gpuarray.empty_like(few)
    axpy = ElementwiseKernel("float a, float *x, float *y", "y[i] += a * x[i]")
    total = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]", arguments="float *x")
    host("prepared launch", wait, lambda: empty.prepared_call((1, 1), (32, 1, 1), few.gpudata))
    host("launch", wait, lambda: empty(few, block=(32, 1, 1)))
    host("elementwise kernel", wait, lambda: axpy(np.float32(2), few, out))
    host("expression, new array", wait, lambda: few * np.float32(2) + np.float32(1))
    host("sum of 4096, read on the host", wait, lambda: gpuarray.sum(few, allocator=pool.allocate).get())
    host("the same by a reduction kernel", wait, lambda: total(few, allocator=pool.allocate).get())
    host("module from the cache, loaded", wait, lambda: SourceModule(text))
    ordinary = np.ones(TRANSFERRED, np.float32)
    array = gpuarray.to_gpu(ordinary)
    rate("array, set from a slice", ordinary.nbytes, wait, lambda: array.set(ordinary))
    rate("array, read as a vector", ordinary.nbytes, wait, lambda: array.get())
    rate("array, read into a slice", ordinary.nbytes, wait, lambda: array.get(ary=ordinary))

    x = gpuarray.zeros(MANY, np.float32)
    y = gpuarray.zeros(MANY, np.float32)
    scan = InclusiveScanKernel(np.float32, "a+b")
    random = curandom.XORWOWRandomNumberGenerator()
    throughput("sum", wait, lambda: gpuarray.sum(x))
    throughput("dot", wait, lambda: gpuarray.dot(x, y))
    throughput("y = 2x + y", wait, lambda: axpy(np.float32(2), x, y))
    throughput("sin", wait, lambda: cumath.sin(x, out=y))
    throughput("inclusive scan, in place", wait, lambda: scan(x))
    throughput("uniform f32 (XORWOW)", wait, lambda: random.fill_uniform(y))


def cupy():
    import cupy

    print("CuPy", cupy.__version__)
    wait = cupy.cuda.Device().synchronize
    empty = cupy.RawKernel('extern "C" __global__ void empty(float *x) {}', "empty")
    few = cupy.arange(FEW, dtype=cupy.float32)
    out = cupy.empty_like(few)
    axpy = cupy.ElementwiseKernel("float32 a, float32 x", "float32 y", "y += a * x", "axpy")
    total = cupy.ReductionKernel("float32 x", "float32 y", "x", "a + b", "y = a", "0", "total")
    two = np.float32(2)
    host("launch", wait, lambda: empty((1,), (32,), (few,)))
    host("elementwise kernel", wait, lambda: axpy(two, few, out))
    host("expression, new array", wait, lambda: few * 2 + 1)
    host("sum of 4096, read on the host", wait, lambda: float(few.sum()))
    host("the same by a reduction kernel", wait, lambda: float(total(few)))
    ordinary = np.ones(TRANSFERRED, np.float32)
    array = cupy.asarray(ordinary)
    rate("array, set from a slice", ordinary.nbytes, wait, lambda: array.set(ordinary))
    rate("array, read as a vector", ordinary.nbytes, wait, lambda: array.get())
    rate("array, read into a slice", ordinary.nbytes, wait, lambda: array.get(out=ordinary))

    x = cupy.zeros(MANY, cupy.float32)
    y = cupy.zeros(MANY, cupy.float32)
    keys = cupy.random.randint(0, 1 << 32, MANY, dtype=cupy.uint32)
    throughput("sum", wait, lambda: x.sum())
    throughput("dot", wait, lambda: x.dot(y))
    throughput("y = 2x + y", wait, lambda: axpy(two, x, y))
    throughput("sin", wait, lambda: cupy.sin(x, out=y))
    throughput("inclusive scan", wait, lambda: cupy.cumsum(x, out=y))
    throughput("radix sort of u32 keys", wait, lambda: cupy.sort(keys))
    random = cupy.random.Generator(cupy.random.Philox4x3210(1))
    throughput("uniform f32 (Philox)", wait, lambda: random.random(out=y, dtype=cupy.float32))


for peer in (pycuda, cupy):
    try:
        peer()
    except ImportError as error:
        print(f"{peer.__name__}: skipped: {error}", file=sys.stderr)
