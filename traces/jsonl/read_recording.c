/* What `gridtide record` cost, in the header. */
#include <stdlib.h>
#include <string.h>

#include "traces/jsonl/reader.h"

enum { SHOWN = 60 };

struct raw_recording {
    uint64_t calls, calls_ns, overhead_ns;
    const struct gt_json_token *measured;
};
static const struct gt_field recording_fields[] = {
    { "calls", GT_FIELD_U64, offsetof(struct raw_recording, calls), NULL, 0 },
    { "calls_ns", GT_FIELD_U64, offsetof(struct raw_recording, calls_ns), NULL, 0 },
    { "cupti_overhead_ns", GT_FIELD_U64, offsetof(struct raw_recording, overhead_ns), NULL, 0 },
    { "measured_ns", GT_FIELD_OBJECT, offsetof(struct raw_recording, measured), NULL, 0 },
};
static const struct gt_field_table recording_table = GT_FIELD_TABLE("\"recording\"", recording_fields);

/* [without, with] recording. */
static int read_pair(const struct gt_json_token *list, uint64_t *plain_ns, uint64_t *recorded_ns,
                     struct gt_error *error)
{
    gt_time_ps time_ps[2];

    if (list->type != GT_JSON_ARRAY || list->span != 3)
        return gt_error_set(error, "\"measured_ns\" needs two times per kind: without and with recording");
    for (int i = 0; i < 2; i++)
        if (gt_field_time(&list[1 + i], 3, "measured_ns", &time_ps[i], error) != 0)
            return -1;
    *plain_ns = time_ps[0] / 1000;
    *recorded_ns = time_ps[1] / 1000;
    return 0;
}

/* Sorts that this program does not know are left out. */
static int read_measured(struct gt_recording_cost *recording, const struct gt_json_token *object,
                         struct gt_error *error)
{
    for (const struct gt_json_token *key = object + 1; key < object + object->span; key += 1 + key[1].span) {
        uint64_t plain_ns = 0, recorded_ns = 0;

        if (read_pair(key + 1, &plain_ns, &recorded_ns, error) != 0)
            return -1;
        for (int i = 0; i < GT_RECORDING_SORTS; i++) {
            const char *name = gt_recording_sort_names[i];

            if (strlen(name) != key->length || memcmp(name, key->text, key->length) != 0)
                continue;
            recording->plain_ns[i] = plain_ns;
            recording->recorded_ns[i] = recorded_ns;
            recording->measured = true;
        }
    }
    return 0;
}

int gt_jsonl_recording(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct gt_recording_cost *recording = &jsonl->workload->recording;
    struct raw_recording raw = { .measured = NULL };
    struct gt_unknown unknown = { 0 };
    uint64_t given;
    int result = gt_fields_read(object, &recording_table, jsonl->line, &raw, &given, &unknown, error);

    free(unknown.text);
    *recording = (struct gt_recording_cost){
        .known = true, .calls = raw.calls, .calls_ns = raw.calls_ns, .overhead_ns = raw.overhead_ns
    };
    return result != 0 || raw.measured == NULL ? result : read_measured(recording, raw.measured, error);
}
