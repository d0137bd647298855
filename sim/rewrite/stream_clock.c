#include "sim/rewrite/stream_clock.h"

#include <stdlib.h>

#include "sim/base/array.h"

static struct gt_clock_entry *entry_of(const struct gt_clock *clock, gt_stream_index stream)
{
    for (uint32_t i = 0; i < clock->count; i++)
        if (clock->entries[i].stream == stream)
            return &clock->entries[i];
    return NULL;
}

void gt_clock_reach(struct gt_clock *clock, gt_stream_index stream, gt_call_index call)
{
    struct gt_clock_entry *entry = entry_of(clock, stream);

    if (entry == NULL) {
        gt_array_grow(clock->entries, clock->count, clock->room);
        clock->entries[clock->count++] = (struct gt_clock_entry){ stream, call };
    } else if (entry->call < call) {
        entry->call = call;
    }
}

void gt_clock_merge(struct gt_clock *clock, const struct gt_clock *other)
{
    for (uint32_t i = 0; i < other->count; i++)
        gt_clock_reach(clock, other->entries[i].stream, other->entries[i].call);
}

bool gt_clock_has(const struct gt_clock *clock, gt_stream_index stream, gt_call_index call)
{
    const struct gt_clock_entry *entry = entry_of(clock, stream);

    return entry != NULL && entry->call >= call;
}

void gt_clock_clear(struct gt_clock *clock)
{
    clock->count = 0;
}

struct gt_clock *gt_clocks_new(uint32_t count)
{
    return gt_calloc(count + 1ull, sizeof(struct gt_clock));
}

void gt_clocks_free(struct gt_clock *clocks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(clocks[i].entries);
    free(clocks);
}
