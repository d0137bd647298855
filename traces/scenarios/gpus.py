"""Family gpus, of the folder gpus/: two GPUs, what goes between them, and who asks for it."""
from scenario import Scenario

MIB = 1 << 20
LOCK = {"lock": "gil"}


def scenario(name, asks, rule, peers=True, threads=()):
    """Streams a, a2, a3 are on GPU 0, b, b2, b3 on GPU 1."""
    made = Scenario("gpus/" + name, None, asks, rule)
    made.lines.append({"gpu": 0})
    made.lines.append({"gpu": 1} if peers else {"gpu": 1, "peers": []})
    for key, fields in threads:
        made.lines.append({"thread": key, **fields})
    for gpu, letter in enumerate("ab"):
        for suffix in ("", "2", "3"):
            made.lines.append({"stream": letter + suffix, "gpu": gpu, "flags": ["non_blocking"]})
    return made


def other(stream):
    return 1 if stream[0] == "a" else 0


def push(made, size, stream, times=1, **fields):
    for _ in range(times):
        made.copy("p2p", size, stream, peer_gpu=other(stream), **fields)
    return made


def pull(made, size, stream, times=1, **fields):
    return push(made, size, stream, times, from_peer=True, **fields)


def full(made, key, block_us, blocks=132):
    return made.kernel(key, blocks, 256, block_us)


# What may not begin before all has been asked for waits for a kernel of 400 us on each GPU.
def held(name, asks, rule, streams, **options):
    made = scenario(name, asks, rule, **options)
    made.kernel("hold", 1, 32, 400)
    first = {}
    for stream in streams:
        key = stream[0]
        if key not in first:
            first[key] = stream
            made.launch("hold", stream)
            made.record("go" + key, stream)
    for stream in streams:
        for key in first:
            made.wait("go" + key, stream)
    return made


def copies():
    sizes = [4096 << (2 * i) for i in range(9)]
    for name, act in (("push", push), ("pull", pull)):
        made = held(name + "-sizes", f"Copies of 4 KiB to 256 MiB, one after the other, each a {name}.",
                    "a copy takes its latency and its bytes at the link's rate", ["a"])
        for size in sizes:
            act(made, size, "a", 2)
        yield made.sync()
    made = held("default-sizes", "The same by cudaMemcpyAsync.", "the general function does as the special one", ["a"])
    for size in sizes:
        push(made, size, "a", 2, name="cudaMemcpyAsync")
    yield made.sync()
    made = held("small-many", "Forty copies of 4 KiB each way.", "an engine's gap between copies", ["a", "b"])
    push(made, 4096, "a", 40)
    yield push(made, 4096, "b", 40).sync()
    made = held("both-ways", "Eight copies of 64 MiB each way at once.", "a link carries both directions", ["a", "b"])
    push(made, 64 * MIB, "a", 8)
    yield push(made, 64 * MIB, "b", 8).sync()
    made = held("both-ways-unequal", "Two copies of 256 MiB one way, two hundred of 1 MiB the other.",
                "a link carries both directions", ["a", "b"])
    push(made, 256 * MIB, "a", 2)
    yield push(made, MIB, "b", 200).sync()
    made = held("both-ways-pulled", "Eight copies of 64 MiB each way, pulled.", "a pull is as a push", ["a", "b"])
    pull(made, 64 * MIB, "a", 8)
    yield pull(made, 64 * MIB, "b", 8).sync()
    made = held("same-way-two", "Copies of 64 MiB to the same GPU in two streams.",
                "copies of one GPU to another share its engine or the link", ["a", "a2"])
    push(made, 64 * MIB, "a", 6)
    yield push(made, 64 * MIB, "a2", 6).sync()
    made = held("same-way-three", "Copies of 16 MiB to the same GPU in three streams.",
                "copies of one GPU to another share its engine or the link", ["a", "a2", "a3"])
    for stream in ("a", "a2", "a3"):
        push(made, 16 * MIB, stream, 8)
    yield made.sync()
    made = held("same-way-small", "Copies of 1 MiB in two streams.", "the same", ["a", "a2"])
    push(made, MIB, "a", 40)
    yield push(made, MIB, "a2", 40).sync()
    made = held("push-and-pull", "64 MiB pushed by GPU 0 while GPU 1 pulls 64 MiB from it.",
                "two engines, one link in one direction", ["a", "b"])
    push(made, 64 * MIB, "a", 6)
    yield pull(made, 64 * MIB, "b", 6).sync()
    made = held("in-and-out-of-one", "GPU 0 pushes and pulls at once.", "both directions by one GPU", ["a", "a2"])
    push(made, 64 * MIB, "a", 6)
    yield pull(made, 64 * MIB, "a2", 6).sync()


def beside():
    made = held("beside-h2d", "Copies to the other GPU beside copies from the host.",
                "NVLink and the host's link are two", ["a", "a2"])
    push(made, 64 * MIB, "a", 16)
    yield made.copy("h2d", 64 * MIB, "a2").copy("h2d", 64 * MIB, "a2").sync()
    made = held("beside-d2h", "The same beside copies to the host.", "NVLink and the host's link are two", ["a", "a2"])
    push(made, 64 * MIB, "a", 16)
    yield made.copy("d2h", 64 * MIB, "a2").copy("d2h", 64 * MIB, "a2").sync()
    made = held("beside-within", "The same beside copies within GPU 0.", "copies within a GPU need its SMs", ["a", "a2"])
    push(made, 64 * MIB, "a", 8)
    for _ in range(30):
        made.copy("d2d", 64 * MIB, "a2")
    yield made.sync()
    made = held("h2d-to-both", "The host copies to both GPUs.", "each GPU has a link to the host", ["a", "b"])
    for stream in ("a", "b"):
        for _ in range(4):
            made.copy("h2d", 32 * MIB, stream)
    yield made.sync()
    made = held("h2d-and-d2h", "The host copies to one GPU and from the other.", "each GPU has a link to the host",
                ["a", "b"])
    for _ in range(4):
        made.copy("h2d", 32 * MIB, "a").copy("d2h", 32 * MIB, "b")
    yield made.sync()
    made = held("no-access-sizes", "Copies of 4 KiB to 64 MiB without peer access.",
                "they go by way of the host's memory", ["a"], peers=False)
    for i in range(8):
        push(made, 4096 << (2 * i), "a", 2)
    yield made.sync()
    made = held("no-access-both-ways", "32 MiB each way without peer access.",
                "both directions share what leads to the host", ["a", "b"], peers=False)
    push(made, 32 * MIB, "a", 4)
    yield push(made, 32 * MIB, "b", 4).sync()


def order():
    made = scenario("side-by-side", "A chain of kernels on each GPU.", "GPUs do not hold each other up")
    full(made, "k", 50)
    for _ in range(10):
        made.launch("k", "a").launch("k", "b")
    yield made.sync()
    for name, block_us, blocks in (("short", 5, 1), ("long", 60, 264)):
        made = scenario("events-" + name, f"Kernels of {block_us} us in turn on two GPUs.",
                        "a wait for an event of another GPU costs more than one of the same")
        full(made, "k", block_us, blocks)
        made.kernel("hold", 1, 32, 400)
        made.launch("hold", "a")
        for i in range(20):
            stream = "ab"[i % 2]
            if i > 0:
                made.wait(f"e{i - 1}", stream)
            made.launch("k", stream).record(f"e{i}", stream)
        yield made.sync()
    made = scenario("ping-pong", "A kernel, a copy to the other GPU, a kernel there, and back, ten times.",
                    "copies and kernels of two GPUs by events")
    full(made, "k", 20)
    for i in range(20):
        stream = "ab"[i % 2]
        if i > 0:
            made.wait(f"e{i - 1}", stream)
        made.launch("k", stream)
        push(made, 4 * MIB, stream).record(f"e{i}", stream)
    yield made.sync()
    made = scenario("pipeline", "Eight pieces go through a kernel of GPU 0, a copy and a kernel of GPU 1.",
                    "pieces overlap where streams and engines allow")
    full(made, "k", 40)
    for i in range(8):
        made.launch("k", "a").record(f"k{i}", "a").wait(f"k{i}", "a2")
        push(made, 8 * MIB, "a2").record(f"c{i}", "a2").wait(f"c{i}", "b").launch("k", "b")
    yield made.sync()
    made = scenario("exchange", "Each GPU computes and sends what it has to the other, behind its kernel, six times.",
                    "gradients exchanged by copies beside the next kernels")
    full(made, "k", 60)
    for i in range(6):
        for own, lane in (("a", "a2"), ("b", "b2")):
            made.launch("k", own).record(f"k{own}{i}", own).wait(f"k{own}{i}", lane)
            push(made, 16 * MIB, lane).record(f"c{own}{i}", lane)
    for own, lane in (("a", "b"), ("b", "a")):
        made.wait(f"c{lane}5", own).launch("k", own)
    yield made.sync()
    made = scenario("ring", "Sixteen pieces of 4 MiB pass both ways, each behind the piece that came.",
                    "an exchange piece by piece")
    for i in range(16):
        for stream in "ab":
            if i > 0:
                made.wait(f"{'b' if stream == 'a' else 'a'}{i - 1}", stream)
            push(made, 4 * MIB, stream).record(f"{stream}{i}", stream)
    yield made.sync()
    made = scenario("beside-kernels", "Copies both ways while kernels fill both GPUs.",
                    "engines copy beside kernels")
    full(made, "k", 100, 264)
    for stream, lane in (("a", "a2"), ("b", "b2")):
        made.launch("k", stream, 5)
        push(made, 32 * MIB, lane, 6)
    yield made.sync()
    made = scenario("graphs", "A graph of four kernels on each GPU, in turn by events.", "graphs wait for events too")
    full(made, "k", 20)
    chain = [{"kernel": "k"}] + [{"kernel": "k", "after": [i]} for i in range(3)]
    for i in range(8):
        stream = "ab"[i % 2]
        if i > 0:
            made.wait(f"e{i - 1}", stream)
        made.call("graph_launch", stream, nodes=chain).record(f"e{i}", stream)
    yield made.sync()


def threads():
    made = scenario("one-thread-in-turn", "One thread launches on both GPUs in turn.",
                    "a thread's calls take their time, whatever GPU they are for")
    full(made, "k", 2, 8)
    for _ in range(60):
        made.launch("k", "a").launch("k", "b")
    yield made.sync()
    for name, asks, count, lock in (("two-threads", "Two threads, a GPU each, launch as fast as they can.", 2, {}),
                                    ("two-threads-one-lock", "The same with one lock.", 2, LOCK),
                                    ("four-threads", "Four threads, two a GPU.", 4, {}),
                                    ("four-threads-one-lock", "Four threads, two a GPU, with one lock.", 4, LOCK)):
        streams = ["a", "b", "a2", "b2"][:count]
        made = scenario(name, asks, "threads that share a lock call one after the other" if lock
                        else "threads of one process hold each other up a little",
                        threads=[("t" + stream, lock) for stream in streams])
        full(made, "k", 2, 8)
        for _ in range(60):
            for stream in streams:
                made.launch("k", stream, thread="t" + stream)
        for stream in streams:
            made.call("stream_sync", stream, thread="t" + stream)
        yield made
    made = scenario("lock-and-work", "Two threads compute for 10 us before each launch, with one lock.",
                    "what an interpreter does is one after the other too",
                    threads=[("ta", LOCK), ("tb", LOCK)])
    full(made, "k", 15, 132)
    for _ in range(20):
        for stream in "ab":
            made.call("host_work", thread="t" + stream, duration_us=10).launch("k", stream, thread="t" + stream)
    for stream in "ab":
        made.call("stream_sync", stream, thread="t" + stream)
    yield made
    made = scenario("lock-and-waits", "Two threads launch and synchronise, with one lock.",
                    "who waits for the GPU does not hold the lock", threads=[("ta", LOCK), ("tb", LOCK)])
    full(made, "k", 30, 132)
    for _ in range(15):
        for stream in "ab":
            made.call("host_work", thread="t" + stream, duration_us=8)
            made.launch("k", stream, thread="t" + stream).call("stream_sync", stream, thread="t" + stream)
    yield made
    made = scenario("host-waits", "The thread waits for the end of a kernel of each GPU in turn.",
                    "a synchronisation with one GPU does not wait for the other")
    full(made, "k", 25)
    for i in range(12):
        stream = "ab"[i % 2]
        made.launch("k", stream).record(f"e{i}", stream)
        if i > 0:
            made.call("event_sync", event=f"e{i - 1}")
    yield made.sync()


def scenarios():
    return list(copies()) + list(beside()) + list(order()) + list(threads())
