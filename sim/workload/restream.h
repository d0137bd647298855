/* restream.h - what-ifs that change the workload itself. */
#ifndef GRIDTIDE_SIM_WORKLOAD_RESTREAM_H
#define GRIDTIDE_SIM_WORKLOAD_RESTREAM_H

#include "sim/workload/workload.h"

/* The same calls and operations dealt over `streams` streams of each context: a stream's
 * operations are cut into chains, each from a host-to-device copy (or, in streams without such
 * copies, each single operation) to the next, and the chains are dealt in turn.  Order holds
 * within a chain only: the user says, by asking, that the chains do not depend on each other.
 * With no more streams than the trace uses, whole streams are folded together instead, and all
 * order is kept.  Events and synchronisation follow: a record or wait stays with the chain of the
 * operation before it.  Operations keep their numbers.  The caller frees the result. */
struct gt_workload *gt_transform_streams(const struct gt_workload *workload, uint32_t streams);

#endif
