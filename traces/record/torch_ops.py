"""The operations of PyTorch, cuBLAS, cuDNN, CUB and Triton that are profiled.

OPERATIONS maps a name to a function without arguments that makes the inputs and returns the operation, itself
without arguments. The list is in an order that leaves a varied sample wherever it is cut off.
"""
import torch
import torch.nn.functional as F
import triton

import triton_kernels as tk

HALF, BRAIN, SINGLE, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64
NHWC = torch.channels_last
OPERATIONS = {}


def rand(*shape, dtype=SINGLE):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def index(count, *shape):
    return torch.randint(count, shape, device="cuda")


def on(name, function, *inputs):
    """An operation on random inputs: each a shape, or a pair of a shape and a dtype."""
    def make():
        tensors = [rand(*i[0], dtype=i[1]) if isinstance(i[0], tuple) else rand(*i) for i in inputs]
        return lambda: function(*tensors)
    OPERATIONS[name] = make


def made(name):
    """Decorator: the function makes the operation `name`."""
    def register(function):
        OPERATIONS[name] = function
        return function
    return register


def with_tf32(function):
    def run(*inputs):
        torch.backends.cuda.matmul.allow_tf32 = True
        function(*inputs)
        torch.backends.cuda.matmul.allow_tf32 = False
    return run


def attention(backend, **options):
    def run(q, k, v):
        with torch.nn.attention.sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, **options)
    return run


def backward(name, function, *inputs):
    """The backward pass alone of a function of random inputs."""
    def make():
        tensors = [rand(*i[0], dtype=i[1]) if isinstance(i[0], tuple) else rand(*i) for i in inputs]
        for tensor in tensors:
            tensor.requires_grad_()
        result = function(*tensors)
        gradient = torch.randn_like(result)
        return lambda: torch.autograd.grad(result, tensors, gradient, retain_graph=True)
    OPERATIONS[name] = make


def triton_matmul(size, block_m, block_n, block_k, warps, stages):
    def make():
        a, b = rand(size, size, dtype=HALF), rand(size, size, dtype=HALF)
        c = torch.empty_like(a)
        grid = (size // block_m, size // block_n)
        return lambda: tk.matmul_kernel[grid](a, b, c, size, size, size, block_m, block_n, block_k,
                                              num_warps=warps, num_stages=stages)
    return make


def triton_rows(kernel, rows, columns, parameters):
    def make():
        x = rand(rows, columns)
        out = torch.empty_like(x)
        more = [rand(columns) for _ in range(parameters)]
        block = triton.next_power_of_2(columns)
        return lambda: kernel[(rows,)](x, *more, out, columns, block, num_warps=8)
    return make


def triton_add(count):
    def make():
        x, y = rand(count), rand(count)
        out = torch.empty_like(x)
        return lambda: tk.add_kernel[(triton.cdiv(count, 1024),)](x, y, out, count, 1024)
    return make


def triton_attention(heads, length, dims):
    def make():
        q, k, v = (rand(heads, length, dims, dtype=HALF) for _ in range(3))
        out = torch.empty_like(q)
        grid = (length // 128, heads)
        return lambda: tk.attention_kernel[grid](q, k, v, out, dims ** -0.5, length, 128, 64, dims,
                                                 num_warps=4, num_stages=2)
    return make


FLASH = torch.nn.attention.SDPBackend.FLASH_ATTENTION
EFFICIENT = torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION
CUDNN = torch.nn.attention.SDPBackend.CUDNN_ATTENTION

# The varied first part.
on("add_fp32_4m", torch.add, (4 << 20,), (4 << 20,))
on("sum_all_fp32_16m", torch.sum, (16 << 20,))
on("softmax_fp32_4096x1024", lambda x: torch.softmax(x, -1), (4096, 1024))
on("layer_norm_fp16_4096x1024", lambda x, w, b: F.layer_norm(x, (1024,), w, b),
   ((4096, 1024), HALF), ((1024,), HALF), ((1024,), HALF))
on("matmul_fp16_2048", torch.mm, ((2048, 2048), HALF), ((2048, 2048), HALF))
on("matmul_fp32_1024", torch.mm, (1024, 1024), (1024, 1024))
on("transpose_copy_4096", lambda x: x.t().contiguous(), (4096, 4096))
on("attention_flash_fp16_1024", attention(FLASH), *[((4, 16, 1024, 64), HALF)] * 3)
on("conv2d_fp16_3x3", lambda x, w: F.conv2d(x, w, padding=1),
   ((32, 64, 56, 56), HALF), ((64, 64, 3, 3), HALF))
on("conv2d_fp32_3x3", lambda x, w: F.conv2d(x, w, padding=1), (16, 64, 56, 56), (64, 64, 3, 3))
on("cumsum_fp32_4m", lambda x: torch.cumsum(x, 0), (4 << 20,))
OPERATIONS["triton_add_4m"] = triton_add(4 << 20)
OPERATIONS["triton_softmax_4096x1000"] = triton_rows(tk.softmax_kernel, 4096, 1000, 0)
OPERATIONS["triton_layer_norm_4096x1024"] = triton_rows(tk.layer_norm_kernel, 4096, 1024, 2)
OPERATIONS["triton_matmul_fp16_2048"] = triton_matmul(2048, 128, 128, 64, 8, 3)


@made("scatter_add_1m")
def _():
    target, source, where = rand(65536), rand(1 << 20), index(65536, 1 << 20)
    return lambda: target.scatter_add_(0, where, source)


@made("embedding_fp32")
def _():
    table, where = rand(50000, 512), index(50000, 8192)
    return lambda: F.embedding(where, table)


@made("gather_rows_4096x1024")
def _():
    source, where = rand(4096, 1024), index(1024, 4096, 512)
    return lambda: torch.gather(source, 1, where)


on("batch_norm_train_fp32", lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
   (32, 64, 56, 56), (64,), (64,))
on("gelu_fp16_8m", F.gelu, ((8 << 20,), HALF))
on("sum_columns_4096", lambda x: x.sum(0), (4096, 4096))
on("matmul_bf16_4096x1024x4096", torch.mm, ((4096, 1024), BRAIN), ((1024, 4096), BRAIN))
on("matmul_tf32_2048", with_tf32(torch.mm), (2048, 2048), (2048, 2048))
on("attention_efficient_fp32", attention(EFFICIENT), *[(2, 8, 1024, 64)] * 3)
on("gemv_fp32_4096", torch.mv, (4096, 4096), (4096,))
on("sort_rows_1024x1024", lambda x: torch.sort(x, -1), (1024, 1024))
on("masked_select_1m", lambda x: torch.masked_select(x, x > 0), (1 << 20,))
on("max_pool_fp32", lambda x: F.max_pool2d(x, 2), (32, 64, 56, 56))
on("depthwise_conv_fp32", lambda x, w: F.conv2d(x, w, padding=1, groups=64), (16, 64, 56, 56), (64, 1, 3, 3))
on("fft_fp32_1m", torch.fft.fft, (16, 65536))

# More sizes and types of the same, and others.
on("add_fp32_32k", torch.add, (32768,), (32768,))
on("add_fp16_64m", torch.add, ((64 << 20,), HALF), ((64 << 20,), HALF))
on("add_row_2048x4096", torch.add, (2048, 4096), (4096,))
on("mul_scalar_bf16_16m", lambda x: x * 1.5, ((16 << 20,), BRAIN))
on("exp_fp32_1m", torch.exp, (1 << 20,))
on("pow_fp64_1m", lambda x: torch.pow(x, 2.5), ((1 << 20,), DOUBLE))
on("sigmoid_fp32_16m", torch.sigmoid, (16 << 20,))
on("tanh_fp64_1m", torch.tanh, ((1 << 20,), DOUBLE))
on("where_fp32_4m", lambda x, y: torch.where(x > y, x, y), (4 << 20,), (4 << 20,))
on("cast_fp32_to_fp16_16m", lambda x: x.half(), (16 << 20,))
on("dropout_fp32_4m", lambda x: F.dropout(x, 0.1), (4 << 20,))
on("normal_fp32_4m", lambda x: x.normal_(), (4 << 20,))
on("mean_rows_fp16_8192x2048", lambda x: x.mean(-1), ((8192, 2048), HALF))
on("argmax_rows_4096x1000", lambda x: x.argmax(-1), (4096, 1000))
on("var_rows_fp32_2048x4096", lambda x: x.var(-1), (2048, 4096))
on("softmax_fp16_256x32000", lambda x: torch.softmax(x, -1), ((256, 32000), HALF))
on("log_softmax_fp32_8192x128", lambda x: torch.log_softmax(x, -1), (8192, 128))
on("layer_norm_fp32_8192x4096", lambda x, w, b: F.layer_norm(x, (4096,), w, b),
   (8192, 4096), (4096,), (4096,))
on("group_norm_fp32", lambda x: F.group_norm(x, 8), (16, 64, 56, 56))
on("matmul_fp16_512", torch.mm, ((512, 512), HALF), ((512, 512), HALF))
on("matmul_fp16_4096", torch.mm, ((4096, 4096), HALF), ((4096, 4096), HALF))
on("matmul_bf16_1024", torch.mm, ((1024, 1024), BRAIN), ((1024, 1024), BRAIN))
on("matmul_fp32_2048x512x2048", torch.mm, (2048, 512), (512, 2048))
on("matmul_fp64_1024", torch.mm, ((1024, 1024), DOUBLE), ((1024, 1024), DOUBLE))
on("matmul_fp16_thin_16x4096x4096", torch.mm, ((16, 4096), HALF), ((4096, 4096), HALF))
on("bmm_fp16_64x256", torch.bmm, ((64, 256, 64), HALF), ((64, 64, 256), HALF))
on("addmm_fp16_2048x1024", torch.addmm, ((1024,), HALF), ((2048, 512), HALF), ((512, 1024), HALF))
on("conv2d_fp16_nhwc_3x3",
   lambda x, w: F.conv2d(x.to(memory_format=NHWC), w.to(memory_format=NHWC), padding=1),
   ((32, 128, 28, 28), HALF), ((128, 128, 3, 3), HALF))
on("conv2d_fp16_1x1", lambda x, w: F.conv2d(x, w), ((32, 256, 28, 28), HALF), ((128, 256, 1, 1), HALF))
on("conv2d_fp32_7x7", lambda x, w: F.conv2d(x, w, stride=2, padding=3), (16, 3, 224, 224), (64, 3, 7, 7))
on("attention_flash_causal_2048x128", attention(FLASH, is_causal=True), *[((2, 16, 2048, 128), HALF)] * 3)
on("attention_cudnn_fp16", attention(CUDNN), *[((4, 16, 1024, 64), HALF)] * 3)
on("cumsum_rows_4096", lambda x: torch.cumsum(x, -1), (4096, 4096))
on("permute_copy_4d", lambda x: x.permute(0, 2, 1, 3).contiguous(), (32, 128, 64, 64))
on("cat_fp32", lambda x, y: torch.cat([x, y], 1), (4096, 512), (4096, 1024))
on("flip_fp32_2048", lambda x: x.flip(1), (2048, 2048))
on("triu_fp32_2048", torch.triu, (2048, 2048))
on("upsample_bilinear", lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), (8, 64, 56, 56))
on("avg_pool_fp32", lambda x: F.avg_pool2d(x, 3, stride=2), (32, 64, 56, 56))
on("cdist_512x64", torch.cdist, (512, 64), (512, 64))
on("nonzero_1m", lambda x: torch.nonzero(x > 1), (1 << 20,))
backward("softmax_backward_4096x1024", lambda x: torch.softmax(x, -1), (4096, 1024))
backward("layer_norm_backward_2048x1024", lambda x, w, b: F.layer_norm(x, (1024,), w, b),
         (2048, 1024), (1024,), (1024,))
backward("gelu_backward_fp16_4m", F.gelu, ((4 << 20,), HALF))
backward("attention_flash_backward_1024", attention(FLASH), *[((2, 16, 1024, 64), HALF)] * 3)
backward("conv2d_backward_fp16_3x3", lambda x, w: F.conv2d(x, w, padding=1),
         ((32, 64, 56, 56), HALF), ((64, 64, 3, 3), HALF))


@made("index_select_fp32")
def _():
    table, where = rand(100000, 256), index(100000, 16384)
    return lambda: torch.index_select(table, 0, where)


@made("index_put_accumulate")
def _():
    target, where, source = rand(4096, 256), index(4096, 16384), rand(16384, 256)
    return lambda: target.index_add_(0, where, source)


@made("bincount_1m")
def _():
    values = index(1000, 1 << 20)
    return lambda: torch.bincount(values, minlength=1000)


@made("cross_entropy_4096x1000")
def _():
    scores, labels = rand(4096, 1000), index(1000, 4096)
    return lambda: F.cross_entropy(scores, labels)


@made("adam_fused_4m")
def _():
    weights = [torch.nn.Parameter(rand(1024, 1024)) for _ in range(4)]
    for weight in weights:
        weight.grad = torch.randn_like(weight)
    return torch.optim.Adam(weights, fused=True).step


OPERATIONS["triton_add_64m"] = triton_add(64 << 20)
OPERATIONS["triton_softmax_1024x8192"] = triton_rows(tk.softmax_kernel, 1024, 8192, 0)
OPERATIONS["triton_layer_norm_8192x512"] = triton_rows(tk.layer_norm_kernel, 8192, 512, 2)
OPERATIONS["triton_matmul_fp16_1024"] = triton_matmul(1024, 64, 64, 32, 4, 4)
OPERATIONS["triton_matmul_fp16_4096"] = triton_matmul(4096, 128, 256, 64, 8, 3)
OPERATIONS["triton_attention_32x1024x64"] = triton_attention(32, 1024, 64)

# Many launches each: 7 and 20.
on("sort_fp32_1m", torch.sort, (1 << 20,))
on("topk_64x32000", lambda x: torch.topk(x, 50), (64, 32000))
