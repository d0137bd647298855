/* Findings about the parts of the breakdown: each says how much of the steps it is, and who it comes from. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/sort.h"
#include "sim/rewrite/call_kinds.h"
#include "traces/explain/findings_parts.h"
#include "traces/explain/host_time.h"
#include "traces/names/clean_text.h"
#include "traces/names/short_name.h"

enum { NAMED = 3, NAME_BYTES = 70, LIST_BYTES = 300 };

static double pct_of(const struct gt_finding_list *f, gt_time_ps ps)
{
    return f->breakdown->total_ps > 0 ? 100 * (double)ps / (double)f->breakdown->total_ps : 0;
}

static const char *steps_named(const struct gt_finding_list *f)
{
    return f->breakdown->marked ? "the steps" : "the run";
}

/* Is it a program of a framework, with operators? */
static bool has_operators(const struct gt_finding_list *f)
{
    for (uint32_t i = 0; i < f->t->range_count; i++)
        if (f->t->ranges[i].kind == GT_RANGE_OPERATOR)
            return true;
    return false;
}

static struct gt_finding *add_part(struct gt_finding_list *f, const char *word, enum gt_time_kind kind, gt_time_ps ps,
                                   const char *help, const char *change)
{
    struct gt_finding *finding = gt_finding_add(f, word, ps, help, change);

    finding->time_kind = (int)kind;
    return finding;
}

/* "aten::mm 1.20 s, aten::copy_ 810 ms": the ranges with most of a kind of host time. */
static void list_hosts(const struct gt_finding_list *f, enum gt_time_kind kind, char *text, size_t bytes)
{
    size_t used = 0, named = 0;

    text[0] = '\0';
    for (size_t i = 0; i < f->breakdown->host_count && named < NAMED && used < bytes; i++) {
        const struct gt_breakdown_host *host = &f->breakdown->hosts[i];

        if (host->kind == kind)
            used += (size_t)snprintf(text + used, bytes - used, "%s%.*s %s", named++ > 0 ? ", " : "", NAME_BYTES,
                                     host->name, gt_time_said((double)host->ps).s);
    }
}

static void find_data_loading(struct gt_finding_list *f)
{
    static const char several[] = "use more workers (num_workers), a larger prefetch_factor, or cheaper transforms";
    static const char none[] =
        "load in worker processes: DataLoader(num_workers=N, pin_memory=True, persistent_workers=True)";
    gt_time_ps ps = f->breakdown->ps[GT_TIME_DATA_LOADING];
    char list[LIST_BYTES];

    if (ps == 0)
        return;
    list_hosts(f, GT_TIME_DATA_LOADING, list, sizeof list);
    snprintf(add_part(f, "data-loading", GT_TIME_DATA_LOADING, ps,
                      strstr(list, "_SingleProcessDataLoaderIter") != NULL ? none : several, NULL)
                 ->text,
             sizeof f->rows->text, "the GPU is idle for %s (%.1f%% of %s) while the loop loads data: %s",
             gt_time_said((double)ps).s, pct_of(f, ps), steps_named(f), list);
}

static void find_host_code(struct gt_finding_list *f)
{
    gt_time_ps ps = f->breakdown->ps[GT_TIME_HOST];
    char list[LIST_BYTES];

    if (ps == 0)
        return;
    list_hosts(f, GT_TIME_HOST, list, sizeof list);
    snprintf(
        add_part(f, "host-code", GT_TIME_HOST, ps, gt_why_helps[GT_WHY_HOST_WORK], gt_why_changes[GT_WHY_HOST_WORK])
            ->text,
        sizeof f->rows->text, "the GPU is idle for %s (%.1f%% of %s) while the host runs code: %s",
        gt_time_said((double)ps).s, pct_of(f, ps), steps_named(f), list);
}

/* How long half of the operations that count run at most; how many they are. */
static gt_time_ps median_operation(const struct gt_finding_list *f, uint32_t *count)
{
    const struct gt_loaded_run *t = f->t;
    gt_time_ps *times_ps = gt_calloc(t->started + 1ull, sizeof *times_ps), median_ps;

    *count = 0;
    for (uint32_t i = 0; i < t->started; i++)
        if (gt_breakdown_counts_op(f->breakdown, t, t->by_start[i]))
            times_ps[(*count)++] = t->ops[t->by_start[i]].end_ps - t->ops[t->by_start[i]].start_ps;
    if (*count > 0)
        qsort(times_ps, *count, sizeof *times_ps, gt_by_u64);
    median_ps = times_ps[*count / 2];
    free(times_ps);
    return median_ps;
}

static void find_launches(struct gt_finding_list *f)
{
    gt_time_ps ps = f->breakdown->ps[GT_TIME_LAUNCH], median_ps;
    uint32_t operations;

    if (ps == 0)
        return;
    median_ps = median_operation(f, &operations);
    snprintf(add_part(f, "launch-bound", GT_TIME_LAUNCH, ps,
                      has_operators(f) ? "launch fewer, larger kernels: a larger batch, torch.compile, a CUDA graph"
                                       : "launch fewer, larger kernels, or all of them with one call: a CUDA graph",
                      gt_why_changes[GT_WHY_LAUNCH])
                 ->text,
             sizeof f->rows->text,
             "the GPU is idle for %s (%.1f%% of %s) during launch calls; half of the %" PRIu32 " operations run "
             "for %s or less",
             gt_time_said((double)ps).s, pct_of(f, ps), steps_named(f), operations,
             gt_time_said((double)median_ps).s);
}

/* loss.item(), .cpu(), print(tensor), nonzero(): the host waits, and the GPU runs dry behind it. */
static void find_waits(struct gt_finding_list *f)
{
    const struct gt_breakdown_waits *waits = &f->breakdown->waits;

    if (waits->ps == 0)
        return;
    snprintf(add_part(f, "synchronisation", GT_TIME_SYNCHRONISATION, waits->ps, gt_why_helps[GT_WHY_HOST_BLOCKED],
                      gt_why_changes[GT_WHY_HOST_BLOCKED])
                 ->text,
             sizeof f->rows->text,
             "the GPU is idle for %s (%.1f%% of %s) after %" PRIu64
             " host waits for the GPU, until the next launch; longest after %s in %.100s",
             gt_time_said((double)waits->ps).s, pct_of(f, waits->ps), steps_named(f), waits->count, waits->call,
             waits->range);
}

static void find_allocations(struct gt_finding_list *f)
{
    const struct gt_loaded_run *t = f->t;
    uint64_t times = 0;
    gt_time_ps ps = 0, most_ps = 0;
    const char *most = "";

    for (uint32_t i = 0; i < t->call_count && f->breakdown->marked; i++) {
        const struct gt_loaded_call *call = &t->calls[i];

        if (!call->there || !gt_name_allocates(t->names[call->name]) ||
            !gt_breakdown_counts(f->breakdown, t->processes[call->thread], call->start_ps))
            continue;
        times++;
        ps += call->end_ps - call->start_ps;
        if (call->end_ps - call->start_ps > most_ps) {
            most_ps = call->end_ps - call->start_ps;
            most = t->names[call->name];
        }
    }
    if (times == 0)
        return;
    snprintf(add_part(f, "allocation", GT_TIME_HOST, ps,
                      "allocate before the loop: constant shapes, no torch.cuda.empty_cache() in the loop, "
                      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                      NULL)
                 ->text,
             sizeof f->rows->text,
             "%" PRIu64 " calls allocate or free memory within %s and take %s (%.1f%%); the longest is %s, "
             "%s",
             times, steps_named(f), gt_time_said((double)ps).s, pct_of(f, ps), most, gt_time_said((double)most_ps).s);
}

struct named_time {
    const char *name;
    gt_time_ps ps;
};

static int by_most(const void *a, const void *b)
{
    const struct named_time *left = a, *right = b;

    if (left->ps != right->ps)
        return left->ps > right->ps ? -1 : 1;
    return strcmp(left->name, right->name);
}

static int by_name(const void *a, const void *b)
{
    const struct named_time *left = a, *right = b;

    return strcmp(left->name, right->name);
}

/* Kernels of one name in different shapes are one.  Returns how many are left, most time first. */
static size_t join_names(struct named_time *times, size_t count)
{
    size_t kept = 0;

    qsort(times, count, sizeof *times, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && strcmp(times[kept - 1].name, times[i].name) == 0)
            times[kept - 1].ps += times[i].ps;
        else
            times[kept++] = times[i];
    }
    qsort(times, kept, sizeof *times, by_most);
    return kept;
}

/* The kernels with most time, those that communicate or the others, into `text`. */
static void list_kernels(const struct gt_finding_list *f, bool communicate, char *text, size_t bytes)
{
    const struct gt_loaded_run *t = f->t;
    struct named_time *times = gt_calloc(t->kernel_count + 1ull, sizeof *times);
    gt_time_ps all_ps = 0;
    size_t used = 0, count;

    for (uint32_t i = 0; i < t->kernel_count; i++)
        times[i].name = t->kernels[i].name;
    for (uint32_t i = 0; i < t->started; i++) {
        const struct gt_loaded_op *op = &t->ops[t->by_start[i]];

        if (op->kind != GT_OP_KERNEL || gt_is_collective_kernel(&t->kernels[op->kernel]) != communicate ||
            !gt_breakdown_counts_op(f->breakdown, t, t->by_start[i]))
            continue;
        times[op->kernel].ps += op->end_ps - op->start_ps;
        all_ps += op->end_ps - op->start_ps;
    }
    count = join_names(times, t->kernel_count);
    text[0] = '\0';
    for (size_t i = 0; i < count && i < NAMED && times[i].ps > 0 && used < bytes; i++) {
        char *brief = gt_short_name(times[i].name, NAME_BYTES);

        used += (size_t)snprintf(text + used, bytes - used, "%s%s %.0f%%", i > 0 ? ", " : "", brief,
                                 100 * (double)times[i].ps / (double)all_ps);
        free(brief);
    }
    free(times);
}

static void find_kernels(struct gt_finding_list *f)
{
    gt_time_ps ps = f->breakdown->ps[GT_TIME_COMPUTATION];
    char list[LIST_BYTES];

    if (2 * ps < f->breakdown->total_ps || ps == 0)
        return;
    list_kernels(f, false, list, sizeof list);
    snprintf(add_part(f, "kernels", GT_TIME_COMPUTATION, ps,
                      "make kernels faster: lower precision, fusion (torch.compile), better shapes; Nsight Compute "
                      "shows what bounds each kernel",
                      NULL)
                 ->text,
             sizeof f->rows->text,
             "kernels compute for %s (%.1f%% of %s): "
             "%s",
             gt_time_said((double)ps).s, pct_of(f, ps), steps_named(f), list);
}

static void find_communication(struct gt_finding_list *f)
{
    gt_time_ps ps = f->breakdown->ps[GT_TIME_COMMUNICATION];
    char list[LIST_BYTES];

    if (ps == 0)
        return;
    list_kernels(f, true, list, sizeof list);
    snprintf(add_part(f, "communication", GT_TIME_COMMUNICATION, ps,
                      "start collectives earlier or send less: DDP's bucket_cap_mb, no_sync() during gradient "
                      "accumulation, compressed gradients",
                      NULL)
                 ->text,
             sizeof f->rows->text, "collectives run for %s (%.1f%% of %s) while nothing computes: %s",
             gt_time_said((double)ps).s, pct_of(f, ps), steps_named(f), list);
}

void gt_findings_of_time(struct gt_finding_list *f)
{
    find_data_loading(f);
    find_host_code(f);
    find_launches(f);
    find_waits(f);
    find_allocations(f);
    find_kernels(f);
    find_communication(f);
}
