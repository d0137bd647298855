/* form.h - an operator graph as a program that can be run: in what form the GPU is given its operators.
 *
 *   rprogram  the plan: a persistent kernel whose blocks are the workers, each with its list of tasks
 *   stream    an operator a kernel launch, a task a block, in a topological order into one stream
 *   streams   the same assigned to several streams, joined by events
 *   graph     the same as one CUDA graph
 *
 * All but the first launch fastest implementations, as frameworks do (the paper's RammerBase), and ask nothing of a plan.
 * A form of one's own is one file with the function, its declaration here and a row of the table in forms.c.
 */
#ifndef GRIDTIDE_SIM_SCHEDULE_FORM_H
#define GRIDTIDE_SIM_SCHEDULE_FORM_H

#include "sim/base/named_table.h"
#include "sim/schedule/plan.h"

struct gt_form_input {
    const struct gt_operator_graph *graph;
    const struct gt_plan *plan; /* NULL where the form asks for none */
    const char *policy;         /* its name; NULL where the form asks for no plan */
    uint32_t workers;           /* those by which an implementation is the fastest */
    uint32_t streams;
    const uint64_t *places; /* of the graph's buffers: gt_operator_graph_places(); gt_form_write() sets it */
};

/* What was written, in numbers. */
struct gt_form_size {
    uint64_t tasks, launches, counters, waits;
    gt_time_ps work_ps; /* of all tasks in a row */
};

struct gt_form {
    struct gt_named named;
    bool planned; /* it needs a plan */
    void (*write)(const struct gt_form_input *input, struct gt_workload *to, struct gt_form_size *size);
};
extern const struct gt_form gt_forms[];
extern const size_t gt_form_count;

void gt_form_rprogram(const struct gt_form_input *input, struct gt_workload *to, struct gt_form_size *size);
void gt_form_stream(const struct gt_form_input *input, struct gt_workload *to, struct gt_form_size *size);
void gt_form_streams(const struct gt_form_input *input, struct gt_workload *to, struct gt_form_size *size);
void gt_form_graph(const struct gt_form_input *input, struct gt_workload *to, struct gt_form_size *size);

/* The workload of that form, the caller's; its name is the graph's with the form, and how it was planned. */
struct gt_workload *gt_form_write(const struct gt_form *form, const struct gt_form_input *given,
                                  struct gt_form_size *size);

/* What forms share: a stream (numbered from 1), a call of the one thread, a call with one operation, the kernel that is an
 * operator's fastest implementation, the time of a task in `size`. */
gt_stream_index gt_form_stream_new(struct gt_workload *to);
struct gt_call *gt_form_call(struct gt_workload *to, enum gt_call_kind kind, gt_stream_index stream);
void gt_form_launch(struct gt_workload *to, gt_kernel_index kernel, gt_stream_index stream);
struct gt_op *gt_form_op(struct gt_workload *to, gt_kernel_index kernel, gt_stream_index stream);
gt_kernel_index gt_form_kernel(const struct gt_form_input *input, gt_operator_index op, struct gt_workload *to,
                               struct gt_form_size *size);
/* "KIND", or "KIND/IMPLEMENTATION" where that has a name, interned. */
uint32_t gt_form_name(struct gt_workload *to, const struct gt_operator_kind *kind,
                      const struct gt_implementation *implementation);

#endif
