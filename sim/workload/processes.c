#include "sim/workload/processes.h"

#include <stdlib.h>

#include "sim/base/sort.h"

struct named_thread {
    uint64_t process;
    gt_thread_index thread;
};

static int by_process(const void *left, const void *right)
{
    const struct named_thread *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->thread, b->thread);
    return 0;
}

uint32_t *gt_thread_processes(const struct gt_workload *w)
{
    struct named_thread *threads = gt_calloc(w->thread_count + 1ull, sizeof *threads);
    uint32_t *first = gt_calloc(w->thread_count + 1ull, sizeof *first);

    for (gt_thread_index i = 0; i < w->thread_count; i++)
        threads[i] = (struct named_thread){ w->threads[i].process, i };
    qsort(threads, w->thread_count, sizeof *threads, by_process);
    for (uint32_t i = 0; i < w->thread_count; i++) {
        bool same = i > 0 && threads[i - 1].process == threads[i].process;

        first[threads[i].thread] = same ? first[threads[i - 1].thread] : threads[i].thread;
    }
    free(threads);
    return first;
}

uint32_t gt_process_count(const struct gt_workload *w)
{
    uint32_t *first = gt_thread_processes(w), count = 0;

    for (gt_thread_index i = 0; i < w->thread_count; i++)
        count += first[i] == i;
    free(first);
    return count;
}
