"""Families of the folder handed/: work that the GPU hands out itself.  Task graphs by each policy, a persistent kernel beside
the launches that it replaces, plans (rProgram), barriers over a grid, kernels that come early, threads that poll, kernels
that blocks launch.
"""
from scenario import Scenario

SMS = 132


class Handed(Scenario):
    """A scenario whose kernels walk task graphs, meet, come early or launch."""

    def line(self, **fields):
        self.lines.append(fields)
        return self

    def graph(self, key, kinds, tasks, **fields):
        """kinds: {name: fields or one time}; tasks: objects as traces/FORMAT.md has them."""
        kinds = [{"kind": name, **(cost if isinstance(cost, dict) else {"task_us": cost})} for name, cost in kinds.items()]
        return self.line(task_graph=key, kinds=kinds, tasks=tasks, **fields)

    def workers(self, graph, policy, grid=SMS, block=128, stream="s"):
        self.line(kernel="workers", grid=grid, block=block, registers=48, tasks=graph, policy=policy)
        return self.launch("workers", stream)

    def works(self, key, grid, block_us, block=128, registers=32, **fields):
        return self.line(kernel=key, grid=grid, block=block, registers=registers, block_us=block_us, **fields)


def one(name, kind="k", **fields):
    return {"task": name, "kind": kind, **fields}


SHARED = "one counter hands tasks out in the order of the graph; who has one that may not begin yet waits with it"
STATIC = "a worker does its own list and asks nobody; who is ready early waits for nobody's work but its own"
READY = "tasks enter the queue when they may begin, so a worker that has one can begin"
STEAL = "each worker has a queue of its own; who has none takes another's oldest task"
MIXED = "first the own list, then what is in nobody's"


def policies():
    yield Handed("tasks/shared-independent", None, "Two tasks a worker, all alike.", SHARED).graph(
        "g", {"k": 20}, [one("t", count=2 * SMS)]).workers("g", "shared")
    yield Handed("tasks/shared-uneven", None, "Tasks of 5 to 40 us: who was lucky takes more.", SHARED).graph(
        "g", {"k": [5, 40]}, [one("t", count=1000)]).workers("g", "shared")
    yield Handed("tasks/static-uneven", None, "The tasks of shared-uneven in lists as long as each other: the unlucky one "
                 "ends last.", STATIC).graph(
        "g", {"k": [5, 40]}, [one("t", count=1000, worker=list(range(SMS)))]).workers("g", "static")
    yield Handed("tasks/ready-uneven", None, "The tasks of shared-uneven, all of which may begin: a queue as good as a "
                 "counter, at the price of a ticket.", READY).graph(
        "g", {"k": [5, 40]}, [one("t", count=1000)]).workers("g", "ready")
    yield Handed("tasks/mixed-uneven", None, "Four tasks in each list, the rest for whoever is done.", MIXED).graph(
        "g", {"k": [5, 40]}, [one("own", count=4 * SMS, worker=list(range(SMS))), one("rest", count=472)]).workers(
            "g", "mixed")
    yield Handed("tasks/shared-heavy", None, "A few tasks take thirty times as long: the last one begun decides.", SHARED).graph(
        "g", {"k": {"task_heavy_us": [4, 120], "tail": 1.5}}, [one("t", count=2000)]).workers("g", "shared")
    yield Handed("tasks/shared-layers", None, "Five layers of 200 tasks, each after all of the one before.", SHARED).graph(
        "g", {"k": 12}, [one(f"layer{i}", count=200, **({"after": [f"layer{i - 1}"]} if i else {})) for i in range(5)]).workers(
            "g", "shared")
    yield Handed("tasks/static-layers", None, "The layers of shared-layers in lists.", STATIC).graph(
        "g", {"k": 12}, [one(f"layer{i}", count=200, worker=list(range(SMS)), **({"after": [f"layer{i - 1}"]} if i else {}))
                         for i in range(5)]).workers("g", "static")
    yield Handed("tasks/static-chain-one", None, "A chain in one worker's list: it looks up its next task only when it is free, and waits for its own signal.", STATIC).graph(
        "g", {"k": 3}, [one(f"t{i}", worker=0, **({"after": [f"t{i - 1}"]} if i else {})) for i in range(60)]).workers(
            "g", "static", grid=2)
    yield Handed("tasks/static-chain-two", None, "The chain of static-chain-one back and forth between two workers: one looks up its task while the other works; each link "
                 "pays for a signal's flight and a poll.", STATIC).graph(
        "g", {"k": 3}, [one(f"t{i}", worker=i % 2, **({"after": [f"t{i - 1}"]} if i else {})) for i in range(60)]).workers(
            "g", "static", grid=2)
    yield Handed("tasks/static-pipeline", None, "Eight stages by 40 items, a worker a stage.", STATIC).graph(
        "g", {"k": 6}, [one(f"{i}.{s}", worker=s, after=([f"{i}.{s - 1}"] if s else []) + ([f"{i - 1}.{s}"] if i else []))
                        for i in range(40) for s in range(8)]).workers("g", "static", grid=8)
    yield Handed("tasks/ready-tree", None, "256 sums, then 128 of two, and on to one.", READY).graph(
        "g", {"k": 8}, [one(f"{level}.{i}", **({"after": [f"{level - 1}.{2 * i}", f"{level - 1}.{2 * i + 1}"]} if level else {}))
                        for level in range(9) for i in range(256 >> level)]).workers("g", "ready")
    yield Handed("tasks/ready-diamond", None, "One, then 300 side by side, then one, three times.", READY).graph(
        "g", {"head": 10, "body": [8, 16]},
        [task for i in range(3) for task in (
            one(f"head{i}", "head", **({"after": [f"body{i - 1}"]} if i else {})),
            one(f"body{i}", "body", count=300, after=[f"head{i}"]))]).workers("g", "ready")
    yield Handed("tasks/ready-made", None, "One task makes two, each of these two more, down to 512.", READY).graph(
        "g", {"k": 5}, [one(f"level{i}", count=1 << i, **({"makes": [f"level{i + 1}"]} if i < 9 else {}))
                        for i in range(10)]).workers("g", "ready")
    yield Handed("tasks/steal-made", None, "The tree of ready-made: children go to their maker's own queue, from which the "
                 "others steal.", STEAL).graph(
        "g", {"k": 20}, [one(f"level{i}", count=1 << i, **({"makes": [f"level{i + 1}"]} if i < 6 else {}))
                         for i in range(7)]).workers("g", "steal", grid=16)
    yield Handed("tasks/steal-uneven", None, "Eight workers, tasks of 10 to 80 us: thieves even it out.", STEAL).graph(
        "g", {"k": [10, 80]}, [one("t", count=120)]).workers("g", "steal", grid=8)
    yield Handed("tasks/four-workers-an-sm", None, "528 workers at one counter: atomics on one word go one after the other.",
                 SHARED).graph("g", {"k": 2}, [one("t", count=12000)]).workers("g", "shared", grid=4 * SMS)
    yield Handed("tasks/beside-a-kernel", None, "66 blocks of another stream hold their SMs half; the workers come beside "
                 "them and go on.", "a worker is a resident block like any other").works("other", 66, 300, block=1024).launch(
                     "other", "t").graph("g", {"k": 15}, [one("t", count=1000)]).workers("g", "shared", block=256)
    yield Handed("tasks/one-after-the-other", None, "A persistent kernel behind another in its stream.",
                 "the second one's workers come when all of the first one's have left").graph(
                     "g", {"k": [4, 9]}, [one("t", count=1500)]).workers("g", "shared").launch("workers", "s")


def persistent():
    """The same work as launches and handed out."""
    replaced = "a launch costs microseconds, a task some hundred nanoseconds"
    yield Handed("persistent/small-launches", None, "30 launches of 132 blocks of 4 us.", replaced).works("k", SMS, 4).launch(
        "k", "s", times=30)
    yield Handed("persistent/small-shared", None, "The blocks of small-launches as tasks of 30 layers.", replaced).graph(
        "g", {"k": 4}, [one(f"l{i}", count=SMS, **({"after": [f"l{i - 1}"]} if i else {})) for i in range(30)]).workers(
            "g", "shared")
    yield Handed("persistent/many-blocks", None, "5,000 blocks of 3 to 9 us.", replaced).works("k", 5000, [3, 9], block=256, registers=48).launch(
        "k", "s")
    yield Handed("persistent/many-tasks", None, "The blocks of many-blocks by a counter, as many workers as blocks fit.",
                 replaced).graph("g", {"k": [3, 9]}, [one("t", count=5000)]).workers("g", "shared", grid=5 * SMS, block=256)
    joined = "stages in one kernel overlap as far as their data is there"
    yield Handed("persistent/produce-then-consume", None, "200 chunks are made, then used, by two launches.", joined).works(
        "make", 200, 20).works("use", 200, 25).launch("make", "s").launch("use", "s")
    yield Handed("persistent/produce-and-consume", None, "The chunks of produce-then-consume in one kernel: each is used once "
                 "it is made.", joined).graph(
        "g", {"make": 20, "use": 25},
        [task for i in range(200) for task in (one(f"m{i}", "make"), one(f"u{i}", "use", after=[f"m{i}"]))]).workers(
            "g", "ready", grid=200)
    yield Handed("persistent/two-kinds", None, "Convolutions and, of each four, a normalisation, from one queue (the "
                 "uber-kernel): the kernel has the most of both kinds' registers.", joined).graph(
        "g", {"conv": {"task_us": [18, 24], "registers": 96}, "norm": {"task_us": 7, "registers": 32}},
        [task for i in range(100) for task in (one(f"c{i}", "conv", count=4), one(f"n{i}", "norm", after=[f"c{i}"]))]).workers(
            "g", "shared", block=256)


def plans():
    """A network of four branches, by Rammer's forms."""
    rule = "an rProgram's order is decided before it runs; launches are ordered by the host, a graph's by the GPU"
    depth, width, time = 12, 33, [3, 9]

    def named(name, asks):
        return Handed("plan/" + name, None, f"Four branches of {depth} operators of {width} blocks, joined at the end: {asks}.", rule)

    stream = named("one-stream", "in one stream").works("op", width, time)
    stream.launch("op", "s", times=4 * depth + 1)
    yield stream
    streams = named("four-streams", "a stream a branch").works("op", width, time)
    for _ in range(depth):
        for branch in range(4):
            streams.launch("op", f"s{branch}")
    for branch in range(1, 4):
        streams.record(f"e{branch}", f"s{branch}").wait(f"e{branch}", "s0")
    yield streams.launch("op", "s0")
    nodes = [{"kind": "kernel", "kernel": "op", "after": [4 * (i - 1) + b] if i else []}
             for i in range(depth) for b in range(4)]
    nodes.append({"kind": "kernel", "kernel": "op", "after": [4 * (depth - 1) + b for b in range(4)]})
    graph = named("graph", "a CUDA graph").works("op", width, time)
    yield graph.line(call="graph_launch", stream="s", nodes=nodes)

    def lists(barrier):
        tasks = []
        for i in range(depth):
            for branch in range(4):
                after = [f"{i - 1}"] if barrier else [f"{i - 1}.{branch}"]
                tasks.append(one(f"{i}" if barrier else f"{i}.{branch}", count=width, worker=[width * branch + w for w in range(width)],
                                 **({"after": after} if i else {})))
        last = [f"{depth - 1}"] if barrier else [f"{depth - 1}.{b}" for b in range(4)]
        tasks.append(one("end", count=width, worker=list(range(width)), after=last))
        return tasks

    yield named("fine", "an rProgram, a task waits for its own branch").graph("g", {"k": time}, lists(False)).workers("g", "static")
    yield named("global", "an rProgram, all wait for all between waves").graph("g", {"k": time}, lists(True)).workers("g", "static")


def meetings():
    rule = "a barrier opens when the last block of the grid has come; what it costs grows with the blocks"
    yield Handed("barrier/cooperative", None, "132 blocks that meet ten times.", rule).works(
        "rnn", SMS, 150, cooperative=True, grid_barriers=10).launch("rnn", "s")
    yield Handed("barrier/relaunch", None, "The steps of cooperative as launches.", rule).works("step", SMS, 13.6).launch(
        "step", "s", times=11)
    yield Handed("barrier/many-blocks", None, "1,056 blocks that meet ten times.", rule).works(
        "rnn", 8 * SMS, 150, cooperative=True, grid_barriers=10).launch("rnn", "s")
    yield Handed("barrier/uneven", None, "Blocks of 60 to 120 us that meet four times: all wait for the slowest.", rule).works(
        "rnn", SMS, [60, 120], cooperative=True, grid_barriers=4).launch("rnn", "s")
    yield Handed("barrier/plain-launch", None, "A plain launch whose blocks are all resident may meet, too.", rule).works(
        "rnn", 2 * SMS, 100, block=256, grid_barriers=5).launch("rnn", "s")
    yield Handed("barrier/waits-for-room", None, "A cooperative grid behind another stream's blocks.",
                 "a cooperative grid starts when all its blocks fit").works("long", SMS, 150, block=1024, dynamic_shared_bytes=150000).launch(
                     "long", "t").works("rnn", SMS, 40, block=1024, cooperative=True, grid_barriers=2,
                                        dynamic_shared_bytes=150000).launch("rnn", "s")


def early():
    rule = "a programmatic launch's blocks come when the kernel before lets them, and wait for its end where they need it"
    yield Handed("early/ordinary", None, "Twenty kernels in one stream.", rule).works("k", SMS, 15).launch("k", "s", times=20)
    yield Handed("early/programmatic", None, "The kernels of ordinary, each launched programmatically: its prologue of 3 us "
                 "runs beside the one before.", rule).works("k", SMS, 15, prologue_us=3, trigger_pct=50).launch(
                     "k", "s").launch("k", "s", times=19, programmatic=True)
    yield Handed("early/late-trigger", None, "Triggers at 90% leave less to overlap.", rule).works(
        "k", SMS, 15, prologue_us=3, trigger_pct=90).launch("k", "s").launch("k", "s", times=19, programmatic=True)
    yield Handed("early/no-room", None, "Blocks that fill the SMs leave no room to come early.", rule).works(
        "k", SMS, 25, block=1024, dynamic_shared_bytes=150000, prologue_us=5, trigger_pct=20).launch("k", "s").launch(
            "k", "s", times=9, programmatic=True)


def polls():
    rule = "a thread that polls does its own work in pieces until the GPU is done, and notices at the end of a piece"
    yield Handed("poll/event", None, "The host works in pieces of 8 us beside a kernel.", rule).works("k", SMS, 300).launch(
        "k", "s").record("done", "s").call("poll", event="done", piece_us=8).launch("k", "s")
    yield Handed("poll/stream", None, "Until all of a stream is done.", rule).works("k", SMS, 120).launch("k", "s", times=3).call(
        "poll", "s", piece_us=20).launch("k", "s")
    yield Handed("poll/long-pieces", None, "Pieces of 100 us: the GPU waits for the host's.", rule).works("k", SMS, 250).launch(
        "k", "s").record("done", "s").call("poll", event="done", piece_us=100).launch("k", "s")


def children():
    rule = "a launch by a block waits for nobody's end but by the rules of the stream that it goes into"

    def parent(name, asks, launches, grid=4, block_us=60):
        return Handed("child/" + name, None, asks, rule).works("leaf", 16, 20).works(
            "parent", grid, block_us, launches=launches).launch("parent", "s").launch("leaf", "s")

    yield parent("null-stream", "Each block launches two into its NULL stream, one after the other.",
                 [{"kernel": "leaf", "count": 2, "at": 0.3}])
    yield parent("fire-and-forget", "Each block launches two that wait for nobody.",
                 [{"kernel": "leaf", "count": 2, "at": 0.3, "into": "fire_and_forget"}])
    yield parent("tail", "The last block's two come when the grid has ended, one after the other.",
                 [{"kernel": "leaf", "blocks": "last", "count": 2, "at": 0.3, "into": "tail"}])
    yield parent("own-stream", "All blocks launch into one stream of the grid.",
                 [{"kernel": "leaf", "stream": 0, "at": 0.3}])
    yield parent("two-streams", "Into two streams of the grid, side by side.",
                 [{"kernel": "leaf", "stream": 0, "at": 0.3}, {"kernel": "leaf", "stream": 1, "at": 0.3}])
    for into, asks in (("fire_and_forget", "quicksort's"), ("tail", "mergesort's")):
        yield Handed(f"child/tree-{into.replace('_', '-')}", None, f"Each node launches two of its own kind, four deep: "
                     f"{asks} shape.", rule).works("node", 2, 25, launches=[
                         {"kernel": "node", "blocks": "first", "count": 2, "at": 1, "into": into, "depth": 4}]).launch("node", "s")
    yield Handed("child/flat-twin", None, "What tree-fire-and-forget does, as tasks that make tasks.", READY).graph(
        "g", {"k": 25}, [one(f"level{i}", count=2 << i, **({"makes": [f"level{i + 1}"]} if i < 4 else {}))
                         for i in range(5)]).workers("g", "ready", grid=62)


def scenarios():
    made = [scenario for family in (policies, persistent, plans, meetings, early, polls, children) for scenario in family()]
    return [scenario.sync() for scenario in made]
