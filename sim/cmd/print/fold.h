/* fold.h - texts in lines of a bounded width. */
#ifndef GRIDTIDE_SIM_CMD_PRINT_FOLD_H
#define GRIDTIDE_SIM_CMD_PRINT_FOLD_H

#include <stddef.h>
#include <stdio.h>

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
