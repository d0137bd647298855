/* In which order, and when, a graph launch hands its nodes to the GPU.
 *
 * The driver writes a graph's commands while cudaGraphLaunch() runs, and the GPU has them bit by bit.  Seen on H200
 * (starts of nodes against their graph's launch, 756 launches of random graphs): nodes go in groups.  A group begins
 * with the first node, in order of creation, that has not gone and whose dependences have; with it go the nodes
 * that it makes ready, and those that these do, so long as they run on the SMs: a chain, or all that follows the last
 * of several roots, is one group.  What copies (copies, memsets of a few KiB) is a group of its own, and what waits
 * for it begins one.  A group's nodes may start when the last of them is written. */
#include "sim/replay/graph_launch.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"

struct launch {
    gt_time_ps *node_ps;
    bool *waits, *begins;
    gt_op_index *behind, *next;
    gt_op_index *group_first; /* by number of a group */
    gt_op_index *last_next;   /* where the next group is to be noted */
    const uint32_t *edge_from, *edge_to;
    const struct gt_workload *w;
    const struct gt_device *device;
    gt_op_index first, end;
    uint32_t *group_of;    /* by operation: the number of its group; 0: it has not gone */
    uint32_t groups;       /* so far */
    uint32_t *left;        /* by operation: dependences within its graph that have not gone; and behind_copy */
    gt_op_index *group;    /* what goes with the group: from the first, who has gone and who is ready to */
    struct gt_heap ready;  /* nodes that may begin a group, the first created on top */
    gt_time_ps written_ps; /* so far, since the launch began */
};

/* Does the node go to a copy engine? */
static bool copies(const struct launch *launch, gt_op_index op)
{
    const struct gt_op *o = &launch->w->ops[op];

    return o->kind == GT_OP_COPY || o->kind == GT_OP_HOST_FUNCTION ||
           (o->kind == GT_OP_MEMSET && o->bytes <= launch->device->copied_memset_bytes);
}

static bool in_graph(const struct launch *launch, gt_op_index op)
{
    return op >= launch->first && op < launch->end;
}

/* A bit of `left`: one of the dependences copies. */
static const uint32_t behind_copy = UINT32_C(1) << 31;

static uint32_t edges_from(const struct launch *launch, gt_op_index op)
{
    return launch->edge_from == NULL ? 0 : launch->edge_from[op + 1] - launch->edge_from[op];
}

static void may_begin(struct launch *launch, gt_op_index op)
{
    gt_heap_push(&launch->ready, (struct gt_heap_event){ .time_ps = op, .subject = op });
}

/* The node goes: what it makes ready goes with it, behind the `count` that do, or may begin a group. */
static uint32_t write_node(struct launch *launch, gt_op_index op, uint32_t count)
{
    bool copy = copies(launch, op);

    launch->group_of[op] = launch->groups;
    launch->written_ps += copy ? launch->device->graph_copy_ps : launch->device->graph_node_ps;
    for (uint32_t i = 0; i < edges_from(launch, op); i++) {
        gt_op_index next = launch->edge_to[launch->edge_from[op] + i];

        if (!in_graph(launch, next))
            continue;
        if (copy)
            launch->left[next] |= behind_copy;
        launch->left[next]--;
        if (launch->left[next] == 0 && !copies(launch, next))
            launch->group[count++] = next;
        else if ((launch->left[next] & ~behind_copy) == 0)
            may_begin(launch, next);
    }
    return count;
}

static void write_group(struct launch *launch, gt_op_index first)
{
    uint32_t count = 1;

    launch->groups++;
    launch->written_ps += launch->device->graph_group_ps;
    launch->group[0] = first;
    launch->group_first[launch->groups] = first;
    *launch->last_next = first;
    launch->last_next = &launch->next[first];
    launch->begins[first] = true;
    for (uint32_t i = 0; i < count; i++)
        count = write_node(launch, launch->group[i], count);
    while (count > 0)
        launch->node_ps[launch->group[--count]] = launch->written_ps;
}

/* Node `next` comes after `op` of another group. */
static void wait_for(struct launch *launch, gt_op_index op, gt_op_index next)
{
    gt_op_index *behind = &launch->behind[next];

    launch->waits[next] = true;
    if (*behind == GT_NONE || launch->group_of[*behind] < launch->group_of[op])
        *behind = launch->group_first[launch->group_of[op]];
}

static void write_graph(struct launch *launch, const struct gt_call *call, gt_op_index *first)
{
    launch->last_next = first;
    launch->first = call->first_op;
    launch->end = call->first_op + call->ops;
    launch->written_ps = launch->device->graph_call_ps;
    for (gt_op_index op = launch->first; op < launch->end; op++) {
        for (uint32_t i = 0; i < edges_from(launch, op); i++) {
            gt_op_index next = launch->edge_to[launch->edge_from[op] + i];

            launch->left[next] += in_graph(launch, next);
        }
    }
    for (gt_op_index op = launch->first; op < launch->end; op++) {
        if (launch->left[op] == 0)
            may_begin(launch, op);
    }
    while (launch->ready.count > 0)
        write_group(launch, gt_heap_pop(&launch->ready).subject);
    for (gt_op_index op = launch->first; op < launch->end; op++) {
        for (uint32_t i = 0; i < edges_from(launch, op); i++) {
            gt_op_index next = launch->edge_to[launch->edge_from[op] + i];

            if (in_graph(launch, next) && launch->group_of[op] != launch->group_of[next])
                wait_for(launch, op, next);
        }
    }
}

/* Is there any graph that has a time of its own to launch? */
static bool any_graph(const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->call_count; i++) {
        if (w->calls[i].kind == GT_CALL_GRAPH_LAUNCH && w->calls[i].ops > 0)
            return true;
    }
    return false;
}

static gt_op_index *all_none(uint32_t count)
{
    gt_op_index *ops = gt_realloc(NULL, count + 1ull, sizeof *ops);

    memset(ops, 0xff, (count + 1ull) * sizeof *ops);
    return ops;
}

void gt_graph_launches_make(struct gt_graph_launches *launches, const struct gt_workload *w,
                            const struct gt_device *device, const uint32_t *edge_from, const uint32_t *edge_to)
{
    struct launch launch = { .w = w, .device = device, .edge_from = edge_from, .edge_to = edge_to };

    memset(launches, 0, sizeof *launches);
    if (!any_graph(w))
        return;
    launches->node_ps = launch.node_ps = gt_calloc(w->op_count + 1ull, sizeof *launches->node_ps);
    launches->waits = launch.waits = gt_calloc(w->op_count + 1ull, sizeof *launches->waits);
    launches->begins = launch.begins = gt_calloc(w->op_count + 1ull, sizeof *launches->begins);
    launches->behind = launch.behind = all_none(w->op_count);
    launches->next = launch.next = all_none(w->op_count);
    launches->first = all_none(w->call_count);
    launches->call_ps = gt_calloc(w->call_count + 1ull, sizeof *launches->call_ps);
    launch.group_of = gt_calloc(w->op_count + 1ull, sizeof *launch.group_of);
    launch.left = gt_calloc(w->op_count + 1ull, sizeof *launch.left);
    launch.group = gt_calloc(w->op_count + 1ull, sizeof *launch.group);
    launch.group_first = gt_calloc(w->op_count + 1ull, sizeof *launch.group_first);
    for (uint32_t i = 0; i < w->call_count; i++) {
        if (w->calls[i].kind != GT_CALL_GRAPH_LAUNCH || w->calls[i].ops == 0)
            continue;
        write_graph(&launch, &w->calls[i], &launches->first[i]);
        launches->call_ps[i] = launch.written_ps;
    }
    gt_heap_free(&launch.ready);
    free(launch.group_of);
    free(launch.left);
    free(launch.group);
    free(launch.group_first);
}

void gt_graph_launches_free(struct gt_graph_launches *launches)
{
    free(launches->node_ps);
    free(launches->call_ps);
    free(launches->waits);
    free(launches->begins);
    free(launches->behind);
    free(launches->next);
    free(launches->first);
}
