"""Other programs in a few forms that do the same work, to judge by: models, sizes and shapes that whatif_programs.py has not.

whatif.py runs them with PROGRAMS=whatif_fresh; those that matter most come first, since there may be no time for all."""
import ctypes

import torch
from torch import nn
from torch.nn import functional

from whatif_programs import (Batches, Family, Library, convolutions, eager_and_graph, heat, readback, towers)

TIMED_S = 0.15
MODES = ()  # what the profiler costs is known from the others
RESERVE_S = 14  # kept for recording


class MixerBlock(nn.Module):
    """Mixes places, then channels."""

    def __init__(self, places, width):
        super().__init__()
        self.norm_one, self.norm_two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.places = nn.Sequential(nn.Linear(places, 2 * places), nn.GELU(), nn.Linear(2 * places, places))
        self.channels = nn.Sequential(nn.Linear(width, 3 * width), nn.GELU(), nn.Linear(3 * width, width))

    def forward(self, x):
        x = x + self.places(self.norm_one(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm_two(x))


class UNet(nn.Module):
    """Three levels down and up again, with what each level had beside what comes up."""

    def __init__(self, channels):
        super().__init__()
        wide = [channels, 2 * channels, 4 * channels]
        self.first = nn.Conv2d(3, wide[0], 3, padding=1)
        self.down = nn.ModuleList(nn.Conv2d(a, b, 3, stride=2, padding=1) for a, b in zip(wide, wide[1:]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(wide, wide[1:]))
        self.join = nn.ModuleList(nn.Conv2d(2 * a, a, 3, padding=1) for a in wide[:-1])
        self.norm = nn.ModuleList(nn.GroupNorm(8, a) for a in wide[:-1])
        self.last = nn.Conv2d(channels, 4, 1)

    def forward(self, x):
        x, kept = functional.silu(self.first(x)), []
        for down in self.down:
            kept.append(x)
            x = functional.silu(down(x))
        for i in reversed(range(len(self.up))):
            x = functional.silu(self.norm[i](self.join[i](torch.cat([self.up[i](x), kept[i]], 1))))
        return self.last(x)


class CausalBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_one, self.norm_two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(self.norm_one(x)).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(functional.gelu(self.up(self.norm_two(x)), approximate="tanh"))


def mixer(batch, places=98, width=384, layers=5):
    net = nn.Sequential(*[MixerBlock(places, width) for _ in range(layers)]).cuda().bfloat16()
    data = torch.randn(batch, places, width, device="cuda").bfloat16()
    return lambda: net(data)


def unet(batch, size, channels=48):
    net = UNet(channels).cuda().half()
    data = torch.randn(batch, 3, size, size, device="cuda").half()
    return lambda: net(data)


def gpt(batch, tokens, width=768, heads=12, layers=5, words=5000):
    embed = nn.Embedding(words, width).cuda().bfloat16()
    net = nn.Sequential(*[CausalBlock(width, heads) for _ in range(layers)], nn.LayerNorm(width),
                        nn.Linear(width, words, bias=False)).cuda().bfloat16()
    data = torch.randint(words, (batch, tokens), device="cuda")
    return lambda: net(embed(data))


def speech(batch, tokens=36):
    net = nn.LSTM(320, 384, num_layers=2, bidirectional=True).cuda()
    head = nn.Linear(768, 64).cuda()
    data = torch.randn(tokens, batch, 320, device="cuda")
    return lambda: head(net(data)[0])


def gpt_training(batch, tokens, width=512, heads=8, layers=4):
    net = nn.Sequential(*[CausalBlock(width, heads) for _ in range(layers)]).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)
    data, wanted = (torch.randn(batch, tokens, width, device="cuda") for _ in range(2))

    def run():
        optimizer.zero_grad(set_to_none=True)
        loss = functional.smooth_l1_loss(net(data), wanted)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return run


class Images(Batches):
    """The same loop over batches of images."""

    def __init__(self, batch, size, channels):
        super().__init__(1, 1, 8)
        self.net = UNet(channels).cuda()
        self.pageable = [torch.randn(batch, 3, size, size) for _ in range(self.count)]
        self.pinned = [one.pin_memory() for one in self.pageable]


def feeds(build, each):
    def make():
        data = build()
        return Family({"pageable": data.plain(False, False, each), "pinned": data.plain(True, False, each),
                       "async": data.plain(True, True, each), "prefetch": data.prefetched(each)})
    return make


def of_pytorch():
    return {
        "mixer-small": eager_and_graph(lambda: mixer(1), "item"), "fans-mixer": towers(lambda: mixer(24, 98, 384, 2)),
        "gpt-large": eager_and_graph(lambda: gpt(16, 384), "free"), "fans-memory": towers(lambda: heat(3072, 2)),
        "unet-small": eager_and_graph(lambda: unet(1, 128), "free"),
        "feeds-rows": feeds(lambda: Batches(3000, 5, 1536), True), "feeds-images": feeds(lambda: Images(12, 224, 32), False),
        "gpt-small": eager_and_graph(lambda: gpt(1, 100), "item"), "unet-large": eager_and_graph(lambda: unet(8, 256), "wait"),
        "reads-training": readback(lambda: gpt_training(4, 256), True),
        "speech": eager_and_graph(lambda: speech(6), "wait"), "mixer-large": eager_and_graph(lambda: mixer(160), "wait"),
        "fans-eager": towers(lambda: convolutions(24, 48, 2), graph=False),
    }


def of_cuda(library):
    def before(lib):
        for i, streams in enumerate((1, 2, 4)):
            lib.graph_make(12 + i, 4, 6, streams, 90, ctypes.c_float(30.0))
    stages = (3, 30.0, 64, 1)
    return {
        "spans-part": library.bind({"streams-%d" % n: ("chains", 4, 7, n, 0, 150, 384, 26.0) for n in (1, 2, 4)}),
        "stages": library.bind({"pageable": ("batches", 8, 2048, 0, 1, 0, *stages, 1),
                                "pinned": ("batches", 8, 2048, 1, 1, 0, *stages, 1),
                                "async": ("batches", 8, 2048, 1, 0, 0, *stages, 1),
                                "async-end": ("batches", 8, 2048, 1, 0, 0, *stages, 2),
                                "prefetch": ("batches", 8, 2048, 1, 0, 2, *stages, 1)}, 3),
        "rank": library.bind({"equal": ("urgent", 0, 8, 45.0, 5, 12.0, 60.0), "urgent": ("urgent", 5, 8, 45.0, 5, 12.0, 60.0),
                              "higher": ("urgent", 1, 8, 45.0, 5, 12.0, 60.0)}),
        "coats": library.bind({"all": ("layers", 7, 20.0, 45.0, 9.0), "mix-half": ("layers", 7, 20.0, 22.5, 9.0),
                               "no-norm": ("layers", 7, 20.0, 45.0, 0.0), "load-third": ("layers", 7, 6.666667, 45.0, 9.0)}),
        "lattice": library.bind({"streams-%d" % n: ("graph_launch", 12 + i, 1) for i, n in enumerate((1, 2, 4))},
                                before=before),
    }


def groups(path):
    library = Library(path)
    nets = list(of_pytorch().items())
    table = {"all": ({**dict(nets[:6]), **of_cuda(library), **dict(nets[6:])}, {})}
    for count in (8, 1):
        table["connections-%d" % count] = (
            {"fleet-%d" % count: library.bind({"run": ("chains", 10, 6, 10, 0, 6, 192, 25.0)})},
            {"CUDA_DEVICE_MAX_CONNECTIONS": str(count)})
    return table
