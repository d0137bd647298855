/* text.h - text: prefixes and suffixes, UTF-8, and the nearest known word to a misspelt one. */
#ifndef GRIDTIDE_SIM_BASE_TEXT_H
#define GRIDTIDE_SIM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a text of `length` bytes, which need not end with a NUL. */
bool gt_begins(const char *text, size_t length, const char *with);
bool gt_ends(const char *text, size_t length, const char *with);

/* What stands for a byte that is not UTF-8: U+FFFD. */
#define GT_UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the character at `text`, which ends with NUL, and its number in *code; 0 where it is not well-formed. */
size_t gt_utf8_decode(const char *text, uint32_t *code);

/* A malloced copy of `text` in which each byte that is not UTF-8 became U+FFFD: for JSON, protocol buffers. */
char *gt_utf8_clean(const char *text);

/* Words longer than this are far from everything. */
enum { GT_SPELLING_BYTES = 64 };

/* How many letters of one word to insert, delete, replace or swap with the next one until it is the other
 * (optimal string alignment); GT_SPELLING_BYTES where either is longer than that. */
size_t gt_spelling_distance(const char *one, const char *other);

/* May somebody who typed `typed` have meant `word`?  Returns the distance, 0 where `typed` is how `word`
 * begins; GT_SPELLING_BYTES where too much of it differs: more than a letter and a third of them. */
size_t gt_spelling_slips(const char *typed, const char *word);

#endif
