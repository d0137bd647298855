/* internal.h - what the parts of the importer of task graphs share. */
#ifndef GRIDTIDE_TRACES_TASKS_INTERNAL_H
#define GRIDTIDE_TRACES_TASKS_INTERNAL_H

#include "sim/workload/task_graph.h"
#include "traces/jsonl/fields.h"
#include "traces/jsonl/refs.h"
#include "traces/tasks/document.h"

/* A task graph on its way, and what its launch is like. */
struct gt_task_import {
    struct gt_document document;
    struct gt_workload *workload;
    struct gt_task_graph *graph; /* the workload's */
    struct gt_refs *kinds;
    struct gt_unknown unknown;               /* fields that nobody reads here */
    uint32_t workers, threads, shared_bytes; /* blocks of the launch, threads of each, dynamic shared memory */
    const char *policy;
    const char *kernel;
};

/* Fill all of it. -1 with "LINE: ..." or ": ...", to stand behind the path. */
int gt_automegakernel_read(struct gt_task_import *import, struct gt_error *error);
int gt_mirage_read(struct gt_task_import *import, struct gt_error *error);

/* An error of the object that begins there; returns -1. */
int gt_task_import_error(struct gt_task_import *import, const struct gt_json_token *object, struct gt_error *error);
/* The index of a kind of that name, added if it is not there. */
gt_task_kind_index gt_task_import_kind(struct gt_task_import *import, const struct gt_json_token *name);
/* The kind of an operation by its name and, behind it, those of its `params` (an object, or NULL) that say how large it is:
 * "GEMV_TILE K=2048 N_tile=64". */
gt_task_kind_index gt_task_import_shaped_kind(struct gt_task_import *import, const struct gt_json_token *op,
                                              const struct gt_json_token *params);

/* How AutoMegaKernel's loader deals tasks that have no SM (vm/loader.py, _assign_sms): along an order in which they can
 * be done, each to the next worker, or to the one that has the fewest bytes so far, then operations, then tasks. */
enum gt_task_assigning { GT_DEAL_ROUND_ROBIN, GT_DEAL_LOAD_BALANCE };
/* The graph anew with its tasks in that order, each in a worker's list. The old one is freed. */
struct gt_task_graph *gt_task_assignment(struct gt_task_graph *graph, enum gt_task_assigning dealing,
                                         uint32_t workers);

#endif
