/* engine.h - the clock and the main loop. */
#ifndef GRIDTIDE_SIM_MACHINE_ENGINE_H
#define GRIDTIDE_SIM_MACHINE_ENGINE_H

#include "sim/base/error.h"
#include "sim/base/heap.h"
#include "sim/workload/workload.h"

/* In this order at one and the same time. */
enum gt_phase { GT_PHASE_END, GT_PHASE_WAKE, GT_PHASE_HOST, GT_PHASE_RATES };

struct gt_engine {
    gt_time_ps now_ps;
    uint64_t sequence;
    uint64_t handled; /* events so far */
    struct gt_heap heap;
};

/* Does what an event says; -1 (with `error` filled) stops the run. */
typedef int gt_handler(void *machine, uint32_t subject, uint64_t stamp, struct gt_error *error);

struct gt_event_kind {
    gt_handler *handle;
    /* Events that would follow each other whatever else comes, at one time and scheduled one right after the
     * other, share one place in the heap, and with it what the heap costs.  Takes the subject behind `subject`
     * off their row; GT_NONE at its end.  NULL: events of this kind stand alone. */
    uint32_t (*take_next)(void *machine, uint32_t subject);
};

/* Call kinds[handler].handle(machine, subject, stamp) at `time_ps`, which must not be past. */
void gt_engine_schedule(struct gt_engine *engine, gt_time_ps time_ps, enum gt_phase phase, uint32_t handler,
                        uint32_t subject, uint64_t stamp);
/* One more event in the place of the one scheduled last: the caller has put its subject behind that one's. */
void gt_engine_schedule_next(struct gt_engine *engine);
/* Handle events until none is left. Returns 0, or -1 from the first handler that says so. */
int gt_engine_run(struct gt_engine *engine, const struct gt_event_kind *kinds, void *machine, struct gt_error *error);
void gt_engine_free(struct gt_engine *engine);

#endif
