#include "config.h"

#include "sim/replay/isolated_durations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/replay/equivalent.h"
#include "sim/replay/replay.h"

/* Passes at most; on large traces fewer, since each costs as much as a run.  Kernels whose blocks end apart take longer to
 * settle: what they are given those behind them inherit.  Large traces do without, which costs them something: 10,000 products made up for
 * the purpose were off by 5.7 % of their time after 12 passes, by 4.7 after 24. */
enum { MOST_PASSES = 12, MOST_PLAYED = 4000000, MOST_PASSES_APART = 24, MOST_PLAYED_APART = 120000 };
/* A replayed duration within this part of the recorded one counts as the same. */
static const double same_part = 0.005;
/* How much of the difference each pass takes back, and how short a duration can get. */
static const double step_part = 0.7, shortest_part = 0.02;
/* No kernel is shorter alone, unless it was recorded so: an empty one takes 1.2 to 1.5 us on an H200 as CUPTI
 * sees it. */
static const gt_time_ps least_kernel_ps = 1200000;
/* More than any first pass leaves: a pass that is so wrong is not kept. */
static const double most_wrong = 2.0;

/* Operations that share something: kernels of one GPU, copies of both directions of one GPU. */
static int class_of(const struct gt_op *op)
{
    if (op->kind == GT_OP_KERNEL)
        return 0;
    return op->kind == GT_OP_COPY && (op->direction == GT_H2D || op->direction == GT_D2H) ? 1 : -1;
}

static int by_start(const void *a, const void *b, void *user)
{
    const struct gt_op *ops = user;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    gt_time_ps left_ps = ops[left].start_ps, right_ps = ops[right].start_ps;

    if (left_ps != right_ps)
        return left_ps < right_ps ? -1 : 1;
    return (left > right) - (left < right);
}

struct latest {
    gt_time_ps end_ps;
    gt_stream_index stream;
};

/* Did an operation of another stream and the same class run at the same time in the recording? */
static bool any_overlap(const struct gt_workload *w)
{
    uint32_t *order = gt_calloc(w->op_count, sizeof *order), count = 0;
    struct latest *latest = gt_calloc(w->gpu_count * 2ull + 1, sizeof *latest);
    bool overlap = false;

    for (uint32_t i = 0; i < w->op_count; i++) {
        if (gt_op_measured_end(&w->ops[i]) != GT_TIME_NONE && class_of(&w->ops[i]) >= 0)
            order[count++] = i;
    }
    qsort_r(order, count, sizeof *order, by_start, w->ops);
    for (uint32_t i = 0; i < count && !overlap; i++) {
        const struct gt_op *op = &w->ops[order[i]];
        struct latest *last = &latest[w->streams[op->stream].gpu * 2 + (uint32_t)class_of(op)];

        overlap = op->start_ps < last->end_ps && op->stream != last->stream;
        if (gt_op_measured_end(op) > last->end_ps)
            *last = (struct latest){ gt_op_measured_end(op), op->stream };
    }
    free(order);
    free(latest);
    return overlap;
}

/* What the passes work on: what is known by now, what came of playing it, and what gave the least error. */
struct learning {
    const struct gt_workload *workload;
    const struct gt_equivalent_kernels *equivalent; /* NULL: each launch by itself */
    struct gt_isolated now;
    struct gt_played played;
    gt_time_ps *best_ps;
    double *best_part; /* by kernel; NULL: none */
    double least_wrong;
};

static int note_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct learning *learning = user;

    (void)error;
    learning->played.start_ps[record->op] = record->start_ps;
    learning->played.duration_ps[record->op] = record->end_ps - record->start_ps;
    gt_block_ends_note(&learning->now.ends, learning->workload, record);
    return 0;
}

/* What a part of a collective waits for is simulated: its duration is no part of the search. */
static bool shares(const struct gt_workload *w, const struct gt_op *op)
{
    if (op->kernel != GT_NONE && w->kernels[op->kernel].collective.kind != GT_COLLECTIVE_NONE)
        return false;
    return class_of(op) >= 0 && gt_op_measured_end(op) != GT_TIME_NONE && op->duration_ps > 0;
}

/* The shortest that the operation can be alone. */
static gt_time_ps least_ps(const struct gt_op *op)
{
    gt_time_ps part_ps = (gt_time_ps)(shortest_part * (double)op->duration_ps);
    gt_time_ps least_ps = op->duration_ps < least_kernel_ps ? op->duration_ps : least_kernel_ps;

    return op->kind == GT_OP_KERNEL && part_ps < least_ps ? least_ps : part_ps;
}

/* Kernels that come out longer than recorded even so: something else held them up. */
static uint64_t count_too_short(const struct gt_workload *w, const gt_time_ps *played_ps,
                                const gt_time_ps *isolated_ps)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < w->op_count; i++) {
        const struct gt_op *op = &w->ops[i];
        gt_time_ps own_ps = isolated_ps[i] == GT_TIME_NONE ? op->duration_ps : isolated_ps[i];

        count += op->kind == GT_OP_KERNEL && shares(w, op) && own_ps <= least_ps(op) &&
                 (double)played_ps[i] > (double)op->duration_ps * (1 + same_part);
    }
    return count;
}

/* How far the replayed durations and starts are from the recorded ones, as a part of all recorded time. */
static double error_part(const struct learning *learning)
{
    const struct gt_workload *w = learning->workload;
    double wrong = (double)gt_block_ends_wrong_ps(&learning->now.ends, w, &learning->played), total = 0;

    for (uint32_t i = 0; i < w->op_count; i++) {
        double difference = (double)learning->played.duration_ps[i] - (double)w->ops[i].duration_ps;

        if (!shares(w, &w->ops[i]))
            continue;
        total += (double)w->ops[i].duration_ps;
        wrong += difference < 0 ? -difference : difference;
    }
    return total > 0 ? wrong / total : 0;
}

/* Move every duration towards what gives the recorded one back. False where none moved: the next replay
 * would be this one again. */
static bool correct(const struct learning *learning)
{
    const struct gt_workload *w = learning->workload;
    const gt_time_ps *played_ps = learning->played.duration_ps;
    gt_time_ps *isolated_ps = learning->now.duration_ps;
    bool moved = false;

    for (uint32_t i = 0; i < w->op_count; i++) {
        double recorded = (double)w->ops[i].duration_ps, difference = (double)played_ps[i] - recorded, next;
        double least = (double)least_ps(&w->ops[i]);
        gt_time_ps before_ps = isolated_ps[i] == GT_TIME_NONE ? w->ops[i].duration_ps : isolated_ps[i];

        if (learning->equivalent != NULL && w->ops[i].kind == GT_OP_KERNEL)
            continue;
        if (!shares(w, &w->ops[i]) || (difference < recorded * same_part && difference > -recorded * same_part))
            continue;
        next = (double)before_ps - step_part * difference;
        next = next > recorded ? recorded : next < least ? least : next;
        isolated_ps[i] = (gt_time_ps)next;
        moved = moved || isolated_ps[i] != before_ps;
    }
    return moved;
}

/* By how much, as a part of itself, one duration for all these launches is too long: of most of them. */
static double too_long(const struct learning *learning, const struct gt_work *work, double *values)
{
    const gt_op_index *launches = learning->equivalent->launches + work->first;

    for (uint32_t i = 0; i < work->count; i++) {
        double recorded_ps = (double)learning->workload->ops[launches[i]].duration_ps;

        values[i] = (double)learning->played.duration_ps[launches[i]] / recorded_ps - 1;
    }
    return gt_median(values, work->count);
}

/* Correct durations of equivalent launches of which none ran alone. */
static bool correct_alike(struct learning *learning)
{
    const struct gt_equivalent_kernels *equivalent = learning->equivalent;
    gt_time_ps *isolated_ps = learning->now.duration_ps;
    double *values = gt_calloc(learning->workload->op_count + 1ull, sizeof *values);
    bool moved = false;

    for (uint32_t i = 0; i < equivalent->work_count; i++) {
        const struct gt_work *work = &equivalent->works[i];
        const gt_op_index *launches = equivalent->launches + work->first;
        double off = too_long(learning, work, values), before_ps = (double)isolated_ps[launches[0]], next_ps;
        double least = (double)least_ps(&learning->workload->ops[launches[0]]);

        if (work->told || (off < same_part && off > -same_part))
            continue;
        next_ps = before_ps * (1 - step_part * (off < 1 ? off : 1));
        next_ps = fmin(fmax(next_ps, least), (double)work->most_ps);
        moved = moved || fabs(next_ps - before_ps) > before_ps * same_part;
        for (uint32_t j = 0; j < work->count; j++)
            isolated_ps[launches[j]] = (gt_time_ps)next_ps;
    }
    free(values);
    return moved;
}

static void begin_alike(struct learning *learning)
{
    const struct gt_equivalent_kernels *equivalent = learning->equivalent;

    for (uint32_t i = 0; equivalent != NULL && i < equivalent->work_count; i++)
        for (uint32_t j = 0; j < equivalent->works[i].count; j++)
            learning->now.duration_ps[equivalent->launches[equivalent->works[i].first + j]] =
                equivalent->works[i].most_ps;
}

static void keep(struct learning *learning, double wrong)
{
    const struct gt_workload *w = learning->workload;
    struct gt_isolated *now = &learning->now;

    learning->least_wrong = wrong;
    now->too_short = count_too_short(w, learning->played.duration_ps, now->duration_ps);
    memcpy(learning->best_ps, now->duration_ps, w->op_count * sizeof *now->duration_ps);
    if (now->ends.early_part != NULL) {
        learning->best_part = gt_realloc(learning->best_part, w->kernel_count + 1ull, sizeof *learning->best_part);
        memcpy(learning->best_part, now->ends.early_part, w->kernel_count * sizeof *learning->best_part);
    }
}

/* Is another pass worth its time, after so many? */
static bool may_play(const struct learning *learning, uint64_t passes)
{
    uint64_t played = 2 * passes * learning->workload->op_count; /* each is played twice */

    if (passes < MOST_PASSES)
        return passes < 2 || played < MOST_PLAYED;
    return learning->now.ends.holder != NULL && passes < MOST_PASSES_APART && played < MOST_PLAYED_APART;
}

static gt_time_ps first_start_ps(const struct gt_workload *w, const gt_time_ps *starts_ps)
{
    gt_time_ps first_ps = GT_TIME_NONE;

    for (uint32_t i = 0; i < w->op_count; i++) {
        gt_time_ps start_ps = starts_ps != NULL ? starts_ps[i] : w->ops[i].start_ps;

        if (gt_op_measured_end(&w->ops[i]) != GT_TIME_NONE && start_ps < first_ps)
            first_ps = start_ps;
    }
    return first_ps;
}

/* How far operations end from where they were recorded to, on average, and the last of all, as parts of the whole run. */
static double distance_part(const struct learning *learning)
{
    const struct gt_workload *w = learning->workload;
    const struct gt_played *played = &learning->played;
    double recorded_ps = (double)first_start_ps(w, NULL), played_ps = (double)first_start_ps(w, played->start_ps);
    double length_ps = 0, played_length_ps = 0, sum_ps = 0;
    uint64_t count = 0;

    for (uint32_t i = 0; i < w->op_count; i++) {
        double end_ps = (double)gt_op_measured_end(&w->ops[i]) - recorded_ps;
        double played_end_ps = (double)(played->start_ps[i] + played->duration_ps[i]) - played_ps;

        if (gt_op_measured_end(&w->ops[i]) == GT_TIME_NONE)
            continue;
        length_ps = fmax(length_ps, end_ps);
        played_length_ps = fmax(played_length_ps, played_end_ps);
        sum_ps += fabs(played_end_ps - end_ps);
        count++;
    }
    return length_ps > 0 ? (sum_ps / (double)count + fabs(played_length_ps - length_ps)) / length_ps : 0;
}

static void learn(struct learning *learning, gt_player *play, void *user)
{
    const struct gt_workload *w = learning->workload;
    struct gt_probe probe = { .user = learning, .op = note_op };
    struct gt_error error;

    for (uint64_t pass = 0; may_play(learning, pass); pass++) {
        bool moved;
        double wrong;

        if (play(user, &learning->now, false, &probe, &error) != 0)
            return;
        wrong = distance_part(learning);
        if (wrong < learning->least_wrong)
            keep(learning, wrong);
        if (error_part(learning) < same_part / 10)
            return;
        if (play(user, &learning->now, true, &probe, &error) != 0)
            return;
        if (error_part(learning) < same_part / 10)
            return;
        moved = gt_block_ends_correct(&learning->now.ends, w, &learning->played);
        moved = correct(learning) || moved;
        moved = (learning->equivalent != NULL && correct_alike(learning)) || moved;
        if (!moved)
            return;
    }
}

static void isolate(struct gt_isolated *isolated, const struct gt_workload *w,
                    const struct gt_equivalent_kernels *equivalent, gt_player *play, void *user)
{
    struct learning learning = { .workload = w, .equivalent = equivalent, .least_wrong = most_wrong };
    size_t bytes = w->op_count * sizeof(gt_time_ps);

    memset(isolated, 0, sizeof *isolated);
    if (w->op_count == 0 || !any_overlap(w))
        return;
    learning.played.start_ps = gt_calloc(w->op_count, sizeof *learning.played.start_ps);
    learning.played.duration_ps = gt_calloc(w->op_count, sizeof *learning.played.duration_ps);
    learning.now.duration_ps = gt_realloc(NULL, w->op_count, sizeof *learning.now.duration_ps);
    learning.best_ps = gt_realloc(NULL, w->op_count, sizeof *learning.best_ps);
    memset(learning.now.duration_ps, 0xff, bytes);
    memset(learning.best_ps, 0xff, bytes);
    begin_alike(&learning);
    learn(&learning, play, user);
    isolated->duration_ps = learning.best_ps;
    isolated->ends.early_part = learning.best_part;
    isolated->too_short = learning.now.too_short;
    gt_isolated_free(&learning.now);
    free(learning.played.start_ps);
    free(learning.played.duration_ps);
}

void gt_isolated_learn(struct gt_isolated *isolated, const struct gt_workload *w, gt_player *play, void *user)
{
    isolate(isolated, w, NULL, play, user);
}

void gt_isolated_learn_equivalent(struct gt_isolated *isolated, const struct gt_workload *w, gt_player *play,
                                  void *user)
{
    struct gt_equivalent_kernels equivalent;

    gt_equivalent_kernels_find(&equivalent, w);
    isolate(isolated, w, &equivalent, play, user);
    gt_equivalent_kernels_free(&equivalent);
}

void gt_isolated_free(struct gt_isolated *isolated)
{
    free(isolated->duration_ps);
    gt_block_ends_free(&isolated->ends);
    memset(isolated, 0, sizeof *isolated);
}
