"""A PyTorch program drawn from a seed, to be recorded: gridtide record --from profiler -o 3.jsonl.gz -- python3 random_torch.py 3

The seed says which of nine programs it is (seed modulo 9), and draws its shapes.  It runs twice to warm up and once between
cudaProfilerStart and Stop."""

import random
import sys

import torch
from torch import nn

SEED = int(sys.argv[1])
DRAW = random.Random(SEED)
DEVICE = "cuda"


def size(least, most):
    """A multiple of 32, every size as likely as its double."""
    return round(least * (most / least) ** DRAW.random() / 32) * 32


def train(model, inputs, loss):
    optimizer = DRAW.choice([torch.optim.Adam, torch.optim.SGD, torch.optim.AdamW])(model.parameters(), 1e-3)
    steps = DRAW.randint(4, 10)

    def program():
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=True)
            loss(model(inputs)).backward()
            optimizer.step()

    return program


def mlp_train():
    widths = [size(256, 4096) for _ in range(DRAW.randint(2, 6))]
    layers = [layer for a, b in zip(widths, widths[1:]) for layer in (nn.Linear(a, b), nn.GELU())]
    inputs = torch.randn(size(32, 1024), widths[0], device=DEVICE)
    return train(nn.Sequential(*layers).to(DEVICE), inputs, lambda out: out.pow(2).mean())


def conv_train():
    width, side = size(32, 128), DRAW.choice([32, 48, 64, 96])
    layers = [nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
    for _ in range(DRAW.randint(1, 3)):
        layers += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10)]
    inputs = torch.randn(DRAW.choice([8, 16, 32]), 3, side, side, device=DEVICE)
    return train(nn.Sequential(*layers).to(DEVICE), inputs, lambda out: out.logsumexp(1).mean())


def encoder():
    width = DRAW.choice([256, 512, 768, 1024])
    layer = nn.TransformerEncoderLayer(width, 8, 2 * width, batch_first=True, dropout=0.0)
    model = nn.TransformerEncoder(layer, DRAW.randint(1, 5)).to(DEVICE).eval()
    return model, torch.randn(DRAW.choice([1, 4, 8, 16]), size(64, 512), width, device=DEVICE)


def transformer():
    model, inputs = encoder()
    passes = DRAW.randint(3, 10)

    def program():
        with torch.no_grad():
            for _ in range(passes):
                model(inputs)

    return program


def replayed(body, warm_up=3):
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    passes = DRAW.randint(6, 20)

    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(warm_up):
            body()
    torch.cuda.current_stream().wait_stream(stream)
    with torch.cuda.graph(graph):
        kept = body()

    def program(kept=kept):
        for _ in range(passes):
            graph.replay()

    return program


def graph():
    model, inputs = encoder()
    with torch.no_grad():
        return replayed(lambda: model(inputs))


def on_streams(streams, work):
    """Each stream's part of the work, begun after and joined to the current stream."""
    current, outputs = torch.cuda.current_stream(), []
    for index, stream in enumerate(streams):
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            outputs.append(work(index))
    for stream in streams:
        current.wait_stream(stream)
    return outputs


def products():
    width, count, depth = size(128, 1536), DRAW.randint(2, 5), DRAW.randint(2, 8)
    weights = [torch.randn(width, width, device=DEVICE) for _ in range(count)]
    inputs = torch.randn(width, width, device=DEVICE)
    shape = DRAW.choice([torch.tanh, torch.relu, torch.sigmoid])
    streams = [torch.cuda.Stream(priority=-(i % 2)) for i in range(count)]

    def work(index):
        value = inputs
        for _ in range(depth):
            value = shape(value @ weights[index])
        return value

    return streams, work


def branch_graph():
    streams, work = products()
    return replayed(lambda: sum(on_streams(streams, work)))


def streams():
    made, work = products()
    passes = DRAW.randint(3, 8)

    def program():
        for _ in range(passes):
            on_streams(made, work)

    return program


def prefetch():
    width, steps = size(256, 2048), DRAW.randint(8, 20)
    host = [torch.randn(width, width).pin_memory() for _ in range(4)]
    weight, stream = torch.randn(width, width, device=DEVICE), torch.cuda.Stream()

    def program():
        for step in range(steps):
            with torch.cuda.stream(stream):
                batch = host[step % 4].to(DEVICE, non_blocking=True)
            torch.cuda.current_stream().wait_stream(stream)
            batch.record_stream(torch.cuda.current_stream())
            (batch @ weight @ weight).sum().to("cpu", non_blocking=True)

    return program


def decode():
    width, words, steps = size(256, 2048), size(64, 2048), DRAW.randint(10, 40)
    weight, embedding = torch.randn(width, width, device=DEVICE), torch.randn(words, width, device=DEVICE)

    def program():
        token = 1
        for _ in range(steps):
            logits = torch.tanh(embedding[token] @ weight) @ embedding.T
            token = int(torch.softmax(logits, -1).argmax().item())

    return program


def elementwise():
    tensors = [torch.randn(size(32, 4096), size(32, 4096), device=DEVICE) for _ in range(4)]
    steps = DRAW.randint(10, 40)

    def program():
        for step in range(steps):
            value = tensors[step % 4]
            torch.softmax(value * 2 + 1, -1).sum(0).cumsum(0)

    return program


PROGRAMS = [mlp_train, conv_train, transformer, graph, branch_graph, streams, prefetch, decode, elementwise]


def main():
    torch.manual_seed(SEED)
    program = PROGRAMS[SEED % len(PROGRAMS)]()
    for _ in range(2):
        program()
        torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    program()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


main()
