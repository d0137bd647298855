/* sorted.h - things by where they begin, to be found by any place within: an ordered list in chunks.
 *
 * Keys of a chunk lie side by side, and so do the chunks' first keys, so that a look-up among a million touches few
 * lines of the cache; a search tree touches two a level.
 */
#ifndef GRIDTIDE_SIM_CHECK_SORTED_H
#define GRIDTIDE_SIM_CHECK_SORTED_H

#include <stdint.h>

struct gt_sorted_chunk;

struct gt_sorted { /* zeroed: empty */
    uint64_t *begins;
    struct gt_sorted_chunk **chunks;
    uint32_t count, room;
};

/* The thing with the highest key that is not above `key`; NULL: there is none. */
void *gt_sorted_find(const struct gt_sorted *sorted, uint64_t key);
/* No thing has this key yet. */
void gt_sorted_add(struct gt_sorted *sorted, uint64_t key, void *thing);
/* Take out the thing with exactly this key, which is there. */
void gt_sorted_remove(struct gt_sorted *sorted, uint64_t key);
/* Visit all and end the list. */
void gt_sorted_end(struct gt_sorted *sorted, void (*visit)(void *thing));

#endif
