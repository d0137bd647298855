/* common.h - what every command needs: exit statuses, how errors are said, arguments, a store to read. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_COMMON_H
#define GRIDTIDE_SIM_CMD_INPUT_COMMON_H

#include <argp.h>

#include "sim/cmd/input/options.h"
#include "traces/store/store.h"

/* Exit statuses. */
enum { GT_EXIT_DONE = 0, GT_EXIT_FAILED = 1, GT_EXIT_USAGE = 2 };

/* Read the arguments of a command as `parser` says, into `input`: argp_parse(), but for -h, which is --help
 * too, and for an unknown option, which is told with the most similar one.  Ends the program with status 2
 * where they are wrong, and with 0 after --help, --usage and --version. */
void gt_parse(const struct argp *parser, int argc, char **argv, void *input);
/* gt_parse() where the first argument that is no option may be a program, whose options are no concern of ours: they
 * are left alone once the parser has taken that. */
void gt_parse_in_order(const struct argp *parser, int argc, char **argv, void *input);

/* What a command does with a store and its arguments; 0, or -1 with `error` filled. */
typedef int gt_store_work(struct gt_store *store, const void *arguments, struct gt_error *error);
/* Open the store at `path` for reading, do the work, close it; returns an exit status. */
int gt_with_store(const char *path, gt_store_work *work, const void *arguments);

/* Print "gridtide: TEXT" on standard error; returns GT_EXIT_FAILED. */
int gt_fail(const struct gt_error *error);
/* A usage error: the same with a pointer to --help; returns GT_EXIT_USAGE. */
int gt_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
