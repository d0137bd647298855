"""The programs of shapes.py: models of transformers and torchvision, models by hand, and lists of operators drawn one by one.

A set is a function from a random generator to programs; a program's build(batch, seq), or build(batch, seq, hidden, dtype), makes a step
at that size."""
import random
from collections import namedtuple

import torch
from torch import nn
from torch.nn import functional as F

# points: (batch, seq) or (batch, seq, hidden, dtype), the recorded one first; models of images have no seq: 0.
Program = namedtuple("Program", "name build points")

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32, "tf32": torch.float32}

HALF = (torch.bfloat16, torch.float16)


def inference(net, *inputs, **named):
    net = net.eval()

    def step():
        with torch.no_grad():
            net(*inputs, **named)
    return step


def training(net, loss_of, optimizer=None):
    net = net.train()
    optimizer = optimizer or torch.optim.AdamW(net.parameters(), lr=1e-4)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss_of(net).backward()
        optimizer.step()
    return step


def words(batch, seq, vocabulary=1000):
    return torch.randint(vocabulary, (batch, seq), device="cuda")


def transformers_model(kind, dtype, head="", attention="sdpa", **sizes):
    """A model of transformers with random weights, its forward pass."""
    def build(batch, seq):
        import transformers
        config = getattr(transformers, kind + "Config")(**sizes)
        config._attn_implementation = attention
        with torch.device("cuda"):
            net = getattr(transformers, kind + (head or "Model"))(config).to(dtype)
        if kind == "T5":
            return inference(net.encoder, input_ids=words(batch, seq))
        return inference(net, input_ids=words(batch, seq), **({"use_cache": False} if kind not in ("Bert", "Roberta", "DistilBert") else {}))
    return build


def transformers_training(kind, head, dtype, **sizes):
    def build(batch, seq):
        import transformers
        config = getattr(transformers, kind + "Config")(**sizes)
        with torch.device("cuda"):
            net = getattr(transformers, kind + head)(config).to(dtype)
        data = words(batch, seq)
        return training(net, lambda net: net(input_ids=data, labels=data).loss)
    return build


def image_model(name, dtype, size=224, last=False, train=False):
    def build(batch, _):
        import torchvision
        net = getattr(torchvision.models, name)(weights=None).cuda().to(dtype)
        data = torch.randn(batch, 3, size, size, device="cuda", dtype=dtype)
        if last:
            net, data = net.to(memory_format=torch.channels_last), data.to(memory_format=torch.channels_last)
        if not train:
            return inference(net, data)
        labels = torch.randint(1000, (batch,), device="cuda")
        return training(net, lambda net: F.cross_entropy(net(data), labels),
                        torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9))
    return build


class Block(nn.Module):
    """A transformer's layer; attention by products and softmax, or fused."""

    def __init__(self, width, heads, fused, causal):
        super().__init__()
        self.heads, self.fused, self.causal = heads, fused, causal
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, seq, width = x.shape
        q, k, v = self.qkv(self.before(x)).view(batch, seq, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            y = (q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5).softmax(-1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(batch, seq, width))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Language(nn.Module):
    def __init__(self, vocabulary, width, layers, heads, fused=True, causal=True):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(8192, width)
        self.layers = nn.Sequential(*[Block(width, heads, fused, causal) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        return self.head(self.norm(self.layers(x)))


def language(dtype, train=False, autocast=False, **sizes):
    def build(batch, seq):
        net = Language(**sizes).cuda().to(torch.float32 if autocast else dtype)
        data = words(batch, seq)

        def loss(net):
            with torch.autocast("cuda", dtype, enabled=autocast):
                logits = net(data)
            return F.cross_entropy(logits.float().flatten(0, 1), data.flatten())
        return training(net, loss) if train else inference(net, data)
    return build


class Mixer(nn.Module):
    """MLP-Mixer: products over places, which a sequence's length changes too."""

    def __init__(self, width, layers, places):
        super().__init__()
        self.first = nn.Conv2d(3, width, 16, 16)
        self.over = nn.ModuleList(nn.Sequential(nn.Linear(places, 2 * places), nn.GELU(), nn.Linear(2 * places, places)) for _ in range(layers))
        self.up = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(layers))

    def forward(self, x):
        x = self.first(x).flatten(2).transpose(1, 2)
        for over, up in zip(self.over, self.up):
            x = x + over(x.transpose(1, 2)).transpose(1, 2)
            x = x + up(x)
        return x.mean(1)


def mixer(dtype, width, layers):
    def build(batch, _):
        return inference(Mixer(width, layers, 196).cuda().to(dtype), torch.randn(batch, 3, 224, 224, device="cuda", dtype=dtype))
    return build


def decoding(dtype, width, layers, heads, vocabulary):
    """One token for each sequence of a batch, whose keys and values are in a cache."""
    def build(batch, seq):
        net = Language(vocabulary, width, layers, heads).cuda().to(dtype).eval()
        cache = [torch.randn(2, batch, heads, seq, width // heads, device="cuda", dtype=dtype) for _ in range(layers)]
        ids = words(batch, 1)

        def step():
            with torch.no_grad():
                x = net.words(ids)
                for layer, (keys, values) in zip(net.layers, cache):
                    q, k, v = layer.qkv(layer.before(x)).view(batch, 1, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
                    keys[:, :, -1:], values[:, :, -1:] = k, v
                    y = (q @ keys.transpose(-1, -2) / (width // heads) ** 0.5).softmax(-1) @ values
                    x = x + layer.out(y.transpose(1, 2).reshape(batch, 1, width))
                    x = x + layer.down(F.gelu(layer.up(layer.between(x))))
                net.head(net.norm(x)).argmax(-1)
        return step
    return build


# Operators, each made at a size: a function of (batch, seq, rng, dtype) to a step; rng draws what the size does not say.

def wide(rng, low=64, high=8192):
    """A number of features as models have them."""
    number = int(low * (high / low) ** rng.random())
    unit = rng.choice([8, 64, 64, 128])
    return max(unit, number // unit * unit)


def tensor(*shape, dtype, grad=False):
    return torch.randn(*shape, device="cuda", dtype=dtype, requires_grad=grad)


def with_backward(call, inputs, output_like, backward):
    """`call` alone or with its backward pass."""
    if not backward:
        def step():
            with torch.no_grad():
                call(*inputs)
        return step
    with torch.no_grad():
        gradient = torch.randn_like(call(*inputs))
    return lambda: torch.autograd.grad(call(*inputs), [one for one in inputs if one.requires_grad], gradient)


def op_linear(batch, seq, rng, dtype):
    k, n, biased, backward = wide(rng), wide(rng), rng.random() < 0.6, rng.random() < 0.3
    inputs = [tensor(batch, seq, k, dtype=dtype, grad=backward), tensor(n, k, dtype=dtype, grad=backward)]
    return with_backward(F.linear, inputs + ([tensor(n, dtype=dtype, grad=backward)] if biased else []), None, backward)


def op_head(batch, seq, rng, dtype):
    """A product with one row a sequence."""
    k, n = wide(rng), rng.choice([10, 1000, 4096, wide(rng)])
    return with_backward(F.linear, [tensor(batch, k, dtype=dtype), tensor(n, k, dtype=dtype), tensor(n, dtype=dtype)], None, False)


def op_attention(batch, seq, rng, dtype):
    heads, size, causal, backward = rng.choice([2, 4, 8, 12, 16, 32]), rng.choice([32, 64, 64, 128]), rng.random() < 0.5, rng.random() < 0.3
    inputs = [tensor(batch, heads, seq, size, dtype=dtype, grad=backward) for _ in range(3)]
    return with_backward(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal), inputs, None, backward)


def op_products(batch, seq, rng, dtype):
    heads, size, backward = rng.choice([2, 4, 8, 12, 16]), rng.choice([32, 64, 80, 128]), rng.random() < 0.3
    inputs = [tensor(batch, heads, seq, size, dtype=dtype, grad=backward) for _ in range(3)]
    return with_backward(lambda q, k, v: (q @ k.transpose(-1, -2)).softmax(-1) @ v, inputs, None, backward)


def op_convolution(batch, seq, rng, dtype):
    channels, out, side = rng.choice([16, 32, 64, 128, 256, 512]), rng.choice([16, 32, 64, 128, 256, 512]), rng.choice([7, 14, 28, 56, 112])
    while channels * side * side > 512 * 28 * 28:
        side //= 2
    kernel, stride, last, backward = rng.choice([1, 1, 3, 3, 3, 5, 7]), rng.choice([1, 1, 2]), rng.random() < 0.5, rng.random() < 0.3
    x, w = tensor(batch, channels, side, side, dtype=dtype), tensor(out, channels, kernel, kernel, dtype=dtype)
    if last:
        x, w = x.to(memory_format=torch.channels_last), w.to(memory_format=torch.channels_last)
    inputs = [x.requires_grad_(backward), w.requires_grad_(backward)]
    return with_backward(lambda x, w: F.conv2d(x, w, stride=stride, padding=kernel // 2), inputs, None, backward)


def op_depthwise(batch, seq, rng, dtype):
    channels, side, kernel = rng.choice([32, 96, 144, 384]), rng.choice([14, 28, 56]), rng.choice([3, 5, 7])
    inputs = [tensor(batch, channels, side, side, dtype=dtype), tensor(channels, 1, kernel, kernel, dtype=dtype)]
    return with_backward(lambda x, w: F.conv2d(x, w, padding=kernel // 2, groups=channels), inputs, None, False)


def op_norm(batch, seq, rng, dtype):
    backward, width, kind = rng.random() < 0.3, wide(rng), rng.choice(["layer", "layer", "rms", "softmax", "log_softmax"])
    x, w = tensor(batch, seq, width, dtype=dtype, grad=backward), tensor(width, dtype=dtype, grad=backward)
    if kind == "layer":
        return with_backward(lambda x, w, b: F.layer_norm(x, (width,), w, b), [x, w, tensor(width, dtype=dtype, grad=backward)], None, backward)
    if kind == "rms":
        return with_backward(lambda x, w: F.rms_norm(x, (width,), w), [x, w], None, backward)
    return with_backward(lambda x: getattr(F, kind)(x, -1), [x], None, backward)


def op_image_norm(batch, seq, rng, dtype):
    channels, side, kind = rng.choice([32, 64, 128, 256, 512]), rng.choice([7, 14, 28, 56]), rng.choice(["batch", "train", "group"])
    net = (nn.GroupNorm(8, channels) if kind == "group" else nn.BatchNorm2d(channels)).cuda().to(dtype)
    x = tensor(batch, channels, side, side, dtype=dtype)
    return with_backward(net.eval() if kind == "batch" else net.train(), [x], None, False)


def op_elementwise(batch, seq, rng, dtype):
    width = wide(rng)
    x, y = tensor(batch, seq, width, dtype=dtype), tensor(batch, seq, width, dtype=dtype)
    call = rng.choice([lambda: x + y, lambda: F.gelu(x), lambda: F.silu(x) * y, lambda: F.relu(x), lambda: x.float(), lambda: torch.tanh(x),
                       lambda: x * 0.5, lambda: x + y[:, :, :1], lambda: F.dropout(x, 0.1), lambda: x.transpose(1, 2).contiguous(),
                       lambda: torch.cat([x, y], -1), lambda: x.masked_fill(y > 0, 0.0), lambda: torch.where(y > 0, x, y)])
    return with_backward(call, [], None, False)


def op_reduction(batch, seq, rng, dtype):
    width = wide(rng)
    x = tensor(batch, seq, width, dtype=dtype)
    call = rng.choice([lambda: x.sum(-1), lambda: x.mean(1), lambda: x.amax(-1), lambda: x.sum((0, 1)), lambda: x.argmax(-1),
                       lambda: x.float().var(-1), lambda: x.cumsum(-1), lambda: x.topk(8, -1)])
    return with_backward(call, [], None, False)


def op_embedding(batch, seq, rng, dtype):
    rows, width, backward = rng.choice([1000, 30000, 50000]), wide(rng, 64, 4096), rng.random() < 0.3
    ids, table = words(batch, seq, rows), tensor(rows, width, dtype=dtype, grad=backward)
    return with_backward(lambda table: F.embedding(ids, table), [table], None, backward)


def op_loss(batch, seq, rng, dtype):
    classes = rng.choice([1000, 8192, 32000])
    x, labels = tensor(batch * seq, classes, dtype=dtype, grad=True), words(batch * seq, 1, classes).flatten()
    return with_backward(lambda x: F.cross_entropy(x, labels), [x], None, True)


def op_pool(batch, seq, rng, dtype):
    channels, side = rng.choice([32, 64, 128]), rng.choice([14, 28, 56])
    x = tensor(batch, channels, side, side, dtype=dtype)
    call = rng.choice([lambda: F.max_pool2d(x, 3, 2, 1), lambda: F.adaptive_avg_pool2d(x, 1), lambda: F.avg_pool2d(x, 2),
                       lambda: F.interpolate(x, scale_factor=2, mode="nearest")])
    return with_backward(call, [], None, False)


OPERATORS = (op_linear, op_linear, op_linear, op_head, op_attention, op_attention, op_products, op_convolution, op_convolution, op_depthwise, op_norm,
             op_norm, op_image_norm, op_elementwise, op_elementwise, op_elementwise, op_reduction, op_embedding, op_loss, op_pool)
LARGEST = 1 << 31  # bytes of what one operator takes, about


def zoo(seed, count):
    """Operators drawn one by one, all of the same batch and sequence length; the same ones at each size."""
    def build(batch, seq):
        rng, steps = random.Random(seed), []
        for _ in range(count):
            own = random.Random(rng.getrandbits(32))
            dtype = own.choice([torch.bfloat16, torch.bfloat16, torch.float16, torch.float32])
            steps.append(own.choice(OPERATORS)(batch, seq, own, dtype))

        def step():
            for one in steps:
                one()
        return step
    return build


def grid(rng, batches, lengths, recorded):
    """All pairs, the recorded one first."""
    points = [(batch, length) for batch in batches for length in lengths]
    points.remove(recorded)
    rng.shuffle(points)
    return [recorded] + points


def zoos(rng, count):
    for index in range(count):
        seed = rng.getrandbits(32)
        points = [(rng.choice([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]), rng.choice([32, 48, 64, 100, 128, 192, 256, 384, 512, 1000, 1024, 2048])) for _ in range(40)]
        points = [point for point in points if point[0] * point[1] <= 1 << 14][:6]
        yield Program("zoo-%d" % index, zoo(seed, 24), points)


def looked_at(rng):
    """On which the models of kernels were made."""
    bf16, fp16, fp32 = torch.bfloat16, torch.float16, torch.float32
    yield Program("gpt2", transformers_model("GPT2", bf16, n_embd=768, n_layer=6, n_head=12),
                  grid(rng, (1, 4, 16, 32), (64, 256, 512, 1000), (4, 256)))
    yield Program("llama", transformers_model("Llama", bf16, "ForCausalLM", hidden_size=1024, intermediate_size=2816, num_hidden_layers=6,
                                              num_attention_heads=16, num_key_value_heads=4, vocab_size=16000),
                  grid(rng, (1, 2, 8, 24), (128, 300, 512, 2048), (2, 512)))
    yield Program("lm-train", language(bf16, True, True, vocabulary=8000, width=512, layers=4, heads=8),
                  grid(rng, (2, 8, 16, 48), (64, 128, 256, 500), (8, 128)))
    yield Program("resnet50", image_model("resnet50", fp16, last=True), [(8, 0), (1, 0), (4, 0), (16, 0), (32, 0), (64, 0), (100, 0)])
    yield Program("resnet18-train", image_model("resnet18", fp32, train=True), [(16, 0), (4, 0), (8, 0), (32, 0), (64, 0), (96, 0)])
    yield Program("decode", decoding(bf16, 1024, 6, 16, 16000), grid(rng, (1, 4, 16, 64), (128, 512, 1024, 2000), (4, 512)))
    yield Program("mixer", mixer(fp16, 512, 6), [(16, 0), (2, 0), (8, 0), (32, 0), (64, 0), (128, 0)])
    yield from zoos(rng, 16)


def four(rng, choices):
    return tuple(sorted(rng.sample(choices, 4)))


def words_points(rng, most):
    """Four batches times four lengths, as far as they are no more than `most` words; the recorded one is one of the smaller."""
    batches, lengths = four(rng, (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)), four(rng, (50, 64, 96, 128, 160, 200, 256, 320, 384, 512, 777, 1024))
    points = [point for point in grid(rng, batches, lengths, (batches[1], lengths[1])) if point[0] * point[1] <= most]
    return points


def image_points(rng):
    batches = sorted(rng.sample((1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96), 6))
    recorded = batches.pop(2)
    return [(batch, 0) for batch in [recorded] + batches]


def judged(rng):
    """Drawn after the models of kernels were made."""
    bf16, fp16, fp32 = torch.bfloat16, torch.float16, torch.float32
    yield Program("roberta", transformers_model("Roberta", fp16, hidden_size=768, num_hidden_layers=6, num_attention_heads=12,
                                                intermediate_size=3072, max_position_embeddings=2050), words_points(rng, 1 << 14))
    yield Program("mistral", transformers_model("Mistral", bf16, "ForCausalLM", hidden_size=1536, intermediate_size=4096, num_hidden_layers=4,
                                                num_attention_heads=12, num_key_value_heads=4, vocab_size=20000), words_points(rng, 1 << 14))
    yield Program("gptneox", transformers_model("GPTNeoX", fp16, hidden_size=1024, intermediate_size=4096, num_hidden_layers=5,
                                                num_attention_heads=16, vocab_size=12000), words_points(rng, 1 << 14))
    yield Program("t5", transformers_model("T5", fp32, d_model=512, d_ff=2048, d_kv=64, num_layers=4, num_heads=8, vocab_size=8000),
                  words_points(rng, 1 << 13))
    yield Program("bert-train", transformers_training("Bert", "ForMaskedLM", fp32, hidden_size=512, intermediate_size=2048, num_hidden_layers=4,
                                                      num_attention_heads=8, vocab_size=8000), words_points(rng, 1 << 13))
    yield Program("lm-eager-train", language(bf16, True, False, vocabulary=12000, width=768, layers=4, heads=12, fused=False),
                  words_points(rng, 1 << 13))
    yield Program("decode-wide", decoding(fp16, 2048, 4, 16, 32000), words_points(rng, 1 << 15))
    yield Program("vit", image_model("vit_b_16", bf16), image_points(rng))
    yield Program("convnext", image_model("convnext_tiny", fp16), image_points(rng))
    yield Program("efficientnet", image_model("efficientnet_b0", fp16, last=True), image_points(rng))
    yield Program("mobilenet-train", image_model("mobilenet_v3_small", fp32, train=True), image_points(rng))
    yield from zoos(rng, 20)


# The same models at other widths and in other types.

def of_width(model):
    """A program's build: `model` takes a width, its heads of 64, and a type, and returns a build(batch, seq)."""
    def build(batch, seq, hidden, dtype):
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        return model(hidden, hidden // 64, DTYPES[dtype])(batch, seq)
    return build


def vision_transformer(dtype, **sizes):
    def build(batch, _):
        import torchvision
        net = torchvision.models.VisionTransformer(image_size=224, patch_size=16, **sizes).cuda().to(dtype)
        return inference(net, torch.randn(batch, 3, 224, 224, device="cuda", dtype=dtype))
    return build


def eighths(number):
    return 8 * round(number / 8)


def wide_points(rng, batch, seq, dtype, choices):
    """Five widths, of which the second is recorded, and there three other types."""
    widths = sorted(rng.sample(choices, 5))
    recorded = (batch, seq, widths[1], dtype)
    return ([recorded] + [(batch, seq, width, dtype) for width in widths if width != widths[1]] +
            [(batch, seq, widths[1], other) for other in DTYPES if other != dtype])


def widths(rng):
    """Of `whatif --change hidden=N` and `dtype=TYPE`."""
    even, any_width = (512, 768, 1024, 1280, 1536, 2048, 2560), (384, 512, 640, 768, 960, 1024, 1280, 1600)

    def batch():
        return rng.choice((4, 6, 12, 16))

    def seq():
        return rng.choice((100, 150, 200, 300))

    yield Program("llama", of_width(lambda hidden, heads, dtype: transformers_model(
        "Llama", dtype, "ForCausalLM", hidden_size=hidden, intermediate_size=eighths(2.7 * hidden), num_hidden_layers=4, num_attention_heads=heads,
        num_key_value_heads=heads // 4, vocab_size=16000)), wide_points(rng, batch(), seq(), "bf16", even))
    yield Program("bert", of_width(lambda hidden, heads, dtype: transformers_model(
        "Bert", dtype, hidden_size=hidden, intermediate_size=4 * hidden, num_hidden_layers=6, num_attention_heads=heads, vocab_size=8000)),
        wide_points(rng, batch(), seq(), "fp16", any_width))
    yield Program("gpt2", of_width(lambda hidden, heads, dtype: transformers_model(
        "GPT2", dtype, n_embd=hidden, n_layer=5, n_head=heads, vocab_size=12000)), wide_points(rng, batch(), seq(), "fp32", any_width))
    yield Program("lm-train", of_width(lambda hidden, heads, dtype: language(dtype, True, vocabulary=9000, width=hidden, layers=4, heads=heads)),
                  wide_points(rng, batch(), seq(), "bf16", any_width))
    yield Program("bert-train", of_width(lambda hidden, heads, dtype: transformers_training(
        "Bert", "ForMaskedLM", dtype, hidden_size=hidden, intermediate_size=4 * hidden, num_hidden_layers=3, num_attention_heads=heads,
        vocab_size=8000)), wide_points(rng, batch(), seq(), "fp32", any_width))
    yield Program("vit", of_width(lambda hidden, heads, dtype: vision_transformer(
        dtype, num_layers=6, num_heads=heads, hidden_dim=hidden, mlp_dim=4 * hidden)), wide_points(rng, batch(), 0, "bf16", any_width))


SETS = {"looked-at": looked_at, "judged": judged, "widths": widths}


def draw(name, rng):
    return list(SETS[name](rng))
