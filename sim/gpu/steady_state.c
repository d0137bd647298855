/* Fewer waves than this are not looked at; a period of more records than that is not found. */
#include "sim/gpu/steady_state.h"

#include <stdlib.h>
#include <string.h>

#include "sim/gpu/arbitration.h"
#include "sim/gpu/placement.h"
#include "sim/machine/machine.h"

/* A GPU as far as it decides what the blocks of one grid do next: does it come round? */

/* A batch's end that is due. */
struct gt_due {
    gt_time_ps in_ps;
    uint64_t order, stamp;
    gt_sm_index sm;
    uint32_t blocks;
    uint8_t odd_warps[GT_DEVICE_MAX_PARTITIONS];
};

struct gt_due_list {
    struct gt_due *ends;
    uint32_t count, room;
};

/* Beside SMs and ends, what decides where a grid's next block goes, or whose it is: what policies remember, and the GPC
 * of the cluster before. */
enum gt_position { GT_POSITION_PLACEMENT, GT_POSITION_ARBITRATION, GT_POSITION_CLUSTER, GT_POSITIONS };

/* The machine as far as it decides what a grid's blocks do next, at one moment. */
struct gt_snapshot {
    struct gt_due_list due;
    struct gt_sm_state *sms; /* times since then, 0 where they were past */
    uint64_t positions[GT_POSITIONS];
};

/* Is the event one of this grid's blocks'? */
static bool snapshot_is_own(const struct gt_machine *m, const struct gt_heap_event *event, gt_grid_index grid)
{
    return event->handler == GT_HANDLE_BLOCKS && m->batches[event->subject].grid == grid;
}

static int by_time(const void *left, const void *right)
{
    const struct gt_due *a = left, *b = right;

    if (a->in_ps != b->in_ps)
        return a->in_ps < b->in_ps ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static gt_time_ps since_now(const struct gt_machine *m, gt_time_ps time_ps)
{
    return time_ps > m->engine.now_ps ? time_ps - m->engine.now_ps : 0;
}

/* The ends that share one place in the heap, in their order. */
static void take_ends(const struct gt_machine *m, const struct gt_heap_event *event, struct gt_due_list *due)
{
    uint64_t order = event->order;

    for (gt_batch_index batch = event->subject; batch != GT_NONE; batch = m->batches[batch].next_due) {
        if (due->count == due->room) {
            due->room = due->room == 0 ? 256 : 2 * due->room;
            due->ends = gt_realloc(due->ends, due->room, sizeof *due->ends);
        }
        due->ends[due->count] = (struct gt_due){ .in_ps = event->time_ps - m->engine.now_ps,
                                                 .order = order,
                                                 .stamp = event->stamp,
                                                 .sm = m->batches[batch].sm,
                                                 .blocks = m->batches[batch].blocks };
        memcpy(due->ends[due->count++].odd_warps, m->batches[batch].odd_warps, sizeof m->batches[batch].odd_warps);
        order++;
    }
}

static void take_due(const struct gt_machine *m, gt_grid_index grid, struct gt_due_list *due)
{
    const struct gt_heap *heap = &m->engine.heap;

    due->count = 0;
    for (size_t i = 0; i < heap->count; i++) {
        if (snapshot_is_own(m, &heap->events[i], grid))
            take_ends(m, &heap->events[i], due);
    }
    if (due->count > 0)
        qsort(due->ends, due->count, sizeof *due->ends, by_time);
}

static uint64_t position_of(const struct gt_machine *m, const struct gt_gpu_state *gpu, enum gt_position which)
{
    if (which == GT_POSITION_PLACEMENT)
        return m->placement->position != NULL ? m->placement->position(gpu->placement_state) : 0;
    if (which == GT_POSITION_ARBITRATION)
        return m->arbitration->position != NULL ? m->arbitration->position(gpu->arbitration_state) : 0;
    return gpu->cluster_gpc;
}

/* The GPU as it is now; into a snapshot of zeros, or one taken before. snapshot_free() ends it. */
static void snapshot_take(const struct gt_machine *m, gt_gpu_index index, gt_grid_index grid,
                          struct gt_snapshot *snapshot)
{
    const struct gt_gpu_state *gpu = &m->gpus[index];

    if (snapshot->sms == NULL)
        snapshot->sms = gt_calloc(m->device->sms, sizeof *snapshot->sms);
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++) {
        snapshot->sms[sm] = gpu->sms[sm];
        snapshot->sms[sm].ready_ps = since_now(m, gpu->sms[sm].ready_ps);
        snapshot->sms[sm].retire_ps = since_now(m, gpu->sms[sm].retire_ps);
    }
    for (int i = 0; i < GT_POSITIONS; i++)
        snapshot->positions[i] = position_of(m, gpu, (enum gt_position)i);
    take_due(m, grid, &snapshot->due);
}

static bool same_sm(const struct gt_machine *m, const struct gt_sm_state *then, const struct gt_sm_state *now)
{
    return then->threads == now->threads && then->warps == now->warps &&
           memcmp(then->registers, now->registers, sizeof then->registers) == 0 &&
           then->shared_bytes == now->shared_bytes && then->blocks == now->blocks &&
           then->resident == now->resident && then->carveout_bytes == now->carveout_bytes &&
           then->ready_ps == since_now(m, now->ready_ps) && then->retire_ps == since_now(m, now->retire_ps);
}

static bool same_due(const struct gt_due_list *a, const struct gt_due_list *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct gt_due *one = &a->ends[i], *other = &b->ends[i];

        if (one->in_ps != other->in_ps || one->stamp != other->stamp || one->sm != other->sm ||
            one->blocks != other->blocks || memcmp(one->odd_warps, other->odd_warps, sizeof one->odd_warps) != 0)
            return false;
    }
    return true;
}

/* What is cheap to see is looked at first: what is due must be sorted. */
static bool snapshot_holds(const struct gt_machine *m, gt_gpu_index index, gt_grid_index grid,
                           const struct gt_snapshot *then, struct gt_due_list *now)
{
    const struct gt_gpu_state *gpu = &m->gpus[index];

    if (m->engine.heap.events[0].time_ps - m->engine.now_ps != then->due.ends[0].in_ps)
        return false;
    for (int i = 0; i < GT_POSITIONS; i++)
        if (then->positions[i] != position_of(m, gpu, (enum gt_position)i))
            return false;
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++)
        if (!same_sm(m, &then->sms[sm], &gpu->sms[sm]))
            return false;
    take_due(m, grid, now);
    return same_due(&then->due, now);
}

static void snapshot_free(struct gt_snapshot *snapshot)
{
    free(snapshot->due.ends);
    free(snapshot->sms);
}

enum { FEWEST_WAVES = 16, FEWEST_PERIODS = 2, RECORDS_MAX = 1 << 16, BACKOFF_MAX = 1 << 20 };

/* The search for a period of one grid. */
struct gt_steady_state {
    gt_gpu_index gpu;
    gt_grid_index grid;
    gt_op_index op;
    gt_sm_index sm; /* whose event the snapshot was taken after */
    struct gt_snapshot then;
    struct gt_due_list now; /* what is due now, where all else is as it was then */
    gt_time_ps then_ps;
    uint64_t dispatched, handled;    /* as the snapshot was taken */
    uint64_t own_handled;            /* events of the grid since then */
    uint64_t fired[GT_RULES];        /* as the snapshot was taken */
    uint64_t looks, looks_most;      /* Brent 1980: the snapshot is renewed at powers of two */
    uint64_t try_from;               /* blocks dispatched before the next snapshot */
    uint64_t backoff;                /* waves */
    bool searching;                  /* a snapshot is there */
    struct gt_block_record *records; /* since then */
    uint32_t record_count, record_room;
};

static void begin_search(struct gt_machine *m, struct gt_steady_state *search, gt_sm_index sm)
{
    const struct gt_grid *grid = &m->grids[search->grid];

    snapshot_take(m, search->gpu, search->grid, &search->then);
    if (search->then.due.count == 0)
        return;
    search->sm = sm;
    search->then_ps = m->engine.now_ps;
    search->dispatched = grid->dispatched;
    search->handled = m->engine.handled;
    search->own_handled = 0;
    memcpy(search->fired, m->fired, sizeof search->fired);
    search->looks = 0;
    search->record_count = 0;
    search->searching = true;
}

/* Try again after some waves, more each time. */
static void end_search(struct gt_machine *m, struct gt_steady_state *search)
{
    const struct gt_grid *grid = &m->grids[search->grid];

    search->searching = false;
    search->looks_most = 1;
    search->backoff = search->backoff < BACKOFF_MAX ? 2 * search->backoff : BACKOFF_MAX;
    search->try_from = grid->dispatched + search->backoff * (grid->dispatched - grid->ended);
}

/* When the first event is due that is not of the grid; GT_TIME_NONE: none is. */
static gt_time_ps others_due(const struct gt_machine *m, gt_grid_index grid)
{
    gt_time_ps first_ps = GT_TIME_NONE;

    for (size_t i = 0; i < m->engine.heap.count; i++)
        if (!snapshot_is_own(m, &m->engine.heap.events[i], grid) && m->engine.heap.events[i].time_ps < first_ps)
            first_ps = m->engine.heap.events[i].time_ps;
    return first_ps;
}

/* How many periods can be passed over: the grid must have blocks left behind them, nothing else may be due
 * before they are over, and all that is due then must have been started in them (so that it comes behind, of
 * events at one time, what was due before). */
static uint64_t periods_to_skip(const struct gt_machine *m, const struct gt_steady_state *search,
                                gt_time_ps period_ps)
{
    const struct gt_grid *grid = &m->grids[search->grid];
    gt_time_ps now_ps = m->engine.now_ps, until_ps = others_due(m, search->grid), last_ps;
    uint64_t most;

    if (grid->dispatched == search->dispatched || search->now.count == 0)
        return 0;
    last_ps = search->now.ends[search->now.count - 1].in_ps;
    if (until_ps > GT_TIME_LIMIT_PS - last_ps)
        until_ps = GT_TIME_LIMIT_PS - last_ps;
    if (until_ps <= now_ps)
        return 0;
    most = (grid->blocks - 1 - grid->dispatched) / (grid->dispatched - search->dispatched);
    if (period_ps > 0 && most > (until_ps - 1 - now_ps) / period_ps)
        most = (until_ps - 1 - now_ps) / period_ps;
    return most >= FEWEST_PERIODS && most * period_ps >= last_ps ? most : 0;
}

static bool tell(struct gt_machine *m, const struct gt_steady_state *search, uint64_t periods, gt_time_ps period_ps)
{
    const struct gt_repeat_record record = {
        .blocks = search->records,
        .block_records = search->record_count,
        .times = periods,
        .period_ps = period_ps,
        .period_blocks = m->grids[search->grid].dispatched - search->dispatched,
    };

    if (m->probe->blocks == NULL || m->probe->repeat(m->probe->user, &record, m->error) == 0)
        return true;
    m->failed = true;
    return false;
}

/* The grid's ends that are due, later by `skip_ps`, behind all others of their time. */
static void move_ends(struct gt_machine *m, const struct gt_steady_state *search, gt_time_ps skip_ps, uint64_t blocks)
{
    struct gt_heap *heap = &m->engine.heap;
    struct gt_heap_event *own = gt_calloc(search->now.count, sizeof *own);
    struct gt_heap others = { .count = 0 };
    uint32_t count = 0;

    while (heap->count > 0) {
        struct gt_heap_event event = gt_heap_pop(heap);

        if (snapshot_is_own(m, &event, search->grid))
            own[count++] = event;
        else
            gt_heap_push(&others, event);
    }
    gt_heap_free(heap);
    *heap = others;
    m->engine.now_ps += skip_ps;
    for (uint32_t i = 0; i < count; i++) {
        gt_engine_schedule(&m->engine, own[i].time_ps + skip_ps, GT_PHASE_END, GT_HANDLE_BLOCKS, own[i].subject,
                           own[i].stamp);
        for (gt_batch_index batch = own[i].subject; batch != GT_NONE; batch = m->batches[batch].next_due) {
            m->batches[batch].first_block += blocks;
            m->batches[batch].start_ps += skip_ps;
            if (batch != own[i].subject)
                gt_engine_schedule_next(&m->engine);
        }
    }
    free(own);
}

/* The SMs that the grid is on, each once: a period has left its times on all of them. */
static void move_sms(struct gt_machine *m, const struct gt_steady_state *search, gt_time_ps skip_ps)
{
    struct gt_sm_state *sms = m->gpus[search->gpu].sms;
    bool *moved = gt_calloc(m->device->sms, sizeof *moved);

    for (uint32_t i = 0; i < search->record_count; i++) {
        gt_sm_index sm = search->records[i].sm;

        sms[sm].ready_ps += moved[sm] ? 0 : skip_ps;
        sms[sm].retire_ps += moved[sm] ? 0 : skip_ps;
        moved[sm] = true;
    }
    free(moved);
}

static void skip(struct gt_machine *m, struct gt_steady_state *search, uint64_t periods, gt_time_ps period_ps)
{
    struct gt_grid *grid = &m->grids[search->grid];
    gt_time_ps skip_ps = periods * period_ps;
    uint64_t blocks = periods * (grid->dispatched - search->dispatched);

    if (!tell(m, search, periods, period_ps))
        return;
    move_ends(m, search, skip_ps, blocks);
    move_sms(m, search, skip_ps);
    grid->dispatched += blocks;
    grid->ended += blocks;
    m->blocks += blocks;
    m->engine.handled += periods * search->own_handled;
    for (int rule = 0; rule < GT_RULES; rule++)
        m->fired[rule] += periods * (m->fired[rule] - search->fired[rule]);
}

/* The SM that the snapshot was taken after has its turn again: has everything come round? */
static void look(struct gt_machine *m, struct gt_steady_state *search)
{
    gt_time_ps period_ps = m->engine.now_ps - search->then_ps;
    uint64_t periods;

    if (m->engine.handled - search->handled != search->own_handled || search->record_count == RECORDS_MAX) {
        end_search(m, search);
        return;
    }
    if (!snapshot_holds(m, search->gpu, search->grid, &search->then, &search->now)) {
        if (++search->looks == search->looks_most) {
            search->looks_most *= 2;
            begin_search(m, search, search->sm);
        }
        return;
    }
    periods = periods_to_skip(m, search, period_ps);
    if (periods > 0)
        skip(m, search, periods, period_ps);
    end_search(m, search);
}

/* A policy whose memory cannot be compared may do something else each time. */
static bool policies_can_be_compared(const struct gt_machine *m)
{
    return (m->placement->create == NULL || m->placement->position != NULL) &&
           (m->arbitration->create == NULL || m->arbitration->position != NULL);
}

/* Equal blocks that share nothing, and many of them. */
static bool is_worth_it(const struct gt_machine *m, const struct gt_grid *grid)
{
    return grid->launch == NULL && grid->peer == NULL && !grid->launches && grid->block_ps != GT_TIME_NONE &&
           grid->early_ps == 0 && (grid->blocks - grid->dispatched) / FEWEST_WAVES > grid->dispatched - grid->ended &&
           (m->probe->blocks == NULL || m->probe->repeat != NULL) && policies_can_be_compared(m);
}

void gt_steady_state_started(struct gt_machine *m, gt_grid_index grid, const struct gt_block_record *record)
{
    struct gt_steady_state *search = m->steady_state;

    if (search == NULL || !search->searching || search->grid != grid || search->record_count == RECORDS_MAX)
        return;
    if (search->record_count == search->record_room) {
        search->record_room = search->record_room == 0 ? 256 : 2 * search->record_room;
        search->records = gt_realloc(search->records, search->record_room, sizeof *search->records);
    }
    search->records[search->record_count++] = *record;
}

void gt_steady_state_handled(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, gt_sm_index sm)
{
    struct gt_steady_state *search = m->steady_state;

    if (m->failed || m->grids[grid].ended == m->grids[grid].blocks || !is_worth_it(m, &m->grids[grid]))
        return;
    if (search == NULL)
        search = m->steady_state = gt_calloc(1, sizeof *search);
    if (search->op != m->grids[grid].op || search->grid != grid || search->looks_most == 0) {
        search->gpu = gpu;
        search->grid = grid;
        search->op = m->grids[grid].op;
        search->backoff = 1;
        end_search(m, search);
    }
    if (!search->searching) {
        if (m->grids[grid].dispatched >= search->try_from)
            begin_search(m, search, sm);
        return;
    }
    search->own_handled++;
    if (sm == search->sm)
        look(m, search);
}

void gt_steady_state_free(struct gt_machine *m)
{
    if (m->steady_state == NULL)
        return;
    snapshot_free(&m->steady_state->then);
    free(m->steady_state->now.ends);
    free(m->steady_state->records);
    free(m->steady_state);
}
