/* framework.h - a framework of deep learning as what-ifs see it: what its host takes, and what it makes of a change.
 *
 * All of it was measured or is written in the framework's source; it stands, with where it is from, in a key file of this
 * folder, one a version (traces/io/framework_file.h reads it).  Times are those of a calm host.
 */
#ifndef GRIDTIDE_SIM_FRAMEWORKS_FRAMEWORK_H
#define GRIDTIDE_SIM_FRAMEWORKS_FRAMEWORK_H

#include <stdint.h>

#include "sim/devices/keys.h"

/* The host takes so many times its time in the baseline, in 9 of 10 programs between. */
struct gt_paces {
    double fastest, slowest;
};

struct gt_framework {
    char name[64]; /* with its version */
    /* A kernel that goes over a tensor once. */
    struct {
        uint32_t threads, block_bytes; /* of a block */
        uint64_t start_ps;             /* beside moving the bytes, */
        double faster;                 /* which it does so many times as fast as a copy within the device */
    } elementwise;
    /* DistributedDataParallel: the host's work beside the calls. */
    struct {
        uint64_t forward_ps;                       /* before a forward pass */
        uint64_t gradient_ps, back_ps;             /* to ask for a gradient's way into its bucket, and out of it */
        uint64_t bucket_ps, buffer_ps;             /* to ask for a bucket's reduction, a buffer's way back */
        uint64_t first_bucket_bytes, bucket_bytes; /* from which on a bucket is full */
    } ddp;
    struct {
        uint32_t buffers;      /* of a normalisation of batches */
        uint64_t buffer_bytes; /* of one of them */
    } normalisation;
    struct {
        uint64_t gradient_ps; /* the host's work to ask for adding a gradient up */
    } accumulate;
    struct {
        uint64_t side_copy_ps; /* the host's work for a copy on another stream, more than on the same */
    } prefetch;
    /* A host that copied so many bytes into a buffer of the driver's has nothing else left in its caches: what it does then takes
     * such a part of that where it only waits for the GPU. */
    struct {
        uint64_t evicts_bytes;
        double warm_part;
    } pinned;
    /* A warm host, before a call that submits work or waits; for another call and before it; more for each range that begins or ends
     * there. */
    struct {
        uint64_t gap_ps, other_ps, mark_ps;
    } warm;
    /* Where launches were recorded to take twice as long, so much less of the host's time is left when nobody records: 2 to a power,
     * of profilers and of `gridtide record`; and so much longer takes what changes add to its work, for launches within limits. */
    struct {
        double profiler_power, record_power, added_power, fastest_launch, slowest_launch;
    } pace;
    /* Around an answer: by a recording of several steps, of one, of one with start-up; and the model's own part. */
    struct {
        struct gt_paces steps, single, cold;
        double model_part;
    } interval;
};

extern const struct gt_key_table gt_framework_table;

#endif
