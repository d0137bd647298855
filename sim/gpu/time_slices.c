#include "sim/gpu/time_slices.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/gpu/work_distributor.h"
#include "sim/machine/durations.h"
#include "sim/workload/processes.h"

/* One process, or all MPS clients together: they take one turn. */
struct gt_slice_group {
    gt_gpu_index compute;
    uint64_t process;    /* CLIENTS: of all that share their turn */
    uint32_t kernels;    /* that have come and are not over */
    gt_time_ps waits_ps; /* since when it has had work and no turn */
    gt_time_ps stopped_ps;
    struct gt_heap_event *parked; /* its SMs' events, with the times at which they were due when it stopped */
    uint32_t parked_count, parked_room;
};

struct gt_time_slices { /* of one GPU */
    gt_gpu_index gpu;
    struct gt_slice_group *groups;
    uint32_t count, current; /* whose turn it is, or comes */
    bool switching, had_slice;
    uint64_t stamp;
    gt_time_ps slice_end_ps;
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
}

/* Memory of an SM that blocks hold: the fullest one's. */
static double held_kib(const struct gt_machine *m, gt_gpu_index compute)
{
    double most = 0;

    for (gt_sm_index sm = 0; sm < m->device->sms; sm++) {
        const struct gt_sm_state *state = &m->gpus[compute].sms[sm];
        double bytes = m->device->shared_bytes_per_sm - state->shared_bytes;

        for (uint32_t i = 0; i < m->device->register_partitions; i++)
            bytes += 4.0 * (m->device->registers_per_sm / m->device->register_partitions - state->registers[i]);
        most = bytes > most ? bytes : most;
    }
    return most / 1024;
}

/* The one that has waited longest with work; the one whose turn it is where no other has any. */
static uint32_t next_with_work(const struct gt_time_slices *slices)
{
    uint32_t next = slices->current;

    for (uint32_t i = 0; i < slices->count; i++)
        if (i != slices->current && slices->groups[i].kernels > 0 &&
            (next == slices->current || slices->groups[i].waits_ps < slices->groups[next].waits_ps))
            next = i;
    return next;
}

static void switch_to(struct gt_machine *m, struct gt_time_slices *slices, uint32_t next)
{
    struct gt_slice_group *from = &slices->groups[slices->current], *to = &slices->groups[next];
    gt_time_ps ready_ps = m->engine.now_ps + (from->kernels > 0 ? m->device->switch_ps : m->device->idle_switch_ps);

    m->fired[GT_RULE_TIME_SLICE]++;
    stop(m, from);
    from->waits_ps = m->engine.now_ps;
    slices->current = next;
    slices->switching = true;
    slices->had_slice = false;
    slices->stamp++;
    slices->slice_end_ps = ready_ps + m->device->slice_ps;
    schedule(m, slices, ready_ps + gt_whole_ps(held_kib(m, to->compute) * (double)m->device->restore_ps),
             EVENT_RESUME);
}

void gt_time_slices_kernel_begins(struct gt_machine *m, gt_gpu_index compute)
{
    struct gt_slice_group *group;
    struct gt_time_slices *slices = m->time_slices_count > 0 ? slices_of(m, compute, &group) : NULL;

    if (slices == NULL)
        return;
    if (group->kernels++ == 0)
        group->waits_ps = m->engine.now_ps;
    if (slices->switching)
        return;
    if (group == &slices->groups[slices->current]) {
        if (slices->slice_end_ps == 0) { /* the very first */
            slices->slice_end_ps = m->engine.now_ps + m->device->slice_ps;
            schedule(m, slices, slices->slice_end_ps, EVENT_SLICE);
        }
    } else if (slices->groups[slices->current].kernels == 0) {
        switch_to(m, slices, (uint32_t)(group - slices->groups));
    } else if (slices->had_slice) {
        schedule(m, slices, m->engine.now_ps + m->device->preempt_ps, EVENT_PREEMPT);
    }
}

void gt_time_slices_kernel_ends(struct gt_machine *m, gt_gpu_index compute)
{
    struct gt_slice_group *group;
    struct gt_time_slices *slices = m->time_slices_count > 0 ? slices_of(m, compute, &group) : NULL;

    if (slices == NULL)
        return;
    group->kernels--;
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
        resume(m, current);
        schedule(m, slices, slices->slice_end_ps > m->engine.now_ps ? slices->slice_end_ps : m->engine.now_ps,
                 EVENT_SLICE);
        if (current->kernels == 0)
            schedule(m, slices, m->engine.now_ps + m->device->idle_ps, EVENT_IDLE);
        break;
    case EVENT_SLICE: slices->had_slice = true; /* fall through */
    case EVENT_PREEMPT:
        if (next != slices->current)
            switch_to(m, slices, next);
        break;
    default:
        if (current->kernels == 0 && next != slices->current)
            switch_to(m, slices, next);
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
        struct gt_time_slices slices = { .gpu = gpu };

        find_groups(m, &slices);
        if (slices.count < 2) {
            free(slices.groups);
            continue;
        }
        assign(m, &slices);
        m->time_slices = gt_realloc(m->time_slices, m->time_slices_count + 1ull, sizeof *m->time_slices);
        m->time_slices[m->time_slices_count++] = slices;
    }
    if (m->time_slices_count > 0 && m->workload->task_graph_count > 0)
        return gt_error_set(error, "task graphs of persistent kernels cannot be simulated in time slices; "
                                   "let the processes share the GPU as mps");
    return 0;
}

void gt_time_slices_free(struct gt_machine *m)
{
    for (uint32_t i = 0; i < m->time_slices_count; i++) {
        for (uint32_t j = 0; j < m->time_slices[i].count; j++)
            free(m->time_slices[i].groups[j].parked);
        free(m->time_slices[i].groups);
    }
    free(m->time_slices);
}
