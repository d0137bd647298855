/* scenario.h - what is asked of the simulator in place of what was recorded. */
#ifndef GRIDTIDE_SIM_REWRITE_SCENARIO_H
#define GRIDTIDE_SIM_REWRITE_SCENARIO_H

#include <stdbool.h>

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* How far an answer is to be trusted, best first. */
enum gt_trust { GT_TRUST_HIGH, GT_TRUST_MEDIUM, GT_TRUST_LOW, GT_TRUSTS };
extern const char *const gt_trust_names[GT_TRUSTS];
struct gt_framework;
struct gt_product_sweep;
struct gt_scenario;
/* The scenario's, as it stands beside its times: "low, extrapolated" where it has more than was measured. */
const char *gt_scenario_trust_text(const struct gt_scenario *scenario);

/* What waits for events do of which a recording does not say which event they mean (Kineto without synchronisation events). */
enum gt_unnamed_waits {
    GT_UNNAMED_LAST, /* they wait for the event recorded last, in the stream of the next launch where the stream is unknown, too */
    GT_UNNAMED_NONE, /* they hold nothing back */
    GT_UNNAMED_ALL   /* every stream waits for all that was launched before */
};

/* What changes may ask of the program around them.  Shared by all scenarios of a command; outlives them. */
struct gt_whatif_host {
    /* A device by the name of its file; returns 0, or -1 with the names that there are. */
    int (*load_device)(const char *name, struct gt_device *device, struct gt_error *error);
    const struct gt_framework *framework; /* what PyTorch does and takes; lent (sim/frameworks/framework.h) */
    /* Matrix products that were measured on the device (sim/shapes/product.h), which gt_product_sweep_free() ends; none where its file
     * names none.  Returns 0; -1 with what is wrong with them, and *sweep is NULL. */
    int (*load_products)(const struct gt_device *device, struct gt_product_sweep **sweep, struct gt_error *error);
    /* How well a kernel's name as traced fits what was asked for, mangled or not, whole or in part: 0 not at all. */
    int (*fit_kernel)(const char *name, const char *asked);
    /* Names of kernels that the user says are independent of others (--independent), as patterns; NULL-ended. */
    const char *const *independent;
    uint64_t
        gradient_bytes; /* of a training step, all together, where the user says it (--gradients); 0: as the trace has it */
    enum gt_unnamed_waits unnamed_waits;
    bool gpu_unmodelled; /* nobody knows how the recorded GPU would do other work than it did */
};

struct gt_scenario {
    struct gt_workload *workload; /* owned; see gt_scenario_replace() */
    struct gt_device device;      /* simulated */
    struct gt_device
        recorded; /* that the workload's times are of: durations and calls' costs move by the difference */
    const struct gt_whatif_host *host;
    double
        kernels_off; /* kernels scaled from another GPU may take so much more or less, as a part; 0: none were, or unknown */
    double host_pace; /* the host's work that a change adds takes so many times as long as on a calm host */
    uint32_t
        repeated_passes; /* a change made each training step go so many times forward and backward; 0: none did */
    uint64_t batch, seq, width; /* of operators' inputs, where changes made them so; 0: as recorded */
    bool extrapolated;          /* it has more GPUs than were measured */
    bool
        independence_unknown; /* a change would move work that may depend on other work; nothing says whether it does */
    bool waits_unnamed;       /* a change went by waits for events that the recording does not name */
    enum gt_trust trust;      /* the lowest so far */
    char **assumptions;       /* each a sentence without a full stop, once */
    uint32_t assumption_count, assumption_room;
};

/* A scenario that changes nothing, with copies of all three.  gt_scenario_free() ends it. */
void gt_scenario_begin(struct gt_scenario *scenario, const struct gt_workload *workload,
                       const struct gt_device *device, const struct gt_device *recorded,
                       const struct gt_whatif_host *host);
void gt_scenario_free(struct gt_scenario *scenario);

/* What the scenario's host takes for work that takes a calm one `calm_ps`. */
gt_time_ps gt_scenario_host_ps(const struct gt_scenario *scenario, gt_time_ps calm_ps);

/* The scenario's workload is `workload` from now on, which it owns; the one before is freed. */
void gt_scenario_replace(struct gt_scenario *scenario, struct gt_workload *workload);

/* The answer rests on this (printf-style; told once), and is trusted no more than `most`. */
void gt_scenario_assume(struct gt_scenario *scenario, enum gt_trust most, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
