"""More Triton kernels that are profiled: RMS norm backward, rotary embedding, soft-max by parts, persistent
and grouped matrix products, causal attention, quantisation."""
import triton
import triton.language as tl


@triton.jit
def rms_norm_backward(x, weight, gradient, out, partial, rows, columns, BLOCK: tl.constexpr):
    """A program takes several rows; the weight's gradient is summed into its own row of `partial`."""
    at = tl.arange(0, BLOCK)
    inside = at < columns
    scale = tl.load(weight + at, mask=inside, other=0.0)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        down = tl.load(gradient + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        inverse = tl.rsqrt(tl.sum(values * values, axis=0) / columns + 1e-6)
        normal, scaled = values * inverse, down * scale
        result = (scaled - normal * tl.sum(scaled * normal, axis=0) / columns) * inverse
        tl.store(out + row * columns + at, result.to(out.dtype.element_ty), mask=inside)
        total += down * normal
    tl.store(partial + tl.program_id(0) * columns + at, total, mask=inside)


@triton.jit
def rotary(x, cosine, sine, out, heads, HALF: tl.constexpr, HEADS: tl.constexpr):
    """Rotate the halves of each head of one position; x is [positions, heads, 2 HALF]."""
    position = tl.program_id(0)
    head, at = tl.arange(0, HEADS)[:, None], tl.arange(0, HALF)[None, :]
    inside = head < heads
    where = position * heads * 2 * HALF + head * 2 * HALF + at
    c, s = tl.load(cosine + position * HALF + at), tl.load(sine + position * HALF + at)
    low = tl.load(x + where, mask=inside).to(tl.float32)
    high = tl.load(x + where + HALF, mask=inside).to(tl.float32)
    tl.store(out + where, (low * c - high * s).to(out.dtype.element_ty), mask=inside)
    tl.store(out + where + HALF, (high * c + low * s).to(out.dtype.element_ty), mask=inside)


@triton.jit
def online_softmax(x, out, columns, BLOCK: tl.constexpr):
    """A long row in two passes over parts of it: maximum and sum together, then the quotients."""
    row = tl.program_id(0) * columns
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < columns, other=-1e30).to(tl.float32)
        higher = tl.maximum(most, values)
        total = total * tl.exp(most - higher) + tl.exp(values - higher)
        most = higher
    top = tl.max(most, axis=0)
    whole = tl.sum(total * tl.exp(most - top), axis=0)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row + at, mask=at < columns, other=-1e30).to(tl.float32)
        tl.store(out + row + at, (tl.exp(values - top) / whole).to(out.dtype.element_ty), mask=at < columns)


@triton.jit
def persistent_matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A B by as many programs as SMs, tiles in turn; sizes are multiples of the blocks."""
    across = n // BN
    depth = tl.arange(0, BK)
    for tile in range(tl.program_id(0), m // BM * across, tl.num_programs(0)):
        rows = tile // across * BM + tl.arange(0, BM)
        columns = tile % across * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, k, BK):
            left = tl.load(a + rows[:, None] * k + (start + depth)[None, :])
            right = tl.load(b + (start + depth)[:, None] * n + columns[None, :])
            total = tl.dot(left, right, total)
        tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty))


@triton.jit
def grouped_matmul(a, b, c, sizes, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows of A in groups of unlike sizes, each times a B of its own: program (x, y, group)."""
    group = tl.program_id(2)
    first, last = tl.load(sizes + group), tl.load(sizes + group + 1)
    start_row = first + tl.program_id(0) * BM
    if start_row < last:
        rows = start_row + tl.arange(0, BM)
        columns = tl.program_id(1) * BN + tl.arange(0, BN)
        depth = tl.arange(0, BK)
        inside = rows[:, None] < last
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, k, BK):
            left = tl.load(a + rows[:, None] * k + (start + depth)[None, :], mask=inside, other=0.0)
            right = tl.load(b + group * k * n + (start + depth)[:, None] * n + columns[None, :])
            total = tl.dot(left, right, total)
        tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def causal_attention(q, k, v, out, scale, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Attention to keys up to the query's place: later blocks have more to do."""
    head = tl.program_id(1) * length * D
    block = tl.program_id(0)
    rows, keys, dims = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    query = tl.load(q + head + rows[:, None] * D + dims[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for start in range(0, (block + 1) * BM, BN):
        key = tl.load(k + head + (start + keys)[None, :] * D + dims[:, None])
        scores = tl.dot(query, key) * scale
        scores = tl.where(rows[:, None] >= (start + keys)[None, :], scores, -1e30)
        higher = tl.maximum(most, tl.max(scores, 1))
        powers = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(most - higher)
        total = total * shrink + tl.sum(powers, 1)
        value = tl.load(v + head + (start + keys)[:, None] * D + dims[None, :])
        result = tl.dot(powers.to(value.dtype), value, result * shrink[:, None])
        most = higher
    result = (result / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + head + rows[:, None] * D + dims[None, :], result)


@triton.jit
def quantise_rows(x, out, scales, columns, BLOCK: tl.constexpr):
    """A row as signed bytes and a scale."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(values), axis=0) / 127.0
    tl.store(scales + row, scale)
    tl.store(out + row * columns + at, tl.extra.cuda.libdevice.rint(values / scale).to(tl.int8), mask=inside)
