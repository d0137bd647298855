/* loads.c - launches that loaded their kernel's code, behind which the GPU finished what it had (CUDA_MODULE_LOADING=LAZY).
 *
 * CUPTI says which calls loaded code.  Of these only such are taken whose operation started when all operations asked for before
 * had ended: what is loaded otherwise holds nothing back.
 */
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

enum { LAZY_LOADING = 5 << 16 }; /* CUpti_ActivityOverheadKind */

/* An operation by its call. */
struct asked {
    uint64_t call_ns, start_ns, end_ns;
    uint32_t correlation;
};

static int by_call(const void *left, const void *right)
{
    const struct asked *a = left, *b = right;

    GT_ORDER(a->call_ns, b->call_ns);
    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->start_ns, b->start_ns);
    return 0;
}

static int by_number(const void *left, const void *right)
{
    GT_ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

/* The correlations of launches that CUPTI saw loading, sorted. */
static uint32_t find_candidates(const struct gt_recorded_process *process, uint32_t *found)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_OVERHEAD); i++) {
        const struct gt_record_overhead *overhead = GT_RECORDS(process, GT_RECORDED_OVERHEAD)[i];
        const struct gt_record_call *call = overhead->kind == LAZY_LOADING && overhead->correlation != 0
                                                ? gt_recorded_find_call(process, overhead->correlation)
                                                : NULL;

        if (call != NULL && call->what == GT_DID_LAUNCH)
            found[count++] = overhead->correlation;
    }
    if (count > 1)
        qsort(found, count, sizeof *found, by_number);
    return count;
}

/* A damaged recording has operations in plenty with a launch's number: the first says whether it waited. */
static bool is_first(const struct asked *asked, uint32_t i)
{
    return i == 0 || asked[i - 1].correlation != asked[i].correlation;
}

static bool is_among(const uint32_t *numbers, uint32_t count, uint32_t number)
{
    return bsearch(&number, numbers, count, sizeof number, by_number) != NULL;
}

static struct asked *find_asked(const struct gt_recorded_process *process, uint32_t *count)
{
    struct asked *asked = gt_calloc(GT_RECORD_COUNT(process, GT_RECORDED_OP) + 1ull, sizeof *asked);

    *count = 0;
    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_OP); i++) {
        const struct gt_record_op *op = GT_RECORDS(process, GT_RECORDED_OP)[i];
        const struct gt_record_call *call = gt_recorded_find_call(process, op->correlation);

        if (call != NULL)
            asked[(*count)++] = (struct asked){ call->start_ns, op->start_ns, op->end_ns, op->correlation };
    }
    if (*count > 1)
        qsort(asked, *count, sizeof *asked, by_call);
    return asked;
}

void gt_recorded_find_loads(struct gt_recorded_process *process)
{
    uint32_t overheads = GT_RECORD_COUNT(process, GT_RECORDED_OVERHEAD), candidates, count;
    uint32_t *found = gt_calloc(overheads + 1ull, sizeof *found);
    uint64_t last_end_ns = 0;
    struct asked *asked;

    process->loads = gt_calloc(overheads + 1ull, sizeof *process->loads);
    candidates = find_candidates(process, found);
    asked = find_asked(process, &count);
    for (uint32_t i = 0; candidates > 0 && i < count; i++) {
        if (asked[i].start_ns >= last_end_ns && is_first(asked, i) &&
            is_among(found, candidates, asked[i].correlation))
            process->loads[process->load_count++] = asked[i].correlation;
        if (asked[i].end_ns > last_end_ns)
            last_end_ns = asked[i].end_ns;
    }
    if (process->load_count > 1)
        qsort(process->loads, process->load_count, sizeof *process->loads, by_number);
    free(asked);
    free(found);
}

bool gt_recorded_loads_code(const struct gt_recorded_process *process, const struct gt_record_call *call)
{
    return is_among(process->loads, process->load_count, call->correlation);
}
