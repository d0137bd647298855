/* Hardware queues: streams share a limited number of connections (CUDA_DEVICE_MAX_CONNECTIONS).
 *
 * A connection is a FIFO in order of submission.  Only its head may act: a kernel leaves it when all
 * its blocks are dispatched, a copy when its engine's queue has it, a wait when it is satisfied.  So
 * an item that waits for its own stream holds back the other streams of its connection: the false
 * dependencies of Bakita & Anderson, RTAS'24 (a channel frees when the last kernel of its stream is
 * fully dispatched). */
#include "sim/machine/machine.h"

static struct gt_queue_state *queue_of(const struct gt_machine *m, uint32_t item)
{
    return &m->queues[m->streams[m->items[item].stream].queue];
}

void gt_queue_push(struct gt_machine *m, uint32_t item)
{
    struct gt_queue_state *queue = queue_of(m, item);

    m->items[item].in_queue = true;
    m->items[item].queue_next = GT_NONE;
    if (queue->head == GT_NONE) {
        queue->head = item;
        m->gpus[m->streams[m->items[item].stream].gpu].queues_waiting++;
    } else {
        m->items[queue->tail].queue_next = item;
    }
    queue->tail = item;
}

bool gt_queue_allows(const struct gt_machine *m, uint32_t item)
{
    return !m->items[item].in_queue || queue_of(m, item)->head == item;
}

void gt_queue_leave(struct gt_machine *m, uint32_t item)
{
    struct gt_queue_state *queue = queue_of(m, item);
    uint32_t next = m->items[item].queue_next;

    if (!m->items[item].in_queue)
        return;
    if (queue->head != item)
        gt_bug("an item leaves its hardware queue from behind the head");
    m->items[item].in_queue = false;
    queue->head = next;
    if (next == GT_NONE) {
        m->gpus[m->streams[m->items[item].stream].gpu].queues_waiting--;
        return;
    }
    if (m->items[next].stream != m->items[item].stream && m->items[item].kind == GT_ITEM_OP)
        gt_item_mark(m, next, GT_WAIT_QUEUE, m->engine.now_ps, GT_CAUSE_OP, m->items[item].index);
    /* Not at once: whoever leaves is in the middle of its own step. */
    gt_stream_wake(m, m->items[next].stream, m->engine.now_ps);
}
