/* error.h - how every part of Gridtide says what went wrong.
 *
 * A user's mistake fills a gt_error and the function returns -1 (or NULL);
 * an impossible state calls gt_bug(), which aborts.  The text follows the form
 * "FILE:LINE: what is wrong, what to do"; main() puts "gridtide: " before it.
 */
#ifndef GRIDTIDE_SIM_BASE_ERROR_H
#define GRIDTIDE_SIM_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GT_ERROR_TEXT_BYTES = 1024 };

struct gt_error {
    char text[GT_ERROR_TEXT_BYTES];
};

/* Fill `error` (may be NULL) printf-style; too long a text is cut.
 * Returns -1 always, so that callers can write `return gt_error_set(...)`. */
int gt_error_set(struct gt_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put a printf-style prefix before the text already in `error`. Returns -1. */
int gt_error_prefix(struct gt_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Does the text name `path` already: does it begin with "PATH:"? */
bool gt_error_names(const struct gt_error *error, const char *path);

/* An impossible state: print and abort. Never for what a user can cause. */
void gt_bug(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Memory that must be there, the caller's to free: these print and exit with status 1 when there is none. */
void *gt_realloc(void *old, unsigned long long count, unsigned long long size);
void *gt_calloc(unsigned long long count, unsigned long long size);
/* A copy of `text`, of its first `length` bytes at most; NULL of NULL. */
char *gt_strdup(const char *text);
char *gt_strndup(const char *text, unsigned long long length);
/* A new text, printf-style. */
char *gt_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *gt_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
/* Formats behind what `text`, a string in an array of `bytes`, has already; what does not fit is cut off. */
void gt_text_append(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* For a library that found no memory for `what`: print and exit with status 1. */
void gt_no_memory(const char *what) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
#endif
