/* An operator a kernel: in a stream, in several, in a CUDA graph. */
#include <stdlib.h>
#include <string.h>

#include "sim/schedule/form.h"

void gt_form_stream(const struct gt_form_input *input, struct gt_workload *to, struct gt_form_size *size)
{
    gt_stream_index stream = gt_form_stream_new(to);

    for (uint32_t i = 0; i < input->graph->operator_count; i++)
        gt_form_launch(to, gt_form_kernel(input, input->graph->by_level[i], to, size), stream);
}

/* Streams while operators are assigned to them. */
struct assigning {
    const struct gt_operator_graph *graph;
    struct gt_workload *to;
    uint32_t streams, next;  /* how many; who is next in turn */
    gt_operator_index *last; /* of each stream; GT_NONE */
    uint32_t *stream_of;     /* of each operator */
    gt_event_index *events;  /* of each operator, recorded behind it; GT_NONE: none yet */
};

/* Behind a predecessor that is the last of its stream an operator needs no event for that one; else streams take turns. */
static uint32_t pick_stream(struct assigning *assigning, gt_operator_index op)
{
    const struct gt_operator *this = &assigning->graph->operators[op];
    uint32_t stream;

    for (uint32_t i = 0; i < this->predecessors; i++) {
        gt_operator_index before = assigning->graph->predecessors[this->first_predecessor + i];

        if (assigning->last[assigning->stream_of[before]] == before)
            return assigning->stream_of[before];
    }
    stream = assigning->next;
    assigning->next = (assigning->next + 1) % assigning->streams;
    return stream;
}

/* The events of predecessors in other streams.  One that is not yet recorded could not be waited for: each operator with a
 * successor elsewhere records its own right behind it. */
static void wait_for_others(struct assigning *assigning, gt_operator_index op)
{
    const struct gt_operator *this = &assigning->graph->operators[op];

    for (uint32_t i = 0; i < this->predecessors; i++) {
        gt_operator_index before = assigning->graph->predecessors[this->first_predecessor + i];

        if (assigning->stream_of[before] != assigning->stream_of[op])
            gt_form_call(assigning->to, GT_CALL_EVENT_WAIT, assigning->stream_of[op])->event =
                assigning->events[before];
    }
}

static void record(struct assigning *assigning, gt_operator_index op)
{
    gt_event_index event = gt_workload_add_event(assigning->to);

    assigning->to->events[event].id = event + 1;
    assigning->to->events[event].name = GT_NONE;
    assigning->events[op] = event;
    gt_form_call(assigning->to, GT_CALL_EVENT_RECORD, assigning->stream_of[op])->event = event;
}

/* Which operators have a successor in another stream: streams are picked first, launches written after. */
static bool *find_recorded(const struct assigning *assigning)
{
    const struct gt_operator_graph *graph = assigning->graph;
    bool *recorded = gt_calloc(graph->operator_count, sizeof *recorded);

    for (gt_operator_index op = 0; op < graph->operator_count; op++)
        for (uint32_t k = 0; k < graph->operators[op].predecessors; k++) {
            gt_operator_index before = graph->predecessors[graph->operators[op].first_predecessor + k];

            recorded[before] = recorded[before] || assigning->stream_of[before] != assigning->stream_of[op];
        }
    return recorded;
}

void gt_form_streams(const struct gt_form_input *input, struct gt_workload *to, struct gt_form_size *size)
{
    const struct gt_operator_graph *graph = input->graph;
    struct assigning assigning = {
        .graph = graph,
        .to = to,
        .streams = input->streams,
        .last = gt_calloc(input->streams, sizeof *assigning.last),
        .stream_of = gt_calloc(graph->operator_count, sizeof *assigning.stream_of),
        .events = gt_calloc(graph->operator_count, sizeof *assigning.events),
    };
    bool *recorded;

    memset(assigning.last, 0xff, input->streams * sizeof *assigning.last); /* GT_NONE */
    for (uint32_t i = 0; i < input->streams; i++)
        gt_form_stream_new(to);
    for (uint32_t i = 0; i < graph->operator_count; i++) {
        gt_operator_index op = graph->by_level[i];

        assigning.stream_of[op] = pick_stream(&assigning, op);
        assigning.last[assigning.stream_of[op]] = op;
    }
    recorded = find_recorded(&assigning);
    for (uint32_t i = 0; i < graph->operator_count; i++) {
        gt_operator_index op = graph->by_level[i];

        wait_for_others(&assigning, op);
        gt_form_launch(to, gt_form_kernel(input, op, to, size), assigning.stream_of[op]);
        if (recorded[op])
            record(&assigning, op);
    }
    free(assigning.last);
    free(assigning.stream_of);
    free(assigning.events);
    free(recorded);
}

void gt_form_graph(const struct gt_form_input *input, struct gt_workload *to, struct gt_form_size *size)
{
    const struct gt_operator_graph *graph = input->graph;
    gt_stream_index stream = gt_form_stream_new(to);
    gt_op_index *ops = gt_calloc(graph->operator_count, sizeof *ops);

    gt_form_call(to, GT_CALL_GRAPH_LAUNCH, stream);
    for (uint32_t i = 0; i < graph->operator_count; i++) {
        gt_operator_index op = graph->by_level[i];

        ops[op] = to->op_count;
        gt_form_op(to, gt_form_kernel(input, op, to, size), stream);
        for (uint32_t k = 0; k < graph->operators[op].predecessors; k++)
            gt_workload_add_after(to, ops[op], ops[graph->predecessors[graph->operators[op].first_predecessor + k]]);
    }
    size->launches = 1;
    free(ops);
}
