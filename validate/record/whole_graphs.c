/* whole_graphs.c - launches of graphs that CUPTI times as a whole.
 *
 * Timing each node takes the GPU some 0.7 us a node. So the first launches of each executable graph are timed node by node, and
 * later ones as a whole; the importer gives these the nodes of the earlier ones (traces/recorded/whole_graphs.c).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "validate/record/internal.h"

enum { GRAPHS = 1 << 16, ALWAYS_NODES = UINT16_MAX };

static uint32_t sampled_launches = UINT32_MAX; /* of each graph, node by node; UINT32_MAX: all */
static _Atomic uint16_t launches_seen[GRAPHS]; /* by the executable graph's number, so many of these at most */
static _Atomic bool whole;                     /* launches are timed so now */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void gt_whole_graphs_open(void)
{
    const char *text = getenv("GRIDTIDE_RECORD_GRAPH_LAUNCHES");

    if (text != NULL && *text != '\0')
        sampled_launches = (uint32_t)strtoul(text, NULL, 10);
}

static bool is_wanted(void)
{
    return sampled_launches < ALWAYS_NODES && gt_api.cuptiActivityEnable != NULL;
}

void gt_whole_graphs_switch(bool on)
{
    CUptiResult result;

    if (!is_wanted() || atomic_load_explicit(&whole, memory_order_relaxed) == on)
        return;
    pthread_mutex_lock(&lock);
    if (atomic_load(&whole) != on) {
        result = on ? gt_api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
                    : gt_api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
        if (result == CUPTI_SUCCESS)
            atomic_store(&whole, on);
        else
            sampled_launches = UINT32_MAX; /* it cannot be done here */
    }
    pthread_mutex_unlock(&lock);
}

void gt_whole_graphs_launch(CUgraphExec executable)
{
    uint32_t number = 0;
    uint16_t seen = ALWAYS_NODES;

    if (!is_wanted() || executable == NULL || gt_api.cuptiGetGraphExecId(executable, &number) != CUPTI_SUCCESS)
        return;
    if (number < GRAPHS)
        seen = atomic_load_explicit(&launches_seen[number], memory_order_relaxed);
    gt_whole_graphs_switch(seen != ALWAYS_NODES && seen >= sampled_launches);
    if (seen < sampled_launches && seen != ALWAYS_NODES)
        atomic_fetch_add(&launches_seen[number], 1);
}

void gt_whole_graphs_changed(uint32_t number, bool varies)
{
    if (number < GRAPHS && (varies || atomic_load(&launches_seen[number]) != ALWAYS_NODES))
        atomic_store(&launches_seen[number], varies ? ALWAYS_NODES : 0);
}
