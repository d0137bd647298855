#!/usr/bin/env python3
"""Requests that arrive at random at tenants that share a GPU, and how near `gridtide serve` comes to what became of them.

    validate/scripts/arrivals.py draw SEED COUNT HOW
    validate/scripts/arrivals.py judge ARCHIVE-OR-FOLDER [FILE...]

draw prints COUNT loads for `arrivals` (arrivals.cu): a critical tenant beside a best-effort one that always has a
request, in one of three loads a third tenant.  HOW is streams (each load once for each of five policies, numbers 5n to
5n + 4), sliced or mps (processes), mps:50,50 (with such percentages) or green:64,64; in the last two a tenant without a
number is left out.  The loads of a seed are the same with each HOW.
judge simulates the loads as the files (default: all .txt in it but seen-*) have them played, each kernel as long as alone in the
median.  Prints a line of CSV a load: latencies of critical tenants, requests per second of best-effort ones, several of a
load with spaces between; then errors in %, and how often of two policies whose p99 of tenant 0 differ by more than 5% the
better one is told.  GRIDTIDE names the program (default: build/gridtide).

On the GPU (draw prints the "# play" line that judge looks for, and `arrivals` repeats it):
    arrivals.py draw SEED COUNT HOW > FILE; arrivals FILE >> HOW.txt      mps: under nvidia-cuda-mps-control -d
    MPS_PERCENT=50,50 arrivals FILE                                       the file of mps:50,50, also under it
"""
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

SMS, SLOTS = 132, 264
SHARED_BYTES = 102400  # sharing.cuh
POLICIES = ("none", "fifo", "priority", "gate", "slices:264")
LONGEST_US, DRAIN_US, REQUESTS = 800e3, 4e6, 400
BLOCKS = (1, 8, 32, 66, 132, 264, 528)


def spread(rng, low, high):
    return round(math.exp(rng.uniform(math.log(low), math.log(high))))


def request_steps(rng, kind):
    if kind == 1:
        return [("kernel", rng.randint(8, 66), spread(rng, 50, 400))]
    if kind == 2:
        return [("kernel", rng.randint(264, 1056), spread(rng, 50, 400))]
    if kind == 3:
        return [("kernel", rng.choice(BLOCKS), spread(rng, 8, 40)) for _ in range(rng.randint(5, 15))]
    if kind == 4:
        return [("in", spread(rng, 1 << 14, 1 << 22)), ("kernel", rng.randint(33, 264), spread(rng, 50, 400)),
                ("out", spread(rng, 1 << 14, 1 << 22))]
    # No more blocks at once than there is room for: alone each kernel lasts as if the others were not there.
    return [("kernel", rng.randint(8, 132), spread(rng, 20, 100)), ("other", rng.randint(8, 132), spread(rng, 30, 300)),
            ("kernel", rng.randint(8, 132), spread(rng, 30, 300)), ("join",), ("kernel", rng.randint(8, 264), spread(rng, 20, 100))]


def partner_steps(rng, kind):
    steps = []
    if kind == "a":
        for _ in range(rng.randint(1, 3)):
            waves = rng.choice((1, 2, 4, 10))
            steps.append(("kernel", SLOTS * waves, spread(rng, 500 / waves, 4000 / waves)))
    elif kind == "b":
        steps = [("kernel", rng.choice(BLOCKS), spread(rng, 10, 80)) for _ in range(rng.randint(10, 40))]
    else:
        for _ in range(rng.randint(1, 4)):
            steps += [("in", spread(rng, 1 << 16, 1 << 23)), ("kernel", 66, spread(rng, 100, 1000)),
                      ("out", spread(rng, 1 << 16, 1 << 23)), ("sync",), ("host", spread(rng, 20, 500))]
    return steps


def kernel_us(step):
    return step[2] * math.ceil(step[1] / SLOTS) if step[0] in ("kernel", "other") else 0


def estimate_us(steps):
    """Of a request alone."""
    us = sum(8 + kernel_us(step) + (step[1] / 50e3 if step[0] in ("in", "out") else 0) + (step[1] if step[0] == "host" else 0)
             for step in steps)
    return max(20, us)


def poisson(rng, mean_us, length_us):
    times, at = [], rng.expovariate(1 / mean_us)
    while at < length_us:
        times.append(round(at, 1))
        at += rng.expovariate(1 / mean_us)
    return times or [round(length_us / 2, 1)]


def third_tenant(rng, length_us):
    """(class, steps, arrivals): periodic or in bursts, a small part of the GPU's time."""
    steps = request_steps(rng, rng.choice((1, 3, 4)))
    mean_us = estimate_us(steps) / rng.uniform(0.03, 0.15)
    if rng.random() < 0.5:
        times = [round(i * mean_us, 1) for i in range(int(length_us / mean_us) + 1)]
    else:
        burst = rng.randint(3, 10)
        times = sorted({round(at + 2 * i, 1) for at in poisson(rng, burst * mean_us, length_us) for i in range(burst)})
    return rng.choice(("critical", "best-effort")), steps, times


def draw_tenants(rng):
    """The load's length and its tenants: (class, steps, arrivals), arrivals None: closed."""
    steps, partner = request_steps(rng, rng.randint(1, 5)), partner_steps(rng, rng.choice("abc"))
    mean_us = estimate_us(steps) / rng.choice((0.3, 0.5, 0.7, 0.8, 0.9, 0.95))
    # Fewer of those whose every kernel may wait for a long one: all are served, however long that takes.
    worst_us = estimate_us(steps) + sum(kernel_us(step) > 0 for step in steps) * max(map(kernel_us, partner))
    length_us = min(REQUESTS * mean_us, LONGEST_US, DRAIN_US / worst_us * mean_us)
    tenants = [("critical", steps, poisson(rng, mean_us, length_us)), ("best-effort", partner, None)]
    if rng.random() < 1 / 3:
        tenants.append(third_tenant(rng, length_us))
    return length_us, tenants


def shares(how):
    """Numbers that HOW gives tenants; none: there is room for any."""
    return how.split(":")[1].split(",") if ":" in how else []


def loads(seed, count, how):
    """(number, policy, length in us, tenants)"""
    rng = random.Random(f"arrivals {seed}")
    for number in range(count):
        length_us, tenants = draw_tenants(rng)
        tenants = tenants[:len(shares(how)) or None]
        policies = POLICIES if how == "streams" else POLICIES[:1]
        for i, policy in enumerate(policies):
            yield len(policies) * number + i, policy, length_us, tenants


def draw(seed, count, how):
    yield f"# play {how} {seed} {count}"
    for number, policy, length_us, tenants in loads(seed, count, how):
        yield f"load {number} {how if how.startswith(('streams', 'green')) else 'processes'} {policy} {length_us / 1000:.3f}"
        for tenant, (what, steps, times) in enumerate(tenants):
            yield f"tenant {tenant} {what}"
            yield from (f"step {tenant} {' '.join(map(str, step))}" for step in steps)
            yield f"closed {tenant}" if times is None else f"arrive {tenant} {' '.join(map(str, times))}"


def plays(path):
    """[(how, seed, count, {load: {"kernel" or "request": {tenant: rows}}})]"""
    found = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("# play"):
                how, seed, count = line.split()[2:]
                found.append((how, seed, int(count), {}))
            elif line.startswith(("kernel,", "request,")):
                what, load, tenant, *numbers = line.strip().split(",")
                rows = found[-1][3].setdefault(int(load), {}).setdefault(what, {}).setdefault(int(tenant), [])
                rows.append(tuple(map(float, numbers)))
    return found


def slots(how, tenant):
    """Blocks that a tenant can have on the GPU at once."""
    if not shares(how):
        return SLOTS
    number = int(shares(how)[tenant])
    return 2 * (number if how.startswith("green") else max(8, SMS * number // 100 // 2 * 2))


def block_us_of(steps, rows, room):
    """Of each launch what a block takes, by its kernel alone; where two streams overlapped, as much more than asked as the others."""
    took, found, ratios, overlaps = {}, [], [], []
    for _, launch, start, end in rows:
        took.setdefault(int(launch), []).append(end - start)
    forked = False
    for what, *numbers in steps:
        forked = what != "join" and (forked or what == "other")
        if what in ("kernel", "other"):
            found.append(statistics.median(took[len(found)]) / math.ceil(numbers[0] / room))
            overlaps.append((forked, numbers[1]))
            if not forked:
                ratios.append(found[-1] / numbers[1])
    return [us * statistics.median(ratios) if both and ratios else own for own, (both, us) in zip(found, overlaps)]


def trace(steps, rows, room):
    """rows: (k, launch, start, end) of its kernels alone."""
    alone = block_us_of(steps, rows, room)
    two = any(step[0] in ("other", "join") for step in steps)
    lines = [{"gridtide": 1, "name": "arrivals", "device": "h200"}]
    lines += [{"stream": stream, "flags": ["non_blocking"]} for stream in ("a", "b")[:1 + two]]
    calls, launches = [], 0

    def behind(event, first, second):
        calls.extend([{"call": "event_record", "event": event, "stream": first}, {"call": "event_wait", "event": event, "stream": second}])

    for step in steps:
        if step[0] in ("kernel", "other"):
            if step[0] == "other":
                behind("fork", "a", "b")
            lines.append({"kernel": f"k{launches}", "grid": step[1], "block": 32, "registers": 16, "dynamic_shared_bytes": SHARED_BYTES,
                          "block_us": round(alone[launches], 3)})
            calls.append({"call": "launch", "kernel": f"k{launches}", "stream": "ab"[step[0] == "other"]})
            launches += 1
        elif step[0] == "join":
            behind("joined", "b", "a")
        elif step[0] in ("in", "out"):
            calls.append({"call": "copy", "direction": "h2d" if step[0] == "in" else "d2h", "bytes": step[1], "stream": "a"})
        elif step[0] == "host":
            calls.append({"call": "host_work", "duration_us": step[1]})
        else:
            calls.append({"call": "stream_sync", "stream": "a"})
    calls += [{"call": "stream_sync", "stream": stream} for stream in ("a", "b")[:1 + two]]
    return lines + calls


def write(folder, name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.writelines(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)


def simulate(folder, how, policy, length_us, tenants, kernels):
    """{tenant: its figures}"""
    share = f"{how.split(':')[0]}:{','.join(shares(how)[:len(tenants)])}" if shares(how) else how
    lines = [{"load": "arrivals", "device": "h200", "share": share, "policy": policy.replace("slices:", "slices blocks="),
              "seconds": math.ceil(length_us + 1) / 1e6}]
    for i, (what, steps, times) in enumerate(tenants):
        write(folder, f"t{i}.jsonl", trace(steps, kernels.get(i, []), slots(how, i)))
        lines.append({"tenant": f"t{i}", "trace": f"t{i}.jsonl", "class": what, "arrivals": "closed" if times is None else "file"})
        if times is not None:
            write(folder, f"t{i}.csv", ["seconds", *(f"{us / 1e6:.7f}" for us in times)])
            lines[-1]["file"] = f"t{i}.csv"
    write(folder, "load.jsonl", lines)
    program = os.environ.get("GRIDTIDE", "build/gridtide")
    program = os.path.abspath(program) if os.sep in program else program
    done = subprocess.run([program, "serve", "load.jsonl", "-q", "--format", "json"], cwd=folder, check=True, stdout=subprocess.PIPE)
    return {int(tenant["tenant"][1:]): tenant for tenant in json.loads(done.stdout)["tenants"]}


def percentile(values, percent):
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def compare(tenants, requests, simulated):
    """{"p50_us", "p99_us", "per_s": [(measured, simulated) of each tenant that it is asked of]}"""
    found = {"p50_us": [], "p99_us": [], "per_s": []}
    for i, (what, *_) in enumerate(tenants):
        if what == "critical":
            latencies = [end - arrival for _, arrival, _, end in requests[i]]
            found["p50_us"].append((percentile(latencies, 50), simulated[i]["p50_us"]))
            found["p99_us"].append((percentile(latencies, 99), simulated[i]["p99_us"]))
        else:
            took_us = max(end for *_, end in requests[i]) - min(arrival for _, arrival, *_ in requests[i])
            found["per_s"].append((len(requests[i]) / took_us * 1e6, simulated[i]["per_s"]))
    return found


def in_order(by_policy):
    """Of [(measured, simulated)] of one load's policies: pairs that differ, and those told right."""
    pairs = [(a, b) for i, a in enumerate(by_policy) for b in by_policy[:i] if max(a[0], b[0]) > 1.05 * min(a[0], b[0])]
    return len(pairs), sum((a[0] > b[0]) == (a[1] > b[1]) and a[1] != b[1] for a, b in pairs)


def figures(errors):
    """{(how, policy, what): [error in %]}"""
    for key in sorted({key[:2] for key in errors}) + ([("all", "policies")] if len(errors) > 3 else []):
        for what in ("p50_us", "p99_us", "per_s"):
            values = sorted(abs(error) for (*of, name), found in errors.items() for error in found
                            if name == what and key in (tuple(of), ("all", "policies")))
            if values:
                print(f"figure {' '.join(key)} {what}: {len(values)} median {statistics.median(values):.2f}"
                      f" p95 {percentile(values, 95):.1f} worst {values[-1]:.1f}")


def judge(source, files):
    errors, pairs, right = {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        if not os.path.isdir(source):
            subprocess.run(f"zstd -dcq --long=27 '{source}' | tar -x -C '{folder}' --strip-components=1", shell=True, check=True)
            source = folder
        print("how,seed,load,policy,p50_us,p50_simulated_us,p99_us,p99_simulated_us,per_s,per_s_simulated")
        for file in files or sorted(name for name in os.listdir(source) if name.endswith(".txt") and not name.startswith("seen")):
            for how, seed, count, played in plays(os.path.join(source, file)):
                by_load = {}
                for number, policy, length_us, tenants in loads(seed, count, how):
                    rows = played.get(number, {})
                    if len(rows.get("request", {})) < len(tenants):
                        continue  # not played to its end
                    found = compare(tenants, rows["request"],
                                    simulate(folder, how, policy, length_us, tenants, rows.get("kernel", {})))
                    fields = [" ".join(f"{pair[i]:.1f}" for pair in found[what]) for what in found for i in (0, 1)]
                    print(f'"{how}",{seed},{number},{policy},{",".join(fields)}', flush=True)
                    for what, values in found.items():
                        errors.setdefault((how, policy, what), []).extend(100 * (sim / real - 1) for real, sim in values)
                    if how == "streams":
                        by_load.setdefault(number // len(POLICIES), []).append(found["p99_us"][0])
                for by_policy in by_load.values():
                    differ, told = in_order(by_policy)
                    pairs, right = pairs + differ, right + told
    figures(errors)
    if pairs > 0:
        print(f"figure order of policies: {right} of {pairs} pairs, {100 * right / pairs:.1f}%")


def main():
    if sys.argv[1] == "draw":
        print(*draw(sys.argv[2], int(sys.argv[3]), sys.argv[4]), sep="\n")
    else:
        judge(sys.argv[2], sys.argv[3:])


if __name__ == "__main__":
    main()
