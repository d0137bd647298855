#include "sim/workload/executables.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"

struct named_launch {
    uint64_t process;
    uint32_t executable; /* in names */
    gt_call_index call;
};

static int by_executable(const void *left, const void *right)
{
    const struct named_launch *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->executable, b->executable);
    GT_ORDER(a->call, b->call);
    return 0;
}

uint32_t *gt_executables_of_calls(const struct gt_workload *w, uint32_t *count)
{
    struct named_launch *launches = NULL;
    uint32_t found = 0, room = 0, *of_call;

    *count = 0;
    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];

        if (call->kind != GT_CALL_GRAPH_LAUNCH || call->executable == GT_NONE)
            continue;
        gt_array_grow(launches, found, room);
        launches[found++] = (struct named_launch){ w->threads[call->thread].process, call->executable, i };
    }
    if (found == 0)
        return NULL;
    qsort(launches, found, sizeof *launches, by_executable);
    of_call = gt_realloc(NULL, w->call_count, sizeof *of_call);
    memset(of_call, 0xff, w->call_count * sizeof *of_call); /* GT_NONE */
    for (uint32_t i = 0; i < found; i++) {
        *count += i == 0 || launches[i - 1].process != launches[i].process ||
                  launches[i - 1].executable != launches[i].executable;
        of_call[launches[i].call] = *count - 1;
    }
    free(launches);
    return of_call;
}
