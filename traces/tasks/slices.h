/* slices.h - what the workers of a megakernel or persistent kernel did when, as their profilers write it.
 *
 * Perfetto traces: Mirage's persistent kernel and FlashInfer write one through tg4perfetto: tracks of groups named "block_N", or
 * tracks named "blkN_gM", with a slice a task.  Other traces have a worker a track.  Where a slice's name is "TASK_KIND_NUMBER",
 * as Mirage has it, its kind is KIND; else its kind is its name.
 *
 * Chrome traces of Triton's profiler (proton, backend "instrumentation"): a worker is a block, a kind is the name of a scope.
 * Every warp of the block records the scope; number k of all warps is one task, from the first warp's start to the last
 * one's end.  Tasks may overlap where warps run ahead.  A scope within a scope is a slice, too: the kinds of the graph say
 * which are its tasks.  One launch of one kernel a file.
 */
#ifndef GRIDTIDE_TRACES_TASKS_SLICES_H
#define GRIDTIDE_TRACES_TASKS_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "traces/io/input.h"

/* One task as it was recorded. */
struct gt_task_slice {
    uint64_t start_ns, end_ns;
    uint32_t worker; /* its block; where no name says that, its track: behind all blocks, in the order of the file */
    uint32_t kind;   /* in kinds */
};

struct gt_task_slices {
    struct gt_task_slice *slices; /* by worker, then start */
    uint32_t count, room;
    char **kinds;
    uint32_t kind_count, kind_room;
    uint32_t workers;   /* with a slice */
    uint64_t open;      /* slices without an end; they are left out */
    uint32_t clock_mhz; /* at which cycles were made times; 0: the recording has times */
};

/* Does a file that begins so hold a Perfetto trace or a Chrome trace? */
bool gt_task_slices_sniff(const unsigned char *head, size_t bytes);
/* Read one from `input`, named `path`.  proton records cycles of the SMs' clock: they become time at `clock_mhz`, from the time of
 * each block's start on.  Returns 0; -1 with "PATH: ..." in error.  Either way gt_task_slices_free() ends it. */
int gt_task_slices_read(struct gt_task_slices *slices, struct gt_input *input, const char *path, uint32_t clock_mhz,
                        struct gt_error *error);
void gt_task_slices_free(struct gt_task_slices *slices);

/* Drop the slices of kinds that are not kept (kept[kind]): what a profiler shows of the workers' scheduler is no task. */
void gt_task_slices_keep(struct gt_task_slices *slices, const bool *kept);

/* A worker's time: from its first task's start to its last one's end, how much of it was spent in tasks (once where they
 * overlap, as those of its warps may). */
struct gt_worker_time {
    uint32_t worker, tasks;
    uint64_t start_ns, end_ns, busy_ns;
};
/* Of the worker of slice `*first`, which then is the first of the next worker. */
struct gt_worker_time gt_task_slices_worker(const struct gt_task_slices *slices, uint32_t *first);

#endif
