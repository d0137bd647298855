#!/usr/bin/env python3
"""Task graphs of megakernel compilers, made up: the shape of a decode step of a Llama-like model.

task_graphs.py amk [LAYERS [HIDDEN [TILE [SMS [ASSIGNMENT]]]]]   AutoMegaKernel's IR 0.2.0
task_graphs.py mirage [LAYERS [WIDTH]]                           Mirage's task_graph.json
"""
import json
import sys


class Program:
    """What AutoMegaKernel writes: buffers, counters and tasks by their ids."""

    def __init__(self):
        self.buffers, self.counters, self.tasks, self.ready = [], [], [], {}

    def buffer(self, name, kind, *shape, dtype="BF16"):
        self.buffers.append({"id": len(self.buffers), "name": name, "kind": kind, "dtype": dtype, "shape": list(shape),
                             "space": "HBM", "source": name if kind == "WEIGHT" else None})
        return len(self.buffers) - 1

    def counter(self, note):
        self.counters.append({"id": len(self.counters), "init": 0, "note": note})
        return len(self.counters) - 1

    def task(self, op, inputs, output, counter, label, moved, done):
        waits = sorted({self.ready[b] for b in inputs if b in self.ready})
        self.tasks.append({
            "id": len(self.tasks), "op": op, "inputs": inputs, "outputs": [output], "out_counter": counter,
            "waits": [{"counter": c, "threshold": t} for c, t in waits], "params": {}, "sm": None, "est_bytes": moved,
            "est_flops": done, "label": label})

    def one(self, op, inputs, output, label, moved, done):
        counter = self.counter(label)
        self.task(op, inputs, output, counter, label, moved, done)
        self.ready[output] = (counter, 1)

    def product(self, x, weight, output, rows, columns, tile, label):
        tiles = (columns + tile - 1) // tile
        counter = self.counter(f"{label} ({tiles} tiles)")
        for i in range(tiles):
            this = min(tile, columns - i * tile)
            self.task("GEMV_TILE", [x, weight], output, counter, f"{label}[t{i}]", 2 * rows * this, 2 * rows * this)
        self.ready[output] = (counter, tiles)


def amk(layers=2, hidden=64, tile=64, sms=132, assignment="load_balance"):
    p = Program()
    token = p.buffer("token_id", "IO_INPUT", 1, dtype="I32")
    pos = p.buffer("pos", "IO_INPUT", 1, dtype="I32")
    h = p.buffer("h0", "ACTIVATION", 1, hidden)
    p.one("EMBED", [token, p.buffer("embed.weight", "WEIGHT", 256, hidden)], h, "embed", 2 * hidden, 0)
    for layer in range(layers):
        name = f"L{layer}."

        def act(what, width=hidden):
            return p.buffer(name + what, "ACTIVATION", 1, width)

        def weight(what, *shape):
            return p.buffer(f"layers.{layer}.{what}", "WEIGHT", *shape)

        normed = act("an")
        p.one("RMSNORM", [h, weight("input_norm", hidden)], normed, name + "input_norm", 2 * hidden, 4 * hidden)
        rotated = {}
        for which, width in (("q", hidden), ("k", hidden // 2), ("v", hidden // 2)):
            out = act(which, width)
            p.product(normed, weight(f"{which}_proj", width, hidden), out, hidden, width, tile, f"{name}{which}_proj")
            rotated[which] = out
            if which != "v":
                rotated[which] = act(which + "r", width)
                p.one("ROPE", [out, pos], rotated[which], f"{name}rope_{which}", 0, 6 * width)
        caches = []
        for which in "kv":
            cache = p.buffer(f"{name}{which}cache", "KV_CACHE", 128, hidden // 2)
            p.one("KV_APPEND", [rotated[which], cache], cache, f"{name}{which}_append", hidden, 0)
            caches.append(cache)
        attended, projected, after = act("attn"), act("o"), act("h_attn")
        p.one("ATTENTION_TILE", [rotated["q"], *caches], attended, name + "attention", 2 * hidden, 4 * hidden)
        p.product(attended, weight("o_proj", hidden, hidden), projected, hidden, hidden, tile, name + "o_proj")
        p.one("ADD", [h, projected], after, name + "attn_residual", 2 * hidden, hidden)
        normed, gate, up, both, down = act("mn"), act("gate", 4 * hidden), act("up", 4 * hidden), \
            act("act", 4 * hidden), act("d")
        p.one("RMSNORM", [after, weight("post_norm", hidden)], normed, name + "post_norm", 2 * hidden, 4 * hidden)
        p.product(normed, weight("gate_proj", 4 * hidden, hidden), gate, hidden, 4 * hidden, tile, name + "gate_proj")
        p.product(normed, weight("up_proj", 4 * hidden, hidden), up, hidden, 4 * hidden, tile, name + "up_proj")
        p.one("SILU_MUL", [gate, up], both, name + "swiglu", 4 * hidden, 6 * hidden)
        p.product(both, weight("down_proj", hidden, 4 * hidden), down, 4 * hidden, hidden, tile, name + "down_proj")
        h = act("h_mlp")
        p.one("ADD", [after, down], h, name + "mlp_residual", 2 * hidden, hidden)
    logits = p.buffer("logits", "IO_OUTPUT", 1, 256)
    p.product(h, p.buffer("lm_head", "WEIGHT", 256, hidden), logits, hidden, 256, tile, "lm_head")
    return {
        "ir_version": "0.2.0", "abi_version": "0.2", "meta": {"model": "made up", "gpu": "h100"},
        "target": {"name": "h100", "num_sms": sms, "smem_bytes_per_block_optin": 232448, "hbm_bandwidth_gbs": 3350.0},
        "buffers": p.buffers, "counters": p.counters, "tasks": p.tasks, "pages": None,
        "config": {"tiling": {"gemv": {"N_tile": tile}}, "sm_assignment": assignment, "pipelining_depth": 2,
                   "threads_per_block": 256, "smem_bytes_per_block": 0}}


NONE = 0x7FFFFFFFFFFFFFFE


def mirage(layers=2, width=8):
    """Layers of `width` products, each after the whole layer before: events as registering an operator makes them."""
    def tensor(name, offset, *dims):
        return {"base_ptr": name, "offset": offset, "data_type": 940, "dims": list(dims), "strides": [dims[-1], 1]}

    def task(kind, inputs, outputs, trigger, dependent=NONE):
        return {"task_type": kind, "variant_id": 0, "inputs": inputs, "outputs": outputs, "trigger_event": trigger,
                "dependent_event": dependent, "request_id": -1, "expert_offset": -1, "kv_idx": -1,
                "merge_task_offset": -1, "task_offset": -1}

    def event(kind, triggers, first=0, last=0):
        return {"event_type": kind, "num_triggers": triggers, "first_task_id": first, "last_task_id": last}

    last = 2 + layers * width
    tasks = [task(0, [], [], NONE), task(10, [], [], 1)]
    events = [event(911, 1), event(903, 1, 2, last)]
    for layer in range(layers):
        for i in range(width):
            tasks.append(task(152, [tensor(f"x{layer}", 0, 1, 512), tensor(f"w{layer}", i * 65536, 64, 512)],
                              [tensor(f"x{layer + 1}", 128 * i, 1, 64)], layer + 2, NONE if layer == 0 else layer + 1))
        first = 2 + (layer + 1) * width
        events.append(event(900, width, first, first + width) if layer + 1 < layers else event(910, width))
    return {"all_events": events, "all_tasks": tasks, "first_tasks": list(range(2, 2 + width))}


if __name__ == "__main__":
    kind, values = sys.argv[1], [int(a) if a.isdigit() else a for a in sys.argv[2:]]
    print(json.dumps({"amk": amk, "mirage": mirage}[kind](*values), indent=2))
