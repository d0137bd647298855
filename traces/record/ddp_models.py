"""Training steps for ddp.py, each of another kind: what a GPU does a step, with how many inputs a GPU.

A case has a module that is given inputs and gives outputs, a loss of outputs and targets, and an optimiser.
DEVELOPED are those that a model may be fitted on; JUDGED and FRESH, those that it is only judged by.
"""
import torch
from torch import nn
from torch.nn import functional


class Case:
    """A module with its loss and optimiser, and a batch of inputs and targets."""

    def __init__(self, module, inputs, targets, loss, optimiser, autocast=False):
        self.module, self.inputs, self.targets = module, inputs, targets
        self.loss, self.make_optimiser, self.autocast = loss, optimiser, autocast


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-4, momentum=0.9)


def adam(parameters):
    return torch.optim.AdamW(parameters, lr=1e-5)


def adam_fused(parameters):
    return torch.optim.AdamW(parameters, lr=1e-5, fused=True)


def mlp(batch=1024, width=4096, layers=6):
    """Large products with large gradients."""
    parts = []
    for _ in range(layers):
        parts += [nn.Linear(width, width), nn.ReLU()]
    module = nn.Sequential(*parts, nn.Linear(width, 10))
    inputs = torch.randn(batch, width)
    return Case(module, inputs, torch.randn(batch, 10), functional.mse_loss, sgd)


def mlp_exposed():
    """The same with few inputs: gradients take longer to reduce than to compute."""
    return mlp(batch=128, width=4096, layers=4)


def many(batch=256, width=256, layers=40):
    """Many small layers: the host cannot keep up."""
    parts = []
    for _ in range(layers):
        parts += [nn.Linear(width, width), nn.LayerNorm(width), nn.Tanh()]
    module = nn.Sequential(*parts)
    inputs = torch.randn(batch, width)
    return Case(module, inputs, torch.randn(batch, width), functional.mse_loss, adam)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.first(x)).split(width, dim=2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.second(x))))


class Gpt(nn.Module):
    """A decoder; its loss is its own, so that no logits have to be gathered."""

    def __init__(self, vocabulary, length, width, heads, layers):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.head(self.last(self.blocks(self.tokens(tokens) + self.places(places))))
        return functional.cross_entropy(x[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()).view(1)


def own_loss(outputs, _):
    return outputs.mean()


def gpt(batch=16):
    module = Gpt(vocabulary=8192, length=512, width=768, heads=12, layers=4)
    tokens = torch.randint(8192, (batch, 512))
    return Case(module, tokens, tokens, own_loss, adam)


class Residual(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(after), nn.BatchNorm2d(after)
        self.short = nn.Sequential()
        if stride != 1 or before != after:
            self.short = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = functional.relu(self.norm1(self.first(x)))
        return functional.relu(self.norm2(self.second(y)) + self.short(x))


def resnet(batch=64, side=128):
    """ResNet-18, whose batch norms have buffers that DDP broadcasts before each step."""
    parts = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for after, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        parts += [Residual(before, after, stride), Residual(after, after, 1)]
        before = after
    module = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
    inputs = torch.randn(batch, 3, side, side)
    return Case(module, inputs, torch.randint(1000, (batch,)), functional.cross_entropy, sgd)


class Encoder(nn.Module):
    def __init__(self, width, heads, layers, classes):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.layers(x).mean(1))


def encoder(batch=16):
    """In bfloat16 by autocast, with a fused optimiser."""
    inputs = torch.randn(batch, 256, 1024)
    return Case(Encoder(1024, 16, 4, 100), inputs, torch.randint(100, (batch,)),
                functional.cross_entropy, adam_fused, autocast=True)


def vgg(batch=32):
    """Convolutions, then the fully connected layers that have nearly all of the gradients."""
    parts, before = [], 3
    for after, count in ((64, 1), (128, 1), (256, 2), (512, 2), (512, 2)):
        for _ in range(count):
            parts += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU(inplace=True)]
            before = after
        parts.append(nn.MaxPool2d(2))
    module = nn.Sequential(*parts, nn.Flatten(), nn.Linear(512 * 16, 4096), nn.ReLU(), nn.Linear(4096, 4096),
                           nn.ReLU(), nn.Linear(4096, 1000))
    inputs = torch.randn(batch, 3, 128, 128)
    return Case(module, inputs, torch.randint(1000, (batch,)), functional.cross_entropy, sgd)


class Mixer(nn.Module):
    def __init__(self, places, width, layers):
        super().__init__()
        self.across = nn.ModuleList(nn.Linear(places, places) for _ in range(layers))
        self.along = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.head = nn.Linear(width, 100)

    def forward(self, x):
        for across, along, norm in zip(self.across, self.along, self.norms):
            y = norm(x)
            y = y + functional.gelu(across(y.transpose(1, 2))).transpose(1, 2)
            x = x + functional.gelu(along(y))
        return self.head(x.mean(1))


def mixer(batch=64):
    inputs = torch.randn(batch, 196, 768)
    return Case(Mixer(196, 768, 8), inputs, torch.randint(100, (batch,)), functional.cross_entropy, sgd)


def small_cnn(batch=128):
    """Few, small convolutions with batch norms: the host cannot keep up."""
    parts, before = [], 3
    for after in (32, 32, 64, 64, 128, 128):
        parts += [nn.Conv2d(before, after, 3, 2 if after != before else 1, 1), nn.BatchNorm2d(after), nn.ReLU()]
        before = after
    module = nn.Sequential(*parts, nn.Flatten(), nn.Linear(128 * 16, 256), nn.ReLU(), nn.Linear(256, 10))
    inputs = torch.randn(batch, 3, 32, 32)
    return Case(module, inputs, torch.randint(10, (batch,)), functional.cross_entropy, adam)


class Tagger(nn.Module):
    def __init__(self, words, width, layers, tags):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True)
        self.head = nn.Linear(width, tags)

    def forward(self, words):
        return self.head(self.lstm(self.words(words))[0]).flatten(0, 1)


def lstm(batch=64, length=100):
    """cuDNN's recurrent layers, and an embedding with the most of the gradients."""
    words = torch.randint(20000, (batch, length))
    return Case(Tagger(20000, 512, 2, 50), words, torch.randint(50, (batch * length,)),
                functional.cross_entropy, sgd)


class Vit(nn.Module):
    def __init__(self, width, heads, layers):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.places = nn.Parameter(torch.zeros(1, 196, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2) + self.places
        return self.head(self.last(self.blocks(x)).mean(1))


def vit(batch=64):
    images = torch.randn(batch, 3, 224, 224)
    return Case(Vit(512, 8, 8), images, torch.randint(1000, (batch,)), functional.cross_entropy, adam_fused)


class Step(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(functional.silu(self.up(self.norm(x))))


def deep_mlp(batch=512, width=1024, layers=16):
    """Residual steps of a middle size."""
    module = nn.Sequential(*(Step(width) for _ in range(layers)), nn.Linear(width, 16))
    inputs = torch.randn(batch, width)
    return Case(module, inputs, torch.randn(batch, 16), functional.mse_loss, adam)


class Bottleneck(nn.Module):
    def __init__(self, before, middle, after, stride):
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(before, middle, 1, bias=False), nn.BatchNorm2d(middle), nn.ReLU(),
            nn.Conv2d(middle, middle, 3, stride, 1, bias=False), nn.BatchNorm2d(middle), nn.ReLU(),
            nn.Conv2d(middle, after, 1, bias=False), nn.BatchNorm2d(after))
        self.short = nn.Sequential()
        if before != after:
            self.short = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        return functional.relu(self.path(x) + self.short(x))


def bottleneck(batch=48):
    """A ResNet of 26 layers with bottlenecks."""
    parts, before = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for middle, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        parts += [Bottleneck(before, middle, 4 * middle, stride), Bottleneck(4 * middle, middle, 4 * middle, 1)]
        before = 4 * middle
    module = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))
    images = torch.randn(batch, 3, 192, 192)
    return Case(module, images, torch.randint(1000, (batch,)), functional.cross_entropy, sgd)


class Recommender(nn.Module):
    def __init__(self, tables, rows, width):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.top = nn.Sequential(nn.Linear(tables * width, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(),
                                 nn.Linear(512, 1))

    def forward(self, x):
        return self.top(torch.cat([table(x[:, i]) for i, table in enumerate(self.tables)], 1)).flatten()


def recommender(batch=4096):
    """Embeddings with large, dense gradients, and a small network."""
    return Case(Recommender(8, 20000, 64), torch.randint(20000, (batch, 8)), torch.rand(batch),
                functional.binary_cross_entropy_with_logits, sgd)


class Temporal(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.first = nn.Conv1d(40, width, 5, padding=2)
        self.layers = nn.ModuleList(nn.Conv1d(width, width, 3, padding=1) for _ in range(layers))
        self.norms = nn.ModuleList(nn.GroupNorm(8, width) for _ in range(layers))
        self.head = nn.Linear(width, 100)

    def forward(self, x):
        x = self.first(x)
        for layer, norm in zip(self.layers, self.norms):
            x = x + functional.gelu(norm(layer(x)))
        return self.head(x.mean(2))


def temporal(batch=32):
    """Convolutions over time, with group norms."""
    return Case(Temporal(256, 10), torch.randn(batch, 40, 800), torch.randint(100, (batch,)),
                functional.cross_entropy, adam)


def decoder(batch=8):
    """A larger decoder in bfloat16 by autocast."""
    module = Gpt(vocabulary=16384, length=512, width=1024, heads=16, layers=6)
    tokens = torch.randint(16384, (batch, 512))
    return Case(module, tokens, tokens, own_loss, adam_fused, autocast=True)


class Unet(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.down, self.up, self.joined = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        before = 3
        for i in range(depth):
            after = width << i
            self.down.append(self.pair(before, after))
            before = after
        for i in reversed(range(depth - 1)):
            after = width << i
            self.up.append(nn.ConvTranspose2d(before, after, 2, 2))
            self.joined.append(self.pair(2 * after, after))
            before = after
        self.head = nn.Conv2d(before, 2, 1)

    @staticmethod
    def pair(before, after):
        return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(),
                             nn.Conv2d(after, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU())

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = layer(x if not kept else functional.max_pool2d(x, 2))
            kept.append(x)
        for up, joined, skipped in zip(self.up, self.joined, reversed(kept[:-1])):
            x = joined(torch.cat([up(x), skipped], 1))
        return self.head(x)


def unet(batch=8):
    images = torch.randn(batch, 3, 192, 192)
    return Case(Unet(32, 4), images, torch.randint(2, (batch, 192, 192)), functional.cross_entropy, adam_fused)


def separable(batch=64):
    """Depthwise and pointwise convolutions, as in MobileNet."""
    parts, before = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()], 32
    for after, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (1024, 2)):
        parts += [nn.Conv2d(before, before, 3, stride, 1, groups=before, bias=False), nn.BatchNorm2d(before), nn.ReLU6(),
                  nn.Conv2d(before, after, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU6()]
        before = after
    module = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 100))
    images = torch.randn(batch, 3, 160, 160)
    return Case(module, images, torch.randint(100, (batch,)), functional.cross_entropy, sgd)


class Translator(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.both = nn.Transformer(width, 8, 3, 3, 4 * width, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, words):
        x = self.words(words)
        return self.head(self.both(x, x)).flatten(0, 1)


def translator(batch=16, length=96):
    words = torch.randint(8000, (batch, length))
    return Case(Translator(8000, 512), words, torch.randint(8000, (batch * length,)), functional.cross_entropy,
                adam)


def wide(batch=2048):
    """Few wide layers with batch norms and dropout."""
    parts, before = [], 1024
    for after in (6144, 6144, 2048):
        parts += [nn.Linear(before, after), nn.BatchNorm1d(after), nn.GELU(), nn.Dropout(0.2)]
        before = after
    module = nn.Sequential(*parts, nn.Linear(before, 50))
    inputs = torch.randn(batch, 1024)
    return Case(module, inputs, torch.randint(50, (batch,)), functional.cross_entropy, adam_fused)


class Sets(nn.Module):
    """Points, each by itself, then together; attention over a few learned queries."""

    def __init__(self, width):
        super().__init__()
        self.each = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.queries = nn.Parameter(torch.zeros(16, width))
        self.look = nn.MultiheadAttention(width, 8, batch_first=True)
        self.last = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 40))

    def forward(self, points):
        x = self.each(points)
        queries = self.queries.expand(len(points), -1, -1)
        return self.last(self.look(queries, x, x, need_weights=False)[0]).mean(1)


def sets(batch=64):
    return Case(Sets(512), torch.randn(batch, 1024, 3), torch.randint(40, (batch,)), functional.cross_entropy,
                adam)


DEVELOPED = {"resnet": resnet, "many": many, "mlp-exposed": mlp_exposed, "gpt": gpt, "encoder": encoder, "vgg": vgg,
             "mixer": mixer, "mlp": mlp}
JUDGED = {"small-cnn": small_cnn, "lstm": lstm, "vit": vit, "deep-mlp": deep_mlp, "bottleneck": bottleneck,
          "recommender": recommender, "temporal": temporal, "decoder": decoder}
FRESH = {"unet": unet, "separable": separable, "translator": translator, "wide": wide, "sets": sets, "decoder": decoder}
