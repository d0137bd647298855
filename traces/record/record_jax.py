"""Run functions compiled by JAX (XLA) for Nsight Compute: record_jax.py [NAME...].

To be profiled with `ncu --profile-from-start off`. Each function is warmed up first, its last call lies in
the profiler's window; it is named on standard output once it ran.
"""
import os
import sys
import time

# Kernels one by one, not as graphs; memory left for the profiler.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_enable_command_buffer="
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import cupy
import jax
import jax.numpy as jnp

WARM_UPS = 2


def rand(number, *shape, dtype=jnp.float32):
    return jax.random.normal(jax.random.key(number), shape, dtype)


def layer_norm(x, w, b):
    centred = x - x.mean(-1, keepdims=True)
    return jax.nn.relu(centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * w + b)


def mish_and_clip(x, y):
    return jnp.clip(x * jnp.tanh(jnp.log1p(jnp.exp(y))), -2, 2) + jnp.sin(y)


OPERATIONS = {
    "jax_mish": (mish_and_clip, (4096, 2048), (4096, 2048)),
    "jax_layer_norm": (layer_norm, (8192, 1536), (1536,), (1536,)),
    "jax_softmax_scaled": (lambda x: jax.nn.softmax(x * 0.7, -1), (2048, 4096)),
    "jax_distances": (lambda a, b: jnp.abs(a[:, None, :] - b[None, :, :]).sum(-1), (1024, 32), (1024, 32)),
    "jax_transpose_add": (lambda x, y: x.transpose(2, 0, 1) + y, (256, 64, 512), (512, 256, 64)),
    "jax_sort_rows": (lambda x: jnp.sort(x, -1), (2048, 1000)),
    "jax_window_max": (lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (5, 5), (1, 1), "SAME"),
                       (2048, 2048)),
}


def record(name):
    function, *shapes = OPERATIONS[name]
    arrays = [rand(i, *shape) for i, shape in enumerate(shapes)]
    function = jax.jit(function)
    for _ in range(WARM_UPS):
        jax.block_until_ready(function(*arrays))
    cupy.cuda.runtime.deviceSynchronize()
    cupy.cuda.runtime.profilerStart()
    try:
        jax.block_until_ready(function(*arrays))
    finally:
        cupy.cuda.runtime.profilerStop()


def main():
    start = time.monotonic()
    for name in sys.argv[1:] or OPERATIONS:
        try:
            record(name)
        except Exception as error:  # one that this JAX lacks must not cost the others
            print(f"{name}: failed: {str(error).splitlines()[0]}", flush=True)
        else:
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)


main()
