"""The programs of protocols.py: models of timm and transformers and loops written by hand, in forms that do the same work.

A set is a list of makers; sizes are drawn from the seed.  A maker has the changes that lead from its first form to the others,
and the environment that it wants."""
import random

import timm
import torch
import transformers
from torch import nn
from torch.nn import functional

from whatif_programs import Family, Form, capture


def image_model(name, batch, size=224, dtype=torch.float16):
    def build():
        net = timm.create_model(name, pretrained=False).cuda().to(dtype).eval()
        data = torch.randn(batch, 3, size, size, device="cuda", dtype=dtype)
        return lambda: net(data)
    return build


def language_model(kind, batch, tokens, **sizes):
    def build():
        config = getattr(transformers, kind + "Config")(**sizes)
        config._attn_implementation = "eager"  # another choice looks at masks on the host, but not while a graph is captured
        net = transformers.AutoModel.from_config(config).cuda().half().eval()
        words = torch.randint(1000, (batch, tokens), device="cuda")
        if kind == "T5":
            net = net.encoder
        return lambda: net(input_ids=words, **({} if kind == "T5" else {"use_cache": False} if kind != "Bert" else {}))[0]
    return build


def train(build_net, shape, optimizer):
    """A training step of a network on data that stay on the GPU; no graph of it."""
    def build():
        net = build_net().cuda()
        opt = optimizer(net.parameters())
        data = torch.randn(*shape, device="cuda")

        def run():
            opt.zero_grad(set_to_none=True)
            loss = net(data).square().mean()
            loss.backward()
            opt.step()
            return loss.detach()
        return run
    return build


class Recommender(nn.Module):
    """Embedding tables, two perceptrons, products of all pairs."""

    def __init__(self, tables, rows, width):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(13, 128), nn.ReLU(), nn.Linear(128, width), nn.ReLU())
        pairs = tables * (tables + 1) // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 256), nn.ReLU(), nn.Linear(256, 1), nn.Sigmoid())

    def forward(self, dense, bags):
        x = self.bottom(dense)
        all_ = torch.stack([x] + [table(bags[i]) for i, table in enumerate(self.tables)], 1)
        products = torch.bmm(all_, all_.transpose(1, 2))
        rows, columns = self.places
        return self.top(torch.cat([x, products[:, rows, columns]], 1))


def recommender(batch, tables, rows=20000, width=64):
    def build():
        net = Recommender(tables, rows, width).cuda()
        places = torch.tril_indices(tables + 1, tables + 1, -1, device="cuda")
        net.places = (places[0], places[1])
        dense = torch.randn(batch, 13, device="cuda")
        bags = torch.randint(rows, (tables, batch, 4), device="cuda")
        return lambda: net(dense, bags)
    return build


class Points(nn.Module):
    """PointNet's classifier without its transforms."""

    def __init__(self, width):
        super().__init__()
        sizes = [3, width, width, 2 * width, 16 * width]
        self.layers = nn.Sequential(*[one for a, b in zip(sizes, sizes[1:])
                                      for one in (nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU())])
        self.head = nn.Linear(16 * width, 40)

    def forward(self, x):
        return self.head(self.layers(x).amax(2))


def points(batch, count, width=64):
    def build():
        net, data = Points(width).cuda().eval(), torch.randn(batch, 3, count, device="cuda")
        return lambda: net(data)
    return build


class WaveNet(nn.Module):
    def __init__(self, channels, layers):
        super().__init__()
        self.first = nn.Conv1d(1, channels, 1)
        self.both = nn.ModuleList(nn.Conv1d(channels, 2 * channels, 3, dilation=2 ** (i % 8), padding="same") for i in range(layers))
        self.one = nn.ModuleList(nn.Conv1d(channels, channels, 1) for _ in range(layers))
        self.last = nn.Conv1d(channels, 256, 1)

    def forward(self, x):
        x, skipped = self.first(x), 0
        for both, one in zip(self.both, self.one):
            a, b = both(x).chunk(2, 1)
            y = one(torch.tanh(a) * torch.sigmoid(b))
            x, skipped = x + y, skipped + y
        return self.last(functional.relu(skipped))


def wavenet(batch, length, channels=64, layers=16):
    def build():
        net, data = WaveNet(channels, layers).cuda().half(), torch.randn(batch, 1, length, device="cuda").half()
        return lambda: net(data)
    return build


def message_passing(nodes, width, layers=6):
    """A graph network by index_add."""
    def build():
        weights = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(layers)).cuda()
        first, second = (torch.randint(nodes, (4 * nodes,), device="cuda") for _ in range(2))
        data = torch.randn(nodes, width, device="cuda")

        def run():
            x = data
            for one in weights:
                news = functional.relu(one(torch.cat([x[first], x[second]], 1)))
                x = torch.zeros_like(x).index_add_(0, second, news) / 4 + x
            return x
        return run
    return build


def sinkhorn(size, rounds):
    def build():
        cost = torch.rand(size, size, device="cuda")

        def run():
            k = torch.exp(-5 * cost)
            v = torch.ones(size, device="cuda")
            for _ in range(rounds):
                u = 1 / (k @ v)
                v = 1 / (k.t() @ u)
            return (u[:, None] * k * v[None, :]).sum()
        return run
    return build


def eager_graph(build, gradients=False, item=False):
    def make():
        with torch.set_grad_enabled(gradients):
            body = build()
        whole = (lambda: body().float().mean()) if item else body
        captured = []

        def eager():
            with torch.set_grad_enabled(gradients):
                out = whole()
            if item:
                out.item()

        def graph():
            if not captured:
                with torch.set_grad_enabled(gradients):
                    captured.append(capture(whole))
            captured[0][0].replay()
            if item:
                captured[0][1].item()
        return Family({"eager": Form(eager), "graph": Form(graph)})
    return make, {"graph": "graph"}, {}


class Feed:
    """Batches from the host through a network; a number read each step or copied out at the end."""

    def __init__(self, build_net, shape, each):
        self.net, self.each, self.count, self.i = build_net().cuda(), each, 6, 0
        self.pageable = [torch.randn(*shape) for _ in range(self.count)]
        self.pinned = [one.pin_memory() for one in self.pageable]
        self.side, self.ready = torch.cuda.Stream(), None
        self.results = torch.zeros(256).pin_memory()

    def start(self, steps):
        self.i, self.steps, self.ready = 0, steps, None

    def use(self, batch):
        with torch.no_grad():
            loss = self.net(batch).float().square().mean()
        if self.each:
            loss.item()
        else:
            self.results[self.i % 256].copy_(loss, non_blocking=True)
        self.i += 1

    def plain(self, source, non_blocking):
        return Form(lambda: self.use(source[self.i % self.count].to("cuda", non_blocking=non_blocking)), self.start)

    def load(self, i):
        with torch.cuda.stream(self.side):
            return self.pinned[i % self.count].to("cuda", non_blocking=True)

    def ahead(self):
        current = torch.cuda.current_stream()
        if self.ready is None:
            self.ready = self.load(self.i)
        current.wait_stream(self.side)
        batch, self.ready = self.ready, None
        batch.record_stream(current)
        if self.i + 1 < self.steps:
            self.ready = self.load(self.i + 1)
        self.use(batch)


def feed(build_net, shape, each, first="pageable"):
    def make():
        data = Feed(build_net, shape, each)
        forms = {"pageable": data.plain(data.pageable, False), "pinned": data.plain(data.pinned, False),
                 "async": data.plain(data.pinned, True), "prefetch": Form(data.ahead, data.start)}
        return Family({name: form for name, form in forms.items() if first == "pageable" or name != "pageable"})
    changes = {"pinned": "pinned", "async": "pinned async", "prefetch": "pinned async prefetch=1"}
    if first == "pinned":
        changes = {"async": "async", "prefetch": "async prefetch=1"}
    return make, changes, {}


def read_back(build, numbers=1, gradients=False):
    """Some numbers of each step by .item(), or into pinned memory without a wait."""
    def make():
        with torch.set_grad_enabled(gradients):
            body = build()
        results, place = torch.zeros(256, numbers).pin_memory(), [0]

        def run():
            with torch.set_grad_enabled(gradients):
                return body().float().flatten()[:numbers].sum() if numbers == 1 else body().float().flatten()[:numbers].clone()

        def each():
            out = run()
            if numbers == 1:
                out.item()
            else:
                out.cpu()

        def later():
            results[place[0] % 256].copy_(run(), non_blocking=True)
            place[0] += 1
        return Family({"each": Form(each), "later": Form(later)})
    return make, {"later": "no-readback"}, {}


def many_streams(count, length, rows, width, connections):
    """Chains of small products, each in a stream of its own, called in turn."""
    def make():
        streams = [torch.cuda.Stream() for _ in range(count)]
        weights = [torch.randn(width, width, device="cuda").half() / width for _ in range(count)]
        data = torch.randn(rows, width, device="cuda").half()

        def step():
            current = torch.cuda.current_stream()
            for stream, weight in zip(streams, weights):
                stream.wait_stream(current)
                with torch.cuda.stream(stream), torch.no_grad():
                    x = data
                    for _ in range(length):
                        x = x @ weight
            for stream in streams:
                current.wait_stream(stream)
        return Family({"run": Form(step)})
    return make, {}, {"CUDA_DEVICE_MAX_CONNECTIONS": str(connections)}


def perceptron(sizes):
    return lambda: nn.Sequential(*[one for a, b in zip(sizes, sizes[1:]) for one in (nn.Linear(a, b), nn.ReLU())])


def small_vit():
    return timm.create_model("vit_tiny_patch16_224", pretrained=False)


def set_a(rng):
    pick = rng.choice
    table = {
        "mobilenet": eager_graph(image_model("mobilenetv3_small_100", pick([1, 2, 4]))),
        "vit": eager_graph(image_model("vit_tiny_patch16_224", pick([2, 8, 24])), item=True),
        "resnet": eager_graph(image_model("resnet18", pick([16, 32, 48]))),
        "gpt2": eager_graph(language_model("GPT2", pick([1, 4]), pick([64, 128, 256]), n_layer=pick([3, 5]))),
        "bert": eager_graph(language_model("Bert", pick([4, 16]), pick([64, 128]), num_hidden_layers=4)),
        "recommender": eager_graph(recommender(pick([512, 2048, 8192]), pick([6, 10]))),
        "wavenet": eager_graph(wavenet(pick([1, 4]), pick([4000, 16000]))),
        "sgd-step": eager_graph(train(perceptron([512, 1024, 1024, 512]), (pick([64, 512, 4096]), 512),
                                      lambda p: torch.optim.SGD(p, lr=1e-4, momentum=0.9)), gradients=True),
        "sinkhorn": eager_graph(sinkhorn(pick([512, 2048]), pick([20, 40])), item=True),
        "feed-vit": feed(small_vit, (pick([8, 24]), 3, 224, 224), True),
        "feed-rows": feed(perceptron([4096, 1024, 1024, 64]), (pick([256, 1024, 2048]), 4096), False),
        "feed-pinned": feed(perceptron([2048, 2048, 2048, 2048, 64]), (pick([2048, 4096]), 2048), True, "pinned"),
        "read-gpt2": read_back(language_model("GPT2", 1, 32, n_layer=3)),
        "read-adam": read_back(train(perceptron([256, 512, 512, 256]), (128, 256),
                                     lambda p: torch.optim.Adam(p, lr=1e-4)), gradients=True),
    }
    for count in (8, 1, 2, 32):
        table["streams-%d" % count] = many_streams(12, 6, 64, 512, count)
    return table


def set_b(rng):
    pick = rng.choice
    table = {
        "efficientnet": eager_graph(image_model("efficientnet_b0", pick([1, 4, 16]))),
        "convnext": eager_graph(image_model("convnext_atto", pick([2, 8, 32]))),
        "mixer": eager_graph(image_model("mixer_s32_224", pick([4, 16])), item=True),
        "regnet": eager_graph(image_model("regnety_002", pick([8, 64]))),
        "llama": eager_graph(language_model("Llama", pick([1, 8]), pick([32, 128]), hidden_size=512, intermediate_size=1408,
                                            num_hidden_layers=pick([4, 6]), num_attention_heads=8, num_key_value_heads=4,
                                            vocab_size=4000)),
        "t5": eager_graph(language_model("T5", pick([2, 8]), pick([64, 128]), num_layers=4), item=True),
        "points": eager_graph(points(pick([4, 32]), pick([512, 2048]))),
        "messages": eager_graph(message_passing(pick([2000, 20000]), pick([64, 128]))),
        "adam-step": eager_graph(train(perceptron([384, 1536, 1536, 384]), (pick([128, 1024]), 384),
                                       lambda p: torch.optim.Adam(p, lr=1e-4, capturable=True)), gradients=True),
        "feed-mobilenet": feed(lambda: timm.create_model("mobilenetv3_small_100", pretrained=False),
                               (pick([16, 48]), 3, 224, 224), True),
        "feed-wide": feed(perceptron([8192, 512, 512, 8]), (pick([512, 1536]), 8192), False),
        "feed-deep-pinned": feed(perceptron([1536] * 9), (pick([1024, 3072]), 1536), True, "pinned"),
        "read-points": read_back(points(2, 1024), numbers=40),
        "read-sgd": read_back(train(perceptron([784, 800, 800, 10]), (pick([64, 256]), 784),
                                    lambda p: torch.optim.SGD(p, lr=1e-3)), gradients=True),
    }
    for count in (8, 1, 4, 16):
        table["chains-%d" % count] = many_streams(10, 8, 128, 384, count)
    return table


def clusters(points_count, width, centres, rounds):
    """k-means."""
    def build():
        data = torch.randn(points_count, width, device="cuda")
        first = data[:centres].clone()

        def run():
            middle = first
            for _ in range(rounds):
                nearest = torch.cdist(data, middle).argmin(1)
                sums = torch.zeros_like(middle).index_add_(0, nearest, data)
                counts = torch.zeros(centres, device="cuda").index_add_(0, nearest, torch.ones_like(data[:, 0]))
                middle = sums / counts.clamp(min=1)[:, None]
            return middle
        return run
    return build


def spectral(batch, size, width, layers):
    """Products in the frequency domain, as a Fourier neural operator has them."""
    def build():
        weights = [torch.randn(width, width, 12, 12, dtype=torch.cfloat, device="cuda") / width for _ in range(layers)]
        data = torch.randn(batch, width, size, size, device="cuda")

        def run():
            x = data
            for weight in weights:
                f = torch.fft.rfft2(x)
                out = torch.zeros_like(f)
                out[:, :, :12, :12] = torch.einsum("bixy,ioxy->boxy", f[:, :, :12, :12], weight)
                x = functional.gelu(torch.fft.irfft2(out, s=(size, size)) + x)
            return x
        return run
    return build


class AutoEncoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        wide = [3, channels, 2 * channels, 4 * channels]
        self.down = nn.Sequential(*[one for a, b in zip(wide, wide[1:])
                                    for one in (nn.Conv2d(a, b, 4, stride=2, padding=1), nn.GroupNorm(4, b), nn.SiLU())])
        self.up = nn.Sequential(*[one for a, b in zip(wide[:0:-1], wide[-2::-1])
                                  for one in (nn.ConvTranspose2d(a, b, 4, stride=2, padding=1), nn.SiLU())])

    def forward(self, x):
        return self.up(self.down(x))


def set_c(rng):
    pick = rng.choice
    table = {
        "ghostnet": eager_graph(image_model("ghostnet_100", pick([1, 4, 8]))),
        "deit": eager_graph(image_model("deit_tiny_patch16_224", pick([1, 4, 16])), item=True),
        "dla": eager_graph(image_model("dla34", pick([4, 16]))),
        "edgenext": eager_graph(image_model("edgenext_xx_small", pick([2, 8, 32]))),
        "opt": eager_graph(language_model("OPT", pick([1, 4]), pick([48, 96]), hidden_size=512, ffn_dim=2048,
                                          num_hidden_layers=pick([4, 6]), num_attention_heads=8, vocab_size=4000,
                                          word_embed_proj_dim=512)),
        "clusters": eager_graph(clusters(pick([4000, 40000]), pick([32, 64]), 50, pick([6, 10]))),
        "spectral": eager_graph(spectral(pick([2, 8]), pick([64, 96]), 24, pick([3, 5]))),
        "autoencoder-step": eager_graph(train(lambda: AutoEncoder(pick([16, 32])), (pick([2, 8]), 3, 64, 64),
                                              lambda p: torch.optim.SGD(p, lr=1e-3)), gradients=True),
        "gru": eager_graph(lambda: (lambda net, data: lambda: net(data)[0])(
            nn.GRU(256, 384, num_layers=2).cuda(), torch.randn(pick([24, 48]), pick([4, 64]), 256, device="cuda"))),
        "feed-autoencoder": feed(lambda: AutoEncoder(32), (pick([8, 32]), 3, 256, 256), True),
        "feed-flat": feed(perceptron([6000, 800, 800, 32]), (pick([512, 2048]), 6000), False),
        "feed-square-pinned": feed(perceptron([2560] * 6), (pick([1536, 3072]), 2560), True, "pinned"),
        "read-deit": read_back(image_model("deit_tiny_patch16_224", 2), numbers=10),
        "read-autoencoder": read_back(train(lambda: AutoEncoder(16), (4, 3, 64, 64),
                                            lambda p: torch.optim.AdamW(p, lr=1e-4)), gradients=True),
    }
    for count in (8, 1, 2, 32):
        table["lanes-%d" % count] = many_streams(10, 6, 256, 4096, count)
    return table


class Unet(nn.Module):
    """Two levels, with the way across."""

    def __init__(self, channels):
        super().__init__()
        def twice(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(4, b), nn.SiLU(), nn.Conv2d(b, b, 3, padding=1),
                                 nn.GroupNorm(4, b), nn.SiLU())
        self.first, self.second, self.deep = twice(4, channels), twice(channels, 2 * channels), twice(2 * channels, 4 * channels)
        self.back, self.last = twice(6 * channels, 2 * channels), twice(3 * channels, channels)
        self.out = nn.Conv2d(channels, 4, 1)

    def forward(self, x):
        a = self.first(x)
        b = self.second(functional.avg_pool2d(a, 2))
        c = self.deep(functional.avg_pool2d(b, 2))
        b = self.back(torch.cat([functional.interpolate(c, scale_factor=2.0), b], 1))
        return self.out(self.last(torch.cat([functional.interpolate(b, scale_factor=2.0), a], 1)))


def diffusion(channels, size, rounds):
    """Steps of a sampler, as many rounds of one network."""
    def build():
        net, data = Unet(channels).cuda().half().eval(), torch.randn(1, 4, size, size, device="cuda").half()

        def run():
            x = data
            for i in range(rounds):
                x = x - 0.1 * net(x) + 0.01 * i
            return x
        return run
    return build


def experts(tokens, width, count):
    """A layer of experts, each asked for its own part of the tokens, without routing."""
    def build():
        gate = nn.Linear(width, count).cuda().half()
        both = [nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)).cuda().half()
                for _ in range(count)]
        data = torch.randn(tokens, width, device="cuda").half()

        def run():
            weights = gate(data).softmax(-1)
            parts = [one(part) for one, part in zip(both, data.chunk(count))]
            return torch.cat(parts) * weights.amax(-1, keepdim=True)
        return run
    return build


def automaton(size, rounds):
    def build():
        kernel = torch.ones(1, 1, 3, 3, device="cuda")
        first = (torch.rand(1, 1, size, size, device="cuda") > 0.6).float()

        def run():
            x = first
            for _ in range(rounds):
                n = functional.conv2d(x, kernel, padding=1) - x
                x = ((n == 3) | ((n == 2) & (x > 0))).float()
            return x
        return run
    return build


def set_d(rng):
    pick = rng.choice
    table = {
        "repvgg": eager_graph(image_model("repvgg_a0", pick([1, 8, 32]))),
        "resmlp": eager_graph(image_model("resmlp_12_224", pick([1, 4, 16])), item=True),
        "pit": eager_graph(image_model("pit_ti_224", pick([2, 16]))),
        "gptneox": eager_graph(language_model("GPTNeoX", pick([1, 4]), pick([40, 112]), hidden_size=512, intermediate_size=2048,
                                              num_hidden_layers=pick([4, 6]), num_attention_heads=8, vocab_size=4000)),
        "electra": eager_graph(language_model("Electra", pick([2, 8]), pick([64, 128]), num_hidden_layers=6), item=True),
        "diffusion": eager_graph(diffusion(pick([16, 32]), pick([32, 64]), pick([3, 5]))),
        "experts": eager_graph(experts(pick([512, 4096]), pick([256, 512]), pick([6, 8]))),
        "automaton": eager_graph(automaton(pick([512, 2048]), pick([12, 24]))),
        "unet-step": eager_graph(train(lambda: Unet(pick([8, 16])), (pick([2, 8]), 4, 64, 64),
                                       lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9)), gradients=True),
        "lstm": eager_graph(lambda: (lambda net, data: lambda: net(data)[0])(
            nn.LSTM(192, 320, num_layers=2, bidirectional=True).cuda(), torch.randn(pick([16, 40]), pick([8, 32]), 192, device="cuda"))),
        "feed-unet": feed(lambda: Unet(16), (pick([8, 24]), 4, 192, 192), False),
        "feed-tall": feed(perceptron([3000, 2000, 500]), (pick([1024, 3000]), 3000), True),
        "feed-repvgg": feed(lambda: timm.create_model("repvgg_a0", pretrained=False), (pick([4, 12]), 3, 224, 224), False),
        "feed-bottle-pinned": feed(perceptron([3072, 1024, 256, 1024, 3072]), (pick([1024, 4096]), 3072), False, "pinned"),
        "read-pit": read_back(image_model("pit_ti_224", 4), numbers=1),
        "read-unet": read_back(train(lambda: Unet(8), (4, 4, 64, 64), lambda p: torch.optim.Adam(p, lr=1e-4)), gradients=True),
    }
    for count in (8, 1, 4):
        table["tracks-%d" % count] = many_streams(8, 5, 512, 2048, count)
    return table


SETS = {"a": set_a, "b": set_b, "c": set_c, "d": set_d}


def programs(which, seed):
    """By name: what makes the family, the change that leads to each other form, the environment."""
    return SETS[which](random.Random("%s %d" % (which, seed)))
