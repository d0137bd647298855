"""Training steps that are drawn, so that what predicts them cannot have been fitted on them: `drawn(seed)` for ddp_turns.py.

Networks of five kinds (products, convolutions, attention, recurrent layers, tables of embeddings) with drawn widths, depths,
batches, norms, dropout, optimisers and autocast; each a case as ddp_models.py has them.
"""
import random

import torch
from torch import nn
from torch.nn import functional

from ddp_models import Block, Case, adam, adam_fused, sgd

MODELS = 12
MOST_PARAMETERS, MOST_FLOP = 120e6, 1.5e12   # of the latter in a forward pass


def plain_sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-4)


def norm_of(draw, width):
    return draw.choice((nn.Identity, lambda: nn.LayerNorm(width), lambda: nn.BatchNorm1d(width)))()


class Added(nn.Module):
    """A part whose input is added to its output."""

    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, x):
        return x + self.part(x)


def products(draw):
    width, depth, batch = draw.choice((256, 512, 1024, 2048, 4096)), draw.randint(3, 24), 2 ** draw.randint(6, 12)
    residual, drop, norm_seed = draw.random() < 0.5, draw.random() < 0.3, draw.random()
    activation = draw.choice((nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh))

    def make():
        parts = []
        for _ in range(depth):
            part = [nn.Linear(width, width), norm_of(random.Random(norm_seed), width), activation()]
            part += [nn.Dropout(0.1)] if drop else []
            parts += [Added(nn.Sequential(*part))] if residual else part
        inputs = torch.randn(batch, width)
        return nn.Sequential(*parts, nn.Linear(width, 16)), inputs, torch.randn(batch, 16), functional.mse_loss
    return make, depth * width * width, 2.0 * depth * width * width * batch


def convolutions(draw):
    width, depth = draw.choice((16, 32, 64)), draw.randint(1, 3)
    side, batch = draw.choice((32, 64, 96, 128)), 2 ** draw.randint(4, 7)
    stages, norm, residual = draw.randint(3, 4), draw.choice(("batch", "group", "none")), draw.random() < 0.5
    apart = draw.random() < 0.3

    def layer(before, after, stride):
        norms = {"batch": nn.BatchNorm2d(after), "group": nn.GroupNorm(8, after), "none": nn.Identity()}
        if apart:
            first = nn.Sequential(nn.Conv2d(before, before, 3, stride, 1, groups=before), nn.Conv2d(before, after, 1))
        else:
            first = nn.Conv2d(before, after, 3, stride, 1, bias=norm == "none")
        return nn.Sequential(first, norms[norm], nn.ReLU())

    def make():
        parts, before = [], 3
        for stage in range(stages):
            after = width << stage
            parts.append(layer(before, after, 2))
            parts += [Added(layer(after, after, 1)) if residual else layer(after, after, 1) for _ in range(depth)]
            before = after
        module = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 100))
        inputs = torch.randn(batch, 3, side, side)
        return module, inputs, torch.randint(100, (batch,)), functional.cross_entropy
    last = width << (stages - 1)
    return make, 12 * depth * last * last, 18.0 * stages * depth * width * width * side * side / 4 * batch


class Sequence(nn.Module):
    """Blocks of attention over embedded words, and a product with the vocabulary or the mean."""

    def __init__(self, words, width, heads, layers, tags):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, tags)

    def forward(self, words):
        return self.head(self.norm(self.blocks(self.words(words))).mean(1))


def attention(draw):
    width, layers, length = draw.choice((256, 384, 512, 768, 1024)), draw.randint(2, 8), draw.choice((64, 128, 256, 512))
    batch, words = 2 ** draw.randint(2, 6), draw.choice((1000, 8000, 30000))

    def make():
        inputs = torch.randint(words, (batch, length))
        return Sequence(words, width, width // 64, layers, 50), inputs, torch.randint(50, (batch,)), functional.cross_entropy
    return make, words * width + 12 * layers * width * width, 24.0 * layers * width * width * batch * length


class Recurrent(nn.Module):
    def __init__(self, kind, width, layers):
        super().__init__()
        self.layers, self.head = kind(width, width, layers, batch_first=True), nn.Linear(width, 30)

    def forward(self, x):
        return self.head(self.layers(x)[0][:, -1])


def recurrent(draw):
    kind, width, layers = draw.choice((nn.LSTM, nn.GRU)), draw.choice((256, 512, 768)), draw.randint(1, 3)
    length, batch = draw.randint(20, 100), 2 ** draw.randint(4, 7)

    def make():
        inputs = torch.randn(batch, length, width)
        return Recurrent(kind, width, layers), inputs, torch.randint(30, (batch,)), functional.cross_entropy
    return make, 8 * layers * width * width, 16.0 * layers * width * width * batch * length


class Tables(nn.Module):
    def __init__(self, tables, rows, width, hidden):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.top = nn.Sequential(nn.Linear(tables * width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, 1))

    def forward(self, x):
        return self.top(torch.cat([table(x[:, i]) for i, table in enumerate(self.tables)], 1)).flatten()


def tables(draw):
    count, rows, width = draw.randint(3, 16), draw.choice((2000, 10000, 40000)), draw.choice((16, 32, 64, 128))
    hidden, batch = draw.choice((256, 512, 1024, 2048)), 2 ** draw.randint(9, 13)

    def make():
        inputs = torch.randint(rows, (batch, count))
        return Tables(count, rows, width, hidden), inputs, torch.rand(batch), functional.binary_cross_entropy_with_logits
    return make, count * rows * width, 2.0 * batch * hidden * (hidden + count * width)


KINDS = (products, convolutions, attention, recurrent, tables)


def drawn_case(seed, kinds=KINDS):
    """A function of how many GPUs share the batch: the case, of one of these kinds."""
    draw = random.Random(seed)
    kind = draw.choice(kinds)
    make, parameters, flop = kind(draw)
    while parameters > MOST_PARAMETERS or flop > MOST_FLOP:
        make, parameters, flop = kind(draw)
    optimiser, autocast = draw.choice((plain_sgd, sgd, adam, adam_fused)), draw.random() < 0.3
    return lambda: Case(*make(), optimiser, autocast)


def drawn(seed):
    """By name: MODELS cases."""
    return {f"drawn-{seed}-{i}": drawn_case(f"{seed} {i}") for i in range(MODELS)}
