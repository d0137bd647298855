/* spelling.h - how far apart two words are, to say what somebody who mistyped one may have meant. */
#ifndef GRIDTIDE_SIM_BASE_SPELLING_H
#define GRIDTIDE_SIM_BASE_SPELLING_H

#include <stddef.h>

/* Words longer than this are far from everything. */
enum { GT_SPELLING_BYTES = 64 };

/* How many letters of one word to insert, delete, replace or swap with the next one until it is the other
 * (optimal string alignment); GT_SPELLING_BYTES where either is longer than that. */
size_t gt_spelling_distance(const char *one, const char *other);

/* May somebody who typed `typed` have meant `word`?  Returns the distance, 0 where `typed` is how `word`
 * begins; GT_SPELLING_BYTES where too much of it differs: more than a letter and a third of them. */
size_t gt_spelling_slips(const char *typed, const char *word);

#endif
