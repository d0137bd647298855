"""Two more PyTorch programs: one decoding step of a language model, blocks of a convolutional network.

    python3 checks.py record FOLDER     Kineto traces of four layers, of three blocks
    ncu ... python3 checks.py launch    one layer, one block, between cudaProfilerStart and cudaProfilerStop
"""
import sys

import torch
import torch.nn.functional as F

import record

WIDTH, HEADS, CONTEXT, BATCH = 2048, 16, 1024, 8


def decode(layers):
    def weights(*size):
        return torch.randn(*size, device="cuda", dtype=torch.bfloat16) * 0.02

    head = WIDTH // HEADS
    stack = [dict(norm=weights(WIDTH), qkv=weights(3 * WIDTH, WIDTH), out=weights(WIDTH, WIDTH),
                  up=weights(8 * WIDTH, WIDTH), down=weights(WIDTH, 4 * WIDTH),
                  keys=weights(BATCH, HEADS, CONTEXT, head), values=weights(BATCH, HEADS, CONTEXT, head))
             for _ in range(layers)]
    start = weights(BATCH, WIDTH)

    def run():
        x = start
        with torch.no_grad():
            for w in stack:
                qkv = F.linear(F.rms_norm(x, (WIDTH,), w["norm"]), w["qkv"])
                query = qkv[:, :WIDTH].view(BATCH, HEADS, 1, head)
                mixed = F.scaled_dot_product_attention(query, w["keys"], w["values"])
                x = x + F.linear(mixed.reshape(BATCH, WIDTH), w["out"])
                gate, up = F.linear(F.rms_norm(x, (WIDTH,), w["norm"]), w["up"]).chunk(2, dim=-1)
                x = x + F.linear(F.silu(gate) * up, w["down"])
    return run


def convolutions(blocks):
    make = [torch.nn.Sequential(torch.nn.Conv2d(64, 64, 3, padding=1, bias=False), torch.nn.BatchNorm2d(64),
                                torch.nn.ReLU()).cuda().half().eval().to(memory_format=torch.channels_last)
            for _ in range(blocks)]
    start = torch.randn(32, 64, 56, 56, device="cuda").half().to(memory_format=torch.channels_last)

    def run():
        x = start
        with torch.no_grad():
            for block in make:
                x = x + block(x)
            F.max_pool2d(x, 2)
    return run


torch.manual_seed(1)
if sys.argv[1] == "launch":
    for make in (decode, convolutions):
        print(make.__name__, flush=True)
        record.launch(make(1))
else:
    with open(sys.argv[2] + "/times.txt", "w") as times:
        record.record("pytorch-decode", decode(4), sys.argv[2], times)
        record.record("pytorch-convolutions", convolutions(3), sys.argv[2], times)
