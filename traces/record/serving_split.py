"""Serve requests with prompts on SMs of their own: two green contexts, and a thread for each.  serving.py uses it."""
import ctypes
import sys
import threading
import time

import torch

from serving_engine import Engine, SLOTS

SPARE_SLOTS = 8  # prompts that are prefilled have slots behind those of sequences that decode
LANES = ("prefill", "decode")  # as green_streams() has them
RESOURCE_BYTES, SMS_OFFSET, SM_RESOURCE = 144, 96, 1  # CUdevResource, its sm.smCount, CU_DEV_RESOURCE_TYPE_SM (cuda.h of CUDA 13)


def green_streams(sms):
    """A stream that has `sms` SMs at least, one that has the others, and how many each has."""
    driver = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        result = getattr(driver, name)(*arguments)
        if result != 0:
            raise RuntimeError("%s: error %d" % (name, result))

    torch.zeros(1, device="cuda")  # the primary context
    resources = [ctypes.create_string_buffer(RESOURCE_BYTES) for _ in range(3)]
    whole, part, rest = resources
    call("cuDeviceGetDevResource", 0, whole, SM_RESOURCE)
    call("cuDevSmResourceSplitByCount", part, ctypes.byref(ctypes.c_uint(1)), whole, rest, 0, sms)
    streams = []
    for resource in (part, rest):
        description, context, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        call("cuDevResourceGenerateDesc", ctypes.byref(description), resource, 1)
        call("cuGreenCtxCreate", ctypes.byref(context), description, 0, 1)
        call("cuGreenCtxStreamCreate", ctypes.byref(stream), context, 1, 0)
        streams.append(torch.cuda.ExternalStream(stream.value))
    counts = [ctypes.c_uint.from_buffer(resource, SMS_OFFSET).value for resource in (part, rest)]
    return streams, counts


def in_threads(actions):
    """Each (stream, action) in a thread of its own, until all are done."""
    failed = []

    def act(stream, action):
        try:
            with torch.cuda.stream(stream):
                action()
        except Exception as error:  # told below, in the thread that waits
            failed.append(error)

    threads = [threading.Thread(target=act, args=one) for one in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


class SplitEngine(Engine):
    """Sequences that decode have the first slots; a prompt has a slot behind them until it joins them between two passes of decoding."""

    def __init__(self, model, parameters, kv_tokens):
        super().__init__(model, "split", parameters, kv_tokens)
        (self.prefill_stream, self.decode_stream), counts = green_streams(parameters["sms"])
        assert counts[0] == parameters["sms"], counts
        self.joining = []  # prefilled, not in a pass yet
        self.spare = list(range(SLOTS, SLOTS + SPARE_SLOTS))
        self.lock = threading.Lock()

    def used(self):
        return super().used() + sum(request.length() for request in self.joining)

    def may_admit(self):
        rows = len(self.running) + len(self.joining)
        return (self.waiting and self.spare and rows < SLOTS - 1 and
                (self.used() + self.waiting[0].to_prefill + rows + 1 <= self.kv_tokens or not rows))

    def move_prompt(self, source, target):
        """It stays where it is."""

    def join(self):
        for request in self.joining:
            self.model.move(request.slot, len(self.running), request.to_prefill)
            self.spare.append(request.slot)
            if not request.end:
                self.running.append(request)
        self.joining = []

    def prefill(self, clock):
        with self.lock:
            if not self.may_admit():
                return False
            self.admit()
            request, request.slot = self.prefilling, self.spare.pop()
        self.model.forward([1] * request.to_prefill, request.to_prefill, request.slot, 0, [])
        with self.lock:
            now = clock()
            self.passes.append((request.to_prefill, 0, 0, 0, now))
            request.made += 1
            request.first = request.first or now
            if request.made == request.output:
                request.end = now
            self.joining.append(request)
            self.prefilling = None
        return True

    def decode(self, clock):
        with self.lock:
            self.join()
            if not self.running:
                return False
            self.preempt()
            rows = list(self.running)
        made = self.model.forward([1] * len(rows), 0, 0, 0, [request.length() for request in rows])
        with self.lock:
            now = clock()
            self.passes.append((0, 0, len(rows), max(request.length() for request in rows), now))
            self.account(0, rows, now, len(made))
        return True

    def serve(self, requests, limit_s):
        todo, start = list(requests), time.perf_counter()

        def clock():
            return time.perf_counter() - start

        def loop(step):
            while clock() < limit_s:
                with self.lock:
                    while todo and todo[0].arrival <= clock():
                        self.waiting.append(todo.pop(0))
                    if not (todo or self.waiting or self.running or self.joining or self.prefilling):
                        break
                if not step(clock):
                    time.sleep(2e-5)

        sys.setswitchinterval(1e-4)
        in_threads([(self.prefill_stream, lambda: loop(self.prefill)), (self.decode_stream, lambda: loop(self.decode))])


def mean_us(step, seconds, stop):
    """Passes until that time, or until another lane has ended."""
    step()
    start, count = time.perf_counter(), 0
    while (now := time.perf_counter()) - start < seconds and not stop:
        step()
        count += 1
    stop.append(None)
    return 1e6 * (now - start) / max(count, 1)


def measure_alone(model, sms, kind, size, seconds=0.15):
    """How long a pass takes on the SMs of its lane, the other one idle."""
    streams, counts = green_streams(sms)
    step = steps_of(model, {kind: size})[kind]
    row = {"sms": counts[0], "rest_sms": counts[1], kind: size}

    def measure():
        row[kind + "_alone_us"] = mean_us(step, seconds, [])
    in_threads([(streams[LANES.index(kind)], measure)])
    return row


def measure_beside(model, sms, decode, prefill, seconds=0.4):
    """How long passes of both lanes take that run at the same time."""
    streams, counts = green_streams(sms)
    steps = steps_of(model, {"decode": decode, "prefill": prefill})
    row = {"sms": counts[0], "rest_sms": counts[1], "decode": decode, "prefill": prefill}
    stop = []

    def measure(kind):
        row[kind + "_beside_us"] = mean_us(steps[kind], seconds, stop)
    in_threads([(streams[LANES.index(kind)], lambda kind=kind: measure(kind)) for kind in LANES])
    return row


def steps_of(model, sizes):
    """A pass of each kind, as a function."""
    def step(kind, size):
        if kind == "decode":
            return lambda: model.forward([1] * size[0], 0, 0, 0, [size[1] - 40] * size[0])
        return lambda: model.forward([1] * size[0], size[0], SLOTS, size[1], [])
    return {kind: step(kind, size) for kind, size in sizes.items()}
