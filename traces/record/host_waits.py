"""What the host waits for in calls of CUDA's behind a busy stream.

    python3 host_waits.py > validate/recordings/host-waits.txt

Each call stands behind a copy within the device of 4 GiB (2 ms) in the same stream, or for synchronisations in another one; told is how
long the call took, and how long until the device was idle: medians of five, us.
"""
import ctypes
import statistics
import time

import torch

BUSY_BYTES, REPETITIONS = 4 << 30, 5
H2H, H2D, D2H, D2D = range(4)
LEGACY, PER_THREAD = ctypes.c_void_p(0), ctypes.c_void_p(2)


def runtime():
    """The CUDA runtime that PyTorch has loaded."""
    torch.zeros(1, device="cuda")
    with open("/proc/self/maps", encoding="ascii") as maps:
        return ctypes.CDLL(next(word for word in maps.read().split() if "libcudart" in word))


cuda = runtime()
source, target = (torch.empty(BUSY_BYTES, dtype=torch.uint8, device="cuda") for _ in range(2))
memory = {"device": torch.empty(1 << 20, dtype=torch.uint8, device="cuda"), "device 2": torch.empty(1 << 20, dtype=torch.uint8, device="cuda"),
          "pinned": torch.empty(1 << 20, dtype=torch.uint8).pin_memory(), "pinned 2": torch.empty(1 << 20, dtype=torch.uint8).pin_memory(),
          "pageable": torch.empty(1 << 20, dtype=torch.uint8), "pageable 2": torch.empty(1 << 20, dtype=torch.uint8)}
at = {name: ctypes.c_void_p(tensor.data_ptr()) for name, tensor in memory.items()}
at["managed"] = ctypes.c_void_p()
cuda.cudaMallocManaged(ctypes.byref(at["managed"]), ctypes.c_size_t(1 << 20), 1)


def stream(flags):
    made = ctypes.c_void_p()
    cuda.cudaStreamCreateWithFlags(ctypes.byref(made), flags)
    return made


def told(what, busy, call):
    took = []
    for _ in range(REPETITIONS):
        cuda.cudaDeviceSynchronize()
        cuda.cudaMemcpyAsync(ctypes.c_void_p(target.data_ptr()), ctypes.c_void_p(source.data_ptr()), ctypes.c_size_t(BUSY_BYTES), D2D, busy)
        start = time.perf_counter()
        if call() != 0:
            raise RuntimeError(what)
        middle = time.perf_counter()
        cuda.cudaDeviceSynchronize()
        took.append((1e6 * (middle - start), 1e6 * (time.perf_counter() - start)))
    call_us, idle_us = (statistics.median(times) for times in zip(*took))
    print(f"{what:58} {call_us:9.1f} us of {idle_us:9.1f}   {'waits' if call_us > idle_us / 2 else 'returns'}", flush=True)


COPIES = (("d2d", "device 2", "device", D2D), ("h2d pageable", "device", "pageable", H2D), ("h2d pinned", "device", "pinned", H2D),
          ("d2h pageable", "pageable", "device", D2H), ("d2h pinned", "pinned", "device", D2H), ("h2h pinned", "pinned 2", "pinned", H2H),
          ("h2h pageable", "pageable 2", "pageable", H2H))


def copies(size, name, busy, copy, *more):
    for what, to, what_from, kind in COPIES:
        told(f"{name}, {what}, {size} bytes", busy, lambda: copy(at[to], at[what_from], ctypes.c_size_t(size), kind, *more))


def memsets(size, name, busy, memset, *more):
    for what in ("device", "pinned", "managed"):
        told(f"{name}, {what}, {size} bytes", busy, lambda: memset(at[what], 0, ctypes.c_size_t(size), *more))


def main():
    blocking, non_blocking = stream(0), stream(1)
    for size in (64, 1 << 20):
        copies(size, "cudaMemcpy, legacy default stream", LEGACY, cuda.cudaMemcpy)
        copies(size, "cudaMemcpy, per-thread default stream", PER_THREAD, cuda.cudaMemcpy_ptds)
        memsets(size, "cudaMemset, legacy default stream", LEGACY, cuda.cudaMemset)
        memsets(size, "cudaMemset, per-thread default stream", PER_THREAD, cuda.cudaMemset_ptds)
        copies(size, "cudaMemcpyAsync", non_blocking, cuda.cudaMemcpyAsync, non_blocking)
        memsets(size, "cudaMemsetAsync", non_blocking, cuda.cudaMemsetAsync, non_blocking)
    told("cudaStreamSynchronize of the legacy default, blocking busy", blocking, lambda: cuda.cudaStreamSynchronize(LEGACY))
    told("cudaStreamSynchronize of the legacy default, another busy", non_blocking, lambda: cuda.cudaStreamSynchronize(LEGACY))
    told("cudaStreamSynchronize of the per-thread default", blocking, lambda: cuda.cudaStreamSynchronize(PER_THREAD))


if __name__ == "__main__":
    main()
