/* framework_keys.c - the table of a framework's keys.  None has a default: a file sets all of them. */
#include <stddef.h>

#include "sim/frameworks/framework.h"

#define AT(field)    offsetof(struct gt_framework, field)
#define LONGEST_US   1000000
#define MOST_BYTES   (1 << 30)
#define LARGEST_RATE 1000

/* clang-format off */
#define TIME(name, field, help)              {name, "us", GT_KEY_TIME, AT(field), 0, 0, LONGEST_US, "", help, 1}
#define BYTES(name, field, help)             {name, "bytes", GT_KEY_BYTES, AT(field), 0, 1, MOST_BYTES, "", help, 1}
#define U32(name, unit, field, high, help)   {name, unit, GT_KEY_U32, AT(field), 0, 1, high, "", help, 1}
#define RATE(name, unit, field, help)        {name, unit, GT_KEY_RATE, AT(field), 0, 0.001, LARGEST_RATE, "", help, 1}

static const struct gt_key rows[] = {
    {"framework.name", "name", GT_KEY_TEXT, AT(name), sizeof(((struct gt_framework *)0)->name), 1,
     sizeof(((struct gt_framework *)0)->name) - 1, "", "the framework and its version, for people", 1},

    U32("elementwise.threads", "threads", elementwise.threads, 1024, "of a block of a kernel that goes over a tensor once"),
    U32("elementwise.block_bytes", "bytes", elementwise.block_bytes, MOST_BYTES, "that such a block goes over"),
    TIME("elementwise.start_us", elementwise.start_ps, "what such a kernel takes beside moving its bytes"),
    RATE("elementwise.faster", "times", elementwise.faster,
         "it reads and writes so many times as fast as a copy within the device (copy.d2d_gbps)"),

    TIME("ddp.forward_us", ddp.forward_ps, "DistributedDataParallel: the host's work before a forward pass"),
    TIME("ddp.gradient_us", ddp.gradient_ps, "the same to ask for a gradient's way into its bucket, beside the launch"),
    TIME("ddp.back_us", ddp.back_ps, "the same to ask for its way back, beside the copy's call"),
    TIME("ddp.bucket_us", ddp.bucket_ps, "the same to ask for the reduction of a bucket, or a broadcast of buffers"),
    TIME("ddp.buffer_us", ddp.buffer_ps, "the same to ask for the way back of a buffer that was broadcast"),
    BYTES("ddp.first_bucket_bytes", ddp.first_bucket_bytes, "from which on a step's first bucket is full"),
    BYTES("ddp.bucket_bytes", ddp.bucket_bytes, "from which on any other bucket is full (bucket_cap_mb)"),

    U32("normalisation.buffers", "buffers", normalisation.buffers, 64, "of a normalisation of batches, which ranks keep alike"),
    BYTES("normalisation.buffer_bytes", normalisation.buffer_bytes, "of one of them, about"),

    TIME("accumulate.gradient_us", accumulate.gradient_ps,
         "the host's work to ask for adding a gradient up, beside the launch"),

    TIME("prefetch.side_copy_us", prefetch.side_copy_ps,
         "the host's work for a copy on another stream, more than on the same one"),

    BYTES("pinned.evicts_bytes", pinned.evicts_bytes,
          "a copy of pageable memory of so many bytes leaves nothing else in the host's caches"),
    {"pinned.warm_part", "part", GT_KEY_RATE, AT(pinned.warm_part), 0, 0.01, 1, "",
     "of what the host takes behind such a copy, what it takes behind one of pinned memory", 1},

    TIME("warm.gap_us", warm.gap_ps, "what a warm host takes at most before a call that submits work or waits"),
    TIME("warm.other_us", warm.other_ps, "the same for another call, and before it"),
    TIME("warm.mark_us", warm.mark_ps, "more for each range that begins or ends there"),

    RATE("pace.profiler_power", "power", pace.profiler_power,
         "of how many times as long launches were recorded to take, the time that is left of a profiled host's goes by this power"),
    RATE("pace.record_power", "power", pace.record_power, "the same of `gridtide record`"),
    RATE("pace.added_power", "power", pace.added_power, "what changes add to the host's work goes by this one"),
    RATE("pace.fastest_launch", "times", pace.fastest_launch, "of which launches are taken to be as fast as this at most"),
    RATE("pace.slowest_launch", "times", pace.slowest_launch, "and as slow as this"),

    RATE("interval.steps_fastest", "times", interval.steps.fastest,
         "9 of 10 programs' hosts take at least so many times their time in the baseline"),
    RATE("interval.steps_slowest", "times", interval.steps.slowest, "and at most so many times"),
    RATE("interval.single_fastest", "times", interval.single.fastest, "the same where one step was recorded"),
    RATE("interval.single_slowest", "times", interval.single.slowest, "and at most"),
    RATE("interval.cold_fastest", "times", interval.cold.fastest, "the same where that step held start-up"),
    RATE("interval.cold_slowest", "times", interval.cold.slowest, "and at most"),
    {"interval.model_part", "part", GT_KEY_RATE, AT(interval.model_part), 0, 0, 1, "",
     "how far a predicted step may be off where the host's pace is known", 1},
};
/* clang-format on */

const struct gt_key_table gt_framework_table = {
    rows,
    sizeof rows / sizeof rows[0],
    "framework",
    "the file that comes with Gridtide has all of them",
};
