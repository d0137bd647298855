/* The header line. */
#include "traces/jsonl/reader.h"

#include <stdlib.h>
#include <string.h>

#include "traces/import/warnings.h"
#include "traces/jsonl/trace.h"

enum { SHOWN = 60, ITEMS_LIMIT = 4096 }; /* of settings and warnings, which are searched one by one */

struct raw_header {
    uint64_t version;
    const struct gt_json_token *name, *source, *device, *settings, *warnings, *recording;
};
static const struct gt_field header_fields[] = {
    { "gridtide", GT_FIELD_U64, offsetof(struct raw_header, version), NULL, 0 },
    { "name", GT_FIELD_TEXT, offsetof(struct raw_header, name), NULL, 0 },
    { "source", GT_FIELD_TEXT, offsetof(struct raw_header, source), NULL, 0 },
    { "device", GT_FIELD_TEXT, offsetof(struct raw_header, device), NULL, 0 },
    { "settings", GT_FIELD_OBJECT, offsetof(struct raw_header, settings), NULL, 0 },
    { "warnings", GT_FIELD_ARRAY, offsetof(struct raw_header, warnings), NULL, 0 },
    { "recording", GT_FIELD_OBJECT, offsetof(struct raw_header, recording), NULL, 0 },
};
static const struct gt_field_table header_table = GT_FIELD_TABLE("the header", header_fields);

struct raw_warning {
    const struct gt_json_token *kind, *text;
    uint64_t count;
};
static const struct gt_field warning_fields[] = {
    { "kind", GT_FIELD_TEXT, offsetof(struct raw_warning, kind), NULL, 0 },
    { "count", GT_FIELD_U64, offsetof(struct raw_warning, count), NULL, 0 },
    { "text", GT_FIELD_TEXT, offsetof(struct raw_warning, text), NULL, 0 },
};
static const struct gt_field_table warning_table = GT_FIELD_TABLE("a warning", warning_fields);

/* A malloced copy; NULL for null and for what is not there. */
static char *copy_text(const struct gt_json_token *text)
{
    return text != NULL && text->type != GT_JSON_NULL ? strndup(text->text, text->length) : NULL;
}

static int read_settings(struct gt_workload *workload, const struct gt_json_token *settings, struct gt_error *error)
{
    const struct gt_json_token *key = settings + 1;

    for (; key < settings + settings->span; key += 1 + key[1].span) {
        char *name, *value;

        if (workload->setting_count == ITEMS_LIMIT)
            return gt_error_set(error, "\"settings\": more than %d of them", ITEMS_LIMIT);
        if (key[1].type != GT_JSON_STRING && key[1].type != GT_JSON_NUMBER)
            return gt_error_set(error, "\"settings\": the value of \"%.*s\" must be a string or a number",
                                key->length < SHOWN ? (int)key->length : SHOWN, key->text);
        name = copy_text(key);
        value = copy_text(key + 1);
        for (uint32_t i = 0; i < workload->setting_count; i++) {
            if (strcmp(workload->settings[i].key, name) != 0)
                continue;
            gt_error_set(error, "\"settings\": \"%.60s\" occurs twice", name);
            free(name);
            free(value);
            return -1;
        }
        gt_workload_add_setting(workload, name, value);
        free(name);
        free(value);
    }
    return 0;
}

static int read_warnings(struct gt_jsonl *jsonl, const struct gt_json_token *list, struct gt_error *error)
{
    const struct gt_json_token *item = list + 1;
    struct gt_unknown unknown = { 0 };
    uint64_t given;
    int result = 0;

    for (; result == 0 && item < list + list->span; item += item->span) {
        struct raw_warning raw = { .count = 1 };

        if (jsonl->workload->warning_count == ITEMS_LIMIT)
            result = gt_error_set(error, "\"warnings\": more than %d of them", ITEMS_LIMIT);
        else if (item->type != GT_JSON_OBJECT)
            result = gt_error_set(error, "\"warnings\" must be a list of {\"kind\",\"count\",\"text\"}");
        else
            result = gt_fields_read(item, &warning_table, jsonl->line, &raw, &given, &unknown, error);
        if (result == 0 && (raw.kind == NULL || raw.kind->type == GT_JSON_NULL))
            result = gt_error_set(error, "a warning needs a \"kind\"");
        if (result == 0) {
            char *kind = copy_text(raw.kind), *text = copy_text(raw.text);

            /* Fields are looked at each time they are read. */
            if (strcmp(kind, GT_WARNING_MISSPELT) != 0)
                gt_workload_warn(jsonl->workload, kind, raw.count, text != NULL ? text : "");
            free(kind);
            free(text);
        }
    }
    free(unknown.text);
    return result;
}

int gt_jsonl_header(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct gt_workload *workload = jsonl->workload;
    struct raw_header raw = { .version = 0 };
    uint64_t given;

    if (jsonl->header_read)
        return gt_error_set(error, "a second header; a trace has one, as its first line");
    if (gt_fields_read(object, &header_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    if (raw.version != GT_TRACE_VERSION)
        return gt_error_set(error, "the trace has format version %llu; this Gridtide reads version %d",
                            (unsigned long long)raw.version, GT_TRACE_VERSION);
    workload->name = copy_text(raw.name);
    workload->source = copy_text(raw.source);
    workload->device = copy_text(raw.device);
    if ((raw.settings != NULL && read_settings(workload, raw.settings, error) != 0) ||
        (raw.warnings != NULL && read_warnings(jsonl, raw.warnings, error) != 0) ||
        (raw.recording != NULL && gt_jsonl_recording(jsonl, raw.recording, error) != 0))
        return -1;
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_HEADER, 0);
    jsonl->header_read = true;
    return 0;
}
