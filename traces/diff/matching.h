/* matching.h - which element of one sequence is which of another: operations of two runs, by name and order. */
#ifndef GRIDTIDE_TRACES_DIFF_MATCHING_H
#define GRIDTIDE_TRACES_DIFF_MATCHING_H

#include <stdint.h>

/* For each of the `a_count` elements of `a` its partner in `b`, or UINT32_MAX: into b_of_a.  Elements are numbers
 * below `names`; partners are equal.  First what a longest common subsequence joins (as Myers finds it, 1986), as long
 * as the sequences are not too different; then what is left of each name, the first with the first, and so on: so only
 * as many are without a partner as one sequence has more of a name.  Time: (a_count + b_count) times the number of
 * differences, that at most some thousands. */
void gt_match(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count, uint32_t names,
              uint32_t *b_of_a);

#endif
