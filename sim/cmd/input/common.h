/* common.h - what every command needs: exit statuses, how errors are said, arguments, a store to read. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_COMMON_H
#define GRIDTIDE_SIM_CMD_INPUT_COMMON_H

#include <argp.h>

#include "sim/cmd/input/options.h"
#include "sim/whatif/whatif.h"
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

struct gt_inquiry {
    struct gt_workload *workload;
    struct gt_device device;
    struct gt_framework framework;
    struct gt_kernel_model *modelled; /* NULL: no kernel has a program */
    struct gt_whatif_host host;
    char *name; /* the trace's own, or its file's */
};

/* Read the trace at `path`, with the programs that its kernels take from `model`'s profiles, which have been read, and how
 * long these say that kernels last.  `independent`: patterns, NULL-ended, which must last.  Returns 0; -1 with the reason.
 * Either way gt_inquiry_free() ends it. */
int gt_inquiry_begin(struct gt_inquiry *inquiry, const char *path, const struct gt_model_options *model,
                     const char *const *independent, bool quiet, struct gt_error *error);
void gt_inquiry_free(struct gt_inquiry *inquiry);

/* What is asked about; it lasts as long as the inquiry. */
struct gt_whatif_subject gt_inquiry_subject(const struct gt_inquiry *inquiry, const struct gt_model_options *model,
                                            bool bars);

#endif
