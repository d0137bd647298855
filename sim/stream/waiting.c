#include "sim/stream/waiting.h"

#include <stdlib.h>
#include <string.h>
#define uthash_fatal(text) gt_no_memory("an index of streams")
#include <uthash.h>

#include "sim/machine/free_lists.h"

void gt_stream_wake(struct gt_machine *m, gt_stream_index stream, gt_time_ps time_ps)
{
    struct gt_stream_state *state = &m->streams[stream];

    if (state->wake_ps != GT_TIME_NONE && state->wake_ps <= time_ps)
        return; /* it looks again before that anyway */
    state->wake_ps = time_ps;
    gt_engine_schedule(&m->engine, time_ps, GT_PHASE_WAKE, GT_HANDLE_STREAM, stream, ++state->wake_stamp);
}

void gt_node_wake(struct gt_machine *m, gt_command_index node, gt_time_ps time_ps)
{
    if (m->commands[node].visible_ps > time_ps)
        time_ps = m->commands[node].visible_ps;
    gt_engine_schedule(&m->engine, time_ps, GT_PHASE_WAKE, GT_HANDLE_NODE, node, GT_NODE_MAY_GO);
}

void gt_stream_add_waiter(struct gt_machine *m, gt_stream_index stream, uint64_t number, uint32_t index,
                          enum gt_waiter_kind kind)
{
    gt_waiter_index waiter = gt_waiter_new(m);
    struct gt_stream_state *state = &m->streams[stream];
    uint32_t *link = &state->waiters;

    m->waits++;
    m->waiters[waiter].number = number;
    m->waiters[waiter].index = index;
    m->waiters[waiter].kind = kind;
    if (state->waiters != GT_NONE && m->waiters[state->waiters_tail].number <= number)
        link = &m->waiters[state->waiters_tail].next; /* nearly always: waits come in order */
    while (*link != GT_NONE && m->waiters[*link].number <= number)
        link = &m->waiters[*link].next;
    m->waiters[waiter].next = *link;
    if (*link == GT_NONE)
        state->waiters_tail = waiter;
    *link = waiter;
}

uint32_t gt_thread_forget_waits(struct gt_machine *m, gt_thread_index thread)
{
    uint32_t forgotten = 0;

    for (gt_stream_index stream = 0; stream < m->workload->stream_count; stream++) {
        struct gt_stream_state *state = &m->streams[stream];
        uint32_t *link = &state->waiters, tail = GT_NONE;

        while (*link != GT_NONE) {
            gt_waiter_index waiter = *link;

            if (m->waiters[waiter].kind == GT_WAITER_THREAD && m->waiters[waiter].index == thread) {
                *link = m->waiters[waiter].next;
                gt_waiter_free(m, waiter);
                forgotten++;
            } else {
                tail = waiter;
                link = &m->waiters[waiter].next;
            }
        }
        state->waiters_tail = tail;
    }
    return forgotten;
}

void gt_thread_wait(struct gt_machine *m, gt_thread_index thread, gt_stream_index stream, uint64_t number)
{
    if (m->streams[stream].completed >= number)
        return;
    m->threads[thread].pending++;
    gt_stream_add_waiter(m, stream, number, thread, GT_WAITER_THREAD);
}

/* Streams that are waited for together are a group: those of a process, those of a process in one context, and those of a
 * process on one GPU.  A wait is for every command that was asked for before it: it ends an epoch of its group, and is over
 * when no command of that epoch, or of one before, is under way.  Commands keep the epoch in which they were asked for and
 * are counted, not looked for in their streams: a wait costs the same however many streams there are. */

/* The commands asked for between two waits. */
struct epoch {
    uint64_t left;          /* not complete yet */
    gt_thread_index thread; /* whose wait ended it */
};

struct group_key {
    uint64_t process, context, gpu; /* of a stream, or ANY */
};
#define ANY      UINT64_MAX
#define BLOCKING (UINT64_MAX - 1) /* as `gpu`: all but non-blocking streams */

struct group {
    struct group_key key;
    struct epoch *epochs; /* from number `first` on; the last one goes on */
    uint64_t first;
    uint32_t begin, count, room; /* in the array: those before `begin` are over */
    uint32_t streams;
    UT_hash_handle hh;
};

struct gt_device_syncs {
    struct group *groups; /* by key */
    struct group *(*of_stream)[GT_SYNC_GROUPS];
};

static struct group *find_group(const struct gt_device_syncs *syncs, struct group_key key)
{
    struct group *group;

    HASH_FIND(hh, syncs->groups, &key, sizeof key, group);
    return group;
}

static void add_epoch(struct group *group)
{
    if (group->begin + group->count == group->room) {
        if (group->begin > 0)
            memmove(group->epochs, group->epochs + group->begin, group->count * sizeof *group->epochs);
        group->begin = 0;
        if (group->count * 2ull >= group->room) {
            group->room = group->room == 0 ? 8 : group->room * 2;
            group->epochs = gt_realloc(group->epochs, group->room, sizeof *group->epochs);
        }
    }
    group->epochs[group->begin + group->count++] = (struct epoch){ .thread = GT_NONE };
}

static struct group *find_or_add(struct gt_device_syncs *syncs, struct group_key key)
{
    struct group *group = find_group(syncs, key);

    if (group != NULL)
        return group;
    group = gt_calloc(1, sizeof *group);
    group->key = key;
    add_epoch(group);
    HASH_ADD(hh, syncs->groups, key, sizeof group->key, group);
    return group;
}

/* Does a call wait for several streams at once? */
static bool any_waits(const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < workload->call_count; i++) {
        enum gt_host_wait wait = GT_HOST_WAIT_NONE;

        if (gt_call_synchronises(&workload->calls[i]))
            wait = gt_call_host_wait(workload, &workload->calls[i], GT_HOST_WAITS_OBSERVED);
        if (wait > GT_HOST_WAIT_STREAM && wait != GT_HOST_WAIT_UNKNOWN)
            return true;
    }
    return false;
}

void gt_device_syncs_build(struct gt_machine *m)
{
    struct gt_device_syncs *syncs;

    if (!any_waits(m->workload))
        return;
    m->device_syncs = syncs = gt_calloc(1, sizeof *syncs);
    syncs->of_stream = gt_calloc(m->workload->stream_count, sizeof *syncs->of_stream);
    for (uint32_t i = 0; i < m->workload->stream_count; i++) {
        uint64_t process = m->streams[i].process;

        syncs->of_stream[i][0] = find_or_add(syncs, (struct group_key){ process, ANY, ANY });
        syncs->of_stream[i][1] = find_or_add(syncs, (struct group_key){ process, m->streams[i].context, ANY });
        syncs->of_stream[i][2] = find_or_add(syncs, (struct group_key){ process, ANY, m->workload->streams[i].gpu });
        if (!(m->workload->streams[i].flags & GT_STREAM_NON_BLOCKING)) {
            syncs->of_stream[i][3] =
                find_or_add(syncs, (struct group_key){ process, m->streams[i].context, BLOCKING });
            syncs->of_stream[i][3]->streams++;
        }
    }
}

void gt_device_syncs_free(struct gt_machine *m)
{
    struct group *group, *next;

    if (m->device_syncs == NULL)
        return;
    HASH_ITER(hh, m->device_syncs->groups, group, next)
    {
        HASH_DEL(m->device_syncs->groups, group);
        free(group->epochs);
        free(group);
    }
    free(m->device_syncs->of_stream);
    free(m->device_syncs);
}

void gt_device_sync_submit(struct gt_machine *m, gt_command_index number)
{
    struct gt_stream_command *command = &m->commands[number];

    for (int i = 0; m->device_syncs != NULL && i < GT_SYNC_GROUPS; i++) {
        struct group *group = m->device_syncs->of_stream[command->stream][i];

        if (group == NULL)
            continue;
        command->sync_epoch[i] = group->first + group->count - 1;
        group->epochs[group->begin + group->count - 1].left++;
    }
}

void gt_device_sync_complete(struct gt_machine *m, gt_command_index number)
{
    const struct gt_stream_command *command = &m->commands[number];

    for (int i = 0; m->device_syncs != NULL && i < GT_SYNC_GROUPS; i++) {
        struct group *group = m->device_syncs->of_stream[command->stream][i];

        if (group == NULL)
            continue;
        group->epochs[group->begin + (command->sync_epoch[i] - group->first)].left--;
    }
}

static void wait_for(struct gt_machine *m, gt_thread_index thread, struct group *group)
{
    /* Epochs that are over are taken away as they end: nothing is under way where the one that goes on is empty. */
    if (group == NULL || (group->count == 1 && group->epochs[group->begin].left == 0))
        return;
    m->waits++;
    m->threads[thread].pending++;
    group->epochs[group->begin + group->count - 1].thread = thread;
    add_epoch(group);
}

/* The group of the legacy default stream and the blocking streams of its context; NULL: it is alone, and has no need of one. */
static struct group *blocking_group(const struct gt_machine *m, gt_stream_index stream)
{
    struct group *group = m->device_syncs->of_stream[stream][3];

    return group->streams < 2 ? NULL : group;
}

void gt_device_sync_wait(struct gt_machine *m, gt_thread_index thread, const struct gt_call *call,
                         enum gt_host_wait wait)
{
    struct group_key key = { m->workload->threads[thread].process, ANY, ANY };
    struct group *group = NULL;

    if (wait == GT_HOST_WAIT_BLOCKING_STREAMS) {
        group = blocking_group(m, call->stream);
        if (group == NULL)
            gt_thread_wait(m, thread, call->stream, m->streams[call->stream].submitted);
        else
            wait_for(m, thread, group);
        return;
    }
    if (wait == GT_HOST_WAIT_CONTEXT)
        key.context = m->streams[call->stream].context;
    if (wait == GT_HOST_WAIT_GPU) {
        key.gpu = m->workload->buffers[call->buffer].gpu;
        group = find_group(m->device_syncs, key);
        key.gpu = ANY;
    }
    wait_for(m, thread, group != NULL ? group : find_group(m->device_syncs, key));
}

/* The thread whose wait ended the group's oldest epoch, if that is over. */
static gt_thread_index end_epoch(struct group *group)
{
    const struct epoch *oldest = &group->epochs[group->begin];

    if (group->count == 1 || oldest->left > 0)
        return GT_NONE;
    group->begin++;
    group->first++;
    group->count--;
    return oldest->thread;
}

gt_thread_index gt_device_sync_released(struct gt_machine *m, gt_stream_index stream)
{
    gt_thread_index thread = GT_NONE;

    for (int i = 0; m->device_syncs != NULL && thread == GT_NONE && i < GT_SYNC_GROUPS; i++)
        if (m->device_syncs->of_stream[stream][i] != NULL)
            thread = end_epoch(m->device_syncs->of_stream[stream][i]);
    return thread;
}
