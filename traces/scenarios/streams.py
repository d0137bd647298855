"""Families streams, events, default and graph: what waits for what."""
from scenario import Scenario


def many(count, block_us, expect_us, asks, rule):
    s = Scenario(f"streams/{count}-single-blocks", expect_us, asks, rule)
    s.kernel("k", 1, 256, block_us)
    for i in range(count):
        s.launch("k", f"s{i}")
    return s.sync()


def grid_of_launches(what, expect_us, streams, kernels, depth_first, asks, rule):
    s = Scenario("streams/" + what, expect_us, asks, rule)
    s.kernel("k", 1, 256, 200)
    for a in range(streams if depth_first else kernels):
        for b in range(kernels if depth_first else streams):
            s.launch("k", f"s{a if depth_first else b}")
    return s.sync()


def many_streams():
    leaves = "streams share 8 connections; a kernel leaves its connection once its blocks are dispatched"
    shared = "streams that share a connection wait for each other's launches (false dependency)"
    return [
        many(8, 300, 325, "8 streams of one block: one a connection; launches are 3.6 us apart.", leaves),
        many(9, 300, 329, "9 streams: two share a connection, which a dispatched kernel does not block.",
             leaves),
        many(12, 300, 340, "12 streams of one block.", leaves),
        many(16, 300, 354, "16 streams of one block.", leaves),
        many(32, 400, 512, "32 streams of one block.", leaves),
        many(64, 500, 727, "64 streams of one block, on 64 SMs.", leaves),
        many(128, 800, 1257, "128 streams of one block: as many kernels as can be resident.", leaves),
        many(160, 1000, 2112, "160 streams of one block: 32 wait until some of the first 128 end.",
             "at most 128 kernels are resident at once"),
        grid_of_launches("8x4-depth-first", 906, 8, 4, True, "8 streams of 4 kernels, stream by stream: no "
                         "two share a connection.", shared),
        grid_of_launches("9x4-depth-first", 1410, 9, 4, True, "9 streams of 4 kernels, stream by stream: the "
                         "ninth waits until the last kernel of the stream that it shares a connection with "
                         "has left.",
                         shared),
        grid_of_launches("9x4-breadth-first", 835, 9, 4, False, "9 streams of 4 kernels, kernel by kernel: "
                         "the ninth's first waits for nothing, its second for the other stream's second.",
                         shared),
    ]


def wide(s, *keys, block_us=100):
    """Kernels of a block for each SM, so that several run side by side."""
    for key in keys:
        s.kernel(key, 132, 256, block_us[key] if isinstance(block_us, dict) else block_us)
    return s


def events():
    after = "a wait holds its stream until what was recorded has completed; 1.8 us pass across streams"
    fork = wide(Scenario("events/fork", 202, "One kernel, then three streams that wait for it.", after), "k")
    fork.launch("k", "a").record("done", "a")
    for stream in "bcd":
        fork.wait("done", stream).launch("k", stream)

    join = wide(Scenario("events/join", 411, "A kernel that waits for kernels of 100, 200 and 300 us.",
                         after),
                "k1", "k2", "k3", "k", block_us={"k1": 100, "k2": 200, "k3": 300, "k": 100})
    for stream in "123":
        join.launch("k" + stream, stream).record("e" + stream, stream)
    for stream in "123":
        join.wait("e" + stream, "a")
    join.launch("k", "a")

    diamond = wide(Scenario("events/diamond", 404, "A kernel, two side by side behind it, one behind both.",
                            after),
                   "k", "long", block_us={"k": 100, "long": 200})
    diamond.launch("k", "a").record("top", "a").wait("top", "b").launch("long", "b").record("side", "b")
    diamond.launch("k", "a").wait("side", "a").launch("k", "a")

    chain = wide(Scenario("events/chain", 635, "20 kernels of 30 us, each in the other stream than the one "
                          "before.",
                          after), "k", block_us=30)
    for i in range(20):
        here, there = "ab"[i % 2], "ba"[i % 2]
        chain.launch("k", here).record(f"e{i}", here).wait(f"e{i}", there)

    cross = wide(Scenario("events/cross", 406, "Two streams that wait for each other's first kernel: both "
                          "second kernels start with the end of the longer first.", after),
                 "short", "long", block_us={"short": 100, "long": 200})
    cross.launch("short", "a").record("ea", "a").launch("long", "b").record("eb", "b")
    cross.wait("eb", "a").launch("long", "a").wait("ea", "b").launch("short", "b")

    again = wide(Scenario("events/recorded-again", 304, "An event recorded after each of two kernels: the "
                          "wait between the records ends with the first.", "a wait means the last record "
                          "before its call"),
                 "k")
    again.launch("k", "a").record("e", "a").wait("e", "b").launch("k", "b")
    again.launch("k", "a").record("e", "a").wait("e", "c").launch("k", "c")

    before = wide(Scenario("events/wait-before-record", 204, "A wait for an event that is recorded only "
                           "later.",
                           "a wait for an event without a record is a no-op"), "k", block_us=200)
    before.wait("e", "b").launch("k", "a").record("e", "a").launch("k", "b")

    held = wide(Scenario("events/host-waits", 319, "The host waits for an event between two of three "
                         "kernels, then launches the next ones.", "cudaEventSynchronize returns when the "
                         "record has completed"),
                "k")
    held.launch("k", "a").record("e1", "a").call("event_sync", event="e1")
    held.launch("k", "a").launch("k", "b").record("e2", "b").call("event_sync", event="e2").launch("k", "b")
    return [s.sync() for s in (fork, join, diamond, chain, cross, again, before, held)]


def defaults():
    legacy = "the legacy default stream waits for all blocking streams and they for it"
    barrier = wide(Scenario("default/legacy-between", 304, "A kernel in the legacy default stream between "
                            "kernels of two blocking streams.", legacy), "k")
    barrier.launch("k", "a").launch("k", 0).launch("k", "b")

    free = wide(Scenario("default/non-blocking", 207, "The same with streams that do not block.",
                         "non-blocking streams do not wait for the default stream, nor it for them"), "k",
                block_us=200)
    free.stream("a", "non_blocking")
    free.stream("b", "non_blocking")
    free.launch("k", "a").launch("k", 0).launch("k", "b")

    mixed = wide(Scenario("default/one-of-two-blocks", 405, "A blocking and a non-blocking stream around the "
                          "default stream: only the blocking one waits.", legacy), "k", block_us=200)
    mixed.stream("a", "non_blocking")
    mixed.launch("k", "a").launch("k", 0).launch("k", "b")

    own = wide(Scenario("default/per-thread", 204, "Per-thread default streams of two threads, and an "
                        "ordinary one.",
                        "a per-thread default stream is like one that was created"), "k", block_us=200)
    own.stream("p", "per_thread_default")
    own.stream("q", "per_thread_default")
    own.launch("k", "p").launch("k", "q", thread="second").launch("k", "b")
    own.sync(thread="second")

    against = wide(Scenario("default/per-thread-and-legacy", 304, "A per-thread default stream around the "
                            "legacy one.",
                            "a per-thread default stream blocks: it waits for the legacy default stream"),
                   "k")
    against.stream("p", "per_thread_default")
    against.launch("k", "p").launch("k", 0).launch("k", "p")

    rounds = wide(Scenario("default/alternating", 613, "Six kernels, in a blocking stream and the default "
                           "stream in turn, and beside them one in a non-blocking stream.", legacy), "k",
                  "side",
                  block_us={"k": 100, "side": 600})
    rounds.stream("n", "non_blocking")
    rounds.launch("side", "n")
    for _ in range(3):
        rounds.launch("k", "a").launch("k", 0)
    return [s.sync() for s in (barrier, free, mixed, own, against, rounds)]


def graphs():
    gap = "0.8 us pass between nodes of a graph"
    node = {"kernel": "k"}
    chain = wide(Scenario("graph/chain", 644, "A graph of 20 kernels of 31.4 us in a row.", gap), "k",
                 block_us=31.4)
    chain.call("graph_launch", "a", nodes=[node] + [dict(node, after=[i]) for i in range(19)])

    diamond = wide(Scenario("graph/diamond", 302, "A graph: one kernel, four behind it, one behind all.",
                            "nodes start when all that they come after has ended"), "k")
    diamond.call("graph_launch", "a", nodes=[node] + [dict(node, after=[0])] * 4 + [dict(node, after=[1, 2, 3,
        4])])

    again = wide(Scenario("graph/launched-again", 818, "A graph of 5 kernels of 40 us, launched four times.",
                          "launches of a graph in one stream run one after the other"), "k", block_us=40)
    for _ in range(4):
        again.call("graph_launch", "a", nodes=[node] + [dict(node, after=[i]) for i in range(4)])

    copies = wide(Scenario("graph/copies", 310, "A graph: a copy in, two kernels side by side, a copy out.",
                           "nodes start when all that they come after has ended"), "k", "long",
                  block_us={"k": 100, "long": 150})
    copies.call("graph_launch", "a", nodes=[
        {"direction": "h2d", "bytes": 4 << 20, "memory": "pinned"}, dict(node, after=[0]),
        {"kernel": "long", "after": [0]}, {"direction": "d2h", "bytes": 4 << 20, "memory": "pinned",
                                           "after": [1, 2]}])
    return [s.sync() for s in (chain, diamond, again, copies)]


def scenarios():
    return many_streams() + events() + defaults() + graphs()
