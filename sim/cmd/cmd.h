/* cmd.h - the commands of the program: one file a command, one row a command. */
#ifndef GRIDTIDE_SIM_CMD_CMD_H
#define GRIDTIDE_SIM_CMD_CMD_H

#include "traces/store/store.h"

/* Exit statuses. */
enum { GT_EXIT_DONE = 0, GT_EXIT_FAILED = 1, GT_EXIT_USAGE = 2 };

struct gt_command {
    const char *name;
    const char *summary;                     /* a line for `gridtide --help` */
    int (*run)(int argc, char **argv);       /* argv[0] is "gridtide NAME"; returns an exit status */
};

extern const struct gt_command gt_command_import, gt_command_run, gt_command_stats,
    gt_command_compare, gt_command_export, gt_command_report, gt_command_devices, gt_command_validate,
    gt_command_calibrate, gt_command_explain;

/* What a command does with a store and its arguments; 0, or -1 with `error` filled. */
typedef int gt_store_work(struct gt_store *store, const void *arguments, struct gt_error *error);
/* Open the store at `path` for reading, do the work, close it; returns an exit status. */
int gt_with_store(const char *path, gt_store_work *work, const void *arguments);

/* Print "gridtide: TEXT" on standard error; returns GT_EXIT_FAILED. */
int gt_fail(const struct gt_error *error);
/* A usage error: the same with a pointer to --help; returns GT_EXIT_USAGE. */
int gt_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
