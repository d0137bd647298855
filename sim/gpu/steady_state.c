#include "sim/gpu/steady_state.h"

#include <stdlib.h>
#include <string.h>

#include "sim/gpu/arbitration.h"
#include "sim/gpu/placement.h"
#include "sim/gpu/snapshot.h"

/* Fewer waves than this are not looked at; a period of more records than that is not found. */
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

    gt_snapshot_take(m, search->gpu, search->grid, &search->then);
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
        if (!gt_snapshot_is_own(m, &m->engine.heap.events[i], grid) && m->engine.heap.events[i].time_ps < first_ps)
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

        if (gt_snapshot_is_own(m, &event, search->grid))
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
    if (!gt_snapshot_holds(m, search->gpu, search->grid, &search->then, &search->now)) {
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
    gt_snapshot_free(&m->steady_state->then);
    free(m->steady_state->now.ends);
    free(m->steady_state->records);
    free(m->steady_state);
}
