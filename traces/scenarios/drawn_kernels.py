#!/usr/bin/env python3
"""Kernels of the library, drawn at random: grids, blocks, shared memory and sizes of data.

    python3 traces/scenarios/drawn_kernels.py SEED LAUNCHES FOLDER

Writes FOLDER/launches.cases, LAUNCHES launches for kernels/profile, and FOLDER/kernels.jsonl, a trace file that defines them:
`gridtide validate --random N --families pairs,triples --kernels FOLDER/kernels.jsonl` draws among them.  Function, block and grid are
those of one launch only, so that a profile can be told by them.  The stated durations are for playing without a profile; with one,
--cost program takes the machine code.
"""
import json
import os
import random
import sys

MIB = 1 << 20
INNER = "(anonymous namespace)::"


def named(name, arguments=None):
    return f"{INNER}{name}({INNER}{arguments or name}_arguments, gt_block_log*)"


def template(name, values, arguments):
    return f"void {INNER}{name}<{values}>({INNER}{arguments}_arguments, gt_block_log*)"


def power(rng, low, high):
    """A power of two, low to high."""
    return 1 << rng.randint(low.bit_length() - 1, high.bit_length() - 1)


def grid(rng, least=16):
    return rng.choice([blocks for blocks in (16, 33, 66, 99, 132, 198, 264, 396, 528, 792, 1056, 2112) if blocks >= least])


def stream(operation, number, registers):
    def draw(rng):
        blocks, threads = grid(rng), rng.choice([64, 128, 256, 512, 1024])
        # Some 20 to 250 us: a thread has 64 bytes on the way, each for 0.8 us; all together 3,000 bytes a ns.
        bytes_a_us = min(3000e3, min(blocks * threads, 132 * 2048) * 64 / 0.8)
        return {"grid": blocks, "block": threads,
                "arguments": {"operation": operation, "bytes": max(1, round(rng.uniform(20, 250) * bytes_a_us / MIB)) * MIB}}
    return ("stream", template("stream", f"({INNER}operation){number}", "stream"), registers, 0, draw)


def chains(kind, precision, count, registers, work):
    def draw(rng):
        threads, blocks = rng.choice([64, 128, 256, 512, 1024]), grid(rng)
        waves = max(1, blocks * threads / (132 * 2048))
        return {"grid": blocks, "block": threads, "arguments": {
            "precision": precision, "chains": count, "length": int(rng.uniform(0.3, 1.5) * work / waves)}}
    return ("fma", template("chains", f"{kind}, {count}", "fma"), registers, 0, draw)


def plain(name, registers, static, draw, function=None):
    return (name, function or named(name), registers, static, draw)


def rows(rng):
    columns = power(rng, 256, 4096)
    return {"grid": grid(rng, 66), "block": rng.choice([64, 128, 256, 512]),
            "arguments": {"rows": rng.randint(4, 48) * MIB // columns, "columns": columns}}


def transpose(rng):
    side = rng.choice([1024, 1536, 2048, 3072, 4096])
    return {"grid": [side // 32, side // 32], "block": [32, rng.choice([2, 4, 8, 16])], "arguments": {"rows": side, "columns": side}}


def gather(rng):
    return {"grid": grid(rng, 66), "block": rng.choice([128, 256, 512, 1024]),
            "arguments": {"count": rng.randint(1, 16) * MIB, "entries": power(rng, MIB // 4, 64 * MIB)}}


def nbody(rng):
    threads, blocks = rng.choice([64, 128, 256]), rng.choice([33, 66, 132, 264])
    return {"grid": blocks, "block": threads, "arguments": {"count": threads * blocks if blocks * threads <= 34000 else 33792}}


def product(rng):
    m, n, k = (rng.choice([256, 512, 768, 1024, 2048]) for _ in range(3))
    return {"grid": max(16, m // 64 * (n // 64)), "block": [16, 16], "arguments": {"m": m, "n": n, "k": k}}


def tensor(rng):
    m, n = rng.choice([512, 1024, 2048]), rng.choice([512, 1024, 2048])
    return {"grid": m // 64 * (n // 64), "block": 128, "arguments": {"m": m, "n": n, "k": rng.choice([512, 1024, 2048])}}


def pipelined(stages):
    def draw(rng):
        m, n = rng.choice([512, 1024, 2048]), rng.choice([512, 1024, 2048])
        return {"grid": max(16, m // 128 * (n // 128)), "block": 256, "dynamic": 16384 * stages,
                "arguments": {"m": m, "n": n, "k": rng.choice([512, 1024, 2048]), "stages": stages}}
    return ("gemm_cp_async", f"void {INNER}gemm_cp_async<{stages}>(gemm_arguments<__half>, gt_block_log*)",
            {2: 123, 3: 128, 4: 126}[stages], 0, draw)


def tiles(stages, registers, shared):
    function = named("synchronous", "pipeline") if stages == 0 else template("pipeline", str(stages), "pipeline")

    def draw(rng):
        threads = rng.choice([128, 256])
        return {"grid": grid(rng, 66), "block": threads, "static": shared,
                "arguments": {"stages": stages, "count": rng.randint(2, 16) * MIB, "work": rng.choice([1, 4, 16, 64])}}
    return ("cp_async_pipeline", function, registers, None, draw)


def mandelbrot(rng):
    blocks = rng.choice([264, 528, 1056, 2112])
    return {"grid": blocks, "block": rng.choice([128, 256]), "arguments": {"width": 512, "height": rng.choice([264, 512]), "limit": power(rng, 256, 4096)}}


def counted(rng):
    return {"grid": grid(rng, 66), "block": rng.choice([128, 256, 512]),
            "arguments": {"count": rng.randint(2, 24) * MIB}}


def scan(rng):
    return {"grid": grid(rng, 66), "block": rng.choice([128, 256, 512]), "arguments": {"count": rng.randint(2, 16) * MIB}}


def stencil(rng):
    width, height = rng.choice([2048, 4096]), rng.choice([1024, 2048, 4096])
    return {"grid": [width // 32, height // 8], "block": [32, 8], "arguments": {"points": 5, "width": width, "height": height}}


def atomics(rng):
    return {"grid": grid(rng, 66), "block": rng.choice([128, 256, 512]),
            "arguments": {"counters": power(rng, 1024, 4 * MIB), "count": rng.randint(1, 8) * MIB}}


def spmv(rng):
    rows_ = power(rng, 32768, 262144)
    return {"grid": rows_ // 8, "block": 256, "arguments": {"method": "vector", "rows": rows_, "columns": rows_,
                                                             "average": rng.choice([8, 16, 32])}}


FUNCTIONS = [
    stream("copy", 0, 22), stream("add", 1, 28), stream("triad", 2, 28), stream("read", 3, 24),
    chains("float", "fp32", 4, 22, 10000), chains("float", "fp32", 1, 16, 20000), chains("double", "fp64", 4, 26, 4000),
    plain("softmax", 28, 128, rows), plain("layernorm", 32, 128, rows), plain("transpose", 28, 4224, transpose),
    plain("gather", 18, 0, gather), plain("nbody", 32, 16384, nbody),
    plain("gemm_tiled", 63, 8448, product, f"{INNER}gemm_tiled(gemm_arguments<float>, gt_block_log*)"),
    plain("gemm_tensor", 95, 9728, tensor, f"{INNER}gemm_tensor(gemm_arguments<__half>, gt_block_log*)"),
    pipelined(2), pipelined(3), pipelined(4), tiles(0, 17, 8192), tiles(2, 20, 16384), tiles(4, 25, 32768),
    plain("mandelbrot", 24, 0, mandelbrot), plain("reduce", 31, 129, counted), plain("scan", 32, 136, scan),
    ("stencil", template("stencil", f"({INNER}dimensions)0", "stencil"), 26, 0, stencil), plain("atomics", 16, 0, atomics),
    ("spmv", named("vector", "spmv"), 32, 0, spmv),
]


def draw_launches(rng, count):
    launches, seen = [], set()
    while len(launches) < count:
        runs, function, registers, static, draw = FUNCTIONS[len(launches) % len(FUNCTIONS)]
        drawn = draw(rng)
        key = (function, str(drawn["grid"]), str(drawn["block"]))
        if key in seen:
            continue
        seen.add(key)
        launches.append({"runs": runs, "function": function, "registers": registers, "static": drawn.get("static", static), **drawn})
    return launches


def size(value):
    return "x".join(map(str, value)) if isinstance(value, list) else str(value)


def case(launch):
    return " ".join([launch["runs"], size(launch["grid"]), size(launch["block"]), str(launch.get("dynamic", 0))] +
                    [f"{name}={value}" for name, value in launch["arguments"].items()])


def definition(number, launch):
    line = {"kernel": launch["function"], "id": f"k{number}", "grid": launch["grid"], "block": launch["block"],
            "registers": launch["registers"], "duration_us": 50}
    if launch["static"]:
        line["shared_bytes"] = launch["static"]
    if launch.get("dynamic"):
        line["dynamic_shared_bytes"] = launch["dynamic"]
    return {**line, "runs": launch["runs"], "arguments": launch["arguments"]}


def main():
    seed, launches, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    drawn = draw_launches(random.Random(f"pairs {seed}"), launches)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "launches.cases"), "w", encoding="utf-8") as file:
        file.write(f"# Launches of drawn_kernels.py {seed}: KERNEL GRID BLOCK SHARED_BYTES [PARAMETER=VALUE]...\n")
        file.writelines(case(launch) + "\n" for launch in drawn)
    lines = [{"gridtide": 1, "name": f"kernels-{seed}", "device": "h200"}]
    lines += [definition(number, launch) for number, launch in enumerate(drawn)]
    with open(os.path.join(folder, "kernels.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


if __name__ == "__main__":
    main()
