"""More operations, of a later recording: FRESH names all of it, with some of torch_ops.py."""
import torch
import torch.nn.functional as F

import triton_more as tm
from torch_ops import BRAIN, CUDNN, DOUBLE, FLASH, HALF, OPERATIONS, backward, index, made, on, rand

INT8 = torch.int8


@made("embedding_bag_fp32")
def _():
    table, where = rand(50000, 128), index(50000, 4096 * 16)
    offsets = torch.arange(0, 4096 * 16, 16, device="cuda")
    return lambda: F.embedding_bag(where, table, offsets, mode="sum")


@made("max_pool_backward_fp32")
def _():
    x = rand(32, 64, 56, 56)
    result, where = F.max_pool2d(x, 3, stride=2, return_indices=True)
    return lambda: torch.ops.aten.max_pool2d_with_indices_backward(result, x, [3, 3], [2, 2], [0, 0], [1, 1],
                                                                   False, where)


@made("lstm_cell_fp32")
def _():
    gates, more = rand(512, 4096), rand(512, 4096)
    state = rand(512, 1024)
    return lambda: torch.ops.aten._thnn_fused_lstm_cell(gates, more, state)


@made("matmul_int8_2048")
def _():
    a, b = (torch.randint(-128, 127, (2048, 2048), device="cuda", dtype=INT8) for _ in range(2))
    b = b.t()
    return lambda: torch._int_mm(a, b)


@made("sparse_csr_matmul_fp32")
def _():
    dense = rand(8192, 8192)
    dense[dense.abs() < 2.2] = 0
    sparse, right = dense.to_sparse_csr(), rand(8192, 64)
    return lambda: sparse @ right


@made("unique_64k")
def _():
    values = index(1000, 1 << 16)
    return lambda: torch.unique_consecutive(values)


def compiled(name, function, *inputs):
    on(name, torch.compile(function), *inputs)


def silu_times(x, y):
    return F.silu(x) * y + 0.5


def gelu_norm(x, w):
    y = F.gelu(x, approximate="tanh")
    return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6) * w


compiled("compiled_silu_times_fp16", silu_times, ((4096, 4096), HALF), ((4096, 4096), HALF))
compiled("compiled_gelu_norm_bf16", gelu_norm, ((4096, 2048), BRAIN), ((2048,), BRAIN))
on("cumprod_rows_fp32", lambda x: torch.cumprod(x, -1), (2048, 2048))
on("conv3d_fp32", lambda x, w: F.conv3d(x, w, padding=1), (4, 16, 16, 32, 32), (16, 16, 3, 3, 3))
on("pad_reflect_fp32", lambda x: F.pad(x, (3, 3, 3, 3), mode="reflect"), (16, 64, 56, 56))
on("roll_fp32", lambda x: torch.roll(x, (100, 37), (0, 1)), (4096, 2048))
on("rms_norm_fp16", lambda x, w: F.rms_norm(x, (2048,), w), ((4096, 2048), HALF), ((2048,), HALF))
on("bmm_fp16_odd", torch.bmm, ((32, 200, 72), HALF), ((32, 72, 136), HALF))
on("linear_gelu_bf16", lambda x, w, b: torch._addmm_activation(b, x, w, use_gelu=True),
   ((2048, 1024), BRAIN), ((1024, 2048), BRAIN), ((2048,), BRAIN))
on("matmul_fp64_512x1024", torch.mm, ((512, 1024), DOUBLE), ((1024, 512), DOUBLE))
on("attention_cudnn_2048x128", lambda q, k, v: cudnn_attention(q, k, v), *[((2, 16, 2048, 128), HALF)] * 3)
on("erfinv_fp64", torch.erfinv, ((1 << 20,), DOUBLE))
on("logsumexp_fp32", lambda x: torch.logsumexp(x, -1), (4096, 2048))
on("histc_fp32", lambda x: torch.histc(x, 100), (1 << 20,))
backward("batch_norm_backward_fp32", lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
         (32, 64, 56, 56), (64,), (64,))
backward("avg_pool_backward_fp32", lambda x: F.avg_pool2d(x, 3, stride=2), (32, 64, 56, 56))
backward("attention_flash_backward_512", lambda q, k, v: flash_attention(q, k, v),
         *[((4, 8, 512, 64), HALF)] * 3)


def flash_attention(q, k, v):
    with torch.nn.attention.sdpa_kernel(FLASH):
        return F.scaled_dot_product_attention(q, k, v)


def cudnn_attention(q, k, v):
    with torch.nn.attention.sdpa_kernel(CUDNN):
        return F.scaled_dot_product_attention(q, k, v)


@made("conv2d_data_backward_fp16")
def _():
    gradient, weight = rand(32, 64, 56, 56, dtype=HALF), rand(64, 64, 3, 3, dtype=HALF)
    gradient, weight = (t.to(memory_format=torch.channels_last) for t in (gradient, weight))
    return lambda: torch.nn.grad.conv2d_input((32, 64, 56, 56), weight, gradient, padding=1)


@made("conv2d_weight_backward_fp16")
def _():
    x, gradient = rand(32, 64, 56, 56, dtype=HALF), rand(32, 64, 56, 56, dtype=HALF)
    x, gradient = (t.to(memory_format=torch.channels_last) for t in (x, gradient))
    return lambda: torch.nn.grad.conv2d_weight(x, (64, 64, 3, 3), gradient, padding=1)


@made("triton_rms_norm_backward")
def _():
    x, gradient, weight = rand(4096, 2048, dtype=HALF), rand(4096, 2048, dtype=HALF), rand(2048)
    out, partial = torch.empty_like(x), rand(264, 2048)
    return lambda: tm.rms_norm_backward[(264,)](x, weight, gradient, out, partial, 4096, 2048, 2048,
                                                num_warps=8)


@made("triton_rotary")
def _():
    x, out = rand(8192, 24, 128, dtype=HALF), rand(8192, 24, 128, dtype=HALF)
    cosine, sine = rand(8192, 64), rand(8192, 64)
    return lambda: tm.rotary[(8192,)](x, cosine, sine, out, 24, 64, 32)


@made("triton_online_softmax")
def _():
    x = rand(528, 50000)
    out = torch.empty_like(x)
    return lambda: tm.online_softmax[(528,)](x, out, 50000, 2048, num_warps=8)


@made("triton_persistent_matmul")
def _():
    a, b = rand(2048, 1024, dtype=BRAIN), rand(1024, 3072, dtype=BRAIN)
    c = rand(2048, 3072, dtype=BRAIN)
    return lambda: tm.persistent_matmul[(132,)](a, b, c, 2048, 3072, 1024, 128, 128, 64,
                                                num_warps=8, num_stages=3)


@made("triton_grouped_matmul")
def _():
    sizes = torch.tensor([0, 100, 612, 1000, 1024, 2300, 2900, 3000, 4096], device="cuda", dtype=torch.int32)
    a, b, c = rand(4096, 1024, dtype=HALF), rand(8, 1024, 1024, dtype=HALF), rand(4096, 1024, dtype=HALF)
    return lambda: tm.grouped_matmul[(20, 8, 8)](a, b, c, sizes, 1024, 1024, 64, 128, 32,
                                                   num_warps=4, num_stages=4)


@made("triton_causal_attention")
def _():
    q, k, v = (rand(64, 2048, 64, dtype=HALF) for _ in range(3))
    out = torch.empty_like(q)
    return lambda: tm.causal_attention[(2048 // 64, 64)](q, k, v, out, 0.18, 2048, 64, 64, 64, num_warps=4,
                                                         num_stages=3)


@made("triton_quantise_rows")
def _():
    x = rand(8192, 3000, dtype=BRAIN)
    out, scales = torch.empty(8192, 3000, device="cuda", dtype=INT8), rand(8192)
    return lambda: tm.quantise_rows[(8192,)](x, out, scales, 3000, 4096, num_warps=8)


# Those with one launch first; of the others some may be cut off.
FRESH = [
    "triton_rms_norm_backward", "rms_norm_fp16", "argmax_rows_4096x1000", "max_pool_backward_fp32",
    "matmul_int8_2048", "triton_causal_attention", "lstm_cell_fp32", "cumprod_rows_fp32", "dropout_fp32_4m",
    "attention_cudnn_2048x128", "triton_rotary", "embedding_bag_fp32", "bmm_fp16_odd", "upsample_bilinear",
    "compiled_gelu_norm_bf16", "linear_gelu_bf16", "var_rows_fp32_2048x4096", "triton_persistent_matmul",
    "pad_reflect_fp32", "matmul_fp64_512x1024", "roll_fp32", "adam_fused_4m", "conv3d_fp32",
    "softmax_backward_4096x1024", "triton_online_softmax", "flip_fp32_2048", "matmul_fp16_thin_16x4096x4096",
    "compiled_silu_times_fp16", "triu_fp32_2048", "avg_pool_backward_fp32", "triton_grouped_matmul",
    "erfinv_fp64", "log_softmax_fp32_8192x128", "triton_quantise_rows", "cross_entropy_4096x1000",
    "batch_norm_backward_fp32", "conv2d_weight_backward_fp16", "conv2d_data_backward_fp16",
    "attention_flash_backward_512", "group_norm_fp32", "layer_norm_backward_2048x1024", "logsumexp_fp32",
    "sparse_csr_matmul_fp32", "index_put_accumulate", "cdist_512x64", "histc_fp32", "unique_64k",
]
