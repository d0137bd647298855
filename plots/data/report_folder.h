/* report_folder.h - a report's folder: built under a temporary name, in place whole or not at all.
 *
 * Only files that a report makes are ever removed: an existing folder is replaced
 * when it is empty or holds a former report and nothing else.  On SIGINT, SIGTERM
 * and SIGHUP what was begun is removed; what a SIGKILL leaves the next report beside it removes.  One
 * folder at a time in a process.
 */
#ifndef GRIDTIDE_PLOTS_DATA_REPORT_FOLDER_H
#define GRIDTIDE_PLOTS_DATA_REPORT_FOLDER_H

#include <stdio.h>

#include "sim/base/error.h"

/* Stands at the start of every report's index.html. */
#define GT_REPORT_MARKER "<meta name=\"generator\" content=\"Gridtide report\">"

struct gt_folder {
    char *final;     /* where it will be */
    char *temporary; /* where it is being built */
    char *work;      /* for gnuplot: a folder inside, gone at the end */
    char **names;    /* the files that may be in it */
    size_t name_count;
};

/* A report holds index.html, an .svg and a .png of each picture, and trace-1.html, trace-1.svg and so on, up to: */
enum { GT_FOLDER_TRACES = 200 };

/* Begin: refuses a `path` that may not be replaced, saying why. */
int gt_folder_begin(struct gt_folder *folder, const char *path, const char *const *pictures, size_t count,
                    struct gt_error *error);
/* Open a file of the report (in `temporary`) or of gnuplot's work (the names are in report_folder.c). */
FILE *gt_folder_open(const struct gt_folder *folder, const char *name, struct gt_error *error);
FILE *gt_folder_open_work(const struct gt_folder *folder, const char *name, struct gt_error *error);
/* Close what was opened; -1 when something could not be written. */
int gt_folder_close(const struct gt_folder *folder, FILE *file, struct gt_error *error);
/* Move work/FROM to TO in the report; -1 when it is missing or empty. */
int gt_folder_take(const struct gt_folder *folder, const char *from, const char *to, struct gt_error *error);
/* Put in place. The folder is gone either way: on -1 nothing is left but what was there before. */
int gt_folder_commit(struct gt_folder *folder, struct gt_error *error);
void gt_folder_abandon(struct gt_folder *folder);

#endif
