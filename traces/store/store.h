/* store.h - runs, measured and simulated, in one SQLite file (schema.sql). */
#ifndef GRIDTIDE_TRACES_STORE_STORE_H
#define GRIDTIDE_TRACES_STORE_STORE_H

#include "sim/devices/device.h"
#include "sim/workload/probe.h"
#include "sim/workload/workload.h"
#include "traces/store/database.h"

struct gt_store;

/* A new store that will become `path` at gt_store_commit(): built under a temporary name. */
struct gt_store *gt_store_create(const char *path, struct gt_error *error);
int gt_store_commit(struct gt_store *store, struct gt_error *error); /* frees; on -1 nothing is left */
void gt_store_abandon(struct gt_store *store);                       /* NULL allowed */

/* An existing store, to read (writable false) or to add whole runs to (true).
 * Refuses what is not a Gridtide store or has another version, saying so. */
struct gt_store *gt_store_open(const char *path, bool writable, struct gt_error *error);
void gt_store_close(struct gt_store *store);
struct gt_database *gt_store_database(struct gt_store *store); /* for queries (query.h) */

/* Whether it has the tables of kernels' cycles; stores of version 2 do not. */
bool gt_store_has_kernels(const struct gt_store *store);
/* Whether it has the tables of ranges; stores of versions 2 and 3 do not: PRAGMA user_version tells. */
enum { GT_STORE_WITH_RANGES = 4 };
bool gt_store_has_ranges(const struct gt_store *store);

/* Whether it has the tables of task graphs; stores of versions 2 to 4 do not: PRAGMA user_version tells. */
enum { GT_STORE_WITH_TASKS = 5 };
bool gt_store_has_tasks(const struct gt_store *store);
/* Whether it has answers and files of traces (answers.h); stores before do not. */
enum { GT_STORE_WITH_ANSWERS = 6 };
/* Whether it knows which blocks launched which kernels; stores before do not. */
enum { GT_STORE_WITH_CHILDREN = 7 };
/* Whether it has what polls did; stores of versions 2 to 7 do not: PRAGMA user_version tells. */
enum { GT_STORE_WITH_POLLS = 8 };
bool gt_store_has_polls(const struct gt_store *store);
/* Whether it tells collectives from other kernels; stores before do not. */
enum { GT_STORE_WITH_COLLECTIVES = 9 };
/* Whether it knows which graph launches are of the same executable graph; stores before do not. */
enum { GT_STORE_WITH_EXECUTABLES = 10 };
bool gt_store_has_executables(const struct gt_store *store);
/* Whether it tells what operations read or write of other GPUs' memory; stores before do not. */
enum { GT_STORE_WITH_PEERS = 11 };
/* Whether it knows the files of traces again (answers.h); stores before do not. */
enum { GT_STORE_WITH_SOURCES = 12 };
/* Whether it has plain fields (plain_rows.h); stores before do not. */
enum { GT_STORE_WITH_PLAIN = 13 };
/* Whether it has operators' inputs and kernels' families; stores before do not. */
enum { GT_STORE_WITH_SHAPES = 14 };

/* Told how far long work is: rows written, or what a writer's probe is told while the run goes on.
 * May be called often. NULL: nobody. */
typedef void gt_store_progress(void *user, uint64_t done, uint64_t total);
void gt_store_watch(struct gt_store *store, gt_store_progress *progress, void *user);

/* Put the definitions of a device / a trace in; returns the new id, or -1. */
int64_t gt_store_put_device(struct gt_store *store, const struct gt_device *device, struct gt_error *error);
int64_t gt_store_put_trace(struct gt_store *store, const struct gt_workload *workload, const char *name,
                           struct gt_error *error);

/* Put a warning in that came up after its trace was put. Returns 0 or -1. */
int gt_store_put_warning(struct gt_store *store, int64_t trace_id, const struct gt_warning *warning,
                         struct gt_error *error);

/* Say that an option made trace `trace_id` out of `base_trace_id`, with the same operation numbers:
 * its runs are compared with the measured runs of that one. Returns 0 or -1. */
int gt_store_base(struct gt_store *store, int64_t trace_id, int64_t base_trace_id, struct gt_error *error);

/* The number that the next trace gets, or -1. */
int64_t gt_store_next_trace(struct gt_store *store, struct gt_error *error);
/* Take out the traces from number `from_trace` on that have no measured run, with all that belongs to them:
 * what a validation leaves where it fails.  Returns 0 or -1. */
int gt_store_drop_unmeasured(struct gt_store *store, int64_t from_trace, struct gt_error *error);
/* Close an existing store, and remove its file where it holds no run.  Returns 0 or -1; closed either way. */
int gt_store_close_or_remove(struct gt_store *store, struct gt_error *error);

/* A run's records: kept in memory until the end, then written as one transaction, in key order.
 * The probe is valid until end or free; `workload` and `store` must last as long. `kind` is
 * "measured" or "simulated"; measured runs have no waits and no causes. */
struct gt_run_writer;
struct gt_run_writer *gt_run_writer_begin(struct gt_store *store, int64_t trace_id, int64_t device_id,
                                          const char *kind, const char *options, uint32_t repetition,
                                          const struct gt_workload *workload);
/* Keep, beside the rest, how many blocks of each kernel each SM got (table run_placement), for runs that
 * are held against each other; without `blocks_too` that instead of every block and the residency over
 * time. Before the first record. */
void gt_run_writer_keep_placement(struct gt_run_writer *writer, bool blocks_too);
/* Keep the cycles of kernels (tables run_kernel, run_issue, run_stall): what the warp tier says of the
 * workload's operations, which must last until the end; or what the workload's profiles say (NULL).
 * Without this a run has none. */
struct gt_kernel_model;
void gt_run_writer_keep_kernels(struct gt_run_writer *writer, const struct gt_kernel_model *modelled);
/* Ranges lie between the run's calls as they did between those of `recorded`, which has the same calls and ranges, with the times that
 * the workload itself does not state any more; it must last until the end. */
void gt_run_writer_ranges_as(struct gt_run_writer *writer, const struct gt_workload *recorded);
/* The run counts as whole only with the next run of its trace that is written, in the same transaction: a simulated
 * run without the measured one that it was made for is nothing. */
void gt_run_writer_await(struct gt_run_writer *writer);
/* Another trace and device than gt_run_writer_begin() was given, where they get their numbers only while the run is recorded. */
void gt_run_writer_belongs(struct gt_run_writer *writer, int64_t trace_id, int64_t device_id);
const struct gt_probe *gt_run_writer_probe(struct gt_run_writer *writer);
int gt_run_writer_counter(struct gt_run_writer *writer, const char *name, double value, struct gt_error *error);
/* What a simulation was in the end, as counters: "operations", "blocks", "events", "end_ps", and "rule.NAME", how
 * often a rule of the scheduler acted (sim/machine/rules.h), of those that did. */
struct gt_summary; /* sim/machine/options.h */
void gt_run_writer_summary(struct gt_run_writer *writer, const struct gt_summary *summary);
/* The range stated for its makespan, where there is one, as the counters GT_COUNTER_RANGE_*. */
struct gt_makespan_range; /* sim/range.h */
void gt_run_writer_range(struct gt_run_writer *writer, const struct gt_makespan_range *range, struct gt_error *error);
int64_t gt_run_writer_end(struct gt_run_writer *writer, struct gt_error *error); /* the run's id, or -1 */
void gt_run_writer_free(
    struct gt_run_writer *writer); /* of one that was not ended: nothing is written; NULL allowed */

/* Send what the trace recorded through a probe, as a "measured" run would: calls and operations
 * that have measured times, where at least one operation has; their origin is the workload's.
 * Calls that an importer made up are left out. Returns the number of operations sent, -1 on error. */
int64_t gt_measured_play(const struct gt_workload *workload, const struct gt_probe *probe, struct gt_error *error);

/* The counter of a run with a change: the number of the run without it, which `gridtide run` stores first. */
#define GT_COUNTER_WITHOUT_RUN "without_run_id"
/* The counter of a simulated run that takes the host's calls from a measured run: the number of that run. It stands
 * beside the run that simulates all, which is the one that is meant where a store is asked for its simulated run. */
#define GT_COUNTER_HOST_OF_RUN "host_of_run_id"
/* Counters of a simulated run: the range that 9 of 10 real makespans are expected in, in us, and the draws behind it
 * (sim/range.h). */
#define GT_COUNTER_RANGE_LOW   "makespan_low_us"
#define GT_COUNTER_RANGE_HIGH  "makespan_high_us"
#define GT_COUNTER_RANGE_DRAWS "noise_draws"
/* The counter of a measured run whose host's costs were measured in its process: so many calls are behind the keys
 * host.* of its device. */
#define GT_COUNTER_HOST_CALLS "host_calls"
/* A condition of SQL that a run's number is not one of these. */
#define GT_RUN_SIMULATES_ALL "NOT IN (SELECT run_id FROM counter WHERE name = '" GT_COUNTER_HOST_OF_RUN "')"
/* The simulated run that `run` is a change of: the one that its counter names, else an earlier one of the trace as it was recorded, with other
 * options or another device; of several the first.  0 where there is none. */
int gt_store_find_baseline(struct gt_store *store, int64_t run, int64_t *baseline, struct gt_error *error);

/* The trace that a run is of, as it was recorded or typed: before any option changed it. */
struct gt_run_trace {
    int64_t trace_id;
    char *name; /* malloced; NULL: no such run */
};
int gt_store_run_trace(struct gt_store *store, int64_t run, struct gt_run_trace *trace, struct gt_error *error);

#endif
