/* tasks.h - task graphs of megakernel compilers as traces: AutoMegaKernel's IR (0.2.0), Mirage's task_graph.json. */
#ifndef GRIDTIDE_TRACES_TASKS_TASKS_H
#define GRIDTIDE_TRACES_TASKS_TASKS_H

#include "traces/import/importer.h"

extern const struct gt_importer gt_importer_tasks;

#endif
