"""Hold threads on cores, so that what the host takes does not change with the core that it happens to run on.

On a virtual machine some cores run at half the pace of others, as their neighbours are busy or not, and a thread that is free
to move comes onto all of them: a small launch takes 6 us for a while, then 10.
"""
import os
import time


def pace_s(core):
    """What a loop takes on that core: the least of a few times."""
    os.sched_setaffinity(0, {core})
    times = []
    for _ in range(4):
        start = time.perf_counter()
        for _ in range(100_000):
            pass
        times.append(time.perf_counter() - start)
    return min(times)


def fastest(cores, count):
    """Those of `cores` on which a loop runs fastest just now; the calling thread may run on all of them afterwards."""
    found = sorted(cores, key=pace_s)[:count]
    os.sched_setaffinity(0, cores)
    return found


def hold(cores):
    """The calling thread, which is to be Python's, and those of PyTorch's backward pass on these cores."""
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/comm") as file:
            if int(task) == os.getpid() or file.read().startswith("pt_autograd"):
                os.sched_setaffinity(int(task), cores)


def share(rank, ranks):
    """The part of the cores that process `rank` of `ranks` is to stay on."""
    every = sorted(os.sched_getaffinity(0))
    return every[rank * len(every) // ranks:(rank + 1) * len(every) // ranks]
