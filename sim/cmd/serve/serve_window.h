/* serve_window.h - the first operations of a load's run, for pictures: who ran when, and on how many SMs. */
#ifndef GRIDTIDE_SIM_CMD_SERVE_SERVE_WINDOW_H
#define GRIDTIDE_SIM_CMD_SERVE_SERVE_WINDOW_H

#include "sim/serve/load.h"
#include "sim/workload/probe.h"
#include "traces/store/serve_rows.h"

struct gt_window_event; /* of blocks on an SM */

struct gt_serve_window {
    const struct gt_workload *joined; /* NULL: not begun */
    uint32_t *tenant_of;              /* by thread of `joined` */
    struct gt_serve_operation *operations;
    uint32_t operation_count;
    struct gt_window_event *events;
    uint32_t event_count, event_room;
    const struct gt_probe *next; /* is told progress */
};

/* The run of `joined`, which must last until the end, begins.  The probe to run it with into *probe; `next` is told its progress. */
void gt_serve_window_begin(struct gt_serve_window *window, const struct gt_workload *joined,
                           const struct gt_load *load, const struct gt_probe *next, struct gt_probe *probe);
/* The run is over: its operations and SMs into the store, where it is asked for (rows not NULL); all is freed.  Returns 0 or -1. */
int gt_serve_window_end(struct gt_serve_window *window, uint32_t sms, struct gt_serve_rows *rows,
                        struct gt_error *error);

#endif
