"""A training loop whose data loader is the bottleneck, recorded by Kineto: python3 data_loader.py OUTPUT-FOLDER

Writes data-loader-0.json.gz and data-loader-2.json.gz: the loader in the loop's own process, and in two workers; prints the mean of an
iteration and of its loading, in ms, without a profiler."""
import os
import subprocess
import sys
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    """Samples that take the host a while to make."""

    def __len__(self):
        return 100000

    def __getitem__(self, i):
        x = torch.randn(64, 64)
        for _ in range(6):
            x = torch.tanh(x @ x.t() / 64)
        return x.flatten(), i % 10


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(4096, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    for workers in (0, 2):
        batches = iter(DataLoader(Slow(), batch_size=64, num_workers=workers, pin_memory=True))

        def step():
            began = time.perf_counter()
            data, wanted = next(batches)
            loaded = time.perf_counter()
            data, wanted = data.cuda(non_blocking=True), wanted.cuda(non_blocking=True)
            loss = nn.functional.cross_entropy(net(data), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss.item()
            return loaded - began, time.perf_counter() - began
        for _ in range(5):
            step()
        times = [step() for _ in range(30)]
        print("workers %d: loading %.3f ms of %.3f" % (workers, *[1e3 * sum(part) / len(times) for part in zip(*times)]), flush=True)
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
            for _ in range(6):
                step()
        path = os.path.join(folder, "data-loader-%d.json" % workers)
        prof.export_chrome_trace(path)
        subprocess.run(["gzip", "-f", path], check=True)


if __name__ == "__main__":
    main()
