/* processes.h - which threads of a workload are of one process. */
#ifndef GRIDTIDE_SIM_WORKLOAD_PROCESSES_H
#define GRIDTIDE_SIM_WORKLOAD_PROCESSES_H

#include "sim/workload/workload.h"

/* By thread: the first thread of its process, which thus stands for it; one more behind the last.  Malloced. */
uint32_t *gt_thread_processes(const struct gt_workload *workload);
/* By stream: the process that uses it first, be it only for a record or a wait; where calls alone do that an importer made
 * up, that of the first stream in its context that others use.  GT_PROCESS_NONE: nobody uses it.  Malloced. */
#define GT_PROCESS_NONE UINT64_MAX
uint64_t *gt_stream_processes(const struct gt_workload *workload);
/* How a process shares its GPUs: what the first of its threads says that says anything. */
struct gt_sharing gt_process_sharing(const struct gt_workload *workload, uint64_t process);
/* How many processes have threads. */
uint32_t gt_process_count(const struct gt_workload *workload);

#endif
