"""Families single and pair of the folder pairs/: kernels of the library, each alone and two at a time, that
ask for the same thing: how much do they slow each other down?

Programs come from profile1.jsonl.zst and profile2.jsonl.zst there: the launches of LAUNCHES under Nsight
Compute (kernels/profile with pairs/launches.cases). Functions go by their whole name, since their arguments
differ.
"""
import programs

INNER = "(anonymous namespace)::"
COPY = f"void {INNER}stream<({INNER}operation)0>({INNER}stream_arguments, gt_block_log*)"
READ = f"void {INNER}stream<({INNER}operation)3>({INNER}stream_arguments, gt_block_log*)"
FLOATS = f"void {INNER}chains<float, 4>({INNER}fma_arguments, gt_block_log*)"
FLOAT = f"void {INNER}chains<float, 1>({INNER}fma_arguments, gt_block_log*)"
DOUBLES = f"void {INNER}chains<double, 4>({INNER}fma_arguments, gt_block_log*)"
MIB = 1 << 20


def copy(sms, threads, mib):
    return ("stream", COPY, sms, threads, 22, 0, 0, {"operation": "copy", "bytes": mib * MIB})


def read(sms, threads, mib):
    return ("stream", READ, sms, threads, 24, 0, 0, {"operation": "read", "bytes": mib * MIB})


def chains(function, precision, count, threads, length, registers):
    return ("fma", function, 132, threads, registers, 0, 0,
            {"precision": precision, "chains": count, "length": length})


def named(name):
    return f"{INNER}{name}({INNER}{name}_arguments, gt_block_log*)"


# As programs.LAUNCHES.
LAUNCHES = {
    "copy_16": copy(16, 1024, 32),
    "copy_33": copy(33, 1024, 64),
    "copy_66": copy(66, 1024, 128),
    "copy_99": copy(99, 1024, 192),
    "copy_116": copy(116, 1024, 224),
    "copy_256_threads": copy(132, 256, 128),
    "copy_512_threads": copy(132, 512, 128),
    "copy_1024_threads": copy(132, 1024, 128),
    "read_66": read(66, 1024, 256),
    "read_few": read(66, 128, 64),
    "read_some": read(66, 256, 128),
    "chase_66": ("chase", named("chase"), 66, 32, 24, 0, 0,
                 {"stride": 128, "footprint": 16 * MIB, "steps": 600}),
    "chase_132": ("chase", named("chase"), 132, 32, 24, 0, 0,
                  {"stride": 128, "footprint": 16 * MIB, "steps": 600}),
    "gather": ("gather", named("gather"), 66, 256, 18, 0, 0, {"count": 4 * MIB, "entries": MIB}),
    "fma_256": chains(FLOATS, "fp32", 4, 256, 25000, 22),
    "fma_512": chains(FLOATS, "fp32", 4, 512, 12000, 22),
    "fma_768": chains(FLOATS, "fp32", 4, 768, 8000, 22),
    "fma_1024": chains(FLOATS, "fp32", 4, 1024, 6000, 22),
    "fma_chain": chains(FLOAT, "fp32", 1, 128, 40000, 16),
    "doubles": chains(DOUBLES, "fp64", 4, 512, 5000, 26),
    "nbody": ("nbody", named("nbody"), 132, 64, 32, 16384, 0, {"count": 8448}),
    "product": ("gemm_tiled", f"{INNER}gemm_tiled(gemm_arguments<float>, gt_block_log*)", 132, [16, 16], 63,
                8448, 0, {"m": 704, "n": 768, "k": 1024}),
    "mandelbrot": ("mandelbrot", named("mandelbrot"), 528, 256, 24, 0, 0,
                   {"width": 512, "height": 264, "limit": 4096}),
}

# First and second, in two streams.
PAIRS = {
    "SMs read and write side by side": [
        ("copy_66", "copy_66"), ("copy_33", "copy_99"), ("copy_16", "copy_116"), ("read_66", "copy_66")],
    "memory beside memory on the same SMs": [
        ("copy_256_threads", "copy_1024_threads"), ("copy_512_threads", "copy_1024_threads")],
    "few reads on the way, and memory busy": [("read_few", "copy_66"), ("read_some", "copy_66")],
    "data that L2 would have": [
        ("chase_66", "copy_66"), ("chase_66", "read_66"), ("chase_132", "copy_1024_threads"),
        ("gather", "copy_66"), ("gather", "read_66")],
    "warps that never stall": [
        ("fma_256", "fma_768"), ("fma_768", "fma_256"), ("chase_132", "fma_1024"), ("fma_chain", "fma_1024"),
        ("doubles", "fma_512"), ("product", "fma_512"), ("fma_512", "product"),
        ("fma_512", "copy_1024_threads"), ("fma_1024", "fma_chain"), ("fma_1024", "chase_132"),
        ("fma_512", "doubles")],
    "arithmetic and memory on the same SMs": [
        ("fma_chain", "copy_1024_threads"), ("mandelbrot", "copy_512_threads"), ("nbody", "copy_512_threads"),
        ("nbody", "copy_1024_threads"), ("copy_1024_threads", "nbody"), ("product", "copy_1024_threads"),
        ("copy_1024_threads", "product")],
    "arithmetic and arithmetic on the same SMs": [
        ("fma_chain", "mandelbrot"), ("mandelbrot", "fma_chain"), ("product", "nbody")],
}


def told(key):
    return key.replace("_", "-")


def scenarios():
    singles = [programs.play("single/" + told(key), f"The kernel {key} by itself.", programs.ONCE, key,
                             of=LAUNCHES)
               for key in LAUNCHES]
    pairs = [programs.play(f"pair/{told(first)}-and-{told(second)}", f"Asks: {asks}.", programs.SHARED, first,
                           second, of=LAUNCHES)
             for asks, kernels in PAIRS.items() for first, second in kernels]
    return singles + pairs
