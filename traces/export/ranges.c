/* ranges.c - operators, annotations and steps as slices of their threads' tracks, around the calls. */
#include "traces/export/internal.h"

int gt_export_write_range(struct gt_export *export, struct gt_perfetto_sequence *sequence,
                          const struct gt_perfetto_track *track, struct gt_query *query, struct gt_error *error)
{
    struct gt_perfetto_note note = { "range", NULL, (uint64_t)gt_query_integer(query, GT_CALL_ROW_NUMBER) };
    struct gt_perfetto_slice slice = { .notes = &note, .note_count = 1, .nests = true };
    uint64_t behind;

    if (gt_query_span(query, GT_CALL_ROW_START, "range", gt_query_integer(query, GT_CALL_ROW_NUMBER), &slice.start_ps,
                      &slice.end_ps, error) != 0 ||
        gt_query_number(query, GT_CALL_ROW_BEHIND, GT_NONE, "behind_call", &behind, error) != 0)
        return -1;
    /* What began before the part that is shown and goes on in it is shown too. */
    if (slice.start_ps >= export->selection.to_ps || slice.end_ps < export->selection.from_ps ||
        behind < export->selection.first_call ||
        (uint64_t)gt_query_integer(query, GT_CALL_ROW_FIRST) > export->selection.behind_call)
        return 0;
    slice.name = gt_export_text(query, GT_CALL_ROW_NAME);
    slice.category = gt_export_text(query, GT_CALL_ROW_KIND);
    return gt_perfetto_slice(sequence, track, &slice, error);
}
