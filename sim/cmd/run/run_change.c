/* run_change.c - what `gridtide run` was asked to change: what that scales, and what is taken for granted. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/print/terminal.h"
#include "sim/cmd/run/run_parts.h"

enum { INDENT = 2 };

bool gt_run_same_device(const struct gt_device *one, const struct gt_device *other)
{
    for (size_t i = 0; i < gt_device_key_count; i++)
        if (!gt_device_same_key(one, other, &gt_device_keys[i]))
            return false;
    return true;
}

/* Kernel launches that last as their programs say only because that was asked for. */
static uint64_t programmed_launches(const struct gt_run_work *work)
{
    const struct gt_workload *workload = work->workload;
    uint64_t count = 0;

    if (!work->asked.simulated.program_cost || work->without.simulated.program_cost)
        return 0;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const struct gt_op *op = &workload->ops[i];
        const struct gt_kernel_model_launch *launch =
            op->kind == GT_OP_KERNEL ? gt_kernel_model_launch(work->asked.modelled, i) : NULL;

        count += launch != NULL && launch->failure == NULL;
    }
    return count;
}

/* Is anything known of how long a kernel that has a program took? */
static bool has_other_cost(const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const struct gt_op *op = &workload->ops[i];
        const struct gt_kernel *kernel = op->kind == GT_OP_KERNEL ? &workload->kernels[op->kernel] : NULL;

        if (kernel != NULL && kernel->program != NULL &&
            (op->duration_ps != GT_TIME_NONE || kernel->duration_ps != GT_TIME_NONE || kernel->cost != GT_COST_NONE))
            return true;
    }
    return false;
}

bool gt_run_is_change(const struct gt_run_work *work)
{
    const struct gt_options *asked = &work->asked.simulated, *without = &work->without.simulated;

    return work->asked.played != NULL || asked->serialize != without->serialize ||
           (asked->program_cost && gt_has_programs(work->workload) && has_other_cost(work->workload)) ||
           !gt_run_same_device(&work->asked.device, &work->without.device);
}

/* Who hears the texts. */
struct listener {
    gt_run_said *said;
    void *user;
};

static void item(const struct listener *listener, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void item(const struct listener *listener, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = gt_vformat(format, arguments);
    va_end(arguments);
    listener->said(listener->user, text);
    free(text);
}

/* The most streams that operations of one context use. */
static uint32_t streams_used(const struct gt_workload *workload)
{
    bool *used = gt_calloc(workload->stream_count + 1ull, sizeof *used);
    uint32_t most = 0;

    for (uint32_t i = 0; i < workload->op_count; i++)
        used[workload->ops[i].stream] = true;
    for (uint32_t i = 0; i < workload->stream_count; i++) {
        uint32_t beside = 0;

        for (uint32_t j = 0; j < workload->stream_count; j++)
            beside += used[j] && workload->streams[j].gpu == workload->streams[i].gpu &&
                      workload->streams[j].context == workload->streams[i].context;
        most = beside > most ? beside : most;
    }
    free(used);
    return most;
}

static void tell_streams(const struct listener *listener, const struct gt_run_work *work)
{
    if (work->arguments->streams > 0)
        item(listener, "streams %" PRIu32 " -> %" PRIu32, streams_used(work->workload), work->arguments->streams);
}

static void tell_keys(const struct listener *listener, const struct gt_run_work *work)
{
    const struct gt_run_arguments *arguments = work->arguments;

    for (size_t i = 0; i < arguments->setting_count; i++) {
        char *key = strndup(arguments->settings[i], strcspn(arguments->settings[i], "="));
        char value[GT_DEVICE_VALUE_BYTES], before[GT_DEVICE_VALUE_BYTES];
        const struct gt_key *row = gt_device_find_key(key);

        gt_device_get(&work->asked.device, row, value, sizeof value);
        gt_device_get(&work->without.device, row, before, sizeof before);
        item(listener, "%.60s %.100s -> %.100s", key, before[0] != '\0' ? before : "none",
             value[0] != '\0' ? value : "none");
        free(key);
    }
}

static void tell_device(const struct listener *listener, const struct gt_run_work *work)
{
    const struct gt_device *asked = &work->asked.device, *without = &work->without.device;

    if (work->arguments->model.device != NULL && !gt_run_same_device(asked, without))
        item(listener,
             "device %s -> %s: %" PRIu32 " -> %" PRIu32 " SMs, %" PRIu32 " -> %" PRIu32 " MHz, DRAM %.0f -> %.0f "
             "GB/s, and all other keys of its file except the host's",
             without->name, asked->name, without->sms, asked->sms, without->clock_mhz, asked->clock_mhz,
             without->warp.dram_gbps, asked->warp.dram_gbps);
}

static void tell_cost(const struct listener *listener, const struct gt_run_work *work)
{
    uint64_t launches = programmed_launches(work);

    if (launches > 0)
        item(listener,
             "cost: the durations of %" PRIu64 " kernel launches are simulated from their machine code on this "
             "device, not recorded or stated; cache hit rates are those of the profile",
             launches);
    if (work->arguments->model.task_costs != NULL)
        item(listener, "tasks: their times are those of %.300s, with the contention that they had there",
             work->arguments->model.task_costs);
}

void gt_run_each_change(const struct gt_run_work *work, gt_run_said *said, void *user)
{
    const struct listener all = { said, user }, *listener = &all;

    tell_streams(listener, work);
    if (work->arguments->options.serialize)
        item(listener, "serialized: every operation waits for the one before it, and the host waits for every "
                       "operation; nothing overlaps");
    tell_device(listener, work);
    tell_keys(listener, work);
    tell_cost(listener, work);
    for (uint32_t i = 0; i < work->engine.answer.scenario.assumption_count; i++)
        item(listener, "%s", work->engine.answer.scenario.assumptions[i]);
}

static void print_folded(void *out, const char *text)
{
    gt_fold_print(out, INDENT, text);
}

void gt_run_print_change(FILE *out, const struct gt_run_work *work)
{
    fputs("Changed and assumed:\n", out);
    gt_run_each_change(work, print_folded, out);
}
