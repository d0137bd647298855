/* stream_clock.h - how far each stream has come: by stream, the last call of it that counts. */
#ifndef GRIDTIDE_SIM_REWRITE_STREAM_CLOCK_H
#define GRIDTIDE_SIM_REWRITE_STREAM_CLOCK_H

#include "sim/workload/workload.h"

struct gt_clock {
    struct gt_clock_entry {
        gt_stream_index stream;
        gt_call_index call;
    } * entries; /* each stream once */
    uint32_t count, room;
};

/* The stream has come to that call at least. */
void gt_clock_reach(struct gt_clock *clock, gt_stream_index stream, gt_call_index call);
void gt_clock_merge(struct gt_clock *clock, const struct gt_clock *other);
/* Has the stream come that far? */
bool gt_clock_has(const struct gt_clock *clock, gt_stream_index stream, gt_call_index call);
void gt_clock_clear(struct gt_clock *clock);
/* `count` empty ones, and their end. */
struct gt_clock *gt_clocks_new(uint32_t count);
void gt_clocks_free(struct gt_clock *clocks, uint32_t count);

#endif
