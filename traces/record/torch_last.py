"""Operations of the last recording, which no rule of the model was made after: LAST names them."""
import torch
import torch.nn.functional as F

from torch_ops import BRAIN, HALF, OPERATIONS, index, made, on, rand

earlier = set(OPERATIONS)

on("addcmul_fp32", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), (4096, 1024), (4096, 1024),
   (4096, 1024))
on("bmm_bf16_odd", torch.bmm, ((24, 321, 200), BRAIN), ((24, 200, 177), BRAIN))
on("conv_transpose_fp32", F.conv_transpose2d, (8, 64, 28, 28), (64, 32, 4, 4))
on("cummax_fp32", lambda x: torch.cummax(x, 1), (512, 2048))
on("cross_fp32", torch.linalg.cross, (1 << 18, 3), (1 << 18, 3))
on("einsum_fp32", lambda x, y: torch.einsum("bik,bjk->bij", x, y), (16, 256, 96), (16, 256, 96))
on("glu_fp16", F.glu, ((2048, 4096), HALF))
on("grid_sample_fp32", F.grid_sample, (8, 32, 64, 64), (8, 96, 96, 2))
on("instance_norm_fp32", F.instance_norm, (16, 64, 48, 48))
on("kl_div_fp32", lambda x, y: F.kl_div(x, y, reduction="sum"), (2048, 1024), (2048, 1024))
on("kthvalue_fp32", lambda x: torch.kthvalue(x, 100, 1), (256, 2048))
on("lerp_fp16", lambda x, y: torch.lerp(x, y, 0.3), ((4096, 2048), HALF), ((4096, 2048), HALF))
on("linear_bias_fp16", F.linear, ((777, 1024), HALF), ((3072, 1024), HALF), ((3072,), HALF))
on("masked_fill_fp32", lambda x: x.masked_fill(x > 0.5, 0.0), (2048, 4096))
on("median_fp32", lambda x: torch.median(x, 1), (1024, 1000))
on("mv_fp16", torch.mv, ((8192, 2048), HALF), ((2048,), HALF))
on("norm_rows_fp32", lambda x: torch.linalg.vector_norm(x, dim=1), (8192, 700))
on("outer_fp32", torch.outer, (3000,), (5000,))
on("pixel_shuffle_fp32", lambda x: F.pixel_shuffle(x, 2).contiguous(), (16, 128, 56, 56))
on("prelu_fp32", F.prelu, (32, 64, 56, 56), (64,))
on("renorm_fp32", lambda x: torch.renorm(x, 2, 0, 1.0), (4096, 512))
on("replication_pad_fp32", lambda x: F.pad(x, (3, 3, 3, 3), mode="replicate"), (16, 32, 64, 64))
on("softplus_fp32", F.softplus, (1 << 22,))
on("std_columns_fp32", lambda x: torch.std(x, 0), (4096, 1024))
on("trapezoid_fp32", lambda x: torch.trapezoid(x, dim=1), (2048, 2000))
on("unfold_fp32", lambda x: F.unfold(x, 3), (8, 32, 56, 56))


@made("bincount")
def _():
    values = index(1000, 1 << 20)
    return lambda: torch.bincount(values, minlength=1000)


@made("searchsorted_fp32")
def _():
    table, values = torch.sort(rand(1 << 16)).values, rand(1 << 20)
    return lambda: torch.searchsorted(table, values)


@made("take_along_fp32")
def _():
    table, where = rand(4096, 1024), index(1024, 4096, 256)
    return lambda: torch.take_along_dim(table, where, 1)


@made("scatter_reduce_fp32")
def _():
    result, where, values = rand(1 << 16), index(1 << 16, 1 << 20), rand(1 << 20)
    return lambda: result.scatter_reduce(0, where, values, "amax")


LAST = [name for name in OPERATIONS if name not in earlier]
