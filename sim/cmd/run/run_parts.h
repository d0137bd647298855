/* run_parts.h - what the files of `gridtide run` share. */
#ifndef GRIDTIDE_SIM_CMD_RUN_RUN_PARTS_H
#define GRIDTIDE_SIM_CMD_RUN_RUN_PARTS_H

#include "sim/cmd/input/options.h"
#include "sim/cmd/input/shared_input.h"
#include "sim/cmd/print/terminal.h"
#include "sim/range.h"
#include "sim/simulate.h"
#include "sim/whatif/whatif.h"
#include "traces/compare/compare.h"
#include "traces/compare/kernel_cycles.h"
#include "traces/store/store.h"

enum { GT_RUN_SETTINGS_MAX = 256, GT_RUN_INDEPENDENT_MAX = 256 };

struct gt_run_arguments {
    const char *trace, *output; /* the first of them */
    const char *traces[GT_SHARED_TRACES_MAX];
    uint32_t trace_count;
    const char *share;                   /* how the traces' processes share a GPU; NULL: as the trace says */
    char *settings[GT_RUN_SETTINGS_MAX]; /* KEY=VALUE */
    size_t setting_count;
    struct gt_model_options model;
    struct gt_options options;
    uint32_t streams;                                    /* 0: as traced */
    const char *independent[GT_RUN_INDEPENDENT_MAX + 1]; /* patterns, NULL-ended */
    size_t independent_count;
    bool full; /* kernels' programs: every block, no extrapolation */
    enum gt_format format;
    bool format_given; /* then --quiet leaves the tables */
};

/* One of the simulations: as asked for, or without what was asked to be changed. */
struct gt_run_variant {
    const struct gt_workload *played;  /* as an option changed it; NULL: as traced */
    struct gt_device device, recorded; /* simulated; that the trace's times are from */
    struct gt_options simulated;
    char *options; /* as they stand in the store */
    int64_t trace_id, device_id, run_id;
    struct gt_kernel_model *modelled; /* NULL: no kernel has a program */
    double model_us;
    uint64_t extrapolated;           /* collectives of more GPUs than were measured */
    struct gt_makespan_range range;  /* of the makespan; without draws where there is none */
    struct gt_comparison comparison; /* with the measured run */
};

/* What a change was asked of; all zero: nothing was. */
struct gt_run_engine {
    bool asked;
    struct gt_device device; /* that the trace is from */
    struct gt_framework framework;
    struct gt_whatif_host host;
    struct gt_kernel_model *modelled;
    char *specs[GT_RUN_SETTINGS_MAX + 2];
    struct gt_change changes[GT_RUN_SETTINGS_MAX + 2];
    size_t count;
    struct gt_whatif whatif;
    struct gt_answer answer;
};

/* One run of the command: what it works on. */
struct gt_run_work {
    struct gt_run_arguments *arguments;
    struct gt_workload *workload;
    struct gt_store *store;
    struct gt_progress progress;
    char *name, *output;
    int64_t trace_id, measured_run;
    struct gt_run_variant asked, without;
    struct gt_run_engine engine; /* with a change: both variants are its scenarios */
    struct gt_learned learned;   /* then: what goes with their form */
    bool changed;                /* `without` is simulated too */
    struct gt_comparison change; /* `asked` held against `without` */
    struct gt_kernels kernels;   /* of `asked`, with those of `without` or else the measured ones */
    struct gt_error *error;
};

/* run_engine.c: ask for the change that the options make; the variants are played from its answer then.  Returns 0; -1
 * with work->error filled.  Either way gt_run_engine_free() ends it. */
int gt_run_ask_engine(struct gt_run_work *work);
void gt_run_engine_free(struct gt_run_engine *engine);

/* run_store.c: simulate, and put everything into the store.  Returns 0; -1 with work->error filled, nothing is
 * left then. */
int gt_run_fill_store(struct gt_run_work *work);

/* run_change.c: are all keys of two devices the same? */
bool gt_run_same_device(const struct gt_device *one, const struct gt_device *other);
/* Does `asked` differ from `without` in what it simulates? */
bool gt_run_is_change(const struct gt_run_work *work);
/* What was changed, what was scaled with it and what is assumed: a text at a time, valid during the call; printed, an item a line. */
typedef void gt_run_said(void *user, const char *text);
void gt_run_each_change(const struct gt_run_work *work, gt_run_said *said, void *user);
void gt_run_print_change(FILE *out, const struct gt_run_work *work);

/* run_result.c: where the replay is more than 3% off its recording, warn of that and say where it first departs, also
 * in the store.  Returns 0; -1 with work->error filled. */
int gt_run_warn_of_departure(struct gt_run_work *work);

/* run_tables.c: what came out, as tables.  People are shown so many launches with cycles; `gridtide compare` has the others. */
enum { GT_RUN_KERNELS_SHOWN = 200 };
void gt_run_print_tables(const struct gt_run_work *work, enum gt_format format);

/* run_result.c: what came out; for people with sentences. */
void gt_run_print_result(const struct gt_run_work *work);

#endif
