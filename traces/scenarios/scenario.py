"""One scenario: calls for a GPU, what they ask of its scheduler, and what to expect, as a trace.

The times are worked out by hand for an H200 from the figures of its device file; `expect_us` is the
time from the first operation's start to the last one's end, None where a hand cannot tell.
"""
import json
import os
import textwrap

# Who calls tells the time a call takes (device file, section host), to make calls at a stated time.
CALL_US = {"launch": 3.6, "copy": 2.8, "memset": 2.8, "event_record": 1, "event_wait": 1, "host_work": 0}


class Scenario:
    """Lines of a trace in order. Methods return the scenario or, where they define one, a key."""

    def __init__(self, name, expect_us, asks, rule):
        self.name, self.expect_us, self.asks, self.rule = name, expect_us, asks, rule
        self.lines = [{"gridtide": 1, "name": name, "device": "h200"}]
        self.clock_us = {}

    def kernel(self, key, grid, block, block_us, registers=32, shared_bytes=0):
        """A spinning kernel. block_us: one time, or a list, one a block; a pair (a, b) is a range."""
        line = {"kernel": key, "grid": grid, "block": block, "registers": registers}
        if shared_bytes:
            line["dynamic_shared_bytes"] = shared_bytes
        if isinstance(block_us, list):
            line["block_list_us"] = block_us
        else:
            line["block_us"] = list(block_us) if isinstance(block_us, tuple) else block_us
        self.lines.append(line)
        return key

    def stream(self, key, *flags, priority=0):
        line = {"stream": key}
        if flags:
            line["flags"] = list(flags)
        if priority:
            line["priority"] = priority
        self.lines.append(line)
        return key

    def call(self, call, stream=None, thread="main", **fields):
        line = {"call": call}
        if thread != "main":
            line["thread"] = thread
        line.update(fields)
        if stream is not None:
            line["stream"] = stream
        self.lines.append(line)
        cost_us = fields.get("duration_us", 0) if call == "host_work" else CALL_US.get(call, 0)
        self.clock_us[thread] = self.clock_us.get(thread, 0) + cost_us
        return self

    def launch(self, kernel, stream, times=1, **fields):
        for _ in range(times):
            self.call("launch", stream, kernel=kernel, **fields)
        return self

    def copy(self, direction, size, stream, memory=None, **fields):
        if memory:
            fields["memory"] = memory
        return self.call("copy", stream, direction=direction, bytes=size, **fields)

    def record(self, event, stream):
        return self.call("event_record", stream, event=event)

    def wait(self, event, stream):
        return self.call("event_wait", stream, event=event)

    def until(self, time_us, thread="main"):
        """The thread computes until so long after its first call."""
        left_us = round(time_us - self.clock_us.get(thread, 0), 3)
        return self.call("host_work", thread=thread, duration_us=left_us) if left_us > 0 else self

    def sync(self, **fields):
        return self.call("device_sync", **fields)

    def text(self):
        family = self.name.split("/")[0]
        said = [f"Family {family}. {self.asks}", f"Rule: {self.rule}"]
        comment = [line for part in said for line in textwrap.wrap(part, 100)]
        if self.expect_us is not None:
            comment.append(f"expect {self.expect_us:g} us")
        lines = ["// " + line for line in comment]
        lines += [json.dumps(line, separators=(",", ":")) for line in self.lines]
        return "\n".join(lines) + "\n"

    def write(self, folder):
        path = os.path.join(folder, self.name.replace("/", "-") + ".jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())
        return path
