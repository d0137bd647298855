/* affix.h - what a text begins and ends with. */
#ifndef GRIDTIDE_SIM_BASE_AFFIX_H
#define GRIDTIDE_SIM_BASE_AFFIX_H

#include <stdbool.h>
#include <stddef.h>

/* Of a text of `length` bytes, which need not end with a NUL. */
bool gt_begins(const char *text, size_t length, const char *with);
bool gt_ends(const char *text, size_t length, const char *with);

#endif
