/* ranges.c - operators, annotations and steps as slices of their threads' tracks, around the calls. */
#include "traces/export/internal.h"

/* What began before the part that is shown and goes on in it is shown too. */
bool gt_export_has_range(const struct gt_selection *selection, int64_t start_ps, int64_t end_ps, int64_t first_call,
                         int64_t end_call)
{
    return (uint64_t)start_ps < selection->to_ps && (uint64_t)end_ps >= selection->from_ps &&
           (uint64_t)end_call >= selection->first_call && (uint64_t)first_call <= selection->end_call;
}

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
    if (!gt_export_has_range(&export->selection, (int64_t)slice.start_ps, (int64_t)slice.end_ps,
                             gt_query_integer(query, GT_CALL_ROW_FIRST), (int64_t)behind))
        return 0;
    slice.name = gt_export_text(query, GT_CALL_ROW_NAME);
    slice.category = gt_export_text(query, GT_CALL_ROW_KIND);
    return gt_perfetto_slice(sequence, track, &slice, error);
}
