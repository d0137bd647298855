/* clean_text.h - texts for people and shells: names without control characters, quoted words, times with their unit. */
#ifndef GRIDTIDE_TRACES_NAMES_CLEAN_TEXT_H
#define GRIDTIDE_TRACES_NAMES_CLEAN_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* `text` as valid UTF-8 that shows each character: those that show nothing, break lines, steer a terminal or turn
 * the writing direction become "\u202e" (or "\U000e0001"), bytes that are no UTF-8 become U+FFFD.  Malloced. */
char *gt_clean_name(const char *text);

/* Write `length` bytes of JSON, valid as it is, with these characters as JSON's own escapes: the same document. */
void gt_clean_json(FILE *out, const char *json, size_t length);

/* Write `text` escaped for HTML, in elements and in quoted attributes alike. */
void gt_html(FILE *out, const char *text);

/* Write `text` as one field of a tab-separated gnuplot data file. */
void gt_plot_field(FILE *out, const char *text);

/* In single quotes where it needs them.  Malloced. */
char *gt_shell_word(const char *name);

/* By value: `.s` is good until the end of the expression that called. */
struct gt_time_text {
    char s[32];
};

/* Three digits that count, in the unit that suits the size; "0" for no time, "-" for what is not finite. */
struct gt_time_text gt_time_said(double ps);

#endif
