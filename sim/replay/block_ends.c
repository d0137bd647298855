#include "config.h"

#include "sim/replay/block_ends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"

/* A wait that is shorter is what gaps and profilers vary by. */
static const gt_time_ps least_wait_ps = 2 * UINT64_C(1000000);
/* How much of the difference the first pass takes back, how small a step is not worth another pass, and how much of
 * a kernel all its blocks can end in. */
static const double first_step_part = 0.7, least_step = 0.0005, most_part = 0.95;

/* Have both times, and are they of different streams?  What waits for room may be a copy too, or a memset. */
static bool comparable(const struct gt_workload *w, const struct gt_op *held, const struct gt_op *holder)
{
    return holder->kind == GT_OP_KERNEL && w->kernels[holder->kernel].collective.kind == GT_COLLECTIVE_NONE &&
           held->stream != holder->stream && gt_op_measured_end(held) != GT_TIME_NONE &&
           gt_op_measured_end(holder) != GT_TIME_NONE && holder->duration_ps > 0;
}

void gt_block_ends_note(struct gt_block_ends *ends, const struct gt_workload *w, const struct gt_op_record *record)
{
    const struct gt_op *op = &w->ops[record->op], *holder;

    if (record->wait_ps[GT_WAIT_RESOURCE] < least_wait_ps || record->cause != GT_CAUSE_OP)
        return;
    holder = &w->ops[record->cause_index];
    if (!comparable(w, op, holder) || op->start_ps <= holder->start_ps)
        return;
    if (ends->holder == NULL) {
        ends->holder = gt_calloc(w->op_count, sizeof *ends->holder);
        ends->early_part = gt_calloc(w->kernel_count + 1ull, sizeof *ends->early_part);
        ends->step_part = gt_calloc(w->kernel_count + 1ull, sizeof *ends->step_part);
        memset(ends->holder, 0xff, w->op_count * sizeof *ends->holder);
    }
    if (ends->holder[record->op] == GT_NONE)
        ends->holder[record->op] = record->cause_index;
}

/* How much earlier the operation began in the recording than in the replay, both against its holder's end. */
static double late_ps(const struct gt_workload *w, const struct gt_played *played, gt_op_index op, gt_op_index holder)
{
    double recorded_ps = (double)gt_op_measured_end(&w->ops[holder]) - (double)w->ops[op].start_ps;
    double played_ps =
        (double)played->start_ps[holder] + (double)played->duration_ps[holder] - (double)played->start_ps[op];

    return fmax(recorded_ps, 0) - fmax(played_ps, 0);
}

gt_time_ps gt_block_ends_wrong_ps(const struct gt_block_ends *ends, const struct gt_workload *w,
                                  const struct gt_played *played)
{
    double wrong_ps = 0;

    for (uint32_t i = 0; ends->holder != NULL && i < w->op_count; i++)
        if (ends->holder[i] != GT_NONE)
            wrong_ps += fabs(late_ps(w, played, i, ends->holder[i]));
    return (gt_time_ps)wrong_ps;
}

/* By how much of itself a kernel's first blocks should end earlier, for one that waited for them. */
struct sample {
    gt_kernel_index kernel;
    double part;
};

static int by_kernel(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;

    GT_ORDER(a->kernel, b->kernel);
    GT_ORDER(a->part, b->part);
    return 0;
}

static uint32_t take_samples(const struct gt_block_ends *ends, const struct gt_workload *w,
                             const struct gt_played *played, struct sample *samples)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->op_count; i++) {
        const struct gt_op *holder = ends->holder[i] == GT_NONE ? NULL : &w->ops[ends->holder[i]];

        if (holder != NULL)
            samples[count++] = (struct sample){ holder->kernel, late_ps(w, played, i, ends->holder[i]) /
                                                                    (double)holder->duration_ps };
    }
    qsort(samples, count, sizeof *samples, by_kernel);
    return count;
}

/* The next part of a kernel that seems to be off by so much.  What one kernel is given the ones behind it inherit, so
 * that a step can go too far: after one that did the next is half as long. */
static double step(struct gt_block_ends *ends, gt_kernel_index kernel, double off)
{
    double *step_part = &ends->step_part[kernel];

    if (*step_part == 0)
        *step_part = off < 0 ? -first_step_part : first_step_part;
    else if ((*step_part < 0) != (off < 0))
        *step_part *= -0.5;
    else
        *step_part = fmin(fmax(*step_part * 1.5, -first_step_part), first_step_part);
    return fmin(fmax(ends->early_part[kernel] + fabs(*step_part) * off, 0), most_part);
}

bool gt_block_ends_correct(struct gt_block_ends *ends, const struct gt_workload *w, const struct gt_played *played)
{
    struct sample *samples;
    uint32_t count;
    bool moved = false;

    if (ends->holder == NULL)
        return false;
    samples = gt_calloc(w->op_count, sizeof *samples);
    count = take_samples(ends, w, played, samples);
    for (uint32_t first = 0, next; first < count; first = next) {
        double *part = &ends->early_part[samples[first].kernel], before = *part;

        for (next = first; next < count && samples[next].kernel == samples[first].kernel;)
            next++;
        *part = step(ends, samples[first].kernel, samples[first + (next - first) / 2].part);
        moved = moved || fabs(*part - before) > least_step;
    }
    free(samples);
    return moved;
}

void gt_block_ends_free(struct gt_block_ends *ends)
{
    free(ends->early_part);
    free(ends->step_part);
    free(ends->holder);
    memset(ends, 0, sizeof *ends);
}
