"""Families copy and host: engines, the link, and threads that make calls."""
from scenario import Scenario

KIB, MIB = 1 << 10, 1 << 20


def pipeline(what, expect_us, streams, depth_first, asks, rule):
    """Eight chunks of 2 MiB: in (42 us), a kernel (60 us), out (41 us)."""
    s = Scenario("copy/pipeline-" + what, expect_us, asks, rule)
    s.kernel("k", 132, 256, 60)
    steps = [lambda chunk: s.copy("h2d", 2 * MIB, f"s{chunk % streams}"),
             lambda chunk: s.launch("k", f"s{chunk % streams}"),
             lambda chunk: s.copy("d2h", 2 * MIB, f"s{chunk % streams}")]
    order = [(c, step) for c in range(8) for step in steps] if depth_first else \
            [(r + i, step) for r in range(0, 8, streams) for step in steps for i in range(streams)]
    for chunk, step in order:
        step(chunk)
    return s.sync()


def pipelines():
    engine = "one engine a direction, first come first served; a stream's operations in order"
    return [
        pipeline("1-stream", 1176, 1, True, "Chunks in one stream: nothing overlaps, 147 us a chunk.",
                 engine),
        pipeline("2-depth", 631, 2, True, "Chunks in two streams, chunk by chunk: each stream needs 4 x 147 "
                 "us, the second starts a copy later.", engine),
        pipeline("2-breadth", 631, 2, False, "The same, step by step for each two chunks.", engine),
        pipeline("4-depth", 466, 4, True, "Chunks in four streams, chunk by chunk: the copies in are the "
                 "bottleneck, 42 us each, 45 beside copies out, with the engine's gap of 1.6 us between two.",
                 engine),
        pipeline("4-breadth", 466, 4, False, "The same, step by step for each four chunks.", engine),
    ]


def tensorflow():
    s = Scenario("copy/compute-and-copy-streams", 852, "One compute stream, one stream for copies in, one "
                 "for copies out, one for copies within the device, joined by events, as TensorFlow does it: "
                 "six steps.",
                 "engines work beside the SMs; events join the streams")
    s.kernel("k", 264, 512, 120)
    for i in range(6):
        s.copy("h2d", 4 * MIB, "in").record(f"in{i}", "in").wait(f"in{i}", "compute")
        s.launch("k", "compute").record(f"k{i}", "compute")
        s.wait(f"k{i}", "out").copy("d2h", 2 * MIB, "out")
        s.wait(f"k{i}", "device").copy("d2d", 16 * MIB, "device")
    return s.sync()


def copies():
    link = "a copy takes a latency and its bytes over the link's rate"
    pinned = Scenario("copy/pinned-in", 628, "Two copies of 16 MiB in, in one stream.", link)
    pinned.copy("h2d", 16 * MIB, "a").copy("h2d", 16 * MIB, "a")
    out = Scenario("copy/pinned-out", 626, "Two copies of 16 MiB out, in one stream.", link)
    out.copy("d2h", 16 * MIB, "a").copy("d2h", 16 * MIB, "a")
    sizes = Scenario("copy/pinned-sizes", 133, "Copies in of 4 KiB, 16 KiB, ... 4 MiB, in one stream.", link)
    for i in range(6):
        sizes.copy("h2d", 4 * KIB << 2 * i, "a")
    both = Scenario("copy/both-ways", 655, "32 MiB in and 32 MiB out at the same time.",
                    "an engine a direction; together they are limited by the link's rate both ways")
    both.copy("h2d", 32 * MIB, "a").copy("d2h", 32 * MIB, "b")
    engine = Scenario("copy/one-engine", 615, "Two copies of 16 MiB in, in two streams.", "one engine a "
                      "direction")
    engine.copy("h2d", 16 * MIB, "a").copy("h2d", 16 * MIB, "b")
    hidden = Scenario("copy/behind-kernel", 310, "A copy of 16 MiB in beside a kernel of 300 us.",
                      "engines work beside the SMs")
    hidden.kernel("k", 264, 1024, 300)
    hidden.launch("k", "a").copy("h2d", 16 * MIB, "b")

    staged = Scenario("copy/pageable-small-in", 290, "16 copies of 16 KiB of pageable memory in, behind a "
                      "kernel of 200 us: they are staged, the calls return.",
                      "a pageable copy in of at most 64 KiB returns once staged")
    staged.kernel("k", 132, 256, 200)
    staged.launch("k", "a")
    for _ in range(16):
        staged.copy("h2d", 16 * KIB, "a", memory="pageable")
    large = Scenario("copy/pageable-large-in", 920, "Three copies of 4 MiB of pageable memory in: the call "
                     "copies.",
                     "a large pageable copy in blocks the call")
    for _ in range(3):
        large.copy("h2d", 4 * MIB, "a", memory="pageable")
    back = Scenario("copy/pageable-out", 762, "Three copies of 4 MiB out to pageable memory.",
                    "a pageable copy out returns at completion")
    for _ in range(3):
        back.copy("d2h", 4 * MIB, "a", memory="pageable")
    blocks = Scenario("copy/pageable-blocks-host", 659, "A kernel, a pageable copy out behind it, then a "
                      "kernel in another stream: its launch comes only after the copy.",
                      "a pageable copy out returns at completion")
    blocks.kernel("k", 132, 256, 200)
    blocks.launch("k", "a").copy("d2h", 4 * MIB, "a", memory="pageable").launch("k", "b")

    within = Scenario("copy/within-device", 148, "Four copies of 64 MiB within the device, in two streams.",
                      "copies within the device share its memory, not the link")
    for stream in "abab":
        within.copy("d2d", 64 * MIB, stream)
    fill = Scenario("copy/memset", 188, "Two memsets of 256 MiB in one stream, between two of 4 KiB.",
                    "a memset takes a latency and its bytes over its rate")
    for size in (4 * KIB, 256 * MIB, 256 * MIB, 4 * KIB):
        fill.call("memset", "a", bytes=size)
    rest = [s.sync() for s in (pinned, out, sizes, both, engine, hidden, staged, large, back, blocks, within,
                               fill)]
    return rest + pipelines() + [tensorflow()]


def threads(what, expect_us, count, launches, block_us, asks, rule):
    s = Scenario("host/" + what, expect_us, asks, rule)
    s.kernel("k", 1, 128, block_us)
    for _ in range(launches):
        for t in range(count):
            s.launch("k", f"s{t}", thread=f"t{t}")
    for t in range(count):
        s.call("stream_sync", f"s{t}", thread=f"t{t}")
    return s


def hosts():
    slower = "the slower of host and GPU sets the pace"
    bound = Scenario("host/launch-bound", 720, "200 launches of a kernel of 1 us: the launches, 3.6 us each, "
                     "set the pace.", slower)
    bound.kernel("k", 1, 128, 1)
    bound.launch("k", "a", times=200).sync()
    gpu = Scenario("host/gpu-bound", 863, "40 launches of a kernel of 20 us: kernel and gap, 1.6 us, set the "
                   "pace.",
                   slower)
    gpu.kernel("k", 132, 256, 20)
    gpu.launch("k", "a", times=40).sync()
    each = Scenario("host/sync-each", 550, "20 times a launch of 20 us and a wait for it.",
                    "a synchronising call returns a little after what it waits for has ended")
    each.kernel("k", 132, 256, 20)
    for _ in range(20):
        each.launch("k", "a").call("stream_sync", "a")
    work = Scenario("host/work-between", 650, "20 launches of 10 us with 30 us of the host's own work "
                    "between.", slower)
    work.kernel("k", 132, 256, 10)
    for _ in range(20):
        work.launch("k", "a").call("host_work", duration_us=30)
    work.sync()
    function = Scenario("host/functions", 464, "Kernels of 100 us with host functions of 20 us between them, "
                        "and a second stream that does not care.", "a host function blocks its stream, not "
                        "the host")
    function.kernel("k", 132, 256, 100)
    function.launch("k", "a").call("host_function", "a", duration_us=20).launch("k", "a", times=2)
    function.call("host_function", "a", duration_us=20).launch("k", "a").launch("k", "b", times=4).sync()
    copy = Scenario("host/synchronous-copies", 1257, "Six times a synchronous copy of 1 MiB in, a kernel of "
                    "150 us, a synchronous copy out.", "cudaMemcpy of pinned memory returns when the copy is "
                    "done")
    copy.kernel("k", 132, 256, 150)
    for _ in range(6):
        copy.copy("h2d", MIB, 0, synchronous=True).launch("k", 0).copy("d2h", MIB, 0, synchronous=True)
    paces = Scenario("host/two-paces", 611, "Two threads: one queues five kernels at once, the other waits "
                     "for each of its own and works 20 us before the next.", "threads meet only through the "
                     "GPU")
    paces.kernel("k", 132, 256, 100)
    paces.launch("k", "a", times=5)
    for i in range(5):
        paces.launch("k", "b", thread="second").call("stream_sync", "b", thread="second")
        paces.call("host_work", thread="second", duration_us=20)
    paces.call("stream_sync", "a")
    drain = Scenario("host/wait-for-all", 811, "Three rounds of eight streams with kernels of 100 to 240 us, "
                     "each round ended by waiting for the device.", "a device synchronisation waits for all "
                     "streams")
    for i in range(8):
        drain.kernel(f"k{i}", 16, 256, 100 + 20 * i)
    for _ in range(3):
        for i in range(8):
            drain.launch(f"k{i}", f"s{i}")
        drain.sync()
    return [
        bound, gpu, each, work, function, copy, paces, drain,
        threads("two-threads-launch-bound", 360, 2, 100, 1, "Two threads with a stream each launch 100 "
                "kernels of 1 us: do they hinder each other?", "calls of two threads cost what they cost "
                "alone"),
        threads("two-threads-gpu-bound", 1078, 2, 50, 20, "Two threads with a stream each launch 50 kernels "
                "of 20 us.",
                slower),
        threads("four-threads", 865, 4, 40, 20, "Four threads with a stream each launch 40 kernels of 20 us.",
                slower),
    ]


def scenarios():
    return copies() + hosts()
