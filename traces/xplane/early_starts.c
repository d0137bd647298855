/* early_starts.c - kernels that started before the kernel ahead of them in their stream had ended.
 *
 * XLA launches kernels programmatically (programmaticStreamSerialization, in its graphs too): the blocks come early and wait for that
 * end.  A profile does not say so, but nothing else lets kernels of a stream overlap.  In 12 recordings of JAX 0.11.2 on an H200
 * 1086 of 2800 kernels did, by up to 0.46 of the kernel ahead, never of two, and none ended before it.
 */
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/xplane/internal.h"

struct start {
    uint32_t stream, op;
    int64_t start_ns;
};

static int by_stream(const void *left, const void *right)
{
    const struct start *a = left, *b = right;

    GT_ORDER(a->stream, b->stream);
    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(a->op, b->op);
    return 0;
}

/* Branches of a graph overlap by any part; what waits for the end of the kernel ahead does so by its last part. */
static bool waits(const struct gt_import_op *ahead, int64_t ahead_start_ns, const struct gt_import_op *op)
{
    return ahead->kind == GT_OP_KERNEL && op->kind == GT_OP_KERNEL && op->start_ns < ahead->end_ns &&
           op->end_ns > ahead->end_ns && ahead->end_ns - op->start_ns <= (ahead->end_ns - ahead_start_ns) / 2;
}

void xplane_cut_early_starts(struct xplane *xplane)
{
    struct gt_import *import = &xplane->import;
    struct start *starts = gt_calloc(import->op_count + 1ull, sizeof *starts);

    for (uint32_t i = 0; i < import->op_count; i++)
        starts[i] = (struct start){ import->ops[i].stream, i, import->ops[i].start_ns };
    qsort(starts, import->op_count, sizeof *starts, by_stream);
    for (uint32_t i = 1; i < import->op_count; i++) {
        const struct gt_import_op *ahead = &import->ops[starts[i - 1].op];
        struct gt_import_op *op = &import->ops[starts[i].op];

        if (starts[i].stream != starts[i - 1].stream || !waits(ahead, starts[i - 1].start_ns, op))
            continue;
        op->start_ns = ahead->end_ns;
        gt_import_warn(import->workload, "early-starts", 1);
    }
    free(starts);
}
