"""Families alone, warm, memory, compute, tensor, chain, late and urgent of the folder programs/: kernels of
the library that do real work, alone and beside each other.

No trace says how long its kernels take: that comes from their machine code, which LAUNCHES names for the
profiler as well (programs/launches.cases). The arguments of a function differ only where its grid or block
does, so that a profile can be told by these.
"""
from scenario import Scenario

ONCE = "cost of a kernel alone: its program's"
SHARED = "kernels side by side share L2 and DRAM, on one SM its issue slots and load/store unit too"
QUEUED = "all blocks of a kernel leave before a later kernel's may (leftover policy)"

# key: (library kernel, function, grid, block, registers, static, dynamic bytes of shared memory, arguments)
LAUNCHES = {
    "copy": ("stream", "stream", 528, 512, 22, 0, 0, {"operation": "copy", "bytes": 134217728}),
    "copy_half": ("stream", "stream", 66, 1024, 22, 0, 0, {"operation": "copy", "bytes": 67108864}),
    "copy_quarter": ("stream", "stream", 33, 1024, 22, 0, 0, {"operation": "copy", "bytes": 33554432}),
    "read": ("stream", "stream", 528, 256, 24, 0, 0, {"operation": "read", "bytes": 268435456}),
    "reduce": ("reduce", "reduce", 1056, 256, 31, 129, 0, {"count": 67108864}),
    "reduce_half": ("reduce", "reduce", 66, 512, 31, 129, 0, {"count": 16777216}),
    "transpose": ("transpose", "transpose", [128, 128], [32, 8], 28, 4224, 0,
                  {"rows": 4096, "columns": 4096}),
    "softmax": ("softmax", "softmax", 16384, 256, 28, 128, 0, {"rows": 16384, "columns": 1024}),
    "layernorm": ("layernorm", "layernorm", 16384, 256, 32, 128, 0, {"rows": 16384, "columns": 1024}),
    "stencil": ("stencil", "stencil", [256, 512], [32, 8], 26, 0, 0,
                {"points": 5, "width": 8192, "height": 4096}),
    "gather": ("gather", "gather", 1056, 512, 18, 0, 0, {"count": 16777216, "entries": 4194304}),
    "gather_half": ("gather", "gather", 66, 1024, 18, 0, 0, {"count": 8388608, "entries": 4194304}),
    "gemm_tiled": ("gemm_tiled", "gemm_tiled", 1024, [16, 16], 63, 8448, 0, {"m": 2048, "n": 2048, "k": 512}),
    "gemm": ("gemm_cp_async", "gemm_cp_async", 256, 256, 126, 0, 65536,
             {"m": 2048, "n": 2048, "k": 2048, "stages": 4}),
    "wgmma": ("gemm_wgmma", "gemm_wgmma", 132, 384, 96, 64, 132096,
              {"m": 4096, "n": 4096, "k": 2048, "feeding": "tma"}),
    "attention": ("flash_attention", "flash_attention", 1024, 128, 141, 0, 40960,
                  {"version": 2, "buffering": "async", "head": 64, "sequence": 2048, "heads": 32}),
    "nbody": ("nbody", "nbody", 132, 64, 32, 16384, 0, {"count": 8448}),
    "nbody_half": ("nbody", "nbody", 66, 128, 32, 16384, 0, {"count": 8448}),
    "mandelbrot": ("mandelbrot", "mandelbrot", 16384, 256, 24, 0, 0,
                   {"width": 2048, "height": 2048, "limit": 256}),
    "fma": ("fma", "chains", 264, 512, 22, 0, 0, {"precision": "fp32", "chains": 4, "length": 6000}),
    "fma_few": ("fma", "chains", 132, 128, 16, 0, 0, {"precision": "fp32", "chains": 1, "length": 30000}),
    "fma_late": ("fma", "chains", 64, 256, 22, 0, 0, {"precision": "fp32", "chains": 4, "length": 15000}),
    "copy_small": ("stream", "stream", 264, 256, 22, 0, 0, {"operation": "copy", "bytes": 8388608}),
    "transpose_small": ("transpose", "transpose", [32, 32], [32, 8], 28, 4224, 0,
                        {"rows": 1024, "columns": 1024}),
}

# Launched again alone, these find all of their data in L2.
WARM = ["copy_small", "transpose_small"]


def size(value):
    return "x".join(map(str, value)) if isinstance(value, list) else str(value)


def cases(folder="programs", of=LAUNCHES):
    """The launches as lines for kernels/profile."""
    lines = [f"# Launches of traces/scenarios/{folder}, written by traces/scenarios/make.py:",
             "# KERNEL GRID BLOCK SHARED_BYTES [PARAMETER=VALUE]..."]
    for runs, _, grid, block, _, _, dynamic, arguments in of.values():
        words = [runs, size(grid), size(block), str(dynamic)]
        lines.append(" ".join(words + [f"{name}={value}" for name, value in arguments.items()]))
    return "\n".join(lines) + "\n"


def define(scenario, key, of):
    runs, function, grid, block, registers, static, dynamic, arguments = of[key]
    line = {"kernel": function, "id": key, "grid": grid, "block": block, "registers": registers}
    if static:
        line["shared_bytes"] = static
    if dynamic:
        line["dynamic_shared_bytes"] = dynamic
    scenario.lines.append({**line, "runs": runs, "arguments": arguments})


def play(name, asks, rule, *launches, late_us=0, urgent=None, of=LAUNCHES):
    """Each launch is a kernel's key or a pair of one and its stream, else a stream of its own. The last one
    comes `late_us` after the first; the stream `urgent` has priority over the others."""
    s = Scenario(name, None, asks, rule)
    pairs = [launch if isinstance(launch, tuple) else (launch, f"s{i}") for i, launch in enumerate(launches)]
    for key in dict.fromkeys(key for key, _ in pairs):
        define(s, key, of)
    for stream in dict.fromkeys(stream for _, stream in pairs):
        s.stream(stream, "non_blocking", priority=-5 if stream == urgent else 0)
    for i, (key, stream) in enumerate(pairs):
        if late_us and i == len(pairs) - 1:
            s.until(late_us)
        s.launch(key, stream)
    return s.sync()


def chain(*keys, stream="s0"):
    return [(key, stream) for key in keys]


def alone():
    return [play("alone/" + key.replace("_", "-"), f"The kernel {key} by itself.", ONCE, key)
            for key in LAUNCHES if key not in WARM]


def warms():
    return [play("warm/" + key.split("_")[0], f"The kernel {key}, whose data L2 still has when it is played "
                 "again: no trace can say so.", ONCE, key) for key in WARM]


def memory():
    return [
        play("memory/copy-beside-copy", "Two copies, 66 SMs each.", SHARED, "copy_half", "copy_half"),
        play("memory/four-copies", "Four copies, 33 SMs each.", SHARED, *["copy_quarter"] * 4),
        play("memory/three-copies", "Three copies of 66, 33 and 33 SMs.", SHARED, "copy_half", "copy_quarter",
             "copy_quarter"),
        play("memory/reduce-beside-copy", "A sum and a copy on 66 SMs each.", SHARED, "reduce_half",
             "copy_half"),
        play("memory/gather-beside-gather", "Random reads from L2, on 66 SMs twice.", SHARED, "gather_half",
             "gather_half"),
        play("memory/gather-beside-copy", "Random reads from L2 on 66 SMs, a copy on the others.", SHARED,
             "gather_half", "copy_half"),
        play("memory/read-then-copy", "Half of each SM reads; a copy gets the other half.", SHARED, "read",
             "copy"),
        play("memory/transpose-then-softmax", "Many waves each: they meet at the first one's end only.",
             QUEUED, "transpose", "softmax"),
        play("memory/copy-half-then-stencil", "A copy keeps 66 SMs; many waves pass by.", SHARED, "copy_half",
             "stencil"),
    ]


def compute():
    return [
        play("compute/nbody-beside-copy", "Arithmetic on 66 SMs, a copy on the others.", SHARED, "nbody_half",
             "copy_half"),
        play("compute/nbody-with-copy", "Two warps of arithmetic on each SM, three blocks of a copy beside "
             "them.", SHARED, "nbody", "copy"),
        play("compute/fma-few-with-reduce", "Four warps of arithmetic on each SM, a sum beside them.", SHARED,
             "fma_few", "reduce"),
        play("compute/fma-with-nbody", "Both want issue slots of the same SMs.", SHARED, "fma", "nbody"),
        play("compute/fma-with-fma-few", "All issue slots, and a warp that needs few of them.", SHARED, "fma",
             "fma_few"),
        play("compute/three-kinds", "Arithmetic everywhere, a copy on 33 SMs, random reads on 66.", SHARED,
             "fma_few", "copy_quarter", "gather_half"),
        play("compute/tiled-product-then-copy", "A product through shared memory, a copy in its tail.",
             QUEUED, "gemm_tiled", "copy_half"),
    ]


def tensor():
    return [
        play("tensor/wgmma-with-copy", "Tensor cores fed by TMA, and a copy on the same SMs.", SHARED,
             "wgmma", "copy"),
        play("tensor/product-with-reduce", "Tensor cores fed by cp.async, and a sum beside them.", SHARED,
             "gemm", "reduce"),
        play("tensor/attention-with-norm", "Flash attention, layer norm behind it.", QUEUED, "attention",
             "layernorm"),
        play("tensor/norm-with-attention", "Layer norm, flash attention behind it.", QUEUED, "layernorm",
             "attention"),
    ]


def chains():
    layer = ["layernorm", "gemm", "softmax", "gemm", "transpose"]
    return [
        play("chain/layer", "Five kernels, one after the other.", ONCE, *chain(*layer)),
        play("chain/two-layers", "The same in two streams.", QUEUED, *chain(*layer),
             *chain(*layer, stream="s1")),
        play("chain/small", "Kernels of a few us, whose memory all fits into L2.", ONCE,
             *chain("transpose_small", "copy_small", "transpose_small", "copy_small")),
    ]


def lates():
    return [
        play("late/behind-arithmetic", "64 blocks behind a GPU full of arithmetic.", QUEUED, "fma",
             "fma_late", late_us=30),
        play("late/behind-copy", "64 blocks behind a GPU full of copying.", QUEUED, "copy", "fma_late",
             late_us=30),
        play("late/copy-behind-waves", "A copy for 33 SMs behind many waves.", QUEUED, "mandelbrot",
             "copy_quarter", late_us=40),
    ]


def urgents():
    urgent = "priority acts when a block leaves"
    return [
        play("urgent/arithmetic", "An urgent kernel amid the waves of a stencil.", urgent, "stencil",
             ("fma_late", "u"), late_us=60, urgent="u"),
        play("urgent/copy", "An urgent copy amid the waves of Mandelbrot.", urgent, "mandelbrot",
             ("copy_quarter", "u"), late_us=40, urgent="u"),
    ]


def scenarios():
    return alone() + warms() + memory() + compute() + tensor() + chains() + lates() + urgents()
