/* The table of forms, and what they share. */
#include "sim/schedule/form.h"

#include <stdlib.h>
#include <string.h>

const struct gt_form gt_forms[] = {
    { { .name = "rprogram", .help = "a persistent kernel whose workers follow the plan" }, true, gt_form_rprogram },
    { { .name = "stream", .help = "one launch per operator, in one stream" }, false, gt_form_stream },
    { { .name = "streams", .help = "the same in several streams, joined by events" }, false, gt_form_streams },
    { { .name = "graph", .help = "the same as a CUDA graph" }, false, gt_form_graph },
};
const size_t gt_form_count = sizeof gt_forms / sizeof gt_forms[0];

static uint32_t intern(struct gt_workload *to, const char *text)
{
    return text == NULL ? GT_NONE : gt_name(to, text, strlen(text));
}

struct gt_workload *gt_form_write(const struct gt_form *form, const struct gt_form_input *given,
                                  struct gt_form_size *size)
{
    struct gt_workload *to = gt_workload_new();
    uint64_t *places = gt_operator_graph_places(given->graph);
    struct gt_form_input input = *given;
    const char *name = input.graph->name != NULL ? input.graph->name : "network";
    gt_gpu_index gpu = gt_workload_add_gpu(to);
    gt_thread_index thread = gt_workload_add_thread(to);

    *size = (struct gt_form_size){ 0 };
    to->name = input.plan == NULL ? gt_format("%s %s", name, form->named.name)
                                  : gt_format("%s %s %s %s", name, form->named.name, input.policy,
                                              gt_barriers_names[input.plan->barriers]);
    to->device = gt_strdup(input.graph->device);
    to->gpus[gpu].name = GT_NONE;
    to->threads[thread].name = intern(to, "main");
    input.places = places;
    form->write(&input, to, size);
    free(places);
    gt_form_call(to, GT_CALL_DEVICE_SYNC, GT_NONE);
    return to;
}

gt_stream_index gt_form_stream_new(struct gt_workload *to)
{
    gt_stream_index stream = gt_workload_add_stream(to);

    to->streams[stream].id = stream + 1;
    to->streams[stream].name = GT_NONE;
    to->streams[stream].flags = GT_STREAM_NON_BLOCKING;
    return stream;
}

struct gt_call *gt_form_call(struct gt_workload *to, enum gt_call_kind kind, gt_stream_index stream)
{
    gt_call_index added = gt_workload_add_call(to);
    struct gt_call *call = &to->calls[added];

    call->kind = (uint8_t)kind;
    call->stream = stream;
    call->first_op = to->op_count;
    return call;
}

struct gt_op *gt_form_op(struct gt_workload *to, gt_kernel_index kernel, gt_stream_index stream)
{
    gt_op_index added = gt_workload_add_op(to);
    struct gt_op *op = &to->ops[added];

    op->kind = GT_OP_KERNEL;
    op->call = to->call_count - 1;
    op->stream = stream;
    op->kernel = kernel;
    to->calls[op->call].ops++;
    return op;
}

void gt_form_launch(struct gt_workload *to, gt_kernel_index kernel, gt_stream_index stream)
{
    gt_form_call(to, GT_CALL_LAUNCH, stream);
    gt_form_op(to, kernel, stream);
}

/* A text that is nobody's any more. */
static uint32_t intern_owned(struct gt_workload *to, char *text)
{
    uint32_t name = intern(to, text);

    free(text);
    return name;
}

uint32_t gt_form_name(struct gt_workload *to, const struct gt_operator_kind *kind,
                      const struct gt_implementation *implementation)
{
    return intern_owned(to, implementation->name != NULL ? gt_format("%s/%s", kind->name, implementation->name)
                                                         : gt_strdup(kind->name));
}

/* What a launch of an operator with buffers runs: the library's kernel for it, told where they lie. */
static void set_work(const struct gt_form_input *input, gt_operator_index op, const struct gt_implementation *fastest,
                     struct gt_workload *to, struct gt_kernel *kernel)
{
    const struct gt_operator *this = &input->graph->operators[op];
    const char *arguments = fastest->arguments != NULL ? fastest->arguments : "{}";
    char *text;

    if (fastest->runs == NULL || this->accesses == 0)
        return;
    text = gt_format("{\"work\":\"%s\",\"at\":\"", fastest->runs);
    for (uint32_t i = 0; i < this->accesses; i++) {
        uint64_t place = input->places[input->graph->accesses[this->first_access + i].buffer];
        char *longer = gt_format("%s%s%llu", text, i > 0 ? " " : "", (unsigned long long)place);

        free(text);
        text = longer;
    }
    kernel->runs = gt_name(to, "operator", strlen("operator"));
    kernel->arguments = intern_owned(to, gt_format("%s\"%s%s", text, arguments[1] != '}' ? "," : "", arguments + 1));
    free(text);
}

gt_kernel_index gt_form_kernel(const struct gt_form_input *input, gt_operator_index op, struct gt_workload *to,
                               struct gt_form_size *size)
{
    const struct gt_operator_kind *kind = &input->graph->kinds[input->graph->operators[op].kind];
    const struct gt_implementation *fastest = &kind->implementations[gt_fastest_implementation(kind, input->workers)];
    gt_time_ps block_ps = fastest->block_ps != 0 ? fastest->block_ps : fastest->task_ps;
    struct gt_kernel kernel = {
        .name = gt_form_name(to, kind, fastest),
        .grid = { fastest->tasks, 1, 1 },
        .block = { input->graph->block_threads, 1, 1 },
        .cluster = { 1, 1, 1 },
        .registers_per_thread = fastest->registers_per_thread,
        .static_shared_bytes = fastest->shared_bytes,
        .cost = GT_COST_FIXED,
        .block_min_ps = block_ps,
        .block_max_ps = block_ps,
        .duration_ps = GT_TIME_NONE,
        .runs = GT_NONE,
        .arguments = GT_NONE,
    };

    size->tasks += fastest->tasks;
    set_work(input, op, fastest, to, &kernel);
    size->work_ps += block_ps * fastest->tasks;
    size->launches++;
    return gt_workload_kernel(to, &kernel);
}
