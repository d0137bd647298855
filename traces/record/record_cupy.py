"""Run operations of CuPy for Nsight Compute: cuFFT, cuSPARSE, cuRAND, cuBLAS, cuSOLVER, kernels CuPy makes.

record_cupy.py [NAME...], to be profiled with `ncu --profile-from-start off`. Each operation is warmed up
first, its last call lies in the profiler's window; it is named on standard output once it ran.
"""
import sys
import time

import cupy
import cupyx.scipy.linalg
import cupyx.scipy.ndimage
import cupyx.scipy.sparse
from cupy import cublas

WARM_UPS = 2
OPERATIONS = {}

JULIA = cupy.RawKernel(r"""
extern "C" __global__ void julia(unsigned char *out, int width, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = 0;
    float re = 3.0f * x / width - 1.5f, im = 3.0f * y / width - 1.5f;
    while (i < limit && re * re + im * im < 4) {
        float next = re * re - im * im - 0.8f;
        im = 2 * re * im + 0.156f;
        re = next;
        i++;
    }
    out[y * width + x] = i;
}""", "julia")

GAME = cupy.RawKernel(r"""
extern "C" __global__ void game_of_life(const unsigned char *now, unsigned char *next, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            alive += now[(y + dy + height) % height * width + (x + dx + width) % width];
    unsigned char here = now[y * width + x];
    next[y * width + x] = alive == 3 || (here && alive == 4);
}""", "game_of_life")


def rand(*shape, dtype=cupy.float32):
    return cupy.random.default_rng(1).random(shape, dtype=dtype)


def on(name, function, *shapes, dtype=cupy.float32):
    def make():
        arrays = [rand(*shape).astype(dtype) for shape in shapes]
        return lambda: function(*arrays)
    OPERATIONS[name] = make


def made(name):
    def register(function):
        OPERATIONS[name] = function
        return function
    return register


on("cufft_c2c_4096x1024", lambda x: cupy.fft.fft(x, axis=-1), (4096, 1024), dtype=cupy.complex64)
on("cublas_sgemv_t_4096x8192", lambda a, x: cublas.gemv("T", 1.0, a, x, 0.0, cupy.empty_like(x)),
   (8192, 8192), (8192,))
on("cupy_julia_2048", lambda out: JULIA((128, 128), (16, 16), (out, cupy.int32(2048), cupy.int32(200))),
   (2048, 2048), dtype=cupy.uint8)


@made("cusparse_spmv_fp32")
def _():
    matrix = cupyx.scipy.sparse.random(100000, 100000, 2e-4, format="csr", dtype=cupy.float32)
    vector = rand(100000)
    return lambda: matrix @ vector


@made("curand_uniform_16m")
def _():
    out, state = cupy.empty(16 << 20, cupy.float32), cupy.random.RandomState(1)
    return lambda: cupy.cuda.curand.generateUniform(state._generator, out.data.ptr, out.size)


on("cublas_cgemm_1024", cupy.matmul, (1024, 1024), (1024, 1024), dtype=cupy.complex64)
on("cublas_dgemm_batched_512x48", cupy.matmul, (512, 48, 48), (512, 48, 48), dtype=cupy.float64)
on("cupy_game_of_life", lambda a, b: GAME((128, 256), (32, 8), (a, b, cupy.int32(4096), cupy.int32(2048))),
   (2048, 4096), (2048, 4096), dtype=cupy.uint8)
on("cublas_sgeam_4096", lambda a, b: cublas.geam("T", "N", 1.0, a, 1.0, b), (4096, 4096), (4096, 4096))


@made("curand_mrg_normal_fp64_1m")
def _():
    out = cupy.empty(1 << 20, cupy.float64)
    state = cupy.random.RandomState(1, method=cupy.cuda.curand.CURAND_RNG_PSEUDO_MRG32K3A)
    return lambda: cupy.cuda.curand.generateNormalDouble(state._generator, out.data.ptr, out.size, 0.0, 1.0)


on("cupy_median_filter_5", lambda x: cupyx.scipy.ndimage.median_filter(x, 5), (1024, 1024))
on("cupy_convolve_9x9", lambda x, w: cupyx.scipy.ndimage.convolve(x, w), (1024, 1024), (9, 9))
on("cupy_sum_axis_middle", lambda x: x.sum(axis=1), (256, 512, 128))
on("cufft_z2z_2d_1000", cupy.fft.fft2, (8, 1000, 1000), dtype=cupy.complex128)
on("cublas_strsm_1024", lambda a, b: cupyx.scipy.linalg.solve_triangular(a, b, lower=True),
   (1024, 1024), (1024, 256))
on("cublas_ssyrk_1024", lambda a: cublas.syrk("N", a), (1024, 512))


@made("cusparse_spmm_fp64")
def _():
    matrix = cupyx.scipy.sparse.random(20000, 20000, 1e-3, format="csr", dtype=cupy.float64)
    right = cupy.asfortranarray(rand(20000, 32, dtype=cupy.float64))
    return lambda: matrix @ right


@made("cublas_getrf_batched_64")
def _():
    a = rand(512, 64, 64) + 64 * cupy.eye(64, dtype=cupy.float32)
    return lambda: cupy.linalg.inv(a)


on("cusolver_potrf_512", lambda a: cupy.linalg.cholesky(a @ a.T + 512 * cupy.eye(512, dtype=cupy.float32)),
   (512, 512))
on("cusolver_geqrf_256", lambda a: cupy.linalg.qr(a, mode="r"), (512, 256))
on("cusolver_getrf_512", cupyx.scipy.linalg.lu_factor, (512, 512))


def record(name):
    operation = OPERATIONS[name]()
    for _ in range(WARM_UPS):
        operation()
    cupy.cuda.runtime.deviceSynchronize()
    cupy.cuda.runtime.profilerStart()
    try:
        operation()
        cupy.cuda.runtime.deviceSynchronize()
    finally:
        cupy.cuda.runtime.profilerStop()


def main():
    start = time.monotonic()
    for name in sys.argv[1:] or OPERATIONS:
        try:
            record(name)
        except Exception as error:  # an operation that this CuPy lacks must not cost the others
            print(f"{name}: failed: {str(error).splitlines()[0] if str(error) else repr(error)}", flush=True)
        else:
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)


main()
