/* blocking_streams.h - streams that a profile does not call blocking, but whose times do. */
#ifndef GRIDTIDE_TRACES_IMPORT_BLOCKING_STREAMS_H
#define GRIDTIDE_TRACES_IMPORT_BLOCKING_STREAMS_H

#include "sim/workload/workload.h"

/* Some profiles do not say how a stream was created.  Clear GT_STREAM_NON_BLOCKING of the streams of
 * `workload` (imported, checked, with measured times) that waited for their context's legacy default
 * stream, or it for them, where nothing else made them wait, and that never ran as only a non-blocking
 * stream can.  They are counted as a warning, "streams-taken-for-blocking".  `sms` of the GPU, 0 unknown. */
void gt_import_find_blocking(struct gt_workload *workload, uint32_t sms);

#endif
