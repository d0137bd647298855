#include "sim/stream/graph_executable.h"

#include <stdlib.h>

#include "sim/workload/executables.h"

void gt_graph_executables_build(struct gt_machine *m)
{
    uint32_t count;

    m->executable_of_call = gt_executables_of_calls(m->workload, &count);
    if (m->executable_of_call != NULL)
        m->executables = gt_calloc(count, sizeof *m->executables);
}

void gt_graph_executables_free(struct gt_machine *m)
{
    free(m->executable_of_call);
    free(m->executables);
}

void gt_graph_executable_submit(struct gt_machine *m, gt_command_index graph)
{
    struct gt_stream_command *c = &m->commands[graph];
    uint32_t executable = m->executable_of_call != NULL ? m->executable_of_call[c->index] : GT_NONE;
    struct gt_executable_state *last;

    if (executable == GT_NONE)
        return;
    last = &m->executables[executable];
    if (last->number != 0 && last->stream != c->stream) {
        c->target_stream = last->stream;
        c->target_number = last->number;
    }
    *last = (struct gt_executable_state){ c->stream, c->number };
}
