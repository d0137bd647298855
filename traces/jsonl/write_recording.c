#include "traces/jsonl/emit.h"

static void emit_measured(struct gt_emit *emit, const struct gt_recording_cost *recording)
{
    gt_emit_key(emit, "measured_ns");
    gt_emit_open(emit);
    for (int i = 0; i < GT_RECORDING_SORTS; i++) {
        if (recording->recorded_ns[i] == 0)
            continue;
        gt_emit_open_list(emit, gt_recording_sort_names[i]);
        gt_emit_number_value(emit, recording->plain_ns[i]);
        gt_emit_number_value(emit, recording->recorded_ns[i]);
        gt_emit_close_list(emit);
    }
    yajl_gen_map_close(emit->gen);
}

void gt_emit_recording(struct gt_emit *emit)
{
    const struct gt_recording_cost *recording = &emit->workload->recording;

    gt_emit_key(emit, "recording");
    gt_emit_open(emit);
    gt_emit_number(emit, "calls", recording->calls);
    gt_emit_number(emit, "calls_ns", recording->calls_ns);
    gt_emit_number(emit, "cupti_overhead_ns", recording->overhead_ns);
    if (recording->measured)
        emit_measured(emit, recording);
    yajl_gen_map_close(emit->gen);
}
