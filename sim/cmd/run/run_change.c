/* run_change.c - what `gridtide run` was asked to change: what that scales, and what is taken for granted. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/print/fold.h"
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

static void item(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void item(FILE *out, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = gt_vformat(format, arguments);
    va_end(arguments);
    gt_fold_print(out, INDENT, text);
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

static void tell_streams(FILE *out, const struct gt_run_work *work)
{
    uint32_t used = streams_used(work->workload), count = work->dealt.assumption_count;

    if (work->arguments->streams == 0)
        return;
    item(out, "streams %" PRIu32 " -> %" PRIu32 "%s%s", used, work->arguments->streams, count > 0 ? ": " : "",
         count > 0 ? work->dealt.assumptions[0] : "");
    for (uint32_t i = 1; i < count; i++)
        item(out, "%s", work->dealt.assumptions[i]);
}

static void tell_keys(FILE *out, const struct gt_run_work *work)
{
    const struct gt_run_arguments *arguments = work->arguments;

    for (size_t i = 0; i < arguments->setting_count; i++) {
        char *key = strndup(arguments->settings[i], strcspn(arguments->settings[i], "="));
        char value[GT_DEVICE_VALUE_BYTES], before[GT_DEVICE_VALUE_BYTES];
        const struct gt_device_key *row = gt_device_find_key(key);

        gt_device_get(&work->asked.device, row, value, sizeof value);
        gt_device_get(&work->without.device, row, before, sizeof before);
        item(out, "%.60s %.100s -> %.100s", key, before[0] != '\0' ? before : "none",
             value[0] != '\0' ? value : "none");
        free(key);
    }
}

static void tell_device(FILE *out, const struct gt_run_work *work)
{
    const struct gt_device *asked = &work->asked.device, *without = &work->without.device;

    if (work->arguments->model.device != NULL && !gt_run_same_device(asked, without))
        item(out,
             "device %s -> %s: %" PRIu32 " -> %" PRIu32 " SMs, %" PRIu32 " -> %" PRIu32 " MHz, DRAM %.0f -> "
             "%.0f GB/s, and all other keys of its file; its host's calls and latencies where the trace does "
             "not show them",
             without->name, asked->name, without->sms, asked->sms, without->clock_mhz, asked->clock_mhz,
             without->warp.dram_gbps, asked->warp.dram_gbps);
}

/* Was something changed that kernels run on, and not only calls, latencies and copies? */
static bool changes_chip(const struct gt_run_work *work)
{
    static const char *const parts[] = { "chip.", "sm.", "memory.", "warp." };
    const struct gt_run_arguments *arguments = work->arguments;

    if (arguments->model.device != NULL)
        return true;
    for (size_t i = 0; i < arguments->setting_count; i++)
        for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++)
            if (strncmp(arguments->settings[i], parts[part], strlen(parts[part])) == 0)
                return true;
    return false;
}

/* How recorded and stated times of kernels go from one device to another (sim/machine/durations.c). */
static void tell_kernel_scaling(FILE *out, const struct gt_run_work *work)
{
    const struct gt_device *recorded = &work->asked.recorded, *asked = &work->asked.device;

    if (recorded->clock_mhz != asked->clock_mhz)
        item(out,
             "scaled: recorded and stated times of kernels by the SM clock alone, %.2f times as long; kernels "
             "that wait for memory are not scaled by its bandwidth, nor matrix kernels by their units",
             (double)recorded->clock_mhz / asked->clock_mhz);
    else
        item(out, "assumed: a block of a recorded kernel takes as long as it did, whatever other pipes, caches and "
                  "bandwidths there are");
    if (recorded->sms != asked->sms)
        item(out,
             "scaled: how many blocks of a kernel run at a time, by SMs and what fits one; a block takes as long "
             "as with %" PRIu32 " SMs, also where all of them share DRAM",
             recorded->sms);
}

static void tell_scaling(FILE *out, const struct gt_run_work *work)
{
    uint64_t kernels = 0;

    if (gt_run_same_device(&work->asked.device, &work->without.device))
        return;
    for (uint32_t i = 0; i < work->workload->op_count; i++)
        kernels += work->workload->ops[i].kind == GT_OP_KERNEL;
    if (changes_chip(work) && kernels > programmed_launches(work))
        tell_kernel_scaling(out, work);
    if (work->arguments->model.device != NULL)
        item(out, "scaled: copies and memsets by both devices' latencies and rates");
}

static void tell_cost(FILE *out, const struct gt_run_work *work)
{
    uint64_t launches = programmed_launches(work);

    if (launches > 0)
        item(out,
             "cost: %" PRIu64 " kernel launches last as their machine code says on this device, not as recorded "
             "or stated; hit rates of caches are those of the profile",
             launches);
}

void gt_run_print_change(FILE *out, const struct gt_run_work *work)
{
    fputs("changed, scaled and assumed:\n", out);
    tell_streams(out, work);
    if (work->arguments->options.serialize)
        item(out, "serialized: every operation waits for the one before it, and the host for it; nothing overlaps");
    tell_device(out, work);
    tell_keys(out, work);
    tell_cost(out, work);
    tell_scaling(out, work);
    item(out, "kept: the host's own work between its calls, and the order of calls of each thread");
}
