#include "validate/player/process_part.h"

#include <stdlib.h>
#include <string.h>

#include "sim/rewrite/rebuild.h"
#include "sim/workload/processes.h"

void gt_process_part_make(struct gt_process_part *part, const struct gt_workload *whole, uint64_t process)
{
    struct gt_rebuild rebuild;

    part->call_of = gt_calloc(whole->call_count + 1ull, sizeof *part->call_of);
    part->op_of = gt_calloc(whole->op_count + 1ull, sizeof *part->op_of);
    gt_rebuild_begin(&rebuild, whole);
    for (gt_call_index i = 0; i < whole->call_count; i++) {
        gt_call_index copy;

        if (process != GT_PROCESS_NONE && whole->threads[whole->calls[i].thread].process != process)
            continue;
        copy = gt_rebuild_copy(&rebuild, i);
        part->call_of[copy] = i;
        for (uint32_t op = 0; op < whole->calls[i].ops; op++)
            part->op_of[rebuild.to->calls[copy].first_op + op] = whole->calls[i].first_op + op;
    }
    part->workload = gt_rebuild_end(&rebuild);
}

void gt_process_part_free(struct gt_process_part *part)
{
    gt_workload_free(part->workload);
    free(part->call_of);
    free(part->op_of);
    memset(part, 0, sizeof *part);
}
