/* clean_text.h - text from outside on its way to people: tables, messages, pages, plots.
 *
 * A name may hold anything: markup, quotes, control characters of a terminal, bytes that are no UTF-8, characters
 * that turn the writing direction or show nothing.  All of it leaves here as text and nothing else.  Files that
 * are read again (traces, stores, exports) keep names as they are; JSON says the same name by escapes.
 */
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

#endif
