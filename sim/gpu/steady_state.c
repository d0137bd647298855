#include "sim/gpu/steady_state.h"

#include <stdlib.h>
#include <string.h>

#include "sim/gpu/arbitration.h"
#include "sim/gpu/placement.h"

/* Fewer waves than this are not looked at; a period of more records than that is not found. */
enum { FEWEST_WAVES = 16, FEWEST_PERIODS = 2, RECORDS_MAX = 1 << 16, BACKOFF_MAX = 1 << 20 };

/* A batch's end that is due. */
struct due {
    gt_time_ps in_ps;
    uint64_t order, stamp;
    gt_sm_index sm;
    uint32_t blocks;
    uint8_t odd_warps[GT_DEVICE_MAX_PARTITIONS];
};

/* The machine as far as it decides what a grid's blocks do next, at one moment. */
struct snapshot {
    struct due *due;
    uint32_t due_count, due_room;
    struct gt_sm_state *sms;     /* times since now, 0 where they are past */
    uint64_t placed, arbitrated; /* what the policies remember, as far as it decides */
};

/* The search for a period of one grid. */
struct gt_steady_state {
    gt_gpu_index gpu;
    gt_grid_index grid;
    gt_op_index op;
    gt_sm_index sm; /* whose event the snapshot was taken after */
    struct snapshot then, now;
    gt_time_ps then_ps;
    uint64_t dispatched, handled;    /* as the snapshot was taken */
    uint64_t own_handled;            /* events of the grid since then */
    uint64_t looks, looks_most;      /* Brent 1980: the snapshot is renewed at powers of two */
    uint64_t try_from;               /* blocks dispatched before the next snapshot */
    uint64_t backoff;                /* waves */
    bool searching;                  /* a snapshot is there */
    struct gt_block_record *records; /* since then */
    uint32_t record_count, record_room;
};

static bool is_own(const struct gt_machine *m, const struct gt_heap_event *event, gt_grid_index grid)
{
    return event->handler == GT_HANDLE_BLOCKS && m->batches[event->subject].grid == grid;
}

static int by_time(const void *left, const void *right)
{
    const struct due *a = left, *b = right;

    if (a->in_ps != b->in_ps)
        return a->in_ps < b->in_ps ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static gt_time_ps since_now(const struct gt_machine *m, gt_time_ps time_ps)
{
    return time_ps > m->engine.now_ps ? time_ps - m->engine.now_ps : 0;
}

/* The ends that share one place in the heap, in their order. */
static void take_ends(const struct gt_machine *m, const struct gt_heap_event *event, struct snapshot *snapshot)
{
    uint64_t order = event->order;

    for (gt_batch_index batch = event->subject; batch != GT_NONE; batch = m->batches[batch].next_due) {
        if (snapshot->due_count == snapshot->due_room) {
            snapshot->due_room = snapshot->due_room == 0 ? 256 : 2 * snapshot->due_room;
            snapshot->due = gt_realloc(snapshot->due, snapshot->due_room, sizeof *snapshot->due);
        }
        snapshot->due[snapshot->due_count] = (struct due){ .in_ps = event->time_ps - m->engine.now_ps,
                                                           .order = order,
                                                           .stamp = event->stamp,
                                                           .sm = m->batches[batch].sm,
                                                           .blocks = m->batches[batch].blocks };
        memcpy(snapshot->due[snapshot->due_count++].odd_warps, m->batches[batch].odd_warps,
               sizeof m->batches[batch].odd_warps);
        order++;
    }
}

static void take_snapshot(const struct gt_machine *m, const struct gt_steady_state *search, struct snapshot *snapshot)
{
    const struct gt_gpu_state *gpu = &m->gpus[search->gpu];
    const struct gt_heap *heap = &m->engine.heap;

    if (snapshot->sms == NULL)
        snapshot->sms = gt_calloc(m->device->sms, sizeof *snapshot->sms);
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++) {
        snapshot->sms[sm] = gpu->sms[sm];
        snapshot->sms[sm].ready_ps = since_now(m, gpu->sms[sm].ready_ps);
        snapshot->sms[sm].retire_ps = since_now(m, gpu->sms[sm].retire_ps);
    }
    snapshot->placed = m->placement->position != NULL ? m->placement->position(gpu->placement_state) : 0;
    snapshot->arbitrated = m->arbitration->position != NULL ? m->arbitration->position(gpu->arbitration_state) : 0;
    snapshot->due_count = 0;
    for (size_t i = 0; i < heap->count; i++) {
        if (is_own(m, &heap->events[i], search->grid))
            take_ends(m, &heap->events[i], snapshot);
    }
    if (snapshot->due_count > 0)
        qsort(snapshot->due, snapshot->due_count, sizeof *snapshot->due, by_time);
}

static bool same_sm(const struct gt_sm_state *a, const struct gt_sm_state *b)
{
    return a->threads == b->threads && a->warps == b->warps &&
           memcmp(a->registers, b->registers, sizeof a->registers) == 0 && a->shared_bytes == b->shared_bytes &&
           a->blocks == b->blocks && a->resident == b->resident && a->carveout_bytes == b->carveout_bytes &&
           a->ready_ps == b->ready_ps && a->retire_ps == b->retire_ps;
}

static bool same(const struct gt_machine *m, const struct snapshot *a, const struct snapshot *b)
{
    if (a->due_count != b->due_count || a->placed != b->placed || a->arbitrated != b->arbitrated)
        return false;
    for (uint32_t i = 0; i < a->due_count; i++) {
        const struct due *one = &a->due[i], *other = &b->due[i];

        if (one->in_ps != other->in_ps || one->stamp != other->stamp || one->sm != other->sm ||
            one->blocks != other->blocks || memcmp(one->odd_warps, other->odd_warps, sizeof one->odd_warps) != 0)
            return false;
    }
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++)
        if (!same_sm(&a->sms[sm], &b->sms[sm]))
            return false;
    return true;
}

static void begin_search(struct gt_machine *m, struct gt_steady_state *search, gt_sm_index sm)
{
    const struct gt_grid *grid = &m->grids[search->grid];

    take_snapshot(m, search, &search->then);
    if (search->then.due_count == 0)
        return;
    search->sm = sm;
    search->then_ps = m->engine.now_ps;
    search->dispatched = grid->dispatched;
    search->handled = m->engine.handled;
    search->own_handled = 0;
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
        if (!is_own(m, &m->engine.heap.events[i], grid) && m->engine.heap.events[i].time_ps < first_ps)
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

    if (grid->dispatched == search->dispatched || search->now.due_count == 0)
        return 0;
    last_ps = search->now.due[search->now.due_count - 1].in_ps;
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
    struct gt_heap_event *own = gt_calloc(search->now.due_count, sizeof *own);
    struct gt_heap others = { .count = 0 };
    uint32_t count = 0;

    while (heap->count > 0) {
        struct gt_heap_event event = gt_heap_pop(heap);

        if (is_own(m, &event, search->grid))
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
    if (m->engine.heap.events[0].time_ps - m->engine.now_ps == search->then.due[0].in_ps)
        take_snapshot(m, search, &search->now);
    else
        search->now.due_count = 0;
    if (!same(m, &search->then, &search->now)) {
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
           grid->spread_pct == 0 && grid->early_ps == 0 && grid->occupancy.cluster_blocks == 1 &&
           (grid->blocks - grid->dispatched) / FEWEST_WAVES > grid->dispatched - grid->ended &&
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
    free(m->steady_state->then.due);
    free(m->steady_state->then.sms);
    free(m->steady_state->now.due);
    free(m->steady_state->now.sms);
    free(m->steady_state->records);
    free(m->steady_state);
}
