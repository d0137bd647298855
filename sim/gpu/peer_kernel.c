#include "sim/gpu/peer_kernel.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/gpu/batches.h"
#include "sim/machine/durations.h"

/* The kernel has other blocks than before: what it has of the link is worked out once all that happens now has happened. */
static void share_anew(struct gt_machine *m, struct gt_peer_kernel *kernel)
{
    kernel->gbps = 0;
    kernel->stamp = ++m->group_stamps;
    if (m->peer_links_due)
        return;
    m->peer_links_due = true;
    gt_engine_schedule(&m->engine, m->engine.now_ps, GT_PHASE_RATES, GT_HANDLE_LINKS, 0, GT_STAMP_PEER_KERNELS);
}

static void settle(const struct gt_machine *m, struct gt_peer_kernel *kernel)
{
    kernel->moved_bytes += (double)(m->engine.now_ps - kernel->updated_ps) * kernel->gbps / 1000;
    kernel->updated_ps = m->engine.now_ps;
}

static void schedule(struct gt_machine *m, struct gt_peer_kernel *kernel)
{
    double left_bytes = fmax(0, m->batches[kernel->first].ends_at_bytes - kernel->moved_bytes);

    kernel->stamp = ++m->group_stamps;
    gt_engine_schedule(&m->engine, m->engine.now_ps + gt_whole_ps(left_bytes * 1000 / kernel->gbps), GT_PHASE_END,
                       GT_HANDLE_PEER_KERNEL, kernel->grid, kernel->stamp);
}

void gt_peer_kernel_set_gbps(struct gt_machine *m, struct gt_peer_kernel *kernel, double gbps)
{
    double each = gbps / (double)kernel->blocks;

    if (each == kernel->gbps)
        return;
    settle(m, kernel);
    kernel->gbps = each;
    schedule(m, kernel);
}

/* Its bytes set off. */
static void block_begins(struct gt_machine *m, gt_batch_index batch)
{
    struct gt_batch *b = &m->batches[batch];
    struct gt_peer_kernel *kernel = m->grids[b->grid].peer;

    settle(m, kernel);
    b->ends_at_bytes = kernel->moved_bytes + kernel->block_bytes;
    b->next = GT_NONE;
    if (kernel->first == GT_NONE)
        kernel->first = batch;
    else
        m->batches[kernel->last].next = batch;
    kernel->last = batch;
    kernel->blocks += b->blocks;
    share_anew(m, kernel);
}

int gt_peer_kernel_handler(void *machine, gt_grid_index grid, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_peer_kernel *kernel = m->grids[grid].peer;
    double moved_bytes;

    (void)error;
    if (kernel == NULL || stamp != kernel->stamp)
        return 0;
    settle(m, kernel);
    moved_bytes = kernel->moved_bytes + kernel->gbps / 1000; /* in a picosecond: times are whole ones */
    while (kernel->first != GT_NONE && m->batches[kernel->first].ends_at_bytes <= moved_bytes) {
        gt_batch_index batch = kernel->first;
        const struct gt_batch *b = &m->batches[batch];
        gt_time_ps end_ps = m->engine.now_ps + kernel->answer_ps, own_ps = b->start_ps + m->grids[grid].block_ps;

        kernel->first = b->next;
        kernel->blocks -= b->blocks;
        gt_batch_due(m, batch, end_ps > own_ps ? end_ps : own_ps);
    }
    share_anew(m, kernel);
    return m->failed ? -1 : 0;
}

/* Of more blocks than these the whole kernel's time alone is taken: waves that share a link are simulated one by one. */
static const uint64_t most_blocks = UINT64_C(1) << 26;

/* Blocks whose ends are their own, and whose time is not stated together with what held them up. */
static bool suits(const struct gt_machine *m, const struct gt_grid *grid)
{
    const struct gt_op *op = &m->workload->ops[grid->op];
    bool fixed = !grid->inverted && m->workload->kernels[grid->kernel].cost == GT_COST_FIXED;

    return op->peer_gpu != GT_NONE && op->bytes > 0 && grid->block_begins == NULL && grid->launch == NULL &&
           !grid->launches && !grid->sync.held && grid->blocks <= most_blocks &&
           (fixed || gt_peer_kernel_bare(m, grid->op));
}

/* What a block does by itself. */
static void describe_block(const struct gt_machine *m, struct gt_grid *grid, struct gt_peer_kernel *kernel)
{
    const struct gt_op *op = &m->workload->ops[grid->op];
    gt_time_ps access_ps = gt_peer_access_ps(m, grid->op);
    gt_time_ps accesses;

    kernel->block_bytes = (double)op->bytes / (double)grid->blocks;
    kernel->threads = (uint32_t)gt_kernel_threads(&m->workload->kernels[grid->kernel]);
    if (grid->inverted) {
        accesses = (gt_time_ps)ceil(kernel->block_bytes / GT_PEER_ACCESS_BYTES / kernel->threads);
        grid->block_ps = accesses * access_ps;
        grid->remainder_ps = 0;
        kernel->answer_ps = access_ps;
    }
    kernel->block_gbps = grid->block_ps > kernel->answer_ps
                             ? kernel->block_bytes * 1000 / (double)(grid->block_ps - kernel->answer_ps)
                             : INFINITY;
}

void gt_peer_kernel_begin(struct gt_machine *m, gt_grid_index grid)
{
    struct gt_grid *g = &m->grids[grid];
    const struct gt_op *op = &m->workload->ops[g->op];
    struct gt_peer_kernel **end = &m->peer_kernels, *kernel;

    if (!suits(m, g))
        return;
    kernel = gt_calloc(1, sizeof *kernel);
    *kernel = (struct gt_peer_kernel){ .grid = grid, .first = GT_NONE, .last = GT_NONE };
    kernel->link = gt_link_of_kernel(m->workload, m->device, op, &kernel->from, &kernel->to);
    describe_block(m, g, kernel);
    g->peer = kernel;
    g->block_begins = block_begins;
    while (*end != NULL)
        end = &(*end)->next;
    *end = kernel;
}

void gt_peer_kernel_end(struct gt_machine *m, gt_grid_index grid)
{
    struct gt_peer_kernel **at = &m->peer_kernels, *kernel = m->grids[grid].peer;

    if (kernel == NULL)
        return;
    while (*at != kernel)
        at = &(*at)->next;
    *at = kernel->next;
    m->grids[grid].peer = NULL;
    free(kernel);
}

void gt_peer_kernels_free(struct gt_machine *m)
{
    struct gt_peer_kernel *next;

    for (struct gt_peer_kernel *kernel = m->peer_kernels; kernel != NULL; kernel = next) {
        next = kernel->next;
        free(kernel);
    }
    m->peer_kernels = NULL;
}
