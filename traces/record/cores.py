"""Hold threads on cores, and tell when those run at their full pace.

On a virtual machine a core runs by a third slower for a while, as if what shares the core below it were busy, and a thread that is
free to move comes onto all of them: a small launch takes 7 us, then 10.  What is timed at both paces tells nothing of either.
"""
import os
import statistics
import time

LOOPS, LOOP = 3, 20_000
CALM = 1.12   # a loop takes at most so much longer than it ever did on one of them


def loop_us():
    """What a loop takes: the median of a few."""
    times = []
    for _ in range(LOOPS):
        start = time.perf_counter()
        for _ in range(LOOP):
            pass
        times.append(1e6 * (time.perf_counter() - start))
    return statistics.median(times)


def share(rank, ranks):
    """The part of the cores that process `rank` of `ranks` is to stay on."""
    every = sorted(os.sched_getaffinity(0))
    return every[rank * len(every) // ranks:(rank + 1) * len(every) // ranks]


class Cores:
    """Those of a process, and by `flags`, which all ranks share, whether all are calm."""

    def __init__(self, rank, ranks, flags, together):
        self.wide, self.rank, self.flags, self.together = share(rank, ranks), rank, flags, together
        self.least_us = float("inf")
        self.choose()

    def choose(self):
        """Put the cores in order, by how fast they run just now."""
        paces = {core: self.pace_us(core) for core in self.wide}
        self.least_us = min(self.least_us, *paces.values())
        self.fastest = sorted(self.wide, key=paces.get)
        self.loose()

    @staticmethod
    def pace_us(core):
        os.sched_setaffinity(0, [core])
        return loop_us()

    def loose(self):
        """The calling thread, and those that it makes from now on, on all cores."""
        os.sched_setaffinity(0, self.wide)

    def hold(self):
        """The calling thread, which is to be Python's, and those of PyTorch's backward pass on the fastest."""
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/comm") as file:
                if int(task) == os.getpid() or file.read().startswith("pt_autograd"):
                    os.sched_setaffinity(int(task), self.fastest[:1])

    def calm(self):
        """Whether the fastest runs at its full pace just now."""
        pace_us = self.pace_us(self.fastest[0])
        self.least_us = min(self.least_us, pace_us)
        return pace_us <= CALM * self.least_us

    def all_calm(self, calm):
        """Whether every rank says so; all have to ask."""
        self.flags[self.rank] = calm
        self.together()
        every = all(self.flags)
        self.together()
        return every
