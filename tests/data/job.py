"""Recordings of a made-up job of several ranks, in the shapes that PyTorch's profiler of several years gave them.

    job.py FOLDER KIND RANKS [option=value ...]     writes FOLDER/rank0.json and so on

KIND is fsdp (all-gathers ahead of the products that need them, reduce-scatters behind), tensor (a tensor-parallel all-reduce
behind each product, in groups of two, and data-parallel ones beside the backward pass) or pipeline (messages from rank to rank).
The backward pass has a thread of its own.  Options:

    says=kernel|operator|sizes|nothing   who says what a collective is: its kernel (PyTorch 2.3 on), its operator alone (2.2),
                                         that without names of groups (2.1), nobody (before; whole microseconds)
    late=RANK:US                         so much later in every step
    streams=2                            reduce-scatters in a stream of their own
    shuffled=1                           events as they come
    clock=US                             each rank's clock is so much ahead of the one's before
"""

import json
import os
import random
import sys

KERNELS = {'allreduce': 'AllReduce_Sum_bf16', '_allgather_base': 'AllGather', '_reduce_scatter_base': 'ReduceScatter_Sum_bf16',
           'send': 'SendRecv', 'recv': 'SendRecv'}
H200 = {'name': 'NVIDIA H200', 'totalGlobalMem': 150109880320, 'computeMajor': 9, 'computeMinor': 0, 'numSms': 132,
        'maxThreadsPerBlock': 1024, 'maxThreadsPerMultiprocessor': 2048, 'regsPerMultiprocessor': 65536, 'warpSize': 32,
        'sharedMemPerBlock': 49152, 'sharedMemPerBlockOptin': 232448, 'sharedMemPerMultiprocessor': 233472}
BACKWARD = 9000
jitter = random.Random(1)


class Rank:
    """A rank's host, at `now` us, and its streams, each free from a time on."""

    def __init__(self, number):
        self.number, self.now, self.free, self.events, self.numbers = number, 1000 + 20 * jitter.random(), {}, [], 100

    def add(self, category, name, start, end, thread, **arguments):
        self.events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': 7000 + self.number,
                            'tid': thread or 7000 + self.number, 'ts': start, 'dur': end - start, 'args': arguments})

    def call(self, name, us, thread=None):
        self.numbers += 1
        self.add('cuda_runtime', name, self.now, self.now + us, thread, correlation=self.numbers)
        self.now += us

    def kernel(self, name, start, end, stream, grid, block, registers, **more):
        self.free[stream] = end
        self.add('kernel', name, start, end, stream,
                 **{'device': self.number, 'context': 1, 'stream': stream, 'correlation': self.numbers, 'grid': [grid, 1, 1],
                    'block': [block, 1, 1], 'registers per thread': registers, 'shared memory': 0, **more})

    def launch(self, name, us, thread=None, stream=7):
        self.call('cudaLaunchKernel', 5, thread)
        start = max(self.now - 1, self.free.get(stream, 0) + 1)
        self.kernel(name, start, start + us, stream, 264, 256, 64)
        self.now += 2

    def order(self, first, then, thread=None):
        """Stream `then` waits for what is in `first`."""
        self.call('cudaEventRecordWithFlags', 1, thread)
        self.call('cudaStreamWaitEvent', 1, thread)
        self.free[then] = max(self.free.get(then, 0), self.free.get(first, 0))

    def synchronize(self):
        self.call('cudaDeviceSynchronize', max(2, max(self.free.values()) - self.now + 4))
        self.now += 3


class Job:
    def __init__(self, count, options):
        self.ranks, self.options, self.counts = [Rank(number) for number in range(count)], options, {}
        self.says = options.get('says', 'kernel')

    def about(self, kind, members, group, elements):
        """What a kernel's or an operator's arguments say of it."""
        number = self.counts[group, kind in ('send', 'recv')] = self.counts.get((group, kind in ('send', 'recv')), 0) + 1
        about = {'Collective name': kind, 'In msg nelems': elements, 'Out msg nelems': elements, 'Group size': len(members),
                 'dtype': 'BFloat16'}
        if self.says != 'sizes':
            about.update({'Process Group Name': group, 'Process Group Ranks': str(members), 'Seq': number})
        return about

    def collective(self, kinds, members, group, elements, us, stream=20, after=None, back=False, thread=None):
        """All members' parts end together, `us` after the last one has begun.  `kinds`: of each, or of all."""
        about = self.about(kinds if isinstance(kinds, str) else kinds[0], members, group, elements)
        parts = []
        for place, number in enumerate(members):
            rank, kind = self.ranks[number], kinds if isinstance(kinds, str) else kinds[place]
            begun, said = rank.now, dict(about, **{'Collective name': kind})
            if after is not None:
                rank.order(after, stream, thread)
            rank.call('cudaLaunchKernelExC', 6, thread)
            rank.add('cpu_op', 'record_param_comms', begun, rank.now, thread, **{'External id': rank.numbers},
                     **(said if self.says != 'nothing' else {}))
            parts.append((rank, max(rank.now - 1, rank.free.get(stream, 0) + 1), said))
        end = max(start for _, start, _ in parts) + us
        for rank, start, said in parts:
            name = f'ncclDevKernel_{KERNELS[said["Collective name"]]}_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
            rank.kernel(name, start, end + 4 * jitter.random(), stream, 24, 544, 32, **{'External id': rank.numbers},
                        **(said if self.says == 'kernel' else {}))
            rank.now += 2
            if back:
                rank.order(stream, 7, thread)

    def all(self, name, us, thread=None):
        for rank in self.ranks:
            rank.launch(name, us, thread)

    def fsdp(self):
        members, scattered = list(range(len(self.ranks))), 21 if 'streams' in self.options else 20
        for layer in range(3):
            self.collective('_allgather_base', members, '0', 1 << 25, 200, after=7)
            for rank in self.ranks:
                rank.order(20, 7)
            self.all('forward product', 400)
        for layer in range(3):
            self.all('backward product', 800, BACKWARD)
            self.collective('_reduce_scatter_base', members, '0', 1 << 25, 300, stream=scattered, after=7, thread=BACKWARD)
        self.all('optimiser', 100)

    def tensor(self):
        count = len(self.ranks)
        pairs = [[number, number + 1] for number in range(0, count, 2)]
        for thread, name, us in (None, 'forward product', 200), (None, 'forward product', 200), \
                (BACKWARD, 'backward product', 400), (BACKWARD, 'backward product', 400):
            for rank in self.ranks:
                rank.launch(name, us + 50 * (rank.number // 2), thread)
            for place, pair in enumerate(pairs):
                self.collective('allreduce', pair, f'tp{place}', 1 << 20, 50, after=7, back=True, thread=thread)
            for place in range(2 if thread and count > 2 else 0):
                self.collective('allreduce', list(range(place, count, 2)), f'dp{place}', 1 << 23, 150, stream=24, after=7,
                                thread=thread)
        self.all('optimiser', 100)

    def pipeline(self):
        for batch in range(4):
            for number, rank in enumerate(self.ranks):
                rank.launch('forward product', 200)
                if number + 1 < len(self.ranks):
                    self.collective(['send', 'recv'], [number, number + 1], '0', 1 << 20, 30, stream=30 + number, after=7)
        self.collective('allreduce', list(range(len(self.ranks))), '0', 1, 10, after=7)

    def run(self, kind, steps=3):
        for step in range(steps):
            begun = [rank.now for rank in self.ranks]
            if 'late' in self.options:
                late, us = self.options['late'].split(':')
                self.ranks[int(late)].now += float(us)
            getattr(self, kind)()
            for rank, start in zip(self.ranks, begun):
                rank.synchronize()
                rank.add('user_annotation', f'ProfilerStep#{step}', start, rank.now, None)
                rank.now += 5

    def write(self, folder):
        os.makedirs(folder)
        for rank in self.ranks:
            for event in rank.events:
                event['ts'] += float(self.options.get('clock', 0)) * rank.number
                for key in ('ts', 'dur'):
                    event[key] = int(event[key]) if self.says == 'nothing' else round(event[key], 3)
            if 'shuffled' in self.options:
                jitter.shuffle(rank.events)
            with open(f'{folder}/rank{rank.number}.json', 'w') as file:
                json.dump({'schemaVersion': 1, 'deviceProperties': [dict(H200, id=gpu.number) for gpu in self.ranks],
                           'distributedInfo': {'backend': 'nccl', 'rank': rank.number, 'world_size': len(self.ranks)},
                           'traceEvents': rank.events}, file)


if __name__ == '__main__':
    job = Job(int(sys.argv[3]), dict(option.split('=', 1) for option in sys.argv[4:]))
    job.run(sys.argv[2])
    job.write(sys.argv[1])
