/* utf8.h - text as UTF-8: the one decoder. */
#ifndef GRIDTIDE_SIM_BASE_UTF8_H
#define GRIDTIDE_SIM_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* What stands for a byte that is not UTF-8: U+FFFD. */
#define GT_UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the character at `text`, which ends with NUL, and its number in *code; 0 where it is not well-formed. */
size_t gt_utf8_decode(const char *text, uint32_t *code);

/* A malloced copy of `text` in which each byte that is not UTF-8 became U+FFFD: for JSON, protocol buffers. */
char *gt_utf8_clean(const char *text);

#endif
