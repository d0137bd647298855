/* et_order.h - how long the nodes of a file last, and an order in which they can happen. */
#ifndef GRIDTIDE_TRACES_CHAKRA_ET_ORDER_H
#define GRIDTIDE_TRACES_CHAKRA_ET_ORDER_H

#include "sim/devices/device.h"
#include "traces/chakra/et_file.h"

struct gt_et_times {
    gt_time_ps
        *duration_ps; /* by node; of communication and memory nodes that state none an estimate, for the order */
    bool *stated;     /* by node: is that the file's? */
    uint64_t
        estimated; /* compute nodes that state none: their time is the device's roofline by num_ops and tensor_size */
    uint64_t empty; /* compute nodes that state nothing at all, or 0: they take 1 ns, as ASTRA-sim has it */
};

/* `device`: whose roofline.  Freed by gt_et_times_free(). */
struct gt_et_times gt_et_times_find(const struct gt_et_file *file, const struct gt_device *device);
void gt_et_times_free(struct gt_et_times *times);

/* The nodes in an order in which each stands behind those that it depends on, by when it could begin if each began when it
 * could; then by id.  Malloced; NULL with the reason where some wait for each other in a circle, or last too
 * long. */
uint32_t *gt_et_order(const struct gt_et_file *file, const struct gt_et_times *times, struct gt_error *error);

/* Is it a node of communication: a collective, a message sent or received? */
bool gt_et_communicates(const struct gt_et_node *node);
/* Does it load from, or store into, memory that is not the GPU's? */
bool gt_et_is_memory(const struct gt_et_node *node);
/* Is it the host's: on the CPU, or of no work on the GPU (metadata, storage)? */
bool gt_et_on_host(const struct gt_et_node *node);
/* Are its nanoseconds those that Gridtide wrote, with microseconds that nobody changed since? */
bool gt_et_is_untouched(const struct gt_et_node *node);

#endif
