/* record_parts.h - the parts of `gridtide record`. */
#ifndef GRIDTIDE_SIM_CMD_TRACE_RECORD_PARTS_H
#define GRIDTIDE_SIM_CMD_TRACE_RECORD_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/base/error.h"

/* What is to be recorded, and when. */
struct gt_recording {
    char *const *program; /* and its arguments, ended by a NULL */
    const char *from;     /* start, profiler, range or signal */
    const char *range;    /* for "range": its name */
    uint64_t delay_ms, duration_ms;
    const char *output; /* a file that what the program prints is added to; NULL: it prints where this one does */
};

/* The library that goes into the program: what $GRIDTIDE_RECORDER names; else beside this program where it was built, or as
 * far from it as it was installed, or where it was installed.  Malloced; NULL with the places looked at and what to do. */
char *gt_recorder_library(struct gt_error *error);
/* Run the program with `library` (NULL: none) in it and its records going to `folder`, and wait for it.  0, or -1: it could not be
 * started.  *status is as wait() has it. */
int gt_record_run(const struct gt_recording *recording, const char *library, const char *folder, int *status,
                  struct gt_error *error);
/* Wait for the program's end, of which *status tells.  SIGTERM goes on to it, where recording is switched by signal SIGUSR2
 * to all processes that have a file in `folder`. */
void gt_record_wait(pid_t child, const char *folder, bool switches, int *status);
/* Where the answer to what recording costs comes from. */
enum gt_record_cost_source {
    GT_RECORD_COST_CACHED,   /* as it was measured before on this machine, else as measured now */
    GT_RECORD_COST_MEASURED, /* now, whatever is known from before */
    GT_RECORD_COST_NONE
};
/* Write what recording by `library` costs on this machine, into GT_RECORDED_COSTS of `folder`; where
 * that cannot be told there is no such file. */
void gt_record_find_cost(const char *library, enum gt_record_cost_source source, const char *folder);
/* Run `trace` into the store FOLDER.db, explain it and draw the report into `folder`, each by this program itself.
 * 0, or -1. */
int gt_record_report(const char *trace, const char *folder, bool quiet, struct gt_error *error);

#endif
