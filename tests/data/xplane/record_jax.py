#!/usr/bin/env python3
"""Record small JAX programs with jax.profiler: jax_record.py, with OUT naming a folder.

Writes $OUT/jax/NAME.xplane.pb, one for each program, and $OUT/jax/times.json: how long a step takes without the profiler
(median of 30, each waited for), how long all recorded steps take that way when only the last is waited for, and versions.
A set of programs runs in a process of its own: with XLA's settings as they are, and with its CUDA graphs switched off
(NAME ends in "_nographs").
"""
import functools
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

OUT = os.path.join(os.environ.get("OUT", "."), "jax")
TIMES = os.path.join(OUT, "times.json")
STEPS = 4
REPEATS = 30
WHOLE_S = 115  # for everything
RESERVE_S = 10  # a program is not begun with less left
ON_CPU = False


def size(n):
    """Sizes are cut where there is no GPU, to try the script."""
    return n // 8 if ON_CPU else n


# ---- The programs: each returns (step, what the step begins with); step(state, number) returns the next state.

def matmul_chain(jax, jnp):
    """Eight matrix products that depend on each other."""
    @jax.jit
    def step(x, w):
        for _ in range(8):
            x = jnp.tanh(x @ w)
        return x
    x = jnp.ones((size(2048), size(2048)), jnp.bfloat16)
    w = jnp.full((size(2048), size(2048)), 0.001, jnp.bfloat16)
    return (lambda state, number: step(state, w)), x


def mlp_train(jax, jnp):
    """A perceptron of three layers, trained by gradient descent."""
    sizes = (784, size(1024), size(1024), 16)
    keys = jax.random.split(jax.random.PRNGKey(0), len(sizes))
    layers = [(jax.random.normal(k, (m, n)) * m ** -0.5, jnp.zeros(n)) for k, m, n in zip(keys, sizes, sizes[1:])]
    x = jax.random.normal(keys[-1], (512, 784))
    y = jnp.arange(512) % 16

    def loss(layers, x, y):
        for w, b in layers[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = layers[-1]
        logits = jax.nn.log_softmax(x @ w + b)
        return -jnp.mean(jnp.take_along_axis(logits, y[:, None], 1))

    @jax.jit
    def step(layers, x, y):
        return jax.tree_util.tree_map(lambda p, g: p - 0.01 * g, layers, jax.grad(loss)(layers, x, y))
    return (lambda state, number: step(state, x, y)), layers


def transformer_train(jax, jnp):
    """Two layers of a transformer with attention and Adam."""
    width, heads, length, batch, words = size(512), 8, size(256), 8, size(1024)
    keys = iter(jax.random.split(jax.random.PRNGKey(1), 32))

    def matrix(m, n):
        return jax.random.normal(next(keys), (m, n), jnp.float32) * m ** -0.5
    params = {"embed": matrix(words, width), "layers": [
        {"qkv": matrix(width, 3 * width), "out": matrix(width, width), "up": matrix(width, 4 * width),
         "down": matrix(4 * width, width)} for _ in range(2)]}
    tokens = jax.random.randint(next(keys), (batch, length + 1), 0, words)

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    def attend(x, layer):
        q, k, v = jnp.split((norm(x) @ layer["qkv"]).reshape(batch, length, heads, -1), 3, -1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores.astype(jnp.float32)).astype(x.dtype), v)
        return mixed.reshape(batch, length, width) @ layer["out"]

    def loss(params, tokens):
        params = jax.tree_util.tree_map(lambda p: p.astype(jnp.bfloat16), params)
        x = params["embed"][tokens[:, :-1]]
        for layer in params["layers"]:
            x = x + attend(x, layer)
            x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
        logits = jax.nn.log_softmax((norm(x) @ params["embed"].T).astype(jnp.float32))
        return -jnp.mean(jnp.take_along_axis(logits, tokens[:, 1:, None], 2))

    @jax.jit
    def step(state, tokens):
        params, mean, square = state
        grads = jax.grad(loss)(params, tokens)
        mean = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, mean, grads)
        square = jax.tree_util.tree_map(lambda s, g: 0.99 * s + 0.01 * g * g, square, grads)
        params = jax.tree_util.tree_map(lambda p, m, s: p - 1e-3 * m / (jnp.sqrt(s) + 1e-8), params, mean, square)
        return params, mean, square
    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    return (lambda state, number: step(state, tokens)), (params, zeros, zeros)


def lstm_scan(jax, jnp):
    """An LSTM over 24 positions as lax.scan: a loop on the GPU."""
    width, batch, length = size(512), 64, 24
    w = jax.random.normal(jax.random.PRNGKey(2), (2 * width, 4 * width)) * 0.02
    xs = jax.random.normal(jax.random.PRNGKey(3), (length, batch, width))

    def cell(w, state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate((x, h), -1) @ w, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    @jax.jit
    def step(state, w, xs):
        return jax.lax.scan(functools.partial(cell, w), state, xs)[0]
    zeros = jnp.zeros((batch, width))
    return (lambda state, number: step(state, w, xs)), (zeros, zeros)


def conv_train(jax, jnp):
    """Three convolutions with pooling, trained by gradient descent."""
    keys = jax.random.split(jax.random.PRNGKey(4), 5)
    filters = [jax.random.normal(k, (3, 3, m, n)) * (9 * m) ** -0.5 for k, m, n in
               zip(keys, (8, 32, 64), (32, 64, 64))]
    x = jax.random.normal(keys[3], (size(64), size(64), size(64), 8))

    def loss(filters, y):
        for f in filters:
            y = jax.lax.conv_general_dilated(y, f, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            y = jax.lax.reduce_window(jax.nn.relu(y), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
        return jnp.mean(y * y)

    @jax.jit
    def step(filters, x):
        return [f - 0.01 * g for f, g in zip(filters, jax.grad(loss)(filters, x))]
    return (lambda state, number: step(state, x)), filters


def host_copies(jax, jnp):
    """Each step sends 8 MiB to the GPU, computes, and fetches 1 MiB."""
    import numpy
    batches = [numpy.full((2048, 1024), number, numpy.float32) for number in range(4)]
    w = jnp.full((1024, 1024), 0.001)

    @jax.jit
    def compute(x, w):
        return jnp.tanh(x @ w), (x * 2).reshape(8, -1).sum(0)

    def step(state, number):
        y, part = compute(jax.device_put(batches[number % 4]), w)
        return numpy.asarray(part), y
    return step, None


def tiny_kernels(jax, jnp):
    """64 operators a step, without jit: a kernel each."""
    one = jnp.ones(4096)

    def step(state, number):
        for _ in range(16):
            state = jnp.sin(state) + one
            state = jnp.maximum(state, one) * one
        return state
    return step, one


def decode(jax, jnp):
    """Eight tokens of a decoder with a cache of keys and values, one call a token; the host picks the token."""
    width, length = size(1024), 128
    keys = jax.random.split(jax.random.PRNGKey(5), 5)
    wq, wk, wv, wo = (jax.random.normal(k, (width, width), jnp.float32).astype(jnp.bfloat16) * 0.02 for k in keys[:4])
    embed = jax.random.normal(keys[4], (2048, width)).astype(jnp.bfloat16)

    @functools.partial(jax.jit, donate_argnums=0)
    def token(cache, weights, word, at):
        k, v = cache
        embed, wq, wk, wv, wo = weights
        x = embed[word]
        k = jax.lax.dynamic_update_slice(k, (x @ wk)[None], (at, 0))
        v = jax.lax.dynamic_update_slice(v, (x @ wv)[None], (at, 0))
        scores = jnp.where(jnp.arange(length) <= at, (k @ (x @ wq)).astype(jnp.float32) * width ** -0.5, -1e9)
        x = x + (jax.nn.softmax(scores).astype(jnp.bfloat16) @ v) @ wo
        return (k, v), jnp.argmax(embed @ x)

    def step(state, number):
        cache, word = state
        for at in range(8):
            cache, word = token(cache, (embed, wq, wk, wv, wo), int(word), at)
        return cache, word
    cache = jnp.zeros((length, width), jnp.bfloat16), jnp.zeros((length, width), jnp.bfloat16)
    return step, (cache, 1)


PROGRAMS = (matmul_chain, tiny_kernels, host_copies, mlp_train, lstm_scan, decode, conv_train, transformer_train)
# Again without CUDA graphs, and once with the profiler's own settings (functions of Python, HLO).
NO_GRAPHS = (mlp_train, lstm_scan, transformer_train)
DEFAULTS = (mlp_train,)


# ---- Recording.

def profile_options(jax, small):
    if not small or not hasattr(jax.profiler, "ProfileOptions"):
        return {}
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.host_tracer_level = 2
    options.enable_hlo_proto = False
    return {"profiler_options": options}


def run_steps(jax, step, state, wait_each):
    for number in range(STEPS):
        state = step(state, number)
        if wait_each:
            jax.block_until_ready(state)
    return jax.block_until_ready(state)


def record(jax, step, state, name, small):
    folder = tempfile.mkdtemp()
    jax.profiler.start_trace(folder, **profile_options(jax, small))
    try:
        for number in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                state = step(state, number)
        jax.block_until_ready(state)
    finally:
        jax.profiler.stop_trace()
    found = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)
    path = os.path.join(OUT, name + ".xplane.pb")
    if not found:
        raise RuntimeError("the profiler left no xplane.pb")
    shutil.copy(found[0], path)
    shutil.rmtree(folder, ignore_errors=True)
    return state, os.path.getsize(path)


def measure(jax, step, state):
    """Times in us: of each step that is waited for, and of all recorded steps of which only the last is."""
    each, whole = [], []
    for number in range(REPEATS):
        begin = time.perf_counter()
        state = jax.block_until_ready(step(state, number))
        each.append((time.perf_counter() - begin) * 1e6)
    for _ in range(REPEATS):
        begin = time.perf_counter()
        state = run_steps(jax, step, state, False)
        whole.append((time.perf_counter() - begin) * 1e6)
    each.sort()
    whole.sort()
    return state, {"step_us": statistics.median(each), "step_10_us": each[REPEATS // 10],
                   "step_90_us": each[REPEATS * 9 // 10], "steps": STEPS,
                   "whole_us": statistics.median(whole), "whole_10_us": whole[REPEATS // 10],
                   "whole_90_us": whole[REPEATS * 9 // 10]}


def one_program(jax, program, name, small):
    begin = time.time()
    step, state = program(jax, jax.numpy)
    for number in range(3):
        state = jax.block_until_ready(step(state, number))
    state = run_steps(jax, step, state, False)
    built_s = time.time() - begin
    state, times = measure(jax, step, state)
    state, file_bytes = record(jax, step, state, name, small)
    times.update(build_s=round(built_s, 1), bytes=file_bytes, what=program.__doc__)
    print("%-28s step %9.1f us (%.1f to %.1f), %d steps %9.1f us, %d bytes, built in %.1f s" % (
        name, times["step_us"], times["step_10_us"], times["step_90_us"], STEPS, times["whole_us"], file_bytes, built_s),
        flush=True)
    return times


def merge(key, value):
    known = {}
    if os.path.exists(TIMES):
        with open(TIMES) as file:
            known = json.load(file)
    known[key] = value
    with open(TIMES + ".new", "w") as file:
        json.dump(known, file, indent=1)
    os.replace(TIMES + ".new", TIMES)


def child(which, ends):
    import jax
    global ON_CPU, REPEATS
    device = jax.devices()[0]
    ON_CPU = jax.default_backend() == "cpu"
    REPEATS = 10 if ON_CPU else REPEATS
    versions = {"jax": jax.__version__, "jaxlib": jax.lib.__version__, "device": device.device_kind,
                "platform": device.client.platform_version, "backend": jax.default_backend(),
                "xla_flags": os.environ.get("XLA_FLAGS", "")}
    print(which, versions, flush=True)
    merge("versions_" + which, versions)
    throwaway = jax.numpy.ones(8)
    try:  # the profiler's first start is slow
        record(jax, lambda state, number: state + 1, throwaway, "throwaway", True)
        os.remove(os.path.join(OUT, "throwaway.xplane.pb"))
    except Exception as error:
        print("throwaway:", error, flush=True)
    jobs = [(p, "_nographs", True) for p in NO_GRAPHS] if which == "nographs" else \
           [(p, "", True) for p in PROGRAMS] + [(p, "_defaults", False) for p in DEFAULTS]
    for program, suffix, small in jobs:
        name = program.__name__ + suffix
        if time.time() > ends - RESERVE_S:
            print("%-28s not begun: no time left" % name, flush=True)
            continue
        try:
            merge(name, one_program(jax, program, name, small))
        except Exception as error:
            print("%-28s failed: %s: %s" % (name, type(error).__name__, str(error)[:600]), flush=True)


def main():
    os.makedirs(OUT, exist_ok=True)
    begin = time.time()
    cache = tempfile.mkdtemp()
    try:
        query = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm"
        gpu = subprocess.run(["nvidia-smi", "--query-gpu=" + query, "--format=csv"], capture_output=True, text=True)
        merge("nvidia_smi", gpu.stdout)
        print(gpu.stdout, end="", flush=True)
    except OSError as error:
        print("nvidia-smi:", error)
    for which, share in (("plain", 0.68), ("nographs", 1.0)):
        env = dict(os.environ, XLA_PYTHON_CLIENT_PREALLOCATE="false", TF_CPP_MIN_LOG_LEVEL="2",
                   JAX_COMPILATION_CACHE_DIR=cache)
        if which == "nographs":
            env["XLA_FLAGS"] = (env.get("XLA_FLAGS", "") + " --xla_gpu_enable_command_buffer=").strip()
        ends = begin + WHOLE_S * share
        try:
            done = subprocess.run([sys.executable, os.path.abspath(__file__), which, str(ends)], env=env,
                                  timeout=max(1, ends + 2 - time.time()))
            print(which, "ends with status", done.returncode, flush=True)
        except subprocess.TimeoutExpired:
            print(which, "took too long and was stopped", flush=True)
    shutil.rmtree(cache, ignore_errors=True)
    print("all in %.0f s" % (time.time() - begin))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        child(sys.argv[1], float(sys.argv[2]))
    else:
        main()
