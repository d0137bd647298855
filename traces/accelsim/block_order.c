/* block_order.c - a trace has one warp of a block after the other; on the GPU they run at the same time.
 *
 * What a block asks for is kept warp by warp, a word for each line, and then played with one memory instruction of each
 * warp in turn.  A block that asks for more than MOST lines is played in several pieces.
 */
#include <stdlib.h>

#include "traces/accelsim/internal.h"

enum { MOST = 1 << 22, SECTOR_BITS = 4, WAY_BITS = 2, LOCAL_BIT = 6, NEXT_BIT = 7, LINE_BIT = 8 };

struct warp {
    uint64_t *words; /* line << 8 | more of this instruction follow | local | way | sectors */
    uint32_t count, room, next;
};

struct gt_accelsim_order {
    struct warp warps[GT_ACCELSIM_MOST_WARPS];
    uint32_t count;
};

struct gt_accelsim_order *gt_accelsim_order_new(void)
{
    return gt_calloc(1, sizeof(struct gt_accelsim_order));
}

void gt_accelsim_order_free(struct gt_accelsim_order *order)
{
    for (uint32_t w = 0; order != NULL && w < GT_ACCELSIM_MOST_WARPS; w++)
        free(order->warps[w].words);
    free(order);
}

void gt_accelsim_order_add(struct gt_accelsim_order *order, uint32_t warp, const struct gt_accelsim_access *access,
                           enum gt_accelsim_way way, bool local)
{
    struct warp *kept = &order->warps[warp];

    for (uint32_t i = 0; i < access->lines; i++) {
        if (kept->count == kept->room) {
            kept->room = kept->room == 0 ? 256 : kept->room * 2;
            kept->words = gt_realloc(kept->words, kept->room, sizeof *kept->words);
        }
        kept->words[kept->count++] = access->line[i] << LINE_BIT | (uint64_t)(i + 1 < access->lines) << NEXT_BIT |
                                     (uint64_t)local << LOCAL_BIT | (uint64_t)way << SECTOR_BITS | access->sectors[i];
    }
    order->count += access->lines;
}

bool gt_accelsim_order_is_full(const struct gt_accelsim_order *order)
{
    return order->count >= MOST;
}

/* One instruction of a warp; false where it has none left. */
static bool play_one(struct warp *warp, struct gt_accelsim_caches *caches, uint32_t sm)
{
    uint64_t word;

    if (warp->next == warp->count)
        return false;
    do {
        word = warp->words[warp->next++];
        gt_accelsim_caches_access(caches, sm, word >> LINE_BIT, word & ((1u << SECTOR_BITS) - 1),
                                  (enum gt_accelsim_way)(word >> SECTOR_BITS & ((1u << WAY_BITS) - 1)),
                                  (word >> LOCAL_BIT & 1) != 0);
    } while ((word >> NEXT_BIT & 1) != 0 && warp->next < warp->count);
    return true;
}

void gt_accelsim_order_play(struct gt_accelsim_order *order, struct gt_accelsim_caches *caches, uint32_t sm)
{
    bool any = order->count > 0;

    while (any) {
        any = false;
        for (uint32_t w = 0; w < GT_ACCELSIM_MOST_WARPS; w++)
            any |= play_one(&order->warps[w], caches, sm);
    }
    for (uint32_t w = 0; w < GT_ACCELSIM_MOST_WARPS; w++)
        order->warps[w].count = order->warps[w].next = 0;
    order->count = 0;
}
