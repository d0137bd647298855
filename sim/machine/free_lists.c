/* Places for what is in flight: arrays with free lists, so that indexes stay good. */
#include "sim/machine/free_lists.h"

#include <string.h>

/* Room for one more: from the free list, or at the end. `next_of` reads the link of a free one. */
#define POOL_NEW(m, array, free_head, count, room, link)                            \
    __extension__({                                                                 \
        uint32_t place_ = (m)->free_head;                                           \
        if (place_ != GT_NONE) {                                                    \
            (m)->free_head = (m)->array[place_].link;                               \
        } else {                                                                    \
            if ((m)->count == (m)->room) {                                          \
                (m)->room = (m)->room == 0 ? 256 : (m)->room * 2;                   \
                (m)->array = gt_realloc((m)->array, (m)->room, sizeof *(m)->array); \
            }                                                                       \
            place_ = (m)->count++;                                                  \
        }                                                                           \
        place_;                                                                     \
    })

gt_command_index gt_stream_command_new(struct gt_machine *m, enum gt_stream_command_kind kind, uint32_t index,
                                       gt_stream_index stream)
{
    gt_command_index command = POOL_NEW(m, commands, commands_free, command_count, command_room, next);

    m->commands[command] = (struct gt_stream_command){
        .index = index,
        .stream = stream,
        .next = GT_NONE,
        .queue_next = GT_NONE,
        .wait_next = GT_NONE,
        .parent = GT_NONE,
        .target_stream = GT_NONE,
        .triggered_ps = GT_TIME_NONE,
        .grid = GT_NONE,
        .kind = (uint8_t)kind,
    };
    return command;
}

void gt_stream_command_free(struct gt_machine *m, gt_command_index command)
{
    m->commands[command].next = m->commands_free;
    m->commands_free = command;
}

void gt_stream_command_hold(struct gt_machine *m, gt_command_index command, enum gt_wait reason, gt_time_ps time_ps,
                            enum gt_cause cause, uint32_t index)
{
    struct gt_release *latest = &m->commands[command].releases[reason];

    if (time_ps > latest->time_ps)
        *latest = (struct gt_release){ time_ps, index == GT_NONE ? GT_CAUSE_NONE : cause, index };
}

gt_grid_index gt_grid_new(struct gt_machine *m)
{
    gt_grid_index grid = POOL_NEW(m, grids, grids_free, grid_count, grid_room, next);

    memset(&m->grids[grid], 0, sizeof m->grids[grid]);
    m->grids[grid].next = GT_NONE;
    return grid;
}

void gt_grid_free(struct gt_machine *m, gt_grid_index grid)
{
    m->grids[grid].next = m->grids_free;
    m->grids_free = grid;
}

gt_batch_index gt_batch_new(struct gt_machine *m)
{
    return POOL_NEW(m, batches, batches_free, batch_count, batch_room, sm);
}

void gt_batch_free(struct gt_machine *m, gt_batch_index batch)
{
    m->batches[batch].sm = m->batches_free;
    m->batches_free = batch;
}

gt_group_index gt_resident_group_new(struct gt_machine *m)
{
    return POOL_NEW(m, groups, groups_free, group_count, group_room, next);
}

void gt_resident_group_free(struct gt_machine *m, gt_group_index group)
{
    m->groups[group].stamp = 0;
    m->groups[group].next = m->groups_free;
    m->groups_free = group;
}

gt_waiter_index gt_waiter_new(struct gt_machine *m)
{
    gt_waiter_index waiter = POOL_NEW(m, waiters, waiters_free, waiter_count, waiter_room, next);

    m->waiters[waiter] = (struct gt_waiter){ .next = GT_NONE };
    return waiter;
}

void gt_waiter_free(struct gt_machine *m, gt_waiter_index waiter)
{
    m->waiters[waiter].next = m->waiters_free;
    m->waiters_free = waiter;
}
