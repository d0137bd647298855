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

/* The library that goes into the program: beside this program where it was built, or where it was installed.
 * Malloced; NULL with what to do. */
char *gt_recorder_library(struct gt_error *error);
/* Run the program with `library` (NULL: none) in it and its records going to `folder`, and wait for it.  0, or -1: it could not be
 * started.  *status is as wait() has it. */
int gt_record_run(const struct gt_recording *recording, const char *library, const char *folder, int *status,
                  struct gt_error *error);
/* Wait for the program's end, of which *status tells.  SIGTERM goes on to it, where recording is switched by signal SIGUSR2
 * to all processes that have a file in `folder`. */
void gt_record_wait(pid_t child, const char *folder, bool switches, int *status);
/* Measure what recording by `library` costs on this machine, into GT_RECORDED_COSTS of `folder`; where that cannot be
 * done there is no such file. */
void gt_record_measure_cost(const char *library, const char *folder);
/* Run `trace` into the store FOLDER.db, explain it and draw the report into `folder`, each by this program itself.
 * 0, or -1. */
int gt_record_report(const char *trace, const char *folder, bool quiet, struct gt_error *error);

#endif
