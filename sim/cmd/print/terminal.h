/* terminal.h - the terminal: its width, lines folded to it, the progress bar. */
#ifndef GRIDTIDE_SIM_CMD_PRINT_TERMINAL_H
#define GRIDTIDE_SIM_CMD_PRINT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/error.h"

/* Columns that a line of `out` may have: of the terminal that it goes to, where the environment's COLUMNS comes
 * before what the terminal says.  SIZE_MAX where it goes to a file or a pipe: there nothing is cut. */
size_t gt_terminal_columns(FILE *out);

/* Columns that `text` takes; its bytes where the locale cannot tell. */
size_t gt_terminal_width(const char *text);

struct gt_progress {
    const char *what; /* "reading", "simulating" */
    bool enabled, shown;
    double began_s, drawn_s;
};

/* Begin; `what` must outlive it; `quiet` shows nothing ever. */
void gt_progress_begin(struct gt_progress *progress, const char *what, bool quiet);
/* `done` of `total` (0: not known); cheap enough to call every few microseconds of work.
 * Fits gt_read_progress with a struct gt_progress as its user. */
void gt_progress_update(void *progress, uint64_t done, uint64_t total);
/* gt_progress_update() as a gt_probe.progress; returns 0. */
int gt_progress_probe(void *progress, uint64_t done, uint64_t total, struct gt_error *error);
void gt_progress_end(struct gt_progress *progress);

/* `text`, malloced, with line breaks where it is wider than `width`: behind one of `breaks`, where a blank
 * vanishes, or where there is none of these, anywhere. */
char *gt_fold(const char *text, size_t width, const char *breaks);

/* How many lines a folded text has, and the one with number `line`, malloced; "" behind the last. */
size_t gt_fold_lines(const char *text);
char *gt_fold_line(const char *text, size_t line);

/* Print `text` and a line break; on a terminal in lines that fit, folded between words.  Every line begins with
 * `indent` blanks. */
void gt_fold_print(FILE *out, size_t indent, const char *text);

#endif
