#include "sim/gpu/time_slices.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/gpu/work_distributor.h"
#include "sim/machine/durations.h"
#include "sim/workload/processes.h"

/* One process, or all MPS clients together: they take one turn. */
struct gt_slice_group {
    gt_gpu_index compute;
    uint64_t process;    /* CLIENTS: of all that share their turn */
    uint32_t kernels;    /* that have come and are not over, without those that are kept for its next turn */
    gt_time_ps waits_ps; /* since when it has had work and no turn */
    gt_time_ps idle_ps;  /* since when it has had none */
    gt_time_ps stopped_ps;
    struct gt_heap_event *parked; /* its SMs' events, with the times at which they were due when it stopped */
    uint32_t parked_count, parked_room;
    gt_grid_index *kept; /* for its next turn */
    uint32_t kept_count, kept_room;
};

struct gt_time_slices { /* of one GPU */
    gt_gpu_index gpu;
    struct gt_slice_group *groups;
    uint32_t count, current; /* whose turn it is, or comes */
    bool switching, had_slice;
    uint64_t stamp;
    gt_time_ps slice_end_ps;
    gt_time_ps closed_ps; /* what comes to the GPU later is for the next turn; GT_TIME_NONE: for this one */
};

static const uint64_t CLIENTS = GT_PROCESS_NONE - 1;
enum { EVENT_SLICE, EVENT_RESUME, EVENT_IDLE, EVENT_PREEMPT, EVENTS };

static struct gt_time_slices *slices_of(const struct gt_machine *m, gt_gpu_index compute,
                                        struct gt_slice_group **group)
{
    for (uint32_t i = 0; i < m->time_slices_count; i++)
        for (uint32_t j = 0; j < m->time_slices[i].count; j++)
            if (m->time_slices[i].groups[j].compute == compute) {
                *group = &m->time_slices[i].groups[j];
                return &m->time_slices[i];
            }
    return NULL;
}

static void schedule(struct gt_machine *m, struct gt_time_slices *slices, gt_time_ps time_ps, uint32_t what)
{
    gt_engine_schedule(&m->engine, time_ps, GT_PHASE_WAKE, GT_HANDLE_TIME_SLICE, slices->gpu,
                       slices->stamp * EVENTS + what);
}

/* Is it an event of what runs on these SMs? */
static bool is_of(const struct gt_machine *m, const struct gt_heap_event *event, gt_gpu_index compute)
{
    switch (event->handler) {
    case GT_HANDLE_BLOCKS: return m->batches[event->subject].gpu == compute;
    case GT_HANDLE_GRID: return m->streams[m->commands[m->grids[event->subject].command].stream].compute == compute;
    case GT_HANDLE_RESIDENT_GROUP: return m->groups[event->subject].gpu == compute;
    case GT_HANDLE_BLOCK_PROGRESS: return event->subject == compute;
    default: return false;
    }
}

struct parking {
    const struct gt_machine *m;
    struct gt_slice_group *group;
};

static bool park(void *user, const struct gt_heap_event *event)
{
    struct parking *parking = user;
    struct gt_slice_group *group = parking->group;

    if (!is_of(parking->m, event, group->compute))
        return false;
    gt_array_grow(group->parked, group->parked_count, group->parked_room);
    group->parked[group->parked_count++] = *event;
    return true;
}

static void stop(struct gt_machine *m, struct gt_slice_group *group)
{
    struct parking parking = { m, group };

    m->gpus[group->compute].stopped = true;
    group->stopped_ps = m->engine.now_ps;
    m->last_due.batch = GT_NONE; /* nothing joins an event that is parked */
    gt_heap_take(&m->engine.heap, park, &parking);
}

/* What is due later by as much as it stood: times of SMs, and of blocks that share something. */
static void delay_state(struct gt_machine *m, struct gt_gpu_state *gpu, gt_time_ps since_ps, gt_time_ps by_ps)
{
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++) {
        if (gpu->sms[sm].ready_ps > since_ps)
            gpu->sms[sm].ready_ps += by_ps;
        if (gpu->sms[sm].retire_ps > since_ps)
            gpu->sms[sm].retire_ps += by_ps;
        for (gt_group_index i = gpu->groups != NULL ? gpu->groups[sm] : GT_NONE; i != GT_NONE; i = m->groups[i].next)
            m->groups[i].updated_ps += by_ps;
    }
    if (gpu->deferred.ready_ps > since_ps)
        gpu->deferred.ready_ps += by_ps;
}

static void resume(struct gt_machine *m, struct gt_slice_group *group)
{
    gt_time_ps by_ps = m->engine.now_ps - group->stopped_ps;

    m->gpus[group->compute].stopped = false;
    delay_state(m, &m->gpus[group->compute], group->stopped_ps, by_ps);
    m->last_due.batch = GT_NONE;
    for (uint32_t i = 0; i < group->parked_count; i++) {
        struct gt_heap_event event = group->parked[i];

        event.time_ps += by_ps;
        gt_heap_push(&m->engine.heap, event);
    }
    group->parked_count = 0;
    gt_distributor_resume(m, group->compute);
    group->kernels += group->kept_count;
    for (uint32_t i = 0; i < group->kept_count; i++)
        gt_distributor_add(m, group->compute, group->kept[i]);
    group->kept_count = 0;
}

static bool has_work(const struct gt_slice_group *group)
{
    return group->kernels + group->kept_count > 0;
}

/* Shared memory of an SM that blocks hold: the fullest one's.  Registers took no time that could be seen. */
static double held_kib(const struct gt_machine *m, gt_gpu_index compute)
{
    double most = 0;

    for (gt_sm_index sm = 0; sm < m->device->sms; sm++)
        most = fmax(most, m->device->shared_bytes_per_sm - m->gpus[compute].sms[sm].shared_bytes);
    return most / 1024;
}

/* The one that has waited longest with work; the one whose turn it is where no other has any. */
static uint32_t next_with_work(const struct gt_time_slices *slices)
{
    uint32_t next = slices->current;

    for (uint32_t i = 0; i < slices->count; i++)
        if (i != slices->current && has_work(&slices->groups[i]) &&
            (next == slices->current || slices->groups[i].waits_ps < slices->groups[next].waits_ps))
            next = i;
    return next;
}

static bool is_kernel(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_stream_command *c = &m->commands[command];

    return c->kind == GT_COMMAND_GRAPH ||
           (c->kind == GT_COMMAND_OP && m->workload->ops[c->index].kind == GT_OP_KERNEL);
}

/* A kernel of the group's, on the GPU already, stands in a stream behind one that is not over. */
static bool has_kernel_behind(const struct gt_machine *m, const struct gt_slice_group *group)
{
    for (gt_stream_index i = 0; i < m->workload->stream_count; i++) {
        gt_command_index head = m->streams[i].compute == group->compute ? m->streams[i].head : GT_NONE, next;

        if (head == GT_NONE || !is_kernel(m, head))
            continue;
        next = m->commands[head].next;
        while (next != GT_NONE && m->commands[next].kind == GT_COMMAND_RECORD)
            next = m->commands[next].next;
        if (next != GT_NONE && m->commands[next].visible_ps <= m->engine.now_ps && is_kernel(m, next))
            return true;
    }
    return false;
}

/* While another waits, the GPU takes no more from one whose streams have handed out all that they had: seen on an H200, of 91
 * kernels that came while others of their process ran, 38 of 39 that came after another's first one waited for the next turn. */
static void close_turn(struct gt_machine *m, struct gt_time_slices *slices)
{
    if (!slices->switching && slices->closed_ps == GT_TIME_NONE && next_with_work(slices) != slices->current &&
        !has_kernel_behind(m, &slices->groups[slices->current]))
        slices->closed_ps = m->engine.now_ps;
}

/* When the GPU saw it. */
static gt_time_ps visible_ps(const struct gt_machine *m, gt_grid_index grid)
{
    const struct gt_stream_command *command = &m->commands[m->grids[grid].command];

    if (command->kind == GT_COMMAND_CHILD)
        return 0;
    return command->kind == GT_COMMAND_NODE ? m->commands[command->parent].visible_ps : command->visible_ps;
}

/* To another's turn.  `since_ps`: when the one whose turn it was ran out of work, or was stopped. */
static void switch_to(struct gt_machine *m, struct gt_time_slices *slices, uint32_t next, gt_time_ps since_ps)
{
    struct gt_slice_group *from = &slices->groups[slices->current], *to = &slices->groups[next];
    gt_time_ps ready_ps =
        since_ps + (from != to && from->kernels > 0 ? m->device->switch_ps : m->device->idle_switch_ps);

    m->fired[GT_RULE_TIME_SLICE]++;
    stop(m, from);
    from->waits_ps = m->engine.now_ps;
    slices->current = next;
    slices->switching = true;
    slices->had_slice = false;
    slices->closed_ps = GT_TIME_NONE;
    slices->stamp++;
    slices->slice_end_ps = ready_ps + m->device->slice_ps;
    schedule(m, slices, ready_ps + gt_whole_ps(held_kib(m, to->compute) * (double)m->device->restore_ps),
             EVENT_RESUME);
}

/* A kernel has come, for this turn of its group's. */
static void begin(struct gt_machine *m, struct gt_time_slices *slices, struct gt_slice_group *group)
{
    if (!has_work(group))
        group->waits_ps = m->engine.now_ps;
    group->kernels++;
    if (slices->switching)
        return;
    if (slices->slice_end_ps == 0 || /* the very first: whoever had the GPU before it, mostly another */
        (group != &slices->groups[slices->current] && slices->groups[slices->current].kernels == 0)) {
        switch_to(m, slices, (uint32_t)(group - slices->groups), m->engine.now_ps);
    } else if (group != &slices->groups[slices->current] && slices->had_slice) {
        schedule(m, slices, m->engine.now_ps + m->device->preempt_ps, EVENT_PREEMPT);
    }
}

bool gt_time_slices_kernel_begins(struct gt_machine *m, gt_gpu_index compute, gt_grid_index grid)
{
    struct gt_slice_group *group;
    struct gt_time_slices *slices = m->time_slices_count > 0 ? slices_of(m, compute, &group) : NULL;

    if (slices == NULL)
        return true;
    if (group == &slices->groups[slices->current] && !slices->switching && slices->closed_ps != GT_TIME_NONE &&
        visible_ps(m, grid) > slices->closed_ps) {
        gt_array_grow(group->kept, group->kept_count, group->kept_room);
        group->kept[group->kept_count++] = grid;
        return false;
    }
    begin(m, slices, group);
    close_turn(m, slices);
    return true;
}

void gt_time_slices_kernel_ends(struct gt_machine *m, gt_gpu_index compute)
{
    struct gt_slice_group *group;
    struct gt_time_slices *slices = m->time_slices_count > 0 ? slices_of(m, compute, &group) : NULL;

    if (slices == NULL)
        return;
    if (--group->kernels == 0)
        group->idle_ps = m->engine.now_ps;
    if (group->kernels == 0 && !slices->switching && group == &slices->groups[slices->current])
        schedule(m, slices, m->engine.now_ps + m->device->idle_ps, EVENT_IDLE);
}

int gt_time_slice_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_time_slices *slices = m->time_slices;
    struct gt_slice_group *current;
    uint32_t next;

    (void)error;
    while (slices->gpu != gpu)
        slices++;
    if (stamp / EVENTS != slices->stamp)
        return 0;
    current = &slices->groups[slices->current];
    next = next_with_work(slices);
    switch (stamp % EVENTS) {
    case EVENT_RESUME:
        slices->switching = false;
        current->idle_ps = m->engine.now_ps;
        resume(m, current);
        close_turn(m, slices);
        schedule(m, slices, slices->slice_end_ps > m->engine.now_ps ? slices->slice_end_ps : m->engine.now_ps,
                 EVENT_SLICE);
        if (current->kernels == 0)
            schedule(m, slices, m->engine.now_ps + m->device->idle_ps, EVENT_IDLE);
        break;
    case EVENT_SLICE: slices->had_slice = true; /* fall through */
    case EVENT_PREEMPT:
        if (next != slices->current)
            switch_to(m, slices, next, m->engine.now_ps);
        break;
    default: /* it may have had work since, and be without for less than that */
        if (current->kernels > 0 || m->engine.now_ps - current->idle_ps < m->device->idle_ps)
            break;
        if (next != slices->current)
            switch_to(m, slices, next, current->idle_ps);
    }
    return m->failed ? -1 : 0;
}

/* Whose turn the stream's kernels run in: its process's, or that of all MPS clients; GT_PROCESS_NONE: in no turn.  Times that were
 * recorded hold what the process met, unless the trace says how it shares. */
static uint64_t turn_of(const struct gt_machine *m, const struct gt_stream_state *stream)
{
    switch (stream->sharing.how) {
    case GT_SHARE_UNSAID: return m->recorded_times ? GT_PROCESS_NONE : stream->process;
    case GT_SHARE_SLICED: return stream->process;
    default: return CLIENTS;
    }
}

static void find_groups(struct gt_machine *m, struct gt_time_slices *slices)
{
    for (gt_stream_index i = 0; i < m->workload->stream_count; i++) {
        uint64_t turn = turn_of(m, &m->streams[i]);
        uint32_t j = 0;

        if (m->streams[i].gpu != slices->gpu || turn == GT_PROCESS_NONE)
            continue;
        while (j < slices->count && slices->groups[j].process != turn)
            j++;
        if (j < slices->count)
            continue;
        slices->groups = gt_realloc(slices->groups, slices->count + 1ull, sizeof *slices->groups);
        slices->groups[slices->count++] = (struct gt_slice_group){ .process = turn, .compute = slices->gpu };
    }
}

/* The first turn is that of the GPU's own SMs; the others get SMs that the caller builds. */
static void assign(struct gt_machine *m, struct gt_time_slices *slices)
{
    for (uint32_t j = 1; j < slices->count; j++) {
        slices->groups[j].compute = m->compute_count++;
        for (gt_stream_index i = 0; i < m->workload->stream_count; i++)
            if (m->streams[i].gpu == slices->gpu && turn_of(m, &m->streams[i]) == slices->groups[j].process)
                m->streams[i].compute = slices->groups[j].compute;
    }
}

int gt_time_slices_build(struct gt_machine *m, struct gt_error *error)
{
    if (m->device->slice_ps == 0 || !m->options->blocks || m->options->serialize)
        return 0;
    for (gt_gpu_index gpu = 0; gpu < m->gpu_count; gpu++) {
        struct gt_time_slices slices = { .gpu = gpu, .closed_ps = GT_TIME_NONE };

        find_groups(m, &slices);
        if (slices.count < 2) {
            free(slices.groups);
            continue;
        }
        assign(m, &slices);
        m->time_slices = gt_realloc(m->time_slices, m->time_slices_count + 1ull, sizeof *m->time_slices);
        m->time_slices[m->time_slices_count++] = slices;
    }
    m->blocks_may_stop |= m->time_slices_count > 0;
    if (m->time_slices_count > 0 && m->workload->task_graph_count > 0)
        return gt_error_set(error, "task graphs of persistent kernels cannot be simulated in time slices; "
                                   "let the processes share the GPU as mps");
    return 0;
}

void gt_time_slices_free(struct gt_machine *m)
{
    for (uint32_t i = 0; i < m->time_slices_count; i++) {
        for (uint32_t j = 0; j < m->time_slices[i].count; j++) {
            free(m->time_slices[i].groups[j].parked);
            free(m->time_slices[i].groups[j].kept);
        }
        free(m->time_slices[i].groups);
    }
    free(m->time_slices);
}
